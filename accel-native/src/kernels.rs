//! Compiled kernel programs.

use crate::bundle::format::{Reader, Writer};
use crate::cache::{self, Key};
use crate::context::CompiledProgram;
use crate::runtime::{self, New, Outcome, Place};
use crate::toolchain::{self, Toolchain};
use accel_codegen::{Module, Vectors, emit_for};
use accel_core::error::{Error, Result};
use accel_core::print;
use accel_core::repr::{RawArray, View, Views, checked_size};
use accel_fusion::kernel::tape::Budget;
use accel_fusion::kernel::{ArrayId, Instr, Op, Program, ScalarFn, Verified, walk};
use accel_fusion::optimize::InputExtents;
use accel_fusion::pipeline::{dissolve, finer, with_checked_proofs};
use accel_fusion::strip::defined_by_strips;
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What is known about the compiled form of a kernel program without the C compiler.
pub enum Found {
    /// This machine has no C compiler, or the compiler hangs.
    NoCompiler,
    /// Its library is not there, or not known.
    Nothing,
    /// It is loaded already, or in the cache.
    Kernels(Box<Kernels>),
}

/// A compiled kernel program.
pub struct Kernels {
    pub(crate) code: CompiledProgram,
    /// Gives the program without some of its strips.
    others: Box<dyn Forms>,
    /// The program without some of its strips; compiled on first use.
    without: Mutex<HashMap<Left, Arc<Without>>>,
    /// Whether there is such a program. Most never need the locks.
    is_dissolved: AtomicBool,
    /// The extents of inputs for which strips do not pay, and the program without them. Other runs find out after some
    /// statements, whose work is lost.
    known: Mutex<HashMap<Vec<usize>, Arc<Without>>>,
}

/// Where other forms of a program come from: from the compiler, or from a bundle, which does not need the code of the compiler.
pub(crate) trait Forms: Send + Sync {
    /// A form; `None` if it is not there, or if the compiler takes too long.
    ///
    /// # Errors
    /// As [`Kernels::new`].
    fn form(&self, program: &Verified<Program>, left: &Left) -> Result<Option<CompiledProgram>>;

    /// Whether a run tries the next form if one is not there.
    fn has_last(&self) -> bool;
}

/// The C compiler makes them.
impl Forms for Form {
    fn form(&self, program: &Verified<Program>, left: &Left) -> Result<Option<CompiledProgram>> {
        tracing::debug!(?left, "strips do not pay: the program is compiled without them");
        Kernels::code(left.of(program)?, self, None)
    }

    fn has_last(&self) -> bool {
        false
    }
}

/// What the compiled form of a program depends on besides the program.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub vectors: Vectors,
    pub budget: Budget,
    /// The extents of inputs that are constants.
    pub extents: InputExtents,
}

impl Form {
    /// The form for this processor.
    pub fn new(budget: Budget, extents: InputExtents) -> Form {
        Form { vectors: toolchain::vectors(), budget, extents }
    }

    pub fn emit(&self, program: &Verified<Program>, toolchain: &Toolchain) -> Module {
        emit_for(program, &self.extents, toolchain.options(self.vectors))
    }

    /// The form for any extents, with vector registers of this size and the budget of the environment.
    fn of_vectors(vectors: Vectors) -> Result<Form> {
        Ok(Form { vectors, budget: Budget::new(Budget::from_env()?), extents: InputExtents::default() })
    }
}

/// The strips that a program is left without, by the arrays that they define, and whether finer ones take their places where this is
/// possible.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub(crate) struct Left {
    strips: BTreeSet<ArrayId>,
    is_finer: bool,
}

impl Left {
    /// The program without these strips.
    pub fn of(&self, program: &Verified<Program>) -> Result<Verified<Program>> {
        match self {
            Left { strips, .. } if strips.is_empty() => Ok(program.clone()),
            Left { strips, is_finer: true } => finer(program, strips),
            Left { strips, is_finer: false } => dissolve(program, strips),
        }
    }

    /// The form without any strips, for a program that has some. It runs for all arguments.
    pub fn all(program: &Program) -> Option<Left> {
        let strips = defined_by_strips(program);
        (!strips.is_empty()).then_some(Left { strips, is_finer: false })
    }

