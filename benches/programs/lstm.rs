//! An LSTM on a batch of sequences.

use accel::prelude::*;

type M<T> = Acc<Matrix<T>>;
type Sequences<T> = Acc<Array<Dim3, T>>;

/// The mean squared distance of the hidden states from targets, `[steps, batch, h]`. The weights of the inputs `[steps, batch, d]`
/// are `[4 h, d]`, those of the hidden states `[4 h, h]`, the biases `[4 h]`.
pub fn loss<T: Floating>(
    (of_input, of_hidden, bias): (M<T>, M<T>, Acc<Vector<T>>),
    xs: Sequences<T>,
    targets: Sequences<T>,
) -> Acc<Scalar<T>> {
    let ((steps, batch, _), (_, h)) = (xs.shape(), of_hidden.shape());
    let step = |(hidden, cell): (M<T>, M<T>), (x, target): (M<T>, M<T>)| {
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
        let (hidden, cell) = unzip(next);
        let distances = zip_with(|x, y| (x - y) * (x - y), hidden, target);
        ((hidden, cell), sum(sum(distances)))
    };
    let start = fill((batch, h), lit::<T>(0.0));
    let (_, totals) = map_accum_l(step, (start, start), (xs, targets));
    map(|total| total / (steps * batch * h).cast::<T>(), sum(totals))
}

fn sigmoid<T: Floating>(x: Exp<T>) -> Exp<T> {
    lit::<T>(1.0) / (lit::<T>(1.0) + (-x).exp())
}
