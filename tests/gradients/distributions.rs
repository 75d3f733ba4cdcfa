//! Log densities and distribution functions, also in the tails, compared with a table that was computed with 60 digits
//! (`tests/special/densities.py`), and their derivatives.

use crate::support::is_chosen;
use accel::backend::Backend;
use accel::distributions::*;
use accel::interp::Interpreter;
use accel::linalg::{cholesky, slogdet};
use accel::native::Native;
use accel::prelude::*;
use std::fmt::Write;

type E = Exp<f64>;
type V = Acc<Vector<f64>>;
type M = Acc<Matrix<f64>>;
type S = Acc<Scalar<f64>>;

const TABLE: &str = include_str!("../special/densities.txt");

/// What a value and a derivative may be wrong by, in roundings of the arguments and of the result, which is taken as at least 1.
const VALUE: f64 = 16.0;
const DERIVATIVE: f64 = 64.0;

/// A function of the arguments of a line.
type Density = fn(&[E]) -> E;

macro_rules! densities {
    ($f:ident $x:ident $y:ident) => { (stringify!($f), |p| $f(p[0], p[1]), 2) };
    ($f:ident $x:ident $y:ident $z:ident) => { (stringify!($f), |p| $f(p[0], p[1], p[2]), 3) };
    ($f:ident $x:ident $y:ident $z:ident $u:ident) => { (stringify!($f), |p| $f(p[0], p[1], p[2], p[3]), 4) };
    ($($f:ident($($x:ident),*))*) => { [$(densities!($f $($x)*)),*] };
}

/// Each function with the number of its arguments.
#[rustfmt::skip]
const DENSITIES: [(&str, Density, usize); 44] = densities! {
    normal_lpdf(x, mu, sigma) normal_lcdf(x, mu, sigma) normal_lccdf(x, mu, sigma)
    student_t_lpdf(x, nu, mu, sigma) student_t_lcdf(x, nu, mu, sigma) student_t_lccdf(x, nu, mu, sigma)
    cauchy_lpdf(x, mu, sigma) cauchy_lcdf(x, mu, sigma) cauchy_lccdf(x, mu, sigma)
    laplace_lpdf(x, mu, sigma) laplace_lcdf(x, mu, sigma) laplace_lccdf(x, mu, sigma)
    logistic_lpdf(x, mu, sigma) logistic_lcdf(x, mu, sigma) logistic_lccdf(x, mu, sigma)
    von_mises_lpdf(x, mu, kappa) von_mises_lcdf(x, mu, kappa) von_mises_lccdf(x, mu, kappa)
    lognormal_lpdf(x, mu, sigma) lognormal_lcdf(x, mu, sigma) lognormal_lccdf(x, mu, sigma)
    exponential_lpdf(x, beta) exponential_lcdf(x, beta) exponential_lccdf(x, beta)
    gamma_lpdf(x, alpha, beta) gamma_lcdf(x, alpha, beta) gamma_lccdf(x, alpha, beta)
    inv_gamma_lpdf(x, alpha, beta) inv_gamma_lcdf(x, alpha, beta) inv_gamma_lccdf(x, alpha, beta)
    beta_lpdf(x, alpha, beta) beta_lcdf(x, alpha, beta) beta_lccdf(x, alpha, beta)
    bernoulli_logit_lpmf(y, alpha)
    poisson_lpmf(n, lambda) poisson_lcdf(n, lambda) poisson_lccdf(n, lambda)
    poisson_log_lpmf(n, alpha)
    binomial_lpmf(n, trials, theta) binomial_lcdf(n, trials, theta) binomial_lccdf(n, trials, theta)
    neg_binomial_2_lpmf(n, mu, phi) neg_binomial_2_lcdf(n, mu, phi) neg_binomial_2_lccdf(n, mu, phi)
};

/// The lines of a function: arguments, value and derivatives. What the table leaves open is `None`.
fn lines(name: &str) -> Vec<Vec<Option<f64>>> {
    let words = TABLE.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let lines: Vec<Vec<_>> = words
        .filter(|words| words[0] == name)
        .map(|words| words[1..].iter().map(|x| x.parse().ok()).collect())
        .collect();
    assert_eq!(lines.len(), 50, "{name}");
    lines
}

