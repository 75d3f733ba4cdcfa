//! Mistake: a foreign crate defines the structure of a pair type with a type of its own.
use accel_core::ast::*;
use accel_core::repr::{RawTy, Scalars};

struct Mine;

impl Repr for (f64, Mine) {
    fn raw() -> RawTy {
        <(f64, f64)>::raw()
    }
    fn zeros(_: &mut Scalars) {}
}

impl Repr for Arr<(), Mine> {
    fn raw() -> RawTy {
        Arr::<(), f64>::raw()
    }
    fn zeros(_: &mut Scalars) {}
}

fn main() {}
