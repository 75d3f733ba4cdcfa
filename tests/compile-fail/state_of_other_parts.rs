//! A step returns the parts of the state.

use accel::prelude::*;

fn main() {
    afun(|xs: Acc<Vector<f64>>| aiterate(3, |(xs, total)| xs * total, (xs, sum(xs))));
}
