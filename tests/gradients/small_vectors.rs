//! Rust arrays, vectors, matrices, quaternions and enums as elements, and Rust arrays of arrays.

use crate::harness::V;
use accel::geometry::*;
use accel::prelude::*;
use accel::trees::tree;
use accel_core::interp::Interpreter;

type Points = Acc<Vector<Vec3<f64>>>;
/// Three numbers in scalar code.
type Triple = [Exp<f64>; 3];

/// Numbers between -1 and 1.
fn numbers(n: usize, seed: f64) -> Vec<f64> {
    (0..n).map(|k| ((k as f64 + 1.0) * 12.9898 + seed).sin()).collect()
}

fn triples(n: usize, seed: f64) -> Vector<[f64; 3]> {
    let all = numbers(3 * n, seed);
    Array::vector(all.chunks(3).map(|x| [x[0], x[1], x[2]]).collect())
}

fn vec3([x, y, z]: [f64; 3]) -> Vec3<f64> {
    Vec3 { x, y, z }
}

fn points(n: usize, seed: f64) -> Vector<Vec3<f64>> {
    Array::vector(triples(n, seed).to_vec().into_iter().map(vec3).collect())
}

/// Checks value and gradient of a program on both backends, and both against differences.
#[track_caller]
fn checked<A: Arrays, I: Inputs<A> + Clone>(f: &Afun<A, Scalar<f64>>, x: I) {
    let check = check_grad(f, x.clone()).unwrap();
    assert!(check.agrees(), "{check}");
    let expected = run_on(&Interpreter, value_and_grad(f), x.clone()).unwrap().to_tuple().floats();
    let found = run(value_and_grad(f), x).unwrap().to_tuple().floats();
    assert_eq!(found.len(), expected.len());
    for (x, y) in found.iter().zip(&expected) {
        assert!((x - y).abs() <= 1e-12 * (1.0 + y.abs()), "{found:?} and {expected:?}");
    }
}

#[test]
fn rust_arrays_are_elements() {
    let turned = afun(|xs: Acc<Vector<[f64; 3]>>| map(|[x, y, z]: Triple| [y * 2.0, z, x + y], xs));
    assert_eq!(run(&turned, &Array::vector(vec![[1.0, 2.0, 3.0]])).unwrap().to_vec(), [[4.0, 3.0, 3.0]]);
    let nested = afun(|xs: Acc<Vector<[[i64; 2]; 2]>>| map(|[a, b]: [[Exp<i64>; 2]; 2]| [b, a], xs));
    assert_eq!(run(&nested, &Array::vector(vec![[[1, 2], [3, 4]]])).unwrap().to_vec(), [[[3, 4], [1, 2]]]);
    let single = afun(|xs: Acc<Vector<[f64; 1]>>| map(|[x]: [Exp<f64>; 1]| x, xs));
    assert_eq!(run(&single, &Array::vector(vec![[7.0]])).unwrap().to_vec(), [7.0]);
    let many = afun(|xs: Acc<Vector<[f32; 32]>>| {
        map(|x: [Exp<f32>; 32]| x.into_iter().rev().reduce(|s, x| s + x).unwrap(), xs)
    });
    assert_eq!(run(&many, &Array::vector(vec![[0.5; 32]])).unwrap().to_vec(), [16.0]);

    // In records, in the state of a loop, chosen by conditions, and by an index.
    let steps = afun(|xs: Acc<Vector<[f64; 3]>>| {
        let step = |[x, y, z]: Triple| [y, z, (x * y).sin() + z];
        let last = map(|x: Triple| iterate(4, step, x), xs);
        sum(imap(|i, x: Triple| pick(x, i) * pick([1.0, 2.0, 3.0, 4.0].map(lit::<f64>), 5 - i), last))
    });
    checked(&steps, &triples(5, 0.1));
    let chosen = afun(|xs: Acc<Vector<[f64; 3]>>| {
        sum(map(
            |x: Triple| {
                cond(x[0].gt(x[1]), x.map(|x| x * x), [x[2], x[0], x[1]])
                    .unlift()
                    .into_iter()
                    .reduce(|a, b| a * b)
                    .unwrap()
            },
            xs,
        ))
    });
    checked(&chosen, &triples(6, 0.2));
    let folded = afun(|xs: Acc<Vector<[f64; 3]>>| {
        let total = fold(
            |a: Triple, b: Triple| [0, 1, 2].map(|k| a[k] + b[k]),
            [0.0, 0.0, 0.0],
            map(|x: Triple| x.map(|x| x * x), xs),
        );
        map(|x: Triple| x[0] * x[1] + x[2].sin(), total)
    });
    checked(&folded, &triples(40, 0.3));
}

