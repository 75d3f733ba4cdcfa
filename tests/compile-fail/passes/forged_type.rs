//! Mistake: a foreign crate has representation types of its own, which look like others.
use accel_core::ast::*;
use accel_core::repr::{RawTy, Scalars};

struct Mine;

impl Repr for Mine {
    fn raw() -> RawTy {
        f64::raw()
    }
    fn zeros(_: &mut Scalars) {}
}

pub fn of_a_pair() -> Ty<(f64, Mine)> {
    Ty::of()
}

pub fn of_an_array() -> Ty<Arr<(), Mine>> {
    Ty::of()
}

fn main() {}
