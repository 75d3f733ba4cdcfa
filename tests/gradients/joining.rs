//! Arrays put together and taken apart, boundaries, stencils, batched and sparse products, convolutions.

use crate::array_loops::matrix;
use crate::harness::{V, jacobian, kinked, smooth};
use crate::refined::{Any, AtLeast3, Few, NonEmpty};
use accel::prelude::*;

#[test]
fn parts() {
    jacobian(AtLeast3, |a: V| (slice(between(1, -1), a) * slice(..-2, a * a), slice(every(2, ..), a.sin())));
    jacobian(Few(Any), |a: V| slice((.., every(2, ..)), matrix(a)) * slice((.., 1..), matrix(a)));
    jacobian(AtLeast3, |a: V| set_slice(a.sin(), 1..3, take(2, a * a)));
    jacobian(Few(NonEmpty), |a: V| set_slice(matrix(a), (-1, every(2, ..)), take(2, concat(a, fill(1, 1.5)))));
    jacobian(AtLeast3, |a: V| slice(every(-2, 1..), a.sin()) * slice(every(-2, 1..), a));
}

#[test]
fn joined() {
    jacobian(Few(Any), |a: V| stack([a, a * a, a.cos()]));
    jacobian(Few(Any), |a: V| stack_inner([a, a * a, a.cos()]) * matrix(a));
    jacobian(Few(Any), |a: V| matrix(a).concat::<0>(matrix(a) * 2.0).powi(2));
    jacobian(Few(Any), |a: V| {
        let [x, y, z] = matrix(a * a).split::<1, 3>();
        x * y.sin() - z
    });
    jacobian(Few(NonEmpty), |a: V| {
        let (x, y) = matrix(a).split_at::<0>(1);
        matmul(x, transpose(y * y))
    });
    jacobian(Few(Any), |a: V| (matrix(a).flip::<0>() * matrix(a), tile((2, 2), matrix(a)).powi(2)));
    jacobian(Few(Any), |a: V| (a.expand_dims::<0>() * 2.0, matrix(a).expand_dims::<1>().squeeze::<1>().sin()));
    jacobian(Few(Any), |a: V| {
        let (x, y) = meshgrid(a, a.cos());
        x * y
    });
}

#[test]
fn padded() {
    jacobian(Few(NonEmpty), |a: V| pad(2, 3, Clamp, a) * pad(3, 2, Wrap, a));
    jacobian(Few(NonEmpty), |a: V| pad(2, 3, Mirror, a).powi(2));
    jacobian(Few(Any), |a: V| pad(1, 2, Constant(0.5), a).powi(2));
    jacobian(Few(NonEmpty), |a: V| pad((1, 0), (1, 2), Clamp, matrix(a)).sin());
    // What stands outside depends on the array, too.
    jacobian(Few(NonEmpty), |a: V| pad(1, 1, Constant(a.at(0).sin()), a));
    jacobian(Few(NonEmpty), |a: V| pad(1, 1, Outside(move |i: Exp<i64>| i.cast::<f64>() * a.at(0)), a * a));
}

#[test]
fn stencils() {
    let of = |x: Exp<f64>, y: Exp<f64>, z: Exp<f64>| x * y - z.sin() + y * y;
    smooth(NonEmpty, move |a: V| sum(stencil(Clamp, |x| of(x.at(-1), x.at(0), x.at(1)), a)));
    smooth(NonEmpty, move |a: V| sum(stencil(Mirror, |x| of(x.at(-2), x.at(0), x.at(1)), a)));
    smooth(NonEmpty, move |a: V| sum(stencil(Wrap, |x| of(x.at(-1), x.at(1), x.at(2)), a)));
    smooth(Any, move |a: V| sum(stencil(Constant(0.5), |x| of(x.at(-1), x.at(0), x.at(1)), a)));
    kinked(NonEmpty, |a: V| sum(stencil(Clamp, |x| x.at(-1).max(x.at(0)) * x.at(1), a)));
    macro_rules! rank_2 {
        ($($boundary:expr),*) => { $(jacobian(Few(NonEmpty), move |a: V| {
            stencil($boundary, |x| of(x.at((-1, 0)), x.at((0, 1)), x.at((1, -1))) * x.at((0, 0)), matrix(a))
        });)* };
    }
    rank_2!(Clamp, Mirror, Wrap, Constant(0.0));
    jacobian(Few(NonEmpty), move |a: V| {
        let cube = generate((2, a.len(), 3), |(i, j, k)| a.at(j) * (i + k).cast::<f64>() + a.at(j).sin());
        stencil(Clamp, |x| of(x.at((-1, 0, 0)), x.at((0, 1, 0)), x.at((1, 0, -1))), cube)
    });
}

