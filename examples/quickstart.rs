//! The dot product of two vectors, and its derivatives by both.

use accel::prelude::*;

fn dotp(xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>) -> Acc<Scalar<f32>> {
    sum(zip_with(|x, y| x * y, xs, ys))
}

fn main() -> Result<(), Error> {
    let xs = Array::vector(vec![1.0, 2.0, 3.0]);
    let ys = Array::vector(vec![4.0, 5.0, 6.0]);

    let prog = afun(dotp);
    let y = run(&prog, (&xs, &ys))?;
    let (dxs, dys) = run(grad(&prog), (&xs, &ys))?;

    println!("{prog}");
    println!("value      {y}");
    println!("by xs      {dxs}");
    println!("by ys      {dys}");
    Ok(())
}
