//! Loops in scalar code that read arrays: at known and unknown indices, in branches, in other loops, in operators, and
//! of several arrays and ranks.

use crate::harness::{V, jacobian, smooth, without_numbers};
use crate::higher_order::all_modes;
use crate::refined::{Any, AtLeast3, NonEmpty};
use accel::prelude::*;

type Counted = (Exp<i64>, Exp<f64>);

/// `y = f(i, y)` for i from 0 to n - 1.
fn count(n: impl ToExp<i64>, f: impl Fn(Exp<i64>, Exp<f64>) -> Exp<f64>, start: impl ToExp<f64>) -> Exp<f64> {
    let n = n.to_exp();
    let (_, y) = while_(move |(i, _): Counted| i.lt(n), |(i, y)| (i + 1, f(i, y)), (0i64, start.to_exp()));
    y
}

/// The polynomial with these coefficients.
fn horner(a: V, x: Exp<f64>) -> Exp<f64> {
    count(a.shape(), |i, y| y * x * 0.1 + a.at(i), 0.0)
}

#[test]
fn in_maps() {
    jacobian(NonEmpty, |a: V| map(|x| horner(a, x), a));
    jacobian((Any, NonEmpty), |a: V, b: V| map(|x| horner(b, x), a));
    jacobian((NonEmpty, NonEmpty), |a: V, b: V| zip_with_min(|x, y| horner(a, x) * horner(b, y * 0.5), a, b));
    smooth(Any, |a: V| {
        sum(generate(a.shape() * 2, |i| count(a.shape(), |k, y| y + a.at(k).sin() * a.at((k + i) % a.shape()), 0.0)))
    });
}

#[test]
fn without_steps_and_elements() {
    jacobian(Any, |a: V| generate(3, |_| count(a.shape(), |i, y| y + a.at(i), 1.0)));
    without_numbers(Any, |a: V| generate(0, |_| count(a.shape(), |i, y| y + a.at(i), 1.0)));
    jacobian(NonEmpty, |a: V| map(|x| count(0, |i, y| y * a.at(i), x), a));
    jacobian(NonEmpty, |a: V| map(|x| count(1, |i, y| y * a.at(i), x), a));
}

/// The elements that are read, and their number, depend on data.
#[test]
fn indices_that_depend_on_data() {
    // A walk through the array.
    jacobian(NonEmpty, |a: V| {
        let n = a.shape();
        let walk = |x: Exp<f64>| {
            let (_, (_, y)) = while_(
                |(k, _): (Exp<i64>, (Exp<i64>, Exp<f64>))| k.lt(5),
                |(k, (i, y))| {
                    let next = (i * 3 + cond(a.at(i).gt(0.0), 1i64, 2i64)) % n;
                    (k + 1, (next, y * 0.7 + a.at(i) * a.at(next)))
                },
                (0i64, (0i64, x)),
            );
            y
        };
        map(walk, a)
    });
    // A binary search for a place, and interpolation there: the search itself has no derivative.
    jacobian((AtLeast3, Any), |table: V, xs: V| {
        let n = table.shape();
        let interpolated = |x: Exp<f64>| {
            let x = x.sin().abs() * 0.98 * (n - 1).cast::<f64>();
            let (low, _) = while_(
                |(low, high): (Exp<i64>, Exp<i64>)| (high - low).gt(1),
                |(low, high)| {
                    let middle = (low + high) / 2;
                    let below = middle.cast::<f64>().le(x);
                    (cond(below, middle, low), cond(below, high, middle))
                },
                (0i64, n - 1),
            );
            let part = x - low.cast::<f64>();
            table.at(low) * (1.0 - part) + table.at((low + 1).min(n - 1)) * part
        };
        map(interpolated, xs)
    });
    // Until a sum is large.
    jacobian(NonEmpty, |a: V| {
        let n = a.shape();
        let fill = |x: Exp<f64>| {
            let (_, y) = while_(
                |(k, y): Counted| k.lt(n * 3).and(y.lt(4.0)),
                |(k, y)| (k + 1, y + a.at(k % n).abs() + 0.1),
                (0i64, x.abs()),
            );
            y * y
        };
        map(fill, a)
    });
}

