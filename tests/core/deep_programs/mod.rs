//! Programs of any depth, each with the same computation in Rust. They are deep in different ways: chains of
//! operations, definitions, branches, loops and tuples, in scalar code and in array code.
#![allow(dead_code)] // a test of derivatives does not use what a test of values uses, and vice versa

use accel_core::ast::deep;
use accel_core::prelude::*;
use accel_core::surface::snd;

/// A program from a vector of three numbers to another, and the same function in Rust.
pub struct Deep {
    /// The construct that is nested.
    pub name: &'static str,
    /// The program of a depth.
    pub stage: fn(usize) -> Afun<Vector<f64>, Vector<f64>>,
    /// Its result for the numbers `xs`.
    pub value: fn(usize, [f64; 3]) -> [f64; 3],
    /// Whether it has a derivative in reverse mode.
    pub reverse: Reverse,
}

/// Derivatives in reverse mode.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Reverse {
    /// Their size is linear in the size of the program.
    Linear,
    /// Their size is quadratic in the size of the program. Each read has its own entry in a tuple, which is taken apart
    /// from its end. The dual of a scalar function computes its primal, so it seems to need the array that the function
    /// is applied to. Nested conditionals of arrays are recomputed.
    Quadratic,
    /// Their size is quadratic in the depth of a nest of loops, and the time to compute them cubic: the dual of a loop
    /// executes its body again, with all loops inside.
    Cubic,
}

macro_rules! scalar {
    ($reverse:ident $name:literal, |$x:ident, $xs:ident, $n:ident| $body:expr, |$y:ident, $ys:ident, $m:ident| $value:expr) => {
        Deep {
            name: $name,
            stage: |$n| {
                afun(|$xs: Acc<Vector<f64>>| {
                    let _ = $xs;
                    map(|$x| $body, $xs)
                })
            },
            value: |$m, $ys| {
                let _ = $ys;
                $ys.map(|$y| $value)
            },
            reverse: Reverse::$reverse,
        }
    };
}

macro_rules! array {
    ($reverse:ident $name:literal, |$xs:ident, $n:ident| $body:expr, |$y:ident, $ys:ident, $m:ident| $value:expr) => {
        Deep {
            name: $name,
            stage: |$n| afun(|$xs: Acc<Vector<f64>>| $body),
            value: |$m, $ys| {
                let _ = $ys;
                $ys.map(|$y| $value)
            },
            reverse: Reverse::$reverse,
        }
    };
}

/// Applies `f` `n` times; `f` gets the number of the application.
fn times<T>(n: usize, x: T, mut f: impl FnMut(f64, T) -> T) -> T {
    (0..n).fold(x, |x, i| f(i as f64 / n as f64, x))
}

/// Nested scalar loops, each of which runs once.
fn nested_loops(x: Exp<f64>, n: usize) -> Exp<f64> {
    if n == 0 {
        return x + 1.0;
    }
    let once = while_(
        |(go, _): (Exp<bool>, Exp<f64>)| go,
        |(_, y)| (constant(false), deep(|| nested_loops(y, n - 1))),
        (constant(true), x),
    );
    snd(once)
}

/// Nested loops over arrays, each of which runs once.
fn nested_array_loops(xs: Acc<Vector<f64>>, n: usize) -> Acc<Vector<f64>> {
    if n == 0 {
        return map(|x| x + 1.0, xs);
    }
    let (_, ys) = awhile(
        |(go, _): (Acc<Scalar<bool>>, Acc<Vector<f64>>)| the(go),
        |(_, ys)| (unit(constant(false)), deep(|| nested_array_loops(ys, n - 1))),
        (unit(constant(true)), xs),
    );
    ys
}

