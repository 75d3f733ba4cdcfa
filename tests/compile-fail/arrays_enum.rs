//! A program has the same arrays in each run.

use accel::prelude::*;

#[derive(Clone, Arrays)]
enum Data {
    Few(Vector<f64>),
    Many(Matrix<f64>),
}

fn main() {}
