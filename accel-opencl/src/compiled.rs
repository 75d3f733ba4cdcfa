//! A program compiled for a device: a typed program, or a kernel program by itself.

use crate::built_program::BuiltProgram;
use crate::device::OpenDevice;
use crate::location::Array;
use crate::read_back;
use crate::run::{Enqueued, Run};
use crate::stop::{Stop, WalkResult};
use accel_codegen::opencl::Target;
use accel_core::ast;
use accel_core::backend::{Executable, check_argument};
use accel_core::error::{Error, Result};
use accel_core::repr::{ArrayTuple, RawArray};
use accel_fusion::kernel::tape::Budget;
use accel_fusion::kernel::{Program, Verified, scalar_evaluation};
use accel_fusion::pipeline::{self, Optimized, Options, Pipeline, dissolve};
use accel_fusion::strip::defined_by_strips;
use std::sync::{Arc, OnceLock};

/// A variant of a compiled program.
#[derive(Clone, Copy, Default)]
struct Variant {
    /// Whether it is for all extents, not only for those that satisfy the assumptions.
    general: bool,
    /// Whether it uses 64-bit positions.
    wide: bool,
}

/// What code is compiled from.
pub trait Source {
    /// Whether arguments of these extents need code for all extents.
    fn needs_general(&self, extents: &[Vec<usize>]) -> bool;

    /// The memory for states of loops, if the options set it.
    fn tape_bytes(&self) -> Result<Option<usize>>;

    /// Calls `emit` with the kernel program, which is for all extents if it is to be `general`.
    ///
    /// # Errors
    /// Those of `emit`, and of the optimiser before it.
    fn emit<T>(&self, general: bool, emit: impl Fn(&Verified<Program>) -> Result<T>) -> Result<T>;
}

/// A typed program and its optimised kernel program.
pub struct TypedProgram {
    pipeline: Pipeline,
    optimized: Optimized,
}

impl TypedProgram {
    /// Optimises a program for graphics cards.
    ///
    /// # Errors
    /// Those of the pipeline.
    pub fn new(program: &ast::Program, options: Options) -> Result<TypedProgram> {
        let pipeline = Pipeline::new(program, pipeline::Target::Graphics, options)?;
        let optimized = pipeline.optimized(true)?;
        Ok(TypedProgram { pipeline, optimized })
    }
}

impl Source for TypedProgram {
    fn needs_general(&self, extents: &[Vec<usize>]) -> bool {
        !self.optimized.conditions.hold(|k| extents.get(k).map(|s| &s[..]))
    }

    fn tape_bytes(&self) -> Result<Option<usize>> {
        Ok(self.pipeline.tape_bytes())
    }

    fn emit<T>(&self, general: bool, emit: impl Fn(&Verified<Program>) -> Result<T>) -> Result<T> {
        let again = general.then(|| self.pipeline.optimized(false)).transpose()?;
        self.pipeline.emit(again.as_ref().unwrap_or(&self.optimized), emit)
    }
}

/// A kernel program is compiled as it is, but for its strips, which are for processors.
impl Source for Verified<Program> {
    fn needs_general(&self, _: &[Vec<usize>]) -> bool {
        false
    }

    fn tape_bytes(&self) -> Result<Option<usize>> {
        Budget::from_env()
    }

    fn emit<T>(&self, _: bool, emit: impl Fn(&Verified<Program>) -> Result<T>) -> Result<T> {
        emit(&dissolve(self, &defined_by_strips(self))?)
    }
}

/// A program that is ready to run on a device.
pub struct Prepared<S> {
    device: Arc<OpenDevice>,
    target: Target,
    source: S,
    /// The variants, each compiled on first use.
    codes: [OnceLock<Result<Arc<BuiltProgram>>>; 4],
}

impl<S: Source> Prepared<S> {
    /// Compiles a program, with kernels for a target.
    ///
    /// # Errors
    /// `Error::Device` if the device lacks a feature, or its compiler fails.
    pub fn new(source: S, device: Arc<OpenDevice>, target: Target) -> Result<Prepared<S>> {
        let prepared = Prepared { target, device, source, codes: Default::default() };
        prepared.code(Variant::default())?;
        Ok(prepared)
    }

    fn code(&self, v: Variant) -> Result<&Arc<BuiltProgram>> {
        let make = || {
            let Variant { general, wide } = v;
            tracing::debug!(general, wide, "compiling for a device");
            self.source.emit(general, |program| {
                let target = Target { wide: wide || self.target.wide, ..self.target.clone() };
                BuiltProgram::new(program.clone(), self.device.clone(), target, self.source.tape_bytes()?).map(Arc::new)
            })
        };
        let place = usize::from(v.general) + 2 * usize::from(v.wide);
        self.codes[place].get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// Computes the results for arguments on the host.
    ///
    /// # Errors
    /// A check at run time fails, or the driver reports an error.
    pub fn run_on(&self, arguments: &[&RawArray]) -> Result<Vec<RawArray>> {
        let (code, run) = self.enqueue(arguments.iter().map(|a| Array::host(a)).collect())?;
        read_back::to_host(&code, run)
    }

    /// Enqueues a run with these arguments.
    ///
    /// # Errors
    /// An error that is found before the device has finished.
    pub fn enqueue(&self, arguments: Vec<Array>) -> Result<(Arc<BuiltProgram>, Enqueued)> {
        self.with_code(&arguments, |code| Run::start(code, arguments.clone()))
    }

    /// Calls `f` with the variant for arguments of these extents. If that variant turns out not to fit, calls it with
    /// another one.
    ///
    /// # Errors
    /// The errors of the function, and of compiling the variant.
    fn with_code<T>(
        &self,
        arguments: &[Array],
        f: impl Fn(&BuiltProgram) -> WalkResult<T>,
    ) -> Result<(Arc<BuiltProgram>, T)> {
        let shapes: Vec<Vec<usize>> =
            arguments.iter().map(|a| a.extents.iter().map(|e| *e as usize).collect()).collect();
        shapes.iter().try_for_each(|s| scalar_evaluation::check_size(|| "`argument`".into(), s).map(|_| ()))?;
        let mut v = Variant { general: self.source.needs_general(&shapes), ..Variant::default() };
        loop {
            let code = self.code(v)?;
            match f(code) {
                Ok(done) => return Ok((code.clone(), done)),
                Err(Stop::Error(e)) => return Err(e),
                Err(Stop::Wide) => v.wide = true,
            }
        }
    }
}

impl Executable for Prepared<TypedProgram> {
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple> {
        let program = self.source.pipeline.program();
        let results = self.run_on(&check_argument(argument, program.arg())?)?;
        ArrayTuple::of(program.result(), &mut results.into_iter())
            .ok_or_else(|| Error::Internal("a program with too few results".into()))
    }
}
