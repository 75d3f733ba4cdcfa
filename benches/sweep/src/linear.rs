//! Sums of products: distances, products of matrices and vectors, small products in batches.

use crate::extents::{BATCHES, MATRICES, PAIRS, POINTS};
use crate::hand::{Real, array, axpy, dot, name, reals, room, rows, sum as sum_by_hand, totals, transposed, zeroed};
use crate::kernel::{Extents, Sweep, Work};
use accel::prelude::*;
use rayon::prelude::*;

pub fn add(sweep: &mut Sweep) {
    distances::<f32>(sweep);
    distances::<f64>(sweep);
    vectors::<f32>(sweep);
    vectors::<f64>(sweep);
    outer::<f32>(sweep);
    outer::<f64>(sweep);
    batches::<f32>(sweep);
    batches::<f64>(sweep);
}

/// The squares of the distances of all pairs of points.
fn distances<T: Real>(sweep: &mut Sweep) {
    let program = afun(|xs: Acc<Matrix<T>>| {
        let (n, _) = xs.shape();
        let differences = zip_with(|x, y| x - y, replicate((All, n, All), xs), replicate((n, All, All), xs));
        sum(map(|d| d * d, differences))
    });
    Work {
        name: format!("pairwise distances, {}", name::<T>()),
        extents: POINTS,
        inputs: |e: Extents| array::<Dim2, T>(e, reals(1, e[0] * e[1])),
        program: program.clone(),
        by_hand: |xs| {
            let [n, d] = xs.shape().into();
            let columns = transposed(xs.as_slice(), n, d);
            let mut out = zeroed(n * n);
            rows(&mut out, n, n * d, |i, out| {
                for (x, column) in xs.as_slice()[i * d..][..d].iter().zip(columns.chunks_exact(n)) {
                    for (out, y) in out.iter_mut().zip(column) {
                        *out += (*x - *y) * (*x - *y);
                    }
                }
            });
            array(&[n, n], out)
        },
    }
    .add(sweep)
    .adjoint(
        &vjp(&program),
        |xs, dy| {
            let [n, d] = xs.shape().into();
            let columns = transposed(xs.as_slice(), n, d);
            let other = transposed(dy.as_slice(), n, n);
            let two = T::from_f64(2.0);
            let mut out = room(n * d);
            // The sum over j of w_j (x_i - x_j) is x_i times the sum of w_j, minus the inner product.
            rows(&mut out, d, n * d, |i, out| {
                let both = dy.as_slice()[i * n..][..n].iter().zip(&other[i * n..][..n]);
                let weights: Vec<T> = both.map(|(a, b)| (*a + *b) * two).collect();
                let total = sum_by_hand(&weights);
                for ((out, x), column) in out.iter_mut().zip(&xs.as_slice()[i * d..]).zip(columns.chunks_exact(n)) {
                    *out = *x * total - dot(&weights, column);
                }
            });
            array(&[n, d], out)
        },
        sweep,
    );
}

fn vectors<T: Real>(sweep: &mut Sweep) {
    let program = afun(|a: Acc<Matrix<T>>, v: Acc<Vector<T>>| matvec(a, v));
    Work {
        name: format!("matrix-vector products, {}", name::<T>()),
        extents: MATRICES,
        inputs: |e: Extents| (array::<Dim2, T>(e, reals(1, e[0] * e[1])), array::<Dim1, T>(&e[1..], reals(2, e[1]))),
        program: program.clone(),
        by_hand: |(a, v)| Vector::vector(matvec_by_hand(a.as_slice(), v.as_slice())),
    }
    .add(sweep)
    .adjoint(
        &vjp(&program),
        |(a, v), dy| {
            let (n, m) = (dy.len(), v.len());
            let by_a = outer_by_hand(dy.as_slice(), v.as_slice());
            (array(&[n, m], by_a), Vector::vector(transposed_matvec(a.as_slice(), dy.as_slice(), m)))
        },
        sweep,
    );
    Work {
        name: format!("transposed matrix-vector products, {}", name::<T>()),
        extents: MATRICES,
        inputs: |e: Extents| (array::<Dim2, T>(e, reals(1, e[0] * e[1])), array::<Dim1, T>(&e[..1], reals(2, e[0]))),
        program: afun(|a: Acc<Matrix<T>>, v: Acc<Vector<T>>| matvec(transpose(a), v)),
        by_hand: |(a, v)| Vector::vector(transposed_matvec(a.as_slice(), v.as_slice(), a.shape()[1])),
    }
    .add(sweep);
}

