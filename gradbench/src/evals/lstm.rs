//! The loss of a recurrent neural network (long short-term memory, with diagonal weights) that predicts a text
//! character by character, and its gradient by the parameters.

use crate::conversions::{matrix_of, number};
use crate::module::{Failure, Module};
use accel::backend::Backend;
use accel::prelude::*;
use serde::Deserialize;

/// Weight and bias of a gate: `(weight, bias)`.
type Gate = (f64, f64);

/// The gates of a layer, for one bit.
#[derive(Clone, Debug, Elt)]
pub struct Gates {
    /// How much of the cell is kept.
    pub forget: Gate,
    /// How much of the change goes to the cell.
    pub accept: Gate,
    /// How much of the cell is emitted.
    pub emit: Gate,
    /// The change of the cell.
    pub change: Gate,
}

/// The parameters of l layers for characters of b bits.
#[derive(Clone, Debug, Arrays)]
pub struct Parameters {
    /// `[l, b]`
    pub layers: Matrix<Gates>,
    /// The weight before the first layer, and weight and bias behind the last one: `[b]`.
    pub ends: Vector<(f64, f64, f64)>,
}

/// The mean logarithm of the probability that each character gets from those before it, negated. The memory consists of each
/// layer's hidden state and cell, `[l, b]`. The text is a matrix of c characters, `[c, b]`.
pub fn loss(parameters: Acc<Parameters>, memory: Acc<Matrix<(f64, f64)>>, text: Acc<Matrix<f64>>) -> Acc<Scalar<f64>> {
    let ParametersAcc { layers, ends } = parameters.unlift();
    let (c, b) = text.shape();
    let step = |memory: Acc<Matrix<(f64, f64)>>, (character, next): (Acc<Vector<f64>>, Acc<Vector<f64>>)| {
        let input = zip_with(|x, (weight, _, _)| x * weight, character, ends);
        let (output, memory) = map_accum_l(layer, input, (layers, memory));
        let predicted = zip_with(|y, (_, weight, bias)| y * weight + bias, output, ends);
        let total = map(|total| (total + 2.0).ln(), sum(map(|y| y.exp(), predicted)));
        (memory, dot(next, map(|y| y - the(total), predicted)))
    };
    let from = |first: i64| generate((c - 1, b), |(t, bit)| text.at((t + first, bit)));
    let (_, scores) = map_accum_l(step, memory, (from(0), from(1)));
    map(|total| -total / ((c - 1) * b).cast::<f64>(), sum(scores))
}

type Layer = (Acc<Vector<Gates>>, Acc<Vector<(f64, f64)>>);

/// A layer: from its input to its output, which is its next hidden state, and to its next hidden state and cell.
fn layer(input: Acc<Vector<f64>>, (gates, memory): Layer) -> (Acc<Vector<f64>>, Acc<Vector<(f64, f64)>>) {
    let linear = |(weight, bias): (Exp<f64>, Exp<f64>), x| x * weight + bias;
    let logistic = |x: Exp<f64>| 1.0 / (1.0 + (-x).exp());
    let next = |input, gates: GatesExp, (hidden, cell): (Exp<f64>, Exp<f64>)| {
        let [forget, emit] = [gates.forget, gates.emit].map(|gate| logistic(linear(gate, input)));
        let accept = logistic(linear(gates.accept, hidden));
        let cell = cell * forget + accept * linear(gates.change, hidden).tanh();
        (emit * cell.tanh(), cell)
    };
    let memory = zip_with3(next, input, gates, memory);
    (map(|(hidden, _)| hidden, memory), memory)
}

/// The loss and its gradient by the parameters.
pub fn module(backend: &'static dyn Backend) -> Result<Module, Error> {
    let objective = afun(loss);
    let jacobian = grad(objective.by(|(parameters, _, _)| parameters));
    Module::new(backend)
        .function("objective", objective, arguments, number)?
        .function("jacobian", jacobian, arguments, output)
}

/// The input that the eval sends. Each layer has two rows of `main_params`, weights and biases, of b numbers for each gate, and
/// two rows of `state`, hidden state and cell.
#[derive(Deserialize)]
struct Input {
    main_params: Vec<Vec<f64>>,
    extra_params: Vec<Vec<f64>>,
    state: Vec<Vec<f64>>,
    sequence: Vec<Vec<f64>>,
}

fn arguments(input: Input) -> Result<(Parameters, Matrix<(f64, f64)>, Matrix<f64>), Failure> {
    let Input { main_params, extra_params, state, sequence } = input;
    let (l, b, c) = (main_params.len() / 2, extra_params.first().map_or(0, Vec::len), sequence.len());
    if l == 0 || b == 0 || c < 2 {
        return Err(Failure::Input("this takes a layer, a bit and two characters".to_string()));
    }
    let layers = matrix_of("main_params", [2 * l, 4 * b], main_params)?;
    let ends = matrix_of("extra_params", [3, b], extra_params)?;
    let memory = matrix_of("state", [2 * l, b], state)?;
    let (layers, ends, memory) = (layers.as_slice(), ends.as_slice(), memory.as_slice());
    let gates = |i: usize| {
        let (layer, bit) = (i / b, i % b);
        let gate = |gate| (layers[(8 * layer + gate) * b + bit], layers[(8 * layer + 4 + gate) * b + bit]);
        Gates { forget: gate(0), accept: gate(1), emit: gate(2), change: gate(3) }
    };
    let parameters = Parameters {
        layers: Array::matrix(l, b, (0..l * b).map(gates).collect())?,
        ends: Array::vector((0..b).map(|bit| (ends[bit], ends[b + bit], ends[2 * b + bit])).collect()),
    };
    let memory = (0..l * b).map(|i| i + i / b * b).map(|i| (memory[i], memory[i + b]));
    Ok((parameters, Array::matrix(l, b, memory.collect())?, matrix_of("sequence", [c, b], sequence)?))
}

/// The output that the eval expects: the rows of `main_params` and of `extra_params`, one after the other.
fn output(Parameters { layers, ends }: Parameters) -> Vec<f64> {
    let [l, b]: [usize; 2] = layers.shape().into();
    let (layers, ends) = (layers.to_vec(), ends.to_vec());
    let of_layer = |layer: usize| {
        let gates = &layers[layer * b..(layer + 1) * b];
        let row = |of: fn(&Gates) -> f64| gates.iter().map(of);
        let weights =
            row(|g| g.forget.0).chain(row(|g| g.accept.0)).chain(row(|g| g.emit.0)).chain(row(|g| g.change.0));
        let biases = row(|g| g.forget.1).chain(row(|g| g.accept.1)).chain(row(|g| g.emit.1)).chain(row(|g| g.change.1));
        weights.chain(biases).collect::<Vec<_>>()
    };
    let of_ends =
        [ends.iter().map(|e| e.0).collect(), ends.iter().map(|e| e.1).collect(), ends.iter().map(|e| e.2).collect()];
    (0..l).map(of_layer).chain(of_ends).collect::<Vec<Vec<f64>>>().concat()
}