/// The function at each row of a matrix.
fn at_rows(f: Density, arguments: usize) -> Afun<Matrix<f64>, Vector<f64>> {
    afun(move |xs: M| {
        generate(xs.shape().0, |i: Exp<i64>| f(&(0..arguments as i64).map(|k| xs.at((i, k))).collect::<Vec<_>>()))
    })
}

/// What is further from the table than the limits allow, one line each.
fn compare(backend: &dyn Backend, (name, f, n): (&str, Density, usize)) -> String {
    let lines = lines(name);
    let at: Vec<f64> = lines.iter().flat_map(|line| &line[..n]).map(|x| x.unwrap()).collect();
    let xs = Array::matrix(lines.len(), n, at).unwrap();
    let values = at_rows(f, n);
    let tangents = compile_on(backend, jvp(&values)).unwrap();
    let along = |k: usize| {
        let ones = (0..lines.len() * n).map(|i| if i % n == k { 1.0 } else { 0.0 }).collect();
        tangents.run((&xs, &Array::matrix(lines.len(), n, ones).unwrap())).unwrap()
    };
    let forward: Vec<_> = (0..n).map(along).collect();
    let (_, reverse) = run_on(backend, value_and_grad(afun(|xs: M| sum(call(&values, xs)))), &xs).unwrap();
    let mut wrong = String::new();
    for (i, line) in lines.iter().enumerate() {
        // The column of the table, and the limit.
        let mut check = |what: &str, found: f64, column: usize, limit: f64| {
            let (Some(expected), Some(condition)) = (line[n + 2 * column], line[n + 2 * column + 1]) else { return };
            let error = (found - expected).abs() / (f64::EPSILON * (1.0 + expected.abs() + condition));
            if error.is_nan() || error > limit {
                let at = &line[..n];
                writeln!(
                    wrong,
                    "{name} at {at:?}, {what} on {}: {found:?}, and not {expected:?} ({error:.0})",
                    backend.name()
                )
                .unwrap();
            }
        };
        check("value", forward[0].0.as_slice()[i], 0, VALUE);
        for (k, (_, forward)) in forward.iter().enumerate() {
            check(&format!("reverse by {k}"), reverse.as_slice()[i * n + k], k + 1, DERIVATIVE);
            check(&format!("forward by {k}"), forward.as_slice()[i], k + 1, DERIVATIVE);
        }
    }
    wrong
}

