//! Folds and scans of segments: empty ones, single elements, whole rows, and lengths that do not fit.

use super::check::Suite;
use super::samples::*;
use super::scans::{left, right};
use accel::prelude::*;

pub fn all(t: &Suite) {
    every!(with_start(t) inner);
    every!(without_start(t) inner);
    every!(with_totals_apart(t) inner);
    without_empty_segments(t);
    not_commutative_at_all(t);
    lengths_that_do_not_fit(t);
}

/// Ways to divide `n` elements into segments.
fn divisions(n: usize) -> Vec<Vec<usize>> {
    // Segments of various lengths, many of them empty.
    let (mut various, mut rest) = (vec![], n);
    while rest > 0 {
        let length = ((i32::sample(various.len()) as usize) % 7).saturating_sub(2).pow(2).min(rest);
        various.push(length);
        rest -= length;
    }
    let mut all = vec![vec![n], vec![0, n, 0, 0], various];
    if n == 0 {
        all.push(vec![]);
    }
    if n <= 20 {
        all.push(vec![1; n]);
    }
    all
}

fn lengths(division: &[usize]) -> Vector<i64> {
    Array::vector(division.iter().map(|n| *n as i64).collect())
}

/// Applies `f` to every segment of a row, and concatenates the results.
fn map_segments<T: Clone, U>(row: &[T], division: &[usize], f: impl Fn(&[T]) -> Vec<U>) -> Vec<U> {
    let mut rest = row;
    let mut results = vec![];
    for n in division {
        let (segment, others) = rest.split_at(*n);
        results.extend(f(segment));
        rest = others;
    }
    results
}

/// Calls `check` with arrays of all shapes and divisions of their rows.
fn each<Sh: Shape, T: Sample>(check: impl Fn(&Array<Snoc<Sh>, T>, &[usize])) {
    for extents in shapes(Sh::RANK + 1) {
        for division in divisions(extents[Sh::RANK]) {
            check(&array(extents), &division);
        }
    }
}

fn with_start<Sh: Shape, T: Sample>(t: &Suite) {
    let z = T::sample(99);
    let prog = afun(|lengths: Acc<Vector<i64>>, xs: Acc<Array<Snoc<Sh>, T>>| {
        let z = constant(z.clone());
        (
            fold_seg(T::combine_exp, z, lengths, xs),
            scanl_seg(T::combine_exp, z, lengths, xs),
            scanr_seg(T::combine_exp, z, lengths, xs),
        )
    });
    each::<Sh, T>(|xs, division| {
        let (n, m) = (division.iter().sum::<usize>(), division.len());
        let total = |segment: &[T]| vec![segment.iter().fold(z.clone(), |x, y| T::combine(&x, y))];
        let lefts = |segment: &[T]| left(z.clone(), segment, T::combine);
        let rights = |segment: &[T]| right(z.clone(), segment, T::combine);
        let expected = (
            map_rows(xs, |_| m, |row| map_segments(&row, division, total)),
            map_rows(xs, |_| n + m, |row| map_segments(&row, division, lefts)),
            map_rows(xs, |_| n + m, |row| map_segments(&row, division, rights)),
        );
        t.is(prog.clone(), (&lengths(division), xs), expected);
    });
}

fn without_start<Sh: Shape, T: Sample>(t: &Suite) {
    let prog = afun(|lengths: Acc<Vector<i64>>, xs: Acc<Array<Snoc<Sh>, T>>| {
        (scanl1_seg(T::combine_exp, lengths, xs), scanr1_seg(T::combine_exp, lengths, xs))
    });
    each::<Sh, T>(|xs, division| {
        let lefts = |segment: &[T]| match segment.split_first() {
            Some((x, rest)) => left(x.clone(), rest, T::combine),
            None => vec![],
        };
        let rights = |segment: &[T]| match segment.split_last() {
            Some((x, rest)) => right(x.clone(), rest, T::combine),
            None => vec![],
        };
        let expected = (
            map_rows(xs, |n| n, |row| map_segments(&row, division, lefts)),
            map_rows(xs, |n| n, |row| map_segments(&row, division, rights)),
        );
        t.is(prog.clone(), (&lengths(division), xs), expected);
    });
}

