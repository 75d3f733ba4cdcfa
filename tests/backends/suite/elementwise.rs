//! `map`, `zip_with`, `zip`, `unzip`, `imap`, `indexed`, and patterns for elements in closures.

use super::check::Suite;
use super::making::shape_element;
use super::samples::*;
use accel::prelude::*;
use accel::surface::{fst, snd};

pub fn all(t: &Suite) {
    every!(maps(t));
    every!(zips(t));
    every!(indexing(t));
    tuples(t);
    records(t);
    constants_in_closures(t);
}

fn maps<Sh: Shape, T: Sample>(t: &Suite) {
    for extents in shapes_of::<Sh>() {
        let xs = array::<Sh, T>(extents);
        let on = |f: fn(&T) -> T| host::<Sh, T>(extents, xs.iter().map(|x| f(&x)).collect());
        t.is(afun(|xs: Acc<Array<Sh, T>>| map(|x| x, xs)), &xs, xs.clone());
        t.is(afun(|xs: Acc<Array<Sh, T>>| map(|x| T::combine_exp(x, x), xs)), &xs, on(|x| T::combine(x, x)));
        let pairs = host::<Sh, (T, i64)>(extents, xs.iter().map(|x| (x, 5)).collect());
        t.is(afun(|xs: Acc<Array<Sh, T>>| map(|x| (x, 5i64), xs)), &xs, pairs);
        let counted = host::<Sh, i64>(extents, vec![2; xs.len()]);
        t.is(afun(|xs: Acc<Array<Sh, T>>| map(|_| 2i64, xs)), &xs, counted);
    }
}

/// The zips that cut off also get arrays of different extents. The result has the smaller extent in each dimension.
fn zips<Sh: Shape, T: Sample>(t: &Suite) {
    for extents in shapes_of::<Sh>() {
        let longer: Vec<usize> = extents.iter().enumerate().map(|(d, n)| n + (d + 1) % 2).collect();
        let shorter: Vec<usize> = extents.iter().enumerate().map(|(d, n)| n - (*n).min(d % 2 + 1)).collect();
        for other in [extents.to_vec(), longer, shorter] {
            let both: Vec<usize> = extents.iter().zip(&other).map(|(n, m)| *n.min(m)).collect();
            let (xs, ys) = (array::<Sh, T>(extents), other_array::<Sh, T>(&other, 1));
            let expected = tabulate::<Sh, T>(&both, |ix| T::combine(&at(&xs, ix), &at(&ys, ix)));
            let prog = afun(|xs: Acc<Array<Sh, T>>, ys: Acc<Array<Sh, T>>| zip_with_min(T::combine_exp, xs, ys));
            t.is(prog, (&xs, &ys), expected.clone());
            let pairs = tabulate::<Sh, (T, T)>(&both, |ix| (at(&xs, ix), at(&ys, ix)));
            t.is(afun(|xs: Acc<Array<Sh, T>>, ys: Acc<Array<Sh, T>>| zip_min(xs, ys)), (&xs, &ys), pairs.clone());
            let (left, right) = pairs.iter().unzip();
            let parts = (host::<Sh, T>(&both, left), host::<Sh, T>(&both, right));
            t.is(afun(|xys: Acc<Array<Sh, (T, T)>>| unzip(xys)), &pairs, parts);

            let zs = array::<Sh, u8>(extents);
            let triples = tabulate::<Sh, (T, T, u8)>(&both, |ix| (at(&xs, ix), at(&ys, ix), at(&zs, ix)));
            let prog = afun(|xs: Acc<Array<Sh, T>>, ys: Acc<Array<Sh, T>>, zs: Acc<Array<Sh, u8>>| {
                let triples = zip3_min(xs, ys, zs);
                (triples, unzip3(triples).2, zip_with3_min(|x, y, z| (x, y, z), xs, ys, zs))
            });
            let third = tabulate::<Sh, u8>(&both, |ix| at(&zs, ix));
            t.is(prog, (&xs, &ys, &zs), (triples.clone(), third, triples.clone()));
            if other != *extents {
                continue;
            }
            let prog =
                afun(|xs: Acc<Array<Sh, T>>, ys: Acc<Array<Sh, T>>| (zip_with(T::combine_exp, xs, ys), zip(xs, ys)));
            t.is(prog, (&xs, &ys), (expected, pairs));
            let prog = afun(|xs: Acc<Array<Sh, T>>, ys: Acc<Array<Sh, T>>, zs: Acc<Array<Sh, u8>>| {
                (zip3(xs, ys, zs), zip_with3(|x, y, z| (x, y, z), xs, ys, zs))
            });
            t.is(prog, (&xs, &ys, &zs), (triples.clone(), triples));
        }
    }
}

