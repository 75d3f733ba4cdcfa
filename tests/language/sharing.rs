//! Tests of sharing: an expression that is written once is one operation, however often it is used. Programs, their
//! gradients and what they print are linear in the number of operations. Long programs need no deep stack, and any thread
//! can use them. These tests are about the front end and the derivatives, so the interpreter runs
//! the programs: C compilers have their own costs.

use accel::afun::Compiled;
use accel::interp::Interpreter;
use accel::prelude::*;
use accel_core::pass::count;

type Objective = Afun<Vector<f64>, Scalar<f64>>;

/// Runs a program on the interpreter.
fn run<A: Arrays, R: Arrays>(prog: impl AsAfun<A, R>, inputs: impl Inputs<A>) -> Result<R, Error> {
    run_on(&Interpreter, prog, inputs)
}

/// The number of nodes of a program, of scalar code and of arrays.
fn nodes<A: Arrays, R: Arrays>(prog: &Afun<A, R>) -> usize {
    let counts = count(prog.program().unwrap());
    counts.scalars + counts.arrays
}

/// Every step uses the value before it twice; the value stays the same.
fn scalar_chain(n: usize) -> Objective {
    afun(|xs: Acc<Vector<f64>>| sum(map(|x| (0..n).fold(x, |y, _| y * 0.5 + y * 0.5), xs)))
}

fn array_chain(n: usize) -> Objective {
    afun(|xs: Acc<Vector<f64>>| sum((0..n).fold(xs, |ys, _| zip_with(|a, b| a * 0.5 + b * 0.5, ys, ys))))
}

/// A chain of functions without anything shared.
fn nested_calls(n: usize) -> Objective {
    afun(|xs: Acc<Vector<f64>>| sum(map(|x| (0..n).fold(x, |y, k| if k % 2 == 0 { y.sin() } else { y.asin() }), xs)))
}

/// A sum of shared terms.
fn wide_sum(n: usize) -> Objective {
    afun(|xs: Acc<Vector<f64>>| {
        let term = |x: Exp<f64>, k: usize| x * (k as f64 / n as f64);
        sum(map(|x| (0..n).map(|k| term(x, k)).fold(x, |s, t| s + t * t), xs))
    })
}

/// The same chain with a conditional in each step.
fn conditional_chain(n: usize) -> Objective {
    afun(|xs: Acc<Vector<f64>>| {
        sum(map(|x| (0..n).fold(x, |y, k| cond(y.lt(k as f64), y * 0.5 + y * 0.5, y + 0.0)), xs))
    })
}

const XS: [f64; 2] = [0.25, -0.5];

/// Checks that the program and its gradient are linear from `small` to ten times `small` steps. (The benchmark `frontend` measures
/// times.) `value_and_slope` is the result of the chain of a number of steps at a point, and its derivative.
fn linear(chain: fn(usize) -> Objective, small: usize, value_and_slope: impl Fn(f64, usize) -> (f64, f64)) {
    let [few, many] = [small, 10 * small].map(chain);
    let gradient = grad(&many);
    for (few, many) in [(nodes(&few), nodes(&many)), (nodes(&grad(&few)), nodes(&gradient))] {
        assert!(many <= 11 * few, "{few} and {many} nodes");
    }
    let xs = Array::vector(XS.to_vec());
    let (value, slopes) = (run(&many, &xs).unwrap().item(), run(&gradient, &xs).unwrap());
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.abs().max(1.0);
    let expected = XS.map(|x| value_and_slope(x, 10 * small));
    assert!(close(value, expected.iter().map(|e| e.0).sum()), "{value} {expected:?}");
    assert!(slopes.iter().zip(expected).all(|(s, e)| close(s, e.1)), "{slopes:?} {expected:?}");
}

fn unchanged(x: f64, _: usize) -> (f64, f64) {
    (x, 1.0)
}

#[test]
fn doubling_chains_of_scalars() {
    linear(scalar_chain, 1_000, unchanged);
}

#[test]
fn doubling_chains_of_arrays() {
    linear(array_chain, 100, unchanged);
}

#[test]
fn chains_of_conditionals() {
    linear(conditional_chain, 100, unchanged);
}

