//! Programs of many array operations.

use super::lstm_cell;
use accel::prelude::*;

type Xs = Acc<Vector<f64>>;

/// Operations of six kinds in turn, each of the result of the one before: maps, scans, sums, gathers and so on.
pub fn mixed(n: usize) -> Afun<Vector<f64>, Scalar<f64>> {
    let step = |(a, before): (Xs, Xs), k: usize| {
        let next = match k % 6 {
            0 => map(|x| x.sin() + 0.5, a),
            1 => zip_with(|x, y| x * y + 1.0, a, before),
            2 => scanl1(|x, y| x * 0.5 + y, a),
            3 => {
                let total = sum(a);
                map(move |x| x / (the(total) * the(total) + 1.0), a)
            }
            4 => reverse(a),
            _ => imap(move |i: Exp<i64>, x: Exp<f64>| x + a.at((i * 7i64) % a.shape()), a),
        };
        (next, a)
    };
    afun(move |xs: Xs| sum((0..n).fold((xs, xs), step).0))
}

type M = Acc<Matrix<f64>>;

/// Weights of the inputs and of the hidden states, biases, and a batch of inputs for each step.
pub type Lstm = Afun<(Matrix<f64>, Matrix<f64>, Vector<f64>, Array<Dim3, f64>), Scalar<f64>>;

/// The sum of the squares of an LSTM's hidden states, with a loop that is unrolled.
pub fn lstm(steps: usize) -> Lstm {
    afun(move |of_input: M, of_hidden: M, bias: Xs, xs: Acc<Array<Dim3, f64>>| {
        let ((_, batch, _), (_, h)) = (xs.shape(), of_hidden.shape());
        let start = fill((batch, h), lit(0.0));
        let step = |(hidden, cell, total): (M, M, Acc<Scalar<f64>>), t: usize| {
            let x = slice((t as i64, All, All), xs);
            let (hidden, cell) = lstm_cell::step((of_input, of_hidden, bias), (batch, h), (hidden, cell), x);
            (hidden, cell, zip_with(|x, y| x + y, total, sum(sum(map(|x| x * x, hidden)))))
        };
        (0..steps).fold((start, start, unit(lit(0.0))), step).2
    })
}
