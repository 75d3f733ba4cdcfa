//! Stencils with clamped edges, and convolutions.

use crate::extents::{MATRICES, VECTORS};
use crate::hand::{Real, Single, array, axpy, dot, integers, name, parts, real, reals, room, rows, totals, zeroed};
use crate::kernel::{Extents, Sweep, Work};
use accel::prelude::*;

pub fn add(sweep: &mut Sweep) {
    three_points::<f32>(sweep);
    three_points::<f64>(sweep);
    laplacians::<f32>(sweep);
    laplacians::<f64>(sweep);
    integers_of_three_points(sweep);
    convolutions::<f32>(sweep);
    convolutions::<f64>(sweep);
}

const WEIGHTS: [f64; 3] = [0.25, 0.5, 0.125];

fn three_points<T: Real>(sweep: &mut Sweep) {
    let [left, middle, right] = WEIGHTS;
    let program = afun(|xs: Acc<Vector<T>>| {
        let n = xs.shape();
        generate(n, |i| {
            let (before, after) = (xs.at((i - 1).max(0)), xs.at((i + 1).min(n - 1)));
            before * real::<T>(left) + xs.at(i) * real::<T>(middle) + after * real::<T>(right)
        })
    });
    Work {
        name: format!("3-point stencil, {}", name::<T>()),
        extents: VECTORS,
        inputs: |e: Extents| array::<Dim1, T>(e, reals(1, e[0])),
        program: program.clone(),
        by_hand: |xs| {
            let [left, middle, right] = WEIGHTS.map(T::from_f64);
            let xs = xs.as_slice();
            let of = |before: T, x: T, after: T| before * left + x * middle + after * right;
            let (first, last) = (of(xs[0], xs[0], xs[1]), |n: usize| of(xs[n - 2], xs[n - 1], xs[n - 1]));
            Vector::vector(windows(xs, of, first, last(xs.len())))
        },
    }
    .add(sweep)
    .adjoint(
        &vjp(&program),
        |_, dy| {
            let [left, middle, right] = WEIGHTS.map(T::from_f64);
            let dy = dy.as_slice();
            let n = dy.len();
            let of = |before: T, y: T, after: T| after * left + y * middle + before * right;
            let first = dy[0] * (left + middle) + dy[1] * left;
            let last = dy[n - 1] * (right + middle) + dy[n - 2] * right;
            Vector::vector(windows(dy, of, first, last))
        },
        sweep,
    );
}

/// A function of all triples of neighbours, between a first and a last element.
fn windows<T, Y>(xs: &[T], of: impl Fn(T, T, T) -> Y + Sync, first: Y, last: Y) -> Vec<Y>
where
    T: Copy + Sync,
    Y: Single,
{
    let n = xs.len();
    let mut out = room(n);
    parts(&mut out[1..n - 1], |start, out| {
        let (before, now, after) = (&xs[start..], &xs[start + 1..], &xs[start + 2..]);
        for (((out, a), b), c) in out.iter_mut().zip(before).zip(now).zip(after) {
            *out = of(*a, *b, *c);
        }
    });
    (out[0], out[n - 1]) = (first, last);
    out
}

fn integers_of_three_points(sweep: &mut Sweep) {
    Work {
        name: "3-point maximum, i32".into(),
        extents: VECTORS,
        inputs: |e: Extents| array::<Dim1, i32>(e, integers(1, e[0], 1000)),
        program: afun(|xs: Acc<Vector<i32>>| {
            let n = xs.shape();
            generate(n, |i| xs.at((i - 1).max(0)).max(xs.at(i)).max(xs.at((i + 1).min(n - 1))))
        }),
        by_hand: |xs| {
            let xs = xs.as_slice();
            let n = xs.len();
            let of = |a: i32, b: i32, c: i32| a.max(b).max(c);
            Vector::vector(windows(xs, of, of(xs[0], xs[0], xs[1]), of(xs[n - 2], xs[n - 1], xs[n - 1])))
        },
    }
    .add(sweep);
}

