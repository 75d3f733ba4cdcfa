//! A typed program, compiled for a device.

use crate::built_program::Code;
use crate::device::OpenDevice;
use crate::read_back;
use crate::replay::Recorded;
use crate::run::{Array, Enqueued, Run, Stop, Walked};
use accel_codegen::opencl::{Shape, Target};
use accel_core::ast::Program;
use accel_core::backend::{Executable, check_argument};
use accel_core::error::{Error, Result};
use accel_core::repr::ArrayTuple;
use accel_fusion::kernel::machine;
use accel_fusion::pipeline::{self, Optimized, Options, Pipeline, dissolve};
use std::sync::{Arc, OnceLock};

/// Which code of a program runs.
#[derive(Clone, Copy, Default)]
struct Variant {
    /// For all extents, not only for those of which the assumptions hold.
    general: bool,
    /// With 64-bit positions.
    wide: bool,
    /// Without strips.
    plain: bool,
}

/// A program that is ready to run on a device.
pub struct Prepared {
    device: Arc<OpenDevice>,
    target: Target,
    pipeline: Pipeline,
    optimized: Optimized,
    /// Made when they are needed.
    codes: [OnceLock<Result<Arc<Code>>>; 8],
    recorded: Recorded,
}

impl Prepared {
    /// Compiles a program, with kernels for a target. After so many small runs with the same extents, one is recorded.
    ///
    /// # Errors
    /// `Error::Device` if the device cannot do it, or its compiler fails.
    pub fn new(
        program: &Program,
        device: Arc<OpenDevice>,
        target: Target,
        after: usize,
        options: Options,
    ) -> Result<Prepared> {
        let shape = match target.shape {
            Shape::Cpu => pipeline::Target::Processor,
            Shape::Gpu => pipeline::Target::Graphics,
        };
        let pipeline = Pipeline::new(program, shape, options)?;
        let optimized = pipeline.optimized(true)?;
        let (codes, recorded) = (Default::default(), Recorded::new(after));
        let prepared = Prepared { target, device, pipeline, optimized, codes, recorded };
        prepared.code(Variant::default())?;
        Ok(prepared)
    }

    fn code(&self, v: Variant) -> Result<&Arc<Code>> {
        let make = || {
            let Variant { general, wide, plain } = v;
            tracing::debug!(general, wide, plain, "compiling for a device");
            let again = general.then(|| self.pipeline.optimized(false)).transpose()?;
            self.pipeline.emit(again.as_ref().unwrap_or(&self.optimized), |program| {
                let program = if plain { dissolve(program)? } else { program.clone() };
                let target = Target { wide, ..self.target.clone() };
                Code::new(program, self.device.clone(), target).map(Arc::new)
            })
        };
        let place = usize::from(v.general) + 2 * usize::from(v.wide) + 4 * usize::from(v.plain);
        self.codes[place].get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// The device.
    pub fn device(&self) -> &OpenDevice {
        &self.device
    }

    /// Its recorded runs.
    #[cfg(test)]
    pub fn recorded(&self) -> &Recorded {
        &self.recorded
    }

    /// Enqueues all that has to be done for these arguments.
    ///
    /// # Errors
    /// What is found before the device is done.
    pub fn enqueue(&self, arguments: Vec<Array>) -> Result<(Arc<Code>, Enqueued)> {
        self.with_code(&arguments, |code| Run::start(code, arguments.clone()))
    }

    /// Calls a function with the code for arguments of these extents, and with another if that is found not to suit them.
    ///
    /// # Errors
    /// Those of the function, and what compiling the code says.
    pub fn with_code<T>(&self, arguments: &[Array], f: impl Fn(&Code) -> Walked<T>) -> Result<(Arc<Code>, T)> {
        let shapes: Vec<Vec<usize>> =
            arguments.iter().map(|a| a.extents.iter().map(|e| *e as usize).collect()).collect();
        shapes.iter().try_for_each(|s| machine::check_size(|| "`argument`".into(), s).map(|_| ()))?;
        let general = !self.optimized.conditions.hold(|k| shapes.get(k).map(|s| &s[..]));
        let mut v = Variant { general, ..Variant::default() };
        loop {
            let code = self.code(v)?;
            match f(code) {
                Ok(done) => return Ok((code.clone(), done)),
                Err(Stop::Error(e)) => return Err(e),
                Err(Stop::Wide) => v.wide = true,
                Err(Stop::Plain) => v.plain = true,
            }
        }
    }
}

impl Executable for Prepared {
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple> {
        check_argument(argument, self.pipeline.simplified().arg())?;
        let arguments = argument.leaves();
        let results = match self.recorded.run(self, &arguments) {
            Some(results) => results?,
            None => {
                let (code, run) = self.enqueue(arguments.into_iter().map(Array::host).collect())?;
                self.recorded.note(&run);
                read_back::to_host(&code, run)?
            }
        };
        ArrayTuple::of(self.pipeline.simplified().result(), &mut results.into_iter())
            .ok_or_else(|| Error::Internal("a program with too few results".into()))
    }
}
