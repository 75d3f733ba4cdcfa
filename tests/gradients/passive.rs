//! Operations without a reverse derivative are no error where they do not depend on the argument.

use crate::harness::{V, kinked, smooth};
use crate::refined::{Any, NonEmpty};
use accel::prelude::*;

/// Numbers that depend on the length of the argument only.
fn positions(n: Exp<i64>) -> V {
    generate(n, |i| i.cast::<f64>())
}

/// A loop on numbers: the smallest power of 2 above `x`.
fn power(x: Exp<f64>) -> Exp<f64> {
    while_(move |y: Exp<f64>| y.le(x), |y| y * 2.0, 1.0)
}

#[test]
fn scans_and_permutes_of_data() {
    smooth(Any, |a: V| sum_all(zip_with_min(|x, s| x * s, a, scanl(|x, y| x + y, 0.5, positions(a.shape())))));
    smooth(Any, |a: V| sum_all(zip_with(|x, s| x * s.sin(), a, scanr1(|x, y| x * y * 0.5, positions(a.shape())))));
    smooth(NonEmpty, |a: V| {
        let n = a.shape();
        let bins = permute(|x, y| x + y, fill(n, 0.0), |i| (i.ge(0), i * i % n), positions(n));
        dot(bins, map(|x| x * x, a))
    });
}

#[test]
fn loops_over_data() {
    smooth(Any, |a: V| {
        let state =
            awhile(|s: V| sum_all(s).at(()).lt(1000.0), |s| map(|x| x * 2.0 + 1.0, s), positions(a.shape() + 1));
        sum_all(zip_with_min(|x, s| x * s * 1e-3, a, state))
    });
    smooth(Any, |a: V| sum_all(imap(|i, x| x * power(i.cast::<f64>()), a)));
}

#[test]
fn reads_of_data_in_scalar_code() {
    smooth(NonEmpty, |a: V| {
        let table = scanl1(|x, y| x + y, positions(a.shape()));
        sum_all(imap(move |i, x| x * table.at(i) + a.at(0) * power(table.at(i) * 1e-3), a))
    });
}

/// Only one component of the elements depends on the argument.
#[test]
fn components() {
    smooth(Any, |a: V| {
        let pairs = zip(a, positions(a.shape()));
        sum_all(map(|(x, p)| x.sin() * power(p), pairs))
    });
    // The sum is active, and the loop runs on the other component.
    smooth(Any, |a: V| {
        let (total, _) = unzip(fold(
            |(x, p), (y, q)| (x + y, power(p.max(q) * 0.25)),
            (0.0, 1.0),
            zip(map(|x| x * x, a), positions(a.shape())),
        ));
        total
    });
}

#[test]
fn branches() {
    smooth(NonEmpty, |a: V| {
        let n = a.shape();
        let data = acond(
            n.gt(3),
            scanl1(|x, y| x + y, positions(n)),
            permute(|x, y| x + y, positions(n), |i| (i.gt(1), i - 1), positions(n)),
        );
        let active =
            acond(n.gt(5), map(|x| x.sin(), a), zip_with_min(|x, s| x * s, a, scanl(|x, y| x + y, 1.0, positions(n))));
        dot(data, active)
    });
    smooth(Any, |a: V| sum_all(imap(|i, x| cond(i.gt(2), x * power(i.cast::<f64>()), x * x), a)));
}

/// A condition that depends on the argument has no derivative, and neither has a number that depends on conditions only.
#[test]
fn discrete_dependences() {
    kinked(Any, |a: V| {
        let signs = map(|x| cond(x.gt(0.0), 1.0, -1.0), a);
        sum_all(zip_with_min(|x, s| x * s * 0.1, a, scanl(|x, y| x + y, 0.0, signs)))
    });
}

#[test]
fn functions_inside_of_programs() {
    smooth(Any, |a: V| sum_all(imap(|i, x| gradient(move |y: Exp<f64>| y * y * power(i.cast::<f64>()) * x, x), a)));
}

/// Operations that do not lead from the input to the result do not matter.
#[test]
fn beside_the_way() {
    smooth(NonEmpty, |a: V| {
        let n = a.shape();
        let last_power = while_(|p: Exp<i64>| (p * 2).lt(n), |p| p * 2, 1i64);
        sum(generate(n, |i| a.at(i) * a.at(i.min(last_power.min(n - 1)))))
    });
    smooth(NonEmpty, |a: V| {
        let offsets = scanl1(|x, y| x + y, fill(a.shape(), 2i64));
        sum(zip_with(|k, x| x * k.cast::<f64>(), offsets, a))
    });
}
