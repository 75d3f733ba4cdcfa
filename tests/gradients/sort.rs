//! Sorting: the derivative moves with the elements, and positions have none.

use crate::harness::{Differentiated, V, for_all, jacobian, kinked, same, smooth, without_numbers};
use crate::refined::{AlsoApart, Any, Apart, AtLeast3, Even, FewValues, NonEmpty, Positive, Refined};
use accel::prelude::*;

/// Weights that differ, so that every place of a sorted row matters.
fn weighted(xs: V) -> Acc<Scalar<f64>> {
    sum(imap(|i, x| x * (i.cast::<f64>() * 0.3 + 1.0), xs))
}

/// Parts of two vectors that have the same length.
fn same_length(a: V, b: V) -> (V, V) {
    let n = a.shape().min(b.shape());
    (take(n, a), take(n, b))
}

#[test]
fn sorted_elements() {
    jacobian(Apart, |a: V| sort(a));
    jacobian(Apart, |a: V| sort_descending(a));
    smooth(Apart, |a: V| weighted(sort(a)));
    kinked(Apart, |a: V| weighted(sort(map(|x| x * x * 0.1 + x.sin(), a))));
    smooth(Apart, |a: V| weighted(map(|x| x.sin(), sort_descending(a))));
    smooth(Apart, |a: V| dot(sort(a), sort_descending(a)));
    kinked(Apart, |a: V| weighted(sort(concat(a, map(|x| lit(0.5) - x, a)))));
}

#[test]
fn rows() {
    jacobian(AlsoApart(Even), |a: V| sort(reshape((2, a.shape() / 2), a)));
    jacobian(AlsoApart(Even), |a: V| sort_descending(reshape((a.shape() / 2, 2), a)));
    jacobian(AlsoApart(Even), |a: V| sort(transpose(sort(reshape((2, a.shape() / 2), a)))));
    jacobian(AlsoApart(Even), |a: V| sort(reshape((2, a.shape() / 2, 1), a)));
    smooth(AlsoApart(Even), |a: V| sum_all(scanl1(|x, y| x + y, sort(reshape((2, a.shape() / 2), a)))));
}

/// Checks that both modes agree.
fn modes_agree<I: Refined, M>(_: I, program: impl ArrayFn<M, Args = I::Arrays>) {
    let program = Differentiated::of(&afun(program));
    for_all(move |x: &I::Sample| {
        let x = Arrays::to_tuple(&I::arrays(x));
        let (rows, columns) = (program.rows(&x)?.unwrap_or_default(), program.columns(&x)?);
        for (j, row) in rows.iter().enumerate() {
            for (k, reverse) in row.iter().enumerate() {
                if !same(*reverse, columns[k][j], 0.0) {
                    return Err(format!("d{j}/d{k}: {reverse} in reverse, {} in forward mode", columns[k][j]));
                }
            }
        }
        Ok(())
    });
}

/// If elements are equal, their order after a small change depends on its direction, so there is no derivative. Both
/// modes take the order of the sorted elements themselves.
#[test]
fn ties() {
    modes_agree(FewValues, |a: V| sort(a));
    modes_agree(FewValues, |a: V| sort_descending(a));
    modes_agree((FewValues, FewValues), |a: V, b: V| {
        let (a, b) = same_length(a, b);
        sort_by_key(a, b)
    });
    modes_agree(FewValues, |a: V| sort_by_key(map(|x| x * x, a), map(|x| x * 3.0, a)));
    modes_agree(Any, |a: V| sort(map(|x| x * 0.0, a)));
}

#[test]
fn values_by_key() {
    jacobian((Apart, Any), |a: V, b: V| {
        let (a, b) = same_length(a, b);
        sort_by_key(a, b)
    });
    jacobian((Apart, Any), |a: V, b: V| {
        let (a, b) = same_length(a, b);
        sort_by_key_descending(map(|x| x * 0.5 + 1.0, a), map(|x| x * x, b))
    });
    // Only the keys, or only the values, depend on the argument.
    jacobian(Apart, |a: V| sort_by_key(a, iota(a.shape())).0);
    jacobian(Any, |a: V| sort_by_key(map(|i| i * 7 % 5, iota(a.shape())), a));
    jacobian(Apart, |a: V| sort_by_key(map(|x| x.gt(0.005), a), map(|x| x * x, a)).1);
    // Pairs move together.
    jacobian(Apart, |a: V| sort_by_key(a, map(|x| (x.sin(), x * x), a)).1);
    smooth((Apart, Any), |a: V, b: V| {
        let (a, b) = same_length(a, b);
        weighted(scanl1(|x, y| x + y, sort_by_key(a, b).1))
    });
}

