//! XSBench and RSBench, event-based, with the grids of their "small" problems and fewer lookups, compared with the same in plain
//! Rust; their gradients by the data of the nuclides and the concentrations, compared with their own primals.

#[path = "../programs/complex.rs"]
mod complex;
#[path = "../programs/rsbench.rs"]
mod rsbench;
#[path = "../programs/xsbench.rs"]
mod xsbench;

use accel::afun::Afun;
use accel::prelude::*;
use adbench::Lcg;
use bench_common::case::{Asked, Case, Measure, Pair, Result, check_close, native};
use complex::{Complex, far, near};
use rayon::prelude::*;

const NUCLIDES: usize = 68;
/// The number of nuclides of each material; fuel is the first one.
const COUNTS: [usize; 12] = [34, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9];
const MOST: usize = 34;
/// The probabilities of the materials.
const SHARES: [f64; 12] = [0.14, 0.052, 0.275, 0.134, 0.154, 0.064, 0.066, 0.055, 0.008, 0.015, 0.025, 0.012];

/// The number of grid points of a nuclide in XSBench.
const POINTS: usize = 11_303;
const XS_LOOKUPS: usize = 1_000_000;
/// The number of lookups whose contributions to the gradient are stored one by one.
const STORED_LOOKUPS: usize = 100_000;

/// The mean numbers of windows and poles of a nuclide in RSBench.
const WINDOWS: usize = 100;
const POLES: usize = 1_000;
const RS_LOOKUPS: usize = 100_000;

pub fn cases() -> Vec<Case> {
    let case = |work: &str, reference, asked, setup: fn() -> Result<Pair>| {
        Case::new("neutrons", work, reference, [asked], setup)
    };
    vec![
        case("XSBench small, 1M lookups", "Rust, rayon", Asked::Speed(0.8), || {
            let (problem, ours) = (Xs::new(XS_LOOKUPS), native(&Xs::program(xsbench::by_loops))?);
            let arguments = problem.arguments()?;
            check_close(ours.run(&arguments)?.as_slice(), &[problem.by_hand()], 1e-10)?;
            Ok(Pair {
                ours: Measure::work(move || Ok(ours.run(&arguments)?)),
                reference: Measure::work(move || Ok(problem.by_hand())),
            })
        }),
        case("XSBench small, 1M lookups, gradient", "our primal", Asked::Cost(2.6), || {
            gradient(&Xs::program(xsbench::by_loops), Xs::new(XS_LOOKUPS).arguments()?, |(grids, materials, _)| {
                (grids.0, materials.2)
            })
        }),
        case("XSBench small, 100,000 lookups, gradient by rows", "our primal by loops", Asked::Cost(2.6), || {
            let arguments = Xs::new(STORED_LOOKUPS).arguments()?;
            let program = Xs::program(xsbench::by_rows);
            let primal = native(&Xs::program(xsbench::by_loops))?;
            let ours = native(&value_and_grad(program.by(|(grids, materials, _)| (grids.0, materials.2))))?;
            check_close(ours.run(&arguments)?.0.as_slice(), primal.run(&arguments)?.as_slice(), 1e-10)?;
            let arguments2 = arguments.clone();
            Ok(Pair {
                ours: Measure::work(move || Ok(ours.run(&arguments)?)),
                reference: Measure::work(move || Ok(primal.run(&arguments2)?)),
            })
        }),
        case("RSBench small, 100,000 lookups", "Rust, rayon", Asked::Speed(0.8), || {
            let (problem, ours) = (Rs::new(), native(&Rs::program())?);
            let arguments = problem.arguments()?;
            check_close(ours.run(&arguments)?.as_slice(), &[problem.by_hand()], 1e-10)?;
            Ok(Pair {
                ours: Measure::work(move || Ok(ours.run(&arguments)?)),
                reference: Measure::work(move || Ok(problem.by_hand())),
            })
        }),
        case("RSBench small, 100,000 lookups, gradient", "our primal", Asked::Cost(3.6), || {
            gradient(&Rs::program(), Rs::new().arguments()?, |(nuclides, materials, _)| {
                (nuclides.1, nuclides.3, nuclides.5, materials.2)
            })
        }),
    ]
}

