//! The programs for numbers of other crates, which do not implement `Real`.

use nalgebra::{SVector, U7};
use num_dual::{DualNum, DualSVec64};
use reverse::{Tape, Var};

/// The gradient of a scalar product with the crate `reverse`.
pub fn dot(xs: &[f64], ys: &[f64]) -> Vec<f64> {
    let tape = Tape::new();
    let (xs, ys) = (tape.add_vars(xs), tape.add_vars(ys));
    let mut sum = xs[0] * ys[0];
    for (x, y) in xs.iter().zip(&ys).skip(1) {
        sum = sum + *x * *y;
    }
    let gradient = sum.grad();
    gradient[..xs.len() + ys.len()].to_vec()
}

/// The gradient of the particles with the crate `reverse`.
pub fn particles(starts: &[[f64; 4]; 4]) -> Vec<f64> {
    let tape = Tape::new();
    let starts = tape.add_vars(starts.as_flattened());
    let particle = |start: &[Var<'_>]| {
        let (dt, pull, friction) = (0.01, 0.5, 0.1);
        let [mut x, mut y, mut u, mut v] = [start[0].powi(1), start[1].powi(1), start[2].powi(1), start[3].powi(1)];
        for _ in 0..crate::programs::STEPS {
            let a = y.sin() - x * pull - u * friction;
            let b = x.cos() - y * pull - v * friction;
            x = x + u * dt;
            y = y + v * dt;
            u = u + a * dt;
            v = v + b * dt;
        }
        (x * y).grad()[..16].to_vec()
    };
    let mut total = vec![0.0; 16];
    for start in starts.chunks(4) {
        total.iter_mut().zip(particle(start)).for_each(|(t, g)| *t += g);
    }
    total
}

/// The Jacobian of the rotation with the forward mode of `num-dual`: seven directions at once.
pub fn rotate(v: [f64; 3], q: [f64; 4]) -> [[f64; 7]; 3] {
    type D = DualSVec64<7>;
    let x = SVector::<f64, 7>::from_iterator(v.into_iter().chain(q));
    let f = |x: nalgebra::OVector<D, U7>| {
        let (v, q) = ([x[0], x[1], x[2]], [x[3], x[4], x[5], x[6]]);
        let u = [q[0], q[1], q[2]];
        let dot = |a: [D; 3], b: [D; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let c = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        let (uv, uu) = (dot(u, v), dot(u, u));
        nalgebra::SVector::<D, 3>::from_fn(|k, _| uv * u[k] * 2.0 + (q[3] * q[3] - uu) * v[k] + q[3] * c[k] * 2.0)
    };
    let (_, rows) = num_dual::jacobian(f, &x);
    std::array::from_fn(|i| std::array::from_fn(|j| rows[(i, j)]))
}

/// The program `particle`, of which each use is compiled for its own type of numbers: a generic function is what these are compared with.
macro_rules! particle {
    ($start:expr) => {{
        let (dt, pull, friction) = (0.01, 0.5, 0.1);
        let [mut x, mut y, mut u, mut v] = $start;
        for _ in 0..crate::programs::STEPS {
            let a = y.sin() - x * pull - u * friction;
            let b = x.cos() - y * pull - v * friction;
            x += u * dt;
            y += v * dt;
            u += a * dt;
            v += b * dt;
        }
        x * y
    }};
}

/// The gradient of the particles with the forward mode of `num-dual`: four directions for each of them.
pub fn particles_forward(starts: &[[f64; 4]; 4]) -> [[f64; 4]; 4] {
    starts.map(|start| {
        let f = |s: nalgebra::SVector<DualSVec64<4>, 4>| particle!([s[0], s[1], s[2], s[3]]);
        num_dual::gradient(f, &start.into()).1.into()
    })
}

/// The particles without generic numbers.
pub fn particles_plain(starts: &[[f64; 4]; 4]) -> f64 {
    let particle = |start: &[f64; 4]| particle!(*start);
    starts.iter().map(particle).fold(0.0, |sum, p| sum + p)
}

/// A scalar product without generic numbers.
pub fn dot_plain(xs: &[f64], ys: &[f64]) -> f64 {
    xs.iter().zip(ys).fold(0.0, |sum, (x, y)| sum + x * y)
}
