//! Scans from the left and from the right: with an initial value, without one, and with a separate total.

use super::check::Suite;
use super::samples::*;
use accel::prelude::*;

pub fn all(t: &Suite) {
    every!(with_start(t) inner);
    every!(without_start(t) inner);
    every!(with_total_apart(t) inner);
    not_commutative_at_all(t);
    of_scans(t);
}

/// All partial results from the left; the first is `z`.
pub fn left<T>(z: T, row: &[T], f: impl Fn(&T, &T) -> T) -> Vec<T> {
    let mut all = vec![z];
    for y in row {
        all.push(f(&all[all.len() - 1], y));
    }
    all
}

/// All partial results from the right; the last is `z`.
pub fn right<T: Clone>(z: T, row: &[T], f: impl Fn(&T, &T) -> T) -> Vec<T> {
    let backwards: Vec<T> = row.iter().rev().cloned().collect();
    let mut all = left(z, &backwards, |x, y| f(y, x));
    all.reverse();
    all
}

fn with_start<Sh: Shape, T: Sample>(t: &Suite) {
    let z = T::sample(99);
    for extents in shapes(Sh::RANK + 1) {
        let xs = array::<Snoc<Sh>, T>(extents);
        let prog = afun(|xs: Acc<Array<Snoc<Sh>, T>>| {
            (scanl(T::combine_exp, constant(z.clone()), xs), scanr(T::combine_exp, constant(z.clone()), xs))
        });
        let lefts = map_rows(&xs, |n| n + 1, |row| left(z.clone(), &row, T::combine));
        let rights = map_rows(&xs, |n| n + 1, |row| right(z.clone(), &row, T::combine));
        t.is(prog, &xs, (lefts, rights));
    }
}

fn without_start<Sh: Shape, T: Sample>(t: &Suite) {
    for extents in shapes(Sh::RANK + 1) {
        let xs = array::<Snoc<Sh>, T>(extents);
        let prog = afun(|xs: Acc<Array<Snoc<Sh>, T>>| (scanl1(T::combine_exp, xs), scanr1(T::combine_exp, xs)));
        let lefts = map_rows(
            &xs,
            |n| n,
            |row| match row.split_first() {
                Some((x, rest)) => left(x.clone(), rest, T::combine),
                None => vec![],
            },
        );
        let rights = map_rows(
            &xs,
            |n| n,
            |row| match row.split_last() {
                Some((x, rest)) => right(x.clone(), rest, T::combine),
                None => vec![],
            },
        );
        t.is(prog, &xs, (lefts, rights));
    }
}

fn with_total_apart<Sh: Shape, T: Sample>(t: &Suite) {
    let z = T::sample(99);
    for extents in shapes(Sh::RANK + 1) {
        let xs = array::<Snoc<Sh>, T>(extents);
        let prog = afun(|xs: Acc<Array<Snoc<Sh>, T>>| scanl_ex(T::combine_exp, constant(z.clone()), xs));
        let all = |row: Vec<T>| left(z.clone(), &row, T::combine);
        let before = map_rows(&xs, |n| n, |row| all(row.clone())[..row.len()].to_vec());
        t.is(prog, &xs, (before, reduce_rows(&xs, |row| all(row.clone())[row.len()].clone())));

        let prog = afun(|xs: Acc<Array<Snoc<Sh>, T>>| scanr_ex(T::combine_exp, constant(z.clone()), xs));
        let all = |row: Vec<T>| right(z.clone(), &row, T::combine);
        let after = map_rows(&xs, |n| n, |row| all(row)[1..].to_vec());
        t.is(prog, &xs, (after, reduce_rows(&xs, |row| all(row)[0].clone())));
    }
}

/// In a scan from the left, `second` copies each element; from the right, only the last one.
fn not_commutative_at_all(t: &Suite) {
    for n in [0, 1, 2, 7, 300] {
        let xs = vector::<i32>(n);
        let last = xs.iter().last();
        t.is(afun(|xs: Acc<Vector<i32>>| scanl1(|_, y| y, xs)), &xs, xs.clone());
        t.is(afun(|xs: Acc<Vector<i32>>| scanr1(|x, _| x, xs)), &xs, xs.clone());
        t.is(
            afun(|xs: Acc<Vector<i32>>| scanr1(|_, y| y, xs)),
            &xs,
            Array::vector(xs.iter().filter_map(|_| last).collect()),
        );
        let sevens = Array::vector(vec![7; n + 1]);
        t.is(afun(|xs: Acc<Vector<i32>>| scanl(|x, _| x, 7, xs)), &xs, sevens.clone());
        t.is(afun(|xs: Acc<Vector<i32>>| scanr(|_, y| y, 7, xs)), &xs, sevens);
        let shifted = std::iter::once(7).chain(xs.iter()).collect();
        t.is(afun(|xs: Acc<Vector<i32>>| scanl(|_, y| y, 7, xs)), &xs, Array::vector(shifted));
    }
}

/// A scan of a scan, with an operator that reads an array.
fn of_scans(t: &Suite) {
    let (xs, limit) = (Array::vector((0..50).collect::<Vec<i64>>()), Array::scalar(1000i64));
    let prog = afun(|xs: Acc<Vector<i64>>, limit: Acc<Scalar<i64>>| {
        scanr(|x, y| x.max(y), 0, scanl1(|x, y| (x + y).min(the(limit)), xs))
    });
    let sums = left(0, &xs.to_vec()[1..], |x, y| (x + y).min(1000));
    t.is(prog, (&xs, &limit), Array::vector(right(0, &sums, |x, y| *x.max(y))));
}
