//! The objective of the Gaussian mixture and the residual of bundle adjustment in plain Rust, written from their
//! formulas, and central differences: an independent check that needs no files.

use adbench::{BaFile, GmmFile};

fn log_sum_exp(x: &[f64]) -> f64 {
    let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + x.iter().map(|x| (x - largest).exp()).sum::<f64>().ln()
}

/// The logarithm of the multivariate gamma function of dimension `d`.
fn log_multigamma(a: f64, d: usize) -> f64 {
    let lgammas: f64 = (0..d).map(|i| libm::lgamma(a - 0.5 * i as f64)).sum();
    0.25 * (d * (d - 1)) as f64 * std::f64::consts::PI.ln() + lgammas
}

/// The objective of the mixture, with its prior.
pub fn gmm_objective(file: &GmmFile) -> f64 {
    let (d, k, n) = (file.d, file.k, file.n);
    let columns = file.icf_columns();
    let icf = |k: usize| file.icf[k * columns..(k + 1) * columns].split_at(d);
    let mut likelihood = 0.0;
    for point in file.x.chunks(d) {
        let terms: Vec<f64> = (0..k)
            .map(|k| {
                let (q, l) = icf(k);
                let mean = &file.means[k * d..(k + 1) * d];
                let shifted: Vec<f64> = point.iter().zip(mean).map(|(x, m)| x - m).collect();
                let mut y: Vec<f64> = q.iter().zip(&shifted).map(|(q, s)| q.exp() * s).collect();
                // The strictly lower triangle, column by column.
                let mut entries = l.iter();
                for column in 0..d {
                    for y in &mut y[column + 1..] {
                        *y += entries.next().unwrap() * shifted[column];
                    }
                }
                let square: f64 = y.iter().map(|y| y * y).sum();
                file.alphas[k] + q.iter().sum::<f64>() - 0.5 * square
            })
            .collect();
        likelihood += log_sum_exp(&terms);
    }
    let m = f64::from(file.m);
    let prior: f64 = (0..k)
        .map(|k| {
            let (q, l) = icf(k);
            let squares: f64 = q.iter().map(|q| q.exp().powi(2)).chain(l.iter().map(|l| l * l)).sum();
            0.5 * file.gamma * file.gamma * squares - m * q.iter().sum::<f64>()
        })
        .sum();
    let (n, d_float, k) = (n as f64, d as f64, k as f64);
    let degrees = d_float + m + 1.0;
    let constant = k * (degrees * d_float * (file.gamma.ln() - 0.5 * 2f64.ln()) - log_multigamma(0.5 * degrees, d));
    -0.5 * n * d_float * std::f64::consts::TAU.ln() + likelihood - n * log_sum_exp(&file.alphas) + prior - constant
}

/// Central differences of `f` by each entry of the vector that `entry` finds in `input`.
pub fn central_differences<T: Clone>(
    input: &T,
    entry: impl Fn(&mut T) -> &mut [f64],
    f: impl Fn(&T) -> f64,
) -> Vec<f64> {
    let mut moved = input.clone();
    let count = entry(&mut moved).len();
    (0..count)
        .map(|i| {
            let value = entry(&mut moved)[i];
            let step = 1e-5 * value.abs().max(1.0);
            entry(&mut moved)[i] = value + step;
            let above = f(&moved);
            entry(&mut moved)[i] = value - step;
            let below = f(&moved);
            entry(&mut moved)[i] = value;
            (above - below) / (2.0 * step)
        })
        .collect()
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Rotates `x` about the axis `r` by the angle `|r|`: the formula of Rodrigues, or its limit at 0.
fn rotate(r: [f64; 3], x: [f64; 3]) -> [f64; 3] {
    let angle = r.iter().map(|r| r * r).sum::<f64>().sqrt();
    if angle == 0.0 {
        let turn = cross(r, x);
        return std::array::from_fn(|i| x[i] + turn[i]);
    }
    let axis = r.map(|r| r / angle);
    let along: f64 = axis.iter().zip(&x).map(|(a, x)| a * x).sum();
    let across = cross(axis, x);
    std::array::from_fn(|i| x[i] * angle.cos() + across[i] * angle.sin() + axis[i] * along * (1.0 - angle.cos()))
}

/// The weighted reprojection error of the file's one observation.
pub fn ba_residual(file: &BaFile) -> [f64; 2] {
    let c = &file.camera;
    let [x, y, z] = rotate([c[0], c[1], c[2]], std::array::from_fn(|i| file.point[i] - c[3 + i]));
    let image = [x / z, y / z];
    let square = image[0] * image[0] + image[1] * image[1];
    let distortion = 1.0 + c[9] * square + c[10] * square * square;
    std::array::from_fn(|i| file.weight * (image[i] * distortion * c[6] + c[7 + i] - file.feature[i]))
}
