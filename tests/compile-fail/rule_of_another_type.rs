//! The rule returns the adjoint of the argument, a vector; the adjoint of the result is a number.

use accel::prelude::*;

fn main() {
    let total = custom_vjp(|x: Acc<Vector<f64>>| sum(x), |_, _, dy| dy);
    let _ = run(grad(&total), &Array::vector(vec![1.0f64]));
}
