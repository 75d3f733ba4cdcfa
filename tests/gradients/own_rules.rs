//! Rules of one's own. Most functions here hide their derivatives by `detach`, so that only their rules are right: if a pass lost a rule, or
//! looked into the function, differences would tell.

use crate::array_loops::matrix;
use crate::harness::{Differentiated, V, always, jacobian, kinked, smooth};
use crate::refined::{Any, Few, NonEmpty, Refined};
use accel::interp::Interpreter;
use accel::prelude::*;
use accel::{SparsePattern, jacobian_forward};

type S = Acc<Scalar<f64>>;

/// The sine, by its pullback.
fn sine() -> Afun<Vector<f64>, Vector<f64>> {
    custom_vjp(|x: V| map(|x| x.sin().detach(), x), |x, _, dy| zip_with(|x, dy| x.cos() * dy, x, dy))
}

/// The sine, by its pushforward.
fn sine_forward() -> Afun<Vector<f64>, Vector<f64>> {
    custom_jvp(|x: V| map(|x| x.sin().detach(), x), |x, dx| (x, zip_with(|x, dx| x.cos() * dx, x, dx)))
}

/// The hyperbolic tangent, whose derivative is a function of its value. Its own derivatives meet the rule in the value again.
fn tanh() -> Afun<Vector<f64>, Vector<f64>> {
    custom_vjp(|x: V| map(|x| x.tanh().detach(), x), |_, y, dy| zip_with(|y, dy| (lit::<f64>(1.0) - y * y) * dy, y, dy))
}

/// A function of two vectors and a number with two results, one of which has another rank. It is differentiated by its pushforward.
fn pair() -> Afun<(Vector<f64>, Scalar<f64>), (Vector<f64>, Scalar<f64>)> {
    custom_jvp(
        |x: V, t: S| (map(|x| (x.sin() * the(t)).detach(), x), map(|t| (t * t).detach(), t)),
        |(x, t), (dx, dt)| {
            let first = zip_with(|x, dx| x.cos() * the(t) * dx + x.sin() * the(dt), x, dx);
            ((x, t), (first, zip_with(|t, dt| t * dt * 2.0, t, dt)))
        },
    )
}

/// The same, by its pullback.
fn pair_reverse() -> Afun<(Vector<f64>, Scalar<f64>), (Vector<f64>, Scalar<f64>)> {
    custom_vjp(
        |x: V, t: S| (map(|x| (x.sin() * the(t)).detach(), x), map(|t| (t * t).detach(), t)),
        |(x, t), _, (dy, dz)| {
            let by_t = sum(zip_with(|x, dy| x.sin() * dy, x, dy));
            (zip_with(|x, dy| x.cos() * the(t) * dy, x, dy), by_t + map(|dz| dz * the(t) * 2.0, dz))
        },
    )
}

/// Checks the derivatives of orders one to three.
#[track_caller]
fn thrice<I: Refined, M>(inputs: I, program: impl ArrayFn<M, Args = I::Arrays, Result = Scalar<f64>> + Copy) {
    smooth(inputs, program);
    let gradient = grad(afun(program));
    always::<I>(Differentiated::of(&gradient));
    let along = afun(|x: Acc<I::Arrays>| call(hvp(afun(program)), (x, x)));
    always::<I>(Differentiated::of(&along));
}

#[test]
fn of_one_array() {
    for f in [sine(), sine_forward(), tanh()] {
        let f = &f;
        jacobian(Any, |x: V| call(f, x));
        thrice(Few(Any), |x: V| dot(call(f, x), call(f, map(|x| x * 0.5, x))));
    }
}

