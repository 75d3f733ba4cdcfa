//! The way of a program to a backend, as a list of passes. It is the same for all backends.
//!
//! ```text
//! typed program --simplify--> typed program --lower--> kernel program --passes--> kernel program --emit--> code of the backend
//! ```
//!
//! Each pass expects a verified kernel program and gives an equivalent one, which the verifier checks. `ACCEL_DUMP` prints what a pass
//! gives if it has the pass's name.
//!
//! NOTE [No run is lost to an optimiser]: a pass has errors, as all programs have. If one of them panics, returns an error or gives
//! a program that the verifier rejects, the backend gets what the pass was given, the last good stage, and no further pass runs:
//! a slow program is better than none, and what a pass makes of programs that another one should have seen first is not known. The same holds for
//! what a backend makes of the optimised program, and there the last good stage is the program before all passes. A compiler
//! of the backend that refuses the optimised program, or takes too long for it, may have its own reasons: only if it takes the other one, the
//! optimiser is to blame.
//! Passes return errors where an invariant that they rely on may be broken. Indexing is left as it is: one boundary around every pass turns
//! a panic into the same error. It needs `panic = "unwind"`, which is the default. Every failure is a `tracing` error, with a file to
//! attach to a report. In a [strict](Options::strict) pipeline, that of our own tests, it is an error.

use crate::kernel::{ArrayId, Op, Program, Verified};
use crate::optimize::{Assumptions, compact, compute_operands as operands, fuse, merge, split};
use crate::report::{Report, Text};
use crate::stage::stage;
use crate::{checks, lower as lowering, simplify, strip};
use accel_core::ast;
use accel_core::error::{Error, Result};
use accel_core::repr::RawExtents;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A pass over kernel programs.
struct Pass {
    name: &'static str,
    run: fn(&Program, &mut Learned) -> Result<Program>,
}

/// What passes know of a program besides its text.
#[derive(Clone, Debug, Default)]
struct Learned {
    /// Whether something may be assumed of the extents of its arguments.
    assume: bool,
    assumptions: Assumptions,
}

/// Arrays of tuples become arrays of their columns.
const COLUMNS: Pass = Pass { name: "columns", run: |p, _| Ok(split(p)) };
/// Producers become part of what uses them, scatters become sums and gathers, and what extents decide goes away.
const FUSE: Pass = Pass {
    name: "fuse",
    run: |p, learned| {
        let (program, assumptions) = fuse(p, learned.assume)?;
        learned.assumptions = assumptions;
        Ok(program)
    },
};
/// Loops over the same index space become one.
const MERGE: Pass = Pass { name: "merge", run: |p, _| Ok(merge(p)) };
/// Arrays are numbered without gaps.
const COMPACT: Pass = Pass { name: "compact", run: |p, _| Ok(compact(p)) };
/// Statements are grouped to strips of a common dimension.
const STRIPS: Pass = Pass { name: "strips", run: |p, _| Ok(strip::strips(p)) };
/// Products compute their operands.
const OPERANDS: Pass = Pass { name: "operands", run: |p, _| Ok(operands(p)) };
/// The statements of strips stand one after the other.
const DISSOLVE: Pass = Pass { name: "dissolve", run: |p, _| Ok(strip::dissolve(p)) };

/// Reads that were proved to be inside are checked.
const CHECKS: Pass = Pass { name: "checks", run: |p, _| Ok(checks::checked(p)) };

/// What all targets have in common.
const COMMON: [Pass; 4] = [COLUMNS, FUSE, MERGE, COMPACT];

/// The name of what a backend does with the program.
const EMIT: &str = "emit";

/// What kernels are made for.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Target {
    /// What all kernels have in common.
    #[default]
    Any,
    /// Cores with caches and vectors.
    Processor,
    /// Many small cores with memory in common.
    Graphics,
}

impl Target {
    fn passes(self) -> impl Iterator<Item = Pass> {
        let own = match self {
            Target::Any => None,
            Target::Processor => Some(STRIPS),
            Target::Graphics => Some(OPERANDS),
        };
        COMMON.into_iter().chain(own)
    }
}

/// What a pipeline does besides its passes.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Reads that were proved to be inside are checked all the same: NOTE [Checked proofs].
    pub check: bool,
    /// A pass that fails is an error, so that tests find it: NOTE [No run is lost to an optimiser].
    pub strict: bool,
    /// A failure that a test asks for.
    #[doc(hidden)]
    pub fault: Option<Fault>,
}

