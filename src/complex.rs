//! Complex numbers as elements of arrays.
//!
//! An array of complex numbers is stored as two columns, that of real and that of imaginary parts. A derivative treats them as two
//! numbers: the adjoint of `x + iy` is `∂L/∂x + i ∂L/∂y`. This is the convention of PyTorch, in which the negative gradient is the direction of
//! steepest descent; JAX returns the conjugate.
//!
//! ```
//! use accel::complex::{Complex, ComplexExp};
//! use accel::prelude::*;
//!
//! // |z²|² = |z|⁴ has the gradient 4 |z|² z.
//! let f = afun(|z: Acc<Vector<Complex<f64>>>| sum(map(|z: ComplexExp<f64>| (z * z).norm_squared(), z)));
//! let z = Array::vector(vec![Complex::new(1.0, 2.0)]);
//! assert_eq!(run(grad(&f), &z)?.to_vec(), [Complex::new(20.0, 40.0)]);
//! # Ok::<(), Error>(())
//! ```

use crate::types::{Elt as Element, Floating};
use crate::{Acc, Elt, Exp, Matrix, ToExp, lit, map, matmul as product, zip_with};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A complex number.
#[derive(Clone, Copy, PartialEq, Debug, Default, Elt)]
#[accel(crate = crate)]
pub struct Complex<T: Element> {
    /// The real part.
    pub re: T,
    /// The imaginary part.
    pub im: T,
}

impl<T: Floating> Complex<T> {
    /// The number `re + i im`.
    pub fn new(re: T, im: T) -> Self {
        Complex { re, im }
    }
}

#[cfg(feature = "fft")]
impl<T: Floating> From<rustfft::num_complex::Complex<T>> for Complex<T> {
    fn from(z: rustfft::num_complex::Complex<T>) -> Self {
        Complex { re: z.re, im: z.im }
    }
}

#[cfg(feature = "fft")]
impl<T: Floating> From<Complex<T>> for rustfft::num_complex::Complex<T> {
    fn from(z: Complex<T>) -> Self {
        rustfft::num_complex::Complex { re: z.re, im: z.im }
    }
}

impl<T: Floating> ComplexExp<T> {
    /// The number `re + i im`.
    pub fn new(re: impl ToExp<T>, im: impl ToExp<T>) -> Self {
        ComplexExp { re: re.to_exp(), im: im.to_exp() }
    }
    /// The number `r e^(iφ)`.
    pub fn from_polar(r: Exp<T>, phi: Exp<T>) -> Self {
        ComplexExp { re: r * phi.cos(), im: r * phi.sin() }
    }
    /// The number with the other sign of the imaginary part.
    pub fn conj(self) -> Self {
        ComplexExp { re: self.re, im: -self.im }
    }
    /// The square of the absolute value.
    pub fn norm_squared(self) -> Exp<T> {
        self.re * self.re + self.im * self.im
    }
    /// The absolute value, without overflow. Its derivative at 0 is that of [`Exp::hypot`].
    pub fn abs(self) -> Exp<T> {
        self.re.hypot(self.im)
    }
    /// The angle from the positive real axis, from -π to π.
    pub fn arg(self) -> Exp<T> {
        self.im.atan2(self.re)
    }
    /// `e^z`
    pub fn exp(self) -> Self {
        Self::from_polar(self.re.exp(), self.im)
    }
    /// The logarithm with an imaginary part from -π to π.
    pub fn ln(self) -> Self {
        ComplexExp { re: self.abs().ln(), im: self.arg() }
    }
    /// The square root with a real part that is not negative.
    pub fn sqrt(self) -> Self {
        Self::from_polar(self.abs().sqrt(), self.arg() * lit::<T>(0.5))
    }
    /// The number times a real one.
    pub fn scale(self, factor: impl ToExp<T>) -> Self {
        let factor = factor.to_exp();
        ComplexExp { re: self.re * factor, im: self.im * factor }
    }
}

impl<T: Floating> Add for ComplexExp<T> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        ComplexExp { re: self.re + other.re, im: self.im + other.im }
    }
}

impl<T: Floating> Sub for ComplexExp<T> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        ComplexExp { re: self.re - other.re, im: self.im - other.im }
    }
}

impl<T: Floating> Neg for ComplexExp<T> {
    type Output = Self;
    fn neg(self) -> Self {
        ComplexExp { re: -self.re, im: -self.im }
    }
}

impl<T: Floating> Mul for ComplexExp<T> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        ComplexExp { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

impl<T: Floating> Mul<Exp<T>> for ComplexExp<T> {
    type Output = Self;
    fn mul(self, factor: Exp<T>) -> Self {
        self.scale(factor)
    }
}

impl<T: Floating> Div for ComplexExp<T> {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let n = other.norm_squared();
        let product = self * other.conj();
        ComplexExp { re: product.re / n, im: product.im / n }
    }
}

/// The product of two matrices of complex numbers, `[m, k]` and `[k, n]`: four products of real ones.
///
/// ```
/// use accel::complex::{Complex, matmul};
/// use accel::prelude::*;
///
/// let square = afun(|a: Acc<Matrix<Complex<f64>>>| matmul(a, a));
/// let i = Array::matrix(1, 1, vec![Complex::new(0.0, 1.0)])?;
/// assert_eq!(run(&square, &i)?.to_vec(), [Complex::new(-1.0, 0.0)]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn matmul<T: Floating>(a: Acc<Matrix<Complex<T>>>, b: Acc<Matrix<Complex<T>>>) -> Acc<Matrix<Complex<T>>>
where
    Complex<T>: Element<Exp = ComplexExp<T>>,
{
    let (ar, ai) = (map(|z: ComplexExp<T>| z.re, a), map(|z: ComplexExp<T>| z.im, a));
    let (br, bi) = (map(|z: ComplexExp<T>| z.re, b), map(|z: ComplexExp<T>| z.im, b));
    let re = product(ar, br) - product(ai, bi);
    let im = product(ar, bi) + product(ai, br);
    zip_with(|re, im| ComplexExp { re, im }, re, im)
}