/// Value and gradient by chosen arguments beside the value. The derivative along a direction must be that of forward mode.
fn gradient<A: Arrays, C: IntoAcc>(
    program: &Afun<A, Scalar<f64>>,
    arguments: A,
    chosen: impl Fn(A::Acc) -> C,
) -> Result<Pair> {
    let (primal, ours) = (native(program)?, native(&value_and_grad(program.by(&chosen)))?);
    let (value, found) = ours.run(&arguments)?;
    check_close(value.as_slice(), primal.run(&arguments)?.as_slice(), 1e-10)?;
    // The direction is the gradient itself.
    let (_, along) = native(&jvp(program.by(chosen)))?.run((&arguments, &found))?;
    check_close(&[along.item()], &[squares(&found.to_tuple())], 1e-8)?;
    let arguments2 = arguments.clone();
    Ok(Pair {
        ours: Measure::work(move || Ok(ours.run(&arguments)?)),
        reference: Measure::work(move || Ok(primal.run(&arguments2)?)),
    })
}

/// Materials of random nuclides with random concentrations, and random lookups. Fuel has the first nuclides.
struct Common {
    nuclides: Vec<[usize; MOST]>,
    concentrations: Vec<[f64; MOST]>,
    lookups: Vec<(f64, usize)>,
}

impl Common {
    fn new(random: &mut Lcg, lookups: usize) -> Common {
        let member = |random: &mut Lcg, material: usize, k: usize| match material {
            0 => k,
            _ => random.uniform(0.0, NUCLIDES as f64) as usize,
        };
        let members = |random: &mut Lcg, material| std::array::from_fn(|k| member(random, material, k));
        let mut lookup = |_| {
            let energy = random.uniform(0.0, 1.0);
            let mut left = random.uniform(0.0, 1.0);
            let above = |share: &f64| {
                left -= share;
                left < 0.0
            };
            (energy, SHARES.iter().position(above).unwrap_or(0))
        };
        let lookups = (0..lookups).map(&mut lookup).collect();
        Common {
            nuclides: (0..COUNTS.len()).map(|material| members(random, material)).collect(),
            concentrations: COUNTS.iter().map(|_| std::array::from_fn(|_| random.uniform(0.0, 1.0))).collect(),
            lookups,
        }
    }

    fn arguments(&self) -> Result<(Materials, Lookups)> {
        let counts = Array::vector(COUNTS.iter().map(|n| *n as i64).collect());
        let nuclides = self.nuclides.iter().flatten().map(|n| *n as i64).collect();
        let concentrations = self.concentrations.as_flattened().to_vec();
        let (n, m) = (COUNTS.len(), MOST);
        let materials = (counts, Array::matrix(n, m, nuclides)?, Array::matrix(n, m, concentrations)?);
        let energies = Array::vector(self.lookups.iter().map(|l| l.0).collect());
        Ok((materials, (energies, Array::vector(self.lookups.iter().map(|l| l.1 as i64).collect()))))
    }

    /// The sum over all lookups of the sum over the nuclides of what a function returns, times the concentration.
    fn sum(&self, sections: impl Fn(f64, usize) -> f64 + Sync) -> f64 {
        let lookup = |(energy, material): &(f64, usize)| -> f64 {
            let (nuclides, concentrations) = (&self.nuclides[*material], &self.concentrations[*material]);
            (0..COUNTS[*material]).map(|k| concentrations[k] * sections(*energy, nuclides[k])).sum()
        };
        self.lookups.par_iter().map(lookup).sum()
    }
}

type Materials = (Vector<i64>, Matrix<i64>, Matrix<f64>);
type Lookups = (Vector<f64>, Vector<i64>);
type Grids = (Array<Dim3, f64>, Vector<f64>, Matrix<i32>);

struct Xs {
    common: Common,
    /// Energy and cross sections.
    points: Vec<[f64; 6]>,
    energies: Vec<f64>,
    index: Vec<i32>,
}