/// A failure of the pass of this name; `emit` is what a backend does with the program.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It panics.
    Panic(&'static str),
    /// It gives a program that is not well formed.
    Reject(&'static str),
    /// The compiler of the backend refuses the optimised program.
    Refuse,
}

impl Options {
    /// What the environment asks for: `ACCEL_CHECK=1` for checked proofs, `ACCEL_STRICT=1` for a strict pipeline.
    pub fn from_env() -> Options {
        let is_set = |name| std::env::var_os(name).is_some_and(|v| !v.is_empty() && v != "0");
        Options { check: is_set("ACCEL_CHECK"), strict: is_set("ACCEL_STRICT"), fault: None }
    }

    /// Runs a stage; a panic is an error.
    fn guarded<T>(&self, name: &str, stage: impl FnOnce() -> Result<T>) -> Result<T> {
        let stage = || {
            if self.fault.is_some_and(|f| matches!(f, Fault::Panic(at) if at == name)) {
                panic!("a test asks for it");
            }
            if self.fault == Some(Fault::Refuse) && name == EMIT {
                return Err(Error::Compiler("a test asks for it".into()));
            }
            stage()
        };
        // What a stage was about to change is dropped with it, so nobody sees it half changed.
        catch_unwind(AssertUnwindSafe(stage)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<&str>().copied();
            let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
            Err(Error::Internal(format!("{name} panicked: {text}")))
        })
    }

    /// What a pass makes of a program, if the verifier accepts it.
    fn pass(&self, pass: &Pass, program: &Program, learned: &mut Learned) -> Result<Verified<Program>> {
        self.guarded(pass.name, || {
            let mut program = (pass.run)(program, learned)?;
            if self.fault == Some(Fault::Reject(pass.name)) {
                program.results.push(program.arrays.len());
            }
            stage(pass.name, program)
        })
    }

    /// What the passes for a target make of a program, as far as they do not fail.
    fn passes(&self, lowered: &Verified<Program>, target: Target, assume: bool) -> Result<Optimized> {
        let mut good = lowered.clone();
        let mut learned = Learned { assume, ..Learned::default() };
        for pass in target.passes() {
            let mut more = learned.clone();
            match self.pass(&pass, &good, &mut more) {
                Ok(next) => (good, learned) = (next, more),
                Err(e) => {
                    self.failed(pass.name, e, &Text(&good))?;
                    break;
                }
            }
        }
        let conditions = Conditions { assumptions: learned.assumptions, given: given(lowered) };
        Ok(Optimized { program: self.checked(good)?, conditions })
    }

    /// The program with the checks that are wanted, whatever has failed before.
    fn checked(&self, program: Verified<Program>) -> Result<Verified<Program>> {
        if !self.check {
            return Ok(program);
        }
        let checked = self.pass(&CHECKS, &program, &mut Learned::default());
        checked.or_else(|e| self.failed(CHECKS.name, e, &Text(&program)).map(|()| program))
    }

    /// Tells of a stage that failed. A strict pipeline ends there.
    fn failed(&self, stage: &str, error: Error, last_good: &dyn Display) -> Result<()> {
        if self.strict {
            return Err(error);
        }
        Report { stage, error: &error, last_good }.send();
        Ok(())
    }
}

/// A program that was simplified and lowered, ready to be optimised for a target.
pub struct Pipeline {
    simplified: ast::Program,
    lowered: Verified<Program>,
    target: Target,
    options: Options,
}

impl Pipeline {
    /// Simplifies and lowers a program.
    ///
    /// # Errors
    /// `Error::Internal` if it cannot be lowered; in a strict pipeline also if it cannot be simplified.
    pub fn new(program: &ast::Program, target: Target, options: Options) -> Result<Pipeline> {
        let simplified = options.guarded("simplify", || Ok(simplify(program)?.0));
        let simplified = simplified.or_else(|e| options.failed("simplify", e, program).map(|()| program.clone()))?;
        let lowered = options.guarded("lower", || stage("lower", lowering::lower(&simplified)));
        let lowered = lowered.or_else(|e| options.failed("lower", e.clone(), &simplified).and(Err(e)))?;
        Ok(Pipeline { simplified, lowered, target, options })
    }

    /// The typed program after the simplifier.
    pub fn simplified(&self) -> &ast::Program {
        &self.simplified
    }

    /// The optimised program. With `assume`, the extents of the arguments are assumed to be what makes it simplest.
    ///
    /// # Errors
    /// `Error::Internal` if a pass of a strict pipeline fails.
    pub fn optimized(&self, assume: bool) -> Result<Optimized> {
        self.options.passes(&self.lowered, self.target, assume)
    }

