//! Validation of passes by evaluation: a pass must not change what a program computes.
//!
//! NOTE [Validation by evaluation]: the verifier accepts a wrong program if it is well formed. So with `ACCEL_VALIDATE=1`, a
//! strict pipeline evaluates the program before all passes for a few small arguments, and the program after each pass, and
//! after each step inside of `fuse`, for the same ones. Results must be equal up to rounding. So each program that any test
//! compiles is a test of each pass. The arguments are guessed: extents that often fit together, and numbers that are different
//! in rows, columns and arrays. Arguments for which the program fails are left out, because a pass may drop a failure of what
//! no result needs; so are those that need many steps, and those that do not satisfy the assumptions of the passes.
//!
//! Passes may change the order of additions. How much rounding can do then depends on the program: where terms cancel, a small
//! relative error is a large one afterwards. If a result differs, the first program is evaluated again for arguments that
//! differ in their last places. A difference is an error if it is far larger than what those arguments change. A number that
//! is not finite says little: a sum may overflow on the way in one order, and not in another.

use crate::kernel::{ArrayInfo, Program, Verified};
use crate::optimize::InputExtents;
use accel_core::error::{Error, Result};
use accel_core::repr::{Column, RawArray, Scalar, ScalarType};
use std::sync::OnceLock;

/// The largest number of arguments of a program. Chosen: mostly equal extents once, and different ones twice; the time of
/// all tests grows with it.
const MOST_CASES: usize = 3;
/// The most steps of a run of the first program: see [`Verified::evaluate_within`].
const MOST_STEPS: u64 = 30_000;
/// How many times more steps the program may need after a pass: passes compute elements again in each reader, and search for the
/// first failure. What needs more is not compared, so that a loop that does not end does not stop the tests. Chosen.
const MORE_STEPS: u64 = 30;
/// The part by which numbers may differ, for numbers of 64 and of 32 bits.
const ROUNDING: [f64; 2] = [1e-10, 1e-4];
/// The part by which arguments are changed to see what rounding can do.
const CHANGE: [f64; 2] = [1e-14, 1e-6];
/// How much more a pass may change than these arguments do.
const AMPLIFIED: f64 = 1e3;

/// The arguments of a program, and its results for them.
#[derive(Debug)]
pub struct Validation {
    first: Verified<Program>,
    cases: Vec<Case>,
    /// The precision of the program's numbers: 1 if some of them have 32 bits.
    precision: usize,
}

#[derive(Debug)]
struct Case {
    arguments: Vec<RawArray>,
    expected: Vec<RawArray>,
    /// The results for arguments that differ in their last places; `None` if one of these runs fails.
    changed: OnceLock<Option<Vec<Vec<RawArray>>>>,
}

impl Validation {
    /// Finds arguments for a program, with those extents that are known.
    pub fn new(first: &Verified<Program>, known: &InputExtents) -> Validation {
        let mut cases: Vec<Case> = vec![];
        for guess in GUESSES {
            let arguments = guess.arguments(first, known);
            if cases.len() == MOST_CASES || cases.iter().any(|c| c.arguments == arguments) {
                continue;
            }
            if let Ok(Some(expected)) = first.evaluate_within(&arguments.iter().cloned().collect(), MOST_STEPS) {
                cases.push(Case { arguments, expected, changed: OnceLock::new() });
            }
        }
        Validation { first: first.clone(), cases, precision: usize::from(first.to_string().contains("f32")) }
    }

    /// Compares the program after a pass with the first one, for those arguments whose extents `fit` its assumptions.
    ///
    /// # Errors
    /// `Error::Internal` with the pass, the difference, and a file with the program before the pass and the arguments.
    pub fn check(
        &self,
        pass: &str,
        before: &Program,
        after: &Verified<Program>,
        fit: impl Fn(&[RawArray]) -> bool,
    ) -> Result<()> {
        for case in self.cases.iter().filter(|c| fit(&c.arguments)) {
            if let Some(what) = self.difference(case, after) {
                let file = report(before, after, case).unwrap_or_else(|e| format!("(not written: {e})"));
                let extents: Vec<_> = case.arguments.iter().map(|a| format!("{:?}", a.extents)).collect();
                return Err(Error::Internal(format!(
                    "`{pass}` changes what the program computes, with arguments of extents {}: {what}; the program and the arguments are in {file}",
                    extents.join(", ")
                )));
            }
        }
        Ok(())
    }

