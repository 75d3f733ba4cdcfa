//! The native backend: programs are compiled by the system's C compiler, loaded, and run on all cores.
//!
//! ```text
//! typed tree --lower--> kernel program --accel-codegen--> C --cc--> shared library (cached on disk) --> arrays
//! ```
//!
//! Compiled libraries are kept in a [cache]. The environment variable `CC` chooses the compiler, which may take `ACCEL_CC_TIMEOUT` seconds
//! for a file (60 by default); where there is none, programs are interpreted, after a line on standard error (none with `ACCEL_QUIET=1`).
//! `ACCEL_DUMP=c` prints the generated code, and `ACCEL_CHECK=1` checks what the compiler has proved.
//!
//! A run is one call of the compiled program, which calls back for memory and for what is done in parallel. A compiled program may
//! run in many threads at once, those of a rayon pool included; all that a run changes is its own. The thread that runs a program
//! is one of those that work: a pool of one thread is not asked at all. Memory is used again after the last use of an array, and a
//! loop writes over an array that it is the last one to read. A compiled program remembers its last results of 4 MiB or more, and
//! uses their memory again in the next run once nobody else has them.
//!
//! Floating-point results are those of the reference interpreter but for four things: reductions, scans and permutations of many
//! elements combine partial results; sums of sums of products may be multiplied after the first sum (`Σₙ Σᵢ fᵢ gₙᵢ = Σᵢ fᵢ Σₙ gₙᵢ`, see
//! `accel_fusion::optimize`); mathematical functions of vectors may differ from the scalar ones in the last places (4
//! at most); and sums of products, those of the crate `gemm` and those in strips, round a product and the addition that follows it
//! once, and in strips take factors below the normal numbers (2.2e-308 for `f64`) for zero. The order in which partial results are
//! combined depends on the sizes of arrays and on the processor only, never on the number of threads or on chance: the same program
//! gives the same result for the same arguments, bit by bit, on every run and with every size of rayon's pool.

mod abi;
pub mod cache;
mod hooks;
mod library;
mod limited;
mod memory;
mod notice;
mod numbers;
mod parallel;
mod pool;
mod product;
mod runtime;
mod threads;
mod toolchain;

use accel_codegen::{Vectors, emit};
use accel_core::ast;
use accel_core::backend::{Backend, Executable, check_argument};
use accel_core::error::{Error, Result};
use accel_core::interp::Interpreter;
use accel_core::print;
use accel_core::repr::{ArrayTuple, RawArray, Scalar, checked_size};
use accel_fusion::kernel::{Program, Verified};
pub use accel_fusion::pipeline::Options;
use accel_fusion::pipeline::{Conditions, Pipeline, Target, check_proofs, dissolve};
use runtime::Code;
use std::sync::OnceLock;

/// The backend. Its results do not depend on the number of threads, see the [crate's documentation](crate).
#[derive(Clone, Copy, Default, Debug)]
pub struct Native;

impl Backend for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn compile(&self, program: &ast::Program) -> Result<Box<dyn Executable>> {
        Native::with(Options::from_env()).compile(program)
    }
}

impl Native {
    /// The backend with options of its own, whatever the environment says.
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
        match self.compiled(program) {
            // The pipeline has told of it.
            Err(Error::Internal(_)) if !self.0.strict => Interpreter.compile(program),
            compiled => compiled,
        }
    }
}

impl Configured {
    fn compiled(&self, program: &ast::Program) -> Result<Box<dyn Executable>> {
        let pipeline = Pipeline::new(program, Target::Processor, self.0.clone())?;
        let optimized = pipeline.optimized(true)?;
        match pipeline.emit(&optimized, Kernels::of_pipeline)? {
            None => Interpreter.compile(pipeline.simplified()),
            Some(kernels) => {
                let (conditions, general) = (optimized.conditions, OnceLock::new());
                Ok(Box::new(Compiled { kernels, conditions, general, pipeline }))
            }
        }
    }
}

/// A compiled kernel program.
pub struct Kernels {
    code: Code,
    vectors: Vectors,
    /// The program without strips, for extents with which they do not pay; made when it is needed.
    plain: OnceLock<Result<Code>>,
}

impl Kernels {
    /// Compiles a kernel program; `None` if this machine has no C compiler.
    ///
    /// NOTE [Claims of kernel programs]: anybody can write a kernel program that claims a read to be inside of its array, and what the
    /// optimiser proves holds only under its assumptions. So a program that comes from outside has all its reads checked. Only the
    /// backend, which has the program from the pipeline and asks for the conditions before each run, trusts what is claimed.
    ///
    /// # Errors
    /// `Error::Compiler`.
    pub fn new(program: Verified<Program>) -> Result<Option<Kernels>> {
        Self::with(check_proofs(&program)?, toolchain::vectors())
    }