    pub fn write(&self, out: &mut Writer) {
        out.number(usize::from(self.is_finer));
        out.number(self.strips.len());
        self.strips.iter().for_each(|a| out.number(a.index()));
    }

    pub fn read(reader: &mut Reader<'_>) -> Option<Left> {
        let is_finer = reader.number()? != 0;
        let array = |reader: &mut Reader<'_>| Some(ArrayId::new(reader.number().filter(|n| *n <= ArrayId::MAX_INDEX)?));
        Some(Left { strips: reader.list(array)?.into_iter().collect(), is_finer })
    }
}

/// A program without some of its strips; `None` if the compiler takes too long.
type Without = OnceLock<Result<Option<CompiledProgram>>>;

/// The largest number of extents that are remembered, so that a program whose extents always differ needs little memory.
const REMEMBERED: usize = 1000;

impl Kernels {
    /// Compiles a kernel program; `None` if this machine has no C compiler, or if it takes too long.
    ///
    /// NOTE [Untrusted kernel programs]: anybody can write a kernel program that marks a read as `inside`, and proofs
    /// of the optimiser hold only under its assumptions. So all reads of a program from outside are checked. Only the
    /// backend trusts the marks: it has the program from the pipeline and checks the assumptions before each run.
    ///
    /// # Errors
    /// `Error::Compiler` if the C compiler fails.
    pub fn new(program: Verified<Program>) -> Result<Option<Kernels>> {
        Self::with(with_checked_proofs(&program)?, toolchain::vectors())
    }

    /// As [`new`](Self::new), without checks of reads that are marked as `inside`.
    ///
    /// # Safety
    /// The marks are right for all inputs with which the program is run: NOTE [Untrusted kernel programs].
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub unsafe fn trusting(program: Verified<Program>) -> Result<Option<Kernels>> {
        Self::with(program, toolchain::vectors())
    }

    /// As [`trusting`](Self::trusting), with vector registers of another size than the processor's.
    ///
    /// # Safety
    /// As [`trusting`](Self::trusting).
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[doc(hidden)]
    pub unsafe fn trusting_with(program: Verified<Program>, vectors: Vectors) -> Result<Option<Kernels>> {
        Self::with(program, vectors)
    }

    /// Compiles a program from the pipeline, which has proved its marks; [`crate::version`] checks the assumptions.
    /// `stored` is the digest of the program's file if it is in the cache.
    pub(crate) fn of_pipeline(
        program: &Verified<Program>,
        form: Form,
        stored: Option<&Key>,
    ) -> Result<Option<Kernels>> {
        let code = Self::code(program.clone(), &form, stored)?;
        Ok(code.map(|code| Kernels::of_code(code, Box::new(form))))
    }

    /// As [`of_pipeline`](Self::of_pipeline), if the library is there. That of a program in the cache is there if it is known: NOTE
    /// [Known libraries].
    pub(crate) fn in_cache(program: &Verified<Program>, form: Form, stored: Option<&Key>) -> Result<Found> {
        let Some(toolchain) = toolchain::toolchain()? else { return Ok(Found::NoCompiler) };
        let library = match stored {
            Some(file) => cache::known_library(&cache::name_of_key(file, form.vectors, toolchain)),
            None => cache::stored_library(&form.emit(program, toolchain), toolchain)?,
        };
        let Some(library) = library else { return Ok(Found::Nothing) };
        let code = CompiledProgram::new(program.clone(), library, form.budget);
        Ok(Found::Kernels(Box::new(Kernels::of_code(code, Box::new(form)))))
    }

    fn with(program: Verified<Program>, vectors: Vectors) -> Result<Option<Kernels>> {
        Self::of_pipeline(&program, Form::of_vectors(vectors)?, None)
    }

