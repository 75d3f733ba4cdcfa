//! Functions that scientists look for: tables, order statistics, covariances, functions of layers, windows of images, sparse matrices.

use crate::array_loops::matrix;
use crate::harness::{V, jacobian, kinked, smooth};
use crate::higher_order::{all_modes, hessian};
use crate::refined::{AlsoApart, Any, Apart, AtLeast3, Few, FewValues, NonEmpty};
use accel::backend::Backend;
use accel::interp::Interpreter;
use accel::native::Native;
use accel::prelude::*;

type Images = Acc<Array<Dim4, f64>>;

fn weighted(xs: V) -> Acc<Scalar<f64>> {
    sum(imap(|i, x: Exp<f64>| x * (i.cast::<f64>() * 0.7 + 1.0).sin(), xs))
}

#[test]
fn tables() {
    // Knots, values and arguments depend on the vector.
    let knots = |a: V| cumsum(a.abs() + 0.5);
    jacobian(NonEmpty, move |a: V| interp(knots(a), a.sin(), linspace(-1.0, 8.0, 5)));
    jacobian(NonEmpty, move |a: V| interp(iota(6).cast::<f64>(), iota(6).cast::<f64>().cos(), a));
    hessian(Few(NonEmpty), move |a: V| sum_all(interp(knots(a), a.sin(), linspace(-1.0, 8.0, 5)).powi(2)));
    jacobian(Apart, |a: V| gather(searchsorted(sort(a), a), a.sin()));
}

#[test]
fn chosen_by_order() {
    jacobian(Apart, |a: V| top_k(a.len().min(2), a * 3.0).0);
    jacobian(AlsoApart(NonEmpty), |a: V| median(a.sin() + a));
    for q in [0.0, 0.25, 0.9, 1.0] {
        jacobian(AlsoApart(NonEmpty), move |a: V| quantile(q, a));
    }
    // Also by the share.
    smooth(AlsoApart(AtLeast3), |a: V| quantile(the((sum(a) * 0.1).sigmoid()), a));
    hessian(AlsoApart(AtLeast3), |a: V| quantile(0.3, a.powi(3) * 0.1));
    hessian(Few(Apart), |a: V| weighted(top_k(a.len().min(2), a.powi(3) * 0.1).0));
}

#[test]
fn statistics() {
    jacobian(Few(Any), |a: V| cov(matrix(a)));
    jacobian(NonEmpty, |a: V| layer_norm(1e-3, a));
    jacobian(Any, log_cumsum_exp);
    jacobian(FewValues, |a: V| log_cumsum_exp(a));
    jacobian(NonEmpty, |a: V| logspace(a.at(0) * 0.1, 0.5, 4));
    hessian(Few(Any), |a: V| sum_all(cov(matrix(a)).powi(2)));
    hessian(Few(AtLeast3), |a: V| weighted(layer_norm(0.1, a)));
    all_modes(|a: V| weighted(log_cumsum_exp(a)));
}

#[test]
fn functions_of_layers() {
    kinked(Any, |a: V| sum(a.relu() * a.sin()));
    smooth(Any, |a: V| sum(a.gelu() * a));
    kinked(Any, |a: V| sum(a.clip(-1.0, 2.5) * a));
    jacobian(Any, |a: V| (a * 2.0).clip(a - 1.0, a.cos()));
    smooth(Any, |a: V| sum((a * a).nan_to_num()));
    hessian(Any, |a: V| sum(a.gelu()));
    hessian(Any, |a: V| sum(a.relu().powi(3)));
}

