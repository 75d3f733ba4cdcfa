//! Rust's own comparisons result in a `bool` of the host: `x.gt(y)`.

use accel::prelude::*;

fn main() {
    afun(|xs: Acc<Vector<f64>>| map(|x| x > 0.0, xs));
}