#[test]
fn indices_of_parts_outside_are_the_nearest() {
    let f = afun(|is: Acc<Vector<i64>>| map(|i| pick([10, 20, 30].map(|k: i64| k.into_exp()), i), is));
    let found = run(&f, &Array::vector(vec![-9, -1, 0, 1, 2, 3, i64::MAX])).unwrap();
    assert_eq!(found.to_vec(), [10, 10, 10, 20, 30, 30, 30]);
}

/// `[A; N]` as arguments and results: layers of a network, as a list of lists, in loops, under `vmap`, and as trees.
#[test]
fn rust_arrays_of_arrays() {
    type Layers = [(Matrix<f64>, Vector<f64>); 3];
    let layers: Layers =
        [0.1, 0.2, 0.3].map(|s| (Array::matrix(3, 3, numbers(9, s)).unwrap(), Array::vector(numbers(3, 10.0 + s))));
    let loss = afun(|layers: Acc<Layers>, x: V| {
        let layer = |x: V, (w, b): (Acc<Matrix<f64>>, V)| map(|x| x.tanh(), matvec(w, x) + b);
        let y = layers.unlift().into_iter().fold(x, layer);
        sum(y * y)
    });
    let x = Array::vector(numbers(3, 0.5));
    checked(&loss, (&layers, &x));
    let step = afun(|layers: Acc<Layers>, x: V| {
        let slope = call(grad(&loss.by(|(layers, _)| layers)), (layers, x));
        tree(layers) - 0.1 * tree(slope)
    });
    let better = run(&step, (&layers, &x)).unwrap();
    let value = |layers: &Layers| run(&loss, (layers, &x)).unwrap().item();
    assert!(value(&better) < value(&layers));

    // As the state and the rows of loops.
    let pairs = afun(|xs: V| {
        let step = |[a, b]: [V; 2]| [b, zip_with(|a, b| a.sin() * b, a, b)];
        let [a, b] = aiterate(3, step, [xs, xs]);
        let (last, [ys, zs]) =
            map_accum_l(|s: Acc<Scalar<f64>>, [x, y]: [Acc<Scalar<f64>>; 2]| (s * x, [s + y, x]), unit(1.0), [a, b]);
        last + sum(ys * zs)
    });
    checked(&pairs, &x);
    let batched = afun(|m: Acc<Matrix<f64>>| vmap(|[x, y]: [V; 2]| [x + y, x * y], [m, m]));
    let [sums, products] = run(&batched, &Array::matrix(2, 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap()).unwrap();
    assert_eq!((sums.to_vec(), products.to_vec()), (vec![2.0, 4.0, 6.0, 8.0], vec![1.0, 4.0, 9.0, 16.0]));

    // Arguments and places one by one.
    let swapped = afun(|x: Acc<[Vector<f64>; 2]>| {
        let [a, b] = x.unlift();
        [b, a + a]
    });
    let compiled = compile(&swapped).unwrap();
    let (a, b) = (Array::vector(vec![1.0, 2.0]), Array::vector(vec![3.0]));
    assert_eq!(compiled.run([&a, &b]).unwrap().map(|x| x.to_vec()), [vec![3.0], vec![2.0, 4.0]]);
    let (mut first, mut second) = (vec![0.0], vec![0.0; 2]);
    compiled.run_into([&a, &b], [&mut first[..], &mut second[..]]).unwrap();
    assert_eq!((first, second), (vec![3.0], vec![2.0, 4.0]));

    // Numbers without arrays.
    let turned = afun(|x: Acc<[Scalar<f64>; 2]>| {
        let [x, y] = x.unlift();
        [y, x * 2.0]
    });
    assert_eq!(compile(&turned).unwrap().call([1.0, 3.0]).unwrap(), [3.0, 2.0]);
}

#[test]
fn tuples_of_twelve() {
    let of_element = |x: Exp<f64>| (x, x, x, x, x, x, x, x, x, x, x, x.sin());
    let f = afun(|xs: V| (xs, xs, xs, xs, xs, xs, xs, xs, xs, xs, map(of_element, xs), xs));
    let x = Array::vector(vec![0.5]);
    assert_eq!(run(&f, &x).unwrap().10.to_vec()[0].11, 0.5f64.sin());
    let last = afun(|xs: V| sum(map(|x: (_, _, _, _, _, _, _, _, _, _, _, Exp<f64>)| x.11, call(&f, xs).10)));
    checked(&last, &x);
}

/// Rotations: as quaternions, as matrices, by rotation vectors.
#[test]
fn rotations_agree() {
    let f = afun(|turns: Points, ps: Points| {
        let of = |v: Vec3Exp<f64>, p: Vec3Exp<f64>| {
            let q = QuatExp::from_rotation_vector(v);
            let length = v.norm();
            let other = QuatExp::from_axis_angle(v / length, length);
            let back = q.to_rotation_vector();
            let errors = [
                q * p - q.to_matrix() * p,
                q * p - other * p,
                v - back,
                q.conjugate() * (q * p) - p,
                (q * q) * p - q * (q * p),
                q.slerp(q * q, 0.5) * p - QuatExp::from_rotation_vector(v * 1.5) * p,
                Mat4Exp::from_rotation_translation(q, v).transform_point(p) - (q * p + v),
                (q * 3.0).normalize() * p - q * p,
                (q.inverse() * q) * p - p,
            ];
            (errors.map(|e| e.norm_squared()), (q * p).norm_squared() - p.norm_squared())
        };
        let (errors, lengths) = unzip(zip_with(of, turns, ps));
        let worst = map(|e: [Exp<f64>; 9]| e.into_iter().reduce(|a, b| a.max(b)).unwrap(), errors);
        (maximum(worst), maximum(map(|x: Exp<f64>| x.abs(), lengths)))
    });
    for scale in [1e-9, 1e-3, 0.05, 0.09, 0.11, 1.0, 1.7] {
        let turns = points(50, 0.4).to_vec().into_iter().map(|v| Vec3::new(v.x * scale, v.y * scale, v.z * scale));
        let (errors, lengths) = run(&f, (&Array::vector(turns.collect()), &points(50, 0.6))).unwrap();
        assert!(errors.item() < 1e-28 && lengths.item() < 1e-14, "{scale}: {} and {}", errors.item(), lengths.item());
    }
}

/// Exponential and logarithm of rotations have the right derivatives at 0 and on both sides of the limits of their power series.
#[test]
fn rotations_by_small_angles_have_derivatives() {
    let there = |v: Vec3Exp<f64>| {
        let p = Vec3Exp::new(0.3, -0.7, 0.9);
        let q = QuatExp::from_rotation_vector(v) * QuatExp::from_rotation_vector(Vec3Exp::new(0.02, 0.01, -0.03));
        (q * p).dot(Vec3Exp::new(1.0, 2.0, -1.5)) + q.to_rotation_vector().dot(Vec3Exp::new(0.5, 0.25, 1.0))
    };
    let f = afun(move |v: Acc<Vector<f64>>| unit(there(Vec3Exp::new(v.at(0), v.at(1), v.at(2)))));
    let slope = afun(|v: V| sum(call(grad(&f), v) * use_(&Array::vector(vec![1.0, -2.0, 0.5]))));
    for scale in [0.0, 1e-12, 1e-3, 0.04, 0.0999, 0.1001, 0.3, 2.0] {
        let x = Array::vector([0.6, -0.64, 0.48].map(|x| x * scale).to_vec());
        for f in [&f, &slope] {
            let check = check_grad(f, &x).unwrap();
            assert!(check.agrees(), "{scale}: {check}");
        }
        let curvature = run(hessian(&f), &x).unwrap().to_vec();
        assert!((0..3).all(|i| (0..3).all(|j| (curvature[3 * i + j] - curvature[3 * j + i]).abs() < 1e-12)));
    }
    // The exponential of a small rotation, to second order: q p = p + v × p + v × (v × p) / 2.
    let f = afun(|v: V| {
        let v = Vec3Exp::new(v.at(0), v.at(1), v.at(2));
        unit((QuatExp::from_rotation_vector(v) * Vec3Exp::new(0.0, 0.0, 1.0)).z)
    });
    let zero = Array::vector(vec![0.0; 3]);
    assert_eq!(run(grad(&f), &zero).unwrap().to_vec(), [0.0; 3]);
    assert_eq!(run(hessian(&f), &zero).unwrap().to_vec(), [-1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn matrices_have_inverses() {
    let f = afun(|ps: Acc<Vector<[f64; 16]>>| {
        let of = |p: [Exp<f64>; 16]| {
            let m4 = Mat4Exp::from_columns([0, 4, 8, 12].map(|k| Vec4Exp::new(p[k], p[k + 1], p[k + 2], p[k + 3])))
                + Mat4Exp::identity() * 2.0;
            let m3 = Mat3Exp::from_rows([0, 3, 6].map(|k| Vec3Exp::new(p[k], p[k + 1], p[k + 2])))
                - Mat3Exp::diagonal(Vec3Exp::new(2.0, 3.0, 4.0));
            let m2 = Mat2Exp::from_angle(p[0]) * p[1] - Mat2Exp::identity();
            let of4 = (m4.inverse() * m4 - Mat4Exp::identity()).columns().map(|c| c.norm_squared());
            let of3 = (m3 * m3.inverse() - Mat3Exp::identity()).columns().map(|c| c.norm_squared());
            let of2 = (m2.inverse() * m2 - Mat2Exp::identity()).columns().map(|c| c.norm_squared());
            // Determinants of products.
            let dets = [
                (m4 * m4.transpose()).determinant() - m4.determinant() * m4.determinant(),
                (m3 * m3).determinant() - m3.determinant() * m3.determinant(),
                (m2 * m2).determinant() - m2.determinant() * m2.determinant(),
            ];
            let all = of4.into_iter().chain(of3).chain(of2).chain(dets.map(|x| x * x));
            all.reduce(|a, b| a.max(b)).unwrap()
        };
        maximum(map(of, ps))
    });
    let all = numbers(16 * 20, 0.7);
    let xs = Array::vector(all.chunks(16).map(|x| x.try_into().unwrap()).collect());
    let worst = run(&f, &xs).unwrap().item();
    assert!(worst < 1e-20, "{worst}");

    let g = afun(|ps: Acc<Vector<[f64; 16]>>| {
        let of = |p: [Exp<f64>; 16]| {
            let m4 = Mat4Exp::from_columns([0, 4, 8, 12].map(|k| Vec4Exp::new(p[k], p[k + 1], p[k + 2], p[k + 3])))
                + Mat4Exp::identity() * 2.0;
            let m2 = Mat2Exp::from_angle(p[3]) * 2.0 + Mat2Exp::identity();
            (m4.inverse() * Vec4Exp::new(1.0, 2.0, 3.0, 4.0)).norm_squared()
                + m4.determinant().sin()
                + (m2.inverse() * Vec2Exp::new(p[4], p[5])).cross(Vec2Exp::new(p[0], 1.0))
        };
        sum(map(of, ps))
    });
    checked(&g, &xs);
}

/// Skinning: points that are moved by a weighted sum of transforms, in `f32`, too.
#[test]
fn transforms_of_points() {
    fn moved<T: Floating>(
        bones: Acc<Vector<Mat4<T>>>,
        ps: Acc<Vector<Vec3<T>>>,
        weights: Acc<Matrix<T>>,
    ) -> Acc<Scalar<T>> {
        let of = |i: Exp<i64>, p: Vec3Exp<T>| {
            let n = bones.shape();
            let add = |j: Exp<i64>, sum: Vec3Exp<T>| sum + bones.at(j).transform_point(p) * weights.at((i, j));
            iterate_indexed(n, add, Vec3Exp::splat(lit::<T>(0.0)))
        };
        sum(map(|v: Vec3Exp<T>| v.norm_squared().sin(), imap(of, ps)))
    }
    let bones = |n: usize| {
        let all = numbers(16 * n, 0.9);
        let bone = |x: &[f64]| {
            let column = |k: usize| Vec4 { x: x[4 * k], y: x[4 * k + 1], z: x[4 * k + 2], w: x[4 * k + 3] };
            Mat4 { x: column(0), y: column(1), z: column(2), w: column(3) }
        };
        Array::vector(all.chunks(16).map(bone).collect())
    };
    let weights = Array::matrix(7, 3, numbers(21, 1.1)).unwrap();
    checked(&afun(moved::<f64>), (&bones(3), &points(7, 1.2), &weights));
    let p = Array::vector(vec![Vec3::new(0.5f32, 1.0, 2.0)]);
    let found = run(afun(moved::<f32>), (&Array::vector(vec![]), &p, &Array::matrix(1, 0, vec![]).unwrap())).unwrap();
    assert_eq!(found.item(), 0.0);
}

#[cfg(feature = "glam")]
#[test]
fn conversions_to_glam() {
    let turn = Vec3::new(0.3, -1.0, 0.5);
    let f = afun(|turn: Acc<Scalar<Vec3<f64>>>| {
        let q = QuatExp::from_rotation_vector(the(turn));
        (unit(q), unit(q.to_matrix()), unit(Mat4Exp::from_rotation_translation(q, the(turn))))
    });
    let (q, m3, m4) = run(&f, &Array::scalar(turn)).unwrap();
    let expected = glam::DQuat::from_scaled_axis(turn.into());
    assert!(glam::DQuat::from(q.item()).abs_diff_eq(expected, 1e-15));
    assert!(glam::DMat3::from(m3.item()).abs_diff_eq(glam::DMat3::from_quat(expected), 1e-15));
    let moved = glam::DMat4::from_rotation_translation(expected, turn.into());
    assert!(glam::DMat4::from(m4.item()).abs_diff_eq(moved, 1e-15));
    assert_eq!(Mat4::from(moved).w, Vec4::new(0.3, -1.0, 0.5, 1.0));
    assert_eq!(Vec2::<f32>::from(glam::Vec2::new(1.0, 2.0)), Vec2::new(1.0, 2.0));
}

/// Shapes with data.
#[derive(Clone, Debug, PartialEq, Elt)]
enum Form {
    Circle(f64),
    Box {
        width: f64,
        height: f64,
    },
    Nothing,
    /// A vector, an integer and another enum.
    Moved([f64; 2], i64, Side),
}

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
enum Side {
    Left(f64),
    Right,
}

fn forms() -> Vec<Form> {
    vec![
        Form::Box { width: 2.0, height: 3.0 },
        Form::Circle(2.0),
        Form::Nothing,
        Form::Moved([1.0, 4.0], 3, Side::Left(0.5)),
        Form::Moved([2.0, 0.0], -1, Side::Right),
    ]
}

#[test]
fn enums_are_elements() {
    let areas = afun(|forms: Acc<Vector<Form>>| {
        map(
            |form: FormExp| {
                form.match_(
                    |r| 3.0 * r * r,
                    |width, height| width * height,
                    || 0.0,
                    |[x, y]: [Exp<f64>; 2], k, side| {
                        (x + y.sqrt()) * k.cast::<f64>() + side.match_(|x| x * x, || 100.0)
                    },
                )
            },
            forms,
        )
    });
    let xs = Array::vector(forms());
    for backend in accel::BACKENDS.iter().filter(|b| **b != "opencl") {
        let found = run_on(accel::backend_named(backend).unwrap(), &areas, &xs).unwrap().to_vec();
        assert_eq!(found, [6.0, 12.0, 0.0, 9.25, 98.0], "{backend}");
    }
    // The derivative is that of the variant that is there: a root of 0 is infinite for the last form only.
    let slopes = run(grad(&afun(|forms: Acc<Vector<Form>>| sum(call(&areas, forms)))), &xs).unwrap().to_vec();
    let expected = [
        Form::Box { width: 3.0, height: 2.0 },
        Form::Circle(12.0),
        // There is no number: any variant is as good.
        Form::Moved([0.0, 0.0], 0, Side::Right),
        Form::Moved([3.0, 0.75], 0, Side::Left(1.0)),
        Form::Moved([-1.0, f64::NEG_INFINITY], 0, Side::Right),
    ];
    assert_eq!(slopes, expected);

    let made = afun(|xs: V| {
        map(
            |x: Exp<f64>| {
                let large = FormExp::moved([x, 1.0.into_exp()], 7, SideExp::left(x));
                cond(x.lt(0.0), FormExp::nothing(), cond(x.lt(1.0), FormExp::circle(x), large))
            },
            xs,
        )
    });
    let found = run(&made, &Array::vector(vec![-1.0, 0.5, 2.0])).unwrap().to_vec();
    assert_eq!(found, [Form::Nothing, Form::Circle(0.5), Form::Moved([2.0, 1.0], 7, Side::Left(2.0))]);
    // Columns of the tag, and of one, two, and two, one, one and one fields.
    assert_eq!(xs.raw().columns.len(), 1 + 1 + 2 + (2 + 1 + 2));
}
