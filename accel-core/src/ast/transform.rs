//! Transformations of scalar functions that the front end applies without knowing them, above all gradients.

use super::env::{Env, UnitF};
use super::exp::{Exp, Src};
use super::names::{Guard, X};
use super::ty::Ty;
use crate::error::Result;
use frunk::HCons;

/// Maps the body of a function of one argument to the body of another function in the same environments. The method is
/// generic only in names, so the trait can be a trait object: all environments and types are names.
pub trait ExpTransform: Send + Sync + std::fmt::Debug {
    /// `env` lists the variables around the function, `arrays` the arrays in scope, `p` is the type of its argument, and `f` is its body. `m` names
    /// the type of the result.
    ///
    /// # Errors
    /// Whatever prevents the transformation, with the operation and its source line.
    fn transform<'e, 'a, 'p, 'r, 'm>(
        &self,
        env: &Env<UnitF, X<'e>>,
        arrays: &Env<UnitF, X<'a>>,
        p: &Ty<X<'p>>,
        f: &Exp<HCons<X<'p>, X<'e>>, X<'a>, X<'r>>,
        at: Src,
        m: Guard<'m>,
    ) -> Result<Exp<HCons<X<'p>, X<'e>>, X<'a>, X<'m>>>;
}
