//! The native backend: compiles programs with the system's C compiler, loads them, and runs them on all cores.
//!
//! ```text
//! typed tree --lower--> kernel program --accel-codegen--> C --cc--> shared library (cached on disk) --> arrays
//! ```
//!
//! Compiled libraries are stored in a [cache]. The environment variable `CC` chooses the compiler, which may take
//! `ACCEL_CC_TIMEOUT` seconds for a file (60 by default). Without a compiler, or if it takes longer, a [vectorized
//! interpreter](vectorized) runs programs, after a line on standard error (none with `ACCEL_QUIET=1`). With `ACCEL_TIERED=1` or [`Options::tiered`], it
//! also runs programs until the compiler has finished in the background. `ACCEL_DUMP=c` prints the generated code, and
//! `ACCEL_CHECK=1` checks at run time what the optimiser has proved. A program is compiled for the extents that it meets, or for
//! all at once with `ACCEL_VERSIONS=0`. `ACCEL_TAPE_BYTES` limits the memory for states of
//! loops, see [`accel_fusion::kernel::tape`].
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
//!   once; products of matrices of at most 8 rows and columns round both. In strips, factors below the normal numbers
//!   (2.2e-308 for `f64`) are zero.
//!
//! The order in which partial results are combined depends only on the sizes of arrays and on the processor, never on
//! the number of threads or on chance. So the same program gives the same result for the same arguments, bit by bit, on
//! every run of the same version (NOTE [Versions] in `versions.rs`) and with every size of rayon's pool.

mod abi;
mod background;
pub mod bundle;
pub mod cache;
mod callbacks;
mod context;
mod files;
mod kernels;
mod library;
mod limited;
mod memory;
mod parallel_tasks;
mod pool;
mod processor;
mod product;
mod runtime;
mod runtime_imports;
mod scalar_call;
mod slots;
mod sort;
mod threads;
mod toolchain;
pub mod vectorized;
mod version;
mod versions;

use accel_core::ast;
use accel_core::backend::{Backend, Executable};
use accel_core::error::{Error, Result};
use accel_core::interp::Interpreter;
pub use accel_fusion::pipeline::Options;
use accel_fusion::pipeline::{Pipeline, Target};
pub use kernels::Kernels;
use std::sync::OnceLock;
pub use threads::prepare as prepare_threads;
use version::Tiers;
use versions::Versions;

/// The native backend. Its results do not depend on the number of threads, see the [crate's documentation](crate).
#[derive(Clone, Copy, Default, Debug)]
pub struct Native;

impl Backend for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    /// What does not depend on the extents of arguments is compiled when this function returns, whatever `ACCEL_TIERED` is, and the rest by
    /// the first run or by [`Executable::prepare`]: NOTE [Versions] in `versions.rs`.
    fn compile(&self, program: &ast::Program) -> Result<Box<dyn Executable>> {
        executable(program, &Configured::from_env()?.options, Tiers::Compiled)
    }

    /// With `ACCEL_TIERED=1`, the C compiler may still work when this function returns.
    fn start(&self, program: &ast::Program) -> Result<Box<dyn Executable>> {
        Configured::from_env()?.compile(program)
    }

    fn configuration(&self) -> Option<&str> {
        Configured::from_env().ok()?.configuration()
    }
}

impl Native {
    /// The backend with these options instead of those of the environment.
    pub fn with(options: Options) -> impl Backend {
        Configured::new(options)
    }
}

struct Configured {
    options: Options,
    name: String,
}

impl Configured {
    fn new(options: Options) -> Self {
        Configured { name: format!("native {options:?}"), options }
    }

    /// The backend with the options of the environment, which are read once.
    fn from_env() -> Result<&'static Configured> {
        static FOUND: OnceLock<Result<Configured>> = OnceLock::new();
        FOUND.get_or_init(|| Options::from_env().map(Configured::new)).as_ref().map_err(Error::clone)
    }
}

impl Backend for Configured {
    fn name(&self) -> &'static str {
        Native.name()
    }

    fn compile(&self, program: &ast::Program) -> Result<Box<dyn Executable>> {
        let tiers = if self.options.tiered { Tiers::Both } else { Tiers::Compiled };
        executable(program, &self.options, tiers)
    }

    fn configuration(&self) -> Option<&str> {
        self.options.fault.is_none().then_some(&self.name)
    }
}

/// The vectorized interpreter alone: no program is compiled.
#[derive(Clone, Copy, Default, Debug)]
pub struct VectorizedInterpreter;

impl Backend for VectorizedInterpreter {
    fn name(&self) -> &'static str {
        "vectorized"
    }

    fn compile(&self, program: &ast::Program) -> Result<Box<dyn Executable>> {
        executable(program, &Configured::from_env()?.options, Tiers::Interpreted)
    }

    fn configuration(&self) -> Option<&str> {
        Some(self.name())
    }
}

fn executable(program: &ast::Program, options: &Options, tiers: Tiers) -> Result<Box<dyn Executable>> {
    let optimized = || -> Result<Box<dyn Executable>> {
        let pipeline = Pipeline::lazy(program, Target::Processor, options.clone());
        Ok(Box::new(Versions::new(pipeline, tiers)?))
    };
    match optimized() {
        // The pipeline has reported this error.
        Err(Error::Internal(_)) if !options.strict => Interpreter.compile(program),
        compiled => compiled,
    }
}
