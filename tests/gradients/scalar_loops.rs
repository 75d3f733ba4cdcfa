//! Loops in scalar code: with known and unknown numbers of steps, in branches, in other loops, and in operators.

use crate::harness::{V, jacobian, smooth};
use crate::higher_order::all_modes;
use crate::refined::{Any, NonEmpty};
use accel::prelude::*;

type Counted = (Exp<i64>, Exp<f64>);

/// `f` applied `n` times.
fn times(n: impl ToExp<i64>, f: impl Fn(Exp<f64>) -> Exp<f64>, x: impl ToExp<f64>) -> Exp<f64> {
    let n = n.to_exp();
    let (_, y) = while_(move |(i, _): Counted| i.lt(n), |(i, y)| (i + 1, f(y)), (0i64, x.to_exp()));
    y
}

#[test]
fn a_number_of_steps() {
    jacobian(Any, |a: V| map(|x| times(0, |y| y * y, x), a));
    jacobian(Any, |a: V| map(|x| times(1, |y| y.sin() * 2.0, x), a));
    jacobian(Any, |a: V| map(|x| times(7, |y| y.sin() * 2.0 + y, x), a));
    jacobian(Any, |a: V| imap(|i, x| times(i % 4, |y| y * y + 0.1, x * 0.3), a));
    // Of a variable from outside, and of a state that is not used.
    jacobian(Any, |a: V| map(|x| times(5, |y| y * 0.5 + x, 1.0), a));
    jacobian(Any, |a: V| map(|x| times(5, |_| x * x, 1.0), a));
    jacobian((Any, Any), |a: V, b: V| map(|(x, c)| times(4, |y| c * y * (y - 1.0) * 0.2, x), zip_min(a, b)));
}

#[test]
fn newton() {
    jacobian(Any, |a: V| {
        map(
            |x| {
                let target = x * x + 1.0;
                times(8, move |y| (y + target / y) * 0.5, x.abs() + 1.0)
            },
            a,
        )
    });
}

/// The number of steps depends on the input.
#[test]
fn until_a_condition_holds() {
    jacobian(Any, |a: V| map(|x| while_(|y: Exp<f64>| y.lt(10.0), |y| y * 2.0, x.abs() + 1.0), a));
    jacobian(Any, |a: V| {
        let halved = |x: Exp<f64>| {
            let (n, y) = while_(|(_, y): Counted| y.abs().gt(0.7), |(n, y)| (n + 1, y.sin() * 0.5), (0i64, x));
            y * y + n.cast::<f64>()
        };
        map(halved, a)
    });
}

/// States of several numbers, some of which are discrete, unused, or constant.
#[test]
fn states_of_several_numbers() {
    type State = (Exp<i64>, (Exp<f64>, Exp<f64>));
    // A pendulum.
    jacobian((Any, Any), |a: V, b: V| {
        let swing = |(x, v): (Exp<f64>, Exp<f64>)| {
            let (_, (x, v)) = while_(
                |(i, _): State| i.lt(6),
                |(i, (x, v))| (i + 1, (x + v * 0.1, v - x.sin() * 0.1)),
                (0i64, (x, v)),
            );
            (x, v)
        };
        map(swing, zip_min(a, b))
    });
    // The second number only counts; the third one stays the same.
    jacobian(Any, |a: V| {
        let power = |x: Exp<f64>| {
            let (_, (y, (n, c))) = while_(
                |(i, _): (Exp<i64>, (Exp<f64>, (Exp<f64>, Exp<f64>)))| i.lt(3),
                |(i, (y, (n, c)))| (i + 1, (y * c * 0.5, (n + 1.0, c))),
                (0i64, (1.0, (0.0, x))),
            );
            y * n + c
        };
        map(power, a)
    });
    // Numbers that change places.
    jacobian((Any, Any), |a: V, b: V| {
        map(
            |(x, y)| {
                let (_, (x, y)) =
                    while_(|(i, _): State| i.lt(5), |(i, (x, y))| (i + 1, (y, x * 0.5 + y * x)), (0i64, (x, y)));
                x - y
            },
            zip_min(a, b),
        )
    });
    // The state is single precision in between.
    jacobian(Any, |a: V| map(|x| times(3, |y| y * y.cast::<f32>().cast::<f64>().floor() * 0.1 + y, x), a));
}

