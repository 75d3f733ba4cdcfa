//! An array of another rank.

use accel::prelude::*;

fn main() {
    afun(|xs: Acc<Vector<f64>>, m: Acc<Matrix<f64>>| zip_with(|x, y| x * y, xs, m));
}
