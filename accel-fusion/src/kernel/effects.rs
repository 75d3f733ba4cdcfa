//! The effects of scalar functions: whether they can fail, branch, loop or add to sums. All passes and backends use these
//! definitions.

use super::ids::Reg;
use super::ir::{Instr, Op, ScalarFn};
use super::walk::walk;
use accel_core::ast::deep;
use accel_core::repr::ScalarType;
use accel_core::repr::op::{Float1Class, Float2, Int2, Num1, Num2, Op1, Op2, OwnFloat1};
use index_vec::IndexVec;

/// What an instruction checks at run time. If the check fails, the program fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    /// The divisor of integers is not 0. If it is a constant other than 0, there is no check.
    Divisor,
    /// The index of a read, or of an element of a sum, is within bounds.
    Bounds,
    /// There is memory for the lists of a loop.
    Memory,
}

impl Instr {
    /// The check of the instruction itself, without inner instructions. `code` has the types of the registers.
    pub fn check(&self, code: &ScalarFn) -> Option<Check> {
        match self {
            Instr::Op2(_, op, a, b) => {
                let is_checked = divides_integers(*op, code.types[*a]) && !code.is_constant_but_zero(*b);
                is_checked.then_some(Check::Divisor)
            }
            Instr::Read { inside, index, .. } | Instr::Emit { inside, index, .. } => {
                (!inside && !index.is_empty()).then_some(Check::Bounds)
            }
            Instr::Const(..) | Instr::Op1(..) | Instr::Extent(..) | Instr::If { .. } | Instr::Get { .. } => None,
            Instr::While { lists, .. } => (!lists.is_empty()).then_some(Check::Memory),
        }
    }

    /// Whether the instruction is a loop or has loops inside.
    pub fn has_loop(&self) -> bool {
        walk(std::slice::from_ref(self)).any(|i| matches!(i, Instr::While { .. }))
    }

    /// The result and the argument of a call of a function of one argument that takes long for a single number.
    pub fn library_call(&self) -> Option<(Reg, Reg)> {
        match self {
            Instr::Op1(to, Op1::Float(op), a) => {
                let calls = matches!(
                    op.class(),
                    Float1Class::Library | Float1Class::Own(OwnFloat1::Sech | OwnFloat1::NormalCdf)
                );
                calls.then_some((*to, *a))
            }
            _ => None,
        }
    }

    /// Whether the instruction is arithmetic on floating-point numbers that processors do with vectors. (With strong zeros, too:
    /// NOTE [Strong zeros] in `accel-ad`.)
    pub fn is_float_arithmetic(&self, types: &IndexVec<Reg, ScalarType>) -> bool {
        match self {
            Instr::Op1(to, Op1::Num(Num1::Neg), _) => types[*to].is_float(),
            Instr::Op2(to, Op2::Num(Num2::Add | Num2::Sub | Num2::Mul | Num2::Div), ..) => types[*to].is_float(),
            Instr::Op2(_, Op2::Float(Float2::StrongMul | Float2::StrongDiv), ..) => true,
            _ => false,
        }
    }

    /// Whether the instruction is a selection: a conditional whose branches are empty.
    pub fn is_selection(&self) -> bool {
        matches!(self, Instr::If { then, otherwise, .. } if then.is_empty() && otherwise.is_empty())
    }

    /// Whether the instruction neither fails nor branches nor loops nor adds to a sum.
    pub(crate) fn is_branch_free(&self, code: &ScalarFn) -> bool {
        self.inner().is_empty() && self.check(code).is_none() && !matches!(self, Instr::Emit { .. })
    }
}

impl Op {
    /// Whether this is a check that extents of arrays are equal, so that what follows may rely on it.
    pub(crate) fn compares_extents(&self) -> bool {
        let is_extent = |i: &Instr| matches!(i, Instr::Extent(..));
        matches!(self, Op::Agree { agreement, left, right } if !agreement.is_of_one_operation()
            && [left, right].iter().all(|code| code.instrs.iter().any(is_extent)))
    }
}

