//! Loops over arrays: `awhile`, `aiterate`, `map_accum_l` and `map_accum_r`.

use crate::harness::{V, jacobian, kinked, smooth};
use crate::refined::{Any, BelowOne, Even, Few, NonEmpty};
use accel::prelude::*;

type Count = Acc<Scalar<i64>>;
type Number = Acc<Scalar<f64>>;
type M = Acc<Matrix<f64>>;

pub fn succ(i: Count) -> Count {
    map(|i| i + 1, i)
}

/// `f`, applied `n` times, by a loop with a counter.
fn times(n: impl ToExp<i64>, f: impl Fn(V) -> V, a: V) -> V {
    let n = n.to_exp();
    let (_, last) = awhile(|(i, _): (Count, V)| the(i).lt(n), |(i, v)| (succ(i), f(v)), (unit(0i64), a));
    last
}

/// `b`, cut off or extended to the length of `a`.
fn like(b: V, a: V) -> V {
    take(a.shape(), concat(b, fill(a.shape(), 0.5)))
}

/// A matrix of three columns that depends on a vector.
pub fn matrix(a: V) -> M {
    generate((a.shape(), 3), |(i, j)| (a.at(i) * (j + 1).cast::<f64>() * 0.3).sin())
}

#[test]
fn a_number_of_steps() {
    jacobian(Few(Any), |a: V| times(3, |v| map(|x| x.sin() * 1.5, v), a));
    jacobian(Few(Any), |a: V| times(2, |v| map(|x| x * x * 0.3, v), map(|x| x + 0.5, a)));
    jacobian(Few(Any), |a: V| times(0, |v| map(|x| x * x, v), a));
    jacobian(Few(Any), |a: V| times(-1, |v| map(|x| x * x, v), a));
    jacobian(Few(Any), |a: V| times(1, |v| map(|x| x * x, v), a));
    jacobian(Few(Any), |a: V| {
        map(|x| x.cos(), times(a.shape() % 4, |v| map(|x| x * 0.7 + 0.1, v), map(|x| x.exp(), a)))
    });
}

#[test]
fn a_number_of_applications() {
    jacobian(Few(Any), |a: V| aiterate(4, |v: V| map(|x| x.sin() + x * 0.5, v), a));
    jacobian(Few(Any), |a: V| aiterate(0, |v: V| map(|x| x * x, v), a));
    jacobian(Few(Any), |a: V| aiterate(-3, |v: V| map(|x| x * x, v), a));
    jacobian(Few(Any), |a: V| aiterate(a.shape() % 5, |v: V| zip_with(|x, y| x * 0.3 - y * y * 0.1, v, a), a));
    jacobian((Few(Any), Few(Any)), |a: V, b: V| {
        aiterate(3, |(x, y): (V, V)| (map(|x| x.cos(), y), map(|y| y * 0.5, x)), (a, like(b, a)))
    });
}

/// The number of steps depends on the elements. Its derivative is that of the steps which are taken.
#[test]
fn data_decides_about_steps() {
    kinked(Few(Any), |a: V| {
        the_number(awhile(|s: Number| the(s).gt(1.0), |s| map(|x| x * 0.4, s), sum(map(|x| x * x, a))))
    });
    kinked(Few(NonEmpty), |a: V| sum(awhile(|v: V| the(maximum(v)).gt(0.5), |v| map(|x| x * x * 0.1 - 0.2, v), a)));
    kinked(Few(Any), |a: V| {
        let (_, v) = awhile(
            |(n, v): (Count, V)| the(n).lt(6).and(the(sum(v)).lt(4.0)),
            |(n, v)| (succ(n), map(|x| x * 1.3 + 0.1, v)),
            (unit(0i64), a),
        );
        sum(v)
    });
}

