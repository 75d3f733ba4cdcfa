//! The energy of bodies that attract each other, in four forms that users write.

use accel::prelude::*;

/// The coordinates of the bodies: `n` rows of three.
pub type Bodies = Acc<Matrix<f64>>;

type Body = (Exp<f64>, Exp<f64>, Exp<f64>);

/// What is added to each squared distance.
const SOFTENING: f64 = 1e-3;

/// The energy of two bodies.
fn between((x, y, z): Body, (u, v, w): Body) -> Exp<f64> {
    let square = |x: Exp<f64>| x * x;
    -1.0 / (square(x - u) + square(y - v) + square(z - w) + SOFTENING).sqrt()
}

fn body(bodies: Bodies, i: Exp<i64>) -> Body {
    (bodies.at((i, 0)), bodies.at((i, 1)), bodies.at((i, 2)))
}

fn tuples(bodies: Bodies) -> Acc<Vector<(f64, f64, f64)>> {
    let (n, _) = bodies.shape();
    generate(n, |i| body(bodies, i))
}

/// A matrix of all pairs, of which those with `i < j` count.
pub fn ordered(bodies: Bodies) -> Acc<Scalar<f64>> {
    let (n, _) = bodies.shape();
    sum_all(generate((n, n), |(i, j)| cond(i.lt(j), between(body(bodies, i), body(bodies, j)), 0.0)))
}

/// An array of tuples, read for each pair of different bodies.
pub fn different(bodies: Bodies) -> Acc<Scalar<f64>> {
    let (n, _) = bodies.shape();
    let tuples = tuples(bodies);
    let twice = sum_all(generate((n, n), |(i, j)| cond(i.ne(j), between(tuples.at(i), tuples.at(j)), 0.0)));
    map(|e| e * 0.5, twice)
}

/// Two matrices of tuples, one of equal rows, and one of equal columns.
pub fn replicated(bodies: Bodies) -> Acc<Scalar<f64>> {
    let (n, _) = bodies.shape();
    let tuples = tuples(bodies);
    without_own(n, sum_all(zip_with(between, replicate((n, All), tuples), replicate((All, n), tuples))))
}

/// The coordinates, read for all pairs.
pub fn read(bodies: Bodies) -> Acc<Scalar<f64>> {
    let (n, _) = bodies.shape();
    without_own(n, sum_all(generate((n, n), |(i, j)| between(body(bodies, i), body(bodies, j)))))
}

/// Half of the sum of all pairs, without the pairs of a body and itself.
fn without_own(n: Exp<i64>, twice: Acc<Scalar<f64>>) -> Acc<Scalar<f64>> {
    map(|e| (e + n.cast::<f64>() / SOFTENING.sqrt()) * 0.5, twice)
}