    fn code(program: Verified<Program>, form: &Form, stored: Option<&Key>) -> Result<Option<CompiledProgram>> {
        print::dump_with("kernels", || program.to_string());
        let Some(toolchain) = toolchain::toolchain()? else { return Ok(None) };
        let name = stored.map(|file| cache::name_of_key(file, form.vectors, toolchain));
        if let Some(library) = name.as_ref().and_then(cache::known_library) {
            return Ok(Some(CompiledProgram::new(program, library, form.budget)));
        }
        let module = form.emit(&program, toolchain);
        print::dump_with("c", || module.source.clone());
        let Some((library, key)) = cache::library(&module, toolchain)? else { return Ok(None) };
        if let Some(name) = name {
            cache::remember_library(&name, &key)?;
        }
        Ok(Some(CompiledProgram::new(program, library, form.budget)))
    }

    /// Computes the result arrays from the input arrays. The inputs must have the ranks and element types of the
    /// program.
    ///
    /// # Errors
    /// The inputs do not fit, or a check at run time fails.
    pub fn run(&self, inputs: Vec<RawArray>) -> Result<Vec<RawArray>> {
        let inputs: Views<'_> = inputs.iter().map(View::Array).collect();
        if !self.takes(&inputs) {
            return Err(Error::Internal("inputs that do not fit the kernel program".into()));
        }
        Ok(self.run_with(&inputs, &mut New)?.ok_or_else(no_compiler)?.into_vec())
    }

