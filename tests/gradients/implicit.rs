//! Solutions of equations and minima: their derivatives follow from the implicit function theorem.

use crate::harness::{V, both_modes_agree};
use accel::interp::Interpreter;
use accel::linalg;
use accel::prelude::*;
use accel::solvers::*;

type S = Acc<Scalar<f64>>;

fn tight() -> Stop {
    Stop { tolerance: 1e-13, steps: 200 }
}

/// Two equations of two unknowns and two parameters.
fn equations() -> Afun<(Vector<f64>, Vector<f64>), Vector<f64>> {
    afun(|x: V, a: V| {
        let (u, v) = (x.at(0), x.at(1));
        generate(2, |i| cond(i.eq(0), u * u + v - a.at(0), u - v * v * a.at(1)))
    })
}

/// A contraction, and the parameters as a tuple.
fn contraction() -> Afun<(Vector<f64>, (Vector<f64>, Scalar<f64>)), Vector<f64>> {
    afun(|x: V, parameters: Acc<(Vector<f64>, Scalar<f64>)>| {
        let (a, b) = parameters.unlift();
        (reverse(x) * 0.3 * b + a).sin()
    })
}

/// A positive definite system.
fn product() -> Afun<(Vector<f64>, Vector<f64>), Vector<f64>> {
    afun(|x: V, a: V| x * (a * a + 1.0) + reverse(x) * 0.3)
}

fn start(a: V) -> V {
    fill(a.shape(), 1.0)
}

fn of_root(a: V) -> S {
    sum(root(tight(), &equations(), start(a), a).x.exp())
}

fn of_fixed_point(a: V) -> S {
    sum(fixed_point(tight(), &contraction(), start(a), (a, sum(a) * 0.5)).x.exp())
}

fn of_cg(a: V) -> S {
    sum(cg(tight(), &product(), a.exp(), a).x.exp())
}

/// The diagonal of the system, inverted.
fn of_cg_with_preconditioner(a: V) -> S {
    let inverse = afun(|x: V, a: V| x / (a * a + 1.0));
    sum(cg(tight(), (&product(), &inverse), a.exp(), a).x.exp())
}

/// A system that is not symmetric.
fn skew_product() -> Afun<(Vector<f64>, Vector<f64>), Vector<f64>> {
    afun(|x: V, a: V| x * (a * a + 1.0) + roll(1, x) * a * 0.7)
}

fn of_gmres(a: V) -> S {
    sum(gmres(tight(), &skew_product(), a.exp(), a).x.exp())
}

fn of_gmres_with_preconditioner(a: V) -> S {
    let inverse = afun(|x: V, a: V| (x - roll(1, x) * 0.2) / (a * a + 1.0));
    sum(gmres(tight(), (&skew_product(), &inverse), a.exp(), a).x.exp())
}

fn of_newton_krylov(a: V) -> S {
    sum(newton_krylov(tight(), &equations(), start(a), a).x.exp())
}

/// The residuals of a fit that does not go through the points.
fn misfit() -> Afun<(Vector<f64>, Vector<f64>), Vector<f64>> {
    afun(|x: V, a: V| {
        let t = iota(5).cast::<f64>() * 0.5;
        let y = ((t * 1.7).sin() + 2.0) * a.at(0) + t * a.at(1);
        x.at(0) * (t * x.at(1)).exp() - y
    })
}

fn fit() -> Stop {
    Stop { tolerance: 1e-14, steps: 100 }
}

fn of_levenberg_marquardt(a: V) -> S {
    sum(levenberg_marquardt(fit(), &misfit(), start(a), a).x.sin())
}

fn of_levenberg_marquardt_cg(a: V) -> S {
    sum(levenberg_marquardt_cg(fit(), &misfit(), start(a), a).x.sin())
}

fn of_the_least_squares(a: V) -> S {
    levenberg_marquardt(fit(), &misfit(), start(a), a).value
}

/// Residuals of one observation, by a row of either kind of unknowns. Those without data make the minimum unique.
fn of_pair<T: Floating>(u: Acc<Vector<T>>, v: Acc<Vector<T>>, y: Acc<Scalar<T>>) -> Acc<Vector<T>> {
    let fit = u.at(0) * v.at(0).exp() + u.at(1) * v.at(0) - the(y);
    concat(fill(1, fit), map(|x| x * lit::<T>(0.4), concat(map(|u| u - lit::<T>(0.5), u), v)))
}

