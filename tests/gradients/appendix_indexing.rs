//! Appendix A, the programs that index arrays in scalar code, and two edge cases.

use crate::harness::{V, kinked, smooth};
use crate::refined::{AllNiceRound, Any, AtLeast3, NonEmpty};
use accel::prelude::*;

#[test]
fn aindex_generate_1() {
    smooth(Any, |a: V| {
        let n = a.shape();
        sum(generate(n / 2, |i| a.at(i * 2)))
    });
}

#[test]
fn aindex_generate_2() {
    smooth(Any, |a: V| {
        let n = a.shape();
        sum(generate(n * 2, |i| a.at(i / 2) + a.at((i % 2).min(n - 1))))
    });
}

#[test]
fn aindex_generate_3() {
    smooth(Any, |a: V| {
        let n = a.shape();
        sum(generate(n * 2, |i| cond::<f64>(i.lt(5), a.at(i / 2), 42.0)))
    });
}

#[test]
fn aindex_generate_4() {
    smooth(Any, |a: V| {
        let n = a.shape();
        sum(generate(n * 2, |i| cond::<f64>(i.lt(n), a.at(i), a.at(i - n))))
    });
}

#[test]
fn aindex_map_1() {
    smooth(AtLeast3, |a: V| sum(map(|x| x + a.at(2), a)));
}

/// An index that depends on `x`, for an array of extent `n`.
fn place(x: Exp<f64>, n: Exp<i64>) -> Exp<i64> {
    x.round().cast::<i64>().abs() % n
}

fn aindex_map_2_program(a: V) -> Acc<Scalar<f64>> {
    let n = a.shape();
    sum(map(|x| x + a.at(place(x, n)), a))
}

#[test]
fn aindex_map_2() {
    kinked(Any, aindex_map_2_program);
}

#[test]
fn aindex_map_2_friendly() {
    smooth(AllNiceRound, aindex_map_2_program);
}

#[test]
fn aindex_map_3() {
    kinked(Any, |a: V| {
        let n = a.shape();
        let b = fold(|x, y| x.max(y), -20.0, backpermute((n, n), |(i, j)| i & j, a));
        sum(map(|x| x * b.at(place(x, n)), a))
    });
}

#[test]
fn aindex_map_4() {
    kinked(Any, |a: V| {
        let n = a.shape();
        let b = sum(backpermute((n, n), |(i, j)| (i ^ j).min(n - 1), a));
        sum(map(|x| x * b.at(place(x, n)), a))
    });
}

#[test]
fn aindex_acond() {
    kinked(Any, |a: V| {
        let n = a.shape();
        let s = the(sum(a)).round().cast::<i64>();
        sum(acond(s.ge(0).and(s.lt(n)), generate(1, |_| a.at(s)), generate(1, |_| 0.0)))
    });
}

#[test]
fn aindex_only() {
    smooth(NonEmpty, |a: V| {
        let n = a.shape();
        sum(generate(5, |i| a.at(i % n)))
    });
}

#[test]
fn a_ignore_argument() {
    smooth(Any, |_: V| generate((), |()| 42.0));
}

#[test]
fn nonfloat_lam() {
    kinked(Any, |a: V| {
        let b = map(|x| (x.round().cast::<i64>(), x.sin()), a);
        sum(map(|(i, x)| i.cast::<f64>() * x, b))
    });
}
