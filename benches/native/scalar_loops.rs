//! Gradients of loops in scalar code: 1,000 steps for each of 10,000 elements, compared with the same by hand (states in an
//! array of the thread, and a loop backwards) and with JAX; 100 steps for each of 1,000 elements, compared with JAX.

#[path = "../programs/pendulum.rs"]
mod pendulum;

use accel::afun::Afun;
use accel::prelude::*;
use bench_common::case::{Asked, Case, Measure, Pair, Result, check_close, native};
use bench_common::data::uniform;
use bench_common::jax;
use rayon::prelude::*;

const ELEMENTS: usize = 10_000;
const STEPS: usize = 1_000;

pub fn cases() -> Vec<Case> {
    let case = |work, reference, asked, setup: fn() -> Result<Pair>| {
        Case::new("scalar_loops", work, reference, [Asked::Speed(asked)], setup)
    };
    let (logistic, predators) = (
        "logistic map, 1,000 steps × 10,000, gradient",
        "Lotka-Volterra, RK4, 1,000 steps × 10,000, gradient by 4 parameters",
    );
    let pendulums = "pendulum, RK4 by a loop, 100 steps × 1,000, value and gradient by 4 parameters";
    vec![
        case(logistic, "Rust by hand, rayon", 0.7, || {
            let (ours, factors) = (native(&logistic_gradient())?, factors());
            check_close(ours.run(&factors)?.as_slice(), &logistic_by_hand(factors.as_slice()), 1e-9)?;
            let factors2 = factors.clone();
            Ok(Pair {
                ours: Measure::work(move || Ok(ours.run(&factors)?)),
                reference: Measure::work(move || Ok(logistic_by_hand(factors2.as_slice()))),
            })
        }),
        case(logistic, "JAX", 10.0, || jax::beside(&logistic_gradient(), "logistic", factors(), 1e-9)),
        case(predators, "Rust by hand, rayon", 0.7, || {
            let (a, b, c, d) = parameters();
            let columns = [&a, &b, &c, &d].map(Array::as_slice);
            let parameters: Vec<[f64; 4]> = (0..ELEMENTS).map(|i| columns.map(|c| c[i])).collect();
            let ours = native(&predators_gradient())?;
            let (da, db, dc, dd) = ours.run((&a, &b, &c, &d))?;
            for (k, found) in [&da, &db, &dc, &dd].into_iter().enumerate() {
                let expected: Vec<f64> = predators_by_hand(&parameters).iter().map(|g| g[k]).collect();
                check_close(found.as_slice(), &expected, 1e-7)?;
            }
            Ok(Pair {
                ours: Measure::work(move || Ok(ours.run((&a, &b, &c, &d))?)),
                reference: Measure::work(move || Ok(predators_by_hand(&parameters))),
            })
        }),
        case(predators, "JAX", 10.0, || jax::beside(&predators_gradient(), "predators", parameters(), 1e-7)),
        case(pendulums, "JAX", 5.0, || {
            let program = afun(|p: Acc<Four>, observed| pendulum::loss(100, p.unlift(), observed));
            let column = |seed, low, high| Array::vector(uniform(seed, 1_000, low, high));
            let four = (column(1, 0.5, 2.0), column(2, 0.0, 0.5), column(3, -1.0, 1.0), column(4, -1.0, 1.0));
            jax::beside(&value_and_grad(program.by(|(p, _)| p)), "rk4", (four, column(5, -1.0, 1.0)), 1e-9)
        }),
    ]
}

type Four = (Vector<f64>, Vector<f64>, Vector<f64>, Vector<f64>);

fn factors() -> Vector<f64> {
    Array::vector(uniform(1, ELEMENTS, 2.0, 3.4))
}

fn logistic_gradient() -> Afun<Vector<f64>, Vector<f64>> {
    grad(&afun(|rs: Acc<Vector<f64>>| {
        let last = |r: Exp<f64>| {
            let step = |(k, y): (Exp<i64>, Exp<f64>)| (k + 1, r * y * (1.0 - y));
            while_(|(k, _): (Exp<i64>, Exp<f64>)| k.lt(STEPS as i64), step, (0i64, 0.4)).1
        };
        sum(map(last, rs))
    }))
}

fn parameters() -> Four {
    let column = |seed| Array::vector(uniform(seed, ELEMENTS, 0.8, 1.2));
    (column(1), column(2), column(3), column(4))
}

fn predators_gradient() -> Afun<Four, Four> {
    grad(&afun(|a: Acc<Vector<f64>>, b: Acc<Vector<f64>>, c: Acc<Vector<f64>>, d: Acc<Vector<f64>>| {
        sum(map(|((a, b), (c, d))| prey((a, b, c, d)), zip(zip(a, b), zip(c, d))))
    }))
}

