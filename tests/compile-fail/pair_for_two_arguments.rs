//! `fold` calls its operator with two arguments, not with a pair.

use accel::prelude::*;

fn main() {
    afun(|xs: Acc<Vector<f64>>| fold(|(x, y)| x + y, 0.0, xs));
}
