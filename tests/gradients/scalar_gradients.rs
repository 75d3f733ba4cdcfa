//! Gradients of scalar functions inside `map`, and the derivatives of programs that contain them.

use crate::harness::{Ready, V, floats, for_all, jacobian, kinked, same, smooth};
use crate::refined::{Any, FewValues, Floats, NonEmpty, Positive};
use accel::prelude::*;

/// Checks that two programs agree.
fn equal<A: Arrays, B: Arrays>(found: &Afun<A, B>, expected: &Afun<A, B>, input: impl Fn(&[f64]) -> A + 'static) {
    let (found, expected) = (Ready::new(found), Ready::new(expected));
    for_all(move |x: &Floats<NonEmpty>| {
        let x = Arrays::to_tuple(&input(&x.0));
        let (found, expected) = (floats(&found.run(&x)?), floats(&expected.run(&x)?));
        let same = found.len() == expected.len()
            && found.iter().zip(&expected).all(|(a, b)| same(*a, *b, 1e-9 * (1.0 + b.abs())));
        if same { Ok(()) } else { Err(format!("{found:?}, expected {expected:?}")) }
    });
}

fn vector(v: &[f64]) -> Vector<f64> {
    Array::vector(v.to_vec())
}

#[test]
fn of_one_variable() {
    let found = afun(|a: V| map(|x| gradient(|x: Exp<f64>| x * x * x + x.sin(), x), a));
    let expected = afun(|a: V| map(|x| x * x * 3.0 + x.cos(), a));
    equal(&found, &expected, vector);
}

#[test]
fn of_a_pair() {
    let found = afun(|a: V| {
        map(
            |x| {
                let (dx, dy) = gradient(|(x, y): (Exp<f64>, Exp<f64>)| x * y.exp(), (x, x * 0.5).into_exp());
                dx + dy * 2.0
            },
            a,
        )
    });
    let expected = afun(|a: V| map(|x| (x * 0.5).exp() + x * (x * 0.5).exp() * 2.0, a));
    equal(&found, &expected, vector);
}

#[test]
fn with_the_value() {
    let found = afun(|a: V| map(|x| value_and_gradient(|x: Exp<f64>| (x * x).cos(), x), a));
    let expected = afun(|a: V| map(|x| ((x * x).cos(), -((x * x).sin()) * x * 2.0), a));
    equal(&found, &expected, vector);
}

/// Only the argument is differentiated, not the captured variables and arrays.
#[test]
fn capturing_variables_and_arrays() {
    let found = afun(|a: V| {
        let total = sum(a);
        imap(|i, y| gradient(|x: Exp<f64>| x * x * y + x * a.at(i) * the(total), y * 2.0), a)
    });
    let expected = afun(|a: V| {
        let total = sum(a);
        map(|y| y * y * 4.0 + y * the(total), a)
    });
    equal(&found, &expected, vector);
}

/// Discrete parts of the argument have zero gradient.
#[test]
fn of_discrete_parts() {
    let program = afun(|a: V| {
        map(|x| gradient(|(x, n): (Exp<f64>, Exp<i64>)| x * n.cast::<f64>(), (x, constant(3i64)).into_exp()), a)
    });
    assert_eq!(run(program, &vector(&[1.0, 2.0])).unwrap().to_vec(), [(3.0, 0), (3.0, 0)]);
}

#[test]
fn with_conditionals() {
    let f = |x: Exp<f64>| cond::<f64>(x.gt(1.0), x.ln(), cond::<f64>(x.lt(-1.0), x * x, x * 0.5));
    let derivative = |x: Exp<f64>| cond::<f64>(x.gt(1.0), 1.0 / x, cond::<f64>(x.lt(-1.0), x * 2.0, 0.5));
    equal(&afun(move |a: V| map(|x| gradient(f, x), a)), &afun(move |a: V| map(derivative, a)), vector);
}

/// A second derivative: the gradient of a function that contains one.
#[test]
fn of_a_gradient() {
    let found = afun(|a: V| map(|x| gradient(|x| gradient(|x: Exp<f64>| x.sin() * x, x), x), a));
    let expected = afun(|a: V| map(|x| x.cos() * 2.0 - x.sin() * x, a));
    equal(&found, &expected, vector);
}

/// The outer gradient also differentiates captured variables: d/dx of (d/dy of x y² + x² y at y = x).
#[test]
fn of_a_gradient_with_captured_variables() {
    let found = afun(|a: V| map(|x| gradient(|x: Exp<f64>| gradient(|y: Exp<f64>| x * y * y + x * x * y, x), x), a));
    // The inner gradient is 2 x y + x² = 3 x².
    equal(&found, &afun(|a: V| map(|x| x * 6.0, a)), vector);
}