/// Checks each function whose name begins with one of these words.
fn families(names: &[&str]) {
    let chosen: Vec<_> = DENSITIES.into_iter().filter(|(name, ..)| names.iter().any(|n| name.starts_with(n))).collect();
    assert!(chosen.len() >= names.len());
    let mut wrong: String = chosen.iter().map(|density| compare(&Interpreter, *density)).collect();
    // The C compiler takes ten seconds for one function in terms of incomplete integrals: a third of them, and all others.
    let is_long = |name: &str| INCOMPLETE.iter().any(|incomplete| name.starts_with(incomplete));
    let compiled = chosen.iter().filter(|(name, ..)| !is_long(name) || is_chosen(name, 3));
    wrong.extend(compiled.map(|density| compare(&Native, *density)));
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn of_all_numbers() {
    families(&["normal", "student_t_lpdf", "cauchy", "laplace", "logistic", "von_mises"]);
}

#[test]
fn of_positive_numbers() {
    families(&["lognormal", "exponential", "gamma_lpdf", "inv_gamma_lpdf", "beta_lpdf"]);
}

#[test]
fn of_counts() {
    families(&["bernoulli", "poisson_lpmf", "poisson_log", "binomial_lpmf", "neg_binomial_2_lpmf"]);
}

#[test]
fn functions_of_gamma_distributions() {
    families(&["gamma_lc", "inv_gamma_lc"]);
}

#[test]
fn functions_of_beta_distributions() {
    families(&["beta_lc", "student_t_lc"]);
}

#[test]
fn functions_of_counts() {
    families(&["poisson_lc", "binomial_lc", "neg_binomial_2_lc"]);
}

/// Functions in terms of incomplete gamma and beta functions.
const INCOMPLETE: [&str; 7] =
    ["gamma_lc", "inv_gamma_lc", "beta_lc", "student_t_lc", "poisson_lc", "binomial_lc", "neg_binomial_2_lc"];

/// Reverse mode, forward mode and differences of the second derivatives.
#[test]
fn second_derivatives() {
    for (name, f, n) in DENSITIES {
        // Those are integrals, whose third derivatives take minutes.
        if INCOMPLETE.iter().any(|incomplete| name.starts_with(incomplete)) {
            continue;
        }
        // Points at random, with moderate values.
        let is_moderate = |line: &Vec<Option<f64>>| line[n..].iter().flatten().all(|x| x.abs() < 100.0);
        let points: Vec<_> = lines(name).into_iter().rev().filter(is_moderate).take(6).collect();
        assert!(points.len() >= 3, "{name}");
        let at = points.iter().flat_map(|line| line[..n].to_vec()).flatten().collect();
        let xs = Array::matrix(points.len(), n, at).unwrap();
        let counts = match name {
            "bernoulli_logit_lpmf" | "poisson_lpmf" | "poisson_log_lpmf" | "neg_binomial_2_lpmf" => 1,
            "binomial_lpmf" => 2,
            _ => 0,
        };
        // By relative changes of all arguments but the counts.
        let total = |changes: M| {
            let of = |(i, k): (Exp<i64>, Exp<i64>), change: E| {
                use_(&xs).at((i, k)) * cond(k.lt(counts), lit::<f64>(1.0), change + 1.0)
            };
            sum(call(at_rows(f, n), imap(of, changes)))
        };
        let first = afun(|changes: M| sum_all(map(|d: E| d.sin(), call(grad(afun(total)), changes))));
        let check = check_grad(&first, &Array::matrix(points.len(), n, vec![0.0; points.len() * n]).unwrap()).unwrap();
        assert!(check.agrees(), "{name}: {check}");
    }
}

/// Densities at arrays, with parameters of all forms, are those at their elements.
#[test]
fn forms_of_parameters() {
    let program = afun(|m: M, v: V, s: S| {
        let whole = normal_lpdf(m, row(v), s.exp());
        let by_hand = imap(|(_, k): (Exp<i64>, Exp<i64>), x: E| normal_lpdf(x, v.at(k), the(s).exp()), m);
        let columns = gamma_lpdf(m.exp(), 2.0, column(fill(m.shape().0, 3.0)));
        let singles = gamma_lpdf(m.exp().cast::<f32>(), the(s).cast::<f32>() + 2.0, 3.0f32).cast::<f64>();
        let counts = poisson_log_lpmf(map(|x: E| x.abs().cast::<u8>(), m), s);
        let decisions = bernoulli_logit_lpmf(m.gt(0.0), m);
        (whole, by_hand, columns, singles, counts, decisions)
    });
    let (m, v) =
        (Array::matrix(2, 3, vec![0.1, -0.7, 1.3, 2.4, -3.1, 0.0]).unwrap(), Array::vector(vec![0.5, 1.5, -2.0]));
    let (whole, by_hand, columns, singles, counts, decisions) = run(&program, (&m, &v, &Array::scalar(0.0))).unwrap();
    assert_eq!(whole.to_vec(), by_hand.to_vec());
    assert!(columns.as_slice().iter().zip(singles.as_slice()).all(|(x, y)| (x - y).abs() < 1e-5 * (1.0 + x.abs())));
    let factorial = |n: f64| (1..=n as i64).map(|k| (k as f64).ln()).sum::<f64>();
    let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-14, "{x} {y}");
    m.iter().zip(counts.iter()).for_each(|(x, log)| near(log, -1.0 - factorial(x.abs().floor())));
    m.iter().zip(decisions.iter()).for_each(|(x, log)| near(log, -(-x.abs()).exp().ln_1p()));
}

