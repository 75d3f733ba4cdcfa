//! Arguments and results without dimensions, as numbers.

use crate::array::Array;
use crate::types::{Arrays, Elt, Z};

/// [`Array`]s without dimensions, and tuples of them. A program whose arguments and results have such types is a
/// function on numbers, which [`Compiled::call`](crate::afun::Compiled::call) evaluates.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has arrays with dimensions, or is not made of arrays",
    note = "`call` is for programs of `Scalar`s and of tuples of them; others are run on arrays, with `run`"
)]
pub trait Numbers: Arrays {
    /// The type of their elements: `T` for a `Scalar<T>`, a tuple for a tuple.
    type Values: Elt;
    /// Makes arrays from elements.
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
