//! Folds and scans of segments: empty ones, single elements, whole rows, and operators on elements of several numbers.

use crate::harness::{Differentiated, V, always, for_all, jacobian, kinked, same, smooth, without_numbers};
use crate::refined::{Any, BelowOne, Even, NonEmpty, Positive, Refined};
use accel::prelude::*;

type Lengths = Acc<Vector<i64>>;

/// The lengths of segments that divide a row of length `n`: a third of it, nothing, one element, nothing and the rest, as far
/// as there are elements.
fn divided(n: Exp<i64>) -> Lengths {
    let third = n / 3;
    let one = (n - third).min(1);
    generate(5, move |k| {
        let last = cond::<i64>(k.eq(4), n - third - one, 0i64);
        cond::<i64>(k.eq(0), third, cond::<i64>(k.eq(2), one, last))
    })
}

/// The whole row as one segment.
fn whole(n: Exp<i64>) -> Lengths {
    fill(1, n)
}

/// Segments of one element.
fn single(n: Exp<i64>) -> Lengths {
    fill(n, 1i64)
}

fn parts(a: V) -> Lengths {
    divided(a.shape())
}

/// Checks the Hessian by forward over reverse mode, against finite differences of the gradient, and the product with a
/// vector by reverse over reverse mode.
fn hessian<I: Refined, M>(_: I, program: impl ArrayFn<M, Args = I::Arrays, Result = Scalar<f64>>) {
    let gradient = grad(afun(program));
    always::<I>(Differentiated::forward(&gradient));
    let (forward, reverse) = (Differentiated::forward(&gradient), Differentiated::of(&gradient));
    for_all(move |x: &I::Sample| {
        let x = Arrays::to_tuple(&I::arrays(x));
        let (columns, rows) = (forward.columns(&x)?, reverse.rows(&x)?.unwrap_or_default());
        let largest = columns.iter().flatten().fold(1.0, |m: f64, h| m.max(h.abs()));
        for (i, row) in rows.iter().enumerate() {
            for (j, h) in row.iter().enumerate() {
                if !same(*h, columns[j][i], 1e-9 * largest) {
                    return Err(format!("d²/d{i}d{j}: {h} by reverse over reverse mode, {}", columns[j][i]));
                }
            }
        }
        Ok(())
    });
}

/// The sum of the squares with weights, so that every element matters.
fn weighted(xs: V) -> Acc<Scalar<f64>> {
    sum(imap(|i, x| x * x * (i.cast::<f64>() * 0.03 + 0.1), xs))
}

#[test]
fn sums() {
    jacobian(Any, |a: V| fold_seg(|x, y| x + y, 0.5, parts(a), map(|x| x * x, a)));
    jacobian(Any, |a: V| scanl_seg(|x, y| x + y, 0.5, parts(a), a));
    jacobian(Any, |a: V| scanr_seg(|x, y| x + y, 0.5, parts(a), a));
    jacobian(Any, |a: V| scanl1_seg(|x, y| x + y, parts(a), map(|x| x.sin(), a)));
    jacobian(Any, |a: V| scanr1_seg(|x, y| x + y, parts(a), a));
    jacobian(Any, |a: V| scanl_ex_seg(|x, y| x + y, 1.0, parts(a), a));
    jacobian(Any, |a: V| scanr_ex_seg(|x, y| x + y, 1.0, parts(a), map(|x| x * x, a)));
}

#[test]
fn products_with_zeros() {
    let zeros = |a: V| imap(|i, x: Exp<f64>| cond::<f64>((i % 4).eq(1), x - x, x * 0.5), a);
    jacobian(Any, move |a: V| fold_seg(|x, y| x * y, 2.0, parts(a), zeros(a)));
    jacobian(Any, move |a: V| scanl_seg(|x, y| x * y, 2.0, parts(a), zeros(a)));
    jacobian(Any, move |a: V| scanr1_seg(|x, y| x * y, parts(a), zeros(a)));
}

#[test]
fn one_segment() {
    jacobian(Any, |a: V| fold_seg(|x, y| x * y, 2.0, whole(a.shape()), map(|x| x * 0.3, a)));
    jacobian(NonEmpty, |a: V| fold1_seg(|x, y| x * y, whole(a.shape()), map(|x| x * 0.3, a)));
    jacobian(Any, |a: V| scanl1_seg(|x, y| x + y + x * y * 0.1, whole(a.shape()), a));
    jacobian(Any, |a: V| scanr_seg(|x, y| x * y, 1.5, whole(a.shape()), map(|x| x * 0.3, a)));
}

#[test]
fn segments_of_one_element() {
    jacobian(Any, |a: V| fold_seg(|x, y| x * y, 2.0, single(a.shape()), a));
    jacobian(Any, |a: V| fold1_seg(|x, y| x * y, single(a.shape()), map(|x| x * x, a)));
    jacobian(Any, |a: V| scanl_ex_seg(|x, y| x * y, 2.0, single(a.shape()), a));
    jacobian(Any, |a: V| scanr1_seg(|x, y| x + y, single(a.shape()), map(|x| x.cos(), a)));
}

