//! Least squares, by the method of Levenberg and Marquardt.

use super::conjugate_gradients::conjugate_gradients;
use super::minimise::{by_conjugate_gradients, of_slope, products_of_hessian, slope_of};
use super::{Equations, INNER, Minimum, S, Steps, Stop, V, epsilon, implicit, next};
use crate::linalg::{cho_solve, cholesky, diagonal, eye, solve};
use crate::surface::attributed;
use crate::types::{Arrays, Floating, Tangent};
use crate::{
    Acc, Afun, Exp, IntoAcc, Matrix, Scalar, Vector, afun, awhile, call, cond, dot, generate, jvp, lit, map, matmul,
    matvec, norm, the, transpose, unit, vjp, vmap, zip_with,
};
use std::panic::Location;

/// Damping, in relation to the diagonal, from which on a step is too short to change anything.
const LARGEST_DAMPING: f64 = 1e16;

/// A local minimum of the sum of the squares of `f(x, a)` in x, near `start`: nonlinear least squares, such as a fit. The value is half of the sum.
/// In SciPy, `optimize.least_squares(f, start, method="lm")`, and `optimize.curve_fit`.
///
/// A step is that of Gauss and Newton with damping in units of each unknown (Marquardt 1963), `(JᵀJ + μ diag(JᵀJ)) d = Jᵀf`, where J is the Jacobian. A step that does
/// not make the sum smaller is tried again with more damping; the damping follows the ratio of what a step gains and what it should gain
/// (Nielsen 1999; Madsen, Nielsen and Tingleff 2004, section 3.2). The residual is the norm of the gradient, of which each component is divided by the norm of the
/// column of J, in relation to the norm of `f` at the start. So it has no units.
///
/// The whole J is stored, and a system solved with JᵀJ, so this is for some hundred unknowns at most; for more, there is [`levenberg_marquardt_cg`].
/// The adjoint of the parameters is that of a [`minimise`](super::minimise): it has the whole Hessian in it, not only JᵀJ.
///
/// ```
/// use accel::prelude::*;
/// use accel::solvers::{Stop, levenberg_marquardt};
///
/// // An exponential through points: y = p e^(q t).
/// let t = Array::vector(vec![0.0, 1.0, 2.0, 3.0]);
/// let misfit = afun(|x: Acc<Vector<f64>>, y: Acc<Vector<f64>>| x.at(0) * (x.at(1) * use_(&t)).exp() - y);
/// let fit = afun(|y: Acc<Vector<f64>>| {
///     let found = levenberg_marquardt(Stop::default(), &misfit, fill(2, 1.0), y);
///     (found.x, found.value, found.converged)
/// });
/// let y: Vec<f64> = t.as_slice().iter().map(|t| 3.0 * (-0.5 * t).exp()).collect();
/// let (x, half_of_squares, converged) = run(&fit, &Array::vector(y))?;
/// assert!(converged.item() && half_of_squares.item() < 1e-15);
/// assert!((x.as_slice()[0] - 3.0).abs() < 1e-8 && (x.as_slice()[1] + 0.5).abs() < 1e-8);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn levenberg_marquardt<A, T>(
    stop: Stop,
    f: &Equations<A, T>,
    start: V<T>,
    a: impl IntoAcc<Arrays = A>,
) -> Minimum<T>
where
    A: Arrays<Acc: Tangent<A::Acc>>,
    T: Floating,
{
    let normal = |x: V<T>, a: Acc<A>, value: V<T>| {
        let column = |e: V<T>| call(jvp(f.by(|(x, _)| x)), ((x, a), e)).1;
        let columns = vmap(column, eye::<T>(x.len()));
        let squares = matmul(columns, transpose(columns));
        let scale = positive(diagonal(squares));
        let solve = move |damping: S<T>, slope: V<T>| cho_solve(cholesky(damped(squares, damping * scale)), slope);
        Normal { slope: matvec(columns, value), scale, solve }
    };
    let half = half_of_squares(f);
    let slope = slope_of(&half);
    let hessian = products_of_hessian(&slope);
    let inverse =
        |x: V<T>, a: Acc<A>, dx: V<T>| solve(vmap(|e: V<T>| call(&hessian, (e, (x, a))), eye::<T>(x.len())), dx);
    attributed(("levenberg_marquardt", Location::caller()), || {
        let method = |start: V<T>, a: Acc<A>| descent(stop, |x| call(f, (x, a)), |x, value| normal(x, a, value), start);
        let a = a.into_acc();
        Minimum::new(implicit(stop, method, of_slope(&slope, inverse), start, a), |x| call(&half, (x, a)))
    })
}