/// Rows of a list have one shape. What no derivative is computed from is not listed, so it may grow or shrink.
#[test]
fn integers_in_the_state_change_their_shape() {
    // A work list that says when the loop ends.
    jacobian(Few(Any), |a: V| {
        let (_, v) = awhile(
            |(work, _): (Acc<Vector<i64>>, V)| work.len().lt(9),
            |(work, v)| (concat(work, work), map(|x| x.sin() * 1.2, v)),
            (fill(1, constant(7)), a),
        );
        v
    });
    // It shrinks, a matrix of booleans grows, and the number of steps is known.
    jacobian(Few(Any), |a: V| {
        let step = |(work, flags, v): (Acc<Vector<i64>>, Acc<Matrix<bool>>, V)| {
            (skip(1, work), concat(flags, flags), map(|x| x * x * 0.4 + 0.1, v))
        };
        let (work, _, v) = aiterate(3, step, (iota(4), fill((2, 1), constant(true)), a));
        map(|x| x * work.at(0).cast::<f64>(), v)
    });
    // Integers of a shape that stays may be read.
    jacobian(Few(NonEmpty), |a: V| {
        let step = |(work, places, v): (Acc<Vector<i64>>, Acc<Vector<i64>>, V)| {
            let n = a.shape();
            let next = generate(n, |k| v.at(places.at(k)) * v.at(k));
            (concat(work, places), map(|k| (k + 1) % n, places), next)
        };
        aiterate(3, step, (iota(2), iota(a.shape()), a)).2
    });
}

/// What the derivative needs is listed, and has to keep its shape.
#[test]
fn integers_that_derivatives_need_keep_their_shape() {
    let f = afun(|a: V| {
        let step = |(work, v): (Acc<Vector<i64>>, V)| {
            let all = the(sum(work)).cast::<f64>();
            (concat(work, work), map(|x| x * x * all, v))
        };
        sum(aiterate(3, step, (iota(2), a)).1)
    });
    let found = run(grad(&f), &Array::vector(vec![0.5, 0.25])).unwrap_err().to_string();
    assert!(found.contains("`aiterate` at") && found.contains("arrays of one shape in every step"), "{found}");
}

fn the_number(x: Number) -> Number {
    map(|x| x * x, x)
}

#[test]
fn states_of_several_arrays() {
    // Numbers of steps and indices inside of a state.
    jacobian(Few(NonEmpty), |a: V| {
        let (_, _, v, last) = awhile(
            |(i, ..): (Count, Acc<Vector<i64>>, V, Number)| the(i).lt(3),
            |(i, places, v, s)| {
                let n = a.shape();
                let next = generate(n, |k| v.at(places.at(k)) * 0.5 + the(s));
                (succ(i), map(|k| (k + 1) % n, places), next, map(|s| s * s * 0.1 + 0.2, s))
            },
            (unit(0i64), iota(a.shape()), a, sum(a)),
        );
        (v, last)
    });
    // Elements that are tuples with integers in them.
    jacobian(Few(Any), |a: V| {
        let pairs = imap(|i, x| (x, (i, x * 0.5)), a);
        let step = |v: Acc<Vector<(f64, (i64, f64))>>| {
            map(|(x, (i, y))| (x * y + i.cast::<f64>() * 0.1, (i + 1, y * 0.9 + x.sin() * 0.1)), v)
        };
        map(|(x, (_, y))| x + y, aiterate(3, step, pairs))
    });
    // A part of the state that does not change, and one that is exchanged.
    jacobian((Few(Any), Few(Any)), |a: V, b: V| {
        let (x, y, _) = aiterate(
            3,
            |(x, y, c): (V, V, V)| (y, zip_with(|x, c| x * c.cos(), x, c), c),
            (a, map(|x| x + 1.0, a), like(b, a)),
        );
        zip_with(|x, y| x + y * 0.5, x, y)
    });
}

