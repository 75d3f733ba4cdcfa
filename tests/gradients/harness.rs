//! What is checked of a program and its derivatives, and how random inputs are tried and shrunk.

use crate::refined::Refined;
use accel::prelude::*;
use accel_core::backend::{Backend, Executable};
use accel_core::interp::Interpreter;
use accel_core::repr::{ArrayTuple, Column, RawArray};
use quickcheck::{Arbitrary, Gen, QuickCheck, TestResult, Testable};
use std::cell::Cell;
use std::fmt::Debug;
use std::rc::Rc;

/// A result, or what is wrong.
pub type Checked<T> = std::result::Result<T, String>;

/// Nothing, or what is wrong.
pub type Verdict = Checked<()>;

/// The handle of a vector, in programs.
pub type V = Acc<Vector<f64>>;

/// How many random inputs a property is tried on.
const SAMPLES: u64 = 40;

/// Checks the gradient of a program that has one nearly everywhere: finite differences must be usable in nearly all places.
#[track_caller]
pub fn smooth<I: Refined, M>(_: I, program: impl ArrayFn<M, Args = I::Arrays, Result = Scalar<f64>>) {
    let tally = always::<I>(Differentiated::new(program));
    assert!(tally.skipped.get() * 10 <= tally.checked.get(), "finite differences were rarely of use: {tally:?}");
}

/// Checks the gradient of a program with kinks or jumps that random inputs meet: there, both modes have to agree, and
/// finite differences say nothing.
pub fn kinked<I: Refined, M>(_: I, program: impl ArrayFn<M, Args = I::Arrays, Result = Scalar<f64>>) {
    always::<I>(Differentiated::new(program));
}

fn always<I: Refined>(program: Differentiated) -> Rc<Tally> {
    let tally = Rc::new(Tally::default());
    let counts = tally.clone();
    for_all(move |x: &I::Sample| program.check(&Arrays::to_tuple(&I::arrays(x)), &counts));
    tally
}

/// Tries a property on random inputs, and reports the simplest input found for which it does not hold.
pub fn for_all<S: Arbitrary + Debug>(property: impl Fn(&S) -> Verdict + 'static) {
    QuickCheck::new().tests(SAMPLES).quickcheck(Property { property, sample: std::marker::PhantomData });
}

struct Property<S, F> {
    property: F,
    sample: std::marker::PhantomData<S>,
}

impl<S: Arbitrary + Debug, F: Fn(&S) -> Verdict + 'static> Testable for Property<S, F> {
    fn result(&self, g: &mut Gen) -> TestResult {
        let mut sample = S::arbitrary(g);
        let Err(mut why) = (self.property)(&sample) else { return TestResult::passed() };
        while let Some((simpler, w)) = sample.shrink().find_map(|s| (self.property)(&s).err().map(|w| (s, w))) {
            (sample, why) = (simpler, w);
        }
        TestResult::error(format!("on {sample:?}: {why}"))
    }
}

/// In how many places finite differences could be compared.
#[derive(Default, Debug)]
pub struct Tally {
    checked: Cell<usize>,
    skipped: Cell<usize>,
}

/// A compiled program.
pub struct Ready(Box<dyn Executable>);

impl Ready {
    /// Compiles a program for the interpreter.
    #[track_caller]
    pub fn new<A: Arrays, R: Arrays>(program: &Afun<A, R>) -> Self {
        let program = program.program().unwrap_or_else(|e| panic!("{e}"));
        Ready(Interpreter.compile(program).unwrap_or_else(|e| panic!("{e}\n{program}")))
    }

    /// Runs it.
    pub fn run(&self, x: &ArrayTuple) -> Checked<ArrayTuple> {
        self.0.run(x).map_err(|e| e.to_string())
    }
}

/// A program with one number as its result, and its derivatives.
pub struct Differentiated {
    value: Ready,
    gradient: Ready,
    tangent: Ready,
}

