//! What the code that `#[derive(Elt)]` and `#[derive(Arrays)]` generate is made of. See [`Elt`] for what it has to be.

pub use super::{Acc, Exp, IntoAcc, IntoExp, ToExp};
pub use crate::error::Result;
pub use crate::repr::{ArrayTuple, Scalar, Scalars};
pub use crate::types::{Arrays, Elt};

/// The same expression under another type with the same representation.
pub fn retype_exp<A: Elt, B: Elt<Repr = A::Repr>>(e: Exp<A>) -> Exp<B> {
    Exp::new(e.handle())
}

/// The same array computation under another type with the same representation.
pub fn retype_acc<A: Arrays, B: Arrays<Repr = A::Repr>>(a: Acc<A>) -> Acc<B> {
    Acc::new(a.handle())
}