#[test]
fn of_several_arrays() {
    for f in [pair(), pair_reverse()] {
        let f = &f;
        jacobian((Few(Any), Few(NonEmpty)), |x: V, t: V| {
            let (y, z) = call(f, (x, unit(t.at(0))));
            (z, y)
        });
        thrice((Few(Any), Few(NonEmpty)), |x: V, t: V| {
            let (y, z) = call(f, (x, unit(t.at(0))));
            zip_with(|y, z| y.cos() + z * y * 0.1, sum(y), z)
        });
        // Of one result, and by one argument.
        thrice(Few(NonEmpty), |x: V| sum(call(f, (x, unit(0.7))).0));
        thrice(Few(NonEmpty), |x: V| call(f, (fill(3, 0.4), sum(x))).1);
        thrice(Few(NonEmpty), |x: V| sum(call(f, (fill(3, 0.4), sum(x))).0));
    }
}

/// Components that a rule says nothing about: integers and booleans.
#[test]
fn discrete_parts() {
    type Ints = Acc<Vector<i64>>;
    let f = custom_vjp(
        |x: V, k: Ints, mask: Acc<Vector<bool>>| {
            let y = zip_with(|x, k| (x.sin() * k.cast::<f64>()).detach(), x, k);
            (zip_with(|y, m| cond(m, y, 0.0), y, mask), map(|k| k + 1, k))
        },
        |(x, k, mask), _, (dy, _)| {
            let dy = zip_with(|m, dy| cond(m, dy, 0.0), mask, dy);
            (zip_with(|dx, k| dx * k.cast::<f64>(), zip_with(|x, dy| x.cos() * dy, x, dy), k), (), ())
        },
    );
    let f = &f;
    let apply = |x: V| call(f, (x, imap(|i, _| i, x), map(|x| x.gt(-0.5), x)));
    kinked(Few(Any), |x: V| {
        let (y, k) = apply(x);
        sum(zip_with(|y, k| y * k.cast::<f64>(), y, k))
    });
    jacobian(Few(Any), apply);
    // Whole values of the argument's type count nothing either.
    let g = custom_jvp(
        |x: V, k: Ints| (map(|x| x.sin().detach(), x), k),
        |(x, k), (dx, _)| ((x, ()), (zip_with(|x, dx| x.cos() * dx, x, dx), k)),
    );
    thrice(Few(Any), |x: V| sum(map(|y| y * y, call(&g, (x, imap(|i, _| i, x))).0)));
}

#[derive(Clone, PartialEq, Debug, Arrays)]
struct Model {
    weights: Vector<f64>,
    bias: Scalar<f64>,
}

#[derive(Clone, PartialEq, Debug, Elt)]
struct Polar {
    radius: f64,
    angle: f64,
}

#[test]
fn records() {
    let squares = custom_vjp(
        |m: Acc<Model>| {
            let m = m.unlift();
            ModelAcc { weights: map(|w| (w * w).detach(), m.weights), bias: map(|b| b.exp().detach(), m.bias) }
        },
        |m, y, dy| ModelAcc {
            weights: zip_with(|w, d| w * d * 2.0, m.weights, dy.weights),
            bias: zip_with(|y, d| y * d, y.bias, dy.bias),
        },
    );
    thrice(Few(NonEmpty), |x: V| {
        let y = call(&squares, ModelAcc { weights: x, bias: unit(x.at(0) * 0.2) });
        map(|b| b.sin(), y.bias) + sum(y.weights)
    });
    let to_point = custom_jvp(
        |p: PolarExp| ((p.radius * p.angle.cos()).detach(), (p.radius * p.angle.sin()).detach()),
        |p, dp| {
            let (s, c) = (p.angle.sin(), p.angle.cos());
            ((0.0, 0.0), (c * dp.radius - p.radius * s * dp.angle, s * dp.radius + p.radius * c * dp.angle))
        },
    );
    thrice(Few(Any), |x: V| {
        let of = |x: Exp<f64>| {
            let (x, y) = to_point(PolarExp { radius: x, angle: x * 0.5 });
            x * y.cos()
        };
        sum(map(of, x))
    });
}

