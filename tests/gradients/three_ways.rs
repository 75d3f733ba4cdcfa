//! The programs of the two documents behind tracing and dual numbers, written as array programs and as ordinary code:
//! source transformation = trace, whole and by elements = dual numbers, in reverse and forward mode = finite differences.

use accel::dual::{self, Real};
use accel::interp::Interpreter;
use accel::prelude::*;
use accel_trace::{Keep, trace_on};

type V = Acc<Vector<f64>>;

/// A program of ordinary code, generic in its numbers.
trait Plain {
    fn run<T: Real>(x: &[T]) -> T;
}

/// Checks the gradient of both forms of a program at `x`.
fn agree<P: Plain>(x: &[f64], program: impl Fn(V) -> Acc<Scalar<f64>> + 'static) {
    let (gradient, differences) = derivatives::<P>(x, program);
    same("differences", &differences, &gradient, 1e-6);
}

fn same(what: &str, found: &[f64], gradient: &[f64], tolerance: f64) {
    assert_eq!(found.len(), gradient.len());
    for (a, b) in found.iter().zip(gradient) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{what}: {found:?}, source {gradient:?}");
    }
}

/// Checks that all ways to differentiate agree; returns the gradient and finite differences.
fn derivatives<P: Plain>(x: &[f64], program: impl Fn(V) -> Acc<Scalar<f64>> + 'static) -> (Vec<f64>, Vec<f64>) {
    let prog = afun(program);
    let at = Array::vector(x.to_vec());
    let (value, gradient) = run_on(&Interpreter, value_and_grad(&prog), &at).expect("a gradient");
    let gradient = gradient.to_vec();
    let close = 1e-12;
    let plain = P::run(x);
    assert!((plain - value.item()).abs() <= close * (1.0 + plain.abs()), "{plain} and {value:?}");

    for keep in [Keep::Arrays, Keep::Scalars] {
        let (y, t) = trace_on(&Interpreter, &prog, &at, keep).expect("a trace");
        assert_eq!(y.item(), value.item());
        let adjoints = t.reverse(&Array::scalar(1.0)).expect("adjoints");
        same("trace", &adjoints.inputs().to_vec(), &gradient, close);
    }
    let reverse = dual::grad(|x: Vec<_>| P::run(&x), &x.to_vec()).expect("a gradient");
    same("dual numbers, reverse", &reverse, &gradient, close);

    let unit = |k: usize| (0..x.len()).map(|i| f64::from(u8::from(i == k))).collect::<Vec<f64>>();
    let (mut tangents, mut duals, mut differences) = (vec![], vec![], vec![]);
    for k in 0..x.len() {
        let (_, d) = run_on(&Interpreter, jvp(&prog), (&at, &Array::vector(unit(k)))).expect("a tangent");
        tangents.push(d.item());
        let (_, d): (f64, f64) = dual::jvp(|x: Vec<_>| P::run(&x), &x.to_vec(), &unit(k)).expect("a tangent");
        duals.push(d);
        let moved = |h: f64| P::run(&x.iter().zip(unit(k)).map(|(x, u)| x + h * u).collect::<Vec<f64>>());
        differences.push((moved(1e-6) - moved(-1e-6)) / 2e-6);
    }
    same("forward mode", &tangents, &gradient, close);
    same("dual numbers, forward", &duals, &gradient, close);
    (gradient, differences)
}

macro_rules! plain {
    ($name:ident, $x:ident => $body:expr) => {
        struct $name;
        impl Plain for $name {
            fn run<T: Real>($x: &[T]) -> T {
                $body
            }
        }
    };
}

fn number(e: Exp<f64>) -> Acc<Scalar<f64>> {
    unit(e)
}

