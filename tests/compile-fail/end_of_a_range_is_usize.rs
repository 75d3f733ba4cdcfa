//! The ends of ranges are `i64`.

use accel::prelude::*;

fn main() {
    let n: usize = 2;
    let _ = afun(|v: Acc<Vector<f64>>| slice(n.., v));
}