/// Which rows belong to the five observations.
fn pairs() -> (Acc<Vector<i64>>, Acc<Vector<i64>>) {
    let of = |rows: [i64; 5]| use_(&Array::vector(rows.to_vec()));
    (of([0, 1, 1, 2, 0]), of([0, 0, 1, 1, 1]))
}

fn pairs_at_start<T: Floating>() -> (Acc<Matrix<T>>, Acc<Matrix<T>>) {
    (fill((3, 2), lit::<T>(1.0)), fill((2, 1), lit::<T>(0.5)))
}

fn by_schur<T: Floating>(stop: Stop, y: Acc<Vector<T>>) -> Minimum<T, (Acc<Matrix<T>>, Acc<Matrix<T>>)> {
    levenberg_marquardt_schur(stop, &afun(of_pair::<T>), pairs_at_start(), pairs(), y)
}

/// The same without a word on which observation depends on what.
fn densely<T: Floating>(stop: Stop, y: Acc<Vector<T>>) -> Minimum<T> {
    let all = afun(|x: Acc<Vector<T>>, y: Acc<Vector<T>>| {
        let ((of_first, of_second), (first, second)) = (pairs(), x.split_at::<0>(6));
        let rows = (gather(of_first, reshape((3, 2), first)), gather(of_second, reshape((2, 1), second)), y);
        flatten(vmap(|(u, v, y)| of_pair::<T>(u, v, y), rows))
    });
    let (first, second) = pairs_at_start();
    levenberg_marquardt(stop, &all, concat(flatten(first), flatten(second)), y)
}

/// Data of the five observations from two numbers.
fn data_of_pairs(a: V) -> V {
    (iota(5).cast::<f64>() * a.at(0)).sin() + a.at(1)
}

fn of_levenberg_marquardt_schur(a: V) -> S {
    let (first, second) = by_schur(fit(), data_of_pairs(a)).x;
    sum(concat(flatten(first), flatten(second)).sin())
}

fn of_minimise(a: V) -> S {
    let f = afun(|x: V, a: V| sum((x - a).powi(4) + x * x * (a * a + 1.0)) + (x.at(0) * x.at(1)).powi(2));
    sum(minimise(Stop { tolerance: 1e-11, steps: 200 }, &f, start(a), a).x.exp())
}

/// Those whose rule is that of another method. They differ in how they find the solution.
const SAME_RULES: [&str; 4] =
    ["newton_krylov", "cg with a preconditioner", "gmres with a preconditioner", "levenberg_marquardt_cg"];

const ALL: [(&str, fn(V) -> S); 12] = [
    ("root", of_root),
    ("newton_krylov", of_newton_krylov),
    ("fixed_point", of_fixed_point),
    ("cg", of_cg),
    ("cg with a preconditioner", of_cg_with_preconditioner),
    ("gmres", of_gmres),
    ("gmres with a preconditioner", of_gmres_with_preconditioner),
    ("minimise", of_minimise),
    ("levenberg_marquardt", of_levenberg_marquardt),
    ("levenberg_marquardt_cg", of_levenberg_marquardt_cg),
    ("levenberg_marquardt_schur", of_levenberg_marquardt_schur),
    ("the least squares", of_the_least_squares),
];

/// Differences, both modes, and second order; on the interpreter, too.
#[test]
fn derivatives() {
    let a = Array::vector(vec![3.0, 0.5]);
    for (name, f) in ALL {
        let first = check_grad(afun(f), &a).unwrap();
        assert!(first.agrees(), "{name}: {first}");
        if !SAME_RULES.contains(&name) {
            let second = check_grad(afun(|a: V| sum(call(grad(afun(f)), a).powi(2))), &a).unwrap();
            assert!(second.agrees(), "{name}, second order: {second}");
        }
        both_modes_agree(name, f, &a, 1e-8);
    }
}

/// The derivative of the limit is that of two hundred steps.
#[test]
fn unrolled_steps_have_the_same_derivative() {
    let unrolled = afun(|a: V| {
        let f = contraction();
        let b = sum(a) * 0.5;
        sum(aiterate(200, |x: V| call(&f, (x, (a, b))), start(a)).exp())
    });
    let a = Array::vector(vec![0.3, -0.5, 0.9]);
    let [expected, found] = [run(grad(&unrolled), &a).unwrap(), run(grad(afun(of_fixed_point)), &a).unwrap()];
    assert!(
        expected.as_slice().iter().zip(found.as_slice()).all(|(x, y)| (x - y).abs() < 1e-8),
        "{expected:?} {found:?}"
    );
}

