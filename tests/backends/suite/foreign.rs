//! Foreign functions: values, in loops and conditionals, for rows, batched, and what fails.

use super::check::Suite;
use accel::prelude::*;

type V = Acc<Vector<f64>>;

pub fn all(t: &Suite) {
    values(t);
    in_control(t);
    rows(t);
    batched(t);
    failures(t);
}

/// The line of `ordered` that calls `foreign`.
const ORDERED: u32 = line!() + 10;

/// The elements in order, and their number.
fn ordered() -> Afun<Vector<f64>, (Vector<f64>, Scalar<i64>)> {
    let f = |x: Vector<f64>| {
        let mut x = x.to_vec();
        x.sort_by(f64::total_cmp);
        let n = x.len() as i64;
        if n == 13 { Err("thirteen") } else { Ok((Array::vector(x), Array::scalar(n))) }
    };
    foreign("ordered", f, |x| (x.len(), ()))
}

fn v(x: &[f64]) -> Vector<f64> {
    Array::vector(x.to_vec())
}

fn values(t: &Suite) {
    for x in [&[3.0, 1.0, 2.0][..], &[], &[1.0]] {
        let mut expected = x.to_vec();
        expected.sort_by(f64::total_cmp);
        t.is(ordered(), &v(x), (v(&expected), Array::scalar(x.len() as i64)));
    }
    // What is fused into the argument, and what uses the results.
    let around = afun(|x: V| {
        let (y, n) = call(ordered(), x * 2.0);
        (map(|y| y + the(n).cast::<f64>(), y), sum(x))
    });
    t.is(around, &v(&[3.0, 1.0]), (v(&[4.0, 8.0]), Array::scalar(4.0)));
    // Several arguments of other types and ranks, records, and a captured number.
    let factor = 3i64;
    let mixed = foreign(
        "mixed",
        move |(n, m): (Scalar<i64>, Matrix<(f32, bool)>)| {
            let count = m.to_vec().iter().filter(|(_, b)| *b).count() as i64;
            Ok::<_, Error>(Array::vector(vec![(count * factor, n.item()); n.item() as usize]))
        },
        |(n, _)| the(n),
    );
    let m = Array::matrix(1, 3, vec![(0.5, true), (1.5, false), (2.5, true)]).expect("three elements");
    t.is(mixed.clone(), (&Array::scalar(2i64), &m), Array::vector(vec![(6, 2), (6, 2)]));
    t.is(mixed, (&Array::scalar(0i64), &m), Array::vector(vec![]));
    // An unused call, which would fail.
    let unused = afun(|x: V| {
        let _ = call(ordered(), x);
        sum(x)
    });
    t.is(unused, &v(&[1.0; 13]), Array::scalar(13.0));
}

fn in_control(t: &Suite) {
    let looped = afun(|x: V| aiterate(3, |x: V| call(ordered(), -x).0 + 1.0, x));
    t.is(looped, &v(&[1.0, 5.0, 2.0]), v(&[-4.0, -1.0, 0.0]));
    let chosen = afun(|x: V| acond(x.len().gt(2), call(ordered(), x).0, x));
    t.is(chosen.clone(), &v(&[2.0, 1.0]), v(&[2.0, 1.0]));
    t.is(chosen, &v(&[3.0, 2.0, 1.0]), v(&[1.0, 2.0, 3.0]));
    let listed = afun(|m: Acc<Matrix<f64>>| {
        map_accum_l(|s: Acc<Scalar<f64>>, row: V| (s + sum(row), call(ordered(), row * the(s)).0), unit(1.0), m).1
    });
    let m = Array::matrix(2, 2, vec![2.0, 1.0, 4.0, 3.0]).expect("four elements");
    t.is(listed, &m, Array::matrix(2, 2, vec![1.0, 2.0, 12.0, 16.0]).expect("four elements"));
}

fn rows(t: &Suite) {
    let m = Array::matrix(2, 3, vec![3.0, 1.0, 2.0, 9.0, 8.0, 7.0]).expect("six elements");
    let sorted = Array::matrix(2, 3, vec![1.0, 2.0, 3.0, 7.0, 8.0, 9.0]).expect("six elements");
    t.is(ordered().vmap(), &m, (sorted, Array::vector(vec![3, 3])));
    let cube = Array::from_extents(&[2, 2, 2], vec![2.0, 1.0, 4.0, 3.0, 6.0, 5.0, 8.0, 7.0]).expect("eight elements");
    let turned = Array::from_extents(&[2, 2, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]).expect("eight elements");
    t.is(ordered().vmap().vmap(), &cube, (turned, Array::matrix(2, 2, vec![2; 4]).expect("four elements")));
    // An argument that all rows share.
    let scaled = foreign(
        "scaled",
        |(x, s): (Vector<f64>, Scalar<f64>)| {
            Ok::<_, Error>(Array::vector(x.to_vec().iter().map(|x| x * s.item()).collect()))
        },
        |(x, _)| x.len(),
    );
    let all = afun(|m: Acc<Matrix<f64>>, s: Acc<Scalar<f64>>| vmap(|row: V| call(&scaled, (row, s)), m));
    let twice = Array::matrix(2, 3, vec![6.0, 2.0, 4.0, 18.0, 16.0, 14.0]).expect("six elements");
    t.is(all, (&m, &Array::scalar(2.0)), twice);
    for (n, k) in [(0, 3), (2, 0)] {
        let none = Array::matrix(n, k, vec![]).expect("no elements");
        t.is(ordered().vmap(), &none, (none.clone(), Array::vector(vec![k as i64; n])));
    }
}

