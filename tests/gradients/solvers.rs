//! Differential equations, integrals and descent: their values are those of other systems or of formulas, and their derivatives go through
//! their steps.

use crate::harness::{V, both_modes_agree};
use accel::interp::Interpreter;
use accel::prelude::*;
use accel::solvers::*;
use accel::trees::{flatten, tree, unflatten};

type S = Acc<Scalar<f64>>;

fn accurate() -> Accuracy {
    Accuracy { rtol: 1e-11, atol: 1e-11, steps: 2000 }
}

/// Prey and predators (Lotka and Volterra), in a season.
fn animals() -> Afun<(Vector<f64>, Scalar<f64>, Vector<f64>), Vector<f64>> {
    afun(|y: V, t: S, a: V| {
        let (u, v) = (y.at(0), y.at(1));
        let season = the(t).cos() * 0.2 + 1.0;
        generate(2, |i| cond(i.eq(0), u * (a.at(0) * season - a.at(1) * v), v * (a.at(3) * u - a.at(2))))
    })
}

fn parameters() -> Vector<f64> {
    Array::vector(vec![1.0, 0.4, 0.9, 0.35])
}

fn times(a: V) -> V {
    generate(4, |i: Exp<i64>| i.cast::<f64>() * (i.cast::<f64>() * 0.1 + a.at(0) * 0.4))
}

/// By the start, the parameters and the times.
fn of_odeint(a: V) -> S {
    sum_all(odeint(accurate(), &animals(), take(2, a) + 0.5, times(a), a).y.sin())
}

/// The same by the adjoint equation.
fn of_odeint_adjoint(a: V) -> S {
    sum_all(odeint_adjoint(accurate(), &animals(), take(2, a) + 0.5, times(a), a).y.sin())
}

/// By the parameter of the function, and by both ends.
fn of_quad(a: V) -> S {
    quad(accurate_parts(), |x: Exp<f64>| (x * x * a.at(0)).sin() * (a.at(1) - x), a.at(2) * -0.3, a.at(3) * 4.0).value
}

/// Enough parts for the functions here.
fn accurate_parts() -> Accuracy {
    Accuracy { rtol: 1e-12, atol: 1e-12, steps: 20 }
}

fn of_adam(a: V) -> S {
    let loss = afun(|x: V, a: V| sum((x - a).powi(4)) + x.at(0) * x.at(1) * a.at(2));
    let adam = Adam { rate: 0.1, ..Adam::default() };
    let step = |(x, state)| adam.step(x, call(grad(loss.by(|(x, _)| x)), (x, a)), state);
    sum(aiterate(5, step, (a * 0.5, adam.start(a))).0.sin())
}

#[test]
fn derivatives() {
    let a = parameters();
    let all = [
        ("odeint", of_odeint as fn(V) -> S),
        ("odeint_adjoint", of_odeint_adjoint),
        ("quad", of_quad),
        ("adam", of_adam),
    ];
    for (name, f) in all {
        let first = check_grad(afun(f), &a).unwrap();
        assert!(first.agrees(), "{name}: {first}");
        let second = check_grad(afun(|a: V| sum(call(grad(afun(f)), a).sin())), &a).unwrap();
        assert!(second.agrees(), "{name}, second order: {second}");
        both_modes_agree(name, f, &a, 1e-10);
    }
}

/// The adjoint equation has the derivative of the steps, up to the accuracy of both; also for lanes with steps of their own, and for a single time.
#[test]
fn adjoint_equations() {
    let both = |a: V| (call(grad(afun(of_odeint)), a), call(grad(afun(of_odeint_adjoint)), a));
    let a = Array::matrix(3, 4, vec![1.0, 0.4, 0.9, 0.35, 2.0, 1.0, 0.1, 0.5, 0.3, 0.1, 3.0, 1.5]).unwrap();
    let (by_steps, by_equation) = run(afun(|a: Acc<Matrix<f64>>| vmap(both, a)), &a).unwrap();
    for (x, y) in by_steps.as_slice().iter().zip(by_equation.as_slice()) {
        assert!((x - y).abs() < 1e-8 * (1.0 + x.abs()), "{by_steps:?} {by_equation:?}");
    }
    let start =
        afun(|y: V| sum(slice((0, All), odeint_adjoint(accurate(), &animals(), take(2, y), fill(1, 0.5), y).y)));
    assert_eq!(run(grad(&start), &parameters()).unwrap().to_vec(), [1.0, 1.0, 0.0, 0.0]);
}

