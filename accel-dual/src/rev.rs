//! Reverse mode: numbers whose operations are recorded.

use crate::numbers::{left_operators, numbers};
use crate::strong::Strong;
use crate::tape::base::Base;
use crate::tape::node::{CONSTANT, LOST, Node};

/// A number that depends on the inputs of [`vjp`](crate::vjp) and its relatives, or a constant.
///
/// An operation whose operands depend on different numbers of the tape appends a node of 24 bytes (for `f64`). All others
/// need no memory: constants have no place on the tape, and the derivative of a function of one number is multiplied into
/// the factor that each `Rev` carries. So `exp(-x * 2.0)` costs one multiplication in the reverse pass.
///
/// A `Rev` belongs to the call that made it. If it is kept and used in a later call, or in an inner call of another
/// function, the call returns [`Error::Foreign`](crate::Error::Foreign).
#[derive(Clone, Copy, Debug)]
// The value and the factor are not neighbours: otherwise LLVM loads both at once, even where they have just been stored
// one by one, and the processor waits for the stores. This doubles the time of programs such as determinants.
#[repr(C)]
pub struct Rev<S = f64> {
    value: S,
    job: u32,
    index: u32,
    /// The derivative of this number by the number at the place.
    scale: S,
}

impl<S: Base> Rev<S> {
    /// A number whose derivative is zero.
    #[inline(always)]
    pub fn constant(value: S) -> Self {
        Rev { value, scale: S::zero(), job: CONSTANT, index: 0 }
    }

    /// The value.
    #[inline(always)]
    pub fn value(&self) -> S {
        self.value
    }

    /// The number at a place of the tape of a job.
    #[inline(always)]
    pub(crate) fn at(value: S, job: u32, index: u32) -> Self {
        Rev { value, scale: S::one(), job, index }
    }

    /// The job, the place and the derivative by the number there; `None` for constants.
    pub(crate) fn place(&self) -> Option<(u32, u32, S)> {
        (self.job != CONSTANT).then_some((self.job, self.index, self.scale))
    }

    /// A number that lost its derivative, because nothing was recorded where it was computed.
    pub(crate) fn lost(value: S) -> Self {
        Rev::at(value, LOST, 0)
    }

    #[inline(always)]
    fn is_const(&self) -> bool {
        self.job == CONSTANT
    }

    #[inline(always)]
    fn lift1(self, (value, derivative): (S, S)) -> Self {
        Rev { value, scale: derivative.strong_mul(self.scale), ..self }
    }

    #[inline(always)]
    fn lift2(self, other: Self, value: S, da: S, db: S) -> Self {
        let (by_self, by_other) = (da.strong_mul(self.scale), db.strong_mul(other.scale));
        if self.job != other.job {
            // Most often, one is a constant.
            if other.is_const() {
                return Rev { value, scale: by_self, ..self };
            }
            if self.is_const() {
                return Rev { value, scale: by_other, ..other };
            }
        } else if self.index == other.index {
            // Both are functions of the same number, or both are constants.
            return Rev { value, scale: by_self + by_other, ..self };
        }
        let node = Node { partials: [by_self, by_other], parents: [self.index, other.index] };
        #[allow(unsafe_code)]
        // SAFETY: the recorder copies numbers.
        let recorded = unsafe { S::with(|r| r.operation([self.job, other.job], node)) };
        let (job, index) = recorded.unwrap_or((LOST, 0));
        Rev::at(value, job, index)
    }
}

impl<S: Base> Strong for Rev<S> {
    #[inline(always)]
    fn strong_mul(self, other: Self) -> Self {
        let (a, b) = (self.value(), other.value());
        self.lift2(other, a.strong_mul(b), b, a)
    }
}

numbers!(Rev<S>, S, [S: Base]);
left_operators!(f32, Rev<f32>, []);
left_operators!(f64, Rev<f64>, []);
