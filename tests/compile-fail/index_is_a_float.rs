//! Indices are `i64`.

use accel::prelude::*;

fn main() {
    afun(|xs: Acc<Vector<f64>>| map(|x| xs.at(x), xs));
}
