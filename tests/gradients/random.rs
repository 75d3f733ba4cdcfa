//! Derivatives of random numbers by the parameters of their distributions.

use accel::backend::Backend;
use accel::interp::Interpreter;
use accel::native::Native;
use accel::prelude::*;
use accel::random::*;

type E = Exp<f64>;
type V = Acc<Vector<f64>>;
type M = Acc<Matrix<f64>>;
type S = Acc<Scalar<f64>>;

/// What moves with its parameters, while the key stays: differences see the same as the derivative.
#[test]
fn locations_and_scales() {
    let moved = |p: V| {
        let [a, b] = split(key(1));
        let covariance =
            generate((2, 2), |(i, k): (Exp<i64>, Exp<i64>)| cond(i.eq(k), p.at(i).exp(), p.at(0).sin() * 0.3));
        let z = multivariate_normal(a, stack([p, p * 2.0, p.cos()]), covariance);
        let times = exponential(b, 5) * unit(p.at(1).exp());
        sum_all(z.sin()) + sum(times.sin())
    };
    let p = Array::vector(vec![0.2, -0.4]);
    let first = check_grad(afun(moved), &p).unwrap();
    assert!(first.agrees(), "{first}");
    let second = check_grad(afun(|p: V| sum(call(grad(afun(moved)), p).sin())), &p).unwrap();
    assert!(second.agrees(), "{second}");
    // In a loop with a key for each step, and in lanes.
    let walk = |p: V| {
        let lanes = vmap(
            |k: Acc<Scalar<Key>>| aiterate_indexed(4, |step, x: V| x.sin() + p * normal(fold_in(the(k), step), 2), p),
            keys(key(2), 3),
        );
        sum_all(lanes)
    };
    let first = check_grad(afun(walk), &p).unwrap();
    assert!(first.agrees(), "{first}");
}

/// The parameters of the draws.
fn shapes() -> Vector<f64> {
    Array::vector([0.05, 0.3, 0.9, 1.0, 2.5, 7.0, 30.0, 1e3].into_iter().flat_map(|a| [a; 5]).collect())
}

/// The numbers with the same value of the distribution function at other parameters, by Newton's method from `x` on.
fn moved(cdf: fn(E, E) -> E, from: E, to: E, x: E) -> E {
    let share = cdf(from, x);
    let step = |y: E| {
        let (value, slope) = value_and_derivative(|y| cdf(to, y), y, 1.0);
        let next = y - (value - share) / slope;
        cond(next.gt(0.0), next, y * 0.5)
    };
    iterate(30, step, x)
}

/// Derivatives of first and second order of draws, and the differences of the numbers that stay at the same share.
fn against_quantiles(backend: &dyn Backend, draw: fn(V) -> V, cdf: fn(E, E) -> E) {
    let total = afun(move |a: V| sum(draw(a)));
    let program = afun(move |a: V| {
        let (_, forward) = call(jvp(afun(draw)), (a, fill(a.shape(), 1.0)));
        let (reverse, second) = call(jvp(grad(&total)), (a, fill(a.shape(), 1.0)));
        let x = draw(a);
        let h = a * 1e-3;
        let at = |steps: f64| zip_with3(move |a: E, h: E, x: E| moved(cdf, a, a + h * steps, x), a, h, x);
        let (l2, l1, r1, r2) = (at(-2.0), at(-1.0), at(1.0), at(2.0));
        let slope = ((r1 - l1) * 8.0 - (r2 - l2)) / (h * 12.0);
        let curve = ((r1 + l1) * 16.0 - (r2 + l2) - x * 30.0) / (h * h * 12.0);
        (x, forward, reverse, slope, second, curve)
    });
    let a = shapes();
    let (x, forward, reverse, slope, second, curve) = run_on(backend, &program, &a).unwrap();
    for i in 0..a.len() {
        let [a, x, forward, reverse, slope, second, curve] =
            [&a, &x, &forward, &reverse, &slope, &second, &curve].map(|xs| xs.as_slice()[i]);
        let at = || format!("{} at {a}: {x}", backend.name());
        assert!((forward - reverse).abs() <= 1e-12 * (1.0 + forward.abs()), "{}: {forward} {reverse}", at());
        assert!((forward - slope).abs() <= 1e-6 * (forward.abs() + x), "{}: {forward} {slope}", at());
        assert!((second - curve).abs() <= 1e-3 * (second.abs() + forward.abs() / a), "{}: {second} {curve}", at());
    }
}

