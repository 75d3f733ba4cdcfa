//! Random programs as functions of the surface language, and their arguments and derivatives as lists of floats.

use super::build::{Args, Builder, Results};
use super::generate::SMOOTH;
use super::objective::floats;
use super::plain::Evaluator;
use super::program::{Inputs, Program};
use accel::prelude::*;

/// The program in the surface language.
pub fn program(p: &Program, sharing: bool) -> Afun<Args, Results> {
    afun(|args: Acc<Args>| Builder::new(p, args, sharing).results())
}

/// A number that depends on all results.
pub fn objective(p: &Program) -> Afun<Args, Scalar<f64>> {
    afun(|args: Acc<Args>| Builder::new(p, args, true).objective())
}

/// The inputs as arguments.
pub fn args(inputs: &Inputs) -> Args {
    let Inputs { xs, ys, m, is } = inputs.clone();
    let m = Array::matrix(m.0, m.1, m.2).expect("as many elements as the extents say");
    (Array::vector(xs), Array::vector(ys), m, Array::vector(is))
}

/// All floats of arguments, in the order of [`floats`].
pub fn flat(args: &Args) -> Vec<f64> {
    [args.0.as_slice(), args.1.as_slice(), args.2.as_slice()].concat()
}

/// Whether a program has derivatives that are meaningful. Shrinking can make values large.
pub fn is_differentiable(p: &Program) -> bool {
    let mut e = Evaluator::new(&p.inputs);
    p.steps.iter().for_each(|(ty, s)| e.step(*ty, s));
    SMOOTH.allow(&e) && !floats(&p.inputs).is_empty()
}

/// An error of the library, as the message of a failed property.
pub fn text(e: Error) -> String {
    e.to_string()
}

/// The largest difference, relative to the largest entry, or to 1 if that is larger; infinite for NaN.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    let scale = b.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    let far = a.iter().zip(b).map(|(a, b)| (a - b).abs() / scale);
    far.fold(0.0, |m, d| {
        if d <= m {
            m
        } else if d.is_nan() {
            f64::INFINITY
        } else {
            d
        }
    })
}

/// Whether an error says that the state of a loop changes its extents, for which reverse mode has no rule.
pub fn changes_extents(e: &Error) -> bool {
    matches!(e, Error::Shape { op, .. } if op.starts_with("`awhile`"))
}
