//! Compares the derived array functions and the conventions of the surface, run by the interpreter, with plain Rust.

use accel_core::backend::Backend;
use accel_core::elaborate::elaborate;
use accel_core::error::Result;
use accel_core::interp::Interpreter;
use accel_core::prelude::*;
use accel_core::surface::stage;

fn try_run<M, F: ArrayFn<M>>(f: F, inputs: impl Inputs<F::Args>) -> Result<F::Result> {
    let staged = stage(|args| f.apply(args))?;
    let program = elaborate(&staged)?;
    F::Result::from_tuple(Interpreter.compile(&program)?.run(&inputs.to_tuple())?)
}

fn run<M, F: ArrayFn<M>>(f: F, inputs: impl Inputs<F::Args>) -> F::Result {
    try_run(f, inputs).unwrap()
}

fn vector<T: Elt>(xs: &[T]) -> Vector<T> {
    Array::vector(xs.to_vec())
}

/// 0, 1, 2, … in rows.
fn matrix(rows: usize, columns: usize) -> Matrix<i64> {
    Array::matrix(rows, columns, (0..(rows * columns) as i64).collect()).unwrap()
}

#[test]
fn reductions() {
    let m = Array::matrix(2, 3, vec![3, 1, 2, -4, 6, 5]).unwrap();
    let f = |m: Acc<Matrix<i64>>| {
        let rows = (sum(m), product(m), maximum(m), minimum(m));
        let whole = (sum_all(m), product_all(m), maximum_all(m), minimum_all(m));
        (rows, whole, fold_all(|a, b| a + b, 10, m), fold1_all(|a, b| a * b, m))
    };
    let ((s, p, max, min), whole, from_ten, by_all) = run(f, &m);
    assert_eq!((s.to_vec(), p.to_vec()), (vec![6, 7], vec![6, -120]));
    assert_eq!((max.to_vec(), min.to_vec()), (vec![3, 6], vec![1, -4]));
    let whole = [whole.0, whole.1, whole.2, whole.3, from_ten, by_all].map(|x| x.get(()).unwrap());
    assert_eq!(whole, [13, -720, 6, -4, 23, -720]);

    let empty = Array::matrix(2, 0, vec![]).unwrap();
    assert_eq!(run(|m: Acc<Matrix<i64>>| (sum(m), product(m)), &empty), (vector(&[0, 0]), vector(&[1, 1])));
    let e = try_run(|m: Acc<Matrix<i64>>| maximum(m), &empty).unwrap_err().to_string();
    assert!(e.contains("non-empty") && e.contains(file!()), "{e}");

    let b = Array::matrix(3, 2, vec![true, true, true, false, false, false]).unwrap();
    let (every, some) = run(|b: Acc<Matrix<bool>>| (all(b), any(b)), &b);
    assert_eq!((every.to_vec(), some.to_vec()), (vec![true, false, false], vec![true, true, false]));
}

#[test]
fn scans() {
    let xs = vector(&["3", "1", "2"].map(|d| d.parse::<i64>().unwrap()));
    // Appending a digit is associative for one-digit numbers on the right, and not commutative.
    let cat = |a: Exp<i64>, b: Exp<i64>| a * 10 + b;
    let f = |xs: Acc<Vector<i64>>| (scanl(cat, 0, xs), scanl1(cat, xs), scanl_ex(cat, 0, xs));
    let (l, l1, (ex, total)) = run(f, &xs);
    assert_eq!((l.to_vec(), l1.to_vec()), (vec![0, 3, 31, 312], vec![3, 31, 312]));
    assert_eq!((ex.to_vec(), total.to_vec()), (vec![0, 3, 31], vec![312]));

    let plus = |a: Exp<i64>, b: Exp<i64>| a + b;
    let f = |m: Acc<Matrix<i64>>| (scanr(plus, 100, m), scanr1(plus, m), scanr_ex(plus, 100, m));
    let (r, r1, (ex, total)) = run(f, &matrix(2, 3));
    assert_eq!(r.to_vec(), [103, 103, 102, 100, 112, 109, 105, 100]);
    assert_eq!(r1.to_vec(), [3, 3, 2, 12, 9, 5]);
    assert_eq!((ex.to_vec(), total.to_vec()), (vec![103, 102, 100, 109, 105, 100], vec![103, 112]));
    let (ex, total) = run(|xs: Acc<Vector<i64>>| scanl_ex(|a, b| a + b, 7, xs), &vector(&[]));
    assert_eq!((ex.len(), total.to_vec()), (0, vec![7]));
}

