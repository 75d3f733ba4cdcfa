//! What holds for every trace.

use accel_ad::{jvp, vjp};
use accel_core::interp::Interpreter;
use accel_core::prelude::*;
use accel_core::repr::{ArrayTuple, Column, RawArray};
use accel_trace::{Adjoints, Keep, Trace, trace_on};

/// Runs on the reference interpreter.
pub fn run<A: Arrays, R: Arrays>(prog: &Afun<A, R>, inputs: &A) -> R {
    run_with(&Interpreter, prog, inputs).expect("a result")
}

/// Traces a program. The trace computes the same (equation 8 of the thesis), also as a program, and the trace of the
/// trace is the trace (equation 9).
pub fn traced<A: Arrays, R: Arrays>(prog: &Afun<A, R>, inputs: &A) -> (R, Trace<A, R>) {
    let expected = run(prog, inputs).to_tuple();
    let (y, t) = trace_on(&Interpreter, prog, inputs, Keep::Arrays).expect("a trace");
    assert_eq!(y.to_tuple(), expected, "traced: {t}");
    let program = t.to_program();
    assert_eq!(run(&program, inputs).to_tuple(), expected, "{program}");
    let (again, second) = trace_on(&Interpreter, &program, inputs, Keep::Arrays).expect("a trace of the trace");
    assert_eq!(again.to_tuple(), expected);
    assert_eq!(second.to_string(), t.to_string());
    (y, t)
}

/// Arrays of the same shapes with other floating-point numbers. Discrete components are zero.
pub fn with_floats<A: Arrays>(like: &A, xs: &mut dyn Iterator<Item = f64>) -> A {
    fn go(a: &ArrayTuple, xs: &mut dyn Iterator<Item = f64>) -> ArrayTuple {
        match a {
            ArrayTuple::Unit => ArrayTuple::Unit,
            ArrayTuple::Pair(p) => {
                let first = go(&p.0, xs);
                ArrayTuple::pair(first, go(&p.1, xs))
            }
            ArrayTuple::Array(a) => {
                let mut column = |c: &Column| match c {
                    Column::F64(c) => Column::from(xs.take(c.len()).collect::<Vec<f64>>()),
                    Column::F32(c) => Column::from(xs.take(c.len()).map(|x| x as f32).collect::<Vec<f32>>()),
                    c => Column::zeros(c.ty(), c.len()).expect("memory"),
                };
                let columns = a.columns.iter().map(&mut column).collect();
                ArrayTuple::Array(RawArray { extents: a.extents.clone(), columns })
            }
        }
    }
    A::from_tuple(go(&like.to_tuple(), xs)).expect("arrays of the same type")
}

/// Numbers between -1 and 1.
pub fn spread() -> impl Iterator<Item = f64> {
    (1..).map(|i| (f64::from(i) * 1.7).cos())
}

/// The largest difference, relative to the largest entry or to 1.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let scale = b.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    a.iter().zip(b).map(|(a, b)| if a.is_nan() && b.is_nan() { 0.0 } else { (a - b).abs() / scale }).fold(
        0.0,
        |m, d| {
            if d <= m { m } else { d }
        },
    )
}

/// Traces a program and runs its reverse pass: reverse = `vjp` of the program = transposed forward mode, each step is
/// resolved once, and any number of threads gives the same bits.
pub fn reversed<A: Arrays, R: Arrays>(prog: &Afun<A, R>, inputs: &A) -> Adjoints<A> {
    let (y, t) = traced(prog, inputs);
    let (_, every) = trace_on(&Interpreter, prog, inputs, Keep::EveryArray).expect("a trace");
    assert_eq!(every.to_string(), t.to_string());
    checked(prog, inputs, &y, &every);
    checked(prog, inputs, &y, &t)
}

fn checked<A: Arrays, R: Arrays>(prog: &Afun<A, R>, inputs: &A, y: &R, t: &Trace<A, R>) -> Adjoints<A> {
    let seed = with_floats(y, &mut spread());
    let adjoints = t.reverse(&seed).expect("adjoints");
    let found = adjoints.inputs().to_tuple().floats();
    let source = run_with(&Interpreter, &vjp(prog), (inputs, &seed)).expect("the vjp of the program");
    let source = source.to_tuple().floats();
    assert!(distance(&found, &source) < 1e-9, "trace {found:?}, source {source:?}\n{t}");
    let direction = with_floats(inputs, &mut spread());
    let (_, dy) = run_with(&Interpreter, &jvp(prog), (inputs, &direction)).expect("the jvp of the program");
    let dot =
        |a: &ArrayTuple, b: &ArrayTuple| a.floats().into_iter().zip(b.floats()).map(|(x, y)| x * y).collect::<Vec<_>>();
    let (left, right) =
        (dot(&seed.to_tuple(), &dy.to_tuple()), dot(&adjoints.inputs().to_tuple(), &direction.to_tuple()));
    let size: f64 = left.iter().chain(&right).map(|x| x.abs()).sum();
    let (left, right): (f64, f64) = (left.iter().sum(), right.iter().sum());
    assert!((left - right).abs() <= 1e-9 * size.max(1.0), "forward {left}, reverse {right}");
    assert_eq!(adjoints.work().reachable, adjoints.work().resolved);
    for threads in [1, 2, 4, 16] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let again = pool.install(|| t.reverse(&seed)).expect("adjoints");
        let bits = |a: &Adjoints<A>| a.inputs().to_tuple().floats().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&again), bits(&adjoints), "{threads} threads");
        assert_eq!(again.work(), adjoints.work());
    }
    adjoints
}

/// Traces element by element, runs the reverse pass, and compares with the trace of arrays: equations 8 and 9, and the
/// same adjoints from independent rules.
pub fn by_elements<A: Arrays, R: Arrays>(prog: &Afun<A, R>, inputs: &A) -> Trace<A, R> {
    let expected = run(prog, inputs).to_tuple();
    let (y, t) = trace_on(&Interpreter, prog, inputs, Keep::Scalars).expect("a trace");
    assert_eq!(y.to_tuple(), expected, "traced: {t}");
    let program = t.to_program();
    assert_eq!(run(&program, inputs).to_tuple(), expected, "{program}");
    let (_, second) = trace_on(&Interpreter, &program, inputs, Keep::Scalars).expect("a trace of the trace");
    assert_eq!(second.to_string(), t.to_string());
    let seed = with_floats(&y, &mut spread());
    let adjoints = t.reverse(&seed).expect("adjoints");
    let (_, arrays) = trace_on(&Interpreter, prog, inputs, Keep::Arrays).expect("a trace");
    let expected = arrays.reverse(&seed).expect("adjoints");
    let [found, expected] = [&adjoints, &expected].map(|a| a.inputs().to_tuple().floats());
    assert!(distance(&found, &expected) < 1e-9, "by elements {found:?}, by arrays {expected:?}\n{t}");
    t
}
