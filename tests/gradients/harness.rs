//! The checks of a program and its derivatives, on random inputs that are shrunk after a failure.

use crate::refined::Refined;
use crate::support::agree;
use crate::support::is_chosen;
use crate::support::passes::AllPasses;
use accel::ast::Program;
use accel::by::By;
use accel::native::{Native, Options};
use accel::prelude::*;
use accel_core::backend::{Backend, Executable};
use accel_core::interp::Interpreter;
use accel_core::repr::ArrayTuple;
use accel_fusion::KernelEvaluator;
use quickcheck::{Arbitrary, Gen, QuickCheck, TestResult, Testable};
use std::cell::Cell;
use std::fmt::Debug;
use std::rc::Rc;

/// A result, or the reason of a failure.
pub type Checked<T> = std::result::Result<T, String>;

/// Success, or the reason of a failure.
pub type Verdict = Checked<()>;

/// The handle of a vector.
pub type V = Acc<Vector<f64>>;

/// The number of random inputs of a property, if the environment variable `QUICKCHECK_TESTS` does not set it.
const SAMPLES: u64 = 40;
/// The size of inputs, as quickcheck takes it by default.
const SIZE: usize = 100;

/// Checks the gradient of a program that has one nearly everywhere: finite differences must be usable at nearly all
/// inputs.
#[track_caller]
pub fn smooth<I: Refined, M>(_: I, program: impl ArrayFn<M, Args = I::Arrays, Result = Scalar<f64>>) {
    let tally = always::<I>(Differentiated::new(program));
    assert!(tally.often_checked(), "finite differences were rarely of use: {tally:?}");
}

/// Checks the gradient of a program whose kinks or jumps are hit by random inputs. There, both modes have to agree, and
/// finite differences are not used; elsewhere they are.
#[track_caller]
pub fn kinked<I: Refined, M>(_: I, program: impl ArrayFn<M, Args = I::Arrays, Result = Scalar<f64>>) {
    let tally = always::<I>(Differentiated::new(program));
    assert!(tally.sometimes_checked(), "finite differences were of no use: {tally:?}");
}

/// Checks all derivatives of a program with any results.
#[track_caller]
pub fn jacobian<I: Refined, M>(_: I, program: impl ArrayFn<M, Args = I::Arrays>) {
    let tally = always::<I>(Differentiated::of(&afun(program)));
    assert!(tally.sometimes_checked(), "finite differences were of no use: {tally:?}");
}

/// Checks a program whose result has no number that depends on anything: it has no elements, or only integers.
#[track_caller]
pub fn without_numbers<I: Refined, M>(_: I, program: impl ArrayFn<M, Args = I::Arrays>) {
    let tally = always::<I>(Differentiated::of(&afun(program)));
    assert!(tally.checked.get() + tally.skipped.get() == 0, "there are numbers: {tally:?}");
}

/// Checks a program on random inputs.
pub fn always<I: Refined>(program: Differentiated) -> Rc<Tally> {
    let tally = Rc::new(Tally::default());
    let counts = tally.clone();
    for_all(move |x: &I::Sample| program.check(&Arrays::to_tuple(&I::arrays(x)), &counts));
    tally
}

