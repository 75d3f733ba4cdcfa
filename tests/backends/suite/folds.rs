//! Folds with and without an initial value, and functions defined in terms of them.

use super::check::Suite;
use super::samples::*;
use accel::prelude::*;

pub fn all(t: &Suite) {
    every!(folds(t) inner);
    every!(folds_of_all(t));
    sums::<Dim0, f64>(t);
    sums::<Dim0, u8>(t);
    sums::<Dim1, f32>(t);
    sums::<Dim1, i64>(t);
    sums::<Dim3, i32>(t);
    of_bools(t);
    products(t);
    dot_products::<f64>(t);
    dot_products::<i32>(t);
    first_and_last(t);
    largest_with_place(t);
    operators_that_read_arrays(t);
    matrix_power(t);
}

/// Combines a row from the left, starting with `z`: the expected result for every associative operator.
fn folded<T: Sample>(z: T, row: Vec<T>) -> T {
    row.iter().fold(z, |x, y| T::combine(&x, y))
}

fn folds<Sh: Shape, T: Sample>(t: &Suite) {
    let z = T::sample(99);
    for extents in shapes(Sh::RANK + 1) {
        let xs = array::<Snoc<Sh>, T>(extents);
        let prog = afun(|xs: Acc<Array<Snoc<Sh>, T>>| fold(T::combine_exp, constant(z.clone()), xs));
        t.is(prog, &xs, reduce_rows(&xs, |row| folded(z.clone(), row)));
        let no_rows = extents[..Sh::RANK].contains(&0);
        if no_rows || extents[Sh::RANK] > 0 {
            let prog = afun(|xs: Acc<Array<Snoc<Sh>, T>>| fold1(T::combine_exp, xs));
            t.is(prog, &xs, reduce_rows(&xs, |row| folded(row[0].clone(), row[1..].to_vec())));
        }
    }
}

fn folds_of_all<Sh: Shape, T: Sample>(t: &Suite) {
    for extents in shapes_of::<Sh>() {
        let (xs, z) = (array::<Sh, T>(extents), T::sample(99));
        let prog = afun(|xs: Acc<Array<Sh, T>>| fold_all(T::combine_exp, constant(z.clone()), xs));
        t.is(prog, &xs, Array::scalar(folded(z.clone(), xs.to_vec())));
        if !xs.is_empty() {
            let prog = afun(|xs: Acc<Array<Sh, T>>| fold1_all(T::combine_exp, xs));
            t.is(prog, &xs, Array::scalar(folded(xs.to_vec()[0].clone(), xs.to_vec()[1..].to_vec())));
        }
    }
}

fn sums<Sh: Shape, T: Num + Sample + PartialOrd>(t: &Suite) {
    let largest = |row: Vec<T>| row.into_iter().reduce(|x, y| if y > x { y } else { x }).unwrap();
    let smallest = |row: Vec<T>| row.into_iter().reduce(|x, y| if y < x { y } else { x }).unwrap();
    for extents in shapes(Sh::RANK + 1) {
        let xs = array::<Snoc<Sh>, T>(extents);
        let total = |row| folded(T::zero(), row);
        t.is(afun(|xs: Acc<Array<Snoc<Sh>, T>>| sum(xs)), &xs, reduce_rows(&xs, total));
        t.is(afun(|xs: Acc<Array<Snoc<Sh>, T>>| sum_all(xs)), &xs, Array::scalar(total(xs.to_vec())));
        if !xs.is_empty() {
            let prog = afun(|xs: Acc<Array<Snoc<Sh>, T>>| (maximum(xs), minimum(xs)));
            t.is(prog, &xs, (reduce_rows(&xs, largest), reduce_rows(&xs, smallest)));
            let prog = afun(|xs: Acc<Array<Snoc<Sh>, T>>| (maximum_all(xs), minimum_all(xs)));
            t.is(prog, &xs, (Array::scalar(largest(xs.to_vec())), Array::scalar(smallest(xs.to_vec()))));
        }
    }
}

fn of_bools(t: &Suite) {
    for extents in shapes(2) {
        let xs = array::<Dim2, bool>(extents);
        // Also rows of a single value, since random rows of any length are mixed.
        let columns = tabulate::<Dim2, bool>(extents, |ix| ix[0].is_multiple_of(2));
        for xs in [xs, columns] {
            let expected = (reduce_rows(&xs, |r| r.iter().all(|b| *b)), reduce_rows(&xs, |r| r.iter().any(|b| *b)));
            t.is(afun(|xs: Acc<Matrix<bool>>| (all_(xs), any(xs))), &xs, expected);
        }
    }
}

/// The `all` of the surface language; this module has another function of this name.
fn all_(xs: Acc<Matrix<bool>>) -> Acc<Vector<bool>> {
    accel::prelude::all(xs)
}

fn products(t: &Suite) {
    for extents in shapes(2) {
        let xs = array::<Dim2, i32>(extents);
        let product_of = |row: Vec<i32>| row.iter().fold(1, |x: i32, y| x.wrapping_mul(*y));
        t.is(afun(|xs: Acc<Matrix<i32>>| product(xs)), &xs, reduce_rows(&xs, product_of));
        t.is(afun(|xs: Acc<Matrix<i32>>| product_all(xs)), &xs, Array::scalar(product_of(xs.to_vec())));
        // Products of powers of two are exact in every order.
        let ys = tabulate::<Dim2, f32>(extents, |ix| [2.0, -0.5, 1.0][(ix[0] + ix[1]) % 3]);
        let expected = reduce_rows(&ys, |row| row.iter().product::<f32>());
        t.is(afun(|xs: Acc<Matrix<f32>>| product(xs)), &ys, expected);
    }
}