/// Each lane of a batch takes its own number of steps, and the derivative of a solution is a matrix for each.
#[test]
fn in_batches() {
    let one = |a: V| {
        let found = root(tight(), &equations(), start(a), a);
        (found.x, found.steps)
    };
    let batch = afun(|a: Acc<Matrix<f64>>| {
        let slopes = vmap(|a: V| call(jacobian(afun(|a: V| root(tight(), &equations(), start(a), a).x)), a), a);
        (vmap(one, a), slopes)
    });
    let a = Array::matrix(2, 2, vec![3.0, 0.5, 4000.0, 2.0]).unwrap();
    let ((x, steps), slopes) = run(&batch, &a).unwrap();
    assert_ne!(steps.as_slice()[0], steps.as_slice()[1]);
    for (k, a) in a.as_slice().chunks(2).enumerate() {
        let a = Array::vector(a.to_vec());
        let (own, own_steps) = run(afun(one), &a).unwrap();
        assert_eq!(own_steps.item(), steps.as_slice()[k]);
        assert!(own.as_slice().iter().zip(&x.as_slice()[2 * k..]).all(|(x, y)| (x - y).abs() < 1e-12));
        let slope = run(jacobian(afun(|a: V| root(tight(), &equations(), start(a), a).x)), &a).unwrap();
        let near = |(x, y): (&f64, &f64)| (x - y).abs() < 1e-10;
        assert!(slope.as_slice().iter().zip(&slopes.as_slice()[4 * k..]).all(near), "{slope:?} {slopes:?}");
    }
}

/// Solutions whose parameters are solutions, in a loop.
#[test]
fn in_loops() {
    let f = afun(|a: V| sum(aiterate(3, |x: V| root(tight(), &equations(), start(x), x + 2.0).x, a)));
    let check = check_grad(&f, &Array::vector(vec![3.0, 0.5])).unwrap();
    assert!(check.agrees(), "{check}");
}

/// A method that does not converge says so, and gives back where it stopped.
#[test]
fn without_convergence() {
    let none = afun(|x: V, a: V| x * x + a);
    let found = |stop: Stop| {
        let program = afun(|a: V| {
            let found = root(stop, &none, start(a), a);
            (found.converged, found.steps)
        });
        let (converged, steps) = run(&program, &Array::vector(vec![1.0])).unwrap();
        (converged.item(), steps.item())
    };
    let (converged, steps) = found(Stop { tolerance: 1e-10, steps: 7 });
    assert!(!converged && steps <= 7);
    let far = afun(|a: V| {
        let f = afun(|x: V, a: V| x * a + 1.0);
        let found = fixed_point(Stop { tolerance: 1e-10, steps: 30 }, &f, start(a), a);
        (found.converged, found.residual)
    });
    let (converged, residual) = run(&far, &Array::vector(vec![2.0])).unwrap();
    assert!(!converged.item() && residual.item() > 1.0);
    let nothing = run(afun(|a: V| cg(Stop::default(), &product(), a * 0.0, a).x), &Array::vector(vec![1.0, 2.0]));
    assert_eq!(nothing.unwrap().to_vec(), [0.0, 0.0]);
}

/// Solutions by products are those of the matrix, for fewer and for more unknowns than there are steps between two restarts.
#[test]
fn systems_by_products() {
    let program = afun(|b: V, a: V| {
        let columns = vmap(|e: V| call(skew_product(), (e, a)), linalg::eye::<f64>(a.len()));
        let found = gmres(tight(), &skew_product(), b, a);
        (norm(found.x - linalg::solve(transpose(columns), b)), found.converged)
    });
    for n in [0, 1, 2, 19, 20, 21, 70] {
        let numbers = |k: f64| Array::vector((0..n).map(|i| (f64::from(i) * k).sin()).collect());
        let (difference, converged) = run(&program, (&numbers(0.3), &numbers(0.7))).unwrap();
        assert!(difference.item() < 1e-11 && converged.item(), "{n}: {difference:?}");
    }
}

