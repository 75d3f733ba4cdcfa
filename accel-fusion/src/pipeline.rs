//! The pipeline: the list of passes between a typed program and a backend. It is the same for all backends.
//!
//! ```text
//! typed program --simplify--> typed program --lower--> kernel program --passes--> kernel program --emit--> code of the backend
//! ```
//!
//! Each pass takes a verified kernel program and returns an equivalent one, which the verifier checks. `ACCEL_DUMP`
//! prints the result of a pass if it contains the name of the pass.
//!
//! NOTE [Fallback after a failed pass]: passes have bugs, as all programs have. A pass fails if it panics, returns an
//! error or returns a program that the verifier rejects. Then the backend gets the input of this pass, the last good
//! stage, and no further pass runs: a slow program is better than none, and later passes were never tested on programs
//! that an earlier one did not transform. The same holds if the backend itself fails for the optimised program; the
//! last good stage is then the program before all passes. A C or OpenCL compiler that refuses the optimised program, or
//! takes too long for it, may have reasons of its own: the optimiser is to blame only if the compiler accepts the other
//! program. Passes return errors where an invariant that they rely on may be broken. They index arrays and slices as
//! usual: a boundary around every pass turns a panic into the same error. This needs `panic = "unwind"`, which is the
//! default. Every failure is a `tracing` error, and writes a file to attach to a report. In a [strict](Options::strict)
//! pipeline, which our own tests use, it is an error.

use crate::kernel::tape::Budget;
use crate::kernel::{ArrayId, Op, Program, Verified};
use crate::optimize::{
    Assumptions, ComputeOperands, Decisions, Fusion, InPlace, InputExtents, REWRITES, Share, StepCheck,
    TransposeOperands, checked_reads, compact, define_copies, fewer_indices, functions_of_arrays, hoist_checks,
    hoist_checks_of_states, merge, merged_dimensions, rewrite, scans_down, split, sums_of_loops, tapes,
};
use crate::report::{Report, Text};
use crate::stage::stage;
use crate::validation::Validation;
use crate::{checks, lower as lowering, separate_elements, simplify, strip};
use accel_core::error::{Error, Result};
use accel_core::pass::canonical_key::{self, ProgramKey};
use accel_core::repr::{RawArray, RawExtents};
use accel_core::{ast, print};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

/// A pass over kernel programs.
struct Pass {
    name: &'static str,
    run: fn(&Program, &mut PassState) -> Result<Program>,
}

/// Facts about a program that passes find and that its text does not contain.
#[derive(Clone, Debug, Default)]
struct PassState {
    target: Target,
    /// Whether passes may assume conditions on the extents of the arguments.
    assume: bool,
    assumptions: Assumptions,
    /// The inputs that the assumptions are about.
    inputs: Vec<ArrayId>,
    /// The extents of inputs that are constants.
    known: InputExtents,
    /// The bytes for states of loops, if the options set them.
    tape_bytes: Option<usize>,
    /// The rewrites of fusion that are left out.
    without: Vec<&'static str>,
    /// The arrays whose strips are replaced.
    dissolved: BTreeSet<ArrayId>,
    /// What the program before all passes computes, and its arrays in the assumptions.
    validation: Option<Arc<(Validation, BTreeMap<ArrayId, Given>)>>,
}

impl PassState {
    /// Compares the program after a pass with the one before all passes: NOTE [Validation by evaluation].
    fn validate(
        &self,
        pass: &str,
        before: &Program,
        after: &Verified<Program>,
        assumptions: &dyn Fn() -> Assumptions,
    ) -> Result<()> {
        let Some((validation, given)) = self.validation.as_deref() else { return Ok(()) };
        let conditions = Conditions { assumptions: assumptions(), given: given.clone(), extents: self.known.clone() };
        let fit = |inputs: &[RawArray]| conditions.hold(|k| inputs.get(k).map(|a| &*a.extents));
        validation.check(pass, before, after, fit)
    }
}

