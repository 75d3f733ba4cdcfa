//! What is written once is one operation, however often it is used: programs, their gradients and their runs stay linear in
//! the number of operations, in size and in time. Long programs need no deep stack, and any thread may use them.

use accel::afun::Compiled;
use accel::interp::Interpreter;
use accel::prelude::*;
use accel_core::pass::count;
use std::time::{Duration, Instant};

type Objective = Afun<Vector<f64>, Scalar<f64>>;

/// Nodes of a program: those of scalar code and those of arrays.
fn nodes<A: Arrays, R: Arrays>(prog: &Afun<A, R>) -> usize {
    let counts = count(prog.program().unwrap());
    counts.scalars + counts.arrays
}

/// Every step uses the value before twice; all in all the steps change nothing.
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

/// The time of the fastest of three calls.
fn fastest<T>(mut f: impl FnMut() -> T) -> Duration {
    let time = |_| {
        let start = Instant::now();
        f();
        start.elapsed()
    };
    (0..3).map(time).min().unwrap_or_default()
}

/// Program, gradient and run of both are linear from `small` to `large` steps: sizes closely, times with much room, since
/// tests run on busy machines. (The benchmark `frontend` measures.) The gradient at `x` is `slope`.
fn linear(
    chain: fn(usize) -> Objective,
    small: usize,
    large: usize,
    value_and_slope: impl Fn(f64, usize) -> (f64, f64),
) {
    let steps = large as f64 / small as f64;
    let sizes = |n: usize| (nodes(&chain(n)) as f64, nodes(&grad(&chain(n))) as f64);
    let (before, after) = (sizes(small), sizes(large));
    assert!(after.0 <= 1.1 * steps * before.0, "{} nodes at {small} steps, {} at {large}", before.0, after.0);
    assert!(after.1 <= 1.1 * steps * before.1, "gradient: {} nodes at {small} steps, {} at {large}", before.1, after.1);

    let xs = Array::vector(vec![0.25, -0.5]);
    let time = |n: usize| {
        let prog = chain(n);
        let times = [
            fastest(|| chain(n)),
            fastest(|| grad(&prog)),
            fastest(|| run(&prog, &xs).unwrap()),
            fastest(|| run(value_and_grad(&prog), &xs).unwrap()),
        ];
        times.map(|t| t.as_secs_f64())
    };
    for (stage, (t, u)) in ["afun", "grad", "run", "run of grad"].iter().zip(time(small).iter().zip(time(large))) {
        assert!(u <= 8.0 * steps * t.max(1e-4), "{stage}: {t} s at {small} steps, {u} s at {large}");
    }

    let (value, slopes) = run(value_and_grad(&chain(large)), &xs).unwrap();
    let expected: Vec<(f64, f64)> = xs.iter().map(|x| value_and_slope(x, large)).collect();
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.abs().max(1.0);
    assert!(close(value.as_slice()[0], expected.iter().map(|e| e.0).sum()), "{value} {expected:?}");
    assert!(slopes.iter().zip(&expected).all(|(s, e)| close(s, e.1)), "{slopes} {expected:?}");
}

fn unchanged(x: f64, _: usize) -> (f64, f64) {
    (x, 1.0)
}

#[test]
fn doubling_chains_of_scalars() {
    linear(scalar_chain, 1_000, 10_000, unchanged);
}

#[test]
fn doubling_chains_of_arrays() {
    linear(array_chain, 100, 1_000, unchanged);
}

#[test]
fn chains_of_conditionals() {
    linear(conditional_chain, 200, 2_000, unchanged);
}

#[test]
fn chains_of_calls() {
    linear(nested_calls, 1_000, 10_000, unchanged);
}

#[test]
fn sums_of_shared_terms() {
    linear(wide_sum, 1_000, 10_000, |x, n| {
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

/// A thread with little stack writes, differentiates, prints, runs and drops long programs.
#[test]
fn long_programs_need_no_deep_stack() {
    let work = || {
        let xs = Array::vector(vec![0.75]);
        for prog in
            [scalar_chain(5_000), array_chain(1_000), nested_calls(10_000), wide_sum(3_000), conditional_chain(1_000)]
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
                    // Each thread writes programs of its own at the same time.
                    let own = afun(|xs: Acc<Vector<f64>>| map(|y| y * x, xs));
                    assert_eq!(run(&own, &xs).unwrap(), Array::vector(vec![x * x, x]));
                }
            });
        }
    });
}
