//! Functions of rows: softmax, log-sum-exp, layer norm.

use crate::extents::MATRICES;
use crate::hand::{Real, add as add_to, array, dot, fold, name, real, reals, room, rows, sum as sum_by_hand};
use crate::kernel::{Extents, Sweep, Work};
use accel::prelude::*;
use rayon::prelude::*;

pub fn add(sweep: &mut Sweep) {
    softmax::<f32>(sweep);
    softmax::<f64>(sweep);
    layer_norm::<f32>(sweep);
    layer_norm::<f64>(sweep);
}

/// A row's maximum, the exponentials of the differences from it in `out`, and their sum.
fn exponentials<T: Real>(xs: &[T], out: &mut [T]) -> (T, T) {
    let larger = |a: T, b: T| if b > a { b } else { a };
    let largest = fold(xs, xs[0], larger, larger);
    for (out, x) in out.iter_mut().zip(xs) {
        *out = (*x - largest).exp();
    }
    (largest, sum_by_hand(out))
}

fn scale<T: Real>(xs: &mut [T], factor: T) {
    for x in xs {
        *x = *x * factor;
    }
}

fn softmax_by_hand<T: Real>(xs: &[T], out: &mut [T]) {
    let (_, total) = exponentials(xs, out);
    scale(out, total.recip());
}

fn softmax<T: Real>(sweep: &mut Sweep) {
    let inputs = |e: Extents| array::<Dim2, T>(e, reals(1, e[0] * e[1]));
    let program = afun(|xs: Acc<Matrix<T>>| {
        let (_, m) = xs.shape();
        let exponentials = zip_with(|x, largest| (x - largest).exp(), xs, replicate_inner(m, maximum(xs)));
        zip_with(|e, total| e / total, exponentials, replicate_inner(m, sum(exponentials)))
    });
    Work {
        name: format!("softmax of rows, {}", name::<T>()),
        extents: MATRICES,
        inputs,
        program: program.clone(),
        by_hand: |xs| {
            let [n, m] = xs.shape().into();
            let mut out = room(n * m);
            rows(&mut out, m, 8 * m, |i, out| {
                softmax_by_hand(&xs.as_slice()[i * m..][..m], out);
            });
            array(&[n, m], out)
        },
    }
    .add(sweep)
    .adjoint(
        &vjp(&program),
        |xs, dy| {
            let [n, m] = xs.shape().into();
            let mut out = room(n * m);
            rows(&mut out, m, 8 * m, |i, out| {
                softmax_by_hand(&xs.as_slice()[i * m..][..m], out);
                let dy = &dy.as_slice()[i * m..][..m];
                let mean = dot(dy, out);
                for (y, dy) in out.iter_mut().zip(dy) {
                    *y = *y * (*dy - mean);
                }
            });
            array(&[n, m], out)
        },
        sweep,
    );

    let program = afun(|xs: Acc<Matrix<T>>| {
        let (_, m) = xs.shape();
        let largest = maximum(xs);
        let exponentials = zip_with(|x, largest| (x - largest).exp(), xs, replicate_inner(m, largest));
        zip_with(|total, largest| total.ln() + largest, sum(exponentials), largest)
    });
    Work {
        name: format!("log-sum-exp of rows, {}", name::<T>()),
        extents: MATRICES,
        inputs,
        program: program.clone(),
        by_hand: |xs| {
            let [n, m] = xs.shape().into();
            let mut out = room(n);
            let block = (2048 / m).max(1);
            let some = |first: usize, out: &mut [T]| {
                let mut scratch = vec![T::default(); m];
                for (i, out) in out.iter_mut().enumerate() {
                    let (largest, total) = exponentials(&xs.as_slice()[(first + i) * m..][..m], &mut scratch);
                    *out = total.ln() + largest;
                }
            };
            if n * m <= 2048 {
                some(0, &mut out)
            } else {
                out.par_chunks_mut(block).enumerate().for_each(|(part, out)| some(part * block, out))
            }
            Vector::vector(out)
        },
    }
    .add(sweep)
    .adjoint(
        &vjp(&program),
        |xs, dy| {
            let [n, m] = xs.shape().into();
            let mut out = room(n * m);
            rows(&mut out, m, 8 * m, |i, out| {
                let (_, total) = exponentials(&xs.as_slice()[i * m..][..m], out);
                scale(out, dy.as_slice()[i] / total);
            });
            array(&[n, m], out)
        },
        sweep,
    );
}

const EPSILON: f64 = 1e-3;