    /// The same without checks of reads that are claimed to be inside.
    ///
    /// # Safety
    /// The claims hold for all inputs with which the program is run: NOTE [Claims of kernel programs].
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub unsafe fn trusting(program: Verified<Program>) -> Result<Option<Kernels>> {
        Self::with(program, toolchain::vectors())
    }

    /// The same, with vectors of another size than the processor's.
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

    /// Of a program that comes from the pipeline, which has proved what it claims; [`Compiled`] asks for the conditions.
    fn of_pipeline(program: &Verified<Program>) -> Result<Option<Kernels>> {
        Self::with(program.clone(), toolchain::vectors())
    }

    fn with(program: Verified<Program>, vectors: Vectors) -> Result<Option<Kernels>> {
        let code = Self::code(program, vectors)?;
        Ok(code.map(|code| Kernels { code, vectors, plain: OnceLock::new() }))
    }

    fn code(program: Verified<Program>, vectors: Vectors) -> Result<Option<Code>> {
        print::dump_with("kernels", || program.to_string());
        let Some(toolchain) = toolchain::toolchain()? else { return Ok(None) };
        let module = emit(&program, accel_codegen::Options { vector_math: toolchain.vector_math, vectors });
        print::dump_with("c", || module.source.clone());
        let library = cache::library(&module, toolchain)?;
        Ok(Some(Code::new(program, library)))
    }

    /// Computes the result arrays from the input arrays. The inputs must have the ranks and element types of the program.
    ///
    /// # Errors
    /// Inputs that do not fit, and everything that is checked at run time.
    pub fn run(&self, inputs: Vec<RawArray>) -> Result<Vec<RawArray>> {
        let program = &self.code.program;
        let fits = |(id, a): (&usize, &RawArray)| {
            let info = &program.arrays[*id];
            a.extents.len() == info.rank
                && checked_size(&a.extents).is_some()
                && a.columns.iter().map(|c| c.ty()).eq(info.columns.iter().copied())
                && a.columns.iter().all(|c| c.len() == a.size())
        };
        if inputs.len() != program.inputs.len() || !program.inputs.iter().zip(&inputs).all(fits) {
            return Err(Error::Internal("inputs that do not fit the kernel program".into()));
        }
        self.run_on(&inputs.iter().collect::<Vec<_>>())
    }

    /// The same for inputs that fit.
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
    fn plain(&self) -> Result<&Code> {
        let make = || {
            tracing::debug!("strips would take too much memory: the program is compiled without them");
            Self::code(dissolve(&self.code.program)?, self.vectors)?.ok_or_else(no_compiler)
        };
        self.plain.get_or_init(make).as_ref().map_err(Clone::clone)
    }
}

/// A compiled typed program.
struct Compiled {
    /// For extents of which the assumptions hold.
    kernels: Kernels,
    conditions: Conditions,
    /// For others; made when it is needed.
    general: OnceLock<Result<Kernels>>,
    pipeline: Pipeline,
}

fn no_compiler() -> Error {
    Error::Compiler("there was a C compiler and now there is none".into())
}

impl Executable for Compiled {
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple> {
        check_argument(argument, self.pipeline.simplified().arg())?;
        let inputs = argument.leaves();
        let mut results = self.kernels_for(&inputs)?.run_on(&inputs)?.into_iter();
        ArrayTuple::of(self.pipeline.simplified().result(), &mut results)
            .ok_or_else(|| Error::Internal("a program with too few results".into()))
    }

    fn call(&self, argument: &[Scalar], result: &mut [Scalar]) -> bool {
        // Arrays without dimensions have no extents to assume anything of.
        self.kernels.code.numbers.as_ref().is_some_and(|n| n.call(argument, result))
    }
}

impl Compiled {
    /// The kernels for arguments of these extents.
    fn kernels_for(&self, inputs: &[&RawArray]) -> Result<&Kernels> {
        if self.conditions.hold(|k| inputs.get(k).map(|a| &*a.extents)) {
            return Ok(&self.kernels);
        }
        let general = || {
            tracing::debug!("the extents are not as assumed: the program is compiled without assumptions");
            let optimized = self.pipeline.optimized(false)?;
            self.pipeline.emit(&optimized, Kernels::of_pipeline)?.ok_or_else(no_compiler)
        };
        self.general.get_or_init(general).as_ref().map_err(Clone::clone)
    }
}
