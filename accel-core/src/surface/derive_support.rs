//! Support for the code that `#[derive(Elt)]` and `#[derive(Arrays)]` generate; [`Elt`] specifies this code.

pub use super::{Acc, Exp, IntoAcc, IntoExp, ToExp};
pub use crate::error::Result;
pub use crate::repr::{ArrayTuple, Scalar, Scalars, Views, ViewsMut};
pub use crate::surface::graph::Handle;
pub use crate::types::{Arrays, Elt, Listed, Tangent};

/// Gives an expression another type with the same representation.
pub fn retype_exp<A: Elt, B: Elt<Repr = A::Repr>>(e: Exp<A>) -> Exp<B> {
    Exp::new(e.handle())
}

/// Gives an array computation another type with the same representation.
pub fn retype_acc<A: Arrays, B: Arrays<Repr = A::Repr>>(a: Acc<A>) -> Acc<B> {
    Acc::new(a.handle())
}

/// The handle of an expression without its type.
pub fn handle_of_exp<T>(e: Exp<T>) -> Handle {
    e.handle()
}

/// The handle of an array computation without its type.
pub fn handle_of_acc<A>(a: Acc<A>) -> Handle {
    a.handle()
}