    /// What is different in the results of a program.
    fn difference(&self, case: &Case, after: &Verified<Program>) -> Option<String> {
        match after.evaluate_within(&case.arguments.iter().cloned().collect(), MOST_STEPS * MORE_STEPS) {
            Ok(None) => None,
            Err(e) => self.changed(case).map(|_| format!("it fails: {e}")),
            Ok(Some(found)) => {
                let extents = |all: &[RawArray]| all.iter().map(|a| a.extents.clone()).collect::<Vec<_>>();
                if extents(&case.expected) != extents(&found) {
                    return Some(format!("extents {:?} instead of {:?}", extents(&found), extents(&case.expected)));
                }
                places(&case.expected).find_map(|place| {
                    let [expected, found] = [&case.expected, &found].map(|all| at(all, place));
                    (!close(expected, found, ROUNDING[self.precision]) && !self.is_rounding(case, place, found)).then(
                        || {
                            let (result, column, k) = place;
                            format!(
                                "element {k} of column {column} of result {result} is {found:?} instead of {expected:?}"
                            )
                        },
                    )
                })
            }
        }
    }

    /// The results for arguments that differ in their last places.
    fn changed<'a>(&self, case: &'a Case) -> Option<&'a [Vec<RawArray>]> {
        let run = |seed| {
            let arguments: Vec<_> = case.arguments.iter().map(|a| changed(a, seed, CHANGE[self.precision])).collect();
            self.first.evaluate_within(&arguments.iter().cloned().collect(), MOST_STEPS).ok().flatten()
        };
        case.changed.get_or_init(|| (1..=4).map(run).collect()).as_deref()
    }

    /// Whether rounding explains a difference.
    fn is_rounding(&self, case: &Case, place: Place, found: Scalar) -> bool {
        let expected = at(&case.expected, place);
        let Some(changed) = self.changed(case) else { return true };
        let near: Vec<Scalar> = changed.iter().map(|all| at(all, place)).collect();
        let (Some(e), Some(f)) = (number(expected), number(found)) else { return near.iter().any(|x| *x != expected) };
        let moves = near.iter().filter_map(|x| number(*x)).map(|x| (x - e).abs()).fold(0.0, f64::max);
        !e.is_finite() || !moves.is_finite() || (e - f).abs() <= AMPLIFIED * moves
    }
}

/// A result, one of its columns, and one of its elements.
type Place = (usize, usize, usize);

fn places(all: &[RawArray]) -> impl Iterator<Item = Place> + '_ {
    let columns = all.iter().enumerate().flat_map(|(k, a)| a.columns.iter().enumerate().map(move |(c, x)| (k, c, x)));
    columns.flat_map(|(k, c, x)| (0..x.len()).map(move |i| (k, c, i)))
}

/// The element at a place that all results have.
fn at(all: &[RawArray], (result, column, k): Place) -> Scalar {
    all.get(result).and_then(|a| a.columns.get(column)?.get(k)).unwrap_or(Scalar::Bool(false))
}

/// A floating-point number.
fn number(x: Scalar) -> Option<f64> {
    match x {
        Scalar::F64(x) => Some(x),
        Scalar::F32(x) => Some(x.into()),
        _ => None,
    }
}

/// Whether numbers are equal up to a rounding that needs no explanation.
fn close(expected: Scalar, found: Scalar, rounding: f64) -> bool {
    let (Some(e), Some(f)) = (number(expected), number(found)) else { return expected == found };
    e == f || (e.is_nan() && f.is_nan()) || (e - f).abs() <= rounding * e.abs()
}

/// How extents and numbers of arguments are chosen.
struct Guess {
    /// The extents of the last dimension, the one before, and so on; or of the first one, the second one, and so on.
    extents: [usize; 3],
    from_the_end: bool,
    /// Whether floating-point numbers are positive.
    positive: bool,
}

