//! The emitter: generates functions, and the kernels that call them.
//!
//! Kernels are for graphics cards: one work-item for every element, row or short part. A device that is a processor gets
//! the same kernels. There, the native backend is faster. What one item does alone is a function of a task, as in C.

use super::target::Target;
use super::work::Kernel;
use crate::analysis::liveness::Step;
use crate::text::declarations::Declarations;
use crate::text::parameters::{self, Arg, Parameter, Params};
use crate::text::writer::Writer;
use accel_fusion::kernel::Program;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The replacement of the fault record in functions without it.
pub const NO_RECORD: &str = "    global i64 *const fault = 0;\n";

/// How a kernel makes the tasks for its function. Besides the item's position, it uses the numbers of the launch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tasks {
    /// Item `g` has the `arg0` positions from `g * arg0` on, but not beyond `arg1`. `len` is `arg2`, and `slot` is `g`.
    Ranges,
    /// Item `(g, r)` has part `g` of row `r`: `arg0` elements of `arg1`. There are `arg2` parts, each with a place in
    /// the scratch buffers.
    Parts,
    /// Item `r` has the `arg0` parts of row `r`, whose length is `arg1`. There are `arg2` rows.
    Rows,
}

pub struct Emitter<'a> {
    pub program: &'a Program,
    pub target: &'a Target,
    /// The statements that can fail: those known at the start, and those found since.
    pub known: BTreeSet<usize>,
    pub failing: BTreeSet<usize>,
    /// Whether the kernels of the statement have a fault record: NOTE [Statements that cannot fail].
    pub is_recorded: bool,
    pub declarations: &'a mut Declarations,
    pub text: String,
}

impl Emitter<'_> {
    /// Generates a function that kernels or other functions call. `body` writes it and returns its head.
    pub fn function(&mut self, s: &Step, name: &str, body: impl FnOnce(&mut Writer) -> String) {
        let mut w = Writer::new(self.program, self.declarations, s.stmt.site);
        let head = body(&mut w);
        let params = std::mem::take(&mut w.params);
        let body = w.finish();
        self.declarations.functions.insert(name.into(), params);
        let _ = write!(self.text, "\n{head} {{\n{body}    return 0;\n}}\n");
    }

    /// Generates a kernel that `body` writes, for an index space of this rank and this many numbers.
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

    /// Generates a function of a task.
    pub fn task_function(&mut self, s: &Step, name: &str, body: impl FnOnce(&mut Writer)) {
        self.function(s, name, |w| {
            body(w);
            w.task_head(name)
        });
    }

    /// Generates a kernel that calls a function of a task, for an index space of this rank.
    pub fn kernel(&mut self, function: &str, rank: usize, tasks: Tasks) -> Kernel {
        let (numbers, item): (usize, &[&str]) = match tasks {
            Tasks::Ranges => (
                3,
                &[
                    "const i64 from = item * arg0, to = min(from + arg0, arg1);",
                    "if (from >= to) return;",
                    "const task t = { from, to, 0, item, arg2, extents };",
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
        };
        let params = self.declarations.params(function);
        let argument = |arg: Arg| match (arg, tasks) {
            (Arg::Scratch(k), Tasks::Parts | Tasks::Rows) => format!("s{k} + first"),
            _ => parameters::name(arg),
        };
        let arguments = params.arguments(argument);
        let extents: Vec<_> = (0..rank).map(|k| format!("n{k}")).collect();
        let extents = if rank == 0 { "1".into() } else { extents.join(", ") };
        let item_number = if tasks == Tasks::Parts { "" } else { "    const i64 item = get_global_id(0);\n" };
        let mut body = format!("{item_number}    const i64 extents[] = {{ {extents} }};\n");
        item.iter().for_each(|line| body += &format!("    {line}\n"));
        body += &format!("    {function}(&t, fault{arguments});\n");
        self.entry(function, params, rank, numbers, &body)
    }

    /// Generates the kernel with this name: its parameters are those of its functions, an index space of this rank and
    /// this many numbers. After a failure it does nothing.
    pub fn entry(&mut self, name: &str, params: Params, rank: usize, numbers: usize, body: &str) -> Kernel {
        self.plain_entry(name, params, rank, numbers, &format!("{}{body}", self.check()))
    }

    /// As [`entry`](Self::entry), for a body that checks for failures itself.
    pub fn plain_entry(&mut self, name: &str, params: Params, rank: usize, numbers: usize, body: &str) -> Kernel {
        let params = self.entry_params(params, rank, numbers);
        let name = format!("run_{name}");
        let _ = write!(self.text, "\nkernel void {name}({}) {{\n{body}}}\n", params.declared().join(", "));
        Kernel { name: name.into(), args: params.args().collect() }
    }

    /// The check that ends a kernel after a failure.
    fn check(&self) -> &'static str {
        if self.is_recorded { "    if (fault[0] != 0) return;\n" } else { NO_RECORD }
    }

    /// The parameters of a kernel: those of its functions, and its own.
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
