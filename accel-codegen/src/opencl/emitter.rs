//! The emitter: writes functions and the kernels that call them.
//!
//! NOTE [Two shapes of kernels]
//! A CPU device is given few work-items, each with a part of the work that it goes through as a thread of the native backend does: their
//! functions are the same, functions of a task. A GPU is given one work-item for every element, row or short part.

use super::batch::{self, Member};
use super::target::{Shape, Target};
use super::work::Kernel;
use crate::analysis::liveness::Step;
use crate::text::declarations::Declarations;
use crate::text::parameters::{self, Arg, Parameter, Params};
use crate::text::writer::Writer;
use accel_fusion::kernel::Program;
use std::collections::BTreeSet;
use std::fmt::Write;

/// What functions have in place of the record of faults.
pub const NO_RECORD: &str = "    global i64 *const fault = 0;\n";

/// How a kernel makes tasks for its function. What they need beyond their place are the numbers of the launch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tasks {
    /// Item `g` has the positions from `g * arg0` on, `arg0` of them, but not beyond `arg1`. `len` is `arg2`, `row` is `arg3`, and `slot` is `arg4`, or
    /// `g` if that is negative.
    Ranges,
    /// Item `(g, r)` has part `g` of row `r`: `arg0` elements of `arg1`; there are `arg2` parts, each with a place in the scratch buffers.
    Parts,
    /// Item `r` has the `arg0` parts of row `r` of length `arg1`; there are `arg2` rows.
    Rows,
    /// As `Ranges`; item `g` has the `g`th pieces of `arg2` bytes of the first scratch buffer and `arg3` bytes of the second.
    Strips,
}

pub struct Emitter<'a> {
    pub program: &'a Program,
    pub target: &'a Target,
    /// The statements that can fail: those that are known when printing begins, and those that have been found.
    pub known: BTreeSet<usize>,
    pub failing: BTreeSet<usize>,
    /// Whether the kernels of the statement have the record of faults: NOTE [Statements that cannot fail].
    pub is_recorded: bool,
    pub declarations: &'a mut Declarations,
    pub text: String,
    pub batches: batch::Printer,
    /// That of the statement.
    pub number: usize,
}

