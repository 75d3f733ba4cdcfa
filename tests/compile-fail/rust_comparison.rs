//! Rust's own comparisons return a `bool` of the host. The method is `x.gt(y)`.

use accel::prelude::*;

fn main() {
    afun(|xs: Acc<Vector<f64>>| map(|x| x > 0.0, xs));
}
