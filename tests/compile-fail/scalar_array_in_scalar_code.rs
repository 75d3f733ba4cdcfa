//! A `the` is forgotten.

use accel::prelude::*;

fn main() {
    afun(|xs: Acc<Vector<f64>>, s: Acc<Scalar<f64>>| map(|x| x * s, xs));
}