/// What a function and its rule capture is constant for the rule, and has its value in every derivative.
#[test]
fn captured_values() {
    let program = afun(|x: V, c: V| {
        let (t, data) = (c.at(0).cos(), map(|c| c.sin(), c));
        let f = custom_vjp(
            |x: V| map(|x| (x.sin() * t * data.at(0)).detach(), x),
            |x, _, dy| zip_with(|x, dy| x.cos() * dy * t * data.at(0), x, dy),
        );
        sum(call(&f, x)) + sum(call(&f, map(|y| y * t, call(&f, x))))
    });
    let by_x = program.by(|(x, _)| x);
    always::<(Few<Any>, Few<NonEmpty>)>(Differentiated::by(&by_x));
    always::<(Few<Any>, Few<NonEmpty>)>(Differentiated::by(&grad(&by_x).by(|(x, _)| x)));
    // By what is captured there is no derivative.
    let by_c = grad(afun(|x: V, c: V| sum(call(custom_vjp(|x: V| x * c.at(0), |_, _, dy| dy * c.at(0)), x))));
    let (x, c) = (Array::vector(vec![1.0, 2.0]), Array::vector(vec![5.0]));
    let (by_x, by_c) = run(&by_c, (&x, &c)).unwrap();
    assert_eq!((by_x.to_vec(), by_c.to_vec()), (vec![5.0, 5.0], vec![0.0]));
}

#[test]
fn in_loops_and_branches() {
    for f in [sine(), sine_forward(), tanh()] {
        let f = &f;
        thrice(Few(Any), |x: V| sum(aiterate(3, |y: V| call(f, y) + y * 0.5, x)));
        smooth(Few(Any), |x: V| {
            let small = |y: V| the(dot(y, y)).gt(0.3);
            sum(awhile(small, |y: V| call(f, y * 0.5), x))
        });
        kinked(Few(NonEmpty), |x: V| sum(acond(x.at(0).gt(0.1), call(f, x), x * 2.0)));
        jacobian(Few(NonEmpty), |x: V| acond(x.at(0).gt(0.1), call(f, x), call(f, call(f, x))));
        jacobian(Few(Any), |a: V| {
            let step = |s: S, row: V| (sum(call(f, row)) + s * 0.5, call(f, row * the(s)));
            map_accum_l(step, unit(1.0), matrix(a))
        });
    }
}

#[test]
fn in_lanes() {
    for f in [sine(), sine_forward(), tanh()] {
        let f = &f;
        jacobian(Few(Any), |a: V| vmap(|row: V| call(f, row), matrix(a)));
        // `vmap` before and after `grad`.
        let of_row = afun(|row: V| dot(call(f, row), row));
        jacobian(Few(Any), |a: V| vmap(|row: V| call(grad(&of_row), row), matrix(a)));
        jacobian(Few(Any), |a: V| vmap(|row: V| call(hessian(&of_row), row), matrix(a)));
        thrice(Few(Any), |a: V| sum(call(of_row.vmap(), matrix(a))));
        // Of an array that all rows share: its adjoint is a sum over the rows.
        thrice(Few(NonEmpty), |a: V| sum(vmap(|x: S| sum(call(f, a)) * x, a)));
        // Loops with the same number of steps in each lane, and with different ones.
        jacobian(Few(Any), |a: V| vmap(|row: V| aiterate(2, |y: V| call(f, y), row), matrix(a)));
    }
    let pairs = [pair(), pair_reverse()];
    for f in &pairs {
        thrice(Few(NonEmpty), |a: V| {
            // Only one of the arguments depends on the row.
            let (y, z) = vmap(|t: S| call(f, (a, t)), a);
            sum(sum(y)) + sum(z)
        });
        thrice(Few(NonEmpty), |a: V| sum(sum(vmap(|row: V| call(f, (row, unit(a.at(0)))).0, matrix(a)))));
        thrice(Few(NonEmpty), |a: V| sum(vmap(|t: S| sum(call(f, (a, unit(0.4))).0) * t, a)));
    }
    // Captured: a shared array, and one of the row.
    thrice(Few(NonEmpty), |a: V| {
        let shared = map(|a| a * 0.0 + 0.8, a);
        let rows = vmap(
            |row: V| {
                let t = sum(row * 0.0) + 0.7;
                let f = custom_vjp(
                    |x: V| map(|x| (x.sin() * shared.at(0) * the(t)).detach(), x),
                    |x, _, dy| zip_with(|x, dy| x.cos() * dy * shared.at(0) * the(t), x, dy),
                );
                sum(call(&f, row))
            },
            matrix(a),
        );
        sum(rows)
    });
    // Numbers whose loops end at different times.
    let root = custom_vjp(
        |x: S| awhile(|y: S| the(y).abs().gt(1.0), |y: S| y * 0.5, x) * 0.0 + map(|x| x.sin().detach(), x),
        |x, _, dy| zip_with(|x, dy| x.cos() * dy, x, dy),
    );
    thrice(Few(Any), |a: V| sum(vmap(|x: S| call(&root, x * 3.0), a)));
    thrice(Few(Any), |a: V| sum(vmap(|x: S| awhile(|y: S| the(y).abs().gt(0.5), |y: S| call(&root, y) * 0.7, x), a)));
}

