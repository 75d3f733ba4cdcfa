use accel::prelude::*;

// Half the squared length of A w - b.
pub fn loss(w: Acc<Vector<f64>>, a: Acc<Matrix<f64>>, b: Acc<Vector<f64>>) -> Acc<Scalar<f64>> {
    let residual = zip_with(|y, b| y - b, matvec(a, w), b);
    map(|s| s * 0.5, sum(map(|r| r * r, residual)))
}
