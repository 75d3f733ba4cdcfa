//! One step of Newton's method for the centroids of k-means.

use crate::conversions::{matrix, number, rows};
use crate::module::{Failure, Module};
use accel::backend::Backend;
use accel::prelude::*;
use serde::Deserialize;

/// The sum over all points, `[n, d]`, of the squared distance to the nearest of the centroids, `[k, d]`.
pub fn cost(points: Acc<Matrix<f64>>, centroids: Acc<Matrix<f64>>) -> Acc<Scalar<f64>> {
    let nearest = nearest(points, centroids);
    let differences = generate(points.shape(), |(i, j)| points.at((i, j)) - centroids.at((nearest.at(i), j)));
    sum(sum(map(|x| x * x, differences)))
}

/// For each point, the number of the nearest centroid.
fn nearest(points: Acc<Matrix<f64>>, centroids: Acc<Matrix<f64>>) -> Acc<Vector<i64>> {
    let ((n, _), (k, _)) = (points.shape(), centroids.shape());
    let differences = zip_with(|p, c| p - c, replicate((All, k, All), points), replicate((n, All, All), centroids));
    let distances = imap(|(_, j), distance| (distance, j), sum(map(|x| x * x, differences)));
    map(|(_, j)| j, fold1(|(x, i), (y, j)| cond(x.le(y), pair(x, i), pair(y, j)), distances))
}

/// The first derivative of the cost by each coordinate of each centroid, divided by the second.
///
/// A coordinate's derivative depends on no other coordinate, as long as no point changes its centroid: the Hessian is diagonal, and
/// its product with a vector of ones is that diagonal. The product is the forward derivative of the reverse derivative.
pub fn direction(points: Acc<Matrix<f64>>, centroids: Acc<Matrix<f64>>) -> Acc<Matrix<f64>> {
    let gradient = grad(afun(cost).by(|(_, centroids)| centroids));
    let second = jvp(gradient.by(|(_, centroids)| centroids));
    let (first, second) = call(second, ((points, centroids), map(|_| 1.0, centroids)));
    zip_with(|first, second| first / second, first, second)
}

/// The cost, and the direction of Newton's method.
pub fn module(backend: &'static dyn Backend) -> Result<Module, Error> {
    Module::new(backend).function("cost", afun(cost), arguments, number)?.function(
        "dir",
        afun(direction),
        arguments,
        rows,
    )
}

/// The input that the eval sends.
#[derive(Deserialize)]
struct Input {
    points: Vec<Vec<f64>>,
    centroids: Vec<Vec<f64>>,
}

fn arguments(input: Input) -> Result<(Matrix<f64>, Matrix<f64>), Failure> {
    let (points, centroids) = (matrix("points", input.points)?, matrix("centroids", input.centroids)?);
    let ([n, d], [k, of_centroids]): ([usize; 2], [usize; 2]) = (points.shape().into(), centroids.shape().into());
    match (n, k) {
        (1.., 0) => Err(Failure::Input("points without a centroid".into())),
        (1.., _) if d != of_centroids => {
            Err(Failure::Input(format!("points have {d} coordinates and centroids have {of_centroids}")))
        }
        _ => Ok((points, centroids)),
    }
}
