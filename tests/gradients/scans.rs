//! Scans in both directions, with and without an initial value, with operators over elements of several types.

use crate::harness::{V, jacobian, kinked, smooth, without_numbers};
use crate::higher_order::all_modes;
use crate::refined::{Any, BelowOne, Even, NonEmpty};
use crate::support::agree::{CLOSE, compare};
use accel::backend::Backend;
use accel::interp::Interpreter;
use accel::prelude::*;

#[test]
fn sums() {
    jacobian(Any, |a: V| scanl(|x, y| x + y, 0.5, map(|x| x * x, a)));
    jacobian(Any, |a: V| scanr(|x, y| x + y, 0.5, a));
    jacobian(Any, |a: V| scanl1(|x, y| x + y, a));
    jacobian(Any, |a: V| scanr1(|x, y| y + x, a));
    jacobian(Any, |a: V| scanl_ex(|x, y| x + y, 0.0, map(|x| x.sin(), a)));
    jacobian(Any, |a: V| scanr_ex(|x, y| x + y, 1.0, a));
}

#[test]
fn products_with_zeros() {
    jacobian(Any, |a: V| scanl(|x, y| x * y, 2.0, map(|x| x * 0.3, a)));
    jacobian(Any, |a: V| scanr(|x, y| x * y, 2.0, map(|x| x * 0.3, a)));
    jacobian(Any, |a: V| scanl1(|x, y| x * y, imap(|i, x| cond((i % 3).eq(1), 0.0, x), a)));
    jacobian(Any, |a: V| scanr1(|x, y| x * y, imap(|i, x| cond((i % 4).eq(2), x - x, x), a)));
    jacobian(Any, |a: V| scanr_ex(|x, y| x * y, 1.0, a));
}

#[test]
fn other_operators_on_numbers() {
    jacobian(Any, |a: V| scanl1(|x, y| x + y + x * y * 0.1, a));
    jacobian(Any, |a: V| scanr(|x, y| x + y + x * y * 0.1, 0.3, map(|x| x * 0.5, a)));
    // Associative where no number is negative.
    jacobian(Any, |a: V| scanl1(|x, y| (x * x + y * y).sqrt(), map(|x| x * x + 0.1, a)));
    kinked(Any, |a: V| sum(scanl1(|x, y| x.max(y), a)));
    kinked(Any, |a: V| sum(scanr(|x, y| x.min(y), 0.5, a)));
}

#[test]
fn rows() {
    jacobian(Even, |a: V| scanl(|x, y| x * y, 1.0, reshape((2, a.shape() / 2), a)));
    jacobian(Even, |a: V| scanr1(|x, y| x + y, reshape((a.shape() / 2, 2), a)));
    jacobian(Even, |a: V| scanl1(|x, y| x * y, reshape((2, a.shape() / 2, 1), a)));
    without_numbers(Even, |a: V| scanr(|x, y| x + y + x * y, 0.1, reshape((2, 0, a.shape() / 2), fill(0, 1.0))));
}

/// Linear recurrences, and matrices: the elements depend on each other.
#[test]
fn elements_of_several_numbers() {
    // The composition of the functions u x + v.
    jacobian((BelowOne, Any), |a: V, b: V| scanl1(|(u, v), (s, t)| (u * s, v * s + t), zip_min(a, b)));
    jacobian((BelowOne, Any), |a: V, b: V| scanr(|(u, v), (s, t)| (u * s, u * t + v), (1.0, 0.5), zip_min(a, b)));
    let multiplied =
        |((a, b), (c, d)), ((e, f), (g, h))| ((a * e + b * g, a * f + b * h), (c * e + d * g, c * f + d * h));
    jacobian(Any, move |a: V| scanl1(multiplied, map(|x| ((x, constant(1.0)), (constant(0.5), x * x * 0.1)), a)));
    jacobian((Any, NonEmpty), move |a: V, b: V| {
        let start = ((b.at(0), constant(0.5)), (constant(0.1), constant(1.0)));
        scanr(multiplied, start, map(|x| ((x, x.sin()), (constant(0.5), x * x * 0.1)), a))
    });
    jacobian(Any, |a: V| scanl(triangular, (1.0, 0.5, 1.0), map(|x| (x, x.sin(), x * 0.3), a)));
    jacobian(Even, |a: V| {
        let rows = reshape((2, a.shape() / 2), a);
        scanr1(triangular, map(|x| (x, x.sin(), x * 0.3), rows))
    });
    // A part of the result is a part of an argument.
    jacobian(Any, |a: V| scanl1(|(p, x, y), (_, u, v)| (p, x * u, y * u + v), map(|x| (x, x.sin(), x * 0.3), a)));
    // A component that is no number of a derivative, and one that does not depend on the argument.
    jacobian(Any, |a: V| scanl1(|(n, x), (k, y)| (n + k, x * y), imap(|i, x| (i, x), a)));
    jacobian(Any, |a: V| {
        scanr1(|(p, x), (q, y)| (p + q, x + y * 0.5 + x * y), imap(|i, x| (i.cast::<f64>(), x * 0.1), a))
    });
}