#[test]
fn positions() {
    // The result of the program consists of integers.
    without_numbers(Apart, |a: V| argsort(a));
    without_numbers(Apart, |a: V| argsort_descending(map(|x| x * 2.0, a)));
    // The rank of each element, as a number.
    jacobian(Apart, |a: V| map(|i| i.cast::<f64>(), argsort(argsort(a))));
    smooth(Apart, |a: V| dot(a, map(|i| i.cast::<f64>(), argsort(argsort(a)))));
    kinked(Apart, |a: V| sum(map(|x| x * x, gather(argsort(map(|x| x.cos(), a)), a))));
    kinked(NonEmpty, |a: V| {
        let best = argsort_descending(map(|x| x * x, a));
        map(|i| a.at(i).sin(), slice_inner(0, best))
    });
}

#[test]
fn medians_and_quantiles() {
    smooth(AlsoApart(NonEmpty), |a: V| slice_inner(a.shape() / 2, sort(a)));
    smooth(AlsoApart(NonEmpty), |a: V| {
        let (sorted, place) = (sort(a), (a.shape() - 1).cast::<f64>() * 0.75);
        let low = place.floor();
        let (i, t) = (low.cast::<i64>(), place - low);
        let next = (i + 1).min(a.shape() - 1);
        unit(sorted.at(i) * (lit(1.0) - t) + sorted.at(next) * t)
    });
    // The mean without the two extreme elements.
    smooth(AlsoApart(AtLeast3), |a: V| {
        let inner = init(tail(sort(a)));
        map(|s| s / inner.shape().cast::<f64>(), sum(inner))
    });
    // The median absolute deviation.
    kinked(AlsoApart(NonEmpty), |a: V| {
        let median = |xs: V| the(slice_inner(xs.shape() / 2, sort(xs)));
        let middle = median(a);
        unit(median(map(|x| (x - middle).abs(), a)))
    });
    // The Gini coefficient.
    smooth(AlsoApart(Positive), |a: V| {
        let n = a.shape().cast::<f64>();
        let total = the(sum(a)) + 1.0;
        map(|s| s / (total * (n + 1.0)), sum(imap(|i, x| x * (i.cast::<f64>() * 2.0 - n + 1.0), sort(a))))
    });
}

#[test]
fn inside_of_programs() {
    smooth(Apart, |a: V| weighted(acond(a.shape().gt(3), sort(a), map(|x| x * x, a))));
    smooth(Apart, |a: V| {
        let sorted = sort(a);
        sum(imap(|i, x| x * sorted.at(i), map(|x| x.sin(), a)))
    });
    let program = afun(|a: V| weighted(sort(map(|x| x * x * x * 0.1, a))));
    smooth(Apart, move |a: V| call(&program, map(|x| x * 0.5, a)));
}

/// Derivatives of derivatives. Of a gather, the derivative is a scatter.
#[test]
fn second_derivatives() {
    let second = |program: Afun<Vector<f64>, Scalar<f64>>| {
        let gradient = grad(&program);
        smooth(Apart, move |a: V| dot(call(&gradient, a), map(|x| x.cos(), a)));
        let program = jvp(&program);
        kinked((Apart, Any), move |a: V, b: V| call(&program, same_length(a, b)).1);
    };
    second(afun(|a: V| weighted(map(|x| x * x * x, sort(a)))));
    second(afun(|a: V| weighted(sort_by_key(map(|x| x * 2.0 + 1.0, a), map(|x| x.sin(), a)).1)));
    second(afun(|a: V| dot(sort(a), map(|x| x * x, sort_descending(a)))));
    second(afun(|a: V| sum(map(|x| x * x, scanl1(|x, y| x + y, sort(map(|x| x * 0.1, a)))))));
}
