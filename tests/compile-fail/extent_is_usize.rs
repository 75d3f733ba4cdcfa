//! Extents in a program are `i64`.

use accel::prelude::*;

fn main() {
    let n: usize = 10;
    afun(|x: Acc<Scalar<f64>>| fill(n, the(x)));
}
