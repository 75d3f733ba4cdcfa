//! Compares the gradient of a program with differences of its values, for users.

use crate::choice::run;
use accel_ad::{OneNumber, Reverse, grad, reverse_mode, value_and_grad};
use accel_core::afun::AsAfun;
use accel_core::ast::{Program, Source};
use accel_core::backend::Executable;
use accel_core::error::{Error, Result};
use accel_core::interp::Interpreted;
use accel_core::nan::{Appearance, Finding, find_kink, find_nan};
use accel_core::pass::stages;
use accel_core::repr::{ArrayTuple, Column, RawArray};
use accel_core::types::{Arrays, Inputs};
use std::fmt;

/// How many numbers of the argument are changed one by one.
const NUMBERS: usize = 100;
/// In how many random directions all of them are changed.
const DIRECTIONS: usize = 4;

/// A gradient beside differences: the result of [`check_grad`].
#[derive(Clone, Debug)]
pub struct GradientCheck {
    /// How many numbers of the argument and directions were looked at. Differences of values that are not finite say nothing.
    pub looked_at: usize,
    /// Where gradient and differences are farthest apart, by the precision of the differences; `None` if no difference says anything.
    pub worst: Option<Deviation>,
    /// If they do not agree, the operation most to blame: the first one whose own result has an adjoint that does not agree with differences. `None` if that
    /// is true of no operation alone.
    pub blamed: Option<Source>,
    /// If they do not agree, where a derivative is a convention first, which may be the reason: [`find_kink`](crate::prelude::find_kink()).
    pub kink: Option<Appearance>,
    /// Where the program or its gradient makes numbers that are not finite, if derivatives or differences are not: then they say nothing.
    pub not_finite: Option<Finding>,
}

/// A derivative beside a difference.
#[derive(Clone, Debug)]
pub struct Deviation {
    /// The number that is changed: the array of the argument, from the left, and the index. `None` for a random direction.
    pub number: Option<(usize, Vec<usize>)>,
    /// The derivative according to the gradient.
    pub gradient: f64,
    /// The derivative according to differences.
    pub difference: f64,
    /// How precise the difference is.
    pub precision: f64,
}

impl GradientCheck {
    /// Whether the gradient agrees with all differences, as far as these are precise.
    pub fn agrees(&self) -> bool {
        self.worst.as_ref().is_none_or(|worst| worst.ratio() <= 1.0)
    }
}

impl Deviation {
    fn ratio(&self) -> f64 {
        if self.gradient.is_finite() { (self.gradient - self.difference).abs() / self.precision } else { f64::INFINITY }
    }
}

impl fmt::Display for GradientCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(worst) = &self.worst else {
            f.write_str(
                "no difference says anything: there is no floating-point number to differentiate by, or the values are not finite",
            )?;
            return self.not_finite.as_ref().map_or(Ok(()), |found| write!(f, ": {found}"));
        };
        match self.agrees() {
            true => write!(f, "the gradient agrees with {} differences; farthest apart: ", self.looked_at)?,
            false => f.write_str("the gradient does not agree with differences: ")?,
        }
        match &worst.number {
            Some((array, index)) => write!(f, "at index {index:?} of array {array} of the argument")?,
            None => f.write_str("in a random direction")?,
        }
        let Deviation { gradient, difference, precision, .. } = worst;
        write!(
            f,
            ", the derivative is {gradient:e} by the gradient, and {difference:e} ± {precision:.0e} by differences"
        )?;
        if let Some(at) = &self.blamed {
            write!(f, "; the first operation that does not agree is `{}` at {at}", at.name)?;
        }
        if let Some(kink) = &self.kink {
            write!(f, "; a derivative is a convention: {kink}")?;
        }
        match &self.not_finite {
            Some(found) => write!(f, "; derivatives that are not finite say nothing: {found}"),
            None => Ok(()),
        }
    }
}

