//! Rules of one's own. Most functions here hide their derivatives by `detach`, so that only their rules are right: if a pass lost a rule, or
//! looked into the function, differences would tell.

use crate::array_loops::matrix;
use crate::harness::{Differentiated, V, always, jacobian, kinked, smooth};
use crate::refined::{Any, Few, NonEmpty, Refined};
use accel::prelude::*;

type S = Acc<Scalar<f64>>;

/// The sine, by its pullback.
fn sine() -> Afun<Vector<f64>, Vector<f64>> {
    custom_vjp(|x: V| map(|x| x.sin().detach(), x), |x, _, dy| zip_with(|x, dy| x.cos() * dy, x, dy))
}

/// The sine, by its pushforward.
fn sine_forward() -> Afun<Vector<f64>, Vector<f64>> {
    custom_jvp(|x: V| map(|x| x.sin().detach(), x), |x, dx| (x, zip_with(|x, dx| x.cos() * dx, x, dx)))
}

/// The hyperbolic tangent, whose derivative is a function of its value. Its own derivatives meet the rule in the value again.
fn tanh() -> Afun<Vector<f64>, Vector<f64>> {
    custom_vjp(|x: V| map(|x| x.tanh().detach(), x), |_, y, dy| zip_with(|y, dy| (lit::<f64>(1.0) - y * y) * dy, y, dy))
}

/// A function of two vectors and a number with two results, one of which has another rank. It is differentiated by its pushforward.
fn pair() -> Afun<(Vector<f64>, Scalar<f64>), (Vector<f64>, Scalar<f64>)> {
    custom_jvp(
        |x: V, t: S| (map(|x| (x.sin() * the(t)).detach(), x), map(|t| (t * t).detach(), t)),
        |(x, t), (dx, dt)| {
            let first = zip_with(|x, dx| x.cos() * the(t) * dx + x.sin() * the(dt), x, dx);
            ((x, t), (first, zip_with(|t, dt| t * dt * 2.0, t, dt)))
        },
    )
}

/// The same, by its pullback.
fn pair_reverse() -> Afun<(Vector<f64>, Scalar<f64>), (Vector<f64>, Scalar<f64>)> {
    custom_vjp(
        |x: V, t: S| (map(|x| (x.sin() * the(t)).detach(), x), map(|t| (t * t).detach(), t)),
        |(x, t), _, (dy, dz)| {
            let by_t = sum(zip_with(|x, dy| x.sin() * dy, x, dy));
            (zip_with(|x, dy| x.cos() * the(t) * dy, x, dy), by_t + map(|dz| dz * the(t) * 2.0, dz))
        },
    )
}

/// Checks the derivatives of orders one to three.
#[track_caller]
fn thrice<I: Refined, M>(inputs: I, program: impl ArrayFn<M, Args = I::Arrays, Result = Scalar<f64>> + Copy) {
    smooth(inputs, program);
    let gradient = grad(afun(program));
    always::<I>(Differentiated::of(&gradient));
    let along = afun(|x: Acc<I::Arrays>| call(hvp(afun(program)), (x, x)));
    always::<I>(Differentiated::of(&along));
}

#[test]
fn of_one_array() {
    for f in [sine(), sine_forward(), tanh()] {
        let f = &f;
        jacobian(Any, |x: V| call(f, x));
        thrice(Few(Any), |x: V| dot(call(f, x), call(f, map(|x| x * 0.5, x))));
    }
}

#[test]
fn of_several_arrays() {
    for f in [pair(), pair_reverse()] {
        let f = &f;
        jacobian((Few(Any), Few(NonEmpty)), |x: V, t: V| {
            let (y, z) = call(f, (x, unit(t.at(0))));
            (z, y)
        });
        thrice((Few(Any), Few(NonEmpty)), |x: V, t: V| {
            let (y, z) = call(f, (x, unit(t.at(0))));
            zip_with(|y, z| y.cos() + z * y * 0.1, sum(y), z)
        });
        // Of one result, and by one argument.
        thrice(Few(NonEmpty), |x: V| sum(call(f, (x, unit(0.7))).0));
        thrice(Few(NonEmpty), |x: V| call(f, (map(|x| x.detach(), x), sum(x))).1);
        thrice(Few(NonEmpty), |x: V| sum(call(f, (map(|x| x.detach(), x), sum(x))).0));
    }
}