impl Differentiated {
    /// Differentiates a program in both modes.
    #[track_caller]
    pub fn new<M, F: ArrayFn<M, Result = Scalar<f64>>>(f: F) -> Self {
        let program = afun(f);
        let (gradient, tangent) = (grad(&program), jvp(&program));
        Differentiated { value: Ready::new(&program), gradient: Ready::new(&gradient), tangent: Ready::new(&tangent) }
    }

    /// The gradient by reverse mode, and the value.
    pub fn gradient(&self, x: &ArrayTuple) -> Checked<(f64, Vec<f64>)> {
        Ok((one(&self.value.run(x)?)?, floats(&self.gradient.run(x)?)))
    }

    /// Compares the gradient by reverse mode with forward mode and with finite differences, element by element.
    pub fn check(&self, x: &ArrayTuple, tally: &Tally) -> Verdict {
        let (value, gradient) = self.gradient(x)?;
        let at = floats(x);
        if at.len() != gradient.len() {
            return Err(format!("{} inputs, but a gradient of {}", at.len(), gradient.len()));
        }
        let largest = gradient.iter().fold(1.0, |m: f64, g| m.max(g.abs()));
        for (k, &reverse) in gradient.iter().enumerate() {
            let direction: Vec<f64> = (0..at.len()).map(|i| if i == k { 1.0 } else { 0.0 }).collect();
            let dual = floats(&self.tangent.run(&ArrayTuple::pair(x.clone(), with_floats(x, &direction)))?);
            let [primal, forward] = dual[..] else { return Err(format!("value and tangent are {dual:?}")) };
            if !same(primal, value, 0.0) {
                return Err(format!("the value is {value}, with tangents {primal}"));
            }
            let rounding = 1e-9 * reverse.abs().max(forward.abs()) + 1e-12 * largest;
            // Where there is no value there is no derivative to compute.
            if !value.is_finite() && (reverse.is_nan() || forward.is_nan()) {
                tally.skipped.update(|n| n + 1);
                continue;
            }
            if !same(reverse, forward, rounding) {
                return Err(format!("derivative {k}: {reverse} in reverse, {forward} in forward mode"));
            }
            let moved = |h: f64| {
                let mut at = at.clone();
                at[k] += h;
                one(&self.value.run(&with_floats(x, &at))?)
            };
            match finite_difference(moved, forward)? {
                Difference::Smooth { slope, tolerance } if !same(slope, forward, tolerance) => {
                    return Err(format!("derivative {k}: {forward} by both modes, {slope} by finite differences"));
                }
                Difference::Smooth { .. } => tally.checked.update(|n| n + 1),
                Difference::NotSmooth => tally.skipped.update(|n| n + 1),
            }
        }
        Ok(())
    }
}

/// Equal up to `tolerance`; NaN is NaN, and infinities are equal to themselves.
pub fn same(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance
}

enum Difference {
    /// The slope, and how far from the derivative it may be.
    Smooth { slope: f64, tolerance: f64 },
    /// A kink, a jump or a pole nearby.
    NotSmooth,
}

/// Central differences of three widths, extrapolated to width 0, of a function of how far its argument is moved.
///
/// Where the function is smooth, the extrapolations from two widths agree, and the second differences shrink with the
/// width; where it has a kink, these stay.
fn finite_difference(f: impl Fn(f64) -> Checked<f64>, expected: f64) -> Checked<Difference> {
    const H: f64 = 1.0 / 1024.0;
    let middle = f(0.0)?;
    let (mut slopes, mut bends) = ([0.0; 3], [0.0; 3]);
    let mut largest = middle.abs();
    for (i, h) in [H, H / 2.0, H / 4.0].into_iter().enumerate() {
        let (up, down) = (f(h)?, f(-h)?);
        slopes[i] = (up - down) / (2.0 * h);
        bends[i] = (up - middle + (down - middle)) / h;
        largest = largest.max(up.abs()).max(down.abs());
    }
    let tolerance = 1e-6 * expected.abs().max(1.0) + 1e-10 * largest;
    let (wide, narrow) = ((4.0 * slopes[1] - slopes[0]) / 3.0, (4.0 * slopes[2] - slopes[1]) / 3.0);
    // Written so that NaN is not smooth.
    if (wide - narrow).abs() <= tolerance && (4.0 * bends[2] - bends[0]).abs() <= tolerance {
        return Ok(Difference::Smooth { slope: (16.0 * narrow - wide) / 15.0, tolerance });
    }
    Ok(Difference::NotSmooth)
}

