//! A literal of the wrong kind.

use accel::prelude::*;

fn main() {
    afun(|is: Acc<Vector<i64>>| map(|i| i * 0.5, is));
}
