//! Batching: `vmap` is the loop over the rows, without the loop.

use accel_core::interp::Interpreter;
use accel_core::prelude::*;

type V = Acc<Vector<f64>>;
type M = Acc<Matrix<f64>>;
type Number = Acc<Scalar<f64>>;

/// The loop over the rows, with a state that keeps it from being batched.
fn looped<X: Rows, Y: IntoAcc<Arrays: Listed>>(
    f: impl FnOnce(<X::Row as Arrays>::Acc) -> Y,
    xs: impl IntoAcc<Arrays = X>,
) -> Acc<<Y::Arrays as Listed>::List> {
    map_accum_l(|k: Acc<Scalar<i64>>, x| (map(|k| k + 1, k), f(x)), unit(0i64), xs).1.into_acc()
}

/// Checks that a program is the same with both.
macro_rules! same {
    ($(|$($x:ident: $t:ty),+| vmap($f:expr, $xs:expr)),+ $(,)?) => { $({
        let batched = afun(|$($x: $t),+| vmap($f, $xs));
        let expected = afun(|$($x: $t),+| looped($f, $xs));
        check(&batched, &expected, true);
    })+ };
}

/// Numbers that are all different.
fn numbers(n: usize, seed: usize) -> Vec<f64> {
    (0..n).map(|k| ((k * 37 + seed * 11 + 5) % 64) as f64 / 16.0 - 1.75).collect()
}

trait Samples: Sized {
    fn sample(rows: usize, seed: usize) -> Self;
}
impl Samples for Vector<f64> {
    fn sample(rows: usize, seed: usize) -> Self {
        Array::vector(numbers(rows, seed))
    }
}
impl Samples for Matrix<f64> {
    fn sample(rows: usize, seed: usize) -> Self {
        Array::matrix(rows, 4, numbers(rows * 4, seed)).unwrap()
    }
}
impl<A: Samples, B: Samples> Samples for (A, B) {
    fn sample(rows: usize, seed: usize) -> Self {
        (A::sample(rows, seed), B::sample(rows, seed + 1))
    }
}

#[track_caller]
fn check<A: Arrays + Samples, R: Arrays>(batched: &Afun<A, R>, expected: &Afun<A, R>, without_loop: bool) {
    let text = batched.to_string();
    assert_eq!(!text.contains("map_accum"), without_loop, "{text}");
    for rows in 1..5 {
        let x = A::sample(rows, rows);
        let run = |f: &Afun<A, R>| run_with(&Interpreter, f, &x).map(|y| y.to_tuple());
        let (found, expected) = (run(batched), run(expected));
        match (&found, &expected) {
            (Ok(a), Ok(b)) => assert_eq!(format!("{a:?}"), format!("{b:?}"), "{rows} rows: {text}"),
            (Err(_), Err(_)) => {}
            _ => panic!("{found:?}, expected {expected:?}: {text}"),
        }
    }
}

#[test]
fn elementwise() {
    same!(
        |m: M| vmap(|row: V| map(|x| x * x.sin(), row), m),
        |m: M| vmap(|row: V| zip_with(|x, y| x * 2.0 - y, row, reverse(row)), m),
        |m: M| vmap(|row: V| imap(|i, x| x * i.cast::<f64>() + row.at(0), row), m),
        |m: M| vmap(|row: V| map(|x| x + row.at(row.len() - 1), row), m),
        |m: M| vmap(|row: V| generate((row.len(), 2), |(i, j)| row.at(i) * j.cast::<f64>()), m),
        |v: V| vmap(|x: Number| map(|x| x * 3.0, x), v),
        |v: V| vmap(|x: Number| fill(3, the(x)), v),
        |v: V| vmap(|_x: Number| iota(3), v),
    );
}

/// What the closure captures, whole or by element.
#[test]
fn captured() {
    same!(
        |m: M, v: V| vmap(|row: V| zip_with_min(|x, y| x * y, row, v), m),
        |m: M, v: V| vmap(|row: V| zip_with_min(|x, y| x * y + row.at(1), v, row), m),
        |m: M, v: V| vmap(|row: V| map(|x| x + row.at(2), v), m),
        |m: M, v: V| vmap(|row: V| concat(v, row), m),
        |v: V, w: V| vmap(|x: Number| map(|y| y * the(x), w), v),
        |v: V, m: M| vmap(|x: Number| matvec(m, fill(4, the(x))), v),
    );
}

#[test]
fn folds_and_scans() {
    same!(
        |m: M| vmap(sum, m),
        |m: M| vmap(|row: V| fold(|x, y| x.max(y), 0.5, row), m),
        |m: M| vmap(maximum, m),
        |m: M| vmap(|row: V| scanl(|x, y| x + y, 0.5, row), m),
        |m: M| vmap(|row: V| scanr(|x, y| x + y, 0.5, row), m),
        |m: M| vmap(|row: V| scanl1(|x, y| x * y, row), m),
        |m: M| vmap(|row: V| scanl(|x, y| x + y, row.at(3), row), m),
        |m: M| vmap(|row: V| scanr(|x, y| x + y, row.at(0), row), m),
        |m: M| vmap(|row: V| fold(|x, y| x.max(y), row.at(3), row), m),
        |v: V, w: V| vmap(|x: Number| fold(|x, y| x.min(y), the(x), w), v),
        |m: M| vmap(|row: V| sort(row), m),
        |m: M| vmap(argsort, m),
    );
}

