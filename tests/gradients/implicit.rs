//! Solutions of equations and minima: their derivatives follow from the implicit function theorem.

use accel::interp::Interpreter;
use accel::prelude::*;
use accel::solvers::*;

type V = Acc<Vector<f64>>;
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

fn of_linear_solve(a: V) -> S {
    sum(linear_solve(tight(), &product(), a.exp(), a).x.exp())
}

fn of_minimise(a: V) -> S {
    let f = afun(|x: V, a: V| sum((x - a).powi(4) + x * x * (a * a + 1.0)) + (x.at(0) * x.at(1)).powi(2));
    sum(minimise(Stop { tolerance: 1e-11, steps: 200 }, &f, start(a), a).x.exp())
}

const ALL: [(&str, fn(V) -> S); 4] =
    [("root", of_root), ("fixed_point", of_fixed_point), ("linear_solve", of_linear_solve), ("minimise", of_minimise)];

/// Differences, both modes, and second order; on the interpreter, too.
#[test]
fn derivatives() {
    let a = Array::vector(vec![3.0, 0.5]);
    for (name, f) in ALL {
        let first = check_grad(afun(f), &a).unwrap();
        assert!(first.agrees(), "{name}: {first}");
        let second = check_grad(afun(|a: V| sum(call(grad(afun(f)), a).powi(2))), &a).unwrap();
        assert!(second.agrees(), "{name}, second order: {second}");
        let both = afun(|a: V| {
            let direction = a.cos();
            let (_, forward) = call(jvp(afun(f)), (a, direction));
            (forward, dot(call(grad(afun(f)), a), direction))
        });
        for (backend, found) in [("native", run(&both, &a)), ("interpreter", run_on(&Interpreter, &both, &a))] {
            let (forward, reverse) = found.unwrap();
            let difference = (forward.item() - reverse.item()).abs();
            assert!(difference < 1e-8 * (1.0 + forward.item().abs()), "{name}, {backend}: {difference}");
        }
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
    let nothing =
        run(afun(|a: V| linear_solve(Stop::default(), &product(), a * 0.0, a).x), &Array::vector(vec![1.0, 2.0]));
    assert_eq!(nothing.unwrap().to_vec(), [0.0, 0.0]);
}
