//! Runs programs on backends, and compares them with the evaluator.

use crate::file::{Case, TestFile};
use crate::outputs::told;
use accel_core::error::{Error, Result as Evaluated};
use accel_core::repr::{RawArray, Scalar};
use accel_fusion::kernel::tape::Budget;
use accel_fusion::kernel::{Arrays, Executor, Op, Program, Stmt};
use accel_native::Kernels;
use accel_native::vectorized::Vectorized;
use libtest_mimic::{Completion, Failed};
use std::cell::RefCell;

/// All cases on the native backend.
pub fn on_native(file: &TestFile) -> Result<Completion, Failed> {
    for case in file.cases.iter().filter(|c| c.native) {
        // SAFETY: the reads that the program marks as `inside` are within bounds for the arguments of the test.
        let Some(kernels) = unsafe { Kernels::trusting(case.program.clone()) }? else {
            return Ok(Completion::ignored_with("there is no C compiler"));
        };
        for run in case.runs() {
            let found = kernels.run(run.arrays.clone());
            let what = || format!("native, with {}", run.extents());
            // The first failure is reported.
            compare(case, run.expected(&case.program), &found, &what, Error::to_string)?;
        }
    }
    Ok(Completion::Completed)
}

/// All cases on the vectorized interpreter. If a program does not fail, each of its operations that compute elements is
/// executed in batches.
pub fn on_vectorized(file: &TestFile) -> Result<Completion, Failed> {
    for case in file.cases.iter().filter(|c| c.native) {
        for run in case.runs() {
            let counting = Counting::default();
            let found = case.program.evaluate_with(&run.tuple(), Budget::new(None), &counting);
            let what = || format!("vectorized, with {}", run.extents());
            compare(case, run.expected(&case.program), &found, &what, Error::to_string)?;
            let refused = counting.0.take();
            if found.is_ok() && !refused.is_empty() {
                return Err(format!("{}: element by element: {}", what(), refused.join(", ")).into());
            }
        }
    }
    Ok(Completion::Completed)
}

/// The vectorized interpreter, and the operations that it has not executed.
#[derive(Default)]
struct Counting(RefCell<Vec<&'static str>>);

impl Executor for Counting {
    fn execute(&self, program: &Program, arrays: &Arrays, statement: &Stmt) -> Option<Vec<RawArray>> {
        let found = Vectorized.execute(program, arrays, statement);
        let op = &statement.op;
        let computes = matches!(op, Op::Loop { .. } | Op::Accumulate { .. } | Op::Reduce { .. } | Op::Scan { .. })
            || matches!(op, Op::Permute { .. } | Op::Argsort { .. });
        if found.is_none() && computes {
            self.0.borrow_mut().push(op.keyword());
        }
        found
    }
}

#[cfg(not(feature = "opencl"))]
pub fn on_opencl(_: &TestFile) -> Result<Completion, Failed> {
    Ok(Completion::ignored_with("built without the feature `opencl`"))
}

/// All cases, each on all of its targets.
#[cfg(feature = "opencl")]
pub fn on_opencl(file: &TestFile) -> Result<Completion, Failed> {
    use accel::opencl::{Kernels, OpenCl};

    let backend = match OpenCl::shared() {
        Ok(backend) => backend,
        Err(e) => return Ok(Completion::ignored_with(format!("LEFT OUT: {e}"))),
    };
    for case in &file.cases {
        for device in &case.opencl {
            let backend = backend.clone().with_target(|own| device.target(own));
            // SAFETY: the reads that the program marks as `inside` are within bounds for the arguments of the test.
            let kernels = unsafe { Kernels::trusting(&backend, case.program.clone()) }?;
            for run in case.runs() {
                let arguments: Vec<&RawArray> = run.arrays.iter().collect();
                // The second run knows the launches of the first one.
                for time in 1..=2 {
                    let found = kernels.run(&arguments);
                    let what = || format!("{device:?}, run {time}, with {}", run.extents());
                    compare(case, run.expected(&case.program), &found, &what, without_index)?;
                }
            }
        }
    }
    Ok(Completion::Completed)
}

/// The message of an error without the index: if several elements fail, a device reports any of them.
#[cfg(feature = "opencl")]
fn without_index(e: &Error) -> String {
    match e {
        Error::OutOfBounds { op, shape, .. } => format!("{op} outside of {shape:?}"),
        e => e.to_string(),
    }
}

/// Compares results, or the messages of errors.
fn compare(
    case: &Case,
    expected: &Evaluated<Vec<RawArray>>,
    found: &Evaluated<Vec<RawArray>>,
    what: &dyn Fn() -> String,
    message: fn(&Error) -> String,
) -> Result<(), Failed> {
    let is_same = match (expected, found) {
        (Ok(e), Ok(f)) => e.len() == f.len() && e.iter().zip(f).all(|(e, f)| same(e, f, case.exact)),
        (Err(e), Err(f)) => message(e) == message(f),
        _ => false,
    };
    let differs = || format!("{}\nexpected: {}\n   found: {}\n{}", what(), told(expected), told(found), case.program);
    if is_same { Ok(()) } else { Err(differs().into()) }
}

/// Whether integers are equal, and floating-point numbers are equal up to the differences that the order of additions
/// and mathematical functions can cause.
fn same(expected: &RawArray, found: &RawArray, exact: bool) -> bool {
    let close = |e: f64, f: f64, by: f64| (e - f).abs() <= by * e.abs() || e == f || (e.is_nan() && f.is_nan());
    let by = |by| if exact { 0.0 } else { by };
    let numbers = |(e, f)| match (e, f) {
        (Some(Scalar::F32(e)), Some(Scalar::F32(f))) => close(e.into(), f.into(), by(1e-5)),
        (Some(Scalar::F64(e)), Some(Scalar::F64(f))) => close(e, f, by(1e-12)),
        (e, f) => e == f,
    };
    expected.extents == found.extents
        && expected.columns.len() == found.columns.len()
        && expected
            .columns
            .iter()
            .zip(&found.columns)
            .all(|(e, f)| e.len() == f.len() && (0..e.len()).map(|i| (e.get(i), f.get(i))).all(numbers))
}
