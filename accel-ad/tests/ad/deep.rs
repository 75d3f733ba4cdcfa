//! Tests of derivatives of programs 4,000 deep: they are generated, checked, run and dropped on a small stack, in time
//! proportional to their size.

#[path = "../../../tests/core/deep_programs/mod.rs"]
mod deep_programs;

use accel_ad::{jvp, vjp};
use accel_core::ast::{deep, lint};
use accel_core::interp::Interpreter;
use accel_core::pass::count;
use accel_core::prelude::*;
use deep_programs::{ARGUMENT, Deep, Reverse, programs};

/// Runs `f` on a thread with as little stack as the thread of a test.
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

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * (1.0 + a.abs())
}

fn check(p: &Deep, n: usize) {
    let (x, ones) = (Array::vector(ARGUMENT.to_vec()), Array::vector(vec![1.0; 3]));
    let f = (p.stage)(n);
    let forward = jvp(&f);
    lint(forward.program().unwrap_or_else(|e| panic!("{}: {e}", p.name))).unwrap();
    let (value, tangent) = run_with(&Interpreter, &forward, (&x, &ones)).unwrap();
    assert_eq!(value.to_vec(), (p.value)(n, ARGUMENT), "{}", p.name);
    let tangent = tangent.to_vec().iter().sum::<f64>();
    assert!(close(differences(p, n), tangent), "{}: forward {tangent}, differences {}", p.name, differences(p, n));
    let n = match p.reverse {
        Reverse::Quadratic => n.min(300),
        Reverse::Cubic => n.min(30),
        Reverse::Linear => n,
    };
    let reverse = vjp(&(p.stage)(n));
    lint(reverse.program().unwrap_or_else(|e| panic!("{}: {e}", p.name))).unwrap();
    let gradient = run_with(&Interpreter, &reverse, (&x, &ones)).unwrap().to_vec().iter().sum::<f64>();
    assert!(close(differences(p, n), gradient), "{}: reverse {gradient}, differences {}", p.name, differences(p, n));
}

#[test]
fn deep_programs_have_derivatives() {
    programs().iter().for_each(|p| on_a_small_stack(|| check(p, 300)));
}

#[test]
fn derivatives_are_as_large_as_programs() {
    for p in programs().iter().filter(|p| p.reverse == Reverse::Linear) {
        let size = |n| {
            let size = count(vjp(&(p.stage)(n)).program().unwrap_or_else(|e| panic!("{}: {e}", p.name)));
            size.arrays + size.scalars
        };
        let (short, long) = (size(50), size(100));
        assert!(2 * long < 5 * short, "{}: {short} nodes become {long}", p.name);
    }
}

/// The dual of a loop computes its body again. What it computes again has the size of the body, not that of its telescope.
#[test]
fn duals_of_nested_loops_compute_no_more_than_the_program_again() {
    fn nest(xs: Acc<Vector<f64>>, n: usize) -> Acc<Vector<f64>> {
        if n == 0 {
            return map(|x| x.sin(), xs);
        }
        aiterate(1, |ys: Acc<Vector<f64>>| deep(|| nest(ys, n - 1)), xs)
    }
    let n = 100;
    let f = afun(|xs: Acc<Vector<f64>>| nest(xs, n));
    let (program, gradient) = (count(f.program().unwrap()).arrays, count(vjp(&f).program().unwrap()).arrays);
    assert!(gradient < n * program, "{program} arrays become {gradient} in {n} loops");
}

#[test]
#[ignore = "takes minutes without optimisation: scripts/test.sh runs it"]
fn very_deep_programs_have_derivatives() {
    programs().iter().for_each(|p| on_a_small_stack(|| check(p, 4_000)));
}
