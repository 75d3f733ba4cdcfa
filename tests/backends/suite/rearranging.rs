//! `backpermute`, `gather`, `reshape`, `flatten`, `transpose`, `concat`, `take`, `skip`, `init`, `tail`, `reverse`.

use super::check::Suite;
use super::samples::*;
use accel::prelude::*;

pub fn all(t: &Suite) {
    every!(identities(t));
    every!(parts_of_rows(t) inner);
    every!(one_after_the_other(t) inner);
    every!(to_other_shapes(t));
    transposes::<f64>(t);
    transposes::<Run>(t);
    diagonals(t);
    gathers::<i32>(t);
    gathers::<Affine>(t);
    empty_sources(t);
}

fn identities<Sh: Shape, T: Sample>(t: &Suite) {
    for extents in shapes_of::<Sh>() {
        let xs = array::<Sh, T>(extents);
        t.is(afun(|xs: Acc<Array<Sh, T>>| xs), &xs, xs.clone());
        t.is(afun(|xs: Acc<Array<Sh, T>>| backpermute(shape(xs), |ix| ix, xs)), &xs, xs.clone());
        t.is(afun(|xs: Acc<Array<Sh, T>>| reshape(shape(xs), xs)), &xs, xs.clone());
    }
}

fn to_other_shapes<Sh: Shape, T: Sample>(t: &Suite) {
    for extents in shapes_of::<Sh>() {
        let xs = array::<Sh, T>(extents);
        let n = xs.len();
        let vector = host::<Dim1, T>(&[n], xs.to_vec());
        t.is(afun(|xs: Acc<Array<Sh, T>>| flatten(xs)), &xs, vector.clone());
        let prog = afun(|xs: Acc<Array<Sh, T>>| reshape((1, size(xs), 1), xs));
        t.is(prog, &xs, host::<Dim3, T>(&[1, n, 1], xs.to_vec()));
        let prog = afun(|v: Acc<Vector<T>>, xs: Acc<Array<Sh, T>>| reshape(shape(xs), v));
        t.is(prog, (&vector, &xs), xs.clone());
        if n == 1 {
            t.is(afun(|xs: Acc<Array<Sh, T>>| reshape((), xs)), &xs, Array::scalar(xs.to_vec()[0].clone()));
        }
        if n.is_multiple_of(2) {
            let prog = afun(|xs: Acc<Array<Sh, T>>| reshape((size(xs) / 2, 2), map(|x| x, xs)));
            t.is(prog, &xs, host::<Dim2, T>(&[n / 2, 2], xs.to_vec()));
        }
    }
}

fn parts_of_rows<Sh: Shape, T: Sample>(t: &Suite) {
    for extents in shapes(Sh::RANK + 1) {
        let xs = array::<Snoc<Sh>, T>(extents);
        let part = |from: usize, to: usize| {
            map_rows(&xs, |n| to.min(n).saturating_sub(from), |r| r[from.min(r.len())..to.min(r.len())].to_vec())
        };
        let n = extents[Sh::RANK];
        for k in [0, 1, 2, n, n + 3] {
            let prog = afun(|xs: Acc<Array<Snoc<Sh>, T>>, k: Acc<Scalar<i64>>| (take(the(k), xs), skip(the(k), xs)));
            t.is(prog, (&xs, &Array::scalar(k as i64)), (part(0, k), part(k.min(n), n)));
        }
        let prog = afun(|xs: Acc<Array<Snoc<Sh>, T>>| (take(-2, xs), skip(-2, xs)));
        t.is(prog, &xs, (part(0, 0), xs.clone()));
        let prog = afun(|xs: Acc<Array<Snoc<Sh>, T>>| (init(xs), tail(xs)));
        t.is(prog, &xs, (part(0, n.saturating_sub(1)), part(n.min(1), n)));
        let prog = afun(|xs: Acc<Array<Snoc<Sh>, T>>| reverse(xs));
        t.is(prog, &xs, map_rows(&xs, |n| n, |row| row.into_iter().rev().collect()));
    }
}

fn one_after_the_other<Sh: Shape, T: Sample>(t: &Suite) {
    for extents in shapes(Sh::RANK + 1) {
        for extra in [0, 1, 4] {
            let mut longer = extents.to_vec();
            longer[Sh::RANK] += extra;
            let (xs, ys) = (array::<Snoc<Sh>, T>(extents), other_array::<Snoc<Sh>, T>(&longer, 1));
            let mut both = extents.to_vec();
            both[Sh::RANK] += longer[Sh::RANK];
            let joined = rows(&xs).into_iter().zip(rows(&ys)).flat_map(|(x, y)| [x, y].concat()).collect();
            let prog = afun(|xs: Acc<Array<Snoc<Sh>, T>>, ys: Acc<Array<Snoc<Sh>, T>>| concat(xs, ys));
            t.is(prog, (&xs, &ys), host::<Snoc<Sh>, T>(&both, joined));
        }
    }
}

fn transposes<T: Sample>(t: &Suite) {
    for extents in shapes(2) {
        let xs = array::<Dim2, T>(extents);
        let expected = tabulate::<Dim2, T>(&[extents[1], extents[0]], |ix| at(&xs, &[ix[1], ix[0]]));
        t.is(afun(|m: Acc<Matrix<T>>| transpose(m)), &xs, expected);
        t.is(afun(|m: Acc<Matrix<T>>| transpose(transpose(m))), &xs, xs.clone());
    }
}

/// Index functions that are not injective.
fn diagonals(t: &Suite) {
    let xs = array::<Dim2, f32>(&[5, 7]);
    let diagonal = Array::vector((0..5).map(|i| at(&xs, &[i, i])).collect());
    let prog = afun(|m: Acc<Matrix<f32>>| {
        let (n, k) = m.shape();
        backpermute(n.min(k), |i| (i, i), m)
    });
    t.is(prog, &xs, diagonal);
    let prog = afun(|m: Acc<Matrix<f32>>| backpermute((2, 3, 4), |(i, _, k)| (i * 2, k + 1), m));
    t.is(prog, &xs, tabulate::<Dim3, f32>(&[2, 3, 4], |ix| at(&xs, &[ix[0] * 2, ix[2] + 1])));
    let prog = afun(|m: Acc<Matrix<f32>>| backpermute((), |()| (4, 6), m));
    t.is(prog, &xs, Array::scalar(at(&xs, &[4, 6])));
}

fn gathers<T: Sample>(t: &Suite) {
    let xs = vector::<T>(37);
    for extents in shapes(2) {
        let from = tabulate::<Dim2, i64>(extents, |ix| ((ix[0] * 5 + ix[1] * 3) % 37) as i64);
        let expected = host::<Dim2, T>(extents, from.iter().map(|i| at(&xs, &[i as usize])).collect());
        t.is(afun(|from: Acc<Matrix<i64>>, xs: Acc<Vector<T>>| gather(from, xs)), (&from, &xs), expected);
    }
}

/// An empty result reads nothing, whatever the index function computes.
fn empty_sources(t: &Suite) {
    let empty = vector::<f64>(0);
    let prog = afun(|xs: Acc<Vector<f64>>| backpermute((3, 0), |(i, j)| i + j - 100, xs));
    t.is(prog, &empty, host::<Dim2, f64>(&[3, 0], vec![]));
    let prog = afun(|from: Acc<Vector<i64>>, xs: Acc<Vector<f64>>| gather(from, xs));
    t.is(prog, (&vector::<i64>(0), &empty), empty.clone());
}
