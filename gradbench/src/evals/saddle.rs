//! The saddle point of a function, by gradient descent through a gradient ascent.

use crate::descent::{Field, MODES, Mode, argmin};
use crate::module::{Failure, Module};
use accel::backend::Backend;
use accel::prelude::*;
use serde::Deserialize;

type Point = Acc<Scalar<(f64, f64)>>;

/// (x₁² + x₂²) - (y₁² + y₂²), which has a saddle point at the origin.
fn height(x: Point, y: Point) -> Acc<Scalar<f64>> {
    let square = |point: Point| {
        let (a, b) = the(point);
        a * a + b * b
    };
    unit(square(x) - square(y))
}

/// Where the height is largest for a given x: the depth, which is the height negated, is smallest there.
fn highest(mode: Mode, x: Point, start: Point) -> Point {
    let depth = afun(|x, y| map(|height| -height, height(x, y)));
    argmin(mode, &depth, x, start)
}

/// The point x at which the largest height over all y is smallest, and this y. Both searches begin at `start`. The
/// outer search differentiates the inner one.
pub fn saddle(outer: Mode, inner: Mode, start: Point) -> (Point, Point) {
    let ridge: Field<_, _> = afun(|start, x| height(x, highest(inner, x, start)));
    let x = argmin(outer, &ridge, start, start);
    (x, highest(outer, x, start))
}

/// The four combinations of modes.
pub fn module(backend: &'static dyn Backend) -> Result<Module, Error> {
    MODES.into_iter().try_fold(Module::new(backend), |module, (name, outer, inner)| {
        let search = afun(move |start: Point| saddle(outer, inner, start));
        module.function(name, search, argument, |(x, y): (Scalar<_>, Scalar<_>)| {
            let ((x1, x2), (y1, y2)): ((f64, f64), (f64, f64)) = (x.item(), y.item());
            [x1, x2, y1, y2]
        })
    })
}

/// The input that the eval sends: where the searches begin.
#[derive(Deserialize)]
struct Input {
    start: (f64, f64),
}

fn argument(input: Input) -> Result<Scalar<(f64, f64)>, Failure> {
    Ok(Array::scalar(input.start))
}
