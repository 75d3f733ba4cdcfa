//! The dumps and the picture of the chapter on tracing.

use super::layers;
use super::root::root;
use accel::interp::Interpreter;
use accel::prelude::*;
use accel_trace::{Keep, trace_on};

const LAYERS: usize = 12;
const WIDTH: usize = 16;
/// The layer that is wrong.
const WRONG: usize = 7;

/// The trace of a square root, arrays whole or not.
pub fn trace_of_root(keep: Keep) -> String {
    trace_on(&Interpreter, afun(root), &Array::scalar(2.0), keep).expect("a trace").1.to_string()
}

/// For each layer, the length of its output and the length of the adjoint of its output.
pub fn lengths() -> Vec<(f64, f64)> {
    let he = (2.0 / (1.04 * WIDTH as f64)).sqrt();
    let weights = Array::from_fn((LAYERS, WIDTH, WIDTH), |ix| {
        let n = ((ix[0] * WIDTH + ix[1]) * WIDTH + ix[2] + 1) as f64;
        let gain = if ix[0] == WRONG { 30.0 } else { 1.0 };
        gain * he * 2f64.sqrt() * (n * n * 0.37).sin()
    });
    let weights = weights.expect("weights");
    let x = Array::vector((0..WIDTH).map(|i| (i as f64).cos()).collect());
    let prog = afun(layers::loss);
    let (_, t) = trace_on(&Interpreter, &prog, (&weights, &x), Keep::Arrays).expect("a trace");
    let adjoints = t.reverse(&Array::scalar(1.0)).expect("adjoints");
    let length = |v: &Vector<f64>| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let outputs = t.named("h").expect("vectors");
    let adjoints = adjoints.named("h").expect("vectors");
    outputs.iter().zip(&adjoints).map(|(h, dh)| (length(h), length(dh))).collect()
}

/// The layers and their lengths.
pub fn table() -> String {
    let line = |(k, (h, dh)): (usize, &(f64, f64))| format!("{k:5} {h:9.2} {dh:9.0}\n");
    let lines: String = lengths().iter().enumerate().map(line).collect();
    format!("layer       |h|   adjoint\n{lines}")
}

/// The lengths as bars, one for each layer, on a logarithmic scale.
pub fn picture() -> String {
    const BAR: f64 = 40.0;
    let (left, top, height) = (60.0, 40.0, 180.0);
    let lengths = lengths();
    let largest = lengths.iter().fold(1.0, |m: f64, (h, dh)| m.max(*h).max(*dh)).log10().ceil();
    let y = |x: f64| top + height * (1.0 - x.log10().max(0.0) / largest);
    let width = left + lengths.len() as f64 * BAR + 20.0;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} 270\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{width}\" height=\"270\" fill=\"white\"/>\n\
         <text x=\"{left}\" y=\"20\" font-size=\"14\">Length of the output of each layer (grey) and of its adjoint (blue)</text>\n"
    );
    for power in 0..=largest as i32 {
        let y = y(10f64.powi(power));
        text += &format!("<path stroke=\"#ddd\" d=\"M{left} {y:.1}H{width}\"/>\n");
        text += &format!("<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">1e{power}</text>\n", left - 5.0, y + 4.0);
    }
    for (k, (h, dh)) in lengths.iter().enumerate() {
        let x = left + k as f64 * BAR;
        for (x, value, colour) in [(x + 4.0, h, "#a0aec0"), (x + 20.0, dh, "#2b6cb0")] {
            let y = y(*value);
            let bar = top + height - y;
            text += &format!("<rect x=\"{x}\" y=\"{y:.1}\" width=\"15\" height=\"{bar:.1}\" fill=\"{colour}\"/>\n");
        }
        text += &format!("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{k}</text>\n", x + 20.0, top + height + 15.0);
    }
    let middle = left + lengths.len() as f64 * BAR / 2.0;
    text + &format!("<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">layer</text>\n</svg>\n", top + height + 32.0)
}