/// Checks a property on random inputs, and reports the simplest counterexample found. The inputs are the same in each run, unless
/// `ACCEL_RANDOM_SEED` is another seed than 0.
pub fn for_all<S: Arbitrary + Debug>(property: impl Fn(&S) -> Verdict + 'static) {
    let seed = std::env::var("ACCEL_RANDOM_SEED").map_or(0, |seed| seed.parse().expect("ACCEL_RANDOM_SEED: a number"));
    let quickcheck = QuickCheck::new().rng(Gen::from_size_and_seed(SIZE, seed));
    let mut quickcheck =
        if std::env::var_os("QUICKCHECK_TESTS").is_some() { quickcheck } else { quickcheck.tests(SAMPLES) };
    quickcheck.quickcheck(Property { property, sample: std::marker::PhantomData });
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

/// Counts the places where finite differences could be compared.
#[derive(Default, Debug)]
pub struct Tally {
    checked: Cell<usize>,
    skipped: Cell<usize>,
}

impl Tally {
    /// Whether finite differences were of use nearly everywhere.
    pub fn often_checked(&self) -> bool {
        self.checked.get() > 0 && self.skipped.get() * 10 <= self.checked.get()
    }

    /// Whether finite differences were of use in at least a twentieth of the places: some programs have kinks nearly everywhere.
    pub fn sometimes_checked(&self) -> bool {
        self.checked.get() > 0 && self.skipped.get() <= 19 * self.checked.get()
    }
}

/// A further backend for a program: the one that the environment variable `ACCEL_ALSO_ON` names, or else, for a tenth of the
/// programs, the native backend with checked proofs.
fn further(program: &Program) -> Option<Box<dyn Executable>> {
    let compile = |backend: &dyn Backend| Some(backend.compile(program).unwrap_or_else(|e| panic!("{e}\n{program}")));
    if let Ok(name) = std::env::var("ACCEL_ALSO_ON") {
        return compile(accel::backend_named(&name).unwrap_or_else(|e| panic!("ACCEL_ALSO_ON: {e}")));
    }
    let checked = || Native::with(Options { check: true, ..Options::from_env().unwrap() });
    if is_chosen(program, 10) { compile(&checked()) } else { None }
}

/// A compiled program.
pub struct Ready {
    executable: Box<dyn Executable>,
    kernels: Box<dyn Executable>,
    /// After all passes of the processor's target, which the native backend compiles.
    passed: Box<dyn Executable>,
    further: Option<Box<dyn Executable>>,
    runs: Cell<usize>,
}

/// The number of runs of every program in which the interpreter and the kernel program are compared.
const COMPARED: usize = 10;

impl Ready {
    /// Compiles a program for the interpreter and for the evaluator of kernel programs, before and after all passes.
    #[track_caller]
    pub fn new<A: Arrays, R: Arrays>(program: &Afun<A, R>) -> Self {
        let program = program.program().unwrap_or_else(|e| panic!("{e}"));
        let compile = |backend: &dyn Backend| backend.compile(program).unwrap_or_else(|e| panic!("{e}\n{program}"));
        Ready {
            executable: compile(&Interpreter),
            kernels: compile(&KernelEvaluator),
            passed: compile(&AllPasses { assume: true }),
            further: further(program),
            runs: Cell::new(0),
        }
    }

    /// Runs the program. In the first runs, its kernel program must have the same result to the last bit, or the same
    /// error. The results after all passes and of another backend must be close.
    pub fn run(&self, x: &ArrayTuple) -> Checked<ArrayTuple> {
        let run = |e: &dyn Executable| e.run(x).map_err(|e| e.to_string());
        let result = run(&*self.executable);
        self.runs.set(self.runs.get() + 1);
        if self.runs.get() <= COMPARED {
            let by_kernels = run(&*self.kernels);
            if format!("{result:?}") != format!("{by_kernels:?}") {
                return Err(format!("the interpreter gives {result:?}, the kernel program {by_kernels:?}"));
            }
            let expected = self.executable.run(x);
            for (name, other) in
                [("after all passes", Some(&self.passed)), ("on a further backend", self.further.as_ref())]
            {
                let Some(other) = other else { continue };
                agree::compare(&expected, &other.run(x), agree::CLOSE).map_err(|e| format!("{name}: {e}"))?;
            }
        }
        result
    }
}

/// A program and its derivatives.
pub struct Differentiated {
    value: Ready,
    /// From input and tangent to result and tangent.
    tangent: Ready,
    reverse: Reverse,
    /// From the input to the parts of it by which the program is differentiated; `None` for the whole input.
    parts: Option<Ready>,
}

/// The derivative in reverse mode.
enum Reverse {
    /// For a program whose result is one number.
    Gradient(Ready),
    /// From input and adjoint of the result.
    Pullback(Ready),
    /// Reverse mode does not differentiate the program.
    None,
}

impl Differentiated {
    /// A program whose result is one number, by `grad` and `jvp`.
    #[track_caller]
    pub fn new<M, F: ArrayFn<M, Result = Scalar<f64>>>(f: F) -> Self {
        let program = afun(f);
        Differentiated { reverse: Reverse::Gradient(Ready::new(&grad(&program))), ..Self::forward(&program) }
    }

    /// Any program, by `vjp` and `jvp`.
    #[track_caller]
    pub fn of<A: Arrays, R: Arrays>(program: &Afun<A, R>) -> Self {
        Differentiated { reverse: Reverse::Pullback(Ready::new(&vjp(program))), ..Self::forward(program) }
    }

    /// Any program, by `jvp` only.
    #[track_caller]
    pub fn forward<A: Arrays, R: Arrays>(program: &Afun<A, R>) -> Self {
        let (value, tangent) = (Ready::new(program), Ready::new(&jvp(program)));
        Differentiated { value, tangent, reverse: Reverse::None, parts: None }
    }

    /// A program with chosen parts of its argument, by `vjp` and `jvp`.
    #[track_caller]
    pub fn by<A: Arrays, P: Arrays, R: Arrays>(by: &By<A, P, R>) -> Self {
        Differentiated { reverse: Reverse::Pullback(Ready::new(&vjp(by))), ..Self::forward_by(by) }
    }

    /// A program with chosen parts of its argument, by `jvp` only.
    #[track_caller]
    pub fn forward_by<A: Arrays, P: Arrays, R: Arrays>(by: &By<A, P, R>) -> Self {
        let (value, tangent) = (Ready::new(by.program()), Ready::new(&jvp(by)));
        let parts = Afun::<A, P>::from_result(by.parts().cloned());
        Differentiated { value, tangent, reverse: Reverse::None, parts: Some(Ready::new(&parts)) }
    }

    /// The parts of an input by which the program is differentiated.
    fn parts(&self, x: &ArrayTuple) -> Checked<ArrayTuple> {
        self.parts.as_ref().map_or(Ok(x.clone()), |parts| parts.run(x))
    }

    /// The derivatives by reverse mode: for each number of the result, the derivatives by all inputs.
    pub fn rows(&self, x: &ArrayTuple) -> Checked<Option<Vec<Vec<f64>>>> {
        match &self.reverse {
            Reverse::Gradient(gradient) => Ok(Some(vec![floats(&gradient.run(x)?)])),
            Reverse::Pullback(pullback) => {
                let y = self.value.run(x)?;
                let row = |seed| Ok(floats(&pullback.run(&ArrayTuple::pair(x.clone(), seed))?));
                units(&y).map(row).collect::<Checked<_>>().map(Some)
            }
            Reverse::None => Ok(None),
        }
    }

    /// The derivatives by forward mode: for each input, the derivatives of all numbers of the result.
    pub fn columns(&self, x: &ArrayTuple) -> Checked<Vec<Vec<f64>>> {
        let y = floats(&self.value.run(x)?);
        let column = |direction| {
            let mut dual = floats(&self.tangent.run(&ArrayTuple::pair(x.clone(), direction))?);
            let tangent = dual.split_off(dual.len() / 2);
            if dual.len() == y.len() && dual.iter().zip(&y).all(|(a, b)| same(*a, *b, 0.0)) {
                return Ok(tangent);
            }
            Err(format!("the value is {y:?}, with tangents {dual:?}"))
        };
        units(&self.parts(x)?).map(column).collect()
    }

    /// Compares reverse mode, forward mode and finite differences, number by number.
    pub fn check(&self, x: &ArrayTuple, tally: &Tally) -> Verdict {
        let (at, value) = (floats(x), floats(&self.value.run(x)?));
        let (rows, columns) = (self.rows(x)?, self.columns(x)?);
        // The places of the chosen numbers: the parts of an input that contains places.
        let places: Vec<f64> = (0..at.len()).map(|k| k as f64).collect();
        let places = floats(&self.parts(&with_floats(x, &places))?);
        if let Some(rows) = &rows
            && (rows.len() != value.len() || rows.iter().any(|r| r.len() != places.len()))
        {
            return Err(format!("{} by {} derivatives expected, found {rows:?}", value.len(), places.len()));
        }
        for (k, column) in columns.iter().enumerate() {
            let moved = |h: f64| {
                let mut at = at.clone();
                at[places[k] as usize] += h;
                Ok(floats(&self.value.run(&with_floats(x, &at))?))
            };
            let moves = Moves::new(moved, &value)?;
            for (j, &forward) in column.iter().enumerate() {
                if let Some(rows) = &rows {
                    let largest = rows[j].iter().fold(1.0, |m: f64, g| m.max(g.abs()));
                    let rounding = 1e-9 * forward.abs() + 1e-11 * largest;
                    // If the value is not finite, there is no derivative to compute.
                    let nothing = !value[j].is_finite() && (rows[j][k].is_nan() || forward.is_nan());
                    if !nothing && !same(rows[j][k], forward, rounding) {
                        let reverse = rows[j][k];
                        return Err(format!("d{j}/d{k}: {reverse} in reverse, {forward} in forward mode"));
                    }
                }
                match moves.slope(j, forward) {
                    Difference::Smooth { slope, tolerance } if !same(slope, forward, tolerance) => {
                        return Err(format!("d{j}/d{k}: {forward} in forward mode, {slope} by finite differences"));
                    }
                    Difference::Smooth { .. } => tally.checked.update(|n| n + 1),
                    Difference::NotSmooth => tally.skipped.update(|n| n + 1),
                }
            }
        }
        Ok(())
    }
}

/// The arrays with a 1 in one floating-point place and 0 elsewhere, for each place.
fn units(a: &ArrayTuple) -> impl Iterator<Item = ArrayTuple> + '_ {
    let n = floats(a).len();
    (0..n).map(move |k| {
        let unit: Vec<f64> = (0..n).map(|i| if i == k { 1.0 } else { 0.0 }).collect();
        with_floats(a, &unit)
    })
}

