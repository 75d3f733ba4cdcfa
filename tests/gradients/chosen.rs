//! Derivatives by chosen parts of the argument: they agree with finite differences by these parts, and the rest of the
//! argument is data, which costs nothing.

use crate::harness::{Differentiated, Tally, V, always, for_all, same};
use crate::refined::{AllNonZero, Any, AtLeast3, Even, Floats, NonEmpty, Positive, Refined};
use accel::prelude::*;

type Matrices = Acc<Matrix<f64>>;

/// Checks the derivatives by chosen parts: first derivatives in both modes, and the Hessian by forward over reverse mode,
/// which must be symmetric.
#[track_caller]
fn by<I: Refined, P: IntoAcc, M>(
    _: I,
    program: impl ArrayFn<M, Args = I::Arrays, Result = Scalar<f64>>,
    choose: impl Fn(<I::Arrays as Arrays>::Acc) -> P + Copy,
) {
    let program: Afun<I::Arrays, Scalar<f64>> = afun(program);
    let tally = always::<I>(Differentiated::by(&program.by(choose)));
    assert!(tally.often_checked(), "finite differences were rarely of use: {tally:?}");
    let gradient = grad(program.by(choose));
    always::<I>(Differentiated::forward_by(&gradient.by(choose)));
    let second = Differentiated::forward_by(&gradient.by(choose));
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

/// A number whose powers are larger than `x`, found by a loop.
fn power(x: Exp<f64>) -> Exp<f64> {
    while_(move |y: Exp<f64>| y.le(x.abs()), |y| y * 2.0, 1.0)
}

// ---- arguments

#[test]
fn the_first_argument() {
    by((Any, Any), |a: V, b: V| sum(zip_with_min(|x, y| x.sin() * y * x, a, b)), |(a, _)| a);
}

#[test]
fn the_last_argument() {
    by(
        (Any, Any, Any),
        |a: V, b: V, c: V| sum(zip_with3_min(|x, y, z| x * y * (z * 0.3).exp(), a, b, c)),
        |(_, _, c)| c,
    );
}

#[test]
fn the_middle_argument() {
    by((Any, Any, Any), |a: V, b: V, c: V| sum(zip_with3_min(|x, y, z| (x * y).sin() * z, a, b, c)), |(_, b, _)| b);
}

#[test]
fn two_of_three_arguments() {
    let program = |a: V, b: V, c: V| sum(zip_with3_min(|x, y, z| x * y * y * (z * 0.1).cos() * z, a, b, c));
    by((Any, Any, Any), program, |(a, _, c)| (a, c));
    by((Any, Any, Any), program, |(a, _, c)| (c, a));
    by((Any, Any, Any), program, |(a, b, c)| ((c, b), a));
}

#[test]
fn all_arguments() {
    by((Any, Any), |a: V, b: V| sum(zip_with_min(|x, y| x * x * y, a, b)), |all| all);
    by(Any, |a: V| sum(map(|x| x * x * x, a)), |a| a);
}

#[test]
fn no_argument() {
    let program = afun(|a: V, b: V| sum(zip_with(|x, y| x * y, a, b)));
    let (a, b) = (Array::vector(vec![1.0]), Array::vector(vec![2.0]));
    let (value, ()) = run(value_and_grad(program.by(|_| ())), (&a, &b)).unwrap();
    assert_eq!(value.item(), 2.0);
}

#[test]
fn numbers() {
    let line = |slope: Acc<Scalar<f64>>, offset: Acc<Scalar<f64>>, xs: V| {
        let (slope, offset) = (the(slope), the(offset));
        sum(map(move |x| (slope * x + offset).tanh() * x, xs))
    };
    let program = Differentiated::by(&afun(line).by(|(slope, offset, _)| (slope, offset)));
    for_all(move |xs: &Floats<Any>| {
        let xs = Array::vector(xs.0.clone());
        program.check(&Arrays::to_tuple(&(Array::scalar(0.3), Array::scalar(-0.2), xs)), &Tally::default())
    });
}

// ---- components and fields

#[test]
fn components_of_tuples() {
    let program = |p: Acc<(Vector<f64>, Vector<f64>)>, c: V| {
        let (a, b) = p.unlift();
        sum(zip_with3_min(|x, y, z| x * y.sin() * z * z, a, b, c))
    };
    by(((Any, Any), Any), program, |((a, _), _)| a);
    by(((Any, Any), Any), program, |((_, b), c)| (c, b));
    by(((Any, Any), Any), program, |(p, _)| p);
    by((Any, (Any, Any)), |c: V, p: Acc<(Vector<f64>, Vector<f64>)>| program(p, c), |(c, (a, _))| (a, c));
}

#[derive(Clone, PartialEq, Debug, Arrays)]
struct Layer {
    weights: Matrix<f64>,
    bias: Vector<f64>,
}

#[derive(Clone, PartialEq, Debug, Arrays)]
struct Network {
    first: Layer,
    second: Layer,
    /// A discrete argument.
    class: Scalar<i64>,
}

fn loss(net: Acc<Network>, x: V) -> Acc<Scalar<f64>> {
    let net = net.unlift();
    let apply = |layer: LayerAcc, x: V| map(|y| y.tanh(), zip_with(|y, b| y + b, matvec(layer.weights, x), layer.bias));
    let class = the(net.class);
    let y = apply(net.second, apply(net.first, x));
    sum(imap(move |i, y| cond::<f64>(i.eq(class), y * 3.0, y * y), y))
}

/// A network for two inputs, with two outputs.
fn network() -> Network {
    let layer = |rows, columns, f: fn(f64) -> f64| Layer {
        weights: Array::matrix(rows, columns, (0..rows * columns).map(|i| f(i as f64)).collect()).unwrap(),
        bias: Array::vector((0..rows).map(|i| f(i as f64 + 0.5)).collect()),
    };
    Network { first: layer(3, 2, f64::sin), second: layer(2, 3, f64::cos), class: Array::scalar(1) }
}

#[track_caller]
fn close<Sh: Shape>(a: &Array<Sh, f64>, b: &Array<Sh, f64>) {
    assert_eq!(a.shape(), b.shape());
    assert!(a.iter().zip(b.iter()).all(|(a, b)| same(a, b, 1e-12)), "{a} and {b}");
}

#[test]
fn fields_of_records() {
    let program = afun(loss);
    let input = (network(), Array::vector(vec![0.7, -0.4]));
    let all = Arrays::to_tuple(&input);
    let tally = Tally::default();
    for d in [
        Differentiated::by(&program.by(|(net, _)| net)),
        Differentiated::by(&program.by(|(net, _)| net.first)),
        Differentiated::by(&program.by(|(net, _)| net.second.bias)),
        Differentiated::by(&program.by(|(net, x)| (x, net.first.weights))),
        Differentiated::by(&program.by(|(net, _)| (net.second.weights, net.class))),
        Differentiated::by(&grad(program.by(|(net, _)| net.second)).by(|(net, _)| net.first.bias)),
        Differentiated::by(&grad(program.by(|(net, x)| (net.first.bias, x))).by(|(net, x)| (x, net.second.weights))),
    ] {
        d.check(&all, &tally).unwrap();
    }
    assert!(tally.often_checked(), "{tally:?}");
    let (net, x) = &input;
    let (all, _) = run(grad(&program), (net, x)).unwrap();
    let first: Layer = run(grad(program.by(|(net, _)| net.first)), (net, x)).unwrap();
    close(&first.weights, &all.first.weights);
    close(&first.bias, &all.first.bias);
    let bias: Vector<f64> = run(grad(program.by(|(net, _)| net.second.bias)), (net, x)).unwrap();
    close(&bias, &all.second.bias);
    // The program of one record.
    let own = afun(|net: Acc<Network>| loss(net, generate(2, |i| i.cast::<f64>())));
    let weights = run(grad(own.by(|net| net.first.weights)), net).unwrap();
    close(&weights, &run(grad(&own), net).unwrap().first.weights);
}

/// Discrete parts have derivatives that are zero, and chosen parts that do not influence the result as well.
#[test]
fn parts_without_influence() {
    let program = afun(|a: V, b: Acc<Vector<i64>>, c: V| {
        let total = the(sum(zip_with(|x, k| x * k.cast::<f64>(), a, b)));
        unit(total + c.shape().cast::<f64>())
    });
    let (a, b) = (Array::vector(vec![1.5, 2.5]), Array::vector(vec![3, 4]));
    let c = Array::vector(vec![1.0, 2.0, 3.0]);
    let (db, da, dc) = run(grad(program.by(|(a, b, c)| (b, a, c))), (&a, &b, &c)).unwrap();
    assert_eq!((db.to_vec(), da.to_vec(), dc.to_vec()), (vec![0, 0], vec![3.0, 4.0], vec![0.0; 3]));
    let none = run(grad(program.by(|(_, _, c)| c)), (&a, &b, &c)).unwrap();
    assert_eq!(none.to_vec(), [0.0; 3]);
}

// ---- what programs do with chosen parts and data

#[test]
fn data_in_folds_and_scans() {
    by((Any, Any), |a: V, b: V| sum(zip_with_min(|x, y| x * x * y, a, scanl1(|x, y| x + y, b))), |(a, _)| a);
    by((Any, Any), |a: V, b: V| sum(zip_with_min(|x, y| x * x * y, scanr1(|x, y| x + y, a), b)), |(a, _)| a);
    // The operator reads a chosen argument, and data.
    by(
        (NonEmpty, NonEmpty, Any),
        |a: V, b: V, c: V| fold(move |x, y| x + y + x * y * a.at(0) * b.at(0) * 0.01, 0.5, map(|x| x * 0.1, c)),
        |(a, _, _)| a,
    );
    // Elements with chosen components.
    by(
        (Any, Any),
        |a: V, b: V| {
            let (linear, _) =
                unzip(fold(|(x, p), (y, q)| (x + y, p.max(q)), (0.0, 1.0), zip_min(map(|x| x * x, a), b)));
            linear
        },
        |(a, _)| a,
    );
}

#[test]
fn data_in_conditionals() {
    by(
        (Any, Any),
        |a: V, b: V| {
            let (p, q) = acond(a.shape().gt(3), (map(|x| x * x, a), b), (a, map(|x| x.cos(), b)));
            sum(zip_with_min(|x, y| x.sin() * y, p, q))
        },
        |(a, _)| a,
    );
    by((Any, Any), |a: V, b: V| sum(zip_with_min(|x, y| cond(y.gt(0.0), x * x * y, x * y), a, b)), |(a, _)| a);
}

#[test]
fn data_in_reads() {
    by(
        (AtLeast3, AtLeast3),
        |a: V, b: V| {
            let n = a.shape();
            sum(generate(n, move |i| a.at((i * 2) % n) * a.at(i) * b.at(i % 3)))
        },
        |(_, b)| b,
    );
    by((AtLeast3, NonEmpty), |a: V, b: V| sum(map(move |x| x * x * b.at(0), gather(fill(2, 2i64), a))), |(a, _)| a);
}

#[test]
fn data_in_products_of_matrices() {
    let program = |a: V, b: V| {
        let square = |v: V| -> Matrices { reshape((v.shape() / 2, 2), v) };
        sum_all(map(|x| x * x * 0.01, matmul(square(a), transpose(square(b)))))
    };
    by((Even, Even), program, |(a, _)| a);
    by((Even, Even), program, |(_, b)| b);
}

#[test]
fn powers_of_data() {
    by((Any, Positive), |a: V, b: V| sum(zip_with_min(|x, y| y.pow(x * 0.1), a, b)), |(a, _)| a);
    by((Positive, AllNonZero), |a: V, b: V| sum(zip_with_min(|x, y| x.ln() * x / y, a, b)), |(a, _)| a);
}

/// Operations that reverse mode does not differentiate are no error where only data flows.
#[test]
fn data_in_loops_and_permutes() {
    by(
        (Any, NonEmpty),
        |a: V, b: V| {
            let state = awhile(|s: V| the(sum(map(|x| x.abs(), s))).lt(100.0), |s| map(|x| x.abs() * 2.0 + 1.0, s), b);
            sum(zip_with_min(|x, s| x * x * s * 1e-2, a, state))
        },
        |(a, _)| a,
    );
    by((Any, Any), |a: V, b: V| sum(zip_with_min(|x, y| x * x * power(y), a, b)), |(a, _)| a);
    by(
        (Any, NonEmpty),
        |a: V, b: V| {
            let n = b.shape();
            let bins = permute(|x, y| x * y, fill(n, 0.5), |i| (i.ge(0), i * i % n), b);
            sum(zip_with_min(|x, y| x * x * y * 0.1, a, bins))
        },
        |(a, _)| a,
    );
}

// ---- other derivatives

#[test]
fn several_results() {
    let program = afun(|a: V, b: V, c: V| {
        let products = zip_with3_min(|x, y, z| x * y.sin() * z, a, b, c);
        (products, sum(zip_with_min(|x, z| x * x * z, a, c)), b)
    });
    always::<(Any, Any, Any)>(Differentiated::by(&program.by(|(_, b, c)| (c, b))));
    always::<(Any, Any, Any)>(Differentiated::by(&program.by(|(a, _, _)| a)));
}

/// A tangent or an adjoint of another shape is an error that names the derivative and its line.
#[test]
fn seeds_of_the_wrong_shape() {
    let program = afun(|a: V, b: V| zip_with_min(|x, y| x * y, a, b));
    let (a, b) = (Array::vector(vec![1.0, 2.0]), Array::vector(vec![1.0; 3]));
    let along = jvp(program.by(|(_, b)| b));
    let line = line!() - 1;
    let (_, dy) = run(&along, ((&a, &b), &Array::vector(vec![1.0, 0.0, 5.0]))).unwrap();
    assert_eq!(dy.to_vec(), [1.0, 0.0]);
    let error = run(&along, ((&a, &b), &a)).unwrap_err().to_string();
    assert!(error.contains("`jvp`") && error.contains(&format!("chosen.rs:{line}:")), "{error}");
    assert!(error.contains("[3] and [2]"), "{error}");
}

/// Derivatives by one part of derivatives by another one, in all combinations of modes.
#[test]
fn mixed_second_derivatives() {
    // d/dx d/dw of sum(sin(w) x²) is 2 x cos(w) in the same place.
    let program = afun(|w: V, x: V| sum(zip_with(|w, x| w.sin() * x * x, w, x)));
    let (w, x) = (Array::vector(vec![0.3, -1.2]), Array::vector(vec![2.0, 0.7]));
    let expected: Vec<f64> = w.iter().zip(x.iter()).map(|(w, x): (f64, f64)| 2.0 * x * w.cos()).collect();
    let ones = Array::vector(vec![1.0, 1.0]);
    let check = |found: Vector<f64>| {
        assert!(found.iter().zip(&expected).all(|(a, b)| same(a, *b, 1e-12)), "{found} and {expected:?}")
    };
    let by_w = grad(program.by(|(w, _)| w));
    check(run(jvp(by_w.by(|(_, x)| x)), ((&w, &x), &ones)).unwrap().1);
    check(run(vjp(by_w.by(|(_, x)| x)), ((&w, &x), &ones)).unwrap());
    let by_x = jvp(program.by(|(_, x)| x));
    let total = afun(|w: V, x: V| call(&by_x, ((w, x), map(|_| 1.0, x))).1);
    check(run(grad(total.by(|(w, _)| w)), (&w, &x)).unwrap());
    let twice = jvp(jvp(program.by(|(w, _)| w)).by(|((_, x), _)| x));
    let (_, (_, d2)) = run(twice, (((&w, &x), &ones), &ones)).unwrap();
    assert!(same(d2.item(), expected.iter().sum(), 1e-12), "{d2}");
}

/// A program that calls a derivative by chosen parts is differentiated by chosen parts: a step of gradient descent.
#[test]
fn derivatives_inside_of_programs() {
    by(
        (Any, Any, NonEmpty),
        |w: V, x: V, rate: V| {
            let inner = afun(|w: V, x: V| sum(zip_with_min(|w, x| (w * x * 0.1).sin() * w, w, x)));
            let step = call(grad(inner.by(|(w, _)| w)), (w, x));
            sum(zip_with(move |w, d| (w - d * rate.at(0)) * w, w, step))
        },
        |(w, _, rate)| (rate, w),
    );
}

/// In scalar code, a closure captures what is data.
#[test]
fn scalar_functions() {
    by(
        (Any, Any),
        |a: V, b: V| sum(zip_with_min(|x, y| gradient(move |x: Exp<f64>| (x * y * 0.1).sin() * x, x), a, b)),
        |(_, b)| b,
    );
}

// ---- cost and errors

/// What only data needs does not occur in a derivative.
#[test]
fn data_costs_nothing() {
    let program = afun(|w: V, x: V| {
        let features = map(|x| x.atan(), gather(fill(3, 0i64), x));
        sum(zip_with(|w, f| w.sin() * f, w, features))
    });
    // The adjoints of `x` need the derivatives of `atan` and of `gather`, and those of `w` need `cos`.
    let all = grad(&program).to_string();
    assert!(all.contains("= permute") && all.contains("cos") && all.contains("recip"), "{all}");
    let by_w = grad(program.by(|(w, _)| w)).to_string();
    assert!(!by_w.contains("= permute") && by_w.contains("cos") && !by_w.contains("recip"), "{by_w}");
    let along_w = jvp(program.by(|(w, _)| w)).to_string();
    assert!(along_w.contains("cos") && !along_w.contains("recip"), "{along_w}");
    assert_eq!(along_w.matches("backpermute").count(), 1, "{along_w}");
    let by_x = vjp(program.by(|(_, x)| x)).to_string();
    assert!(by_x.contains("= permute") && !by_x.contains("cos") && by_x.contains("recip"), "{by_x}");
}

/// The gradient by an argument is one loop, as if it were written by hand, and has nothing of the other argument's.
#[test]
fn kernel_programs_without_data() {
    let program = afun(|a: V, b: V| sum(map(move |x| x * x * b.at(0).sin(), a)));
    let gradient = grad(program.by(|(a, _)| a));
    let lowered = accel_fusion::pipeline::lower(gradient.program().unwrap()).unwrap();
    let kernels = accel_fusion::pipeline::optimize(&lowered, true).unwrap().program.to_string();
    let count = |word: &str| kernels.matches(word).count();
    assert_eq!(
        (count(" = loop"), count("sin"), count("cos"), count(" = reduce"), count(" = permute")),
        (1, 1, 0, 0, 0)
    );
}

#[track_caller]
fn refused<P: Arrays>(by: accel::by::By<(Vector<f64>, Vector<f64>), P, Scalar<f64>>, parts: &[&str]) {
    let texts = [
        grad(&by).program().unwrap_err().to_string(),
        value_and_grad(&by).program().unwrap_err().to_string(),
        vjp(&by).program().unwrap_err().to_string(),
        jvp(&by).program().unwrap_err().to_string(),
    ];
    for text in texts {
        for part in parts.iter().chain(&["`by` at ", "chosen.rs:"]) {
            assert!(text.contains(part), "`{part}` is not in: {text}");
        }
    }
}

#[test]
fn wrong_choices() {
    let program = afun(|a: V, b: V| sum(zip_with(|x, y| x * y, a, b)));
    let here = |line: u32| format!("chosen.rs:{line}:");
    refused(program.by(|(a, _)| map(|x| x * 2.0, a)), &["`map` at", "no part of the argument", &here(line!())]);
    refused(program.by(|(a, b)| (b, sum(a))), &["`sum` at", &here(line!())]);
    refused(program.by(|(a, _)| unit(a.at(0))), &["`unit` at", "choose arguments"]);
    refused(program.by(|(_, b)| fill(b.shape(), 1.0)), &["`fill` at"]);
    refused(program.by(|(a, b)| acond(true, a, b)), &["`acond` at"]);
    refused(program.by(|(a, _)| (a, a)), &["chosen twice", &here(line!())]);
    refused(program.by(|(a, b)| ((a, b), b)), &["chosen twice"]);
    // A part of another program.
    let mut other = None;
    let _ = afun(|xs: V| {
        other = Some(xs);
        xs
    });
    let text = grad(program.by(|_| other.unwrap())).program().unwrap_err().to_string();
    assert!(text.contains("another program"), "{text}");
}