/// Outside of the support, densities are -∞ and constant. Parameters without a distribution give NaN.
#[test]
fn outside_of_the_support() {
    let nothing = |what: &str, f: Density, at: &[f64]| {
        let xs = Array::matrix(1, at.len(), at.to_vec()).unwrap();
        let rows = at_rows(f, at.len());
        let (y, dx) = run(value_and_grad(afun(|xs: M| sum(call(&rows, xs)))), &xs).unwrap();
        assert!(y.item() == f64::NEG_INFINITY && dx.iter().all(|d| d == 0.0), "{what}: {y:?} {dx:?}");
    };
    nothing("exponential", |p| exponential_lpdf(p[0], p[1]), &[-1.0, 2.0]);
    nothing("lognormal", |p| lognormal_lpdf(p[0], p[1], p[2]), &[0.0, 0.0, 1.0]);
    nothing("gamma", |p| gamma_lpdf(p[0], p[1], p[2]), &[-1.0, 2.0, 1.0]);
    nothing("inv_gamma", |p| inv_gamma_lpdf(p[0], p[1], p[2]), &[-1.0, 2.0, 1.0]);
    nothing("beta", |p| beta_lpdf(p[0], p[1], p[2]), &[1.5, 2.0, 1.0]);
    nothing("poisson", |p| poisson_lpmf(p[0], p[1]), &[-1.0, 2.0]);
    nothing("poisson_log", |p| poisson_log_lpmf(p[0], p[1]), &[-1.0, 2.0]);
    nothing("binomial, more", |p| binomial_lpmf(p[0], p[1], p[2]), &[4.0, 3.0, 0.5]);
    nothing("binomial, fewer", |p| binomial_lpmf(p[0], p[1], p[2]), &[-1.0, 3.0, 0.5]);
    nothing("neg_binomial_2", |p| neg_binomial_2_lpmf(p[0], p[1], p[2]), &[-1.0, 3.0, 0.5]);
    nothing("lognormal_lcdf", |p| lognormal_lcdf(p[0], p[1], p[2]), &[-1.0, 0.0, 1.0]);
    nothing("beta_lcdf", |p| beta_lcdf(p[0], p[1], p[2]), &[0.0, 2.0, 1.0]);
    let value = |f: Density, at: &[f64]| {
        run(at_rows(f, at.len()), &Array::matrix(1, at.len(), at.to_vec()).unwrap()).unwrap().as_slice()[0]
    };
    // The ends of a support.
    assert_eq!(value(|p| gamma_lpdf(p[0], p[1], p[2]), &[0.0, 1.0, 2.0]), 2f64.ln());
    assert_eq!(value(|p| gamma_lpdf(p[0], p[1], p[2]), &[0.0, 0.5, 2.0]), f64::INFINITY);
    assert_eq!(value(|p| gamma_lpdf(p[0], p[1], p[2]), &[0.0, 50.0, 2.0]), f64::NEG_INFINITY);
    assert_eq!(value(|p| gamma_lpdf(p[0], p[1], p[2]), &[f64::INFINITY, 50.0, 2.0]), f64::NEG_INFINITY);
    assert_eq!(value(|p| gamma_lpdf(p[0], p[1], p[2]), &[f64::INFINITY, 2.0, 2.0]), f64::NEG_INFINITY);
    assert!((value(|p| beta_lpdf(p[0], p[1], p[2]), &[0.0, 1.0, 30.0]) - 30f64.ln()).abs() < 1e-13);
    assert!((value(|p| beta_lpdf(p[0], p[1], p[2]), &[1.0, 3.0, 1.0]) - 3f64.ln()).abs() < 1e-13);
    assert_eq!(value(|p| exponential_lccdf(p[0], p[1]), &[-1.0, 2.0]), 0.0);
    assert_eq!(value(|p| binomial_lccdf(p[0], p[1], p[2]), &[3.0, 3.0, 0.5]), f64::NEG_INFINITY);
    let wrong = [
        value(|p| normal_lpdf(p[0], p[1], p[2]), &[0.5, 0.0, -1.0]),
        value(|p| normal_lpdf(p[0], p[1], p[2]), &[f64::NAN, 0.0, 1.0]),
        value(|p| exponential_lpdf(p[0], p[1]), &[f64::NAN, 1.0]),
        value(|p| gamma_lpdf(p[0], p[1], p[2]), &[0.5, 2.0, -1.0]),
    ];
    assert!(wrong.iter().all(|x| x.is_nan()), "{wrong:?}");
}