/// A singular system, one without numbers, and one in the wrong class.
#[test]
fn systems_without_a_solution() {
    let diagonal = afun(|x: V, a: V| x * a);
    let program = afun(|b: V, a: V| {
        let (by_cg, by_gmres) = (cg(Stop::default(), &diagonal, b, a), gmres(Stop::default(), &diagonal, b, a));
        (by_cg.converged, by_gmres.converged, by_gmres.x)
    });
    let found =
        |b: [f64; 2], a: [f64; 2]| run(&program, (&Array::vector(b.to_vec()), &Array::vector(a.to_vec()))).unwrap();
    for (b, a) in [
        ([1.0, 1.0], [0.0, 2.0]),
        ([1.0, 1.0], [0.0, 0.0]),
        ([1.0, f64::NAN], [1.0, 1.0]),
        ([1.0, 1.0], [f64::NAN, 1.0]),
    ] {
        let (by_cg, by_gmres, _) = found(b, a);
        assert!(!by_cg.item() && !by_gmres.item(), "{b:?}, {a:?}");
    }
    let (_, by_gmres, x) = found([1.0, 1.0], [-1.0, 1.0]);
    assert!(by_gmres.item() && (x.as_slice()[0] + 1.0).abs() < 1e-12);
    // As much as can be solved.
    let (_, _, x) = found([1.0, 1.0], [0.0, 2.0]);
    assert!((x.as_slice()[1] - 0.5).abs() < 1e-12, "{x:?}");
}

/// The derivative of a fit is that of its steps.
#[test]
fn unrolled_fits_have_the_same_derivative() {
    let unrolled = afun(|a: V| {
        let f = misfit();
        let half = afun(|x: V, a: V| map(|s| s * 0.5, sum(call(&f, (x, a)).powi(2))));
        let step = |x: V| {
            let by_x = half.by(|(x, _)| x);
            x - linalg::solve(call(hessian(&by_x), (x, a)), call(grad(&by_x), (x, a)))
        };
        let near = levenberg_marquardt(fit(), &f, start(a), a).x.detach();
        sum(aiterate(8, step, near).sin())
    });
    let a = Array::vector(vec![3.0, 0.5]);
    let expected = run(grad(&unrolled), &a).unwrap().to_vec();
    for f in [of_levenberg_marquardt, of_levenberg_marquardt_cg] {
        let found = run(grad(afun(f)), &a).unwrap().to_vec();
        assert!(expected.iter().zip(&found).all(|(x, y)| (x - y).abs() < 1e-8), "{expected:?} {found:?}");
    }
}

/// Fits of more unknowns than numbers, of none, and of what is no number.
#[test]
fn fits_of_other_shapes() {
    let sums = afun(|x: V, a: V| reshape(1, map(|s| s - a.at(0), sum(x))));
    let program = afun(|x: V, a: V| {
        let (dense, free) = (levenberg_marquardt(fit(), &sums, x, a), levenberg_marquardt_cg(fit(), &sums, x, a));
        (dense.value, dense.converged, free.value, free.converged)
    });
    let found = |x: &[f64], a: f64| run(&program, (&Array::vector(x.to_vec()), &Array::vector(vec![a]))).unwrap();
    let (dense, is_dense, free, is_free) = found(&[0.0, 0.0, 1.0], 2.0);
    assert!(dense.item() < 1e-20 && free.item() < 1e-20 && is_dense.item() && is_free.item());
    let (dense, is_dense, free, is_free) = found(&[], 2.0);
    assert!(dense.item() == 2.0 && free.item() == 2.0 && is_dense.item() && is_free.item());
    for (x, a) in [([f64::NAN, 0.0], 1.0), ([0.0, 0.0], f64::NAN)] {
        let (_, is_dense, _, is_free) = found(&x, a);
        assert!(!is_dense.item() && !is_free.item());
    }
}

/// Each lane of a batch of fits takes steps of its own.
#[test]
fn fits_in_batches() {
    let one = |a: V| {
        let found = levenberg_marquardt(Stop::default(), &misfit(), start(a), a);
        let free = levenberg_marquardt_cg(Stop::default(), &misfit(), start(a), a);
        (found.x, found.steps, free.x, free.steps)
    };
    let a = Array::matrix(3, 2, vec![3.0, 0.5, 0.1, 4.0, -20.0, 1.0]).unwrap();
    let (x, steps, free, free_steps) = run(afun(|a: Acc<Matrix<f64>>| vmap(one, a)), &a).unwrap();
    assert!(steps.as_slice().iter().any(|n| *n != steps.as_slice()[0]));
    for (k, a) in a.as_slice().chunks(2).enumerate() {
        let (own, own_steps, own_free, own_free_steps) = run(afun(one), &Array::vector(a.to_vec())).unwrap();
        assert_eq!((own_steps.item(), own_free_steps.item()), (steps.as_slice()[k], free_steps.as_slice()[k]));
        for (own, all) in [(own, &x), (own_free, &free)] {
            assert!(
                own.as_slice().iter().zip(&all.as_slice()[2 * k..]).all(|(x, y)| (x - y).abs() < 1e-9),
                "{own:?} {all:?}"
            );
        }
    }
}