/// Whether the operation divides integers, which fails for the divisor 0.
pub(crate) fn divides_integers(op: Op2, t: ScalarType) -> bool {
    match op {
        Op2::Num(Num2::Div | Num2::Rem) | Op2::Int(Int2::DivEuclid | Int2::RemEuclid) => t.is_integral(),
        Op2::Num(_) | Op2::Int(_) | Op2::Float(_) | Op2::Cmp(_) | Op2::Logic(_) => false,
    }
}

impl ScalarFn {
    fn is_constant_but_zero(&self, r: Reg) -> bool {
        walk(&self.instrs).any(|i| matches!(i, Instr::Const(to, x) if *to == r && *x != x.ty().zero()))
    }

    /// Whether the function can fail.
    pub fn can_fail(&self) -> bool {
        walk(&self.instrs).any(|i| i.check(self).is_some())
    }

    /// The registers that hold lists, in the order of the loops.
    pub fn lists(&self) -> Vec<Reg> {
        fn of(i: &Instr) -> &[(Reg, Reg)] {
            if let Instr::While { lists, .. } = i { lists } else { &[] }
        }
        walk(&self.instrs).flat_map(of).map(|l| l.0).collect()
    }

    /// Whether the function contains a loop, which may run for ever.
    pub fn has_loop(&self) -> bool {
        self.instrs.iter().any(Instr::has_loop)
    }

    /// Whether the function adds to sums. This is an effect: such instructions are executed exactly as often as the
    /// program says.
    pub fn emits(&self) -> bool {
        walk(&self.instrs).any(|i| matches!(i, Instr::Emit { .. }))
    }

    /// Whether the function has results for all arguments and no effects: it cannot fail or run for ever, and adds to no
    /// sums. Only such a function can be dropped or repeated without a difference.
    pub fn is_total(&self) -> bool {
        !self.can_fail() && !self.has_loop() && !self.emits()
    }

    /// Whether the function reads elements of one byte, such as those of a mask.
    pub fn reads_bytes(&self) -> bool {
        let is_byte = |r: &Reg| matches!(self.types[*r], ScalarType::Bool | ScalarType::I8 | ScalarType::U8);
        walk(&self.instrs).any(|i| matches!(i, Instr::Read { to, .. } if to.iter().any(is_byte)))
    }

    /// Whether the function is straight-line code: no branches and no loops.
    pub fn is_straight_line(&self) -> bool {
        self.instrs.iter().all(|i| i.inner().is_empty())
    }

    /// Whether the function is branch-free: no branches, no loops, no sums, and nothing that can fail.
    pub fn is_branch_free(&self) -> bool {
        self.instrs.iter().all(|i| i.is_branch_free(self))
    }

    /// Whether the function is if-convertible: as [`is_branch_free`](Self::is_branch_free), but it can contain branches
    /// that only compute. C compilers turn these into selections.
    pub fn is_if_convertible(&self) -> bool {
        fn only_computes(code: &ScalarFn, branch: &[Instr]) -> bool {
            branch.iter().all(|i| !matches!(i, Instr::Read { .. }) && is_convertible(code, i))
        }
        fn is_convertible(code: &ScalarFn, i: &Instr) -> bool {
            match i {
                Instr::If { then, otherwise, .. } => {
                    deep(|| only_computes(code, then) && only_computes(code, otherwise))
                }
                _ => i.is_branch_free(code),
            }
        }
        self.instrs.iter().all(|i| is_convertible(self, i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_divides_integers_is_what_fails_for_a_divisor_of_zero() {
        for t in ScalarType::ALL {
            for op in Op2::all().filter(|op| op.result(t).is_some()) {
                assert_eq!(divides_integers(op, t), op.eval(t.one(), t.zero()).is_err(), "{op} of {t}");
            }
        }
    }
}
