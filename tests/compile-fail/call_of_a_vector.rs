//! Only programs without dimensions are functions of numbers.
use accel::prelude::*;

fn main() {
    let double = compile(afun(|xs: Acc<Vector<f64>>| map(|x| x * 2.0, xs))).unwrap();
    double.call(3.0).unwrap();
}
