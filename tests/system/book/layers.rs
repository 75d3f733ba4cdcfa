use accel::prelude::*;
use accel::surface::named;

// A network of layers without biases: row k of `weights` is the matrix of layer k. The loss is the squared length of the
// output.
pub fn loss(weights: Acc<Array<Dim3, f64>>, x: Acc<Vector<f64>>) -> Acc<Scalar<f64>> {
    let layer = |h: Acc<Vector<f64>>, w: Acc<Matrix<f64>>| {
        let out = map(|z| cond(z.gt(0.0), z, z * 0.2), matvec(w, h));
        (named("h", out), ())
    };
    let (out, _) = map_accum_l(layer, x, weights);
    sum(map(|y| y * y, out))
}
