//! The programs of the benchmarks, in small: k-means, LSTMs, Poisson regression, a loop of Runge-Kutta steps, cross sections of
//! neutrons, bodies that attract each other, and convolutions.

#[path = "../../benches/programs/complex.rs"]
#[allow(dead_code, reason = "a part is needed")]
mod complex;
#[path = "../../benches/programs/convolution.rs"]
mod convolution;
#[path = "../../benches/programs/kmeans.rs"]
mod kmeans;
#[path = "../../benches/programs/lstm.rs"]
mod lstm;
#[path = "../../benches/programs/lstm_cell.rs"]
mod lstm_cell;
#[path = "../../benches/programs/lstm_characters.rs"]
mod lstm_characters;
#[path = "../../benches/programs/nbody.rs"]
mod nbody;
#[path = "../../benches/programs/pendulum.rs"]
mod pendulum;
#[path = "../../benches/programs/poisson.rs"]
mod poisson;
#[path = "../../benches/programs/rsbench.rs"]
mod rsbench;
#[path = "../../benches/programs/xsbench.rs"]
mod xsbench;

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

type Materials = (Vector<i64>, Matrix<i64>, Matrix<f64>);
type Lookups = (Vector<f64>, Vector<i64>);

/// Two materials of two nuclides and of one, and lookups in both.
fn materials(random: &mut Random) -> (Materials, Lookups) {
    let (counts, nuclides) = (Array::vector(vec![2, 1]), Array::matrix(2, 2, vec![0, 1, 1, 0]).unwrap());
    let lookups = (Array::vector(vec![0.2, 0.45, 0.7, 0.8]), Array::vector(vec![0, 1, 0, 1]));
    ((counts, nuclides, random.matrix(2, 2)), lookups)
}

#[test]
fn cross_sections_between_grid_points() {
    type Grids = (Array<Dim3, f64>, Vector<f64>, Matrix<i32>);
    for sums in [xsbench::by_loops, xsbench::by_rows] {
        let program = afun(move |grids: Acc<Grids>, materials: Acc<Materials>, lookups: Acc<Lookups>| {
            sums(grids.unlift(), materials.unlift(), lookups.unlift())
        });
        let chosen = program.by(|(grids, materials, _)| (grids.0, materials.2));
        check(&Differentiated::by(&chosen), |random| {
            let own = [[0.0, 0.5, 1.0], [0.1, 0.6, 0.9]];
            let mut point = |energy: &f64| [vec![*energy], random.numbers(5)].concat();
            let points = own.as_flattened().iter().flat_map(&mut point).collect();
            let points = Array::from_vec([2, 3, 6], points).unwrap();
            let energies = Array::vector(vec![0.0, 0.1, 0.5, 0.6, 0.9, 1.0]);
            let index = Array::matrix(6, 2, vec![0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1]).unwrap();
            let (materials, lookups) = materials(random);
            ((points, energies, index), materials, lookups)
        });
    }
}

#[test]
fn cross_sections_from_poles() {
    type Nuclides = (Vector<i64>, Array<Dim3, f64>, Array<Dim3, i64>, Array<Dim3, f64>, Matrix<i64>, Matrix<f64>);
    let program = afun(|nuclides: Acc<Nuclides>, materials: Acc<Materials>, lookups: Acc<Lookups>| {
        rsbench::by_loops(nuclides.unlift(), materials.unlift(), lookups.unlift())
    });
    let chosen = program.by(|(nuclides, materials, _)| (nuclides.1, nuclides.3, nuclides.5, materials.2));
    check(&Differentiated::by(&chosen), |random| -> (Nuclides, Materials, Lookups) {
        let ranges = Array::from_vec([2, 2, 2], vec![0, 2, 1, 3, 0, 3, 0, 0]).unwrap();
        // Poles are below the real axis.
        let below = |(k, x): (usize, f64)| if k % 2 == 1 { -x.abs() - 0.1 } else { x.abs() };
        let poles = random.numbers(48).into_iter().enumerate().map(below).collect();
        let poles = Array::from_vec([2, 3, 8], poles).unwrap();
        let momenta = Array::matrix(2, 3, vec![0, 1, 2, 3, 0, 1]).unwrap();
        let nuclides = (Array::vector(vec![2, 1]), random.cube([2, 2, 3]), ranges, poles, momenta, random.matrix(2, 4));
        let (materials, lookups) = materials(random);
        (nuclides, materials, lookups)
    });
}

#[test]
fn bodies_in_four_forms() {
    for energy in [nbody::ordered, nbody::different, nbody::replicated, nbody::read] {
        check(&Differentiated::of(&afun(energy)), |random| random.matrix(5, 3));
    }
}

#[test]
fn convolutions_in_four_forms() {
    use convolution::{Four, formula, matrix_of_patches, nine_products, places_written_out};
    let forms: [fn(Four<f64>, Four<f64>) -> Four<f64>; 4] =
        [matrix_of_patches, nine_products, places_written_out, formula];
    for convolution in forms {
        let half_of_squares =
            afun(move |xs, weights| map(|e| e * 0.5, sum_all(map(|y| y * y, convolution(xs, weights)))));
        check(&Differentiated::of(&half_of_squares), |random| {
            let mut four = |extents: [usize; 4]| {
                Array::<Dim4, f64>::from_vec(extents, random.numbers(extents.iter().product())).unwrap()
            };
            (four([1, 4, 5, 2]), four([3, 3, 2, 1]))
        });
    }
}
