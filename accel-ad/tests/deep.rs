//! Derivatives of programs 10,000 deep are made, checked, run and dropped on a small stack, in time that grows with the program.

#[path = "../../accel-core/tests/deep_programs/mod.rs"]
mod deep_programs;

use accel_ad::{jvp, vjp};
use accel_core::ast::lint;
use accel_core::interp::Interpreter;
use accel_core::prelude::*;
use deep_programs::{ARGUMENT, Deep, programs};
use std::time::Instant;

const DEPTH: usize = 10_000;

/// Runs `f` where there is as little stack as a thread of a test has.
fn on_a_small_stack<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    std::thread::scope(|s| {
        let thread = std::thread::Builder::new().stack_size(2 << 20).spawn_scoped(s, f).expect("a thread");
        thread.join().expect("no panic")
    })
}

/// The sum of all partial derivatives, by central differences of the function in Rust.
fn differences(p: &Deep, n: usize) -> f64 {
    let h = 1e-6;
    let at = |d: f64| (p.value)(n, ARGUMENT.map(|x| x + d)).iter().sum::<f64>();
    (at(h) - at(-h)) / (2.0 * h)
}

fn check(p: &Deep, n: usize) {
    let start = Instant::now();
    let lap = |what: &str| {
        if std::env::var_os("DEEP_TIMES").is_some() {
            eprintln!("{:>8.2?} {what}", start.elapsed())
        }
    };
    let (x, ones) = (Array::vector(ARGUMENT.to_vec()), Array::vector(vec![1.0; 3]));
    let f = (p.stage)(n);
    lap("staged");
    let forward = jvp(&f);
    lap("forward");
    lint(forward.program().unwrap_or_else(|e| panic!("{}: {e}", p.name))).unwrap();
    lap("lint");
    let (value, tangent) = run_with(&Interpreter, &forward, (&x, &ones)).unwrap();
    lap("run");
    assert_eq!(value.to_vec(), (p.value)(n, ARGUMENT), "{}", p.name);
    let forward = tangent.to_vec().iter().sum::<f64>();
    let close = |other: f64| (forward - other).abs() <= 1e-6 * (1.0 + forward.abs());
    assert!(close(differences(p, n)), "{}: forward {forward}, differences {}", p.name, differences(p, n));
    let reverse = vjp(&f);
    lap("reverse");
    if p.reverse {
        lint(reverse.program().unwrap_or_else(|e| panic!("{}: {e}", p.name))).unwrap();
        lap("lint");
        let gradient = run_with(&Interpreter, &reverse, (&x, &ones)).unwrap().to_vec();
        lap("run");
        let reverse = gradient.iter().sum::<f64>();
        assert!(close(reverse), "{}: forward {forward}, reverse {reverse}", p.name);
    } else {
        assert!(matches!(reverse.program(), Err(Error::NotDifferentiable { .. })), "{}: {reverse}", p.name);
    }
    std::mem::drop((f, reverse));
    lap("dropped");
}

#[test]
fn deep_programs_have_derivatives() {
    let only = std::env::var("DEEP_ONLY").unwrap_or_default();
    for p in programs().iter().filter(|p| p.name.contains(&only)) {
        let start = Instant::now();
        on_a_small_stack(|| check(p, DEPTH));
        eprintln!("{:?} {}", start.elapsed(), p.name);
    }
}
