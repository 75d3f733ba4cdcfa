//! The derivative functions that users call, on typed programs and in scalar code.

use crate::program::{Reverse, forward_mode, reverse_mode};
use crate::scalar::gradient::Gradient;
use accel_core::afun::Afun;
use accel_core::ast::{Program, Source, Src};
use accel_core::by::By;
use accel_core::error::Result;
use accel_core::notice::notice;
use accel_core::pass::canonical_key;
use accel_core::prelude::Scalar;
use accel_core::program_cache::Derivation;
use accel_core::repr::RawTy;
use accel_core::surface::{Exp, IntoExp, transform_exp};
use accel_core::types::{Arrays, Elt, Floating};
use std::panic::Location;
use std::sync::Arc;

/// What the derivative functions differentiate: a program, by its whole argument, or a program with chosen parts of its
/// argument ([`Afun::by`]); a reference to either works, too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a program",
    label = "only programs have derivatives",
    note = "`afun(f)` makes a program of an array function `f`"
)]
pub trait Differentiable {
    /// The type of the program's argument.
    type Args: Arrays;
    /// The type of the parts of the argument by which the program is differentiated.
    type Parts: Arrays;
    /// The type of the program's result.
    type Result: Arrays;

    /// The program, and the function from its argument to the parts; `None` for the whole argument.
    ///
    /// # Errors
    /// A mistake in the choice of the parts.
    fn differentiable(&self) -> Result<(&Afun<Self::Args, Self::Result>, Option<&Program>)>;
}

impl<A: Arrays, R: Arrays> Differentiable for Afun<A, R> {
    type Args = A;
    type Parts = A;
    type Result = R;
    fn differentiable(&self) -> Result<(&Afun<A, R>, Option<&Program>)> {
        Ok((self, None))
    }
}

impl<A: Arrays, P: Arrays, R: Arrays> Differentiable for By<A, P, R> {
    type Args = A;
    type Parts = P;
    type Result = R;
    fn differentiable(&self) -> Result<(&Afun<A, R>, Option<&Program>)> {
        self.program().program()?;
        Ok((self.program(), Some(self.parts()?)))
    }
}

impl<D: Differentiable> Differentiable for &D {
    type Args = D::Args;
    type Parts = D::Parts;
    type Result = D::Result;
    fn differentiable(&self) -> Result<(&Afun<D::Args, D::Result>, Option<&Program>)> {
        D::differentiable(self)
    }
}

/// The results of programs that have a gradient: one floating-point number.
#[diagnostic::on_unimplemented(
    message = "the result of the program, `{Self}`, is not one floating-point number",
    note = "a gradient is that of one number of type `f32` or `f64`; `vjp` and `jvp` differentiate programs with other results"
)]
pub trait OneNumber: Arrays {}
impl<T: Floating> OneNumber for Scalar<T> {}

/// Returns the gradient of a program whose result is one floating-point number.
///
/// The gradient is a program with the same argument. Its result has the type and the shapes of the argument, or of the
/// parts of it that [`Afun::by`] has chosen. Discrete parts of the result (integers, booleans) are zero.
///
/// This is reverse mode: the cost is a small multiple of the cost of `prog`, however large the argument is (thesis
/// chapter 3).
///
/// ```
/// use accel_ad::grad;
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let prog = afun(|w: Acc<Vector<f64>>, x: Acc<Vector<f64>>| dot(w, x));
/// let (w, x) = (Array::vector(vec![1.0, 2.0]), Array::vector(vec![3.0, 4.0]));
/// let (by_w, by_x) = run_with(&Interpreter, &grad(&prog), (&w, &x))?;
/// assert_eq!((by_w.to_vec(), by_x.to_vec()), (x.to_vec(), w.to_vec()));
/// let by_w = run_with(&Interpreter, &grad(prog.by(|(w, _)| w)), (&w, &x))?;
/// assert_eq!(by_w.to_vec(), x.to_vec());
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// The error is stored in the result and reported when the result is run: an operation without a reverse derivative
/// (loops), with its source line, or an error of `prog` itself.
#[track_caller]
pub fn grad<D: Differentiable<Result: OneNumber>>(prog: D) -> Afun<D::Args, D::Parts> {
    derived(prog, "grad", None, |p, by| reverse_mode(p, by, Reverse::Gradient))
}

