//! Making arrays: `generate`, `fill`, `iota`, `enum_from_n`, `unit`, `the`, `use_`, constants; and querying shapes.

use super::check::Suite;
use super::samples::*;
use accel::prelude::*;
use accel::repr::Scalar as Leaf;
use accel::surface::{index_head, index_tail, snoc};

pub fn all(t: &Suite) {
    every!(generate_copies(t));
    every!(constants(t));
    indices::<Dim0>(t);
    indices::<Dim1>(t);
    indices::<Dim2>(t);
    indices::<Dim3>(t);
    indices::<Dim4>(t);
    by_components(t);
    shapes_as_tuples(t);
    counting(t);
    numbers_in_order::<Dim0, u8>(t);
    numbers_in_order::<Dim1, f32>(t);
    numbers_in_order::<Dim2, i64>(t);
    numbers_in_order::<Dim4, f64>(t);
    high_ranks(t);
}

/// A shape or index as an element of an array.
pub fn shape_element<Sh: Shape>(index: &[usize]) -> Sh {
    Sh::from_scalars(&mut index.iter().map(|i| Leaf::I64(*i as i64))).unwrap()
}

fn generate_copies<Sh: Shape, T: Sample>(t: &Suite) {
    for extents in shapes_of::<Sh>() {
        let xs = array::<Sh, T>(extents);
        t.is(afun(|xs: Acc<Array<Sh, T>>| generate(shape(xs), |ix| xs.at(ix))), &xs, xs.clone());
    }
}

fn constants<Sh: Shape, T: Sample>(t: &Suite) {
    for extents in shapes_of::<Sh>() {
        let (xs, x) = (array::<Sh, T>(extents), T::sample(3));
        t.is(afun(|_: Acc<()>| use_(&xs)), &(), xs.clone());
        let filled = tabulate::<Sh, T>(extents, |_| x.clone());
        t.is(afun(|xs: Acc<Array<Sh, T>>| fill(shape(xs), constant(x.clone()))), &xs, filled);
    }
    let x = Array::<Z, T>::scalar(T::sample(7));
    t.is(afun(|x: Acc<Array<Z, T>>| unit(the(x))), &x, x.clone());
    t.is(afun(|_: Acc<()>| unit(constant(T::sample(7)))), &(), x);
}

/// Every index as an element, the shape and the size.
fn indices<Sh: Shape>(t: &Suite) {
    for extents in shapes_of::<Sh>() {
        let xs = array::<Sh, i32>(extents);
        let expected = tabulate::<Sh, Sh>(extents, shape_element);
        t.is(afun(|xs: Acc<Array<Sh, i32>>| generate(shape(xs), |ix| ix.into_shape())), &xs, expected);
        let n = xs.len() as i64;
        let expected = (Array::scalar(n), Array::scalar(n), Array::scalar(shape_element::<Sh>(extents)));
        let prog = afun(|xs: Acc<Array<Sh, i32>>| (unit(size(xs)), unit(xs.len()), unit(shape(xs))));
        t.is(prog, &xs, expected);
    }
}

/// Patterns for indices in closures.
fn by_components(t: &Suite) {
    let digits = |ix: &[usize]| ix.iter().fold(0, |n, i| 10 * n + *i as i64);
    t.is(afun(|_: Acc<()>| generate((), |()| 5i64)), &(), Array::scalar(5));
    t.is(afun(|_: Acc<()>| generate(4, |i| i * i)), &(), Array::vector(vec![0, 1, 4, 9]));
    t.is(afun(|_: Acc<()>| generate((3, 4), |(i, j)| i * 10 + j)), &(), tabulate::<Dim2, i64>(&[3, 4], digits));
    let prog = afun(|n: Acc<Scalar<i64>>| generate((the(n), 2, the(n) + 1), |(i, j, k)| (i * 10 + j) * 10 + k));
    t.is(prog, &Array::scalar(3), tabulate::<Dim3, i64>(&[3, 2, 4], digits));
    let prog = afun(|_: Acc<()>| generate((2, 3, 4, 5), |(i, j, k, l)| ((i * 10 + j) * 10 + k) * 10 + l));
    t.is(prog, &(), tabulate::<Dim4, i64>(&[2, 3, 4, 5], digits));
}

fn shapes_as_tuples(t: &Suite) {
    let m = array::<Dim2, f32>(&[5, 3]);
    let prog = afun(|m: Acc<Matrix<f32>>| {
        let (rows, columns) = m.shape();
        (unit(rows), unit(columns), generate((columns, rows), |(j, i)| m.at((i, j))))
    });
    let expected = (Array::scalar(5), Array::scalar(3), tabulate::<Dim2, f32>(&[3, 5], |ix| at(&m, &[ix[1], ix[0]])));
    t.is(prog, &m, expected);
    let prog = afun(|xs: Acc<Array<Dim3, u8>>| {
        let sh = shape(xs);
        (unit(index_head(sh)), unit(index_tail(sh)), unit(snoc(index_tail(sh), 9)))
    });
    let expected = (Array::scalar(4), Array::scalar(Snoc(Snoc(Z, 2), 3)), Array::scalar(Snoc(Snoc(Snoc(Z, 2), 3), 9)));
    t.is(prog, &array(&[2, 3, 4]), expected);
    let prog = afun(|a: Acc<Matrix<u8>>, b: Acc<Matrix<u8>>| unit(intersect(shape(a), shape(b))));
    t.is(prog, (&array(&[3, 7]), &array(&[5, 2])), Array::scalar(Snoc(Snoc(Z, 3), 2)));
}

fn counting(t: &Suite) {
    for n in [0, 1, 2, 301] {
        t.is(afun(|n: Acc<Scalar<i64>>| iota(the(n))), &Array::scalar(n), Array::vector((0..n).collect()));
    }
}

fn numbers_in_order<Sh: Shape, T: Num + Sample>(t: &Suite) {
    for extents in shapes_of::<Sh>() {
        let n = extents.iter().product::<usize>();
        // Numbers that every type can represent, including u8.
        if n < 200 {
            let expected = host::<Sh, T>(extents, (0..n).map(|i| T::from_f64(i as f64 + 3.0)).collect());
            t.is(afun(|xs: Acc<Array<Sh, T>>| enum_from_n(shape(xs), lit::<T>(3.0))), &array(extents), expected);
        }
    }
}

/// Above rank six, there are no patterns for indices; everything else is the same.
fn high_ranks(t: &Suite) {
    let extents = [2, 1, 3, 1, 2, 2];
    let xs = array::<Dim6, i32>(&extents);
    let prog = afun(|xs: Acc<Array<Dim6, i32>>| {
        let copy = generate(shape(xs), |(a, b, c, d, e, f)| xs.at((a, b, c, d, e, f)));
        (copy, sum(replicate_inner(3, xs)))
    });
    t.is(prog, &xs, (xs.clone(), host(&extents, xs.iter().map(|x| x.wrapping_mul(3)).collect())));
}
