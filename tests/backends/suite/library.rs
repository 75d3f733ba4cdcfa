//! Functions of rows and vectors that are compositions: sums and extrema along rows, `argmax`, `one_hot`, `diff`, `filter`, `partition`,
//! `unique`, `expand`, `bincount`, `histogram`, `sums_at`, `linspace`, `mean`, `softmax`, `row`, `column`, `where_`, `update`, `set_block`.

use super::check::Suite;
use super::samples::*;
use accel::interp::Interpreter;
use accel::prelude::*;

pub fn all(t: &Suite) {
    running(t);
    places(t);
    statistics(t);
    beside_rows_and_columns(t);
    chosen_elements(t);
    groups(t);
    negative_counts(t);
    large_counts(t);
    equal_floats::<f64>(t, |x| x);
    equal_floats::<f32>(t, |x| x as f32);
    bins_without_ends(t);
    wide_ladders(t);
    bins::<f64>(t, |x| x, f64::next_down);
    bins::<f32>(t, |x| x as f32, f32::next_down);
    ladders(t);
    updates(t);
}

fn running(t: &Suite) {
    for extents in [[0, 4], [3, 1], [4, 7], [2, 1000]] {
        let m: Matrix<i64> = array(&extents);
        let scan = |f: fn(i64, i64) -> i64| {
            map_rows(
                &m,
                |n| n,
                |row| {
                    let mut last = None;
                    row.into_iter().map(|x| *last.insert(last.map_or(x, |last| f(last, x)))).collect()
                },
            )
        };
        let prog = afun(|m: Acc<Matrix<i64>>| (cumsum(m), cumprod(m), cummax(m), cummin(m), diff(m)));
        let differences =
            map_rows(&m, |n| n - 1, |row| row.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect());
        let expected = (scan(i64::wrapping_add), scan(i64::wrapping_mul), scan(i64::max), scan(i64::min), differences);
        t.is(prog, &m, expected);
    }
}

fn places(t: &Suite) {
    for extents in [[0, 4], [3, 1], [4, 7], [2, 1000]] {
        let m: Matrix<f64> = tabulate(&extents, |ix| match f64::sample(ix[0] * 1000 + ix[1]) {
            x if ix[0] == 3 && x > 8.0 => f64::NAN,
            x => x,
        });
        let first = |comes_before: fn(f64, f64) -> bool| {
            reduce_rows(&m, |row| {
                let better = |x: f64, y: f64| comes_before(y, x) || (y.is_nan() && !x.is_nan());
                (1..row.len()).fold(0, |i, j| if better(row[i], row[j]) { j } else { i }) as i64
            })
        };
        let marks = tabulate::<Dim2, f32>(&[extents[1], 5], |ix| if ix[0] % 7 == ix[1] { 1.0 } else { 0.0 });
        let prog = afun(|m: Acc<Matrix<f64>>, ks: Acc<Vector<i64>>| (argmax(m), argmin(m), one_hot::<_, f32>(5, ks)));
        let ks = Array::vector((0..extents[1] as i64).map(|k| k % 7).collect());
        t.is(prog, (&m, &ks), (first(|x, y| x > y), first(|x, y| x < y), marks));
    }
}

fn statistics(t: &Suite) {
    for extents in [[3, 1], [4, 7], [2, 1000]] {
        let m: Matrix<f64> = array(&extents);
        let n = extents[1] as f64;
        let mean_of = |row: &[f64]| row.iter().sum::<f64>() / n;
        let var_of = |row: &[f64]| row.iter().map(|x| (x - mean_of(row)).powi(2)).sum::<f64>() / n;
        let sum_exp = |row: &[f64]| row.iter().map(|x| x.exp()).sum::<f64>();
        let prog = afun(|m: Acc<Matrix<f64>>| {
            (mean(m), var(m), std(m), norm(m), softmax(m), log_softmax(m), log_sum_exp(m), mean_all(m))
        });
        let expected = (
            reduce_rows(&m, |row| mean_of(&row)),
            reduce_rows(&m, |row| var_of(&row)),
            reduce_rows(&m, |row| var_of(&row).sqrt()),
            reduce_rows(&m, |row| row.iter().map(|x| x * x).sum::<f64>().sqrt()),
            map_rows(&m, |n| n, |row| row.iter().map(|x| x.exp() / sum_exp(&row)).collect()),
            map_rows(&m, |n| n, |row| row.iter().map(|x| x - sum_exp(&row).ln()).collect()),
            reduce_rows(&m, |row| sum_exp(&row).ln()),
            Array::scalar(m.iter().sum::<f64>() / (extents[0] as f64 * n)),
        );
        t.near(1e-13, prog, &m, expected);
    }
}

