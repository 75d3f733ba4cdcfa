//! Loops in scalar code: forward mode differentiates them; reverse mode reports that it does not, and where.

use crate::harness::{Differentiated, V, always, for_all, smooth};
use crate::refined::{Floats, NonEmpty, Refined};
use accel::prelude::*;
use accel_core::repr::ArrayTuple;

/// Checks forward mode against finite differences. Reverse mode must return an error that names the operation and this
/// file.
#[track_caller]
fn forward_only<I: Refined, M, F>(_: I, operation: &str, program: F)
where
    F: ArrayFn<M, Args = I::Arrays>,
{
    let line = std::panic::Location::caller().line();
    let program = afun(program);
    always::<I>(Differentiated::forward(&program));
    not_in_reverse(&vjp(&program), operation, line);
}

/// Checks the error of a program that reverse mode does not differentiate: at `line` of this file or a few lines below.
fn not_in_reverse<A, R>(program: &Afun<A, R>, operation: &str, line: u32) {
    let Err(error @ Error::NotDifferentiable { .. }) = program.program() else {
        panic!("no error, or another one: {program}");
    };
    let text = error.to_string();
    let place = |l: u32| text.contains(&format!("forward_only.rs:{l}:"));
    assert!(text.contains(operation) && (line..line + 12).any(place), "line {line}: {text}");
    assert!(text.contains("reverse"), "{text}");
}

#[test]
fn loops_in_scalar_code() {
    forward_only(NonEmpty, "while", |a: V| {
        let n = a.shape();
        // The loop reads an array.
        let horner = |x: Exp<f64>| {
            while_(|(i, _): (Exp<i64>, Exp<f64>)| i.lt(n), |(i, y)| (i + 1, y * x * 0.1 + a.at(i)), (0i64, 0.0)).snd()
        };
        map(horner, a)
    });
}

/// Operations that do not lead from the input to the result do not matter.
#[test]
fn beside_the_way() {
    smooth(NonEmpty, |a: V| {
        let n = a.shape();
        let last_power = while_(|p: Exp<i64>| (p * 2).lt(n), |p| p * 2, 1i64);
        sum(generate(n, |i| a.at(i) * a.at(i.min(last_power.min(n - 1)))))
    });
    smooth(NonEmpty, |a: V| {
        let offsets = scanl1(|x, y| x + y, fill(a.shape(), 2i64));
        sum(zip_with(|k, x| x * k.cast::<f64>(), offsets, a))
    });
}

/// If a branch contains a loop that reads an array, its derivative is an error even if the branch is not taken: the error is found before
/// anything runs.
#[test]
fn errors_come_first() {
    let line = line!();
    let halved = |a: V| map(|x| while_(|x: Exp<f64>| x.gt(1.0), |x| x * 0.5 - a.at(0), x), a);
    let program = afun(|a: V| sum(acond(a.shape().lt(0), halved(a), a)));
    not_in_reverse(&grad(&program), "while", line);
    let x = Array::vector(vec![1.0, 2.0]);
    assert_eq!(run(&program, &x).unwrap().to_vec(), [3.0]);
    let error = run(grad(&program), &x).unwrap_err();
    assert!(matches!(error, Error::NotDifferentiable { .. }), "{error}");
    assert_eq!(run(jvp(&program), (&x, &x)).unwrap().1.to_vec(), [3.0]);
}

/// Forward mode is linear, with tangents in all directions at once.
#[test]
fn forward_mode_is_linear() {
    let program = jvp(&afun(|a: V| scanl1(|x, y| x * y, map(|x| x.cos(), a))));
    let tangent = crate::harness::Ready::new(&program);
    for_all(move |a: &Floats<NonEmpty>| {
        let of = |f: &dyn Fn(usize) -> f64| {
            let d: Vec<f64> = (0..a.0.len()).map(f).collect();
            let d = Arrays::to_tuple(&Vector::vector(d));
            Ok::<_, String>(
                crate::harness::floats(&tangent.run(&ArrayTuple::pair(a.array(), d))?)[a.0.len()..].to_vec(),
            )
        };
        let (u, v) = (of(&|i| i as f64)?, of(&|i| 1.0 / (i + 1) as f64)?);
        let both = of(&|i| 2.0 * i as f64 - 3.0 / (i + 1) as f64)?;
        for (k, both) in both.iter().enumerate() {
            let sum = 2.0 * u[k] - 3.0 * v[k];
            if (both - sum).abs() > 1e-9 * (1.0 + u[k].abs() + v[k].abs()) {
                return Err(format!("tangent {k}: {both} at once, {sum} from two"));
            }
        }
        Ok(())
    });
}
