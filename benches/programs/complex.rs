//! Complex numbers, and the Faddeeva function w(z) = exp(-z²) erfc(-i z).

use accel::prelude::*;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Real numbers of the host, or of a program.
pub trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// A constant.
    fn of(x: f64) -> Self;
    /// The exponential.
    fn exp(self) -> Self;
    /// The sine.
    fn sin(self) -> Self;
    /// The cosine.
    fn cos(self) -> Self;
    /// The inverse tangent.
    fn atan(self) -> Self;
}

macro_rules! number {
    ($t:ty, $of:expr) => {
        impl Number for $t {
            fn of(x: f64) -> Self {
                $of(x)
            }
            fn exp(self) -> Self {
                self.exp()
            }
            fn sin(self) -> Self {
                self.sin()
            }
            fn cos(self) -> Self {
                self.cos()
            }
            fn atan(self) -> Self {
                self.atan()
            }
        }
    };
}

number!(f64, |x| x);
number!(Exp<f64>, lit::<f64>);

/// A complex number.
#[derive(Clone, Copy)]
pub struct Complex<T> {
    /// The real part.
    pub re: T,
    /// The imaginary part.
    pub im: T,
}

impl<T: Number> Complex<T> {
    /// The product with a real number.
    pub fn scaled(self, x: T) -> Self {
        Complex { re: self.re * x, im: self.im * x }
    }

    /// The product.
    pub fn times(self, z: Self) -> Self {
        Complex { re: self.re * z.re - self.im * z.im, im: self.re * z.im + self.im * z.re }
    }

    /// The sum.
    pub fn plus(self, z: Self) -> Self {
        Complex { re: self.re + z.re, im: self.im + z.im }
    }

    fn over(self, z: Self) -> Self {
        let conjugate = Complex { re: z.re, im: -z.im };
        self.times(conjugate).scaled(T::of(1.0) / (z.re * z.re + z.im * z.im))
    }

    fn minus(self, x: f64) -> Self {
        Complex { re: self.re - T::of(x), im: self.im }
    }

    fn times_i(self) -> Self {
        Complex { re: -self.im, im: self.re }
    }
}

/// The number of terms of the series near 0.
const TERMS: i32 = 10;
const TAU: f64 = 12.0;

/// An approximation of w(z) for |z| < 6, by a Fourier series of the integrand (Abrarov, Quine, 2011).
pub fn near<T: Number>(z: Complex<T>) -> Complex<T> {
    let pi = std::f64::consts::PI;
    let turned = z.times_i().scaled(T::of(TAU));
    let size = turned.re.exp();
    // exp(i τ z)
    let wave = Complex { re: size * turned.im.cos(), im: size * turned.im.sin() };
    let square = z.times(z).scaled(T::of(TAU * TAU));
    let term = |n: i32| {
        let frequency = f64::from(n * n) * pi * pi;
        let weight = 2.0 * pi.sqrt() / TAU * (-frequency / (TAU * TAU)).exp();
        let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
        let over = Complex { re: T::of(frequency) - square.re, im: -square.im };
        wave.scaled(T::of(sign)).minus(1.0).scaled(T::of(weight)).over(over)
    };
    let series = (2..=TERMS).fold(term(1), |sum, n| sum.plus(term(n)));
    let first = Complex { re: T::of(1.0) - wave.re, im: -wave.im }.times_i().over(z.scaled(T::of(TAU)));
    first.plus(z.times(series).times_i().scaled(T::of(TAU * TAU / pi.sqrt())))
}

/// An approximation of w(z) for large |z|: Gauss-Hermite quadrature with four nodes.
pub fn far<T: Number>(z: Complex<T>) -> Complex<T> {
    let root = 6f64.sqrt();
    let (inner, outer) = ((3.0 - root) / 2.0, (3.0 + root) / 2.0);
    // The weights over π: i/π times the sum of w / (z - x) over nodes x and -x is i z times that of 2 w / (π (z² - x²)).
    let weight = |x: f64| {
        let hermite = 8.0 * x.sqrt().powi(3) - 12.0 * x.sqrt();
        // 2^(n-1) n! sqrt(π) / (n² H_{n-1}(x)²) with n = 4
        8.0 * 24.0 * std::f64::consts::PI.sqrt() / (16.0 * hermite * hermite) * 2.0 / std::f64::consts::PI
    };
    let square = z.times(z);
    let part = |x: f64| {
        let weight = Complex { re: T::of(weight(x)), im: T::of(0.0) };
        weight.over(square.minus(x))
    };
    z.times(part(inner).plus(part(outer))).times_i()
}
