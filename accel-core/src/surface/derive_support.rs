//! Support for the code that `#[derive(Elt)]` and `#[derive(Arrays)]` generate; [`Elt`] specifies this code.

pub use super::{Acc, Exp, IntoAcc, IntoExp, ToExp, cond};
pub use crate::error::Result;
pub use crate::repr::{ArrayTuple, Scalar, Scalars, Views, ViewsMut};
pub use crate::surface::graph::Handle;
pub use crate::types::arrays::name_of_part;
pub use crate::types::{Arrays, Elt, Listed, Tangent};

use super::nodes;
use crate::ast::ty::Repr;
use crate::types::num::leaves;
use std::panic::Location;

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

/// The scalars of the fields of a variant that is not there: zeros.
pub fn absent_scalars<T: Elt>(out: &mut Scalars) {
    T::Repr::zeros(out);
}

/// A field of a variant that is not there.
#[track_caller]
pub fn absent<T: Elt>() -> T::Exp {
    let mut zeros = Scalars::new();
    absent_scalars::<T>(&mut zeros);
    T::unlift(Exp::new(nodes::constant(Location::caller(), T::Repr::raw(), &zeros)))
}

/// Whether a field is one of a variant that is not there.
pub fn is_absent<T: Elt>(x: &T) -> bool {
    let is_zero = |x: &Scalar| x.float() == Some(0.0) || *x == x.ty().zero();
    leaves(x).iter().all(is_zero)
}