#[test]
fn arrays_from_outside() {
    jacobian((Few(Any), Few(Any)), |a: V, b: V| times(3, |v| zip_with(|x, y| x * 0.5 + y * y * 0.1, v, like(b, a)), a));
    // In the body and in the condition.
    kinked((Few(NonEmpty), Few(NonEmpty)), |a: V, b: V| {
        let (_, v) = awhile(
            |(i, v): (Count, V)| the(i).lt(5).and(v.at(0).lt(b.at(0) + 2.0)),
            |(i, v)| (succ(i), zip_with(|x, y| x + y * y * 0.3 + 0.1, v, like(b, a))),
            (unit(0i64), a),
        );
        sum(v)
    });
    // Reads at computed indices.
    jacobian(Few(NonEmpty), |a: V| {
        times(3, |v| imap(|i, x| x * 0.5 + a.at((i * 2 + 1) % a.shape()) * v.at(0) * 0.1, v), a)
    });
    // An array from outside that does not depend on the argument, and one that does not change the result.
    jacobian(Few(NonEmpty), |a: V| {
        let weights = map(|i| i.cast::<f64>().cos(), iota(a.shape()));
        times(4, |v| zip_with(|x, w| x * w + 0.1, v, weights), a)
    });
    jacobian((Few(Any), Few(NonEmpty)), |a: V, b: V| {
        times(3, |v| map(|x| x * 0.9 + b.shape().cast::<f64>() * 0.1, v), a)
    });
    // The state does not depend on the argument, the body does.
    jacobian(Few(NonEmpty), |a: V| {
        let start = fill(a.shape(), 1.0);
        aiterate(3, |v: V| zip_with(|x, y| x * y.sin() + 0.2, v, a), start)
    });
}

#[test]
fn operations_in_bodies() {
    jacobian(Few(NonEmpty), |a: V| times(3, |v| map(|x| x / (1.0 + the(sum(map(|x| x * x, v)))), v), a));
    jacobian(Few(Any), |a: V| times(2, |v| scanl1(|x, y| x + y, map(|x| x * 0.4, v)), a));
    jacobian(Few(Any), |a: V| times(3, |v| reverse(map(|x| x * x * 0.2, v)), map(|x| x + 0.3, a)));
    jacobian(Few(NonEmpty), |a: V| {
        times(3, |v| permute(|x, y| x + y, map(|x| x * 0.1, v), |i| (true, i / 2), map(|x| x.sin(), v)), a)
    });
    jacobian(BelowOne, |a: V| times(2, |v| map(|x| x * the(fold(|x, y| x + y + x * y * 0.1, 0.0, v)), v), a));
    jacobian(Even, |a: V| {
        let m = reshape((2, a.shape() / 2), a);
        let step = |m: M| {
            let rows = sum(m);
            generate(m.shape(), |(i, j)| m.at((i, j)) * 0.5 + rows.at(i).sin() * 0.1)
        };
        flatten(aiterate(3, step, m))
    });
}

#[test]
fn branches() {
    // A branch in a loop.
    kinked(Few(NonEmpty), |a: V| {
        sum(times(4, |v| acond(v.at(0).gt(0.3), map(|x| x * 0.5, v), map(|x| x + 0.4 + x * x * 0.1, v)), a))
    });
    // A loop in a branch, which is taken or not.
    jacobian(Few(Any), |a: V| acond(a.shape().gt(2), times(3, |v| map(|x| x.sin(), v), a), map(|x| x * x, a)));
    jacobian((Few(Any), Few(Any)), |a: V, b: V| {
        let looped = times(2, |v| zip_with(|x, y| x * y, v, like(b, a)), a);
        acond((a.shape() % 2).eq(0), looped, map(|x| x * 3.0, looped))
    });
}

