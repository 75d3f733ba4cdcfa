//! Tracing of random programs: the traces mean the same and are traced as themselves, and their reverse pass agrees with
//! the derivatives of the program, for any number of threads.

// Other tests use the rest of it.

use crate::narrow::build::Args;
use crate::narrow::functions::{args, changes_extents, distance, flat, is_differentiable, objective, program, text};
use crate::narrow::generate::{EVERYTHING, SMOOTH};
use crate::narrow::objective::floats;
use crate::narrow::program::Program;
use crate::narrow::runner::{Verdict, check, check_most, check_some};
use crate::support::agree::{compare, outcome};
use crate::support::traced::Traced;
use accel::interp::Interpreter;
use accel::prelude::*;
use accel_fusion::simplify;
use accel_trace::{Adjoints, Keep, Trace, named, trace_on};

fn bits(a: &Adjoints<Args>) -> Vec<u64> {
    flat(a.inputs()).into_iter().map(f64::to_bits).collect()
}

/// The trace computes what the program computes, bit by bit (equation 8), and its trace is itself (equation 9). The same
/// holds for derivatives, which are programs, too.
fn means_the_same(p: &Program, keep: Keep) -> Result<Verdict, String> {
    fn same<A: Arrays, R: Arrays>(f: &Afun<A, R>, inputs: &A, keep: Keep) -> Result<(), String> {
        let argument = inputs.to_tuple();
        compare(&outcome(&Interpreter, f, &argument), &outcome(&Traced(keep), f, &argument), 0.0)
    }
    let args = args(&p.inputs);
    same(&program(p, true), &args, keep)?;
    match value_and_grad(&objective(p)) {
        gradient if gradient.program().is_ok() => same(&gradient, &args, keep)?,
        _ => {}
    }
    Ok(Verdict::Holds)
}

#[test]
fn traces_mean_the_same() {
    check(EVERYTHING, |p| means_the_same(p, Keep::Arrays));
    check_some(60, SMOOTH, |p| means_the_same(p, Keep::Arrays));
}

#[test]
fn traces_of_elements_mean_the_same() {
    check_some(60, EVERYTHING, |p| means_the_same(p, Keep::Scalars));
}

/// Names cost nothing: the simplifier removes them. They do not change derivatives either.
#[test]
fn names_mean_nothing_outside_of_traces() {
    let plain = afun(|x: Acc<Vector<f64>>| sum(map(|x| x.sin(), map(|x| x * x, x))));
    let named = afun(|x: Acc<Vector<f64>>| sum(map(|x| x.sin(), named("squares", map(|x| x * x, x)))));
    let x = Array::vector(vec![0.3, -1.2, 2.0]);
    for (plain, named) in [(plain.program(), named.program()), (grad(&plain).program(), grad(&named).program())] {
        let (plain, _) = simplify(plain.expect("a program")).expect("a simplified program");
        let (named, _) = simplify(named.expect("a program")).expect("a simplified program");
        assert_eq!(named.to_string(), plain.to_string());
    }
    assert_eq!(run(grad(&named), &x).expect("a gradient"), run(grad(&plain), &x).expect("a gradient"));
}

/// The default backend compiles each step. Rounding is that of the steps.
#[test]
fn compiled_steps_agree_with_the_interpreter() {
    let prog = afun(|m: Acc<Matrix<f64>>, v: Acc<Vector<f64>>| {
        let step = |s: Acc<Vector<f64>>, row: Acc<Vector<f64>>| {
            let next = zip_with(|x, y| (x + y).tanh(), s, row);
            (next, sum(next))
        };
        let (last, sums) = map_accum_l(step, v, m);
        (matvec(m, last), maximum(sums))
    });
    let m = Array::matrix(4, 3, (0..12).map(|i| f64::from(i).sin()).collect()).expect("a matrix");
    let v = Array::vector(vec![0.1, 0.2, 0.3]);
    let seed = (Array::vector(vec![1.0, -1.0, 0.5, 2.0]), Array::scalar(0.7));
    let native = accel::backend_named("native").expect("a backend of this build");
    let (_, compiled) = trace_on(native, &prog, (&m, &v), Keep::Arrays).expect("a trace");
    let (_, interpreted) = trace_on(&Interpreter, &prog, (&m, &v), Keep::Arrays).expect("a trace");
    assert_eq!(compiled.to_string(), interpreted.to_string());
    let found = compiled.reverse((&seed.0, &seed.1)).expect("adjoints").into_inputs();
    let expected = interpreted.reverse((&seed.0, &seed.1)).expect("adjoints").into_inputs();
    assert!(distance(found.0.as_slice(), expected.0.as_slice()) < 1e-12, "{found:?}, {expected:?}");
    assert!(distance(found.1.as_slice(), expected.1.as_slice()) < 1e-12, "{found:?}, {expected:?}");
    let pulled = compiled.pullback((&m, &v), (&seed.0, &seed.1)).expect("adjoints");
    assert!(distance(pulled.0.as_slice(), expected.0.as_slice()) < 1e-12, "{pulled:?}, {expected:?}");
}

