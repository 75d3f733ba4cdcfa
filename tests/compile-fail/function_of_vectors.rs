//! Only programs of arrays of rank 0 are functions of scalars. (rustc gives the same reason if `call` is used, but its
//! name for `Compiled` depends on the features.)

use accel::prelude::*;

fn twice<A: Numbers>(f: &Compiled<A, A>, x: A::Values) -> A::Values {
    f.call(f.call(x).unwrap()).unwrap()
}

fn main() {
    let double = compile(afun(|xs: Acc<Vector<f64>>| map(|x| x * 2.0, xs))).unwrap();
    twice(&double, 3.0);
}