/// Equality up to `tolerance`. NaN equals NaN, and infinities equal themselves.
pub fn same(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance
}

enum Difference {
    /// The slope, and its permitted distance from the derivative.
    Smooth { slope: f64, tolerance: f64 },
    /// A kink, a jump or a pole nearby.
    NotSmooth,
}

/// The values of a function along a line: in the middle, and at three distances in both directions.
struct Moves {
    middle: Vec<f64>,
    around: [(Vec<f64>, Vec<f64>); 3],
}

impl Moves {
    const DISTANCES: [f64; 3] = [1.0 / 1024.0, 1.0 / 2048.0, 1.0 / 4096.0];

    fn new(f: impl Fn(f64) -> Checked<Vec<f64>>, middle: &[f64]) -> Checked<Self> {
        let around = |h: f64| -> Checked<_> { Ok((f(h)?, f(-h)?)) };
        let [a, b, c] = Self::DISTANCES.map(around);
        Ok(Moves { middle: middle.to_vec(), around: [a?, b?, c?] })
    }

    /// The slope of number `j` by central differences, extrapolated to distance 0.
    ///
    /// Where the function is smooth, the extrapolations from two distances agree, and the second differences shrink
    /// with the distance. At a kink, the second differences do not shrink.
    fn slope(&self, j: usize, expected: f64) -> Difference {
        let middle = self.middle[j];
        let (mut slopes, mut bends) = ([0.0; 3], [0.0; 3]);
        let mut largest = middle.abs();
        for (i, h) in Self::DISTANCES.into_iter().enumerate() {
            let (up, down) = (self.around[i].0[j], self.around[i].1[j]);
            slopes[i] = (up - down) / (2.0 * h);
            bends[i] = ((up - middle) + (down - middle)) / h;
            largest = largest.max(up.abs()).max(down.abs());
        }
        let tolerance = 1e-6 * expected.abs().max(1.0) + 1e-10 * largest;
        let (wide, narrow) = ((4.0 * slopes[1] - slopes[0]) / 3.0, (4.0 * slopes[2] - slopes[1]) / 3.0);
        // The condition is written so that NaN is not smooth.
        if (wide - narrow).abs() <= tolerance && (4.0 * bends[2] - bends[0]).abs() <= tolerance {
            return Difference::Smooth { slope: (16.0 * narrow - wide) / 15.0, tolerance };
        }
        Difference::NotSmooth
    }
}

