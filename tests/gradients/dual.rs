//! Array programs as nodes of the tape of ordinary code.

use accel::dual::{Error as DualError, Real, Rev, checkpoint, grad, jacobian, join, lift, lift_on, value_and_grad};
use accel::interp::Interpreter;
use accel::prelude::*;

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0), "{a} and {b}");
    }
}

fn layer(w: Acc<Matrix<f64>>, b: Acc<Vector<f64>>, x: Acc<Vector<f64>>) -> Acc<Vector<f64>> {
    map(|y| y.tanh(), zip_with(|y, b| y + b, matvec(w, x), b))
}

/// The same in ordinary code.
fn plain_layer<T: Real>(w: &[Vec<T>], b: &[T], x: &[T]) -> Vec<T> {
    let unit = |(row, &b): (&Vec<T>, &T)| row.iter().zip(x).fold(b, |sum, (&w, &x)| sum + w * x).tanh();
    w.iter().zip(b).map(unit).collect()
}

type Weights<T> = (Vec<Vec<T>>, Vec<T>);

fn weights() -> (Weights<f64>, Vec<f64>) {
    let number = |k: usize| ((k * k) as f64 * 0.37).sin();
    let w = (0..4).map(|i| (0..4).map(|j| number(4 * i + j + 1)).collect()).collect();
    ((w, (20..24).map(number).collect()), (30..34).map(number).collect())
}

#[test]
fn kernels_and_ordinary_code_have_the_same_gradients() {
    for lifted in [lift(&afun(layer)).unwrap(), lift_on(&Interpreter, &afun(layer)).unwrap()] {
        // A loop of the host, whose number of steps depends on the data.
        let program = |((w, b), x): (Weights<Rev>, Vec<Rev>)| {
            let mut y = x;
            for _ in 0..5 {
                y = lifted.call(&(w.clone(), b.clone(), y)).unwrap();
                if y[0] > 0.5 {
                    break;
                }
            }
            y.iter().map(|y| *y * *y).sum()
        };
        let plain = |((w, b), x): (Weights<Rev>, Vec<Rev>)| {
            let mut y = x;
            for _ in 0..5 {
                y = plain_layer(&w, &b, &y);
                if y[0] > 0.5 {
                    break;
                }
            }
            y.iter().map(|y| *y * *y).sum()
        };
        let (value, ((dw, db), dx)) = value_and_grad(program, &weights()).unwrap();
        let (expected, ((ew, eb), ex)) = value_and_grad(plain, &weights()).unwrap();
        close(&[value], &[expected], 1e-14);
        close(&dw.concat(), &ew.concat(), 1e-12);
        close(&db, &eb, 1e-12);
        close(&dx, &ex, 1e-12);
    }
}

#[test]
fn kernels_run_in_jobs_and_in_checkpoints() {
    let squares = lift(&afun(|xs: Acc<Vector<f64>>, k: Acc<Scalar<f64>>| {
        let k = the(k);
        (map(|x| x * x * k, xs), sum(xs))
    }))
    .unwrap();
    let program = |xs: Vec<Rev>| {
        let half = |k: f64| {
            let (squares, xs) = (squares.clone(), xs.clone());
            let part = move |xs: Vec<Rev>| {
                let (ys, total) = squares.call(&(xs, Rev::lit(k))).unwrap();
                ys.iter().copied().sum::<Rev>() * total
            };
            checkpoint(part, xs)
        };
        let (a, b) = join(|| half(1.0), || half(2.0));
        a + b
    };
    // 3 (x² + y²) (x + y)
    let (x, y) = (1.5, 2.0);
    let slope = grad(program, &vec![x, y]).unwrap();
    let square = x * x + y * y;
    close(&slope, &[3.0 * (2.0 * x * (x + y) + square), 3.0 * (2.0 * y * (x + y) + square)], 1e-13);
}

#[test]
fn integers_are_data_and_results_have_any_shape() {
    let gathered = lift(&afun(|xs: Acc<Vector<f64>>, at: Acc<Vector<i64>>| gather(at, xs))).unwrap();
    let at: Vector<i64> = Array::vector(vec![2, 0, 2]);
    let (y, rows) = jacobian(|xs: Vec<Rev>| gathered.call(&(xs, at.clone())).unwrap(), &vec![1.0, 2.0, 3.0]).unwrap();
    assert_eq!(y, [3.0, 1.0, 3.0]);
    assert_eq!(rows, [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]);
    let outer = lift(&afun(|m: Acc<Matrix<f64>>| transpose(m))).unwrap();
    let program = |m: Vec<Vec<Rev>>| {
        let t = outer.call(&m).unwrap();
        assert_eq!((t.len(), t[0].len()), (3, 2));
        t[2][1] * 5.0 + t[0][0]
    };
    let slope = grad(program, &vec![vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0]]).unwrap();
    assert_eq!(slope, [[1.0, 0.0, 0.0], [0.0, 0.0, 5.0]]);
}

#[test]
fn errors_of_kernels_are_results() {
    let dot = lift(&afun(|xs: Acc<Vector<f64>>, ys: Acc<Vector<f64>>| sum(zip_with(|x, y| x * y, xs, ys)))).unwrap();
    let program = |xs: Vec<Rev>| {
        let e = dot.call(&(xs.clone(), vec![xs[0]])).unwrap_err();
        assert!(e.to_string().contains("zip_with"), "{e}");
        xs[0]
    };
    assert_eq!(grad(program, &vec![1.0, 2.0]).unwrap(), [1.0, 0.0]);
    let ragged = lift(&afun(|m: Acc<Matrix<f64>>| transpose(m))).unwrap();
    let e = ragged.call(&vec![vec![Rev::lit(1.0)], vec![]]).unwrap_err();
    assert!(e.to_string().contains("expected a row of 1 numbers, found a row of 0 numbers"), "{e}");
    // A mistake of the tape is an error of the tape.
    let foreign = |x: Rev| {
        let inner = grad(|y: Rev| dot.call(&(vec![x], vec![y])).unwrap(), &2.0);
        assert_eq!(inner.unwrap_err(), DualError::Foreign { op: "grad" });
        x
    };
    assert_eq!(grad(foreign, &1.0).unwrap(), 1.0);
}
