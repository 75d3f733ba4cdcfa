//! Mistake: the shape of an array is a floating-point number.
use accel_core::ast::*;
use frunk::HNil;

pub fn forged() -> Acc<HNil, Arr<f64, f64>> {
    let x = Exp::constant(&Value::of(2.0), &Ty::of());
    Acc::generate(&ShapeTy::known(), &x, &Fun1(x.weaken(&Thinning::shift())), None)
}

pub fn gathered<A, Sh, T>(a: &Acc<A, Arr<Sh, T>>, f: &Fun1<A, f64, Sh>) -> Acc<A, Arr<f64, T>> {
    let (_, elements) = a.sh_elt();
    let x = Exp::constant(&Value::of(2.0), &Ty::of());
    Acc::backpermute(&elements, &x, f, a, None)
}

fn main() {}
