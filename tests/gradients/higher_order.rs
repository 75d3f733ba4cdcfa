//! Derivatives of derivatives: products of Hessians and vectors by every combination of modes.

use crate::harness::{Differentiated, Ready, Tally, V, always, floats, for_all, same};
use crate::refined::{Any, Even, FewValues, Floats, NonEmpty, Positive, Refined};
use accel::prelude::*;
use accel_core::repr::ArrayTuple;

type Program<A> = Afun<A, Scalar<f64>>;

/// Checks the Hessian by forward over reverse mode, against finite differences of the gradient, and its symmetry.
pub fn hessian<I: Refined, M>(_: I, program: impl ArrayFn<M, Args = I::Arrays, Result = Scalar<f64>>) {
    let program: Program<I::Arrays> = afun(program);
    let gradient = grad(&program);
    always::<I>(Differentiated::forward(&gradient));
    let second = Differentiated::forward(&gradient);
    for_all(move |x: &I::Sample| {
        let columns = second.columns(&Arrays::to_tuple(&I::arrays(x)))?;
        let largest = columns.iter().flatten().fold(1.0, |m: f64, h| m.max(h.abs()));
        for (i, column) in columns.iter().enumerate() {
            for (j, h) in column.iter().enumerate() {
                if !same(*h, columns[j][i], 1e-9 * largest) {
                    return Err(format!("d²/d{i}d{j}: {h} and {}", columns[j][i]));
                }
            }
        }
        Ok(())
    });
}

/// Checks that all combinations of modes agree.
pub fn all_modes<M>(program: impl ArrayFn<M, Args = Vector<f64>, Result = Scalar<f64>>) {
    let program: Program<Vector<f64>> = afun(program);
    let forward_reverse = Ready::new(&jvp(&grad(&program)));
    let reverse_reverse = Ready::new(&vjp(&grad(&program)));
    let reverse_pullback = Ready::new(&vjp(&vjp(&program)));
    let forward_forward = Ready::new(&jvp(&jvp(&program)));
    let reverse_forward = Ready::new(&vjp(&jvp(&program)));
    for_all(move |x: &Floats<Any>| {
        let n = x.0.len();
        let vector = |v: Vec<f64>| Arrays::to_tuple(&Vector::vector(v));
        let scalar = |x: f64| Arrays::to_tuple(&Scalar::scalar(x));
        let v: Vec<f64> = (0..n).map(|i| (i as f64 * 1.7 + 0.3).sin()).collect();
        let (x, v, zero) = (x.array(), vector(v), vector(vec![0.0; n]));
        let pair = ArrayTuple::pair;

        let hv = floats(&forward_reverse.run(&pair(x.clone(), v.clone()))?)[n..].to_vec();
        // The Hessian is symmetric, so the product with its transpose is the same.
        let by_reverse = floats(&reverse_reverse.run(&pair(x.clone(), v.clone()))?);
        let seeded = pair(x.clone(), scalar(1.0));
        let by_pullback = floats(&reverse_pullback.run(&pair(seeded, v.clone()))?)[..n].to_vec();
        // The adjoint of the tangent is 1, that of the value is 0. The result is the derivative by x, not by its
        // tangent.
        let seed = pair(scalar(0.0), scalar(1.0));
        let by_tangent = floats(&reverse_forward.run(&pair(pair(x.clone(), v.clone()), seed))?)[..n].to_vec();
        for k in 0..n {
            let expected = hv[k];
            for (found, modes) in
                [(by_reverse[k], "vjp of grad"), (by_pullback[k], "vjp of vjp"), (by_tangent[k], "vjp of jvp")]
            {
                if !same(found, expected, 1e-9 * (1.0 + expected.abs())) {
                    return Err(format!("number {k}: {expected} by jvp of grad, {found} by {modes}"));
                }
            }
            // v H e(k), from two tangents.
            let unit = vector((0..n).map(|i| if i == k { 1.0 } else { 0.0 }).collect());
            let input = pair(pair(x.clone(), v.clone()), pair(unit, zero.clone()));
            let found = floats(&forward_forward.run(&input)?)[3];
            if !same(found, expected, 1e-9 * (1.0 + expected.abs())) {
                return Err(format!("number {k}: {expected} by jvp of grad, {found} by jvp of jvp"));
            }
        }
        Ok(())
    });
}

#[test]
fn all_modes_of_maps() {
    all_modes(|a: V| sum(map(|x| x.sin() * x, a)));
    all_modes(|a: V| sum(zip_with(|x, y| x * y * (x + y).cos(), a, map(|x| x * x * 0.1, a))));
    all_modes(|a: V| sum(map(|x| cond::<f64>(x.gt(0.0), x * x * x, x.cos()), a)));
    all_modes(|a: V| {
        let total = sum(map(|x| x * x, a));
        map(|x| (x + 1.0).ln() * x, total)
    });
}

#[test]
fn all_modes_of_conditionals() {
    all_modes(|a: V| sum(acond(a.shape().gt(3), map(|x| x * x * x, a), map(|x| x.exp(), a))));
}

