//! Simplified programs give the same results.

use crate::support::{counts, simple};
use accel_ad::grad;
use accel_core::interp::Interpreter;
use accel_core::prelude::*;

#[test]
fn dot_product() {
    let dotp = afun(|xs: Acc<Vector<f64>>, ys: Acc<Vector<f64>>| sum(zip_with(|x, y| x * y, xs, ys)));
    let g = grad(&dotp);
    let (xs, ys) = (Array::vector(vec![1.0, 2.0, 3.0]), Array::vector(vec![4.0, 5.0, 6.0]));
    let (dx, _) = run_with(&Interpreter, &simple(&g), (&xs, &ys)).unwrap();
    assert_eq!(dx.as_slice(), ys.as_slice());
    println!("{g}\n{}\n{:?}", simple(&g), counts(&g));
}
