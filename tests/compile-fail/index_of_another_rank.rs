//! A matrix has two indices.

use accel::prelude::*;

fn main() {
    afun(|m: Acc<Matrix<f64>>| generate(3, |i| m.at(i)));
}
