//! Compares the same program on several backends.

use accel::backend::{Backend, Executable};
use accel::prelude::*;
use accel::repr::{ArrayTuple, Column, RawArray};

/// The permitted distance of two floats, relative to the larger one, or to 1 if both are smaller.
///
/// NOTE [Tolerances between backends]: the interpreter and the evaluator of kernel programs compute the same bits. The
/// optimised programs and the native backend add in another order where a scatter or a reduction accumulates, and
/// vector maths is accurate only to 4 ulps. These are differences of some ulps in intermediate results, which later
/// operations can enlarge.
pub const CLOSE: f64 = 1e-9;
/// The same for single-precision floats: a hundred ulps.
const CLOSE_SINGLE: f64 = 1e-5;

/// The result of a program on a backend, or its error.
type Outcome = Result<ArrayTuple, Error>;

/// Compiles and runs.
pub fn outcome<A: Arrays, R: Arrays>(backend: &dyn Backend, f: &Afun<A, R>, argument: &ArrayTuple) -> Outcome {
    let executable: Box<dyn Executable> = backend.compile(f.program()?)?;
    executable.run(argument)
}

/// Compares the outcome of a backend with that of the interpreter. Returns an error if they do not agree.
///
/// A backend that omits what is not needed can succeed although the interpreter fails. Every error of a backend must be
/// an error of the program.
pub fn compare(expected: &Outcome, found: &Outcome, close: f64) -> Result<(), String> {
    match (expected, found) {
        (_, Err(Error::Internal(e))) => Err(format!("an internal error: {e}")),
        (Ok(x), Ok(y)) => tuples(x, y, close),
        (Ok(x), Err(e)) => Err(format!("an error where the interpreter has {x:?}: {e}")),
        (Err(_), _) => Ok(()),
    }
}

fn tuples(x: &ArrayTuple, y: &ArrayTuple, close: f64) -> Result<(), String> {
    let (xs, ys) = (x.leaves(), y.leaves());
    match xs.len() == ys.len() && xs.iter().zip(&ys).all(|(x, y)| arrays(x, y, close)) {
        true => Ok(()),
        false => Err(format!("found {y:?}, expected {x:?}")),
    }
}

fn arrays(x: &RawArray, y: &RawArray, close: f64) -> bool {
    let columns = |(x, y): (&Column, &Column)| match (x, y) {
        (Column::F64(x), Column::F64(y)) => {
            x.len() == y.len() && x.iter().zip(y.iter()).all(|(x, y)| near(*x, *y, close))
        }
        // The tolerance must not be smaller than the precision of these numbers.
        (Column::F32(x), Column::F32(y)) if close > 0.0 => {
            let mut pairs = x.iter().zip(y.iter());
            x.len() == y.len() && pairs.all(|(x, y)| near((*x).into(), (*y).into(), CLOSE_SINGLE))
        }
        (x, y) => x == y,
    };
    x.extents == y.extents && x.columns.len() == y.columns.len() && x.columns.iter().zip(&y.columns).all(columns)
}

fn near(x: f64, y: f64, close: f64) -> bool {
    x == y || x.is_nan() && y.is_nan() || (x - y).abs() <= close * x.abs().max(y.abs()).max(1.0)
}
