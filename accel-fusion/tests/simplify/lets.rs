//! Definitions: dead code, inlining and common subexpressions.

use crate::support::{after, mapped};
use accel_core::prelude::*;
use accel_fusion::Rule;
use insta::assert_snapshot;

#[test]
fn definitions_that_are_not_used() {
    assert_snapshot!(mapped(|x: Exp<f64>| fst(pair(x.sin(), x.cos())), &[Rule::Projection, Rule::DeadScalar]), @"");
    let f = afun(|xs: Acc<Vector<f64>>| {
        let (a, b) = (map(|x| x.sin(), xs), map(|x| x.cos(), xs));
        zip_with(|x, _| x, a, generate(a.shape(), |i| b.at(i)))
    });
    assert_snapshot!(after(&f, &[Rule::DeadArray]), @"");
}

#[test]
fn work_is_not_repeated_and_does_not_leave_its_branch() {
    // Used twice: stays. Used once, in a branch: goes there.
    let f = |x: Exp<f64>| {
        let (twice, once) = (x.sin(), x.cos());
        cond(x.lt(0.0), twice, once) + twice
    };
    assert_snapshot!(mapped(f, &[]), @"");
    // Never into a loop.
    let f = |x: Exp<f64>| {
        let limit = x.sin();
        while_(|y| y.lt(limit), |y| y + 1.0, x)
    };
    assert_snapshot!(mapped(f, &[]), @"");
    // Reads and divisions stay in their branches, also if they occur in both.
    let f = afun(|xs: Acc<Vector<i64>>| map(|x| cond(x.gt(0), xs.at(x) / x, cond(x.lt(-1), xs.at(x) / x, x)), xs));
    assert_snapshot!(after(&f, &[]), @"");
}

#[test]
fn common_subexpressions() {
    assert_snapshot!(mapped(|x: Exp<f64>| (x * 2.0).sin() * (x * 2.0).sin(), &[Rule::CommonScalar]), @"");
    assert_snapshot!(
        mapped(|x: Exp<f64>| x * 2.0 + cond(x.lt(0.0), (lit::<f64>(2.0) * x).sin(), x), &[Rule::CommonScalar]), @"");
    let f = afun(|xs: Acc<Vector<f64>>| zip_with(|a, b| a + b, map(|x| x.sin(), xs), map(|y| y.sin() * 1.0, xs)));
    assert_snapshot!(after(&f, &[Rule::CommonArray]), @"");
}

#[test]
fn arrays_do_not_move_into_loops() {
    let f = afun(|xs: Acc<Vector<f64>>| {
        let limit = map(|x| x.sin(), xs);
        awhile(|a| unit(the(sum(a)).lt(100.0)), |a| zip_with(|x, y| x + y, a, limit), xs)
    });
    assert_snapshot!(after(&f, &[]), @"");
}
