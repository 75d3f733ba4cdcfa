//! Primitive functions of lanes.

use super::registers::with_vectors;
use accel_core::repr::eval::{Binary, Unary};
use accel_core::repr::op::{Op1, Op2};
use accel_core::repr::{Column, ColumnElt, Scalar};
use std::ops::Range;

/// Computes a function of one argument in the first `n` lanes.
pub fn map(op: Op1, a: &Column, to: &mut Column, n: usize) -> Option<()> {
    op.with(a.ty(), Map { a, to, n })?
}

/// Computes a function of two arguments in the first `n` lanes. `None` if there is a division by zero in a lane where
/// `mask` is true.
pub fn zip(op: Op2, [a, b]: [&Column; 2], to: &mut Column, n: usize, mask: Option<&[bool]>) -> Option<()> {
    op.with(a.ty(), Zip { a, b, to, n, mask })?
}

/// Combines the values of lanes with the elements at some positions of a column: in the order of the lanes, those where
/// `mask` is true. The new value is the first argument or the second one. `None` as for [`zip`].
pub fn combine_at(op: Op2, new: New, positions: &[usize], mask: Option<&[bool]>, to: &mut Column) -> Option<()> {
    op.with(to.ty(), Combine { new, positions, mask, to })?
}

/// Combines a value with elements of a column, one after the other. `None` as for [`zip`].
pub fn fold(op: Op2, first: Scalar, column: &Column, range: Range<usize>) -> Option<Scalar> {
    op.with(first.ty(), Fold { first, column, range })?
}

/// Combines a value with the elements of a column at the positions `from`, one after the other, and writes each value to
/// the next of the positions `to`. The elements are the first arguments of the operator if `reverse`
/// is true. `None` as for [`zip`].
pub fn prefixes(
    op: Op2,
    first: Scalar,
    column: &Column,
    from: impl Iterator<Item = usize>,
    results: &mut Column,
    to: impl Iterator<Item = usize>,
    reverse: bool,
) -> Option<()> {
    op.with(first.ty(), Prefixes { first, column, places: from.zip(to), results, reverse })?
}

/// The values that are combined with elements.
#[derive(Clone, Copy)]
pub enum New<'a> {
    /// The first arguments of the operator.
    First(&'a Column),
    /// Its second arguments.
    Second(&'a Column),
}

struct Map<'a> {
    a: &'a Column,
    to: &'a mut Column,
    n: usize,
}

impl Unary for Map<'_> {
    type Out = Option<()>;
    fn apply<A: ColumnElt, R: ColumnElt>(self, f: impl Fn(A) -> R) -> Option<()> {
        let a = A::elements(self.a)?.get(..self.n)?;
        let to = R::elements_mut(self.to)?.get_mut(..self.n)?;
        with_vectors(
            #[inline(always)]
            || to.iter_mut().zip(a).for_each(|(to, a)| *to = f(*a)),
        );
        Some(())
    }
}

struct Zip<'a> {
    a: &'a Column,
    b: &'a Column,
    to: &'a mut Column,
    n: usize,
    mask: Option<&'a [bool]>,
}

impl Binary for Zip<'_> {
    type Out = Option<()>;
    fn apply<A: ColumnElt, R: ColumnElt>(self, f: impl Fn(A, A) -> R) -> Option<()> {
        let (a, b) = (A::elements(self.a)?.get(..self.n)?, A::elements(self.b)?.get(..self.n)?);
        let to = R::elements_mut(self.to)?.get_mut(..self.n)?;
        with_vectors(
            #[inline(always)]
            || to.iter_mut().zip(a.iter().zip(b)).for_each(|(to, (a, b))| *to = f(*a, *b)),
        );
        Some(())
    }

    fn divide<A: ColumnElt>(self, _: &'static str, f: impl Fn(A, A) -> Option<A>) -> Option<()> {
        let (a, b) = (A::elements(self.a)?.get(..self.n)?, A::elements(self.b)?.get(..self.n)?);
        let to = A::elements_mut(self.to)?.get_mut(..self.n)?;
        for (l, (to, (a, b))) in to.iter_mut().zip(a.iter().zip(b)).enumerate() {
            match f(*a, *b) {
                Some(quotient) => *to = quotient,
                None if self.mask.is_none_or(|mask| mask[l]) => return None,
                None => {}
            }
        }
        Some(())
    }
}

