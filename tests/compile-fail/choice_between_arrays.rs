//! `cond` chooses between numbers.

use accel::prelude::*;

fn main() {
    afun(|xs: Acc<Vector<f64>>| cond(xs.at(0).gt(0.0), xs, reverse(xs)));
}
