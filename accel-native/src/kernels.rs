//! Compiled kernel programs.

use crate::bundle::format::{Reader, Writer};
use crate::cache::{self, Key};
use crate::context::CompiledProgram;
use crate::runtime::{self, New, Outcome, Place};
use crate::toolchain::{self, Toolchain};
use accel_codegen::{KnownWays, Module, Vectors, emit_for, excluded_strips, ways_for};
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
    program: Verified<Program>,
    /// Gives the forms of the program.
    forms: Box<dyn Forms>,
    /// The program with all strips.
    whole: Code,
    /// The program without some of its strips.
    without: Mutex<HashMap<Left, Arc<Code>>>,
    /// Whether there is such a program. Most never need the locks.
    is_dissolved: AtomicBool,
    /// The extents of inputs for which strips do not pay, and what the program is left without then. Other runs find out after some
    /// statements, whose work is lost.
    known: Mutex<Known>,
}

/// Where the forms of a program come from: from the compiler, or from a bundle, which does not need the code of the compiler.
pub(crate) trait Forms: Send + Sync {
    /// What the program is left without for inputs of these extents, as far as this is known before a run: NOTE [Choice of strips] in
    /// `accel_codegen`.
    ///
    /// # Errors
    /// A pass fails.
    fn choose(&self, program: &Verified<Program>, inputs: &[Vec<usize>]) -> Result<Left>;

    /// A form; `None` if it is not there, or if the compiler takes too long. It may be for inputs with the same ways as these only, if they
    /// are known: NOTE [Ways on demand] in `accel_codegen`.
    ///
    /// # Errors
    /// As [`Kernels::new`].
    fn form(
        &self,
        program: &Verified<Program>,
        left: &Left,
        inputs: Option<&[Vec<usize>]>,
    ) -> Result<Option<CompiledProgram>>;

    /// Whether a run tries the next form if one is not there.
    fn has_last(&self) -> bool;
}

/// The C compiler makes forms.
pub(crate) struct Compiler {
    form: Form,
    /// The digest of the program's file if it is in the cache.
    stored: Option<Key>,
}

impl Forms for Compiler {
    fn choose(&self, program: &Verified<Program>, inputs: &[Vec<usize>]) -> Result<Left> {
        let excluded = |program: &Program| excluded_strips(program, self.form.vectors, inputs);
        let (all, mut left) = (excluded(program), Left::default());
        for strip in &all {
            let is_finer = Left { finer: [*strip].into(), gone: BTreeSet::new() };
            let program = is_finer.of(program)?;
            let still = excluded(&program);
            let pays = still.iter().all(|a| a != strip && all.contains(a));
            if pays { &mut left.finer } else { &mut left.gone }.insert(*strip);
        }
        Ok(left)
    }

    fn form(
        &self,
        program: &Verified<Program>,
        left: &Left,
        inputs: Option<&[Vec<usize>]>,
    ) -> Result<Option<CompiledProgram>> {
        if *left != Left::default() {
            tracing::debug!(?left, "strips do not pay: the program is compiled without them");
        }
        let program = left.of(program)?;
        print::dump_with("kernels", || program.to_string());
        let Some(toolchain) = toolchain::toolchain()? else { return Ok(None) };
        let ways = self.ways(&program, inputs);
        let names = self.names(left, &ways, toolchain);
        if let Some(library) = names.iter().flatten().find_map(cache::known_library) {
            return Ok(Some(CompiledProgram::new(program, library, self.form.budget)));
        }
        let module = self.form.emit(&program, &ways, toolchain);
        print::dump_with("c", || module.source.clone());
        let Some((library, key)) = cache::library(&module, toolchain)? else { return Ok(None) };
        if let [Some(name), _] = names {
            cache::remember_library(&name, &key)?;
        }
        Ok(Some(CompiledProgram::new(program, library, self.form.budget)))
    }

    fn has_last(&self) -> bool {
        false
    }
}

impl Compiler {
    /// The ways that a form has, for inputs of these extents.
    fn ways(&self, program: &Program, inputs: Option<&[Vec<usize>]>) -> KnownWays {
        let inputs = inputs.filter(|_| !self.form.varies);
        inputs.map(|inputs| ways_for(program, self.form.vectors, inputs)).unwrap_or_default()
    }

    /// The names under which the keys of a form's libraries are stored, if the program is in the cache: that with these ways, and that with
    /// all of them.
    fn names(&self, left: &Left, ways: &KnownWays, toolchain: &Toolchain) -> [Option<Key>; 2] {
        [ways, &KnownWays::new()].map(|ways| {
            Some(cache::name_of_key(self.stored.as_ref()?, &format!("{left:?} {ways:?}"), self.form.vectors, toolchain))
        })
    }
}