/// Compares the gradient of a program at `x` with differences of its values.
///
/// Up to a hundred numbers of the argument are changed one by one, and all together in a few random directions, which are the same in each
/// run. The precision of a difference is estimated from steps of several sizes. Near a kink or a jump, differences are of no
/// use, and there the two need not agree; where values are not finite, because they overflow, differences do not count; a discrete function such as `floor`, and `detach`, are further reasons. If they do not agree, the
/// same is done with the result of each operation in turn, on the interpreter, to find the one to blame.
///
/// ```
/// use accel::prelude::*;
///
/// # fn main() -> Result<(), Error> {
/// let prog = afun(|x: Acc<Vector<f64>>| sum(map(|x| x.sin() * x, x)));
/// let check = check_grad(&prog, &Array::vector(vec![0.3, 1.5, -2.0]))?;
/// assert!(check.agrees(), "{check}");
///
/// // A derivative that was left out.
/// let wrong = afun(|x: Acc<Vector<f64>>| sum(map(|x| x.sin() * x.detach(), x)));
/// let check = check_grad(&wrong, &Array::vector(vec![0.3, 1.5, -2.0]))?;
/// assert!(!check.agrees());
/// assert!(check.worst.as_ref().unwrap().number.is_some());
/// assert_eq!(check.blamed.unwrap().name, "map");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Those of a run of the program or of its gradient.
#[track_caller]
pub fn check_grad<A: Arrays, R: OneNumber>(prog: impl AsAfun<A, R>, x: impl Inputs<A>) -> Result<GradientCheck> {
    let (prog, x) = (prog.as_afun(), x.to_tuple());
    let gradient = run(grad(prog), &A::from_tuple(x.clone())?)?.to_tuple().floats();
    let at = x.floats();
    let places = places(&x);
    if gradient.len() != at.len() || places.len() != at.len() {
        return Err(Error::Internal("a gradient of another size than the argument".into()));
    }
    let differences = Differences {
        value: &|moved: &[f64]| {
            let y = run(prog, &A::from_tuple(with_floats(&x, moved))?)?;
            Ok(y.to_tuple().floats().first().copied().unwrap_or(f64::NAN))
        },
        eps: if is_single(&x) { f64::from(f32::EPSILON) } else { f64::EPSILON },
        at: &at,
    };
    let chosen = chosen(&gradient);
    let directions = chosen.len() + if at.is_empty() { 0 } else { DIRECTIONS };
    let direction = |j: usize| -> Vec<f64> {
        match chosen.get(j) {
            Some(k) => (0..at.len()).map(|i| if i == *k { 1.0 } else { 0.0 }).collect(),
            None => {
                let mut seed = j as u64;
                at.iter().map(|_| random(&mut seed)).collect()
            }
        }
    };
    let mut all = vec![];
    for j in 0..directions {
        let number = chosen.get(j).map(|k| places[*k].clone());
        all.extend(differences.compare(&direction(j), &gradient, number)?.map(|d| (j, d)));
    }
    let looked_at = all.len();
    let are_finite = looked_at == directions && all.iter().all(|(_, d)| d.gradient.is_finite());
    let not_finite = match are_finite {
        true => None,
        false => find_nan(value_and_grad(prog), &A::from_tuple(x.clone())?)?,
    };
    // A number says more than a direction.
    let is_wrong = |d: &Deviation| d.number.is_some() && d.ratio() > 1.0;
    let order = |a: &Deviation, b: &Deviation| is_wrong(a).cmp(&is_wrong(b)).then(a.ratio().total_cmp(&b.ratio()));
    let worst = all.into_iter().max_by(|(_, a), (_, b)| order(a, b));
    let (blamed, kink) = match &worst {
        Some((j, worst)) if worst.ratio() > 1.0 => {
            (blame(prog.program()?, &x, &direction(*j)), find_kink(grad(prog), &A::from_tuple(x.clone())?)?)
        }
        _ => (None, None),
    };
    Ok(GradientCheck { looked_at, worst: worst.map(|(_, d)| d), blamed, kink, not_finite })
}

/// The first operation of a program whose result, in this direction, has another derivative by its adjoint than by differences.
fn blame(p: &Program, x: &ArrayTuple, direction: &[f64]) -> Option<Source> {
    stages(p).into_iter().find(|(_, stage)| is_wrong(stage, x, direction).unwrap_or(false)).map(|(at, _)| at)
}

