//! Fourier transforms: against their sums, on both backends and for rows of any length; and derivatives, which are transforms again.

use crate::harness::{V, smooth};
use crate::refined::{AtLeast3, Few};
use accel::complex::{Complex, ComplexExp, matmul as product};
use accel::fft::{fft, fftconvolve, ifft, irfft, rfft};
use accel::interp::Interpreter;
use accel::prelude::*;
use std::f64::consts::TAU;

type C = Complex<f64>;
type Cs = Acc<Vector<C>>;
type Number = Acc<Scalar<f64>>;

/// Numbers between -1 and 1, always the same.
fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|k| ((k * k + 3 * k + 1) as f64 * 0.73).sin()).collect()
}

fn complex(n: usize) -> Vec<C> {
    numbers(2 * n).chunks(2).map(|z| Complex::new(z[0], z[1])).collect()
}

/// The transform by its sum.
fn by_sum(x: &[C], sign: f64) -> Vec<C> {
    let term = |j: usize, k: usize| {
        let (sin, cos) = (sign * TAU * (j * k % x.len()) as f64 / x.len() as f64).sin_cos();
        Complex::new(x[j].re * cos - x[j].im * sin, x[j].re * sin + x[j].im * cos)
    };
    let sum = |k| (0..x.len()).map(|j| term(j, k)).fold(C::default(), |a, b| Complex::new(a.re + b.re, a.im + b.im));
    (0..x.len()).map(sum).collect()
}

#[track_caller]
fn close(found: &[C], expected: &[C], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a.re - b.re).hypot(a.im - b.im) <= tolerance, "{found:?}, expected {expected:?}");
    }
}

const LENGTHS: [usize; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 12, 17, 30, 64];

#[test]
fn transforms_are_their_sums() {
    let (forward, backward) = (afun(|x: Cs| fft(x)), afun(|x: Cs| ifft(x)));
    let (real, back) = (afun(|x: V| rfft(x)), afun(|x: V| irfft(x.len(), rfft(x))));
    for n in LENGTHS {
        let x = complex(n);
        let reals: Vec<f64> = numbers(n);
        let of_reals: Vec<C> = reals.iter().map(|x| Complex::new(*x, 0.0)).collect();
        let (given, real_given) = (Array::vector(x.clone()), Array::vector(reals.clone()));
        for on_host in [false, true] {
            let run = |f: &Afun<Vector<C>, Vector<C>>| {
                if on_host { run_on(&Interpreter, f, &given) } else { run(f, &given) }.unwrap().to_vec()
            };
            close(&run(&forward), &by_sum(&x, -1.0), 1e-12);
            let scaled: Vec<C> =
                by_sum(&x, 1.0).iter().map(|z| Complex::new(z.re / n as f64, z.im / n as f64)).collect();
            close(&run(&backward), &scaled, 1e-12);
        }
        close(&run(&real, &real_given).unwrap().to_vec(), &by_sum(&of_reals, -1.0)[..n / 2 + 1], 1e-12);
        let same = run(&back, &real_given).unwrap().to_vec();
        assert!(same.iter().zip(&reals).all(|(a, b)| (a - b).abs() < 1e-14), "{same:?}, expected {reals:?}");
    }
}

#[test]
fn rows_are_transformed_alone() {
    let rows = Array::from_extents(&[2, 3, 5], complex(30)).unwrap();
    let all = run(afun(|x: Acc<Array<Dim3, C>>| fft(x)), &rows).unwrap();
    let by_vmap = run(afun(|x: Cs| fft(x)).vmap().vmap(), &rows).unwrap();
    assert_eq!(all, by_vmap);
    let expected: Vec<C> = complex(30).chunks(5).flat_map(|x| by_sum(x, -1.0)).collect();
    close(&all.to_vec(), &expected, 1e-12);
    for extents in [[0, 4], [3, 0]] {
        let none = Array::from_extents(&extents, vec![]).unwrap();
        let found: Matrix<C> = run(afun(|x: Acc<Matrix<C>>| fft(x)), &none).unwrap();
        assert_eq!(found, none);
    }
    let single = Array::vector(vec![1.0f32, 2.0, 3.0]);
    let found = run(afun(|x: Acc<Vector<f32>>| irfft(3, rfft(x))), &single).unwrap();
    assert!(found.iter().zip([1.0, 2.0, 3.0]).all(|(a, b): (f32, f32)| (a - b).abs() < 1e-6));
}

