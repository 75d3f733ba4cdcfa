//! Rows that are taken and combined by index: `gather`, `take_along`, `sums_at`, `max_at`, `min_at`, `softmax_at`.

use super::check::Suite;
use super::samples::*;
use accel::prelude::*;

pub fn all(t: &Suite) {
    every!(rows_taken(t));
    every!(elements_of_each_row(t) inner);
    groups_of_rows::<Dim0>(t);
    groups_of_rows::<Dim1>(t);
    groups_of_rows::<Dim2>(t);
    integers(t);
    shares(t);
    wrong_shapes(t);
}

/// Rows of the shape `Sh`, by a vector and by a matrix of numbers.
fn rows_taken<Sh: Shape, T: Sample>(t: &Suite) {
    let row = &[2, 3, 1, 4][..Sh::RANK];
    for (n, chosen) in [(1, 4), (5, 3), (7, 0)] {
        let extents = [&[n], row].concat();
        let xs = array::<Snoc<Sh>, T>(&extents);
        let from: Vector<i64> = tabulate(&[chosen], |ix| (ix[0] * 5 % n) as i64);
        let prog = afun(|from: Acc<Vector<i64>>, xs: Acc<Array<Snoc<Sh>, T>>| gather(from, xs));
        let expected =
            tabulate(&[&[chosen], row].concat(), |ix| at(&xs, &[&[at(&from, &ix[..1]) as usize], &ix[1..]].concat()));
        t.is(prog, (&from, &xs), expected);
        let from: Matrix<i64> = tabulate(&[2, chosen], |ix| ((ix[0] + ix[1] * 3) % n) as i64);
        let prog = afun(|from: Acc<Matrix<i64>>, xs: Acc<Array<Snoc<Sh>, T>>| gather(from, xs));
        let expected = tabulate(&[&[2, chosen], row].concat(), |ix| {
            at(&xs, &[&[at(&from, &ix[..2]) as usize], &ix[2..]].concat())
        });
        t.is(prog, (&from, &xs), expected);
    }
}

fn elements_of_each_row<Sh: Shape, T: Sample>(t: &Suite) {
    for (n, chosen) in [(1, 3), (4, 9), (6, 0)] {
        let outer = &[2, 3, 2, 1][..Sh::RANK];
        let xs = array::<Snoc<Sh>, T>(&[outer, &[n]].concat());
        let from = tabulate::<Snoc<Sh>, i64>(&[outer, &[chosen]].concat(), |ix| (ix.iter().sum::<usize>() % n) as i64);
        let expected = tabulate::<Snoc<Sh>, T>(&[outer, &[chosen]].concat(), |ix| {
            at(&xs, &[&ix[..Sh::RANK], &[at(&from, ix) as usize]].concat())
        });
        let prog = afun(|from: Acc<Array<Snoc<Sh>, i64>>, xs: Acc<Array<Snoc<Sh>, T>>| take_along(from, xs));
        t.is(prog, (&from, &xs), expected);
    }
}

/// Some numbers are of no group, some groups have no row.
fn numbers(n: usize, count: usize) -> Vec<i64> {
    (0..n as i64).map(|i| i * i % (count as i64 + 4) - 2).collect()
}

fn groups_of_rows<Sh: Shape>(t: &Suite) {
    for (n, count) in [(0, 3), (10, 1), (700, 13)] {
        let row = &[2, 3][..Sh::RANK];
        let xs = array::<Snoc<Sh>, f64>(&[&[n], row].concat());
        let to = numbers(n, count);
        let of = |f: fn(f64, f64) -> f64, none: f64| {
            tabulate::<Snoc<Sh>, f64>(&[&[count], row].concat(), |ix| {
                let rows = (0..n).filter(|i| to[*i] == ix[0] as i64);
                rows.map(|i| at(&xs, &[&[i], &ix[1..]].concat())).fold(none, f)
            })
        };
        let prog = afun(move |to: Acc<Vector<i64>>, xs: Acc<Array<Snoc<Sh>, f64>>| {
            let count = count as i64;
            (sums_at(count, to, xs), max_at(count, to, xs), min_at(count, to, xs))
        });
        let expected = (of(|x, y| x + y, 0.0), of(f64::max, f64::NEG_INFINITY), of(f64::min, f64::INFINITY));
        t.is(prog, (&Array::vector(to.clone()), &xs), expected);
    }
}