/// Values at the ends of domains, at NaN and at ties, and derivatives there. The other references are those of JAX 0.10.
#[test]
fn special_points() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let check = |f: Afun<Vector<f64>, Vector<f64>>, x: &[f64], expected: &[f64]| {
        for backend in [&Interpreter as &dyn Backend, &Native] {
            let found = run_on(backend, &f, &Array::vector(x.to_vec())).unwrap().to_vec();
            let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-15;
            assert!(found.iter().zip(expected).all(same) && found.len() == expected.len(), "{found:?}, {expected:?}");
        }
    };
    let slope = |f: fn(V) -> V| grad(&afun(move |a: V| sum(f(a))));
    let x = [-inf, -1.0, 0.0, 1.0, inf, nan];
    check(afun(|a: V| a.relu()), &x, &[0.0, 0.0, 0.0, 1.0, inf, nan]);
    check(slope(|a| a.relu()), &x, &[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    check(afun(|a: V| a.gelu()), &x, &[0.0, -0.15865525393145705, 0.0, 0.8413447460685429, inf, nan]);
    check(slope(|a| a.gelu()), &x[..4], &[0.0, -0.0833154705876863, 0.5, 1.0833154705876864]);
    check(afun(|a: V| a.clip(-1.0, 0.5)), &x, &[-1.0, -1.0, 0.0, 0.5, 0.5, nan]);
    check(slope(|a| a.clip(-1.0, 0.5)), &x, &[0.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
    // Bounds in the wrong order: the upper one counts.
    check(afun(|a: V| a.clip(2.0, 0.5)), &[0.0, 1.0, 3.0], &[0.5, 0.5, 0.5]);
    check(afun(|a: V| a.nan_to_num()), &x, &[-f64::MAX, -1.0, 0.0, 1.0, f64::MAX, 0.0]);
    check(slope(|a| a.nan_to_num()), &x, &[0.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    check(afun(log_cumsum_exp), &[-inf, -inf, 0.0, 0.0], &[-inf, -inf, 0.0, 2f64.ln()]);
    check(slope(log_cumsum_exp), &[1000.0, -1000.0], &[2.0, 0.0]);
    check(slope(log_cumsum_exp), &[-inf, 0.0], &[1.0, 1.0]);
    check(
        afun(|a: V| interp(iota(3).cast::<f64>(), iota(3).cast::<f64>() * 10.0, a)),
        &x,
        &[0.0, 0.0, 0.0, 10.0, 20.0, nan],
    );
    // Of equal knots, the last one counts.
    check(
        afun(|a: V| {
            interp(use_(&Array::vector(vec![0.0, 1.0, 1.0, 2.0])), use_(&Array::vector(vec![0.0, 1.0, 5.0, 7.0])), a)
        }),
        &[0.5, 1.0, 1.5],
        &[0.5, 5.0, 6.0],
    );
    let quantiles = |q: f64| afun(move |a: V| reshape(1, quantile(q, a)));
    check(quantiles(0.5), &[], &[nan]);
    check(quantiles(0.5), &[1.0, nan, 2.0], &[nan]);
    check(quantiles(0.5), &[3.0], &[3.0]);
    check(quantiles(1.5), &[3.0, 4.0], &[nan]);
    check(quantiles(nan), &[3.0, 4.0], &[nan]);
    check(quantiles(0.5), &[1.0, inf, inf], &[inf]);
    check(quantiles(0.5), &[1.0, inf], &[inf]);
    check(quantiles(0.0), &[-inf, inf], &[-inf]);
    check(quantiles(0.75), &[1.0, inf, inf, inf], &[inf]);
    // Equal elements share the derivative as their places do.
    check(grad(&quantiles_of(0.5)), &[2.0, 2.0, 1.0, 3.0], &[0.5, 0.5, 0.0, 0.0]);
    check(afun(|a: V| reshape(1, median(a))), &[f64::MAX, f64::MAX], &[f64::MAX]);
    check(afun(|a: V| top_k(3, a).0), &[1.0, nan, inf, -inf], &[nan, inf, 1.0]);
}

fn quantiles_of(q: f64) -> Afun<Vector<f64>, Scalar<f64>> {
    afun(move |a: V| quantile(q, a))
}

/// Images of four channels.
fn images(a: V, layout: Layout) -> Images {
    let pixel = |n: Exp<i64>, c: Exp<i64>, i: Exp<i64>, j: Exp<i64>| {
        (a.at((n + c + i * 2 + j) % a.len()) * (c - i + 1).cast::<f64>() + (j * c).cast::<f64>() * 0.25).sin()
    };
    match layout {
        Layout::ChannelsFirst => generate((2, 4, 3, 4), |(n, c, i, j)| pixel(n, c, i, j)),
        Layout::ChannelsLast => generate((2, 3, 4, 4), |(n, i, j, c)| pixel(n, c, i, j)),
    }
}

/// Weights for two channels in each of two groups: from four channels to six, or back.
fn weights(a: V, layout: Layout, outputs: i64) -> Images {
    let weight = |o: Exp<i64>, c: Exp<i64>, k: Exp<i64>, l: Exp<i64>| {
        (a.at((o + c * 3 + k + l) % a.len()) * (o - k + 2).cast::<f64>() + l.cast::<f64>()).sin()
    };
    match layout {
        Layout::ChannelsFirst => generate((outputs, 2, 2, 2), |(o, c, k, l)| weight(o, c, k, l)),
        Layout::ChannelsLast => generate((2, 2, 2, outputs), |(k, l, c, o)| weight(o, c, k, l)),
    }
}

#[test]
fn convolutions() {
    for layout in [Layout::ChannelsFirst, Layout::ChannelsLast] {
        let conv = Conv {
            groups: 2,
            dilation: [1, 2],
            padding: [0, 1],
            padding_after: Some([1, 0]),
            layout,
            ..Conv::default()
        };
        smooth(Few(NonEmpty), move |a: V| sum_all(conv2d(conv, weights(a, layout, 6), images(a, layout)).powi(2)));
        let back = Conv { stride: [2, 1], ..conv };
        smooth(Few(NonEmpty), move |a: V| {
            sum_all(conv2d_transpose(back, weights(a, layout, 4), images(a, layout)).powi(2))
        });
    }
    hessian(Few(NonEmpty), |a: V| {
        let (first, conv) = (Layout::ChannelsFirst, Conv { groups: 2, stride: [1, 2], ..Conv::default() });
        sum_all(conv2d_transpose(conv, weights(a, first, 4), images(a, first)).powi(2))
    });
}

/// `conv2d_transpose` is the derivative of `conv2d` by its images, if these are the smallest ones of which `conv2d` makes such a result: here,
/// strides divide the extents.
#[test]
fn transposed_convolutions_are_adjoints() {
    for layout in [Layout::ChannelsFirst, Layout::ChannelsLast] {
        for (stride, dilation, padding, after) in
            [([1, 1], [1, 1], [0, 0], [0, 0]), ([2, 1], [1, 2], [1, 1], [0, 1]), ([1, 2], [2, 1], [2, 0], [2, 0])]
        {
            let conv = Conv { stride, dilation, padding, padding_after: Some(after), groups: 2, layout };
            let program = afun(move |a: V| {
                let (weights, images) = (weights(a, layout, 4), images(a, layout));
                let adjoint = conv2d(conv, weights, images).cos();
                let product = afun(move |x: Images| sum_all(conv2d(conv, weights, x) * adjoint));
                (conv2d_transpose(conv, weights, adjoint), call(grad(&product), images))
            });
            let (found, expected) = run(&program, &Array::vector(vec![0.3, -1.2, 2.1])).unwrap();
            assert_eq!(found.shape(), expected.shape(), "{conv:?}");
            assert!(found.iter().zip(expected.iter()).all(|(x, y): (f64, f64)| (x - y).abs() < 1e-12), "{conv:?}");
        }
    }
}

#[test]
fn windows() {
    for layout in [Layout::ChannelsFirst, Layout::ChannelsLast] {
        let pool = Pool { stride: [1, 2], padding: [1, 0], layout, ..Pool::from([2, 2]) };
        kinked(Few(NonEmpty), move |a: V| sum_all(max_pool(pool, images(a, layout)).powi(2)));
        smooth(Few(NonEmpty), move |a: V| sum_all(mean_pool(pool, images(a, layout)).powi(2)));
    }
    jacobian(AtLeast3, |a: V| max_pool([2], reshape((1, 1, a.len()), a)));
    jacobian(AtLeast3, |a: V| mean_pool([3], reshape((1, 1, a.len()), a * a)));
    hessian(AlsoApart(AtLeast3), |a: V| sum_all(max_pool([2], reshape((1, 1, a.len()), a)).powi(3)));
}

#[test]
fn sparse_matrices() {
    // Rows of two elements, and one without any.
    let pointers = |n: Exp<i64>| generate(n + 2, move |i| i.min(n) * 2);
    let columns = |n: Exp<i64>| generate(n * 2, move |k| (k * 7 + 1) % n);
    let values = |a: V| generate(a.len() * 2, move |k| a.at(k % a.len()).sin() * (k + 1).cast::<f64>());
    jacobian(Few(NonEmpty), move |a: V| csr_matmul(pointers(a.len()), columns(a.len()), values(a), matrix(a)));
    jacobian(Few(NonEmpty), move |a: V| {
        let n = a.len();
        let (pointers, columns, values) = csr_transpose(n, pointers(n), columns(n), values(a));
        csr_matvec(pointers, columns, values, generate(n + 1, |i| a.at(i % n) * a.at(0)))
    });
    jacobian(Few(NonEmpty), move |a: V| {
        let (pointers, columns, values) = coo_to_csr(a.len(), columns(a.len()), iota(a.len() * 2) / 2, values(a));
        csr_matvec(pointers, columns, values, a)
    });
    hessian(Few(NonEmpty), move |a: V| {
        sum_all(csr_matmul(pointers(a.len()), columns(a.len()), values(a), matrix(a)).powi(2)) * 0.01
    });
}

#[test]
fn loops() {
    jacobian(Any, |a: V| {
        map(|x| iterate_indexed(3, |k: Exp<i64>, y: Exp<f64>| y * x * 0.3 + (k + 1).cast::<f64>() * x, x.sin()), a)
    });
    jacobian(Few(Any), |a: V| afoldl(|s: V, row: V| (s * 0.5 + row).sin(), fill(3, 0.2), matrix(a)));
    hessian(Any, |a: V| sum(map(|x| iterate_indexed(3, |_: Exp<i64>, y: Exp<f64>| y * x * 0.3 + x, x), a)));
    hessian(Few(Any), |a: V| sum(afoldl(|s: V, row: V| (s * 0.5 + row).sin(), fill(3, 0.2), matrix(a))));
}
