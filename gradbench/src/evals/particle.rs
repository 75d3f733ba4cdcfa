//! The parameter for which a charged particle lands at the origin, by gradient descent through its path. The force on the
//! particle is a derivative, too.

use crate::conversions::number;
use crate::descent::{Field, MODES, Mode, argmin, gradient_in};
use crate::module::{Failure, Module};
use accel::backend::Backend;
use accel::prelude::*;
use serde::Deserialize;

/// The time of a step.
const STEP: f64 = 0.1;
/// The most steps of a path. The square of a landing place behind them is NaN.
const MOST_STEPS: i64 = 10_000;

type Place = Acc<Scalar<(f64, f64)>>;

/// The potential at a place, of two charges: at (10, 10 - w), and at (10, 0).
fn potential(w: Acc<Scalar<f64>>, place: Place) -> Acc<Scalar<f64>> {
    let (x, y) = the(place);
    let of_charge = |height: Exp<f64>| 1.0 / ((x - 10.0) * (x - 10.0) + (y - height) * (y - height)).sqrt();
    unit(of_charge(10.0 - the(w)) + of_charge(lit(0.0)))
}

/// The square of the place at which the particle crosses the line y = 0, with forces in this mode.
pub fn landing(mode: Mode) -> Field<(), f64> {
    let potential = afun(potential);
    afun(move |_: Acc<()>, w: Acc<Scalar<f64>>| {
        let moved = |place: Place, speed: Place| {
            let ((x, y), (u, v)) = (the(place), the(speed));
            (x + STEP * u, y + STEP * v)
        };
        let above = |(place, speed, steps): (Place, Place, Acc<Scalar<i64>>)| {
            moved(place, speed).1.gt(0.0).and(the(steps).lt(MOST_STEPS))
        };
        let fly = |(place, speed, steps): (Place, Place, Acc<Scalar<i64>>)| {
            let ((u, v), (by_x, by_y)) = (the(speed), the(gradient_in(mode, &potential, w, place)));
            (unit(moved(place, speed)), unit((u - STEP * by_x, v - STEP * by_y)), unit(the(steps) + 1))
        };
        let at = |x: f64, y: f64| unit(constant((x, y)));
        let (place, speed, steps) = awhile(above, fly, (at(0.0, 8.0), at(0.75, 0.0), unit(0i64)));
        let ((x, y), (u, v)) = (moved(place, speed), the(speed));
        let landing = x - y / v * u;
        unit(cond(the(steps).lt(MOST_STEPS), landing * landing, lit(f64::NAN)))
    })
}

/// The four combinations of modes.
pub fn module(backend: &'static dyn Backend) -> Result<Module, Error> {
    MODES.into_iter().try_fold(Module::new(backend), |module, (name, outer, inner)| {
        let landing = landing(inner);
        let search = afun(|w: Acc<Scalar<f64>>| argmin(outer, &landing, ().into_acc(), w));
        module.function(name, search, argument, number)
    })
}

/// The input that the eval sends: where the search begins.
#[derive(Deserialize)]
struct Input {
    w: f64,
}

fn argument(input: Input) -> Result<Scalar<f64>, Failure> {
    Ok(Array::scalar(input.w))
}