/// Splits arrays of tuples into arrays of their columns.
const COLUMNS: Pass = Pass { name: "columns", run: |p, _| Ok(split(p)) };
/// Fuses producers into their consumers, turns scatters into sums and gathers, and simplifies by what the extents
/// imply.
const FUSE: Pass = Pass {
    name: "fuse",
    run: |p, learned| {
        let check = |step: &str, before: &Program, after: &Verified<Program>, assumptions: &dyn Fn() -> Assumptions| {
            learned.validate(step, before, after, assumptions)
        };
        let check = learned.validation.is_some().then_some(&check as &StepCheck);
        let strided = learned.target == Target::Processor;
        let fusion =
            |without: &[_]| Fusion { assume: learned.assume, known: &learned.known, strided, without, check }.run(p);
        let (program, assumptions) = fusion(&learned.without).map_err(|e| {
            let right: Vec<_> = REWRITES.into_iter().filter(|off| fusion(&[*off]).is_ok()).collect();
            match (&e, &right[..]) {
                (_, []) => e,
                (Error::Internal(e), _) => {
                    Error::Internal(format!("{e} (right without {})", right.join(", or without ")))
                }
                _ => e,
            }
        })?;
        learned.assumptions = assumptions;
        Ok(program)
    },
};
/// Computes equal arrays once.
const SHARE: Pass = Pass { name: "share", run: |p, _| Ok(rewrite(p, &mut Share::default())) };
/// Merges loops over the same index space.
const MERGE: Pass = Pass { name: "merge", run: |p, _| Ok(merge(p)) };
/// Lets loops add to what their sums are added to.
const LOOP_SUMS: Pass = Pass { name: "loop_sums", run: |p, _| Ok(sums_of_loops(p)) };
/// Lets updates of arrays in loops happen in place.
const UPDATES: Pass = Pass { name: "updates", run: |p, _| Ok(rewrite(p, &mut InPlace)) };
/// Numbers arrays without gaps.
const COMPACT: Pass = Pass { name: "compact", run: |p, _| Ok(compact(p)) };
/// Checks indices that are sums once for all elements.
const HOIST: Pass = Pass { name: "hoist", run: |p, learned| Ok(hoist_checks(p, &learned.known)) };
/// Decides once what is decided twice in a row, and computes matrices in the branches that sum them.
const DECISIONS: Pass = Pass { name: "decisions", run: |p, _| Ok(rewrite(p, &mut Decisions)) };
/// Computes values that depend on fewer indices as often as there are such indices.
const FEWER: Pass = Pass { name: "fewer", run: |p, learned| Ok(fewer_indices(p, &learned.known)) };
/// Lets scans of columns write their results where the columns are.
const SCANS: Pass = Pass { name: "scans", run: |p, _| Ok(scans_down(p)) };
/// Lets scans define the copies of their results.
const COPIES: Pass = Pass { name: "copies", run: |p, _| Ok(define_copies(p)) };
/// Reads elements by checked indices before statements that call functions.
const GATHERS: Pass = Pass { name: "gathers", run: |p, _| Ok(checked_reads(p)) };
/// Lets sums read arrays by one index instead of by its digits.
const DIGITS: Pass = Pass { name: "digits", run: |p, learned| Ok(merged_dimensions(p, &learned.known)) };
/// Gives elements with scalar loops statements of their own, which compute a vector of elements at a time.
const LOOPS: Pass = Pass { name: "loops", run: |p, _| Ok(separate_elements::with_scalar_loops(p)) };
/// Groups statements into strips of a common dimension.
const STRIPS: Pass = Pass { name: "strips", run: |p, _| Ok(strip::strips(p)) };
/// Lets sums read transposed copies of their operands.
const TRANSPOSE: Pass =
    Pass { name: "transpose", run: |p, _| Ok(compact(&rewrite(p, &mut TransposeOperands::default()))) };
