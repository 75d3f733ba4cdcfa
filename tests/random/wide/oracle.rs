//! Runs the same program on several backends, and decides which differences are permitted.

use super::build::build;
use super::generate::inputs_of;
use super::program::Program;
use super::scalar::Perturb;
use crate::smallest::guarded;
use crate::support::passes::AllPasses;
use crate::support::traced::Traced;
use accel::backend::Backend;
use accel::interp::{Interpreted, Interpreter};
use accel::prelude::Error;
use accel::repr::{ArrayTuple, Column, RawArray, Scalar};
use accel_fusion::KernelEvaluator;
use accel_trace::Keep;

/// The results of a program on a backend, or its error.
pub type Outcome = Result<Vec<RawArray>, Error>;

/// The ways to run a program, which are compared with the interpreter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Oracle {
    /// The kernel program after lowering: the same operations in the same order, so the same bits.
    Kernel,
    /// After all passes, with an evaluator instead of generated code.
    Passes,
    /// The same, without assumptions on extents.
    General,
    /// The trace of the run, as a program: the same operations, so the same bits.
    Traced,
    /// The native backend without a compiler.
    Vectorized,
    Native,
    /// As the environment variable `ACCEL_BACKEND` names it.
    OpenCl,
}

impl Oracle {
    /// Whether the results must be the same bits.
    fn is_exact(self) -> bool {
        matches!(self, Oracle::Kernel | Oracle::Traced)
    }
    pub fn backend(self) -> Result<&'static dyn Backend, Error> {
        Ok(match self {
            Oracle::Kernel => &KernelEvaluator,
            Oracle::Passes => &AllPasses { assume: true },
            Oracle::General => &AllPasses { assume: false },
            Oracle::Traced => &Traced(Keep::Arrays),
            Oracle::Vectorized => &accel::native::VectorizedInterpreter,
            Oracle::Native => accel::backend_named("native")?,
            Oracle::OpenCl => accel::backend_named("opencl")?,
        })
    }
}

/// A panic is an error of the library.
fn run<T>(f: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    guarded(f).unwrap_or_else(|message| Err(Error::Internal(message)))
}

fn leaves(found: &ArrayTuple) -> Vec<RawArray> {
    found.leaves().into_iter().cloned().collect()
}

/// Runs programs that fail as a single program, of which one at a time is executed. Returns how each did, or which one
/// is wrong, and why.
pub fn judge_one_of(
    oracle: Oracle,
    programs: &[Program],
    expected: &[Outcome],
) -> Result<Vec<Verdict>, (usize, String)> {
    let compiled = run(|| oracle.backend()?.compile(&build(&Program::one_of(programs, 0).body, None)?));
    let compiled = compiled.map_err(|e| (0, e.to_string()))?;
    let judge = |k: usize| {
        let found = run(|| Ok(leaves(&compiled.run(&inputs_of(&Program::one_of(programs, k)))?)));
        compare(&programs[k], &expected[k], &found, oracle.is_exact()).map_err(|message| (k, message))
    };
    (0..programs.len()).map(judge).collect()
}

/// Compiles a program and runs it on its inputs.
pub fn outcome(backend: &dyn Backend, p: &Program, perturb: Option<Perturb>) -> Outcome {
    run(|| {
        let program = build(&p.body, perturb)?;
        Ok(leaves(&backend.compile(&program)?.run(&inputs_of(p))?))
    })
}

/// The comparison of a backend with the interpreter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// The same bits.
    Same,
    /// Within the tolerance.
    Near,
    /// The results depend on permitted differences, so no comparison is possible.
    Unstable,
    /// Both fail.
    Fails,
    /// The interpreter fails at an operation that the results do not need.
    Dropped,
}

/// The outcome of a program on the interpreter.
pub fn expected(p: &Program) -> Outcome {
    outcome(&Interpreter, p, None)
}

/// Compares the outcome of a backend. Returns an error if it is wrong.
pub fn judge(oracle: Oracle, p: &Program, expected: &Outcome) -> Result<Verdict, String> {
    let found = outcome(oracle.backend().map_err(|e| e.to_string())?, p, None);
    compare(p, expected, &found, oracle.is_exact())
}

/// Compares with the outcome on the interpreter: NOTE [Permitted differences].
pub fn compare(p: &Program, expected: &Outcome, found: &Outcome, exactly: bool) -> Result<Verdict, String> {
    match (expected, found) {
        (Err(Error::Internal(e)), _) => Err(format!("the interpreter has an internal error: {e}")),
        (_, Err(Error::Internal(e))) => Err(format!("an internal error: {e}")),
        (Ok(x), Ok(y)) => values(p, x, y, exactly),
        (Ok(x), Err(e)) => {
            let unstable = !exactly && Perturb::ALL.iter().any(|how| outcome(&Interpreter, p, Some(*how)).is_err());
            if unstable {
                Ok(Verdict::Unstable)
            } else {
                Err(format!("an error where the interpreter has {}: {e}", short(x)))
            }
        }
        // A backend need not compute what is not needed, so another error can come first, or none.
        (Err(_), Ok(_)) => Ok(Verdict::Dropped),
        (Err(x), Err(y)) => {
            if same_error(x, y) || !exactly && errors(p).iter().any(|x| same_error(x, y)) {
                Ok(Verdict::Fails)
            } else {
                Err(format!("the interpreter has the error \"{x}\", this has \"{y}\""))
            }
        }
    }
}

