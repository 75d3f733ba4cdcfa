//! Reductions of vectors, of rows and of columns.

use crate::extents::{BOXES, MATRICES, VECTORS};
use crate::hand::{
    Real, Single, add as add_rows, array, fold, fold_all, integers, name, parts, reals, room, rows, sum as sum_by_hand,
    totals, truths, zeroed,
};
use crate::kernel::{Extents, Sweep, Work};
use accel::prelude::*;
use rayon::prelude::*;
use std::ops::AddAssign;

pub fn add(sweep: &mut Sweep) {
    sums::<f32>(sweep);
    sums::<f64>(sweep);
    sums::<i32>(sweep);
    sums::<i64>(sweep);
    gradients_of_sums::<f32>(sweep);
    gradients_of_sums::<f64>(sweep);
    counts(sweep);
    smallest::<f32>(sweep);
    smallest::<f64>(sweep);
    smallest::<i32>(sweep);
    maxima::<f32>(sweep);
    maxima::<f64>(sweep);
    gradients_of_maxima(sweep);
}

trait Number: Num + AddAssign + Single + PartialOrd {}
impl<T: Num + AddAssign + Single + PartialOrd> Number for T {}

fn plus<T: AddAssign>(mut a: T, b: T) -> T {
    a += b;
    a
}

fn total<T: Number>(xs: &[T]) -> Scalar<T> {
    Scalar::scalar(fold_all(xs, T::default(), plus, plus))
}

fn by_rows<T: Number>(xs: &[T], n: usize) -> Vec<T> {
    let m = xs.len() / n;
    let mut out = room(n);
    rows(&mut out, 1, m, |i, out| out[0] = sum_by_hand(&xs[i * m..][..m]));
    out
}

/// Long columns are divided among the threads, short ones are not.
fn by_columns<T: Number>(xs: &[T], m: usize) -> Vec<T> {
    let n = xs.len() / m;
    if m < 4096 {
        return totals(n, m, m, |i, sums| add_rows(&xs[i * m..][..m], sums));
    }
    let mut out = zeroed(m);
    out.par_chunks_mut(4096).enumerate().for_each(|(part, out)| {
        for i in 0..n {
            add_rows(&xs[i * m + part * 4096..][..out.len()], out);
        }
    });
    out
}

fn sums<T: Number>(sweep: &mut Sweep) {
    Work {
        name: format!("sum, {}", name::<T>()),
        extents: VECTORS,
        inputs: |e: Extents| array::<Dim1, T>(e, integers(1, e[0], 100)),
        program: afun(|xs: Acc<Vector<T>>| sum(xs)),
        by_hand: |xs| total(xs.as_slice()),
    }
    .add(sweep);
    Work {
        name: format!("sums of rows, {}", name::<T>()),
        extents: MATRICES,
        inputs: |e: Extents| array::<Dim2, T>(e, integers(1, e[0] * e[1], 100)),
        program: afun(|xs: Acc<Matrix<T>>| sum(xs)),
        by_hand: |xs| Vector::vector(by_rows(xs.as_slice(), xs.shape()[0])),
    }
    .add(sweep);
    Work {
        name: format!("sums of columns, {}", name::<T>()),
        extents: MATRICES,
        inputs: |e: Extents| array::<Dim2, T>(e, integers(1, e[0] * e[1], 100)),
        program: afun(|xs: Acc<Matrix<T>>| sum(transpose(xs))),
        by_hand: |xs| Vector::vector(by_columns(xs.as_slice(), xs.shape()[1])),
    }
    .add(sweep);
    Work {
        name: format!("sums of rank 4 over the last dimension, {}", name::<T>()),
        extents: BOXES,
        inputs: |e: Extents| array::<Dim4, T>(e, integers(1, e.iter().product(), 100)),
        program: afun(|xs: Acc<Array<Dim4, T>>| sum(xs)),
        by_hand: |xs| array(&xs.shape()[..3], by_rows(xs.as_slice(), xs.len() / xs.shape()[3])),
    }
    .add(sweep);
    Work {
        name: format!("sums of rank 4 over the second dimension, {}", name::<T>()),
        extents: BOXES,
        inputs: |e: Extents| array::<Dim4, T>(e, integers(1, e.iter().product(), 100)),
        program: afun(|xs: Acc<Array<Dim4, T>>| {
            let (a, b, c, d) = xs.shape();
            sum(backpermute((a, c, d, b), |(i, k, l, j)| (i, j, k, l), xs))
        }),
        by_hand: |xs| {
            let [a, b, c, d] = xs.shape().into();
            let mut out = zeroed(a * c * d);
            rows(&mut out, c * d, b * c * d, |i, out| {
                for part in xs.as_slice()[i * b * c * d..][..b * c * d].chunks_exact(c * d) {
                    add_rows(part, out);
                }
            });
            array(&[a, c, d], out)
        },
    }
    .add(sweep);
}

