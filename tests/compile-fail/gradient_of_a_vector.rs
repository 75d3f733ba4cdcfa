//! The gradient is that of one number; a vector has a Jacobian (`vjp`, `jvp`).

use accel::prelude::*;

fn main() {
    let prog = afun(|xs: Acc<Vector<f64>>| map(|x| x * x, xs));
    let _ = run(grad(&prog), &Array::vector(vec![1.0f64]));
}
