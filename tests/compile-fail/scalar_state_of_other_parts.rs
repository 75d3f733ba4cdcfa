//! A step in scalar code returns the parts of the state.

use accel::prelude::*;

fn main() {
    afun(|xs: Acc<Vector<f64>>| map(|x| while_(|(k, _)| k.lt(3), |(k, y)| y * 2.0, (0i64, x)).1, xs));
}
