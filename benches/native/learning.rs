//! Programs of machine learning with their gradients, compared with JAX: k-means on dense and on sparse points, an LSTM on batches
//! and one over characters, Poisson regression on sparse data.

#[path = "../programs/kmeans.rs"]
mod kmeans;
#[path = "../programs/lstm.rs"]
mod lstm;
#[path = "../programs/lstm_characters.rs"]
mod lstm_characters;
#[path = "../programs/poisson.rs"]
mod poisson;

use crate::lstm_cell;
use crate::startup::{self, Start};
use accel::afun::Afun;
use accel::prelude::*;
use adbench::Lcg;
use bench_common::case::{Asked, Case, Pair, Result, native};
use bench_common::data::uniform;
use bench_common::jax;
use std::time::{Duration, Instant};

pub fn cases() -> Vec<Case> {
    let case = |work: String, asked: Asked, setup: Box<dyn FnOnce() -> Result<Pair>>| {
        Case::new("learning", work, "JAX", [asked], setup)
    };
    let mut cases = vec![];
    for (k, n, d) in [(5, 494_019, 35), (1024, 10_000, 256)] {
        let work = format!("k-means, {n} × {d} f32, {k} centroids, first and second derivatives");
        cases.push(case(work, Asked::Speed(2.0), Box::new(move || dense(k, n, d))));
    }
    let work = "k-means, sparse, 6,040 × 3,706 f32 with 1M entries, 10 centroids, first and second derivatives";
    cases.push(case(work.into(), Asked::Speed(2.0), Box::new(|| sparse(10, 6_040, 3_706, 1_000_000))));
    for (batch, steps, d, h) in [(256, 20, 300, 192), (64, 300, 80, 256)] {
        let work = format!("LSTM, batch {batch}, {steps} steps, {d} inputs, {h} hidden f32, value and gradient");
        cases.push(case(work, Asked::Speed(2.0), Box::new(move || sequences(batch, steps, d, h))));
    }
    let work = "LSTM by a loop over 100 characters";
    cases.push(case(format!("{work}, value and gradient"), Asked::Speed(1.0), Box::new(characters)));
    let asked = Asked::Within(Duration::from_millis(2200));
    cases.push(case(format!("{work}, cold compilation and first run"), asked, Box::new(characters_cold)));
    let work = "sparse Poisson regression by permute (+), 10,000 × 1,000 with 100,000 entries, value and gradient";
    cases.push(case(work.into(), Asked::Speed(2.0), Box::new(counts)));
    cases
}

/// Points around as many places as there are centroids, which begin nearby.
fn dense(k: usize, n: usize, d: usize) -> Result<Pair> {
    let places: Vec<f32> = uniform(1, k * d, -1.0, 1.0);
    let mut random = Lcg::new(2);
    let mut noise = |x: f32, size: f64| x + random.uniform(-size, size) as f32;
    let points = (0..n * d).map(|i| noise(places[(i / d % k) * d + i % d], 0.3)).collect();
    let centroids = places.iter().map(|x| noise(*x, 0.05)).collect();
    let arguments = (Array::matrix(n, d, points)?, Array::matrix(k, d, centroids)?);
    jax::beside(&kmeans::derivatives(&afun(kmeans::cost::<f32>)), "kmeans", arguments, 1e-3)
}

/// Points with random entries, as many for each. The values are ratings from 1 to 5.
fn sparse(k: usize, n: usize, d: usize, entries: usize) -> Result<Pair> {
    let mut random = Lcg::new(1);
    let starts: Vec<i64> = (0..=n).map(|i| (i * entries / n) as i64).collect();
    let (mut points, mut columns) = (vec![], vec![]);
    for (i, ends) in starts.windows(2).enumerate() {
        let mut of_point: Vec<i64> = (ends[0]..ends[1]).map(|_| random.uniform(0.0, d as f64) as i64).collect();
        of_point.sort_unstable();
        points.resize(points.len() + of_point.len(), i as i64);
        columns.append(&mut of_point);
    }
    let values = (0..entries).map(|_| random.uniform(1.0, 6.0).floor() as f32).collect();
    let centroids = Array::matrix(k, d, uniform(2, k * d, 0.0, 0.3))?;
    let points = (Array::vector(starts), Array::vector(points), Array::vector(columns), Array::vector(values));
    let cost =
        afun(|points: Acc<SparsePoints>, centroids: Acc<Matrix<f32>>| kmeans::sparse_cost(points.unlift(), centroids));
    jax::beside(&kmeans::derivatives(&cost), "kmeans_sparse", (points, centroids), 1e-3)
}

