//! The text of all kernels.
//!
//! NOTE [Two shapes of kernels]
//! A CPU device is given few work-items, each with a part of the work that it goes through as a thread of the native backend does: their
//! functions are the same, functions of a task. A GPU is given one work-item for every element, row or short part.
//!
//! NOTE [Statements that cannot fail]
//! After a failure arrays have elements that nobody computed. Kernels that check something, and those with loops, which might never end
//! then, look at the record of faults first and do nothing. On a GPU that is a load that every item waits for before it begins, and for the
//! host the record is one more transfer. Most statements have nothing that can fail: they compute something of whatever they find, and nobody
//! sees it. Which these are is known when their kernels have been printed: all are printed without the record, and once more if some need it.

use super::gpu::is_cheap;
use super::permute::Permutation;
use super::rows::{Reduction, Scanning};
use super::strip::Strips;
use super::together::{self, Member};
use super::{Arg, Kernel, Module, Plan, Shape, Statement, Target};
use crate::around::pieces;
use crate::code::Writer;
use crate::cost::cost;
use crate::dialect::{self, Dialect, Params};
use crate::liveness::{self, Block, Step};
use crate::ops::Declarations;
use crate::vectors::Vectors;
use accel_fusion::kernel::{Op, Program, Verified, has_loop};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Prints the kernels of a program for a kind of device.
pub fn emit(program: &Verified<Program>, target: &Target) -> Module {
    let (module, failing) = print(program, target, BTreeSet::new());
    if failing.is_empty() { module } else { print(program, target, failing).0 }
}

/// The kernels, where these statements are known to be able to fail, and the statements that are found to be.
fn print(program: &Program, target: &Target, known: BTreeSet<usize>) -> (Module, BTreeSet<usize>) {
    let gpu = target.shape == Shape::Gpu;
    let dialect = Dialect::OpenCl { gpu, narrow: gpu && !target.wide };
    let mut declarations = Declarations::new(false, Vectors::default(), dialect);
    let (text, together) = (String::new(), together::Printer::default());
    let mut emitter = Emitter {
        program,
        target,
        known,
        failing: BTreeSet::new(),
        is_recorded: false,
        declarations: &mut declarations,
        text,
        together,
        number: 0,
    };
    let mut statements = BTreeMap::new();
    emitter.block(&liveness::analyse(program), &mut statements);
    let Emitter { text: kernels, together, failing, .. } = emitter;
    let text = [declarations.print(), kernels, together.text].concat();
    let needs_fp64 = text.contains("f64");
    let fp64 = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\ntypedef double f64;\n";
    let position = if target.wide { "ulong" } else { "uint" };
    let position = if gpu { format!("typedef {position} P;\n") } else { String::new() };
    let source = [include_str!("prelude.cl"), if needs_fp64 { fp64 } else { "" }, &position, &text].concat();
    (Module { source, needs_fp64, statements, together: together.done }, failing)
}

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
    known: BTreeSet<usize>,
    failing: BTreeSet<usize>,
    /// Whether the kernels of the statement have the record of faults: NOTE [Statements that cannot fail].
    pub is_recorded: bool,
    pub declarations: &'a mut Declarations,
    pub text: String,
    together: together::Printer,
    /// That of the statement.
    number: usize,
}

