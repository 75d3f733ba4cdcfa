//! The derivative functions that users call, on typed programs and in scalar code.

use crate::matrices::Coordinates;
use crate::program::{Reverse, forward_mode, reverse_mode};
use crate::scalar::directional::Directional;
use crate::scalar::gradient::Gradient;
use accel_core::afun::{Afun, afun, call};
use accel_core::ast::ty::Repr;
use accel_core::ast::{Program, Source, Src};
use accel_core::by::By;
use accel_core::error::Result;
use accel_core::notice::notice;
use accel_core::pass::canonical_key;
use accel_core::prelude::Scalar;
use accel_core::program_cache::Derivation;
use accel_core::repr::RawTy;
use accel_core::surface::{Acc, IntoAcc, IntoExp, ToExp, acond, attributed, transform_exp};
use accel_core::types::{Arrays, Elt, Floating};
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

/// What the derivative functions differentiate: a program, by its whole argument, or a program with chosen parts of its
/// argument ([`Afun::by`]); a reference to either works, too. What a program captures ([`afun`]) is constant for its derivatives.
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
    note = "a gradient is that of one number of type `f32` or `f64`; `value_and_grad_with_aux` returns other results beside it, and `vjp` and `jvp` differentiate programs with other results"
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
    derived(prog, "grad", None, |p| p.reverse(Reverse::Gradient))
}

/// Returns the program that computes the value and the gradient together; the value is computed once. See [`grad`].
#[track_caller]
pub fn value_and_grad<D: Differentiable<Result: OneNumber>>(prog: D) -> Afun<D::Args, (D::Result, D::Parts)> {
    derived(prog, "value_and_grad", None, |p| p.reverse(Reverse::ValueAndGradient))
}

