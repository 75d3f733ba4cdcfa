//! A zero that arithmetic produced is not the zero of what is not used: NOTE [Infinite arguments] in `accel-ad`.
//!
//! Random programs take numbers near 1, so nothing overflows in them. Here all chains of a few functions are differentiated at large
//! numbers, and compared with derivatives that are computed with exponents of any size.

use crate::harness::V;
use crate::strong_zeros::{gradient, unit_vector};
use accel::backend::Backend;
use accel::dual::{self, Real};
use accel::interp::Interpreter;
use accel::native::Native;
use accel::prelude::*;
use accel_fusion::OptimizedEvaluator;
use accel_trace::{Keep, trace_on};

fn v(xs: &[f64]) -> Vector<f64> {
    Array::vector(xs.to_vec())
}

/// Checks that the derivatives of a program at `x` are NaN in both modes on several backends, and in traces.
#[track_caller]
fn is_nan(name: &str, x: &[f64], program: impl Fn(V) -> Acc<Scalar<f64>> + 'static) {
    let prog = afun(program);
    let backends: [&dyn Backend; 3] = [&Interpreter, &Native, &OptimizedEvaluator];
    for backend in backends {
        let all = |found: &[f64]| assert!(found.iter().all(|d| d.is_nan()), "{name} on {}: {found:?}", backend.name());
        all(&run_on(backend, grad(&prog), &v(x)).unwrap().to_vec());
        let along = |k| run_on(backend, jvp(&prog), (&v(x), &v(&unit_vector(x.len(), k)))).unwrap().1.item();
        all(&(0..x.len()).map(along).collect::<Vec<_>>());
    }
    for keep in [Keep::Arrays, Keep::EveryArray, Keep::Scalars] {
        let (_, trace) = trace_on(&Interpreter, &prog, &v(x), keep).unwrap();
        let found = trace.reverse(&Array::scalar(1.0)).unwrap().inputs().to_vec();
        assert!(found.iter().all(|d| d.is_nan()), "{name} in a trace of {keep:?}: {found:?}");
    }
}

/// Functions that are infinite at infinity, of a number that overflows. Each has a finite derivative at 1000, or nearly so.
macro_rules! overflowing {
    ($($name:ident: |$e:pat_param, $lit:pat_param| $f:expr;)*) => {
        #[test]
        fn functions_of_what_overflows() {
            $({
                fn plain<T: Real>(x: T) -> T {
                    let ($e, $lit) = (x.exp(), T::lit);
                    $f
                }
                fn staged(x: Exp<f64>) -> Exp<f64> {
                    let ($e, $lit) = (x.exp(), lit::<f64>);
                    $f
                }
                let name = stringify!($name);
                is_nan(name, &[1000.0], |x| unit(staged(x.at(0))));
                let (reverse, forward): (f64, f64) = (dual::grad(plain, &1000.0).unwrap(), dual::jvp(plain, &1000.0, &1.0).unwrap().1);
                assert!(reverse.is_nan() && forward.is_nan(), "{name} of dual numbers: {reverse}, {forward}");
                // What is not used, or is used with the factor 0, has the derivative 0 all the same.
                gradient(&[&[1000.0, 0.3]], &[0.0, 1.0], |x| unit(x.at(1)) + sum(take(0, map(staged, x))));
                gradient(&[&[1000.0, 0.3]], &[0.0, 1.0], |x| {
                    sum(imap(|i, x| cond(i.eq(0), staged(x) * 0.0, x), x))
                });
            })*
        }
    };
}

overflowing! {
    ln: |e, lit| (e + lit(1.0)).ln();
    log2: |e, lit| (e + lit(1.0)).log2();
    log10: |e, lit| (e + lit(1.0)).log10();
    ln_1p: |e, _| e.ln_1p();
    sqrt: |e, lit| (e + lit(1.0)).sqrt();
    cbrt: |e, lit| (e + lit(1.0)).cbrt();
    asinh: |e, _| e.asinh();
    acosh: |e, lit| (e + lit(1.0)).acosh();
    power: |e, lit| (e + lit(1.0)).powf(lit(0.25));
    hypot: |e, lit| e.hypot(lit(1.0));
    multiple: |e, lit| (lit(0.25) * (e + lit(1.0))).ln() * lit(0.5);
}

