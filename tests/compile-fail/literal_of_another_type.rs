//! A literal of another type than the array's elements.

use accel::prelude::*;

fn main() {
    afun(|is: Acc<Vector<i64>>| map(|i| i * 0.5, is));
}
