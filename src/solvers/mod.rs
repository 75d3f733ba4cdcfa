//! Solutions of equations, minima, differential equations and integrals, as programs with their loop inside.
//!
//! | for | there is |
//! | --- | --- |
//! | equations | [`root`], [`newton_krylov`] for many, [`fixed_point`] |
//! | linear systems known by their products | [`cg`], [`gmres`] |
//! | minima | [`minimise`] (L-BFGS), [`Adam`] |
//! | least squares | [`levenberg_marquardt`], [`levenberg_marquardt_cg`] for many unknowns, [`levenberg_marquardt_schur`] for cameras and points |
//! | differential equations, integrals | [`odeint`], [`odeint_adjoint`], [`quad`] |
//!
//! The solution x of `f(x, a) = 0` is a function of the parameters `a`. Its derivative follows from the equation alone: `f_x dx + f_a da = 0`. So the adjoint of `a`
//! takes one system of linear equations at the solution, whatever the method and the number of its steps, and nothing of the steps is stored. Each
//! function for equations, minima and least squares has this derivative as its rule ([`custom_vjp`](crate::custom_vjp)). It holds in both modes, to second
//! order, inside of loops and under [`vmap`](crate::vmap), where each lane takes its own number of steps. The start has the derivative zero. The steps
//! of [`Adam`], [`odeint`] and [`quad`] are differentiated themselves; [`odeint_adjoint`] solves another equation.
//!
//! Equations are a program of the unknowns, a vector, and of the parameters: an array, or a tuple or record of arrays. What a derivative is asked of has to be
//! one of the parameters: what the program captures is constant.
//!
//! A method that does not converge returns where it stopped, and says so: see [`Solution`]. Then the derivative means nothing.

mod adam;
mod adjoint_equation;
mod conjugate_gradients;
mod fixed_point;
mod gmres;
mod least_squares;
mod linear_systems;
mod minimise;
mod odeint;
mod quad;
mod root;
mod schur;

pub use crate::trees::Parameters;
pub use adam::Adam;
pub use adjoint_equation::odeint_adjoint;
pub use fixed_point::fixed_point;
pub use least_squares::{levenberg_marquardt, levenberg_marquardt_cg};
pub use linear_systems::{LinearMap, cg, gmres};
pub use minimise::minimise;
pub use odeint::{Trajectory, odeint};
pub use quad::{Integral, quad};
pub use root::{newton_krylov, root};
pub use schur::levenberg_marquardt_schur;

use crate::repr::ScalarType;
use crate::types::{Arrays, Floating, Tangent};
use crate::{Acc, Afun, Exp, IntoAcc, Scalar, Vector, afun, call, custom_vjp, fill, lit, map, the, vjp};

type V<T> = Acc<Vector<T>>;
type S<T> = Acc<Scalar<T>>;
type Steps = Acc<Scalar<i64>>;
/// Equations: as many numbers as there are unknowns.
type Equations<A, T> = Afun<(Vector<T>, A), Vector<T>>;
/// The unknowns, the number of steps, and the size of what is left.
type Found<T> = (Vector<T>, Scalar<i64>, Scalar<T>);

/// When a method stops.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// What is left may have this size: see the method.
    pub tolerance: f64,
    /// The largest number of steps.
    pub steps: i64,
}

impl Default for Stop {
    fn default() -> Stop {
        Stop { tolerance: 1e-10, steps: 1000 }
    }
}

impl Stop {
    fn goes_on<T: Floating>(self, size: S<T>, steps: Steps) -> Exp<bool> {
        the(size).gt(lit::<T>(self.tolerance)).and(the(steps).lt(self.steps))
    }
}

/// What a method has found.
#[derive(Clone, Copy, Debug)]
pub struct Solution<T: Floating> {
    /// The unknowns.
    pub x: Acc<Vector<T>>,
    /// The number of steps.
    pub steps: Acc<Scalar<i64>>,
    /// The size of what is left: see the method.
    pub residual: Acc<Scalar<T>>,
    /// Whether the residual is at most the tolerance.
    pub converged: Acc<Scalar<bool>>,
}