/// [`levenberg_marquardt`] for many unknowns: no matrix is stored, and systems are solved by [`cg`](super::cg) with products of J and of its transpose.
///
/// Damping is the same for all unknowns, so they should be of the same size. Choose their units, or write `f` of scaled unknowns. The residual is the norm of the
/// gradient divided by that of a typical column of J, in relation to the norm of `f` at the start.
///
/// ```
/// use accel::prelude::*;
/// use accel::solvers::{Stop, levenberg_marquardt_cg};
///
/// // Points near others, without large distances between neighbours: as many unknowns as points.
/// let misfit = afun(|x: Acc<Vector<f64>>, y: Acc<Vector<f64>>| concat(x - y, diff(x).powi(3)));
/// let fit = afun(|y: Acc<Vector<f64>>| levenberg_marquardt_cg(Stop::default(), &misfit, y, y).value);
/// let value = run(&fit, &Array::vector(vec![0.0, 1.0, 0.0, 1.0]))?.item();
/// assert!(value < 1.5 / 2.0); // Half of three distances of 1 at the start is 1.5.
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn levenberg_marquardt_cg<A, T>(
    stop: Stop,
    f: &Equations<A, T>,
    start: V<T>,
    a: impl IntoAcc<Arrays = A>,
) -> Minimum<T>
where
    A: Arrays<Acc: Tangent<A::Acc>>,
    T: Floating,
{
    // A step need not be exact.
    let rough = Stop { tolerance: 1e-3, ..INNER };
    let normal = |x: V<T>, a: Acc<A>, value: V<T>| {
        let push = move |v: V<T>| call(jvp(f.by(|(x, _)| x)), ((x, a), v)).1;
        let pull = move |w: V<T>| call(vjp(f.by(|(x, _)| x)), ((x, a), w));
        let slope = pull(value);
        // What JᵀJ is in the direction of the gradient.
        let typical = zip_with(|x: Exp<T>, y: Exp<T>| x / y, squared(push(slope)), squared(slope));
        let scale = positive(map(|_| the(typical), slope));
        let solve = move |damping: S<T>, slope: V<T>| {
            let product = |v: V<T>| pull(push(v)) + damping * scale * v;
            conjugate_gradients(rough, product, |v| v, slope).0
        };
        Normal { slope, scale, solve }
    };
    let half = half_of_squares(f);
    let slope = slope_of(&half);
    attributed(("levenberg_marquardt_cg", Location::caller()), || {
        let method = |start: V<T>, a: Acc<A>| descent(stop, |x| call(f, (x, a)), |x, value| normal(x, a, value), start);
        let rule = of_slope(&slope, by_conjugate_gradients(&slope));
        let a = a.into_acc();
        Minimum::new(implicit(stop, method, rule, start, a), |x| call(&half, (x, a)))
    })
}

/// Half of the sum of the squares of `f`.
pub(super) fn half_of_squares<A: Arrays, T: Floating>(f: &Equations<A, T>) -> Afun<(Vector<T>, A), Scalar<T>> {
    afun(|x: V<T>, a: Acc<A>| map(|s| s * lit::<T>(0.5), squared(call(f, (x, a)))))
}

fn squared<T: Floating>(v: V<T>) -> S<T> {
    dot(v, v)
}

/// A matrix with something added to its diagonal.
pub(super) fn damped<T: Floating>(squares: Acc<Matrix<T>>, added: V<T>) -> Acc<Matrix<T>> {
    generate(squares.shape(), |(i, k): (Exp<i64>, Exp<i64>)| {
        squares.at((i, k)) + cond(i.eq(k), added.at(i), lit::<T>(0.0))
    })
}

