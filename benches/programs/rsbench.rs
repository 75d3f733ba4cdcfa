//! RSBench: macroscopic cross sections of neutrons by the multipole method, with Doppler broadening (Tramm, Siegel, Forget, Josey,
//! 2014).

use super::complex::{Complex, Number, far, near};
use accel::prelude::*;

/// The nuclides: the numbers of their windows; for each window, the coefficients of the background of the total, absorption and
/// fission reactions, `[nuclides, windows, 3]`; the first pole, and behind the poles the last one, `[nuclides, windows, 2]`; the
/// poles with the residues of the three reactions as real and imaginary parts, `[nuclides, poles, 8]`; the angular momentum of each
/// pole, 0 to 3; for each angular momentum a radius, `[nuclides, 4]`.
pub type Nuclides = (
    Acc<Vector<i64>>,
    Acc<Array<Dim3, f64>>,
    Acc<Array<Dim3, i64>>,
    Acc<Array<Dim3, f64>>,
    Acc<Matrix<i64>>,
    Acc<Matrix<f64>>,
);
/// For each material the number of its nuclides, the nuclides, and their concentrations.
pub type Materials = (Acc<Vector<i64>>, Acc<Matrix<i64>>, Acc<Matrix<f64>>);
/// The energies and materials of lookups.
pub type Lookups = (Acc<Vector<f64>>, Acc<Vector<i64>>);

type Sections = (Exp<f64>, Exp<f64>, Exp<f64>);
type Counted = (Exp<i64>, Sections);

/// The inverse of the width that temperature gives to poles.
pub const DOPPLER: f64 = 0.5;

/// The sum of the total, elastic, absorption and fission cross sections of all lookups.
pub fn by_loops(
    nuclides: Nuclides,
    (counts, members, concentrations): Materials,
    lookups: Lookups,
) -> Acc<Scalar<f64>> {
    let lookup = |(energy, material): (Exp<f64>, Exp<i64>)| {
        let count = counts.at(material);
        let step = |(k, (t, a, f)): Counted| {
            let (total, absorption, fission) = sections(nuclides, energy, members.at((material, k)));
            let x = concentrations.at((material, k));
            (k + 1, (t + x * total, a + x * absorption, f + x * fission))
        };
        let (_, (t, a, f)) = while_(|(k, _): Counted| k.lt(count), step, (0i64, (0.0, 0.0, 0.0)));
        // The elastic cross section is the total without the absorption.
        t + (t - a) + a + f
    };
    sum(map(lookup, zip(lookups.0, lookups.1)))
}

/// The total, absorption and fission cross section of a nuclide.
fn sections(
    (numbers, windows, ranges, poles, momenta, radii): Nuclides,
    energy: Exp<f64>,
    nuclide: Exp<i64>,
) -> Sections {
    let number = numbers.at(nuclide);
    let window = (energy * number.cast::<f64>()).cast::<i64>().min(number - 1);
    let background = |k: i64| energy * windows.at((nuclide, window, k));
    let root = energy.sqrt();
    let phases = [0, 1, 2, 3].map(|l| phase(l, radii.at((nuclide, i64::from(l))) * root));
    let step = |(pole, (t, a, f)): Counted| {
        let part = |k: i64| poles.at((nuclide, pole, k));
        let number = |k: i64| Complex { re: part(2 * k), im: part(2 * k + 1) };
        let z = number(0);
        let w = faddeeva(Complex { re: root - z.re, im: -z.im }.scaled(lit::<f64>(DOPPLER)));
        let momentum = momenta.at((nuclide, pole));
        let [s, p, d, f_wave] = phases.map(|z| pair(z.re, z.im));
        let phase = of_pair(cond(momentum.lt(2), cond(momentum.eq(0), s, p), cond(momentum.eq(2), d, f_wave)));
        let total = number(1).times(w).times(phase).re;
        (pole + 1, (t + total, a + number(2).times(w).re, f + number(3).times(w).re))
    };
    let (first, last) = (ranges.at((nuclide, window, 0i64)), ranges.at((nuclide, window, 1i64)));
    let start = (first, (background(0), background(1), background(2)));
    let (_, found) = while_(|(pole, _): Counted| pole.lt(last), step, start);
    found
}

/// exp(-2 i phi), where phi is the phase shift of a hard sphere for an angular momentum.
pub fn phase<T: Number>(momentum: i32, x: T) -> Complex<T> {
    let phi = match momentum {
        0 => x,
        1 => x - x.atan(),
        2 => x - (T::of(3.0) * x / (T::of(3.0) - x * x)).atan(),
        _ => x - (x * (T::of(15.0) - x * x) / (T::of(15.0) - T::of(6.0) * x * x)).atan(),
    };
    let twice = phi + phi;
    Complex { re: twice.cos(), im: -twice.sin() }
}

fn faddeeva(z: Complex<Exp<f64>>) -> Complex<Exp<f64>> {
    let is_near = (z.re * z.re + z.im * z.im).lt(36.0);
    let (a, b) = (near(z), far(z));
    of_pair(cond(is_near, pair(a.re, a.im), pair(b.re, b.im)))
}

fn of_pair(parts: Exp<(f64, f64)>) -> Complex<Exp<f64>> {
    let (re, im) = parts.unlift();
    Complex { re, im }
}
