//! Mistake: a foreign crate says how a table of variables is moved, and gets an equality of different types.
use accel_core::ast::*;
use accel_core::repr::op::Float1;
use frunk::{HCons, HNil};

struct Mine;
type F = HCons<f64, HNil>;
type I = HCons<i64, HNil>;

impl Weaken<Mine, Mine> for IdxF<F> {
    type To = IdxF<I>;
}

/// The variable of type `f64` as one of type `i64` is the same variable.
pub fn forged() -> Equal<f64, i64> {
    let x = Idx::<F, f64>::zero(&Ty::of());
    let y = Env::<IdxF<F>, F>::identity(&Env::<UnitF, _>::empty().push(&(), &Ty::<f64>::of()))
        .recast(Equal::<Mine, Mine>::refl())
        .get(&x);
    y.same(&Idx::<I, i64>::zero(&Ty::of())).expect("both have index 0")
}

/// The sine of an integer.
pub fn sine() -> Exp<HNil, HNil, i64> {
    let float = ScalarTy::of(&Ty::<f64>::of()).and_then(ScalarTy::float).expect("a floating-point type");
    let two = Exp::constant(&Value::of(2), &Ty::of());
    Exp::prim1(Prim1::Float(Float1::Sin, float.cast(forged()), Equal::refl()), &two)
}

fn main() {}
