use accel::prelude::*;

pub fn saxpy(a: Acc<Scalar<f32>>, xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>) -> Acc<Vector<f32>> {
    zip_with(|x, y| the(a) * x + y, xs, ys)
}