fn with_totals_apart<Sh: Shape, T: Sample>(t: &Suite) {
    let z = T::sample(99);
    let prog = afun(|lengths: Acc<Vector<i64>>, xs: Acc<Array<Snoc<Sh>, T>>| {
        let z = constant(z.clone());
        (scanl_ex_seg(T::combine_exp, z, lengths, xs), scanr_ex_seg(T::combine_exp, z, lengths, xs))
    });
    each::<Sh, T>(|xs, division| {
        let m = division.len();
        let lefts = |segment: &[T]| left(z.clone(), segment, T::combine);
        let rights = |segment: &[T]| right(z.clone(), segment, T::combine);
        let segments = |length: &dyn Fn(usize) -> usize, f: &dyn Fn(&[T]) -> Vec<T>| {
            map_rows(xs, length, |row| map_segments(&row, division, f))
        };
        let before = segments(&|n| n, &|segment| lefts(segment)[..segment.len()].to_vec());
        let after = segments(&|n| n, &|segment| rights(segment)[1..].to_vec());
        let from_left = segments(&|_| m, &|segment| lefts(segment)[segment.len()..].to_vec());
        let from_right = segments(&|_| m, &|segment| rights(segment)[..1].to_vec());
        t.is(prog.clone(), (&lengths(division), xs), ((before, from_left), (after, from_right)));
    });
}

fn without_empty_segments(t: &Suite) {
    let prog = afun(|lengths: Acc<Vector<i64>>, xs: Acc<Matrix<f64>>| fold1_seg(|x, y| x.max(y), lengths, xs));
    for (n, division) in [(0, vec![]), (1, vec![1]), (7, vec![2, 1, 4]), (300, vec![100, 1, 1, 198]), (300, vec![300])]
    {
        let xs = array::<Dim2, f64>(&[3, n]);
        let largest = |segment: &[f64]| vec![segment.iter().copied().fold(f64::NEG_INFINITY, f64::max)];
        let expected = map_rows(&xs, |_| division.len(), |row| map_segments(&row, &division, largest));
        t.is(prog.clone(), (&lengths(&division), &xs), expected);
    }
}

/// From the left, `second` gives the last element of each segment; from the right, each element itself.
fn not_commutative_at_all(t: &Suite) {
    let prog = afun(|lengths: Acc<Vector<i64>>, xs: Acc<Vector<i32>>| {
        (
            fold1_seg(|_, y| y, lengths, xs),
            scanl1_seg(|x, _| x, lengths, xs),
            scanr1_seg(|_, y| y, lengths, xs),
            scanl_seg(|_, y| y, 7, lengths, xs),
        )
    });
    let xs = Array::vector(vec![1, 2, 3, 4, 5]);
    let expected = (
        Array::vector(vec![2, 5]),
        Array::vector(vec![1, 1, 3, 3, 3]),
        Array::vector(vec![2, 2, 5, 5, 5]),
        Array::vector(vec![7, 1, 2, 7, 3, 4, 5]),
    );
    t.is(prog, (&Array::vector(vec![2, 3]), &xs), expected);
}

fn lengths_that_do_not_fit(t: &Suite) {
    let prog = afun(|lengths: Acc<Vector<i64>>, xs: Acc<Matrix<f64>>| scanl1_seg(|x, y| x + y, lengths, xs));
    let line = line!() - 1;
    let at = format!("`scanl1_seg` at {}:{line}: expected segments that fill the rows, found", file!());
    let xs = array::<Dim2, f64>(&[2, 5]);
    for (lengths, found) in [
        (vec![2, 2], "segments with 4 elements together, in rows of the shape [2, 5]"),
        (vec![6], "segments with 6 elements together, in rows of the shape [2, 5]"),
        (vec![], "segments with 0 elements together, in rows of the shape [2, 5]"),
        (vec![3, -2, 4], "a segment of length -2"),
    ] {
        t.fails(prog.clone(), (&Array::vector(lengths), &xs), &format!("{at} {found}"));
    }
}
