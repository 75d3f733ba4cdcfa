//! Tests of programs 10,000 deep: they are staged, typed, printed, checked, counted, run and dropped on a small stack,
//! in time proportional to their size.

use crate::deep_programs::{ARGUMENT, Deep, programs};
use accel_core::ast::{deep, lint, steps};
use accel_core::interp::Interpreted;
use accel_core::pass::count;
use accel_core::prelude::*;
use accel_core::types::Inputs;
use std::num::NonZero;
use std::sync::Mutex;
use std::thread::available_parallelism;

const DEPTH: usize = 10_000;

fn check(p: &Deep, n: usize) {
    let f = (p.stage)(n);
    let program = f.program().unwrap_or_else(|e| panic!("{}: {e}", p.name)).clone();
    lint(&program).unwrap();
    let size = count(&program);
    assert!(size.arrays + size.scalars >= n, "{}: {size:?}", p.name);
    assert!(program.to_string().len() >= n, "{}", p.name);
    let argument = Array::<_, f64>::vector(ARGUMENT.to_vec());
    let compiled = Interpreted::new(&program);
    let (result, _) = compiled.run_measured(&Inputs::<Vector<f64>>::to_tuple(&&argument)).unwrap();
    let expected = (p.value)(n, ARGUMENT);
    assert_eq!(Vector::<f64>::from_tuple(result).unwrap().to_vec(), expected, "{}", p.name);
    std::mem::drop((f, program));
    std::mem::drop(compiled);
}

/// In threads with as small a stack as those of tests.
#[test]
fn deep_programs_have_their_meaning() {
    let programs = programs();
    let waiting = Mutex::new(programs.iter());
    let next = || waiting.lock().unwrap().next();
    std::thread::scope(|s| {
        for _ in 0..available_parallelism().map_or(1, NonZero::get) {
            let work = || std::iter::from_fn(next).for_each(|p| check(p, DEPTH));
            std::thread::Builder::new().stack_size(2 << 20).spawn_scoped(s, work).expect("a thread");
        }
    });
}

/// Many `vmap`, each inside of the one before, for a vector and a row.
type Nest = fn(Acc<Vector<f64>>, Acc<Scalar<f64>>, usize) -> Acc<Vector<f64>>;

/// Each depends on no other.
fn independent(xs: Acc<Vector<f64>>, _: Acc<Scalar<f64>>, n: usize) -> Acc<Vector<f64>> {
    if n == 0 {
        return xs;
    }
    vmap(|y: Acc<Scalar<f64>>| zip_with(|y, s| y * 0.5 + s, y, sum(deep(|| independent(xs, y, n - 1)))), xs)
}

/// Each depends on the row of the one around it.
fn dependent(xs: Acc<Vector<f64>>, x: Acc<Scalar<f64>>, n: usize) -> Acc<Vector<f64>> {
    if n == 0 {
        return map(|y| y * the(x), xs);
    }
    let row = |y: Acc<Scalar<f64>>| zip_with(|y, s| y + s * the(x), y, sum(deep(|| dependent(xs, y, n - 1))));
    vmap(row, xs)
}

/// Each depends on an array that is the same for all rows of the one around it and is defined in there.
fn shared(xs: Acc<Vector<f64>>, _: Acc<Scalar<f64>>, n: usize) -> Acc<Vector<f64>> {
    if n == 0 {
        return xs;
    }
    let ys = map(|y| y * 0.5, xs);
    let row = |y: Acc<Scalar<f64>>| {
        let inner = deep(|| shared(ys, y, n - 1));
        zip_with(|y, s| y + s, y, sum(zip_with(|a, b| a - b, inner, reverse(inner))))
    };
    vmap(row, ys)
}

/// What an inner loop became is not made again for each loop around it.
#[test]
fn work_for_nests_of_vmap_is_proportional_to_their_depth() {
    for (what, nest) in [("independent", independent as Nest), ("dependent", dependent), ("shared", shared)] {
        let work = |n| {
            let before = steps();
            afun(|xs: Acc<Vector<f64>>| nest(xs, sum(xs), n)).program().unwrap();
            steps() - before
        };
        let (short, long) = (work(50), work(100));
        assert!(2 * long < 5 * short, "{what}: {short} steps become {long}");
    }
}
