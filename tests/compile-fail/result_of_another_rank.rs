//! The sum of a vector is a scalar array.

use accel::prelude::*;

fn total(xs: Acc<Vector<f64>>) -> Acc<Vector<f64>> {
    sum(xs)
}

fn main() {
    afun(total);
}
