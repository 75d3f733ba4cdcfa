//! Strong zeros: elements that are not used, or are used with the factor 0, have the derivative 0, even if they or their local
//! derivatives are infinite or NaN (NOTE [Strong zeros] in `accel-ad`). The rule is the same in reverse and forward mode, in
//! traces, for dual numbers, and for second derivatives.

use crate::harness::V;
use accel::backend::Backend;
use accel::dual::{self, Real};
use accel::interp::Interpreter;
use accel::native::Native;
use accel::prelude::*;
use accel_fusion::OptimizedEvaluator;
use accel_trace::{Keep, trace_on};

type S = Acc<Scalar<f64>>;

const NAN: f64 = f64::NAN;
const INFINITE: f64 = f64::INFINITY;

fn v(xs: &[f64]) -> Vector<f64> {
    Array::vector(xs.to_vec())
}

/// Compares a derivative with what it is; a zero can be negative.
pub fn same(what: &str, found: &[f64], wanted: &[f64]) {
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs();
    assert!(found.len() == wanted.len() && found.iter().zip(wanted).all(close), "{what}: {found:?}, not {wanted:?}");
}

/// Checks the gradient of a program at some points in all ways to compute it, on several backends.
#[track_caller]
pub fn gradient(points: &[&[f64]], wanted: &[f64], program: impl Fn(V) -> S + 'static) {
    let prog = afun(program);
    on(&Interpreter, "interpreter", &prog, points, wanted);
    on(&Native, "native", &prog, points, wanted);
    on(&OptimizedEvaluator, "after the common passes", &prog, points, wanted);
    for (x, keep) in points.iter().flat_map(|x| [Keep::Arrays, Keep::EveryArray, Keep::Scalars].map(|keep| (x, keep))) {
        let (_, trace) = trace_on(&Interpreter, &prog, &v(x), keep).expect("a trace");
        let adjoints = trace.reverse(&Array::scalar(1.0)).expect("adjoints");
        same(&format!("trace of {keep:?} at {x:?}"), &adjoints.inputs().to_vec(), wanted);
    }
}

/// Checks the gradient and the tangents on a backend.
fn on<B: Backend>(backend: &B, name: &str, prog: &Afun<Vector<f64>, Scalar<f64>>, points: &[&[f64]], wanted: &[f64]) {
    let reverse = compile_on(backend, grad(prog)).expect("a program");
    let forward = compile_on(backend, jvp(prog)).expect("a program");
    for x in points {
        same(&format!("{name} at {x:?}"), &reverse.run(&v(x)).expect("a gradient").to_vec(), wanted);
        let along = |k: usize| forward.run((&v(x), &v(&unit_vector(x.len(), k)))).expect("a tangent").1.item();
        same(&format!("{name} at {x:?}, forward"), &(0..x.len()).map(along).collect::<Vec<_>>(), wanted);
    }
}

/// A vector of `n` elements, of which element `k` is 1 and the others are 0.
pub fn unit_vector(n: usize, k: usize) -> Vec<f64> {
    (0..n).map(|i| f64::from(u8::from(i == k))).collect()
}

/// Checks that the second derivatives by an element whose derivative is `0` are zero, and that both modes have the same ones.
fn second(points: &[&[f64]], wanted: &[f64], program: impl Fn(V) -> S + 'static) {
    let prog = grad(&afun(program));
    let forward = compile(jvp(&prog)).expect("a program");
    let reverse = compile(vjp(&prog)).expect("a program");
    for x in points {
        let rows = |k: usize| {
            let unit = v(&unit_vector(x.len(), k));
            let (_, row) = forward.run((&v(x), &unit)).expect("a tangent of the gradient");
            same(
                &format!("second derivatives at {x:?}"),
                &reverse.run((&v(x), &unit)).expect("adjoints").to_vec(),
                &row.to_vec(),
            );
            row.to_vec()
        };
        for (i, row) in (0..x.len()).map(rows).enumerate() {
            let vanish = row.iter().zip(wanted).all(|(d, first)| *d == 0.0 || *first != 0.0 && wanted[i] != 0.0);
            assert!(vanish, "the second derivatives by {i} and others at {x:?} are {row:?}");
        }
    }
}

/// Functions whose derivative is infinite or NaN at 0 or at the other numbers planted here.
type Function = fn(Exp<f64>) -> Exp<f64>;
const FUNCTIONS: [(&str, Function); 16] = [
    ("sqrt", |x| x.sqrt()),
    ("ln", |x| x.ln()),
    ("recip", |x| x.recip()),
    ("cbrt", |x| x.cbrt()),
    ("x ln x", |x| x * x.ln()),
    ("1 / x", |x| 1.0 / x),
    ("x / (x + x^2)", |x| x / (x + x * x)),
    ("x^0.5", |x| x.powf(0.5)),
    ("x^x", |x| x.powf(x)),
    ("asin", |x| (1.0 - x).asin()),
    ("acosh", |x| (1.0 + x).acosh()),
    ("atanh", |x| (1.0 - x).atanh()),
    ("exp of 1 / x", |x| x.recip().exp()),
    ("atan2", |x| (x.ln() * x).atan2(x)),
    ("sin of 1 / x", |x| x.recip().sin() * x),
    ("log_gamma", |x| x.lgamma() + x * x),
];

