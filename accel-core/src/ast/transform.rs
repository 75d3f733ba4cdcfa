//! Transformations of scalar functions that the front end applies without knowing them: gradients, and rules of one's own.

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

/// Gives a function of scalar code the derivative that a rule computes: see NOTE \[Rules of one's own\]. As for [`ExpTransform`], all environments
/// and types are names.
pub trait ExpRule: Send + Sync + std::fmt::Debug {
    /// The function with the rule, applied to `arg`. The first argument lists the variables and the arrays in scope; `function` is the body
    /// of the function.
    ///
    /// # Errors
    /// Whatever prevents it, with the operation and its source line.
    fn with_rule<'e, 'a, 'p, 'r, 'q, 's>(
        &self,
        scope: (&Env<UnitF, X<'e>>, &Env<UnitF, X<'a>>),
        function: (&Exp<X<'e>, X<'a>, X<'p>>, &Exp<HCons<X<'p>, X<'e>>, X<'a>, X<'r>>),
        rule: Rule<'_, X<'e>, X<'a>, X<'q>, X<'s>>,
        at: Src,
    ) -> Result<Exp<X<'e>, X<'a>, X<'r>>>;
}

/// A rule in scalar code: the type of its argument, and its body.
pub struct Rule<'r, E, A, Q, S> {
    /// The type of the argument, a tuple.
    pub arg: &'r Ty<Q>,
    /// What it returns.
    pub body: &'r Exp<HCons<Q, E>, A, S>,
}
