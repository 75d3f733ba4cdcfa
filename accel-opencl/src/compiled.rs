//! A program compiled for a device: a typed program, or a kernel program by itself.

use crate::built_program::BuiltProgram;
use crate::device::OpenDevice;
use crate::location::Array;
use crate::read_back;
use crate::replay::{Policy, Recorded};
use crate::run::{Enqueued, Run};
use crate::stop::{Stop, WalkResult};
use accel_codegen::opencl::{Shape, Target};
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
    /// Whether it has no strips.
    without_strips: bool,
}

/// What code is compiled from.
pub trait Source {
    /// Whether arguments of these extents need code for all extents.
    fn needs_general(&self, extents: &[Vec<usize>]) -> bool;

    /// The memory for states of loops, if the options set it.
    fn tape_bytes(&self) -> Option<usize>;

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
    /// Optimises a program for kernels of a shape.
    ///
    /// # Errors
    /// Those of the pipeline.
    pub fn new(program: &ast::Program, shape: Shape, options: Options) -> Result<TypedProgram> {
        let target = match shape {
            Shape::Cpu => pipeline::Target::ProcessorDevice,
            Shape::Gpu => pipeline::Target::Graphics,
        };
        let pipeline = Pipeline::new(program, target, options)?;
        let optimized = pipeline.optimized(true)?;
        Ok(TypedProgram { pipeline, optimized })
    }
}

impl Source for TypedProgram {
    fn needs_general(&self, extents: &[Vec<usize>]) -> bool {
        !self.optimized.conditions.hold(|k| extents.get(k).map(|s| &s[..]))
    }

    fn tape_bytes(&self) -> Option<usize> {
        self.pipeline.tape_bytes()
    }

    fn emit<T>(&self, general: bool, emit: impl Fn(&Verified<Program>) -> Result<T>) -> Result<T> {
        let again = general.then(|| self.pipeline.optimized(false)).transpose()?;
        self.pipeline.emit(again.as_ref().unwrap_or(&self.optimized), emit)
    }
}

/// A kernel program is compiled as it is.
impl Source for Verified<Program> {
    fn needs_general(&self, _: &[Vec<usize>]) -> bool {
        false
    }

    fn tape_bytes(&self) -> Option<usize> {
        Budget::from_env()
    }

    fn emit<T>(&self, _: bool, emit: impl Fn(&Verified<Program>) -> Result<T>) -> Result<T> {
        emit(self)
    }
}

/// A program that is ready to run on a device.
pub struct Prepared<S> {
    device: Arc<OpenDevice>,
    target: Target,
    source: S,
    /// The variants, each compiled on first use.
    codes: [OnceLock<Result<Arc<BuiltProgram>>>; 8],
    recorded: Recorded,
}

impl<S: Source> Prepared<S> {
    /// Compiles a program, with kernels for a target.
    ///
    /// # Errors
    /// `Error::Device` if the device lacks a feature, or its compiler fails.
    pub fn new(source: S, device: Arc<OpenDevice>, target: Target, recording: Policy) -> Result<Prepared<S>> {
        let (codes, recorded) = (Default::default(), Recorded::new(recording));
        let prepared = Prepared { target, device, source, codes, recorded };
        prepared.code(Variant::default())?;
        Ok(prepared)
    }

    fn code(&self, v: Variant) -> Result<&Arc<BuiltProgram>> {
        let make = || {
            let Variant { general, wide, without_strips: plain } = v;
            tracing::debug!(general, wide, plain, "compiling for a device");
            self.source.emit(general, |program| {
                let program = if plain { dissolve(program, &defined_by_strips(program))? } else { program.clone() };
                let target = Target { wide: wide || self.target.wide, ..self.target.clone() };
                BuiltProgram::new(program, self.device.clone(), target, self.source.tape_bytes()).map(Arc::new)
            })
        };
        let place = usize::from(v.general) + 2 * usize::from(v.wide) + 4 * usize::from(v.without_strips);
        self.codes[place].get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// Its recorded runs.
    #[cfg(test)]
    pub fn recorded(&self) -> &Recorded {
        &self.recorded
    }

    /// Computes the results for arguments on the host.
    ///
    /// # Errors
    /// A check at run time fails, or the driver reports an error.
    pub fn run_on(&self, arguments: &[&RawArray]) -> Result<Vec<RawArray>> {
        let record = |inputs: &[Array]| self.with_code(inputs, |code| Run::record(code, inputs.to_vec()));
        if let Some(results) = self.recorded.run(&self.device, arguments, record) {
            return results;
        }
        let (code, run) = self.enqueue(arguments.iter().map(|a| Array::host(a)).collect())?;
        self.recorded.note(&run);
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
                Err(Stop::WithoutStrips) => v.without_strips = true,
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
