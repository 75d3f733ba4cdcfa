//! A function of floats is applied to an integer.

use accel::prelude::*;

fn main() {
    afun(|is: Acc<Vector<i32>>| map(|i| i.sin(), is));
}