/// SciPy's `solve_ivp` with DOP853 and the tolerance 1e-13.
#[test]
fn animals_of_another_system() {
    let program = afun(|a: V| {
        let found = odeint(accurate(), &animals(), take(2, a) + 0.5, linspace(0.0, 6.0, 4), a);
        (found.y, found.converged)
    });
    let (y, converged) = run(&program, &parameters()).unwrap();
    let expected = [
        1.5,
        0.9,
        5.957979264697501,
        1.8506875160608942,
        1.2183298020941757,
        4.156440058444094,
        1.329078499523055,
        1.387531186634048,
    ];
    assert!(converged.item() && y.as_slice().iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-9), "{y:?}");
}

/// Each lane takes steps of its own, and has its own gradient.
#[test]
fn animals_in_batches() {
    let one = |a: V| {
        let found = odeint(accurate(), &animals(), take(2, a) + 0.5, times(a), a);
        (found.y, found.steps, call(grad(afun(of_odeint)), a))
    };
    let a = Array::matrix(3, 4, vec![1.0, 0.4, 0.9, 0.35, 2.0, 1.0, 0.1, 0.5, 0.3, 0.1, 3.0, 1.5]).unwrap();
    let (y, steps, slopes) = run(afun(|a: Acc<Matrix<f64>>| vmap(one, a)), &a).unwrap();
    assert!(steps.as_slice().iter().any(|n| *n != steps.as_slice()[0]));
    let near = |(x, y): (&f64, &f64)| (x - y).abs() < 1e-8 * (1.0 + x.abs());
    for (k, a) in a.as_slice().chunks(4).enumerate() {
        let (own, own_steps, slope) = run(afun(one), &Array::vector(a.to_vec())).unwrap();
        assert_eq!(own_steps.item(), steps.as_slice()[k]);
        assert!(own.as_slice().iter().zip(&y.as_slice()[8 * k..]).all(near), "{own:?} {y:?}");
        assert!(slope.as_slice().iter().zip(&slopes.as_slice()[4 * k..]).all(near), "{slope:?} {slopes:?}");
    }
}

/// A solution is NaN from where the method did not get to.
#[test]
fn differential_equations_without_a_solution() {
    let square = afun(|y: V, _t: S, _a: V| y * y);
    let program = |accuracy: Accuracy| {
        let square = square.clone();
        let solve = |start: V, times: V| {
            let found = odeint(accuracy, &square, start, times, start);
            (found.y, found.steps, found.converged)
        };
        afun(solve)
    };
    let solve = program(Accuracy::default());
    let found =
        |start: f64, times: &[f64]| run(&solve, (&Array::vector(vec![start]), &Array::vector(times.to_vec()))).unwrap();
    // 1 / (1 - t)
    let (y, steps, converged) = found(1.0, &[0.0, 0.5, 2.0]);
    assert!((y.as_slice()[1] - 2.0).abs() < 1e-6 && y.as_slice()[2].is_nan() && !converged.item());
    assert!(steps.item() <= 1000);
    let (y, _, converged) = found(f64::NAN, &[0.0, 1.0]);
    assert!(y.as_slice()[1].is_nan() && !converged.item());
    let (y, _, converged) = found(1.0, &[0.0, f64::NAN]);
    assert!(y.as_slice()[1].is_nan() && !converged.item());
    let (y, _, converged) = found(1.0, &[0.5, 0.0]);
    assert!(y.as_slice().iter().all(|y| y.is_nan()) && !converged.item());
    let (y, steps, converged) = found(1.0, &[0.5]);
    assert!(y.to_vec() == [1.0] && steps.item() == 0 && converged.item());
    let (y, _, converged) = found(1.0, &[0.0, 0.0, 0.5]);
    assert!(y.as_slice()[1] == 1.0 && converged.item());
    let few = program(Accuracy { steps: 3, ..Accuracy::default() });
    let (y, steps, converged) = run(&few, (&Array::vector(vec![1.0]), &Array::vector(vec![0.0, 0.9]))).unwrap();
    assert!(y.as_slice()[1].is_nan() && steps.item() == 3 && !converged.item());
    let none = run(&solve, (&Array::vector(vec![1.0]), &Array::vector(vec![]))).unwrap_err().to_string();
    assert!(none.contains("odeint") && none.contains("solvers.rs"), "{none}");
    let empty = run(&solve, (&Array::vector(vec![]), &Array::vector(vec![0.0, 1.0]))).unwrap();
    assert!(empty.0.is_empty());
    let longer = afun(|y: V, _t: S, _a: V| concat(y, y));
    let wrong = afun(|y: V| odeint(Accuracy::default(), &longer, y, linspace(0.0, 1.0, 2), y).y);
    let wrong = run(&wrong, &Array::vector(vec![1.0])).unwrap_err().to_string();
    assert!(wrong.contains("odeint") && wrong.contains("solvers.rs"), "{wrong}");
}