fn beside_rows_and_columns(t: &Suite) {
    for extents in [[0, 3], [1, 1], [5, 70]] {
        let (m, w): (Matrix<f64>, Matrix<f64>) = (array(&extents), other_array(&extents, 1));
        let (v, c): (Vector<f64>, Vector<f64>) = (vector(extents[1]), vector(extents[0]));
        let prog = afun(|m: Acc<Matrix<f64>>, w: Acc<Matrix<f64>>, v: Acc<Vector<f64>>, c: Acc<Vector<f64>>| {
            let mut sum = 2.0 * m - w;
            sum += row(v);
            (sum * column(c), row(v) - m, m.max(column(c)), where_(m.gt(w), m, -w), where_(m.lt(row(v)), m, 0.5))
        });
        let of = |f: &dyn Fn(f64, f64, f64, f64) -> f64| -> Matrix<f64> {
            tabulate(&extents, |ix| f(at(&m, ix), at(&w, ix), at(&v, &ix[1..]), at(&c, &ix[..1])))
        };
        let expected = (
            of(&|m, w, v, c| (2.0 * m - w + v) * c),
            of(&|m, _, v, _| v - m),
            of(&|m, _, _, c| m.max(c)),
            of(&|m, w, _, _| if m > w { m } else { -w }),
            of(&|m, _, v, _| if m < v { m } else { 0.5 }),
        );
        t.is(prog, (&m, &w, &v, &c), expected);
    }
}

fn chosen_elements(t: &Suite) {
    for n in [0, 1, 8, 3000] {
        let xs: Vector<f64> = vector(n);
        let prog = afun(|xs: Acc<Vector<f64>>| {
            let (positive, others) = partition(|x| x.gt(0.0), xs);
            (filter(|x| x.lt(-3.0), xs), positive, others, unique(xs))
        });
        let of = |keep: fn(&f64) -> bool| Array::vector(xs.iter().filter(keep).collect::<Vec<f64>>());
        let mut different = xs.to_vec();
        different.sort_by(f64::total_cmp);
        different.dedup();
        t.is(prog, &xs, (of(|x| *x < -3.0), of(|x| *x > 0.0), of(|x| *x <= 0.0), Array::vector(different)));
    }
}

fn groups(t: &Suite) {
    for (n, count) in [(0, 3), (10, 1), (5000, 13)] {
        let xs: Vector<f64> = vector(n);
        // Some numbers are of no group.
        let to: Vec<i64> = (0..n as i64).map(|i| i * i % (count + 4) - 2).collect();
        let lengths: Vec<i64> = (0..count).map(|k| k % 4 - 1).collect();
        let prog = afun(|to: Acc<Vector<i64>>, xs: Acc<Vector<f64>>, lengths: Acc<Vector<i64>>| {
            let count = lengths.len();
            (bincount(count, to), sums_at(count, to, xs), expand(lengths))
        });
        let of = |k: i64| to.iter().zip(xs.iter()).filter(move |(to, _)| **to == k).map(|(_, x)| x);
        let expected = (
            Array::vector((0..count).map(|k| of(k).count() as i64).collect()),
            Array::vector((0..count).map(|k| of(k).sum()).collect()),
            Array::vector((0..count).flat_map(|k| vec![k; lengths[k as usize].max(0) as usize]).collect()),
        );
        t.is(prog, (&Array::vector(to.clone()), &xs, &Array::vector(lengths.clone())), expected);
    }
}