/// What does not say how large a column is, is one.
pub(super) fn positive<T: Floating>(scale: V<T>) -> V<T> {
    map(|d: Exp<T>| cond(d.gt(lit::<T>(0.0)), d, lit::<T>(1.0)), scale)
}

/// The normal equations at a point: the gradient `Jᵀf`, the diagonal of JᵀJ or what stands for it, and how they are solved with damping.
pub(super) struct Normal<T: Floating, F> {
    pub slope: V<T>,
    pub scale: V<T>,
    pub solve: F,
}

/// The minimum, the number of steps, and the size of the gradient.
pub(super) fn descent<T: Floating, F: Fn(S<T>, V<T>) -> V<T>>(
    stop: Stop,
    value: impl Fn(V<T>) -> V<T>,
    normal: impl Fn(V<T>, V<T>) -> Normal<T, F>,
    start: V<T>,
) -> (V<T>, Steps, S<T>) {
    type State<T> = (V<T>, V<T>, S<T>, S<T>, Steps);
    /// Unknowns, value, damping, the factor for the next damping, and whether the step was taken.
    type Trial<T> = (V<T>, V<T>, S<T>, S<T>, Acc<Scalar<bool>>);
    let at_start = value(start);
    let whole = norm(at_start);
    let is_damped = |damping: S<T>| the(damping).lt(lit::<T>(LARGEST_DAMPING));
    let step = |(x, here, damping, last_size, steps): State<T>| {
        let Normal { slope, scale, solve } = normal(x, here);
        let scaled = zip_with(|g: Exp<T>, d: Exp<T>| g / d.sqrt(), slope, scale);
        let relative = |g: Exp<T>, whole: Exp<T>| cond(whole.eq(lit::<T>(0.0)), whole, g / whole);
        let size = zip_with(relative, norm(scaled), whole);
        let try_step = |(_, _, damping, factor, _): Trial<T>| {
            let change = solve(damping, slope);
            let there = value(x - change);
            let gained = the(squared(here)) - the(squared(there));
            // Twice what the linear model promises.
            let promised = the(dot(change, damping * scale * change + slope));
            // A gain that rounding hides is judged by the gradient.
            let is_hidden = promised.le(the(squared(here)) * lit::<T>(100.0) * epsilon::<T>());
            let falls = the(size).lt(the(last_size) * lit::<T>(0.9));
            let is_better = unit(cond(is_hidden, falls, gained.gt(lit::<T>(0.0))));
            let two = || lit::<T>(2.0);
            let ratio = cond(is_hidden, lit::<T>(1.0), gained / promised);
            let less = lit::<T>(1.0) - (ratio * two() - lit::<T>(1.0)).powi(3);
            let next_damping = the(damping) * cond(the(is_better), less.max(lit::<T>(1.0 / 3.0)), the(factor));
            let next_factor = cond(the(is_better), two(), the(factor) * two());
            let choose = |y: V<T>, x: V<T>| zip_with(|y: Exp<T>, x: Exp<T>| cond(the(is_better), y, x), y, x);
            (choose(x - change, x), choose(there, here), unit(next_damping), unit(next_factor), is_better)
        };
        let goes_on = |(_, _, damping, _, is_better): Trial<T>| {
            the(size).gt(lit::<T>(stop.tolerance)).and(the(is_better).not()).and(is_damped(damping))
        };
        let begin = (x, here, damping, unit(lit::<T>(2.0)), unit(false));
        let (x, here, damping, ..) = awhile(goes_on, try_step, begin);
        (x, here, damping, size, next(steps))
    };
    let goes_on = |(_, _, damping, size, steps): State<T>| stop.goes_on(size, steps).and(is_damped(damping));
    let begin = (start, at_start, unit(lit::<T>(1e-3)), unit(lit::<T>(f64::INFINITY)), unit(0i64));
    let (x, _, _, size, steps) = awhile(goes_on, step, begin);
    (x, steps, size)
}