/// Integrals with a known value, in a batch of ends; an error estimate that is none too small.
#[test]
fn integrals() {
    type Function = fn(Exp<f64>) -> Exp<f64>;
    let all: [(Function, f64, f64, f64); 6] = [
        (|x| x.exp(), 0.0, 1.0, 1f64.exp() - 1.0),
        (|x| x.exp(), 1.0, 0.0, 1.0 - 1f64.exp()),
        (|x| x.sqrt(), 0.0, 1.0, 2.0 / 3.0),
        (|x| (x - 0.3).abs(), 0.0, 1.0, 0.29),
        (|x| lit::<f64>(1.0) / (x * x + 1e-4), -1.0, 1.0, 200.0 * 100f64.atan()),
        (|x| x, 2.0, 2.0, 0.0),
    ];
    let accuracy = Accuracy { steps: 50, ..Accuracy::default() };
    for (k, (f, a, b, expected)) in all.into_iter().enumerate() {
        let program = afun(|a: S, b: S| {
            let found = quad(accuracy, f, the(a), the(b));
            (found.value, found.error, found.converged, found.steps)
        });
        let (a, b) = (Array::scalar(a), Array::scalar(b));
        for found in [run(&program, (&a, &b)), run_on(&Interpreter, &program, (&a, &b))] {
            let (value, error, converged, steps) = found.unwrap();
            let difference = (value.item() - expected).abs();
            assert!(converged.item() && steps.item() <= 50, "{k}: {error:?}");
            assert!(
                difference <= error.item() + 1e-14 * expected.abs() && difference <= 1e-8 * expected.abs(),
                "{k}: {value:?}"
            );
        }
    }
    let program = afun(|ends: V| vmap(|end| quad(accuracy, |x: Exp<f64>| (-x * x).exp(), 0.0, the(end)).value, ends));
    let found = run(&program, &Array::vector(vec![0.5, 30.0])).unwrap().to_vec();
    for (found, expected) in found.iter().zip([0.461281006412792, 0.886226925452758]) {
        assert!((found - expected).abs() < 1e-14, "{found}");
    }
}

/// An integral that is infinite, one with ends that are no numbers, and one that needs more parts.
#[test]
fn integrals_without_a_value() {
    let accuracy = Accuracy { steps: 10, ..Accuracy::default() };
    let program = afun(|a: S, b: S| {
        let found = quad(accuracy, |x: Exp<f64>| x.recip(), the(a), the(b));
        (found.converged, found.steps)
    });
    for (a, b) in [(0.0, 1.0), (-1.0, 1.5), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
        let (converged, steps) = run(&program, (&Array::scalar(a), &Array::scalar(b))).unwrap();
        assert!(!converged.item() && steps.item() <= 10, "{a} to {b}");
    }
}

#[derive(Arrays, Clone, Debug)]
struct Layer {
    weights: Matrix<f64>,
    bias: Vector<f64>,
}

/// The steps of optax, for a record beside an array of other numbers; state that goes from run to run.
#[test]
fn adam_of_records() {
    let adam = Adam { rate: 0.1, ..Adam::default() };
    let loss = afun(|layer: Acc<Layer>, shift: Acc<Vector<f32>>| {
        let layer = layer.unlift();
        let all = sum_all(layer.weights.powi(4)) + sum((layer.bias - 1.0).powi(2));
        all + sum((shift + 0.5).powi(2)).cast::<f64>()
    });
    type State = ((Layer, Vector<f32>), (Layer, Vector<f32>), Scalar<i64>);
    let first = afun(|parameters: Acc<(Layer, Vector<f32>)>| adam.start(parameters));
    let step = afun(|parameters: Acc<(Layer, Vector<f32>)>, state: Acc<State>| {
        adam.step(parameters, call(grad(&loss), parameters), state.unlift())
    });
    let weights = Array::matrix(1, 2, vec![0.5, 0.0]).unwrap();
    let mut all = (Layer { weights, bias: Array::vector(vec![-1.0]) }, Array::vector(vec![2.0f32]));
    let mut state = run(&first, &all).unwrap();
    for _ in 0..5 {
        (all, state) = run(&step, (&all, &state)).unwrap();
    }
    let expected = [0.08712071009608398, 0.0, -0.5029557812950121];
    let found = [all.0.weights.to_vec(), all.0.bias.to_vec()].concat();
    assert!(found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-9), "{found:?}");
    assert!((f64::from(all.1.as_slice()[0]) - 1.5022246492755824).abs() < 1e-6 && state.2.item() == 5);
}

