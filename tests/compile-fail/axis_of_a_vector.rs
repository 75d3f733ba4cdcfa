//! A vector has only one axis.

use accel::prelude::*;

fn main() {
    afun(|v: Acc<Vector<f64>>| sum(v.axis::<1>()));
}
