//! Generic numerical code of others works unchanged.

use crate::support::{Function, check, close};
use accel_dual::num_traits::{Float, Num};
use accel_dual::{Real, Rev, hessian, jacobian};
use nalgebra::{Matrix3, SMatrix, Vector3};

/// A function of matrices of nalgebra, which knows nothing of this crate.
fn form<
    T: nalgebra::Scalar + Num + nalgebra::ClosedAddAssign + nalgebra::ClosedSubAssign + nalgebra::ClosedMulAssign,
>(
    xs: &[T],
) -> T {
    let a = Matrix3::from_iterator(xs[..9].iter().cloned());
    let b = SMatrix::<T, 3, 2>::from_iterator(xs[9..15].iter().cloned());
    let v = Vector3::from_iterator(xs[15..18].iter().cloned());
    let w = (a.clone() * b).transpose() * (a.transpose() * v.clone());
    w.dot(&w) + v.sum() + v.cross(&(a * v.clone())).component_mul(&v).sum()
}

#[test]
fn matrices_of_nalgebra() {
    struct Form;
    impl Function for Form {
        fn at<T: Real>(&self, xs: &[T]) -> T {
            form(xs)
        }
    }
    let xs: Vec<f64> = (0..18).map(|k| (f64::from(k) * 1.7).sin()).collect();
    check(&Form, &xs, "nalgebra");
}

/// An integrator of Runge and Kutta's method for any floating-point number: it knows `num_traits` only.
fn integrate<F: Float, const N: usize>(f: impl Fn(F, [F; N]) -> [F; N], start: [F; N], end: F, steps: usize) -> [F; N] {
    let two = F::one() + F::one();
    let h = end / F::from(steps).unwrap_or_else(F::nan);
    let add = |y: [F; N], k: [F; N], h: F| std::array::from_fn(|i| y[i] + h * k[i]);
    let (mut t, mut y) = (F::zero(), start);
    for _ in 0..steps {
        let k1 = f(t, y);
        let k2 = f(t + h / two, add(y, k1, h / two));
        let k3 = f(t + h / two, add(y, k2, h / two));
        let k4 = f(t + h, add(y, k3, h));
        let mean: [F; N] = std::array::from_fn(|i| (k1[i] + two * k2[i] + two * k3[i] + k4[i]) / (two + two + two));
        y = add(y, mean, h);
        t = t + h;
    }
    y
}

#[test]
fn sensitivities_of_differential_equations() {
    // The oscillator x'' = -k x, whose solution is known: x(t) = a cos(w t) with w = √k.
    let oscillator = |k: Rev, a: Rev, end: Rev| {
        let field = move |_: Rev, [x, v]: [Rev; 2]| [v, -k * x];
        integrate(field, [a, Rev::lit(0.0)], end, 200)
    };
    let (k, a, t) = (2.25, 0.8, 1.3);
    let (y, rows) = jacobian(|(k, a, t)| oscillator(k, a, t), &(k, a, t)).unwrap();
    let w: f64 = 1.5;
    assert!(close(y[0], a * (w * t).cos(), 1e-9) && close(y[1], -a * w * (w * t).sin(), 1e-9));
    let (dk, da, dt) = rows[0];
    assert!(close(dk, -a * t * (w * t).sin() / (2.0 * w), 1e-8), "{dk}");
    assert!(close(da, (w * t).cos(), 1e-9), "{da}");
    assert!(close(dt, y[1], 1e-9), "{dt}");
}

#[test]
fn lotka_and_volterra() {
    struct Prey;
    impl Function for Prey {
        fn at<T: Real>(&self, xs: &[T]) -> T {
            let (a, b, c, d) = (xs[0], xs[1], xs[2], xs[3]);
            let field = |_: T, [x, y]: [T; 2]| [a * x - b * x * y, d * x * y - c * y];
            integrate(field, [xs[4], xs[5]], T::lit(2.0), 100)[0]
        }
    }
    check(&Prey, &[1.1, 0.4, 0.4, 0.1, 2.0, 1.0], "Lotka-Volterra");
}

#[test]
fn newton_with_second_derivatives() {
    // The minimum of Rosenbrock's function, by Newton's method.
    fn rosenbrock<T: Real>([x, y]: [T; 2]) -> T {
        (T::one() - x).powi(2) + T::lit(100.0) * (y - x * x).powi(2)
    }
    let mut x = [-1.2, 1.0];
    for _ in 0..10 {
        let g = accel_dual::grad(rosenbrock, &x).unwrap();
        let h = hessian(rosenbrock, &x).unwrap();
        let det = h[0][0] * h[1][1] - h[0][1] * h[1][0];
        x[0] -= (h[1][1] * g[0] - h[0][1] * g[1]) / det;
        x[1] -= (h[0][0] * g[1] - h[1][0] * g[0]) / det;
    }
    assert!(close(x[0], 1.0, 1e-12) && close(x[1], 1.0, 1e-12), "{x:?}");
}
