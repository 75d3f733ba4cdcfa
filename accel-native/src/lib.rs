//! The native backend: compiles programs with the system's C compiler, loads them, and runs them on all cores.
//!
//! ```text
//! typed tree --lower--> kernel program --accel-codegen--> C --cc--> shared library (cached on disk) --> arrays
//! ```
//!
//! Compiled libraries are stored in a [cache]. The environment variable `CC` chooses the compiler, which may take
//! `ACCEL_CC_TIMEOUT` seconds for a file (60 by default). Without a compiler, programs are interpreted, after a line on
//! standard error (none with `ACCEL_QUIET=1`). `ACCEL_DUMP=c` prints the generated code, and `ACCEL_CHECK=1` checks at
//! run time what the optimiser has proved. `ACCEL_TAPE_BYTES` limits the memory for states of loops, see
//! [`accel_fusion::kernel::tape`].
//!
//! A run is one call of the compiled program, which calls back for memory and for parallel work. A compiled program can
//! run in many threads at once, including those of a rayon pool; a run changes only its own data. The thread that runs
//! a program executes tasks, too; a pool of one thread is not used at all. Memory is reused after the last use of an
//! array, and a loop that is the last reader of an array overwrites it. A compiled program remembers its last results
//! of 4 MiB or more. The next run reuses their memory if nobody else has them any more. It also keeps the buffer of its
//! largest sort.
//!
//! Floating-point results are those of the reference interpreter, with four exceptions:
//!
//! - Reductions, scans and permutations of many elements combine partial results.
//! - Sums of sums of products may be multiplied after the first sum (`Σₙ Σᵢ fᵢ gₙᵢ = Σᵢ fᵢ Σₙ gₙᵢ`, see
//!   `accel_fusion::optimize`).
//! - Mathematical functions of vectors may differ from the scalar ones in the last places (4 at most).
//! - Sums of products, those of the crate `gemm` and those in strips, round a product and the addition that follows it
//!   once. In strips, they also treat factors below the normal numbers (2.2e-308 for `f64`) as zero.
//!
//! The order in which partial results are combined depends only on the sizes of arrays and on the processor, never on
//! the number of threads or on chance. So the same program gives the same result for the same arguments, bit by bit, on
//! every run and with every size of rayon's pool.

mod abi;
mod background;
pub mod cache;
mod callbacks;
mod context;
mod library;
mod limited;
mod memory;
mod notice;
mod parallel_tasks;
mod pool;
mod product;
mod runtime;
mod runtime_imports;
mod scalar_call;
mod sort;
mod threads;
mod toolchain;
mod vectorized;
mod version;

use accel_codegen::{Module, Vectors, emit};
use accel_core::ast;
use accel_core::backend::{Backend, Executable, check_argument};
use accel_core::error::{Error, Result};
use accel_core::interp::Interpreter;
use accel_core::print;
use accel_core::repr::{ArrayTuple, RawArray, Scalar, checked_size};
use accel_fusion::kernel::tape::Budget;
use accel_fusion::kernel::{Program, Verified};
pub use accel_fusion::pipeline::Options;
use accel_fusion::pipeline::{Pipeline, Target, dissolve, with_checked_proofs};
use context::CompiledProgram;
use std::sync::{Arc, OnceLock};
use toolchain::Toolchain;
use version::{Tiers, Version};

/// The native backend. Its results do not depend on the number of threads, see the [crate's documentation](crate).
#[derive(Clone, Copy, Default, Debug)]
pub struct Native;

impl Backend for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    /// The program is compiled when this function returns, whatever `ACCEL_TIERED` is.
    fn compile(&self, program: &ast::Program) -> Result<Box<dyn Executable>> {
        Configured(Options { tiered: false, ..Options::from_env() }).compile(program)
    }

    /// With `ACCEL_TIERED=1`, the C compiler may still work when this function returns.
    fn start(&self, program: &ast::Program) -> Result<Box<dyn Executable>> {
        Configured(Options::from_env()).compile(program)
    }
}

impl Native {
    /// The backend with these options instead of those of the environment.
    pub fn with(options: Options) -> impl Backend {
        Configured(options)
    }
}

struct Configured(Options);

impl Backend for Configured {
    fn name(&self) -> &'static str {
        Native.name()
    }

    fn compile(&self, program: &ast::Program) -> Result<Box<dyn Executable>> {
        let tiers = if self.0.tiered { Tiers::Both } else { Tiers::Compiled };
        executable(program, &self.0, tiers)
    }
}

/// The vectorized interpreter alone: no program is compiled.
#[derive(Clone, Copy, Default, Debug)]
pub struct Interpreted;

impl Backend for Interpreted {
    fn name(&self) -> &'static str {
        "vectorized"
    }

    fn compile(&self, program: &ast::Program) -> Result<Box<dyn Executable>> {
        executable(program, &Options::from_env(), Tiers::Interpreted)
    }
}

