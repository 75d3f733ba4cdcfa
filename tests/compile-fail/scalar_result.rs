//! An array program returns arrays.

use accel::prelude::*;

fn main() {
    afun(|xs: Acc<Vector<f64>>| xs.at(0));
}
