//! Arrays in the surface language: reads from scalar code, extents, and arrays that are part of a program.

use super::graph::{ArrayOp, ScalarOp, build};
use super::handles::{Acc, Exp};
use crate::array::Array;
use crate::ast::ty::Repr;
use crate::repr::RawTy;
use crate::types::Elt;
use crate::types::arrays::{Arrays, IntoAcc};
use crate::types::shape::{IntoShape, Shape, Z};
use std::panic::Location;

impl<A: Arrays> Acc<A> {
    /// Splits a tuple or a record of arrays into its components; an array is returned unchanged.
    #[track_caller]
    pub fn unlift(self) -> A::Acc {
        A::unlift(self)
    }
}

impl<Sh: Shape, T: Elt> Acc<Array<Sh, T>> {
    /// The element at an index, split into its components. An index out of bounds is an error when the program runs.
    #[track_caller]
    pub fn at(self, ix: impl IntoShape<Sh = Sh>) -> T::Exp {
        read("at", self, ix.into_shape()).unlift()
    }

    /// The extents as an index: `Exp<i64>` for a vector, `(rows, columns)` for a matrix.
    #[track_caller]
    pub fn shape(self) -> Sh::Index {
        shape(self).index()
    }
}

#[track_caller]
fn read<Sh: Shape, T: Elt>(name: &'static str, xs: Acc<Array<Sh, T>>, ix: Exp<Sh>) -> Exp<T> {
    Exp::new(build(name, Location::caller(), |b| {
        let (xs, ix) = (b.id(xs.handle()), b.id(ix.handle()));
        b.push(ScalarOp::Index(xs, ix), T::Repr::raw())
    }))
}

/// The shape of an array, as a single expression. [`Acc::shape`] returns its components.
#[track_caller]
pub fn shape<Sh: Shape, T: Elt>(xs: Acc<Array<Sh, T>>) -> Exp<Sh> {
    Exp::new(build("shape", Location::caller(), |b| {
        let xs = b.id(xs.handle());
        b.push(ScalarOp::Shape(xs), Sh::Repr::raw())
    }))
}

/// The element of an array without dimensions, split into its components.
#[track_caller]
pub fn the<T: Elt>(x: Acc<Array<Z, T>>) -> T::Exp {
    let ix = ().into_shape();
    read("the", x, ix).unlift()
}

/// Makes arrays of the host a constant of the program. The data is shared, not copied.
#[track_caller]
pub fn use_<A: Arrays>(arrays: &A) -> Acc<A> {
    let arrays = arrays.to_tuple();
    Acc::new(build("use_", Location::caller(), |b| b.push(ArrayOp::Use(arrays), A::Repr::raw())))
}

impl<A: Arrays> IntoAcc for Acc<A> {
    type Arrays = A;
    fn into_acc(self) -> Acc<A> {
        self
    }
}
impl IntoAcc for () {
    type Arrays = ();
    #[track_caller]
    fn into_acc(self) -> Acc<()> {
        Acc::new(build("tuple", Location::caller(), |b| b.push(ArrayOp::Unit, RawTy::Unit)))
    }
}
