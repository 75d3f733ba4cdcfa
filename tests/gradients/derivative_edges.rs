//! Tests of derivatives in special cases: NaN, empty arrays, arguments of rank 0 or without any tangent, and what
//! gradients do not compute.

use accel::backend::Backend;
use accel::interp::Interpreter;
use accel::native::{Native, VectorizedInterpreter};
use accel::prelude::*;
use accel_fusion::{KernelEvaluator, OptimizedEvaluator};

type V = Acc<Vector<f64>>;

fn v(xs: &[f64]) -> Vector<f64> {
    Array::vector(xs.to_vec())
}

fn gradient_at(f: impl FnOnce(V) -> Acc<Scalar<f64>>, xs: &[f64]) -> Vec<f64> {
    run(grad(&afun(f)), &v(xs)).unwrap().to_vec()
}

#[test]
fn min_and_max_follow_the_argument_that_is_the_result() {
    let xs = [f64::NAN, 0.5, 1.0, 2.0];
    // The minimum and maximum of NaN and 1 are 1, whatever x is. At a tie, the derivative follows the first argument.
    assert_eq!(gradient_at(|a| sum(map(|x| x.min(1.0), a)), &xs), [0.0, 1.0, 1.0, 0.0]);
    assert_eq!(gradient_at(|a| sum(map(|x| x.max(1.0), a)), &xs), [0.0, 0.0, 1.0, 1.0]);
    let constant = |x: Exp<f64>| constant(f64::NAN).max(x) + constant(f64::NAN).min(x);
    assert_eq!(gradient_at(|a| sum(map(constant, a)), &[3.0]), [2.0]);
    let along = run(jvp(&afun(|a: V| map(|x| x.min(1.0), a))), (&v(&xs), &v(&[1.0; 4]))).unwrap().1;
    assert_eq!(along.to_vec(), [0.0, 1.0, 1.0, 0.0]);
}

#[test]
fn rows_of_no_and_of_one_element() {
    let polynomial = |a: V| {
        let (_, value) = unzip(fold(|(a, b), (c, d)| (a * c, b * c + d), (1.0, 0.0), map(|x| (x, x), a)));
        value
    };
    let counted = |a: V| map(|(x, _)| x, fold(|(a, i), (c, j)| (a * c, i + j), (1.0, 0i64), map(|x| (x, 1i64), a)));
    for n in [0, 1] {
        let (xs, ones) = (vec![2.0; n], vec![1.0; n]);
        assert_eq!(gradient_at(product, &xs), ones);
        assert_eq!(gradient_at(|a| fold(|x, y| x.max(y), 1.0, a), &xs), ones);
        assert_eq!(gradient_at(polynomial, &xs), ones);
        assert_eq!(gradient_at(counted, &xs), ones);
    }
    assert_eq!(gradient_at(polynomial, &[2.0, 3.0]), [3.0, 3.0]); // x y + y
    assert_eq!(gradient_at(counted, &[2.0, 3.0]), [3.0, 2.0]);
    let seed = Array::vector(vec![]);
    let none = Array::matrix(0, 3, vec![]).unwrap();
    let d = run(vjp(&afun(|m: Acc<Matrix<f64>>| product(m))), (&none, &seed)).unwrap();
    assert_eq!(d, none);
}

#[test]
fn arguments_without_dimensions_or_tangents() {
    let x = Array::scalar(3.0);
    let square = afun(|a: Acc<Scalar<f64>>| generate((), |()| the(a) * the(a)));
    assert_eq!(run(grad(&square), &x).unwrap().item(), 6.0);
    let there_and_back = afun(|a: Acc<Scalar<f64>>| reshape((), replicate(1, a)));
    assert_eq!(run(grad(&there_and_back), &x).unwrap().item(), 1.0);

    let constant = afun(|| unit(2.0));
    assert_eq!(run(value_and_grad(&constant), &()).unwrap(), (Array::scalar(2.0), ()));
    assert_eq!(run(jvp(&constant), (&(), &())).unwrap(), (Array::scalar(2.0), Array::scalar(0.0)));
    let of_integers = afun(|n: Acc<Vector<i64>>| sum(map(|n| n.cast::<f64>(), n)));
    assert_eq!(run(grad(&of_integers), &Array::vector(vec![3, 4])).unwrap().to_vec(), [0, 0]);
    let of_units = afun(|n: Acc<Vector<()>>| unit(n.len().cast::<f64>()));
    assert_eq!(run(grad(&of_units), &Array::vector(vec![(), ()])).unwrap().to_vec(), [(), ()]);
}

#[test]
fn adjoints_of_components_are_not_added_to_zeros() {
    let f = afun(|a: V, b: V, c: V| sum(map(|x| x * 2.0, zip_with(|x, y| x * y, zip_with(|x, y| x * y, a, b), c))));
    let text = grad(&f).to_string();
    assert!(!text.contains("0.0 +") && !text.contains("zip_with (\\x0 x1 -> x0 + x1)"), "{text}");
    // If a component is used twice, its adjoints are added, and those of the other component are not affected.
    let twice = afun(|p: Acc<(Vector<f64>, Vector<f64>)>| {
        let (a, b) = p.unlift();
        sum(zip_with(|x, y| x * y, zip_with(|x, y| x * y, a, b), a))
    });
    let (da, db) = run(grad(&twice), (&v(&[2.0, 3.0]), &v(&[5.0, 7.0]))).unwrap();
    assert_eq!((da.to_vec(), db.to_vec()), (vec![20.0, 42.0], vec![4.0, 9.0]));
}

#[test]
fn gradients_by_several_scalars_at_once() {
    let f = afun(|points: Acc<Vector<(f64, f64)>>| {
        let f = |(x, y): (Exp<f64>, Exp<f64>)| x * y + x;
        map(|(x, y)| (gradient(f, (x, y)), value_and_gradient(f, (2.0, y)).0), points)
    });
    assert_eq!(run(&f, &Array::vector(vec![(3.0, 5.0)])).unwrap().to_vec(), [((6.0, 3.0), 12.0)]);
}

/// The reverse mode of a loop whose state changes its extents is an error, also where only the extents of the states are
/// needed: NOTE [Lists that only check] in `accel-fusion/src/optimize/loops/tapes.rs`.
#[test]
fn loops_that_change_extents_have_no_reverse_mode_on_any_backend() {
    let backwards = afun(|a: V| sum(map(|x| x.sin(), aiterate(2, |v: V| take(v.shape() - 1, reverse(v)), a))));
    let shorter = afun(|a: V| sum(map(|x| x.sin(), aiterate(2, |v: V| skip(1, v), a))));
    let twice = afun(|a: V| {
        let inner = |v: V| aiterate(2, |v: V| skip(1, v), v);
        sum(aiterate(2, |v: V| map(|x| x * 0.5, inner(v)), a))
    });
    for f in [backwards, shorter, twice] {
        let gradient = grad(&f);
        let others: [&dyn Backend; 4] = [&KernelEvaluator, &OptimizedEvaluator, &VectorizedInterpreter, &Native];
        for backend in others.into_iter().chain([&Interpreter as &dyn Backend]) {
            let found = run_on(backend, &gradient, &v(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]));
            let said = found.as_ref().map_err(|e| e.to_string()).err().unwrap_or_default();
            // Of two loops that are wrong, either is told.
            let is_told =
                said.contains("`aiterate` at") && said.contains("arrays of one shape in every step, such as [6]");
            assert!(is_told, "{}: {found:?}", backend.name());
        }
    }
}
