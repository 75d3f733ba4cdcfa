//! Jacobians, Hessians and their products: by rows = by columns = the derivatives of single directions.

use crate::harness::{Differentiated, Ready, V, Verdict, floats, for_all, same};
use crate::refined::{Any, Few, NonEmpty, Refined};
use accel::prelude::*;
use accel::{Coordinates, jacobian_forward, jacobian_reverse};

/// Checks the Jacobian of a program in all three ways. The program itself is checked by single directions and differences.
#[track_caller]
fn jacobians<I: Refined, M, F>(_: I, f: F)
where
    I::Arrays: Coordinates,
    F: ArrayFn<M, Args = I::Arrays, Result: Coordinates>,
{
    let program = afun(f);
    let single = Differentiated::of(&program);
    let ways = [
        Ready::new(&jacobian(&program)),
        Ready::new(&jacobian_forward(&program)),
        Ready::new(&jacobian_reverse(&program)),
    ];
    for_all(move |x: &I::Sample| {
        let x = Arrays::to_tuple(&I::arrays(x));
        single.check(&x, &Default::default())?;
        let expected = single.rows(&x)?.unwrap_or_default().concat();
        ways.iter().try_for_each(|way| close(&floats(&way.run(&x)?), &expected))
    });
}

fn close(found: &[f64], expected: &[f64]) -> Verdict {
    let close = |(a, b): (&f64, &f64)| same(*a, *b, 1e-9 * (1.0 + b.abs()));
    match found.len() == expected.len() && found.iter().zip(expected).all(close) {
        true => Ok(()),
        false => Err(format!("{found:?}, expected {expected:?}")),
    }
}

#[test]
fn of_vectors_by_vectors() {
    jacobians(Few(Any), |a: V| map(|x| x.sin() * x, a));
    jacobians(Few(Any), |a: V| scanl(|x, y| x + y * y, 1.0, a));
    jacobians(Few(NonEmpty), |a: V| generate(2, |i| cond(i.eq(0), a.at(0) * a.at(a.len() - 1), a.at(0).exp())));
    jacobians(Few(Any), |a: V| concat(map(|x| x * x, a), map(|x| x.cos(), a)));
}

#[test]
fn of_numbers_and_matrices() {
    jacobians(Few(Any), |a: V| sum(map(|x| x * x.sin(), a)));
    jacobians(Few(Any), |a: V| generate((a.len(), 3), |(i, j)| a.at(i) * a.at(i) * j.cast::<f64>()));
    let number = afun(|x: Acc<Scalar<f64>>| generate(3, |i| the(x) * the(x) * i.cast::<f64>()));
    let j: Vector<f64> = run(jacobian(&number), &Array::scalar(2.0)).unwrap();
    assert_eq!(j.to_vec(), [0.0, 4.0, 8.0]);
    let number = afun(|x: Acc<Scalar<f64>>| map(|x| x.exp(), x));
    assert_eq!(run(jacobian(&number), &Array::scalar(0.0)).unwrap().item(), 1.0);
}

/// The dimensions of the result come first: d y(i, j) / d x(k, l) is at (i, j, k, l).
#[test]
fn dimensions_of_the_result_come_first() {
    let product = afun(|a: Acc<Matrix<f64>>, x: Acc<Matrix<f64>>| matmul(a, x));
    let (a, x) = (matrix(2, 3), matrix(3, 1));
    for j in [
        jacobian(product.by(|(_, x)| x)),
        jacobian_forward(product.by(|(_, x)| x)),
        jacobian_reverse(product.by(|(_, x)| x)),
    ] {
        let j: Array<Dim4, f64> = run(&j, (&a, &x)).unwrap();
        assert_eq!(j.shape()[..], [2, 1, 3, 1]);
        assert_eq!(j.to_vec(), a.to_vec());
    }
}

fn matrix(rows: usize, columns: usize) -> Matrix<f64> {
    Array::matrix(rows, columns, (0..rows * columns).map(|k| k as f64 * 0.7 - 1.0).collect()).unwrap()
}

/// Tuples of results are outside, tuples of parts inside.
#[test]
fn tuples_of_results_and_parts() {
    let f = |w: Acc<Matrix<f64>>, b: V, s: Acc<Scalar<f64>>| (map(|y| y * the(s), matvec(w, b)), sum(b));
    let program = afun(f);
    type J = ((Array<Dim3, f64>, Matrix<f64>, Vector<f64>), (Matrix<f64>, Vector<f64>, Scalar<f64>));
    let (w, b, s) = (matrix(2, 3), Array::vector(vec![1.0, 2.0, 4.0]), Array::scalar(3.0));
    for j in [jacobian(&program), jacobian_forward(&program), jacobian_reverse(&program)] {
        let ((by_w, by_b, by_s), (none, ones, zero)): J = run(&j, (&w, &b, &s)).unwrap();
        let expected = [3.0, 6.0, 12.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 6.0, 12.0];
        assert_eq!((&by_w.shape()[..], by_w.to_vec()), (&[2, 2, 3][..], expected.to_vec()));
        assert_eq!(by_b.to_vec(), w.to_vec().iter().map(|w| w * 3.0).collect::<Vec<_>>());
        assert_eq!(by_s.to_vec(), run(afun(matvec::<f64>), (&w, &b)).unwrap().to_vec());
        assert_eq!((none.to_vec(), ones.to_vec(), zero.item()), (vec![0.0; 6], vec![1.0; 3], 0.0));
    }
}

