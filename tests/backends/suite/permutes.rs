//! `permute` and `scatter`.

use super::check::Suite;
use super::samples::*;
use accel::prelude::*;
use accel::surface::{index_head, index_tail, snoc};

pub fn all(t: &Suite) {
    every!(backwards(t) inner);
    histograms(t);
    sums_by_column(t);
    largest_by_key(t);
    new_comes_first(t);
    between_ranks(t);
    scatters::<f32>(t);
    scatters::<Run>(t);
    last_ones::<u8>(t);
    last_ones::<f64>(t);
    last_ones::<Run>(t);
    defaults_stay_what_they_were(t);
}

/// A permutation of each row: every target gets one element, which replaces the default.
fn backwards<Sh: Shape, T: Sample>(t: &Suite) {
    for extents in shapes(Sh::RANK + 1) {
        let xs = array::<Snoc<Sh>, T>(extents);
        let prog = afun(|xs: Acc<Array<Snoc<Sh>, T>>| {
            let (sh, defaults) = (shape(xs), fill(shape(xs), constant(T::sample(5))));
            let target = |ix: <Snoc<Sh> as Shape>::Index| {
                let ix = ix.into_shape();
                (true, snoc(index_tail(ix), index_head(sh) - 1 - index_head(ix)))
            };
            permute(|new, _| new, defaults, target, xs)
        });
        let expected = map_rows(&xs, |n| n, |row| row.into_iter().rev().collect());
        t.is(prog, &xs, expected);
    }
}

fn histograms(t: &Suite) {
    for n in [0, 1, 7, 1000] {
        let xs = vector::<u8>(n);
        let mut expected = vec![100i32; 8];
        // The elements of one residue class have no target.
        xs.iter().filter(|x| x % 8 != 3).for_each(|x| expected[(x % 8) as usize] += 1);
        let prog = afun(|xs: Acc<Vector<u8>>| {
            let place = |i| (xs.at(i) % 8).cast::<i64>();
            permute(|x, y| x + y, fill(8, 100i32), |i| (place(i).ne(3), place(i)), fill(xs.len(), 1i32))
        });
        t.is(prog, &xs, Array::vector(expected));
    }
}

/// From a matrix to a vector: all elements of a column have the same target.
fn sums_by_column(t: &Suite) {
    for extents in shapes(2) {
        let xs = array::<Dim2, f64>(extents);
        let prog = afun(|xs: Acc<Matrix<f64>>| {
            let (_, columns) = xs.shape();
            permute(|x, y| x + y, fill(columns, 0.5), |(_, j)| (true, j), xs)
        });
        let column = |j: usize| (0..extents[0]).map(|i| at(&xs, &[i, j])).sum::<f64>();
        t.is(prog, &xs, Array::vector((0..extents[1]).map(|j| column(j) + 0.5).collect()));
    }
}

fn largest_by_key(t: &Suite) {
    let (keys, xs) = (vector::<u8>(300), vector::<i64>(300));
    let mut expected = vec![(i64::MIN, false); 16];
    for (k, x) in keys.iter().zip(xs.iter()) {
        let place = &mut expected[(k % 16) as usize];
        *place = (place.0.max(x), true);
    }
    let prog = afun(|keys: Acc<Vector<u8>>, xs: Acc<Vector<i64>>| {
        let nothing = fill(16, (i64::MIN, false));
        let combine = |(x, a): (Exp<i64>, Exp<bool>), (y, b): (Exp<i64>, Exp<bool>)| (x.max(y), a | b);
        permute(combine, nothing, |i| (true, (keys.at(i) % 16).cast::<i64>()), map(|x| (x, true), xs))
    });
    t.is(prog, (&keys, &xs), Array::vector(expected));
}

/// The combination gets the new element first and the old one second.
fn new_comes_first(t: &Suite) {
    let prog =
        afun(|xs: Acc<Vector<i64>>, old: Acc<Vector<i64>>| permute(|new, old| new * 10 + old, old, |i| (true, i), xs));
    let (xs, old) = (Array::vector(vec![1, 2, 3]), Array::vector(vec![7, 8, 9, 4]));
    t.is(prog, (&xs, &old), Array::vector(vec![17, 28, 39, 4]));
    let prog = afun(|x: Acc<Scalar<i64>>, old: Acc<Vector<i64>>| permute(|_, old| old, old, |()| (true, 2), x));
    t.is(prog, (&Array::scalar(5), &old), old.clone());
}

