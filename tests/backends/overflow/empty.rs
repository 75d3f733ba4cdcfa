//! Very many rows without elements. Nothing is computed, so every program ends at once: with the right shape, or with
//! an error if the result has one element per row, because there is no memory for so many.

use super::{I, M, columns, everywhere, others};
use accel::interp::Interpreter;
use accel::prelude::*;
use std::fmt::Debug;

/// The number of rows: too many to visit all, and too many for the address space of a processor if each had a number.
const ROWS: usize = 1 << 46;

/// Rows without elements.
fn rows() -> Matrix<f64> {
    Array::matrix(ROWS, 0, vec![]).expect("extents that an array can have")
}

/// A vector for every row.
fn cube() -> Array<Dim3, f64> {
    Array::from_extents(&[ROWS, 0, 3], vec![]).expect("extents that an array can have")
}

/// Checks that every backend needs too much memory.
#[track_caller]
fn needs_memory<A: Arrays, R: Arrays + Debug>(f: &Afun<A, R>, inputs: impl Inputs<A> + Copy) {
    for backend in others().into_iter().chain([&Interpreter as &dyn accel::backend::Backend]) {
        let found = run_on(backend, f, inputs);
        assert!(matches!(found, Err(Error::Memory { .. } | Error::Device(_))), "{}: {found:?}\n{f}", backend.name());
    }
}

#[test]
fn scans_of_rows_without_elements() {
    let add = |a: Exp<f64>, b: Exp<f64>| a + b * 2.0;
    let f = afun(|m: M| {
        let sums = scanl1(|a, b| a + b, map(|x| x + 1.0, m));
        (scanl1(add, m), scanr1(add, m), sums, scanl1(|(a, b), (c, d)| (a + c, b * d), zip(m, m)))
    });
    let (a, b, c, d) = everywhere(&f, &rows()).expect("no elements");
    assert!([a, b, c].iter().all(|r| *r == rows()) && d.shape() == rows().shape());
    needs_memory(&afun(|m: M| scanl(add, 0.0, m)), &rows());
    needs_memory(&afun(|m: M| scanr_ex(add, 0.0, m)), &rows());
}

#[test]
fn folds_of_rows_without_elements() {
    let f = afun(|m: M, c: Acc<Array<Dim3, f64>>| {
        (sum_all(m), product_all(map(|x| x + 1.0, m)), sum(c), sum(transpose(m)))
    });
    let (a, b, c, d) = everywhere(&f, (&rows(), &cube())).expect("no elements");
    assert_eq!((a.item(), b.item()), (0.0, 1.0));
    assert!(c == rows() && d.is_empty());
    needs_memory(&afun(|m: M| sum(m)), &rows());
    needs_memory(&afun(|m: M| fold(|a, b| a * 2.0 + b, 1.0, m)), &rows());
    let least = afun(|m: M| fold1(|a: Exp<f64>, b: Exp<f64>| a.min(b), m));
    assert!(matches!(everywhere(&least, &rows()), Err(Error::Shape { .. })));
}

#[test]
fn permutations_of_rows_without_elements() {
    let f = afun(|m: M, xs: Acc<Vector<f64>>| {
        let into = |defaults| permute(|new, old| new + old, defaults, |(i, _)| (true, i), m);
        let last = permute(|new, old| new * 2.0 + old, m, |i| (i.lt(0), (i, 0)), xs);
        (into(xs), permute(|new, old| new + old, m, |(i, j)| (true, (i, j)), m), last)
    });
    let xs = Array::vector(vec![1.0, 2.0, 3.0]);
    let (a, b, c) = everywhere(&f, (&rows(), &xs)).expect("no elements");
    assert!(a == xs && b == rows() && c == rows());
    let outside = afun(|m: M, xs: Acc<Vector<f64>>| permute(|new, _| new, m, |i| (true, (i, 0)), xs));
    assert!(matches!(everywhere(&outside, (&rows(), &xs)), Err(Error::OutOfBounds { .. })));
}

#[test]
fn arrays_made_of_rows_without_elements() {
    let f = afun(|m: M, none: Acc<Vector<f64>>| {
        let (n, _) = m.shape();
        let wide = transpose(m);
        (
            (generate((n, none.len()), |(i, j)| (i - j).cast::<f64>()), replicate((n, All), none)),
            (concat(m, m), concat(wide, wide)),
            (reverse(m), reverse(wide), take(3, m), reshape((0, n), m)),
            (slice((n - 1, All), m), backpermute((n, 0), |(i, j)| (n - 1 - i, j), m)),
            (imap(|(i, _), x| i.cast::<f64>() * x, m), zip_with(|x, y| x * y, m, m)),
        )
    });
    let none = Array::vector(vec![]);
    let (made, joined, parts, chosen, mapped) = everywhere(&f, (&rows(), &none)).expect("no elements");
    assert!(made == (rows(), rows()) && joined == (rows(), columns(2 * ROWS)));
    assert!(parts == (rows(), columns(ROWS), rows(), columns(ROWS)) && chosen == (none, rows()));
    assert!(mapped == (rows(), rows()));
    needs_memory(&afun(|m: M| concat(m, replicate_inner(1, fill(m.shape().0, 1.0)))), &rows());
}

#[test]
fn products_and_gradients_of_rows_without_elements() {
    let f = afun(|m: M, none: M| (matmul(m, none), matmul(transpose(m), m)));
    let (a, b) = everywhere(&f, (&rows(), &columns(0))).expect("no elements");
    assert!(a == rows() && b == columns(0));
    needs_memory(&afun(|m: M, wide: M| matmul(m, wide)), (&rows(), &columns(3)));
    let g = value_and_grad(&afun(|m: M| sum_all(map(|x| x.sin(), m))));
    let (y, d) = everywhere(&g, &rows()).expect("no elements");
    assert!(y.item() == 0.0 && d == rows());
}

/// A strip with no positions, each of which would reduce long rows.
#[test]
fn no_rows_of_very_many_elements() {
    let f = afun(|m: M, xs: I| {
        let means = map(|x| x / 2.0, sum(map(|x| x * x, m)));
        let (least, largest) = (minimum(map(|x| x + 1.0, m)), maximum(m));
        let all = zip_with3(|a, b, c| a + b * c, means, least, largest);
        (sum(all), sum(zip_with(|a, b| a * b, all, means)), zip_with(|x, n| x * n.cast::<f64>(), all, xs))
    });
    for n in [1 << 20, ROWS] {
        let (a, b, c) = everywhere(&f, (&columns(n), &Array::vector(vec![]))).expect("no rows");
        assert!(a.item() == 0.0 && b.item() == 0.0 && c.is_empty());
    }
}

/// 2⁶³ - 1 is the product of two possible extents; no program can visit so many indices.
#[test]
fn more_indices_than_anything_has() {
    let [a, b] = [7 * 7 * 73 * 127 * 337, 92_737 * 649_657i64];
    assert_eq!(a * b, i64::MAX);
    let f = afun(|n: Acc<Scalar<i64>>, xs: I| {
        let ones = generate((the(n), b), |_| 1i64);
        permute(|new, old| new + old, xs, |(i, _)| (true, i % 2), ones)
    });
    needs_memory(&f, (&Array::scalar(a), &Array::vector(vec![0, 0])));
    let sum = afun(|n: Acc<Scalar<i64>>| sum_all(generate((the(n), b), |(i, j)| i + j)));
    needs_memory(&sum, &Array::scalar(a));
}