/// Lets products compute their operands.
const OPERANDS: Pass = Pass { name: "operands", run: |p, _| Ok(compact(&rewrite(p, &mut ComputeOperands))) };
/// Checks indices once for all elements, of arrays that were rows of lists.
const STATES: Pass = Pass { name: "states", run: |p, learned| Ok(hoist_checks_of_states(p, &learned.known)) };
/// Replaces lists of states by tapes. Nothing changes statements after it: NOTE [Lists that become tapes].
const TAPES: Pass = Pass {
    name: "tapes",
    run: |p, learned| {
        let own = |(a, dim): (ArrayId, usize)| {
            let k = learned.inputs.iter().position(|input| *input == a)?;
            Some((*p.inputs.get(k)?, dim))
        };
        let equal = learned.assumptions.equal_extents().filter_map(|[a, b]| Some([own(a)?, own(b)?]));
        Ok(tapes(p, learned.tape_bytes, equal.collect()))
    },
};
/// Computes mathematical functions for all elements of a small array at once.
const FUNCTIONS: Pass = Pass { name: "functions", run: |p, learned| Ok(functions_of_arrays(p, &learned.known)) };
/// Replaces strips by their statements, one after the other.
const DISSOLVE: Pass = Pass { name: "dissolve", run: |p, learned| Ok(strip::dissolve(p, &learned.dissolved)) };
/// Replaces strips by finer ones, or by their statements.
const FINER: Pass = Pass { name: "finer", run: |p, learned| Ok(strip::finer(p, &learned.dissolved)) };

/// Makes reads checked that were proved to be within bounds.
const CHECKS: Pass = Pass { name: "checks", run: |p, _| Ok(checks::checked(p)) };

/// Gives elements with private lists statements of their own.
const LISTS: Pass = Pass { name: "lists", run: |p, _| Ok(separate_elements::with_lists(p)) };

/// The passes for all targets.
const COMMON: [Pass; 7] = [COLUMNS, FUSE, SHARE, MERGE, LOOP_SUMS, UPDATES, COMPACT];

/// Identifies the sources of all passes.
pub const PASSES: &str = env!("ACCEL_PASSES");

/// The name of the backend's stage.
const EMIT: &str = "emit";

/// The names of all passes and of the rewrites of fusion.
pub fn rules() -> BTreeSet<&'static str> {
    let passes = [Target::Any, Target::Processor, Target::Graphics].into_iter().flat_map(Target::pass_names);
    passes.chain(REWRITES).collect()
}

/// The rules in a list of names.
fn named(list: &str) -> Result<Vec<&'static str>> {
    static EXPECTED: OnceLock<String> = OnceLock::new();
    let (name, found) = ("ACCEL_WITHOUT", list.to_string());
    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
    let known: Option<Vec<_>> = names.map(|name| rules().get(name).copied()).collect();
    let expected = || EXPECTED.get_or_init(|| format!("some of {}", Vec::from_iter(rules()).join(", ")));
    known.ok_or_else(|| Error::Environment { name, expected: expected(), found })
}

/// The target of the kernels.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Target {
    /// No target: only the passes for all targets.
    #[default]
    Any,
    /// Processor cores with caches and vector registers. A statement that fails ends the run.
    Processor,
    /// A graphics processor: many small cores with a common memory. Statements are executed although one before them has
    /// failed.
    Graphics,
}

impl Target {
    /// The names of the passes for the target, in order.
    pub fn pass_names(self) -> impl Iterator<Item = &'static str> {
        self.passes().map(|pass| pass.name)
    }

    fn passes(self) -> impl Iterator<Item = Pass> {
        let own = match self {
            Target::Any => vec![TAPES],
            // What is checked before a statement must keep it from being executed: NOTE [Hoisted checks].
            Target::Processor => {
                vec![
                    HOIST, DECISIONS, FEWER, GATHERS, DIGITS, SCANS, COPIES, LOOPS, STRIPS, TRANSPOSE, TAPES, STATES,
                    FUNCTIONS,
                ]
            }
            Target::Graphics => vec![OPERANDS, TAPES],
        };
        COMMON.into_iter().chain(own)
    }
}