#[test]
fn moved_elements() {
    same!(
        |m: M| vmap(reverse, m),
        |m: M| vmap(|row: V| take(2, row), m),
        |m: M| vmap(|row: V| reshape((2, 2), row), m),
        |m: M| vmap(|row: V| transpose(reshape((2, 2), row)), m),
        |m: M| vmap(|row: V| replicate((3, All), row), m),
        |m: M| vmap(|row: V| slice((1i64, All), reshape((2, 2), row)), m),
        |m: M| vmap(|row: V| slice((row.at(0).gt(0.0).cast::<i64>(), All), reshape((2, 2), row)), m),
        |v: V, m: M| vmap(|x: Number| slice((the(x).gt(0.0).cast::<i64>() % m.shape().0, All), m), v),
        |v: V, w: V| vmap(|x: Number| gather(fill(2, the(x).gt(0.0).cast::<i64>() % w.len()), w), v),
        |m: M| vmap(|row: V| gather(map(|x| x.gt(0.0).cast::<i64>(), row), row), m),
        |m: M| vmap(|row: V| permute(|x, y| x + y, fill(3, 0.5), |i| (row.at(i).gt(0.0), i % 3), row), m),
        |m: M| vmap(|row: V| set(row, row.at(0).gt(0.0).cast::<i64>(), 7.0), m),
    );
}

#[test]
fn tuples() {
    same!(
        |m: M, v: V| vmap(|(row, x): (V, Number)| (sum(row), map(|y| y * the(x), row)), (m, v)),
        |m: M, v: V| vmap(
            |row: V| {
                let (a, b) = (reverse(row), v);
                (b, a, v)
            },
            m
        ),
        |m: M, v: V| vmap(|(row, x): (V, Number)| acond(v.at(0).gt(0.0), (row, x), (reverse(row), sum(row))), (m, v)),
    );
}

#[test]
fn nested() {
    same!(
        |m: M| vmap(|row: V| vmap(|x: Number| map(|x| x.exp(), x), row), m),
        |m: M| vmap(|row: V| vmap(|x: Number| map(|y| y * the(x), row), row), m),
        |v: V| vmap(|x: Number| vmap(|y: Number| zip_with(|x, y| x * y + y, x, y), v), v),
        |m: M, w: M| vmap(|row: V| vmap(|other: V| dot(row, other), w), m),
    );
}

/// Loops with own numbers of steps, and branches.
#[test]
fn control_flow_by_lane() {
    same!(
        |v: V| vmap(|x: Number| awhile(|x: Number| the(x).abs().gt(0.1), |x: Number| map(|x| x * 0.5, x), x), v),
        |v: V, m: M| vmap(
            |x: Number| {
                let step = |(k, y): (Acc<Scalar<i64>>, Number)| {
                    (map(|k| k + 1, k), zip_with(|x, y| y - (y * y - x * x) * m.at((0, 0)), x, y))
                };
                awhile(|(k, y): (Acc<Scalar<i64>>, Number)| the(k).lt(9).and(the(y).gt(the(x))), step, (unit(0i64), x))
            },
            v
        ),
        |v: V, w: V| vmap(|x: Number| acond(the(x).gt(0.0), unit(w.at(0)), map(|x| x.exp(), x)), v),
    );
}

/// What is not taken in a lane would fail there: a read out of bounds, a division by zero, a row without elements, and a loop whose steps would.
#[test]
fn lanes_that_would_fail() {
    same!(
        |v: V, w: V| vmap(|x: Number| acond(the(x).gt(0.0), unit(w.at(the(x).gt(0.0).cast::<i64>() - 1)), x), v),
        |v: V, w: V| vmap(|x: Number| acond(the(x).le(0.0), x, unit(w.at(the(x).gt(0.0).cast::<i64>() - 1))), v),
        |v: V, w: V| vmap(|x: Number| map(|x| cond(x.gt(0.0), w.at(x.gt(0.0).cast::<i64>() - 1), x), x), v),
        |v: V| vmap(
            |x: Number| {
                let sign = the(x).gt(0.0).cast::<i64>();
                acond(sign.ne(0), unit((lit::<i64>(7.0) / sign).cast::<f64>()), x)
            },
            v
        ),
        |v: V| vmap(
            |x: Number| {
                let step = |y: Number| map(|y| y * v.at(cond(y.gt(0.01), 0i64, -1i64)), y);
                awhile(|y: Number| the(y).gt(0.01).and(v.at(0).abs().lt(0.9)), step, x)
            },
            v
        ),
    );
    let chosen = |m: M, loops: bool| {
        let f = |row: V| acond(row.at(0).gt(0.0), maximum(take(row.at(0).gt(0.0).cast::<i64>(), row)), sum(row));
        if loops { looped(f, m) } else { vmap(f, m) }
    };
    check(&afun(move |m: M| chosen(m, false)), &afun(move |m: M| chosen(m, true)), false);
}