fn laplacians<T: Real>(sweep: &mut Sweep) {
    let program = afun(|xs: Acc<Matrix<T>>| {
        let (n, m) = xs.shape();
        generate((n, m), |(i, j)| {
            let (up, down) = (xs.at(((i - 1).max(0), j)), xs.at(((i + 1).min(n - 1), j)));
            let (left, right) = (xs.at((i, (j - 1).max(0))), xs.at((i, (j + 1).min(m - 1))));
            up + down + left + right - xs.at((i, j)) * real::<T>(4.0)
        })
    });
    Work {
        name: format!("5-point stencil, {}", name::<T>()),
        extents: MATRICES,
        inputs: |e: Extents| array::<Dim2, T>(e, reals(1, e[0] * e[1])),
        program: program.clone(),
        by_hand: laplacian_by_hand,
    }
    .add(sweep)
    // The matrix is symmetric.
    .adjoint(&vjp(&program), |_, dy| laplacian_by_hand(dy), sweep);
}

fn laplacian_by_hand<T: Real>(xs: &Matrix<T>) -> Matrix<T> {
    let [n, m] = xs.shape().into();
    let row = |i: usize| &xs.as_slice()[i * m..][..m];
    let four = T::from_f64(4.0);
    let mut out = room(n * m);
    rows(&mut out, m, m, |i, out| {
        let (above, here, below) = (row(i.saturating_sub(1)), row(i), row((i + 1).min(n - 1)));
        let vertical = |j: usize| above[j] + below[j] - here[j] * four;
        out[0] = vertical(0) + here[0] + here[1];
        out[m - 1] = vertical(m - 1) + here[m - 2] + here[m - 1];
        let (left, right) = (&here[..m - 2], &here[2..]);
        let inner = out[1..m - 1].iter_mut().zip(&above[1..m - 1]).zip(&here[1..m - 1]).zip(&below[1..m - 1]);
        for (((((out, a), h), b), l), r) in inner.zip(left).zip(right) {
            *out = *a + *b + *l + *r - *h * four;
        }
    });
    array(&[n, m], out)
}

fn convolutions<T: Real>(sweep: &mut Sweep) {
    let program = afun(|xs: Acc<Matrix<T>>, weights: Acc<Matrix<T>>| {
        let (n, m) = xs.shape();
        generate((n - 2, m - 2), |(i, j)| {
            let term = |k: i64, l: i64| xs.at((i + k, j + l)) * weights.at((k, l));
            let row = |k| term(k, 0) + term(k, 1) + term(k, 2);
            row(0) + row(1) + row(2)
        })
    });
    Work {
        name: format!("3x3 convolution, {}", name::<T>()),
        extents: MATRICES,
        inputs: |e: Extents| (array::<Dim2, T>(e, reals(1, e[0] * e[1])), array::<Dim2, T>(&[3, 3], reals(2, 9))),
        program: program.clone(),
        by_hand: |(xs, weights)| {
            let [n, m] = xs.shape().into();
            let w = weights.as_slice();
            let mut out = room((n - 2) * (m - 2));
            rows(&mut out, m - 2, 9 * m, |i, out| {
                let width = out.len();
                let row = |k: usize| &xs.as_slice()[(i + k) * m..][..m];
                let (a, b, c) = (row(0), row(1), row(2));
                let term = |row: &[T], k: usize, j: usize| {
                    row[j] * w[3 * k] + row[j + 1] * w[3 * k + 1] + row[j + 2] * w[3 * k + 2]
                };
                for (j, out) in out.iter_mut().enumerate().take(width) {
                    *out = term(a, 0, j) + term(b, 1, j) + term(c, 2, j);
                }
            });
            array(&[n - 2, m - 2], out)
        },
    }
    .add(sweep)
    .adjoint(
        &vjp(&program),
        |(xs, weights), dy| {
            let [n, m] = xs.shape().into();
            let (xs, w, dy, width) = (xs.as_slice(), weights.as_slice(), dy.as_slice(), m - 2);
            let mut by_x = zeroed(n * m);
            rows(&mut by_x, m, 9 * m, |i, out| {
                for k in 0..3 {
                    if i >= k && i - k < n - 2 {
                        let dy = &dy[(i - k) * width..][..width];
                        for l in 0..3 {
                            axpy(w[3 * k + l], dy, &mut out[l..]);
                        }
                    }
                }
            });
            let by_weights = totals(n - 2, 9 * m, 9, |i, sums| {
                let dy = &dy[i * width..][..width];
                for k in 0..3 {
                    for l in 0..3 {
                        sums[3 * k + l] += dot(&xs[(i + k) * m + l..][..width], dy);
                    }
                }
            });
            (array(&[n, m], by_x), array(&[3, 3], by_weights))
        },
        sweep,
    );
}