/// A batched function is called once for all rows, and never for none.
fn batched(t: &Suite) {
    // Each element divided by the sum of its row, and the number of rows that the function saw.
    let shares = |(rows, by): (Matrix<f64>, Vector<f64>)| {
        let [n, k] = [rows.shape()[0], rows.shape()[1]];
        let (rows, by) = (rows.to_vec(), by.to_vec());
        if n == 0 || by.len() != n {
            return Err("a batch of another size");
        }
        let of = |i: usize| rows[i] * by[i / k] / rows[i / k * k..][..k].iter().sum::<f64>();
        Ok((Array::matrix(n, k, (0..n * k).map(of).collect()).expect("as many"), Array::vector(vec![n as i64; n])))
    };
    let shares: Afun<(Vector<f64>, Scalar<f64>), (Vector<f64>, Scalar<i64>)> =
        foreign_batched("shares", shares, |(x, _): (V, Acc<Scalar<f64>>)| (x.len(), ()));
    let two = Array::scalar(2.0);
    t.is(shares.clone(), (&v(&[1.0, 3.0]), &two), (v(&[0.5, 1.5]), Array::scalar(1)));
    let m = Array::matrix(2, 2, vec![1.0, 3.0, 2.0, 2.0]).expect("four elements");
    let of_rows = Array::matrix(2, 2, vec![0.5, 1.5, 3.0, 3.0]).expect("four elements");
    t.is(shares.vmap(), (&m, &v(&[2.0, 6.0])), (of_rows, Array::vector(vec![2, 2])));
    // An argument that all rows share, and two levels of rows.
    let shared = afun(|m: Acc<Matrix<f64>>, by: Acc<Scalar<f64>>| vmap(|x: V| call(&shares, (x, by)).0, m));
    let both = Array::matrix(2, 2, vec![0.5, 1.5, 1.0, 1.0]).expect("four elements");
    t.is(shared, (&m, &two), both);
    let cube = Array::from_extents(&[2, 2, 1], vec![1.0, 2.0, 3.0, 4.0]).expect("four elements");
    let by = Array::matrix(2, 2, vec![5.0, 6.0, 7.0, 8.0]).expect("four elements");
    let each = Array::from_extents(&[2, 2, 1], vec![5.0, 6.0, 7.0, 8.0]).expect("four elements");
    let four = Array::matrix(2, 2, vec![4i64; 4]).expect("four elements");
    t.is(shares.vmap().vmap(), (&cube, &by), (each, four));
    // Without rows, it is not called.
    let none = Array::matrix(0, 3, vec![]).expect("no elements");
    t.is(shares.vmap(), (&none, &v(&[])), (none.clone(), Array::vector(vec![])));
    let fewer = |rows: Matrix<f64>| Ok::<_, Error>(Array::vector(rows.to_vec()));
    let fewer: Afun<Vector<f64>, Scalar<f64>> = foreign_batched("fewer", fewer, |_: V| ());
    let why = format!("`fewer` at {}:{}: expected a result of shape [1], found [2]", file!(), line!() - 1);
    t.fails(fewer, &v(&[1.0, 2.0]), &why);
}

fn failures(t: &Suite) {
    let text = |line: u32, name: &str, why: &str| format!("`{name}` at {}:{line}: {why}", file!());
    t.fails(ordered(), &v(&[0.0; 13]), &text(ORDERED, "ordered", "thirteen"));
    let panics = foreign(
        "panics",
        |x: Vector<f64>| if x.to_vec().is_empty() { Ok::<_, Error>(x) } else { panic!("oh") },
        |x| x.len(),
    );
    t.fails(panics, &v(&[1.0]), &text(line!() - 5, "panics", "it panicked: oh"));
    let longer = foreign("longer", |x: Vector<f64>| Ok::<_, Error>(x), |x| x.len() + 1);
    t.fails(longer, &v(&[1.0]), &text(line!() - 1, "longer", "expected a result of shape [2], found [1]"));
    let negative = foreign("negative", |x: Vector<f64>| Ok::<_, Error>(x), |x| x.len() - 2);
    t.fails(negative, &v(&[1.0]), &text(line!() - 1, "negative", "expected extents that are not negative, found [-1]"));
}
