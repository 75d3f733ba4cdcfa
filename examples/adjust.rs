//! Bundle adjustment of a random scene by the method of Levenberg and Marquardt with the Schur complement:
//!
//! ```text
//! cargo run --release --example adjust -- N M P STEPS...
//! ```
//!
//! for N cameras, M points and P observations. Prints half of the sum of the squares after each of these numbers of steps, and the time that they take. The
//! scene is that of `generate_adbench scene N M P`, and `benches/ceres` adjusts it with Ceres.

#[path = "ba/geometry.rs"]
#[expect(dead_code, reason = "the example `ba` uses more of it")]
mod geometry;

use accel::prelude::*;
use accel::solvers::{Stop, levenberg_marquardt_schur};
use adbench::{Failure, Scene, exit_code, generate_scene, median_ms};
use geometry::residual;
use std::process::ExitCode;

const USAGE: &str = "expected: N M P STEPS..., positive whole numbers";
/// Times are medians of this many runs after the first one.
const RUNS: usize = 3;

fn main() -> ExitCode {
    exit_code(adjust())
}

/// The distance of an observation from the place at which its camera sees its point, by rows of numbers.
fn distance(camera: Acc<Vector<f64>>, point: Acc<Vector<f64>>, seen: Acc<Vector<f64>>) -> Acc<Vector<f64>> {
    let [r1, r2, r3, c1, c2, c3, focal, u, v, k1, k2] = std::array::from_fn(|k| camera.at(k as i64));
    let camera = ((r1, r2, r3), (c1, c2, c3), focal, (u, v), (k1, k2));
    let point = (point.at(0), point.at(1), point.at(2));
    let (x, y) = residual(camera, point, lit(1.0), (seen.at(0), seen.at(1)));
    generate(2, |i| cond(i.eq(0), x, y))
}

/// Cameras, points, the numbers of the camera and of the point of each observation, and what is observed.
type Problem = (Matrix<f64>, Matrix<f64>, Vector<i64>, Vector<i64>, Matrix<f64>);

fn adjust() -> Result<(), Failure> {
    let usage = || Failure::Usage(USAGE.to_string());
    let numbers: Option<Vec<u32>> =
        std::env::args().skip(1).map(|word| word.parse().ok().filter(|number| *number > 0)).collect();
    let numbers = numbers.ok_or_else(usage)?;
    let ([n, m, p], steps) = numbers.split_first_chunk().filter(|(_, steps)| !steps.is_empty()).ok_or_else(usage)?;
    let scene = generate_scene(1, *n as usize, *m as usize, *p as usize);
    adjusted(scene, steps).map_err(|error| Failure::Compute(error.to_string()))
}

fn adjusted(scene: Scene, steps: &[u32]) -> Result<(), Error> {
    let problem = problem(scene)?;
    let distance = afun(distance);
    for steps in steps {
        let stop = Stop { tolerance: 1e-8, steps: (*steps).into() };
        let program = afun(|problem: Acc<Problem>| {
            let (cameras, points, by, of, seen) = problem.unlift();
            let found = levenberg_marquardt_schur(stop, &distance, (cameras, points), (by, of), seen);
            (found.value, found.steps, found.residual)
        });
        let program = compile(&program)?;
        program.run(&problem)?;
        let ((value, steps, size), ms) = median_ms(RUNS, || program.run(&problem))?;
        let (value, steps, size) = (value.item(), steps.item(), size.item());
        println!("{steps:3} steps  half of squares {value:.9e}  gradient {size:.1e}  {ms:.1} ms");
    }
    Ok(())
}

fn problem(Scene { cameras, points, observed, features }: Scene) -> Result<Problem, Error> {
    let numbers = |part: fn(&(usize, usize)) -> usize| observed.iter().map(|o| part(o) as i64).collect();
    Ok((
        Array::matrix(cameras.len(), 11, cameras.concat())?,
        Array::matrix(points.len(), 3, points.concat())?,
        Array::vector(numbers(|(camera, _)| *camera)),
        Array::vector(numbers(|(_, point)| *point)),
        Array::matrix(features.len(), 2, features.concat())?,
    ))
}