#[test]
fn all_modes_of_replication() {
    all_modes(|a: V| {
        let n = a.shape();
        let outer = zip_with(|x, y| (x * y).sin(), replicate((All, n), a), replicate((n, All), a));
        sum(sum(outer))
    });
}

/// The gradients scatter.
#[test]
fn all_modes_of_reads() {
    all_modes(|a: V| sum(generate(a.shape(), |i| a.at(i) * a.at(i / 2) * a.at(0))));
    all_modes(|a: V| sum(imap(|i, x| x.sin() * a.at(i * i % a.shape()), a)));
}

#[test]
fn all_modes_of_permutes() {
    let bins = |a: V| permute(|x, y| x + y, fill(3, 0.5), |i| ((i % 5).ne(1), i * i % 3), map(|x| x.sin(), a));
    all_modes(move |a: V| sum(map(|x| x * x * x, bins(a))));
    all_modes(|a: V| {
        let last = permute(|new, _| new, map(|x| x * x, a), |i| ((i % 4).ne(1), i / 2), map(|x| x.cos(), a));
        sum(map(|x| x * x, last))
    });
    all_modes(|a: V| {
        let products = permute(|x, y| x * y, fill(3, 0.5), |i| ((i % 5).ne(1), i % 3), map(|x| x.sin(), a));
        sum(map(|x| x * x * x, products))
    });
    all_modes(|a: V| {
        let defaults = map(|x| x.cos(), a);
        let general = |x: Exp<f64>, y: Exp<f64>| x + y + x * y * 0.1;
        sum(map(|x| x * x, permute(general, defaults, |i| ((i % 5).ne(1), i / 2), map(|x| x.sin(), a))))
    });
}

#[test]
fn hessians_of_folds() {
    hessian(Any, |a: V| product(map(|x| x * 0.3, a)));
    hessian(FewValues, |a: V| product(a));
    hessian(Any, |a: V| fold(|x, y| x + y + x * y, 0.5, map(|x| x * 0.1, a)));
    hessian(NonEmpty, |a: V| {
        let largest = maximum(a);
        map(|x| x.ln(), sum(map(|x| (x - the(largest)).exp(), a)))
    });
    hessian(Even, |a: V| sum(product(reshape((a.shape() / 2, 2), a))));
}

#[test]
fn hessians_of_indexing() {
    hessian(NonEmpty, |a: V| {
        let n = a.shape();
        sum(generate(n, |i| a.at(i) * a.at((i * 2) % n) * a.at(0)))
    });
    hessian(NonEmpty, |a: V| {
        let n = a.shape();
        sum(zip_with(|x, y| x * y * y, a, backpermute(n, |i| (i * i) % n, a)))
    });
}

/// Also if the exponent is 0, and so is the gradient.
#[test]
fn hessians_of_powers() {
    hessian((Positive, FewValues), |a: V, b: V| sum(zip_with_min(|x, y| x.pow(y) * x, a, b)));
}

#[test]
fn hessians_of_two_arguments() {
    hessian((FewValues, FewValues), |a: V, b: V| fold(|x, y| x * y, the(sum(a)), b));
    hessian((Any, Any), |a: V, b: V| sum(zip_with_min(|x, y| x.sin() * (y * y), a, b)));
}

/// A third derivative, in forward mode only.
#[test]
fn three_times_forward() {
    let third = jvp(&jvp(&jvp(&afun(|a: Acc<Scalar<f64>>| map(|x| x * x * x * x, a)))));
    let (x, one, zero) = (Array::scalar(2.0), Array::scalar(1.0), Array::scalar(0.0));
    let first = ((x, one.clone()), (one.clone(), zero.clone()));
    let direction = ((one, zero.clone()), (zero.clone(), zero));
    let (_, ((_, _), (_, d3))) = run(third, (&first, &direction)).unwrap();
    assert_eq!(d3.to_vec(), [48.0]);
}

#[test]
fn jacobians_of_gradients_in_reverse() {
    for_all(|x: &Floats<Any>| {
        let gradient = grad(&afun(|a: V| sum(map(|x| x.sin() * x * x, a))));
        Differentiated::of(&gradient).check(&x.array(), &Tally::default())
    });
}

/// A program that calls the derivative of another one is differentiated like any other program: one step of Newton's
/// method for xᵢ⁴ = aᵢ.
#[test]
fn derivatives_of_programs_that_call_derivatives() {
    let fourth = afun(|xs: Acc<Vector<f64>>| sum(map(|x| x * x * x * x, xs)));
    let steps = afun(|xs: Acc<Vector<f64>>| {
        let ones = map(|_| 1.0, xs);
        let (first, second) = call(jvp(&grad(&fourth)), (xs, ones));
        sum(zip_with(|first, second| first / second, first, second))
    });
    // 4x³ / 12x² = x / 3
    let xs = Vector::vector(vec![1.0, -2.0, 3.5]);
    let (value, gradient) = accel::run(value_and_grad(&steps), &xs).unwrap();
    assert!(same(value.item(), 2.5 / 3.0, 1e-15));
    assert!(gradient.iter().all(|d| same(d, 1.0 / 3.0, 1e-15)), "{gradient}");
}
