//! The residuals of all observations and their sparse Jacobian, as programs over arrays.

use super::geometry::{Camera, CameraExp, Vec3, residual, weight_error};
use accel::prelude::*;
use adbench::BaFile;

/// The input of the programs: the cameras, the points, and for each observation the numbers of its camera and its
/// point, its weight, and the place of the point in the image.
pub type Problem<T> = (Vector<Camera<T>>, Vector<(T, T, T)>, Vector<(i64, i64)>, Vector<T>, Vector<(T, T)>);

/// The single camera, point, weight and feature of the file, repeated as often as the file says.
pub fn expanded<T: Floating>(file: &BaFile) -> Problem<T> {
    let [r1, r2, r3, c1, c2, c3, focal, u0, v0, k1, k2] = file.camera.map(T::from_f64);
    let camera = ((r1, r2, r3), (c1, c2, c3), focal, (u0, v0), (k1, k2));
    let [x, y, z] = file.point.map(T::from_f64);
    let [u, v] = file.feature.map(T::from_f64);
    let observed = (0..file.p).map(|i| ((i % file.n) as i64, (i % file.m) as i64));
    (
        Array::vector(vec![camera; file.n]),
        Array::vector(vec![(x, y, z); file.m]),
        Array::vector(observed.collect()),
        Array::vector(vec![T::from_f64(file.weight); file.p]),
        Array::vector(vec![(u, v); file.p]),
    )
}

/// The parameters of a camera, the coordinates of a point, and the weight: the entries of a row of the Jacobian.
const CAMERA: i64 = 11;
const POINT: i64 = 3;
const ROW: i64 = CAMERA + POINT + 1;

/// The reprojection errors and the weight errors of all observations.
pub fn residuals<T: Floating>(problem: Acc<Problem<T>>) -> (Acc<Vector<(T, T)>>, Acc<Vector<T>>) {
    let (cameras, points, observed, weights, features) = problem.unlift();
    let reprojection = generate(observed.shape(), |i| {
        let (camera, point) = observed.at(i);
        residual(cameras.at(camera), points.at(point), weights.at(i), features.at(i))
    });
    (reprojection, map(weight_error, weights))
}

/// The Jacobian of the residuals: two rows for each observation's reprojection error, then one for each weight error.
/// The columns are the parameters of the cameras, the coordinates of the points, and the weights. The sparse matrix
/// consists of the start of each row (and the end of the last one), the columns of its entries, and their values.
pub fn jacobian<T: Floating>(problem: Acc<Problem<T>>) -> (Acc<Vector<i64>>, Acc<Vector<i64>>, Acc<Vector<T>>) {
    let (cameras, points, observed, weights, features) = problem.unlift();
    let (n, m, p) = (cameras.shape(), points.shape(), weights.shape());

    // For each observation the gradients of both components of its reprojection error, 15 numbers each.
    let gradients = generate(p, |i| {
        let (camera, point) = observed.at(i);
        let at = (cameras.at(camera), points.at(point), weights.at(i)).into_exp();
        let by = |component: fn((Exp<T>, Exp<T>)) -> Exp<T>| {
            gradient(|(camera, point, weight)| component(residual(camera, point, weight, features.at(i))), at)
        };
        (by(|error| error.0), by(|error| error.1))
    });

    let entries = generate((p, 2 * ROW), |(i, entry)| {
        let (first, second) = gradients.at(i);
        let entries = [row_entries(first), row_entries(second)].concat();
        choose(entry, 0, &entries)
    });
    let weight_entries = map(|w| gradient(weight_error, w), weights);
    let values = concat(flatten(entries), weight_entries);

    // One array instead of two that are concatenated, since this is the largest result.
    let reprojection_entries = p * (2 * ROW);
    let columns = generate(values.shape(), |entry| {
        let (i, place) = (entry / (2 * ROW), entry % ROW);
        let (camera, point) = observed.at(i);
        let weight_column = |i: Exp<i64>| n * CAMERA + m * POINT + i;
        let point_column = n * CAMERA + point * POINT + (place - CAMERA);
        let others = cond(place.lt(CAMERA + POINT), point_column, weight_column(i));
        let of_reprojection = cond(place.lt(CAMERA), camera * CAMERA + place, others);
        cond(entry.lt(reprojection_entries), of_reprojection, weight_column(entry - reprojection_entries))
    });

    let starts = generate(p * 3 + 1, |row| cond(row.lt(p * 2), row * ROW, p * 2 * ROW + (row - p * 2)));
    (starts, columns, values)
}

/// The entries of a row, sorted by column.
fn row_entries<T: Floating>((camera, point, weight): (CameraExp<T>, Vec3<T>, Exp<T>)) -> Vec<Exp<T>> {
    let (rotation, centre, focal, principal, distortion) = camera;
    vec![
        rotation.0,
        rotation.1,
        rotation.2,
        centre.0,
        centre.1,
        centre.2,
        focal,
        principal.0,
        principal.1,
        distortion.0,
        distortion.1,
        point.0,
        point.1,
        point.2,
        weight,
    ]
}

/// The expression with number `index` of a list whose first number is `first`, found by bisection.
fn choose<T: Floating>(index: Exp<i64>, first: i64, list: &[Exp<T>]) -> Exp<T> {
    if let [only] = list {
        return *only;
    }
    let (left, right) = list.split_at(list.len() / 2);
    let middle = first + left.len() as i64;
    cond(index.lt(middle), choose(index, first, left), choose(index, middle, right))
}
