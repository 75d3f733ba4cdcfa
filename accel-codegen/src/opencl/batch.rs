//! Batches: one kernel that does the work of many small ones.
//!
//! NOTE [Batches of small statements]: a driver wakes threads for each kernel, which can take longer than a small
//! kernel itself. So for CPU devices, there is a batch kernel besides the other kernels. It executes all statements
//! between two branches or loops, in order, if they have little work. It has one work-item. Its numbers say how many
//! items of each statement it executes, and contain the numbers for each of them: extents, the index space, and the
//! numbers of the launch. They are in a buffer, since the size of parameters is limited.
//!
//! A batch always pays for a single item. For several items of a strip, it pays if one thread finishes them before
//! other threads could help: with `n` threads that wake in the time `w`, the work `t` takes `w + t / n`, so the batch
//! pays up to `t = w n / (n - 1)`.

use crate::text::parameters::{Arg, Params, name};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The number of parameters that every device supports (1024 bytes of them).
const PARAMETERS: usize = 1024 / 8;
/// The number of simple operations of a strip that a thread executes while another one wakes: some 50 µs.
const WAKING: usize = 5 << 20;

/// A batch kernel: its parts are other kernels. Its parameters are a buffer of `i64`, the numbers, and then the buffers
/// of the parts. Without parts, there is no kernel.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Its name.
    pub name: String,
    /// The number of numbers.
    pub numbers: usize,
    /// The number of buffers besides the numbers. A buffer that no part needs can be missing.
    pub buffers: usize,
    /// The parts, in order of execution.
    pub parts: Vec<Part>,
}

/// The part of a batch that replaces another kernel.
#[derive(Clone, Debug)]
pub struct Part {
    /// The position among the numbers at which the number of items is stored.
    pub items: usize,
    /// Whether the items are those of a strip.
    is_strip: bool,
    /// The places of the kernel's arguments.
    pub args: Vec<Place>,
}

impl Part {
    /// Whether to execute this many items in the batch, with about `operations` simple operations in total, instead of
    /// in the threads of `units` compute units.
    pub fn suits(&self, items: usize, operations: usize, units: usize) -> bool {
        let alone = WAKING.saturating_mul(units).checked_div(units.saturating_sub(1)).unwrap_or(usize::MAX);
        items <= 1 || self.is_strip && operations <= alone
    }
}

/// The place of an argument of a part.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// In the numbers.
    Number(usize),
    /// In the parameters.
    Parameter(usize),
}

/// A kernel among [`Module::batches`](super::Module::batches), and one of its parts.
pub type PartId = (usize, usize);

/// Generates the batch kernels of a program.
#[derive(Default)]
pub struct Printer {
    /// The text of the finished kernels.
    pub text: String,
    /// All finished kernels.
    pub done: Vec<Batch>,
    /// The members of the next kernel.
    open: Vec<Member>,
    buffers: BTreeSet<Buffer>,
}

/// A kernel whose items a batch kernel can execute.
pub struct Member {
    /// The number of its statement.
    pub statement: usize,
    /// The function of an item. Its first parameter is the number of the item.
    pub function: String,
    /// The other parameters.
    pub params: Params,
    /// Whether items are tasks of a strip.
    pub is_strip: bool,
}

/// A buffer. A temporary buffer belongs to a statement.
type Buffer = (Arg, Option<usize>);

fn buffer(arg: Arg, statement: usize) -> Option<Buffer> {
    match arg {
        Arg::Column(..) | Arg::Tape | Arg::Fault => Some((arg, None)),
        Arg::Scratch(_) => Some((arg, Some(statement))),
        Arg::Extent(..) | Arg::Space(_) | Arg::Number(_) | Arg::Local(_) => None,
    }
}

impl Printer {
    /// Adds a kernel after those before it. Returns the part that it becomes.
    pub fn add(&mut self, member: Member) -> PartId {
        let buffers: Vec<_> = member.params.args().filter_map(|a| buffer(a, member.statement)).collect();
        if self.buffers.len() + buffers.len() >= PARAMETERS {
            self.finish();
        }
        self.buffers.extend(buffers);
        self.open.push(member);
        (self.done.len(), self.open.len() - 1)
    }

    /// Generates the batch kernel of the members added since the last call, if they belong to several statements.
    pub fn finish(&mut self) {
        let (open, buffers) = (std::mem::take(&mut self.open), std::mem::take(&mut self.buffers));
        let mut made = Batch { name: format!("run_together_{}", self.done.len()), ..Batch::default() };
        if open.first().map(|m| m.statement) != open.last().map(|m| m.statement) {
            made.buffers = buffers.len();
            let body: String = open.iter().map(|m| made.part(m, &buffers)).collect();
            let (name, declared) = (&made.name, declarations(&open));
            let _ = write!(self.text, "\nkernel void {name}(const global i64 *numbers{declared}) {{\n{body}}}\n");
        }
        self.done.push(made);
    }
}

impl Batch {
    /// Adds a part, and returns the text that executes it.
    fn part(&mut self, m: &Member, buffers: &BTreeSet<Buffer>) -> String {
        let items = self.numbers;
        self.numbers += 1;
        let mut arguments = String::new();
        let mut place = |arg: Arg| match buffer(arg, m.statement) {
            Some(b) => {
                let _ = write!(arguments, ", {}", parameter_name(b));
                Place::Parameter(1 + buffers.range(..b).count())
            }
            None => {
                let _ = write!(arguments, ", numbers[{}]", self.numbers);
                self.numbers += 1;
                Place::Number(self.numbers - 1)
            }
        };
        let args = m.params.args().map(&mut place).collect();
        self.parts.push(Part { items, is_strip: m.is_strip, args });
        format!("    for (i64 i = 0; i < numbers[{items}]; i++) {}(i{arguments});\n", m.function)
    }
}

/// The declarations of all buffers, each with a comma before it.
fn declarations(members: &[Member]) -> String {
    let mut all: BTreeMap<Buffer, Params> = BTreeMap::new();
    for m in members {
        for (arg, parameter) in m.params.iter() {
            let Some(b) = buffer(arg, m.statement) else { continue };
            // Different buffers can share memory, as long as no part uses both.
            all.entry(b).or_default().add(arg, parameter.among_others(parameter_name(b)));
        }
    }
    all.values().flat_map(Params::declared).map(|d| format!(", {d}")).collect()
}

/// The name of a buffer.
fn parameter_name((arg, statement): Buffer) -> String {
    match (arg, statement) {
        (Arg::Scratch(k), Some(s)) => format!("s{s}_{k}"),
        _ => name(arg),
    }
}
