//! An integer where a floating-point number is needed.

use accel::prelude::*;

fn main() {
    afun(|xs: Acc<Vector<f64>>| xs.max(2));
}
