//! Discrete Fourier transforms of rows, by the library `rustfft`, with derivatives of any order in both modes. Needs the feature `fft`.
//!
//! All functions transform the innermost dimension of an array, each row by itself, in parallel. Signs and factors are those of NumPy: the
//! transform has `e^(-2πi jk/n)` and no factor, the inverse has the factor 1/n. Rows may have any length. The transforms are linear, and
//! the adjoint of each is again a transform, so a gradient costs as much as the value.
//!
//! ```
//! use accel::fft::{irfft, rfft};
//! use accel::complex::ComplexExp;
//! use accel::prelude::*;
//!
//! // A filter that keeps the mean and the slowest wave.
//! let smooth = afun(|x: Acc<Vector<f64>>| {
//!     let low = imap(|k: Exp<i64>, z: ComplexExp<f64>| z.scale(cond(k.le(1), 1.0, 0.0)), rfft(x));
//!     irfft(x.len(), low)
//! });
//! let y = run(&smooth, &Array::vector(vec![1.0, 3.0, 1.0, 3.0]))?;
//! assert!(y.as_slice().iter().all(|y| (y - 2.0).abs() < 1e-12));
//! # Ok::<(), Error>(())
//! ```

mod rows;
mod transforms;

pub use rows::Number;
pub use transforms::{fft, fftconvolve, ifft, irfft, rfft};