impl Xs {
    fn new(lookups: usize) -> Xs {
        let mut random = Lcg::new(1);
        let mut points: Vec<[f64; 6]> =
            (0..NUCLIDES * POINTS).map(|_| std::array::from_fn(|_| random.uniform(0.0, 1.0))).collect();
        points.chunks_mut(POINTS).for_each(|grid| grid.sort_by(|a, b| a[0].total_cmp(&b[0])));
        let mut energies: Vec<f64> = points.iter().map(|p| p[0]).collect();
        energies.sort_by(f64::total_cmp);
        let mut index = vec![];
        let mut lows = [0; NUCLIDES];
        for energy in &energies {
            for (low, grid) in lows.iter_mut().zip(points.chunks(POINTS)) {
                while *low + 2 < POINTS && grid[*low + 1][0] <= *energy {
                    *low += 1;
                }
                index.push(*low as i32);
            }
        }
        Xs { common: Common::new(&mut random, lookups), points, energies, index }
    }

    fn program(
        sums: fn(xsbench::Grids, xsbench::Materials, xsbench::Lookups) -> Acc<Scalar<f64>>,
    ) -> Afun<(Grids, Materials, Lookups), Scalar<f64>> {
        afun(|grids: Acc<Grids>, materials: Acc<Materials>, lookups: Acc<Lookups>| {
            sums(grids.unlift(), materials.unlift(), lookups.unlift())
        })
    }

    fn arguments(&self) -> Result<(Grids, Materials, Lookups)> {
        let points = Array::from_vec([NUCLIDES, POINTS, 6], self.points.as_flattened().to_vec())?;
        let index = Array::matrix(self.energies.len(), NUCLIDES, self.index.clone())?;
        let (materials, lookups) = self.common.arguments()?;
        Ok(((points, Array::vector(self.energies.clone()), index), materials, lookups))
    }

    fn by_hand(&self) -> f64 {
        let lookup = |(energy, material): &(f64, usize)| -> f64 {
            let (mut place, mut above) = (0, self.energies.len() - 1);
            while above - place > 1 {
                let middle = place + (above - place) / 2;
                if self.energies[middle] > *energy {
                    above = middle;
                } else {
                    place = middle;
                }
            }
            let mut sums = [0.0; 5];
            for k in 0..COUNTS[*material] {
                let nuclide = self.common.nuclides[*material][k];
                let low = self.index[place * NUCLIDES + nuclide] as usize;
                let [below, above] = [0, 1].map(|n| &self.points[nuclide * POINTS + low + n]);
                let fraction = (above[0] - energy) / (above[0] - below[0]);
                let concentration = self.common.concentrations[*material][k];
                for (j, sum) in sums.iter_mut().enumerate() {
                    *sum += concentration * (above[j + 1] - fraction * (above[j + 1] - below[j + 1]));
                }
            }
            sums.iter().sum()
        };
        self.common.lookups.par_iter().map(lookup).sum()
    }
}

type Nuclides = (Vector<i64>, Array<Dim3, f64>, Array<Dim3, i64>, Array<Dim3, f64>, Matrix<i64>, Matrix<f64>);

/// A pole, its residues of the total, absorption and fission reactions, and its angular momentum.
struct Pole {
    numbers: [Complex<f64>; 4],
    momentum: usize,
}

/// The background of the three reactions, and the range of poles.
struct Window {
    background: [f64; 3],
    poles: std::ops::Range<usize>,
}

struct Rs {
    common: Common,
    windows: Vec<Vec<Window>>,
    poles: Vec<Vec<Pole>>,
    radii: Vec<[f64; 4]>,
}

impl Rs {
    fn new() -> Rs {
        let mut random = Lcg::new(1);
        let mut around = |mean: usize| (mean as f64 * random.uniform(0.5, 1.5)) as usize;
        let sizes: Vec<(usize, usize)> = (0..NUCLIDES).map(|_| (around(WINDOWS), around(POLES))).collect();
        let mut random = Lcg::new(2);
        let mut uniform = || random.uniform(0.0, 1.0);
        let mut pole = |_| Pole {
            numbers: std::array::from_fn(|_| Complex { re: uniform(), im: -uniform() }),
            momentum: (uniform() * 4.0) as usize,
        };
        let poles = sizes.iter().map(|(_, poles)| (0..*poles).map(&mut pole).collect()).collect();
        // Windows share the poles evenly.
        let mut windows_of = |(windows, poles): &(usize, usize)| {
            let window = |w| Window {
                background: std::array::from_fn(|_| uniform()),
                poles: w * poles / windows..(w + 1) * poles / windows,
            };
            (0..*windows).map(window).collect()
        };
        let windows = sizes.iter().map(&mut windows_of).collect();
        let radii = sizes.iter().map(|_| std::array::from_fn(|_| uniform())).collect();
        Rs { common: Common::new(&mut random, RS_LOOKUPS), windows, poles, radii }
    }

