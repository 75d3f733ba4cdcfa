//! With auxiliary results, a program returns a pair.

use accel::prelude::*;

fn main() {
    let _ = value_and_grad_with_aux(afun(|xs: Acc<Vector<f64>>| sum(xs)));
}
