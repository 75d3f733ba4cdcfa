//! Mistake: the array is indexed with a variable of its element type.
use accel_core::ast::*;

/// `generate (shape a) (\ix -> a[ix])`
pub fn copy<A, Sh, T>(a: &Idx<A, Arr<Sh, T>>) -> Acc<A, Arr<Sh, T>> {
    let (sh, _element) = a.ty().sh_elt();
    let ix = Exp::var(&Idx::zero(&_element));
    Acc::generate(&sh, &Exp::shape(a), &Fun1(Exp::index(a, &ix, None)), None)
}

fn main() {}
