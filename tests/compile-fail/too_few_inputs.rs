//! A program of two arguments is run on two arrays.

use accel::prelude::*;

fn main() {
    let prog = afun(|xs: Acc<Vector<f64>>, ys: Acc<Vector<f64>>| dot(xs, ys));
    let _ = run(&prog, &Array::vector(vec![1.0f64]));
}
