//! Compiled kernel programs.

use crate::cache;
use crate::context::CompiledProgram;
use crate::runtime::{self, Results};
use crate::toolchain::{self, Toolchain};
use accel_codegen::{Module, Vectors, emit};
use accel_core::error::{Error, Result};
use accel_core::print;
use accel_core::repr::{RawArray, checked_size};
use accel_fusion::kernel::tape::Budget;
use accel_fusion::kernel::{Instr, Op, Program, Verified, walk};
use accel_fusion::pipeline::{dissolve, with_checked_proofs};
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// What is known about the compiled form of a kernel program without the C compiler.
pub enum Found {
    /// This machine has no C compiler.
    NoCompiler,
    /// It has to be compiled.
    Nothing,
    /// It is loaded already, or in the cache.
    Kernels(Box<Kernels>),
}

/// A compiled kernel program.
pub struct Kernels {
    pub(crate) code: CompiledProgram,
    vectors: Vectors,
    budget: Budget,
    /// The program without strips, for extents for which strips do not pay. It is compiled on first use.
    plain: OnceLock<Result<CompiledProgram>>,
    /// The extents of inputs for which strips do not pay. Other runs find out after some statements, whose work is lost.
    plain_for: Mutex<HashSet<Vec<usize>>>,
}

/// The largest number of extents that are remembered, so that a program whose extents always differ needs little memory.
const REMEMBERED: usize = 1000;

impl Kernels {
    /// Compiles a kernel program; `None` if this machine has no C compiler.
    ///
    /// NOTE [Untrusted kernel programs]: anybody can write a kernel program that marks a read as `inside`, and proofs
    /// of the optimiser hold only under its assumptions. So all reads of a program from outside are checked. Only the
    /// backend trusts the marks: it has the program from the pipeline and checks the assumptions before each run.
    ///
    /// # Errors
    /// `Error::Compiler` if the C compiler fails.
    pub fn new(program: Verified<Program>) -> Result<Option<Kernels>> {
        Self::with(with_checked_proofs(&program)?, toolchain::vectors(), Budget::new(Budget::from_env()))
    }

    /// As [`new`](Self::new), without checks of reads that are marked as `inside`.
    ///
    /// # Safety
    /// The marks are right for all inputs with which the program is run: NOTE [Untrusted kernel programs].
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub unsafe fn trusting(program: Verified<Program>) -> Result<Option<Kernels>> {
        Self::with(program, toolchain::vectors(), Budget::new(Budget::from_env()))
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
        Self::with(program, vectors, Budget::new(Budget::from_env()))
    }

    /// Compiles a program from the pipeline, which has proved its marks; [`crate::version`] checks the assumptions.
    pub(crate) fn of_pipeline(program: &Verified<Program>, budget: Budget) -> Result<Option<Kernels>> {
        Self::with(program.clone(), toolchain::vectors(), budget)
    }

    /// As [`of_pipeline`](Self::of_pipeline), without a call of the C compiler.
    pub(crate) fn stored(program: &Verified<Program>, budget: Budget) -> Result<Found> {
        let vectors = toolchain::vectors();
        let Some(toolchain) = toolchain::toolchain()? else { return Ok(Found::NoCompiler) };
        let module = Self::module(program, toolchain, vectors);
        let Some(library) = cache::stored_library(&module, toolchain)? else { return Ok(Found::Nothing) };
        let code = CompiledProgram::new(program.clone(), library, budget);
        Ok(Found::Kernels(Box::new(Kernels::of_code(code, vectors, budget))))
    }

    fn with(program: Verified<Program>, vectors: Vectors, budget: Budget) -> Result<Option<Kernels>> {
        let code = Self::code(program, vectors, budget)?;
        Ok(code.map(|code| Kernels::of_code(code, vectors, budget)))
    }

