//! Rules of one's own, as users write them: [`custom_vjp`] and [`custom_jvp`].

use crate::custom::{Direction, with_rule};
use accel_core::afun::{Afun, afun};
use accel_core::ast::Source;
use accel_core::surface::graph::Handle;
use accel_core::surface::{ArrayFn, IntoExp, custom_exp};
use accel_core::types::{Arrays, Elt, Tangent};
use std::panic::Location;
use std::sync::Arc;

/// What gets a rule of its own: a program, a function of arrays from which [`afun`] could make one, or a function of one [`Exp`], tuple or record of
/// scalar code. `M` only tells these apart and is always inferred.
///
/// [`Exp`]: accel_core::surface::Exp
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a program nor a function of arrays or of scalar code",
    note = "write the types of its arguments: `|x: Acc<Vector<f64>>| ..` or `|x: Exp<f64>| ..`"
)]
pub trait CustomFunction<M>: Sized {
    /// The argument as closures take it: an `Acc` or an `Exp`, or a tuple or a record of these.
    type Arg;
    /// The result as closures take it.
    type Result;
    /// The function with the rule: an [`Afun`], or in scalar code a function of the argument.
    type Custom<'f>
    where
        Self: 'f;

    /// The function with the rule for its pullback.
    #[doc(hidden)]
    fn with_vjp<'f>(
        self,
        at: Source,
        rule: impl Fn(Self::Arg, Self::Result, Self::Result) -> Handle + 'f,
    ) -> Self::Custom<'f>
    where
        Self: 'f;
    /// The function with the rule for its pushforward.
    #[doc(hidden)]
    fn with_jvp<'f>(self, at: Source, rule: impl Fn(Self::Arg, Self::Arg) -> Handle + 'f) -> Self::Custom<'f>
    where
        Self: 'f;
}

/// Marks programs.
pub struct Programs;
/// Marks functions of arrays.
pub struct ArrayFunctions<M>(M);
/// Marks functions of scalar code.
pub struct ScalarFunctions<F>(F);

impl<A: Arrays, R: Arrays> CustomFunction<Programs> for &Afun<A, R> {
    type Arg = A::Acc;
    type Result = R::Acc;
    type Custom<'f>
        = Afun<A, R>
    where
        Self: 'f;
    fn with_vjp<'f>(self, at: Source, rule: impl Fn(A::Acc, R::Acc, R::Acc) -> Handle + 'f) -> Afun<A, R>
    where
        Self: 'f,
    {
        self.with_rule::<((A, R), R)>(
            at,
            |args| {
                let ((x, y), dy) = args.unlift();
                rule(x, y, dy)
            },
            |f, rule, captures| with_rule(f, rule, captures, Direction::Reverse, Some(at)),
        )
    }
    fn with_jvp<'f>(self, at: Source, rule: impl Fn(A::Acc, A::Acc) -> Handle + 'f) -> Afun<A, R>
    where
        Self: 'f,
    {
        self.with_rule::<(A, A)>(
            at,
            |args| {
                let (x, dx) = args.unlift();
                rule(x, dx)
            },
            |f, rule, captures| with_rule(f, rule, captures, Direction::Forward, Some(at)),
        )
    }
}

impl<A: Arrays, R: Arrays> CustomFunction<Programs> for Afun<A, R> {
    type Arg = A::Acc;
    type Result = R::Acc;
    type Custom<'f>
        = Afun<A, R>
    where
        Self: 'f;
    fn with_vjp<'f>(self, at: Source, rule: impl Fn(A::Acc, R::Acc, R::Acc) -> Handle + 'f) -> Afun<A, R>
    where
        Self: 'f,
    {
        (&self).with_vjp(at, rule)
    }
    fn with_jvp<'f>(self, at: Source, rule: impl Fn(A::Acc, A::Acc) -> Handle + 'f) -> Afun<A, R>
    where
        Self: 'f,
    {
        (&self).with_jvp(at, rule)
    }
}

impl<M, F: ArrayFn<M>> CustomFunction<ArrayFunctions<M>> for F {
    type Arg = <F::Args as Arrays>::Acc;
    type Result = <F::Result as Arrays>::Acc;
    type Custom<'f>
        = Afun<F::Args, F::Result>
    where
        Self: 'f;
    #[track_caller]
    fn with_vjp<'f>(
        self,
        at: Source,
        rule: impl Fn(Self::Arg, Self::Result, Self::Result) -> Handle + 'f,
    ) -> Afun<F::Args, F::Result>
    where
        Self: 'f,
    {
        (&afun(self)).with_vjp(at, rule)
    }
    #[track_caller]
    fn with_jvp<'f>(self, at: Source, rule: impl Fn(Self::Arg, Self::Arg) -> Handle + 'f) -> Afun<F::Args, F::Result>
    where
        Self: 'f,
    {
        (&afun(self)).with_jvp(at, rule)
    }
}

/// A function of scalar code with a rule.
type ScalarCustom<'f, P, T> = Box<dyn Fn(P) -> <T as Elt>::Exp + 'f>;