/// The derivatives in the direction of each float, in forward mode.
fn forward(p: &Program, inputs: &Args) -> Result<Vec<f64>, String> {
    let jvp = compile_on(&Interpreter, jvp(&objective(p))).map_err(text)?;
    let n = floats(&p.inputs).len();
    let unit = |i| (0..n).map(|j| f64::from(u8::from(i == j))).collect::<Vec<_>>();
    let direction = |i| args(&crate::narrow::objective::direction(&p.inputs, &unit(i)));
    (0..n).map(|i| Ok(jvp.run((inputs, &direction(i))).map_err(text)?.1.item())).collect()
}

fn do_not_depend_on_threads(t: &Trace<Args, Scalar<f64>>, pools: &[rayon::ThreadPool]) -> Result<(), String> {
    let seed = Array::scalar(1.0);
    let first = t.reverse(&seed).map_err(text)?;
    for pool in pools {
        let again = pool.install(|| t.reverse(&seed)).map_err(text)?;
        if bits(&again) != bits(&first) || again.work() != first.work() {
            return Err(format!("{} threads: {:?}, {:?}", pool.current_num_threads(), again.inputs(), first.inputs()));
        }
    }
    Ok(())
}

#[test]
fn reverse_passes_agree_with_the_derivatives_of_the_program() {
    let pools = [1, 2, 4, 16].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("a pool"));
    check_most(80, 0.08, SMOOTH, |p| {
        if !is_differentiable(p) {
            return Ok(Verdict::Skipped);
        }
        let (args, seed) = (args(&p.inputs), Array::scalar(1.0));
        let (_, t) = trace_on(&Interpreter, objective(p), &args, Keep::Arrays).map_err(text)?;
        let adjoints = t.reverse(&seed).map_err(text)?;
        let found = flat(adjoints.inputs());
        match run_on(&Interpreter, grad(&objective(p)), &args) {
            // A trace has each step of such a loop.
            Err(e) if changes_extents(&e) => {}
            source => {
                let source = flat(&source.map_err(text)?);
                if distance(&found, &source) > 1e-9 {
                    return Err(format!("trace {found:?}, source {source:?}"));
                }
            }
        }
        let tangents = forward(p, &args)?;
        if distance(&found, &tangents) > 1e-9 {
            return Err(format!("trace {found:?}, forward {tangents:?}"));
        }
        let (_, elements) = trace_on(&Interpreter, objective(p), &args, Keep::Scalars).map_err(text)?;
        let by_elements = flat(elements.reverse(&seed).map_err(text)?.inputs());
        if distance(&found, &by_elements) > 1e-9 {
            return Err(format!("arrays {found:?}, elements {by_elements:?}"));
        }
        let work = adjoints.work();
        if work.resolved != work.reachable || work.reachable > t.stats().steps {
            return Err(format!("{work:?} in {}", t.stats()));
        }
        let (_, every) = trace_on(&Interpreter, objective(p), &args, Keep::EveryArray).map_err(text)?;
        let by_steps = flat(every.reverse(&seed).map_err(text)?.inputs());
        if distance(&found, &by_steps) > 1e-9 {
            return Err(format!("clusters {found:?}, steps {by_steps:?}"));
        }
        do_not_depend_on_threads(&t, &pools)?;
        do_not_depend_on_threads(&every, &pools)?;
        Ok(Verdict::Holds)
    });
}
