//! An LSTM on a batch of sequences.

use super::lstm_cell;
use accel::prelude::*;

type M<T> = Acc<Matrix<T>>;
type Sequences<T> = Acc<Array<Dim3, T>>;

/// The mean squared distance of the hidden states from targets, `[steps, batch, h]`. The weights of the inputs `[steps, batch, d]`
/// are `[4 h, d]`, those of the hidden states `[4 h, h]`, the biases `[4 h]`.
pub fn loss<T: Floating>(
    weights: (M<T>, M<T>, Acc<Vector<T>>),
    xs: Sequences<T>,
    targets: Sequences<T>,
) -> Acc<Scalar<T>> {
    let ((steps, batch, _), (_, h)) = (xs.shape(), weights.1.shape());
    let step = |state: (M<T>, M<T>), (x, target): (M<T>, M<T>)| {
        let (hidden, cell) = lstm_cell::step(weights, (batch, h), state, x);
        let distances = zip_with(|x, y| (x - y) * (x - y), hidden, target);
        ((hidden, cell), sum(sum(distances)))
    };
    let start = fill((batch, h), lit::<T>(0.0));
    let (_, totals) = map_accum_l(step, (start, start), (xs, targets));
    map(|total| total / (steps * batch * h).cast::<T>(), sum(totals))
}
