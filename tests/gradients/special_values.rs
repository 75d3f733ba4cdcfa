//! Functions and their derivatives, also at extreme points, compared with a table that was computed with 60 digits:
//! `tests/special/values.py`.

use accel::backend::Backend;
use accel::interp::Interpreter;
use accel::native::Native;
use accel::prelude::*;
use accel_core::repr::scalar::ScalarElt;

const TABLE: &str = include_str!("../special/values.txt");

/// Units in the last place that a value and a first derivative may be wrong by.
const VALUE: u64 = 4;
const DERIVATIVE: u64 = 8;

/// Numbers of which the table has points.
trait Number: Floating + ScalarElt + std::str::FromStr + PartialEq + Copy + Into<f64> {
    const TYPE: &str;
    /// The distance from 1 to the next number.
    const EPSILON: f64;
    /// What a second derivative may be wrong by, relative to it.
    const SECOND: f64;
    /// Neighbouring numbers have neighbouring places.
    fn place(self) -> i64;
}

impl Number for f64 {
    const TYPE: &str = "f64";
    const EPSILON: f64 = f64::EPSILON;
    const SECOND: f64 = 2e-13;
    fn place(self) -> i64 {
        let bits = self.to_bits() as i64;
        if bits < 0 { i64::MIN - bits } else { bits }
    }
}

impl Number for f32 {
    const TYPE: &str = "f32";
    const EPSILON: f64 = f32::EPSILON as f64;
    const SECOND: f64 = 2e-5;
    fn place(self) -> i64 {
        let bits = self.to_bits() as i32 as i64;
        if bits < 0 { i32::MIN as i64 - bits } else { bits }
    }
}

/// The columns of the points of a function. What the table leaves open is `None`.
fn columns<T: Number>(name: &str) -> Vec<Vec<Option<T>>> {
    let lines = TABLE.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let points: Vec<_> = lines.filter(|line| line[0] == T::TYPE && line[1] == name).collect();
    assert!(!points.is_empty(), "no points of {name}");
    let column = |k| points.iter().map(|line| line[k]).map(|text: &str| text.parse().ok()).collect();
    (2..points[0].len()).map(column).collect()
}

/// What is further from the table than the limits allow, one line each.
fn compare<T: Number>(
    what: &str,
    points: &[Vec<T>],
    found: Vec<T>,
    expected: &[Option<T>],
    far: impl Fn(T, T) -> bool,
) -> String {
    let mut wrong = String::new();
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        if let Some(expected) = expected.filter(|e| e != found && far(*found, *e)) {
            let at: Vec<T> = points.iter().map(|xs| xs[k]).collect();
            let places = found.place().abs_diff(expected.place());
            wrong += &format!("{what} at {at:?}: {found:?}, and not {expected:?} ({places} places)\n");
        }
    }
    wrong
}

fn places<T: Number>(most: u64) -> impl Fn(T, T) -> bool {
    move |a, b| a.place().abs_diff(b.place()) > most
}

fn vector<T: Number>(xs: &[T]) -> Vector<T> {
    Array::vector(xs.to_vec())
}

/// Checks a function of one number: its value, its derivative in both modes, and its second derivative.
fn one<T: Number>(backend: &dyn Backend, name: &str, f: fn(Exp<T>) -> Exp<T>) -> String {
    smooth(backend, name, f, 0.0, |_| 0.0)
}

/// The same for a function in terms of others. Its second derivative is a sum of terms of the size of the first one.
fn composed<T: Number>(backend: &dyn Backend, name: &str, f: fn(Exp<T>) -> Exp<T>) -> String {
    smooth(backend, name, f, 1.0, |_| 0.0)
}

/// The same for a Bessel function of the first kind. Near zeros, its error is relative to its amplitude.
fn oscillating<T: Number>(backend: &dyn Backend, name: &str, f: fn(Exp<T>) -> Exp<T>) -> String {
    let amplitude = |x: f64| if x.abs() < 1.0 { 0.0 } else { std::f64::consts::FRAC_2_PI.sqrt() / x.abs().sqrt() };
    smooth(backend, name, f, 0.0, amplitude)
}