/// What the compiled form of a program depends on besides the program.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub vectors: Vectors,
    pub budget: Budget,
    /// The extents of inputs that are constants.
    pub extents: InputExtents,
    /// Whether inputs of other extents have come before. Then the program gets all ways, so that a third shape compiles nothing.
    pub varies: bool,
}

impl Form {
    /// The form for this processor.
    pub fn new(budget: Budget, extents: InputExtents) -> Form {
        Form { vectors: toolchain::vectors(), budget, extents, varies: false }
    }

    pub fn emit(&self, program: &Verified<Program>, ways: &KnownWays, toolchain: &Toolchain) -> Module {
        emit_for(program, &self.extents, ways, toolchain.options(self.vectors))
    }

    /// The form for any extents, with vector registers of this size and the budget of the environment.
    fn of_vectors(vectors: Vectors) -> Result<Form> {
        Ok(Form { vectors, ..Form::new(Budget::new(Budget::from_env()?), InputExtents::default()) })
    }
}

/// The strips that a program is left without, by the arrays that they define: those in whose places are finer ones where this is possible,
/// and those that are gone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub(crate) struct Left {
    finer: BTreeSet<ArrayId>,
    gone: BTreeSet<ArrayId>,
}

impl Left {
    /// The program without these strips.
    pub fn of(&self, program: &Verified<Program>) -> Result<Verified<Program>> {
        let mut program = program.clone();
        if !self.gone.is_empty() {
            program = dissolve(&program, &self.gone)?;
        }
        if !self.finer.is_empty() {
            program = finer(&program, &self.finer)?;
        }
        Ok(program)
    }

    /// The form without any strips, for a program that has some. It runs for all arguments.
    pub fn all(program: &Program) -> Option<Left> {
        let gone = defined_by_strips(program);
        (!gone.is_empty()).then_some(Left { finer: BTreeSet::new(), gone })
    }

    /// What the program is to be left without if this strip does not pay, or if this form is not there; `None` after the form without any
    /// strips. Each of these programs takes a compilation, so there are no more than three after the first one.
    fn next(&self, program: &Program, strip: Option<ArrayId>) -> Option<Left> {
        let last = Left::all(program)?;
        if *self == Left::default() {
            return Some(Left { finer: strip.into_iter().collect(), gone: BTreeSet::new() });
        }
        let all_finer = Left { finer: last.gone.clone(), gone: BTreeSet::new() };
        let is_last = *self == last;
        (!is_last).then(|| if self.gone.is_empty() && *self != all_finer { all_finer } else { last })
    }

    pub fn write(&self, out: &mut Writer) {
        for strips in [&self.finer, &self.gone] {
            out.number(strips.len());
            strips.iter().for_each(|a| out.number(a.index()));
        }
    }

    pub fn read(reader: &mut Reader<'_>) -> Option<Left> {
        let array = |reader: &mut Reader<'_>| Some(ArrayId::new(reader.number().filter(|n| *n <= ArrayId::MAX_INDEX)?));
        let mut strips = || Some(reader.list(array)?.into_iter().collect());
        Some(Left { finer: strips()?, gone: strips()? })
    }
}

/// A compiled program; `None` if the compiler takes too long.
type Compiled = OnceLock<Result<Option<CompiledProgram>>>;

/// The code of a form of a program; compiled on first use.
#[derive(Default)]
struct Code {
    /// With the ways that the first inputs need: NOTE [Ways on demand] in `accel_codegen`.
    first: Compiled,
    /// With all ways, after a run has needed another one.
    all: Compiled,
}

impl Code {
    /// The code for the next run. `compile` makes it with the ways that the inputs need.
    fn current(&self, compile: impl FnOnce() -> Result<Option<CompiledProgram>>) -> &Result<Option<CompiledProgram>> {
        self.all.get().unwrap_or_else(|| self.first.get_or_init(compile))
    }

    /// The code for the next run, if it is there.
    fn get(&self) -> Option<&CompiledProgram> {
        self.all.get().or(self.first.get())?.as_ref().ok()?.as_ref()
    }
}

