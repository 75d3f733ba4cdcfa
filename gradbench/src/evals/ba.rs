//! Bundle adjustment: the distances between the places at which cameras see points and the observed places, and their
//! sparse Jacobian.

use crate::module::{Failure, Module, fits};
use crate::space::{Vec3, add, cross, dot3, scale, sub};
use accel::backend::Backend;
use accel::prelude::*;
use adbench::ba_bytes;
use serde::{Deserialize, Serialize};

/// A point in the image.
type Vec2 = (Exp<f64>, Exp<f64>);

/// A camera.
#[derive(Clone, Debug, Elt)]
pub struct Camera {
    /// Axis of rotation, times the angle.
    pub rotation: (f64, f64, f64),
    /// Its position.
    pub centre: (f64, f64, f64),
    /// Focal length.
    pub focal: f64,
    /// Principal point.
    pub principal: (f64, f64),
    /// Radial distortion, of second and fourth order.
    pub distortion: (f64, f64),
}

/// Cameras, points, and for each of p observations the numbers of its camera and its point, its weight, and the place
/// of the point in the image.
#[derive(Clone, Debug, Arrays)]
pub struct Scene {
    /// `[n]`
    pub cameras: Vector<Camera>,
    /// `[m]`
    pub points: Vector<(f64, f64, f64)>,
    /// `[p]`
    pub observed: Vector<(i64, i64)>,
    /// `[p]`
    pub weights: Vector<f64>,
    /// `[p]`
    pub features: Vector<(f64, f64)>,
}

/// The rows of a sparse matrix, one after the other.
#[derive(Clone, Debug, Arrays)]
pub struct SparseRows {
    /// The start of each row, and the end of the last one.
    pub starts: Vector<i32>,
    /// The columns of the entries.
    pub columns: Vector<i32>,
    /// The entries.
    pub values: Vector<f64>,
}

/// The weighted reprojection error: the distance from `feature` to the place at which the camera sees `point`.
fn residual(camera: CameraExp, point: Vec3, weight: Exp<f64>, feature: Vec2) -> Vec2 {
    let seen = project(camera, point);
    (weight * (seen.0 - feature.0), weight * (seen.1 - feature.1))
}

/// The error that keeps the weights close to one.
fn weight_error(weight: Exp<f64>) -> Exp<f64> {
    1.0 - weight * weight
}

fn project(camera: CameraExp, point: Vec3) -> Vec2 {
    let (x, y, z) = rotate(camera.rotation, sub(point, camera.centre));
    let (u, v) = distort(camera.distortion, (x / z, y / z));
    let (u0, v0) = camera.principal;
    (u * camera.focal + u0, v * camera.focal + v0)
}

/// Radial lens distortion.
fn distort((k1, k2): Vec2, (u, v): Vec2) -> Vec2 {
    let square = u * u + v * v;
    let factor = 1.0 + k1 * square + k2 * square * square;
    (u * factor, v * factor)
}

/// Rotates `x` about the axis `r` by the angle |r|, with the formula of Rodrigues. It divides by zero at r = 0. There,
/// the first-order approximation has the same value and the same derivatives.
fn rotate(r: Vec3, x: Vec3) -> Vec3 {
    let square = dot3(r, r);
    let angle = square.sqrt();
    let axis = (r.0 / angle, r.1 / angle, r.2 / angle);
    let (cos, sin) = (angle.cos(), angle.sin());
    let along = dot3(axis, x) * (1.0 - cos);
    let turned = add(add(scale(cos, x), scale(sin, cross(axis, x))), scale(along, axis));
    cond(square.eq(0.0), add(x, cross(r, x)), turned).unlift()
}

/// The reprojection errors and the weight errors of all observations.
pub fn objective(scene: Acc<Scene>) -> (Acc<Vector<(f64, f64)>>, Acc<Vector<f64>>) {
    let SceneAcc { cameras, points, observed, weights, features } = scene.unlift();
    let reprojection = generate(observed.shape(), |i| {
        let (camera, point) = observed.at(i);
        residual(cameras.at(camera), points.at(point), weights.at(i), features.at(i))
    });
    (reprojection, map(weight_error, weights))
}

/// The parameters of a camera, the coordinates of a point, and the weight: the entries of a row of a reprojection
/// error.
const CAMERA: i64 = 11;
const POINT: i64 = 3;
const ROW: i64 = CAMERA + POINT + 1;

/// The Jacobian of the objective: two rows for each observation's reprojection error, then one for each weight error. The columns
/// are the parameters of the cameras, the coordinates of the points, and the weights.
pub fn jacobian(scene: Acc<Scene>) -> SparseRowsAcc {
    let SceneAcc { cameras, points, observed, weights, features } = scene.unlift();
    let (n, m, p) = (cameras.shape(), points.shape(), weights.shape());

    // For each observation, the gradients of both components of its reprojection error.
    let gradients = generate(p, |i| {
        let (camera, point) = observed.at(i);
        let at = (cameras.at(camera), points.at(point), weights.at(i)).into_exp();
        let by = |component: fn(Vec2) -> Exp<f64>| {
            gradient(|(camera, point, weight)| component(residual(camera, point, weight, features.at(i))), at)
        };
        (by(|error| error.0), by(|error| error.1))
    });
    let entries = generate((p, 2 * ROW), |(i, entry)| {
        let (first, second) = gradients.at(i);
        choose(entry, 0, &[row_entries(first), row_entries(second)].concat())
    });
    let weight_entries = map(|w| gradient(weight_error, w), weights);
    let values = concat(flatten(entries), weight_entries);

    let reprojection_entries = p * (2 * ROW);
    let columns = generate(values.shape(), |entry| {
        let (i, place) = (entry / (2 * ROW), entry % ROW);
        let (camera, point) = observed.at(i);
        let weight_column = |i: Exp<i64>| n * CAMERA + m * POINT + i;
        let point_column = n * CAMERA + point * POINT + (place - CAMERA);
        let others = cond(place.lt(CAMERA + POINT), point_column, weight_column(i));
        let of_reprojection = cond(place.lt(CAMERA), camera * CAMERA + place, others);
        cond(entry.lt(reprojection_entries), of_reprojection, weight_column(entry - reprojection_entries)).cast::<i32>()
    });

    let starts = generate(p * 3 + 1, |row| cond(row.lt(p * 2), row * ROW, p * 2 * ROW + (row - p * 2)).cast::<i32>());
    SparseRowsAcc { starts, columns, values }
}