fn gradients_of_sums<T: Real>(sweep: &mut Sweep) {
    let program = afun(|xs: Acc<Matrix<T>>| sum(xs));
    Work {
        name: format!("sums of rows, {}", name::<T>()),
        extents: MATRICES,
        inputs: |e: Extents| array::<Dim2, T>(e, reals(1, e[0] * e[1])),
        program: program.clone(),
        by_hand: |xs| Vector::vector(by_rows(xs.as_slice(), xs.shape()[0])),
    }
    .adjoint(
        &vjp(&program),
        |xs, dy| {
            let m = xs.shape()[1];
            let mut out = room(xs.len());
            rows(&mut out, m, m, |i, out| out.fill(dy.as_slice()[i]));
            array(&xs.shape(), out)
        },
        sweep,
    );
    let program = afun(|xs: Acc<Matrix<T>>| sum(transpose(xs)));
    Work {
        name: format!("sums of columns, {}", name::<T>()),
        extents: MATRICES,
        inputs: |e: Extents| array::<Dim2, T>(e, reals(1, e[0] * e[1])),
        program: program.clone(),
        by_hand: |xs| Vector::vector(by_columns(xs.as_slice(), xs.shape()[1])),
    }
    .adjoint(
        &vjp(&program),
        |xs, dy| {
            let m = xs.shape()[1];
            let mut out = room(xs.len());
            rows(&mut out, m, m, |_, out| out.copy_from_slice(dy.as_slice()));
            array(&xs.shape(), out)
        },
        sweep,
    );
}

fn counts(sweep: &mut Sweep) {
    Work {
        name: "count of bools".into(),
        extents: VECTORS,
        inputs: |e: Extents| array::<Dim1, bool>(e, truths(1, e[0])),
        program: afun(|xs: Acc<Vector<bool>>| sum(map(|x| x.cast::<i64>(), xs))),
        by_hand: |xs| {
            let xs = xs.as_slice();
            let parts = xs.par_chunks(1 << 16).map(count_by_hand);
            Scalar::scalar(if xs.len() <= 1 << 16 { count_by_hand(xs) } else { parts.sum() })
        },
    }
    .add(sweep);
    Work {
        name: "count of large numbers, f32".into(),
        extents: VECTORS,
        inputs: |e: Extents| array::<Dim1, f32>(e, reals(1, e[0])),
        program: afun(|xs: Acc<Vector<f32>>| sum(map(|x| x.gt(0.7f32).cast::<i64>(), xs))),
        by_hand: |xs| Scalar::scalar(fold_all(xs.as_slice(), 0i64, |n, x| n + i64::from(x > 0.7), |a, b| a + b)),
    }
    .add(sweep);
    Work {
        name: "counts of bools by rows".into(),
        extents: MATRICES,
        inputs: |e: Extents| array::<Dim2, bool>(e, truths(1, e[0] * e[1])),
        program: afun(|xs: Acc<Matrix<bool>>| sum(map(|x| x.cast::<i64>(), xs))),
        by_hand: |xs| {
            let [n, m] = xs.shape().into();
            let mut out = room(n);
            rows(&mut out, 1, m, |i, out| out[0] = count_by_hand(&xs.as_slice()[i * m..][..m]));
            Vector::vector(out)
        },
    }
    .add(sweep);
    Work {
        name: "any of rows of bools".into(),
        extents: MATRICES,
        inputs: |e: Extents| array::<Dim2, bool>(e, vec![false; e[0] * e[1]]),
        program: afun(|xs: Acc<Matrix<bool>>| any(xs)),
        by_hand: |xs| {
            let [n, m] = xs.shape().into();
            let mut out = room(n);
            let any = |xs: &[bool]| fold(xs, false, |a, x| a | x, |a, b| a | b);
            rows(&mut out, 1, m, |i, out| out[0] = any(&xs.as_slice()[i * m..][..m]));
            Vector::vector(out)
        },
    }
    .add(sweep);
}

