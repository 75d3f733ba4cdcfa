//! Inputs are references.

use accel::prelude::*;

fn main() {
    let prog = afun(|xs: Acc<Vector<f64>>| sum(xs));
    let _ = run(&prog, Array::vector(vec![1.0f64]));
}
