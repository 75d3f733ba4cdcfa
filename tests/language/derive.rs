//! Tests of records as elements and as arguments of programs, for a user who depends only on the facade crate.

use accel::prelude::*;
use accel::surface::{Staged, stage};
use std::ops::{Add, Mul};

#[derive(Clone, Copy, PartialEq, Debug, Elt)]
struct Complex {
    re: f64,
    im: f64,
}

impl Mul for ComplexExp {
    type Output = ComplexExp;
    fn mul(self, b: ComplexExp) -> ComplexExp {
        ComplexExp { re: self.re * b.re - self.im * b.im, im: self.re * b.im + self.im * b.re }
    }
}

impl Add for ComplexExp {
    type Output = ComplexExp;
    fn add(self, b: ComplexExp) -> ComplexExp {
        ComplexExp { re: self.re + b.re, im: self.im + b.im }
    }
}

/// A record with type parameters.
#[derive(Clone, PartialEq, Debug, Elt)]
struct Ranged<T, U> {
    low: T,
    high: T,
    tag: U,
}

/// A record that contains records and a tuple.
#[derive(Clone, PartialEq, Debug, Elt)]
struct Particle(Complex, (i32, bool), Ranged<f32, u8>);

#[derive(Clone, PartialEq, Debug, Elt)]
struct Wrapped(f32);

#[derive(Clone, PartialEq, Debug, Arrays)]
struct Model<T: Elt> {
    weights: Matrix<T>,
    bias: Vector<T>,
    tags: (Vector<i64>, Scalar<bool>),
}

#[derive(Clone, PartialEq, Debug, Arrays)]
struct Nested {
    model: Model<f64>,
    points: Vector<Complex>,
}

fn complex(re: f64, im: f64) -> Complex {
    Complex { re, im }
}

fn particle(i: i32) -> Particle {
    let x = i as f32;
    Particle(complex(i as f64, -1.5), (i, i % 2 == 0), Ranged { low: x, high: x + 1.0, tag: i as u8 })
}

