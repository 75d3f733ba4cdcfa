//! Generates one text of OpenCL C from a kernel program, with a plan for each statement.
//!
//! NOTE [Statements that cannot fail]: after a failure, arrays contain elements that were never computed. Kernels that
//! check something, and kernels with loops, which might then never end, first read the fault record and do nothing
//! after a failure. On a GPU, every item waits for this load before it starts, and on the host the record is one more
//! transfer. But most statements contain nothing that can fail: they compute something from any elements, and nobody
//! sees the result. Which statements these are is known only after their kernels were generated. So all kernels are
//! generated without the record, and once more if some need it.

use super::accumulate::Accumulation;
use super::emitter::Emitter;
use super::loads::is_cheap;
use super::permute::Permutation;
use super::reduce::ReducePlan;
use super::scan::Scanning;
use super::sort::Sorting;
use super::statement::{Plan, Statement};
use super::target::Target;
use crate::analysis::liveness::{self, Block, Step};
use crate::shared::scan::Scan;
use crate::text::declarations::Declarations;
use crate::text::dialect::Dialect;
use accel_core::ast::deep;
use accel_core::repr::ScalarType;
use accel_core::repr::op::{Float1, Op1};
use accel_fusion::kernel::{self, Instr, Op, Program, ScalarFn, Verified};
use std::collections::{BTreeMap, BTreeSet};

/// The kernels of a program.
#[derive(Clone, Debug)]
pub struct Module {
    /// The text.
    pub source: String,
    /// Whether the kernels need 64-bit floating-point numbers.
    pub needs_fp64: bool,
    /// The statements by their numbers ([`crate::liveness::Step::number`]). Those without kernels are missing.
    pub statements: BTreeMap<usize, Statement>,
}

/// Generates the kernels of a program for a device. Strips, which only programs for processors have, get none.
pub fn emit(program: &Verified<Program>, target: &Target) -> Module {
    let (module, failing) = print(program, target, BTreeSet::new());
    if failing.is_empty() { module } else { print(program, target, failing).0 }
}

/// Generates the kernels, given the statements that are known to be able to fail. Also returns the statements that turn
/// out to be able to fail.
fn print(program: &Program, target: &Target, known: BTreeSet<usize>) -> (Module, BTreeSet<usize>) {
    let dialect = Dialect::OpenCl { narrow: !target.wide, atomics_64: target.atomics_64 };
    let mut declarations = Declarations::new(program, dialect);
    let mut emitter = Emitter {
        program,
        target,
        known,
        failing: BTreeSet::new(),
        is_recorded: false,
        declarations: &mut declarations,
        text: String::new(),
    };
    let mut statements = BTreeMap::new();
    emitter.block(&liveness::analyse(program), &mut statements);
    let Emitter { text: kernels, failing, .. } = emitter;
    let needs_fp64 = needs_f64(program);
    let fp64 = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\ntypedef double f64;\n";
    let position = if target.wide { "typedef ulong P;\n" } else { "typedef uint P;\n" };
    let fp64 = if needs_fp64 { fp64 } else { "" };
    let source = [include_str!("prelude.cl"), fp64, position, &declarations.print(), &kernels].concat();
    (Module { source, needs_fp64, statements }, failing)
}

impl Emitter<'_> {
    fn block(&mut self, b: &Block, statements: &mut BTreeMap<usize, Statement>) {
        for s in &b.steps {
            self.declarations.fails = false;
            self.is_recorded = self.known.contains(&s.number) || (!self.known.is_empty() && loops(&s.stmt.op));
            if let Some(plan) = self.statement(s) {
                let lists = s.stmt.op.scalar_fns().into_iter().map(|(_, code)| code.lists().len()).max().unwrap_or(0);
                statements.insert(s.number, Statement { plan, lists });
            }
            if self.declarations.fails {
                self.failing.insert(s.number);
            }
            deep(|| s.blocks.iter().for_each(|b| self.block(b, statements)));
        }
    }

    fn statement(&mut self, s: &Step) -> Option<Plan> {
        match &s.stmt.op {
            Op::Loop { to, extents, body } => {
                let (function, rank) = (format!("loop_{}", s.number), extents.results.len());
                self.function(s, &function, |w| {
                    w.aliased = s.aliased();
                    w.element_at(&function, to, rank, body)
                });
                Some(Plan::Loop(self.loop_kernel(s, &function, to, is_cheap(body))))
            }
            Op::Accumulate { .. } => Accumulation::new(self, s).map(Plan::Accumulate),
            Op::Reduce { to, extents, rows } => {
                Some(Plan::Reduce(Box::new(ReducePlan::new(self, s, *to, extents.results.len(), rows))))
            }
            op @ Op::Scan { .. } => Some(Plan::Scan(Scanning::new(self, s, &Scan::new(op)?))),
            Op::Permute { .. } => Permutation::new(self, s).map(Plan::Permute),
            Op::Argsort { to, keys, moved } => Some(Plan::Sort(Sorting::new(self, s, to, *keys, moved))),
            // The backend dissolves strips: they are for processors.
            Op::Strip { .. } => None,
            // The host calls it.
            Op::Foreign { .. } => None,
            Op::Literal { .. } | Op::Reshape { .. } | Op::Agree { .. } => None,
            Op::If { .. } | Op::While { .. } | Op::Keep { .. } | Op::Recall { .. } => None,
        }
    }
}

/// Whether the kernels of an operation contain a loop.
fn loops(op: &Op) -> bool {
    match op {
        Op::If { .. } | Op::While { .. } | Op::Recall { .. } => false,
        _ => op.scalar_fns().iter().any(|(_, c)| c.has_loop()),
    }
}

/// Whether a program computes with 64-bit floating-point numbers.
fn needs_f64(program: &Program) -> bool {
    fn in_block(b: &kernel::Block) -> bool {
        b.stmts
            .iter()
            .any(|s| s.op.scalar_fns().iter().any(|(_, c)| in_code(c)) || s.op.blocks().into_iter().any(in_block))
    }
    // Functions of families are computed in 64 bits for all types.
    fn in_code(code: &ScalarFn) -> bool {
        code.types.contains(&ScalarType::F64) || has_family(&code.instrs)
    }
    fn has_family(instrs: &[Instr]) -> bool {
        let is = |i: &Instr| matches!(i, Instr::Op1(_, Op1::Float(Float1::Family(..)), _));
        instrs.iter().any(|i| is(i) || i.inner().into_iter().any(has_family))
    }
    program.arrays.iter().any(|a| a.columns.contains(&ScalarType::F64)) || in_block(&program.body)
}
