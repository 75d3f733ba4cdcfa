//! Derivatives with operations that no function of the surface language has: loops that read arrays, whose derivatives
//! add to elements of these arrays. All numbers are small integers, so the sums are exact in any order.

use super::check::Suite;
use accel::prelude::*;

pub fn all(t: &Suite) {
    for (n, m) in [(0, 0), (0, 3), (3, 0), (1, 1), (5, 7), (64, 33), (3, 2000), (2000, 3)] {
        sums_of_products(t, n, m);
        sums_of_single_precision(t, n, m);
        rows_of_matrices(t, n, m);
    }
}

/// The numbers -2 to 2, again and again.
fn small(n: usize) -> Vec<f64> {
    (0..n).map(|i| (i * 7 % 5) as f64 - 2.0).collect()
}

/// `y[k] = Σ a[i] x[k]`, in a loop. The second loop reads only every other element.
fn sums_of_products(t: &Suite, n: usize, m: usize) {
    let prog = afun(|a: Acc<Vector<f64>>, xs: Acc<Vector<f64>>| {
        let n = a.shape();
        let (one, two) = (
            |x: Exp<f64>| looped(n, move |i, y| y + a.at(i) * x),
            |x: Exp<f64>| looped((n + 1) / 2, move |i, y| y + a.at(i * 2) * x),
        );
        map(|x| one(x) + two(x), xs)
    });
    let (a, xs, d) = (small(n), small(m), small(m + 1)[1..].to_vec());
    let each: f64 = xs.iter().zip(&d).map(|(x, d)| x * d).sum();
    let by_a = (0..n).map(|i| if i % 2 == 0 { 2.0 * each } else { each }).collect();
    let total = a.iter().sum::<f64>() + a.iter().step_by(2).sum::<f64>();
    let by_x = d.iter().map(|d| d * total).collect();
    let inputs = ((Array::vector(a), Array::vector(xs)), Array::vector(d));
    t.is(vjp(&prog), (&inputs.0, &inputs.1), (Array::vector(by_a), Array::vector(by_x)));
}

fn looped(n: Exp<i64>, f: impl Fn(Exp<i64>, Exp<f64>) -> Exp<f64>) -> Exp<f64> {
    let (_, y) = while_(move |(i, _): (Exp<i64>, Exp<f64>)| i.lt(n), |(i, y)| (i + 1, f(i, y)), (0i64, 0.0));
    y
}

/// In single precision, of pairs, and with a branch in the loop.
fn sums_of_single_precision(t: &Suite, n: usize, m: usize) {
    let prog = afun(|a: Acc<Vector<(f32, f32)>>, xs: Acc<Vector<f32>>| {
        let n = a.shape();
        let one = |x: Exp<f32>| {
            let (_, y) = while_(
                |(i, _): (Exp<i64>, Exp<f32>)| i.lt(n),
                |(i, y)| {
                    let (p, q) = a.at(i);
                    (i + 1, cond((i % 3).eq(0), y + p * x, y + q))
                },
                (0i64, 0.0f32),
            );
            y
        };
        map(one, xs)
    });
    let single = |xs: Vec<f64>| xs.into_iter().map(|x| x as f32).collect::<Vec<f32>>();
    let (a, xs, d) = (single(small(n)), single(small(m)), single(small(m + 1))[1..].to_vec());
    let each: f32 = xs.iter().zip(&d).map(|(x, d)| x * d).sum();
    let total: f32 = d.iter().sum();
    let by_a = (0..n).map(|i| if i % 3 == 0 { (each, 0.0) } else { (0.0, total) }).collect();
    let first: f32 = a.iter().step_by(3).sum();
    let by_x = d.iter().map(|d| d * first).collect();
    let a: Vec<(f32, f32)> = a.into_iter().map(|x| (x, x + 1.0)).collect();
    let inputs = ((Array::vector(a), Array::vector(xs)), Array::vector(d));
    t.is(vjp(&prog), (&inputs.0, &inputs.1), (Array::vector(by_a), Array::vector(by_x)));
}

/// The product of a matrix and a vector, whose rows are loops.
fn rows_of_matrices(t: &Suite, n: usize, m: usize) {
    let prog = afun(|a: Acc<Matrix<f64>>, x: Acc<Vector<f64>>| {
        let (rows, columns) = a.shape();
        generate(rows, |i| looped(columns, move |k, y| y + a.at((i, k)) * x.at(k)))
    });
    let (a, x, d) = (small(n * m), small(m), small(n));
    let by_a = (0..n * m).map(|k| d[k / m] * x[k % m]).collect();
    let by_x = (0..m).map(|k| (0..n).map(|i| d[i] * a[i * m + k]).sum()).collect();
    let matrix = |xs| Array::matrix(n, m, xs).expect("as many elements as the extents say");
    let inputs = ((matrix(a), Array::vector(x)), Array::vector(d));
    t.is(vjp(&prog), (&inputs.0, &inputs.1), (matrix(by_a), Array::vector(by_x)));
}
