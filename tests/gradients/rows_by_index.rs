//! Rows that are taken and combined by index: their derivatives are scatters and gathers.

use crate::array_loops::matrix;
use crate::harness::{V, jacobian, kinked, smooth};
use crate::higher_order::hessian;
use crate::refined::{Any, Few, FewValues, NonEmpty};
use accel::prelude::*;

type M = Acc<Matrix<f64>>;
type Three = Acc<Array<Dim3, f64>>;

/// Numbers of rows from -1 to 2.
fn groups(n: Exp<i64>) -> Acc<Vector<i64>> {
    generate(n, |i| i * 5 % 4 - 1)
}

fn cube(a: V) -> Three {
    generate((a.len(), 2, 3), |(i, j, k)| (a.at(i) * (j * 2 + k + 1).cast::<f64>() * 0.2).sin())
}

/// Infinities stand where there is no row.
fn finite(m: M) -> M {
    where_(m.is_finite(), m, 0.0)
}

#[test]
fn rows_that_are_taken() {
    let places = |a: V| generate((2, 3), move |(i, j)| (i * 2 + j) % a.len());
    jacobian(Few(NonEmpty), move |a: V| gather(places(a), a * a));
    jacobian(Few(NonEmpty), move |a: V| gather(places(a), matrix(a) * matrix(a)));
    jacobian(Few(NonEmpty), move |a: V| gather(iota(2) % a.len(), cube(a)));
    jacobian(Few(NonEmpty), |a: V| take_along(generate((a.len(), 4), |(i, j)| (i + j) % 3), matrix(a)));
    hessian(Few(NonEmpty), move |a: V| sum_all(gather(places(a), matrix(a)).powi(3)));
    hessian(Few(NonEmpty), |a: V| sum_all(take_along(generate((a.len(), 4), |(i, j)| (i + j) % 3), matrix(a)).powi(3)));
}

#[test]
fn sums_of_rows() {
    jacobian(Few(Any), |a: V| sums_at(3, groups(a.len()), matrix(a) * matrix(a)));
    jacobian(Few(Any), |a: V| sums_at(3, groups(a.len()), cube(a)));
    hessian(Few(Any), |a: V| sum_all(sums_at(2, groups(a.len()), matrix(a)).powi(3)));
}

#[test]
fn extrema_of_rows() {
    jacobian(Few(Any), |a: V| finite(max_at(3, groups(a.len()), matrix(a))));
    jacobian(Few(Any), |a: V| finite(min_at(3, groups(a.len()), matrix(a))));
    kinked(FewValues, |a: V| sum_all(finite(max_at(3, groups(a.len()), matrix(a))).powi(2)));
    hessian(Few(Any), |a: V| sum_all(finite(max_at(3, groups(a.len()), matrix(a * a))).powi(3)));
}

#[test]
fn shares_of_groups() {
    let weighted = |m: M| sum_all(m * generate(shape(m), |(i, j)| (i * 3 + j + 1).cast::<f64>().sin()));
    smooth(Any, move |a: V| weighted(softmax_at(3, groups(a.len()), matrix(a))));
    // Ties.
    smooth(FewValues, move |a: V| weighted(softmax_at(3, groups(a.len()), matrix(a))));
    jacobian(Few(Any), |a: V| softmax_at(2, groups(a.len()), a));
    hessian(Few(Any), move |a: V| weighted(softmax_at(3, groups(a.len()), matrix(a))));
}

#[test]
fn products_of_matrices() {
    jacobian(Few(Any), |a: V| matmul(cube(a), transpose(matrix(a))));
    jacobian(Few(Any), |a: V| {
        let four = generate((2, a.len(), 2, 3), |(h, i, j, k)| cube(a).at((i, j, k)) * (h + 1).cast::<f64>());
        bmm(four, four.back_to_axis::<2>())
    });
    jacobian(Few(Any), |a: V| bmm(matrix(a), transpose(matrix(a))));
    hessian(Few(Any), |a: V| sum_all(matmul(cube(a), transpose(matrix(a))).powi(2)));
}

#[test]
fn equations_of_letters() {
    jacobian(Few(Any), |a: V| -> Three { einsum("bij,bkj->bik", (cube(a), cube(a) * 0.5)) });
    jacobian(Few(Any), |a: V| -> M { einsum("bij,kj->kb", (cube(a), matrix(a))) });
    jacobian(Few(Any), |a: V| -> Acc<Scalar<f64>> { einsum("i,ij,kj,k->", (a, matrix(a), matrix(a), a)) });
    jacobian(Few(Any), |a: V| -> V { einsum("ii->i", einsum::<Dim2, _>("ij,kj->ik", (matrix(a), matrix(a)))) });
    jacobian(Few(Any), |a: V| -> M { einsum("ij->ji", matrix(a)) });
    hessian(Few(Any), |a: V| sum_all(einsum::<Dim3, _>("bij,bkj->ikb", (cube(a), cube(a))).powi(2)));
}

#[test]
fn rows_beside_columns() {
    jacobian(Any, |a: V| column(a) + row(a * a));
    jacobian(Any, |a: V| row(a) / column(a * a + 1.0));
    jacobian(Any, |a: V| outer_with(|x: Exp<f64>, y: Exp<f64>| (x - y).sin() * x, a, a));
    jacobian(Few(Any), |a: V| column(matrix(a)) - row(a));
    hessian(Few(Any), |a: V| sum_all((row(a) - column(a.sin())).powi(3)));
}