impl Emitter<'_> {
    /// A function that kernels or other functions call: `body` writes it and gives its head.
    pub fn function(&mut self, s: &Step, name: &str, body: impl FnOnce(&mut Writer) -> String) {
        let mut w = Writer::new(self.program, self.declarations, s.stmt.site);
        let head = body(&mut w);
        let params = std::mem::take(&mut w.params);
        let body = w.finish();
        self.declarations.functions.insert(name.into(), params);
        let _ = write!(self.text, "\n{head} {{\n{body}    return 0;\n}}\n");
    }

    /// A kernel that `body` writes, for an index space of this rank and so many numbers.
    pub fn kernel_of(
        &mut self,
        s: &Step,
        name: &str,
        rank: usize,
        numbers: usize,
        body: impl FnOnce(&mut Writer),
    ) -> Kernel {
        let mut w = Writer::new(self.program, self.declarations, s.stmt.site);
        body(&mut w);
        let params = std::mem::take(&mut w.params);
        let body = w.finish();
        self.entry(name, params, rank, numbers, &body)
    }

    /// A function of a task.
    pub fn task_function(&mut self, s: &Step, name: &str, body: impl FnOnce(&mut Writer)) {
        self.function(s, name, |w| {
            body(w);
            w.task_head(name)
        });
    }

    /// A kernel that calls a function of a task, of an index space of this rank.
    pub fn kernel(&mut self, function: &str, rank: usize, tasks: Tasks) -> Kernel {
        let (numbers, item): (usize, &[&str]) = match tasks {
            Tasks::Ranges => (
                5,
                &[
                    "const i64 from = item * arg0, to = min(from + arg0, arg1);",
                    "if (from >= to) return;",
                    "const task t = { from, to, arg3, arg4 < 0 ? item : arg4, arg2, extents };",
                ],
            ),
            Tasks::Parts => (
                3,
                &[
                    "const i64 slot = get_global_id(0), row = get_global_id(1), from = slot * arg0;",
                    "if (slot >= arg2) return;",
                    "const task t = { from, min(from + arg0, arg1), row, slot, arg1, extents };",
                    "const i64 first = row * arg2;",
                ],
            ),
            Tasks::Rows => (
                3,
                &[
                    "const i64 row = item, first = row * arg0;",
                    "if (row >= arg2) return;",
                    "const task t = { 0, arg0, row, 0, arg1, extents };",
                ],
            ),
            Tasks::Strips => (
                4,
                &[
                    "const i64 slot = item, from = slot * arg0, to = min(from + arg0, arg1);",
                    "if (from >= to) return;",
                    "const task t = { from, to, 0, slot, 0, extents };",
                ],
            ),
        };
        let params = self.declarations.params(function);
        let argument = |arg: Arg| match (arg, tasks) {
            (Arg::Scratch(k), Tasks::Parts | Tasks::Rows) => format!("s{k} + first"),
            (Arg::Scratch(k), Tasks::Strips) => format!("s{k} + slot * arg{}", k + 2),
            _ => parameters::name(arg),
        };
        let arguments = params.arguments(argument);
        let extents: Vec<_> = (0..rank).map(|k| format!("n{k}")).collect();
        let extents = if rank == 0 { "1".into() } else { extents.join(", ") };
        let mut body = format!("    const i64 extents[] = {{ {extents} }};\n");
        item.iter().for_each(|line| body += &format!("    {line}\n"));
        body += &format!("    {function}(&t, fault{arguments});\n");
        if tasks == Tasks::Parts {
            return self.entry(function, params, rank, numbers, &body);
        }
        match self.target.shape {
            Shape::Cpu => self.kernel_and_part(function, params, rank, numbers, &body, tasks == Tasks::Strips),
            Shape::Gpu => {
                let item = "    const i64 item = get_global_id(0);\n";
                self.entry(function, params, rank, numbers, &format!("{item}{body}"))
            }
        }
    }

    /// A kernel whose items, `item` in the body, can be done by another one as well: NOTE [Small statements together].
    fn kernel_and_part(
        &mut self,
        name: &str,
        params: Params,
        rank: usize,
        numbers: usize,
        body: &str,
        is_strip: bool,
    ) -> Kernel {
        let params = self.entry_params(params, rank, numbers);
        let function = format!("item_{name}");
        let declared: String = params.declared().iter().map(|d| format!(", {d}")).collect();
        let _ = write!(self.text, "\nstatic void {function}(const i64 item{declared}) {{\n{}{body}}}\n", self.check());
        let arguments = params.arguments(parameters::name);
        let call = format!("    {function}(get_global_id(0){arguments});\n");
        let kernel = self.plain_entry(name, params.clone(), rank, numbers, &call);
        let part = self.batches.add(Member { statement: self.number, function, params, is_strip });
        Kernel { part: Some(part), ..kernel }
    }

    /// The kernel of a name with parameters for what functions need, an index space of this rank and so many numbers. It does nothing if
    /// something has failed.
    pub fn entry(&mut self, name: &str, params: Params, rank: usize, numbers: usize, body: &str) -> Kernel {
        self.plain_entry(name, params, rank, numbers, &format!("{}{body}", self.check()))
    }

    /// The same for a body that looks for faults itself.
    pub fn plain_entry(&mut self, name: &str, params: Params, rank: usize, numbers: usize, body: &str) -> Kernel {
        let params = self.entry_params(params, rank, numbers);
        let name = format!("run_{name}");
        let _ = write!(self.text, "\nkernel void {name}({}) {{\n{body}}}\n", params.declared().join(", "));
        Kernel { name: name.into(), args: params.args().collect(), part: None }
    }

    /// Nothing is done if something has failed.
    fn check(&self) -> &'static str {
        if self.is_recorded { "    if (fault[0] != 0) return;\n" } else { NO_RECORD }
    }

    /// The parameters of a kernel: those that functions need and its own.
    fn entry_params(&self, mut params: Params, rank: usize, numbers: usize) -> Params {
        let numbers = (0..rank).map(Arg::Space).chain((0..numbers).map(Arg::Number));
        numbers.for_each(|arg| params.add(arg, Parameter::number(arg)));
        if self.is_recorded {
            params.add(Arg::Fault, Parameter::buffer("global i64", "fault".into()));
        }
        params
    }
}

impl Writer<'_> {
    /// The head of a function of a task.
    pub fn task_head(&self, name: &str) -> String {
        format!("static int {name}({})", self.task_parameters())
    }
}
