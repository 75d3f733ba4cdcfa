//! `run` takes a program, which `afun` makes of a function.

use accel::prelude::*;

fn main() {
    let total = |xs: Acc<Vector<f64>>| sum(xs);
    let _ = run(total, &Array::vector(vec![1.0, 2.0]));
}
