//! `conv1d` and `conv2d` with strides, padding, groups and both layouts, `bmm`, `csr_matvec` and `outer`.

use super::check::Suite;
use super::samples::*;
use accel::prelude::*;

pub fn all(t: &Suite) {
    convolutions::<f64>(t);
    convolutions::<f32>(t);
    channels_that_do_not_fit(t);
    weights_that_are_too_large(t);
    signals(t);
    pairs_of_matrices::<f64>(t);
    pairs_of_matrices::<f32>(t);
    sparse_matrices(t);
    pointers_that_do_not_ascend(t);
}

type A3<T> = Array<Dim3, T>;
type A4<T> = Array<Dim4, T>;

/// The convolution of images by weights, both with channels first, by its definition.
fn convolution<T: Sample + Num + Into<f64>>(conv: Conv<2>, weights: &A4<T>, images: &A4<T>) -> A4<T> {
    let ([n, _, h, w], [o, c, k, l]): ([usize; 4], [usize; 4]) = (images.shape().into(), weights.shape().into());
    let ([p, q], [s, z]) = (conv.padding, conv.stride);
    let places = |n: usize, d: usize, k: usize| (n + 2 * conv.padding[d] as usize - k) / conv.stride[d] as usize + 1;
    let per_group = o / conv.groups as usize;
    tabulate(&[n, o, places(h, 0, k), places(w, 1, l)], |ix| {
        let mut sum = 0.0;
        for r in 0..c * k * l {
            let r = unravel(r, &[c, k, l]);
            let (y, x) = (ix[2] as i64 * s + r[1] as i64 - p, ix[3] as i64 * z + r[2] as i64 - q);
            if (0..h as i64).contains(&y) && (0..w as i64).contains(&x) {
                let image: f64 = at(images, &[ix[0], ix[1] / per_group * c + r[0], y as usize, x as usize]).into();
                let weight: f64 = at(weights, &[ix[1], r[0], r[1], r[2]]).into();
                sum += image * weight;
            }
        }
        T::from_f64(sum)
    })
}

/// The array with its dimensions in another order.
fn ordered<T: Elt>(order: [usize; 4], xs: &A4<T>) -> A4<T> {
    let extents: [usize; 4] = xs.shape().into();
    tabulate(&order.map(|k| extents[k]), |ix| {
        let mut from = [0; 4];
        order.iter().zip(ix).for_each(|(k, i)| from[*k] = *i);
        at(xs, &from)
    })
}

fn convolutions<T: Sample + Num + Into<f64>>(t: &Suite) {
    let with = |stride, padding, groups| Conv { stride, padding, groups, ..Conv::default() };
    for conv in [Conv::default(), with([2, 1], [1, 0], 1), with([1, 3], [0, 2], 2), with([2, 2], [3, 1], 3)] {
        let channels = 6 / conv.groups as usize;
        let (weights, images): (A4<T>, A4<T>) = (array(&[6, channels, 3, 2]), other_array(&[2, 6, 5, 7], 1));
        let last = Conv { layout: Layout::ChannelsLast, ..conv };
        let prog = afun(move |weights: Acc<A4<T>>, images: Acc<A4<T>>| {
            let (turned_weights, turned) = (weights.in_order([2, 3, 1, 0]), images.in_order([0, 2, 3, 1]));
            (conv2d(conv, weights, images), conv2d(last, turned_weights, turned))
        });
        let expected = convolution(conv, &weights, &images);
        let turned = ordered([0, 2, 3, 1], &expected);
        t.is(prog, (&weights, &images), (expected, turned));
    }
}