#[test]
fn products() {
    jacobian(Few(Any), |a: V| {
        let left = generate((2, a.len(), 3), |(i, j, k)| a.at(j) * (i + k).cast::<f64>() + a.at(j).sin());
        let right = generate((2, 3, a.len()), |(i, j, k)| a.at(k) * (i - j).cast::<f64>() + 0.5);
        (bmm(left, right), vmap(|(x, y)| matmul(x, y), (left * 2.0, right)))
    });
    // Rows of two elements, and one without any.
    jacobian(Few(NonEmpty), |a: V| {
        let (n, m) = (a.len(), a.len() * 2);
        let pointers = generate(n + 2, |i| i.min(n) * 2);
        let columns = generate(m, |k| (k * 7 + 1) % n);
        csr_matvec(pointers, columns, generate(m, |k| a.at(k % n).sin() * (k + 1).cast::<f64>()), a)
    });
}

/// Images of four channels and weights for four results, of the elements of a vector.
fn images_and_weights(a: V, layout: Layout, per_group: i64) -> (Acc<Array<Dim4, f64>>, Acc<Array<Dim4, f64>>) {
    let pixel = move |n: Exp<i64>, c: Exp<i64>, i: Exp<i64>, j: Exp<i64>| {
        a.at((n + c + i * 2 + j) % a.len()) * (c - i + 1).cast::<f64>() + (j * c).cast::<f64>() * 0.25
    };
    let weight = move |o: Exp<i64>, c: Exp<i64>, k: Exp<i64>, l: Exp<i64>| {
        a.at((o + c * 3 + k + l) % a.len()).sin() * (o - k + 2).cast::<f64>() + l.cast::<f64>()
    };
    match layout {
        Layout::ChannelsFirst => (
            generate((2, 4, 3, 4), |(n, c, i, j)| pixel(n, c, i, j)),
            generate((4, per_group, 2, 3), |(o, c, k, l)| weight(o, c, k, l)),
        ),
        Layout::ChannelsLast => (
            generate((2, 3, 4, 4), |(n, i, j, c)| pixel(n, c, i, j)),
            generate((2, 3, per_group, 4), |(k, l, c, o)| weight(o, c, k, l)),
        ),
    }
}

#[test]
fn convolutions() {
    for layout in [Layout::ChannelsFirst, Layout::ChannelsLast] {
        for (stride, padding, groups) in [([1, 1], [0, 0], 1), ([2, 1], [1, 2], 1), ([1, 2], [1, 0], 2)] {
            let conv = Conv { stride, padding, groups, layout, ..Conv::default() };
            smooth(Few(NonEmpty), move |a: V| {
                let (images, weights) = images_and_weights(a, layout, 4 / groups);
                sum_all(conv2d(conv, weights, images).powi(2)) * 0.001
            });
        }
    }
    smooth(Few(NonEmpty), |a: V| {
        let signals = generate((1, 2, a.len() + 2), |(_, c, i)| a.at(i % a.len()) * (c + i).cast::<f64>());
        let weights = generate((3, 2, 2), |(o, c, k)| a.at(0).sin() * (o + c * 2 - k).cast::<f64>());
        sum_all(conv1d(Conv { padding: [1], ..Conv::default() }, weights, signals).powi(2)) * 0.01
    });
}