type SparsePoints = (Vector<i64>, Vector<i64>, Vector<i64>, Vector<f32>);

fn sequences(batch: usize, steps: usize, d: usize, h: usize) -> Result<Pair> {
    type Parameters = (Matrix<f32>, Matrix<f32>, Vector<f32>);
    let size = 1.0 / (h as f64).sqrt();
    let of_input = Array::matrix(4 * h, d, uniform(1, 4 * h * d, -size, size))?;
    let of_hidden = Array::matrix(4 * h, h, uniform(2, 4 * h * h, -size, size))?;
    let bias = Array::vector(uniform(3, 4 * h, -size, size));
    let three =
        |extent, seed| Array::from_vec([steps, batch, extent], uniform(seed, steps * batch * extent, -1.0, 1.0));
    let program = afun(|parameters: Acc<Parameters>, xs: Acc<Array<Dim3, f32>>, targets: Acc<Array<Dim3, f32>>| {
        lstm::loss(parameters.unlift(), xs, targets)
    });
    let arguments = ((of_input, of_hidden, bias), three(d, 4)?, three(h, 5)?);
    jax::beside(&value_and_grad(program.by(|(parameters, _, _)| parameters)), "lstm", arguments, 1e-4)
}

type Characters = (Array<Dim4, f64>, Matrix<f64>, Array<Dim3, f64>, Matrix<f64>);
type CharacterGradient = (Scalar<f64>, (Array<Dim4, f64>, Matrix<f64>));

/// The program and its arguments: 100 characters of 14 bits.
fn character_problem() -> Result<(Afun<Characters, CharacterGradient>, Characters)> {
    const B: usize = 14;
    let arguments = (
        Array::from_vec([2, 2, 4, B], uniform(1, 16 * B, -1.0, 1.0))?,
        Array::matrix(3, B, uniform(2, 3 * B, -1.0, 1.0))?,
        Array::from_vec([2, 2, B], uniform(3, 4 * B, -1.0, 1.0))?,
        Array::matrix(100, B, uniform::<f64>(4, 100 * B, 0.0, 2.0).iter().map(|x| x.floor()).collect())?,
    );
    let program = afun(lstm_characters::loss);
    Ok((value_and_grad(program.by(|(main, extra, _, _)| (main, extra))), arguments))
}

fn characters() -> Result<Pair> {
    let (program, arguments) = character_problem()?;
    jax::beside(&program, "lstm_characters", arguments, 1e-9)
}

/// The name by which this program starts itself to measure a first run.
pub const FIRST_RUN: &str = "--first-run-characters";

/// In the separate process: prints the milliseconds from the closures to the first result.
pub fn first_run() -> Result<()> {
    let begin = Instant::now();
    let (program, arguments) = character_problem()?;
    native(&program)?.run(&arguments)?;
    println!("{}", begin.elapsed().as_secs_f64() * 1e3);
    Ok(())
}

/// The first run in a new process, without a cache.
fn characters_cold() -> Result<Pair> {
    let (_, arguments) = character_problem()?;
    let reference = jax::Program::new("lstm_characters", &arguments)?.first_call();
    Ok(Pair { ours: startup::starts(Start::Cold, vec![FIRST_RUN.into()])?, reference })
}

fn counts() -> Result<Pair> {
    let (n, d, entries) = (10_000, 1_000, 100_000);
    let mut random = Lcg::new(1);
    let mut indices =
        |bound: usize| -> Vector<i64> { (0..entries).map(|_| random.uniform(0.0, bound as f64) as i64).collect() };
    let (rows, columns) = (indices(n), indices(d));
    let counts = Array::vector(uniform::<f64>(2, n, 0.0, 4.0).iter().map(|x| x.floor()).collect());
    let arguments =
        (Array::vector(uniform(3, d, -0.3, 0.3)), rows, columns, Array::vector(uniform(4, entries, -1.0, 1.0)), counts);
    let program =
        afun(|w: Acc<Vector<f64>>, rows, columns, values, counts| poisson::loss(w, (rows, columns, values), counts));
    jax::beside(&value_and_grad(program.by(|(w, ..)| w)), "poisson", arguments, 1e-9)
}
