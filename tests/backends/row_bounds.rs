//! Reductions of rows with a part of equal constants, such as those of triangular matrices: NOTE [Row bounds] in
//! `accel-fusion/src/optimize/partition/row_bounds.rs`. The results are those of the interpreter.

use accel::interp::Interpreter;
use accel::prelude::*;
use std::fmt::Debug;

type M = Acc<Matrix<f64>>;
type Compiled<R> = accel::afun::Compiled<Matrix<f64>, R>;

/// Small numbers, so that sums are exact in any order.
fn matrix(n: usize, m: usize) -> Matrix<f64> {
    Array::matrix(n, m, (0..n * m).map(|i| (i * 7 % 11) as f64 - 5.0).collect()).unwrap()
}

/// Short and long rows, of square matrices and others.
const EXTENTS: [(usize, usize); 9] =
    [(0, 5), (3, 0), (1, 1), (3, 2), (5, 7), (12, 40), (40, 12), (130, 130), (70, 300)];

/// Compares a program with the interpreter.
#[track_caller]
fn check<R: Arrays + Debug>(program: &Afun<Matrix<f64>, R>) {
    let native: Compiled<R> = compile_on(accel::backend_named("native").unwrap(), program).expect("a program");
    let meaning: Compiled<R> = compile_on(&Interpreter, program).expect("a program");
    for (n, m) in EXTENTS {
        let x = matrix(n, m);
        let [expected, found] = [&meaning, &native].map(|c| c.run(&x).map_err(|e| e.to_string()));
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{n} x {m}");
    }
}

/// The elements for which a condition holds, and others.
fn where_(xs: M, otherwise: f64, holds: impl Fn(Exp<i64>, Exp<i64>) -> Exp<bool> + 'static) -> M {
    generate(xs.shape(), move |(i, j)| cond(holds(i, j), xs.at((i, j)) * 2.0, otherwise))
}

#[test]
fn triangles() {
    check(&afun(|xs: M| sum(where_(xs, 0.0, |i, j| j.le(i)))));
    check(&afun(|xs: M| sum(where_(xs, -0.0, |i, j| j.lt(i)))));
    check(&afun(|xs: M| sum(where_(xs, 0.0, |i, j| j.ge(i)))));
    check(&afun(|xs: M| sum(where_(xs, 0.0, |i, j| i.lt(j)))));
    check(&afun(|xs: M| {
        let m = xs.shape().1;
        sum(where_(xs, 0.0, move |i, j| (i + j).lt(m)))
    }));
}

#[test]
fn the_other_triangle() {
    check(&afun(|xs: M| sum(generate(xs.shape(), move |(i, j)| cond(j.le(i), 0.0, xs.at((i, j)))))));
    check(&afun(|xs: M| {
        sum(generate(xs.shape(), move |(i, j)| cond(j.lt(i - 3).or(j.gt(i + 70)), 0.0, xs.at((i, j)))))
    }));
}

#[test]
fn bands() {
    check(&afun(|xs: M| sum(where_(xs, 0.0, |i, j| j.ge(i - 3).and(j.le(i + 50))))));
    check(&afun(|xs: M| sum(where_(xs, 0.0, |i, j| (i * 2 - 5).le(j).and(j.lt(40))))));
    // No element is between these bounds.
    check(&afun(|xs: M| sum(where_(xs, 0.0, |i, j| j.ge(i + 3).and(j.lt(i))))));
}

/// Constants that are not neutral are combined once.
#[test]
fn other_monoids_and_constants() {
    check(&afun(|xs: M| maximum(where_(xs, 3.0, |i, j| j.le(i)))));
    check(&afun(|xs: M| minimum(where_(xs, -100.0, |i, j| j.gt(i)))));
    check(&afun(|xs: M| product(where_(xs, 1.0, |i, j| j.gt(i + 20).and(j.lt(i + 30))))));
    check(&afun(|xs: M| sum(where_(xs, 1.0, |i, j| j.le(i)))));
    check(&afun(|xs: M| any(generate(xs.shape(), move |(i, j)| cond(j.le(i), xs.at((i, j)).gt(4.0), false)))));
    check(&afun(|xs: M| all(generate(xs.shape(), move |(i, j)| cond(j.le(i), xs.at((i, j)).gt(-4.0), true)))));
    check(&afun(|xs: M| sum(generate(xs.shape(), move |(i, j)| cond(j.le(i), xs.at((i, j)).cast::<i32>(), 0i32)))));
}

/// What is not read because of the condition does not exist.
#[test]
fn what_is_outside_does_not_exist() {
    check(&afun(|xs: M| {
        let (n, m) = xs.shape();
        sum(generate((n, m + 200), move |(i, j)| cond(j.lt(m), xs.at((i, j)), 0.0)))
    }));
    // NaN in the other triangle.
    check(&afun(|xs: M| {
        let xs = imap(|(i, j), x| cond(j.gt(i), f64::NAN, x), xs);
        sum(where_(xs, 0.0, |i, j| j.le(i)))
    }));
}

/// Indices are checked for the elements inside.
#[test]
fn failures_inside_the_bounds() {
    let every_other = |last: i64| {
        afun(move |xs: M| sum(generate(xs.shape(), move |(i, j)| cond(j.le(last), xs.at((i, j * 2)), 0.0))))
    };
    for last in [0, 1, 50] {
        check(&every_other(last));
    }
}

/// Sums of extents that wrap are no bounds.
#[test]
fn extents_that_wrap() {
    let program = afun(|xs: M, large: M| {
        let most = (0..15).fold(large.shape().1, |x, _| x + x);
        let count = move |(i, j): (Exp<i64>, Exp<i64>)| {
            cond((most + j).lt(0).and(j.ge(1)), xs.at((i, j)).gt(0.0).cast::<i64>(), 0i64)
        };
        (
            sum(generate(xs.shape(), count)),
            sum(generate(xs.shape(), move |(i, j)| cond((most + j).lt(0), xs.at((i, j)), 0.0))),
        )
    });
    let none = |n| Array::matrix(0, n, vec![]).unwrap();
    for large in [none(1 << 48), none(1 << 47), none(3)] {
        for (n, m) in EXTENTS {
            let x = matrix(n, m);
            let found = run_on(accel::backend_named("native").unwrap(), &program, (&x, &large)).expect("sums");
            assert_eq!(found, run_on(&Interpreter, &program, (&x, &large)).expect("sums"), "{n} x {m}");
        }
    }
}

/// Constants for which the order matters: a sum that is infinite in between, and the maximum of 0 and -0.
#[test]
fn constants_in_order() {
    let zeros = |xs: M| map(|x: Exp<f64>| x * -0.0, map(|x: Exp<f64>| x.abs(), xs));
    check(&afun(move |xs: M| maximum(where_(zeros(xs), 0.0, |_, j| j.ge(5)))));
    check(&afun(move |xs: M| {
        let large = map(|x: Exp<f64>| x * 0.0 + 1.7e308, xs);
        sum(where_(large, f64::NEG_INFINITY, |_, j| j.ge(5)))
    }));
}

/// A matrix that is zero in memory is not skipped.
#[test]
fn zeros_times_infinity() {
    check(&afun(|xs: M| sum(generate(xs.shape(), move |(i, j)| cond(j.le(i), xs.at((i, j)), 0.0) * f64::INFINITY))));
}

#[test]
fn gradients() {
    let quadratic = |xs: M| sum_all(map(|y: Exp<f64>| y * y, sum(where_(xs, 0.0, |i, j| j.le(i)))));
    check(&grad(&afun(quadratic)));
}
