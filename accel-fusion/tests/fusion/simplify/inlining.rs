//! Definitions: dead code elimination, inlining and common subexpressions.

use super::support::{after, mapped};
use accel_core::prelude::*;
use accel_core::surface::snd;
use accel_fusion::Rule;
use insta::assert_snapshot;

#[test]
fn definitions_that_are_not_used() {
    let f = |x: Exp<f64>| {
        let unused = x.sin() + x.cos();
        snd(cond(x.lt(0.0), pair(unused, x), pair(unused * unused, -x)))
    };
    assert_snapshot!(mapped(f, &[Rule::DeadScalar]), @r"map (\x0 -> if x0 < 0.0 then x0 else -x0) a0");
    let f = afun(|xs: Acc<Vector<f64>>| {
        let (a, b) = (map(|x| x.sin(), xs), map(|x| x.cos(), xs));
        zip_with(|x, _| x, a, generate(a.shape(), |i| b.at(i)))
    });
    assert_snapshot!(after(&f, &[Rule::DeadArray]), @r"map (\x0 -> sin x0) a0");
}

#[test]
fn work_is_not_repeated_and_does_not_leave_its_branch() {
    // A definition that is used twice stays. A definition that is used once, in a branch, moves there.
    let f = |x: Exp<f64>| {
        let (twice, once) = (x.sin(), x.cos());
        cond(x.lt(0.0), twice, once) + twice
    };
    assert_snapshot!(mapped(f, &[]), @r"map (\x0 -> let x1 = sin x0 in (if x0 < 0.0 then x1 else cos x0) + x1) a0");
    // A definition is never moved into a loop.
    let f = |x: Exp<f64>| {
        let limit = x.sin();
        while_(|y| y.lt(limit), |y| y + 1.0, x)
    };
    assert_snapshot!(mapped(f, &[]), @r"map (\x0 -> let x1 = sin x0 in while (\x2 -> x2 < x1) (\x2 -> x2 + 1.0) x0) a0");
    // Reads and divisions stay in their branches, even if they occur in both.
    let f = afun(|xs: Acc<Vector<i64>>| map(|x| cond(x.gt(0), xs.at(x) / x, cond(x.lt(-1), xs.at(x) / x, x)), xs));
    assert_snapshot!(after(&f, &[]), @r"map (\x0 -> if x0 > 0 then a0[x0] / x0 else if x0 < -1 then a0[x0] / x0 else x0) a0");
}

#[test]
fn common_subexpressions() {
    assert_snapshot!(mapped(|x: Exp<f64>| (x * 2.0).sin() * (x * 2.0).sin(), &[Rule::CommonScalar]), @r"map (\x0 -> let x1 = sin (x0 * 2.0) in x1 * x1) a0");
    assert_snapshot!(
        mapped(|x: Exp<f64>| x * 2.0 + cond(x.lt(0.0), (lit::<f64>(2.0) * x).sin(), x), &[Rule::CommonScalar]), @r"map (\x0 -> let x1 = x0 * 2.0 in x1 + (if x0 < 0.0 then sin x1 else x0)) a0");
    let f = afun(|xs: Acc<Vector<f64>>| zip_with(|a, b| a + b, map(|x| x.sin(), xs), map(|y| y.sin() * 1.0, xs)));
    assert_snapshot!(after(&f, &[Rule::CommonArray]), @r"
    let a1 = map (\x0 -> sin x0) a0
    zip_with (\x0 x1 -> x0 + x1) a1 a1
    ");
}

#[test]
fn arrays_do_not_move_into_loops() {
    let f = afun(|xs: Acc<Vector<f64>>| {
        let limit = map(|x| x.sin(), xs);
        awhile(|a| the(sum(a)).lt(100.0), |a| zip_with(|x, y| x + y, a, limit), xs)
    });
    assert_snapshot!(after(&f, &[]), @r"
    let a1 = map (\x0 -> sin x0) a0
    awhile
      (\a2 ->
        let a3 = fold (\x0 x1 -> x0 + x1) 0.0 a2
        generate () (\x0 -> a3[] < 100.0))
      (\a2 -> zip_with (\x0 x1 -> x0 + x1) a2 (agree [all zip_with] (shape a2) (shape a0) a1))
      a0
    ");
}
