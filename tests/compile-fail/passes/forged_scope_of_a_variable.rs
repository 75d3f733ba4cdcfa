//! Mistake: a foreign crate says how a table of constants is moved, and makes of a number a variable that is not in scope.
use accel_core::ast::*;
use accel_core::repr::RawTy;
use frunk::{HCons, HNil};

struct Mine;

impl Weaken<Mine, Mine> for ConstF<(u32, RawTy)> {
    type To = IdxF<HNil>;
}

/// A variable of the empty environment.
pub fn forged() -> Exp<HNil, HNil, f64> {
    let t = Ty::<f64>::of();
    let table = Env::<ConstF<(u32, RawTy)>, HNil>::empty().push(&(7, t.raw().clone()), &t);
    let moved = table.recast(Equal::<Mine, Mine>::refl());
    Exp::var(&moved.get(&Idx::<HCons<f64, HNil>, f64>::zero(&t)))
}

fn main() {}
