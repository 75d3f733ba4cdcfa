//! A fold removes the innermost dimension, so there must be one.

use accel::prelude::*;

fn main() {
    afun(|x: Acc<Scalar<f64>>| sum(x));
}
