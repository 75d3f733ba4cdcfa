//! Identities of numbers.

use crate::support::mapped;
use accel_core::prelude::*;
use accel_fusion::Rule;
use insta::assert_snapshot;

#[test]
fn neutral_elements() {
    assert_snapshot!(mapped(|x: Exp<f64>| (x * 1.0).sin() / 1.0 - 0.0, &[Rule::Neutral]), @"");
    assert_snapshot!(mapped(|x: Exp<i64>| (x + 0) * 1, &[Rule::Neutral]), @"");
}