/// The entries of a row, sorted by column.
fn row_entries((camera, point, weight): (CameraExp, Vec3, Exp<f64>)) -> Vec<Exp<f64>> {
    let CameraExp { rotation, centre, focal, principal, distortion } = camera;
    let [rotation, centre, point] = [rotation, centre, point].map(|(x, y, z)| [x, y, z]);
    let [principal, distortion] = [principal, distortion].map(|(x, y)| [x, y]);
    [&rotation[..], &centre, &[focal], &principal, &distortion, &point, &[weight]].concat()
}

/// The expression with number `index` of a list whose first number is `first`, found by bisection.
fn choose(index: Exp<i64>, first: i64, list: &[Exp<f64>]) -> Exp<f64> {
    if let [only] = list {
        return *only;
    }
    let (left, right) = list.split_at(list.len() / 2);
    let middle = first + left.len() as i64;
    cond(index.lt(middle), choose(index, first, left), choose(index, middle, right))
}

/// The objective and its Jacobian.
pub fn module(backend: &'static dyn Backend) -> Result<Module, Error> {
    Module::new(backend).function("objective", afun(objective), arguments, errors)?.function(
        "jacobian",
        afun(jacobian),
        arguments,
        sample,
    )
}

/// The input that the eval sends: one camera, one point, one weight and one feature, and the number of each.
#[derive(Deserialize)]
struct Input {
    n: usize,
    m: usize,
    p: usize,
    cam: [f64; 11],
    x: [f64; 3],
    w: f64,
    feat: [f64; 2],
}

/// The output of the objective that the eval expects: the errors of one observation.
#[derive(Serialize)]
struct Errors {
    reproj_error: Elements,
    w_err: Element,
}

#[derive(Serialize)]
struct Elements {
    elements: [f64; 2],
    repeated: usize,
}

#[derive(Serialize)]
struct Element {
    element: f64,
    repeated: usize,
}

/// The output of the Jacobian that the eval expects: the beginning and the end of each vector.
#[derive(Serialize)]
struct Sample {
    rows: Vec<i32>,
    cols: Vec<i32>,
    vals: Vec<f64>,
}

fn arguments(input: Input) -> Result<Scene, Failure> {
    let Input { n, m, p, cam, x, w, feat } = input;
    if n == 0 || m == 0 || p == 0 {
        return Err(Failure::Input("`n`, `m` and `p` must be at least 1".to_string()));
    }
    let entries = [(p, 2 * ROW + 1), (n, CAMERA), (m, POINT)].map(|(count, each)| count.saturating_mul(each as usize));
    if entries.into_iter().fold(0, usize::saturating_add) > i32::MAX as usize {
        return Err(Failure::Input("the Jacobian's entries or columns are too many for 32-bit numbers".to_string()));
    }
    // The message contains one of each, whatever the counts are, so its size does not limit them.
    fits(ba_bytes(n, m, p))?;
    let [r1, r2, r3, c1, c2, c3, focal, u0, v0, k1, k2] = cam;
    let (rotation, centre) = ((r1, r2, r3), (c1, c2, c3));
    let camera = Camera { rotation, centre, focal, principal: (u0, v0), distortion: (k1, k2) };
    let observed = (0..p).map(|i| ((i % n) as i64, (i % m) as i64));
    Ok(Scene {
        cameras: Array::vector(vec![camera; n]),
        points: Array::vector(vec![x.into(); m]),
        observed: Array::vector(observed.collect()),
        weights: Array::vector(vec![w; p]),
        features: Array::vector(vec![feat.into(); p]),
    })
}

fn errors((reprojection, weights): (Vector<(f64, f64)>, Vector<f64>)) -> Errors {
    let first = reprojection.get(0).map_or([f64::NAN; 2], |error| error.into());
    Errors {
        reproj_error: Elements { elements: first, repeated: reprojection.len() },
        w_err: Element { element: weights.as_slice()[0], repeated: weights.len() },
    }
}

fn sample(jacobian: SparseRows) -> Sample {
    Sample {
        rows: ends(jacobian.starts.as_slice()),
        cols: ends(jacobian.columns.as_slice()),
        vals: ends(jacobian.values.as_slice()),
    }
}

/// The entries of one observation, or as many numbers as these are, and the last number of all.
fn ends<T: Copy>(numbers: &[T]) -> Vec<T> {
    let entries = 2 * ROW as usize;
    numbers.iter().take(entries).chain(numbers.last()).copied().collect()
}
