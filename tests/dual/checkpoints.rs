//! Checkpoints, custom operations, and limits of tapes.

use crate::support::{assert_close, close};
use accel_dual::{
    Checkpoint, Differentiable, Error, Rev, Settings, checkpoint, custom, grad, hessian, join, jvp, par_map,
    release_memory, value_and_grad, vjp,
};

#[derive(Clone, Debug, PartialEq, Differentiable)]
#[differentiable(crate = accel_dual)]
struct State<T> {
    position: [T; 2],
    velocity: Vec<T>,
    step: usize,
}

fn step<T: Checkpoint>(s: State<T>) -> State<T> {
    let State { position: [x, y], velocity, step } = s;
    let (u, v) = (velocity[0], velocity[1]);
    let dt = T::lit(0.01 + 0.001 * (step % 3) as f64);
    let position = [x + u * dt, y + v * dt];
    State { position, velocity: vec![u - (x * y).sin() * dt, v - x * y.cos() * dt], step: step + 1 }
}

fn start() -> State<f64> {
    State { position: [0.3, -0.2], velocity: vec![0.1, 0.5], step: 0 }
}

fn plain<T: Checkpoint>(s: State<T>) -> T {
    let s = (0..400).fold(s, |s, _| step(s));
    s.position[0] * s.velocity[1]
}

fn checked<T: Checkpoint>(s: State<T>) -> T {
    let twenty = |s: State<T>| (0..20).fold(s, |s, _| step(s));
    let s = (0..20).fold(s, |s, _| checkpoint(twenty, s));
    s.position[0] * s.velocity[1]
}

fn nested<T: Checkpoint>(s: State<T>) -> T {
    let five = |s: State<T>| (0..5).fold(s, |s, _| step(s));
    let hundred = move |s: State<T>| (0..20).fold(s, |s, _| checkpoint(five, s));
    let s = (0..4).fold(s, |s, _| checkpoint(hundred, s));
    s.position[0] * s.velocity[1]
}

#[test]
fn checkpoints_change_nothing_but_the_size_of_the_tape() {
    let expected = value_and_grad(plain, &start()).unwrap();
    for f in [checked, nested] {
        let (value, gradient) = value_and_grad(f, &start()).unwrap();
        assert_eq!(value, expected.0);
        let numbers = |s: &State<f64>| [s.position.as_slice(), &s.velocity].concat();
        assert_close(&numbers(&gradient), &numbers(&expected.1), 1e-12, "checkpoints");
        assert_eq!(gradient.step, 0);
    }
    let size = |f: fn(State<Rev>) -> Rev| vjp(f, start()).unwrap().1.tape();
    assert_eq!(size(plain).nodes, 400 * 6 + 1);
    assert_eq!(size(checked).nodes, 20 * 4 + 1);
    assert_eq!(size(nested).nodes, 4 * 4 + 1);
    // Forward mode, and second derivatives.
    let direction = State { position: [1.0, 0.0], velocity: vec![0.0, 0.0], step: 0 };
    let (_, slope) = jvp(checked, &start(), &direction).unwrap();
    assert!(close(slope, expected.1.position[0], 1e-12));
    let (a, b) = (hessian(plain, &start()).unwrap(), hessian(nested, &start()).unwrap());
    for (a, b) in a.iter().zip(&b) {
        assert_close(&a.position, &b.position, 1e-11, "second derivatives");
        assert_close(&a.velocity, &b.velocity, 1e-11, "second derivatives");
    }
}