fn dot_products<T: Num + Sample + std::ops::Mul<Output = T>>(t: &Suite) {
    // Small numbers: their products neither overflow nor are rounded.
    let small = |n: usize, seed: usize| (0..n).map(move |i| T::from_f64(((i * 7 + seed) % 11) as f64 - 5.0));
    let inner = |xs: &[T], ys: &[T]| xs.iter().zip(ys).fold(T::zero(), |s, (x, y)| T::combine(&s, &(*x * *y)));
    for (n, m) in [(0, 0), (1, 1), (7, 7), (300, 300)] {
        let (xs, ys): (Vec<T>, Vec<T>) = (small(n, 0).collect(), small(m, 3).collect());
        let expected = Array::scalar(inner(&xs, &ys));
        t.is(
            afun(|xs: Acc<Vector<T>>, ys: Acc<Vector<T>>| dot(xs, ys)),
            (&Array::vector(xs), &Array::vector(ys)),
            expected,
        );
    }
    for (n, m, p) in [(0, 3, 2), (3, 0, 2), (2, 3, 0), (1, 1, 1), (3, 5, 7), (17, 9, 13)] {
        let (a, b): (Vec<T>, Vec<T>) = (small(n * m, 0).collect(), small(m * p, 5).collect());
        let row = |i: usize| &a[i * m..(i + 1) * m];
        let column = |j: usize| b.iter().skip(j).step_by(p.max(1)).copied().collect::<Vec<T>>();
        let expected = tabulate::<Dim2, T>(&[n, p], |ix| inner(row(ix[0]), &column(ix[1])));
        let (ma, mb) = (host::<Dim2, T>(&[n, m], a.clone()), host::<Dim2, T>(&[m, p], b.clone()));
        t.is(afun(|a: Acc<Matrix<T>>, b: Acc<Matrix<T>>| matmul(a, b)), (&ma, &mb), expected);
        let v: Vec<T> = small(m, 2).collect();
        let expected = Array::vector((0..n).map(|i| inner(row(i), &v)).collect());
        t.is(afun(|m: Acc<Matrix<T>>, v: Acc<Vector<T>>| matvec(m, v)), (&ma, &Array::vector(v)), expected);
    }
}

/// Associative operators that are not commutative and have no neutral element.
fn first_and_last(t: &Suite) {
    for extents in shapes(2) {
        let xs = array::<Dim2, i64>(extents);
        let last = |row: Vec<i64>| row.last().copied().unwrap_or(-1);
        t.is(afun(|xs: Acc<Matrix<i64>>| fold(|_, y| y, -1, xs)), &xs, reduce_rows(&xs, last));
        t.is(afun(|xs: Acc<Matrix<i64>>| fold(|x, _| x, -1, xs)), &xs, reduce_rows(&xs, |_| -1));
        if !xs.is_empty() {
            let prog = afun(|xs: Acc<Matrix<i64>>| (fold1(|x, _| x, xs), fold1(|_, y| y, xs)));
            t.is(prog, &xs, (reduce_rows(&xs, |row| row[0]), reduce_rows(&xs, last)));
        }
    }
}

/// The largest element and its first position.
fn largest_with_place(t: &Suite) {
    for n in [1, 7, 300] {
        let xs = vector::<f64>(n);
        let (place, x) =
            xs.iter().enumerate().fold((0, f64::MIN), |(i, x), (j, y)| if y > x { (j, y) } else { (i, x) });
        let prog = afun(|xs: Acc<Vector<f64>>| {
            let pairs = imap(|i, x| (x, i), xs);
            fold1(
                |(x, i), (y, j)| {
                    let second = y.gt(x);
                    (cond(second, y, x), cond(second, j, i))
                },
                pairs,
            )
        });
        t.is(prog, &xs, Array::scalar((x, place as i64)));
    }
}

/// The operator and the initial value can use arrays from outside.
fn operators_that_read_arrays(t: &Suite) {
    let (xs, modulus) = (vector::<i64>(100), Array::scalar(97i64));
    let prog = afun(|xs: Acc<Vector<i64>>, m: Acc<Scalar<i64>>| {
        let small = map(|x| x.rem_euclid(the(m)), xs);
        fold(|x, y| (x + y).rem_euclid(the(m)), small.at(3) + the(m), small)
    });
    let small: Vec<i64> = xs.iter().map(|x| x.rem_euclid(97)).collect();
    let expected = small.iter().fold(small[3] + 97, |x, y| (x + y).rem_euclid(97));
    t.is(prog, (&xs, &modulus), Array::scalar(expected));
}

/// A fold over matrices as tuples: the product of n times ((1, 1), (1, 0)) contains Fibonacci numbers.
fn matrix_power(t: &Suite) {
    let prog = afun(|n: Acc<Scalar<i64>>| {
        let one = constant::<Matrix2>((1, 0, 0, 1));
        map(|(_, b, _, _)| b, fold(Matrix2::combine_exp, one, fill(the(n), (1u32, 1u32, 1u32, 0u32))))
    });
    for (n, fibonacci) in [(0, 0u32), (1, 1), (2, 1), (10, 55), (40, 102_334_155)] {
        t.is(prog.clone(), &Array::scalar(n), Array::scalar(fibonacci));
    }
}
