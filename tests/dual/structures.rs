//! Inputs and results of many shapes.

use accel_dual::{Differentiable, Error, Real, Rev, grad, jacobian, jacobian_columns, jvp, value_and_grad, vjp};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Differentiable)]
#[differentiable(crate = accel_dual)]
struct Model<T> {
    weights: Vec<[T; 2]>,
    bias: T,
    name: String,
    size: usize,
    #[differentiable(discrete)]
    rate: f64,
    shape: Shape<T>,
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
#[differentiable(crate = accel_dual)]
enum Shape<T> {
    Nothing,
    Circle(T),
    Box { width: T, height: T },
}

/// The types of the article.
#[derive(Clone, Debug, PartialEq, Differentiable)]
#[differentiable(crate = accel_dual)]
enum T1<T> {
    C1(T, Box<T2<T>>),
    C2(T),
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
#[differentiable(crate = accel_dual)]
struct T2<T>(i64, T1<T>, Option<Box<T2<T>>>);

#[derive(Clone, Debug, PartialEq, Differentiable)]
#[differentiable(crate = accel_dual, scalar = T)]
struct Labelled<L: Clone + Default, T, const N: usize>
where
    T: Copy,
{
    #[differentiable(discrete)]
    label: L,
    numbers: [T; N],
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
#[differentiable(crate = accel_dual)]
struct Marker;

fn area<T: Real>(shape: &Shape<T>) -> T {
    match shape {
        Shape::Nothing => T::zero(),
        Shape::Circle(r) => T::PI() * *r * *r,
        Shape::Box { width, height } => *width * *height,
    }
}

fn cost<T: Real>(m: &Model<T>) -> T {
    let linear = m.weights.iter().enumerate().map(|(k, [a, b])| *a * T::lit(k as f64) + *b).sum::<T>();
    linear * m.bias * T::lit(m.rate) + area(&m.shape) * T::lit(m.size as f64)
}

fn model(shape: Shape<f64>) -> Model<f64> {
    let weights = vec![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
    Model { weights, bias: 0.5, name: "m".into(), size: 3, rate: 2.0, shape }
}

#[test]
fn gradients_have_the_structure_of_the_input() {
    for (shape, slope) in [
        (Shape::Nothing, Shape::Nothing),
        (Shape::Circle(2.0), Shape::Circle(3.0 * 4.0 * std::f64::consts::PI)),
        (Shape::Box { width: 2.0, height: 5.0 }, Shape::Box { width: 15.0, height: 6.0 }),
    ] {
        let expected = Model {
            weights: vec![[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]],
            bias: 50.0,
            name: "m".into(),
            size: 3,
            rate: 2.0,
            shape: slope,
        };
        let x = model(shape);
        assert_eq!(grad(|m| cost(&m), &x).unwrap(), expected);
        // A tangent has the structure, too.
        let (value, derivative) = jvp(|m| cost(&m), &x, &expected).unwrap();
        assert_eq!(value, cost(&x));
        let mut square = 0.0;
        expected.each(&mut |g: f64| square += g * g);
        assert!((derivative - square).abs() < 1e-12 * square);
    }
}

#[test]
fn recursive_types_have_derivatives() {
    fn total<T: Real>(x: &T1<T>) -> T {
        match x {
            T1::C1(a, rest) => *a * of_second(rest),
            T1::C2(a) => *a,
        }
    }
    fn of_second<T: Real>(T2(n, x, next): &T2<T>) -> T {
        T::lit(*n as f64) * total(x) + next.as_ref().map_or(T::zero(), |next| of_second(next))
    }
    let second = T2(5, T1::C2(7.0), Some(Box::new(T2(2, T1::C2(3.0), None))));
    let x = T1::C1(2.0, Box::new(second));
    let (value, slope) = value_and_grad(|x| total(&x), &x).unwrap();
    assert_eq!(value, 82.0);
    let second = T2(5, T1::C2(10.0), Some(Box::new(T2(2, T1::C2(4.0), None))));
    assert_eq!(slope, T1::C1(41.0, Box::new(second)));
}

#[test]
fn other_parameters_stay() {
    let x = Labelled { label: "a", numbers: [1.0, 2.0, 3.0] };
    let slope = grad(|x| x.numbers[0] * x.numbers[1] * x.numbers[2], &x).unwrap();
    assert_eq!(slope, Labelled { label: "a", numbers: [6.0, 3.0, 2.0] });
    assert_eq!(grad(|(x, Marker)| x * 2.0, &(1.0, Marker)).unwrap(), (2.0, Marker));
    assert_eq!(grad(|(x, ())| Rev::lit(2.0) * *x, &(Arc::new(1.0), ())).unwrap(), (Arc::new(2.0), ()));
}

#[test]
fn results_of_all_shapes_have_pullbacks() {
    let f = |(x, n): (Rev, usize)| (vec![x * x; n], Some([x.sin()]), n, 'c', Shape::Circle(x * 3.0));
    let (y, pullback) = vjp(f, (2.0, 3usize)).unwrap();
    assert_eq!(y, (vec![4.0; 3], Some([2.0f64.sin()]), 3, 'c', Shape::Circle(6.0)));
    let adjoint = (vec![1.0, 0.0, 2.0], Some([0.0]), 7, 'd', Shape::Circle(10.0));
    // Discrete parts of an adjoint have no meaning. The gradient has those of the input.
    assert_eq!(pullback.call(&adjoint).unwrap(), (12.0 + 30.0, 3));
    assert_eq!(pullback.call(&adjoint).unwrap(), (42.0, 3));
}

#[test]
fn adjoints_of_other_shapes_are_errors() {
    let (_, pullback) = vjp(|x: Rev| (vec![x; 3], Some(x), Shape::Circle(x)), 2.0).unwrap();
    let message = |adjoint| pullback.call(&adjoint).unwrap_err().to_string();
    let e = message((vec![1.0; 2], Some(0.0), Shape::Circle(0.0)));
    assert_eq!(e, "pullback: expected a vector of length 3, found a vector of length 2");
    let e = message((vec![1.0; 3], None, Shape::Circle(0.0)));
    assert_eq!(e, "pullback: expected `Some`, found `None`");
    let e = message((vec![1.0; 3], Some(0.0), Shape::Nothing));
    assert_eq!(e, "pullback: expected `Shape::Circle`, found `Shape::Nothing`");
    let e = jvp(|x: Vec<_>| x[0], &vec![1.0, 2.0], &vec![1.0]).unwrap_err();
    let expected = "a vector of length 2".to_string();
    assert_eq!(e, Error::Shape { op: "jvp", expected, found: "a vector of length 1".into() });
}

#[test]
fn jacobians_have_rows_and_columns() {
    let x = ([1.0, 2.0], 3.0);
    let (y, rows) = jacobian(|([a, b], c)| vec![a * b, b * c, c * a, Rev::lit(1.0)], &x).unwrap();
    assert_eq!(y, [2.0, 6.0, 3.0, 1.0]);
    assert_eq!(rows, [([2.0, 1.0], 0.0), ([0.0, 3.0], 2.0), ([3.0, 0.0], 1.0), ([0.0, 0.0], 0.0)]);
    let (z, columns) = jacobian_columns(|([a, b], c)| [a * b, b * c, c * a], &x);
    assert_eq!(z, [2.0, 6.0, 3.0]);
    assert_eq!(columns, [[2.0, 0.0, 3.0], [1.0, 3.0, 0.0], [0.0, 2.0, 1.0]]);
    // More inputs than directions.
    let xs: Vec<f64> = (0..20).map(f64::from).collect();
    let (_, columns) = jacobian_columns(|xs: Vec<_>| xs.iter().map(|x| *x * *x).collect::<Vec<_>>(), &xs);
    for (k, column) in columns.iter().enumerate() {
        let expected: Vec<f64> = (0..20).map(|j| if j == k { 2.0 * j as f64 } else { 0.0 }).collect();
        assert_eq!(*column, expected);
    }
}

#[test]
fn inputs_and_results_may_be_empty() {
    assert_eq!(grad(|xs: Vec<Rev>| xs.iter().sum(), &Vec::<f64>::new()).unwrap(), []);
    let (y, rows) = jacobian(|_: Rev| Vec::<Rev>::new(), &1.0).map(|(y, rows)| (y.len(), rows.len())).unwrap();
    assert_eq!((y, rows), (0, 0));
    assert_eq!(grad(|_: Rev| Rev::lit(3.0), &1.0).unwrap(), 0.0);
}