#[test]
fn parts_of_rows() {
    let m = matrix(2, 3);
    let f = |m: Acc<Matrix<i64>>| ((take(2, m), skip(2, m), reverse(m)), (init(m), tail(m), concat(m, m)));
    let ((taken, dropped, reversed), (start, end, twice)) = run(f, &m);
    assert_eq!((taken.to_vec(), dropped.to_vec()), (vec![0, 1, 3, 4], vec![2, 5]));
    assert_eq!(reversed.to_vec(), [2, 1, 0, 5, 4, 3]);
    assert_eq!((start.to_vec(), end.to_vec()), (vec![0, 1, 3, 4], vec![1, 2, 4, 5]));
    assert_eq!((twice.shape()[1], twice.to_vec()), (6, vec![0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5]));

    // Counts outside of the row are cut off, and empty rows stay empty.
    let xs = vector(&[1, 2]);
    let f = |xs: Acc<Vector<i64>>| (take(9, xs), take(-1, xs), skip(9, xs), skip(-1, xs));
    assert_eq!(run(f, &xs), (xs.clone(), vector(&[]), vector(&[]), xs.clone()));
    let f = |xs: Acc<Vector<i64>>| (init(xs), tail(xs), reverse(xs), concat(xs, xs));
    assert_eq!(run(f, &vector(&[])), (vector(&[]), vector(&[]), vector(&[]), vector(&[])));
}

#[test]
fn shapes_and_dimensions() {
    let m = matrix(2, 3);
    let f = |m: Acc<Matrix<i64>>| {
        let (rows, columns) = m.shape();
        (flatten(m), transpose(m), reshape((columns, rows), m), unit(size(m)), unit(rows * 10 + columns))
    };
    let (flat, turned, reshaped, size, extents) = run(f, &m);
    assert_eq!((flat.to_vec(), turned.to_vec()), ((0..6).collect(), vec![0, 3, 1, 4, 2, 5]));
    assert_eq!((reshaped.shape().as_slice(), reshaped.to_vec()), (&[3, 2][..], (0..6).collect()));
    assert_eq!((size.to_vec(), extents.to_vec()), (vec![6], vec![23]));

    let f = |m: Acc<Matrix<i64>>| {
        let rows = (slice((1, All), m), slice((All, 2), m), slice((1, 2), m));
        let more = (replicate((2, All), slice((1, All), m)), replicate_inner(2, slice((1, All), m)));
        (rows, more, replicate((All, 2, All), m))
    };
    let ((row, column, element), (under, beside), middle) = run(f, &m);
    assert_eq!((row.to_vec(), column.to_vec(), element.to_vec()), (vec![3, 4, 5], vec![2, 5], vec![5]));
    assert_eq!((under.to_vec(), beside.to_vec()), (vec![3, 4, 5, 3, 4, 5], vec![3, 3, 4, 4, 5, 5]));
    assert_eq!(
        (middle.shape().as_slice(), middle.to_vec()),
        (&[2, 2, 3][..], vec![0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5])
    );
}

