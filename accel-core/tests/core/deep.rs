//! Tests of programs 10,000 deep: they are staged, typed, printed, checked, counted, run and dropped on a small stack,
//! in time proportional to their size.

use crate::deep_programs::{ARGUMENT, Deep, programs};
use accel_core::ast::lint;
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
