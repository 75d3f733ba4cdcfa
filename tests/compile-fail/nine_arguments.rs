//! A function takes at most eight arguments: more of them go into a record.

use accel::prelude::*;

type S = Acc<Scalar<f64>>;

fn main() {
    afun(|a: S, b: S, c: S, d: S, e: S, f: S, g: S, h: S, i: S| a + b + c + d + e + f + g + h + i);
}
