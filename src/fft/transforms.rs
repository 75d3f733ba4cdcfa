//! The transforms as functions of arrays.

use super::rows::{self, Number};
use crate::complex::{Complex, ComplexExp};
use crate::repr::{Call, Foreign};
use crate::surface::{attributed, foreign_call, index_head, index_tail, snoc};
use crate::types::{Shape, Snoc};
use crate::{Acc, Array, Exp, IntoShape, ToExp, cond, generate, lit, map, shape, zip_with};
use std::panic::Location;

type Reals<Sh, T> = Acc<Array<Snoc<Sh>, T>>;
type Numbers<Sh, T> = Acc<Array<Snoc<Sh>, Complex<T>>>;

/// A function of rows.
fn of_rows<Sh: Shape>(function: Foreign) -> Call {
    Call { function, lanes: Sh::RANK }
}

/// The discrete Fourier transform of each row: `Σ_j x_j e^(-2πi jk/n)` for k from 0 to n - 1. In NumPy, `fft.fft(x)`.
///
/// ```
/// use accel::complex::Complex;
/// use accel::fft::fft;
/// use accel::prelude::*;
///
/// let x = Array::vector(vec![Complex::new(1.0, 0.0), Complex::new(0.0, 0.0)]);
/// let y = run(&afun(|x: Acc<Vector<Complex<f64>>>| fft(x)), &x)?;
/// assert_eq!(y.to_vec(), [Complex::new(1.0, 0.0), Complex::new(1.0, 0.0)]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn fft<Sh: Shape, T: Number>(x: Numbers<Sh, T>) -> Numbers<Sh, T> {
    attributed(("fft", Location::caller()), || foreign_call(&of_rows::<Sh>(rows::forward::<T>()), shape(x), x))
}

/// The inverse of [`fft`]: `Σ_k z_k e^(2πi jk/n) / n`. In NumPy, `fft.ifft(z)`.
#[track_caller]
pub fn ifft<Sh: Shape, T: Number>(z: Numbers<Sh, T>) -> Numbers<Sh, T> {
    attributed(("ifft", Location::caller()), || {
        let n = index_head(shape(z)).cast::<T>();
        let sums: Numbers<Sh, T> = foreign_call(&of_rows::<Sh>(rows::backward::<T>()), shape(z), z);
        map(|z: ComplexExp<T>| ComplexExp { re: z.re / n, im: z.im / n }, sums)
    })
}

/// The discrete Fourier transform of each row of real numbers: the first n/2 + 1 of n numbers, of which the others are the conjugates. In
/// NumPy, `fft.rfft(x)`.
#[track_caller]
pub fn rfft<Sh: Shape, T: Number>(x: Reals<Sh, T>) -> Numbers<Sh, T> {
    attributed(("rfft", Location::caller()), || {
        let sh = shape(x);
        let sh = snoc(index_tail(sh), index_head(sh) / 2 + 1);
        foreign_call(&of_rows::<Sh>(rows::of_reals::<T>()), sh, x)
    })
}

/// The inverse of [`rfft`], for rows of `n` real numbers, which may be odd. In NumPy, `fft.irfft(z, n)`. Rows of `z` that do not have n/2 + 1
/// numbers are an error when the program runs.
#[track_caller]
pub fn irfft<Sh: Shape, T: Number>(n: impl ToExp<i64>, z: Numbers<Sh, T>) -> Reals<Sh, T> {
    let n = n.to_exp();
    attributed(("irfft", Location::caller()), || {
        let sh = snoc(index_tail(shape(z)), n);
        let sums: Reals<Sh, T> = foreign_call(&of_rows::<Sh>(rows::to_reals::<T>()), sh, z);
        map(|x: Exp<T>| x / n.cast::<T>(), sums)
    })
}

/// The convolution of the rows of two arrays, with all m + n - 1 numbers where one of them is not 0, in the time of a few transforms. In
/// SciPy, `signal.fftconvolve(x, y, axes=-1)`.
///
/// ```
/// use accel::fft::fftconvolve;
/// use accel::prelude::*;
///
/// let convolve = afun(|x: Acc<Vector<f64>>, y: Acc<Vector<f64>>| fftconvolve(x, y));
/// let z = run(&convolve, (&Array::vector(vec![1.0, 2.0]), &Array::vector(vec![1.0, 1.0])))?;
/// assert!(z.to_vec().iter().zip([1.0, 3.0, 2.0]).all(|(a, b)| (a - b).abs() < 1e-12));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn fftconvolve<Sh: Shape, T: Number>(x: Reals<Sh, T>, y: Reals<Sh, T>) -> Reals<Sh, T> {
    attributed(("fftconvolve", Location::caller()), || {
        let n = index_head(shape(x)) + index_head(shape(y)) - 1;
        let (x, y) = (rfft(padded(n, x)), rfft(padded(n, y)));
        irfft(n, zip_with(|x: ComplexExp<T>, y: ComplexExp<T>| x * y, x, y))
    })
}

/// The rows with zeros behind them, so that there are `n` numbers.
fn padded<Sh: Shape, T: Number>(n: Exp<i64>, x: Reals<Sh, T>) -> Reals<Sh, T> {
    let sh = shape(x);
    generate(snoc(index_tail(sh), n), |ix| {
        let ix: Exp<Snoc<Sh>> = ix.into_shape();
        let i = index_head(ix);
        cond(i.lt(index_head(sh)), x.at(snoc(index_tail(ix), i.min(index_head(sh) - 1))), lit::<T>(0.0))
    })
}
