//! The inputs of benchmarks, and the paths of ADBench's files.

use crate::case::Result;
use accel::prelude::Floating;
use adbench::Lcg;
use std::path::{Path, PathBuf};

/// The number of elements of the bandwidth-bound workloads: 16M.
pub const LARGE: usize = 1 << 24;
/// The number of elements that a thread of a hand-written loop takes at a time.
pub const CHUNK: usize = 1 << 16;

/// Uniformly distributed numbers in `low..high`.
pub fn uniform<T: Floating>(seed: u64, n: usize, low: f64, high: f64) -> Vec<T> {
    let mut random = Lcg::new(seed);
    (0..n).map(|_| T::from_f64(random.uniform(low, high))).collect()
}

/// A file or folder beside this checkout, or in the folder that the environment variable `ACCEL_BENCH_DATA` names.
/// ADBench's files and the JAX programs are not part of the checkout.
///
/// # Errors
/// It does not exist.
pub fn beside(path: &str) -> Result<PathBuf> {
    let folder = match std::env::var_os("ACCEL_BENCH_DATA") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let path = folder.join(path);
    if path.exists() { Ok(path) } else { Err(format!("{} is not there", path.display()).into()) }
}