/// Errors are relative to `size` where the results are smaller.
fn smooth<T: Number>(
    backend: &dyn Backend,
    name: &str,
    f: fn(Exp<T>) -> Exp<T>,
    first: f64,
    size: fn(f64) -> f64,
) -> String {
    let columns = columns::<T>(name);
    let xs: Vec<T> = columns[0].iter().copied().flatten().collect();
    let at = vector(&xs);
    let ones = vector(&vec![T::from_f64(1.0); xs.len()]);
    let elements = afun(move |x: Acc<Vector<T>>| map(f, x));
    let total = afun(move |x: Acc<Vector<T>>| sum(map(f, x)));
    let (y, forward) = run_on(backend, jvp(&elements), (&at, &ones)).unwrap();
    let (reverse, second) = run_on(backend, jvp(&grad(&total)), (&at, &ones)).unwrap();
    let label = |what: &str| format!("{} {} {name} {what}", backend.name(), T::TYPE);
    let sizes: Vec<f64> = xs.iter().map(|x| size((*x).into())).collect();
    let points = [xs];
    // What is near enough, by a tolerance for each number, is taken as equal.
    let rounded = |found: Vec<T>, expected: &[Option<T>], tolerance: &dyn Fn(usize, f64) -> f64| -> Vec<T> {
        let is_near = |k, a: T, b: T| (a.into() - b.into()).abs() <= tolerance(k, b.into());
        let pairs = found.into_iter().zip(expected).enumerate();
        pairs.map(|(k, (a, b))| b.filter(|b| is_near(k, a, *b)).unwrap_or(a)).collect()
    };
    let check = |what: &str, found: Vector<T>, expected: &[Option<T>], most: u64| {
        let found = rounded(found.to_vec(), expected, &|k, _| most as f64 * T::EPSILON * sizes[k]);
        compare(&label(what), &points, found, expected, places(most))
    };
    let of_terms = |k: usize, y: f64| {
        let d = columns[2][k].map_or(y, Into::into);
        T::SECOND * (y.abs() + first * d.abs()).max(sizes[k])
    };
    let second = rounded(second.to_vec(), &columns[3], &of_terms);
    check("value", y, &columns[1], VALUE)
        + &check("forward", forward, &columns[2], DERIVATIVE)
        + &check("reverse", reverse, &columns[2], DERIVATIVE)
        + &compare(&label("second"), &points, second, &columns[3], places(DERIVATIVE))
}

/// Checks a function of two numbers: its value, and its derivatives in both modes.
fn two<T: Number>(backend: &dyn Backend, name: &str, f: fn(Exp<T>, Exp<T>) -> Exp<T>) -> String {
    let columns = columns::<T>(name);
    let points: Vec<Vec<T>> = columns[..2].iter().map(|xs| xs.iter().copied().flatten().collect()).collect();
    let (a, b) = (vector(&points[0]), vector(&points[1]));
    let (ones, zeros) =
        (vector(&vec![T::from_f64(1.0); points[0].len()]), vector(&vec![T::from_f64(0.0); points[0].len()]));
    let elements = afun(move |a: Acc<Vector<T>>, b: Acc<Vector<T>>| zip_with(f, a, b));
    let total = afun(move |a: Acc<Vector<T>>, b: Acc<Vector<T>>| sum(zip_with(f, a, b)));
    let (y, by_a) = run_on(backend, jvp(&elements), ((&a, &b), (&ones, &zeros))).unwrap();
    let (_, by_b) = run_on(backend, jvp(&elements), ((&a, &b), (&zeros, &ones))).unwrap();
    let (da, db) = run_on(backend, grad(&total), (&a, &b)).unwrap();
    let label = |what: &str| format!("{} {} {name} {what}", backend.name(), T::TYPE);
    let derivative = |what: &str, found: Vector<T>, k: usize| {
        compare(&label(what), &points, found.to_vec(), &columns[k], places(DERIVATIVE))
    };
    compare(&label("value"), &points, y.to_vec(), &columns[2], places(VALUE))
        + &derivative("forward by a", by_a, 3)
        + &derivative("forward by b", by_b, 4)
        + &derivative("reverse by a", da, 3)
        + &derivative("reverse by b", db, 4)
}

