//! `check_grad` for users: which operation it blames.

use crate::harness::V;
use accel::prelude::*;
use accel::{jacobian_forward, jacobian_reverse};

fn point() -> Vector<f64> {
    Array::vector(vec![0.3, 1.5, -2.2])
}

/// The operation and the line that are blamed; none if the gradient agrees.
#[track_caller]
fn blamed(f: impl FnOnce(V) -> Acc<Scalar<f64>>) -> Option<(&'static str, u32)> {
    let check = check_grad(afun(f), &point()).unwrap();
    assert_eq!(check.agrees(), check.blamed.is_none(), "{check}");
    check.blamed.map(|at| (at.name, at.at.line()))
}

#[test]
fn a_gradient_that_is_right() {
    assert_eq!(blamed(|a| sum(map(|x| x.sin() * x, scanl1(|x, y| x + y * y, a)))), None);
    assert_eq!(blamed(|a| sum(map(|x| x.floor() * x, a))), None);
}

/// Where something overflows, neither the gradient nor differences say anything, and the stable form is named.
#[test]
fn formulas_that_overflow() {
    let large = Array::vector(vec![1000.0, 999.0, 0.0]);
    let naive = afun(|x: V| map(|s| s.ln(), sum(x.exp())));
    let check = check_grad(&naive, &large).unwrap();
    let said = check.to_string();
    assert!(
        check.not_finite.is_some() && said.contains("`exp(1000.0)` is inf") && said.contains("`log_sum_exp`"),
        "{said}"
    );
    let found = find_nan(grad(afun(|x: V| sum(map(|x| (1.0 + x.exp()).ln(), x)))), &large).unwrap().unwrap();
    assert!(found.nan.is_some() && found.to_string().contains("`softplus`"), "{found}");
    let check = check_grad(afun(|x: V| log_sum_exp(x)), &large).unwrap();
    assert!(check.agrees() && check.not_finite.is_none(), "{check}");
}

/// The first operation that is wrong, neither what it uses nor what uses it.
#[test]
fn an_operation_in_the_middle() {
    let found = blamed(|a| {
        let squares = map(|x| x * x, a);
        let wrong = zip_with(|x, y| x * y.detach(), squares, reverse(a));
        let more = scanl1(|x, y| x + y, map(|x| x.sin(), wrong));
        sum(zip_with(|x, y| x * y, more, squares))
    });
    assert_eq!(found, Some(("zip_with", line!() - 4)));
}

#[test]
fn loops_conditionals_and_definitions() {
    let step = |x: V| map(|x| (x * x.detach()).sin(), x);
    let found = blamed(|a| sum(aiterate(2, step, map(|x| x * 2.0, a))));
    assert_eq!(found, Some(("aiterate", line!() - 1)));
    let found = blamed(|a| sum(acond(a.at(0).gt(0.0), step(a), map(|x| x * 2.0, a))));
    assert_eq!(found, Some(("acond", line!() - 1)));
    // The branch that is not taken is not to blame.
    assert_eq!(blamed(|a| sum(acond(a.at(0).lt(0.0), step(a), map(|x| x * 2.0, a)))), None);
    let wrong = afun(|a: V| sum(map(|x| x.detach() * x, a)));
    let line = line!() - 1;
    let found = blamed(move |a| {
        let total = call(&wrong, a);
        zip_with(|x, y| x * y, total, total)
    });
    assert_eq!(found, Some(("map", line)));
}

#[test]
fn the_message_names_it() {
    let wrong = afun(|a: V| sum(map(|x| x * x.detach(), a)));
    let text = check_grad(&wrong, &point()).unwrap().to_string();
    assert!(text.contains("does not agree is `map` at ") && text.contains("check_grad.rs:"), "{text}");
    let single = afun(|a: Acc<Vector<f32>>| sum(map(|x| x * x.detach(), a)));
    let check = check_grad(&single, &Array::vector(vec![0.5f32, 2.0])).unwrap();
    assert_eq!(check.blamed.map(|at| at.name), Some("map"));
}

/// Values that overflow say nothing about a gradient: neither that it is wrong nor that it is right.
#[test]
fn values_that_are_not_finite() {
    let check = |f: fn(V) -> Acc<Scalar<f64>>, x: &[f64]| check_grad(afun(f), &Array::vector(x.to_vec())).unwrap();
    let nothing = check(|x| sum(x * x), &[1e300, 1.0]);
    assert!(nothing.agrees() && nothing.worst.is_none() && nothing.blamed.is_none(), "{nothing}");
    assert_eq!(nothing.looked_at, 0);
    assert!(nothing.to_string().contains("the values are not finite"), "{nothing}");
    // Only the larger steps overflow.
    let near = check(|x| sum(map(|x| x.exp(), x)), &[709.78, 1.0]);
    assert!(near.agrees() && near.looked_at > 0, "{near}");
    // A gradient that is not finite where the values are.
    let wrong = check(|x| sum(map(|x| x.cbrt(), x)), &[0.0]);
    assert!(!wrong.agrees(), "{wrong}");
}

/// The line is that of the user, not one of the library.
#[test]
fn errors_name_the_call() {
    let squares = afun(|a: V| sum(a * a));
    let line = format!("`hvp` at {}:{}:", file!(), line!() + 1);
    let product = hvp(&squares);
    let text = run(&product, (&point(), &Array::vector(vec![1.0]))).unwrap_err().to_string();
    assert!(text.contains(&line), "{text}");
    // The array of all directions is too large.
    let quadratic = afun(|a: V| a * a);
    let x = Array::vector(vec![1.0; 1 << 19]);
    for (name, line, derivative) in
        [("jacobian", line!(), jacobian(&quadratic)), ("jacobian_forward", line!(), jacobian_forward(&quadratic))]
    {
        let text = run(&derivative, &x).unwrap_err().to_string();
        assert!(text.contains(&format!("`{name}` at {}:{line}:", file!())), "{text}");
    }
    // This array belongs to an adjoint.
    let text = run(jacobian_reverse(&quadratic), &x).unwrap_err().to_string();
    assert!(text.contains("no memory") && !text.contains(".rs:"), "{text}");
}