#[test]
fn checkpoints_run_in_jobs_and_contain_forks() {
    let f = |x: [Rev; 2]| {
        let parts = par_map(&[0.5, 1.5, 2.5], |&k| {
            let product = move |[x, y]: [Rev; 2]| {
                let (a, b) = join(|| (x * y * k).sin(), || x + y * y);
                a * b
            };
            checkpoint(product, [x[0] * x[1], x[1]])
        });
        parts.into_iter().sum()
    };
    let g = |[x, y]: [f64; 2]| {
        let part = |k: f64| (x * y * y * k).sin() * (x * y + y * y);
        [0.5, 1.5, 2.5].into_iter().map(part).sum::<f64>()
    };
    let x = [0.7, 0.9];
    let slope = |k: usize| {
        let moved = |h: f64| std::array::from_fn(|j| x[j] + if j == k { h } else { 0.0 });
        (g(moved(1e-5)) - g(moved(-1e-5))) / 2e-5
    };
    for settings in [Settings::DEFAULT, Settings { deterministic: true, ..Settings::DEFAULT }] {
        let (value, gradient) = settings.value_and_grad(f, &x).unwrap();
        assert!(close(value, g(x), 1e-14));
        assert_close(&gradient, &[slope(0), slope(1)], 1e-8, "checkpoints in jobs");
    }
}

#[test]
fn a_checkpoint_that_captures_a_number_is_an_error() {
    let f = |(x, y): (Rev, Rev)| checkpoint(move |y: Rev| x * y, y);
    assert_eq!(grad(f, &(2.0, 3.0)).unwrap_err(), Error::Captured);
    let f = |(x, y): (Rev, Rev)| checkpoint(move |y: Rev| x.sin() + y, y);
    assert_eq!(grad(f, &(2.0, 3.0)).unwrap_err(), Error::Captured);
    let f = |(x, y): (Rev, Rev)| join(|| checkpoint(move |y: Rev| x * y, y), || x).0;
    let e = grad(f, &(2.0, 3.0)).unwrap_err();
    assert!(e.to_string().contains("captures a number"), "{e}");
    // A constant may be captured, and so may the value of a number.
    let c = Rev::constant(5.0);
    let f = |(x, y): (Rev, Rev)| checkpoint(move |y: Rev| c * y * x.value(), y);
    assert_eq!(grad(f, &(2.0, 3.0)).unwrap(), (0.0, 10.0));
}

#[test]
fn errors_of_custom_operations_reach_the_caller() {
    let f = |(x, y): (Rev, Rev)| custom("solve", &[x, y], &[1.0], |_: &[f64]| Err("no convergence"))[0] * 2.0;
    let e = grad(f, &(1.0, 2.0)).unwrap_err();
    assert_eq!(e.to_string(), "solve: no convergence");
    let f = |(x, y): (Rev, Rev)| custom("solve", &[x, y], &[1.0], |_: &[f64]| Ok::<_, Error>(vec![1.0]))[0];
    let e = grad(f, &(1.0, 2.0)).unwrap_err();
    assert_eq!(e.to_string(), "solve: expected the adjoints of 2 inputs, found 1");
    // In a job, and in a checkpoint.
    let f = |(x, y): (Rev, Rev)| {
        let fail = |(x, y): (Rev, Rev)| custom("solve", &[x, y], &[1.0], |_: &[f64]| Err("no convergence"))[0] * y;
        join(|| checkpoint(fail, (x, y)), || x).0
    };
    assert_eq!(grad(f, &(1.0, 2.0)).unwrap_err().to_string(), "solve: no convergence");
}

#[test]
fn custom_operations_have_any_number_of_inputs_and_results() {
    // A complex product; one factor is a constant, the other one has a factor of its own.
    let f = |[a, b]: [Rev; 2]| {
        let product = |adjoint: &[f64]| Ok::<_, Error>(vec![3.0 * adjoint[0] + 4.0 * adjoint[1], 0.0, 0.0, 0.0]);
        let inputs = [a * 2.0, b * 0.0, Rev::constant(3.0), Rev::constant(4.0)];
        let results = custom("product", &inputs, &[6.0 * a.value(), 8.0 * a.value()], product);
        results[0] * results[1] + a
    };
    // 48 a² + a
    assert_eq!(grad(f, &[2.0, 5.0]).unwrap(), [193.0, 0.0]);
    let constant = custom("none", &[Rev::constant(1.0)], &[2.0], |_: &[f64]| Ok::<_, Error>(vec![0.0]))[0];
    assert_eq!(grad(|x: Rev| x * constant, &3.0).unwrap(), 2.0);
    let nothing = |x: Rev| x * custom("nothing", &[x], &[], |_: &[f64]| Ok::<_, Error>(vec![0.0])).len() as f64;
    assert_eq!(grad(nothing, &3.0).unwrap(), 0.0);
}

