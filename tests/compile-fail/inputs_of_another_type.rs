//! The arrays that a program is run on have its argument types.

use accel::prelude::*;

fn main() {
    let prog = afun(|xs: Acc<Vector<f64>>, ys: Acc<Vector<f64>>| dot(xs, ys));
    let (xs, ys) = (Array::vector(vec![1.0f32]), Array::vector(vec![1.0f64]));
    let _ = run(&prog, (&xs, &ys));
}