#[test]
fn in_scalar_code() {
    let sine = custom_vjp(|x: Exp<f64>| x.sin().detach(), |x, _, dy| x.cos() * dy);
    let exp = custom_vjp(|x: Exp<f64>| x.exp().detach(), |_, y, dy| y * dy);
    let product = custom_jvp(
        |(x, y): (Exp<f64>, Exp<f64>)| ((x * y).detach(), (x + y.sin()).detach()),
        |(x, y), (dx, dy)| ((x, y), (x * dy + y * dx, dx + y.cos() * dy)),
    );
    let quotient = custom_vjp(
        |(x, k): (Exp<f64>, Exp<i64>)| ((x / (k + 2).cast::<f64>()).detach(), k),
        |(_, k), _, (dy, _)| (dy / (k + 2).cast::<f64>(), ()),
    );
    thrice(Few(Any), |x: V| sum(map(|x| sine(x) * exp(sine(x) * 0.3), x)));
    thrice(Few(Any), |x: V| {
        sum(map(
            |x| {
                let (p, q) = product((x, x.cos()));
                p * q + product((q, exp(x * 0.1))).0
            },
            x,
        ))
    });
    thrice(Few(Any), |x: V| sum(imap(|i: Exp<i64>, x: Exp<f64>| quotient((x * x, i)).0, x)));
    // In loops, branches, folds, and code that reads arrays.
    thrice(Few(Any), |x: V| sum(map(|x| iterate(3, |y| sine(y) + y * 0.5, x), x)));
    smooth(Few(Any), |x: V| sum(map(|x| while_(|y| y.abs().gt(0.4), |y| sine(y) * 0.8, x), x)));
    kinked(Few(Any), |x: V| sum(map(|x| cond(x.gt(0.0), sine(x), exp(x * 0.2)), x)));
    let times = custom_vjp(|(x, y): (Exp<f64>, Exp<f64>)| (x * y).detach(), |(x, y), _, d| (y * d, x * d));
    thrice(Few(Any), |x: V| fold(|a, b| times((a, b)), 0.9, map(|x| x.sin(), x)));
    thrice(Few(Any), |x: V| sum(scanl(|a, b| times((a, b)), 0.9, map(|x| x.sin(), x))));
    thrice(Few(NonEmpty), |x: V| sum(generate(3, |i| sine(x.at(i % x.len()) * x.at(0)))));
    thrice(Few(NonEmpty), |x: V| sum(map(|y| iterate(2, |y| sine(y + x.at(0)), y), x)));
    // Derivatives in scalar code, and code that is mapped by `vmap`.
    thrice(Few(Any), |x: V| sum(map(|x| gradient(|x| sine(x) * exp(x * 0.1), x), x)));
    thrice(Few(Any), |x: V| sum(map(|x| derivative(|x| sine(x) * exp(x * 0.1), x, 1.0), x)));
    jacobian(Few(Any), |a: V| vmap(|row: V| map(|x| sine(x * row.at(0)), row), matrix(a)));
}