/// Arrays that differ between lanes and do not have the same extents are an error.
#[test]
fn shapes_of_lanes_that_differ() {
    same!(|m: M| vmap(|row: V| zip_with(|x, y| x * y, row, map(|x| x + 1.0, take(row.len() - 1, row))), m));
}

/// Only the condition of a loop in scalar code depends on the lane.
#[test]
fn conditions_by_lane() {
    same!(
        |m: M| vmap(|row: V| unit(while_(|k: Exp<f64>| k.lt(row.at(0).abs() * 3.0), |k| k + 0.7, 0.0)), m),
        |v: V| vmap(|x: Number| unit(while_(|k: Exp<f64>| k.lt(the(x) * 3.0), |k| k + 0.7, 0.0)), v),
    );
}

/// Loops with the same steps in all lanes.
#[test]
fn loops() {
    let step = |s: Number, x: Number| (zip_with(|s, x| s * 0.5 + x, s, x), map(|s| s * 2.0, s));
    let both = |a: &dyn Fn(M) -> M, b: &dyn Fn(M) -> M| {
        let (a, b) = (afun(|m: M| a(m)), afun(|m: M| b(m)));
        assert_eq!(a.to_string().matches("map_accum").count() + a.to_string().matches("awhile").count(), 1, "{a}");
        for rows in 1..4 {
            let x = Samples::sample(rows, rows);
            let run = |f: &Afun<Matrix<f64>, Matrix<f64>>| run_with(&Interpreter, f, &x).unwrap();
            assert_eq!(run(&a), run(&b), "{a}");
        }
    };
    both(&|m| vmap(|row: V| map_accum_l(step, unit(1.0), row).1, m), &|m| {
        looped(|row: V| map_accum_l(step, unit(1.0), row).1, m)
    });
    both(&|m| vmap(|row: V| map_accum_r(step, sum(row), row).1, m), &|m| {
        looped(|row: V| map_accum_r(step, sum(row), row).1, m)
    });
    both(&|m| vmap(|row: V| map_accum_l(step, unit(1.0), take(0, row)).1, m), &|m| {
        looped(|row: V| map_accum_l(step, unit(1.0), take(0, row)).1, m)
    });
    // The state begins as shared and becomes one of lanes; a part of it stays shared.
    let grow = |row: V| move |(k, s): (Acc<Scalar<i64>>, V)| (map(|k| k + 1, k), zip_with(|x, y| x * 0.5 + y, s, row));
    let start = || (unit(0i64), fill(4, 1.0));
    both(&|m| vmap(|row: V| awhile(|(k, _)| the(k).lt(3), grow(row), start()).1, m), &|m| {
        looped(|row: V| awhile(|(k, _)| the(k).lt(3), grow(row), start()).1, m)
    });
    // One part after the other gets lanes.
    type State = (Acc<Scalar<i64>>, V, V, V);
    let pass_on = |row: V| move |(k, a, b, _): State| (map(|k| k + 1, k), row, a, b);
    let start = || (unit(0i64), fill(4, 1.0), fill(4, 2.0), fill(4, 3.0));
    let last = move |row: V| awhile(|(k, ..): State| the(k).lt(4), pass_on(row), start()).3;
    both(&|m| vmap(last, m), &|m| looped(last, m));
}

/// What has no rule stays a loop: extents, operators and conditions of rows.
#[test]
fn loops_that_stay() {
    macro_rules! stays {
        ($(|$($x:ident: $t:ty),+| vmap($f:expr, $xs:expr)),+ $(,)?) => { $({
            let stays = afun(|$($x: $t),+| vmap($f, $xs));
            check(&stays, &afun(|$($x: $t),+| looped($f, $xs)), false);
        })+ };
    }
    stays!(|v: V| vmap(|x: Number| sum(map(|i| i.cast::<f64>(), iota(the(x).abs().cast::<i64>()))), v), |m: M| vmap(
        |row: V| acond(row.at(0).gt(0.0), map(|x| x * x, row), row),
        m
    ),);
}

/// No row: the extents of rows are known, if they do not depend on rows.
#[test]
fn without_rows() {
    let squares = afun(|m: M| vmap(|row: V| (map(|x| x * x, row), fill((2, 3), 1.0)), m));
    let (squares, ones) = run_with(&Interpreter, &squares, &Array::matrix(0, 4, vec![]).unwrap()).unwrap();
    assert_eq!((squares.shape()[..].to_vec(), ones.shape()[..].to_vec()), (vec![0, 4], vec![0, 2, 3]));
}