#[test]
fn convolutions_are_sums() {
    let direct = |x: &[f64], y: &[f64]| {
        let mut z = vec![0.0; x.len() + y.len() - 1];
        x.iter().enumerate().for_each(|(i, x)| y.iter().enumerate().for_each(|(j, y)| z[i + j] += x * y));
        z
    };
    for (m, n) in [(1, 1), (1, 5), (4, 3), (10, 33)] {
        let (x, y) = (numbers(m), numbers(n));
        let convolve = afun(|x: V, y: V| fftconvolve(x, y));
        let found = run(&convolve, (&Array::vector(x.clone()), &Array::vector(y.clone()))).unwrap().to_vec();
        assert!(found.iter().zip(direct(&x, &y)).all(|(a, b)| (a - b).abs() < 1e-12), "{m}, {n}: {found:?}");
    }
}

#[test]
fn wrong_lengths_are_errors() {
    let short = afun(|z: Cs| irfft(6, z));
    let error = run(&short, &Array::vector(complex(3))).unwrap_err().to_string();
    assert!(
        error.starts_with("`irfft` at") && error.contains("expected rows of 4 numbers for 6 results, found 3"),
        "{error}"
    );
}

/// A number that depends on all parts.
fn weighted(z: Cs) -> Number {
    sum(imap(
        |k: Exp<i64>, z: ComplexExp<f64>| {
            let k = k.cast::<f64>();
            z.re.sin() * (k + 1.0) + z.re * z.im * (k * 0.3 + 0.5) + z.im.exp() * 0.2
        },
        z,
    ))
}

fn of_reals(x: V) -> Cs {
    map(|x: Exp<f64>| ComplexExp::new(x, x * x * 0.5), x)
}

#[test]
fn derivatives_are_transforms() {
    smooth(Few(AtLeast3), |x: V| weighted(fft(of_reals(x))));
    smooth(Few(AtLeast3), |x: V| weighted(ifft(of_reals(x))));
    smooth(Few(AtLeast3), |x: V| weighted(rfft(skip(0, x))));
    smooth(Few(AtLeast3), |x: V| sum(irfft(x.len() * 2 - 2, of_reals(x)).sin()));
    smooth(Few(AtLeast3), |x: V| sum(irfft(x.len() * 2 - 1, of_reals(x)).sin()));
    smooth(Few(AtLeast3), |x: V| sum(fftconvolve(x, x.sin()).sin()));
    // In a loop, where the tape keeps the results, and for rows.
    smooth(Few(AtLeast3), |x: V| sum(aiterate(3, |x: V| irfft(x.len(), rfft(x.sin() * 0.5)), x)));
    smooth(Few(AtLeast3), |x: V| {
        let m = generate((3, x.len()), |(i, k): (Exp<i64>, Exp<i64>)| x.at(k) * (i + 1).cast::<f64>() * 0.3);
        sum(vmap(|row: V| weighted(rfft(row)), m))
    });
}

#[test]
fn second_derivatives_are_transforms() {
    let f = |x: V| weighted(fft(of_reals(x)));
    let gradient = grad(afun(f));
    smooth(Few(AtLeast3), |x: V| dot(call(&gradient, x), x.cos()));
}

#[test]
fn complex_numbers_have_their_functions() {
    let z = (1.5, -0.7);
    let f = |f: fn(ComplexExp<f64>) -> ComplexExp<f64>| {
        run(afun(move |z: Acc<Scalar<C>>| map(f, z)), &Array::scalar(Complex::new(z.0, z.1))).unwrap().item()
    };
    let near = |found: C, re: f64, im: f64| close(&[found], &[Complex::new(re, im)], 1e-14);
    near(f(|z| z * z), z.0 * z.0 - z.1 * z.1, 2.0 * z.0 * z.1);
    near(f(|z| z / z), 1.0, 0.0);
    near(f(|z| z.sqrt() * z.sqrt()), z.0, z.1);
    near(f(|z| z.ln().exp()), z.0, z.1);
    near(f(|z| z.conj() - z), 0.0, 1.4);
    near(f(|z| -z + z.scale(2.0)), z.0, z.1);
    near(f(|z| ComplexExp::from_polar(z.abs(), z.arg())), z.0, z.1);
    let m = Array::matrix(2, 2, complex(4)).unwrap();
    let found = run(afun(|a: Acc<Matrix<C>>| product(a, a)), &m).unwrap().to_vec();
    let at = |i: usize, k: usize| complex(4)[2 * i + k];
    let times = |a: C, b: C| Complex::new(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
    let element = |i, k| {
        let (x, y) = (times(at(i, 0), at(0, k)), times(at(i, 1), at(1, k)));
        Complex::new(x.re + y.re, x.im + y.im)
    };
    close(&found, &[element(0, 0), element(0, 1), element(1, 0), element(1, 1)], 1e-14);
}