/// Functions and rules of scalar code that use numbers and arrays around them.
#[test]
fn captured_in_scalar_code() {
    thrice(Few(NonEmpty), |a: V| {
        let table = map(|a| a.cos().detach(), a);
        let of = |x: Exp<f64>| {
            let t = x.sin().detach() + 2.0;
            // The rule reads an array that the function does not read, and a number that only it uses.
            let u = t * 0.0 + 1.0;
            let f = custom_vjp(
                |y: Exp<f64>| (y.sin() * t).detach(),
                |y, _, dy| y.cos() * dy * t * u * (table.at(0) * 0.0 + 1.0),
            );
            iterate(2, |y| f(y) * 0.3 + f(y + 1.0) * table.at(0), lit(0.3)).detach() + f(lit::<f64>(0.2) + x * 0.0)
        };
        sum(map(of, a)) * 0.0 + sum(a)
    });
    // The same with lanes, in which the rule reads the array of its row.
    thrice(Few(Any), |a: V| {
        let rows = vmap(
            |row: V| {
                let c = map(|x| x * 0.0 + 0.8, row);
                let f = custom_vjp(|x: Exp<f64>| x.sin().detach(), |x, _, dy| x.cos() * dy * (c.at(0) + 0.2));
                sum(map(|x| f(x) * x, row))
            },
            matrix(a),
        );
        sum(rows)
    });
}