fn one(y: &ArrayTuple) -> Checked<f64> {
    match floats(y)[..] {
        [y] => Ok(y),
        ref ys => Err(format!("one number expected as the result, found {ys:?}")),
    }
}

/// All floating-point numbers in some arrays, column by column.
pub fn floats(a: &ArrayTuple) -> Vec<f64> {
    match a {
        ArrayTuple::Unit => vec![],
        ArrayTuple::Pair(p) => [floats(&p.0), floats(&p.1)].concat(),
        ArrayTuple::Array(a) => a
            .columns
            .iter()
            .flat_map(|c| match c {
                Column::F64(c) => c.to_vec(),
                Column::F32(c) => c.iter().map(|x| f64::from(*x)).collect(),
                _ => vec![],
            })
            .collect(),
    }
}

/// The same arrays with other floating-point numbers.
pub fn with_floats(a: &ArrayTuple, new: &[f64]) -> ArrayTuple {
    replace(a, &mut new.iter().copied())
}

fn replace(a: &ArrayTuple, new: &mut impl Iterator<Item = f64>) -> ArrayTuple {
    match a {
        ArrayTuple::Unit => ArrayTuple::Unit,
        ArrayTuple::Pair(p) => {
            let first = replace(&p.0, new);
            ArrayTuple::pair(first, replace(&p.1, new))
        }
        ArrayTuple::Array(a) => {
            let mut column = |c: &Column| match c {
                Column::F64(c) => new.take(c.len()).collect::<Vec<_>>().into(),
                Column::F32(c) => new.take(c.len()).map(|x| x as f32).collect::<Vec<_>>().into(),
                other => other.clone(),
            };
            let columns = a.columns.iter().map(&mut column).collect();
            ArrayTuple::Array(RawArray { extents: a.extents.clone(), columns })
        }
    }
}

/// The checks themselves must be able to fail.
#[test]
fn wrong_derivatives_are_found() {
    let value = Ready::new(&afun(|a: V| sum(map(|x| x * x, a))));
    let other = afun(|a: V| sum(map(|x| x * x * 1.0001, a)));
    let x = Arrays::to_tuple(&Vector::vector(vec![1.0, -3.0]));
    let (gradient, tangent) = (Ready::new(&grad(&other)), Ready::new(&jvp(&other)));
    let right = Differentiated::new(|a: V| sum(map(|x| x * x, a)));
    assert_eq!(right.check(&x, &Tally::default()), Ok(()));
    let wrong = Differentiated { gradient, ..right };
    assert!(wrong.check(&x, &Tally::default()).is_err_and(|e| e.contains("in reverse")));
    // Value and tangent come from one program, so the forward mode of another one has another value.
    let wrong = Differentiated { tangent, ..wrong };
    assert!(wrong.check(&x, &Tally::default()).is_err_and(|e| e.contains("the value")));
    // A program with the same value and another derivative: only finite differences tell.
    let shift = |a: V| sum(map(|x| x * x * 1.0001 - x.floor() * x.floor() * 0.0001, a));
    let wrong = Differentiated { value, ..Differentiated::new(shift) };
    assert!(wrong.check(&x, &Tally::default()).is_err_and(|e| e.contains("by finite differences")));
}

#[test]
fn kinks_and_jumps_are_recognised() {
    let smooth = |f: fn(f64) -> f64| {
        let d = finite_difference(|h| Ok(f(h)), 1.0);
        matches!(d, Ok(Difference::Smooth { .. }))
    };
    assert!(smooth(|h| (1.0 + h).ln()));
    assert!(smooth(|h| 1e9 + h));
    assert!(!smooth(f64::abs));
    assert!(!smooth(|h| (h - 0.0003).max(0.0)));
    assert!(!smooth(|h| if h < 0.0 { 1.0 } else { 2.0 }));
    assert!(!smooth(|h| h.sqrt()));
}