const GUESSES: [Guess; 9] = [
    Guess { extents: [3, 3, 3], from_the_end: true, positive: false },
    Guess { extents: [3, 4, 2], from_the_end: true, positive: true },
    Guess { extents: [4, 3, 2], from_the_end: false, positive: true },
    Guess { extents: [2, 2, 2], from_the_end: true, positive: false },
    Guess { extents: [5, 5, 5], from_the_end: true, positive: true },
    Guess { extents: [3, 3, 3], from_the_end: true, positive: true },
    Guess { extents: [6, 2, 3], from_the_end: true, positive: false },
    Guess { extents: [1, 1, 1], from_the_end: true, positive: true },
    Guess { extents: [0, 0, 0], from_the_end: true, positive: true },
];

impl Guess {
    fn arguments(&self, program: &Program, known: &InputExtents) -> Vec<RawArray> {
        let known = |k: usize| known.get(k).map(|e| &**e).unwrap_or_default();
        let array = |(k, a)| self.argument(k, &program.arrays[a], known(k));
        program.inputs.iter().copied().enumerate().map(array).collect()
    }

    fn argument(&self, k: usize, info: &ArrayInfo, known: &[Option<usize>]) -> RawArray {
        let place = |d: usize| if self.from_the_end { info.rank - 1 - d } else { d };
        let extent = |d: usize| known.get(d).copied().flatten().unwrap_or(self.extents[place(d).min(2)]);
        let extents: Vec<usize> = (0..info.rank).map(extent).collect();
        let n: usize = extents.iter().product();
        let columns = info.columns.iter().enumerate().map(|(c, t)| {
            let mut column = Column::with_capacity(*t, n);
            (0..n).for_each(|i| _ = column.push(self.element(*t, [k, c, i], info.rank == 0)));
            column
        });
        RawArray { columns: columns.collect(), extents: extents.into() }
    }

    /// Floating-point numbers are sums of few powers of two, so that sums and products of few of them are exact. Integers are
    /// often indices; those that are not elements are often numbers of steps.
    fn element(&self, t: ScalarType, place: [usize; 3], is_single: bool) -> Scalar {
        let mixed =
            place.iter().fold(self.extents[0] as u64, |h, x| (h ^ *x as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mixed = mixed >> 40;
        match t {
            ScalarType::F32 | ScalarType::F64 if self.positive => t.from_f64(0.25 + (mixed % 29) as f64 / 16.0),
            ScalarType::F32 | ScalarType::F64 => t.from_f64((mixed % 61) as f64 / 16.0 - 1.875),
            ScalarType::Bool => Scalar::Bool(mixed % 3 != 0),
            _ if is_single => t.from_f64(2.0),
            _ => t.from_f64((mixed % self.extents[0].max(1) as u64) as f64),
        }
    }
}

/// An array whose floating-point numbers differ in their last places.
fn changed(a: &RawArray, seed: u64, by: f64) -> RawArray {
    let column = |c: &Column| {
        let mut out = Column::with_capacity(c.ty(), c.len());
        for i in 0..c.len() {
            let x = c.get(i).unwrap_or(Scalar::Bool(false));
            let sign = if ((i as u64 + 1) * (2 * seed + 1) / 2).is_multiple_of(2) { 1.0 } else { -1.0 };
            let y = number(x).map(|f| c.ty().from_f64(f * (1.0 + sign * seed as f64 * by)));
            out.push(y.unwrap_or(x));
        }
        out
    };
    RawArray { extents: a.extents.clone(), columns: a.columns.iter().map(column).collect() }
}

/// Writes a file for `tests/kernels`, with the program before a pass and the arguments, and the program after it as a comment.
fn report(before: &Program, after: &Program, case: &Case) -> std::io::Result<String> {
    let given = Program { literals: case.arguments.clone().into_iter().collect(), ..Program::default() }.to_string();
    let arguments: Vec<&str> =
        given.lines().filter_map(|l| Some(l.strip_prefix("literal ")?.split_once(" = ")?.1)).collect();
    let after = after.to_string().replace('\n', "\n// ");
    let text = format!("// After the pass:\n// {after}\n//@ optimize\n//@ run {}\n{before}", arguments.join(", "));
    crate::report::write("accel-validation-", ".kernel", &text).map(|path| path.display().to_string())
}
