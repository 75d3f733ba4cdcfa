//! Prefix sums of vectors, of rows and of columns.

use crate::extents::{MATRICES, VECTORS};
use crate::hand::{Single, array, integers, name, room, rows, sum as sum_by_hand};
use crate::kernel::{Extents, Sweep, Work};
use accel::prelude::*;
use rayon::prelude::*;
use std::ops::AddAssign;

pub fn add(sweep: &mut Sweep) {
    scans::<f32>(sweep);
    scans::<f64>(sweep);
    scans::<i64>(sweep);
    gradients::<f32>(sweep);
    gradients::<f64>(sweep);
}

trait Number: Num + AddAssign + Single {}
impl<T: Num + AddAssign + Single> Number for T {}

fn scan<T: Number>(xs: &[T], mut total: T, out: &mut [T]) {
    for (out, x) in out.iter_mut().zip(xs) {
        total += *x;
        *out = total;
    }
}

/// The sums of one block for each thread, then the prefix sums of each block.
fn scan_all<T: Number>(xs: &[T]) -> Vec<T> {
    let mut out = room(xs.len());
    if xs.len() <= 1 << 14 {
        scan(xs, T::default(), &mut out);
        return out;
    }
    let block = xs.len().div_ceil(rayon::current_num_threads());
    let sums: Vec<T> = xs.par_chunks(block).map(sum_by_hand).collect();
    let mut starts = vec![T::default(); sums.len() + 1];
    scan(&sums, T::default(), &mut starts[1..]);
    out.par_chunks_mut(block).zip(xs.par_chunks(block)).zip(&starts).for_each(|((out, xs), start)| {
        scan(xs, *start, out);
    });
    out
}

fn scan_rows<T: Number>(xs: &[T], m: usize) -> Vec<T> {
    let mut out = room(xs.len());
    rows(&mut out, m, m, |i, out| scan(&xs[i * m..][..m], T::default(), out));
    out
}

/// Each thread scans some columns, row by row.
fn scan_columns<T: Number>(xs: &[T], m: usize, backwards: bool) -> Vec<T> {
    let n = xs.len() / m;
    let mut out = room(xs.len());
    let threads = if xs.len() <= 1 << 14 { 1 } else { rayon::current_num_threads() };
    if m < 64 * threads || threads == 1 {
        let order = |i: usize| if backwards { n - 1 - i } else { i };
        let mut sums = vec![T::default(); m];
        for i in (0..n).map(order) {
            for ((out, sum), x) in out[i * m..][..m].iter_mut().zip(&mut sums).zip(&xs[i * m..]) {
                *sum += *x;
                *out = *sum;
            }
        }
        return out;
    }
    let width = m.div_ceil(threads);
    let mut bands: Vec<Vec<&mut [T]>> = (0..m.div_ceil(width)).map(|_| Vec::with_capacity(n)).collect();
    for row in out.chunks_exact_mut(m) {
        for (band, part) in bands.iter_mut().zip(row.chunks_mut(width)) {
            band.push(part);
        }
    }
    bands.par_iter_mut().enumerate().for_each(|(number, band)| {
        let mut sums = vec![T::default(); width];
        let mut row = |i: usize, out: &mut [T]| {
            for ((out, sum), x) in out.iter_mut().zip(&mut sums).zip(&xs[i * m + number * width..]) {
                *sum += *x;
                *out = *sum;
            }
        };
        let rows = band.iter_mut().enumerate();
        if backwards { rows.rev().for_each(|(i, out)| row(i, out)) } else { rows.for_each(|(i, out)| row(i, out)) }
    });
    out
}

/// The same from the end.
fn backwards<T: Number>(xs: &[T], m: usize) -> Vec<T> {
    let mut out = room(xs.len());
    rows(&mut out, m, m, |i, out| {
        let mut total = T::default();
        for (out, x) in out.iter_mut().zip(&xs[i * m..][..m]).rev() {
            total += *x;
            *out = total;
        }
    });
    out
}

fn plus<T: Num>(x: Exp<T>, y: Exp<T>) -> Exp<T> {
    x + y
}

fn scans<T: Number>(sweep: &mut Sweep) {
    Work {
        name: format!("scan, {}", name::<T>()),
        extents: VECTORS,
        inputs: |e: Extents| array::<Dim1, T>(e, integers(1, e[0], 2)),
        program: afun(|xs: Acc<Vector<T>>| scanl1(plus, xs)),
        by_hand: |xs| Vector::vector(scan_all(xs.as_slice())),
    }
    .add(sweep);
    of_rows::<T>().add(sweep);
    of_columns::<T>().add(sweep);
}

fn of_rows<T: Number>() -> Work<Matrix<T>, Matrix<T>> {
    Work {
        name: format!("scans of rows, {}", name::<T>()),
        extents: MATRICES,
        inputs: |e: Extents| array::<Dim2, T>(e, integers(1, e[0] * e[1], 2)),
        program: afun(|xs: Acc<Matrix<T>>| scanl1(plus, xs)),
        by_hand: |xs| array(&xs.shape(), scan_rows(xs.as_slice(), xs.shape()[1])),
    }
}

fn of_columns<T: Number>() -> Work<Matrix<T>, Matrix<T>> {
    Work {
        name: format!("scans of columns, {}", name::<T>()),
        extents: MATRICES,
        inputs: |e: Extents| array::<Dim2, T>(e, integers(1, e[0] * e[1], 2)),
        program: afun(|xs: Acc<Matrix<T>>| transpose(scanl1(plus, transpose(xs)))),
        by_hand: |xs| array(&xs.shape(), scan_columns(xs.as_slice(), xs.shape()[1], false)),
    }
}

fn gradients<T: Number>(sweep: &mut Sweep) {
    let (by_rows, by_columns) = (of_rows::<T>(), of_columns::<T>());
    let (rows, columns) = (vjp(&by_rows.program), vjp(&by_columns.program));
    by_rows.adjoint(&rows, |xs, dy| array(&xs.shape(), backwards(dy.as_slice(), xs.shape()[1])), sweep);
    let by_hand = |xs: &Matrix<T>, dy: &Matrix<T>| array(&xs.shape(), scan_columns(dy.as_slice(), xs.shape()[1], true));
    by_columns.adjoint(&columns, by_hand, sweep);
}
