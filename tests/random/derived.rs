//! Small random programs and their derivatives as typed programs.

use crate::directions::numbers;
use crate::wide::build::build;
use crate::wide::objective::with_floats;
use crate::wide::plain::evaluate;
use crate::wide::program::Program;
use crate::wide::small::LARGEST;
use accel::ast;
use accel::backend::Executable;
use accel::interp::Interpreted;
use accel::prelude::*;
use accel::repr::ArrayTuple;
use accel_ad::{Reverse, forward_mode, reverse_mode};

/// An error of the library, as the message of a failed property.
pub fn text(e: Error) -> String {
    e.to_string()
}

pub fn typed(p: &Program) -> Result<ast::Program, String> {
    build(&p.body, None).map_err(text)
}

/// `(x, dx) -> (y, dy)`
pub fn jvp(p: &ast::Program) -> Result<ast::Program, String> {
    forward_mode(p, None, None).map_err(text)
}

/// `(x, dy) -> dx`
pub fn vjp(p: &ast::Program) -> Result<ast::Program, String> {
    reverse_mode(p, None, Reverse::Pullback { at: None }).map_err(text)
}

/// `x -> dx`, for an objective.
pub fn grad(p: &ast::Program) -> Result<ast::Program, String> {
    reverse_mode(p, None, Reverse::Gradient).map_err(text)
}

/// `x -> (y, dx)`, for an objective.
pub fn value_and_grad(p: &ast::Program) -> Result<ast::Program, String> {
    reverse_mode(p, None, Reverse::ValueAndGradient).map_err(text)
}

/// Runs a program on the interpreter.
pub fn run(p: &ast::Program, x: &ArrayTuple) -> Result<ArrayTuple, Error> {
    Interpreted::new(p).run(x)
}

/// The two components of a result.
pub fn both(x: ArrayTuple) -> (ArrayTuple, ArrayTuple) {
    let ArrayTuple::Pair(both) = x else { panic!("{x:?} is no pair") };
    (both.0.clone(), both.1.clone())
}

/// A direction at the argument, with numbers between -1 and 1.
pub fn spread(x: &ArrayTuple) -> ArrayTuple {
    with_floats(x, numbers())
}

/// The derivatives of an objective in the direction of each float, in forward mode, and its value.
pub fn forward(objective: &ast::Program, x: &ArrayTuple) -> Result<(f64, Vec<f64>), String> {
    let jvp = jvp(objective)?;
    let jvp = Interpreted::new(&jvp);
    let n = x.floats().len();
    let mut value = run(objective, x).map_err(text)?.floats()[0];
    let mut tangents = vec![];
    for i in 0..n {
        let unit = with_floats(x, (0..n).map(|j| f64::from(u8::from(i == j))));
        let (y, dy) = both(jvp.run(&ArrayTuple::pair(x.clone(), unit)).map_err(text)?);
        value = y.floats()[0];
        tangents.push(dy.floats()[0]);
    }
    Ok((value, tangents))
}

/// Whether a program has derivatives that are meaningful. Shrinking can make values large, and programs fail.
pub fn is_differentiable(p: &Program, x: &ArrayTuple) -> bool {
    let (_, e) = evaluate(p, x);
    !e.failed.get() && e.largest.get() <= LARGEST && !x.floats().is_empty()
}

/// The largest difference, relative to the largest entry, or to 1 if that is larger; infinite for NaN.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    let scale = b.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    let far = a.iter().zip(b).map(|(a, b)| (a - b).abs() / scale);
    far.fold(0.0, |m, d| if d.is_nan() { f64::INFINITY } else { d.max(m) })
}

/// Whether an error says that the state of a loop changes its extents, for which reverse mode has no rule.
pub fn changes_extents(e: &Error) -> bool {
    matches!(e, Error::Shape { op, .. } if op.starts_with("`awhile`"))
}
