//! Comparisons of derivatives.
#![allow(dead_code)]

use accel_dual::{Real, Rev, Tangents, grad, jacobian_columns};

/// A function of a vector that is generic in its numbers.
pub trait Function {
    /// The value.
    fn at<T: Real>(&self, xs: &[T]) -> T;
}

/// Whether two numbers agree up to `tolerance`, relative to the larger one or to 1.
pub fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0)
}

/// Checks that all pairs agree.
#[track_caller]
pub fn assert_close(a: &[f64], b: &[f64], tolerance: f64, what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    for (k, (x, y)) in a.iter().zip(b).enumerate() {
        assert!(close(*x, *y, tolerance), "{what}: number {k} is {x} and {y}");
    }
}

/// The gradient by finite differences.
pub fn differences(f: &impl Function, xs: &[f64]) -> Vec<f64> {
    let moved = |k: usize, h: f64| {
        let mut ys = xs.to_vec();
        ys[k] += h;
        f.at(&ys)
    };
    (0..xs.len())
        .map(|k| {
            let h = 1e-3 * xs[k].abs().max(0.1);
            // Of fourth order.
            (8.0 * (moved(k, h) - moved(k, -h)) - (moved(k, 2.0 * h) - moved(k, -2.0 * h))) / (12.0 * h)
        })
        .collect()
}

/// The gradient in reverse mode.
pub fn reverse(f: &impl Function, xs: &[f64]) -> Vec<f64> {
    grad(|xs: Vec<Rev>| f.at(&xs), &xs.to_vec()).unwrap()
}

/// The gradient in forward mode.
pub fn forward(f: &impl Function, xs: &[f64]) -> Vec<f64> {
    jacobian_columns(|xs: Vec<Tangents>| f.at(&xs), &xs.to_vec()).1
}

/// Checks that reverse mode, forward mode and finite differences agree, and that all compute the same value.
#[track_caller]
pub fn check(f: &impl Function, xs: &[f64], what: &str) {
    let (r, d) = (reverse(f, xs), forward(f, xs));
    assert_close(&r, &d, 1e-12, &format!("{what}: reverse and forward"));
    assert_close(&r, &differences(f, xs), 1e-7, &format!("{what}: reverse and differences"));
}

/// A generator of numbers.
pub struct Random(pub u64);

impl Random {
    /// The next number in [0, 1).
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The next number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() * n as f64) as usize
    }
}