fn matvec_by_hand<T: Real>(a: &[T], v: &[T]) -> Vec<T> {
    let m = v.len();
    let mut out = room(a.len() / m);
    rows(&mut out, 1, m, |i, out| out[0] = dot(&a[i * m..][..m], v));
    out
}

/// Long rows are divided among the threads, short ones are not.
fn transposed_matvec<T: Real>(a: &[T], v: &[T], m: usize) -> Vec<T> {
    const PART: usize = 4096;
    if m < PART {
        return totals(v.len(), m, m, |i, sums| axpy(v[i], &a[i * m..][..m], sums));
    }
    let mut out = zeroed(m);
    out.par_chunks_mut(PART).enumerate().for_each(|(part, out)| {
        for (i, x) in v.iter().enumerate() {
            axpy(*x, &a[i * m + part * PART..][..out.len()], out);
        }
    });
    out
}

fn outer_by_hand<T: Real>(xs: &[T], ys: &[T]) -> Vec<T> {
    let mut out = room(xs.len() * ys.len());
    rows(&mut out, ys.len(), ys.len(), |i, out| {
        let x = xs[i];
        for (out, y) in out.iter_mut().zip(ys) {
            *out = x * *y;
        }
    });
    out
}

fn outer<T: Real>(sweep: &mut Sweep) {
    let program = afun(|xs: Acc<Vector<T>>, ys: Acc<Vector<T>>| {
        zip_with(|x, y| x * y, replicate((All, ys.shape()), xs), replicate((xs.shape(), All), ys))
    });
    Work {
        name: format!("outer products, {}", name::<T>()),
        extents: PAIRS,
        inputs: |e: Extents| (array::<Dim1, T>(&e[..1], reals(1, e[0])), array::<Dim1, T>(&e[1..], reals(2, e[1]))),
        program: program.clone(),
        by_hand: |(xs, ys)| array(&[xs.len(), ys.len()], outer_by_hand(xs.as_slice(), ys.as_slice())),
    }
    .add(sweep)
    .adjoint(
        &vjp(&program),
        |(xs, ys), dz| {
            let dz = dz.as_slice();
            let by_x = Vector::vector(matvec_by_hand(dz, ys.as_slice()));
            (by_x, Vector::vector(transposed_matvec(dz, xs.as_slice(), ys.len())))
        },
        sweep,
    );
}

/// Adds the product of two k×k matrices to `out`.
fn product<T: Real>(a: &[T], b: &[T], k: usize, out: &mut [T]) {
    for (row, out) in a.chunks_exact(k).zip(out.chunks_exact_mut(k)) {
        for (x, b) in row.iter().zip(b.chunks_exact(k)) {
            axpy(*x, b, out);
        }
    }
}

fn batches<T: Real>(sweep: &mut Sweep) {
    let program = afun(|a: Acc<Array<Dim3, T>>, b: Acc<Array<Dim3, T>>| {
        let (_, rows, _) = a.shape();
        let (n, inner, columns) = b.shape();
        let b = backpermute((n, columns, inner), |(n, j, k)| (n, k, j), b);
        sum(zip_with(|x, y| x * y, replicate((All, All, columns, All), a), replicate((All, rows, All, All), b)))
    });
    Work {
        name: format!("batched products, {}", name::<T>()),
        extents: BATCHES,
        inputs: |e: Extents| {
            let matrices = |seed| array::<Dim3, T>(&[e[0], e[1], e[1]], reals(seed, e[0] * e[1] * e[1]));
            (matrices(1), matrices(2))
        },
        program: program.clone(),
        by_hand: |(a, b)| {
            let [n, k, _] = a.shape().into();
            let mut out = zeroed(n * k * k);
            rows(&mut out, k * k, k * k * k, |i, out| {
                product(&a.as_slice()[i * k * k..][..k * k], &b.as_slice()[i * k * k..][..k * k], k, out)
            });
            array(&[n, k, k], out)
        },
    }
    .add(sweep)
    .adjoint(
        &vjp(&program),
        |(a, b), dc| {
            let [n, k, _] = a.shape().into();
            let (a, b, dc) = (a.as_slice(), b.as_slice(), dc.as_slice());
            let (mut by_a, mut by_b) = (zeroed(n * k * k), zeroed(n * k * k));
            let part = |xs: &'_ [T], i: usize| -> Vec<T> { transposed(&xs[i * k * k..][..k * k], k, k) };
            rows(&mut by_a, k * k, k * k * k, |i, out| product(&dc[i * k * k..][..k * k], &part(b, i), k, out));
            rows(&mut by_b, k * k, k * k * k, |i, out| product(&part(a, i), &dc[i * k * k..][..k * k], k, out));
            (array(&[n, k, k], by_a), array(&[n, k, k], by_b))
        },
        sweep,
    );
}