#[test]
fn in_branches() {
    jacobian(Any, |a: V| map(|x| cond(x.gt(0.0), times(3, |y| y.sin() + x, x), x * x), a));
    jacobian(Any, |a: V| imap(|i, x| cond((i % 2).eq(0), times(i, |y| y * 0.5 + x, x), times(2, |y| y * x, 1.0)), a));
    // Branches in loops.
    jacobian(Any, |a: V| map(|x| times(5, |y| cond(y.gt(0.3), y * 0.5, y + x * x), x), a));
}

#[test]
fn in_loops() {
    jacobian(Any, |a: V| map(|x| times(3, |y| times(4, |z| z.sin() + y * 0.1, y), x), a));
    jacobian(Any, |a: V| map(|x| times(2, |y| times(2, |z| times(2, |w| w * z * 0.3 + y * x, z), y), x), a));
    // The inner loop has a different number of steps each time.
    jacobian(Any, |a: V| {
        let triangle = |x: Exp<f64>| {
            let (_, y) = while_(|(i, _): Counted| i.lt(4), |(i, y)| (i + 1, times(i, |z| z * 0.5 + x, y)), (0i64, x));
            y
        };
        map(triangle, a)
    });
    // One loop after the other.
    jacobian(Any, |a: V| map(|x| times(3, |z| z * z * 0.2 + x, times(4, |y| y.sin() + x, x)), a));
}

#[test]
fn in_operators() {
    // x + y, with a detour.
    let add = |x: Exp<f64>, y: Exp<f64>| x + times(3, |z| z * 2.0, y) / 8.0;
    smooth(Any, move |a: V| fold(add, 0.0, map(|x| x * x, a)));
    smooth(NonEmpty, move |a: V| fold1(add, map(|x| x.sin(), a)));
    jacobian(Any, move |a: V| scanl(add, 0.5, a));
    jacobian(NonEmpty, move |a: V| generate(a.shape(), |i| times(i % 3, |y| y * 1.5, a.at(i))));
}

#[test]
fn second_derivatives() {
    all_modes(|a: V| sum(map(|x| times(0, |y| y * y, x * x), a)));
    all_modes(|a: V| sum(map(|x| times(1, |y| y.sin() * y, x), a)));
    all_modes(|a: V| sum(map(|x| times(5, |y| y.sin() * 1.5 + x * y * 0.1, x), a)));
    all_modes(|a: V| sum(imap(|i, x| times(i % 4, |y| y * y * 0.5 + x, x), a)));
    all_modes(|a: V| sum(map(|x| while_(|y: Exp<f64>| y.lt(10.0), |y| y * (1.5 + y * y * 0.1), x.abs() + 1.0), a)));
    all_modes(|a: V| sum(map(|x| cond(x.gt(0.0), times(3, |y| y.sin() * y + x, x), x * x * x), a)));
    all_modes(|a: V| sum(map(|x| times(2, |y| times(3, |z| z.sin() + y * z * 0.1, y) * x, x), a)));
}

/// Derivatives of derivatives inside of a map, and a derivative that a loop computes.
#[test]
fn gradients_inside() {
    jacobian(Any, |a: V| map(|x| gradient(|x: Exp<f64>| times(3, |y| y.sin() * x, x), x), a));
    jacobian(Any, |a: V| {
        let third = |x: Exp<f64>| {
            let first = |x: Exp<f64>| gradient(|x: Exp<f64>| times(3, |y| y.sin() * x, x), x);
            gradient(move |x: Exp<f64>| gradient(first, x), x)
        };
        map(third, a)
    });
    // Newton's method for a minimum.
    jacobian(Any, |a: V| {
        let minimum = |c: Exp<f64>| {
            let slope = move |y: Exp<f64>| gradient(move |y: Exp<f64>| (y - c).exp() - y + y * y * 0.5, y);
            times(4, move |y| y - slope(y) / gradient(slope, y), 0.5)
        };
        map(minimum, a)
    });
    // The objective is a loop, and so is the optimiser.
    jacobian(Any, |a: V| {
        let descent = |c: Exp<f64>| {
            let energy = move |y: Exp<f64>| times(2, move |z| (z - c).sin() + z * 0.2, y);
            times(3, move |y| y - gradient(energy, y) * 0.1, c)
        };
        map(descent, a)
    });
}