/// A Hessian is the Jacobian of the gradient, and its product is the directional derivative.
#[test]
fn hessians_and_products() {
    let f = |a: V| sum(map(|x| x * x * x, scanl(|x, y| x + y.sin(), 0.5, a)));
    let program = afun(f);
    let gradient = Differentiated::of(&grad(&program));
    let (h, hv) = (Ready::new(&hessian(&program)), Ready::new(&hvp(&program)));
    for_all(move |x: &<Few<NonEmpty> as Refined>::Sample| {
        let x = Few::<NonEmpty>::arrays(x);
        let tuple = Arrays::to_tuple(&x);
        gradient.check(&tuple, &Default::default())?;
        let rows = gradient.rows(&tuple)?.unwrap_or_default();
        close(&floats(&h.run(&tuple)?), &rows.concat())?;
        let v: Vec<f64> = (0..rows.len()).map(|k| 1.0 + k as f64).collect();
        let product: Vec<f64> = rows.iter().map(|row| row.iter().zip(&v).map(|(a, b)| a * b).sum()).collect();
        close(&floats(&hv.run(&Arrays::to_tuple(&(x, Array::vector(v))))?), &product)
    });
}

#[test]
fn of_chosen_parts() {
    let program = afun(|n: Acc<Scalar<i64>>, a: V, b: V| {
        map(|x| x * the(n).cast::<f64>(), sum(zip_with(|x, y| x * x * y, a, b)))
    });
    let (n, a, b) = (Array::scalar(2i64), Array::vector(vec![1.0, 2.0]), Array::vector(vec![3.0, 5.0]));
    let (aa, ab, ba, bb) = {
        let ((aa, ab), (ba, bb)) = run(hessian(program.by(|(_, a, b)| (a, b))), (&n, &a, &b)).unwrap();
        (aa.to_vec(), ab.to_vec(), ba.to_vec(), bb.to_vec())
    };
    assert_eq!((aa, bb), (vec![12.0, 0.0, 0.0, 20.0], vec![0.0; 4]));
    assert_eq!((ab, ba), (vec![4.0, 0.0, 0.0, 8.0], vec![4.0, 0.0, 0.0, 8.0]));
    let product = run(hvp(program.by(|(_, a, _)| a)), ((&n, &a, &b), &Array::vector(vec![1.0, 10.0]))).unwrap();
    assert_eq!(product.to_vec(), [12.0, 200.0]);
}

/// Derivatives of matrices of derivatives: they are ordinary programs.
#[test]
fn inside_other_programs() {
    let curvature = |a: V| {
        let h = call(hessian(afun(|a: V| sum(map(|x| x * x * x, a)))), a);
        let j = call(jacobian(afun(|a: V| map(|x| x * x, a))), a);
        the(sum_all(zip_with(|x, y| x * y, h, j)))
    };
    crate::harness::smooth(Few(Any), move |a: V| unit(curvature(a)));
}

/// Several directions at once, and several adjoints.
#[test]
fn batches_of_directions() {
    let program = afun(|a: V| map(|x| x * x * 0.5, a));
    let directions = afun(|x: V, dxs: Acc<Matrix<f64>>| vmap(|dx| call(jvp(&program), (x, dx)).1, dxs));
    let adjoints = afun(|x: V, dys: Acc<Matrix<f64>>| vmap(|dy| call(vjp(&program), (x, dy)), dys));
    let (x, ds) = (Array::vector(vec![2.0, 3.0]), matrix(3, 2));
    let expected: Vec<f64> = ds.to_vec().iter().zip([2.0, 3.0].iter().cycle()).map(|(d, x)| d * x).collect();
    assert_eq!(run(&directions, (&x, &ds)).unwrap().to_vec(), expected);
    assert_eq!(run(&adjoints, (&x, &ds)).unwrap().to_vec(), expected);
}

/// A mistake of the program is the error of its matrix.
#[test]
fn errors() {
    let outside = afun(|a: V| unit(a.at(7)));
    let text = run(hessian(&outside), &Array::vector(vec![1.0])).unwrap_err().to_string();
    assert!(text.contains("`at`") && text.contains("matrices.rs"), "{text}");
    let wrong = run(hvp(afun(|a: V| sum(a))), (&Array::vector(vec![1.0]), &Array::vector(vec![1.0, 2.0]))).unwrap_err();
    assert!(wrong.to_string().contains("hvp") || wrong.to_string().contains("jvp"), "{wrong}");
}

/// Nothing to differentiate by, and nothing to differentiate.
#[test]
fn without_numbers() {
    let square = afun(|a: V| map(|x| x * x, a));
    let empty = Array::vector(Vec::<f64>::new());
    for j in [jacobian(&square), jacobian_forward(&square), jacobian_reverse(&square)] {
        assert_eq!(run(&j, &empty).unwrap().shape()[..], [0, 0]);
    }
    let first = afun(|a: V, b: V| (map(|x| x * 2.0, a), b));
    let ((aa, ab), (ba, bb)) = run(jacobian(&first), (&empty, &Array::vector(vec![1.0, 2.0]))).unwrap();
    assert_eq!([aa.shape()[..].to_vec(), ab.shape()[..].to_vec()], [vec![0, 0], vec![0, 2]]);
    assert_eq!([ba.shape()[..].to_vec(), bb.shape()[..].to_vec()], [vec![2, 0], vec![2, 2]]);
}
