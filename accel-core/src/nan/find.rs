//! Finds NaN in a run of a program, for users.

use super::finding::Finding;
use crate::afun::AsAfun;
use crate::error::Result;
use crate::interp::Interpreted;
use crate::types::{Arrays, Inputs};

/// Runs a program on the interpreter and finds where NaN or infinity appears first. `None` if every operation has finite
/// results for finite arguments. The program can be a derivative: `find_nan(grad(&prog), &xs)`.
///
/// NaN appears where a primitive function makes it of other numbers, and infinity where one makes it of finite numbers.
/// Infinities of the argument and of constants do not count.
///
/// ```
/// use accel_core::nan::find_nan;
/// use accel_core::prelude::*;
///
/// let logs = afun(|xs: Acc<Vector<f64>>| map(|x| x.ln(), xs));
/// let found = find_nan(&logs, &Array::vector(vec![1.0, 2.0, -3.0]))?.unwrap();
/// assert_eq!(found.nan.as_ref().unwrap().index, [2]);
/// assert!(found.to_string().starts_with("`log(-3.0)` is NaN at index [2] of `map` at "));
/// assert!(find_nan(&logs, &Array::vector(vec![1.0, 2.0, 3.0]))?.is_none());
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// Those of a run, if nothing was found before.
pub fn find_nan<A: Arrays, R: Arrays>(prog: impl AsAfun<A, R>, inputs: impl Inputs<A>) -> Result<Option<Finding>> {
    let program = Interpreted::new(prog.as_afun().program()?);
    Ok(program.run_watched(&inputs.to_tuple())?.0)
}