fn channels_that_do_not_fit(t: &Suite) {
    let fails = |conv: Conv<2>, weights: [usize; 4], images: [usize; 4], text: &str| {
        let (weights, images): (A4<f64>, A4<f64>) = (array(&weights), array(&images));
        let prog = afun(move |weights: Acc<A4<f64>>, images: Acc<A4<f64>>| conv2d(conv, weights, images));
        let message = format!("`conv2d` at {}:{}: expected shapes {text}", file!(), line!() - 1);
        t.fails(prog, (&weights, &images), &message);
    };
    let (first, same) = (Conv::default(), "[n, m, p, q] and [n, m, p, q], found");
    let groups = Conv { groups: 2, ..first };
    let last = Conv { layout: Layout::ChannelsLast, ..first };
    fails(first, [5, 4, 3, 3], [2, 3, 8, 9], &format!("{same} [2, 4, 8, 9] and [2, 3, 8, 9]"));
    fails(last, [3, 3, 4, 5], [2, 8, 9, 3], &format!("{same} [2, 8, 9, 4] and [2, 8, 9, 3]"));
    fails(groups, [4, 4, 3, 3], [2, 4, 8, 9], &format!("{same} [2, 8, 8, 9] and [2, 4, 8, 9]"));
    fails(groups, [5, 2, 3, 3], [2, 4, 8, 9], &format!("{same} [4, 2, 3, 3] and [5, 2, 3, 3]"));
}

/// The message shows the shape of the weights, and the largest extent that would be inside of the padded images.
fn weights_that_are_too_large(t: &Suite) {
    let fails = |conv: Conv<2>, weights: [usize; 4], images: [usize; 4], text: &str| {
        let (weights, images): (A4<f64>, A4<f64>) = (array(&weights), array(&images));
        let prog = afun(move |weights: Acc<A4<f64>>, images: Acc<A4<f64>>| conv2d(conv, weights, images));
        let message = format!("`conv2d` at {}:{}: expected {text}", file!(), line!() - 1);
        t.fails(prog, (&weights, &images), &message);
    };
    let first = Conv { padding: [0, 1], ..Conv::default() };
    let last = Conv { layout: Layout::ChannelsLast, stride: [2, 2], ..first };
    fails(first, [5, 3, 3, 12], [2, 3, 8, 9], "at most 11, found 12 in [5, 3, 3, 12]");
    fails(last, [9, 3, 3, 5], [2, 8, 9, 3], "at most 8, found 9 in [9, 3, 3, 5]");
    for (layout, weights, signals, text) in [
        (Layout::ChannelsFirst, [1, 1, 5], [1, 1, 2], "at most 2, found 5 in [1, 1, 5]"),
        (Layout::ChannelsLast, [3, 1, 1], [1, 2, 1], "at most 2, found 3 in [3, 1, 1]"),
        (Layout::ChannelsFirst, [1, 2, 1], [1, 1, 2], "shapes [n, m, p] and [n, m, p], found [1, 2, 2] and [1, 1, 2]"),
    ] {
        let (weights, signals): (A3<f64>, A3<f64>) = (array(&weights), array(&signals));
        let conv = Conv { layout, ..Conv::default() };
        let prog = afun(move |weights: Acc<A3<f64>>, signals: Acc<A3<f64>>| conv1d(conv, weights, signals));
        let place = format!("`conv1d` at {}:{}", file!(), line!() - 1);
        t.fails(prog, (&weights, &signals), &format!("{place}: expected {text}"));
    }
}

fn signals(t: &Suite) {
    for (stride, padding, groups, n) in [(1, 0, 1, 30), (2, 2, 2, 9), (3, 1, 1, 4)] {
        let channels = 4 / groups as usize;
        let (weights, xs): (A3<f64>, A3<f64>) = (array(&[2, channels, 3]), other_array(&[3, 4, n], 1));
        let conv = Conv { stride: [stride], padding: [padding], groups, ..Conv::default() };
        let last = Conv { layout: Layout::ChannelsLast, ..conv };
        let prog = afun(move |weights: Acc<A3<f64>>, xs: Acc<A3<f64>>| {
            (conv1d(conv, weights, xs), conv1d(last, weights.in_order([2, 1, 0]), xs.in_order([0, 2, 1])))
        });
        let flat = |xs: &A3<f64>| -> A4<f64> {
            let [a, b, c] = xs.shape().into();
            host(&[a, b, 1, c], xs.to_vec())
        };
        let wide = Conv { stride: [1, stride], padding: [0, padding], groups, ..Conv::default() };
        let expected = convolution(wide, &flat(&weights), &flat(&xs));
        let [a, b, _, c] = expected.shape().into();
        let turned = tabulate::<Dim3, f64>(&[a, c, b], |ix| at(&expected, &[ix[0], ix[2], 0, ix[1]]));
        t.is(prog, (&weights, &xs), (host(&[a, b, c], expected.to_vec()), turned));
    }
}

