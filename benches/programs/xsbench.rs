//! XSBench: macroscopic cross sections of neutrons by linear interpolation between the points of a unionised energy grid (Tramm,
//! Siegel, Islam, Schulz, 2014).

use accel::prelude::*;

/// Arrays of the nuclides: their grid points, `[nuclides, points, 6]`; the energies of all points together, sorted; for each of
/// these energies, each nuclide's last grid point that is not above it, `[energies, nuclides]`.
pub type Grids = (Acc<Array<Dim3, f64>>, Acc<Vector<f64>>, Acc<Matrix<i32>>);
/// For each material the number of its nuclides, the nuclides, and their concentrations.
pub type Materials = (Acc<Vector<i64>>, Acc<Matrix<i64>>, Acc<Matrix<f64>>);
/// The energies and materials of lookups.
pub type Lookups = (Acc<Vector<f64>>, Acc<Vector<i64>>);

type Five = (Exp<f64>, Exp<f64>, Exp<f64>, Exp<f64>, Exp<f64>);

/// The sum of all cross sections of all lookups, by loops over the nuclides of each lookup's material.
pub fn by_loops(grids: Grids, (counts, nuclides, concentrations): Materials, lookups: Lookups) -> Acc<Scalar<f64>> {
    let (_, energies, _) = grids;
    let lookup = |(energy, material): (Exp<f64>, Exp<i64>)| {
        let place = search(energies, energy);
        let count = counts.at(material);
        let step = |(k, sums): (Exp<i64>, Five)| {
            let found = interpolated(grids, place, energy, nuclides.at((material, k)));
            (k + 1, plus_scaled(sums, concentrations.at((material, k)), found))
        };
        let (_, sums) = while_(|(k, _): (Exp<i64>, Five)| k.lt(count), step, (0i64, (0.0, 0.0, 0.0, 0.0, 0.0)));
        total(sums)
    };
    sum(map(lookup, zip(lookups.0, lookups.1)))
}

/// The same by an array over all lookups and the largest number of nuclides, in which the places behind a material's nuclides are 0.
pub fn by_rows(grids: Grids, (counts, nuclides, concentrations): Materials, lookups: Lookups) -> Acc<Scalar<f64>> {
    let (_, energies, _) = grids;
    let (_, most) = nuclides.shape();
    let places = map(|energy| search(energies, energy), lookups.0);
    let of_nuclide = |(i, k): (Exp<i64>, Exp<i64>)| {
        let (energy, material) = (lookups.0.at(i), lookups.1.at(i));
        let found = interpolated(grids, places.at(i), energy, nuclides.at((material, k)));
        cond(k.lt(counts.at(material)), concentrations.at((material, k)) * total(found), lit::<f64>(0.0))
    };
    sum(sum(generate((lookups.0.shape(), most), of_nuclide)))
}

/// The last of the sorted energies that is not above `energy`; not the very last one.
fn search(energies: Acc<Vector<f64>>, energy: Exp<f64>) -> Exp<i64> {
    type Bounds = (Exp<i64>, Exp<i64>);
    let halve = |(low, high): Bounds| {
        let middle = (low + high) / 2;
        let above = energies.at(middle).gt(energy);
        (cond(above, low, middle), cond(above, middle, high))
    };
    let (low, _) = while_(|(low, high): Bounds| (high - low).gt(1), halve, (0i64, energies.shape() - 1));
    low
}

/// A nuclide's cross sections.
fn interpolated((points, _, index): Grids, place: Exp<i64>, energy: Exp<f64>, nuclide: Exp<i64>) -> Five {
    let low = index.at((place, nuclide)).cast::<i64>();
    let field = |point: Exp<i64>, k: i64| points.at((nuclide, point, k));
    let (below, above) = (field(low, 0), field(low + 1, 0));
    let fraction = (above - energy) / (above - below);
    let section = |k| {
        let above = field(low + 1, k);
        above - fraction * (above - field(low, k))
    };
    (section(1), section(2), section(3), section(4), section(5))
}

fn plus_scaled(sums: Five, x: Exp<f64>, found: Five) -> Five {
    (sums.0 + x * found.0, sums.1 + x * found.1, sums.2 + x * found.2, sums.3 + x * found.3, sums.4 + x * found.4)
}

fn total(sums: Five) -> Exp<f64> {
    sums.0 + sums.1 + sums.2 + sums.3 + sums.4
}
