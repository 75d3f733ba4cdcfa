//! The LSTM of ADBench, which predicts the next character, as a loop over the characters.

use accel::prelude::*;

type V = Acc<Vector<f64>>;
type Layer = (V, V);

/// The mean negative log-likelihood of a sequence, `[characters, b]`. There are two layers. Each of them has four weights
/// and four biases for each of the b components, `[2, 2, 4, b]`; extra weights, `[3, b]`, scale the input and the output. A
/// layer's state is hidden state and cell, `[2, 2, b]`.
pub fn loss(
    main: Acc<Array<Dim4, f64>>,
    extra: Acc<Matrix<f64>>,
    state: Acc<Array<Dim3, f64>>,
    sequence: Acc<Matrix<f64>>,
) -> Acc<Scalar<f64>> {
    let (characters, b) = sequence.shape();
    let row = |layer: i64, k: i64| generate(b, |j| state.at((layer, k, j)));
    let start = ((row(0, 0), row(0, 1)), (row(1, 0), row(1, 1)));
    let pairs = |first: i64| generate((characters - 1, b), |(t, j)| sequence.at((t + first, j)));
    let step = |(first, second): (Layer, Layer), (x, expected): (V, V)| {
        let x = imap(|j, x| x * extra.at((0, j)), x);
        let first = cell(main, 0, first, x);
        let second = cell(main, 1, second, first.0);
        let y = imap(|j, y| y * extra.at((1, j)) + extra.at((2, j)), second.0);
        let total = sum(map(|y| y.exp(), y));
        let normalised = map(|y| y - (the(total) + 2.0).ln(), y);
        ((first, second), dot(expected, normalised))
    };
    let (_, likelihoods) = map_accum_l(step, start, (pairs(0), pairs(1)));
    map(|total| -total / ((characters - 1) * b).cast::<f64>(), sum(likelihoods))
}

/// The next hidden state and cell of a layer. All weights are diagonal.
fn cell(main: Acc<Array<Dim4, f64>>, layer: i64, (hidden, cell): Layer, x: V) -> Layer {
    let next = |j: Exp<i64>| {
        let gate = |k: i64, y: Exp<f64>| y * main.at((layer, 0i64, k, j)) + main.at((layer, 1i64, k, j));
        let (x, hidden) = (x.at(j), hidden.at(j));
        let (forget, admit) = (sigmoid(gate(0, x)), sigmoid(gate(1, hidden)));
        let (output, change) = (sigmoid(gate(2, x)), gate(3, hidden).tanh());
        let cell = cell.at(j) * forget + admit * change;
        (output * cell.tanh(), cell)
    };
    unzip(generate(x.shape(), next))
}

fn sigmoid(x: Exp<f64>) -> Exp<f64> {
    1.0 / (1.0 + (-x).exp())
}