/// Checks a function of three numbers, like `two`.
fn three<T: Number>(backend: &dyn Backend, name: &str, f: fn(Exp<T>, Exp<T>, Exp<T>) -> Exp<T>) -> String {
    let columns = columns::<T>(name);
    let points: Vec<Vec<T>> = columns[..3].iter().map(|xs| xs.iter().copied().flatten().collect()).collect();
    let at = (vector(&points[0]), vector(&points[1]), vector(&points[2]));
    let label = |what: &str| format!("{} {} {name} {what}", backend.name(), T::TYPE);
    let check = |what: &str, found: Vector<T>, k: usize, most: u64| {
        compare(&label(what), &points, found.to_vec(), &columns[k], places(most))
    };
    type V<T> = Acc<Vector<T>>;
    let elements = afun(move |a: V<T>, b: V<T>, x: V<T>| zip_with3(f, a, b, x));
    let total = afun(move |a: V<T>, b: V<T>, x: V<T>| sum(zip_with3(f, a, b, x)));
    let mut wrong = String::new();
    for k in 0..3 {
        let ones = |j: usize| vector(&vec![T::from_f64(f64::from(u8::from(j == k))); points[0].len()]);
        let (y, forward) = run_on(backend, jvp(&elements), (&at, &(ones(0), ones(1), ones(2)))).unwrap();
        wrong += &(check("value", y, 3, VALUE) + &check(&format!("forward by {k}"), forward, 4 + k, DERIVATIVE));
    }
    let (da, db, dx) = run_on(backend, grad(&total), &at).unwrap();
    let reverse = |what: &str, found: Vector<T>, k: usize| check(what, found, k, DERIVATIVE);
    wrong + &reverse("reverse by a", da, 4) + &reverse("reverse by b", db, 5) + &reverse("reverse by x", dx, 6)
}

macro_rules! functions {
    ($($name:ident: $check:ident, |$($x:ident),+| $f:expr;)*) => { $(
        #[test]
        fn $name() {
            let mut wrong = String::new();
            for backend in [&Interpreter as &dyn Backend, &Native] {
                wrong += &$check::<f64>(backend, stringify!($name), |$($x),+| $f);
                wrong += &$check::<f32>(backend, stringify!($name), |$($x),+| $f);
            }
            assert!(wrong.is_empty(), "{wrong}");
        }
    )* };
}

functions! {
    tanh: one, |x| x.tanh();
    sech: one, |x| x.sech();
    exp_m1: one, |x| x.exp_m1();
    asinh: one, |x| x.asinh();
    acosh: one, |x| x.acosh();
    atan: one, |x| x.atan();
    asin: one, |x| x.asin();
    acos: one, |x| x.acos();
    atanh: one, |x| x.atanh();
    ln_1p: one, |x| x.ln_1p();
    log2: one, |x| x.log2();
    log10: one, |x| x.log10();
    lgamma: one, |x| x.lgamma();
    digamma: one, |x| x.digamma();
    trigamma: one, |x| x.polygamma(1);
    polygamma_3: one, |x| x.polygamma(3);
    sigmoid: composed, |x| x.sigmoid();
    log_sigmoid: composed, |x| x.log_sigmoid();
    softplus: composed, |x| x.softplus();
    logit: composed, |x| x.logit();
    normal_cdf: one, |x| x.normal_cdf();
    log_normal_cdf: composed, |x| x.log_normal_cdf();
    erf: one, |x| x.erf();
    erfc: one, |x| x.erfc();
    erfinv: one, |x| x.erfinv();
    j0: oscillating, |x| x.j0();
    j1: oscillating, |x| x.j1();
    i0e: composed, |x| x.i0e();
    i1e: composed, |x| x.i1e();
    log_add_exp: two, |a, b| a.log_add_exp(b);
    xlogy: two, |a, b| a.xlogy(b);
    gamma_inc: two, |a, x| a.gamma_inc(x);
    gamma_inc_upper: two, |a, x| a.gamma_inc_upper(x);
    beta_inc: three, |a, b, x| a.beta_inc(b, x);
    beta_inc_upper: three, |a, b, x| a.beta_inc_upper(b, x);
    atan2: two, |a, b| a.atan2(b);
    hypot: two, |a, b| a.hypot(b);
}