fn pairs_of_matrices<T: Sample + Num + Into<f64>>(t: &Suite) {
    for [k, n, m, p] in [[3, 2, 4, 5], [1, 7, 1, 9], [40, 3, 3, 3], [2, 3, 0, 2], [0, 1, 1, 1]] {
        let (a, b): (A3<T>, A3<T>) = (array(&[k, n, m]), other_array(&[k, m, p], 1));
        let (xs, ys): (Vector<T>, Vector<T>) = (vector(n), vector(p));
        let times = |x: T, y: T| -> f64 { x.into() * y.into() };
        let products = tabulate::<Dim3, T>(&[k, n, p], |ix| {
            T::from_f64((0..m).map(|l| times(at(&a, &[ix[0], ix[1], l]), at(&b, &[ix[0], l, ix[2]]))).sum())
        });
        let outers = tabulate::<Dim2, T>(&[n, p], |ix| T::from_f64(times(at(&xs, &ix[..1]), at(&ys, &ix[1..]))));
        let prog =
            afun(|a: Acc<A3<T>>, b: Acc<A3<T>>, xs: Acc<Vector<T>>, ys: Acc<Vector<T>>| (bmm(a, b), outer(xs, ys)));
        t.is(prog, (&a, &b, &xs, &ys), (products, outers));
    }
}

fn sparse_matrices(t: &Suite) {
    for lengths in [vec![], vec![0, 0], vec![3, 0, 1, 7], (0..300).map(|i| i % 4).collect::<Vec<usize>>()] {
        let pointers: Vec<usize> = std::iter::once(0)
            .chain(lengths.iter().scan(0, |sum, n| {
                *sum += n;
                Some(*sum)
            }))
            .collect();
        let (count, width) = (lengths.iter().sum(), 11);
        let (values, x): (Vector<f64>, Vector<f64>) = (vector(count), array(&[width]));
        let columns: Vec<usize> = (0..count).map(|k| k * k % width).collect();
        let expected = lengths
            .iter()
            .zip(&pointers)
            .map(|(n, first)| (*first..first + n).map(|k| at(&values, &[k]) * at(&x, &columns[k..=k])).sum());
        let expected = Array::vector(expected.collect());
        let indices = |xs: &[usize]| Array::vector(xs.iter().map(|x| *x as i64).collect());
        let prog = afun(|pointers: Acc<Vector<i64>>, columns: Acc<Vector<i64>>, values: Acc<_>, x: Acc<_>| {
            csr_matvec(pointers, columns, values, x)
        });
        t.is(prog, (&indices(&pointers), &indices(&columns), &values, &x), expected);
    }
}

/// The difference of two pointers may be more than an integer.
fn pointers_that_do_not_ascend(t: &Suite) {
    let prog = afun(|p: Acc<Vector<i64>>, c: Acc<Vector<i64>>, values: Acc<_>, x: Acc<Vector<f64>>| {
        csr_matvec(p, c, values, x)
    });
    let place = format!("`csr_matvec` at {}:{}: expected segments that fill the rows, found", file!(), line!() - 2);
    let beyond = (1i64 << 48) + 1;
    for (pointers, found) in [
        (vec![i64::MAX, i64::MIN], format!("a segment of length {}", -2 * beyond)),
        (vec![0, 1, -1], "a segment of length -2".into()),
        (
            vec![i64::MIN, i64::MAX],
            "segments with more elements together than any array has, in rows of the shape [1]".into(),
        ),
    ] {
        let (one, column): (Vector<f64>, _) = (vector(1), Array::vector(vec![0i64]));
        t.fails(prog.clone(), (&Array::vector(pointers), &column, &one, &one), &format!("{place} {found}"));
    }
}