#[test]
fn sums_of_exponentials() {
    is_nan("ln of the sum", &[1000.0, 999.0, 1.0], |x| map(|s| s.ln(), sum(x.exp())));
    is_nan("ln of each", &[1000.0, 999.0, 800.0], |x| sum(map(|x| (1.0 + x.exp()).ln(), x)));
    let single = afun(|x: Acc<Vector<f32>>| sum(map(|x| (1.0 + x.exp()).ln(), x)));
    let x = Array::vector(vec![89.0f32, 0.0]);
    let found = run(grad(&single), &x).unwrap().to_vec();
    assert!(found[0].is_nan() && found[1] == 0.5, "{found:?}");
}

/// The functions in chains: on numbers with exponents of any size, and in a program.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Function {
    Exponential,
    LnOnePlus,
    Sqrt,
    Asinh,
    Square,
    Recip,
    Tanh,
    Twice,
}
use Function::*;

const FUNCTIONS: [Function; 8] = [Exponential, LnOnePlus, Sqrt, Asinh, Square, Recip, Tanh, Twice];

fn staged(f: Function, x: Exp<f64>) -> Exp<f64> {
    match f {
        Exponential => x.exp(),
        LnOnePlus => (1.0 + x).ln(),
        Sqrt => x.sqrt(),
        Asinh => x.asinh(),
        Square => x * x,
        Recip => x.recip(),
        Tanh => x.tanh(),
        Twice => x + x,
    }
}

/// A positive number: its logarithm to the base e. Numbers from e^-1e15 to e^1e15 have at least one digit.
type Log = f64;

/// The logarithms of the value and of the magnitude of the derivative of a function of e^l, for positive numbers.
fn exact(f: Function, l: Log) -> (Log, Log) {
    let one_plus = |l: Log| l.max(0.0) + (-l.abs()).exp().ln_1p();
    match f {
        Exponential => (l.exp(), l.exp()),
        LnOnePlus => (if l < -30.0 { l } else { one_plus(l).ln() }, -one_plus(l)),
        Sqrt => (l / 2.0, -l / 2.0 - 2f64.ln()),
        // asinh(x) is x for small x and ln(2 x) for large x.
        Asinh if l < -15.0 => (l, 0.0),
        Asinh if l > 15.0 => ((l + 2f64.ln()).ln(), -l),
        Asinh => (l.exp().asinh().ln(), -one_plus(2.0 * l) / 2.0),
        Square => (2.0 * l, l + 2f64.ln()),
        Recip => (-l, -2.0 * l),
        Tanh if l < -15.0 => (l, 0.0),
        Tanh => (l.exp().tanh().ln(), 2.0 * (2f64.ln() - l.exp() - (-2.0 * l.exp()).exp().ln_1p())),
        Twice => (l + 2f64.ln(), 2f64.ln()),
    }
}

/// Checks a chain at one number; whether there was something to compare.
fn compare(chain: &[Function], x: f64, value: f64, derivatives: [f64; 2]) -> bool {
    let (mut y, mut slope, mut vanishes) = (x.ln(), 0.0, false);
    for f in chain {
        let (value, more) = exact(*f, y);
        // The book says that this is taken for a factor 0.
        vanishes |= *f == Recip && more < -700.0;
        (y, slope) = (value, slope + more);
    }
    let near = |found: f64, log: Log, least: f64| (found.abs() - log.exp()).abs() <= least + 1e-8 * log.exp();
    let close = |found, log| near(found, log, 1e-280);
    // A value that is wrong because something overflowed says so, or its derivative is not to be blamed.
    let is_right = value.is_finite() && close(value, y);
    if y.is_nan()
        || slope.is_nan()
        || y.abs() > 1e12
        || vanishes
        || !(is_right || value.is_infinite() && !chain.contains(&Recip))
    {
        return false;
    }
    for d in derivatives {
        // Squares in local derivatives, such as that of `1 / x`, vanish below 1e-162.
        assert!(!d.is_finite() || near(d, slope, 1e-160), "{chain:?} at {x}: {d}, not e^{slope}; the value is {value}");
    }
    true
}