/// Derivatives up to the third order, also at 0, where those of the factors have kinks, against power series.
#[test]
fn modified_bessel_functions() {
    type Number = Exp<f64>;
    fn orders(f: fn(Number) -> Number) -> [Vec<f64>; 4] {
        let first = move |x| gradient(f, x);
        let second = move |x| gradient(first, x);
        let all: [&dyn Fn(Number) -> Number; 4] = [&f, &first, &second, &|x| gradient(second, x)];
        all.map(|f| run(afun(|x: Acc<Vector<f64>>| map(f, x)), &vector(&BESSEL_POINTS)).unwrap().to_vec())
    }
    // I0 is the sum of c[k] x^k, and I1 its derivative.
    let mut c = vec![0.0; 120];
    c[0] = 1.0;
    (2..120).step_by(2).for_each(|k| c[k] = c[k - 2] / (k * k) as f64);
    let derivative = |c: &[f64]| (1..c.len()).map(|k| c[k] * k as f64).collect::<Vec<_>>();
    let mut series = vec![c];
    (0..4).for_each(|n| series.push(derivative(&series[n])));
    let at = |c: &[f64], x: f64| c.iter().rev().fold(0.0, |sum, c| sum * x + c);
    let close = |found: f64, wanted: f64| (found - wanted).abs() <= 1e-12 * wanted.abs().max(1.0);
    let [i0, i1, ln_i0] = [orders(|x| x.i0()), orders(|x| x.i1()), orders(|x| x.ln_i0())];
    for (k, x) in BESSEL_POINTS.iter().enumerate() {
        let s = [0, 1, 2, 3, 4].map(|n| at(&series[n], *x));
        let r = [s[1] / s[0], s[2] / s[0], s[3] / s[0]];
        let logarithms = [s[0].ln(), r[0], r[1] - r[0] * r[0], r[2] - 3.0 * r[1] * r[0] + 2.0 * r[0] * r[0] * r[0]];
        for n in 0..4 {
            assert!(close(i0[n][k], s[n]), "i0, order {n} at {x}: {}, not {}", i0[n][k], s[n]);
            assert!(
                close(ln_i0[n][k], logarithms[n]),
                "ln_i0, order {n} at {x}: {}, not {}",
                ln_i0[n][k],
                logarithms[n]
            );
        }
        for n in 0..3 {
            assert!(close(i1[n][k], s[n + 1]), "i1, order {n} at {x}: {}, not {}", i1[n][k], s[n + 1]);
        }
    }
    let far = run(afun(|x: Acc<Vector<f64>>| map(|x| x.ln_i0(), x)), &vector(&[1000.0])).unwrap().to_vec()[0];
    assert!((far - (1000.0 - (2000.0 * std::f64::consts::PI).ln() / 2.0 + 1.25e-4)).abs() < 1e-6, "{far}");
}

const BESSEL_POINTS: [f64; 6] = [0.0, 1e-3, -0.7, 2.0, -5.0, 12.0];