#[test]
fn a_full_tape_is_an_error() {
    let settings = Settings { longest_tape: 1000, ..Settings::DEFAULT };
    let chain = |n: usize| move |(x, y): (Rev, Rev)| (0..n).fold(x, |z, _| z * y);
    // The limit is exact, also if there is memory of a longer tape.
    assert!(grad(chain(20_000), &(1.0, 1.0)).is_ok());
    assert!(settings.value_and_grad(chain(997), &(1.0, 1.0)).is_ok());
    assert!(settings.value_and_grad(chain(998), &(1.0, 1.0)).is_err());
    let e = settings.value_and_grad(chain(5000), &(1.0, 1.0)).unwrap_err();
    assert_eq!(e, Error::TapeFull { limit: 1000 });
    assert!(e.to_string().contains("at most 1000 numbers"), "{e}");
    let e = settings.value_and_grad(|(x, y)| join(|| chain(5000)((x, y)), || x).0, &(1.0, 1.0)).unwrap_err();
    assert_eq!(e, Error::TapeFull { limit: 1000 });
    let e = settings.value_and_grad(|xs: Vec<Rev>| xs[0], &vec![1.0; 2000]).unwrap_err();
    assert_eq!(e, Error::TapeFull { limit: 1000 });
    // Each job has a tape of its own, and so does each checkpoint.
    let parts = |(x, y): (Rev, Rev)| par_map(&[(); 5], |()| chain(900)((x, y))).into_iter().sum();
    assert!(settings.value_and_grad(parts, &(1.0, 1.0)).is_ok());
    let parts = |(x, y): (Rev, Rev)| (0..5).fold(x, |z, _| checkpoint(chain(900), (z, y)));
    assert_eq!(settings.value_and_grad(parts, &(1.0, 1.0)).unwrap().1, (1.0, 4500.0));
}

#[test]
fn a_custom_operation_that_is_dropped_may_compute() {
    /// Computes with numbers of the tape when it is dropped.
    struct Computes(Rev, Rev);
    impl Drop for Computes {
        fn drop(&mut self) {
            assert_eq!((self.0 * self.1 + self.0).value(), 8.0);
        }
    }
    let f = |(x, y): (Rev, Rev)| {
        let computes = Computes(x, y);
        let pullback = move |adjoints: &[f64]| Ok::<_, Error>(vec![computes.0.value() * adjoints[0]]);
        custom("computes", &[x], &[x.value() * 2.0], pullback)[0] * y
    };
    assert_eq!(grad(f, &(2.0, 3.0)).unwrap(), (6.0, 4.0));
    // There is no room for the operation, so it is dropped at once.
    let settings = Settings { longest_tape: 3, ..Settings::DEFAULT };
    assert_eq!(settings.value_and_grad(f, &(2.0, 3.0)).unwrap_err(), Error::TapeFull { limit: 3 });
    // Nor is anything recorded here.
    assert_eq!(f((Rev::constant(2.0), Rev::constant(3.0))).value(), 12.0);
}

#[test]
fn memory_of_tapes_can_be_released() {
    let chain = |(x, y): (Rev, Rev)| (0..10_000).fold(x, |z, _| z * y);
    for _ in 0..3 {
        assert_eq!(grad(chain, &(1.0, 1.0)).unwrap(), (1.0, 10_000.0));
        release_memory();
    }
}