/// The numbers that are not used, beside 0.3, which is.
const PLANTED: [f64; 5] = [0.0, NAN, INFINITE, -INFINITE, -1.0];

/// Checks that a program that uses the second of two elements of `f` has the derivatives that it has with harmless numbers in
/// the place of the unused ones.
#[track_caller]
fn unused(program: impl Fn(V, Function) -> S + Copy + 'static) {
    let harmless = |name: &str, f: Function| {
        let of = compile_on(&Interpreter, grad(&afun(move |x: V| program(x, f)))).expect("a gradient");
        let of = |first: f64| of.run(&v(&[first, 0.3])).expect("a gradient").to_vec();
        let harmless = of(0.6);
        assert!(harmless[0] == 0.0 && harmless[1].is_finite() && harmless[1] != 0.0, "{name}: {harmless:?}");
        PLANTED.iter().for_each(|planted| same(&format!("{name} of {planted}"), &of(*planted), &harmless));
        harmless
    };
    FUNCTIONS.iter().for_each(|(name, f)| _ = harmless(name, *f));
    let all: Function = |x| FUNCTIONS.iter().map(|(_, f)| f(x)).reduce(|a, b| a + b).expect("a function");
    let points = PLANTED.map(|planted| [planted, 0.3]);
    let (points, wanted): (Vec<&[f64]>, _) = (points.iter().map(|x| &x[..]).collect(), harmless("all", all));
    gradient(&points, &wanted, move |x| program(x, all));
    second(&points, &wanted, move |x| program(x, all));
}

#[test]
fn dropped() {
    unused(|x, f| sum(skip(1, map(f, x))));
}

#[test]
fn not_gathered() {
    unused(|x, f| {
        let y = map(f, x);
        unit(y.at(1) * y.at(1))
    });
}

#[test]
fn not_permuted() {
    unused(|x, f| sum(permute(|n, o| n + o, fill(2, 0.0), |i| (i.gt(0), i), map(f, x))));
    unused(|x, f| sum(permute(|n, o| n * o, fill(2, 1.5), |i| (i.gt(0), i), map(f, x))));
    unused(|x, f| sum(permute(|n, o| n.max(o), fill(2, -9.0), |i| (i.gt(0), i), map(f, x))));
}

#[test]
fn masked() {
    let used = |i: Exp<i64>| i.eq(1);
    unused(move |x, f| sum(imap(move |i, y| cond(used(i), y, 0.0), map(f, x))));
    unused(move |x, f| sum(imap(move |i, y| cond(used(i), y * y, 3.0), map(f, x))));
    // Of a product with 0, the value is NaN, but not the derivative.
    unused(move |x, f| sum(imap(move |i, y| i.cast::<f64>() * y, map(f, x))));
    unused(move |x, f| sum(zip_with(|m, y| y * m * m, generate(2, |i| i.cast::<f64>()), map(f, x))));
}

#[test]
fn in_tuples() {
    unused(|x, f| {
        let (y, z) = unzip(map(move |x| (f(x), x * x), x));
        unit(y.at(1) * z.at(1))
    });
    unused(|x, f| {
        let pairs = imap(move |i, x| (f(x), i), x);
        sum(map(|(y, i)| cond(i.eq(0), 0.0, y), pairs))
    });
}

#[test]
fn in_rows_that_are_not_used() {
    let rows = |x: V, f: Function| replicate((All, 3), map(f, x));
    unused(move |x, f| sum(skip(1, sum(rows(x, f)))));
    unused(move |x, f| sum(skip(1, product(rows(x, f)))));
    unused(move |x, f| sum(skip(1, fold(|x, y| x.max(y), -9.0, rows(x, f)))));
    unused(move |x, f| sum(skip(1, fold(|x, y| x * y + x + y, 0.5, rows(x, f)))));
    unused(move |x, f| sum(slice((1i64, All), scanl(|x, y| x + y, 0.5, rows(x, f)))));
    unused(move |x, f| sum(slice((1i64, All), scanl1(|x, y| x * y, rows(x, f)))));
    unused(move |x, f| sum(slice((1i64, All), scanr(|x, y| x * y + x + y, 0.5, rows(x, f)))));
}

#[test]
fn before_and_after_a_scan() {
    // The first element is the last one to be added, or it comes after the part that is used.
    unused(|x, f| unit(scanr1(|x, y| x + y, map(f, x)).at(1)));
    unused(|x, f| unit(scanr1(|x, y| x * y, map(f, x)).at(1)));
    unused(|x, f| unit(scanr1(|x, y| x * y + x + y, map(f, x)).at(1)));
}

