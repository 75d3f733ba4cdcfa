//! The same run gives the same bits, however many threads there are: floating-point sums and everything that is computed in
//! parts, which are combined in an order that must not depend on the threads.

#[path = "../../examples/gmm/objective.rs"]
mod objective;

use accel::native::Native;
use accel::prelude::*;
use accel::repr::{ArrayTuple, Column};
use rayon::{ThreadPool, ThreadPoolBuilder};

type V = Acc<Vector<f64>>;
type M = Acc<Matrix<f64>>;

/// One thread, and numbers that divide neither the extents nor each other.
const THREADS: [usize; 4] = [1, 2, 3, 5];

/// Pseudo-random numbers between 0.5 and 1.5 whose sums are rounded, so that another order gives other bits.
fn numbers(seed: u64, n: usize) -> Vec<f64> {
    let number = |i: u64| ((i + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as f64 / (1u64 << 53) as f64;
    (0..n as u64).map(|i| 0.5 + number(i)).collect()
}

fn vector(n: usize) -> Vector<f64> {
    Array::vector(numbers(1, n))
}

fn matrix(n: usize, m: usize) -> Matrix<f64> {
    Array::matrix(n, m, numbers(2, n * m)).expect("as many numbers as the extents say")
}

fn bits(of: &ArrayTuple) -> Vec<u64> {
    let column = |c: &Column| -> Vec<u64> {
        match c {
            Column::F64(c) => c.iter().map(|x| x.to_bits()).collect(),
            Column::F32(c) => c.iter().map(|x| x.to_bits().into()).collect(),
            Column::I64(c) => c.iter().map(|x| *x as u64).collect(),
            c => panic!("a result of {}", c.ty()),
        }
    };
    of.leaves().into_iter().flat_map(|a| &a.columns).flat_map(column).collect()
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool")
}

/// Runs a program in pools of several sizes, and twice in each: which thread computes what changes from run to run.
#[track_caller]
fn same<A: Arrays, R: Arrays>(what: &str, program: Afun<A, R>, inputs: A) {
    let compiled = compile_on(&Native, program).unwrap_or_else(|e| panic!("{what}: {e}"));
    let run = || bits(&compiled.run(&inputs).unwrap_or_else(|e| panic!("{what}: {e}")).to_tuple());
    let first = pool(1).install(run);
    for (threads, time) in THREADS.into_iter().flat_map(|threads| [(threads, 1), (threads, 2)]) {
        let found = pool(threads).install(run);
        let differing = first.iter().zip(&found).filter(|(a, b)| a != b).count();
        assert_eq!(first.len(), found.len(), "{what}");
        assert!(differing == 0, "{what}: {differing} of {} numbers, {threads} threads, run {time}", first.len());
    }
}

/// The program, and the gradient of the sum of its results.
#[track_caller]
fn same_with_gradient<A: Arrays + Clone + 'static, Sh: Shape>(what: &str, program: Afun<A, Array<Sh, f64>>, inputs: A) {
    let inner = program.clone();
    let total = afun(move |x: Acc<A>| sum_all(call(&inner, x)));
    same(what, program, inputs.clone());
    same(&format!("the gradient of {what}"), grad(&total), inputs);
}

/// Extents with a few long rows, many short ones, and both.
const EXTENTS: [(usize, usize); 3] = [(3, 70_001), (70_001, 3), (501, 777)];

/// A test of the test: these numbers have other sums in another order.
#[test]
fn another_order_gives_other_bits() {
    let xs = numbers(1, 300_001);
    let (forwards, backwards): (f64, f64) = (xs.iter().sum(), xs.iter().rev().sum());
    let by_parts: f64 = xs.chunks(1000).map(|part| part.iter().sum::<f64>()).sum();
    assert!(forwards != backwards && forwards != by_parts);
}

#[test]
fn folds() {
    let n = 300_001;
    same_with_gradient("a sum", afun(|x: V| sum(x)), vector(n));
    same_with_gradient("a sum of functions", afun(|x: V| sum(map(|x| x.sin() * x, x))), vector(n));
    same_with_gradient("a product", afun(|x: V| product(map(|x| 1.0 + (x - 1.0) * 1e-3, x))), vector(n));
    // (a + 1) (b + 1) - 1: associative, and not an operator that is known.
    let unknown = |a: Exp<f64>, b: Exp<f64>| a * b + a + b;
    same("an unknown operator", afun(move |x: V| fold(unknown, 0.0, map(|x| (x - 1.0) * 1e-3, x))), vector(n));
    let singles: Vector<f32> = Array::vector(numbers(1, n).into_iter().map(|x| x as f32).collect());
    same("a sum in single precision", afun(|x: Acc<Vector<f32>>| sum(x)), singles);
    let pairs = |(a, b): (Exp<f64>, Exp<f64>), (c, d): (Exp<f64>, Exp<f64>)| (a + c, b + d);
    same("two sums", afun(move |x: V| fold1(pairs, map(|x| (x, x * x), x))), vector(n));
    let lengths = Array::vector(vec![7i64, 0, 90_000, 1, 200_000, 9_993]);
    same(
        "sums of segments",
        afun(|x: V, lengths: Acc<Vector<i64>>| fold_seg(|a, b| a + b, 0.0, lengths, x)),
        (vector(n), lengths),
    );
}

#[test]
fn scans_and_recurrences() {
    let n = 300_001;
    same_with_gradient("prefix sums", afun(|x: V| scanl(|a, b| a + b, 0.0, x)), vector(n));
    same_with_gradient("sums from the right", afun(|x: V| scanr1(|a, b| a + b, x)), vector(n));
    let unknown = |a: Exp<f64>, b: Exp<f64>| a * b + a + b;
    same("a scan of an unknown operator", afun(move |x: V| scanl1(unknown, map(|x| (x - 1.0) * 1e-3, x))), vector(n));
    same("the same from the right", afun(move |x: V| scanr1(unknown, map(|x| (x - 1.0) * 1e-3, x))), vector(n));
    // y(i) = a(i) y(i - 1) + x(i).
    let recurrence = |x: V| {
        let step = |(a, b): (Exp<f64>, Exp<f64>), (c, d): (Exp<f64>, Exp<f64>)| (a * c, b * c + d);
        map(|(_, y)| y, scanl1(step, map(|x| (x * 0.6, x), x)))
    };
    same_with_gradient("a linear recurrence", afun(recurrence), vector(n));
    for (n, m) in EXTENTS {
        same(&format!("{n} x {m}: scans of rows"), afun(|x: M| scanl1(|a, b| a + b, x)), matrix(n, m));
        let columns = afun(|x: M| transpose(scanl1(|a, b| a + b, transpose(x))));
        same(&format!("{n} x {m}: scans of columns"), columns, matrix(n, m));
    }
}

#[test]
fn rows_and_columns() {
    for (n, m) in EXTENTS {
        let same = |what: &str, program| same_with_gradient(&format!("{n} x {m}: {what}"), program, matrix(n, m));
        same("sums of rows", afun(|x: M| sum(x)));
        same("sums of columns", afun(|x: M| sum(transpose(x))));
        same("logarithms of sums of exponentials", afun(log_sum_exp));
        same("the same of columns", afun(|x: M| log_sum_exp(transpose(x))));
    }
}

/// The logarithm of the sum of the exponentials of each row.
fn log_sum_exp(x: M) -> V {
    let largest = maximum(x);
    let shifted = generate(x.shape(), |(i, j)| (x.at((i, j)) - largest.at(i)).exp());
    zip_with(|total, largest| total.ln() + largest, sum(shifted), largest)
}

#[test]
fn sums_that_are_added_to_targets() {
    let (n, targets) = (200_001, [7, 2_003, 150_007]);
    for m in targets {
        let places = Array::vector((0..n as i64).map(|i| i * 7919 % m as i64).collect());
        let program = afun(move |x: V, places: Acc<Vector<i64>>| {
            permute(|a, b| a + b, fill(m as i64, 0.0), |i| (true, places.at(i)), x)
        });
        same(&format!("sums of {m} targets"), program, (vector(n), places));
    }
}

/// Strips, tiles and lanes.
#[test]
fn distances_mixtures_and_products() {
    let distances = |x: M, y: M| {
        let ((n, d), (k, _)) = (x.shape(), y.shape());
        let square = generate((n, k, d), |(i, j, l)| (x.at((i, l)) - y.at((j, l))) * (x.at((i, l)) - y.at((j, l))));
        sum(square)
    };
    for (n, k, d) in [(20_001, 3, 2), (301, 299, 17), (2_001, 25, 33)] {
        let name = format!("distances of {n} and {k} points in {d} dimensions");
        same_with_gradient(&name, afun(distances), (matrix(n, d), matrix(k, d)));
        let nearest = afun(move |x: M, y: M| sum(log_sum_exp(map(|x| -x, distances(x, y)))));
        same_with_gradient(&format!("mixtures by {name}"), nearest, (matrix(n, d), matrix(k, d)));
    }
    for (n, k, d) in [(5_001, 5, 2), (1_001, 10, 10)] {
        let gaussians = move |alphas: V, means: M, icf: M, x: M| {
            let [gamma, m, rest] = [0.5, 1.0, objective::constant_term(n, d, k, 0.5, 1)].map(|x| unit(constant(x)));
            objective::objective((alphas, means, icf), x, (gamma, m, rest))
        };
        let inputs = (vector(k), matrix(k, d), matrix(k, d + d * (d - 1) / 2), matrix(n, d));
        same_with_gradient(&format!("{k} Gaussians of {n} points"), afun(gaussians), inputs);
    }
    for (n, k, m) in [(301, 999, 257), (7, 20_001, 5), (20_001, 5, 7)] {
        same_with_gradient(&format!("a product {n} x {k} x {m}"), afun(matmul), (matrix(n, k), matrix(k, m)));
    }
    // Fewer and more products than four for each thread: they are computed in threads each, or one by each thread.
    for batch in [3, 6, 10, 30] {
        let products = |x: Acc<Array<Dim3, f64>>, y: M| {
            let ((n, m, k), (_, p)) = (x.shape(), y.shape());
            sum(generate((n, m, p, k), |(b, i, j, l)| x.at((b, i, l)) * y.at((l, j)) * (b.cast::<f64>() + 1.0)))
        };
        let x = Array::from_extents(&[batch, 65, 70], numbers(3, batch * 65 * 70)).expect("as many numbers");
        same_with_gradient(&format!("{batch} products"), afun(products), (x, matrix(70, 68)));
    }
}