#[test]
fn loops_in_loops() {
    jacobian(Few(Any), |a: V| times(2, |v| times(3, |w| map(|x| x.sin() + 0.1 * x * x, w), v), a));
    jacobian(Few(NonEmpty), |a: V| aiterate(3, |v: V| aiterate(2, |w: V| zip_with(|x, y| x * y.cos(), w, v), a), a));
    // The number of inner steps depends on the outer one; also no step.
    jacobian(Few(Any), |a: V| {
        let (_, v) = awhile(
            |(i, _): (Count, V)| the(i).lt(3),
            |(i, v)| (succ(i), aiterate(the(i), |w: V| map(|x| x * 0.8 + 0.05, w), v)),
            (unit(0i64), a),
        );
        v
    });
    jacobian(Few(NonEmpty), |a: V| {
        let inner = |s: Number, v: V| {
            let step =
                |s: Number, x: Number| (zip_with(|s, x| s * 0.5 + x * x * 0.1, s, x), zip_with(|s, x| s * x, s, x));
            map_accum_l(step, s, v)
        };
        let (s, v) = aiterate(2, |(s, v): (Number, V)| inner(s, v), (unit(0.3), a));
        (s, v)
    });
}

#[test]
fn lists() {
    let step = |s: Number, x: Number| {
        let s = zip_with(|s, x| s * 0.5 + x.sin(), s, x);
        (s, zip_with(|s, x| s * x, s, x))
    };
    jacobian(Few(Any), move |a: V| map_accum_l(step, unit(0.2), a));
    jacobian(Few(Any), move |a: V| map_accum_r(step, unit(0.2), a));
    jacobian(Few(Any), move |a: V| map_accum_l(step, sum(a), a).1);
    jacobian(Few(Any), move |a: V| map_accum_r(step, sum(a), a).0);
    // No entries, and no state.
    jacobian(Few(Any), |a: V| {
        map_accum_l(|s: Number, x: Number| (zip_with(|s, x| s * x * 0.5 + 0.1, s, x), ()), unit(1.0), a).0
    });
    jacobian(Few(Any), |a: V| map_accum_r(|(), x: Number| ((), map(|x| x * x, x)), (), a).1);
    // The entry is the state before the step, and an array from outside.
    jacobian(Few(Any), |a: V| {
        map_accum_l(|s: Number, x: Number| (zip_with(|s, x| s + x * x, s, x), s), unit(0.0), a).1
    });
    jacobian(Few(NonEmpty), |a: V| {
        map_accum_l(|s: Number, x: Number| (zip_with(|s, x| s * 0.4 + x, s, x), a), unit(0.0), a).1
    });
}

#[test]
fn rows_of_matrices_and_tuples() {
    let step = |s: V, x: V| {
        let next = zip_with(|s, x| s * 0.5 + x * x, s, x);
        (next, (next, map(|x| x.cos(), x)))
    };
    jacobian(Few(Any), move |a: V| map_accum_l(step, fill(3, 0.1), matrix(a)));
    jacobian(Few(Any), move |a: V| map_accum_r(step, fill(3, 0.1), matrix(a)).1);
    jacobian((Few(Any), Few(Any)), |a: V, b: V| {
        let m = generate((a.shape().min(b.shape()), 2), |(i, j)| a.at(i) + b.at(i) * j.cast::<f64>());
        let x = take(m.shape().0, b);
        let step = |s: Number, (row, x, k): (V, Number, Count)| {
            let s = map(|s| s * 0.3 + the(x) * row.at(1) + the(k).cast::<f64>() * 0.1, s);
            (s, map(|y| y * the(s), row))
        };
        map_accum_l(step, unit(0.5), (m, x, iota(m.shape().0)))
    });
    jacobian(Few(Any), |a: V| {
        let t = generate((2, a.shape(), 2), |(i, j, k)| a.at(j) * (i + k + 1).cast::<f64>());
        map_accum_l(
            |s: M, x: M| (zip_with(|s, x| s * 0.5 + x.sin(), s, x), sum(x)),
            generate((a.shape(), 2), |_| 0.5),
            t,
        )
    });
}

