//! Mistake: an entry of a table is restored at another type.
use accel_core::ast::env::key;
use accel_core::ast::*;
use frunk::{HCons, HNil};

type One = HCons<f64, HNil>;

pub fn forged(x: &Idx<One, f64>) -> Idx<One, i64> {
    IdxF::<One>::unraw(&IdxF::<One>::raw(x, key()), &Default::default(), key())
}

fn main() {}
