//! Support for the code that `#[derive(Elt)]` and `#[derive(Arrays)]` generate; [`Elt`] specifies this code.

pub use super::{Acc, Exp, IntoAcc, IntoExp, ToExp};
pub use crate::error::Result;
pub use crate::repr::{ArrayTuple, Scalar, Scalars};
pub use crate::types::{Arrays, Elt, Listed};

/// Gives an expression another type with the same representation.
pub fn retype_exp<A: Elt, B: Elt<Repr = A::Repr>>(e: Exp<A>) -> Exp<B> {
    Exp::new(e.handle())
}

/// Gives an array computation another type with the same representation.
pub fn retype_acc<A: Arrays, B: Arrays<Repr = A::Repr>>(a: Acc<A>) -> Acc<B> {
    Acc::new(a.handle())
}
