//! The Jacobian of bundle adjustment, differentiated by hand, one observation after the other.

/// The parameters of a camera, the coordinates of a point, and the weight: the entries of a row.
const CAMERA: usize = 11;
const POINT: usize = 3;
const ROW: usize = CAMERA + POINT + 1;

type Vec3 = [f64; 3];

/// Cameras (rotation, centre, focal length, principal point, radial distortion), points, and for each observation the
/// numbers of its camera and point, its weight, and the place of the point in the image.
pub struct Problem {
    pub cameras: Vec<[f64; CAMERA]>,
    pub points: Vec<Vec3>,
    pub observed: Vec<(usize, usize)>,
    pub weights: Vec<f64>,
    pub features: Vec<[f64; 2]>,
}

/// The start of each row (and the end of the last one), the columns of the entries, and their values.
pub type Sparse = (Vec<i64>, Vec<i64>, Vec<f64>);

/// The Jacobian: two rows for each observation's reprojection error, then one for each weight error.
pub fn jacobian(problem: &Problem) -> Sparse {
    let (n, m, p) = (problem.cameras.len(), problem.points.len(), problem.observed.len());
    let entries = (2 * ROW + 1) * p;
    let (mut starts, mut columns) = (Vec::with_capacity(3 * p + 1), Vec::with_capacity(entries));
    let mut values = Vec::with_capacity(entries);
    for (i, &(camera, point)) in problem.observed.iter().enumerate() {
        let (parameters, place) = (&problem.cameras[camera], &problem.points[point]);
        for row in reprojection(parameters, place, problem.weights[i], &problem.features[i]) {
            starts.push(values.len() as i64);
            values.extend_from_slice(&row);
            columns.extend((camera * CAMERA..(camera + 1) * CAMERA).map(|c| c as i64));
            let first = n * CAMERA + point * POINT;
            columns.extend((first..first + POINT).map(|c| c as i64));
            columns.push((n * CAMERA + m * POINT + i) as i64);
        }
    }
    for (i, weight) in problem.weights.iter().enumerate() {
        starts.push(values.len() as i64);
        columns.push((n * CAMERA + m * POINT + i) as i64);
        values.push(-2.0 * weight);
    }
    starts.push(values.len() as i64);
    (starts, columns, values)
}

/// The derivatives of both components of the weighted reprojection error by camera, point and weight.
///
/// With y the rotated point, q = (y₀, y₁) / y₂, s = |q|² and L = 1 + k₁ s + k₂ s², the error is w (f L q + principal - feature).
fn reprojection(camera: &[f64; CAMERA], point: &Vec3, weight: f64, feature: &[f64; 2]) -> [[f64; ROW]; 2] {
    let [r0, r1, r2, c0, c1, c2, focal, u0, v0, k1, k2] = *camera;
    let x = [point[0] - c0, point[1] - c1, point[2] - c2];
    let (y, turn, by_rotation) = rotate([r0, r1, r2], x);

    let q = [y[0] / y[2], y[1] / y[2]];
    let s = q[0] * q[0] + q[1] * q[1];
    let scale = 1.0 + k1 * s + k2 * s * s;
    let d_scale = 2.0 * (k1 + 2.0 * k2 * s);
    let principal = [u0, v0];
    let outer = weight * focal;

    std::array::from_fn(|i| {
        // The derivatives by q, and through q by y.
        let mut by_q = [outer * q[i] * d_scale * q[0], outer * q[i] * d_scale * q[1]];
        by_q[i] += outer * scale;
        let by_y = [by_q[0] / y[2], by_q[1] / y[2], -(by_q[0] * q[0] + by_q[1] * q[1]) / y[2]];
        let by_x = times(by_y, &turn);
        let by_r = times(by_y, &by_rotation);

        let mut row = [0.0; ROW];
        row[..3].copy_from_slice(&by_r);
        row[3..6].copy_from_slice(&by_x.map(|d| -d));
        row[6] = weight * scale * q[i];
        row[7 + i] = weight;
        row[9] = outer * q[i] * s;
        row[10] = outer * q[i] * s * s;
        row[CAMERA..CAMERA + POINT].copy_from_slice(&by_x);
        row[ROW - 1] = focal * scale * q[i] + principal[i] - feature[i];
        row
    })
}

/// `x` rotated about the axis `r` by the angle |r|, and the derivatives of the result by `x` and by `r`.
fn rotate(r: Vec3, x: Vec3) -> (Vec3, [Vec3; 3], [Vec3; 3]) {
    let angle = dot(r, r).sqrt();
    if angle == 0.0 {
        let turned = cross(r, x);
        let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        return ([x[0] + turned[0], x[1] + turned[1], x[2] + turned[2]], identity, crossed(x, -1.0));
    }
    let axis = r.map(|r| r / angle);
    let (sin, cos) = angle.sin_cos();
    let (along, across) = (dot(axis, x), cross(axis, x));
    let y = std::array::from_fn(|i| x[i] * cos + across[i] * sin + axis[i] * along * (1.0 - cos));

    // cos I + sin [axis]× + (1 - cos) axis axisᵀ
    let mut turn = crossed(axis, sin);
    for (i, row) in turn.iter_mut().enumerate() {
        row[i] += cos;
        for (entry, a) in row.iter_mut().zip(axis) {
            *entry += (1.0 - cos) * axis[i] * a;
        }
    }

    // The derivatives by the angle and by the axis: -sin [x]× + (1 - cos) (along I + axis xᵀ). The derivative of the
    // axis is (I - axis axisᵀ) / angle.
    let by_angle: Vec3 = std::array::from_fn(|i| across[i] * cos - x[i] * sin + axis[i] * along * sin);
    let mut by_rotation = crossed(x, -sin);
    for (i, row) in by_rotation.iter_mut().enumerate() {
        row[i] += (1.0 - cos) * along;
        for (entry, x) in row.iter_mut().zip(x) {
            *entry += (1.0 - cos) * axis[i] * x;
        }
        let radial = dot(*row, axis);
        for (entry, a) in row.iter_mut().zip(axis) {
            *entry = (*entry - radial * a) / angle + by_angle[i] * a;
        }
    }
    (y, turn, by_rotation)
}

fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The matrix of `x ↦ scale (a × x)`.
fn crossed(a: Vec3, scale: f64) -> [Vec3; 3] {
    let [a0, a1, a2] = a.map(|a| scale * a);
    [[0.0, -a2, a1], [a2, 0.0, -a0], [-a1, a0, 0.0]]
}

/// The product of a row vector and a matrix.
fn times(v: Vec3, m: &[Vec3; 3]) -> Vec3 {
    std::array::from_fn(|j| v[0] * m[0][j] + v[1] * m[1][j] + v[2] * m[2][j])
}
