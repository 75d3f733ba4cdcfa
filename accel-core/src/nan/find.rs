//! Finds NaN and kinks in a run of a program, for users.

use super::finding::{Appearance, Finding};
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

/// Runs a derivative on the interpreter and finds where it is a convention first: where 0 stands for `0 * inf` or `0 / 0`, as the
/// derivative of a root at 0 does, or the sign of 0 for the derivative of an absolute value. `None` if there is no such place.
///
/// A gradient by a convention is often the one that is meant: of `norm(x)` at 0, and of what a mask hides. Its own derivatives are
/// not: those of smooth functions of a root are finite and wrong there. So this is the question to ask about a Hessian. What a condition
/// decides is not found: equal arguments of `max` and `min`, and `norm`, which asks for zeros.
///
/// ```
/// use accel_core::nan::find_kink;
/// # use accel_core::prelude::*;
///
/// // A derivative is usually `grad(&f)`; this is one that was written.
/// let sign = afun(|xs: Acc<Vector<f64>>| map(|x| x.signum(), xs));
/// assert!(find_kink(&sign, &Array::vector(vec![1.0, 0.0]))?.is_none());
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// Those of a run.
pub fn find_kink<A: Arrays, R: Arrays>(prog: impl AsAfun<A, R>, inputs: impl Inputs<A>) -> Result<Option<Appearance>> {
    Interpreted::new(prog.as_afun().program()?).first_kink(&inputs.to_tuple())
}
