//! A fold takes the innermost dimension away, so there has to be one.

use accel::prelude::*;

fn main() {
    afun(|x: Acc<Scalar<f64>>| sum(x));
}
