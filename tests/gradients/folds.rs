//! Folds of all kinds: special operators with zeros, ties and initial values, general operators, tuples, many rows.

use crate::harness::{V, kinked, smooth};
use crate::refined::{AllNonZero, Any, Even, FewValues, NonEmpty, UniqueMax};
use accel::prelude::*;

type M = Acc<Matrix<f64>>;

/// A matrix of two rows: the two halves of a vector.
fn two_rows(a: V) -> M {
    reshape((2, a.shape() / 2), a)
}

/// A matrix with rows of two elements.
fn two_columns(a: V) -> M {
    reshape((a.shape() / 2, 2), a)
}

/// A weighted sum, so that each element has a different adjoint.
fn weighed(a: V) -> Acc<Scalar<f64>> {
    sum(imap(|i, x| (i + 1).cast::<f64>() * x, a))
}

#[test]
fn sums_of_rows() {
    smooth(Even, |a: V| weighed(sum(map(|x| x * x, two_rows(a)))));
    smooth(Even, |a: V| weighed(sum(map(|x| x * x, two_columns(a)))));
}

#[test]
fn sum_from_a_value_of_an_array() {
    smooth((NonEmpty, Any), |a: V, b: V| fold(|x, y| x + y, a.at(0) * a.at(a.shape() - 1), b));
}

#[test]
fn products_of_rows() {
    smooth(Even, |a: V| weighed(product(two_rows(a))));
    smooth(Even, |a: V| weighed(product(two_columns(a))));
}

/// Rows without, with one and with several zeros.
#[test]
fn products_with_zeros() {
    smooth(FewValues, |a: V| product(a));
    smooth(FewValues, |a: V| sum(product(two_columns(take(a.shape() / 2 * 2, a)))));
    smooth(FewValues, |a: V| fold1(|x, y| x * y, concat(fill(1, 0.5), a)));
}

#[test]
fn gradients_of_products_with_zeros() {
    let gradient = grad(&afun(|a: V| product(a)));
    let of = |v: &[f64]| run(&gradient, &Array::vector(v.to_vec())).unwrap().to_vec();
    assert_eq!(of(&[2.0, 3.0, -4.0]), [-12.0, -8.0, 6.0]);
    assert_eq!(of(&[2.0, 0.0, -4.0]), [0.0, -8.0, 0.0]);
    assert_eq!(of(&[0.0, 3.0, 0.0]), [0.0; 3]);
    assert_eq!(of(&[0.0]), [1.0]);
    assert!(of(&[]).is_empty());
}

#[test]
fn product_from_a_value_of_an_array() {
    smooth((NonEmpty, Any), |a: V, b: V| fold(|x, y| x * y, a.at(0), b));
    smooth((FewValues, FewValues), |a: V, b: V| fold(|x, y| x * y, the(sum(a)), b));
}

#[test]
fn maxima_of_rows() {
    smooth(UniqueMax, |a: V| weighed(maximum(replicate((3, All), a))));
    kinked(Even, |a: V| weighed(maximum(concat(two_columns(a), fill((a.shape() / 2, 1), 0.0)))));
}

/// Both modes choose the same one of equal elements.
#[test]
fn ties() {
    let with_zero = |a: V| concat(a, fill(1, 0.0));
    kinked(FewValues, move |a: V| maximum(with_zero(a)));
    kinked(FewValues, move |a: V| minimum(with_zero(a)));
    kinked(FewValues, |a: V| fold(|x, y| x.max(y), 1.0, a));
    kinked(FewValues, |a: V| fold(|x, y| x.min(y), -1.0, a));
    kinked((FewValues, FewValues), |a: V, b: V| fold(|x, y| x.min(y), the(sum(a)), b));
    kinked((FewValues, FewValues), |a: V, b: V| fold(|x, y| x.max(y), the(sum(a)), b));
    // With exchanged arguments, it is not the recognised operator.
    kinked(FewValues, move |a: V| fold1(|x, y| y.max(x), with_zero(a)));
}

