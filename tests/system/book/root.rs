use accel::prelude::*;
use accel::surface::named;

// The square root of a, with as many steps of Newton's method as it takes.
pub fn root(a: Acc<Scalar<f64>>) -> Acc<Scalar<f64>> {
    let step = |x: Acc<Scalar<f64>>| named("x", zip_with(|x, a| (x + a / x) * 0.5, x, a));
    awhile(|x| (the(x) * the(x) - the(a)).abs().gt(1e-9), step, a)
}
