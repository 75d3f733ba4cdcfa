//! Batches: one kernel that does the work of many small ones.
//!
//! NOTE [Small statements together]
//! A driver wakes threads for each kernel, which can take longer than a small kernel itself. So for CPU devices there is a kernel beside the
//! others that does the work of all statements between two choices or loops, in their order, for those that have little work. It has one
//! work-item. How many items of which statement it does is told by its numbers, and so are the numbers that each of them gets: extents, the
//! index space, and those of the launch. They are in a buffer, since the bytes of parameters are limited.
//!
//! A single item is always worth it. Several items of a strip are, too, where one thread is done with them before others could help: that
//! takes `w + t / n` with `n` threads that wake in the time `w`, and `t` with one, so it is worth it up to `t = w n / (n - 1)`.

use crate::text::parameters::{Arg, Params, name};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Every device takes so many parameters (1024 bytes of them).
const PARAMETERS: usize = 1024 / 8;
/// While a thread wakes, another one does about so many simple operations of a strip: some 50 µs.
const WAKING: usize = 5 << 20;

/// A kernel that does what others do, its parts. Its parameters are a buffer of `i64`, the numbers, and then the buffers of the parts. There is
/// none if it has no parts.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Its name.
    pub name: String,
    /// How many numbers there are.
    pub numbers: usize,
    /// How many buffers there are beside the numbers. Those that no part needs may be none.
    pub buffers: usize,
    /// In the order in which they are done.
    pub parts: Vec<Part>,
}

/// What one of the other kernels does.
#[derive(Clone, Debug)]
pub struct Part {
    /// Where among the numbers it is told how many items are done.
    pub items: usize,
    /// Whether they are those of a strip.
    is_strip: bool,
    /// Where the arguments of the kernel come from.
    pub args: Vec<Place>,
}

impl Part {
    /// Whether to do so many items here, with about so many simple operations in all, rather than to leave them to the threads of so many
    /// compute units.
    pub fn suits(&self, items: usize, operations: usize, units: usize) -> bool {
        let alone = WAKING.saturating_mul(units).checked_div(units.saturating_sub(1)).unwrap_or(usize::MAX);
        items <= 1 || self.is_strip && operations <= alone
    }
}

/// Where a part has an argument.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// Among the numbers.
    Number(usize),
    /// Among the parameters.
    Parameter(usize),
}

/// A kernel among [`Module::batches`](super::Module::batches), and one of its parts.
pub type PartId = (usize, usize);

/// Prints the kernels of a program that do what others do.
#[derive(Default)]
pub struct Printer {
    /// The text of those that are done.
    pub text: String,
    /// All of them.
    pub done: Vec<Batch>,
    /// What the next one does.
    open: Vec<Member>,
    buffers: BTreeSet<Buffer>,
}

/// A kernel whose items another kernel can do.
pub struct Member {
    /// The number of its statement.
    pub statement: usize,
    /// The function of an item, of which the first parameter is its number.
    pub function: String,
    /// The other parameters.
    pub params: Params,
    /// Whether items are tasks of a strip.
    pub is_strip: bool,
}

/// A buffer: temporary ones are those of a statement.
type Buffer = (Arg, Option<usize>);

fn buffer(arg: Arg, statement: usize) -> Option<Buffer> {
    match arg {
        Arg::Column(..) | Arg::Fault => Some((arg, None)),
        Arg::Scratch(_) => Some((arg, Some(statement))),
        Arg::Extent(..) | Arg::Space(_) | Arg::Number(_) | Arg::Local(_) => None,
    }
}

impl Printer {
    /// Another kernel, which comes after those before it. It becomes this part.
    pub fn add(&mut self, member: Member) -> PartId {
        let buffers: Vec<_> = member.params.args().filter_map(|a| buffer(a, member.statement)).collect();
        if self.buffers.len() + buffers.len() >= PARAMETERS {
            self.finish();
        }
        self.buffers.extend(buffers);
        self.open.push(member);
        (self.done.len(), self.open.len() - 1)
    }

    /// Prints the kernel that does what was added since the last time, if that is of several statements.
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
    /// Adds a part, and prints what does it.
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
            // Different ones may be the same memory, as long as no part has both.
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