impl<F, P, B> CustomFunction<ScalarFunctions<fn(P) -> B>> for F
where
    F: Fn(P) -> B,
    P: IntoExp<Elt: Elt<Exp = P>>,
    B: IntoExp,
{
    type Arg = P;
    type Result = <B::Elt as Elt>::Exp;
    type Custom<'f>
        = ScalarCustom<'f, P, B::Elt>
    where
        Self: 'f;
    fn with_vjp<'f>(
        self,
        at: Source,
        rule: impl Fn(P, Self::Result, Self::Result) -> Handle + 'f,
    ) -> ScalarCustom<'f, P, B::Elt>
    where
        Self: 'f,
    {
        Box::new(move |x| {
            let rule = |((x, y), dy)| rule(x, y, dy);
            let (f, make) = (|x| self(x).into_exp(), Arc::new(Direction::Reverse));
            custom_exp::<_, _, ((P::Elt, B::Elt), B::Elt)>(at, make, f, rule, x.into_exp()).unlift()
        })
    }
    fn with_jvp<'f>(self, at: Source, rule: impl Fn(P, P) -> Handle + 'f) -> ScalarCustom<'f, P, B::Elt>
    where
        Self: 'f,
    {
        Box::new(move |x| {
            let (f, make) = (|x| self(x).into_exp(), Arc::new(Direction::Forward));
            custom_exp::<_, _, (P::Elt, P::Elt)>(at, make, f, |(x, dx)| rule(x, dx), x.into_exp()).unlift()
        })
    }
}

/// Gives a function the derivative that `rule` computes: the adjoint of its argument, from the argument, the result, and the adjoint of the
/// result (a vector-Jacobian product).
///
/// `f` is a program or a function of arrays; then the result is a program, which [`call`](accel_core::afun::call) uses in others. Or `f` is a function of one
/// [`Exp`](accel_core::surface::Exp), tuple or record of scalar code; then the result is a function that scalar code calls. `f` computes the value, `rule` the
/// derivative; they need not agree.
///
/// ```
/// use accel_ad::{custom_vjp, grad};
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// // Rounds, and lets derivatives pass as if it did not (a straight-through estimator).
/// let round = custom_vjp(|x: Acc<Vector<f64>>| x.round(), |_, _, dy| dy);
/// let loss = afun(|x: Acc<Vector<f64>>| {
///     let y = call(&round, x);
///     dot(y, y)
/// });
/// let dx = run_with(&Interpreter, &grad(&loss), &Array::vector(vec![0.6, 2.2]))?;
/// assert_eq!(dx.to_vec(), [2.0, 4.0]);
///
/// // The identity, with its adjoint clipped to [-1, 1], in scalar code.
/// let clip = custom_vjp(|x: Exp<f64>| x, |_, _, dy| dy.max(-1.0).min(1.0));
/// let loss = afun(|x: Acc<Vector<f64>>| sum(map(|x| 2.0 * clip(x) * x, x)));
/// let dx = run_with(&Interpreter, &grad(&loss), &Array::vector(vec![0.25, 3.0]))?;
/// assert_eq!(dx.to_vec(), [1.0, 7.0]);
/// # Ok::<(), Error>(())
/// ```
///
/// The rule holds for derivatives of any order and in both modes. Reverse mode calls it, and it is differentiated itself by the next derivative,
/// which meets `f` and the rule again in the value `y`. The derivative of `f` in forward mode ([`jvp`](crate::jvp)) is the transpose of the rule, so the rule
/// must be linear in `dy`; if it is not, as in the example with `clip`, its derivative by `dy` at zero is transposed. `vmap`
/// maps the function with the rule. What `f` and `rule` use of the program around them is constant for this derivative.
///
/// The adjoint has the type of the argument. Integers and booleans have no derivative: what the rule returns for them counts nothing, and
/// `()` is enough. A rule that returns another type does not compile.
///
/// # Errors
/// Arrays with other extents than those of the argument are an error when the derivative runs. Other errors are those of the programs `f` and
/// `rule`; they are stored, and reported when the result is used.
#[track_caller]
pub fn custom_vjp<'f, M, F, D>(f: F, rule: impl Fn(F::Arg, F::Result, F::Result) -> D + 'f) -> F::Custom<'f>
where
    F: CustomFunction<M> + 'f,
    D: Tangent<F::Arg>,
{
    let at = Source::new("custom_vjp", Location::caller());
    f.with_vjp(at, move |x, y, dy| rule(x, y, dy).into_handle())
}

/// Gives a function the derivative that `rule` computes: its result and the tangent of the result, from the argument and the tangent of the
/// argument (a Jacobian-vector product).
///
/// As [`custom_vjp`], with the rule of forward mode. Reverse mode uses its transpose, so the rule must be linear in `dx`. The value that the
/// rule returns is that of `f`; only `f` computes it, so that the rule may also return something else of this type.
///
/// ```
/// use accel_ad::{custom_jvp, grad};
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// // ln(1 + exp(x)), with a derivative that does not overflow.
/// let soft = custom_jvp(
///     |x: Exp<f64>| cond::<f64>(x.gt(30.0), x, (x.exp() + 1.0).ln()),
///     |x, dx| (x, dx / ((-x).exp() + 1.0)),
/// );
/// let total = afun(|x: Acc<Vector<f64>>| sum(map(&soft, x)));
/// let dx = run_with(&Interpreter, &grad(&total), &Array::vector(vec![0.0, 1000.0]))?;
/// assert_eq!(dx.to_vec(), [0.5, 1.0]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// As [`custom_vjp`].
#[track_caller]
pub fn custom_jvp<'f, M, F, V, D>(f: F, rule: impl Fn(F::Arg, F::Arg) -> (V, D) + 'f) -> F::Custom<'f>
where
    F: CustomFunction<M> + 'f,
    V: Tangent<F::Result>,
    D: Tangent<F::Result>,
{
    let at = Source::new("custom_jvp", Location::caller());
    f.with_jvp(at, move |x, dx| rule(x, dx).into_handle())
}