    /// What a backend makes of the optimised program, or of the one before all passes if that fails: NOTE [No run is lost to an optimiser].
    ///
    /// # Errors
    /// Those of `emit`.
    pub fn emit<T>(&self, optimized: &Optimized, emit: impl Fn(&Verified<Program>) -> Result<T>) -> Result<T> {
        let unoptimized = || {
            let program = self.options.checked(self.lowered.clone())?;
            Options::default().guarded(EMIT, || emit(&program))
        };
        let failed = |e| self.options.failed(EMIT, e, &Text(&optimized.program));
        match self.options.guarded(EMIT, || emit(&optimized.program)) {
            Err(e @ Error::Internal(_)) => {
                failed(e)?;
                unoptimized()
            }
            Err(e @ (Error::Compiler(_) | Error::Device(_))) if !self.options.strict => {
                let done = unoptimized().map_err(|_| e.clone())?;
                failed(e)?;
                Ok(done)
            }
            done => done,
        }
    }
}

/// An optimised program, and what its inputs must be like.
#[derive(Clone, Debug)]
pub struct Optimized {
    /// The program.
    pub program: Verified<Program>,
    /// Where these do not hold the program must not be run.
    pub conditions: Conditions,
}

/// When a program may be run: NOTE [Assumptions on extents].
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    assumptions: Assumptions,
    /// The arrays that they are about, as the program before all passes names them.
    given: BTreeMap<ArrayId, Given>,
}

/// Extents that are not computed.
#[derive(Clone, Debug)]
enum Given {
    /// Of an input, by its number.
    Input(usize),
    /// Of a literal.
    Literal(RawExtents),
}

impl Conditions {
    /// Whether they hold for inputs of these extents, each by its number.
    pub fn hold<'a>(&self, input: impl Fn(usize) -> Option<&'a [usize]>) -> bool {
        self.assumptions.hold(|a, dim| match self.given.get(&a)? {
            Given::Input(k) => input(*k)?.get(dim).copied(),
            Given::Literal(extents) => extents.get(dim).copied(),
        })
    }

    /// Whether they always hold.
    pub fn is_empty(&self) -> bool {
        self.assumptions.is_empty()
    }
}

/// Inputs and literals.
fn given(program: &Program) -> BTreeMap<ArrayId, Given> {
    let inputs = program.inputs.iter().enumerate().map(|(k, a)| (*a, Given::Input(k)));
    let literals = program.body.stmts.iter().filter_map(|s| match s.op {
        Op::Literal { to, literal } => Some((to, Given::Literal(program.literals.get(literal)?.extents.clone()))),
        _ => None,
    });
    inputs.chain(literals).collect()
}

const STRICT: Options = Options { check: false, strict: true, fault: None };

/// Translates a program to a kernel program.
///
/// # Errors
/// `Error::Internal` if that fails.
pub fn lower(program: &ast::Program) -> Result<Verified<Program>> {
    STRICT.guarded("lower", || stage("lower", lowering::lower(program)))
}

/// An equivalent program that does less. It may fail less often: what is not needed for the results is not computed. With `assume`, the
/// extents of the arguments are assumed to be what makes it simplest.
///
/// # Errors
/// `Error::Internal` if the program is not well formed, or a pass fails.
pub fn optimize(program: &Program, assume: bool) -> Result<Optimized> {
    STRICT.passes(&Verified::new(program.clone())?, Target::Any, assume)
}

/// The program with statements grouped to strips where that pays.
///
/// # Errors
/// `Error::Internal` if that fails.
pub fn strips(program: &Program) -> Result<Verified<Program>> {
    STRICT.pass(&STRIPS, program, &mut Learned::default())
}

/// The program with the statements of strips in their place, one after the other.
///
/// # Errors
/// `Error::Internal` if that fails.
pub fn dissolve(program: &Program) -> Result<Verified<Program>> {
    STRICT.pass(&DISSOLVE, program, &mut Learned::default())
}

/// The program with products that compute their operands: for processors on which that is cheaper than to fetch them.
///
/// # Errors
/// `Error::Internal` if that fails.
pub fn compute_operands(program: &Program) -> Result<Verified<Program>> {
    STRICT.pass(&OPERANDS, program, &mut Learned::default())
}

/// The program in which reads that were proved to be inside are checked all the same.
///
/// # Errors
/// `Error::Internal` if that fails.
pub fn check_proofs(program: &Program) -> Result<Verified<Program>> {
    STRICT.pass(&CHECKS, program, &mut Learned::default())
}
