//! Both branches have the type of the result.

use accel::prelude::*;

fn main() {
    afun(|xs: Acc<Vector<f64>>| map(|x| cond(x.gt(0.0), x, x.floor().cast::<i64>()), xs));
}