#[test]
fn in_front_of_and_behind_loops() {
    smooth(Few(Any), |a: V| {
        let (_, sums) = map_accum_l(
            |s: Number, x: Number| {
                let s = zip_with(|s, x| s + x, s, x);
                (s, s)
            },
            unit(0.0),
            map(|x| x * x, a),
        );
        sum(zip_with(|x, s| x.sin() * s * 0.1, a, sums))
    });
    smooth(Few(NonEmpty), |a: V| {
        let (_, forth) = map_accum_l(|s: Number, x: Number| (zip_with(|s, x| s * 0.5 + x, s, x), s), unit(0.1), a);
        let (_, back) = map_accum_r(|s: Number, x: Number| (zip_with(|s, x| s * 0.5 + x, s, x), s), unit(0.2), forth);
        sum(zip_with(|x, y| x * y, forth, back))
    });
    // Only a part of the result of a loop is used.
    smooth(Few(Any), |a: V| {
        let (v, _) = aiterate(3, |(v, w): (V, V)| (map(|x| x.sin(), v), zip_with(|x, y| x * y, v, w)), (a, a));
        sum(v)
    });
}

/// The classical Runge-Kutta method for a pendulum with friction: angle and velocity, and two parameters.
fn pendulum(steps: i64, parameters: V, start: V) -> V {
    let slope =
        |y: V| generate(2, |i| cond(i.eq(0), y.at(1), -parameters.at(0) * y.at(0).sin() - parameters.at(1) * y.at(1)));
    let h = 0.05;
    let along = |y: V, k: V, h: f64| zip_with(move |y, k| y + k * h, y, k);
    let step = |y: V| {
        let k1 = slope(y);
        let k2 = slope(along(y, k1, h / 2.0));
        let k3 = slope(along(y, k2, h / 2.0));
        let k4 = slope(along(y, k3, h));
        generate(2, |i| y.at(i) + (k1.at(i) + k2.at(i) * 2.0 + k3.at(i) * 2.0 + k4.at(i)) * (h / 6.0))
    };
    aiterate(steps, step, start)
}

/// Two elements of an array, or others if it is shorter.
fn two(a: V) -> V {
    generate(2, |i| cond(i.lt(a.shape()), a.at(i.min((a.shape() - 1).max(0))), 0.7))
}

#[test]
fn differential_equations() {
    jacobian((Few(NonEmpty), Few(NonEmpty)), |p: V, y: V| pendulum(8, two(p), two(y)));
    smooth((Few(NonEmpty), Few(NonEmpty)), |p: V, y: V| sum(map(|x| x * x, pendulum(5, two(p), two(y)))));
}

/// Steps of Runge-Kutta methods of several orders that were unrolled: each value has many readers, so its adjoint is a sum of
/// many parts, which move into several sums. (NOTE [Arrays keep their values] in `accel-fusion`: terms were counted twice.)
#[test]
fn unrolled_stages() {
    fn slope(y: V) -> V {
        generate(2, move |i| cond(i.eq(0), y.at(1), y.at(0) + y.at(1)))
    }
    fn along(y: V, k: V, h: f64) -> V {
        zip_with(move |y, k| y + k * h, y, k)
    }
    fn step(stages: usize, by_zips: bool, y: V) -> V {
        let mut k = slope(y);
        let mut all = vec![k];
        for _ in 1..stages {
            k = slope(along(y, k, 0.5));
            all.push(k);
        }
        match by_zips {
            true => all.into_iter().fold(y, |sum, k| along(sum, k, 0.25)),
            false => generate(2, |i| all.iter().fold(y.at(i), |sum, k| sum + k.at(i) * 0.25)),
        }
    }
    for (stages, steps) in [(3, 2), (4, 2), (2, 3), (3, 4)] {
        for by_zips in [false, true] {
            let all = move |y: V| (0..steps).fold(two(y), |y, _| step(stages, by_zips, y));
            jacobian(Few(NonEmpty), all);
            smooth(Few(NonEmpty), move |y: V| sum(map(|x| x * x, all(y))));
        }
    }
}

