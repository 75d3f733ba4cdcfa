//! Elements that move: gathers, scatters, histograms, transpositions, concatenations.

use crate::extents::{BOXES, MATRICES, VECTORS};
use crate::hand::{Real, array, integers, map as by_hand, name, reals, room, rows, totals, transposed, zeroed};
use crate::kernel::{Extents, Sweep, Work};
use accel::prelude::*;

pub fn add(sweep: &mut Sweep) {
    gathers::<f32>(sweep);
    gathers::<f64>(sweep);
    scatters::<f32>(sweep);
    scatters::<f64>(sweep);
    histograms(sweep);
    transpositions::<f32>(sweep);
    transpositions::<f64>(sweep);
    concatenations::<f32>(sweep);
    concatenations::<f64>(sweep);
}

/// Sums at random positions. One thread suffices: the loop waits for memory.
fn sums_at<T: Real>(to: &[i64], xs: &[T], n: usize) -> Vec<T> {
    let mut out = zeroed(n);
    for (to, x) in to.iter().zip(xs) {
        out[*to as usize] += *x;
    }
    out
}

fn inputs<T: Real>(e: Extents) -> (Vector<T>, Vector<i64>) {
    (array(e, reals(1, e[0])), array(e, integers(2, e[0], e[0])))
}

fn gathers<T: Real>(sweep: &mut Sweep) {
    let program = afun(|xs: Acc<Vector<T>>, from: Acc<Vector<i64>>| gather(from, xs));
    Work {
        name: format!("gather, {}", name::<T>()),
        extents: VECTORS,
        inputs: inputs::<T>,
        program: program.clone(),
        by_hand: |(xs, from)| Vector::vector(by_hand(from.as_slice(), |i| xs.as_slice()[i as usize])),
    }
    .add(sweep)
    .adjoint(
        &vjp(program.by(|(xs, _)| xs)),
        |(xs, from), dy| Vector::vector(sums_at(from.as_slice(), dy.as_slice(), xs.len())),
        sweep,
    );
}

fn scatters<T: Real>(sweep: &mut Sweep) {
    let program = afun(|xs: Acc<Vector<T>>, to: Acc<Vector<i64>>| {
        permute(|x, y| x + y, fill(xs.shape(), lit::<T>(0.0)), |i: Exp<i64>| (true, to.at(i)), xs)
    });
    Work {
        name: format!("scatter of sums, {}", name::<T>()),
        extents: VECTORS,
        inputs: inputs::<T>,
        program: program.clone(),
        by_hand: |(xs, to)| Vector::vector(sums_at(to.as_slice(), xs.as_slice(), xs.len())),
    }
    .add(sweep)
    .adjoint(
        &vjp(program.by(|(xs, _)| xs)),
        |(_, to), dy| Vector::vector(by_hand(to.as_slice(), |i| dy.as_slice()[i as usize])),
        sweep,
    );
    let program = afun(|xs: Acc<Vector<T>>, to: Acc<Vector<i64>>| scatter(to, fill(xs.shape(), lit::<T>(0.0)), xs));
    Work {
        name: format!("scatter, {}", name::<T>()),
        extents: VECTORS,
        inputs: |e: Extents| (array(e, reals(1, e[0])), array(e, permutation(e[0]))),
        program: program.clone(),
        by_hand: |(xs, to): &(Vector<T>, Vector<i64>)| {
            let mut out = room(xs.len());
            for (to, x) in to.iter().zip(xs.as_slice()) {
                out[to as usize] = *x;
            }
            Vector::vector(out)
        },
    }
    .add(sweep);
}

/// A random permutation.
fn permutation(n: usize) -> Vec<i64> {
    let mut out: Vec<i64> = (0..n as i64).collect();
    for (i, j) in integers::<i64>(3, n, 1 << 40).into_iter().enumerate() {
        out.swap(i, j as usize % (i + 1));
    }
    out
}

fn histograms(sweep: &mut Sweep) {
    histogram::<16>(sweep);
    histogram::<1000>(sweep);
    Work {
        name: "histogram of f32, 64 bins".into(),
        extents: VECTORS,
        inputs: |e: Extents| array::<Dim1, f32>(e, reals(1, e[0])),
        program: afun(|xs: Acc<Vector<f32>>| {
            let to = |i: Exp<i64>| (true, (xs.at(i) * 64.0).cast::<i64>().clamp(0, 63));
            permute(|x, y| x + y, fill(64i64, 0i64), to, fill(xs.shape(), 1i64))
        }),
        by_hand: |xs| Vector::vector(counts(xs.as_slice(), 64, |x| ((x * 64.0) as i64).clamp(0, 63) as usize)),
    }
    .add(sweep);
}