fn executable(program: &ast::Program, options: &Options, tiers: Tiers) -> Result<Box<dyn Executable>> {
    let optimized = || -> Result<Box<dyn Executable>> {
        let pipeline = Arc::new(Pipeline::new(program, Target::Processor, options.clone())?);
        let version = Version::new(&pipeline, true, tiers)?;
        Ok(Box::new(Compiled { version, general: OnceLock::new(), pipeline, tiers }))
    };
    match optimized() {
        // The pipeline has reported this error.
        Err(Error::Internal(_)) if !options.strict => Interpreter.compile(program),
        compiled => compiled,
    }
}

/// What is known about the compiled form of a kernel program without the C compiler.
enum Found {
    /// This machine has no C compiler.
    NoCompiler,
    /// It has to be compiled.
    Nothing,
    /// It is loaded already, or in the cache.
    Kernels(Box<Kernels>),
}

/// A compiled kernel program.
pub struct Kernels {
    code: CompiledProgram,
    vectors: Vectors,
    budget: Budget,
    /// The program without strips, for extents for which strips do not pay. It is compiled on first use.
    plain: OnceLock<Result<CompiledProgram>>,
}

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

    /// Compiles a program from the pipeline, which has proved its marks; [`Compiled`] checks the assumptions.
    fn of_pipeline(program: &Verified<Program>, budget: Budget) -> Result<Option<Kernels>> {
        Self::with(program.clone(), toolchain::vectors(), budget)
    }

    /// As [`of_pipeline`](Self::of_pipeline), without a call of the C compiler.
    fn stored(program: &Verified<Program>, budget: Budget) -> Result<Found> {
        let vectors = toolchain::vectors();
        let Some(toolchain) = toolchain::toolchain()? else { return Ok(Found::NoCompiler) };
        let module = Self::module(program, toolchain, vectors);
        let Some(library) = cache::stored_library(&module, toolchain)? else { return Ok(Found::Nothing) };
        let code = CompiledProgram::new(program.clone(), library, budget);
        Ok(Found::Kernels(Box::new(Kernels { code, vectors, budget, plain: OnceLock::new() })))
    }

    fn with(program: Verified<Program>, vectors: Vectors, budget: Budget) -> Result<Option<Kernels>> {
        let code = Self::code(program, vectors, budget)?;
        Ok(code.map(|code| Kernels { code, vectors, budget, plain: OnceLock::new() }))
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
        self.run_on(&inputs)
    }

    /// As [`run`](Self::run), for inputs that fit.
    fn run_on(&self, inputs: &[&RawArray]) -> Result<Vec<RawArray>> {
        let (results, bytes) = match runtime::run(&self.code, inputs)? {
            Some(found) => found,
            None => runtime::run(self.plain()?, inputs)?
                .ok_or_else(|| Error::Internal("a program without strips that has strips".into()))?,
        };
        tracing::trace!(bytes, "the most memory of the run");
        Ok(results)
    }
}

impl Kernels {
    fn plain(&self) -> Result<&CompiledProgram> {
        let make = || {
            tracing::debug!("strips would take too much memory: the program is compiled without them");
            Self::code(dissolve(&self.code.program)?, self.vectors, self.budget)?.ok_or_else(no_compiler)
        };
        self.plain.get_or_init(make).as_ref().map_err(Clone::clone)
    }
}

/// A typed program, ready to run.
struct Compiled {
    /// The version for extents that satisfy the assumptions.
    version: Version,
    /// The version for other extents. It is made on first use.
    general: OnceLock<Result<Version>>,
    pipeline: Arc<Pipeline>,
    tiers: Tiers,
}

fn no_compiler() -> Error {
    Error::Compiler("there was a C compiler and now there is none".into())
}

impl Executable for Compiled {
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple> {
        check_argument(argument, self.pipeline.simplified().arg())?;
        let mut results = self.version_for(&argument.leaves())?.run(argument)?.into_iter();
        ArrayTuple::of(self.pipeline.simplified().result(), &mut results)
            .ok_or_else(|| Error::Internal("a program with too few results".into()))
    }

    fn call(&self, argument: &[Scalar], result: &mut [Scalar]) -> bool {
        // A program of arrays of rank 0 has no assumptions on extents.
        let numbers = self.version.kernels().and_then(|kernels| kernels.code.numbers.as_ref());
        numbers.is_some_and(|n| n.call(argument, result))
    }
}

impl Compiled {
    /// The version for arguments of these extents.
    fn version_for(&self, inputs: &[&RawArray]) -> Result<&Version> {
        if self.version.is_for(inputs) {
            return Ok(&self.version);
        }
        let general = || {
            tracing::debug!("the extents are not as assumed: the program is compiled without assumptions");
            Version::new(&self.pipeline, false, self.tiers)
        };
        self.general.get_or_init(general).as_ref().map_err(Clone::clone)
    }
}
