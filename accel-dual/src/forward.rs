//! Tangents.

use crate::differentiable::Differentiable;
use crate::dual::Dual;
use crate::error::Result;
use crate::real::Real;
use crate::reverse::shape;

/// The value of `f` at `x`, and its derivative in the direction `dx`.
///
/// ```
/// let (y, dy) = accel_dual::jvp(|[x, y]| x * y, &[2.0, 3.0], &[1.0, 0.5])?;
/// assert_eq!((y, dy), (6.0, 4.0));
/// # Ok::<(), accel_dual::Error>(())
/// ```
///
/// # Errors
/// A direction of another shape than `x`.
pub fn jvp<S, X, Y, F>(f: F, x: &X, dx: &X::With<S>) -> Result<(Y::With<S>, Y::With<S>)>
where
    S: Real,
    X: Differentiable<S>,
    Y: Differentiable<Dual<S, 1>>,
    F: FnOnce(X::With<Dual<S, 1>>) -> Y,
{
    let mut tangents = vec![];
    x.zip(dx, &mut |_, t| tangents.push(t)).map_err(|e| shape("jvp", e))?;
    let mut tangents = tangents.into_iter();
    let y = f(x.map(&mut |value| Dual::new(value, [tangents.next().unwrap_or_else(S::zero)])));
    Ok((y.map(&mut |d: Dual<S, 1>| d.value), y.map(&mut |d: Dual<S, 1>| d.tangent[0])))
}

/// The number of columns of a Jacobian that one evaluation computes.
const DIRECTIONS: usize = 8;

/// The numbers with which [`jacobian_columns`] calls its function: values with eight tangents.
pub type Tangents<S = f64> = Dual<S, DIRECTIONS>;

/// The value of `f` at `x`, and the derivatives of the result by each number of `x`, in their order: the columns of the
/// Jacobian.
///
/// One evaluation computes eight columns.
///
/// ```
/// let (y, columns) = accel_dual::jacobian_columns(|x| [x * x, x + x], &3.0);
/// assert_eq!((y, columns), ([9.0, 6.0], vec![[6.0, 2.0]]));
/// ```
pub fn jacobian_columns<S, X, Y, F>(f: F, x: &X) -> (Y::With<S>, Vec<Y::With<S>>)
where
    S: Real,
    X: Differentiable<S>,
    Y: Differentiable<Tangents<S>>,
    F: Fn(X::With<Tangents<S>>) -> Y,
{
    let count = x.count();
    let evaluate = |begin: usize| {
        let mut k = 0usize;
        f(x.map(&mut |value| {
            k += 1;
            // Inputs before `begin` get a direction that does not exist.
            Dual::variable(value, (k - 1).wrapping_sub(begin))
        }))
    };
    let mut y = evaluate(0);
    let value = y.map(&mut |d: Tangents<S>| d.value);
    let mut columns = Vec::with_capacity(count);
    for begin in (0..count).step_by(DIRECTIONS) {
        if begin > 0 {
            y = evaluate(begin);
        }
        columns.extend((0..DIRECTIONS.min(count - begin)).map(|k| y.map(&mut |d: Tangents<S>| d.tangent[k])));
    }
    (value, columns)
}
