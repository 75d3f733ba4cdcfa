//! The Gaussian mixture over numbers of points, dimensions and Gaussians: the time for each n·k·d² has no cliffs, and the
//! objective is never slower than its gradient.

use bench_common::case::{Measure, Pair, Result};
use bench_common::gmm::{compiled, random};
use bench_common::table::{Effort, Times, measure, median, seconds};
use std::io::Write;

const POINTS: [usize; 4] = [100, 1_000, 10_007, 100_000];
const DIMENSIONS: [usize; 9] = [1, 2, 3, 5, 10, 17, 32, 64, 128];
const GAUSSIANS: [usize; 8] = [1, 2, 5, 8, 23, 50, 101, 200];
/// The largest n·k·d², so that the sweep does not take too long.
const LARGEST: usize = 400_000_000;
/// The most that a time may be above those of its neighbours.
const STEEPEST: f64 = 2.0;

/// A measured place of the grid: the indices of its extents, and its times.
struct Place {
    at: [usize; 3],
    times: Times,
}

impl Place {
    fn extents(&self) -> (usize, usize, usize) {
        (POINTS[self.at[0]], DIMENSIONS[self.at[1]], GAUSSIANS[self.at[2]])
    }

    /// The times of the objective and of the gradient in nanoseconds for each n·k·d².
    fn costs(&self) -> [f64; 2] {
        let (n, d, k) = self.extents();
        [self.times.reference, self.times.ours].map(|t| t * 1e9 / work(n, d, k) as f64)
    }

    fn is_neighbour(&self, other: &Place) -> bool {
        let steps: usize = self.at.iter().zip(&other.at).map(|(a, b)| a.abs_diff(*b)).sum();
        steps == 1
    }
}

fn work(n: usize, d: usize, k: usize) -> usize {
    n * k * d * d
}

/// Measures the grid and prints it.
///
/// # Errors
/// A program cannot be compiled or run.
pub fn print(effort: &Effort, least: f64) -> Result<()> {
    let mut places = vec![];
    for (i, n) in POINTS.into_iter().enumerate() {
        for (j, d) in DIMENSIONS.into_iter().enumerate() {
            for (l, k) in GAUSSIANS.into_iter().enumerate() {
                if work(n, d, k) <= LARGEST {
                    eprint!("\rmixture {n} {d} {k}          ");
                    places.push(Place { at: [i, j, l], times: measure(pair(n, d, k)?, effort)? });
                }
            }
        }
    }
    eprintln!();
    println!(
        "| n | d | k | objective | gradient | objective, ns/(n·k·d²) | over neighbours | gradient, ns/(n·k·d²) | over neighbours | |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
    let mut marked = 0;
    for place in &places {
        let (n, d, k) = place.extents();
        let neighbours: Vec<[f64; 2]> = places.iter().filter(|p| p.is_neighbour(place)).map(Place::costs).collect();
        let over = [0, 1].map(|side| place.costs()[side] / median(neighbours.iter().map(|c| c[side]).collect()));
        let counts = place.times.reference >= least;
        let mut marks = vec![];
        if counts && over[0] > STEEPEST {
            marks.push("**objective: cliff**");
        }
        if counts && over[1] > STEEPEST {
            marks.push("**gradient: cliff**");
        }
        if counts && place.times.speed > 1.0 {
            marks.push("**objective slower than gradient**");
        }
        marked += usize::from(!marks.is_empty());
        let [objective, gradient] = place.costs();
        println!(
            "| {n} | {d} | {k} | {} | {} | {objective:.3} | {:.2} | {gradient:.3} | {:.2} | {} |",
            seconds(place.times.reference),
            seconds(place.times.ours),
            over[0],
            over[1],
            marks.join(", "),
        );
    }
    println!("\n{} places of the grid, {marked} marked.", places.len());
    Ok(std::io::stdout().flush()?)
}

/// The gradient, beside the objective as its reference.
fn pair(n: usize, d: usize, k: usize) -> Result<Pair> {
    let (parameters, objective, gradient) = compiled(&random(n, d, k))?;
    let parameters2 = parameters.clone();
    Ok(Pair {
        ours: Measure::work(move || Ok(gradient.run(&parameters)?)),
        reference: Measure::work(move || Ok(objective.run(&parameters2)?)),
    })
}