fn model() -> Model<f64> {
    Model {
        weights: Array::matrix(2, 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap(),
        bias: Array::vector(vec![0.5, -0.5]),
        tags: (Array::vector(vec![7, 8, 9]), Array::scalar(true)),
    }
}

/// The operations of a program, without the types and source lines.
fn operations(staged: accel::Result<Staged>) -> Vec<String> {
    let nodes = staged.unwrap().nodes;
    nodes.iter().map(|node| format!("{:?}", node.op)).collect()
}

#[test]
fn arrays_hold_records_as_columns() {
    let values: Vec<Particle> = (0..5).map(particle).collect();
    let array = Array::<Dim1, Particle>::vector(values.clone());
    assert_eq!(array.to_vec(), values);
    assert_eq!(array.get(3), Some(particle(3)));
    assert_eq!(array.raw().columns.len(), 7);
    let wrapped = Array::vector(vec![Wrapped(1.0), Wrapped(2.0)]);
    assert_eq!(wrapped.raw().columns.len(), 1);
    assert_eq!(wrapped.get(1), Some(Wrapped(2.0)));
}

#[test]
fn a_program_of_records_is_that_of_tuples() {
    let records = operations(stage(|xs: Acc<Vector<Complex>>| {
        let ys = map(|z| z * z, xs);
        fold(|a, b| a + b, constant(complex(0.0, 0.0)), zip_with(|a, b| a * b, xs, ys))
    }));
    let times = |(a, b): (Exp<f64>, Exp<f64>), (c, d): (Exp<f64>, Exp<f64>)| (a * c - b * d, a * d + b * c);
    let tuples = operations(stage(|xs: Acc<Vector<(f64, f64)>>| {
        let ys = map(|z| times(z, z), xs);
        fold(|(a, b), (c, d)| (a + c, b + d), constant((0.0, 0.0)), zip_with(times, xs, ys))
    }));
    assert!(records.len() > 20, "{records:?}");
    assert_eq!(records, tuples);
}

#[test]
fn closures_take_records_apart_and_zip_them() {
    let move_by = |(ParticleExp(z, (i, flag), range), w): (ParticleExp, ComplexExp)| {
        let range = RangedExp { low: range.low - 1.0, ..range };
        ParticleExp(cond(flag, z + w, z).unlift(), (i + 1, !flag), range)
    };
    let staged = stage(|args: Acc<(Vector<Particle>, Vector<Complex>)>| {
        let (particles, steps) = args.unlift();
        map(move_by, zip(particles, steps))
    });
    let staged = staged.unwrap();
    let result = &staged.nodes[staged.root.index()];
    assert_eq!(result.ty.to_string(), "Array1<(((f64, f64), (i32, bool)), ((f32, f32), u8))>");
}

#[test]
fn a_record_of_one_field_is_that_field() {
    let records = operations(stage(|xs: Acc<Vector<Wrapped>>| map(|x| WrappedExp(x.0 + 1.0), xs)));
    let scalars = operations(stage(|xs: Acc<Vector<f32>>| map(|x| x + 1.0, xs)));
    assert_eq!(records, scalars);
}

#[test]
fn records_of_arrays_are_arguments_and_results() {
    let nested = Nested { model: model(), points: Array::vector(vec![complex(1.0, 2.0)]) };
    let erased = nested.to_tuple();
    assert_eq!(Nested::from_tuple(erased).unwrap(), nested);
    assert!(Nested::from_tuple(model().to_tuple()).is_err());

    fn doubled<T: Floating>(m: Acc<Model<T>>) -> ModelAcc<T> {
        let m = m.unlift();
        ModelAcc { weights: map(|x| x * lit::<T>(2.0), m.weights), ..m }
    }
    let records = operations(stage(|m: Acc<Model<f64>>| doubled(m).into_acc()));
    let tuples = operations(stage(|m: Acc<((Matrix<f64>, Vector<f64>), (Vector<i64>, Scalar<bool>))>| {
        let ((weights, bias), tags) = m.unlift();
        ((map(|x| x * 2.0, weights), bias), tags).into_acc()
    }));
    assert_eq!(records, tuples);
}

#[test]
fn programs_of_records_run() {
    let square_and_scale = afun(|zs: Acc<Vector<Complex>>, ws: Acc<Vector<f64>>| {
        map(|(z, w)| (z * z + ComplexExp { re: w, im: w }, z.im), zip(zs, ws))
    });
    let zs = Array::vector(vec![complex(1.0, 2.0), complex(0.0, -1.0), complex(3.0, 0.5)]);
    let ws = Array::vector(vec![10.0, 20.0, 30.0]);
    let found = run(&square_and_scale, (&zs, &ws)).unwrap();
    let square = |z: Complex, w: f64| complex(z.re * z.re - z.im * z.im + w, 2.0 * z.re * z.im + w);
    let expected: Vec<_> = zs.iter().zip(ws.iter()).map(|(z, w)| (square(z, w), z.im)).collect();
    assert_eq!(found.to_vec(), expected);
}

#[test]
fn programs_take_and_return_records_of_arrays() {
    let step = afun(|m: Acc<Model<f64>>, x: Acc<Vector<f64>>| {
        let ModelAcc { weights, bias, tags } = m.unlift();
        ModelAcc { weights, bias: zip_with(|a, b| a + b, matvec(weights, x), bias), tags }
    });
    let x = Array::vector(vec![1.0, -1.0]);
    let found = run(&step, (&model(), &x)).unwrap();
    assert_eq!(found, Model { bias: Array::vector(vec![-0.5, -1.5]), ..model() });
}

#[derive(Clone, PartialEq, Debug, Arrays)]
struct Linear {
    weights: Vector<f64>,
    bias: Scalar<f64>,
}

#[test]
fn the_gradient_of_a_record_is_a_record() {
    let loss = afun(|m: Acc<Linear>, xs: Acc<Vector<Complex>>| {
        let LinearAcc { weights, bias } = m.unlift();
        sum(zip_with(|w, z: ComplexExp| w * z.re * z.im + the(bias), weights, xs))
    });
    let m = Linear { weights: Array::vector(vec![1.0, 2.0]), bias: Array::scalar(3.0) };
    let xs = Array::vector(vec![complex(1.0, 2.0), complex(4.0, -3.0)]);
    let (dm, dxs) = run(grad(&loss), (&m, &xs)).unwrap();
    assert_eq!(dm, Linear { weights: Array::vector(vec![2.0, -12.0]), bias: Array::scalar(2.0) });
    assert_eq!(dxs.to_vec(), [complex(2.0, 1.0), complex(-6.0, 8.0)]);
}

#[test]
fn the_result_of_a_call_is_taken_apart() {
    let loss = afun(|m: Acc<Linear>| {
        let LinearAcc { weights, bias } = m.unlift();
        sum(weights * weights) + bias * bias
    });
    let step = afun(move |m: Acc<Linear>| {
        let (value, slope) = call(value_and_grad(&loss), m);
        let m = m.unlift();
        (value, LinearAcc { weights: m.weights - 0.5 * slope.weights, bias: m.bias - 0.25 * slope.bias })
    });
    let m = Linear { weights: Array::vector(vec![1.0, 2.0]), bias: Array::scalar(3.0) };
    let (value, next) = run(&step, &m).unwrap();
    assert_eq!(value.item(), 14.0);
    assert_eq!(next, Linear { weights: Array::vector(vec![0.0, 0.0]), bias: Array::scalar(1.5) });
}

#[test]
fn the_results_of_loops_and_conditionals_are_taken_apart() {
    let prog = afun(|m: Acc<Linear>, xs: Acc<Vector<f64>>| {
        let m = m.unlift();
        let halved = |_, m: LinearAcc| LinearAcc { weights: m.weights * 0.5, bias: m.bias + 1.0 };
        let LinearAcc { weights, bias } = aiterate_indexed(2, halved, m);
        let is_small = |m: LinearAcc| the(m.bias).lt(7.0);
        let doubled = awhile(is_small, |m| LinearAcc { bias: m.bias * 2.0, ..m }, LinearAcc { weights, bias });
        let chosen = acond(the(doubled.bias).gt(100.0), m, doubled);
        // A list of records is a tuple of lists.
        let step = |s: Acc<Scalar<f64>>, x| (s + x, LinearAcc { weights: chosen.weights, bias: s });
        let (last, (rows, sums)) = map_accum_l(step, chosen.bias, xs);
        let (row_sums, products) = vmap(|(row, x): (Acc<Vector<f64>>, _)| (sum(row), sum(row) * x), (rows, xs));
        (last, sums, row_sums, products)
    });
    let m = Linear { weights: Array::vector(vec![4.0, 8.0]), bias: Array::scalar(3.0) };
    let (last, sums, row_sums, products) = run(&prog, (&m, &Array::vector(vec![1.0, 2.0]))).unwrap();
    assert_eq!((last.item(), sums.to_vec()), (13.0, vec![10.0, 11.0]));
    assert_eq!((row_sums.to_vec(), products.to_vec()), (vec![3.0, 3.0], vec![3.0, 6.0]));
}

#[test]
fn the_results_of_scalar_loops_are_taken_apart() {
    // Literals get their types from a closure or from the use of the result.
    let prog = afun(|xs: Acc<Vector<f32>>, zs: Acc<Vector<Complex>>| {
        let roots = |x: Exp<f32>| {
            let step = |(k, y): (Exp<i64>, Exp<f32>)| (k + 1, (y + x / y) * 0.5);
            let (steps, y) = while_(|(k, y): (_, Exp<f32>)| k.lt(20) & (y * y - x).abs().gt(1e-6), step, (0, 1.0));
            let count: Exp<i64> = iterate(3, |k| k, 5);
            (y, steps.gt(2), count)
        };
        let power = |z: ComplexExp| {
            let ComplexExp { re, im } = iterate(2, |w| w * z, z);
            let (by_re, by_im) = gradient(|(re, im)| re * im, (re, im));
            ComplexExp { re: by_im, im: by_re }
        };
        (map(roots, xs), map(power, zs))
    });
    let (roots, powers) =
        run(&prog, (&Array::vector(vec![4.0, 1.0]), &Array::vector(vec![complex(1.0, 2.0)]))).unwrap();
    assert_eq!(roots.to_vec(), [(2.0, true, 5), (1.0, false, 5)]);
    assert_eq!(powers.to_vec(), [complex(-11.0, -2.0)]);
}
