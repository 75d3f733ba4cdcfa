//! Conditionals that exclude points where the other branch is infinite or no number. The compiler computes both branches
//! and selects one; values and derivatives are those of the branch that is taken.

use crate::harness::{V, smooth};
use crate::refined::{AllNonZero, Any};
use accel::prelude::*;

/// Sums of all pairs of elements: `f` of their difference, or 0 where the condition does not hold.
fn pairs(
    a: V,
    condition: impl Fn(Exp<i64>, Exp<i64>) -> Exp<bool>,
    f: impl Fn(Exp<f64>) -> Exp<f64>,
) -> Acc<Scalar<f64>> {
    let n = a.shape();
    // Different elements differ.
    let place = |i: Exp<i64>| a.at(i) * 0.1 + i.cast::<f64>() * 4.0;
    sum_all(generate((n, n), |(i, j)| cond::<f64>(condition(i, j), f(place(i) - place(j)), 0.0)))
}

#[test]
fn an_element_and_itself() {
    let inverse = |d: Exp<f64>| 1.0 / (d * d).sqrt();
    smooth(Any, move |a: V| pairs(a, |i, j| i.ne(j), inverse));
    smooth(Any, move |a: V| pairs(a, |i, j| i.lt(j), inverse));
    smooth(Any, move |a: V| pairs(a, |i, j| i.lt(j).or(j.lt(i)), |d| (d * d).ln()));
    smooth(Any, move |a: V| pairs(a, |i, j| i.eq(j).not(), |d| (d * d).sqrt()));
}

#[test]
fn what_has_no_root_or_logarithm() {
    smooth(AllNonZero, |a: V| sum(map(|x| cond::<f64>(x.gt(0.0), x.sqrt(), x * x), a)));
    smooth(AllNonZero, |a: V| sum(map(|x| cond::<f64>(x.gt(0.0), x.ln(), 1.0 / x), a)));
    smooth(Any, |a: V| sum(map(|x| cond::<f64>(x.eq(0.0), 1.0, x.sin() / x), a)));
}

#[test]
fn a_conditional_in_a_branch() {
    smooth(AllNonZero, |a: V| {
        sum(map(
            |x| cond::<f64>(x.gt(0.0), x.sqrt(), cond::<f64>(x.lt(-1.0), (-1.0 - x).sqrt() * (x + 1.0), x + 1.0)),
            a,
        ))
    });
}