#[test]
fn in_branches_and_other_loops() {
    jacobian(NonEmpty, |a: V| map(|x| cond(x.gt(0.0), count(a.shape(), |i, y| y + a.at(i) * x, 0.0), x * x), a));
    jacobian(NonEmpty, |a: V| {
        map(|x| count(a.shape(), |i, y| cond(a.at(i).gt(0.2), y * a.at(i), y + a.at(i) * x), 1.0), a)
    });
    // A sum of products in a loop: a matrix times itself.
    jacobian(NonEmpty, |a: V| {
        let n = a.shape();
        let row = |i: Exp<i64>| {
            count(n, move |j, y| y + count(n, move |k, z| z + a.at((i + k) % n) * a.at((k + j) % n), 0.0), 0.0)
        };
        generate(n, row)
    });
    // Reads beside the loop, before it and after it.
    jacobian(NonEmpty, |a: V| {
        let n = a.shape();
        imap(|i, x| a.at(n - 1 - i) * count(n, |k, y| y * 0.5 + a.at(k), x * a.at(0)) + a.at(i / 2), a)
    });
    // A branch in a loop in a branch.
    jacobian(NonEmpty, |a: V| {
        let inner = |x: Exp<f64>| count(4, move |i, y| cond(y.gt(x), y + a.at(i % a.shape()), y * 0.5 + a.at(0)), x);
        map(|x| cond(x.abs().gt(0.3), inner(x), a.at(0) * x), a)
    });
}

/// Scalars, matrices, tuples, and several arrays in one loop.
#[test]
fn arrays_of_all_kinds() {
    jacobian((NonEmpty, Any), |a: V, b: V| {
        let n = a.shape();
        let pairs = zip_with(|x, y| (x * y, x + y), a, a);
        let square = generate((n, n), |(i, j)| a.at(i) * (j + 1).cast::<f64>());
        let total = sum(a);
        map(
            |x| {
                count(
                    n,
                    |i, y| {
                        let (p, q) = pairs.at(i);
                        y * 0.3 + p * x + q.sin() + square.at((i, n - 1 - i)) * total.at(())
                    },
                    0.0,
                )
            },
            b,
        )
    });
    // Integers beside floats.
    jacobian(NonEmpty, |a: V| {
        let n = a.shape();
        let numbered = imap(|i, x: Exp<f64>| (i * 7 % n, x), a);
        map(
            |x| {
                count(
                    n,
                    |i, y| {
                        let (k, v) = numbered.at(i);
                        y + v * a.at(k) * x
                    },
                    0.0,
                )
            },
            a,
        )
    });
    // The state is a tuple, and a part of it does not reach the result.
    jacobian(NonEmpty, |a: V| {
        let n = a.shape();
        let run = |x: Exp<f64>| {
            let (_, (y, _)) = while_(
                |(i, _): (Exp<i64>, (Exp<f64>, Exp<f64>))| i.lt(n),
                |(i, (y, z))| (i + 1, (y + a.at(i), z * a.at(i))),
                (0i64, (x, x)),
            );
            y
        };
        map(run, a)
    });
}

