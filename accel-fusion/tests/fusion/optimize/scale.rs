//! The work of optimisation grows with the program, not faster.

use accel_ad::vjp;
use accel_core::ast::deep;
use accel_core::prelude::*;
use accel_fusion::kernel::visits;
use accel_fusion::pipeline::{Target, lower, optimize_for};
use accel_fusion::simplify;

type V = Acc<Vector<f64>>;

/// How many statements and names of extents the optimiser visits for the derivative of a function.
fn work(f: impl Fn(V) -> V) -> u64 {
    let gradient = vjp(&afun(f));
    let lowered = lower(&simplify(gradient.program().unwrap()).unwrap().0).unwrap();
    let before = visits();
    optimize_for(&lowered, Target::Processor, true).unwrap();
    visits() - before
}

#[test]
fn work_for_loops_one_after_the_other_is_proportional_to_their_number() {
    let loops = |n| work(move |xs| (0..n).fold(xs, |ys, _| aiterate(3, |ys: V| map(|y| y.sin(), ys), ys)));
    let (short, long) = (loops(20), loops(40));
    assert!(4 * long < 9 * short, "{short} visits become {long}");
}

/// The derivative computes what is around each loop again, so it grows with the square of the depth.
#[test]
fn work_for_nested_loops_grows_little_faster_than_their_derivative() {
    fn nest(xs: V, n: usize) -> V {
        if n == 0 {
            return map(|x| x.sin(), xs);
        }
        aiterate(1, |ys: V| deep(|| nest(ys, n - 1)), xs)
    }
    let nested = |n| work(move |xs| nest(xs, n));
    let (short, long) = (nested(20), nested(40));
    assert!(2 * long < 10 * short, "{short} visits become {long}");
}