/// Rules that say something else than the derivative of their functions.
#[test]
fn other_derivatives() {
    let x = Array::vector(vec![-1.3, 0.4, 2.6]);
    let straight = custom_vjp(|x: V| x.round(), |_, _, dy| dy);
    let loss = |f: &Afun<Vector<f64>, Vector<f64>>| afun(|x: V| sum(map(|y| y * y * y, call(f, x))));
    let dx = run(grad(loss(&straight)), &x).unwrap();
    assert_eq!(dx.to_vec(), [3.0, 0.0, 27.0]);
    assert_eq!(run(hvp(loss(&straight)), (&x, &x)).unwrap().to_vec(), [-1.3 * -6.0, 0.0, 2.6 * 18.0]);
    let (y, dy) = run(jvp(&straight), (&x, &x)).unwrap();
    assert_eq!((y.to_vec(), dy.to_vec()), (vec![-1.0, 0.0, 3.0], x.to_vec()));
    let reversal = custom_vjp(|x: V| x, |_, _, dy| -dy);
    assert_eq!(
        run(grad(loss(&reversal)), &x).unwrap().to_vec(),
        x.to_vec().iter().map(|x| -3.0 * x * x).collect::<Vec<_>>()
    );
    // The same in scalar code, and where the function has no derivative at all.
    let sign = custom_jvp(|x: Exp<f64>| cond(x.gt(0.0), 1.0, lit(-1.0)), |x, dx| (x, dx * 2.0));
    let signs = afun(|x: V| sum(map(|x| sign(x) * x, x)));
    for backend in [&Interpreter as &dyn accel::backend::Backend, &accel::native::Native] {
        let dx = run_with(backend, &grad(&signs), &x).unwrap();
        assert_eq!(dx.to_vec(), [-1.0 + 2.0 * -1.3, 1.0 + 2.0 * 0.4, 1.0 + 2.0 * 2.6]);
    }
    // The pattern of a Jacobian is that of the rule.
    for f in [straight, custom_vjp(|x: V| map(&sign, x), |_, _, dy| dy)] {
        let pattern = SparsePattern::of(&f, &x).unwrap();
        let dense = run(jacobian_forward(&f), &x).unwrap();
        assert_eq!(dense.to_vec(), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        assert_eq!((pattern.starts(), pattern.indices()), (&[0, 1, 2, 3][..], &[0, 1, 2][..]));
    }
}

/// A rule does not run where nothing contributes to the adjoint.
#[test]
fn unused_results() {
    let fails = custom_vjp(|x: V| x, |x, _, dy| map(|dy| dy * x.at(-1), dy));
    let loss = afun(|x: V| {
        let y = call(&fails, x);
        sum(x * y.len().cast::<f64>())
    });
    assert_eq!(run(grad(&loss), &Array::vector(vec![1.0, 2.0])).unwrap().to_vec(), [2.0, 2.0]);
    let used = afun(|x: V| sum(call(&fails, x)));
    let e = run(grad(&used), &Array::vector(vec![1.0, 2.0])).unwrap_err().to_string();
    assert!(e.contains("index [-1]"), "{e}");
}

/// The message names the operation of the rule and the place of the rule.
#[test]
fn rules_of_another_shape() {
    let x = Array::vector(vec![1.0, 2.0, 3.0]);
    let line = line!() + 1;
    let wrong = custom_vjp(|x: V| x * 2.0, |_, _, dy| take(2, dy));
    let wrong_forward = custom_jvp(|x: V, t: S| (x * 2.0, t), |(x, t), (dx, dt)| ((x, t), (take(2, dx), dt)));
    let fine = run(&wrong, &x).unwrap();
    assert_eq!(fine.to_vec(), [2.0, 4.0, 6.0]);
    let place = |line, name: &str| format!("own_rules.rs:{line}:{}", name);
    for backend in [&Interpreter as &dyn accel::backend::Backend, &accel::native::Native] {
        let e = run_with(backend, &grad(afun(|x: V| sum(call(&wrong, x)))), &x).unwrap_err().to_string();
        assert!(e.contains("`take` at ") && e.contains(", in the rule of `custom_vjp` at "), "{e}");
        assert!(e.contains(&place(line, "55")) && e.contains(&place(line, "17")), "{e}");
        assert!(e.contains("[3]") && e.contains("[2]"), "{e}");
        let both = afun(|x: V| sum(call(&wrong_forward, (x, sum(x))).0));
        let e = run_with(backend, &grad(&both), &x).unwrap_err().to_string();
        assert!(e.contains("`take` at ") && e.contains(", in the rule of `custom_jvp` at "), "{e}");
    }
}

#[test]
fn random_rules_that_equal_the_automatic_ones() {
    fn step(op: u64, x: V) -> V {
        match op % 8 {
            0 => map(|x| x.sin(), x),
            1 => x * x,
            2 => reverse(x),
            3 => scanl1(|a, b| a + b * 0.5, x),
            4 => map(|y| y * the(sum(x)) * 0.1, x),
            5 => zip_with(|x, y| x * y + x, x, map(|x| x.cos(), x)),
            6 => aiterate(2, |y: V| map(|y| y.tanh() + 0.3, y), x),
            _ => acond(x.at(0).gt(0.0), x * 0.7, map(|x| x.exp() * 0.1, x)),
        }
    }
    let x = Array::vector(vec![0.4, -0.7, 1.1, 0.2]);
    let mut seed = 7u64;
    for _ in 0..12 {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let program = move |x: V| (0..3).fold(x, |x, k| step(seed >> (20 + 7 * k), x));
        let plain = afun(program);
        let vjp_rule = vjp(&plain);
        let jvp_rule = jvp(&plain);
        let rules = [
            custom_vjp(&plain, move |x, _, dy| call(&vjp_rule, (x, dy))),
            custom_jvp(&plain, move |x, dx| call(&jvp_rule, (x, dx))),
        ];
        for rule in &rules {
            let loss = |f: &Afun<Vector<f64>, Vector<f64>>| afun(|x: V| sum(map(|y| y * y, call(f, call(f, x)))));
            let close = |a: Vector<f64>, b: Vector<f64>| {
                let far = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-9 * (1.0 + a.abs());
                assert!(!a.to_vec().iter().zip(&b.to_vec()).any(far), "{a:?} {b:?}, program {seed}");
            };
            close(run(grad(loss(rule)), &x).unwrap(), run(grad(loss(&plain)), &x).unwrap());
            close(run(hvp(loss(rule)), (&x, &x)).unwrap(), run(hvp(loss(&plain)), (&x, &x)).unwrap());
            close(run(jvp(rule), (&x, &x)).unwrap().1, run(jvp(&plain), (&x, &x)).unwrap().1);
        }
    }
}