fn histogram<const BINS: usize>(sweep: &mut Sweep) {
    Work {
        name: format!("histogram of i32, {BINS} bins"),
        extents: VECTORS,
        inputs: |e: Extents| array::<Dim1, i32>(e, integers(1, e[0], 1 << 30)),
        program: afun(|xs: Acc<Vector<i32>>| {
            let to = |i: Exp<i64>| (true, (xs.at(i) % BINS as i32).cast::<i64>());
            permute(|x, y| x + y, fill(BINS as i64, 0i64), to, fill(xs.shape(), 1i64))
        }),
        by_hand: |xs| Vector::vector(counts(xs.as_slice(), BINS, |x| (x % BINS as i32) as usize)),
    }
    .add(sweep);
}

/// Each thread counts in an array of its own.
fn counts<T: Copy + Sync>(xs: &[T], bins: usize, bin: impl Fn(T) -> usize + Sync) -> Vec<i64> {
    let parts: Vec<&[T]> = xs.chunks(4096).collect();
    totals(parts.len(), xs.len().min(4096), bins, |part, counts| {
        for x in parts[part] {
            counts[bin(*x)] += 1;
        }
    })
}

fn transpositions<T: Real>(sweep: &mut Sweep) {
    Work {
        name: format!("transposition, {}", name::<T>()),
        extents: MATRICES,
        inputs: |e: Extents| array::<Dim2, T>(e, reals(1, e[0] * e[1])),
        program: afun(|xs: Acc<Matrix<T>>| transpose(xs)),
        by_hand: |xs| {
            let [n, m] = xs.shape().into();
            array(&[m, n], transposed(xs.as_slice(), n, m))
        },
    }
    .add(sweep);
    Work {
        name: format!("exchange of the middle dimensions of rank 4, {}", name::<T>()),
        extents: BOXES,
        inputs: |e: Extents| array::<Dim4, T>(e, reals(1, e.iter().product())),
        program: afun(|xs: Acc<Array<Dim4, T>>| {
            let (a, b, c, d) = xs.shape();
            backpermute((a, c, b, d), |(i, k, j, l)| (i, j, k, l), xs)
        }),
        by_hand: |xs| {
            let [a, b, c, d] = xs.shape().into();
            let mut out = room(a * b * c * d);
            rows(&mut out, b * d, b * d, |row, out| {
                let (i, k) = (row / c, row % c);
                for (j, out) in out.chunks_exact_mut(d).enumerate() {
                    out.copy_from_slice(&xs.as_slice()[((i * b + j) * c + k) * d..][..d]);
                }
            });
            array(&[a, c, b, d], out)
        },
    }
    .add(sweep);
}

fn concatenations<T: Real>(sweep: &mut Sweep) {
    let program = afun(|xs: Acc<Matrix<T>>, ys: Acc<Matrix<T>>| concat(xs, ys));
    Work {
        name: format!("concatenation of rows, {}", name::<T>()),
        extents: MATRICES,
        inputs: |e: Extents| {
            let matrix = |seed| array::<Dim2, T>(e, reals(seed, e[0] * e[1]));
            (matrix(1), matrix(2))
        },
        program: program.clone(),
        by_hand: |(xs, ys)| {
            let [n, m] = xs.shape().into();
            let mut out = room(2 * n * m);
            rows(&mut out, 2 * m, 2 * m, |i, out| {
                out[..m].copy_from_slice(&xs.as_slice()[i * m..][..m]);
                out[m..].copy_from_slice(&ys.as_slice()[i * m..][..m]);
            });
            array(&[n, 2 * m], out)
        },
    }
    .add(sweep)
    .adjoint(
        &vjp(&program),
        |(xs, _), dz| {
            let [n, m] = xs.shape().into();
            let half = |first: usize| {
                let mut out = room(n * m);
                rows(&mut out, m, m, |i, out| out.copy_from_slice(&dz.as_slice()[i * 2 * m + first..][..m]));
                array::<Dim2, T>(&[n, m], out)
            };
            (half(0), half(m))
        },
        sweep,
    );
}