/// Vectors into matrices, matrices into cubes, scalars into vectors, and everything into one place.
fn between_ranks(t: &Suite) {
    let xs = vector::<Run>(21);
    let prog = afun(|xs: Acc<Vector<Run>>| {
        permute(|new, _| new, fill((7, 3), constant(Run::sample(0))), |i| (true, (i % 7, i / 7)), xs)
    });
    let in_columns = tabulate::<Dim2, Run>(&[7, 3], |ix| at(&xs, &[ix[0] + 7 * ix[1]]));
    t.is(prog, &xs, in_columns.clone());
    let prog = afun(|xs: Acc<Matrix<Run>>| {
        let nothing = fill((3, 2, 7), constant(Run::sample(0)));
        permute(|new, _| new, nothing, |(i, j)| (i.gt(2), (j, 1, i)), xs)
    });
    let expected = tabulate::<Dim3, Run>(&[3, 2, 7], |ix| match ix {
        [j, 1, i] if *i > 2 => at(&in_columns, &[*i, *j]),
        _ => Run::sample(0),
    });
    t.is(prog, &in_columns, expected);
    let numbers = array::<Dim3, i32>(&[2, 3, 5]);
    let prog = afun(|xs: Acc<Array<Dim3, i32>>| permute(|x, y| x + y, unit(1i32), |_| (true, ()), xs));
    t.is(prog, &numbers, Array::scalar(numbers.iter().fold(1, i32::wrapping_add)));
}

fn scatters<T: Sample>(t: &Suite) {
    for n in [0, 1, 2, 7, 300] {
        let (xs, defaults) = (vector::<T>(n), other_array::<Dim1, T>(&[2 * n + 1], 1));
        let to: Vec<usize> = (0..n).map(|i| 2 * (n - 1 - i)).collect();
        let mut expected = defaults.to_vec();
        to.iter().zip(xs.iter()).for_each(|(place, x)| expected[*place] = x);
        let to = Array::vector(to.into_iter().map(|i| i as i64).collect());
        let prog = afun(|to: Acc<Vector<i64>>, defaults: Acc<Vector<T>>, xs: Acc<Vector<T>>| scatter(to, defaults, xs));
        t.is(prog, (&to, &defaults, &xs), Array::vector(expected));
    }
}

/// Of several elements with the same target, the last one stays.
fn last_ones<T: Sample>(t: &Suite) {
    for n in [1, 7, 300, 100_000] {
        let (xs, defaults) = (vector::<T>(n), other_array::<Dim1, T>(&[12], 1));
        let mut expected = defaults.to_vec();
        xs.iter().enumerate().filter(|(i, _)| i * i % 12 != 4).for_each(|(i, x)| expected[i * i % 12] = x);
        let prog = afun(|defaults: Acc<Vector<T>>, xs: Acc<Vector<T>>| {
            permute(|new, _| new, defaults, |i| ((i * i % 12).ne(4), i * i % 12), xs)
        });
        t.is(prog, (&defaults, &xs), Array::vector(expected));
    }
    // All elements of a column have the same target.
    for extents in shapes(2) {
        let (xs, defaults) = (array::<Dim2, T>(extents), other_array::<Dim1, T>(&[extents[1]], 1));
        let expected = match extents[0] {
            0 => defaults.clone(),
            n => tabulate::<Dim1, T>(&[extents[1]], |j| at(&xs, &[n - 1, j[0]])),
        };
        let prog = afun(|defaults: Acc<Vector<T>>, xs: Acc<Matrix<T>>| {
            permute(|new, _| new, defaults, |(_, j)| (true, j), xs)
        });
        t.is(prog, (&defaults, &xs), expected);
    }
}

/// Other operations can still use the array of defaults.
fn defaults_stay_what_they_were(t: &Suite) {
    let (xs, defaults) = (vector::<f32>(9), other_array::<Dim1, f32>(&[9], 2));
    let prog = afun(|xs: Acc<Vector<f32>>, defaults: Acc<Vector<f32>>| {
        let sums = permute(|x, y| x + y, defaults, |i| (true, i), xs);
        (sums, defaults, permute(|x, y| x + y, defaults, |i| (i.lt(3), i), sums))
    });
    let sums: Vec<f32> = xs.iter().zip(defaults.iter()).map(|(x, y)| x + y).collect();
    let again = (0..9).map(|i| defaults.to_vec()[i] + if i < 3 { sums[i] } else { 0.0 }).collect();
    t.is(prog, (&xs, &defaults), (Array::vector(sums), defaults.clone(), Array::vector(again)));
}
