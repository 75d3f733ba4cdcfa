//! Programs with any results: `vjp` with seeds against `jvp` with tangents, `value_and_grad`, `f32`, and the derived
//! array functions.

use crate::harness::{Differentiated, Ready, Tally, V, floats, for_all, jacobian, same, smooth};
use crate::refined::{Any, Even, Floats, NonEmpty, Positive, Predicate, Refined};
use accel::prelude::*;
use accel_core::repr::ArrayTuple;

#[test]
fn one_array() {
    jacobian(Any, |a: V| map(|x| x.sin() * x, a));
}

#[test]
fn two_arrays() {
    jacobian((Any, Any), |a: V, b: V| (zip_with_min(|x, y| x * y, a, b), sum(a), map(|x| x.exp(), b)));
}

#[test]
fn the_argument_itself() {
    jacobian((Any, Any), |a: V, b: V| (b, a));
    jacobian(Any, |a: V| (a, a));
}

#[test]
fn nothing_of_the_argument() {
    jacobian(Any, |a: V| (generate(3, |i| i.cast::<f64>()), map(|_| 2.0, a)));
}

#[test]
fn discrete_results() {
    jacobian(Any, |a: V| (map(|x| x.gt(0.0), a), map(|x| x * x, a), map(|x| x.cast::<i64>(), a)));
}

#[test]
fn arrays_of_tuples() {
    jacobian((Any, Any), |a: V, b: V| zip_with_min(|x, y| (x * y, (constant(1i64), x.sin()), y.cos()), a, b));
}

#[test]
fn unequal_shapes() {
    jacobian((Any, Any), |a: V, b: V| zip_with_min(|x, y| x * x + y, concat(a, a), b));
    jacobian(Even, |a: V| {
        let (rows, columns) = (reshape((2, a.shape() / 2), a), reshape((a.shape() / 2, 2), a));
        zip_with_min(|x, y| x * y, rows, columns)
    });
}

#[test]
fn conditional_tuples() {
    jacobian((Any, Any), |a: V, b: V| {
        acond::<(Vector<f64>, Scalar<f64>)>(a.shape().gt(b.shape()), (a, sum(b)), (b, sum(a)))
    });
}

/// The functions that rearrange arrays.
#[test]
fn rearranging() {
    jacobian(Any, reverse::<Dim0, f64>);
    jacobian((Any, Any), concat::<Dim0, f64>);
    jacobian(Any, |a: V| (take(3, a), skip(3, a), init(a), tail(a)));
    jacobian(Any, flatten::<Dim1, f64>);
    jacobian(Even, |a: V| transpose(reshape((2, a.shape() / 2), a)));
    jacobian(NonEmpty, |a: V| gather(generate(7, |i| i * i % a.shape()), a));
    jacobian((Any, Any), |a: V, b: V| unzip(zip_min(a, b)));
    jacobian((Any, Any), |a: V, b: V| unzip3(zip3_min(a, b, map(|x| x * x, a))));
    jacobian(Any, |a: V| indexed(a));
    jacobian(Any, |a: V| replicate((2, All, 3), a));
    jacobian(Any, |a: V| fill(4, the(sum(a))));
    jacobian(NonEmpty, |a: V| slice(a.shape() - 1, a));
}

#[test]
fn products_of_matrices() {
    jacobian((Even, NonEmpty), |a: V, b: V| {
        let (m, row) = (reshape((a.shape() / 2, 2), a), replicate((2, All), b));
        (matmul(m, row), matvec(row, b), dot(a, concat(take(a.len(), b), fill((a.len() - b.len()).max(0), 0.5))))
    });
}

/// The gradient by an array that is repeated before a matrix product: there, the optimiser interchanges sums.
#[test]
fn a_bias_before_a_product() {
    jacobian((Any, Any), |bias: V, x: V| {
        let (n, m) = (x.shape(), bias.shape());
        let shifted = zip_with(|x, bias| x + bias, replicate((All, m), x), replicate((n, All), bias));
        let weights = generate((m, 3), |(i, j)| (i * 2 + j).cast::<f64>().sin());
        map(|y| y * y, matmul(shifted, weights))
    });
}

/// An argument without floating-point numbers besides one with them.
#[test]
fn discrete_arguments() {
    for_all(|a: &Floats<NonEmpty>| {
        let n = a.0.len() as i64;
        let places = Array::vector((0..7).map(|i| (i * i) % n).collect());
        let program = |a: V, at: Acc<Vector<i64>>| sum(map(|x| x * x, gather(at, a)));
        let x = ArrayTuple::pair(a.array(), Arrays::to_tuple(&places));
        Differentiated::new(program).check(&x, &Tally::default())
    });
    let program = afun(|a: V, at: Acc<Vector<i64>>| sum(gather(at, a)));
    let (a, at) = (Array::vector(vec![1.0, 2.0, 3.0]), Array::vector(vec![2i64, 0, 2]));
    let (da, dat) = run(grad(&program), (&a, &at)).unwrap();
    assert_eq!((da.to_vec(), dat.to_vec()), (vec![1.0, 0.0, 2.0], vec![0; 3]));
}