/// The Schur complement changes how a step is computed, not the minimum: on both backends, in both precisions, and for each lane of a batch.
#[test]
fn fits_by_the_schur_complement() {
    fn unknowns<T: Floating>(tolerance: f64, y: Acc<Vector<T>>) -> (Acc<Vector<T>>, Acc<Scalar<bool>>) {
        let found = by_schur(Stop { tolerance, steps: 100 }, y);
        let (first, second) = found.x;
        (concat(flatten(first), flatten(second)), found.converged)
    }
    fn all_near<T: Floating + Into<f64>>(near: f64, x: &[T], expected: &[f64]) {
        let close = x.iter().zip(expected).all(|(x, y)| ((*x).into() - y).abs() < near);
        assert!(x.len() == expected.len() && close, "{x:?} {expected:?}");
    }
    let ys = [[0.7, 0.8, 0.75, 0.9, 0.65], [0.5, 1.0, 0.2, 0.6, 0.9]];
    let ys = Array::matrix(2, 5, ys.concat()).unwrap();
    let dense = |y: V| densely(Stop { tolerance: 1e-12, steps: 100 }, y).x;
    let expected = run(afun(|ys: Acc<Matrix<f64>>| vmap(dense, ys)), &ys).unwrap().to_vec();

    let (x, converged) = run(afun(|ys: Acc<Matrix<f64>>| vmap(|y| unknowns(1e-12, y), ys)), &ys).unwrap();
    assert!(converged.as_slice() == [true; 2]);
    all_near(1e-9, x.as_slice(), &expected);

    let y = Array::vector(ys.as_slice()[..5].to_vec());
    let (x, _) = run_with(&Interpreter, &afun(|y| unknowns::<f64>(1e-12, y)), &y).unwrap();
    all_near(1e-9, x.as_slice(), &expected[..8]);
    let y = Array::vector(y.as_slice().iter().map(|y| *y as f32).collect());
    let (x, converged) = run(afun(|y| unknowns::<f32>(1e-5, y)), &y).unwrap();
    assert!(converged.item());
    all_near(1e-3, x.as_slice(), &expected[..8]);
}

/// Unknowns without observations, no observations, numbers that are none, and wrong numbers of rows.
#[test]
fn observations_of_other_shapes() {
    let residual = afun(of_pair::<f64>);
    let program =
        afun(|first: Acc<Matrix<f64>>, second: Acc<Matrix<f64>>, of: Acc<(Vector<i64>, Vector<i64>)>, y: V| {
            let found = levenberg_marquardt_schur(Stop::default(), &residual, (first, second), of.unlift(), y);
            let (first, second) = found.x;
            (first, second, found.value, found.converged)
        });
    let with = |of: (&[i64], &[i64]), y: &[f64]| {
        let (first, second) = (Array::matrix(3, 2, vec![1.0; 6])?, Array::matrix(2, 1, vec![0.5; 2])?);
        let of = (Array::vector(of.0.to_vec()), Array::vector(of.1.to_vec()));
        run(&program, (&first, &second, &of, &Array::vector(y.to_vec())))
    };
    let (first, second, _, converged) = with((&[0, 2, 2], &[1, 1, 1]), &[1.0, 2.0, 3.0]).unwrap();
    assert!(converged.item());
    assert_eq!((&first.as_slice()[2..4], second.as_slice()[0]), (&[1.0, 1.0][..], 0.5)); // Nothing is known of them.
    let (first, _, value, converged) = with((&[], &[]), &[]).unwrap();
    assert!(converged.item() && value.item() == 0.0 && first.to_vec() == [1.0; 6]);
    let (_, _, _, converged) = with((&[0, 1], &[0, 1]), &[f64::NAN, 1.0]).unwrap();
    assert!(!converged.item());
    for (of, y) in [((&[0, 3][..], &[0, 1][..]), &[1.0, 1.0][..]), ((&[0, 1], &[0, -1]), &[1.0, 1.0])] {
        let error = with(of, y).unwrap_err().to_string();
        assert!(error.contains("levenberg_marquardt_schur") && error.contains("implicit.rs"), "{error}");
    }
    for (of, y) in [((&[0, 1][..], &[0][..]), &[1.0, 1.0][..]), ((&[0, 1], &[0, 1]), &[1.0])] {
        let error = with(of, y).unwrap_err().to_string();
        assert!(error.contains("implicit.rs"), "{error}");
    }
}