/// All floating-point numbers in some arrays, column by column.
pub fn floats(a: &ArrayTuple) -> Vec<f64> {
    a.floats()
}

/// The arrays with other floating-point numbers.
pub fn with_floats(a: &ArrayTuple, new: &[f64]) -> ArrayTuple {
    let mut new = new.iter().copied();
    a.map_floats(&mut |_| new.next().expect("as many numbers"))
}

/// The checks themselves must be able to fail.
#[test]
fn wrong_derivatives_are_found() {
    let wrong = |f: fn(Exp<f64>) -> Exp<f64>| {
        let square = Differentiated::new(|a: V| sum(map(|x| x * x, a)));
        (square, Differentiated::new(move |a: V| sum(map(f, a))))
    };
    let x = Arrays::to_tuple(&Vector::vector(vec![1.0, -3.0]));
    let fails = |d: Differentiated, with: &str| {
        let found = d.check(&x, &Tally::default());
        assert!(found.as_ref().is_err_and(|e| e.contains(with)), "{found:?}");
    };
    let (right, _) = wrong(|x| x);
    assert_eq!(right.check(&x, &Tally::default()), Ok(()));
    let (square, other) = wrong(|x| x * x * 1.00001);
    fails(Differentiated { reverse: other.reverse, ..square }, "in reverse");
    let (square, other) = wrong(|x| x * x * 1.00001);
    fails(Differentiated { tangent: other.tangent, ..square }, "the value");
    // The same value at whole numbers, with another derivative: only finite differences can detect it.
    let (square, other) = wrong(|x| x * x * 1.00001 - x.floor() * x.floor() * 0.00001);
    fails(Differentiated { value: square.value, ..other }, "by finite differences");
}

