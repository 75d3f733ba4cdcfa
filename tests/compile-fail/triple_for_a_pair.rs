//! A closure takes apart more components than there are.

use accel::prelude::*;

fn main() {
    afun(|xys: Acc<Vector<(f64, f64)>>| map(|(x, y, z)| x + y + z, xys));
}
