//! The objective, which is differentiated, in plain Rust, with its arguments as a list.

use super::plain::{Plain, Value, evaluate};
use super::program::{Inputs, Program};

/// The function that [`Builder::objective`](super::build::Builder::objective) writes.
fn objective(results: [&Plain; 5]) -> f64 {
    let [x, v, m, _, p] = results;
    let v: f64 = v.floats().enumerate().map(|(i, x)| (x + i as f64 * 0.1).tanh()).sum();
    let columns = m.shape[1].max(1);
    let entry = |(k, x): (usize, f64)| (x * 0.5 + ((k / columns) as f64 - (k % columns) as f64) * 0.1).sin();
    let m: f64 = m.floats().enumerate().map(entry).sum();
    let pair = |e: &Vec<Value>| e[0].f().tanh() * (e[1].i() as f64).tanh();
    let p: f64 = p.data.iter().map(pair).sum();
    x.floats().map(f64::tanh).sum::<f64>() + (v + m + p)
}

/// The objective of a program on other inputs than its own.
pub fn objective_at(p: &Program, inputs: &Inputs) -> f64 {
    let arrays = evaluate(p, inputs);
    objective(p.results.map(|k| &arrays[k]))
}

/// The floats of the inputs.
pub fn floats(inputs: &Inputs) -> Vec<f64> {
    [&inputs.xs[..], &inputs.ys, &inputs.m.2].concat()
}

/// The inputs with other floats.
pub fn with_floats(inputs: &Inputs, floats: &[f64]) -> Inputs {
    let (xs, rest) = floats.split_at(inputs.xs.len());
    let (ys, m) = rest.split_at(inputs.ys.len());
    Inputs { xs: xs.to_vec(), ys: ys.to_vec(), m: (inputs.m.0, inputs.m.1, m.to_vec()), is: inputs.is.clone() }
}

/// The inputs as a direction: zero where they are integers.
pub fn direction(inputs: &Inputs, floats: &[f64]) -> Inputs {
    let mut d = with_floats(inputs, floats);
    d.is.fill(0);
    d
}

/// The central difference of the objective by one of the floats, and the distance of the one-sided differences.
pub fn difference(p: &Program, i: usize) -> (f64, f64) {
    const STEP: f64 = 1e-5;
    let at = |step: f64| {
        let mut xs = floats(&p.inputs);
        xs[i] += step;
        objective_at(p, &with_floats(&p.inputs, &xs))
    };
    let (below, here, above) = (at(-STEP), at(0.0), at(STEP));
    ((above - below) / (2.0 * STEP), ((above - here) - (here - below)).abs() / STEP)
}
