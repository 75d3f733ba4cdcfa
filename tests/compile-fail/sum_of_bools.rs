//! Booleans cannot be added.

use accel::prelude::*;

fn main() {
    afun(|xs: Acc<Vector<bool>>| sum(xs));
}
