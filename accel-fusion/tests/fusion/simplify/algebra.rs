//! Constant folding and identities of numbers.
#![allow(clippy::erasing_op, clippy::modulo_one, clippy::identity_op, reason = "what the rules are for")]

use super::support::mapped;
use accel_core::prelude::*;
use accel_fusion::Rule;
use insta::assert_snapshot;

#[test]
fn neutral_elements() {
    assert_snapshot!(mapped(|x: Exp<f64>| (x * 1.0).sin() / 1.0 - 0.0, &[Rule::Neutral]), @r"map (\x0 -> sin x0) a0");
    assert_snapshot!(mapped(|x: Exp<f64>| lit::<f64>(1.0) * (x + -0.0), &[Rule::Neutral, Rule::MapIdentity]), @"a0");
    assert_snapshot!(mapped(|x: Exp<i64>| ((x + 0) * 1 - 0) / 1, &[Rule::Neutral, Rule::MapIdentity]), @"a0");
    assert_snapshot!(mapped(|x: Exp<i32>| ((x | 0) ^ 0) << 0, &[Rule::Neutral, Rule::MapIdentity]), @"a0");
}

#[test]
fn what_does_not_hold_in_ieee_arithmetic_stays() {
    assert_snapshot!(mapped(|x: Exp<f64>| (x + 0.0) * 0.0 - x / x + (x - x), &[]), @r"map (\x0 -> (x0 + 0.0) * 0.0 - x0 / x0 + (x0 - x0)) a0");
    assert_snapshot!(mapped(|x: Exp<f64>| lit::<f64>(0.0) - x, &[]), @r"map (\x0 -> 0.0 - x0) a0");
}

#[test]
fn annihilation_of_integers() {
    assert_snapshot!(mapped(|x: Exp<i64>| x * 0 + (x - x) + x % 1 + x.rem_euclid(1), &[Rule::Annihilate]), @r"map (\x0 -> 0) a0");
    assert_snapshot!(mapped(|x: Exp<u8>| (x ^ x) | (x & 0), &[Rule::Annihilate]), @r"map (\x0 -> 0u8) a0");
}

#[test]
fn signs() {
    assert_snapshot!(mapped(|x: Exp<f64>| -(-x.sin()), &[Rule::Sign]), @r"map (\x0 -> sin x0) a0");
    assert_snapshot!(mapped(|x: Exp<f64>| (x + -x.sin()) - -x.cos(), &[Rule::Sign]), @r"map (\x0 -> x0 - sin x0 + cos x0) a0");
    assert_snapshot!(mapped(|x: Exp<f64>| -x + x.sin() * -1.0, &[Rule::Sign]), @r"map (\x0 -> -x0 - sin x0) a0");
    assert_snapshot!(mapped(|x: Exp<f64>| (-x * -x.sin()).abs() + (-x).abs(), &[Rule::Sign]), @r"map (\x0 -> abs (x0 * sin x0) + abs x0) a0");
    assert_snapshot!(mapped(|x: Exp<i64>| constant(0i64) - x, &[Rule::Sign]), @r"map (\x0 -> -x0) a0");
}

#[test]
fn constants_are_folded_and_errors_stay() {
    assert_snapshot!(mapped(|x: Exp<f64>| x * (lit::<f64>(2.0).sqrt() * 2.0 + 1.0), &[Rule::ConstantFold]), @r"map (\x0 -> x0 * 3.8284271247461903) a0");
    assert_snapshot!(mapped(|x: Exp<i64>| x + constant(7i64) / 2 + constant(1i64) / 0, &[Rule::ConstantFold]), @r"map (\x0 -> x0 + 3 + 1 / 0) a0");
    assert_snapshot!(mapped(|x: Exp<u8>| x + constant(200u8) + constant(100u8), &[Rule::Reassociate]), @r"map (\x0 -> x0 + 44u8) a0");
    assert_snapshot!(mapped(|x: Exp<i64>| (x - 3) + 5 - 2 + 1, &[Rule::Reassociate]), @r"map (\x0 -> x0 + 1) a0");
}

#[test]
fn idempotence_and_casts() {
    assert_snapshot!(mapped(|x: Exp<f64>| x.sin().max(x.sin()).min(x.sin()), &[Rule::Idempotent]), @r"map (\x0 -> sin x0) a0");
    assert_snapshot!(mapped(|x: Exp<i64>| (x & x) | x, &[Rule::Idempotent]), @"a0");
    assert_snapshot!(mapped(|x: Exp<f64>| x.cast::<f64>().abs().abs(), &[Rule::CastSame, Rule::Idempotent]), @r"map (\x0 -> abs x0) a0");
}
