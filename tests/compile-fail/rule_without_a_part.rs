//! The function has two arguments, so its rule returns two adjoints.

use accel::prelude::*;

fn main() {
    let program = afun(|x: Acc<Vector<f64>>, y: Acc<Vector<f64>>| {
        let product = custom_vjp(|(x, y): (Exp<f64>, Exp<f64>)| x * y, |(_, y), _, dz| y * dz);
        zip_with(|x, y| product((x, y)), x, y)
    });
    let _ = run(&program, (&Array::vector(vec![1.0f64]), &Array::vector(vec![1.0f64])));
}
