//! A step of an LSTM.

use accel::prelude::*;

type M<T> = Acc<Matrix<T>>;

/// The next hidden states and cells, `[batch, h]`, from the present ones and an input `[batch, d]`. The weights of the inputs are
/// `[4 h, d]`, those of the hidden states `[4 h, h]`, the biases `[4 h]`.
pub fn step<T: Floating>(
    (of_input, of_hidden, bias): (M<T>, M<T>, Acc<Vector<T>>),
    (batch, h): (Exp<i64>, Exp<i64>),
    (hidden, cell): (M<T>, M<T>),
    x: M<T>,
) -> (M<T>, M<T>) {
    let (from_input, from_hidden) = (matmul(x, transpose(of_input)), matmul(hidden, transpose(of_hidden)));
    let totals = zip_with(|x, y| x + y, from_input, from_hidden);
    let gates = zip_with(|total, bias| total + bias, totals, replicate((batch, All), bias));
    // A dimension of four: the compiler sees that all reads are within bounds.
    let gates = reshape((batch, 4, h), gates);
    let next = imap(
        |(i, j), cell| {
            let gate = |k: i64| gates.at((i, k, j));
            let cell = sigmoid(gate(1)) * cell + sigmoid(gate(0)) * gate(2).tanh();
            (sigmoid(gate(3)) * cell.tanh(), cell)
        },
        cell,
    );
    unzip(next)
}

fn sigmoid<T: Floating>(x: Exp<T>) -> Exp<T> {
    lit::<T>(1.0) / (lit::<T>(1.0) + (-x).exp())
}
