//! Sets of numbers: by which numbers of its argument each number of a result may have a derivative.

use accel_core::dependence::dependences;
use accel_core::prelude::*;

type V = Acc<Vector<f64>>;

fn numbers(n: usize) -> Vector<f64> {
    (0..n).map(|k| k as f64 * 0.5 - 1.0).collect()
}

#[track_caller]
fn rows<R: Arrays>(n: usize, f: impl FnOnce(V) -> Acc<R>) -> Vec<Vec<u32>> {
    dependences(afun(f).program().unwrap(), None, &Arrays::to_tuple(&numbers(n))).unwrap().rows
}

#[test]
fn values_that_decide() {
    assert_eq!(rows(2, |a| map(|x| cond(x.gt(0.0), x * x, 1.0), a)), [[0], [1]]);
    let nested = |x: Exp<f64>, y: Exp<f64>, z: Exp<f64>| cond(x.gt(0.0), cond(y.gt(0.0), y, 1.0), z);
    assert_eq!(rows(3, move |a| unit(nested(a.at(0), a.at(1), a.at(2)))), [[1, 2]]);
    // What does not depend on the numbers is decided.
    assert_eq!(rows(3, |a| generate(a.len(), |i| cond(i.gt(1), a.at(0), a.at(i)))), [[0], [1], [0]]);
    let halved = |x: Exp<f64>| while_(|x| x.gt(0.1), |x| x * 0.5, x);
    assert_eq!(rows(2, move |a| map(|x| cond(x.gt(1.0), halved(x), 0.0), a)), [[0], [1]]);
}

/// Registers that only one branch writes do not grow from element to element.
#[test]
fn many_elements() {
    let found = rows(20_000, |a| map(|x| cond(x.gt(0.0), x * x, x.sin()), a));
    assert!(found.iter().enumerate().all(|(k, row)| *row == [k as u32]));
}