fn indexing<Sh: Shape, T: Sample>(t: &Suite) {
    for extents in shapes_of::<Sh>() {
        let xs = array::<Sh, T>(extents);
        let expected = tabulate::<Sh, (Sh, T)>(extents, |ix| (shape_element(ix), at(&xs, ix)));
        t.is(afun(|xs: Acc<Array<Sh, T>>| indexed(xs)), &xs, expected.clone());
        t.is(afun(|xs: Acc<Array<Sh, T>>| imap(|ix, x| (ix.into_shape(), x), xs)), &xs, expected);
    }
}

/// Tuples of every length, also nested and with unit, are taken apart and built again in order.
fn tuples(t: &Suite) {
    let xs = array::<Dim1, i32>(&[9]);
    let prog = afun(|xs: Acc<Vector<i32>>| {
        let eight = map(|x| (x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7), xs);
        let five = map(|(a, b, _, d, e, _, _, h)| (h, e, d, b, a), eight);
        let nested = map(|(h, e, d, b, a)| ((h, (e, d)), (), (b, a)), five);
        map(|((h, (e, d)), (), (b, a))| (h - e, ((d - b) * 10, a)), nested)
    });
    let expected = xs.iter().map(|x| (3, (20, x))).collect();
    t.is(prog, &xs, host::<Dim1, (i32, (i32, i32))>(&[9], expected));
    let prog = afun(|xs: Acc<Vector<i32>>| {
        map(|(a, b, c, d, e, f)| (f, e, d, c, b, a), map(|x| (x, 1u8, true, 2.5f32, 3i64, -1.0f64), xs))
    });
    let expected = xs.iter().map(|x| (-1.0, 3, 2.5, true, 1, x)).collect();
    t.is(prog, &xs, host::<Dim1, (f64, i64, f32, bool, u8, i32)>(&[9], expected));
    let prog = afun(|xs: Acc<Vector<Affine>>| {
        map(
            |p| {
                let p = pair(p.1, p.0);
                (snd(p), fst(p), p.fst(), p.snd())
            },
            xs,
        )
    });
    let xs = array::<Dim1, Affine>(&[9]);
    let expected = xs.iter().map(|(a, b)| (a, b, b, a)).collect();
    t.is(prog, &xs, host::<Dim1, (i64, i64, i64, i64)>(&[9], expected));
}

fn records(t: &Suite) {
    let xs = array::<Dim1, Run>(&[33]);
    let turned = |r: Run| Run { ends: (r.ends.1, r.ends.0), changes: -r.changes, wide: !r.wide };
    let prog = afun(|xs: Acc<Vector<Run>>| {
        map(|r| RunExp { ends: (r.ends.1, r.ends.0), changes: -r.changes, wide: !r.wide }, xs)
    });
    t.is(prog, &xs, Array::vector(xs.iter().map(turned).collect()));
}

/// Host values of every type, captured by a closure.
fn constants_in_closures(t: &Suite) {
    let xs = array::<Dim1, i64>(&[5]);
    let (run, affine) = (Run::sample(4), (3i64, -2i64));
    let prog = afun(|xs: Acc<Vector<i64>>| {
        map(
            |x| {
                let (factor, offset) = constant(affine).unlift();
                (x * factor + offset, constant(run), lit::<f32>(0.5), true, (1u8, 2i8))
            },
            xs,
        )
    });
    let expected = xs.iter().map(|x| (x.wrapping_mul(3).wrapping_add(-2), run, 0.5f32, true, (1u8, 2i8))).collect();
    t.is(prog, &xs, Array::vector(expected));
}