/// What is chosen for inputs of some extents.
pub(crate) type Known = HashMap<Vec<usize>, Left>;

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
    /// `stored` is the digest of the program's file if it is in the cache, and `inputs` are the extents of the first inputs if they are known.
    pub(crate) fn of_pipeline(
        program: &Verified<Program>,
        form: Form,
        stored: Option<&Key>,
        inputs: &[Vec<usize>],
    ) -> Result<Option<Kernels>> {
        let kernels = Kernels::of(program, form, stored);
        let left = kernels.forms.choose(program, inputs)?;
        let known = (inputs.len() == program.inputs.len()).then_some(inputs);
        let found = kernels.forms.form(program, &left, known)?;
        Ok(found.map(|code| kernels.with_form(left, code, inputs)))
    }

    /// As [`of_pipeline`](Self::of_pipeline), if the library is there. That of a program in the cache is there if it is known: NOTE
    /// [Known libraries].
    pub(crate) fn in_cache(
        program: &Verified<Program>,
        form: Form,
        stored: Option<&Key>,
        inputs: &[Vec<usize>],
    ) -> Result<Found> {
        let Some(toolchain) = toolchain::toolchain()? else { return Ok(Found::NoCompiler) };
        let compiler = Compiler { form, stored: stored.copied() };
        let left = compiler.choose(program, inputs)?;
        let program_left = left.of(program)?;
        let ways = compiler.ways(&program_left, Some(inputs));
        let library = match compiler.names(&left, &ways, toolchain) {
            [Some(name), all] => cache::known_library(&name).or_else(|| cache::known_library(&all?)),
            _ => cache::stored_library(&compiler.form.emit(&program_left, &ways, toolchain), toolchain)?,
        };
        let Some(library) = library else { return Ok(Found::Nothing) };
        let code = CompiledProgram::new(program_left, library, compiler.form.budget);
        Ok(Found::Kernels(Box::new(
            Kernels::of_forms(program.clone(), Box::new(compiler)).with_form(left, code, inputs),
        )))
    }

    fn with(program: Verified<Program>, vectors: Vectors) -> Result<Option<Kernels>> {
        Self::of_pipeline(&program, Form::of_vectors(vectors)?, None, &[])
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
        self.program.takes(inputs.iter().copied()) && inputs.iter().all(|a| checked_size(a.extents()).is_some())
    }

    /// As [`run`](Self::run), for inputs that fit, with results that go to some place. `None` if another form of the program is needed and the
    /// compiler takes too long.
    pub(crate) fn run_with<P: Place>(&self, inputs: &[View<'_>], place: &mut P) -> Result<Option<P::Results>> {
        let first = self.first(inputs)?;
        let mut left = first.clone();
        loop {
            let form = self.without(&left);
            let form = form.as_deref().unwrap_or(&self.whole);
            let has_all = form.all.get().is_some();
            let compile = |inputs: Option<&[Vec<usize>]>| self.forms.form(&self.program, &left, inputs);
            let code = form.current(|| compile(Some(&each(inputs)))).as_ref().map_err(Clone::clone)?;
            let strip = match code.as_ref().map(|code| runtime::run(code, inputs, place)).transpose()? {
                Some(Outcome::Done(results, bytes)) => {
                    tracing::trace!(bytes, "the most memory of the run");
                    // Nothing else decides which strips pay, so the same inputs always have the same results.
                    if left != first && strips_follow_from_extents(&self.program) {
                        self.remember(extents(inputs), &left);
                    }
                    return Ok(Some(results));
                }
                Some(Outcome::NoStrip(strip)) => Some(strip),
                Some(Outcome::NoWay) if !has_all => {
                    // The next round has this code.
                    form.all.get_or_init(|| compile(None));
                    continue;
                }
                Some(Outcome::NoWay) => return Err(Error::Internal("a program with all ways lacks one".into())),
                None if self.forms.has_last() => None,
                None => return Ok(None),
            };
            let chosen = if left == Left::default() { self.chosen(inputs)? } else { Left::default() };
            left = match left.next(&self.program, strip) {
                Some(_) if chosen != Left::default() => chosen,
                Some(next) => next,
                None if strip.is_none() => return Ok(None),
                None => return Err(Error::Internal("a program without strips that has strips".into())),
            };
        }
    }
}

impl Kernels {
    fn of(program: &Verified<Program>, form: Form, stored: Option<&Key>) -> Kernels {
        Kernels::of_forms(program.clone(), Box::new(Compiler { form, stored: stored.copied() }))
    }

    /// A program, and where its forms come from.
    pub(crate) fn of_forms(program: Verified<Program>, forms: Box<dyn Forms>) -> Kernels {
        let (whole, without, is_dissolved, known) = Default::default();
        Kernels { program, forms, whole, without, is_dissolved, known }
    }