#[test]
fn in_loops() {
    unused(|x, f| sum(skip(1, aiterate(2, move |y: V| zip_with(move |x, y| f(x) * y + y, x, y), x))));
    unused(|x, f| sum(aiterate(2, |y: V| imap(|i, y| cond(i.eq(1), y * y, 0.0), y), map(f, x))));
    unused(|x, f| sum(skip(1, map(move |x| iterate(2, move |y: Exp<f64>| f(x) * y + y, x), x))));
    unused(|x, f| sum(skip(1, map(move |x| iterate(3, |y: Exp<f64>| y * y, f(x)), x))));
}

#[test]
fn in_branches() {
    unused(|x, f| {
        let y = map(f, x);
        acond(x.at(1).gt(0.0), unit(y.at(1) * 2.0), sum(y))
    });
}

#[test]
fn of_norms() {
    let norms = |m: Acc<Matrix<f64>>| map(|s: Exp<f64>| s.sqrt(), sum(map(|x| x * x, m)));
    gradient(&[&[3.0, 4.0, 0.0, 0.0]], &[0.6, 0.8, 0.0, 0.0], move |x| {
        sum(map(|n| cond(n.gt(0.5), n, 1.0), norms(reshape((2, 2), x))))
    });
    // The norm has the derivative 0 at 0, however it is computed.
    gradient(&[&[0.0, 0.0]], &[0.0, 0.0], move |x| sum(norms(reshape((1, 2), x))));
    gradient(&[&[0.0, 0.0]], &[0.0, 0.0], move |x| sum(map(|n| n * n, norms(reshape((1, 2), x)))));
    gradient(&[&[0.0, 0.0]], &[0.0, 0.0], move |x| sum(map(|n| 1.0 / (1.0 + n * n).sqrt(), norms(reshape((1, 2), x)))));
    gradient(&[&[3.0; 4]], &[0.0; 4], |x| {
        let mean = the(sum(x)) / 4.0;
        map(|s| (s / 4.0).sqrt(), sum(map(move |x| (x - mean) * (x - mean), x)))
    });
    gradient(&[&[1600.0]], &[0.0], |x| sum(map(|x| (-x).exp().sqrt(), x)));
}

/// A second derivative does not vanish where a first one does.
#[test]
fn second_derivatives_where_the_first_vanish() {
    // f = y sqrt(x), with the derivative 0 by x at y = 0.
    let f = |x: V| unit(x.at(1) * x.at(0).sqrt());
    let gradient = grad(&afun(f));
    let (x, along_y, along_x) = (v(&[4.0, 0.0]), v(&[0.0, 1.0]), v(&[1.0, 0.0]));
    for (direction, wanted) in [(&along_y, [0.25, 0.0]), (&along_x, [0.0, 0.25])] {
        let (g, second) = run(jvp(&gradient), (&x, direction)).unwrap();
        assert_eq!((g.to_vec(), second.to_vec()), (vec![0.0, 2.0], wanted.to_vec()));
        assert_eq!(run(vjp(&gradient), (&x, direction)).unwrap().to_vec(), wanted);
    }
    // The third one by x, x and y.
    let third = jvp(&grad(&afun(move |x: V| unit(call(&gradient, x).at(0)))));
    let (_, third) = run(third, (&x, &along_y)).unwrap();
    assert_eq!(third.to_vec(), [-1.0 / 32.0, 0.0]);
}

/// Ordinary code has the same rule.
#[test]
fn of_dual_numbers() {
    fn second<T: Real>(x: &[T]) -> T {
        let roots: Vec<T> = x.iter().map(|x| x.sqrt()).collect();
        roots[1] + (roots[0] - roots[0]) * T::zero() + T::zero() * x[0].ln()
    }
    let x = vec![0.0, 0.25];
    assert_eq!(dual::grad(|x: Vec<_>| second(&x), &x).unwrap(), [0.0, 1.0]);
    let (_, along) = dual::jvp(|x: Vec<_>| x[0].sqrt() + x[1].sqrt(), &x, &vec![0.0, 1.0]).unwrap();
    assert_eq!(along, 1.0);
    let (_, columns) = dual::jacobian_columns(|x: Vec<_>| second(&x), &x);
    assert_eq!(columns, [0.0, 1.0]);
    let hessian = dual::hessian(|x: Vec<_>| second(&x), &x).unwrap();
    assert_eq!(hessian, [[0.0, 0.0], [0.0, -2.0]]);
}

/// The derivative of x^y by y is 0 at x = 0, in all ways.
#[test]
fn of_powers_of_zero() {
    fn power<T: Real>((x, y): (T, T)) -> T {
        x.powf(y)
    }
    for y in [0.0, -1.0, 2.0] {
        gradient_by_exponent(y);
        assert_eq!(dual::grad(power, &(0.0, y)).unwrap().1, 0.0);
        let (_, along) = dual::jvp(power, &(0.0, y), &(0.0, 1.0)).unwrap();
        assert_eq!(along, 0.0);
    }
}

fn gradient_by_exponent(y: f64) {
    gradient(&[&[y]], &[0.0], |y| sum(map(|y| constant(0.0).powf(y), y)));
}