struct Combine<'a> {
    new: New<'a>,
    positions: &'a [usize],
    mask: Option<&'a [bool]>,
    to: &'a mut Column,
}

impl Combine<'_> {
    // The operator is called: a loop for each operator would be much code.
    fn each<A: ColumnElt, R: ColumnElt>(self, f: &dyn Fn(A, A) -> Option<R>) -> Option<()> {
        let (new, is_first) = match self.new {
            New::First(new) => (A::elements(new)?, true),
            New::Second(new) => (A::elements(new)?, false),
        };
        let to = R::elements_mut(self.to)?;
        for (l, (new, at)) in new.iter().zip(self.positions).enumerate() {
            if self.mask.is_none_or(|mask| mask[l]) {
                let to = to.get_mut(*at)?;
                // The operator's result has the type of its arguments.
                let old = A::from_scalar(to.to_scalar())?;
                *to = if is_first { f(*new, old)? } else { f(old, *new)? };
            }
        }
        Some(())
    }
}

impl Binary for Combine<'_> {
    type Out = Option<()>;
    fn apply<A: ColumnElt, R: ColumnElt>(self, f: impl Fn(A, A) -> R) -> Option<()> {
        self.each(&|a, b| Some(f(a, b)))
    }
    fn divide<A: ColumnElt>(self, _: &'static str, f: impl Fn(A, A) -> Option<A>) -> Option<()> {
        self.each(&f)
    }
}

struct Prefixes<'a, I> {
    first: Scalar,
    column: &'a Column,
    places: I,
    results: &'a mut Column,
    reverse: bool,
}

impl<I: Iterator<Item = (usize, usize)>> Prefixes<'_, I> {
    fn each<A: ColumnElt, R: ColumnElt>(self, f: &dyn Fn(A, A) -> Option<R>) -> Option<()> {
        let mut accumulated = A::from_scalar(self.first)?;
        let (elements, results) = (A::elements(self.column)?, A::elements_mut(self.results)?);
        for (from, to) in self.places {
            let element = *elements.get(from)?;
            let next = if self.reverse { f(element, accumulated)? } else { f(accumulated, element)? };
            // The operator's result has the type of its arguments.
            accumulated = A::from_scalar(next.to_scalar())?;
            *results.get_mut(to)? = accumulated;
        }
        Some(())
    }
}

impl<I: Iterator<Item = (usize, usize)>> Binary for Prefixes<'_, I> {
    type Out = Option<()>;
    fn apply<A: ColumnElt, R: ColumnElt>(self, f: impl Fn(A, A) -> R) -> Option<()> {
        self.each(&|a, b| Some(f(a, b)))
    }
    fn divide<A: ColumnElt>(self, _: &'static str, f: impl Fn(A, A) -> Option<A>) -> Option<()> {
        self.each(&f)
    }
}

struct Fold<'a> {
    first: Scalar,
    column: &'a Column,
    range: Range<usize>,
}

impl Fold<'_> {
    fn each<A: ColumnElt, R: ColumnElt>(self, f: impl Fn(A, A) -> Option<R>) -> Option<Scalar> {
        let mut accumulated = A::from_scalar(self.first)?;
        for x in A::elements(self.column)?.get(self.range)? {
            // The operator's result has the type of its arguments.
            accumulated = A::from_scalar(f(accumulated, *x)?.to_scalar())?;
        }
        Some(accumulated.to_scalar())
    }
}

impl Binary for Fold<'_> {
    type Out = Option<Scalar>;
    fn apply<A: ColumnElt, R: ColumnElt>(self, f: impl Fn(A, A) -> R) -> Option<Scalar> {
        self.each(|a, b| Some(f(a, b)))
    }
    fn divide<A: ColumnElt>(self, _: &'static str, f: impl Fn(A, A) -> Option<A>) -> Option<Scalar> {
        self.each(f)
    }
}
