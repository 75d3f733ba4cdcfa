//! The evaluator of optimised kernel programs as a backend, to compare it with others.

use super::{Optimized, optimize};
use crate::kernel::{Program, evaluate, verify};
use crate::lower;
use accel_core::backend::{Backend, Executable, check_argument};
use accel_core::error::{Error, Result};
use accel_core::repr::{ArrayTuple, RawTy};

/// The backend that lowers and optimises programs, verifies the result and evaluates it.
#[derive(Clone, Copy, Default, Debug)]
pub struct OptimizedEvaluator;

struct Evaluated {
    arg: RawTy,
    result: RawTy,
    optimized: Optimized,
    general: Program,
}

impl Backend for OptimizedEvaluator {
    fn name(&self) -> &'static str {
        "optimized kernel"
    }
    fn compile(&self, program: &accel_core::ast::Program) -> Result<Box<dyn Executable>> {
        let lowered = lower(program);
        let (optimized, general) = (optimize(&lowered, true), optimize(&lowered, false).program);
        verify(&optimized.program)?;
        verify(&general)?;
        let (arg, result) = (program.arg().clone(), program.result().clone());
        Ok(Box::new(Evaluated { arg, result, optimized, general }))
    }
}

impl Executable for Evaluated {
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple> {
        check_argument(argument, &self.arg)?;
        let inputs = argument.leaves();
        let fits = self.optimized.fits(|k| inputs.get(k).map(|a| &*a.extents));
        let program = if fits { &self.optimized.program } else { &self.general };
        let mut arrays = evaluate(program, argument)?.into_iter();
        let result = ArrayTuple::of(&self.result, &mut arrays);
        result.ok_or_else(|| Error::Internal("a program with too few results".into()))
    }
}
