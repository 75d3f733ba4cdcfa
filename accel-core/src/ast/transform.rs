//! Transformations of scalar functions that the front end applies without knowing them (gradients, above all).

use super::env::{Env, UnitF};
use super::exp::{Exp, Src};
use super::names::{Guard, X};
use super::ty::Ty;
use crate::error::Result;
use frunk::HCons;

/// Takes the body of a function of one argument to the body of another one in the same environments. It is generic in names
/// only, so that it can be a trait object: all environments and types are names.
pub trait ExpTransform: Send + Sync + std::fmt::Debug {
    /// `env` lists the variables around the function, `p` is the type of its argument, `f` its body; `m` names the type of
    /// the result.
    ///
    /// # Errors
    /// Whatever keeps the transformation from being done, with the operation and its source line.
    fn transform<'e, 'a, 'p, 'r, 'm>(
        &self,
        env: &Env<UnitF, X<'e>>,
        p: &Ty<X<'p>>,
        f: &Exp<HCons<X<'p>, X<'e>>, X<'a>, X<'r>>,
        at: Src,
        m: Guard<'m>,
    ) -> Result<Exp<HCons<X<'p>, X<'e>>, X<'a>, X<'m>>>;
}