/// Whether the derivative of a random sum of the numbers of a program's result is another one by its adjoint than by differences.
fn is_wrong(p: &Program, x: &ArrayTuple, direction: &[f64]) -> Result<bool> {
    let program = Interpreted::new(p);
    let y = program.run(x)?;
    let mut seed = 1;
    let weights = y.map_floats(&mut |_| random(&mut seed));
    let pullback = Interpreted::new(&reverse_mode(p, None, Reverse::Pullback { at: None })?);
    let gradient = pullback.run(&ArrayTuple::pair(x.clone(), weights.clone()))?.floats();
    let (at, weights) = (x.floats(), weights.floats());
    let differences = Differences {
        value: &|moved: &[f64]| {
            let y = program.run(&with_floats(x, moved))?.floats();
            Ok(y.iter().zip(&weights).map(|(y, w)| y * w).sum())
        },
        eps: if is_single(x) || is_single(&y) { f64::from(f32::EPSILON) } else { f64::EPSILON },
        at: &at,
    };
    Ok(differences.compare(direction, &gradient, None)?.is_some_and(|d| d.ratio() > 1.0))
}

/// The arrays with other numbers.
fn with_floats(x: &ArrayTuple, numbers: &[f64]) -> ArrayTuple {
    let mut numbers = numbers.iter().copied();
    x.map_floats(&mut |x| numbers.next().unwrap_or(x))
}

/// Differences of the values of a program around a place.
struct Differences<'a> {
    value: &'a dyn Fn(&[f64]) -> Result<f64>,
    /// The precision of the numbers.
    eps: f64,
    at: &'a [f64],
}

impl Differences<'_> {
    /// The derivative in a direction beside the difference; `None` if this is not finite.
    fn compare(
        &self,
        direction: &[f64],
        gradient: &[f64],
        number: Option<(usize, Vec<usize>)>,
    ) -> Result<Option<Deviation>> {
        let slope = direction.iter().zip(gradient).filter(|(d, _)| **d != 0.0).map(|(d, g)| d * g).sum::<f64>();
        let scale = direction.iter().zip(self.at).filter(|(d, _)| **d != 0.0).fold(1.0f64, |m, (_, x)| m.max(x.abs()));
        let moved = |h: f64| -> Result<f64> {
            let x: Vec<f64> = self.at.iter().zip(direction).map(|(x, d)| x + h * d).collect();
            (self.value)(&x)
        };
        // Of several steps, that on which the next smaller one agrees best.
        let mut slopes = vec![];
        for k in 0..5 {
            let h = self.eps.cbrt() * scale * 8.0 / 4f64.powi(k);
            let (up, down) = (moved(h)?, moved(-h)?);
            let rounding = self.eps * up.abs().max(down.abs()) / h;
            slopes.push(((up - down) / (2.0 * h), rounding));
        }
        let pairs = slopes.windows(2).map(|w| (w[1].0, (w[0].0 - w[1].0).abs() + w[1].1));
        let best = pairs.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((f64::NAN, f64::NAN));
        if !(best.0.is_finite() && best.1.is_finite()) {
            return Ok(None);
        }
        let precision = 10.0 * best.1 + self.eps.sqrt() * slope.abs().max(best.0.abs()).max(self.eps.sqrt());
        Ok(Some(Deviation { number, gradient: slope, difference: best.0, precision }))
    }
}

/// The numbers that are changed one by one: all, or those with the largest derivatives and some others.
fn chosen(gradient: &[f64]) -> Vec<usize> {
    let mut by_size: Vec<usize> = (0..gradient.len()).collect();
    if gradient.len() <= NUMBERS {
        return by_size;
    }
    by_size.sort_by(|a, b| gradient[*b].abs().total_cmp(&gradient[*a].abs()));
    let others = (0..NUMBERS * 3 / 4).map(|k| k * gradient.len() / (NUMBERS * 3 / 4));
    let mut all: Vec<usize> = by_size.iter().copied().take(NUMBERS / 4).chain(others).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A number between -1 and 1 (a linear congruential generator).
fn random(seed: &mut u64) -> f64 {
    *seed = (*seed).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// Whether some of the numbers have single precision.
fn is_single(a: &ArrayTuple) -> bool {
    a.leaves().iter().flat_map(|a| &a.columns).any(|c| matches!(c, Column::F32(_)))
}

/// The array and the index of each number.
fn places(a: &ArrayTuple) -> Vec<(usize, Vec<usize>)> {
    let of_array = |(k, a): (usize, &&RawArray)| {
        let columns = a.columns.iter().filter(|c| matches!(c, Column::F32(_) | Column::F64(_))).count();
        (0..columns).flat_map(|_| (0..a.size()).map(|i| (k, a.index(i)))).collect::<Vec<_>>()
    };
    a.leaves().iter().enumerate().flat_map(of_array).collect()
}