/// All errors that the interpreter would have if it went on: NOTE [Which error a run has] in `accel-core/src/interp/mod.rs`.
fn errors(p: &Program) -> Vec<Error> {
    let all = build(&p.body, None).and_then(|program| Interpreted::new(&program).errors(&inputs_of(p)));
    all.unwrap_or_default()
}

/// Whether two errors are the same: their texts are equal, except where backends say less or more.
fn same_error(x: &Error, y: &Error) -> bool {
    match (x, y) {
        // The error names the operation with which it was fused.
        (Error::DivisionByZero { op: x, .. }, Error::DivisionByZero { op: y, .. }) => x == y,
        (x, y) => x.to_string() == y.to_string(),
    }
}

fn short(x: &[RawArray]) -> String {
    let text = format!("{x:?}");
    if text.len() > 1500 { format!("{}…", text.chars().take(1500).collect::<String>()) } else { text }
}

fn values(p: &Program, expected: &[RawArray], found: &[RawArray], exactly: bool) -> Result<Verdict, String> {
    let differing: Vec<usize> =
        (0..expected.len()).filter(|k| found.get(*k).is_none_or(|y| !same_array(&expected[*k], y))).collect();
    if differing.is_empty() && expected.len() == found.len() {
        return Ok(Verdict::Same);
    }
    let wrong = |k: usize| {
        let (x, y) = (&expected[k], &found[k]);
        let first = x.columns.iter().zip(&y.columns).enumerate().find_map(|(c, (x, y))| {
            let i = (0..x.len().min(y.len())).find(|i| !same(x.get(*i), y.get(*i)))?;
            Some(format!("column {c}, element {i}: {:?} instead of {:?}; ", y.get(i), x.get(i)))
        });
        let first = first.unwrap_or_default();
        Err(format!("result {k}: {first}found {}, expected {}", short(&found[k..=k]), short(&expected[k..=k])))
    };
    if exactly || expected.len() != found.len() {
        return wrong(differing.first().copied().unwrap_or(0));
    }
    let perturbed: Vec<Outcome> = Perturb::ALL.iter().map(|how| outcome(&Interpreter, p, Some(*how))).collect();
    if perturbed.iter().any(Result::is_err) {
        return Ok(Verdict::Unstable);
    }
    let perturbed: Vec<Vec<RawArray>> = perturbed.into_iter().flatten().collect();
    let mut verdict = Verdict::Near;
    for k in differing {
        let near: Vec<&RawArray> = perturbed.iter().map(|p| &p[k]).collect();
        if is_unstable(&expected[k], &near) {
            verdict = Verdict::Unstable;
        } else if !is_near(&expected[k], &near, &found[k]) {
            let factored = outcome(&Interpreter, p, Some(Perturb::Factored));
            if factored.is_ok_and(|factored| !is_unstable(&expected[k], &[&factored[k]])) {
                return wrong(k);
            }
            verdict = Verdict::Unstable;
        }
    }
    Ok(verdict)
}

pub fn same_array(x: &RawArray, y: &RawArray) -> bool {
    let same_column = |(x, y): (&Column, &Column)| x.len() == y.len() && (0..x.len()).all(|i| same(x.get(i), y.get(i)));
    x.extents == y.extents && x.columns.len() == y.columns.len() && x.columns.iter().zip(&y.columns).all(same_column)
}

/// The same bits, where any NaN equals any other NaN.
fn same(x: Option<Scalar>, y: Option<Scalar>) -> bool {
    match (x, y) {
        (Some(Scalar::F64(a)), Some(Scalar::F64(b))) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
        (Some(Scalar::F32(a)), Some(Scalar::F32(b))) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
        (a, b) => a == b,
    }
}

/// The permitted difference of a result, as a multiple of the difference of the perturbed runs.
const TIMES: f64 = 16.0;

fn float(x: Option<Scalar>) -> Option<f64> {
    match x {
        Some(Scalar::F64(x)) => Some(x),
        Some(Scalar::F32(x)) => Some(x.into()),
        _ => None,
    }
}

/// Whether an array depends so much on permitted differences that any element can change: extents, integers, large
/// differences.
fn is_unstable(expected: &RawArray, perturbed: &[&RawArray]) -> bool {
    perturbed.iter().any(|p| {
        p.extents != expected.extents
            || p.columns.iter().zip(&expected.columns).any(|(p, x)| {
                (0..x.len()).any(|i| match (float(x.get(i)), float(p.get(i))) {
                    (Some(a), Some(b)) => {
                        a.is_nan() != b.is_nan() || a.is_infinite() != b.is_infinite() || (a - b).abs() > 1e-3 * a.abs()
                    }
                    _ => p.get(i) != x.get(i),
                })
            })
    })
}

/// Whether an array differs from the expected one not much more than the perturbed runs do.
fn is_near(expected: &RawArray, perturbed: &[&RawArray], found: &RawArray) -> bool {
    if found.extents != expected.extents {
        return false;
    }
    expected.columns.iter().zip(&found.columns).enumerate().all(|(c, (x, y))| {
        (0..x.len()).all(|i| {
            if same(x.get(i), y.get(i)) {
                return true;
            }
            let (Some(a), Some(b)) = (float(x.get(i)), float(y.get(i))) else { return false };
            let most =
                perturbed.iter().filter_map(|p| float(p.columns[c].get(i))).fold(0.0, |m: f64, z| m.max((z - a).abs()));
            (a - b).abs() <= TIMES * most
        })
    })
}
