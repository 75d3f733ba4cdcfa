//! Array types: arrays, tuples and records of arrays, which are the arguments and results of programs.

use crate::array::{Array, Scalar, Vector};
use crate::ast::ty::{Arr, ArraysRepr, Repr};
use crate::error::{Error, Result};
use crate::repr::{ArrayTuple, ColumnElt, View, ViewMut, Views, ViewsMut};
use crate::surface::handles::Acc;
use crate::types::{Elt, Shape, Snoc};
use std::fmt::Display;

/// An array, `()`, a tuple of up to twelve array types, a Rust array of one to thirty-two, or a record of array types with `#[derive(Arrays)]`.
///
/// The derive generates, for `struct Model { w: Matrix<f64>, b: Vector<f64> }`, `struct ModelAcc { w: <Matrix<f64> as
/// Arrays>::Acc, .. }` with `impl IntoAcc`, and `impl Arrays for Model` through the nested pairs of the fields, just as
/// for [`Elt`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an array or a tuple of arrays",
    note = "a record of arrays becomes one with `#[derive(Arrays)]`"
)]
pub trait Arrays: Clone + Send + Sync + 'static {
    /// The representation type: tuples and records become pairs nested to the left.
    type Repr: ArraysRepr;
    /// The components inside a program: an [`Acc`] for an array, a tuple of the components for a tuple.
    type Acc: Copy + IntoAcc<Arrays = Self>;

    /// The arrays without their types. The data is shared, not copied.
    fn to_tuple(&self) -> ArrayTuple;
    /// Makes typed arrays from a tuple of arrays of the right types.
    ///
    /// # Errors
    /// `Error::Type` for any other tuple.
    fn from_tuple(arrays: ArrayTuple) -> Result<Self>;
    /// Lists the arrays, from left to right.
    fn views<'a>(&'a self, to: &mut Views<'a>);
    /// Lists the arrays as places for results, from left to right.
    fn views_mut<'a>(&'a mut self, to: &mut ViewsMut<'a>);
    /// Splits an array computation into its components.
    fn unlift(a: Acc<Self>) -> Self::Acc;
    /// Adds the names of the arrays, from left to right: the fields of records and the places in tuples and Rust arrays, with dots between them, as in
    /// `layers.0.bias`. `within` is the name of the whole, and empty if it has none; an array without a name is `array`.
    fn names(within: &str, to: &mut Vec<String>);
}

/// The name of a part of a value with the name `within`, if that has one.
pub fn name_of_part(within: &str, part: impl Display) -> String {
    if within.is_empty() { part.to_string() } else { format!("{within}.{part}") }
}

/// Arrays of at least one dimension, and tuples of them: a loop takes their rows along the outermost dimension.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no rows",
    note = "arrays of at least one dimension have rows, and so have tuples of them"
)]
pub trait Rows: Arrays {
    /// The type of a row: of a vector, a [`Scalar`](crate::prelude::Scalar); of a matrix, a vector; of a tuple, a tuple.
    type Row: Arrays;
}
impl<Sh: Shape, T: Elt> Rows for Array<Snoc<Sh>, T> {
    type Row = Array<Sh, T>;
}

/// Arrays that a loop can list: arrays, `()`, tuples and records of them. The list of a record is the tuple of the lists of its fields.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be listed",
    note = "arrays, `()`, and tuples and records of arrays can"
)]
pub trait Listed: Arrays {
    /// The type of a list: for an array, an array with one more dimension, the outermost one.
    type List: Arrays;
}
impl<Sh: Shape, T: Elt> Listed for Array<Sh, T> {
    type List = Array<Snoc<Sh>, T>;
}
impl Listed for () {
    type List = ();
}

/// Everything that an array function may return: array computations, tuples of them, and the companions of records.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an array computation",
    note = "a scalar expression becomes an array with `unit(x)`"
)]
pub trait IntoAcc {
    /// The type of the result.
    type Arrays: Arrays;
    /// Converts the value to a computation.
    fn into_acc(self) -> Acc<Self::Arrays>;
}

impl<Sh: Shape, T: Elt> Arrays for Array<Sh, T> {
    type Repr = Arr<Sh::Repr, T::Repr>;
    type Acc = Acc<Self>;
    fn to_tuple(&self) -> ArrayTuple {
        ArrayTuple::Array(self.raw().clone())
    }
    fn from_tuple(arrays: ArrayTuple) -> Result<Self> {
        match arrays {
            ArrayTuple::Array(raw) => Array::from_raw(raw),
            other => Err(wrong_tuple::<Self>(&other)),
        }
    }
    fn views<'a>(&'a self, to: &mut Views<'a>) {
        to.push(View::Array(self.raw()));
    }
    fn views_mut<'a>(&'a mut self, to: &mut ViewsMut<'a>) {
        to.push(ViewMut::Array(self.raw_mut()));
    }
    fn unlift(a: Acc<Self>) -> Acc<Self> {
        a
    }
    fn names(within: &str, to: &mut Vec<String>) {
        to.push(if within.is_empty() { "array".into() } else { within.into() });
    }
}

