//! `by` takes a closure of the whole argument: the pattern is that of a tuple.

use accel::prelude::*;

fn main() {
    let prog = afun(|w: Acc<Vector<f64>>, x: Acc<Vector<f64>>| dot(w, x));
    let _ = grad(prog.by(|w, _| w));
}
