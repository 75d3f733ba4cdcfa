//! Operators of arrays, axes and the functions of the library.

use crate::array_loops::matrix;
use crate::harness::{V, jacobian, kinked, smooth};
use crate::refined::{Any, Few, NonEmpty};
use accel::prelude::*;

type M = Acc<Matrix<f64>>;

#[test]
fn operators() {
    jacobian(Few(Any), |a: V| (a * a.sin() - 2.0 * a) / (a * a + 1.0));
    jacobian(Few(Any), |a: V| -a * sum(a) + sum(a) / (a * a + 3.0));
    jacobian(Few(NonEmpty), |a: V| a.at(0) * a - a / (2.0 + a.at(0) * a.at(0)));
    jacobian(Few(Any), |a: V| {
        let mut b = a;
        b *= a;
        b += 1.5;
        b
    });
}

#[test]
fn rows_and_columns() {
    let v = |a: V| take(3, concat(a.cos(), fill(3, 0.5)));
    jacobian(Few(Any), move |a: V| (matrix(a) * row(v(a)) + 0.5).tanh());
    jacobian(Few(Any), |a: V| matrix(a) * column(a) - column(a));
    jacobian(Few(Any), move |a: V| column(a.exp()) / (row(v(a)) - matrix(a) * matrix(a) - 2.0));
}

#[test]
fn masks() {
    kinked(Any, |a: V| sum(where_(a.gt(0.5), a * a, 1.0)));
    // The logarithm of a negative number is not chosen.
    kinked(Any, |a: V| sum(where_(a.gt(0.5), a.ln(), a)));
}

#[test]
fn axes() {
    jacobian(Few(Any), |a: V| sum(matrix(a).axis::<0>()));
    jacobian(Few(NonEmpty), |a: V| softmax(matrix(a).axis::<0>()).back_to_axis::<0>() * matrix(a));
    jacobian(Few(Any), |a: V| cumsum(matrix(a).axis::<0>()).back_to_axis::<0>());
    jacobian(Few(Any), |a: V| {
        let cube = generate((2, a.len(), 3), |(i, j, k)| a.at(j) * (i + k).cast::<f64>() + a.at(j).sin());
        product(cube.in_order([1, 2, 0]))
    });
}

#[test]
fn moments() {
    smooth(NonEmpty, |a: V| mean(a * a));
    smooth(NonEmpty, |a: V| var(a));
    jacobian(Few(NonEmpty), |a: V| (mean(matrix(a)), var(matrix(a).axis::<0>())));
    jacobian(Few(NonEmpty), |a: V| std(matrix(a) + row(iota(3).cast::<f64>())));
    jacobian(Few(NonEmpty), |a: V| (matrix(a) - mean_all(a)) * 0.5);
}

/// The derivative of the standard deviation of equal numbers is 0, not NaN.
#[test]
fn deviation_of_equal_numbers() {
    let found = run(grad(afun(|a: V| std(a))), &Array::vector(vec![2.0; 4])).unwrap();
    assert_eq!(found.to_vec(), [0.0; 4]);
}

#[test]
fn scans_and_differences() {
    jacobian(Few(Any), |a: V| (cumsum(a), cumprod(a.cos())));
    kinked(Few(Any), |a: V| sum(cummax(a) * a) + sum(cummin(a)));
    jacobian(Few(Any), |a: V| diff(a * a));
    jacobian(Few(Any), |a: V| roll(2, a) * a);
    jacobian(Few(Any), |a: V| outer(a, a.sin()));
    jacobian(Few(NonEmpty), |a: V| linspace(a.at(0), a.at(0) * 2.0, 5));
}

/// The element at the position of the largest one.
#[test]
fn positions() {
    kinked(NonEmpty, |a: V| unit(a.at(the(argmax(a))) * 2.0 - a.at(the(argmin(a)))));
    kinked(Few(NonEmpty), |a: V| {
        let classes = one_hot::<_, f64>(3, argmax(matrix(a)));
        sum_all(log_softmax(matrix(a)) * classes)
    });
}

/// A layer as it is written on paper, and its derivatives of second order.
#[test]
fn layers() {
    let layer = |x: M, w: M, b: V| (matmul(x, w) + row(b)).tanh();
    smooth(Few(Any), move |a: V| {
        let w = generate((3, 2), |(i, j)| (i - j).cast::<f64>() * 0.25);
        let b = generate(2, |j| a.len().cast::<f64>() * 0.1 - j.cast::<f64>());
        sum_all(layer(matrix(a), w, b).powi(2))
    });
    let inner = afun(|a: V| sum((a * a + 1.0).ln() * a));
    jacobian(Few(Any), move |a: V| call(grad(&inner), a) * 2.0);
}