/// The derivative by `x` is the density p of the gamma distribution, whose derivatives are p (a - 1 - x) / x and p (ln x - ψ(a)).
#[test]
fn second_derivatives_of_the_incomplete_gamma_function() {
    let points = [(0.3, 0.2), (0.5, 2.0), (2.5, 2.0), (7.0, 30.0), (40.0, 25.0), (300.0, 310.0)];
    let (a, x): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
    let total = afun(|a: Acc<Vector<f64>>, x: Acc<Vector<f64>>| sum(zip_with(|a, x| a.gamma_inc(x), a, x)));
    let expected = afun(|a: Acc<Vector<f64>>, x: Acc<Vector<f64>>| {
        let density = |a: Exp<f64>, x: Exp<f64>| ((a - 1.0) * x.ln() - x - a.lgamma()).exp();
        let by_x = zip_with(|a, x| density(a, x) * (a - 1.0 - x) / x, a, x);
        (zip_with(|a, x| density(a, x) * (x.ln() - a.digamma()), a, x), by_x)
    });
    let (a, x) = (vector(&a), vector(&x));
    let (zeros, ones) = (vector(&[0.0; 6]), vector(&[1.0; 6]));
    let second = |da, dx| run_on(&Native, jvp(&grad(&total)), ((&a, &x), (da, dx))).unwrap().1;
    let ((_, xa), (ax, xx)) = (second(&ones, &zeros), second(&zeros, &ones));
    let (by_a, by_x) = run_on(&Native, &expected, (&a, &x)).unwrap();
    for (what, found, expected) in [("a, then x", ax, &by_a), ("x, then a", xa, &by_a), ("x", xx, &by_x)] {
        for (found, expected) in found.to_vec().iter().zip(expected.to_vec()) {
            assert!((found - expected).abs() <= 1e-12 * expected.abs(), "by {what}: {found}, and not {expected}");
        }
    }
}

/// The derivative by `x` is the density p of the beta distribution. With c = a + b, its logarithm has the derivatives (a - 1) / x
/// - (b - 1) / (1 - x), ln x - ψ(a) + ψ(c) and ln(1 - x) - ψ(b) + ψ(c).
#[test]
fn second_derivatives_of_the_incomplete_beta_function() {
    type V = Acc<Vector<f64>>;
    let total = afun(|a: V, b: V, x: V| sum(zip_with3(|a: Exp<f64>, b, x| a.beta_inc(b, x), a, b, x)));
    let expected = afun(|a: V, b: V, x: V| {
        let of = |f: fn(Exp<f64>, Exp<f64>, Exp<f64>) -> Exp<f64>| {
            let density = |a: Exp<f64>, b: Exp<f64>, x: Exp<f64>| {
                let y = lit::<f64>(1.0) - x;
                let ln = (a - 1.0) * x.ln() + (b - 1.0) * y.ln() + (a + b).lgamma() - a.lgamma() - b.lgamma();
                ln.exp() * f(a, b, x)
            };
            zip_with3(density, a, b, x)
        };
        let by_a = of(|a, b, x| x.ln() + (a + b).digamma() - a.digamma());
        let by_b = of(|a, b, x| (lit::<f64>(1.0) - x).ln() + (a + b).digamma() - b.digamma());
        (by_a, by_b, of(|a, b, x| (a - 1.0) / x - (b - 1.0) / (lit::<f64>(1.0) - x)))
    });
    // On both sides of the mean, with `a` and `b` on both sides of 1 and of 10, and near 1.
    let points = [
        (0.3, 2.0, 0.2),
        (0.3, 2.0, 0.05),
        (2.5, 0.5, 0.95),
        (2.5, 0.5, 0.7),
        (3.0, 7.0, 0.4),
        (30.0, 25.0, 0.5),
        (40.0, 4.0, 0.95),
    ];
    let column = |f: fn(&(f64, f64, f64)) -> f64| vector(&points.iter().map(f).collect::<Vec<_>>());
    let at = (column(|p| p.0), column(|p| p.1), column(|p| p.2));
    let wanted = run_on(&Native, &expected, &at).unwrap();
    let wanted = [wanted.0, wanted.1, wanted.2];
    for k in 0..3 {
        let unit = |j: usize| vector(&[f64::from(u8::from(j == k)); 7]);
        let (_, (da, db, dx)) = run_on(&Native, jvp(&grad(&total)), (&at, &(unit(0), unit(1), unit(2)))).unwrap();
        // In direction k, the derivative by x; in direction x, all derivatives.
        let mut found = vec![(dx, &wanted[k])];
        if k == 2 {
            found.extend([(da, &wanted[0]), (db, &wanted[1])]);
        }
        for (found, wanted) in found.iter().flat_map(|(a, b)| a.to_vec().into_iter().zip(b.to_vec())) {
            assert!((found - wanted).abs() <= 1e-11 * wanted.abs(), "direction {k}: {found}, and not {wanted}");
        }
    }
}