    fn code(program: Verified<Program>, vectors: Vectors, budget: Budget) -> Result<Option<CompiledProgram>> {
        print::dump_with("kernels", || program.to_string());
        let Some(toolchain) = toolchain::toolchain()? else { return Ok(None) };
        let module = Self::module(&program, toolchain, vectors);
        print::dump_with("c", || module.source.clone());
        let library = cache::library(&module, toolchain)?;
        Ok(Some(CompiledProgram::new(program, library, budget)))
    }

    fn module(program: &Verified<Program>, toolchain: &Toolchain, vectors: Vectors) -> Module {
        emit(program, accel_codegen::Options { vector_math: toolchain.vector_math, vectors })
    }

    /// Computes the result arrays from the input arrays. The inputs must have the ranks and element types of the
    /// program.
    ///
    /// # Errors
    /// The inputs do not fit, or a check at run time fails.
    pub fn run(&self, inputs: Vec<RawArray>) -> Result<Vec<RawArray>> {
        let inputs: Vec<_> = inputs.iter().collect();
        if !self.code.program.takes(&inputs) || inputs.iter().any(|a| checked_size(&a.extents).is_none()) {
            return Err(Error::Internal("inputs that do not fit the kernel program".into()));
        }
        Ok(self.run_on(&inputs)?.into_vec())
    }

    /// As [`run`](Self::run), for inputs that fit.
    pub(crate) fn run_on(&self, inputs: &[&RawArray]) -> Result<Results> {
        let mut found = None;
        if !self.is_plain_for(inputs) {
            found = runtime::run(&self.code, inputs)?;
            if found.is_none() {
                self.remember(inputs);
            }
        }
        let (results, bytes) = match found {
            Some(found) => found,
            None => runtime::run(self.plain()?, inputs)?
                .ok_or_else(|| Error::Internal("a program without strips that has strips".into()))?,
        };
        tracing::trace!(bytes, "the most memory of the run");
        Ok(results)
    }
}

impl Kernels {
    fn of_code(code: CompiledProgram, vectors: Vectors, budget: Budget) -> Kernels {
        Kernels { code, vectors, budget, plain: OnceLock::new(), plain_for: Mutex::default() }
    }

    /// Whether it is known that strips do not pay for these inputs.
    fn is_plain_for(&self, inputs: &[&RawArray]) -> bool {
        // Most programs never need the lock.
        self.plain.get().is_some() && self.plain_extents().contains(&extents(inputs))
    }

    /// Notes that strips do not pay for inputs of these extents, if nothing else decides that: the same inputs always have
    /// the same results.
    fn remember(&self, inputs: &[&RawArray]) {
        if extents_follow_from_inputs(&self.code.program) {
            let mut known = self.plain_extents();
            if known.len() >= REMEMBERED {
                known.clear();
            }
            known.insert(extents(inputs));
        }
    }

    fn plain_extents(&self) -> MutexGuard<'_, HashSet<Vec<usize>>> {
        self.plain_for.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn plain(&self) -> Result<&CompiledProgram> {
        let make = || {
            tracing::debug!("strips do not pay: the program is compiled without them");
            Self::code(dissolve(&self.code.program)?, self.vectors, self.budget)?.ok_or_else(no_compiler)
        };
        self.plain.get_or_init(make).as_ref().map_err(Clone::clone)
    }
}

/// The extents of all inputs, one after the other.
fn extents(inputs: &[&RawArray]) -> Vec<usize> {
    inputs.iter().flat_map(|a| a.extents.iter().copied()).collect()
}

/// Whether all extents are functions of those of the inputs, whatever the elements.
fn extents_follow_from_inputs(program: &Program) -> bool {
    program.body.walk().all(|s| {
        let has_blocks = matches!(s.op, Op::If { .. } | Op::While { .. });
        let codes = s.op.scalar_fns();
        let mut of_extents = codes.iter().filter(|(name, _)| ["extents", "len"].contains(name));
        !has_blocks && of_extents.all(|(_, code)| !walk(&code.instrs).any(|i| matches!(i, Instr::Read { .. })))
    })
}

fn no_compiler() -> Error {
    Error::Compiler("there was a C compiler and now there is none".into())
}
