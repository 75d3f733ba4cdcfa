//! A vector beside a matrix: the axis is not said.

use accel::prelude::*;

fn main() {
    afun(|m: Acc<Matrix<f64>>, v: Acc<Vector<f64>>| m + v);
}
