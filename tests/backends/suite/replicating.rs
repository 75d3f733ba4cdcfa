//! `replicate` and `slice`: every choice of dimensions up to rank three, and some of rank four.

use super::check::Suite;
use super::samples::*;
use accel::prelude::*;

pub fn all(t: &Suite) {
    every!(innermost(t));
    vectors::<f64>(t);
    vectors::<Run>(t);
    cubes::<i32>(t);
    cubes::<Affine>(t);
    four_dimensions(t);
    nothing_added(t);
}

fn innermost<Sh: Shape, T: Sample>(t: &Suite) {
    for extents in shapes_of::<Sh>() {
        let xs = array::<Sh, T>(extents);
        for n in [0, 1, 3] {
            let larger = [extents, &[n][..]].concat();
            let expected = tabulate::<Snoc<Sh>, T>(&larger, |ix| at(&xs, &ix[..Sh::RANK]));
            let prog = afun(|xs: Acc<Array<Sh, T>>, n: Acc<Scalar<i64>>| replicate_inner(the(n), xs));
            t.is(prog, (&xs, &Array::scalar(n as i64)), expected);
        }
        let larger = other_array::<Snoc<Sh>, T>(&[extents, &[4][..]].concat(), 1);
        for i in 0..4 {
            let expected = tabulate::<Sh, T>(extents, |ix| at(&larger, &[ix, &[i]].concat()));
            t.is(afun(|xs: Acc<Array<Snoc<Sh>, T>>| slice_inner(i as i64, xs)), &larger, expected);
        }
    }
}

fn vectors<T: Sample>(t: &Suite) {
    let (x, v) = (Array::scalar(T::sample(1)), vector::<T>(5));
    for n in [0, 1, 7] {
        let count = Array::scalar(n as i64);
        let prog = afun(|x: Acc<Array<Z, T>>, n: Acc<Scalar<i64>>| replicate(the(n), x));
        t.is(prog, (&x, &count), Array::vector(vec![T::sample(1); n]));
        let prog =
            afun(|v: Acc<Vector<T>>, n: Acc<Scalar<i64>>| (replicate((the(n), All), v), replicate((All, the(n)), v)));
        let expected =
            (tabulate::<Dim2, T>(&[n, 5], |ix| at(&v, &[ix[1]])), tabulate::<Dim2, T>(&[5, n], |ix| at(&v, &[ix[0]])));
        t.is(prog, (&v, &count), expected);
    }
    let prog = afun(|v: Acc<Vector<T>>| (slice(3, v), slice(All, v), replicate((2, 3), slice(0, v))));
    let expected = (Array::scalar(at(&v, &[3])), v.clone(), tabulate::<Dim2, T>(&[2, 3], |_| at(&v, &[0])));
    t.is(prog, &v, expected);
    for extents in shapes(2).iter().filter(|e| e[0] > 0 && e[1] > 0) {
        let m = array::<Dim2, T>(extents);
        let (i, j) = (extents[0] / 2, extents[1] - 1);
        let prog = afun(|m: Acc<Matrix<T>>, ij: Acc<Scalar<(i64, i64)>>| {
            let (i, j) = the(ij);
            (slice((i, All), m), slice((All, j), m), slice((i, j), m), slice((All, All), m))
        });
        let row = Array::vector((0..extents[1]).map(|j| at(&m, &[i, j])).collect());
        let column = Array::vector((0..extents[0]).map(|i| at(&m, &[i, j])).collect());
        let expected = (row, column, Array::scalar(at(&m, &[i, j])), m.clone());
        t.is(prog, (&m, &Array::scalar((i as i64, j as i64))), expected);
    }
}

fn cubes<T: Sample>(t: &Suite) {
    let (m, c) = (array::<Dim2, T>(&[3, 4]), array::<Dim3, T>(&[3, 4, 5]));
    let prog = afun(|m: Acc<Matrix<T>>| {
        (replicate((2, All, All), m), replicate((All, 2, All), m), replicate((All, All, 2), m))
    });
    let expected = (
        tabulate::<Dim3, T>(&[2, 3, 4], |ix| at(&m, &[ix[1], ix[2]])),
        tabulate::<Dim3, T>(&[3, 2, 4], |ix| at(&m, &[ix[0], ix[2]])),
        tabulate::<Dim3, T>(&[3, 4, 2], |ix| at(&m, &[ix[0], ix[1]])),
    );
    t.is(prog, &m, expected);
    let prog =
        afun(|c: Acc<Array<Dim3, T>>| (slice((2, All, All), c), slice((All, 2, All), c), slice((All, All, 2), c)));
    let expected = (
        tabulate::<Dim2, T>(&[4, 5], |ix| at(&c, &[2, ix[0], ix[1]])),
        tabulate::<Dim2, T>(&[3, 5], |ix| at(&c, &[ix[0], 2, ix[1]])),
        tabulate::<Dim2, T>(&[3, 4], |ix| at(&c, &[ix[0], ix[1], 2])),
    );
    t.is(prog, &c, expected);
    let prog = afun(|c: Acc<Array<Dim3, T>>| (slice((2, 1, All), c), slice((2, All, 1), c), slice((All, 2, 1), c)));
    let expected = (
        tabulate::<Dim1, T>(&[5], |ix| at(&c, &[2, 1, ix[0]])),
        tabulate::<Dim1, T>(&[4], |ix| at(&c, &[2, ix[0], 1])),
        tabulate::<Dim1, T>(&[3], |ix| at(&c, &[ix[0], 2, 1])),
    );
    t.is(prog, &c, expected);
    let prog = afun(|m: Acc<Matrix<T>>| {
        let v = slice((1, All), m);
        (replicate((2, 3, All), v), replicate((2, All, 3), v), replicate((All, 2, 3), v))
    });
    let v = |i: usize| at(&m, &[1, i]);
    let expected = (
        tabulate::<Dim3, T>(&[2, 3, 4], |ix| v(ix[2])),
        tabulate::<Dim3, T>(&[2, 4, 3], |ix| v(ix[1])),
        tabulate::<Dim3, T>(&[4, 2, 3], |ix| v(ix[0])),
    );
    t.is(prog, &m, expected);
}

fn four_dimensions(t: &Suite) {
    for extents in shapes(4) {
        let xs = array::<Dim4, f32>(extents);
        if extents[1] > 0 && extents[3] > 0 {
            let prog = afun(|xs: Acc<Array<Dim4, f32>>| slice((All, 0, All, 0), xs));
            let expected = tabulate::<Dim2, f32>(&[extents[0], extents[2]], |ix| at(&xs, &[ix[0], 0, ix[1], 0]));
            t.is(prog, &xs, expected);
        }
        let prog = afun(|xs: Acc<Array<Dim4, f32>>| replicate((All, 2, All, All, 1, All), xs));
        let [a, b, c, d] = extents else { continue };
        let expected = tabulate::<Dim6, f32>(&[*a, 2, *b, *c, 1, *d], |ix| at(&xs, &[ix[0], ix[2], ix[3], ix[5]]));
        t.is(prog, &xs, expected);
    }
}

fn nothing_added(t: &Suite) {
    let c = array::<Dim3, u8>(&[2, 0, 3]);
    t.is(afun(|c: Acc<Array<Dim3, u8>>| replicate((All, All, All), c)), &c, c.clone());
    t.is(afun(|c: Acc<Array<Dim3, u8>>| slice((All, All, All), c)), &c, c.clone());
}