impl<T: Floating> Solution<T> {
    fn new(stop: Stop, (x, steps, residual): (V<T>, Steps, S<T>)) -> Self {
        Solution { x, steps, residual, converged: map(|r: Exp<T>| r.le(lit::<T>(stop.tolerance)), residual) }
    }
}

/// The minimum that a method has found.
#[derive(Clone, Copy, Debug)]
pub struct Minimum<T: Floating, X = Acc<Vector<T>>> {
    /// Where it is.
    pub x: X,
    /// What is there.
    pub value: Acc<Scalar<T>>,
    /// The number of steps.
    pub steps: Acc<Scalar<i64>>,
    /// The size of the gradient: see the method.
    pub residual: Acc<Scalar<T>>,
    /// Whether the residual is at most the tolerance.
    pub converged: Acc<Scalar<bool>>,
}

impl<T: Floating> Minimum<T> {
    fn new(Solution { x, steps, residual, converged }: Solution<T>, value: impl Fn(V<T>) -> S<T>) -> Self {
        Minimum { x, value: value(x), steps, residual, converged }
    }

    /// The same minimum, whose unknowns have another form.
    fn with<X>(self, x: X) -> Minimum<T, X> {
        let Minimum { value, steps, residual, converged, .. } = self;
        Minimum { x, value, steps, residual, converged }
    }
}

/// How accurate integrals are, and when their computation stops.
#[derive(Clone, Copy, Debug)]
pub struct Accuracy {
    /// The error may be this part of the result.
    pub rtol: f64,
    /// The error may be this large where the result is near 0.
    pub atol: f64,
    /// The largest number of steps.
    pub steps: i64,
}

impl Default for Accuracy {
    fn default() -> Accuracy {
        Accuracy { rtol: 1e-8, atol: 1e-8, steps: 1000 }
    }
}

/// A method of a start and of parameters, with the rule that gives the adjoint of the parameters from the solution, the parameters and the adjoint of the
/// solution.
fn implicit<A, T>(
    stop: Stop,
    method: impl Fn(V<T>, Acc<A>) -> (V<T>, Steps, S<T>),
    rule: impl Fn(V<T>, Acc<A>, V<T>) -> A::Acc,
    start: V<T>,
    a: Acc<A>,
) -> Solution<T>
where
    A: Arrays<Acc: Tangent<A::Acc>>,
    T: Floating,
{
    let method: Afun<(Vector<T>, A), Found<T>> = afun(|start: V<T>, a: Acc<A>| method(start, a));
    let with_rule = custom_vjp(&method, |(start, a): (V<T>, A::Acc), (x, _, _), (dx, _, _)| {
        (fill(start.shape(), lit::<T>(0.0)), rule(x, a.into_acc(), dx))
    });
    Solution::new(stop, call(&with_rule, (start, a)))
}

/// NOTE [Rules of linear systems]: the rule of a linear system has to solve another one. A method that stops when it is near enough is not linear in
/// the right side, so neither may its steps be differentiated nor may the rule be transposed through them. So the inner system has a rule, too, up to this
/// order of derivatives. Higher ones are not a number.
const ORDERS: usize = 2;

/// When the systems stop that derivatives solve.
const INNER: Stop = Stop { tolerance: 1e-12, steps: 1000 };

/// An adjoint of an order without a rule.
fn no_rule<T: Floating>(b: V<T>) -> V<T> {
    fill(b.shape(), lit::<T>(f64::NAN))
}

/// The same for the parameters of equations.
fn no_rule_of<A: Arrays, T: Floating>(f: &Equations<A, T>, b: V<T>, a: Acc<A>) -> A::Acc {
    call(vjp(f), ((b, a), no_rule(b))).1
}

/// The distance of 1 and the next number.
fn epsilon<T: Floating>() -> Exp<T> {
    lit(match T::SCALAR {
        ScalarType::F32 => f64::from(f32::EPSILON),
        _ => f64::EPSILON,
    })
}

fn next(steps: Steps) -> Steps {
    map(|k: Exp<i64>| k + 1, steps)
}
