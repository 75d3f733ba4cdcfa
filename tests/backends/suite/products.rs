//! `conv1d` and `conv2d` with strides, padding, dilation, groups and both layouts, and transposed; `max_pool` and `mean_pool`; `matmul`,
//! `bmm` and `einsum`; `outer`; sparse matrices.

use super::check::Suite;
use super::samples::*;
use accel::prelude::*;

pub fn all(t: &Suite) {
    convolutions::<f64>(t);
    convolutions::<f32>(t);
    transposed_convolutions(t);
    channels_that_do_not_fit(t);
    weights_that_are_too_large(t);
    signals(t);
    pairs_of_matrices::<f64>(t);
    pairs_of_matrices::<f32>(t);
    matrices_with_leading_dimensions(t);
    equations_of_letters(t);
    extents_of_letters(t);
    windows(t);
    windows_that_are_too_large(t);
    sparse_matrices(t);
    matrices_by_rows(t);
    rows_outside(t);
    pointers_that_do_not_ascend(t);
}

type A3<T> = Array<Dim3, T>;
type A4<T> = Array<Dim4, T>;

/// The convolution of images by weights, both with channels first, by its definition.
fn convolution<T: Sample + Num + Into<f64>>(conv: Conv<2>, weights: &A4<T>, images: &A4<T>) -> A4<T> {
    let ([n, _, h, w], [o, c, k, l]): ([usize; 4], [usize; 4]) = (images.shape().into(), weights.shape().into());
    let ([p, q], [s, z], [e, f]) = (conv.padding, conv.stride, conv.dilation);
    let after = conv.padding_after.unwrap_or(conv.padding);
    let places = |n: usize, d: usize, k: usize| {
        let reach = (k - 1) * conv.dilation[d] as usize + 1;
        (n + (conv.padding[d] + after[d]) as usize - reach) / conv.stride[d] as usize + 1
    };
    let per_group = o / conv.groups as usize;
    tabulate(&[n, o, places(h, 0, k), places(w, 1, l)], |ix| {
        let mut sum = 0.0;
        for r in 0..c * k * l {
            let r = unravel(r, &[c, k, l]);
            let (y, x) = (ix[2] as i64 * s + r[1] as i64 * e - p, ix[3] as i64 * z + r[2] as i64 * f - q);
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
    let dilated = Conv { dilation: [2, 3], padding_after: Some([0, 2]), ..with([1, 2], [1, 0], 2) };
    for conv in [Conv::default(), with([2, 1], [1, 0], 1), with([1, 3], [0, 2], 2), with([2, 2], [3, 1], 3), dilated] {
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

/// The transpose of [`convolution`] by its definition: each element of the images goes to all places that the weights meet.
fn transposed(conv: Conv<2>, weights: &A4<f64>, images: &A4<f64>) -> A4<f64> {
    let ([n, o, h, w], [_, c, k, l]): ([usize; 4], [usize; 4]) = (images.shape().into(), weights.shape().into());
    let after = conv.padding_after.unwrap_or(conv.padding);
    let extent = |d: usize, n: usize, k: usize| {
        (n as i64 - 1) * conv.stride[d] + (k as i64 - 1) * conv.dilation[d] + 1 - conv.padding[d] - after[d]
    };
    let (rows, columns) = (extent(0, h, k), extent(1, w, l));
    let (groups, in_group) = (conv.groups as usize, o / conv.groups as usize);
    let sh = [n, c * groups, rows as usize, columns as usize];
    let mut sums = vec![0.0; sh.iter().product()];
    for r in 0..n * o * h * w * c * k * l {
        let r = unravel(r, &[n, o, h, w, c, k, l]);
        let place = |d: usize| r[2 + d] as i64 * conv.stride[d] + r[5 + d] as i64 * conv.dilation[d] - conv.padding[d];
        let (y, x) = (place(0), place(1));
        if (0..rows).contains(&y) && (0..columns).contains(&x) {
            let to = [r[0], r[1] / in_group * c + r[4], y as usize, x as usize];
            sums[ravel(&to, &sh)] += at(images, &r[..4]) * at(weights, &[r[1], r[4], r[5], r[6]]);
        }
    }
    host(&sh, sums)
}

fn transposed_convolutions(t: &Suite) {
    let with = |stride, padding, dilation, groups| Conv { stride, padding, dilation, groups, ..Conv::default() };
    let uneven = Conv { padding_after: Some([0, 2]), ..with([2, 3], [1, 0], [1, 2], 1) };
    // A padding that is more than the weights reach.
    for conv in [Conv::default(), with([2, 2], [1, 0], [1, 1], 2), uneven, with([1, 2], [3, 2], [1, 1], 3)] {
        let (weights, images): (A4<f64>, A4<f64>) = (array(&[6, 2, 3, 2]), other_array(&[2, 6, 5, 4], 1));
        let last = Conv { layout: Layout::ChannelsLast, ..conv };
        let prog = afun(move |weights: Acc<A4<f64>>, images: Acc<A4<f64>>| {
            let (turned_weights, turned) = (weights.in_order([2, 3, 1, 0]), images.in_order([0, 2, 3, 1]));
            (conv2d_transpose(conv, weights, images), conv2d_transpose(last, turned_weights, turned))
        });
        let expected = transposed(conv, &weights, &images);
        let turned = ordered([0, 2, 3, 1], &expected);
        t.is(prog, (&weights, &images), (expected, turned));
    }
    let conv = Conv { stride: [2], padding: [1], ..Conv::default() };
    let wide = Conv { stride: [1, 2], padding: [0, 1], ..Conv::default() };
    let (weights, signals): (A3<f64>, A3<f64>) = (array(&[4, 3, 3]), other_array(&[2, 4, 6], 1));
    let flat = |xs: &A3<f64>| -> A4<f64> {
        let [a, b, c] = xs.shape().into();
        host(&[a, b, 1, c], xs.to_vec())
    };
    let expected = transposed(wide, &flat(&weights), &flat(&signals));
    let [a, b, _, c] = expected.shape().into();
    let prog = afun(move |weights: Acc<A3<f64>>, xs: Acc<A3<f64>>| conv1d_transpose(conv, weights, xs));
    t.is(prog, (&weights, &signals), host(&[a, b, c], expected.to_vec()));
    let prog = afun(move |weights: Acc<A3<f64>>, xs: Acc<A3<f64>>| conv1d_transpose(conv, weights, xs));
    let text = "shapes [n, m, p] and [n, m, p], found [2, 4, 6] and [2, 3, 6]";
    let message = format!("`conv1d_transpose` at {}:{}: expected {text}", file!(), line!() - 2);
    t.fails(prog, (&weights, &array(&[2, 3, 6])), &message);
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

fn matrices_with_leading_dimensions(t: &Suite) {
    for [h, k, n, m, p] in [[2, 3, 2, 4, 5], [1, 1, 7, 1, 9], [3, 2, 3, 0, 2], [0, 2, 1, 1, 1]] {
        let (a, b, w): (A4<f64>, A4<f64>, Matrix<f64>) =
            (array(&[h, k, n, m]), other_array(&[h, k, m, p], 1), other_array(&[m, p], 2));
        let product = |right: &dyn Fn(&[usize]) -> f64, ix: &[usize]| -> f64 {
            (0..m).map(|l| at(&a, &[&ix[..3], &[l]].concat()) * right(&[ix[0], ix[1], l, ix[3]])).sum()
        };
        let prog = afun(|a: Acc<A4<f64>>, b: Acc<A4<f64>>, w: Acc<Matrix<f64>>| (bmm(a, b), matmul(a, w)));
        let expected = (
            tabulate::<Dim4, f64>(&[h, k, n, p], |ix| product(&|ix| at(&b, ix), ix)),
            tabulate::<Dim4, f64>(&[h, k, n, p], |ix| product(&|ix| at(&w, &ix[2..]), ix)),
        );
        t.is(prog, (&a, &b, &w), expected);
        let prog = afun(|a: Acc<Matrix<f64>>, b: Acc<Matrix<f64>>| bmm(transpose(a), b));
        let expected =
            tabulate::<Dim2, f64>(&[p, p], |ix| (0..m).map(|l| at(&w, &[l, ix[0]]) * at(&w, &[l, ix[1]])).sum());
        t.is(prog, (&w, &w), expected);
    }
    let prog = afun(|a: Acc<A3<f64>>, w: Acc<Matrix<f64>>| matmul(a, w));
    let text = "shapes [n, m, p] and [p, q], found [2, 3, 4] and [3, 4]";
    let message = format!("`matmul` at {}:{}: expected {text}", file!(), line!() - 2);
    t.fails(prog, (&array(&[2, 3, 4]), &array(&[3, 4])), &message);
    let prog = afun(|a: Acc<A4<f64>>, b: Acc<A4<f64>>| bmm(a, b));
    let text = "shapes [n, m, p, q] and [n, m, q, r], found [2, 3, 4, 5] and [2, 2, 5, 4]";
    let message = format!("`bmm` at {}:{}: expected {text}", file!(), line!() - 2);
    t.fails(prog, (&array(&[2, 3, 4, 5]), &array(&[2, 2, 5, 4])), &message);
}

fn equations_of_letters(t: &Suite) {
    for [n, m, k, p] in [[2, 3, 4, 5], [1, 1, 1, 1], [3, 0, 2, 4], [2, 9, 17, 3]] {
        let (x, y): (A3<f64>, A3<f64>) = (array(&[n, m, k]), other_array(&[n, p, k], 1));
        let (v, square): (Vector<f64>, Matrix<f64>) = (vector(m), array(&[m, m]));
        let sum = |extents: &[usize], f: &dyn Fn(&[usize]) -> f64| -> f64 {
            (0..extents.iter().product()).map(|i: usize| f(&unravel(i, extents))).sum()
        };
        let prog = afun(|x: Acc<A3<f64>>, y: Acc<A3<f64>>, v: Acc<Vector<f64>>, square: Acc<Matrix<f64>>| {
            let scores: Acc<A3<f64>> = einsum("bij,bkj->ikb", (x, y));
            let all: Acc<Scalar<f64>> = einsum("bij,bkj->", (x, y));
            let column: Acc<Vector<f64>> = einsum("bij, bkj, i -> k", (x, y, v));
            let (diagonal, trace): (Acc<Vector<f64>>, Acc<Scalar<f64>>) =
                (einsum("ii->i", square), einsum("ii->", square));
            let four: Acc<Matrix<f64>> = einsum("i,ij,j,k->ik", (v, square, v, v));
            (scores, all, column, diagonal, trace, four)
        });
        let at_pair = |b: usize, i: usize, l: usize, j: usize| at(&x, &[b, i, j]) * at(&y, &[b, l, j]);
        let expected = (
            tabulate::<Dim3, f64>(&[m, p, n], |ix| sum(&[k], &|r| at_pair(ix[2], ix[0], ix[1], r[0]))),
            Array::scalar(sum(&[n, m, p, k], &|r| at_pair(r[0], r[1], r[2], r[3]))),
            tabulate::<Dim1, f64>(&[p], |ix| sum(&[n, m, k], &|r| at_pair(r[0], r[1], ix[0], r[2]) * at(&v, &r[1..2]))),
            tabulate::<Dim1, f64>(&[m], |ix| at(&square, &[ix[0], ix[0]])),
            Array::scalar(sum(&[m], &|r| at(&square, &[r[0], r[0]]))),
            tabulate::<Dim2, f64>(&[m, m], |ix| {
                sum(&[m], &|r| at(&v, &ix[..1]) * at(&square, &[ix[0], r[0]]) * at(&v, r)) * at(&v, &ix[1..])
            }),
        );
        t.is(prog, (&x, &y, &v, &square), expected);
    }
}

/// The error names the letter.
fn extents_of_letters(t: &Suite) {
    type M = Acc<Matrix<f64>>;
    let (a, b): (Matrix<f64>, Matrix<f64>) = (array(&[2, 3]), array(&[4, 5]));
    let prog = afun(|a: M, b: M| -> M { einsum("ij,jk->ik", (a, b)) });
    let message =
        format!("`einsum, letter j` at {}:{}: expected shapes [n] and [n], found [3] and [4]", file!(), line!() - 2);
    t.fails(prog, (&a, &b), &message);
    let prog = afun(|a: M, _: M| -> Acc<Scalar<f64>> { einsum("ii->", a) });
    let message =
        format!("`einsum, letter i` at {}:{}: expected shapes [n] and [n], found [2] and [3]", file!(), line!() - 2);
    t.fails(prog, (&a, &b), &message);
}

fn windows(t: &Suite) {
    let pools = [
        Pool::from([2, 3]),
        Pool { stride: [1, 2], ..Pool::from([2, 2]) },
        Pool { stride: [2, 2], padding: [1, 1], ..Pool::from([3, 2]) },
        Pool::from([5, 6]),
    ];
    for pool in pools {
        let images: A4<f64> = array(&[2, 3, 5, 6]);
        let places = |n: usize, d: usize| {
            (n + 2 * pool.padding[d] as usize - pool.window[d] as usize) / pool.stride[d] as usize + 1
        };
        let window = |ix: &[usize]| -> Vec<Option<f64>> {
            let extents = pool.window.map(|k| k as usize);
            let place = |d: usize, k: usize| ix[2 + d] as i64 * pool.stride[d] + k as i64 - pool.padding[d];
            let of = |r: Vec<usize>| match [place(0, r[0]), place(1, r[1])] {
                [y @ 0..5, x @ 0..6] => Some(at(&images, &[ix[0], ix[1], y as usize, x as usize])),
                _ => None,
            };
            (0..extents[0] * extents[1]).map(|r| of(unravel(r, &extents))).collect()
        };
        let extents = [2, 3, places(5, 0), places(6, 1)];
        let largest = tabulate::<Dim4, f64>(&extents, |ix| window(ix).into_iter().flatten().fold(f64::MIN, f64::max));
        let means = tabulate::<Dim4, f64>(&extents, |ix| {
            window(ix).into_iter().flatten().sum::<f64>() / window(ix).len() as f64
        });
        let last = Pool { layout: Layout::ChannelsLast, ..pool };
        let prog = afun(move |images: Acc<A4<f64>>| {
            let turned = images.in_order([0, 2, 3, 1]);
            (max_pool(pool, images), mean_pool(pool, images), max_pool(last, turned), mean_pool(last, turned))
        });
        let turned = (ordered([0, 2, 3, 1], &largest), ordered([0, 2, 3, 1], &means));
        t.near(1e-14, prog, &images, (largest, means, turned.0, turned.1));
    }
    let prog = afun(|signals: Acc<A3<i64>>| max_pool(Pool { stride: [1], padding: [1], ..Pool::from([2]) }, signals));
    let signals: A3<i64> = array(&[1, 2, 40]);
    let expected = tabulate::<Dim3, i64>(&[1, 2, 41], |ix| {
        (ix[2].max(1) - 1..(ix[2] + 1).min(40)).map(|i| at(&signals, &[0, ix[1], i])).max().unwrap()
    });
    t.is(prog, &signals, expected);
}

fn windows_that_are_too_large(t: &Suite) {
    let prog = afun(|images: Acc<A4<f64>>| max_pool(Pool { padding: [0, 1], ..Pool::from([2, 7]) }, images));
    let message = format!("`max_pool` at {}:{}: expected at most 6, found 7 in [2, 7]", file!(), line!() - 1);
    t.fails(prog, &array(&[1, 1, 4, 4]), &message);
}

/// A matrix in the form [`csr_matvec`] takes it: pointers, columns and values.
type ByRows = (Vector<i64>, Vector<i64>, Vector<f64>);

fn matrices_by_rows(t: &Suite) {
    for (r, c, count) in [(0usize, 0usize, 0usize), (3, 2, 0), (5, 7, 20), (60, 11, 300)] {
        let place = |k: usize| (k * 7 % r.max(1), k * k % c.max(1));
        let values: Vector<f64> = vector(count);
        let of = |order: &[usize], row: &dyn Fn(usize) -> usize, column: &dyn Fn(usize) -> usize, n: usize| -> ByRows {
            let before = |i: usize| order.iter().filter(|k| row(**k) < i).count() as i64;
            (
                Array::vector((0..=n).map(before).collect()),
                Array::vector(order.iter().map(|k| column(*k) as i64).collect()),
                Array::vector(order.iter().map(|k| at(&values, &[*k])).collect()),
            )
        };
        let mut by_rows: Vec<usize> = (0..count).collect();
        by_rows.sort_by_key(|k| place(*k).0);
        let mut by_columns = by_rows.clone();
        by_columns.sort_by_key(|k| place(*k).1);
        let made = of(&by_rows, &|k| place(k).0, &|k| place(k).1, r);
        let turned = of(&by_columns, &|k| place(k).1, &|k| place(k).0, c);
        let x: Matrix<f64> = array(&[c, 3]);
        let product = tabulate::<Dim2, f64>(&[r, 3], |ix| {
            let terms = by_rows.iter().filter(|k| place(**k).0 == ix[0]);
            terms.map(|k| at(&values, &[*k]) * at(&x, &[place(*k).1, ix[1]])).sum()
        });
        let (n, m) = (r as i64, c as i64);
        let prog = afun(move |rows: Acc<Vector<i64>>, columns: Acc<Vector<i64>>, values: Acc<_>, x: Acc<_>| {
            let (p, c, v) = coo_to_csr(n, rows, columns, values);
            ((p, c, v), csr_transpose(m, p, c, v), csr_matmul(p, c, v, x))
        });
        let indices = |f: &dyn Fn(usize) -> usize| Array::vector((0..count).map(|k| f(k) as i64).collect());
        let places = (indices(&|k| place(k).0), indices(&|k| place(k).1));
        t.is(prog, (&places.0, &places.1, &values, &x), (made, turned, product));
    }
}

fn rows_outside(t: &Suite) {
    type I = Acc<Vector<i64>>;
    let prog = afun(|rows: I, values: Acc<Vector<f64>>| coo_to_csr(3, rows, iota(2), values).0);
    let place = format!("`coo_to_csr` at {}:{}: expected", file!(), line!() - 1);
    let values: Vector<f64> = vector(2);
    for (rows, text) in [(vec![3, 0], "at most 2, found 3"), (vec![0, -4], "at least 0, found -4")] {
        t.fails(prog.clone(), (&Array::vector(rows), &values), &format!("{place} {text}"));
    }
    let prog = afun(|rows: I, values: Acc<Vector<f64>>| csr_transpose(2, rows, rows, values).0);
    let place = format!("`csr_transpose` at {}:{}: expected", file!(), line!() - 1);
    let message = format!(
        "{place} segments that fill the rows, found segments with 1 elements together, in rows of the shape [2]"
    );
    t.fails(prog, (&Array::vector(vec![0i64, 1]), &values), &message);
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
