//! Arguments and results without dimensions, as the numbers that they are.

use crate::array::Array;
use crate::types::{Arrays, Elt, Z};

/// [`Array`]s without dimensions, and tuples of such: a program from these to these is a function of numbers, which
/// [`Compiled::call`](crate::afun::Compiled::call) computes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has arrays with dimensions, or is not made of arrays",
    note = "`call` is for programs of `Scalar`s and of tuples of them; others are run on arrays, with `run`"
)]
pub trait Numbers: Arrays {
    /// Their elements: a `T` for a `Scalar<T>`, a tuple for a tuple.
    type Values: Elt;
    /// The arrays that hold these elements.
    fn from_values(values: Self::Values) -> Self;
    /// The elements.
    fn values(&self) -> Self::Values;
}

impl<T: Elt> Numbers for Array<Z, T> {
    type Values = T;
    fn from_values(x: T) -> Self {
        Array::scalar(x)
    }
    fn values(&self) -> T {
        self.item()
    }
}

impl Numbers for () {
    type Values = ();
    fn from_values((): ()) {}
    fn values(&self) {}
}