/// All NaN are equal for `unique`, and come last; so are both zeros.
fn equal_floats<T: Floating>(t: &Suite, number: fn(f64) -> T) {
    let vector = |xs: &[f64]| Array::vector(xs.iter().map(|x| number(*x)).collect());
    let nan = f64::NAN;
    for (xs, expected) in [
        (&[nan, 1.0, 2.0, nan, 1.0, nan][..], &[1.0, 2.0, nan][..]),
        (&[nan, -nan], &[nan]),
        (&[0.0, nan, f64::INFINITY, f64::INFINITY], &[0.0, f64::INFINITY, nan]),
        (&[], &[]),
    ] {
        let prog = afun(|xs: Acc<Vector<T>>| {
            let found = unique(xs);
            (map(|x| x.is_nan(), found), filter(|x| !x.is_nan(), found))
        });
        let numbers: Vec<f64> = expected.iter().copied().filter(|x| !x.is_nan()).collect();
        t.is(prog, &vector(xs), (Array::vector(expected.iter().map(|x| x.is_nan()).collect()), vector(&numbers)));
    }
}

/// Numbers of elements whose sum is no extent, also one that wraps to an extent.
fn large_counts(t: &Suite) {
    let prog = afun(|lengths: Acc<Vector<i64>>| expand(lengths));
    let place = format!("`expand` at {}:{}", file!(), line!() - 1);
    for lengths in [vec![i64::MAX, i64::MAX, 3], vec![1 << 62; 4], vec![1 << 48; 1 << 16]] {
        let text = format!("{place}: no memory for an array of shape [{}]", (1i64 << 48) + 1);
        t.fails(prog.clone(), &Array::vector(lengths), &text);
    }
}

fn negative_counts(t: &Suite) {
    let xs: Vector<i64> = Array::vector(vec![0, 1]);
    let prog = afun(|n: Acc<Scalar<i64>>, xs: Acc<Vector<i64>>| bincount(the(n), xs));
    let text = format!("`bincount` at {}:{}: expected extents that are not negative, found [-1]", file!(), line!() - 1);
    t.fails(prog, (&Array::scalar(-1), &xs), &text);
}

/// Elements on edges, just below them, outside, and NaN.
fn bins<T: Floating + PartialOrd>(t: &Suite, number: fn(f64) -> T, below: fn(T) -> T) {
    let prog = afun(|n: Acc<Scalar<i64>>, first: Acc<Scalar<T>>, last: Acc<Scalar<T>>, xs: Acc<Vector<T>>| {
        histogram(the(n), (the(first), the(last)), xs)
    });
    let (most, tiny): (f64, f64) =
        if size_of::<T>() == 4 { (f32::MAX.into(), f32::from_bits(1).into()) } else { (f64::MAX, f64::from_bits(1)) };
    let ordinary =
        [(1, 0.0, 1.0), (7, -0.3, 0.9), (10, 0.1, 0.7), (49, -1.0, 1e3), (3, 1.0, 1.0), (3, 1.0, 0.0), (0, 0.0, 1.0)];
    // Widths that overflow, and edges of which many are equal.
    let extreme = [(2, -most, most), (5, -most, most / 2.0), (4, 0.0, tiny), (7, -tiny, tiny), (100, 1.0, 1.0 + 1e-15)];
    for (n, first, last) in ordinary.into_iter().chain(extreme) {
        let range = [first, last].map(|x| Array::scalar(number(x)));
        let ladder = afun(|n: Acc<Scalar<i64>>, first: Acc<Scalar<T>>, last: Acc<Scalar<T>>| {
            linspace::<T>(the(first), the(last), the(n) + 1)
        });
        let edges = run_with(&Interpreter, &ladder, (&Array::scalar(n), &range[0], &range[1])).unwrap().to_vec();
        let near = edges.iter().flat_map(|edge| [*edge, below(*edge)]);
        let others = (0..200).map(|i| f64::from(i) * 0.618 % 1.2 - 0.1).map(|t| number(first * (1.0 - t) + last * t));
        let xs: Vec<T> = near.chain(others).chain([number(f64::NAN), number(f64::INFINITY)]).collect();
        let count = |k: i64| {
            let (from, to) = (edges[k as usize], edges[k as usize + 1]);
            xs.iter().filter(|x| **x >= from && (**x < to || k + 1 == n && **x == to)).count() as i64
        };
        let expected = (0..n).map(|k| if edges[0] < edges[n as usize] { count(k) } else { 0 }).collect();
        t.is(
            prog.clone(),
            (&Array::scalar(n), &range[0], &range[1], &Array::vector(xs.clone())),
            Array::vector(expected),
        );
    }
}