#[test]
fn making_arrays() {
    let f = |n: Acc<Scalar<i64>>| {
        let n = the(n);
        (iota(n), enum_from_n((2, n), 1.5f32), fill((), 7u8), fill((n, 1), true), enum_from_n((), 4i8))
    };
    let (count, table, one, truth, only) = run(f, &Array::scalar(3));
    assert_eq!((count.to_vec(), table.to_vec()), (vec![0, 1, 2], vec![1.5, 2.5, 3.5, 4.5, 5.5, 6.5]));
    assert_eq!((one.to_vec(), truth.to_vec(), only.to_vec()), (vec![7], vec![true; 3], vec![4]));
    let constant = matrix(2, 2);
    assert_eq!(run(|_: Acc<()>| use_(&constant), &()), constant);
}

#[test]
fn pairing() {
    let f = |xs: Acc<Vector<i64>>, ys: Acc<Vector<f64>>| {
        let both = zip(xs, ys);
        let three = zip3(ys, xs, both);
        (both, unzip(both), unzip3(three), zip_with3(|a, b, c| a.cast::<f64>() + b * c, xs, ys, ys))
    };
    let cut = |xs: Acc<Vector<i64>>, ys: Acc<Vector<f64>>| {
        let both = zip_min(xs, ys);
        let three = zip3_min(ys, xs, both);
        (both, unzip(both), unzip3(three), zip_with3_min(|a, b, c| a.cast::<f64>() + b * c, xs, ys, ys))
    };
    let ys = vector(&[0.5, 1.5]);
    for found in [run(f, (&vector(&[1, 2]), &ys)), run(cut, (&vector(&[1, 2, 3]), &ys))] {
        let (both, (first, second), (a, b, c), d) = found;
        assert_eq!(both.to_vec(), [(1, 0.5), (2, 1.5)]);
        assert_eq!((first.to_vec(), second.to_vec()), (vec![1, 2], vec![0.5, 1.5]));
        assert_eq!((a, b.to_vec(), c), (ys.clone(), vec![1, 2], both));
        assert_eq!(d.to_vec(), [1.25, 4.25]);
    }
}

#[test]
fn indices_of_elements() {
    let f = |m: Acc<Matrix<i64>>| {
        let weighted = imap(|(i, j), x| i * 100 + j * 10 + x, m);
        (weighted, map(|(ix, x)| ix.index().0 + x, indexed(m)), indexed(m))
    };
    let (weighted, shifted, with_index) = run(f, &matrix(2, 2));
    assert_eq!((weighted.to_vec(), shifted.to_vec()), (vec![0, 11, 102, 113], vec![0, 1, 3, 4]));
    let last = with_index.get((1, 0)).unwrap();
    assert_eq!((last.0.0.1, last.0.1, last.1), (1, 0, 2));
}

#[test]
fn moving_elements() {
    let f = |to: Acc<Vector<i64>>, defaults: Acc<Vector<f64>>, xs: Acc<Vector<f64>>| {
        (scatter(to, defaults, xs), gather(to, defaults))
    };
    let (scattered, gathered) = run(f, (&vector(&[2, 0]), &vector(&[0.0, 1.0, 2.0]), &vector(&[8.0, 9.0])));
    assert_eq!((scattered.to_vec(), gathered.to_vec()), (vec![9.0, 1.0, 8.0], vec![2.0, 0.0]));

    let histogram = |xs: Acc<Vector<i64>>| {
        permute(|new, old| new + old, fill(4, 0i64), |i| (xs.at(i).lt(4), xs.at(i)), map(|_| 1i64, xs))
    };
    assert_eq!(run(histogram, &vector(&[0, 3, 1, 3, 9, 3])).to_vec(), [1, 1, 0, 3]);
}

#[test]
fn products() {
    let (a, b) = (matrix(2, 3), matrix(3, 4));
    let c = run(|a: Acc<Matrix<i64>>, b: Acc<Matrix<i64>>| matmul(a, b), (&a, &b));
    let expected = Array::from_fn((2, 4), |ix| {
        (0..3).map(|k| a.get((ix[0], k)).unwrap() * b.get((k, ix[1])).unwrap()).sum::<i64>()
    });
    assert_eq!(c, expected.unwrap());
    let v = vector(&[1, 10, 100]);
    let f = |a: Acc<Matrix<i64>>, v: Acc<Vector<i64>>| (matvec(a, v), dot(v, v));
    let (av, vv) = run(f, (&a, &v));
    assert_eq!((av.to_vec(), vv.to_vec()), (vec![210, 543], vec![10101]));
}

