use accel::prelude::*;

// The sum of squared distances between the points (x, y) and the line y = slope x.
pub fn loss(slope: Acc<Scalar<f64>>, xs: Acc<Vector<f64>>, ys: Acc<Vector<f64>>) -> Acc<Scalar<f64>> {
    let slope = the(slope);
    let errors = zip_with(|x, y| slope * x - y, xs, ys);
    sum(map(|e| e * e, errors))
}