/// The derivatives of the last states by the factors.
fn logistic_by_hand(factors: &[f64]) -> Vec<f64> {
    let derivative = |r: &f64| {
        let mut states = [0.0; STEPS];
        let mut y = 0.4;
        for state in &mut states {
            *state = y;
            y = r * y * (1.0 - y);
        }
        let (mut dy, mut dr) = (1.0, 0.0);
        for y in states.iter().rev() {
            dr += dy * y * (1.0 - y);
            dy *= r * (1.0 - 2.0 * y);
        }
        dr
    };
    factors.par_iter().map(derivative).collect()
}

const H: f64 = 0.01;

type Pair2<T> = (T, T);

/// The number of prey after all steps.
fn prey((a, b, c, d): (Exp<f64>, Exp<f64>, Exp<f64>, Exp<f64>)) -> Exp<f64> {
    let slope = |(x, y): Pair2<Exp<f64>>| (a * x - b * x * y, d * x * y - c * y);
    let moved = |(x, y): Pair2<Exp<f64>>, (dx, dy): Pair2<Exp<f64>>, h: f64| (x + dx * h, y + dy * h);
    let step = |s: Pair2<Exp<f64>>| {
        let k1 = slope(s);
        let k2 = slope(moved(s, k1, H / 2.0));
        let k3 = slope(moved(s, k2, H / 2.0));
        let k4 = slope(moved(s, k3, H));
        let mean = |a: Exp<f64>, b: Exp<f64>, c: Exp<f64>, d: Exp<f64>| (a + b * 2.0 + c * 2.0 + d) * (H / 6.0);
        (s.0 + mean(k1.0, k2.0, k3.0, k4.0), s.1 + mean(k1.1, k2.1, k3.1, k4.1))
    };
    type State = (Exp<i64>, Pair2<Exp<f64>>);
    let (_, (x, _)) = while_(|(k, _): State| k.lt(STEPS as i64), |(k, s): State| (k + 1, step(s)), (0i64, (1.0, 1.0)));
    x
}

/// The derivatives of the numbers of prey by the parameters.
fn predators_by_hand(parameters: &[[f64; 4]]) -> Vec<[f64; 4]> {
    let slope = |[a, b, c, d]: [f64; 4], [x, y]: [f64; 2]| [a * x - b * x * y, d * x * y - c * y];
    // The adjoints of the state and of the parameters, from that of the slope.
    let slope_dual = |[a, b, c, d]: [f64; 4], [x, y]: [f64; 2], [u, v]: [f64; 2], g: &mut [f64; 4]| {
        g[0] += u * x;
        g[1] -= u * x * y;
        g[2] -= v * y;
        g[3] += v * x * y;
        [u * (a - b * y) + v * d * y, v * (d * x - c) - u * b * x]
    };
    let moved = |s: [f64; 2], k: [f64; 2], h: f64| [s[0] + k[0] * h, s[1] + k[1] * h];
    let gradient = |p: &[f64; 4]| {
        let mut states = [[0.0; 2]; STEPS];
        let mut s = [1.0, 1.0];
        for state in &mut states {
            *state = s;
            let k1 = slope(*p, s);
            let k2 = slope(*p, moved(s, k1, H / 2.0));
            let k3 = slope(*p, moved(s, k2, H / 2.0));
            let k4 = slope(*p, moved(s, k3, H));
            s = [0, 1].map(|i| s[i] + (k1[i] + k2[i] * 2.0 + k3[i] * 2.0 + k4[i]) * (H / 6.0));
        }
        let (mut ds, mut g) = ([1.0, 0.0], [0.0; 4]);
        for s in states.iter().rev() {
            let k1 = slope(*p, *s);
            let s2 = moved(*s, k1, H / 2.0);
            let k2 = slope(*p, s2);
            let s3 = moved(*s, k2, H / 2.0);
            let k3 = slope(*p, s3);
            let s4 = moved(*s, k3, H);
            let sixth = ds.map(|d| d * (H / 6.0));
            let d4 = slope_dual(*p, s4, sixth, &mut g);
            let d3 = slope_dual(*p, s3, [0, 1].map(|i| sixth[i] * 2.0 + d4[i] * H), &mut g);
            let d2 = slope_dual(*p, s2, [0, 1].map(|i| sixth[i] * 2.0 + d3[i] * (H / 2.0)), &mut g);
            let d1 = slope_dual(*p, *s, [0, 1].map(|i| sixth[i] + d2[i] * (H / 2.0)), &mut g);
            ds = [0, 1].map(|i| ds[i] + d1[i] + d2[i] + d3[i] + d4[i]);
        }
        g
    };
    parameters.par_iter().map(gradient).collect()
}
