//! A closure for `map` returns a scalar.

use accel::prelude::*;

fn main() {
    afun(|m: Acc<Matrix<f64>>, xs: Acc<Vector<i64>>| map(|i| slice((i, All), m), xs));
}
