//! The programs of the article and two of GradBench: reverse mode = forward mode = finite differences.

#[path = "../../benches/dual/src/programs.rs"]
#[allow(dead_code)]
mod programs;

use crate::support::{Function, Random, assert_close, check};
use accel_dual::{Real, Rev, Tangents, grad, jacobian, jacobian_columns, vjp};
use programs::*;

/// A function of the numbers in a structure.
macro_rules! function {
    ($name:ident, |$xs:ident| $value:expr) => {
        struct $name;
        impl Function for $name {
            fn at<T: Real>(&self, $xs: &[T]) -> T {
                $value
            }
        }
    };
}

fn numbers(seed: u64, n: usize) -> Vec<f64> {
    let mut random = Random(seed);
    (0..n).map(|_| random.next() - 0.5).collect()
}

fn rows<T: Real>(xs: &[T], columns: usize) -> Vec<Vec<T>> {
    xs.chunks(columns).map(<[T]>::to_vec).collect()
}

#[test]
fn the_running_example() {
    let (y, pullback) = vjp(
        |(x, y)| {
            let z = x + y;
            x * z
        },
        (12.0, 13.0),
    )
    .unwrap();
    assert_eq!((y, pullback.call(&1.0).unwrap()), (300.0, (37.0, 12.0)));
}

#[test]
fn products() {
    function!(Product, |xs| product((xs[0], xs[1])));
    check(&Product, &[1.5, -2.0], "product");
    function!(Dot, |xs| dot(&(xs[..20].to_vec(), xs[20..].to_vec())));
    check(&Dot, &numbers(1, 40), "scalar product");
    function!(Matvec, |xs| matvec(&(rows(&xs[..30], 5), xs[30..].to_vec())));
    check(&Matvec, &numbers(2, 35), "matrix-vector product");
}

#[test]
fn rotation_by_a_quaternion() {
    function!(Rotation, |xs| {
        let [x, y, z] = rotate(([xs[0], xs[1], xs[2]], [xs[3], xs[4], xs[5], xs[6]]));
        x + y * T::lit(2.0) + z * T::lit(3.0)
    });
    check(&Rotation, &numbers(3, 7), "rotation");
    let x = ([1.0, 2.0, 3.0], [0.1, 0.2, 0.3, 0.9]);
    let (y, rows) = jacobian(rotate::<Rev>, &x).unwrap();
    let (z, columns) = jacobian_columns(rotate::<Tangents>, &x);
    assert_eq!(y, z);
    for (k, (v, q)) in rows.iter().enumerate() {
        let row: Vec<f64> = columns.iter().map(|c| c[k]).collect();
        assert_close(&[v.as_slice(), q].concat(), &row, 1e-14, "Jacobian of the rotation");
    }
    // A unit quaternion of half a turn around the first axis.
    assert_eq!(rotate(([1.0, 2.0, 3.0], [1.0, 0.0, 0.0, 0.0])), [1.0, -2.0, -3.0]);
}

#[test]
fn neural_network() {
    function!(Network, |xs| {
        let (first, rest) = xs.split_at(6 * 4 + 6);
        let (second, input) = rest.split_at(3 * 6 + 3);
        let layer = |xs: &[T], columns: usize, rows_: usize| {
            let (weights, biases) = xs.split_at(columns * rows_);
            (rows(weights, columns), biases.to_vec())
        };
        network(&(vec![layer(first, 4, 6), layer(second, 6, 3)], input.to_vec()))
    });
    check(&Network, &numbers(5, 30 + 21 + 4), "network");
}

#[test]
fn particles_in_a_field() {
    function!(Particles, |xs| particles(&std::array::from_fn(|i| std::array::from_fn(|j| xs[4 * i + j]))));
    let xs = numbers(6, 16);
    check(&Particles, &xs, "particles");
    let starts: [[f64; 4]; 4] = std::array::from_fn(|i| std::array::from_fn(|j| xs[4 * i + j]));
    let (a, b) = (grad(|x| particles(&x), &starts).unwrap(), grad(|x| particles_in_sequence(&x), &starts).unwrap());
    assert_close(&a.concat(), &b.concat(), 1e-12, "particles in parallel and in sequence");
    let (_, pullback) = vjp(|x: [Particle<Rev>; 4]| particles(&x), starts).unwrap();
    assert_eq!(pullback.tape().jobs, 5);
}

#[test]
fn determinants() {
    function!(Determinant, |xs| determinant(xs, 5));
    check(&Determinant, &numbers(7, 25), "determinant");
    assert_eq!(determinant(&[1.0, 2.0, 3.0, 4.0], 2), -2.0);
    assert_eq!(determinant(&[2.0, 0.0, 1.0, 1.0, 3.0, 2.0, 1.0, 1.0, 4.0], 3), 18.0);
}

#[test]
fn long_short_term_memory() {
    function!(Lstm, |xs| {
        let (main, extra) = xs.split_at(4 * 12);
        let start: Vec<Vec<f64>> = rows(&numbers(8, 12), 3);
        let sequence: Vec<Vec<f64>> = rows(&numbers(9, 30), 3);
        lstm(&rows(main, 12), &rows(extra, 3), &start, &sequence)
    });
    check(&Lstm, &numbers(10, 48 + 9), "lstm");
}