/// Only empty segments, and no segment at all: the initial values remain.
#[test]
fn empty_segments() {
    let nothing = |_: V| fill(0, 1.0);
    jacobian(NonEmpty, move |a: V| fold_seg(|x, y| x * y, a.at(0), fill(3, 0i64), nothing(a)));
    jacobian(NonEmpty, move |a: V| scanl_seg(|x, y| x * y, a.at(0) * a.at(0), fill(3, 0i64), nothing(a)));
    without_numbers(NonEmpty, move |a: V| scanr_seg(|x, y| x + y, a.at(0), fill(0, 0i64), nothing(a)));
}

#[test]
fn other_operators_on_numbers() {
    jacobian(Any, |a: V| scanl_seg(|x, y| x + y + x * y * 0.1, 0.3, parts(a), map(|x| x * 0.5, a)));
    // Associative where no number is negative.
    jacobian(Any, |a: V| scanr1_seg(|x, y| (x * x + y * y).sqrt(), parts(a), map(|x| x * x + 0.1, a)));
    kinked(Any, |a: V| sum(scanl1_seg(|x, y| x.max(y), parts(a), a)));
    kinked(Any, |a: V| sum(fold_seg(|x, y| x.min(y), 0.5, parts(a), a)));
    // Never applied across the end of a segment, where it would not be finite.
    smooth(Positive, |a: V| sum(scanl1_seg(|x, y| (x.ln() + y.ln()).exp(), single(a.shape()), a)));
}

#[test]
fn elements_of_several_numbers() {
    // The composition of the functions u x + v.
    let composed = |(u, v): (Exp<f64>, Exp<f64>), (s, t): (Exp<f64>, Exp<f64>)| (u * s, v * s + t);
    jacobian((BelowOne, Any), move |a: V, b: V| {
        let both = zip_min(a, b);
        scanl1_seg(composed, divided(both.shape()), both)
    });
    jacobian((BelowOne, Any), move |a: V, b: V| {
        let both = zip_min(a, b);
        fold_seg(composed, (1.0, 0.5), divided(both.shape()), both)
    });
    let multiplied =
        |((a, b), (c, d)), ((e, f), (g, h))| ((a * e + b * g, a * f + b * h), (c * e + d * g, c * f + d * h));
    jacobian(Any, move |a: V| {
        scanr1_seg(multiplied, parts(a), map(|x| ((x, constant(1.0)), (constant(0.5), x * x * 0.1)), a))
    });
    // A component that is no number of a derivative.
    jacobian(Any, |a: V| scanl1_seg(|(n, x), (k, y)| (n + k, x * y), parts(a), imap(|i, x| (i, x * 0.5), a)));
}

#[test]
fn rows() {
    let rows = |a: V| -> Acc<Matrix<f64>> { reshape((2, a.shape() / 2), a) };
    jacobian(Even, move |a: V| fold_seg(|x, y| x * y, 1.5, divided(a.shape() / 2), map(|x| x * 0.3, rows(a))));
    jacobian(Even, move |a: V| scanl_seg(|x, y| x + y, 1.5, divided(a.shape() / 2), map(|x| x * x, rows(a))));
    jacobian(Even, move |a: V| scanr1_seg(|x, y| x * y, divided(a.shape() / 2), map(|x| x * 0.3, rows(a))));
    jacobian(Even, |a: V| scanl1_seg(|x, y| x * y, single(constant(1i64)), reshape((2, a.shape() / 2, 1), a)));
}

#[test]
fn operators_and_initial_values_that_read_arrays() {
    jacobian((NonEmpty, Any), |a: V, b: V| {
        scanl_seg(|x, y| x + y + x * y * a.at(0) * 0.1, the(sum(a)) * 0.1, parts(b), map(|x| x * 0.2, b))
    });
    jacobian((NonEmpty, Any), |a: V, b: V| {
        fold_seg(|x, y| x * y * a.at(0), the(sum(a)), parts(b), map(|x| x * 0.2, b))
    });
}

#[test]
fn inside_of_programs() {
    smooth(Any, |a: V| {
        let sums = scanl1_seg(|x, y| x + y, parts(a), map(|x| x * x, a));
        sum(zip_with(|x, s| x * (s * 0.01).sin(), a, sums))
    });
    // Each element, divided by the sum of the exponentials of its segment.
    smooth(Any, |a: V| {
        let powers = map(|x| (x * 0.2).exp(), a);
        let (lengths, n) = (parts(a), a.shape());
        let totals = fold_seg(|x, y| x + y, 0.0, lengths, powers);
        let ends = scanl1(|x, y| x + y, lengths);
        let mine = |i: Exp<i64>| while_(move |k: Exp<i64>| ends.at(k).le(i), |k| k + 1, 0i64);
        let segment_of = generate(n, mine);
        weighted(zip_with(|x, k| x / totals.at(k), powers, segment_of))
    });
}

#[test]
fn second_derivatives() {
    hessian(Any, |a: V| weighted(fold_seg(|x, y| x * y, 1.5, parts(a), map(|x| x * 0.3, a))));
    hessian(Any, |a: V| weighted(scanl1_seg(|x, y| x + y + x * y * 0.1, parts(a), map(|x| x * 0.3, a))));
    hessian(Any, |a: V| weighted(scanr_seg(|x, y| x * y, 0.5, parts(a), map(|x| (x * 0.3).sin(), a))));
    hessian((BelowOne, Any), |a: V, b: V| {
        let both = zip_min(a, map(|x| x * 0.1, b));
        let (_, v) = unzip(fold_seg(|(u, v), (s, t)| (u * s, v * s + t), (1.0, 0.5), divided(both.shape()), both));
        weighted(v)
    });
}