    /// With a form that is there, and was chosen for inputs of these extents.
    pub(crate) fn with_form(self, left: Left, code: CompiledProgram, inputs: &[Vec<usize>]) -> Kernels {
        self.remember(inputs.concat(), &left);
        let form = self.without(&left);
        // Nobody else has these kernels yet.
        let _ = form.as_deref().unwrap_or(&self.whole).first.set(Ok(Some(code)));
        self
    }

    /// The form with all strips, if it is there.
    pub(crate) fn whole(&self) -> Option<&CompiledProgram> {
        self.whole.get()
    }

    /// The forms without strips that runs have asked for.
    pub(crate) fn forms(&self) -> Vec<Left> {
        locked(&self.without).keys().cloned().collect()
    }

    /// What is known to be chosen for inputs of some extents.
    pub(crate) fn known(&self) -> Known {
        locked(&self.known).clone()
    }

    /// What the program is left without at first, for these inputs. As long as there is only the form with all strips, runs decide.
    fn first(&self, inputs: &[View<'_>]) -> Result<Left> {
        let is_whole = self.whole.get().is_some();
        if is_whole && !self.is_dissolved.load(Ordering::Relaxed) {
            return Ok(Left::default());
        }
        let known = locked(&self.known).get(&extents(inputs)).cloned();
        match known {
            Some(left) => Ok(left),
            None if is_whole => Ok(Left::default()),
            None => self.chosen(inputs),
        }
    }

    /// What is chosen for these inputs before a run.
    fn chosen(&self, inputs: &[View<'_>]) -> Result<Left> {
        let left = self.forms.choose(&self.program, &each(inputs))?;
        self.remember(extents(inputs), &left);
        Ok(left)
    }

    fn remember(&self, extents: Vec<usize>, left: &Left) {
        if *left == Left::default() {
            return;
        }
        let mut known = locked(&self.known);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(extents, left.clone());
    }

    /// The program without some strips; `None` for that with all of them.
    fn without(&self, left: &Left) -> Option<Arc<Code>> {
        if *left == Left::default() {
            return None;
        }
        self.is_dissolved.store(true, Ordering::Relaxed);
        Some(locked(&self.without).entry(left.clone()).or_default().clone())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The extents of each input.
pub(crate) fn each(inputs: &[View<'_>]) -> Vec<Vec<usize>> {
    inputs.iter().map(|a| a.extents().to_vec()).collect()
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
        let strips: Vec<ArrayId> = defined_by_strips(&kernels.program).into_iter().collect();
        let tried = || {
            let mut all: Vec<Left> = locked(&kernels.without).keys().cloned().collect();
            all.sort();
            all
        };
        let of = |ks: &[usize]| ks.iter().map(|k| strips[*k]).collect();
        let left = |finer: &[usize], gone: &[usize]| Left { finer: of(finer), gone: of(gone) };
        check(&kernels, [narrow, narrow]);
        assert_eq!(tried(), []);
        for _ in 0..2 {
            check(&kernels, [narrow, wide]);
            assert_eq!(tried(), [left(&[1], &[])]);
        }
        for _ in 0..2 {
            check(&kernels, [wide, wide]);
            assert_eq!(tried(), [left(&[0, 1], &[]), left(&[1], &[])]);
        }
        check(&kernels, [wide, narrow]);
        assert_eq!(tried().len(), 3);
        // Also finer strips of such rows are too large.
        check(&kernels, [[1, 3, 100_000], wide]);
        assert_eq!(tried().len(), 4);
        assert!(tried().contains(&left(&[1], &[0])), "{:?}", tried());
        assert_eq!(locked(&kernels.known).len(), 4);
    }

    /// What is decided before anything is compiled is what runs find out.
    #[test]
    fn strips_that_do_not_pay_for_the_first_inputs_are_not_compiled() {
        let two = two_strips();
        let some = [[100, 3, 3], [3, 100, 50], [1, 3, 100_000], [0, 5, 5], [5, 0, 5], [40, 40, 400], [4, 5000, 64]];
        for first in some {
            for second in [[100, 3, 3], [3, 100, 50]] {
                let inputs = [first.to_vec(), second.to_vec()];
                let form = || Form::of_vectors(toolchain::vectors()).unwrap();
                let chosen = Kernels::of_pipeline(&two.program, form(), None, &inputs).unwrap().unwrap();
                let compiled = |k: &Kernels| (k.whole().is_some(), k.forms());
                let before = compiled(&chosen);
                assert_eq!(before.0, before.1.is_empty(), "{inputs:?}: one form");
                check(&chosen, [first, second]);
                assert_eq!(compiled(&chosen), before, "{inputs:?}");
                check(&two, [first, second]);
                // The other extents run, too.
                check(&chosen, [second, first]);
            }
        }
    }

    /// Programs with a single reduction or scan, by the element of a row, its extents and its length.
    fn rows() -> Vec<Verified<Program>> {
        let sum = "init () { x0: f64 = 0.0 -> x0 } op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }";
        let last = "op (x0: f64, x1: f64) { x2: f64 = x0 * x1; x3: f64 = x2 + x1 -> x3 }";
        let (along, down) = ("a0[x0, x1]", "a0[x1, x0]");
        let of = |operation: &str, rank: usize, read: &str, rest: &str| {
            let (rows, len) = if read == along { (0, 1) } else { (1, 0) };
            format!(
                "a1: Array{rank}<f64> = {operation}
                   extents () {{ x0: i64 = extent a0 {rows} -> x0 }}
                   len () {{ x0: i64 = extent a0 {len} -> x0 }}
                   element (x0: i64, x1: i64) {{ x2: f64 = {read} @0 inside; x3: f64 = x2 * x2 -> x3 }}
                   {rest}
                 -> a1"
            )
        };
        // In tiles, as distances of points are.
        let distances = format!(
            "a1: Array2<f64> = reduce @0 sum
               extents () {{ x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1 }}
               len () {{ x0: i64 = 20 -> x0 }}
               element (x0: i64, x1: i64, x2: i64) {{
                 x3: f64 = a0[x0, x1] @0 inside; x4: f64 = as f64 x2; x5: f64 = x3 - x4; x6: f64 = x5 * x5 -> x6 }}
               {sum}
             -> a1"
        );
        let all = [
            of("reduce @0 sum", 1, along, sum),
            of("reduce @0 sum", 1, down, sum),
            of("reduce @0", 1, along, last),
            of("reduce @0", 1, down, last),
            of("scan @0 sum", 2, along, sum),
            of("scan @0", 2, down, last),
            distances,
        ];
        let program = |body: String| format!("program (a0: Array2<f64>)\nsite 0 = \"rows\"\n{{\n{body}\n}}");
        all.map(|body| strips(&parse(&program(body)).unwrap()).unwrap()).into()
    }

    /// A program that is compiled for inputs of some extents has the code for these, gives the same bits as the one for all extents, and gets
    /// the code for others when they come.
    #[test]
    fn ways_that_the_first_inputs_do_not_need_are_compiled_when_others_come() {
        let all =
            [[0, 3], [1, 1], [3, 5], [40, 20], [900, 7], [7, 900], [2, 90_000], [90_000, 2], [300, 300], [40_000, 20]];
        let input = |[n, m]: [usize; 2]| {
            let numbers: Vec<f64> = (0..n * m).map(|k| (k as f64 * 0.7).sin() + 0.1).collect();
            RawArray { extents: [n, m][..].into(), columns: vec![Column::from(numbers)].into() }
        };
        let bits = |found: Result<Vec<RawArray>>| match found.map(|mut found| found.remove(0).columns.remove(0)) {
            Ok(Column::F64(c)) => Ok(c.iter().map(|x| x.to_bits()).collect::<Vec<_>>()),
            Ok(other) => panic!("{other:?}"),
            Err(e) => Err(e.to_string()),
        };
        for program in rows() {
            // SAFETY: the reads that the texts mark as `inside` are within bounds.
            let general = unsafe { Kernels::trusting(program.clone()) }.unwrap().unwrap();
            let expected: Vec<_> = all.iter().map(|e| bits(general.run(vec![input(*e)]))).collect();
            let mut others = 0;
            for (first, expected_first) in all.iter().zip(&expected) {
                let form = Form::of_vectors(toolchain::vectors()).unwrap();
                let kernels = Kernels::of_pipeline(&program, form, None, &[first.to_vec()]).unwrap().unwrap();
                let run = |e: &[usize; 2]| bits(kernels.run(vec![input(*e)]));
                assert_eq!(run(first), *expected_first, "{first:?} {program}");
                assert!(kernels.whole.all.get().is_none(), "the code for {first:?} is not chosen: {program}");
                for (e, expected) in all.iter().zip(&expected) {
                    assert_eq!(run(e), *expected, "{e:?} after {first:?} {program}");
                }
                others += usize::from(kernels.whole.all.get().is_some());
            }
            assert!(others > 0, "other ways are left out: {program}");
        }
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
