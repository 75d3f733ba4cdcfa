//! Mistake: a foreign crate says how tables of expressions, array computations and tangents are moved.
use accel_core::ast::*;
use frunk::{HCons, HNil};

struct Mine;
type One = HCons<f64, HNil>;

impl Weaken<Mine, HNil> for ExpF<One, HNil> {
    type To = ExpF<HNil, One>;
}
impl Weaken<Mine, HNil> for AccF<One> {
    type To = AccF<HNil>;
}
impl Weaken<HNil, Mine> for TanF<One> {
    type To = TanF<HNil>;
}

fn main() {}