#[test]
fn loops_and_choices() {
    let collatz = |starts: Acc<Vector<i64>>| {
        let next = |n: Exp<i64>| cond((n % 2).eq(0), n / 2, n * 3 + 1);
        map(|start| while_(|(n, _)| n.gt(1), |(n, steps)| (next(n), steps + 1), (start, 0i64)).1, starts)
    };
    assert_eq!(run(collatz, &vector(&[1, 2, 3, 27])).to_vec(), [0, 1, 7, 111]);

    let doubled = |xs: Acc<Vector<f64>>, limit: Acc<Scalar<f64>>| {
        let (_, xs) = awhile(
            |(n, xs)| the(sum(xs)).lt(the(limit)).and(the(n).lt(100)),
            |(n, xs)| (map(|n| n + 1, n), map(|x| x * 2.0, xs)),
            (unit(0i64), xs),
        );
        acond(the(limit).gt(50.0), xs, reverse(xs))
    };
    let xs = vector(&[1.0, 2.0]);
    assert_eq!(run(doubled, (&xs, &Array::scalar(10.0))).to_vec(), [8.0, 4.0]);
    assert_eq!(run(doubled, (&xs, &Array::scalar(60.0))).to_vec(), [32.0, 64.0]);
}

#[test]
fn assignment_and_clamping() {
    let f = |xs: Acc<Vector<f64>>| {
        map(
            |x| {
                let mut y = x;
                y += 1.0;
                y *= x;
                y -= x;
                y /= 2.0;
                (x, y, x.clamp(0.0, 1.0))
            },
            xs,
        )
    };
    let found = run(f, &vector(&[-2.0, 0.5, 3.0])).to_vec();
    assert_eq!(found, [(-2.0, 2.0, 0.0), (0.5, 0.125, 0.5), (3.0, 4.5, 1.0)]);
    let bits = |x: Acc<Scalar<u8>>| {
        let mut y = the(x);
        y <<= 1;
        y |= 1;
        y ^= the(x);
        unit(y)
    };
    assert_eq!(run(bits, &Array::scalar(6)).item(), 11);
}

#[test]
fn programs_without_arguments() {
    assert_eq!(run(|| iota(3), &()).to_vec(), [0, 1, 2]);
    assert_eq!(run(|| (), &()), ());
}

#[test]
fn powers_by_integers() {
    for n in [-3, -1, 0, 1, 2, 7, 10] {
        let f = |xs: Acc<Vector<f64>>| map(|x| x.powi(n), xs);
        assert_eq!(run(f, &vector(&[2.0, -0.5])).to_vec(), [2f64.powi(n), (-0.5f64).powi(n)], "{n}");
    }
}

#[test]
fn tuples_of_eight() {
    let f = |xs: Acc<Vector<(i8, i16, i32, i64, f32, f64, bool, u8)>>| {
        map(|(a, b, c, d, e, f, g, h)| (h, !g, -f, e + 1.0, d * 2, c, b, a), xs)
    };
    let result = run(f, &vector(&[(1i8, 2i16, 3i32, 4i64, 5f32, 6f64, true, 8u8)]));
    assert_eq!(result.to_vec(), [(8, false, -6.0, 6.0, 8, 3, 2, 1)]);
    let f = |xs: Acc<Vector<(f64, (i64, (bool, ())))>>| map(|(x, (n, (b, ())))| cond(b, x, n.cast::<f64>()), xs);
    assert_eq!(run(f, &vector(&[(0.5, (2, (true, ()))), (0.5, (2, (false, ())))])).to_vec(), [0.5, 2.0]);
}
