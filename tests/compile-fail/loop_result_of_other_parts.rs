//! The result of a loop has the parts of its state.

use accel::prelude::*;

fn main() {
    afun(|xs: Acc<Vector<f64>>| {
        let (_, _, ys) = awhile(|(k, _)| the(k).lt(3), |(k, xs)| (k + 1, xs * 2.0), (unit(0i64), xs));
        ys
    });
}
