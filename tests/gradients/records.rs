//! Records as elements and as arguments.

use crate::harness::{Differentiated, Tally, V, for_all, jacobian, smooth};
use crate::refined::{AllNonZero, Any, Even, Floats, NonEmpty};
use accel::prelude::*;
use std::ops::{Add, Mul};

#[derive(Clone, Copy, PartialEq, Debug, Elt)]
struct Complex {
    re: f64,
    im: f64,
}

impl Mul for ComplexExp {
    type Output = ComplexExp;
    fn mul(self, b: ComplexExp) -> ComplexExp {
        ComplexExp { re: self.re * b.re - self.im * b.im, im: self.re * b.im + self.im * b.re }
    }
}

impl Add for ComplexExp {
    type Output = ComplexExp;
    fn add(self, b: ComplexExp) -> ComplexExp {
        ComplexExp { re: self.re + b.re, im: self.im + b.im }
    }
}

/// A discrete field between continuous ones.
#[derive(Clone, Copy, PartialEq, Debug, Elt)]
struct Reading {
    value: f64,
    count: i64,
    point: Complex,
}

#[derive(Clone, PartialEq, Debug, Arrays)]
struct Layer {
    weights: Matrix<f64>,
    bias: Vector<f64>,
}

#[derive(Clone, PartialEq, Debug, Arrays)]
struct Network {
    first: Layer,
    second: Layer,
    /// A discrete argument.
    chosen: Scalar<i64>,
}

fn complex(re: Exp<f64>, im: Exp<f64>) -> ComplexExp {
    ComplexExp { re, im }
}

#[test]
fn products_of_complex_numbers() {
    smooth((NonEmpty, NonEmpty), |a: V, b: V| {
        let numbers = zip_with_min(|x, y| complex(x * 0.2, y * 0.2), a, b);
        map(|c: ComplexExp| c.re + c.im * 2.0, fold1(|x, y| x * y, numbers))
    });
}

#[test]
fn sums_of_complex_numbers() {
    smooth((Any, Any), |a: V, b: V| {
        let numbers = zip_with_min(complex, a, b);
        let total = fold(|x, y| x + y, complex(0.0.to_exp(), 1.0.to_exp()), map(|z: ComplexExp| z * z, numbers));
        map(|c: ComplexExp| c.re * c.im, total)
    });
}

#[test]
fn arrays_of_records() {
    jacobian((Any, AllNonZero), |a: V, b: V| {
        let readings = zip_with_min(
            |x, y| ReadingExp { value: x * y, count: x.cast::<i64>(), point: complex(y, x) * complex(x, y) },
            a,
            b,
        );
        (map(|r: ReadingExp| r.value * r.count.cast::<f64>() + r.point.im, readings), readings)
    });
}

/// A record of arrays as the argument; its gradient is a record of the same type.
#[test]
fn a_record_as_argument() {
    fn loss(net: Acc<Network>) -> Acc<Scalar<f64>> {
        let net = net.unlift();
        let apply = |layer: LayerAcc, x: V| {
            map(|y: Exp<f64>| y.tanh(), zip_with(|y, b| y + b, matvec(layer.weights, x), layer.bias))
        };
        let chosen = the(net.chosen);
        let y = apply(net.second, apply(net.first, generate(2, |i| i.cast::<f64>() + 0.5)));
        sum(imap(|i, y| cond::<f64>(i.eq(chosen), y * 3.0, y * y), y))
    }
    let program = Differentiated::new(loss);
    for_all(move |(w1, w2): &(Floats<Even>, Floats<Even>)| {
        // Sizes that fit: n rows of two elements, and two rows of n elements.
        let n = w1.0.len() / 2;
        let second: Vec<f64> = (0..2 * n).map(|i| w2.0.get(i).copied().unwrap_or(0.5) * 0.3).collect();
        let weights = |rows, columns, w| Array::matrix(rows, columns, w).map_err(|e| e.to_string());
        let first = Layer { weights: weights(n, 2, w1.0.clone())?, bias: Array::vector(vec![0.1; n]) };
        let second = Layer { weights: weights(2, n, second)?, bias: Array::vector(vec![0.2, -0.2]) };
        let net = Network { first, second, chosen: Array::scalar(1) };
        program.check(&Arrays::to_tuple(&net), &Tally::default())
    });
    let layer = |rows, columns| Layer {
        weights: Array::matrix(rows, columns, vec![0.5; rows * columns]).unwrap(),
        bias: Array::vector(vec![0.0; rows]),
    };
    let net = Network { first: layer(3, 2), second: layer(2, 3), chosen: Array::scalar(1) };
    let (value, gradient) = run(value_and_grad(&afun(loss)), &net).unwrap();
    assert!(value.to_vec()[0].is_finite());
    assert_eq!(gradient.first.weights.shape()[..], [3, 2]);
    assert_eq!(gradient.second.bias.len(), 2);
    assert_eq!(gradient.chosen.to_vec(), [0]);
}

/// The gradient by an array of records is an array of records.
#[test]
fn gradients_are_records() {
    let program = afun(|zs: Acc<Vector<Complex>>| sum(map(|z: ComplexExp| (z * z).re * 0.5, zs)));
    let zs = Array::vector(vec![Complex { re: 1.0, im: 2.0 }, Complex { re: -3.0, im: 0.5 }]);
    let gradient = run(grad(&program), &zs).unwrap();
    assert_eq!(gradient.to_vec(), [Complex { re: 1.0, im: -2.0 }, Complex { re: -3.0, im: -0.5 }]);
}
