//! The condition is only known when the program runs: `cond(c, a, b)`.

use accel::prelude::*;

fn main() {
    afun(|xs: Acc<Vector<f64>>| map(|x| if x.gt(0.0) { x } else { -x }, xs));
}