#[test]
fn value_with_gradient() {
    let program = afun(|a: V, b: V| sum(zip_with_min(|x, y| (x * y).sin(), a, b)));
    let (value, gradient) = (Ready::new(&program), Ready::new(&grad(&program)));
    let both = Ready::new(&value_and_grad(&program));
    for_all(move |x: &(Floats<Any>, Floats<Any>)| {
        let x = ArrayTuple::pair(x.0.array(), x.1.array());
        let expected = [floats(&value.run(&x)?), floats(&gradient.run(&x)?)].concat();
        let found = floats(&both.run(&x)?);
        if found == expected { Ok(()) } else { Err(format!("{expected:?} apart, {found:?} together")) }
    });
}

/// The value and the gradient are those of the program without the auxiliary results, and these are those of the program.
#[track_caller]
fn with_aux<I: Refined, M, X: Arrays>(_: I, f: impl ArrayFn<M, Args = I::Arrays, Result = (Scalar<f64>, X)>) {
    let program = afun(f);
    let number = afun(|args: Acc<I::Arrays>| call(&program, args).0);
    let (results, gradient) = (Ready::new(&program), Ready::new(&grad(&number)));
    let all = Ready::new(&value_and_grad_with_aux(&program));
    for_all(move |x: &I::Sample| {
        let x = Arrays::to_tuple(&I::arrays(x));
        let expected = [floats(&results.run(&x)?), floats(&gradient.run(&x)?)].concat();
        let found = floats(&all.run(&x)?);
        if found == expected { Ok(()) } else { Err(format!("{expected:?} apart, {found:?} together")) }
    });
}

#[test]
fn auxiliary_results() {
    with_aux((Any, Any), |a: V, b: V| {
        let c = zip_with_min(|x, y| (x * y).sin(), a, b);
        (sum(c), (c, (map(|x| x.cast::<i64>(), b), map(|x| 1.0 / (x * x + 1.0), c))))
    });
    with_aux(Any, |a: V| (sum(map(|x| x * x, a)), ()));
    with_aux(Any, |a: V| {
        let step = |(s, v): (Acc<Scalar<f64>>, V)| (s + sum(v * v) * 0.1, v.sin() * 0.9 + 0.01 * s);
        aiterate(3, step, (sum(a), a))
    });
    with_aux(Any, |a: V| acond(the(sum(a)).gt(0.0), (sum(a * a), a), (sum(a.cos()), a * 2.0)));
}

/// In `f32`, both modes have the precision of `f32`.
#[test]
fn single_precision() {
    fn program<T: Floating>(a: Acc<Vector<T>>, b: Acc<Vector<T>>) -> Acc<Scalar<T>> {
        let c = zip_with_min(|x, y| (x * lit::<T>(0.1)).tanh() * y.sqrt() + a.at(0), a, b);
        let largest = maximum(c);
        let total = sum(map(|x| (x - the(largest)).exp(), c));
        zip_with(|t, m| t.ln() + m, total, largest)
    }
    let exact = Ready::new(&grad(&afun(program::<f64>)));
    let single = afun(program::<f32>);
    let (reverse, forward) = (Ready::new(&grad(&single)), Differentiated::forward(&single));
    for_all(move |(a, b): &(Floats<NonEmpty>, Floats<NonEmptyPositive>)| {
        let narrow = |v: &[f64]| Arrays::to_tuple(&Vector::vector(v.iter().map(|x| *x as f32).collect()));
        let exact = floats(&exact.run(&ArrayTuple::pair(a.array(), b.array()))?);
        let x = ArrayTuple::pair(narrow(&a.0), narrow(&b.0));
        let reverse = floats(&reverse.run(&x)?);
        let forward: Vec<f64> = forward.columns(&x)?.concat();
        for (k, exact) in exact.iter().enumerate() {
            if !same(reverse[k], *exact, 1e-3) || !same(forward[k], *exact, 1e-3) {
                return Err(format!("derivative {k}: {exact}; in f32 {} and {}", reverse[k], forward[k]));
            }
        }
        Ok(())
    });
}

/// For `single_precision`.
#[derive(Clone, Copy, Debug)]
struct NonEmptyPositive;
impl Predicate for NonEmptyPositive {
    fn element(x: f64) -> bool {
        Positive::element(x)
    }
    fn whole(v: &[f64]) -> bool {
        NonEmpty::whole(v)
    }
}

#[test]
fn a_wide_program() {
    fn program(a: V) -> Acc<Scalar<f64>> {
        let terms: Vec<_> = (0..20).map(|i| map(|x| (x * 0.1 * f64::from(i)).sin(), a)).collect();
        sum(terms.into_iter().reduce(|x, y| zip_with(|x, y| x * 0.5 + y, x, y)).unwrap_or(a))
    }
    smooth(Any, program);
}

#[test]
fn a_deep_program() {
    smooth(Any, |a: V| sum((0..100).fold(a, |x, _| map(|x| (x * 1.1).sin(), x))));
}

#[test]
fn samples_are_refined() {
    for_all(|x: &<Even as Refined>::Sample| {
        let fits = x.0.len() % 2 == 0 && x.0.len() <= 20 && x.0.iter().all(|x| x.abs() <= 10.0);
        if fits { Ok(()) } else { Err("not refined".into()) }
    });
}
