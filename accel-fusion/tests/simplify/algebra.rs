//! Constant folding and identities of numbers.

use crate::support::mapped;
use accel_core::prelude::*;
use accel_fusion::Rule;
use insta::assert_snapshot;

#[test]
fn neutral_elements() {
    assert_snapshot!(mapped(|x: Exp<f64>| (x * 1.0).sin() / 1.0 - 0.0, &[Rule::Neutral]), @"");
    assert_snapshot!(mapped(|x: Exp<f64>| lit::<f64>(1.0) * (x + -0.0), &[Rule::Neutral, Rule::MapIdentity]), @"");
    assert_snapshot!(mapped(|x: Exp<i64>| ((x + 0) * 1 - 0) / 1, &[Rule::Neutral, Rule::MapIdentity]), @"");
    assert_snapshot!(mapped(|x: Exp<i32>| ((x | 0) ^ 0) << 0, &[Rule::Neutral, Rule::MapIdentity]), @"");
}

#[test]
fn what_does_not_hold_in_ieee_arithmetic_stays() {
    assert_snapshot!(mapped(|x: Exp<f64>| (x + 0.0) * 0.0 - x / x + (x - x), &[]), @"");
    assert_snapshot!(mapped(|x: Exp<f64>| lit::<f64>(0.0) - x, &[]), @"");
}

#[test]
fn annihilation_of_integers() {
    assert_snapshot!(mapped(|x: Exp<i64>| x * 0 + (x - x) + x % 1 + x.rem_euclid(1), &[Rule::Annihilate]), @"");
    assert_snapshot!(mapped(|x: Exp<u8>| (x ^ x) | (x & 0), &[Rule::Annihilate]), @"");
}

#[test]
fn signs() {
    assert_snapshot!(mapped(|x: Exp<f64>| -(-x.sin()), &[Rule::Sign]), @"");
    assert_snapshot!(mapped(|x: Exp<f64>| (x + -x.sin()) - -x.cos(), &[Rule::Sign]), @"");
    assert_snapshot!(mapped(|x: Exp<f64>| -x + x.sin() * -1.0, &[Rule::Sign]), @"");
    assert_snapshot!(mapped(|x: Exp<f64>| (-x * -x.sin()).abs() + (-x).abs(), &[Rule::Sign]), @"");
    assert_snapshot!(mapped(|x: Exp<i64>| lit::<i64>(0) - x, &[Rule::Sign]), @"");
}

#[test]
fn constants_are_folded_and_errors_stay() {
    assert_snapshot!(mapped(|x: Exp<f64>| x * (lit::<f64>(2.0).sqrt() * 2.0 + 1.0), &[Rule::ConstantFold]), @"");
    assert_snapshot!(mapped(|x: Exp<i64>| x + lit::<i64>(7) / 2 + lit::<i64>(1) / 0, &[Rule::ConstantFold]), @"");
    assert_snapshot!(mapped(|x: Exp<u8>| x + lit::<u8>(200) + lit::<u8>(100), &[Rule::Reassociate]), @"");
    assert_snapshot!(mapped(|x: Exp<i64>| (x - 3) + 5 - 2 + 1, &[Rule::Reassociate]), @"");
}

#[test]
fn idempotence_and_casts() {
    assert_snapshot!(mapped(|x: Exp<f64>| x.sin().max(x.sin()).min(x.sin()), &[Rule::Idempotent]), @"");
    assert_snapshot!(mapped(|x: Exp<i64>| (x & x) | x, &[Rule::Idempotent]), @"");
    assert_snapshot!(mapped(|x: Exp<f64>| x.cast::<f64>().abs().abs(), &[Rule::CastSame, Rule::Idempotent]), @"");
}
