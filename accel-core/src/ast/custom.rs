//! Functions with derivatives of one's own.
//!
//! NOTE \[Rules of one's own\]: a node applies a function to an argument, and keeps its pushforward and its pullback. All three are code below
//! one binder, as the body of a definition is, so they may use what is in scope; for their derivatives, this is constant. The meaning
//! of the node is the function: `view` shows it as the definition of the argument around the body of the function. So interpreters,
//! the simplifier and everything after it know nothing of such nodes, and what rebuilds a tree from its views leaves the rules out.
//! Before that, [`Acc::custom`] and [`Exp::custom`] tell whether there is a rule. They are asked by
//!
//! - differentiation, which keeps the node in the primal, so that the next derivative meets it again, and calls the pushforward for the
//!   tangent and the pullback for the adjoint. It does not look into the function;
//! - all that moves a tree to another place before it is differentiated: renaming, batching, the variables in use.
//!
//! A user gives one rule, and `accel-ad` makes the other one of it, since both are one linear map.

use super::acc::{AForm, Acc, acc};
use super::exp::{Exp, Node, Src, exp};
use super::names::{Guard, X};
use super::ty::{Tan, Ty, tan_ty};
use frunk::HCons;

/// A function of arrays from `P` to `R` with its derivative, in the scope of `A`: see NOTE \[Rules of one's own\].
pub struct Custom<A, P, R> {
    /// The function.
    pub function: Acc<HCons<P, A>, R>,
    /// The tangent of the result, from the argument, the result, and the tangent of the argument.
    pub pushforward: Acc<HCons<Linearised<P, R, P>, A>, Tan<R>>,
    /// The adjoint of the argument, from the argument, the result, and the adjoint of the result.
    pub pullback: Acc<HCons<Linearised<P, R, R>, A>, Tan<P>>,
}

/// A function of scalar code from `P` to `T` with its derivative, in the scope of `E` and `A`.
pub struct CustomExp<E, A, P, T> {
    /// The function.
    pub function: Exp<HCons<P, E>, A, T>,
    /// The tangent of the result, from the argument, the result, and the tangent of the argument.
    pub pushforward: Exp<HCons<Linearised<P, T, P>, E>, A, Tan<T>>,
    /// The adjoint of the argument, from the argument, the result, and the adjoint of the result.
    pub pullback: Exp<HCons<Linearised<P, T, T>, E>, A, Tan<P>>,
}

/// The argument of a derivative: the argument and the result of the function, and a tangent of one of them.
pub type Linearised<P, R, D> = (P, (R, Tan<D>));

/// The type of the argument of a derivative.
pub fn linearised<P, R, D>(p: &Ty<P>, r: &Ty<R>, d: &Ty<D>) -> Ty<Linearised<P, R, D>> {
    Ty::pair(p, &Ty::pair(r, &tan_ty(d)))
}

/// A function with a rule that is applied to an argument.
pub struct CustomView<'n, A, R> {
    /// The argument.
    pub arg: Acc<A, X<'n>>,
    /// The function and its derivative.
    pub functions: Custom<A, X<'n>, R>,
}

/// A function with a rule that is applied to an argument, in scalar code.
pub struct CustomExpView<'n, E, A, T> {
    /// The argument.
    pub arg: Exp<E, A, X<'n>>,
    /// The function and its derivative.
    pub functions: CustomExp<E, A, X<'n>, T>,
    /// Where the user wrote it.
    pub at: Src,
}

impl<A, R> Acc<A, R> {
    /// Applies a function with a rule.
    pub fn with_rule<P>(arg: &Acc<A, P>, c: &Custom<A, P, R>, at: Src) -> Self {
        let parts = [arg.relabel(), c.function.relabel(), c.pushforward.relabel(), c.pullback.relabel()];
        acc(AForm::Custom(Box::new(parts)), c.function.ty.clone(), at)
    }
    /// The function with a rule whose result this is.
    pub fn custom<'n>(&self, _: Guard<'n>) -> Option<CustomView<'n, A, R>> {
        let AForm::Custom(parts) = &self.node.get().form else { return None };
        let [arg, function, pushforward, pullback] = &**parts;
        let inner = self.th.lift(1);
        let functions = Custom {
            function: function.thin(&inner),
            pushforward: pushforward.thin(&inner),
            pullback: pullback.thin(&inner),
        };
        Some(CustomView { arg: arg.thin(&self.th), functions })
    }
}

impl<E, A, T> Exp<E, A, T> {
    /// Applies a function with a rule.
    pub fn with_rule<P>(arg: &Exp<E, A, P>, c: &CustomExp<E, A, P, T>, at: Src) -> Self {
        let parts = [arg.relabel(), c.function.relabel(), c.pushforward.relabel(), c.pullback.relabel()];
        exp(Node::Custom(Box::new(parts), at), c.function.ty.clone())
    }
    /// The function with a rule whose result this is.
    pub fn custom<'n>(&self, _: Guard<'n>) -> Option<CustomExpView<'n, E, A, T>> {
        let Node::Custom(parts, at) = self.node.get() else { return None };
        let [arg, function, pushforward, pullback] = &**parts;
        let inner = self.th.lift();
        let functions = CustomExp {
            function: function.thin(&inner),
            pushforward: pushforward.thin(&inner),
            pullback: pullback.thin(&inner),
        };
        Some(CustomExpView { arg: arg.thin(&self.th), functions, at: *at })
    }
}
