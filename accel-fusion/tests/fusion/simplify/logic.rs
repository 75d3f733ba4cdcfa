//! Booleans, comparisons and conditionals.

use super::support::{after, mapped};
use accel_core::prelude::*;
use accel_fusion::Rule;
use insta::assert_snapshot;

#[test]
fn logic_with_constants() {
    assert_snapshot!(mapped(|x: Exp<bool>| (x & true) | false, &[Rule::LogicConstant, Rule::MapIdentity]), @"a0");
    assert_snapshot!(mapped(|x: Exp<bool>| (x & false) | x, &[Rule::LogicConstant]), @"a0");
    assert_snapshot!(mapped(|x: Exp<bool>| (x & x) | !!x, &[Rule::Idempotent, Rule::Negation]), @"a0");
}

#[test]
fn negated_comparisons_unless_nan_matters() {
    assert_snapshot!(mapped(|x: Exp<i64>| !x.lt(3), &[Rule::Negation]), @r"map (\x0 -> x0 >= 3) a0");
    assert_snapshot!(mapped(|x: Exp<f64>| !x.lt(3.0) & !x.eq(4.0), &[Rule::Negation]), @r"map (\x0 -> !(x0 < 3.0) && x0 != 4.0) a0");
}

#[test]
fn comparisons_of_equals() {
    assert_snapshot!(mapped(|x: Exp<i64>| (x * 2).eq(x * 2) & !x.lt(x), &[Rule::CompareSame]), @r"map (\x0 -> true) a0");
    assert_snapshot!(mapped(|x: Exp<f64>| x.eq(x) | x.lt(x), &[Rule::CompareSame]), @r"map (\x0 -> x0 == x0) a0");
}

#[test]
fn conditionals() {
    assert_snapshot!(mapped(|x: Exp<f64>| cond(constant(1i64).lt(2), x.sin(), x.cos()), &[Rule::KnownCondition]), @r"map (\x0 -> sin x0) a0");
    assert_snapshot!(mapped(|x: Exp<f64>| cond(x.lt(0.0), x * 1.0, x), &[Rule::SameBranches]), @"a0");
    assert_snapshot!(mapped(|x: Exp<i64>| cond(x.lt(0), constant(true), constant(false)), &[Rule::BooleanCondition]), @r"map (\x0 -> x0 < 0) a0");
    assert_snapshot!(mapped(|x: Exp<f64>| cond(!x.lt(0.0), x.sin(), x.cos()), &[Rule::BooleanCondition]), @r"map (\x0 -> if x0 < 0.0 then cos x0 else sin x0) a0");
}

#[test]
fn conditionals_of_arrays() {
    let f = afun(|xs: Acc<Vector<f64>>| acond(constant(1i64).lt(2), map(|x| x.sin(), xs), map(|x| x.cos(), xs)));
    assert_snapshot!(after(&f, &[Rule::KnownCondition]), @r"map (\x0 -> sin x0) a0");
    let f = afun(|c: Acc<Scalar<bool>>, xs: Acc<Vector<f64>>| acond(the(c), map(|x| x * 1.0, xs), xs));
    assert_snapshot!(after(&f, &[Rule::SameBranches]), @"a0.1");
}