#[test]
fn gamma_numbers() {
    for backend in [&Native as &dyn Backend, &Interpreter] {
        against_quantiles(backend, |a| gamma(key(3), a), |a, x| a.gamma_inc(x));
    }
}

#[test]
fn beta_numbers() {
    against_quantiles(&Native, |a| beta(key(4), a, fill(a.shape(), 1.5)), |a, x| a.beta_inc(1.5, x));
    against_quantiles(&Interpreter, |b| beta(key(5), fill(b.shape(), 2.5), b), |b, x| lit::<f64>(2.5).beta_inc(b, x));
}

/// The logarithms of Dirichlet numbers: those of gamma numbers, with shapes whose numbers vanish.
#[test]
fn dirichlet_numbers() {
    let program = afun(|a: M| {
        let direct = |a: M| dirichlet(key(6), a);
        // The same by gamma numbers, which have the same places and the same key.
        let by_gamma = |a: M| {
            let g = gamma(key(6), a);
            g / column(sum(g))
        };
        let of = |f: &dyn Fn(M) -> M| {
            let loss = |a: M| sum_all(f(a).powi(2));
            (f(a), call(grad(afun(loss)), a), call(jvp(afun(|a: M| f(a))), (a, a.cos())).1)
        };
        (of(&direct), of(&by_gamma))
    });
    let a = Array::matrix(2, 3, vec![0.2, 1.0, 4.0, 30.0, 2.0, 0.7]).unwrap();
    let ((x, dx, tx), (y, dy, ty)) = run(&program, &a).unwrap();
    for (x, y) in [(x, y), (dx, dy), (tx, ty)] {
        assert!(x.iter().zip(y.iter()).all(|(x, y)| (x - y).abs() < 1e-12), "{x:?} {y:?}");
    }
    let tiny = afun(|a: V| {
        let loss = afun(|a: V| sum(dirichlet(key(7), a).powi(2)));
        (call(&loss, a), call(grad(&loss), a))
    });
    let (value, by_a) = run(&tiny, &Array::vector(vec![1e-4; 4])).unwrap();
    assert!((0.25..=1.0).contains(&value.item()) && by_a.iter().all(f64::is_finite), "{value:?} {by_a:?}");
}

/// The mean of the derivatives is the derivative of the mean: E ln x of gamma numbers is the digamma function of the shape.
#[test]
fn means_of_derivatives() {
    let mean_log = afun(|a: S| mean(gamma(key(8), fill(20_000, the(a))).ln()));
    for a in [0.3, 2.0, 15.0] {
        let (value, by_a) = run(value_and_grad(&mean_log), &Array::scalar(a)).unwrap();
        let exact = afun(|a: S| (a.digamma(), map(|a: E| a.polygamma(1), a)));
        let (digamma, trigamma) = run(&exact, &Array::scalar(a)).unwrap();
        let deviation = (trigamma.item() / 20_000.0).sqrt();
        assert!((value.item() - digamma.item()).abs() < 4.0 * deviation, "{a}: {value:?} {digamma:?}");
        assert!((by_a.item() / trigamma.item() - 1.0).abs() < 0.05, "{a}: {by_a:?} {trigamma:?}");
    }
}

/// Single precision, parameters without a distribution, and numbers that are rounded to 0.
#[test]
fn edges() {
    let singles = afun(|a: Acc<Vector<f32>>| sum(gamma(key(9), a)));
    let a: Vec<f32> = vec![0.5, 3.0];
    let by_single = run(grad(&singles), &Array::vector(a.clone())).unwrap();
    let doubles = afun(|a: V| sum(gamma(key(9), a)));
    let by_double = run(grad(&doubles), &Array::vector(a.iter().map(|x| f64::from(*x)).collect())).unwrap();
    assert!(by_single.iter().zip(by_double.iter()).all(|(x, y)| (f64::from(x) - y).abs() < 1e-6 * (1.0 + y.abs())));
    let vanished = run(value_and_grad(&doubles), &Array::vector(vec![1e-5])).unwrap();
    assert!(vanished.0.item() == 0.0 && vanished.1.to_vec() == [0.0], "{vanished:?}");
}
