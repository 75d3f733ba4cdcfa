//! The arguments of `replicate` and `slice`: which dimensions are added or removed, and which part of a dimension stays.

use super::index::{components, from_components};
use super::{Exp, IntoShape, ToExp, cond};
use crate::types::{Dim1, Dim2, Dim3, Dim4, Dim5, Dim6, Shape, Snoc, Z};
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// A dimension that both arrays have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct All;

/// What is taken of a dimension.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// All of it.
    Whole,
    /// One index; the dimension is removed.
    At(Exp<i64>),
    /// As many indices as `count` says, from `first` on, with this distance if it is not 1.
    Range {
        /// The first index.
        first: Exp<i64>,
        /// The number of indices.
        count: Exp<i64>,
        /// Their distance.
        step: Option<Exp<i64>>,
    },
}

/// The shape of a part of an array of these extents.
pub(super) fn kept_extents<Small: Shape>(parts: &[Part], extents: &[Exp<i64>]) -> Exp<Small> {
    let extent = |(part, n): (&Part, &Exp<i64>)| match part {
        Part::Whole => Some(*n),
        Part::At(_) => None,
        Part::Range { count, .. } => Some(*count),
    };
    from_components(&parts.iter().zip(extents).filter_map(extent).collect::<Vec<_>>())
}

/// The index in an array for an index in a part of it.
pub(super) fn larger_index<Small: Shape, Large: Shape>(parts: &[Part], ix: Small::Index) -> Exp<Large> {
    let mut kept = components(ix.into_shape()).into_iter();
    let index = |part: &Part| match part {
        Part::Whole => kept.next(),
        Part::At(i) => Some(*i),
        Part::Range { first, step, .. } => kept.next().map(|i| *first + step.map_or(i, |step| i * step)),
    };
    from_components(&parts.iter().filter_map(index).collect::<Vec<_>>())
}

/// One dimension of the larger array: [`All`] or a range such as `1..3` if the smaller array has it as well, otherwise an `i64` or
/// `Exp<i64>`. An `i64` below 0 counts from the end.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what happens to a dimension",
    note = "write `All` for one that stays, an `i64` or `Exp<i64>` for one that is removed, and a range of these for a part; \
            for an `Exp` `n`, `between(1, n)`"
)]
pub trait SliceDim {
    /// The smaller shape, extended by this dimension if the smaller array has it.
    type Push<Sh: Shape>: Shape;
    /// What is taken of a dimension with this extent.
    fn part(self, extent: Exp<i64>) -> Part;
}

/// One dimension of the result of `replicate`: [`All`] if the argument has it, otherwise its extent.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how a dimension arises",
    note = "write `All` for one that the array has, an `i64` or `Exp<i64>` for the extent of one that is added"
)]
pub trait NewDim: SliceDim {
    /// The extent, if the dimension is new.
    fn extent(self) -> Option<Exp<i64>>;
}

impl SliceDim for All {
    type Push<Sh: Shape> = Snoc<Sh>;
    fn part(self, _: Exp<i64>) -> Part {
        Part::Whole
    }
}
impl NewDim for All {
    fn extent(self) -> Option<Exp<i64>> {
        None
    }
}

/// An index in a dimension: an `i64`, which counts from the end if it is below 0, or an `Exp<i64>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index in a dimension",
    note = "indices and the ends of ranges are `i64` or `Exp<i64>`: write `n as i64` for a `usize`"
)]
pub trait Position: NewDim + Copy {
    /// The index in a dimension with this extent.
    fn within(self, extent: Exp<i64>) -> Exp<i64>;
}
impl Position for i64 {
    #[track_caller]
    fn within(self, extent: Exp<i64>) -> Exp<i64> {
        if self < 0 { extent + self } else { self.to_exp() }
    }
}
impl Position for Exp<i64> {
    fn within(self, _: Exp<i64>) -> Exp<i64> {
        self
    }
}
macro_rules! positions {
    ($($t:ty),*) => { $(
        impl SliceDim for $t {
            type Push<Sh: Shape> = Sh;
            #[track_caller]
            fn part(self, extent: Exp<i64>) -> Part {
                Part::At(self.within(extent))
            }
        }
        impl NewDim for $t {
            #[track_caller]
            fn extent(self) -> Option<Exp<i64>> {
                Some(self.to_exp())
            }
        }
    )* };
}
positions!(i64, Exp<i64>);

/// A range whose ends may be of different types, or count from different ends: see [`between`].
#[derive(Clone, Copy, Debug)]
pub struct Between<I, J> {
    first: I,
    end: J,
}

/// The indices from `first` to before `end`, for [`slice`](super::slice): `between(1, -1)` is `1:-1` in NumPy. Of `1..-1`, clippy says that
/// it is empty; and both ends of `1..n` have one type, but `between(1, n)` takes an `Exp` for `n`.
pub fn between<I: Position, J: Position>(first: I, end: J) -> Between<I, J> {
    Between { first, end }
}