/// Where there is no row, it is the least or greatest integer.
fn integers(t: &Suite) {
    let prog = afun(|to: Acc<Vector<i64>>, xs: Acc<Vector<i32>>, ys: Acc<Vector<u8>>| {
        (max_at(2, to, xs), min_at(2, to, xs), max_at(2, to, ys), min_at(2, to, ys))
    });
    let to = Array::vector(vec![1i64, 1, 5]);
    let (xs, ys) = (Array::vector(vec![-7, 3, 9]), Array::vector(vec![4u8, 200, 255]));
    let expected = (
        Array::vector(vec![i32::MIN, 3]),
        Array::vector(vec![i32::MAX, -7]),
        Array::vector(vec![0, 200]),
        Array::vector(vec![255, 4]),
    );
    t.is(prog, (&to, &xs, &ys), expected);
}

fn shares(t: &Suite) {
    for (n, count) in [(0, 2), (10, 1), (300, 13)] {
        let xs: Matrix<f64> = array(&[n, 3]);
        let to = numbers(n, count);
        let expected = tabulate(&[n, 3], |ix| {
            let group = (0..n).filter(|i| to[*i] == to[ix[0]]);
            let total: f64 = group.map(|i| at(&xs, &[i, ix[1]]).exp()).sum();
            if (0..count as i64).contains(&to[ix[0]]) { at(&xs, ix).exp() / total } else { 0.0 }
        });
        let prog = afun(move |to: Acc<Vector<i64>>, m: Acc<Matrix<f64>>| softmax_at(count as i64, to, m));
        t.near(1e-13, prog, (&Array::vector(to.clone()), &xs), expected);
    }
    // Of infinities, as `softmax`; large elements do not overflow.
    let prog = afun(|to: Acc<Vector<i64>>, xs: Acc<Vector<f64>>| softmax_at(3, to, xs));
    let infinite = f64::NEG_INFINITY;
    let xs = Array::vector(vec![infinite, 1e4, infinite, 1e4, 7.0]);
    let expected = Array::vector(vec![0.0, 0.5, 0.0, 0.5, 1.0]);
    t.is(prog, (&Array::vector(vec![0, 1, 0, 1, 2]), &xs), expected);
}

fn wrong_shapes(t: &Suite) {
    let (to, m): (Vector<i64>, Matrix<f64>) = (Array::vector(vec![0, 1]), array(&[3, 2]));
    let prog = afun(|to: Acc<Vector<i64>>, m: Acc<Matrix<f64>>| sums_at(4, to, m));
    let place = |name, line| format!("`{name}` at {}:{line}: expected", file!());
    let text = "shapes [n] and [n, m], found [2] and [3, 2]";
    t.fails(prog, (&to, &m), &format!("{} {text}", place("sums_at", line!() - 3)));
    let prog = afun(|to: Acc<Vector<i64>>, m: Acc<Matrix<f64>>| softmax_at(4, to, m));
    t.fails(prog, (&to, &m), &format!("{} {text}", place("softmax_at", line!() - 1)));
    let prog = afun(|n: Acc<Scalar<i64>>, m: Acc<Matrix<f64>>| max_at(the(n), iota(3), m));
    let text = "extents that are not negative, found [-1, 2]";
    t.fails(prog, (&Array::scalar(-1), &m), &format!("{} {text}", place("max_at", line!() - 2)));
    let prog = afun(|from: Acc<Matrix<i64>>, m: Acc<Matrix<f64>>| take_along(from, m));
    let text = "shapes [n, m] and [n, p], found [2, 2] and [3, 2]";
    t.fails(prog, (&tabulate(&[2, 2], |_| 0), &m), &format!("{} {text}", place("take_along", line!() - 2)));
}
