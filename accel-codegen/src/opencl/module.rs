//! A kernel program as one text of OpenCL C, with a plan for each statement.
//!
//! NOTE [Statements that cannot fail]
//! After a failure arrays have elements that nobody computed. Kernels that check something, and those with loops, which might never end
//! then, look at the record of faults first and do nothing. On a GPU that is a load that every item waits for before it begins, and for the
//! host the record is one more transfer. Most statements have nothing that can fail: they compute something of whatever they find, and nobody
//! sees it. Which these are is known when their kernels have been printed: all are printed without the record, and once more if some need it.

use super::batch::{self, Batch};
use super::emitter::{Emitter, Tasks};
use super::loads::is_cheap;
use super::permute::Permutation;
use super::reduce::Reduction;
use super::scan::Scanning;
use super::statement::{Plan, Statement};
use super::strip::Strips;
use super::target::{Shape, Target};
use crate::analysis::cost::cost;
use crate::analysis::liveness::{self, Block, Step};
use crate::shared::nontemporal::pieces;
use crate::text::declarations::Declarations;
use crate::text::dialect::Dialect;
use crate::text::registers::Vectors;
use accel_core::ast::deep;
use accel_core::repr::ScalarType;
use accel_core::repr::op::{Float1, Op1};
use accel_fusion::kernel::{self, Code, Instr, Op, Program, Verified, has_loop};
use std::collections::{BTreeMap, BTreeSet};

/// The kernels of a program.
#[derive(Clone, Debug)]
pub struct Module {
    /// The text.
    pub source: String,
    /// Whether it needs 64-bit floating-point numbers.
    pub needs_fp64: bool,
    /// By the number of the statement ([`crate::liveness::Step::number`]); those without kernels are missing.
    pub statements: BTreeMap<usize, Statement>,
    /// The kernels that do what others do.
    pub batches: Vec<Batch>,
}

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
    let (text, batches) = (String::new(), batch::Printer::default());
    let mut emitter = Emitter {
        program,
        target,
        known,
        failing: BTreeSet::new(),
        is_recorded: false,
        declarations: &mut declarations,
        text,
        batches,
        number: 0,
    };
    let mut statements = BTreeMap::new();
    emitter.block(&liveness::analyse(program), &mut statements);
    let Emitter { text: kernels, batches, failing, .. } = emitter;
    let text = [declarations.print(), kernels, batches.text].concat();
    let needs_fp64 = needs_f64(program);
    let fp64 = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\ntypedef double f64;\n";
    let position = if target.wide { "ulong" } else { "uint" };
    let position = if gpu { format!("typedef {position} P;\n") } else { String::new() };
    let source = [include_str!("prelude.cl"), if needs_fp64 { fp64 } else { "" }, &position, &text].concat();
    (Module { source, needs_fp64, statements, batches: batches.done }, failing)
}

impl Emitter<'_> {
    fn block(&mut self, b: &Block, statements: &mut BTreeMap<usize, Statement>) {
        for s in &b.steps {
            if matches!(s.stmt.op, Op::If { .. } | Op::While { .. }) {
                self.batches.finish();
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
            deep(|| s.blocks.iter().for_each(|b| self.block(b, statements)));
        }
        self.batches.finish();
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
}

/// Whether there is a loop in the kernels of an operation.
fn loops(op: &Op) -> bool {
    let own = |op: &Op| op.codes().iter().any(|(_, c)| has_loop(&c.instrs));
    match op {
        Op::If { .. } | Op::While { .. } => false,
        Op::Strip { body, .. } => body.stmts.iter().any(|s| own(&s.op)),
        _ => own(op),
    }
}

/// Whether a program computes with 64-bit floating-point numbers.
fn needs_f64(program: &Program) -> bool {
    fn in_block(b: &kernel::Block) -> bool {
        b.stmts.iter().any(|s| s.op.codes().iter().any(|(_, c)| in_code(c)) || s.op.blocks().into_iter().any(in_block))
    }
    // Polygamma functions of any number are computed with 64 bits.
    fn in_code(code: &Code) -> bool {
        code.types.contains(&ScalarType::F64) || has_polygamma(&code.instrs)
    }
    fn has_polygamma(instrs: &[Instr]) -> bool {
        let is = |i: &Instr| matches!(i, Instr::Op1(_, Op1::Float(Float1::Polygamma(_)), _));
        instrs.iter().any(|i| is(i) || i.inner().into_iter().any(has_polygamma))
    }
    program.arrays.iter().any(|a| a.columns.contains(&ScalarType::F64)) || in_block(&program.body)
}
