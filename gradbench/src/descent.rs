//! Gradient descent with derivatives in either mode, for the evals that differentiate through a minimum.

use accel::prelude::*;

/// A mode of differentiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One direction at a time.
    Forward,
    /// All directions at once.
    Reverse,
}

/// The modes of an outer and an inner derivative, with the names of the evals' functions.
pub const MODES: [(&str, Mode, Mode); 4] = [
    ("ff", Mode::Forward, Mode::Forward),
    ("fr", Mode::Forward, Mode::Reverse),
    ("rf", Mode::Reverse, Mode::Forward),
    ("rr", Mode::Reverse, Mode::Reverse),
];

/// A point of a space of one or two dimensions.
pub trait Point: Elt {
    /// The directions of the axes.
    fn axes() -> Vec<Self>;
    /// The point with these coordinates.
    fn point(coordinates: &[Exp<f64>]) -> Exp<Self>;
    /// The coordinates of a point.
    fn coordinates(point: Self::Exp) -> Vec<Exp<f64>>;
}

impl Point for f64 {
    fn axes() -> Vec<f64> {
        vec![1.0]
    }
    fn point(coordinates: &[Exp<f64>]) -> Exp<f64> {
        coordinates[0]
    }
    fn coordinates(x: Exp<f64>) -> Vec<Exp<f64>> {
        vec![x]
    }
}

impl Point for (f64, f64) {
    fn axes() -> Vec<(f64, f64)> {
        vec![(1.0, 0.0), (0.0, 1.0)]
    }
    fn point(coordinates: &[Exp<f64>]) -> Exp<(f64, f64)> {
        pair(coordinates[0], coordinates[1])
    }
    fn coordinates((x, y): (Exp<f64>, Exp<f64>)) -> Vec<Exp<f64>> {
        vec![x, y]
    }
}

/// A function of points that also takes data.
pub type Field<C, P> = Afun<(C, Scalar<P>), Scalar<f64>>;

/// The gradient of a function at `x`.
pub fn gradient_in<C: Arrays, P: Point>(
    mode: Mode,
    f: &Field<C, P>,
    data: Acc<C>,
    x: Acc<Scalar<P>>,
) -> Acc<Scalar<P>> {
    let by_x = f.by(|(_, x)| x);
    match mode {
        Mode::Reverse => call(grad(by_x), (data, x)),
        Mode::Forward => {
            let along = jvp(by_x);
            let slope = |axis| the(call(&along, ((data, x), unit(constant(axis)))).1);
            unit(P::point(&P::axes().into_iter().map(slope).collect::<Vec<_>>()))
        }
    }
}

/// Where the search ends: at gradients and steps of this length.
const TOLERANCE: f64 = 1e-5;
/// The most steps of a search. A search that gets lost ends here, with NaN. So does one that gets to a
/// place where the function is NaN.
const MOST_STEPS: i64 = 1_000;

/// Where a function has a minimum, by gradient descent from `start`. After ten steps in a row that lead downwards, the
/// next ones are twice as long. A step that does not is not taken, and the next one is half as long.
pub fn argmin<C: Arrays, P: Point>(mode: Mode, f: &Field<C, P>, data: Acc<C>, start: Acc<Scalar<P>>) -> Acc<Scalar<P>> {
    let value = |x| call(f, (data, x));
    let slope = |x| gradient_in(mode, f, data, x);

    let goes_on = |(x, _, slope, pace): Search<P>| {
        let (size, _, steps) = the(pace);
        let (x, slope) = (P::coordinates(the(x)), P::coordinates(the(slope)));
        let step = x.iter().zip(downhill(&x, &slope, size)).map(|(x, next)| *x - next).collect::<Vec<_>>();
        length(&slope).gt(TOLERANCE).and(length(&step).gt(TOLERANCE)).and(steps.lt(MOST_STEPS))
    };
    let search = |(x, height, down, pace): Search<P>| {
        let (size, taken, steps) = the(pace);
        let next = unit(P::point(&downhill(&P::coordinates(the(x)), &P::coordinates(the(down)), size)));
        let next_height = value(next);
        let is_lower = the(next_height).lt(the(height));
        let (x, height, down) = acond(is_lower, (next, next_height, slope(next)), (x, height, down));
        let if_taken = cond(taken.eq(9), pair(size * 2.0, 0i64), pair(size, taken + 1));
        let (size, taken) = cond(is_lower, if_taken, pair(size / 2.0, 0i64)).unlift();
        (x, height, down, unit((size, taken, steps + 1)))
    };
    let begin = (start, value(start), slope(start), unit((lit::<f64>(1e-5), constant(0i64), constant(0i64))));
    let (x, height, _, pace) = awhile(goes_on, search, begin);
    let is_found = the(pace).2.lt(MOST_STEPS).and(!the(height).is_nan());
    let found = |x| cond(is_found, x, lit(f64::NAN));
    unit(P::point(&P::coordinates(the(x)).into_iter().map(found).collect::<Vec<_>>()))
}

/// The point, the function's value and gradient there; the size of the steps, how many were taken since it changed, and how
/// many were tried.
type Search<P> = (Acc<Scalar<P>>, Acc<Scalar<f64>>, Acc<Scalar<P>>, Acc<Scalar<(f64, i64, i64)>>);

fn downhill(x: &[Exp<f64>], slope: &[Exp<f64>], size: Exp<f64>) -> Vec<Exp<f64>> {
    x.iter().zip(slope).map(|(x, slope)| *x - size * *slope).collect()
}

fn length(x: &[Exp<f64>]) -> Exp<f64> {
    x.iter().fold(lit(0.0), |sum, x| sum + *x * *x).sqrt()
}
