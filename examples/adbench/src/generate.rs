//! Small problems from a deterministic generator, so that the examples run without ADBench's files.

use crate::{BaFile, GmmFile};

/// Knuth's 64-bit linear congruential generator (MMIX): the same seed gives the same numbers on every machine.
pub struct Lcg(u64);

impl Lcg {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Self {
        Lcg(seed)
    }

    /// A uniformly distributed number in `low..high`, rounded to 6 decimals like the numbers in ADBench's files.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        // The low bits of such a generator are regular, so only the upper 32 are used.
        let unit = (self.0 >> 32) as f64 / f64::from(u32::MAX);
        ((low + (high - low) * unit) * 1e6).round() / 1e6
    }

    /// An approximately standard normal number: the sum of twelve uniform ones.
    pub fn normal(&mut self) -> f64 {
        let sum: f64 = (0..12).map(|_| self.uniform(-0.5, 0.5)).sum();
        (sum * 1e6).round() / 1e6
    }

    /// A whole number from 0 to `n` - 1, where n is positive and at most 2³².
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (((self.0 >> 32) * n as u64) >> 32) as usize
    }

    fn normals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.normal()).collect()
    }
}

/// A mixture of `k` Gaussians, and `n` normally distributed points in `d` dimensions. All three must be positive.
pub fn generate_gmm(seed: u64, d: usize, k: usize, n: usize) -> GmmFile {
    let mut random = Lcg::new(seed);
    GmmFile {
        d,
        k,
        n,
        alphas: random.normals(k),
        means: (0..k * d).map(|_| random.uniform(0.0, 1.0)).collect(),
        icf: random.normals(k * (d + d * (d - 1) / 2)),
        x: random.normals(n * d),
        gamma: 1.0,
        m: 0,
    }
}

/// `n` cameras, `m` points and `p` observations. All cameras, points and observations are equal; the point is well in
/// front of the camera.
pub fn generate_ba(seed: u64, n: usize, m: usize, p: usize) -> BaFile {
    let mut random = Lcg::new(seed);
    let mut uniform = |low, high| random.uniform(low, high);
    BaFile {
        n,
        m,
        p,
        camera: [
            uniform(-0.3, 0.3),
            uniform(-0.3, 0.3),
            uniform(-0.3, 0.3),
            uniform(-0.5, 0.5),
            uniform(-0.5, 0.5),
            uniform(-0.5, 0.5),
            uniform(300.0, 600.0),
            uniform(-5.0, 5.0),
            uniform(-5.0, 5.0),
            uniform(-0.1, 0.1),
            uniform(-0.01, 0.01),
        ],
        point: [uniform(-1.0, 1.0), uniform(-1.0, 1.0), uniform(4.0, 8.0)],
        weight: uniform(0.2, 1.0),
        feature: [uniform(-100.0, 100.0), uniform(-100.0, 100.0)],
    }
}
