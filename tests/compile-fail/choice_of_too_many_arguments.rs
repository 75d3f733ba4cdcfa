//! The pattern has a component for each argument of the program.

use accel::prelude::*;

fn main() {
    let prog = afun(|w: Acc<Vector<f64>>, x: Acc<Vector<f64>>| dot(w, x));
    let _ = grad(prog.by(|(w, _, _)| w));
}
