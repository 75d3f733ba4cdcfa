//! The sum of a scaled vector and another vector.

use accel::prelude::*;

/// `a x + y`.
pub fn axpy<T: Floating>(a: Acc<Scalar<T>>, xs: Acc<Vector<T>>, ys: Acc<Vector<T>>) -> Acc<Vector<T>> {
    zip_with(|x, y| the(a) * x + y, xs, ys)
}
