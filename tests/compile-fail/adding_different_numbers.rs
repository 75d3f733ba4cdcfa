//! Nothing is converted silently: `x.cast()` does it.

use accel::prelude::*;

fn main() {
    afun(|xs: Acc<Vector<f32>>, is: Acc<Vector<i64>>| zip_with(|x, i| x + i, xs, is));
}
