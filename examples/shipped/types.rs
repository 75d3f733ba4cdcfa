//! What the programs take and give. The process that runs them knows nothing else about them.

use accel::prelude::*;
use accel::types::Arrays;

/// The weights, the means and the data of a mixture.
pub type Mixture = (Vector<f64>, Matrix<f64>, Matrix<f64>);
/// Its log-likelihood, and the gradient of that by weights and means.
pub type MixtureGradient = (Scalar<f64>, (Vector<f64>, Matrix<f64>));
/// The transition of a filter, its noise, and the measurements.
pub type Filter = (Matrix<f64>, Scalar<f64>, Matrix<f64>);
/// The gradient of its log-likelihood by transition and noise.
pub type FilterGradient = (Matrix<f64>, Scalar<f64>);
/// The positive numbers in order, and the sums by class.
pub type Sorted = (Vector<f64>, Vector<f64>);

/// The arguments with which the programs are tried.
pub fn arguments(n: usize) -> (Mixture, Filter, (Vector<f64>, Vector<i64>)) {
    let numbers = |count: usize| (0..count).map(|k| (k as f64 * 0.7).sin()).collect::<Vec<_>>();
    let matrix = |rows, columns| Array::matrix(rows, columns, numbers(rows * columns)).expect("as many numbers");
    let mixture = (Array::vector(numbers(5)), matrix(5, 10), matrix(n, 10));
    let filter = (matrix(4, 4), Array::scalar(0.1), matrix(n.min(200), 4));
    let classes = (0..n as i64).map(|k| k * 7 % 10).collect();
    (mixture, filter, (Array::vector(numbers(n)), Array::vector(classes)))
}

/// Prints what the programs compute, for the arguments for which they were compiled and for others.
pub fn print(
    mixture: &Compiled<Mixture, MixtureGradient>,
    filter: &Compiled<Filter, FilterGradient>,
    sorted: &Compiled<(Vector<f64>, Vector<i64>), Sorted>,
) -> Result<(), accel::Error> {
    for n in [1000, 7] {
        let ((w, m, x), (transition, noise, measured), (numbers, classes)) = arguments(n);
        println!("{}", text(&mixture.run((&w, &m, &x))?));
        println!("{}", text(&filter.run((&transition, &noise, &measured))?));
        println!("{}", text(&sorted.run((&numbers, &classes))?));
    }
    Ok(())
}

/// All numbers of a result, so that equal texts are equal bits.
fn text<R: Arrays>(result: &R) -> String {
    format!("{:?}", result.to_tuple())
}