/// Part of a dimension: `1..3`, `1..`, `..3`, `1..=2`, `..=2`, `..`, `between(1, -1)`, with numbers as [`SliceDim`] says.
pub trait Indices {
    /// The first index, and the one behind the last one, in a dimension with this extent.
    fn ends(self, extent: Exp<i64>) -> (Exp<i64>, Exp<i64>);
}
macro_rules! ranges {
    ($($range:ty [$($I:ident)*]: |$self:ident, $n:ident| ($first:expr, $end:expr);)*) => { $(
        impl<$($I: Position),*> Indices for $range {
            #[track_caller]
            fn ends($self, $n: Exp<i64>) -> (Exp<i64>, Exp<i64>) {
                ($first, $end)
            }
        }
        impl<$($I: Position),*> SliceDim for $range {
            type Push<Sh: Shape> = Snoc<Sh>;
            #[track_caller]
            fn part(self, extent: Exp<i64>) -> Part {
                let (first, end) = self.ends(extent);
                Part::Range { first, count: end - first, step: None }
            }
        }
    )* };
}
ranges! {
    Range<I> [I]: |self, n| (self.start.within(n), self.end.within(n));
    RangeFrom<I> [I]: |self, n| (self.start.within(n), n);
    RangeTo<I> [I]: |self, n| (0i64.to_exp(), self.end.within(n));
    RangeInclusive<I> [I]: |self, n| (self.start().within(n), self.end().within(n) + 1);
    RangeToInclusive<I> [I]: |self, n| (0i64.to_exp(), self.end.within(n) + 1);
    RangeFull []: |self, n| (0i64.to_exp(), n);
    Between<I, J> [I J]: |self, n| (self.first.within(n), self.end.within(n));
}

/// Indices with a distance: see [`every`].
#[derive(Clone, Copy, Debug)]
pub struct Every<R> {
    step: Exp<i64>,
    range: R,
}

/// Each `step`th index of a range, from its first one on, for [`slice`](super::slice): `slice(every(2, 1..), v)` is `v[1::2]` in
/// NumPy. A negative step goes through the range from its last index down: `slice(every(-1, ..), v)` is `v[::-1]`, and `every(-2, 1..4)` are
/// the indices 3 and 1. A step of 0 is an error when the program runs.
#[track_caller]
pub fn every<R: Indices>(step: impl ToExp<i64>, range: R) -> Every<R> {
    // The step from the least integer would have no absolute value; no array has more elements than the next one leads over.
    Every { step: step.to_exp().max(-i64::MAX), range }
}
impl<R: Indices> SliceDim for Every<R> {
    type Push<Sh: Shape> = Snoc<Sh>;
    #[track_caller]
    fn part(self, extent: Exp<i64>) -> Part {
        let (first, end) = self.range.ends(extent);
        let (n, step) = (end - first, self.step);
        // A range that ends before it begins keeps its negative number, and is the same error as without steps.
        let count = n.min((n - 1) / step.abs().max(1) + 1);
        Part::Range { first: cond::<i64>(step.lt(0), end - 1, first), count, step: Some(step) }
    }
}

/// The dimensions of the larger array, outermost first: one [`SliceDim`] or a tuple of up to six.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what happens to each dimension",
    note = "write a tuple with `All` for a dimension that stays, an `i64` or `Exp<i64>` for one that is removed, and a range of these \
            for a part; for an `Exp` `n`, `between(1, n)`"
)]
pub trait Slicing {
    /// The shape of the larger array.
    type Large: Shape;
    /// The shape of the smaller array.
    type Small: Shape;
    /// What is taken of each dimension, for these extents of the larger array.
    fn parts(self, extents: &[Exp<i64>]) -> Vec<Part>;
}

/// The dimensions of the result of `replicate`, outermost first: one [`NewDim`] or a tuple of up to six.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how each dimension arises",
    note = "write a tuple with `All` for a dimension that the array has, an `i64` or `Exp<i64>` for the extent of one that is added"
)]
pub trait Replication: Slicing {
    /// The extents of the dimensions that are new.
    fn extents(self) -> Vec<Option<Exp<i64>>>;
}

impl<D: SliceDim> Slicing for D {
    type Large = Dim1;
    type Small = D::Push<Z>;
    #[track_caller]
    fn parts(self, extents: &[Exp<i64>]) -> Vec<Part> {
        vec![self.part(extents[0])]
    }
}
impl<D: NewDim> Replication for D {
    #[track_caller]
    fn extents(self) -> Vec<Option<Exp<i64>>> {
        vec![self.extent()]
    }
}

/// The smaller shape that results from some dimensions.
macro_rules! small {
    ($acc:ty;) => { $acc };
    ($acc:ty; $head:ident $($tail:ident)*) => { small!($head::Push<$acc>; $($tail)*) };
}

macro_rules! slicing {
    ($($dim:ty: $($A:ident $i:tt),+;)*) => { $(
        impl<$($A: SliceDim),+> Slicing for ($($A,)+) {
            type Large = $dim;
            type Small = small!(Z; $($A)+);
            #[track_caller]
            fn parts(self, extents: &[Exp<i64>]) -> Vec<Part> {
                vec![$(self.$i.part(extents[$i])),+]
            }
        }
        impl<$($A: NewDim),+> Replication for ($($A,)+) {
            #[track_caller]
            fn extents(self) -> Vec<Option<Exp<i64>>> {
                vec![$(self.$i.extent()),+]
            }
        }
    )* };
}
slicing! {
    Dim2: A 0, B 1;
    Dim3: A 0, B 1, C 2;
    Dim4: A 0, B 1, C 2, D 3;
    Dim5: A 0, B 1, C 2, D 3, E 4;
    Dim6: A 0, B 1, C 2, D 3, E 4, F 5;
}
