//! The programs of the benchmarks, in small: k-means, LSTMs, Poisson regression, a loop of Runge-Kutta steps.

#[path = "../../benches/programs/kmeans.rs"]
mod kmeans;
#[path = "../../benches/programs/lstm.rs"]
mod lstm;
#[path = "../../benches/programs/lstm_characters.rs"]
mod lstm_characters;
#[path = "../../benches/programs/pendulum.rs"]
mod pendulum;
#[path = "../../benches/programs/poisson.rs"]
mod poisson;

use crate::harness::{Differentiated, Tally};
use accel::prelude::*;

/// Numbers in -1..1.
struct Random(u64);

impl Random {
    fn number(&mut self) -> f64 {
        // xorshift64
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn numbers(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.number()).collect()
    }

    fn vector(&mut self, n: usize) -> Vector<f64> {
        Array::vector(self.numbers(n))
    }

    fn matrix(&mut self, rows: usize, columns: usize) -> Matrix<f64> {
        Array::matrix(rows, columns, self.numbers(rows * columns)).unwrap()
    }

    fn cube(&mut self, extents: [usize; 3]) -> Array<Dim3, f64> {
        Array::from_vec(extents, self.numbers(extents.iter().product())).unwrap()
    }
}

/// Compares reverse mode, forward mode and finite differences for inputs from several seeds.
fn check<A: Arrays>(program: &Differentiated, input: impl Fn(&mut Random) -> A) {
    let tally = Tally::default();
    for seed in 1..6 {
        let checked = program.check(&input(&mut Random(seed << 32 | 0x9e37)).to_tuple(), &tally);
        assert_eq!(checked, Ok(()), "seed {seed}");
    }
    assert!(tally.often_checked(), "finite differences were rarely of use: {tally:?}");
}

#[test]
fn kmeans_of_dense_points() {
    let cost = afun(kmeans::cost::<f64>);
    let input = |random: &mut Random| (random.matrix(7, 2), random.matrix(3, 2));
    check(&Differentiated::by(&cost.by(|(_, centroids)| centroids)), input);
    check(&Differentiated::of(&cost), input);
    // The gradient has a derivative, too.
    let derivatives = kmeans::derivatives(&cost);
    check(&Differentiated::by(&derivatives.by(|(_, centroids)| centroids)), input);
}

#[test]
fn kmeans_of_sparse_points() {
    type Points = (Vector<i64>, Vector<i64>, Vector<i64>, Vector<f64>);
    let cost = afun(|points: Acc<Points>, centroids| kmeans::sparse_cost(points.unlift(), centroids));
    // Five points, of which the second one is 0.
    let starts: Vec<i64> = vec![0, 2, 2, 5, 6, 9];
    let points: Vec<i64> = vec![0, 0, 2, 2, 2, 3, 4, 4, 4];
    let columns: Vec<i64> = vec![0, 3, 1, 2, 3, 0, 0, 1, 3];
    let input = move |random: &mut Random| {
        let [starts, points, columns] = [&starts, &points, &columns].map(|v| Array::vector(v.clone()));
        ((starts, points, columns, random.vector(9)), random.matrix(2, 4))
    };
    check(&Differentiated::by(&cost.by(|(_, centroids)| centroids)), &input);
    let derivatives = kmeans::derivatives(&cost);
    check(&Differentiated::by(&derivatives.by(|(_, centroids)| centroids)), input);
}

#[test]
fn an_lstm_on_batches() {
    type Parameters = (Matrix<f64>, Matrix<f64>, Vector<f64>);
    let loss = afun(|parameters: Acc<Parameters>, xs, targets| lstm::loss::<f64>(parameters.unlift(), xs, targets));
    let (steps, batch, d, h) = (3, 2, 3, 2);
    check(&Differentiated::of(&loss), |random| {
        let parameters = (random.matrix(4 * h, d), random.matrix(4 * h, h), random.vector(4 * h));
        (parameters, random.cube([steps, batch, d]), random.cube([steps, batch, h]))
    });
}

#[test]
fn an_lstm_by_a_loop_over_characters() {
    let loss = afun(lstm_characters::loss);
    let chosen = loss.by(|(main, extra, state, _)| (main, extra, state));
    let b = 2;
    check(&Differentiated::by(&chosen), |random| {
        let main = Array::from_vec([2, 2, 4, b], random.numbers(16 * b)).unwrap();
        let sequence = random.numbers(5 * b).iter().map(|x| if *x > 0.0 { 1.0 } else { 0.0 }).collect();
        (main, random.matrix(3, b), random.cube([2, 2, b]), Array::matrix(5, b, sequence).unwrap())
    });
}

#[test]
fn runge_kutta_steps_by_a_loop() {
    type Four = (Vector<f64>, Vector<f64>, Vector<f64>, Vector<f64>);
    let loss = afun(|pendulums: Acc<Four>, observed| pendulum::loss(6, pendulums.unlift(), observed));
    check(&Differentiated::of(&loss), |random| {
        let n = 3;
        ((random.vector(n), random.vector(n), random.vector(n), random.vector(n)), random.vector(n))
    });
}

#[test]
fn poisson_regression_by_a_scatter() {
    let loss = afun(|w, rows, columns, values, counts| poisson::loss(w, (rows, columns, values), counts));
    check(&Differentiated::of(&loss), |random| {
        let (rows, columns): (Vec<i64>, Vec<i64>) = (vec![0, 0, 1, 3, 3, 3], vec![0, 2, 1, 0, 2, 2]);
        let counts = Array::vector(vec![0.0, 1.0, 2.0, 0.0]);
        (random.vector(3), Array::vector(rows), Array::vector(columns), random.vector(6), counts)
    });
}