/// The options of a pipeline besides its passes.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Reads are checked although they were proved to be within bounds: NOTE [Checked proofs].
    pub check: bool,
    /// A pass that fails is an error, so that tests find it: NOTE [Fallback after a failed pass].
    pub strict: bool,
    /// The bytes that the states of loops may take in a run of their derivative: NOTE [Kept states] in [`crate::kernel::tape`].
    /// If no number is given, it is a quarter of the free memory.
    pub tape_bytes: Option<usize>,
    /// The native backend does not wait for the C compiler: it interprets the program until the compiler has finished in
    /// the background. Floating-point results of the interpreter may differ from compiled ones in the last places.
    pub tiered: bool,
    /// A strict pipeline evaluates the program before and after each pass: NOTE [Validation by evaluation].
    pub validate: bool,
    /// The program is compiled once for all extents, instead of for those of its arguments.
    pub one_version: bool,
    /// The passes and the rewrites of fusion that are left out: some of [`rules`].
    pub without: Vec<&'static str>,
    /// A failure that a test injects.
    #[doc(hidden)]
    pub fault: Option<Fault>,
}

/// An injected failure of the pass of this name; `emit` is the stage of the backend.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It panics.
    Panic(&'static str),
    /// It returns a program that is not well formed.
    Reject(&'static str),
    /// It returns a well-formed program that computes something else: the results in reverse order.
    Wrong(&'static str),
    /// The compiler of the backend refuses the optimised program.
    Refuse,
}

impl Options {
    /// The options that the environment sets: `ACCEL_CHECK=1` for checked proofs, `ACCEL_STRICT=1` for a strict
    /// pipeline, `ACCEL_VALIDATE=1` for the evaluation of passes in such a pipeline, `ACCEL_TAPE_BYTES` for the memory of
    /// states, `ACCEL_TIERED=1` for the interpreter as first tier, `ACCEL_VERSIONS=0` for one version of a program, and `ACCEL_WITHOUT=share,merge` for passes and rewrites that
    /// are left out.
    ///
    /// # Errors
    /// `Error::Environment` if `ACCEL_TAPE_BYTES` is not a number, or `ACCEL_WITHOUT` has another name than those of [`rules`].
    pub fn from_env() -> Result<Options> {
        let is_set = |name| std::env::var_os(name).is_some_and(|v| !v.is_empty() && v != "0");
        let tape_bytes = Budget::from_env()?;
        let [check, strict, tiered, validate] =
            ["ACCEL_CHECK", "ACCEL_STRICT", "ACCEL_TIERED", "ACCEL_VALIDATE"].map(is_set);
        let one_version = std::env::var_os("ACCEL_VERSIONS").is_some_and(|v| v == "0");
        let without = std::env::var_os("ACCEL_WITHOUT").unwrap_or_default();
        let without = named(&without.to_string_lossy())?;
        Ok(Options { check, strict, tape_bytes, tiered, validate, one_version, without, fault: None })
    }

    /// Runs a stage and turns a panic into an error.
    fn catching_panics<T>(&self, name: &str, stage: impl FnOnce() -> Result<T>) -> Result<T> {
        let stage = || {
            if self.fault.is_some_and(|f| matches!(f, Fault::Panic(at) if at == name)) {
                panic!("a test asks for it");
            }
            if self.fault == Some(Fault::Refuse) && name == EMIT {
                return Err(Error::Compiler("a test asks for it".into()));
            }
            stage()
        };
        // What a stage was changing is dropped with it, so nobody sees it half changed.
        catch_unwind(AssertUnwindSafe(stage)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<&str>().copied();
            let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
            Err(Error::Internal(format!("{name} panicked: {text}")))
        })
    }

    /// Runs a pass and verifies its result.
    fn pass(&self, pass: &Pass, before: &Program, learned: &mut PassState) -> Result<Verified<Program>> {
        self.catching_panics(pass.name, || {
            let mut program = (pass.run)(before, learned)?;
            if self.fault == Some(Fault::Reject(pass.name)) {
                program.results.push(program.arrays.next_idx());
            }
            if self.fault == Some(Fault::Wrong(pass.name)) {
                program.results.reverse();
            }
            let after = stage(pass.name, program)?;
            print::dump_with("rules", || {
                let same = after.to_string() == before.to_string();
                if same { format!("{}: nothing to do", pass.name) } else { pass.name.into() }
            });
            learned.validate(pass.name, before, &after, &|| learned.assumptions.clone())?;
            Ok(after)
        })
    }

    /// Runs the passes for a target until one fails.
    fn passes(
        &self,
        lowered: &Verified<Program>,
        target: Target,
        assume: bool,
        known: InputExtents,
    ) -> Result<Optimized> {
        let (mut good, mut complete) = (lowered.clone(), true);
        let validate = self.strict && self.validate;
        let validation = validate.then(|| Arc::new((Validation::new(lowered, &known), given(lowered))));
        let inputs = lowered.inputs.clone();
        let (without, tape_bytes) = (self.without.clone(), self.tape_bytes);
        let mut learned =
            PassState { target, assume, inputs, known, validation, tape_bytes, without, ..PassState::default() };
        for pass in target.passes().filter(|pass| !self.without.contains(&pass.name)) {
            let mut more = learned.clone();
            match self.pass(&pass, &good, &mut more) {
                Ok(next) => (good, learned) = (next, more),
                Err(e) => {
                    self.failed(pass.name, e, &Text(&good))?;
                    complete = false;
                    break;
                }
            }
        }
        let conditions = Conditions { assumptions: learned.assumptions, given: given(lowered), extents: learned.known };
        Ok(Optimized { program: self.checked(good)?, conditions, complete })
    }

    /// Makes proofs checked if the options ask for it. It also does so after a failure of a pass.
    fn checked(&self, program: Verified<Program>) -> Result<Verified<Program>> {
        if !self.check {
            return Ok(program);
        }
        let checked = self.pass(&CHECKS, &program, &mut PassState::default());
        checked.or_else(|e| self.failed(CHECKS.name, e, &Text(&program)).map(|()| program))
    }

    /// Reports that a stage failed. A strict pipeline returns the error.
    fn failed(&self, stage: &str, error: Error, last_good: &dyn Display) -> Result<()> {
        if self.strict {
            return Err(error);
        }
        Report { stage, error: &error, last_good }.send();
        Ok(())
    }
}

/// A program on its way to a target. It is simplified and lowered when the result is needed first.
pub struct Pipeline {
    program: ast::Program,
    target: Target,
    options: Options,
    key: OnceLock<ProgramKey>,
    lowered: OnceLock<Result<Lowered>>,
}

/// A simplified and lowered program.
struct Lowered {
    simplified: ast::Program,
    program: Verified<Program>,
    /// Whether the simplifier has not failed.
    complete: bool,
}

impl Pipeline {
    /// Simplifies and lowers a program.
    ///
    /// # Errors
    /// `Error::Internal` if it cannot be lowered; in a strict pipeline also if it cannot be simplified.
    pub fn new(program: &ast::Program, target: Target, options: Options) -> Result<Pipeline> {
        let pipeline = Pipeline::lazy(program, target, options);
        pipeline.lowered()?;
        Ok(pipeline)
    }

    /// As [`new`](Self::new), but does nothing yet. Errors are those of the function that needs a result.
    pub fn lazy(program: &ast::Program, target: Target, options: Options) -> Pipeline {
        Pipeline { program: program.clone(), target, options, key: OnceLock::new(), lowered: OnceLock::new() }
    }

    fn lowered(&self) -> Result<&Lowered> {
        let lower = || {
            let Pipeline { program, options, .. } = self;
            let simplified = options.catching_panics("simplify", || Ok(simplify(program)?.0));
            let complete = simplified.is_ok();
            let simplified =
                simplified.or_else(|e| options.failed("simplify", e, program).map(|()| program.clone()))?;
            let lowered = options.catching_panics("lower", || stage("lower", lowering::lower(&simplified)));
            let lowered = lowered.or_else(|e| options.failed("lower", e.clone(), &simplified).and(Err(e)))?;
            Ok(Lowered { simplified, program: lowered, complete })
        };
        self.lowered.get_or_init(lower).as_ref().map_err(Clone::clone)
    }

    /// The typed program before the simplifier.
    pub fn program(&self) -> &ast::Program {
        &self.program
    }

    /// The key of the typed program before the simplifier.
    pub fn key(&self) -> &ProgramKey {
        self.key.get_or_init(|| canonical_key::program(&self.program))
    }

    /// The typed program after the simplifier.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn simplified(&self) -> Result<&ast::Program> {
        Ok(&self.lowered()?.simplified)
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The bytes for states of loops, if the options set them.
    pub fn tape_bytes(&self) -> Option<usize> {
        self.options.tape_bytes
    }

    /// The optimised program. With `assume`, the optimiser assumes those conditions on the extents of the arguments
    /// that make the program simplest.
    ///
    /// # Errors
    /// `Error::Internal` if a pass of a strict pipeline fails.
    pub fn optimized(&self, assume: bool) -> Result<Optimized> {
        self.optimized_with(assume, InputExtents::default())
    }

    /// The optimised program for arguments with these extents. The optimiser assumes conditions on the others.
    ///
    /// # Errors
    /// `Error::Internal` if a pass of a strict pipeline fails.
    pub fn optimized_for(&self, extents: &InputExtents) -> Result<Optimized> {
        self.optimized_with(true, extents.clone())
    }

    fn optimized_with(&self, assume: bool, known: InputExtents) -> Result<Optimized> {
        let lowered = self.lowered()?;
        let optimized = self.options.passes(&lowered.program, self.target, assume, known)?;
        Ok(Optimized { complete: optimized.complete && lowered.complete, ..optimized })
    }

    /// Runs the backend's stage `emit` on the optimised program. If it fails, runs it on the program before all passes:
    /// NOTE [Fallback after a failed pass].
    ///
    /// # Errors
    /// The errors of `emit`.
    pub fn emit<T>(&self, optimized: &Optimized, emit: impl Fn(&Verified<Program>) -> Result<T>) -> Result<T> {
        let unoptimized = || {
            let program = self.options.checked(self.lowered()?.program.clone())?;
            Options::default().catching_panics(EMIT, || emit(&program))
        };
        let failed = |e| self.options.failed(EMIT, e, &Text(&optimized.program));
        match self.options.catching_panics(EMIT, || emit(&optimized.program)) {
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

/// An optimised program, and the conditions under which it is correct.
#[derive(Clone, Debug)]
pub struct Optimized {
    /// The program.
    pub program: Verified<Program>,
    /// The program must not be run for arguments that do not satisfy these conditions.
    pub conditions: Conditions,
    /// Whether no pass has failed.
    pub complete: bool,
}

/// The conditions for running a program: NOTE [Assumptions on extents].
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// The extents of inputs that are constants.
    pub extents: InputExtents,
    pub(crate) assumptions: Assumptions,
    /// The arrays in the conditions, with their numbers before all passes.
    pub(crate) given: BTreeMap<ArrayId, Given>,
}

/// An array whose extents are known before the run.
#[derive(Clone, Debug)]
pub(crate) enum Given {
    /// An input, by its number.
    Input(usize),
    /// A literal.
    Literal(RawExtents),
}

impl Conditions {
    /// Whether the conditions hold. `input` gives the extents of an input by its number.
    pub fn hold<'a>(&self, input: impl Fn(usize) -> Option<&'a [usize]>) -> bool {
        self.have_extents(&input)
            && self.assumptions.hold(|a, dim| match self.given.get(&a)? {
                Given::Input(k) => input(*k)?.get(dim).copied(),
                Given::Literal(extents) => extents.get(dim).copied(),
            })
    }

    /// Whether the inputs have the extents that are constants. `input` gives the extents of an input by its number.
    pub fn have_extents<'a>(&self, input: impl Fn(usize) -> Option<&'a [usize]>) -> bool {
        let fits = |(known, found): (&Option<usize>, &usize)| known.is_none_or(|n| n == *found);
        self.extents.iter().enumerate().all(|(k, known)| input(k).is_some_and(|e| known.iter().zip(e).all(fits)))
    }

    /// Whether there are no conditions.
    pub fn is_empty(&self) -> bool {
        self.assumptions.is_empty() && self.extents.iter().flatten().all(Option::is_none)
    }
}

/// The inputs and literals of a program.
fn given(program: &Program) -> BTreeMap<ArrayId, Given> {
    let inputs = program.inputs.iter().enumerate().map(|(k, a)| (*a, Given::Input(k)));
    let literals = program.body.stmts.iter().filter_map(|s| match s.op {
        Op::Literal { to, literal } => Some((to, Given::Literal(program.literals.get(literal)?.extents.clone()))),
        _ => None,
    });
    inputs.chain(literals).collect()
}

/// A strict pipeline, validated and without rules if the environment asks for it.
fn strict() -> Options {
    let Options { validate, without, .. } = Options::from_env().unwrap_or_default();
    Options { strict: true, validate, without, ..Options::default() }
}

/// Lowers a program to a kernel program.
///
/// # Errors
/// `Error::Internal` if it cannot be lowered.
pub fn lower(program: &ast::Program) -> Result<Verified<Program>> {
    strict().catching_panics("lower", || stage("lower", lowering::lower(program)))
}

/// Optimises a program. The result may fail less often, since it does not compute what no result needs. With `assume`,
/// the optimiser assumes those conditions on the extents of the arguments that make the program simplest.
///
/// # Errors
/// `Error::Internal` if the program is not well formed, or a pass fails.
pub fn optimize(program: &Program, assume: bool) -> Result<Optimized> {
    optimize_for(program, Target::Any, assume)
}

/// As [`optimize`], for a target.
///
/// # Errors
/// `Error::Internal` if the program is not well formed, or a pass fails.
pub fn optimize_for(program: &Program, target: Target, assume: bool) -> Result<Optimized> {
    strict().passes(&Verified::new(program.clone())?, target, assume, InputExtents::default())
}

/// Groups statements into strips where this pays.
///
/// # Errors
/// `Error::Internal` if the pass fails.
pub fn strips(program: &Program) -> Result<Verified<Program>> {
    strict().pass(&STRIPS, program, &mut PassState::default())
}

/// Lets scans write their results where they are used.
///
/// # Errors
/// `Error::Internal` if the pass fails.
pub fn scans(program: &Program) -> Result<Verified<Program>> {
    let down = strict().pass(&SCANS, program, &mut PassState::default())?;
    strict().pass(&COPIES, &down, &mut PassState::default())
}

/// Replaces the strips that define these arrays by their statements, one after the other.
///
/// # Errors
/// `Error::Internal` if the pass fails.
pub fn dissolve(program: &Program, strips: &BTreeSet<ArrayId>) -> Result<Verified<Program>> {
    strict().pass(&DISSOLVE, program, &mut PassState { dissolved: strips.clone(), ..PassState::default() })
}

/// Replaces the strips that define these arrays by finer ones where this is possible, and otherwise by their statements.
///
/// # Errors
/// `Error::Internal` if the pass fails.
pub fn finer(program: &Program, strips: &BTreeSet<ArrayId>) -> Result<Verified<Program>> {
    strict().pass(&FINER, program, &mut PassState { dissolved: strips.clone(), ..PassState::default() })
}

/// Lets products compute their operands. This is for processors on which computing an operand is cheaper than loading
/// it.
///
/// # Errors
/// `Error::Internal` if the pass fails.
pub fn compute_operands(program: &Program) -> Result<Verified<Program>> {
    strict().pass(&OPERANDS, program, &mut PassState::default())
}

/// Gives elements with private lists statements of their own, for devices whose work-items have little memory.
///
/// # Errors
/// `Error::Internal` if the pass fails.
pub fn separate_lists(program: &Program) -> Result<Verified<Program>> {
    strict().pass(&LISTS, program, &mut PassState::default())
}

/// Makes reads checked although they were proved to be within bounds.
///
/// # Errors
/// `Error::Internal` if the pass fails.
pub fn with_checked_proofs(program: &Program) -> Result<Verified<Program>> {
    strict().pass(&CHECKS, program, &mut PassState::default())
}