impl Arrays for () {
    type Repr = ();
    type Acc = ();
    fn to_tuple(&self) -> ArrayTuple {
        ArrayTuple::Unit
    }
    fn from_tuple(arrays: ArrayTuple) -> Result<Self> {
        match arrays {
            ArrayTuple::Unit => Ok(()),
            other => Err(wrong_tuple::<Self>(&other)),
        }
    }
    fn views<'a>(&'a self, _: &mut Views<'a>) {}
    fn views_mut<'a>(&'a mut self, _: &mut ViewsMut<'a>) {}
    fn unlift(_: Acc<Self>) {}
    fn names(_: &str, _: &mut Vec<String>) {}
}

/// The error of [`Arrays::from_tuple`].
pub(crate) fn wrong_tuple<A: Arrays>(found: &ArrayTuple) -> Error {
    let found = match found {
        ArrayTuple::Unit => "()",
        ArrayTuple::Array(_) => "an array",
        ArrayTuple::Pair(_) => "a pair",
    };
    Error::Type { op: "arrays".into(), expected: A::Repr::raw().to_string(), found: found.into() }
}

/// Everything on which a program with argument type `A` can be run: a reference to an `A`, a slice for a vector, a number for an array
/// without dimensions, or for a tuple a tuple of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an argument for a program of `{A}`",
    note = "arguments are references to arrays, in a tuple if there are several: `(&xs, &ys)`"
)]
pub trait Inputs<A: Arrays> {
    /// The arrays without their types. The data of arrays is shared, not copied.
    fn to_tuple(&self) -> ArrayTuple;
    /// Lists the arrays, from left to right.
    fn views<'a>(&'a self, to: &mut Views<'a>);
}

impl<A: Arrays> Inputs<A> for &A {
    fn to_tuple(&self) -> ArrayTuple {
        A::to_tuple(self)
    }
    fn views<'a>(&'a self, to: &mut Views<'a>) {
        A::views(self, to);
    }
}

impl<T: Elt + ColumnElt> Inputs<Vector<T>> for &[T] {
    fn to_tuple(&self) -> ArrayTuple {
        ArrayTuple::Array(slice(self).to_array())
    }
    fn views<'a>(&'a self, to: &mut Views<'a>) {
        to.push(slice(self));
    }
}

fn slice<T: ColumnElt>(elements: &[T]) -> View<'_> {
    View::Slice([elements.len()], T::view(elements))
}

impl<T: Elt + ColumnElt> Inputs<Scalar<T>> for T {
    fn to_tuple(&self) -> ArrayTuple {
        ArrayTuple::Array(number(self).to_array())
    }
    fn views<'a>(&'a self, to: &mut Views<'a>) {
        to.push(number(self));
    }
}

fn number<T: ColumnElt>(x: &T) -> View<'_> {
    View::Part(&[], T::view(std::slice::from_ref(x)))
}

/// Places for the results of a program with result type `R`: a mutable reference to an `R`, a mutable slice for a vector, a mutable reference
/// to a number for an array without dimensions, or for a tuple a tuple of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no place for a result `{R}`",
    note = "places are mutable references to arrays, slices or numbers, in a tuple if there are several: `(&mut value, &mut gradient[..])`"
)]
pub trait Outputs<R: Arrays> {
    /// Lists the places, from left to right.
    fn views_mut<'a>(&'a mut self, to: &mut ViewsMut<'a>);
}

impl<R: Arrays> Outputs<R> for &mut R {
    fn views_mut<'a>(&'a mut self, to: &mut ViewsMut<'a>) {
        R::views_mut(self, to);
    }
}

impl<T: Elt + ColumnElt> Outputs<Vector<T>> for &mut [T] {
    fn views_mut<'a>(&'a mut self, to: &mut ViewsMut<'a>) {
        to.push(ViewMut::Slice([self.len()], T::view_mut(self)));
    }
}

impl<T: Elt + ColumnElt> Outputs<Scalar<T>> for &mut T {
    fn views_mut<'a>(&'a mut self, to: &mut ViewsMut<'a>) {
        to.push(ViewMut::Part(&[], T::view_mut(std::slice::from_mut(self))));
    }
}