    fn program() -> Afun<(Nuclides, Materials, Lookups), Scalar<f64>> {
        afun(|nuclides: Acc<Nuclides>, materials: Acc<Materials>, lookups: Acc<Lookups>| {
            rsbench::by_loops(nuclides.unlift(), materials.unlift(), lookups.unlift())
        })
    }

    fn arguments(&self) -> Result<(Nuclides, Materials, Lookups)> {
        let most = |sizes: Vec<usize>| sizes.into_iter().max().unwrap_or_default();
        let most_windows = most(self.windows.iter().map(Vec::len).collect());
        let most_poles = most(self.poles.iter().map(Vec::len).collect());
        let numbers = self.windows.iter().map(|w| w.len() as i64).collect();
        let mut backgrounds = vec![0.0; NUCLIDES * most_windows * 3];
        let mut ranges = vec![0; NUCLIDES * most_windows * 2];
        for (n, windows) in self.windows.iter().enumerate() {
            for (w, window) in windows.iter().enumerate() {
                let place = n * most_windows + w;
                backgrounds[place * 3..][..3].copy_from_slice(&window.background);
                ranges[place * 2..][..2].copy_from_slice(&[window.poles.start as i64, window.poles.end as i64]);
            }
        }
        let mut poles = vec![0.0; NUCLIDES * most_poles * 8];
        let mut momenta = vec![0; NUCLIDES * most_poles];
        for (n, of_nuclide) in self.poles.iter().enumerate() {
            for (p, pole) in of_nuclide.iter().enumerate() {
                let place = n * most_poles + p;
                let numbers = pole.numbers.iter().flat_map(|z| [z.re, z.im]);
                poles[place * 8..][..8].iter_mut().zip(numbers).for_each(|(to, x)| *to = x);
                momenta[place] = pole.momentum as i64;
            }
        }
        let nuclides = (
            Array::vector(numbers),
            Array::from_vec([NUCLIDES, most_windows, 3], backgrounds)?,
            Array::from_vec([NUCLIDES, most_windows, 2], ranges)?,
            Array::from_vec([NUCLIDES, most_poles, 8], poles)?,
            Array::matrix(NUCLIDES, most_poles, momenta)?,
            Array::matrix(NUCLIDES, 4, self.radii.as_flattened().to_vec())?,
        );
        let (materials, lookups) = self.common.arguments()?;
        Ok((nuclides, materials, lookups))
    }

    fn by_hand(&self) -> f64 {
        self.common.sum(|energy, nuclide| {
            let windows = &self.windows[nuclide];
            let window = &windows[((energy * windows.len() as f64) as usize).min(windows.len() - 1)];
            let root = energy.sqrt();
            let phases = [0, 1, 2, 3].map(|l| rsbench::phase(l, self.radii[nuclide][l as usize] * root));
            let [mut total, mut absorption, mut fission] = window.background.map(|x| energy * x);
            for pole in &self.poles[nuclide][window.poles.clone()] {
                let [z, t, a, f] = pole.numbers;
                let w = faddeeva(Complex { re: root - z.re, im: -z.im }.scaled(rsbench::DOPPLER));
                total += t.times(w).times(phases[pole.momentum]).re;
                absorption += a.times(w).re;
                fission += f.times(w).re;
            }
            total + (total - absorption) + absorption + fission
        })
    }
}

fn faddeeva(z: Complex<f64>) -> Complex<f64> {
    if z.re * z.re + z.im * z.im < 36.0 { near(z) } else { far(z) }
}

/// The sum of the squares of all numbers.
fn squares(arrays: &accel::repr::ArrayTuple) -> f64 {
    use accel::repr::{ArrayTuple, Column};
    match arrays {
        ArrayTuple::Unit => 0.0,
        ArrayTuple::Pair(p) => squares(&p.0) + squares(&p.1),
        ArrayTuple::Array(array) => {
            let column = |c: &Column| if let Column::F64(c) = c { c.iter().map(|x| x * x).sum() } else { 0.0 };
            array.columns.iter().map(column).sum()
        }
    }
}
