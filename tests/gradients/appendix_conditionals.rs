//! Appendix A, the programs about conditionals in scalar code.

use crate::harness::{V, kinked, smooth};
use crate::refined::{AllNonZero, Any};
use accel::prelude::*;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

fn cond_0_program(a: V) -> Acc<Scalar<f64>> {
    sum(map(|x| cond::<f64>(x.gt(0.0), x, x * 2.0), a))
}

#[test]
fn cond_0() {
    kinked(Any, cond_0_program);
}

#[test]
fn cond_0_friendly() {
    smooth(AllNonZero, cond_0_program);
}

/// The derivative is continuous at 0.
#[test]
fn cond_1() {
    smooth(Any, |a: V| sum(map(|x| cond::<f64>(x.gt(0.0), (x * x).sin(), x * x * x.exp()) * 2.0, a)));
}

/// The derivative is continuous at all switching points.
#[test]
fn cond_2() {
    let fmod = |u: Exp<f64>, v: f64| u - (u / v).floor().cast::<i64>().cast::<f64>() * v;
    let f = |x: Exp<f64>| {
        let arch = (2.0 - fmod(x - FRAC_PI_2, TAU) * (2.0 / PI)).powi(6) - 1.0;
        let y = cond::<f64>(fmod(x, TAU).lt(PI), x.sin(), arch * (PI / 12.0));
        y * y
    };
    smooth(Any, move |a: V| sum(map(f, a)));
}

#[test]
fn cond_3a() {
    kinked(Any, |a: V| {
        let f = |x: Exp<f64>| {
            let u = x * 2.0;
            let v = cond::<f64>(x.le(2.0), u + 1.0, u * 2.0 - 1.0);
            u * v
        };
        sum(map(f, a))
    });
}

#[test]
fn cond_3b() {
    kinked(Any, |a: V| {
        let f = |x: Exp<f64>| {
            let u = x * 2.0;
            let v = cond::<f64>(x.le(2.0), u + 1.0, u * 2.0 - 1.0);
            v * u
        };
        sum(map(f, a))
    });
}

#[test]
fn cond_4() {
    kinked(Any, |a: V| {
        let f = |x: Exp<f64>| {
            let low = cond::<f64>((x - 2.0).lt(-3.0), (x + 1.0).exp() - 2.0, x);
            // Continuous,
            let u = cond::<f64>(x.ge(1.0), x.ln() + 1.0, low);
            let y = u.exp() * 2.0;
            // and not continuous.
            u * cond::<f64>(u.lt(-1.0), u + y, y)
        };
        sum(map(f, a))
    });
}

#[test]
fn ignore_argument() {
    smooth(Any, |a: V| sum(map(|_| 42.0, a)));
}
