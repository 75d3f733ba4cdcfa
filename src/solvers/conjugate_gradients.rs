//! The method of conjugate gradients.

use super::{S, Steps, Stop, V, next};
use crate::types::Floating;
use crate::{Exp, awhile, dot, fill, lit, the, unit, zip_with};

/// The solution, the number of steps, and the residual in relation to `b` (Saad 2003, algorithm 9.1).
pub(super) fn conjugate_gradients<T: Floating>(
    stop: Stop,
    product: impl Fn(V<T>) -> V<T>,
    precondition: impl Fn(V<T>) -> V<T>,
    b: V<T>,
) -> (V<T>, Steps, S<T>) {
    type State<T> = (V<T>, V<T>, V<T>, S<T>, S<T>, Steps);
    let ratio = |x: S<T>, y: S<T>| zip_with(|x: Exp<T>, y: Exp<T>| x / y, x, y);
    let all = dot(b, b);
    let relative = |square: S<T>| {
        zip_with(|x: Exp<T>, all: Exp<T>| (x / all.max(lit::<T>(f64::MIN_POSITIVE))).sqrt(), square, all)
    };
    let step = |(x, rest, direction, weighted, _, steps): State<T>| {
        let image = product(direction);
        let t = ratio(weighted, dot(direction, image));
        let (x, rest) = (x + t * direction, rest - t * image);
        let gradient = precondition(rest);
        let now = dot(rest, gradient);
        (x, rest, gradient + ratio(now, weighted) * direction, now, dot(rest, rest), next(steps))
    };
    let gradient = precondition(b);
    let begin = (fill(b.shape(), lit::<T>(0.0)), b, gradient, dot(b, gradient), all, unit(0i64));
    let goes_on = |(_, _, _, _, square, steps): State<T>| {
        the(square).gt(lit::<T>(0.0)).and(stop.goes_on(relative(square), steps))
    };
    let (x, _, _, _, square, steps) = awhile(goes_on, step, begin);
    (x, steps, relative(square))
}