#[test]
fn first_of_equal_maxima() {
    let gradient = grad(&afun(|a: V| maximum(a)));
    let x = Array::vector(vec![1.0, 3.0, 3.0, -2.0]);
    assert_eq!(run(gradient, &x).unwrap().to_vec(), [0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn an_operator_of_our_own() {
    // (1 + x) (1 + y) - 1
    smooth(Any, |a: V| fold(|x, y| x + y + x * y, 0.5, map(|x| x * 0.1, a)));
    smooth(NonEmpty, |a: V| fold1(|x, y| x + y + x * y, map(|x| x * 0.1, a)));
    smooth(Even, |a: V| weighed(fold(|x, y| x + y + x * y, 0.5, map(|x| x * 0.1, two_columns(a)))));
    smooth(Even, |a: V| weighed(fold(|x, y| x + y + x * y, 0.5, map(|x| x * 0.1, two_rows(a)))));
}

#[test]
fn log_sum_exp_as_an_operator() {
    smooth(NonEmpty, |a: V| fold1(|x, y| (x.exp() + y.exp()).ln(), a));
}

#[test]
fn an_operator_that_reads_an_array() {
    // An operator that is associative for any factor.
    smooth((NonEmpty, Any), |a: V, b: V| {
        fold(|x, y| x + y + x * y * a.at(0) * 0.05, the(sum(a)) * 0.01, map(|x| x * 0.1, b))
    });
    smooth((NonEmpty, Even), |a: V, b: V| {
        let rows = map(|x| x * 0.1, two_columns(concat(b, fill(2, 0.5))));
        weighed(fold1(|x, y| x + y + x * y * a.at(a.shape() - 1) * a.at(0) * 0.005, rows))
    });
}

/// The product of 2x2 matrices is not commutative.
#[test]
fn a_product_of_matrices() {
    type M2 = (Exp<f64>, Exp<f64>, Exp<f64>, Exp<f64>);
    let times = |(a, b, c, d): M2, (e, f, g, h): M2| (a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h);
    let matrix = |x: Exp<f64>, y: Exp<f64>| ((x * 0.1).cos(), y * 0.1, x * y * 0.02, (y * 0.1).sin());
    let entries = |(a, b, c, d): M2| a + b * 2.0 - c * 3.0 + d * d;
    smooth((Any, Any), move |a: V, b: V| map(entries, fold(times, (1.0, 0.0, 0.0, 1.0), zip_with_min(matrix, a, b))));
    smooth((NonEmpty, NonEmpty), move |a: V, b: V| map(entries, fold1(times, zip_with_min(matrix, a, b))));
    smooth(Even, move |a: V| {
        let rows = two_rows(a);
        sum(map(entries, fold(times, (1.0, 0.0, a.len().cast::<f64>(), 1.0), zip_with(matrix, rows, rows))))
    });
}

#[test]
fn the_maximum_and_its_place() {
    let program = |a: V| {
        let numbered = imap(|i, x| (x, i), a);
        let best = fold1(|(x, i), (y, j)| cond(x.ge(y), (x, i), (y, j)), numbered);
        map(|(x, i)| x * (i + 1).cast::<f64>(), best)
    };
    smooth(UniqueMax, program);
    kinked(NonEmpty, program);
}

#[test]
fn several_folds_in_one() {
    smooth(AllNonZero, |a: V| {
        let moments = fold(
            |(n, s, q, p), (m, t, r, o)| (n + m, s + t, q + r, p * o),
            (0i64, 0.0, 0.0, 1.0),
            map(|x| (constant(1i64), x, x * x, x * 0.2), a),
        );
        map(|(n, s, q, p)| (q - s * s / (n + 1).cast::<f64>()) * 0.1 + p, moments)
    });
}

#[test]
fn fold_all_of_a_matrix() {
    smooth(Even, |a: V| fold_all(|x, y| x + y + x * y, 0.0, map(|x| x * 0.05, two_columns(a))));
    smooth(Even, |a: V| product_all(map(|x| x * 0.3, two_rows(a))));
}

#[test]
fn folds_of_folds() {
    smooth(Even, |a: V| product(sum(two_columns(map(|x| x.sin(), a)))));
    smooth(NonEmpty, |a: V| {
        let outer = zip_with(|x, y| x * y + 1.0, replicate((All, a.shape()), a), replicate((a.shape(), All), a));
        sum(map(|x| (x * x + 1.0).ln(), sum(outer)))
    });
}

#[test]
fn folds_of_nothing() {
    smooth(Any, |a: V| weighed(sum(generate((a.shape(), 0), |(i, _)| a.at(i)))));
    smooth(Any, |a: V| weighed(product(generate((a.shape(), 0), |(i, _)| a.at(i)))));
    smooth(Any, |a: V| {
        let none = generate((a.shape(), 0), |(i, _)| a.at(i));
        weighed(fold(|x, y| x + y + x * y, the(sum(a)) * 0.1, none))
    });
}