    /// Whether inputs fit.
    pub(crate) fn takes(&self, inputs: &[View<'_>]) -> bool {
        self.code.program.takes(inputs.iter().copied()) && inputs.iter().all(|a| checked_size(a.extents()).is_some())
    }

    /// As [`run`](Self::run), for inputs that fit, with results that go to some place. `None` if another form of the program is needed and the
    /// compiler takes too long.
    pub(crate) fn run_with<P: Place>(&self, inputs: &[View<'_>], place: &mut P) -> Result<Option<P::Results>> {
        let mut without = self.known(inputs);
        let mut left = Left::default();
        loop {
            let code = match &without {
                None => Some(&self.code),
                Some(without) => {
                    let compile = || self.others.form(&self.code.program, &left);
                    without.get_or_init(compile).as_ref().map_err(Clone::clone)?.as_ref()
                }
            };
            let strip = match code.map(|code| runtime::run(code, inputs, place)).transpose()? {
                Some(Outcome::Done(results, bytes)) => {
                    tracing::trace!(bytes, "the most memory of the run");
                    if let Some(without) = without.filter(|_| !left.strips.is_empty()) {
                        self.remember(inputs, without);
                    }
                    return Ok(Some(results));
                }
                Some(Outcome::NoStrip(strip)) => Some(strip),
                None if self.others.has_last() && left.is_finer => None,
                None => return Ok(None),
            };
            left = self.next(&left, strip)?;
            without = Some(self.without(&left));
        }
    }
}

impl Kernels {
    /// A compiled program, and where its other forms come from.
    pub(crate) fn of_code(code: CompiledProgram, others: Box<dyn Forms>) -> Kernels {
        let (without, is_dissolved, known) = Default::default();
        Kernels { code, others, without, is_dissolved, known }
    }

    /// The forms without strips that runs have asked for.
    pub(crate) fn forms(&self) -> Vec<Left> {
        locked(&self.without).keys().cloned().collect()
    }

    /// The program without the strips that are known not to pay for these inputs, if there are any.
    fn known(&self, inputs: &[View<'_>]) -> Option<Arc<Without>> {
        if !self.is_dissolved.load(Ordering::Relaxed) {
            return None;
        }
        locked(&self.known).get(&extents(inputs)).cloned()
    }

    /// Notes the program for inputs of these extents, if nothing else decides which strips pay: the same inputs always have the
    /// same results.
    fn remember(&self, inputs: &[View<'_>], without: Arc<Without>) {
        if strips_follow_from_extents(&self.code.program) {
            let mut known = locked(&self.known);
            if known.len() >= REMEMBERED {
                known.clear();
            }
            known.insert(extents(inputs), without);
        }
    }

    /// What the program is to be left without if this strip does not pay, or if this form is not there. Each of these programs takes a
    /// compilation, so there are no more than three.
    fn next(&self, left: &Left, strip: Option<ArrayId>) -> Result<Left> {
        let all = defined_by_strips(&self.code.program);
        Ok(match left {
            Left { strips, .. } if strips.is_empty() => Left { strips: strip.into_iter().collect(), is_finer: true },
            Left { strips, is_finer: true } => Left { is_finer: *strips != all, strips: all },
            _ => return Err(Error::Internal("a program without strips that has strips".into())),
        })
    }

    /// The program without these strips.
    fn without(&self, left: &Left) -> Arc<Without> {
        self.is_dissolved.store(true, Ordering::Relaxed);
        locked(&self.without).entry(left.clone()).or_default().clone()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The extents of all inputs, one after the other.
fn extents(inputs: &[View<'_>]) -> Vec<usize> {
    inputs.iter().flat_map(|a| a.extents().iter().copied()).collect()
}

/// Whether the extents of the inputs decide which strips pay, whatever the elements: each run computes all strips, and their extents
/// are functions of those of the inputs. Blocks without strips may do anything, but what they define is not known.
fn strips_follow_from_extents(program: &Program) -> bool {
    let mut known: BTreeSet<ArrayId> = program.inputs.iter().copied().collect();
    program.body.stmts.iter().all(|s| match &s.op {
        Op::Strip { body, .. } => std::iter::once(s).chain(&body.stmts).all(|s| note_extents(&s.op, &mut known)),
        op => {
            note_extents(op, &mut known);
            !op.blocks().into_iter().flat_map(|b| b.walk()).any(|s| matches!(s.op, Op::Strip { .. }))
        }
    })
}

/// Enters the arrays that the operation defines if their extents are functions of those of the known ones. Returns whether they are.
fn note_extents(op: &Op, known: &mut BTreeSet<ArrayId>) -> bool {
    let of_known = |code: &ScalarFn| {
        walk(&code.instrs).all(|i| match i {
            Instr::Read { .. } => false,
            Instr::Extent(_, array, _) => known.contains(array),
            _ => true,
        })
    };
    let is_known = match op {
        Op::If { .. } | Op::While { .. } | Op::Recall { .. } => false,
        Op::Permute { defaults: like, .. } | Op::Argsort { keys: like, .. } => known.contains(like),
        Op::Accumulate { sums, .. } if !sums.iter().all(|(_, from)| known.contains(from)) => false,
        op => {
            op.scalar_fns().iter().filter(|(name, _)| ["extents", "len"].contains(name)).all(|(_, code)| of_known(code))
        }
    };
    if is_known {
        known.extend(op.defines());
    }
    is_known
}

fn no_compiler() -> Error {
    Error::Compiler("no C compiler has translated the form of the program for these inputs in time".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use accel_core::repr::Column;
    use accel_fusion::kernel::parse;
    use accel_fusion::pipeline::strips;

    /// The sums of the squares of the rows of two arrays: two strips.
    fn two_strips() -> Kernels {
        let of = |a: usize, squares: usize, sums: usize| {
            format!(
                "a{squares}: Array3<f64> = loop @0
                   extents () {{ x0: i64 = extent a{a} 0; x1: i64 = extent a{a} 1; x2: i64 = extent a{a} 2 -> x0, x1, x2 }}
                   body (x0: i64, x1: i64, x2: i64) {{
                     x3: f64 = a{a}[x0, x1, x2] @0 inside; x4: f64 = x3 * x3 -> x4 }}
                 a{sums}: Array2<f64> = reduce @0 sum
                   extents () {{ x0: i64 = extent a{a} 0; x1: i64 = extent a{a} 1 -> x0, x1 }}
                   len () {{ x0: i64 = extent a{a} 2 -> x0 }}
                   element (x0: i64, x1: i64, x2: i64) {{ x3: f64 = a{squares}[x0, x1, x2] @0 inside -> x3 }}
                   init () {{ x0: f64 = 0.0 -> x0 }}
                   op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}"
            )
        };
        let (first, second) = (of(0, 2, 3), of(1, 4, 5));
        let text = format!(
            "program (a0: Array3<f64>, a1: Array3<f64>)\nsite 0 = \"rows\"\n{{\n{first}\n{second}\n-> a3, a5\n}}"
        );
        let program = strips(&parse(&text).unwrap()).unwrap();
        assert_eq!(program.body.walk().filter(|s| matches!(s.op, Op::Strip { .. })).count(), 2, "{program}");
        // SAFETY: the reads that the text marks as `inside` are within bounds.
        unsafe { Kernels::trusting(program) }.unwrap().expect("the tests need a C compiler")
    }

    /// Ones; the sum of a row is its length.
    fn check(kernels: &Kernels, extents: [[usize; 3]; 2]) {
        let ones = |e: [usize; 3]| RawArray {
            extents: e[..].into(),
            columns: vec![Column::from(vec![1.0; e[0] * e[1] * e[2]])].into(),
        };
        let found = kernels.run(extents.map(ones).to_vec()).unwrap();
        for (found, [n, m, k]) in found.iter().zip(extents) {
            assert!(matches!(&found.columns[0], Column::F64(c) if c[..] == vec![k as f64; n * m]), "{found:?}");
        }
    }

    #[test]
    fn a_strip_that_does_not_pay_leaves_the_others() {
        let kernels = two_strips();
        let (narrow, wide) = ([100, 3, 3], [3, 100, 50]);
        let strips: Vec<ArrayId> = defined_by_strips(&kernels.code.program).into_iter().collect();
        let tried = || {
            let mut all: Vec<Left> = locked(&kernels.without).keys().cloned().collect();
            all.sort();
            all
        };
        let left = |ks: &[usize], is_finer| Left { strips: ks.iter().map(|k| strips[*k]).collect(), is_finer };
        check(&kernels, [narrow, narrow]);
        assert_eq!(tried(), []);
        for _ in 0..2 {
            check(&kernels, [narrow, wide]);
            assert_eq!(tried(), [left(&[1], true)]);
        }
        // The first one is tried without the other strip, then both are finer.
        for _ in 0..2 {
            check(&kernels, [wide, wide]);
            assert_eq!(tried(), [left(&[0], true), left(&[0, 1], true), left(&[1], true)]);
        }
        check(&kernels, [wide, narrow]);
        assert_eq!(tried().len(), 3);
        // Also finer strips of such rows are too large.
        check(&kernels, [[1, 3, 100_000], narrow]);
        assert_eq!(tried(), [left(&[0], true), left(&[0, 1], false), left(&[0, 1], true), left(&[1], true)]);
        assert_eq!(locked(&kernels.known).len(), 4);
    }

    #[test]
    fn strips_are_known_beside_blocks_but_not_in_them_or_of_their_arrays() {
        let known = |text: &str| strips_follow_from_extents(&strips(&parse(text).unwrap()).unwrap());
        let rows = |a: usize, to: usize| {
            format!(
                "a{to}: Array1<f64> = strip @0
                   len () {{ x0: i64 = extent a{a} 0 -> x0 }}
                   body {{
                     a{0}: Array1<f64> = loop @0
                       extents () {{ x0: i64 = extent a{a} 0 -> x0 }}
                       body (x0: i64) {{ x1: f64 = a{a}[x0] @0 inside -> x1 }}
                     a{to}: Array1<f64> = loop @0
                       extents () {{ x0: i64 = extent a{a} 0 -> x0 }}
                       body (x0: i64) {{ x1: f64 = a{0}[x0] @0 inside -> x1 }}
                     -> a{to}
                   }}",
                to + 1
            )
        };
        let block = |then: &str| {
            format!(
                "a1: Array1<f64> = if @0
                   cond () {{ x0: f64 = 0.0; x1: i64 = 0; x2: f64 = a0[x1] @0; x3: bool = x0 < x2 -> x3 }}
                   then {{ {then} }}
                   else {{ -> a0 }}"
            )
        };
        let program = |body: &str, result: usize| {
            format!("program (a0: Array1<f64>)\nsite 0 = \"rows\"\n{{\n{body}\n-> a{result}\n}}")
        };
        assert!(known(&program(&format!("{}\n{}", block("-> a0"), rows(0, 2)), 2)));
        assert!(!known(&program(&format!("{}\n{}", block("-> a0"), rows(1, 2)), 2)));
        assert!(!known(&program(&block(&format!("{}\n-> a2", rows(0, 2))), 1)));
    }
}