/// In operators and initial values, which are duals of folds, scans and permutes.
#[test]
fn in_operators() {
    // x . y = x + y + c, where a loop computes c: associative.
    let shift = |a: V, at: Exp<i64>| count(at, move |i, y| y * 0.5 + a.at(i), 0.0) * 0.3;
    smooth((NonEmpty, Any), move |a: V, b: V| fold(|x, y| x + y + shift(a, a.shape()), 0.1, b));
    smooth((NonEmpty, NonEmpty), move |a: V, b: V| fold1(|x, y| x + y + shift(a, a.shape()), b));
    jacobian((NonEmpty, Any), move |a: V, b: V| scanl(|x, y| x + y + shift(a, a.shape()), 0.1, b));
    jacobian((NonEmpty, Any), move |a: V, b: V| scanr1(|x, y| x + y + shift(a, a.shape()), b));
    jacobian((NonEmpty, Any), move |a: V, b: V| scanl(|x, y| x + y, shift(a, a.shape()), b));
    jacobian((NonEmpty, Any), move |a: V, b: V| {
        permute(|x, y| x + y + shift(a, a.shape()), fill(3, 0.5), |i| ((i % 4).lt(3), i % 4), b)
    });
}

#[test]
fn in_loops_of_arrays() {
    jacobian(NonEmpty, |a: V| {
        let n = a.shape();
        aiterate(3, |s: V| map(|x| count(n, |i, y| y * 0.3 + a.at(i) * s.at(n - 1 - i), x * 0.5), s), a)
    });
    jacobian(NonEmpty, |a: V| {
        let n = a.shape();
        acond(n.gt(2), map(|x| count(n, |i, y| y + a.at(i), x), a), map(|x| count(n, |i, y| y * a.at(i), x), a))
    });
}

#[test]
fn second_derivatives() {
    all_modes(|a: V| sum(map(|x| horner(a, x), a)));
    all_modes(|a: V| sum(map(|x| count(a.shape(), |i, y| y * x * 0.3 + a.at(i).sin() * y, x), a)));
    all_modes(|a: V| {
        let n = a.shape();
        sum(map(|x| cond(x.gt(0.0), count(n, |i, y| y * 0.5 + a.at(i) * a.at(n - 1 - i) * x, x), x * x), a))
    });
    all_modes(|a: V| {
        let n = a.shape();
        let inner = |x: Exp<f64>, i: Exp<i64>| count(n, move |k, z| z * 0.5 + a.at((i + k) % n) * x, 0.2);
        sum(map(|x| count(n, |i, y| y * 0.4 + inner(x, i) * a.at(i), x), a))
    });
}

/// Gradients in loops, and loops in gradients.
#[test]
fn gradients_inside() {
    jacobian(NonEmpty, |a: V| map(|x| gradient(|x: Exp<f64>| horner(a, x * x), x), a));
    jacobian(NonEmpty, |a: V| {
        let n = a.shape();
        let descent = |x: Exp<f64>| {
            let energy = move |y: Exp<f64>| count(n, move |i, z| z + (y - a.at(i)) * (y - a.at(i)) * 0.1, 0.0);
            count(3, move |_, y| y - gradient(energy, y) * 0.1, x)
        };
        map(descent, a)
    });
}

/// `iterate` and `sfoldl` are such loops.
#[test]
fn counted_loops() {
    jacobian(NonEmpty, |a: V| map(|x| iterate(3, |y: Exp<f64>| y * x + a.at(0), x), a));
    jacobian(Any, |a: V| map(|x| iterate(-1, |y: Exp<f64>| y * x, x), a));
    jacobian((NonEmpty, Any), |a: V, b: V| {
        map(|x| sfoldl(|y: Exp<f64>, c: Exp<f64>| y * x * 0.1 + c, 0.0f64, (), a), b)
    });
    jacobian(NonEmpty, |a: V| {
        let square = generate((3, a.shape()), |(i, j)| a.at(j) * (i + 1).cast::<f64>());
        generate(3, |i| sfoldl(|(y, z): (Exp<f64>, Exp<f64>), x| (y + x * z, x), (0.0f64, 1.0f64), i, square).0)
    });
    all_modes(|a: V| sum(map(|x| sfoldl(|y: Exp<f64>, c: Exp<f64>| y * x * 0.3 + c.sin(), x, (), a), a)));
}
