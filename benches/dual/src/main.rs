//! Gradients of ordinary code: the six programs of Smeding and Vákár's article and two of GradBench, compared with CoDiPack
//! (C++) and with crates. Prints a table like that of benches/README.md.
//!
//! ```text
//! scripts/bench.sh --dual [--quick] [FILTER]
//! ```

mod codipack;
mod data;
mod others;
mod programs;

use accel_dual::{Rev, Tangents, grad, jacobian, jacobian_columns};
use bench_common::case::{Asked, Case, Measure, Pair, Result, check_close};
use bench_common::table;
use data::Numbers;
use programs::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::hint::black_box;
use std::sync::Arc;

/// How often small programs are differentiated in a run.
const TIMES: usize = 1000;
const CODIPACK: &str = "CoDiPack, one thread";

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let cases = [beside_codipack(), beside_crates(), beside_ourselves()].into_iter().flatten().collect();
    table::print(cases, &args.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A gradient in reverse mode, compared with that of CoDiPack. `ours` returns the number that the C++ program prints.
fn codipack_case(work: &str, name: &'static str, mut ours: impl FnMut() -> f64 + 'static) -> Case {
    Case::new("dual", work, CODIPACK, [Asked::Speed(1.0)], move || {
        let reference = codipack::measure(name, ours())?;
        Ok(Pair { ours: Measure::work(move || Ok(ours())), reference })
    })
}

fn beside_codipack() -> Vec<Case> {
    let mut r = Numbers::new(1);
    let pair = (r.next(), r.next());
    let product = move || {
        let once = |_| grad(product, black_box(&pair)).map_or(f64::NAN, |(dx, dy)| dx + 2.0 * dy);
        (0..TIMES).map(once).fold(f64::NAN, |_, last| last)
    };
    let mut r = Numbers::new(1);
    let vectors = (r.vector(10_000), r.vector(10_000));
    let dot =
        move || grad(|x: (Vec<Rev>, Vec<Rev>)| dot(&x), &vectors).map_or(f64::NAN, |(dx, dy)| dx[7] + 2.0 * dy[8]);
    let mut r = Numbers::new(1);
    let matrix = (r.matrix(100, 100), r.vector(100));
    let matvec = move || {
        grad(|x: (Vec<Vec<Rev>>, Vec<Rev>)| matvec(&x), &matrix).map_or(f64::NAN, |(da, dx)| da[7][3] + 2.0 * dx[8])
    };
    let rotation = rotation();
    let rotate = move || {
        let once = |_| {
            let rows = jacobian(rotate::<Rev>, black_box(&rotation)).map(|(_, rows)| rows);
            rows.map_or(f64::NAN, |rows| rows[0].0[1] + 2.0 * rows[1].1[3] + 3.0 * rows[2].1[0])
        };
        (0..TIMES).map(once).fold(f64::NAN, |_, last| last)
    };
    let mut r = Numbers::new(1);
    let mut layer = |rows, columns| -> Layer<f64> {
        let weights = r.matrix(rows, columns).into_iter().map(|row| row.into_iter().map(|x| x - 0.5).collect());
        (weights.collect(), r.vector(rows))
    };
    let layers = vec![layer(100, 50), layer(50, 100)];
    let network_input = (layers, r.vector(50));
    let network = move || {
        let slope = grad(|x: (Vec<Layer<Rev>>, Vec<Rev>)| network(&x), &network_input);
        slope.map_or(f64::NAN, |(layers, start)| layers[0].0[3][4] + 2.0 * start[5])
    };
    let starts = starts();
    let particles = move || {
        grad(|s: [Particle<Rev>; 4]| particles_in_sequence(&s), &starts).map_or(f64::NAN, |d| d[0][0] + 2.0 * d[3][1])
    };
    let mut r = Numbers::new(1);
    let square = r.vector(64);
    let det = move || grad(|a: Vec<Rev>| determinant(&a, 8), &square).map_or(f64::NAN, |d| d[3] + 2.0 * d[33]);
    let mut r = Numbers::new(1);
    let (layers, bits, characters) = (2, 14, 1024);
    let weights = (r.matrix(2 * layers, 4 * bits), r.matrix(3, bits));
    let state = r.matrix(2 * layers, bits);
    let text = r.matrix(characters, bits);
    let text: Vec<Vec<f64>> =
        text.into_iter().map(|row| row.into_iter().map(|x| if x < 0.5 { 0.0 } else { 1.0 }).collect()).collect();
    let lstm = move || {
        let slope = grad(|(main, extra): (Vec<Vec<Rev>>, Vec<Vec<Rev>>)| lstm(&main, &extra, &state, &text), &weights);
        slope.map_or(f64::NAN, |(main, extra)| main[1][5] + 2.0 * extra[2][3])
    };
    vec![
        codipack_case("product of two numbers, 1,000 gradients", "product", product),
        codipack_case("dot, 10,000 elements, gradient", "dot", dot),
        codipack_case("matrix-vector product, 100 × 100, gradient", "matvec", matvec),
        codipack_case("rotation by a quaternion, 1,000 Jacobians, reverse mode", "rotate", rotate),
        codipack_case("network 50-100-50, gradient", "network", network),
        codipack_case("four particles, 1,000 steps, gradient", "particles", particles),
        codipack_case("det, 8 × 8, gradient", "det", det),
        codipack_case("lstm, 2 layers, 1,024 characters, gradient", "lstm", lstm),
    ]
}

fn rotation() -> ([f64; 3], [f64; 4]) {
    let mut r = Numbers::new(1);
    (std::array::from_fn(|_| r.next()), std::array::from_fn(|_| r.next()))
}

fn starts() -> [Particle<f64>; 4] {
    let mut r = Numbers::new(1);
    std::array::from_fn(|_| std::array::from_fn(|_| r.next()))
}

fn beside_crates() -> Vec<Case> {
    let asked = [Asked::Speed(1.0)];
    let dot = Case::new("dual", "dot, 10,000 elements, gradient", "crate reverse", asked, || {
        let mut r = Numbers::new(1);
        let vectors = (r.vector(10_000), r.vector(10_000));
        let ours = move |v: &(Vec<f64>, Vec<f64>)| grad(|x: (Vec<Rev>, Vec<Rev>)| dot(&x), v);
        let (dx, dy) = ours(&vectors)?;
        check_close(&[dx, dy].concat(), &others::dot(&vectors.0, &vectors.1), 1e-12)?;
        let copy = vectors.clone();
        Ok(Pair {
            ours: Measure::work(move || Ok(ours(&vectors)?)),
            reference: Measure::work(move || Ok(others::dot(&copy.0, &copy.1))),
        })
    });
    let particles = Case::new("dual", "four particles, 1,000 steps, gradient", "crate reverse", asked, || {
        let starts = starts();
        let ours = move || grad(|s: [Particle<Rev>; 4]| particles_in_sequence(&s), &starts);
        check_close(ours()?.as_flattened(), &others::particles(&starts), 1e-9)?;
        Ok(Pair {
            ours: Measure::work(move || Ok(ours()?)),
            reference: Measure::work(move || Ok(others::particles(&starts))),
        })
    });
    let forward = Case::new("dual", "four particles, 1,000 steps, gradient", "num-dual, forward mode", asked, || {
        let starts = starts();
        let ours = move || grad(|s: [Particle<Rev>; 4]| particles_in_sequence(&s), &starts);
        check_close(ours()?.as_flattened(), others::particles_forward(&starts).as_flattened(), 1e-9)?;
        Ok(Pair {
            ours: Measure::work(move || Ok(ours()?)),
            reference: Measure::work(move || Ok(others::particles_forward(&starts))),
        })
    });
    let work = "rotation by a quaternion, 1,000 Jacobians, forward mode";
    let rotate = Case::new("dual", work, "num-dual, forward mode", asked, || {
        let rotation = rotation();
        let ours = move || jacobian_columns(rotate::<Tangents>, black_box(&rotation)).1;
        let theirs = move || others::rotate(black_box(rotation.0), black_box(rotation.1));
        let rows: Vec<f64> = (0..3).flat_map(|i| ours().into_iter().map(move |column| column[i])).collect();
        check_close(&rows, theirs().as_flattened(), 1e-14)?;
        Ok(Pair { ours: Measure::work(move || repeat(ours)), reference: Measure::work(move || repeat(theirs)) })
    });
    vec![dot, particles, forward, rotate]
}

/// Runs a function many times, and returns the last result.
fn repeat<T>(f: impl Fn() -> T) -> Result<T> {
    for _ in 1..TIMES {
        black_box(f());
    }
    Ok(f())
}

/// A pool of rayon.
fn threads(n: usize) -> Result<Arc<ThreadPool>> {
    Ok(Arc::new(ThreadPoolBuilder::new().num_threads(n).build()?))
}

fn beside_ourselves() -> Vec<Case> {
    let work = "four particles in four jobs, gradient, two threads";
    let parallel = Case::new("dual", work, "the same, one thread", [Asked::Speed(1.7)], || {
        let starts = starts();
        let on = move |pool: Arc<ThreadPool>| {
            move || pool.install(|| grad(|s: [Particle<Rev>; 4]| particles(&s), &starts)).map_err(Into::into)
        };
        let (one, two) = (on(threads(1)?), on(threads(2)?));
        check_close(two()?.as_flattened(), one()?.as_flattened(), 1e-12)?;
        Ok(Pair { ours: Measure::work(two), reference: Measure::work(one) })
    });
    let work = "four particles, generic code with f64";
    let generic = Case::new("dual", work, "the same, not generic", [Asked::Cost(1.05)], || {
        let starts = starts();
        check_close(&[particles_in_sequence(&starts)], &[others::particles_plain(&starts)], 0.0)?;
        Ok(Pair {
            ours: Measure::work(move || Ok(particles_in_sequence(black_box(&starts)))),
            reference: Measure::work(move || Ok(others::particles_plain(black_box(&starts)))),
        })
    });
    let work = "dot, 10,000 elements, generic code with f64";
    let dot = Case::new("dual", work, "the same, not generic", [Asked::Cost(1.05)], || {
        let mut r = Numbers::new(1);
        let vectors = (r.vector(10_000), r.vector(10_000));
        let copy = vectors.clone();
        check_close(&[dot(&vectors)], &[others::dot_plain(&copy.0, &copy.1)], 0.0)?;
        Ok(Pair {
            ours: Measure::work(move || Ok(dot(black_box(&vectors)))),
            reference: Measure::work(move || Ok(others::dot_plain(black_box(&copy.0), black_box(&copy.1)))),
        })
    });
    vec![parallel, generic, dot]
}
