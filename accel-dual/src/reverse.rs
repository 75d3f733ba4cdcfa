//! Gradients and pullbacks.

use crate::differentiable::{Differentiable, Mismatch};
use crate::dual::Dual;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::record::{Numbers, Recorded, TapeSize};
use crate::rev::Rev;
use crate::tape::base::{Base, Primitive};
use crate::tape::cell::Cell;
use crate::tape::recorder::Settings;
use num_traits::One;

/// The value of `f` at `x`, and its pullback: the function from an adjoint of the result to the adjoint of the input. It can
/// be called any number of times.
///
/// ```
/// let (y, pullback) = accel_dual::vjp(|(x, y)| (x * y, x + y), (12.0, 13.0))?;
/// assert_eq!(y, (156.0, 25.0));
/// assert_eq!(pullback.call(&(1.0, 0.0))?, (13.0, 12.0));
/// assert_eq!(pullback.call(&(0.0, 1.0))?, (1.0, 1.0));
/// # Ok::<(), accel_dual::Error>(())
/// ```
///
/// # Errors
/// Numbers of other calls ([`Error::Foreign`]), numbers that moved between parallel jobs ([`Error::Smuggled`]), and tapes
/// that are too long ([`Error::TapeFull`]).
///
/// # Panics
/// Only if `f` panics.
pub fn vjp<S, X, Y, F>(f: F, x: X) -> Result<(Y::With<S>, Pullback<S, X, Y>)>
where
    S: Base,
    X: Differentiable<S>,
    Y: Differentiable<Rev<S>>,
    F: FnOnce(X::With<Rev<S>>) -> Y,
{
    Settings::DEFAULT.vjp(f, x)
}

/// The value and the gradient of `f` at `x`. The gradient has the structure of `x`. The errors are those of [`vjp`].
pub fn value_and_grad<S, X, F>(f: F, x: &X) -> Result<(S, X::With<S>)>
where
    S: Base,
    X: Differentiable<S>,
    F: FnOnce(X::With<Rev<S>>) -> Rev<S>,
{
    Settings::DEFAULT.value_and_grad(f, x)
}

/// The gradient of `f` at `x`. It has the structure of `x`. The errors are those of [`vjp`].
pub fn grad<S, X, F>(f: F, x: &X) -> Result<X::With<S>>
where
    S: Base,
    X: Differentiable<S>,
    F: FnOnce(X::With<Rev<S>>) -> Rev<S>,
{
    Ok(value_and_grad(f, x)?.1)
}

/// The value of `f` at `x`, and the gradient of each number of the result, in their order: the rows of the Jacobian.
///
/// The cost is that of one evaluation and one reverse pass for each number of the result.
/// [`jacobian_columns`](crate::jacobian_columns) is for few inputs. The errors are those of [`vjp`].
pub fn jacobian<S, X, Y, F>(f: F, x: &X) -> Result<(Y::With<S>, Vec<X::With<S>>)>
where
    S: Base,
    X: Differentiable<S>,
    Y: Differentiable<Rev<S>>,
    F: FnOnce(X::With<Rev<S>>) -> Y,
{
    let (y, recorded, count) = record("jacobian", Settings::DEFAULT, f, x)?;
    let mut seeds = vec![S::zero(); count];
    let mut rows = Vec::with_capacity(count);
    for k in 0..count {
        seeds[k] = S::one();
        rows.push(recorded.pull("jacobian", &seeds, |inputs| refill(x, inputs.iter().map(Cell::get)))?);
        seeds[k] = S::zero();
    }
    Ok((y.map(&mut |r: Rev<S>| r.value()), rows))
}

/// The number of columns of a Hessian that one evaluation computes.
const DIRECTIONS: usize = 4;

/// The numbers with which [`hessian`] calls its function: reverse mode over values with four tangents.
pub type Second<S = f64> = Rev<Dual<S, DIRECTIONS>>;

