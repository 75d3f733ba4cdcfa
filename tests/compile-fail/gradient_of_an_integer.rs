//! Only floats have a gradient.

use accel::prelude::*;

fn main() {
    let prog = afun(|xs: Acc<Vector<i64>>| sum(xs));
    let _ = run(grad(&prog), &Array::vector(vec![1i64]));
}