/// The product of two triangular matrices.
pub fn triangular(
    (a, b, c): (Exp<f64>, Exp<f64>, Exp<f64>),
    (d, e, f): (Exp<f64>, Exp<f64>, Exp<f64>),
) -> (Exp<f64>, Exp<f64>, Exp<f64>) {
    (a * d, a * e + b * f, c * f)
}

#[test]
fn operators_and_initial_values_that_read_arrays() {
    jacobian((NonEmpty, Any), |a: V, b: V| scanl(|x, y| x + y * a.at(0), the(sum(a)), b));
    jacobian((NonEmpty, Any), |a: V, b: V| scanr(|x, y| x * y * a.at(0), the(sum(a)), map(|x| x * 0.2, b)));
    jacobian((NonEmpty, NonEmpty), |a: V, b: V| scanl1(|x, y| x * y * a.at(0).cos(), b));
    jacobian((NonEmpty, NonEmpty), |a: V, b: V| scanr1(|x, y| x + y + x * y * a.at(0), map(|x| x * 0.2, b)));
}

#[test]
fn inside_of_programs() {
    smooth(NonEmpty, |a: V| {
        let sums = scanl1(|x, y| x + y, map(|x| x * x, a));
        sum(imap(|i, x| x * sums.at(i) * 0.01, a))
    });
    smooth(Any, |a: V| {
        sum(acond(a.shape().gt(3), scanl1(|x, y| x * y, a), scanr(|x, y| x + y, 1.0, map(|x| x.sin(), a))))
    });
    smooth(Any, |a: V| sum(scanr1(|x, y| x * y, scanl(|x, y| x + y * 0.1, 0.2, a))));
}

/// The derivatives are programs with scans of pairs, which have derivatives again.
#[test]
fn second_derivatives() {
    let products = afun(|a: V| sum(map(|x| x * x, scanl(|x, y| x * y, 1.5, map(|x| x * 0.4, a)))));
    smooth(Any, move |a: V| dot(call(grad(&products), a), map(|x| x.cos(), a)));
    let sums = afun(|a: V| sum(map(|x| x.sin(), scanr1(|x, y| x + y, map(|x| x * x * 0.1, a)))));
    smooth(Any, move |a: V| dot(call(grad(&sums), a), a));
    let recurrence = afun(|a: V| {
        let (_, last) = unzip(scanl1(|(u, v), (s, t)| (u * s, v * s + t), map(|x| (x.sin(), x * x * 0.1), a)));
        sum(map(|x| x * x, last))
    });
    smooth(Any, move |a: V| dot(call(grad(&recurrence), a), a));
}

/// The operator of the derivative may not be combined in another order if elements change independently.
#[test]
fn second_derivatives_of_segments() {
    let total = |xs: Acc<Vector<(f64, f64, f64)>>| sum(map(|(x, y, z)| x * y.sin() + y * z * z, xs));
    all_modes(move |a: V| total(scanl1(triangular, map(|x| (x, x.sin(), x * 0.3 + 0.1), a))));
    all_modes(move |a: V| total(scanr(triangular, (1.0, 0.5, 1.0), map(|x| (x, x.sin(), x * 0.3 + 0.1), a))));
}

/// A long row is scanned in parts. In the adjoint, the steps of a part are combined before what comes behind them is known.
#[test]
fn long_rows_in_parts() {
    let x = Array::vector((0..100_000).map(|i| (f64::from(i) * 0.7).sin()).collect());
    // Products of many of them are neither large nor small, and depend on the order.
    let matrices = |a: V| map(|x| ((x * 0.5).exp(), x * 0.01, (x * -0.5).exp()), a);
    let total = |xs: Acc<Vector<(f64, f64, f64)>>| sum(imap(|i, (x, y, z)| x * y + z * (i % 3).cast::<f64>(), xs));
    let left = afun(move |a: V| total(scanl1(triangular, matrices(a))));
    let right = afun(move |a: V| total(scanr(triangular, (1.0, 0.5, 1.0), matrices(a))));
    for program in [left, right] {
        let gradient = |backend: &dyn Backend| run_on(backend, grad(&program), &x).map(|y| y.to_tuple());
        let (expected, found) = (gradient(&Interpreter), gradient(accel::backend_named("native").expect("a backend")));
        compare(&expected, &found, CLOSE).unwrap_or_else(|e| panic!("{e}"));
    }
}

/// Behind the last element, there is none. So the operator may not be applied to it: here, it would read behind the array.
#[test]
fn operators_are_applied_only_to_adjacent_elements() {
    jacobian(Any, |a: V| {
        let zeros = map(|x| x * 0.0, a);
        let counted = map(|x| (constant(1i64), x, x.sin() * 0.5, x.cos() * 0.1), a);
        scanl1(|(n, p, x, y), (k, q, u, v)| (n + k, p + q + zeros.at(n + k - 1), x * u, x * v + y), counted)
    });
}