#[test]
fn differentiated_by_the_program() {
    smooth(Any, |a: V| sum(map(|x| gradient(|x: Exp<f64>| x.sin() * x * x, x), a)));
    smooth(Any, |a: V| {
        sum(map(
            |x| {
                let (dx, dy) = gradient(|(x, y): (Exp<f64>, Exp<f64>)| x * y.sin() + x * x, (x, x * 0.3).into_exp());
                dx * dy
            },
            a,
        ))
    });
}

/// The outer gradient includes the arrays that the inner function reads.
#[test]
fn differentiated_with_captured_arrays() {
    smooth((NonEmpty, Any), |a: V, b: V| {
        let n = a.shape();
        sum(imap(|i, y| gradient(|x: Exp<f64>| x * x * a.at(i % n) + (x * a.at(0) * 0.1).sin() * y, y), b))
    });
    smooth(NonEmpty, |a: V| {
        let total = sum(map(|x| x * x, a));
        sum(map(|y| gradient(|x: Exp<f64>| (x * 0.1).sin() * the(total) * y, y * 0.5), a))
    });
}

#[test]
fn differentiated_with_conditionals() {
    kinked(FewValues, |a: V| {
        let f = |x: Exp<f64>| cond::<f64>(x.gt(0.5), x * x * x, (x * 2.0).sin());
        sum(map(|x| gradient(f, x) * x, a))
    });
}

/// A Jacobian row by row, as in bundle adjustment.
#[test]
fn jacobians_of_many_small_functions() {
    jacobian((NonEmpty, Positive), |a: V, b: V| {
        let n = a.shape();
        let residual = |(x, y): (Exp<f64>, Exp<f64>)| (x * y.ln()).sin() / y;
        imap(|i, y| gradient(residual, (a.at(i % n), y).into_exp()), b)
    });
}

/// Directional derivatives: of one variable, of a tuple, of a loop, and with what is captured.
#[test]
fn in_a_direction() {
    let found = afun(|a: V| map(|x| derivative(|x: Exp<f64>| x * x.sin(), x, 2.0), a));
    let expected = afun(|a: V| map(|x| (x.sin() + x * x.cos()) * 2.0, a));
    equal(&found, &expected, vector);
    let found = afun(|a: V| {
        let f = |(x, y): (Exp<f64>, Exp<f64>)| (x * y, y.exp() + a.at(0), 3i64);
        map(|x| value_and_derivative(f, (x, x * 0.5), (1.0, x)), a)
    });
    let expected = afun(|a: V| {
        let value = |x: Exp<f64>| (x * x * 0.5, (x * 0.5).exp() + a.at(0), 3i64);
        map(|x| (value(x), (x * 0.5 + x * x, (x * 0.5).exp() * x, 0i64)), a)
    });
    equal(&found, &expected, vector);
    let found = afun(|a: V| map(|x| derivative(|x: Exp<f64>| iterate(3, |y| y * x, 1.0f64), x, 1.0), a));
    let expected = afun(|a: V| map(|x| x * x * 3.0, a));
    equal(&found, &expected, vector);
}

/// Reverse and forward mode inside of each other, in the four combinations.
#[test]
fn second_derivatives_in_scalar_code() {
    let f = |x: Exp<f64>| (x * x).sin();
    let expected = afun(|a: V| map(|x| (x * x).cos() * 2.0 - (x * x).sin() * x * x * 4.0, a));
    let ff = afun(move |a: V| map(|x| derivative(|x| derivative(f, x, 1.0), x, 1.0), a));
    let fr = afun(move |a: V| map(|x| derivative(|x| gradient(f, x), x, 1.0), a));
    let rf = afun(move |a: V| map(|x| gradient(|x| derivative(f, x, 1.0), x), a));
    let rr = afun(move |a: V| map(|x| gradient(|x| gradient(f, x), x), a));
    for found in [ff, fr, rf, rr] {
        equal(&found, &expected, vector);
    }
    // The inner function captures the variable of the outer one, which must not be confused with it.
    let found = afun(|a: V| map(|x| derivative(|x| x * derivative(|y| x + y, 1.0f64, 1.0), x, 1.0), a));
    equal(&found, &afun(|a: V| map(|_| 1.0f64, a)), vector);
}

#[test]
fn programs_with_directional_derivatives() {
    smooth(Any, |a: V| sum(map(|x| derivative(|x: Exp<f64>| (x * x).sin(), x, x), a)));
    jacobian(Any, |a: V| map(|x| derivative(|y: Exp<f64>| y.exp() * x, x * 0.1, 1.0), a));
}
