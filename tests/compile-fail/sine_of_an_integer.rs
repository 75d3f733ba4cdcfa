//! Functions of the other kind of number.

use accel::prelude::*;

fn main() {
    afun(|is: Acc<Vector<i32>>| map(|i| i.sin(), is));
}