/// The second derivatives of `f` at `x`, one row for each number of `x`. Each row has the structure of `x`.
///
/// One evaluation and one reverse pass compute four rows. The errors are those of [`vjp`].
///
/// ```
/// let rows = accel_dual::hessian(|[x, y]| x * x * y, &[2.0, 3.0])?;
/// assert_eq!(rows, [[6.0, 4.0], [4.0, 0.0]]);
/// # Ok::<(), accel_dual::Error>(())
/// ```
pub fn hessian<S, X, F>(f: F, x: &X) -> Result<Vec<X::With<S>>>
where
    S: Primitive,
    X: Differentiable<S>,
    F: Fn(X::With<Second<S>>) -> Second<S>,
{
    let count = x.count();
    let mut rows = Vec::with_capacity(count);
    for begin in (0..count).step_by(DIRECTIONS) {
        let program = |job| {
            let mut k = 0;
            f(x.map(&mut |value| {
                k += 1;
                // Inputs before `begin` get a direction that does not exist.
                Rev::at(Dual::variable(value, (k - 1usize).wrapping_sub(begin)), job, k as u32)
            }))
        };
        let (_, recorded) = Recorded::new("hessian", Settings::DEFAULT, count, program, |y| Numbers::from([*y]))?;
        recorded.pull("hessian", &[Dual::one()], |inputs| {
            let row = |direction: usize| refill(x, inputs.iter().map(|a| a.get().tangent[direction]));
            rows.extend((0..DIRECTIONS.min(count - begin)).map(row));
        })?;
    }
    Ok(rows)
}

impl Settings {
    /// [`vjp`] with these settings.
    ///
    /// # Errors
    /// Those of [`vjp`].
    pub fn vjp<S, X, Y, F>(self, f: F, x: X) -> Result<(Y::With<S>, Pullback<S, X, Y>)>
    where
        S: Base,
        X: Differentiable<S>,
        Y: Differentiable<Rev<S>>,
        F: FnOnce(X::With<Rev<S>>) -> Y,
    {
        let (y, recorded, count) = record("vjp", self, f, &x)?;
        let value = y.map(&mut |r: Rev<S>| r.value());
        Ok((value, Pullback { recorded, x, y, count }))
    }

    /// [`value_and_grad`] with these settings.
    ///
    /// # Errors
    /// Those of [`vjp`].
    pub fn value_and_grad<S, X, F>(self, f: F, x: &X) -> Result<(S, X::With<S>)>
    where
        S: Base,
        X: Differentiable<S>,
        F: FnOnce(X::With<Rev<S>>) -> Rev<S>,
    {
        let (y, recorded, _) = record("grad", self, f, x)?;
        let gradient = recorded.pull("grad", &[S::one()], |inputs| refill(x, inputs.iter().map(Cell::get)))?;
        Ok((y.value(), gradient))
    }
}

/// Records `f` at `x`. Returns the result, the record, and the number of numbers in the result.
fn record<S, X, Y, F>(op: &'static str, settings: Settings, f: F, x: &X) -> Result<(Y, Recorded<S>, usize)>
where
    S: Base,
    X: Differentiable<S>,
    Y: Differentiable<Rev<S>>,
    F: FnOnce(X::With<Rev<S>>) -> Y,
{
    let mut count = 0;
    let program = |job| {
        let mut index = 0;
        f(x.map(&mut |value| {
            index += 1;
            Rev::at(value, job, index)
        }))
    };
    let results = |y: &Y| {
        let mut results = Numbers::new();
        y.each(&mut |r| results.push(r));
        count = results.len();
        results
    };
    let (y, recorded) = Recorded::new(op, settings, x.count(), program, results)?;
    Ok((y, recorded, count))
}

/// The structure of `x` with other numbers.
fn refill<S: Real, X: Differentiable<S>>(x: &X, numbers: impl IntoIterator<Item = S>) -> X::With<S> {
    let mut numbers = numbers.into_iter();
    // There are as many numbers as `x` has.
    x.map(&mut |_| numbers.next().unwrap_or_else(S::zero))
}

/// The function from an adjoint of the result to the adjoint of the input, made by [`vjp`].
#[derive(Debug)]
pub struct Pullback<S: Base, X, Y> {
    recorded: Recorded<S>,
    x: X,
    y: Y,
    count: usize,
}

impl<S: Base, X: Differentiable<S>, Y: Differentiable<Rev<S>>> Pullback<S, X, Y> {
    /// The adjoint of the input from an adjoint of the result. Both have the structures of the values. Several threads can
    /// call it at once.
    ///
    /// # Errors
    /// An adjoint of another shape than the result ([`Error::Shape`]), and the errors of custom operations.
    pub fn call(&self, adjoint: &Y::With<S>) -> Result<X::With<S>> {
        let mut seeds = Vec::with_capacity(self.count);
        self.y.zip(adjoint, &mut |_, seed| seeds.push(seed)).map_err(|e| shape("pullback", e))?;
        self.recorded.pull("pullback", &seeds, |inputs| refill(&self.x, inputs.iter().map(Cell::get)))
    }

    /// The size of the tape.
    pub fn tape(&self) -> TapeSize {
        self.recorded.size()
    }
}

/// The error for structures of different shapes.
pub(crate) fn shape(op: &'static str, e: Mismatch) -> Error {
    Error::Shape { op, expected: e.expected, found: e.found }
}
