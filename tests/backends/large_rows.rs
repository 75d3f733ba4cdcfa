//! Functions of the rows of arrays of several dimensions of which the outermost one is short, so strips of it are larger than the
//! caches and take several dimensions as one, compared with the interpreter: the values and the adjoints.

use crate::support::agree::{CLOSE, compare};
use accel::interp::Interpreter;
use accel::prelude::*;

type A4 = Array<Dim4, f64>;

fn array(seed: i64, extents: [usize; 4]) -> A4 {
    let element = |i: usize| ((i as i64 * 7919 + seed * 31) % 1009) as f64 / 500.0 - 1.0;
    Array::from_vec(extents, (0..extents.iter().product()).map(element).collect()).unwrap()
}

fn check(program: impl Fn(Acc<A4>, Acc<A4>) -> Acc<A4> + 'static, extents: [[usize; 4]; 2]) {
    let inputs = (array(1, extents[0]), array(2, extents[1]));
    compare_with_interpreter(&afun(move |x: Acc<A4>, w: Acc<A4>| (program(x, w), w)), &inputs);
}

fn compare_with_interpreter(value: &Afun<(A4, A4), (A4, A4)>, inputs: &(A4, A4)) {
    let seed = value.run_on(&Interpreter, inputs).expect("a value");
    let native = accel::backend_named("native").unwrap();
    let found = [value.run_on(native, inputs), value.run_on(&Interpreter, inputs)];
    let [found, expected] = found.map(|y| y.map(|y| y.to_tuple()));
    compare(&expected, &found, CLOSE).unwrap_or_else(|e| panic!("value: {e}"));
    let (adjoint, inputs) = (vjp(value), (inputs.clone(), seed));
    let found = [adjoint.run_on(native, &inputs), adjoint.run_on(&Interpreter, &inputs)];
    let [found, expected] = found.map(|y| y.map(|y| y.to_tuple()));
    compare(&expected, &found, CLOSE).unwrap_or_else(|e| panic!("adjoint: {e}"));
}

const LARGE: [usize; 4] = [2, 6, 100, 300];

#[test]
fn softmax_with_weights() {
    check(|x, w| softmax(x) * w, [LARGE, LARGE]);
}

/// The rows of the larger array do not follow each other where they are used.
#[test]
fn softmax_with_a_part_of_a_larger_array() {
    check(|x, w| softmax(x) * slice((..2i64, ..6i64, 1..101i64, ..300i64), w), [LARGE, [2, 7, 101, 301]]);
}

#[test]
fn rows_of_mean_0_and_variance_1() {
    check(|x, w| (x - column(mean(x))) / column((var(x) + 1e-5).sqrt()) * w, [LARGE, LARGE]);
}