/// A derivative is right, or not finite; never finite and wrong.
#[test]
fn chains_of_functions() {
    let points = [0.5, 3.0, 20.0, 400.0, 1000.0, 1e10, 1e200];
    let at: Vec<f64> = points.to_vec();
    let mut compared = 0;
    let mut not_finite = 0;
    let chains = |n: u32| {
        (0..FUNCTIONS.len().pow(n))
            .map(move |k| (0..n).map(|i| FUNCTIONS[k / FUNCTIONS.len().pow(i) % FUNCTIONS.len()]).collect())
    };
    let all: Vec<Vec<Function>> = (1..=3).flat_map(chains).collect();
    for chain in &all {
        let c = chain.clone();
        let prog = afun(move |x: V| map(|x| c.iter().fold(x, |x, f| staged(*f, x)), x));
        let ones = v(&vec![1.0; at.len()]);
        let (y, forward) = run_on(&Interpreter, jvp(&prog), (&v(&at), &ones)).unwrap();
        let reverse = run_on(&Interpreter, vjp(&prog), (&v(&at), &ones)).unwrap();
        for (k, x) in points.iter().enumerate() {
            let d = [forward.to_vec()[k], reverse.to_vec()[k]];
            compared += usize::from(compare(chain, *x, y.to_vec()[k], d));
            not_finite += usize::from(!d[0].is_finite());
        }
    }
    assert!(compared > all.len() * points.len() / 2 && not_finite > all.len() / 4, "{compared}, {not_finite}");
}

/// A function that is finite at infinity is constant there as far as numbers tell. Where a number overflowed, this is right; where it is
/// a pole, it is not: `1 / (1 / x)` has the derivative 1 at 0.
#[test]
fn functions_that_are_finite_at_infinity() {
    gradient(&[&[-1000.0]], &[0.0], |x| unit(1.0 / (1.0 + (-x.at(0)).exp())));
    gradient(&[&[1000.0]], &[0.0], |x| unit(x.at(0).exp().atan() + x.at(0).exp().tanh()));
    gradient(&[&[1e200]], &[0.0], |x| unit(1.0 / (1.0 + x.at(0) * x.at(0))));
    gradient(&[&[0.0]], &[0.0], |x| unit(x.at(0).recip().recip()));
}

/// The book says that a convention hides second derivatives of functions of a norm at 0, and which form has the right ones.
#[test]
fn second_derivatives_at_the_kink_of_a_norm() {
    type Number = Exp<f64>;
    let at_zero = |f: &dyn Fn(V) -> Acc<Scalar<f64>>| run(hessian(afun(f)), &v(&[0.0, 0.0])).unwrap().to_vec();
    let bell = |s: Number| (-s).exp();
    let pairs: [[&dyn Fn(V) -> Acc<Scalar<f64>>; 2]; 4] = [
        [&|x| sum(x * x), &|x| norm(x) * norm(x)],
        [&|x| map(move |s| 1.0 - bell(s), sum(x * x)), &|x| map(move |n| 1.0 - bell(n * n), norm(x))],
        [&|x| unit(x.at(0) * x.at(0) + x.at(1) * x.at(1)), &|x| unit(x.at(0).hypot(x.at(1)).powi(2))],
        [&|x| sum(map(|x| x * x, x)), &|x| sum(map(|x| x.abs() * x.abs(), x))],
    ];
    for [smooth, with_a_kink] in pairs {
        assert_eq!(at_zero(smooth), [2.0, 0.0, 0.0, 2.0]);
        assert_eq!(at_zero(with_a_kink), [0.0; 4]);
    }
}
