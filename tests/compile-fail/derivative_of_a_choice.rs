//! The derivative has the type of the chosen part.

use accel::prelude::*;

fn main() -> Result<(), Error> {
    let prog = afun(|w: Acc<Vector<f64>>, m: Acc<Matrix<f64>>| sum(matvec(m, w)));
    let (w, m) = (Array::vector(vec![1.0]), Array::matrix(1, 1, vec![1.0])?);
    let _: Matrix<f64> = run(grad(prog.by(|(w, _)| w)), (&w, &m))?;
    Ok(())
}
