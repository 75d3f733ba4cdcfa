//! `by` chooses arrays, not elements of them.

use accel::prelude::*;

fn main() {
    let prog = afun(|w: Acc<Vector<f64>>, x: Acc<Vector<f64>>| dot(w, x));
    let _ = grad(prog.by(|(w, _)| w.at(0)));
}