#[test]
fn chains_of_calls() {
    linear(nested_calls, 300, unchanged);
}

#[test]
fn sums_of_shared_terms() {
    linear(wide_sum, 300, |x, n| {
        let squares: f64 = (0..n).map(|k| (k as f64 / n as f64).powi(2)).sum();
        (x + x * x * squares, 1.0 + 2.0 * x * squares)
    });
}

/// The printed program has as many lines as the program has definitions.
#[test]
fn printed_programs_are_linear() {
    let lines = |n: usize| (scalar_chain(n).to_string().lines().count(), array_chain(n).to_string().lines().count());
    let ((a, b), (c, d)) = (lines(100), lines(1_000));
    assert!((1_000..1_100).contains(&c) && c <= 11 * a, "{a} and {c} lines");
    assert!((1_000..1_100).contains(&d) && d <= 11 * b, "{b} and {d} lines");
}

#[test]
fn a_hundred_thousand_scalar_operations() {
    let prog = scalar_chain(34_000);
    assert!(nodes(&prog) > 100_000);
    let xs = Array::vector(vec![0.75]);
    assert_eq!(run(&prog, &xs).unwrap(), Array::scalar(0.75));
    assert_eq!(run(grad(&prog), &xs).unwrap(), Array::vector(vec![1.0]));
}

/// A thread with a small stack writes, differentiates, prints, runs and drops long programs.
#[test]
fn long_programs_need_no_deep_stack() {
    let work = || {
        let xs = Array::vector(vec![0.75]);
        for prog in
            [scalar_chain(3_000), array_chain(300), nested_calls(3_000), wide_sum(1_000), conditional_chain(300)]
        {
            let gradient = grad(&prog);
            assert!(run(&prog, &xs).is_ok() && run(&gradient, &xs).is_ok());
            let copies = (prog.clone(), prog.to_string(), format!("{prog:?}"), gradient.clone());
            std::mem::drop(prog);
            std::mem::drop(gradient);
            std::mem::drop(copies);
        }
    };
    std::thread::Builder::new().stack_size(512 << 10).spawn(work).unwrap().join().unwrap();
}

/// Gradients of gradients, and forward over reverse, of a shared chain.
#[test]
fn derivatives_of_derivatives_stay_linear() {
    let second = |n: usize| {
        let gradient = grad(&scalar_chain(n));
        (nodes(&jvp(&gradient)) as f64, nodes(&vjp(&gradient)) as f64)
    };
    let ((a, b), (c, d)) = (second(100), second(1_000));
    assert!(c <= 11.0 * a && d <= 11.0 * b, "{a} to {c}, {b} to {d}");
}

fn any_thread<T: Send + Sync>() {}

#[test]
fn programs_may_be_used_from_any_thread() {
    any_thread::<Objective>();
    any_thread::<Compiled<Vector<f64>, Scalar<f64>>>();
    any_thread::<Vector<(f64, bool)>>();
    any_thread::<accel::Error>();
    any_thread::<Acc<Vector<f64>>>();
    any_thread::<Exp<f64>>();

    let prog = afun(|xs: Acc<Vector<f64>>| sum(map(|x| x * x * x, xs)));
    let compiled = Compiled::new(&Interpreter, &prog).unwrap();
    std::thread::scope(|threads| {
        for k in 0..16 {
            let (prog, compiled) = (&prog, &compiled);
            threads.spawn(move || {
                for i in 0..20 {
                    let x = (k * 20 + i) as f64;
                    let xs = Array::vector(vec![x, 1.0]);
                    assert_eq!(compiled.run(&xs).unwrap(), Array::scalar(x * x * x + 1.0));
                    assert_eq!(run(prog, &xs).unwrap(), Array::scalar(x * x * x + 1.0));
                    assert_eq!(run(grad(prog), &xs).unwrap(), Array::vector(vec![3.0 * x * x, 3.0]));
                    // Each thread writes its own programs at the same time.
                    let own = afun(|xs: Acc<Vector<f64>>| map(|y| y * x, xs));
                    assert_eq!(run(&own, &xs).unwrap(), Array::vector(vec![x * x, x]));
                }
            });
        }
    });
}
