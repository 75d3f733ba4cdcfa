//! Long traces: time and memory grow linearly, and nothing overflows the stack.

use accel_core::interp::Interpreter;
use accel_core::prelude::*;
use accel_trace::{Keep, trace_on};
use std::time::{Duration, Instant};

/// A loop over the rows of a matrix. Each row has a sparse adjoint.
fn rows(n: usize) -> (usize, usize) {
    let prog = afun(|m: Acc<Matrix<f64>>| {
        let step = |s: Acc<Vector<f64>>, row: Acc<Vector<f64>>| {
            let next = zip_with(|x, y| x * 0.9 + y, s, row);
            (next, sum(next))
        };
        let (last, list) = map_accum_l(step, fill(4, lit::<f64>(0.0)), m);
        (last, sum(list))
    });
    let m = Array::matrix(n, 4, vec![0.5; 4 * n]).expect("as many elements as the extents say");
    let (y, t) = trace_on(&Interpreter, &prog, &m, Keep::Arrays).expect("a trace");
    let adjoints = t.reverse(&y).expect("adjoints");
    assert_eq!(adjoints.work().resolved, adjoints.work().reachable);
    (t.stats().steps, adjoints.work().numbers)
}

#[test]
fn the_work_of_the_reverse_pass_is_linear_in_the_trace() {
    let (steps, numbers) = rows(64);
    let (twice_steps, twice_numbers) = rows(128);
    assert!(twice_steps < 2 * steps + 10 && twice_steps > 2 * steps - 10, "{steps}, {twice_steps}");
    // The list is joined in halves, which is one level more.
    assert!(10 * twice_numbers < 23 * numbers, "{numbers}, {twice_numbers}");
}

#[test]
fn long_chains() {
    let prog = afun(|x: Acc<Scalar<f64>>| aiterate(20_000, |x| map(|x| x * 0.9999 + 0.001, x), x));
    let start = Instant::now();
    let (_, t) = trace_on(&Interpreter, &prog, &Array::scalar(1.0), Keep::Arrays).expect("a trace");
    assert_eq!((t.stats().steps, t.stats().kernels), (20_001, 1));
    let adjoints = t.reverse(&Array::scalar(1.0)).expect("adjoints");
    assert!((adjoints.inputs().item() - 0.9999f64.powi(20_000)).abs() < 1e-9);
    let (again, _) = trace_on(&Interpreter, t.to_program(), &Array::scalar(1.0), Keep::Arrays).expect("a trace");
    let (_, tape) = trace_on(&Interpreter, &prog, &Array::scalar(1.0), Keep::Scalars).expect("a trace");
    assert_eq!(run_with(&Interpreter, &tape.to_program(), &Array::scalar(1.0)).expect("a number").item(), again.item());
    let by_elements = tape.reverse(&Array::scalar(1.0)).expect("adjoints");
    assert!((adjoints.inputs().item() - by_elements.inputs().item()).abs() < 1e-12);
    // Quadratic time would take minutes.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}
