//! A typed program, compiled for a device.

use crate::code::Code;
use crate::device::OpenDevice;
use crate::results;
use crate::run::{Array, Enqueued, Run, Stop};
use accel_codegen::opencl::{Shape, Target};
use accel_core::ast::Program;
use accel_core::backend::{Executable, check_argument};
use accel_core::error::{Error, Result};
use accel_core::repr::{ArrayTuple, RawTy};
use accel_fusion::kernel::{self, machine};
use accel_fusion::optimize::{Optimized, optimize};
use accel_fusion::strip::strips;
use std::sync::{Arc, OnceLock};

/// A program that is ready to run on a device.
pub struct Prepared {
    device: Arc<OpenDevice>,
    target: Target,
    lowered: kernel::Program,
    optimized: Optimized,
    /// Made when they are needed: for extents of which the assumptions hold or for all, with 32-bit and with 64-bit positions.
    codes: [[OnceLock<Result<Arc<Code>>>; 2]; 2],
    arg: RawTy,
    result: RawTy,
}

impl Prepared {
    /// Compiles a program.
    ///
    /// # Errors
    /// `Error::Device` if the device cannot do it, or its compiler fails.
    pub fn new(program: &Program, device: Arc<OpenDevice>, shape: Option<Shape>) -> Result<Prepared> {
        let (program, _) = &accel_fusion::simplify(program)?;
        let lowered = accel_fusion::lower(program);
        let optimized = optimize(&lowered, true);
        let prepared = Prepared {
            target: device.target(shape),
            device,
            lowered,
            optimized,
            codes: Default::default(),
            arg: program.arg().clone(),
            result: program.result().clone(),
        };
        prepared.code(false, false)?;
        Ok(prepared)
    }

    /// The code for extents of which the assumptions hold, or for all others (`general`), with 64-bit positions or not.
    fn code(&self, general: bool, wide: bool) -> Result<&Arc<Code>> {
        let make = || {
            if general {
                tracing::debug!("the extents are not as assumed: the program is compiled without assumptions");
            }
            let program = if general { optimize(&self.lowered, false).program } else { self.optimized.program.clone() };
            let program = if self.target.shape == Shape::Cpu { strips(&program) } else { program };
            let target = Target { wide, ..self.target.clone() };
            Code::new(program, self.device.clone(), target).map(Arc::new)
        };
        self.codes[usize::from(general)][usize::from(wide)].get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// Enqueues all that has to be done for these arguments.
    ///
    /// # Errors
    /// What is found before the device is done.
    pub fn enqueue(&self, arguments: Vec<Array>) -> Result<(Arc<Code>, Enqueued)> {
        let shapes: Vec<Vec<usize>> =
            arguments.iter().map(|a| a.extents.iter().map(|e| *e as usize).collect()).collect();
        shapes.iter().try_for_each(|s| machine::check_size(|| "`argument`".into(), s).map(|_| ()))?;
        let general = !self.optimized.fits(&self.lowered, shapes.iter().map(|s| &s[..]));
        let code = self.code(general, false)?;
        match Run::start(code, arguments.clone()) {
            Ok(done) => Ok((code.clone(), done)),
            Err(Stop::Error(e)) => Err(e),
            Err(Stop::Wide) => {
                let code = self.code(general, true)?;
                match Run::start(code, arguments) {
                    Ok(done) => Ok((code.clone(), done)),
                    Err(Stop::Error(e)) => Err(e),
                    Err(Stop::Wide) => Err(Error::Internal("64 bits are too few for a position".into())),
                }
            }
        }
    }
}

impl Executable for Prepared {
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple> {
        check_argument(argument, &self.arg)?;
        let (code, run) = self.enqueue(argument.leaves().iter().map(Array::host).collect())?;
        let mut results = results::to_host(&code, run)?.into_iter();
        ArrayTuple::of(&self.result, &mut results)
            .ok_or_else(|| Error::Internal("a program with too few results".into()))
    }
}