/// Returns the program that computes the value, the gradient and auxiliary results together, for a program with a result `(loss, aux)`.
///
/// `loss` is one floating-point number, `aux` anything: an array, a tuple, a record. The result is `((loss, aux), gradient)`. Only
/// `loss` is differentiated, and everything is computed once. (In JAX, `jax.value_and_grad(f, has_aux=True)`.)
///
/// ```
/// use accel_ad::value_and_grad_with_aux;
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let prog = afun(|w: Acc<Vector<f64>>, x: Acc<Matrix<f64>>, y: Acc<Vector<f64>>| {
///     let errors = matvec(x, w) - y;
///     (dot(errors, errors), errors)
/// });
/// let (w, y) = (Array::vector(vec![1.0, 2.0]), Array::vector(vec![1.0, 1.0]));
/// let x = Array::matrix(2, 2, vec![1.0, 0.0, 1.0, 1.0])?;
/// let program = value_and_grad_with_aux(prog.by(|(w, _, _)| w));
/// let ((loss, errors), by_w) = run_with(&Interpreter, &program, (&w, &x, &y))?;
/// assert_eq!((loss.item(), errors.to_vec(), by_w.to_vec()), (4.0, vec![0.0, 2.0], vec![4.0, 4.0]));
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// As [`grad`].
#[track_caller]
pub fn value_and_grad_with_aux<D, L, Aux>(prog: D) -> Afun<D::Args, ((L, Aux), D::Parts)>
where
    D: Differentiable<Result = (L, Aux)>,
    L: OneNumber,
    Aux: Arrays,
{
    derived(prog, "value_and_grad_with_aux", None, |p| p.reverse(Reverse::WithAux))
}

/// Returns the vector-Jacobian product of a program with any result (reverse mode).
///
/// It maps the argument and the adjoint of the result to the adjoint of the argument, or of its chosen parts. If the
/// adjoint of the result has other shapes than the result, this is an error when the program runs. Other errors are
/// those of [`grad`].
#[track_caller]
pub fn vjp<D: Differentiable>(prog: D) -> Afun<(D::Args, D::Result), D::Parts> {
    let at = Some(Source::new("vjp", Location::caller()));
    derived(prog, "vjp", at, |p| p.reverse(Reverse::Pullback { at }))
}

/// Returns the Jacobian-vector product of a program: its result and the directional derivative (forward mode).
///
/// It maps the argument and a tangent of the same shapes to the result and its tangent. With parts chosen by
/// [`Afun::by`], the tangent is one of these parts. If the tangent has other shapes, this is an error when the program
/// runs. Forward mode supports the whole language.
#[track_caller]
pub fn jvp<D: Differentiable>(prog: D) -> Afun<(D::Args, D::Parts), (D::Result, D::Result)> {
    let at = Some(Source::new("jvp", Location::caller()));
    derived(prog, "jvp", at, |p| p.forward(at))
}

/// Returns the product of the Hessian and a vector: the derivative of the gradient in a direction.
///
/// It maps the argument and a direction, with the shapes of the argument or of its parts that [`Afun::by`] has chosen, to the
/// product. This is forward mode over reverse mode: the cost is a small multiple of the cost of `prog`, and no Hessian is stored.
///
/// ```
/// use accel_ad::hvp;
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let prog = afun(|x: Acc<Vector<f64>>| sum(map(|x| x * x * x, x)));
/// let (x, v) = (Array::vector(vec![1.0, 2.0]), Array::vector(vec![1.0, 10.0]));
/// assert_eq!(run_with(&Interpreter, &hvp(&prog), (&x, &v))?.to_vec(), [6.0, 120.0]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// As [`grad`] and [`jvp`].
#[track_caller]
pub fn hvp<D: Differentiable<Result: OneNumber>>(prog: D) -> Afun<(D::Args, D::Parts), D::Parts> {
    let at = Source::new("hvp", Location::caller());
    derived(prog, "hvp", Some(at), |p| {
        let product = p.gradient().forward::<(D::Args, D::Parts), (D::Parts, D::Parts)>(Some(at));
        afun(|x: Acc<(D::Args, D::Parts)>| attributed((at.name, at.at), || call(product, x)).1)
    })
}

/// Returns the Jacobian of a program: the derivatives of each number of the result by each number of the argument, or of its parts
/// that [`Afun::by`] has chosen.
///
/// For a vector of `m` numbers as the result and one of `n` numbers as the argument, it is a matrix with `m` rows and `n` columns. In
/// general, the dimensions of the result come first. For a tuple of results, it is a tuple, and for a tuple of
/// parts, each of these is the tuple of the Jacobians by the parts. It is computed by columns if the parts have at most as many numbers
/// as the result, otherwise by rows; [`jacobian_forward`] and [`jacobian_reverse`] choose one way.
///
/// ```
/// use accel_ad::jacobian;
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let polar = afun(|v: Acc<Vector<f64>>| {
///     let (r, phi) = (v.at(0), v.at(1));
///     generate(2, |i| cond(i.eq(0), r * phi.cos(), r * phi.sin()))
/// });
/// let j = run_with(&Interpreter, &jacobian(&polar), &Array::vector(vec![2.0, 0.0]))?;
/// assert_eq!(j.to_vec(), [1.0, 0.0, 0.0, 2.0]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// As [`jvp`] and [`vjp`].
#[track_caller]
pub fn jacobian<D>(prog: D) -> Afun<D::Args, <D::Result as Coordinates>::Jacobian<D::Parts>>
where
    D: Differentiable<Parts: Coordinates, Result: Coordinates>,
{
    let at = Source::new("jacobian", Location::caller());
    derived(prog, "jacobian", Some(at), |p| {
        matrix(at, p, |d| match (D::Parts::NUMBERS, D::Result::NUMBERS) {
            (true, _) => d.columns(),
            (false, true) => d.rows(),
            (false, false) => acond(D::Parts::count(d.x).le(D::Result::count(d.y)), d.columns(), d.rows()).into_acc(),
        })
    })
}

/// The [`jacobian`] by columns: in forward mode, one direction for each number of the argument.
///
/// # Errors
/// As [`jvp`].
#[track_caller]
pub fn jacobian_forward<D>(prog: D) -> Afun<D::Args, <D::Result as Coordinates>::Jacobian<D::Parts>>
where
    D: Differentiable<Parts: Coordinates, Result: Coordinates>,
{
    let at = Source::new("jacobian_forward", Location::caller());
    derived(prog, "jacobian_forward", Some(at), |p| matrix(at, p, |d| d.columns()))
}

/// The [`jacobian`] by rows: in reverse mode, one adjoint for each number of the result.
///
/// # Errors
/// As [`vjp`].
#[track_caller]
pub fn jacobian_reverse<D>(prog: D) -> Afun<D::Args, <D::Result as Coordinates>::Jacobian<D::Parts>>
where
    D: Differentiable<Parts: Coordinates, Result: Coordinates>,
{
    let at = Source::new("jacobian_reverse", Location::caller());
    derived(prog, "jacobian_reverse", Some(at), |p| matrix(at, p, |d| d.rows()))
}

/// Returns the Hessian of a program whose result is one floating-point number: the [`jacobian`] of its gradient, by columns.
///
/// For a vector of `n` numbers, it is a matrix with `n` rows and columns. For a tuple of parts, it is the tuple of tuples of the
/// matrices of all pairs of parts. [`hvp`] multiplies by a Hessian without computing it.
///
/// ```
/// use accel_ad::hessian;
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let prog = afun(|x: Acc<Vector<f64>>| unit(x.at(0) * x.at(0) * x.at(1)));
/// let h = run_with(&Interpreter, &hessian(&prog), &Array::vector(vec![3.0, 5.0]))?;
/// assert_eq!(h.to_vec(), [10.0, 6.0, 6.0, 0.0]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// As [`grad`] and [`jvp`].
#[track_caller]
pub fn hessian<D>(prog: D) -> Afun<D::Args, <D::Parts as Coordinates>::Jacobian<D::Parts>>
where
    D: Differentiable<Parts: Coordinates, Result: OneNumber>,
{
    let at = Source::new("hessian", Location::caller());
    derived(prog, "hessian", Some(at), |p| matrix(at, &p.gradient(), |d| d.columns()))
}

/// A program and the function from its argument to the parts by which it is differentiated.
struct Chosen<A, P, R> {
    program: Afun<A, R>,
    by: Option<Program>,
    parts: PhantomData<fn() -> P>,
}

impl<A: Arrays, P: Arrays, R: Arrays> Chosen<A, P, R> {
    fn new(program: &Afun<A, R>, by: Option<&Program>) -> Self {
        Chosen { program: program.clone(), by: by.cloned(), parts: PhantomData }
    }
    fn reverse<B: Arrays, S: Arrays>(&self, mode: Reverse) -> Afun<B, S> {
        self.program.transformed(self.by.as_ref(), |p, by| reverse_mode(p, by, mode))
    }
    fn forward<B: Arrays, S: Arrays>(&self, at: Src) -> Afun<B, S> {
        self.program.transformed(self.by.as_ref(), |p, by| forward_mode(p, by, at))
    }
    /// The gradient, with the same parts.
    fn gradient(&self) -> Chosen<A, P, P> {
        Chosen::new(&self.reverse(Reverse::Gradient), self.by.as_ref())
    }
}

impl<A: Arrays, P: Arrays, R: Arrays> Differentiable for Chosen<A, P, R> {
    type Args = A;
    type Parts = P;
    type Result = R;
    fn differentiable(&self) -> Result<(&Afun<A, R>, Option<&Program>)> {
        Ok((&self.program, self.by.as_ref()))
    }
}

/// What a Jacobian is made of, inside the program that computes it.
struct Directions<'p, A: Arrays, P: Arrays, R: Arrays> {
    at: Source,
    prog: &'p Chosen<A, P, R>,
    args: Acc<A>,
    x: Acc<P>,
    y: Acc<R>,
}

impl<A: Arrays, P: Coordinates, R: Coordinates> Directions<'_, A, P, R> {
    fn columns(&self) -> Acc<R::Jacobian<P>> {
        let jvp = self.prog.forward::<(A, P), (R, R)>(Some(self.at));
        R::columns(self.y, self.x, &|dx| call(&jvp, (self.args, dx)).1.into_acc())
    }
    fn rows(&self) -> Acc<R::Jacobian<P>> {
        let vjp = self.prog.reverse::<(A, R), P>(Reverse::Pullback { at: Some(self.at) });
        R::rows(self.y, self.x, &|dy| call(&vjp, (self.args, dy)).into_acc())
    }
}

/// The program that computes the Jacobian of `prog` for a user at `at`.
fn matrix<A: Arrays, P: Coordinates, R: Coordinates>(
    at: Source,
    prog: &Chosen<A, P, R>,
    jacobian: impl FnOnce(&Directions<A, P, R>) -> Acc<R::Jacobian<P>>,
) -> Afun<A, R::Jacobian<P>> {
    // Without a choice, the parts are the whole argument.
    let whole = || afun(|args: Acc<A>| args).program().cloned();
    let parts = Afun::<A, P>::from_result(prog.by.clone().map_or_else(whole, Ok));
    afun(|args: Acc<A>| {
        attributed((at.name, at.at), || {
            let (x, y) = (call(&parts, args).into_acc(), call(&prog.program, args).into_acc());
            jacobian(&Directions { at, prog, args, x, y })
        })
    })
}

/// The program that `derive` makes; errors are stored. A program remembers its derivatives.
#[track_caller]
fn derived<D: Differentiable, B: Arrays, S: Arrays>(
    prog: D,
    name: &'static str,
    at: Src,
    derive: impl FnOnce(&Chosen<D::Args, D::Parts, D::Result>) -> Afun<B, S>,
) -> Afun<B, S> {
    match prog.differentiable() {
        Ok((program, by)) => {
            // A choice contains no arrays.
            let parts = by.map(|p| canonical_key::program(p).words);
            let user = Location::caller();
            program.derived(Derivation { name, at, parts }, user, || {
                note_integers(Source::new(name, user), &<D::Parts as Arrays>::Repr::raw());
                derive(&Chosen::new(program, by))
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
/// gradient(|(x, y)| x * y, (x, y))`. `f` may use variables and arrays of the surrounding program; the
/// derivative is only with respect to `x`. Discrete parts of the result are zero.
///
/// # Errors
/// Reported when the surrounding program is run: a loop between `x` and the result.
#[track_caller]
pub fn gradient<P: Elt, B: IntoExp<Elt: Floating>>(f: impl FnOnce(P::Exp) -> B, x: impl IntoExp<Elt = P>) -> P::Exp {
    P::unlift(transform_exp("gradient", Arc::new(Gradient { with_value: false }), f, x.into_exp()))
}

/// The value and the gradient of `f` at `x` in scalar code. See [`gradient`].
#[track_caller]
pub fn value_and_gradient<P: Elt, B: IntoExp<Elt: Floating>>(
    f: impl FnOnce(P::Exp) -> B,
    x: impl IntoExp<Elt = P>,
) -> (<B::Elt as Elt>::Exp, P::Exp) {
    <(B::Elt, P)>::unlift(transform_exp("value_and_gradient", Arc::new(Gradient { with_value: true }), f, x.into_exp()))
}

/// The derivative of `f` at `x` in the direction `dx`, in scalar code (forward mode).
///
/// `x`, `dx` and the result of `f` are scalars, tuples or records. The result has the type of `f`'s result; its discrete parts are zero,
/// and those of `dx` count nothing. Forward mode supports all scalar code, loops too, and may be nested with itself and with
/// [`gradient`].
///
/// ```
/// use accel_ad::{derivative, gradient};
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let second = afun(|xs: Acc<Vector<f64>>| map(|x| derivative(|x| gradient(|x| x * x * x, x), x, 1.0), xs));
/// assert_eq!(run_with(&Interpreter, &second, &Array::vector(vec![1.0, 2.0]))?.to_vec(), [6.0, 12.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn derivative<P: Elt, B: IntoExp>(
    f: impl FnOnce(P::Exp) -> B,
    x: impl IntoExp<Elt = P>,
    dx: impl ToExp<P>,
) -> <B::Elt as Elt>::Exp {
    let both = (x.into_exp(), dx.to_exp()).into_exp();
    let transform = Arc::new(Directional { with_value: false });
    B::Elt::unlift(transform_exp::<(P, P), _, _>("derivative", transform, |(x, _)| f(x), both))
}

/// The value of `f` at `x` and its derivative in the direction `dx`, in scalar code. See [`derivative`].
#[track_caller]
pub fn value_and_derivative<P: Elt, B: IntoExp>(
    f: impl FnOnce(P::Exp) -> B,
    x: impl IntoExp<Elt = P>,
    dx: impl ToExp<P>,
) -> (<B::Elt as Elt>::Exp, <B::Elt as Elt>::Exp) {
    let both = (x.into_exp(), dx.to_exp()).into_exp();
    let transform = Arc::new(Directional { with_value: true });
    <(B::Elt, B::Elt)>::unlift(transform_exp::<(P, P), _, _>("value_and_derivative", transform, |(x, _)| f(x), both))
}