/// Of the thesis: its example, closures, branches, folds, generated arrays, sums of nothing.
#[test]
fn of_the_thesis() {
    plain!(Example, x => x[0] + x[0] * x[1]);
    agree::<Example>(&[5.0, 3.0], |x| number(x.at(0) + x.at(0) * x.at(1)));

    plain!(FreeVariable, x => x[1..].iter().map(|&b| x[0] * b.sin() + b * x[0]).sum());
    agree::<FreeVariable>(&[0.5, 1.0, -2.0, 0.3], |x| sum(map(|b| x.at(0) * b.sin() + b * x.at(0), skip(1, x))));

    plain!(Branching, x => x.iter().map(|&b| if b > T::zero() { b * b * b } else { b * T::lit(0.5) }).sum());
    agree::<Branching>(&[1.0, -2.0, 0.3, -0.1], |x| sum(map(|b| cond(b.gt(0.0), b * b * b, b * 0.5), x)));

    plain!(Product, x => x.iter().fold(T::one(), |p, &x| p * x));
    agree::<Product>(&[1.0, -2.0, 0.3, 1.5], product);
    agree::<Product>(&[1.0, 0.0, 0.3, 1.5], product);
    agree::<Product>(&[], product);

    plain!(UserFold, x => x.iter().fold(T::lit(0.1), |a, &b| a + b + a * b));
    agree::<UserFold>(&[0.2, -0.4, 0.3], |x| fold(|a, b| a + b + a * b, 0.1, x));

    plain!(Generated, x => (0..4).map(|i| x[0] * T::lit(f64::from(i)) * x[i as usize % 2].sin()).sum());
    agree::<Generated>(&[0.7, -0.2], |x| sum(generate(4, |i| x.at(0) * i.cast::<f64>() * x.at(i % 2).sin())));

    // The comparison is no step, so nobody waits for its adjoint.
    plain!(OnlyDecides, x => if x[0] * x[0] == T::lit(4.0) { x[0] } else { x[0] * T::lit(2.0) });
    let only_decides = |x: V| number(cond((x.at(0) * x.at(0)).eq(4.0), x.at(0), x.at(0) * 2.0));
    agree::<OnlyDecides>(&[3.0], only_decides);
    // A jump, where differences mean nothing: the derivative is that of the branch that is taken.
    assert_eq!(derivatives::<OnlyDecides>(&[2.0], only_decides).0, [1.0]);
    plain!(Nothing, x => x.iter().copied().sum());
    agree::<Nothing>(&[], sum);
    agree::<Nothing>(&[3.0], sum);
}

/// Of the article: its running example, sharing, calls, parts of inputs, vectors and matrices.
#[test]
fn of_the_article() {
    plain!(Running, x => { let z = x[0] + x[1]; x[0] * z });
    agree::<Running>(&[12.0, 13.0], |x| number(x.at(0) * (x.at(0) + x.at(1))));

    // Without sharing, 2^40 additions.
    plain!(Sharing, x => (0..40).fold(x[0], |y, _| y + y) * T::lit(1e-9));
    agree::<Sharing>(&[1.5], |x| number((0..40).fold(x.at(0), |y, _| y + y) * 1e-9));

    // f4 = f2 + 2 f3, f3 = 4 f2 + 5 f1, f2 = f1 + f1.
    plain!(Calls, x => {
        let f1 = x[0].sin();
        let f2 = f1 + f1;
        let f3 = T::lit(4.0) * f2 + T::lit(5.0) * f1;
        f2 + T::lit(2.0) * f3
    });
    agree::<Calls>(&[0.8], |x| {
        let f1 = x.at(0).sin();
        let f2 = f1 + f1;
        let f3 = f2 * 4.0 + f1 * 5.0;
        number(f2 + f3 * 2.0)
    });

    plain!(First, x => x[0]);
    agree::<First>(&(0..50).map(f64::from).collect::<Vec<f64>>(), |x| number(x.at(0)));

    plain!(AddOne, x => x.iter().map(|&x| x + T::one()).sum());
    agree::<AddOne>(&[1.0, 2.0, 3.0], |x| sum(map(|x| x + 1.0, x)));

    plain!(Dot, x => x[..3].iter().zip(&x[3..]).map(|(&a, &b)| a * b).sum());
    agree::<Dot>(&[1.0, -2.0, 3.0, 0.5, 4.0, -1.0], |x| dot(take(3, x), skip(3, x)));

    plain!(MatrixVector, x => (0..3).map(|i| (0..3).map(|j| x[3 * i + j] * x[9 + j]).sum::<T>()).sum());
    let x: Vec<f64> = (0..12).map(|i| (f64::from(i) * 0.7).cos()).collect();
    agree::<MatrixVector>(&x, |x| sum(matvec(reshape((3, 3), take(9, x)), skip(9, x))));
}