/// The integral of a function of two or three numbers that vanishes at infinity, by the trapezoidal rule with this step.
fn integral<const N: usize>(step: f64, f: impl Fn(V) -> S) -> f64 {
    let n = (40.0 / step) as i64 + 1;
    let places = n.pow(N as u32);
    let program = afun(|| {
        let digit = |i: Exp<i64>, k: Exp<i64>| (i / cond(k.eq(0), 1, cond(k.eq(1), n, n * n))) % n;
        let points =
            generate((places, N as i64), |(i, k): (Exp<i64>, Exp<i64>)| digit(i, k).cast::<f64>() * step - 20.0);
        sum(vmap(|x: V| f(x).exp(), points))
    });
    run(&program, &()).unwrap().item() * step.powi(N as i32)
}

/// With the Jacobian of its transformation, each density has the integral 1.
#[test]
fn integrals() {
    let one = |what: &str, found: f64| assert!((found - 1.0).abs() < 2e-5, "{what}: {found}");
    let shares = integral::<2>(0.25, |x| {
        let (theta, log_jacobian) = simplex(x);
        dirichlet_lpdf(theta, linspace(1.5, 2.5, 3)) + log_jacobian
    });
    one("dirichlet", shares);
    let in_order = integral::<3>(0.4, |x| {
        let (y, log_jacobian) = ordered(x);
        sum(normal_lpdf(y, 0.0, 1.0)) + log_jacobian + 6f64.ln()
    });
    one("ordered", in_order);
    let correlations = integral::<3>(0.4, |x| {
        let (l, log_jacobian) = corr_cholesky(3, x);
        lkj_corr_cholesky_lpdf(l, 1.7) + log_jacobian
    });
    one("lkj", correlations);
    let pairs = integral::<2>(0.25, |x| {
        let (y, log_jacobian) = bounded(x, -1.0, row_of_bounds());
        sum(log_jacobian) - sum(y * 0.0) - 6f64.ln()
    });
    one("bounded", pairs);
    let normal = integral::<2>(0.25, |x| {
        multi_normal_lpdf(x, generate(2, |k: Exp<i64>| k.cast::<f64>() * 0.3), covariance(x * 0.0))
    });
    one("multi_normal", normal);
}

/// The upper bounds 1 and 2.
fn row_of_bounds() -> V {
    linspace(1.0, 2.0, 2)
}

/// A covariance matrix.
fn covariance(x: V) -> M {
    let n = x.len();
    generate((n, n), |(i, k)| cond(i.eq(k), x.at(i).powi(2) + 1.0, (x.at(i) * x.at(k)).sin() * 0.2 + 0.3))
}

/// The logarithm of the determinant of the Jacobian, by the Jacobian.
#[test]
fn jacobian_determinants() {
    let check = |what: &str, f: fn(V) -> (V, S)| {
        let x = Array::vector(vec![0.3, -1.2, 0.7]);
        let program = afun(|x: V| (slogdet(call(jacobian(afun(|x: V| f(x).0)), x)).1, f(x).1));
        let (by_jacobian, found) = run(&program, &x).unwrap();
        assert!((by_jacobian.item() - found.item()).abs() < 1e-13, "{what}: {by_jacobian:?} {found:?}");
    };
    check("positive", |x| {
        let (y, log) = positive(x);
        (y, sum(log))
    });
    check("bounded", |x| {
        let (y, log) = bounded(x, -1.0, 2.5);
        (y, sum(log))
    });
    check("simplex", |x| {
        let (y, log) = simplex(x);
        (take(3, y), log)
    });
    check("ordered", |x| ordered(x));
    check("corr_cholesky", |x| {
        let (l, log) = corr_cholesky(3, x);
        (stack([unit(l.at((1, 0))), unit(l.at((2, 0))), unit(l.at((2, 1)))]), log)
    });
}