/// All programs.
pub fn programs() -> Vec<Deep> {
    vec![
        scalar!(Linear "operations of one use", |x, xs, n| times(n, x, |i, y| (y + i) * 0.5),
            |x, xs, n| times(n, x, |i, y| (y + i) * 0.5)),
        scalar!(Linear "right operands", |x, xs, n| times(n, x, |i, y| i - 0.5 * y),
            |x, xs, n| times(n, x, |i, y| i - 0.5 * y)),
        scalar!(Linear "functions", |x, xs, n| times(n, x, |_, y| y.sin()), |x, xs, n| times(n, x, |_, y| y.sin())),
        scalar!(Linear "definitions", |x, xs, n| times(n, x, |i, y| y * 0.5 - y * y * 0.01 + x * i),
            |x, xs, n| times(n, x, |i, y| y * 0.5 - y * y * 0.01 + x * i)),
        scalar!(Linear "chained conditionals", |x, xs, n| times(n, x, |i, y| cond(x.gt(i), y, x * 2.0 + i)),
            |x, xs, n| times(n, x, |i, y| if x > i { y } else { x * 2.0 + i })),
        scalar!(Linear "conditionals with definitions", |x, xs, n| times(n, x, |i, y| {
                let z = y * y;
                cond(z.gt(i), z * 0.5 - z * z * 0.1, y * 0.5)
            }),
            |x, xs, n| times(n, x, |i, y| { let z = y * y; if z > i { z * 0.5 - z * z * 0.1 } else { y * 0.5 } })),
        scalar!(Linear "conditionals nested in the second branch", |x, xs, n| times(n, x, |i, y| cond(x.gt(i), x * i, y * 0.5)),
            |x, xs, n| times(n, x, |i, y| if x > i { x * i } else { y * 0.5 })),
        scalar!(Linear "conditionals nested in the first branch", |x, xs, n| times(n, x, |i, y| cond(x.gt(i), y * 0.5, x * i)),
            |x, xs, n| times(n, x, |i, y| if x > i { y * 0.5 } else { x * i })),
        scalar!(Linear "conditions in conditions", |x, xs, n| times(n, x, |i, y| cond(y.gt(i), x, x + 1.0)),
            |x, xs, n| times(n, x, |i, y| if y > i { x } else { x + 1.0 })),
        scalar!(Linear "partial code in branches", |x, xs, n| times(n, x, |i, y| cond(x.gt(i), xs.at(1) * i, y * 0.5)),
            |x, xs, n| times(n, x, |i, y| if x > i { xs[1] * i } else { y * 0.5 })),
        scalar!(Linear "pairs", |x, xs, n| times(n, (x, x + 1.0), |i, (a, b)| (b * 0.5 + i, a * 0.5)).0,
            |x, xs, n| times(n, (x, x + 1.0), |i, (a, b)| (b * 0.5 + i, a * 0.5)).0),
        scalar!(Linear "conditionals of pairs", |x, xs, n| times(n, (x, x + 1.0), |i, (a, b)| {
                cond(x.gt(i), (b * 0.5, a), (a, b + i)).unlift()
            }).0,
            |x, xs, n| times(n, (x, x + 1.0), |i, (a, b)| if x > i { (b * 0.5, a) } else { (a, b + i) }).0),
        scalar!(Quadratic "reads", |x, xs, n| times(n, x, |i, y| y * 0.5 + xs.at(if i < 0.5 { 0 } else { 2 }) * i),
            |x, xs, n| times(n, x, |i, y| y * 0.5 + xs[if i < 0.5 { 0 } else { 2 }] * i)),
        scalar!(Linear "reads at indices that are read",
            |x, xs, n| times(n, x, |i, y| xs.at(y.cast::<i64>() & 1) * 0.5 + i),
            |x, xs, n| times(n, x, |i, y| xs[(y as i64 & 1) as usize] * 0.5 + i)),
        scalar!(Linear "loops one after the other",
            |x, xs, n| times(n, x, |i, y| while_(|z: Exp<f64>| z.gt(i + 1.0), |z| z * 0.5, y + 0.25)),
            |x, xs, n| times(n, x, |i, y| { let mut z = y + 0.25; while z > i + 1.0 { z *= 0.5 } z })),
        scalar!(Cubic "loops in loops", |x, xs, n| nested_loops(x, n), |x, xs, _n| x + 1.0),
        array!(Linear "maps", |xs, n| times(n, xs, |i, ys| map(|y| y * 0.5 + i, ys)),
            |x, xs, n| times(n, x, |i, y| y * 0.5 + i)),
        array!(Linear "array definitions", |xs, n| times(n, xs, |i, ys| zip_with(|y, z| y * 0.5 - y * z * 0.01 + i, ys, ys)),
            |x, xs, n| times(n, x, |i, y| y * 0.5 - y * y * 0.01 + i)),
        array!(Linear "arrays that are used at the end", |xs, n| {
                let all: Vec<_> = (0..n).map(|i| map(move |x| x * (i as f64 / n as f64), xs)).collect();
                all.into_iter().fold(xs, |sum, a| zip_with(|x, y| x * 0.5 + y, sum, a))
            },
            |x, xs, n| times(n, x, |i, sum| sum * 0.5 + x * i)),
        Deep {
            name: "folds",
            stage: |n| {
                afun(|xs: Acc<Vector<f64>>| {
                    times(n, xs, |_, ys| {
                        let s = the(sum(ys));
                        map(|x| x + s * 0.2, xs)
                    })
                })
            },
            value: |n, xs| times(n, xs, |_, ys| xs.map(|x| x + ys.iter().sum::<f64>() * 0.2)),
            reverse: Reverse::Linear,
        },
        array!(Linear "array conditionals, chained", |xs, n| times(n, xs, |i, ys| {
                acond(xs.at(0).gt(i), ys, map(|x| x * 2.0 + i, xs))
            }),
            |x, xs, n| times(n, x, |i, y| if xs[0] > i { y } else { x * 2.0 + i })),
        array!(Quadratic "array conditionals, nested", |xs, n| times(n, xs, |i, ys| {
                acond(xs.at(0).gt(i), map(|x| x * i, xs), map(|y| y * 0.5, ys))
            }),
            |x, xs, n| times(n, x, |i, y| if xs[0] > i { x * i } else { y * 0.5 })),
        array!(Linear "array conditionals that use the result twice", |xs, n| times(n, xs, |i, ys| {
                acond(ys.at(0).gt(i), map(|x| x * i, xs), map(|y| y * 0.5, ys))
            }),
            |x, xs, n| times(n, (x, xs[0]), |i, (y, first)| {
                if first > i { (x * i, xs[0] * i) } else { (y * 0.5, first * 0.5) }
            }).0),
        array!(Linear "array tuples", |xs, n| times(n, (xs, xs), |i, (a, b)| (map(|x| x * 0.5 + i, b), a)).0,
            |x, xs, n| times(n, (x, x), |i, (a, b)| (b * 0.5 + i, a)).0),
        array!(Linear "conditionals of array tuples", |xs, n| times(n, (xs, xs), |i, (a, b)| {
                acond(xs.at(0).gt(i), (b, a), (map(|x| x * 0.5 + i, b), a))
            }).0,
            |x, xs, n| times(n, (x, x), |i, (a, b)| if xs[0] > i { (b, a) } else { (b * 0.5 + i, a) }).0),
        array!(Linear "array loops one after the other", |xs, n| times(n, xs, |i, ys| {
                awhile(|zs| zs.at(0).gt(i + 1.0), |zs| map(|z| z * 0.5, zs), ys)
            }),
            |x, xs, n| times(n, (x, xs[0]), |i, (mut y, mut first)| {
                while first > i + 1.0 { (y, first) = (y * 0.5, first * 0.5) }
                (y, first)
            }).0),
        array!(Cubic "array loops in loops", |xs, n| nested_array_loops(xs, n), |x, xs, _n| x + 1.0),
    ]
}

/// The argument of the programs: its numbers take different branches, and none is at the limit of a condition.
pub const ARGUMENT: [f64; 3] = [0.30034, 1.25034, 0.70034];