fn layer_norm<T: Real>(sweep: &mut Sweep) {
    let program = afun(|xs: Acc<Matrix<T>>, gain: Acc<Vector<T>>, bias: Acc<Vector<T>>| {
        let (n, m) = xs.shape();
        let count = m.cast::<T>();
        let means = map(|s| s / count, sum(xs));
        let centred = zip_with(|x, mean| x - mean, xs, replicate_inner(m, means));
        let variances = map(|s| s / count, sum(map(|x| x * x, centred)));
        let scales = map(|v| real::<T>(1.0) / (v + real::<T>(EPSILON)).sqrt(), variances);
        let normal = zip_with(|x, s| x * s, centred, replicate_inner(m, scales));
        let scaled = zip_with(|x, g| x * g, normal, replicate((n, All), gain));
        zip_with(|x, b| x + b, scaled, replicate((n, All), bias))
    });
    Work {
        name: format!("layer norm, {}", name::<T>()),
        extents: MATRICES,
        inputs: |e: Extents| {
            let vector = |seed| array::<Dim1, T>(&e[1..], reals(seed, e[1]));
            (array::<Dim2, T>(e, reals(1, e[0] * e[1])), vector(2), vector(3))
        },
        program: program.clone(),
        by_hand: |(xs, gain, bias)| {
            let [n, m] = xs.shape().into();
            let mut out = room(n * m);
            rows(&mut out, m, 4 * m, |i, out| {
                let xs = &xs.as_slice()[i * m..][..m];
                let (mean, scale) = moments(xs);
                for (((out, x), g), b) in out.iter_mut().zip(xs).zip(gain.as_slice()).zip(bias.as_slice()) {
                    *out = (*x - mean) * scale * *g + *b;
                }
            });
            array(&[n, m], out)
        },
    }
    .add(sweep)
    .adjoint(&vjp(&program), layer_norm_adjoint, sweep);
}

/// The mean of a row, and one over the root of its variance.
fn moments<T: Real>(xs: &[T]) -> (T, T) {
    let count = T::from_f64(xs.len() as f64);
    let mean = sum_by_hand(xs) / count;
    let squares = fold(xs, T::default(), |s, x| s + (x - mean) * (x - mean), |a, b| a + b);
    (mean, (squares / count + T::from_f64(EPSILON)).sqrt().recip())
}

type LayerNorm<T> = (Matrix<T>, Vector<T>, Vector<T>);

fn layer_norm_adjoint<T: Real>((xs, gain, _): &LayerNorm<T>, dy: &Matrix<T>) -> LayerNorm<T> {
    let [n, m] = xs.shape().into();
    let (xs, gain, dy) = (xs.as_slice(), gain.as_slice(), dy.as_slice());
    let count = T::from_f64(m as f64);
    let mut by_x = room(n * m);
    let some = |first: usize, out: &mut [T]| {
        let (mut by_gain, mut by_bias) = (vec![T::default(); m], vec![T::default(); m]);
        for (i, out) in out.chunks_exact_mut(m).enumerate() {
            let (xs, dy) = (&xs[(first + i) * m..][..m], &dy[(first + i) * m..][..m]);
            let (mean, scale) = moments(xs);
            for ((out, dy), g) in out.iter_mut().zip(dy).zip(gain) {
                *out = *dy * *g;
            }
            let constant = sum_by_hand(out) / count;
            let linear = (dot(out, xs) - sum_by_hand(out) * mean) * scale / count;
            for ((((out, x), dy), by_gain), by_bias) in
                out.iter_mut().zip(xs).zip(dy).zip(&mut by_gain).zip(&mut by_bias)
            {
                let normal = (*x - mean) * scale;
                *by_gain += *dy * normal;
                *by_bias += *dy;
                *out = scale * (*out - constant - normal * linear);
            }
        }
        (by_gain, by_bias)
    };
    let threads = if n * m <= 1 << 12 { 1 } else { rayon::current_num_threads() };
    let block = n.div_ceil(threads);
    let (by_gain, by_bias) = if threads == 1 {
        some(0, &mut by_x)
    } else {
        let parts = by_x.par_chunks_mut(block * m).enumerate().map(|(part, out)| some(part * block, out));
        let join = |(mut a, mut b): (Vec<T>, Vec<T>), (c, d): (Vec<T>, Vec<T>)| {
            add_to(&c, &mut a);
            add_to(&d, &mut b);
            (a, b)
        };
        parts.reduce_with(join).expect("there are rows")
    };
    (array(&[n, m], by_x), Vector::vector(by_gain), Vector::vector(by_bias))
}