#[test]
fn kinks_and_jumps_are_recognised() {
    let smooth = |f: fn(f64) -> f64| {
        let moves = Moves::new(|h| Ok(vec![f(h)]), &[f(0.0)]).unwrap();
        matches!(moves.slope(0, 1.0), Difference::Smooth { .. })
    };
    assert!(smooth(|h| (1.0 + h).ln()));
    assert!(smooth(|h| 1e9 + h));
    assert!(!smooth(f64::abs));
    assert!(!smooth(|h| (h - 0.0003).max(0.0)));
    assert!(!smooth(|h| if h < 0.0 { 1.0 } else { 2.0 }));
    assert!(!smooth(|h| h.sqrt()));
}

/// Compares the derivative along one direction in both modes, on both backends, up to a relative difference.
#[track_caller]
pub fn both_modes_agree(name: &str, f: impl Fn(V) -> Acc<Scalar<f64>> + Copy, a: &Vector<f64>, tolerance: f64) {
    let both = afun(|a: V| {
        let direction = a.cos();
        let (_, forward) = call(jvp(afun(f)), (a, direction));
        (forward, dot(call(grad(afun(f)), a), direction))
    });
    for (backend, found) in [("native", run(&both, a)), ("interpreter", run_on(&Interpreter, &both, a))] {
        let (forward, reverse) = found.unwrap();
        let difference = (forward.item() - reverse.item()).abs();
        assert!(difference < tolerance * (1.0 + forward.item().abs()), "{name}, {backend}: {difference}");
    }
}
