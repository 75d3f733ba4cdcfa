//! Booleans, comparisons and conditionals.

use crate::support::{after, mapped};
use accel_core::prelude::*;
use accel_fusion::Rule;
use insta::assert_snapshot;

#[test]
fn logic_with_constants() {
    assert_snapshot!(mapped(|x: Exp<bool>| (x & true) | false, &[Rule::LogicConstant, Rule::MapIdentity]), @"");
    assert_snapshot!(mapped(|x: Exp<bool>| (x & false) | x, &[Rule::LogicConstant]), @"");
    assert_snapshot!(mapped(|x: Exp<bool>| (x & x) | !!x, &[Rule::Idempotent, Rule::Negation]), @"");
}

#[test]
fn negated_comparisons_unless_nan_matters() {
    assert_snapshot!(mapped(|x: Exp<i64>| !x.lt(3), &[Rule::Negation]), @"");
    assert_snapshot!(mapped(|x: Exp<f64>| !x.lt(3.0) & !x.eq(4.0), &[Rule::Negation]), @"");
}

#[test]
fn comparisons_of_equals() {
    assert_snapshot!(mapped(|x: Exp<i64>| (x * 2).eq(x * 2) & !x.lt(x), &[Rule::CompareSame]), @"");
    assert_snapshot!(mapped(|x: Exp<f64>| x.eq(x) | x.lt(x), &[Rule::CompareSame]), @"");
}

#[test]
fn conditionals() {
    assert_snapshot!(mapped(|x: Exp<f64>| cond(lit::<i64>(1).lt(2), x.sin(), x.cos()), &[Rule::KnownCondition]), @"");
    assert_snapshot!(mapped(|x: Exp<f64>| cond(x.lt(0.0), x * 1.0, x), &[Rule::SameBranches]), @"");
    assert_snapshot!(mapped(|x: Exp<i64>| cond(x.lt(0), lit(true), lit(false)), &[Rule::BooleanCondition]), @"");
    assert_snapshot!(mapped(|x: Exp<f64>| cond(!x.lt(0.0), x.sin(), x.cos()), &[Rule::BooleanCondition]), @"");
}

#[test]
fn conditionals_of_arrays() {
    let f = afun(|xs: Acc<Vector<f64>>| acond(lit::<i64>(1).lt(2), map(|x| x.sin(), xs), map(|x| x.cos(), xs)));
    assert_snapshot!(after(&f, &[Rule::KnownCondition]), @"");
    let f = afun(|c: Acc<Scalar<bool>>, xs: Acc<Vector<f64>>| acond(the(c), map(|x| x * 1.0, xs), xs));
    assert_snapshot!(after(&f, &[Rule::SameBranches]), @"");
}
