//! Fixed points.

use super::{Equations, ORDERS, S, Solution, Steps, Stop, V, implicit, next, no_rule, no_rule_of};
use crate::surface::attributed;
use crate::types::{Arrays, Floating, Tangent};
use crate::{Acc, IntoAcc, Vector, afun, awhile, call, custom_vjp, fill, lit, norm, unit, vjp};
use std::panic::Location;

/// A solution of `f(x, a) = x`: the limit of `f(f(.., a), a)` from `start` on. The residual is the norm of the last step.
///
/// It converges near a solution if `f` is a contraction there. The adjoint is a fixed point, too: with `λ = x̄ + f_xᵀ λ`, it is `f_aᵀ λ`; so any number of
/// unknowns will do.
///
/// ```
/// use accel::prelude::*;
/// use accel::solvers::{Stop, fixed_point};
///
/// let f = afun(|x: Acc<Vector<f64>>, a: Acc<Vector<f64>>| (a * x).cos());
/// let program = afun(|a: Acc<Vector<f64>>| sum(fixed_point(Stop::default(), &f, fill(a.shape(), 1.0), a).x));
/// let (value, derivative) = run(value_and_grad(&program), &Array::vector(vec![1.0]))?;
/// let x = 0.7390851332151607f64; // cos x = x
/// assert!((value.item() - x).abs() < 1e-9);
/// assert!((derivative.as_slice()[0] + x * x.sin() / (1.0 + x.sin())).abs() < 1e-9);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn fixed_point<A, T>(stop: Stop, f: &Equations<A, T>, start: V<T>, a: impl IntoAcc<Arrays = A>) -> Solution<T>
where
    A: Arrays<Acc: Tangent<A::Acc>>,
    T: Floating,
{
    let method = |start: V<T>, a: Acc<A>| limit(stop, |x| call(f, (x, a)), start);
    let pullback: Equations<(Vector<T>, A), T> = afun(|y: V<T>, at: Acc<(Vector<T>, A)>| call(vjp(f), (at, y)).0);
    let rule = |x: V<T>, a: Acc<A>, dx: V<T>| {
        let adjoint = call(affine(stop, &pullback, ORDERS), (dx, (x, a)));
        call(vjp(f), ((x, a), adjoint)).1
    };
    attributed(("fixed_point", Location::caller()), || implicit(stop, method, rule, start, a.into_acc()))
}

/// The limit of `f(f(..))`, the number of steps, and the size of the last one.
fn limit<T: Floating>(stop: Stop, f: impl Fn(V<T>) -> V<T>, start: V<T>) -> (V<T>, Steps, S<T>) {
    let step = |(x, _, steps): (V<T>, S<T>, Steps)| {
        let y = f(x);
        (y, norm(y - x), next(steps))
    };
    let begin = (start, unit(lit::<T>(f64::INFINITY)), unit(0i64));
    let (x, size, steps) = awhile(|(_, size, steps)| stop.goes_on(size, steps), step, begin);
    (x, steps, size)
}

/// The solution of `x = b + product(x, a)`, where `product` is linear in x.
fn affine<A, T>(stop: Stop, product: &Equations<A, T>, orders: usize) -> Equations<A, T>
where
    A: Arrays<Acc: Tangent<A::Acc>>,
    T: Floating,
{
    let method = afun(|b: V<T>, a: Acc<A>| limit(stop, |x| b + call(product, (x, a)), b).0);
    custom_vjp(&method, |(b, a): (V<T>, A::Acc), x, dx| {
        let a = a.into_acc();
        let Some(orders) = orders.checked_sub(1) else { return (no_rule(b), no_rule_of::<A, T>(product, b, a)) };
        let transposed = afun(|y: V<T>, a: Acc<A>| call(vjp(product), ((fill(y.shape(), lit::<T>(0.0)), a), y)).0);
        let adjoint = call(affine(stop, &transposed, orders), (dx, a));
        (adjoint, call(vjp(product), ((x, a), adjoint)).1)
    })
}