/// Bytes are summed as bytes as long as they cannot overflow.
fn count_by_hand(xs: &[bool]) -> i64 {
    let bytes = |xs: &[bool]| fold(xs, 0u8, |n, x| n + u8::from(x), |a, b| a + b);
    xs.chunks(224).map(|xs| i64::from(bytes(xs))).sum()
}

/// The smallest element and its first index.
fn smallest<T: Number>(sweep: &mut Sweep) {
    Work {
        name: format!("argmin, {}", name::<T>()),
        extents: VECTORS,
        inputs: |e: Extents| array::<Dim1, T>(e, spread(e[0])),
        program: afun(|xs: Acc<Vector<T>>| unzip(fold1(first_smallest::<T>, imap(|i, x| (x, i), xs)))),
        by_hand: |xs| {
            const PART: usize = 1 << 16;
            let xs = xs.as_slice();
            let of_part = |(part, xs): (usize, &[T])| {
                let (x, i) = argmin(xs);
                (x, i + (part * PART) as i64)
            };
            let (x, i) = if xs.len() <= PART {
                argmin(xs)
            } else {
                xs.par_chunks(PART).enumerate().map(of_part).reduce_with(lesser).expect("not empty")
            };
            (Scalar::scalar(x), Scalar::scalar(i))
        },
    }
    .add(sweep);
    Work {
        name: format!("argmin of rows, {}", name::<T>()),
        extents: MATRICES,
        inputs: |e: Extents| array::<Dim2, T>(e, spread(e[0] * e[1])),
        program: afun(|xs: Acc<Matrix<T>>| unzip(fold1(first_smallest::<T>, imap(|(_, j), x| (x, j), xs)))),
        by_hand: |xs| {
            let [n, m] = xs.shape().into();
            let mut out = vec![(T::default(), 0); n];
            rows(&mut out, 1, m, |i, out| out[0] = argmin(&xs.as_slice()[i * m..][..m]));
            let (values, indices): (Vec<T>, Vec<i64>) = out.into_iter().unzip();
            (Vector::vector(values), Vector::vector(indices))
        },
    }
    .add(sweep);
    Work {
        name: format!("argmin of columns, {}", name::<T>()),
        extents: MATRICES,
        inputs: |e: Extents| array::<Dim2, T>(e, spread(e[0] * e[1])),
        program: afun(|xs: Acc<Matrix<T>>| {
            let entries = imap(|(i, _), x| (x, i), xs);
            let (n, m) = xs.shape();
            unzip(fold1(first_smallest::<T>, backpermute((m, n), |(j, i)| (i, j), entries)))
        }),
        by_hand: |xs| {
            let [n, m] = xs.shape().into();
            let (mut values, mut indices) = (xs.as_slice()[..m].to_vec(), vec![0i64; m]);
            let some = |first: usize, values: &mut [T], indices: &mut [i64]| {
                for i in 1..n {
                    let row = &xs.as_slice()[i * m + first..][..values.len()];
                    for ((value, index), x) in values.iter_mut().zip(&mut *indices).zip(row) {
                        let less = *x < *value;
                        *index = if less { i as i64 } else { *index };
                        *value = if less { *x } else { *value };
                    }
                }
            };
            let width = m.div_ceil(2 * rayon::current_num_threads()).max(64);
            if n * m <= 1 << 14 || m <= width {
                some(0, &mut values, &mut indices)
            } else {
                let parts = values.par_chunks_mut(width).zip(indices.par_chunks_mut(width)).enumerate();
                parts.for_each(|(part, (values, indices))| some(part * width, values, indices))
            }
            (Vector::vector(values), Vector::vector(indices))
        },
    }
    .add(sweep);
}