impl Emitter<'_> {
    fn block(&mut self, b: &Block, statements: &mut BTreeMap<usize, Statement>) {
        for s in &b.steps {
            if matches!(s.stmt.op, Op::If { .. } | Op::While { .. }) {
                self.together.finish();
            }
            self.number = s.number;
            self.declarations.fails = false;
            self.is_recorded = self.known.contains(&s.number) || (!self.known.is_empty() && loops(&s.stmt.op));
            if let Some(plan) = self.statement(s) {
                let cost = s.stmt.op.codes().into_iter().map(|(_, code)| cost(&code.instrs)).sum();
                statements.insert(s.number, Statement { plan, cost });
            }
            if self.declarations.fails {
                self.failing.insert(s.number);
            }
            s.blocks.iter().for_each(|b| self.block(b, statements));
        }
        self.together.finish();
    }

    fn statement(&mut self, s: &Step) -> Option<Plan> {
        match &s.stmt.op {
            Op::Loop { to, extents, body } => {
                let (function, rank) = (format!("loop_{}", s.number), extents.results.len());
                let gpu = self.target.shape == Shape::Gpu;
                self.function(s, &function, |w| {
                    w.aliased = s.aliased();
                    match gpu {
                        true => w.element_at(&function, to, rank, body),
                        false => {
                            w.elements(to, rank, body);
                            w.task_head(&function)
                        }
                    }
                });
                let kernel = match gpu {
                    true => self.loop_kernel(s, &function, to, is_cheap(body)),
                    false => self.kernel(&function, rank, Tasks::Ranges),
                };
                let pieces = pieces(self.program, to, rank).filter(|_| !gpu).unwrap_or_default().to_vec();
                Some(Plan::Loop { kernel, cost: cost(&body.instrs), pieces })
            }
            Op::Reduce { to, extents, rows } => {
                Some(Plan::Reduce(Box::new(Reduction::new(self, s, *to, extents.results.len(), rows))))
            }
            Op::Scan { to, extents, reverse, rows } => {
                Some(Plan::Scan(Scanning::new(self, s, *to, extents.results.len(), *reverse, rows)))
            }
            Op::Permute { .. } => Permutation::new(self, s).map(Plan::Permute),
            Op::Strip { to, len, body } => Some(Plan::Strip(Strips::new(self, s, to, len, body))),
            Op::Literal { .. } | Op::Reshape { .. } | Op::Agree { .. } | Op::If { .. } | Op::While { .. } => None,
        }
    }

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
        let params = self.declarations.functions.get(function).cloned().unwrap_or_default();
        let argument = |arg: &Arg| match (arg, tasks) {
            (Arg::Scratch(k), Tasks::Parts | Tasks::Rows) => format!(", s{k} + first"),
            (Arg::Scratch(k), Tasks::Strips) => format!(", s{k} + slot * arg{}", k + 2),
            _ => format!(", {}", dialect::name(*arg)),
        };
        let arguments: String = params.keys().map(argument).collect();
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
        let declared: String = params.values().map(|d| format!(", {d}")).collect();
        let _ = write!(self.text, "\nstatic void {function}(const i64 item{declared}) {{\n{}{body}}}\n", self.check());
        let arguments: String = params.keys().map(|a| format!(", {}", dialect::name(*a))).collect();
        let call = format!("    {function}(get_global_id(0){arguments});\n");
        let kernel = self.plain_entry(name, params.clone(), rank, numbers, &call);
        let part = self.together.add(Member { statement: self.number, function, params, is_strip });
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
        let declared: Vec<_> = params.values().map(String::as_str).collect();
        let name = format!("run_{name}");
        let _ = write!(self.text, "\nkernel void {name}({}) {{\n{body}}}\n", declared.join(", "));
        Kernel { name: name.into(), args: params.into_keys().collect(), part: None }
    }

    /// Nothing is done if something has failed.
    fn check(&self) -> &'static str {
        if self.is_recorded { "    if (fault[0] != 0) return;\n" } else { NO_RECORD }
    }

    /// The parameters of a kernel: those that functions need and its own.
    fn entry_params(&self, mut params: Params, rank: usize, numbers: usize) -> Params {
        (0..rank).for_each(|k| _ = params.insert(Arg::Space(k), format!("const i64 n{k}")));
        (0..numbers).for_each(|k| _ = params.insert(Arg::Number(k), format!("const i64 arg{k}")));
        if self.is_recorded {
            params.insert(Arg::Fault, "global i64 *fault".into());
        }
        params
    }
}

/// Whether there is a loop in the code of an operation.
fn loops(op: &Op) -> bool {
    op.codes().iter().any(|(_, c)| has_loop(&c.instrs))
        || op.blocks().iter().flat_map(|b| &b.stmts).any(|s| loops(&s.op))
}

impl Writer<'_> {
    /// The head of a function of a task.
    pub fn task_head(&self, name: &str) -> String {
        format!("static int {name}({})", self.task_parameters())
    }
}
