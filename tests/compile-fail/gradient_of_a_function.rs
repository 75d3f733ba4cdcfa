//! `grad` takes a program, which `afun` makes of a function.

use accel::prelude::*;

fn total(xs: Acc<Vector<f64>>) -> Acc<Scalar<f64>> {
    sum(xs)
}

fn main() {
    let _ = grad(&total);
}
