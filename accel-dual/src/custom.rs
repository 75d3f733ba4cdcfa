//! Operations whose derivatives the user supplies.

use crate::error::Error;
use crate::rev::Rev;
use crate::tape::base::Base;
use crate::tape::recorder::{Pull, Recorder};
use std::fmt::Display;

/// Puts an operation with any number of inputs and results on the tape, as one node: `values` are its results, and
/// `pullback` computes the adjoints of the inputs from those of the results.
///
/// Each reverse pass calls `pullback` at most once, and only if an adjoint is not zero. So heavy parts of a program can
/// use code with derivatives of its own, such as solvers or compiled programs on arrays.
///
/// ```
/// use accel_dual::{Rev, custom, grad};
///
/// // The square, whose derivative is known.
/// let square = |x: Rev| {
///     let value = x.value();
///     let pullback = move |adjoint: &[f64]| Ok::<_, String>(vec![2.0 * value * adjoint[0]]);
///     custom("square", &[x], &[value * value], pullback)[0]
/// };
/// assert_eq!(grad(|x| square(x) * x, &3.0)?, 27.0);
/// # Ok::<(), accel_dual::Error>(())
/// ```
///
/// # Errors
/// An error of `pullback`, or a list of the wrong length, becomes [`Error::Custom`] of the reverse pass, with the name `op`.
pub fn custom<S, E, F>(op: &str, inputs: &[Rev<S>], values: &[S], pullback: F) -> Vec<Rev<S>>
where
    S: Base,
    E: Display,
    F: Fn(&[S]) -> std::result::Result<Vec<S>, E> + Send + Sync + 'static,
{
    let (op, count) = (op.to_string(), inputs.len());
    let pull = move |adjoints: &[S]| {
        let fail = |reason: String| Error::Custom { op: op.clone(), reason };
        let found = pullback(adjoints).map_err(|e| fail(e.to_string()))?;
        if found.len() != count {
            return Err(fail(format!("expected the adjoints of {count} inputs, found {}", found.len())));
        }
        Ok(found)
    };
    wide(inputs, values, Box::new(pull))
}

/// Appends a node with any number of inputs and results.
pub(crate) fn wide<S: Base>(inputs: &[Rev<S>], values: &[S], pull: Pull<S>) -> Vec<Rev<S>> {
    if inputs.iter().all(|x| x.place().is_none()) {
        return values.iter().map(|v| Rev::constant(*v)).collect();
    }
    let mut pull = Some(pull);
    let append = |r: &mut Recorder<S>| {
        // The adjoint of a constant goes to the place that nobody reads.
        let place = |x: &Rev<S>| x.place().map_or(Some((0, S::zero())), |(j, i, s)| Some((r.place(j, i)?, s)));
        let places = inputs.iter().map(place).collect::<Option<_>>()?;
        Some((r.job, r.wide(values.len(), places, &mut pull)?))
    };
    #[allow(unsafe_code)]
    // SAFETY: numbers are copied and `pull` is moved. It is neither called nor dropped there.
    let appended = unsafe { S::with(append) };
    match appended.flatten() {
        Some((job, first)) => (first..).zip(values).map(|(index, v)| Rev::at(*v, job, index)).collect(),
        None => values.iter().map(|v| Rev::lost(*v)).collect(),
    }
}
