//! Compares the same program on several backends.

use accel::ast::Program;
use accel::backend::Backend;
use accel::interp::Interpreted;
use accel::prelude::Error;
use accel::repr::{ArrayTuple, Column, RawArray};

/// The permitted distance of two floats, relative to the larger one.
///
/// NOTE [Tolerances between backends]: the interpreter and the evaluator of kernel programs compute the same bits. The
/// optimised programs and the native backend add in another order where a scatter or a reduction accumulates, and
/// vector maths is accurate only to 4 ulps. These are differences of some ulps in intermediate results, which later
/// operations can enlarge: where numbers cancel, the difference is relative to the numbers that were there before.
pub const CLOSE: f64 = 1e-9;
/// The permitted distance where numbers cancel, relative to 1 or to the largest number of the results.
const CANCELLED: f64 = 1e-13;
/// The same for single-precision floats: a hundred ulps, and a few.
const CLOSE_SINGLE: f64 = 1e-5;
const CANCELLED_SINGLE: f64 = 1e-6;

/// The result of a program on a backend, or its error.
type Outcome = Result<ArrayTuple, Error>;

/// Compiles and runs.
pub fn outcome(backend: &dyn Backend, program: &Program, argument: &ArrayTuple) -> Outcome {
    backend.compile(program)?.run(argument)
}

/// Compares the outcome of a backend with that of the interpreter. Returns an error if they do not agree.
///
/// A backend that omits what is not needed can succeed although the interpreter fails. Every error of a backend must be
/// an error of the program: that of the interpreter, in the same operation and source line. [`permitted`] allows others.
pub fn compare(expected: &Outcome, found: &Outcome, close: f64) -> Result<(), String> {
    match (expected, found) {
        (_, Err(Error::Internal(e))) | (Err(Error::Internal(e)), _) => Err(format!("an internal error: {e}")),
        (Ok(x), Ok(y)) => tuples(x, y, close),
        (Ok(x), Err(e)) => Err(format!("an error where the interpreter has {x:?}: {e}")),
        (Err(x), Err(y)) if !same_place(x, y) => Err(format!("the error \"{y}\", and the interpreter has \"{x}\"")),
        (Err(_), _) => Ok(()),
    }
}

/// What a backend must agree with that has found this: the outcome of the interpreter, or if that is an error, perhaps another error
/// that the interpreter would have if it went on. NOTE [Which error a run has] in `accel-core/src/interp/mod.rs`.
pub fn permitted(expected: Outcome, found: &Outcome, program: &Program, argument: &ArrayTuple) -> Outcome {
    let Err(found) = found else { return expected };
    match &expected {
        Err(e) if !same_place(e, found) => {
            let all = Interpreted::new(program).errors(argument)?;
            all.into_iter().find(|e| same_place(e, found)).map_or(expected, Err)
        }
        _ => expected,
    }
}

/// Whether two errors are of the same kind and name the same operation and source line. If several elements fail, a device
/// names any of them.
pub fn same_place(x: &Error, y: &Error) -> bool {
    match (x, y) {
        (Error::DivisionByZero { op: x, .. }, Error::DivisionByZero { op: y, .. }) => x == y,
        (Error::OutOfBounds { op: x, .. }, Error::OutOfBounds { op: y, .. }) => x == y,
        (Error::Shape { op: x, .. }, Error::Shape { op: y, .. }) => x == y,
        (x, y) => x.to_string() == y.to_string(),
    }
}

fn tuples(x: &ArrayTuple, y: &ArrayTuple, close: f64) -> Result<(), String> {
    let (xs, ys) = (x.leaves(), y.leaves());
    let columns = xs.iter().flat_map(|a| &a.columns);
    let largest = columns.flat_map(Column::floats).filter(|x| x.is_finite()).fold(1.0, |m: f64, x| m.max(x.abs()));
    match xs.len() == ys.len() && xs.iter().zip(&ys).all(|(x, y)| arrays(x, y, close, largest)) {
        true => Ok(()),
        false => Err(format!("found {y:?}, expected {x:?}")),
    }
}

fn arrays(x: &RawArray, y: &RawArray, close: f64, largest: f64) -> bool {
    let columns = |(x, y): (&Column, &Column)| match (x, y) {
        (Column::F64(_), Column::F64(_)) => near(x, y, close, CANCELLED.min(close) * largest),
        // The tolerance must not be smaller than the precision of these numbers.
        (Column::F32(_), Column::F32(_)) if close > 0.0 => near(x, y, CLOSE_SINGLE, CANCELLED_SINGLE * largest),
        (x, y) => x == y,
    };
    x.extents == y.extents && x.columns.len() == y.columns.len() && x.columns.iter().zip(&y.columns).all(columns)
}

/// Whether all numbers are equal, close relative to themselves, or not further apart than `cancelled`.
fn near(x: &Column, y: &Column, close: f64, cancelled: f64) -> bool {
    let (x, y) = (x.floats(), y.floats());
    let near = |(x, y): (&f64, &f64)| {
        x == y || x.is_nan() && y.is_nan() || (x - y).abs() <= (close * x.abs().max(y.abs())).max(cancelled)
    };
    x.len() == y.len() && x.iter().zip(&y).all(near)
}