/// Vectors and matrices: values by other formulas, and derivatives of first and second order.
#[test]
fn of_vectors() {
    let program = afun(|x: V| {
        let sigma = covariance(x);
        let y = x.sin();
        let direct = -dot(y, accel::linalg::solve(sigma, y)) * 0.5
            - slogdet(sigma).1 * 0.5
            - 1.5 * (2.0 * std::f64::consts::PI).ln();
        let l = cholesky(sigma);
        (direct, multi_normal_lpdf(x.sin(), 0.0, sigma), multi_normal_cholesky_lpdf(stack([y, y]), row(y * 0.0), l))
    });
    let x = Array::vector(vec![0.3, -1.2, 0.7]);
    let (direct, a, b) = run(&program, &x).unwrap();
    assert!([a.item(), b.as_slice()[0], b.as_slice()[1]].iter().all(|y| (y - direct.item()).abs() < 1e-13));
    // SciPy: dirichlet([0.5, 1.5, 30.0]).logpdf([0.2, 0.3, 0.5])
    let dirichlet = run(
        afun(|t: V, a: V| dirichlet_lpdf(t, a)),
        (&Array::vector(vec![0.2, 0.3, 0.5]), &Array::vector(vec![0.5, 1.5, 30.0])),
    );
    let found = dirichlet.unwrap().item();
    assert!((found + 13.514933801326485).abs() < 1e-12, "{found}");
    // With two rows, it is a beta density of the correlation.
    let two = afun(|r: S, eta: S| {
        let r = the(r);
        let l = generate((2, 2), |(i, k): (Exp<i64>, Exp<i64>)| {
            cond(i.eq(0), cond(k.eq(0), 1.0, 0.0), cond(k.eq(0), r, (1.0 - r * r).sqrt()))
        });
        (lkj_corr_cholesky_lpdf(l, the(eta)), unit(beta_lpdf((r + 1.0) * 0.5, the(eta), the(eta)) - 2f64.ln()))
    });
    let (a, b) = run(&two, (&Array::scalar(0.4), &Array::scalar(1.3))).unwrap();
    assert!((a.item() - b.item()).abs() < 1e-14, "{a:?} {b:?}");
    let all: [(&str, fn(V) -> S); 5] = [
        ("multi_normal_lpdf", |x| multi_normal_lpdf(x.sin(), reverse(x), covariance(x))),
        ("multi_normal_cholesky_lpdf", |x| {
            sum(multi_normal_cholesky_lpdf(stack([x, x * x]), row(x.cos()), cholesky(covariance(x))))
        }),
        ("dirichlet_lpdf", |x| {
            let (theta, log) = simplex(x);
            dirichlet_lpdf(theta, concat(x.exp(), fill(1, 12.0))) + log
        }),
        ("lkj_corr_cholesky_lpdf", |x| {
            let (l, log) = corr_cholesky(3, x);
            lkj_corr_cholesky_lpdf(l, x.at(0).exp()) + log * x.at(1)
        }),
        ("categorical_logit_lpmf", |x| {
            let (y, log) = ordered(x);
            let (z, log2) = bounded(y, -1.0, x.exp());
            sum(categorical_logit_lpmf(iota(2), stack([z, x]))) + log * sum(log2)
        }),
    ];
    for (name, f) in all {
        let first = check_grad(afun(f), &x).unwrap();
        assert!(first.agrees(), "{name}: {first}");
        let second = check_grad(afun(|x: V| sum(call(grad(afun(f)), x).sin())), &x).unwrap();
        assert!(second.agrees(), "{name}, second order: {second}");
    }
}

/// Shapes that do not fit are errors with the name of the density.
#[test]
fn errors() {
    let v = Array::vector(vec![0.1, 0.2]);
    let message = |program: Afun<Vector<f64>, Vector<f64>>| run(&program, &v).unwrap_err().to_string();
    let check = |name: &str, text: String| assert!(text.contains(&format!("`{name}` at ")), "{text}");
    check("normal_lpdf", message(afun(|x: V| normal_lpdf(x, fill(3, 0.0), 1.0))));
    check("dirichlet_lpdf", message(afun(|x: V| stack([dirichlet_lpdf(x, fill(3, 1.0))]))));
    check("multi_normal_lpdf", message(afun(|x: V| stack([multi_normal_lpdf(x, 0.0, fill((3, 3), 1.0))]))));
    check("categorical_logit_lpmf", message(afun(|x: V| stack([categorical_logit_lpmf(unit(constant(2i64)), x)]))));
    check("corr_cholesky", message(afun(|x: V| stack([corr_cholesky(3, x).1]))));
    check("lkj_corr_cholesky_lpdf", message(afun(|x: V| stack([lkj_corr_cholesky_lpdf(stack([x]), 1.0)]))));
}
