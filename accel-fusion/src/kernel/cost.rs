//! Estimates the cost of scalar functions, in additions. There are two estimates, for two questions: is it cheaper to
//! recompute elements than to store them ([`ScalarFn::work`]), and how long does a task take ([`ScalarFn::cost`])?

use super::ir::{Instr, Reduction, ScalarFn};
use accel_core::ast::deep;
use accel_core::repr::ScalarType;
use accel_core::repr::op::{Float1, Float2, Num2, Op1, Op2};

/// Estimates saturate here: nested loops can take any time, and costs are multiplied by sizes.
const MAX_COST: usize = 1 << 30;

/// The weights of an instruction.
struct Weights {
    /// Its part of [`ScalarFn::work`].
    work: usize,
    /// Its part of [`ScalarFn::cost`].
    cost: usize,
    reads: usize,
}

/// How an estimate adds up the weights of nested instructions.
struct Estimate {
    weight: fn(&Weights) -> usize,
    /// The weight of a list of instructions itself, and of a branch.
    list: usize,
    /// The weight of a conditional that is in at least [`FREE_CHOICES`] others.
    choice: usize,
    /// The number of iterations of a loop, which is unknown, and the weight of an iteration itself.
    iterations: usize,
    iteration: usize,
}

/// So many nested choices find a place before, in or behind a range. More of them are a search, for example for one of many arrays side
/// by side.
const FREE_CHOICES: usize = 2;

const WORK: Estimate = Estimate { weight: |w| w.work, list: 0, choice: 1, iterations: 20, iteration: 1 };
const READS: Estimate = Estimate { weight: |w| w.reads, list: 0, choice: 0, iterations: 10, iteration: 0 };
const COST: Estimate = Estimate { weight: |w| w.cost, list: 1, choice: 0, iterations: 20, iteration: 1 };

impl ScalarFn {
    /// The work of recomputing the results. Index arithmetic and the first read are free, because a reader of the
    /// stored element needs them, too.
    pub fn work(&self) -> usize {
        self.total(&self.instrs, &WORK, 0) + self.total(&self.instrs, &READS, 0).saturating_sub(1)
    }

    /// The approximate cost of a call.
    pub fn cost(&self) -> usize {
        self.cost_of(&self.instrs)
    }

    /// The approximate cost of some instructions of the function.
    pub fn cost_of(&self, instrs: &[Instr]) -> usize {
        self.total(instrs, &COST, 0)
    }

    /// The weight of instructions that are in so many conditionals.
    fn total(&self, instrs: &[Instr], e: &Estimate, depth: usize) -> usize {
        let within = |instrs: &[Instr], depth| self.total(instrs, e, depth);
        let of = |i: &Instr| match i {
            Instr::If { then, otherwise, .. } => {
                let choice = if depth >= FREE_CHOICES { e.choice } else { 0 };
                e.list + choice + within(then, depth + 1).max(within(otherwise, depth + 1))
            }
            Instr::While { cond, body, .. } => e.iterations * (e.iteration + within(cond, depth) + within(body, depth)),
            _ => (e.weight)(&self.weights(i)),
        };
        MAX_COST.min(e.list + deep(|| instrs.iter().map(of).sum::<usize>()))
    }

    /// The weights of an instruction without inner ones.
    fn weights(&self, i: &Instr) -> Weights {
        let (work, cost) = match i {
            Instr::Const(..) | Instr::Extent(..) => (0, 0),
            Instr::Op1(_, Op1::Float(Float1::Detach), _) => (0, 0),
            Instr::Op1(_, Op1::Float(Float1::Recip | Float1::Sqrt), _) => (4, 4),
            Instr::Op1(_, Op1::Float(_), _) => (20, 10),
            Instr::Op1(..) => (1, 1),
            // Those of indices are shared by neighbouring elements, or are digits that are counted instead.
            Instr::Op2(_, Op2::Num(Num2::Div | Num2::Rem), a, _) if self.types[*a] == ScalarType::I64 => (2, 1),
            Instr::Op2(_, Op2::Num(Num2::Div | Num2::Rem), ..) => (4, 1),
            Instr::Op2(_, Op2::Float(Float2::StrongMul), ..) => (1, 1),
            Instr::Op2(_, Op2::Float(Float2::StrongDiv), ..) => (4, 1),
            Instr::Op2(_, Op2::Float(_), ..) => (30, 10),
            Instr::Op2(_, Op2::Num(_) | Op2::Cmp(_), a, _) if self.types[*a] == ScalarType::I64 => (0, 1),
            Instr::Op2(_, Op2::Logic(_), ..) => (0, 1),
            Instr::Op2(..) => (1, 1),
            Instr::Read { to, .. } => (0, 1 + to.len()),
            Instr::Get { .. } => (2, 2),
            Instr::Emit { values, .. } => (2 * values.len(), 1 + 2 * values.len()),
            Instr::If { .. } | Instr::While { .. } => (0, 0),
        };
        Weights { work, cost, reads: usize::from(matches!(i, Instr::Read { .. })) }
    }
}

impl Reduction {
    /// The approximate cost of an element: to compute it and to combine it with others.
    pub fn cost(&self) -> usize {
        self.element.cost() + self.op.cost()
    }
}