/// An LSTM with two cells on numbers, with shared weights.
#[test]
fn long_short_term_memory() {
    let logistic = |x: Exp<f64>| 1.0 / (1.0 + (-x).exp());
    smooth((Few(NonEmpty), Few(NonEmpty)), move |w: V, xs: V| {
        let weight = |k: Exp<i64>| w.at(k % w.shape());
        let step = |(c, h): (V, V), x: Number| {
            let gate = |g: i64| {
                generate(2, move |i| weight(i + g) * the(x) + weight(i * 2 + g + 1) * h.at(0) + h.at(1) * 0.3 + 0.1)
            };
            let c = generate(2, |i| logistic(gate(0).at(i)) * c.at(i) + logistic(gate(1).at(i)) * gate(2).at(i).tanh());
            let h = generate(2, |i| logistic(gate(3).at(i)) * c.at(i).tanh());
            ((c, h), sum(h))
        };
        let ((), out) = ((), map_accum_l(step, (fill(2, 0.0), fill(2, 0.1)), xs).1);
        sum(map(|y| y * y, out))
    });
}

#[test]
fn power_iteration() {
    smooth(Few(NonEmpty), |a: V| {
        let m = generate((3, 3), |(i, j)| cond(i.eq(j), 2.0 + i.cast::<f64>(), 0.0) + a.at((i + j) % a.shape()) * 0.1);
        let step = |v: V| {
            let w = matvec(m, v);
            let norm = the(sum(map(|x| x * x, w))).sqrt();
            map(|x| x / norm, w)
        };
        let v = aiterate(6, step, fill(3, 1.0));
        dot(v, matvec(m, v))
    });
}

/// The derivatives of loops are loops, which have derivatives again.
#[test]
fn second_derivatives() {
    let chaos = || {
        afun(|a: V| {
            let (_, v) = awhile(
                |(i, _): (Count, V)| the(i).lt(3),
                |(i, v)| (succ(i), zip_with(|x, y| x * (1.0 - x) * 0.7 + y * 0.1, v, a)),
                (unit(0i64), map(|x| x * 0.3, a)),
            );
            sum(map(|x| x * x, v))
        })
    };
    // The gradient of a gradient, a directional derivative of one, and the gradient of a directional derivative.
    let f = chaos();
    smooth(Few(Any), move |a: V| dot(call(grad(&f), a), map(|x| x.cos(), a)));
    let f = chaos();
    jacobian((Few(Any), Few(Any)), move |a: V, b: V| call(jvp(&grad(&f)), (a, like(b, a))).1);
    let f = chaos();
    smooth(Few(Any), move |a: V| call(jvp(&f), (a, map(|x| x.sin(), a))).1);
    let listed = || {
        afun(|a: V| {
            let step = |s: Number, x: Number| {
                let s = zip_with(|s, x| s * 0.5 + x * x * 0.3, s, x);
                (s, zip_with(|s, x| s * x.sin(), s, x))
            };
            let (s, ys) = map_accum_l(step, unit(0.4), a);
            zip_with(|s, y| s * s + y, s, sum(ys))
        })
    };
    let f = listed();
    smooth(Few(Any), move |a: V| dot(call(grad(&f), a), a));
    let f = listed();
    jacobian(Few(Any), move |a: V| call(jvp(&grad(&f)), (a, map(|x| x.cos(), a))).1);
    let f = afun(|a: V| sum(times(2, |v| times(2, |w| zip_with(|x, y| x * y * 0.5 + 0.1, w, v), v), a)));
    smooth(Few(Any), move |a: V| dot(call(grad(&f), a), a));
}

#[test]
fn third_derivatives() {
    let f = afun(|a: V| sum(aiterate(2, |v: V| map(|x| x * x * 0.4 + 0.1, v), a)));
    let g = afun(move |a: V| dot(call(grad(&f), a), map(|x| x.sin(), a)));
    smooth(Few(Any), move |a: V| dot(call(grad(&g), a), a));
}
