//! There is nothing to add.

use accel::prelude::*;

fn main() {
    afun(|xs: Acc<Vector<bool>>| sum(xs));
}