/// Without an end, there are no bins.
fn bins_without_ends(t: &Suite) {
    for range in [(f64::NEG_INFINITY, f64::INFINITY), (0.0, f64::INFINITY), (f64::NEG_INFINITY, 0.0), (f64::NAN, 1.0)] {
        let prog = afun(move |xs: Acc<Vector<f64>>| histogram(2, range, xs));
        t.is(prog, &Array::vector(vec![-1.0, 0.0, 1.0, f64::INFINITY]), Array::vector(vec![0, 0]));
    }
}

/// Both ends are included, also if the width overflows.
fn wide_ladders(t: &Suite) {
    let prog = afun(|ends: Acc<Vector<f64>>| linspace(ends.at(0), ends.at(1), 3));
    t.is(prog, &Array::vector(vec![-1e308, 1e308]), Array::vector(vec![-1e308, 0.0, 1e308]));
    let prog = afun(|ends: Acc<Vector<f32>>| linspace(ends.at(0), ends.at(1), 3));
    t.is(prog, &Array::vector(vec![3e38, -3e38]), Array::vector(vec![3e38, 0.0, -3e38]));
}

fn ladders(t: &Suite) {
    let prog = afun(|n: Acc<Scalar<i64>>| (linspace::<f64>(-1.0, 3.0, the(n)), iota(the(n))));
    for n in [0, 1, 2, 5, 257] {
        let steps = (n - 1).max(1) as f64;
        let ladder = (0..n).map(|i| if i == n - 1 && n > 1 { 3.0 } else { -1.0 + 4.0 * (i as f64 / steps) });
        let expected = (Array::vector(ladder.collect()), Array::vector((0..n).collect()));
        t.is(prog.clone(), &Array::scalar(n), expected);
    }
}

fn updates(t: &Suite) {
    for extents in [[3, 4], [9, 50]] {
        let (m, block): (Matrix<i32>, Matrix<i32>) = (array(&extents), other_array(&[2, 3], 1));
        let prog = afun(|m: Acc<Matrix<i32>>, block: Acc<Matrix<i32>>, i: Acc<Scalar<i64>>| {
            let i = the(i);
            (set(m, (i, 0), 7), update(m, (0, i), |x| x * 3 + 1), set_block(m, (1, i - 1), block))
        });
        let of = |f: &dyn Fn(usize, usize, i32) -> i32| -> Matrix<i32> {
            tabulate(&extents, |ix| f(ix[0], ix[1], at(&m, ix)))
        };
        let expected = (
            of(&|i, j, x| if (i, j) == (2, 0) { 7 } else { x }),
            of(&|i, j, x| if (i, j) == (0, 2) { x.wrapping_mul(3).wrapping_add(1) } else { x }),
            of(&|i, j, x| match (1..3).contains(&i) && (1..4).contains(&j) {
                true => at(&block, &[i - 1, j - 1]),
                false => x,
            }),
        );
        t.is(prog, (&m, &block, &Array::scalar(2)), expected);
    }
}