/// Returns the program that computes the value and the gradient together; the value is computed once. See [`grad`].
#[track_caller]
pub fn value_and_grad<D: Differentiable<Result: OneNumber>>(prog: D) -> Afun<D::Args, (D::Result, D::Parts)> {
    derived(prog, "value_and_grad", None, |p, by| reverse_mode(p, by, Reverse::ValueAndGradient))
}

/// Returns the vector-Jacobian product of a program with any result (reverse mode).
///
/// It maps the argument and the adjoint of the result to the adjoint of the argument, or of its chosen parts. If the
/// adjoint of the result has other shapes than the result, this is an error when the program runs. Other errors are
/// those of [`grad`].
#[track_caller]
pub fn vjp<D: Differentiable>(prog: D) -> Afun<(D::Args, D::Result), D::Parts> {
    let at = Some(Source::new("vjp", Location::caller()));
    derived(prog, "vjp", at, |p, by| reverse_mode(p, by, Reverse::Pullback { at }))
}

/// Returns the Jacobian-vector product of a program: its result and the directional derivative (forward mode).
///
/// It maps the argument and a tangent of the same shapes to the result and its tangent. With parts chosen by
/// [`Afun::by`], the tangent is one of these parts. If the tangent has other shapes, this is an error when the program
/// runs. Forward mode supports the whole language.
#[track_caller]
pub fn jvp<D: Differentiable>(prog: D) -> Afun<(D::Args, D::Parts), (D::Result, D::Result)> {
    let at = Some(Source::new("jvp", Location::caller()));
    derived(prog, "jvp", at, |p, by| forward_mode(p, by, at))
}

/// Transforms the typed program; errors are stored. A program remembers its derivatives.
#[track_caller]
fn derived<B: Arrays, S: Arrays>(
    prog: impl Differentiable,
    name: &'static str,
    at: Src,
    derive: impl FnOnce(&Program, Option<&Program>) -> Result<Program>,
) -> Afun<B, S> {
    match prog.differentiable() {
        Ok((prog, by)) => {
            // A choice contains no arrays.
            let parts = by.map(|p| canonical_key::program(p).words);
            let user = Source::new(name, Location::caller());
            prog.derived(Derivation { name, at, parts }, |p| {
                note_integers(user, by.map_or(p.arg(), Program::result));
                derive(p, by)
            })
        }
        Err(e) => Afun::from_result(Err(e)),
    }
}

/// Tells users when they differentiate by `parts` that have no derivative: integers and booleans only.
fn note_integers(user: Source, parts: &RawTy) {
    let leaves = parts.leaves();
    if !leaves.is_empty() && !leaves.iter().any(|t| t.is_float()) {
        let name = user.name;
        notice(&format!("the derivative by {parts}, which has no floating-point numbers, is zero: `{name}` at {user}"));
    }
}

/// The gradient of `f` at `x` in scalar code (the thesis's `gradientE`).
///
/// For a tuple or record `x`, the result is the tuple or record of the partial derivatives: `let (dx, dy) =
/// gradient(|(x, y)| x * y, (x, y)).unlift()`. `f` may use variables and arrays of the surrounding program; the
/// derivative is only with respect to `x`. Discrete parts of the result are zero.
///
/// # Errors
/// Reported when the surrounding program is run: a loop between `x` and the result.
#[track_caller]
pub fn gradient<P: Elt, B: IntoExp<Elt: Floating>>(f: impl FnOnce(P::Exp) -> B, x: impl IntoExp<Elt = P>) -> Exp<P> {
    transform_exp("gradient", Arc::new(Gradient { with_value: false }), f, x.into_exp())
}

/// The value and the gradient of `f` at `x` in scalar code. See [`gradient`].
#[track_caller]
pub fn value_and_gradient<P: Elt, B: IntoExp<Elt: Floating>>(
    f: impl FnOnce(P::Exp) -> B,
    x: impl IntoExp<Elt = P>,
) -> Exp<(B::Elt, P)> {
    transform_exp("value_and_gradient", Arc::new(Gradient { with_value: true }), f, x.into_exp())
}