/// Of the article: the rotation of a vector by a quaternion, a network, and particles with friction in a field.
#[test]
fn of_its_benchmarks() {
    // q v q* for the quaternion (w, x, y, z), and the sum of its components.
    plain!(Rotation, x => {
        let (w, a, b, c) = (x[0], x[1], x[2], x[3]);
        let (p, q, r) = (x[4], x[5], x[6]);
        let two = T::lit(2.0);
        let (t1, t2, t3) = (two * (b * r - c * q), two * (c * p - a * r), two * (a * q - b * p));
        p + w * t1 + (b * t3 - c * t2) + q + w * t2 + (c * t1 - a * t3) + r + w * t3 + (a * t2 - b * t1)
    });
    agree::<Rotation>(&[0.5, 0.1, -0.7, 0.4, 1.0, 2.0, -0.5], |x| {
        let (w, a, b, c) = (x.at(0), x.at(1), x.at(2), x.at(3));
        let (p, q, r) = (x.at(4), x.at(5), x.at(6));
        let (t1, t2, t3) = ((b * r - c * q) * 2.0, (c * p - a * r) * 2.0, (a * q - b * p) * 2.0);
        number(p + w * t1 + (b * t3 - c * t2) + q + w * t2 + (c * t1 - a * t3) + r + w * t3 + (a * t2 - b * t1))
    });

    // Two hidden layers with ReLU, a safe softmax, and the sum of what it weights.
    plain!(Network, x => {
        let layer = |w: &[T], v: &[T]| -> Vec<T> {
            let n = v.len();
            (0..3).map(|i| (0..n).map(|j| w[n * i + j] * v[j]).sum::<T>().max(T::zero())).collect()
        };
        let h = layer(&x[15..24], &layer(&x[3..12], &x[..3]));
        let out: Vec<T> = h.iter().zip(&x[12..15]).map(|(&h, &b)| h + b).collect();
        let most = out.iter().fold(out[0], |m, &y| m.max(y));
        let e: Vec<T> = out.iter().map(|&y| (y - most).exp()).collect();
        let total: T = e.iter().copied().sum();
        e.iter().enumerate().map(|(i, &e)| e / total * T::lit(i as f64 + 1.0)).sum()
    });
    let x: Vec<f64> = (0..24).map(|i| (f64::from(i * i) * 0.37 + 0.2).sin()).collect();
    agree::<Network>(&x, |x| {
        let part = |from: i64, n: i64| take(n, skip(from, x));
        let layer = |w: V, v: V| map(|y| y.max(0.0), matvec(reshape((3, 3), w), v));
        let h = layer(part(15, 9), layer(part(3, 9), part(0, 3)));
        let out = zip_with(|h, b| h + b, h, part(12, 3));
        let most = maximum(out);
        let e = map(|y| (y - the(most)).exp(), out);
        let total = sum(e);
        sum(imap(|i, e: Exp<f64>| e / the(total) * (i.cast::<f64>() + 1.0), e))
    });

    // Two particles in a plane: position and velocity, twenty steps.
    plain!(Particles, x => {
        let mut total = T::zero();
        for p in x.chunks(4) {
            let (mut x, mut y, mut u, mut v) = (p[0], p[1], p[2], p[3]);
            let (dt, friction) = (T::lit(0.05), T::lit(0.9));
            for _ in 0..20 {
                let r = x * x + y * y + T::one();
                (u, v) = ((u - x / r * dt) * friction, (v - y / r * dt) * friction);
                (x, y) = (x + u * dt, y + v * dt);
            }
            total += x * y;
        }
        total
    });
    agree::<Particles>(&[1.0, 0.5, 0.2, -0.3, -0.7, 1.2, 0.0, 0.4], |x| {
        type Particle = ((Exp<f64>, Exp<f64>), (Exp<f64>, Exp<f64>));
        let run = |i: Exp<i64>| {
            let step = |((x, y), (u, v)): Particle| {
                let r = x * x + y * y + 1.0;
                let (u, v) = ((u - x / r * 0.05) * 0.9, (v - y / r * 0.05) * 0.9);
                ((x + u * 0.05, y + v * 0.05), (u, v))
            };
            let of = |k: i64| x.at(i * 4 + k);
            let ((x, y), _) = iterate(20, step, ((of(0), of(1)), (of(2), of(3))));
            x * y
        };
        sum(generate(x.shape() / 4, run))
    });
}

/// Functions that are right where the formulas of textbooks are not: at ordinary points, at ties, and far from them.
#[test]
fn of_stable_functions() {
    plain!(Logistic, x => x[0].sigmoid() * x[1] + x[0].softplus() * x[2] + x[1].log_sigmoid());
    let logistic = |x: V| {
        let (a, b, c) = (x.at(0), x.at(1), x.at(2));
        number(a.sigmoid() * b + a.softplus() * c + b.log_sigmoid())
    };
    for at in [[0.3, -1.2, 0.7], [0.0, 0.0, 2.0], [40.0, -40.0, 1.0], [-800.0, 800.0, 0.5]] {
        agree::<Logistic>(&at, logistic);
    }

    plain!(Logarithms, x => x[0].log_add_exp(x[1]) + x[2].xlogy(x[3]) + x[3].logit());
    let logarithms = |x: V| number(x.at(0).log_add_exp(x.at(1)) + x.at(2).xlogy(x.at(3)) + x.at(3).logit());
    for at in [[0.3, -1.2, 0.7, 0.4], [2.0, 2.0, 0.0, 0.5], [-700.0, -900.0, -3.0, 0.9]] {
        agree::<Logarithms>(&at, logarithms);
    }

    plain!(Steep, x => x[0].tanh() + x[0].exp_m1() * x[1] + x[1].atan2(x[2]) + (x[1] * x[2]).asinh() + x[2].atan());
    let steep = |x: V| {
        let (a, b, c) = (x.at(0), x.at(1), x.at(2));
        number(a.tanh() + a.exp_m1() * b + b.atan2(c) + (b * c).asinh() + c.atan())
    };
    for at in [[0.3, -1.2, 0.7], [-20.0, 2.0, 3.0], [2.0, -0.1, 0.2]] {
        agree::<Steep>(&at, steep);
    }
}