/// Numbers that hardly ever occur twice.
fn spread<T: Num>(n: usize) -> Vec<T> {
    integers(1, n, 1 << 30)
}

fn first_smallest<T: Number>((x, i): (Exp<T>, Exp<i64>), (y, j): (Exp<T>, Exp<i64>)) -> Exp<(T, i64)> {
    let first = x.lt(y).or(x.eq(y).and(i.lt(j)));
    cond::<(T, i64)>(first, (x, i), (y, j))
}

fn lesser<T: PartialOrd>(a: (T, i64), b: (T, i64)) -> (T, i64) {
    if b.0 < a.0 || (b.0 == a.0 && b.1 < a.1) { b } else { a }
}

/// The smallest element, then its first position.
fn argmin<T: Number>(xs: &[T]) -> (T, i64) {
    let least = |a: T, b: T| if b < a { b } else { a };
    let smallest = fold(xs, xs[0], least, least);
    (smallest, xs.iter().position(|x| *x == smallest).unwrap_or(0) as i64)
}

fn maximum_by_hand<T: Real>(xs: &[T]) -> T {
    let larger = |a: T, b: T| if b > a { b } else { a };
    fold(xs, xs[0], larger, larger)
}

fn maxima_by_rows<T: Real>(xs: &Matrix<T>) -> Vector<T> {
    let [n, m] = xs.shape().into();
    let mut out = room(n);
    rows(&mut out, 1, m, |i, out| out[0] = maximum_by_hand(&xs.as_slice()[i * m..][..m]));
    Vector::vector(out)
}

fn maxima<T: Real>(sweep: &mut Sweep) {
    Work {
        name: format!("maxima of rows, {}", name::<T>()),
        extents: MATRICES,
        inputs: |e: Extents| array::<Dim2, T>(e, reals(1, e[0] * e[1])),
        program: afun(|xs: Acc<Matrix<T>>| maximum(xs)),
        by_hand: maxima_by_rows,
    }
    .add(sweep);
    Work {
        name: format!("maxima of columns, {}", name::<T>()),
        extents: MATRICES,
        inputs: |e: Extents| array::<Dim2, T>(e, reals(1, e[0] * e[1])),
        program: afun(|xs: Acc<Matrix<T>>| maximum(transpose(xs))),
        by_hand: |xs| {
            let [n, m] = xs.shape().into();
            let mut out = xs.as_slice()[..m].to_vec();
            parts(&mut out, |first, out| {
                for i in 1..n {
                    for (out, x) in out.iter_mut().zip(&xs.as_slice()[i * m + first..]) {
                        *out = if *x > *out { *x } else { *out };
                    }
                }
            });
            Vector::vector(out)
        },
    }
    .add(sweep);
}

fn gradients_of_maxima(sweep: &mut Sweep) {
    let program = afun(|xs: Acc<Matrix<f64>>| maximum(xs));
    Work {
        name: "maxima of rows, f64".into(),
        extents: MATRICES,
        inputs: |e: Extents| array::<Dim2, f64>(e, reals(1, e[0] * e[1])),
        program: program.clone(),
        by_hand: maxima_by_rows,
    }
    .adjoint(
        &vjp(&program),
        |xs, dy| {
            let m = xs.shape()[1];
            let mut out = zeroed(xs.len());
            rows(&mut out, m, m, |i, out| {
                let row = &xs.as_slice()[i * m..][..m];
                let largest = maximum_by_hand(row);
                out[row.iter().position(|x| *x == largest).unwrap_or(0)] = dy.as_slice()[i];
            });
            array(&xs.shape(), out)
        },
        sweep,
    );
}
