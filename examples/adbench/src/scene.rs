//! Scenes for bundle adjustment: cameras around points, and what they see, with noise. ADBench's files say only how many cameras, points and
//! observations there are, so all of them are equal, and there is nothing to adjust.
//!
//! ```text
//! n m p
//! p lines                  an observation: the numbers of its camera and its point, from 0, and the place in the image (2)
//! n lines                  a camera at the start: rotation (3), centre (3), focal length, principal point (2), distortion (2)
//! m lines                  a point at the start (3)
//! ```

use crate::generate::Lcg;
use crate::gmm_file::write_rows;
use std::io::{self, Write};

/// The distance of the cameras from the middle of the points.
const DISTANCE: (f64, f64) = (4.0, 6.0);
/// The standard deviation of a place in an image, in pixels.
const NOISE: f64 = 0.5;

/// A problem of bundle adjustment whose solution is near its start.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Rotation (axis times angle), centre, focal length, principal point and radial distortion of each camera.
    pub cameras: Vec<[f64; 11]>,
    /// The points in space.
    pub points: Vec<[f64; 3]>,
    /// The camera and the point of each observation.
    pub observed: Vec<(usize, usize)>,
    /// The place of each observation in the image.
    pub features: Vec<[f64; 2]>,
}

/// `n` cameras around `m` points, which look at their middle, and `p` observations. Observation `i` is one of point `i mod m`; its camera is a random
/// one that has not seen the point before, as long as there is one. Cameras and points at the start are not where they were when the observations were made.
pub fn generate_scene(seed: u64, n: usize, m: usize, p: usize) -> Scene {
    let mut random = Lcg::new(seed);
    let cameras: Vec<[f64; 11]> = (0..n).map(|_| camera(&mut random)).collect();
    let points: Vec<[f64; 3]> = (0..m).map(|_| [(); 3].map(|()| random.uniform(-1.0, 1.0))).collect();
    let mut seen = vec![Vec::new(); m];
    let observed: Vec<(usize, usize)> = (0..p)
        .map(|i| {
            let by: &mut Vec<usize> = &mut seen[i % m];
            let mut camera = random.below(n);
            while by.len() < n && by.contains(&camera) {
                camera = (camera + 1) % n;
            }
            by.push(camera);
            (camera, i % m)
        })
        .collect();
    let features = observed
        .iter()
        .map(|(camera, point)| {
            project(&cameras[*camera], &points[*point]).map(|x| rounded(x + NOISE * random.normal()))
        })
        .collect();
    let mut moved = |x: f64, by: f64| rounded(x + by * random.normal());
    Scene {
        cameras: cameras
            .iter()
            .map(|[r1, r2, r3, c1, c2, c3, focal, u, v, _, _]| {
                let [r1, r2, r3] = [r1, r2, r3].map(|x| moved(*x, 0.01));
                let [c1, c2, c3] = [c1, c2, c3].map(|x| moved(*x, 0.05));
                [r1, r2, r3, c1, c2, c3, moved(*focal, 5.0), *u, *v, 0.0, 0.0]
            })
            .collect(),
        points: points.iter().map(|x| x.map(|x| moved(x, 0.05))).collect(),
        observed,
        features,
    }
}

/// A camera that looks at the origin.
fn camera(random: &mut Lcg) -> [f64; 11] {
    let r = [(); 3].map(|()| random.uniform(-1.5, 1.5));
    let distance = random.uniform(DISTANCE.0, DISTANCE.1);
    // The rotation takes the way from the camera to the origin to the optical axis.
    let [c1, c2, c3] = rotate(&r.map(|x| -x), [0.0, 0.0, -distance]).map(rounded);
    let mut uniform = |low, high| random.uniform(low, high);
    let (focal, u, v) = (uniform(300.0, 600.0), uniform(-5.0, 5.0), uniform(-5.0, 5.0));
    [r[0], r[1], r[2], c1, c2, c3, focal, u, v, uniform(-0.1, 0.1), uniform(-0.01, 0.01)]
}

/// The place at which a camera sees a point: the formulas of ADBench.
fn project(camera: &[f64; 11], point: &[f64; 3]) -> [f64; 2] {
    let [r1, r2, r3, c1, c2, c3, focal, u0, v0, k1, k2] = *camera;
    let [x, y, z] = rotate(&[r1, r2, r3], [point[0] - c1, point[1] - c2, point[2] - c3]);
    let (u, v) = (x / z, y / z);
    let square = u * u + v * v;
    let scale = focal * (1.0 + k1 * square + k2 * square * square);
    [u * scale + u0, v * scale + v0]
}

/// `x` rotated about the axis `r` by the angle |r|, which is not 0 (Rodrigues).
fn rotate(r: &[f64; 3], x: [f64; 3]) -> [f64; 3] {
    let angle = r.iter().map(|r| r * r).sum::<f64>().sqrt();
    let axis = r.map(|r| r / angle);
    let (sin, cos) = angle.sin_cos();
    let along = (axis[0] * x[0] + axis[1] * x[1] + axis[2] * x[2]) * (1.0 - cos);
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        cos * x[i] + sin * (axis[j] * x[k] - axis[k] * x[j]) + along * axis[i]
    })
}

/// As many decimals as other numbers have.
fn rounded(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}

impl Scene {
    /// Writes the scene in the format above, with numbers that are read back exactly.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{} {} {}", self.cameras.len(), self.points.len(), self.observed.len())?;
        for ((camera, point), [u, v]) in self.observed.iter().zip(&self.features) {
            writeln!(out, "{camera} {point} {u} {v}")?;
        }
        write_rows(out, self.cameras.as_flattened(), 11)?;
        write_rows(out, self.points.as_flattened(), 3)
    }
}