/// The steps of [`Adam`] as a program of trees, for a record beside an array of other numbers.
#[test]
fn adam_of_trees() {
    type All = (Layer, Vector<f32>);
    let by_hand = afun(|x: Acc<All>, g: Acc<All>| {
        let (x, g) = (tree(x), tree(g));
        let (m, v) = (0.1 * g, (1.0 - 0.999) * g * g);
        (x - m / (1.0 - 0.9) * 0.5 / ((v / (1.0 - 0.999)).sqrt() + 1e-8)).into_acc()
    });
    let adam = Adam { rate: 0.5, ..Adam::default() };
    let step = afun(|x: Acc<All>, g: Acc<All>| adam.step(x, g.unlift(), adam.start(x)).0);
    let layer = |k: f64| Layer {
        weights: Array::matrix(2, 2, vec![k, 2.0 * k, -k, 0.5]).unwrap(),
        bias: Array::vector(vec![k + 1.0]),
    };
    let (x, g) = ((layer(1.0), Array::vector(vec![2.0f32])), (layer(-0.3), Array::vector(vec![0.25f32])));
    let [found, expected] = [&by_hand, &step].map(|f| flatten(&run(f, (&x, &g)).unwrap()));
    assert!(found.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 1e-6), "{found:?} {expected:?}");
}

/// All operators and functions of trees are those of each array, and so are their derivatives.
#[test]
fn trees_are_their_arrays() {
    let of_trees = |a: Acc<(Matrix<f64>, (Vector<f64>, Scalar<f64>))>, k: Acc<Scalar<f64>>| {
        let (x, number) = (tree(a), the(k));
        let y = (2.0 * x + x * x - x / 3.0) * number + (1.0 - x) * k + (x - number) * k + (x - number) + (x + k);
        let z = (1.0 / (x.powi(2) + 1.0) * number + 3.0 / (x.abs() + k)) - (-x).exp() + x.sigmoid() + x.filled(2.0);
        let total = y.dot(z) + z.sum() + (y + z).norm();
        (total, (y + z).unlift())
    };
    let of_arrays = |a: Acc<(Matrix<f64>, (Vector<f64>, Scalar<f64>))>, k: Acc<Scalar<f64>>| {
        let (m, (v, s)) = a.unlift();
        let x = concat(concat(accel::flatten(m), v), replicate_inner(1i64, s));
        let k = the(k);
        let y = (x * 2.0 + x * x - x / 3.0) * k + (x * -1.0 + 1.0) * k - (x * -1.0 + k) * k + (x - k) + (x + k);
        let z = (k / (x * x + 1.0) + 3.0 / (x.abs() + k)) - (-x).exp() + x.sigmoid() + 2.0;
        dot(y, z) + sum(z) + norm(y + z)
    };
    let a = (Array::matrix(1, 2, vec![0.3, -0.7]).unwrap(), (Array::vector(vec![1.5]), Array::scalar(0.2)));
    let k = Array::scalar(0.8);
    let value = afun(move |a, k| of_trees(a, k).0);
    let (found, expected) = (run(&value, (&a, &k)).unwrap().item(), run(afun(of_arrays), (&a, &k)).unwrap().item());
    assert!((found - expected).abs() < 1e-12 * expected.abs(), "{found} {expected}");
    let gradients = (run(grad(&value), (&a, &k)).unwrap(), run(grad(afun(of_arrays)), (&a, &k)).unwrap());
    let (found, expected) = (flatten(&gradients.0), flatten(&gradients.1));
    assert_eq!(found.len(), 5);
    assert!(
        found.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 1e-10 * (1.0 + y.abs())),
        "{found:?} {expected:?}"
    );
    let check = check_grad(&value, (&a, &k)).unwrap();
    assert!(check.agrees(), "{check}");
}

#[test]
fn flattened_trees() {
    let layer = Layer { weights: Array::matrix(1, 2, vec![1.0, 2.0]).unwrap(), bias: Array::vector(vec![3.0]) };
    let back = unflatten(&layer, &[4.0, 5.0, 6.0]).unwrap();
    assert_eq!((back.weights.to_vec(), back.bias.to_vec()), (vec![4.0, 5.0], vec![6.0]));
    for numbers in [&[1.0, 2.0][..], &[1.0; 4]] {
        let error = unflatten(&layer, numbers).unwrap_err().to_string();
        assert_eq!(error, format!("`unflatten`: expected 3 numbers, found {}", numbers.len()));
    }
    let of_two = afun(|x: Acc<Layer>, y: Acc<Layer>| tree(x) + tree(y));
    let other = Layer { bias: Array::vector(vec![1.0; 2]), ..layer.clone() };
    let error = run(&of_two, (&layer, &other)).unwrap_err().to_string();
    assert!(error.starts_with("`+` at ") && error.contains("solvers.rs"), "{error}");
}

/// A gradient of another shape is an error with the line of the step.
#[test]
fn adam_of_another_shape() {
    let adam = Adam::default();
    let step = afun(|x: V, g: V| adam.step(x, g, adam.start(x)).0);
    let error = run(&step, (&Array::vector(vec![1.0]), &Array::vector(vec![1.0, 2.0]))).unwrap_err().to_string();
    assert!(error.contains("Adam::step") && error.contains("solvers.rs"), "{error}");
}
