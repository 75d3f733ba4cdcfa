//! The evaluator of kernel programs as two backends, so that tests can compare it with others.

use crate::kernel::{Program, Verified};
use crate::pipeline::{Optimized, lower, optimize};
use accel_core::ast;
use accel_core::backend::{Backend, Executable, check_argument};
use accel_core::error::{Error, Result};
use accel_core::pass::canonical_key::{self, SMALL_BYTES};
use accel_core::repr::{ArrayTuple, RawTy};

/// The backend that lowers a program and evaluates the kernel program.
#[derive(Clone, Copy, Default, Debug)]
pub struct KernelEvaluator;

/// The backend that lowers and optimises a program, stores the kernel program as bytes, reads it again and evaluates it.
/// A pass that fails is an error.
#[derive(Clone, Copy, Default, Debug)]
pub struct OptimizedEvaluator;

struct Evaluated {
    arg: RawTy,
    result: RawTy,
    /// The program without assumptions, correct for all arguments.
    general: Verified<Program>,
    /// The program with assumptions, and the conditions under which it is correct.
    optimized: Option<Optimized>,
}

impl Backend for KernelEvaluator {
    fn name(&self) -> &'static str {
        "kernel"
    }
    fn compile(&self, program: &ast::Program) -> Result<Box<dyn Executable>> {
        let (arg, result) = (program.arg().clone(), program.result().clone());
        Ok(Box::new(Evaluated { arg, result, general: lower(program)?, optimized: None }))
    }
}

impl Backend for OptimizedEvaluator {
    fn name(&self) -> &'static str {
        "optimized kernel"
    }
    fn compile(&self, program: &ast::Program) -> Result<Box<dyn Executable>> {
        let lowered = lower(program)?;
        let (arg, result) = (program.arg().clone(), program.result().clone());
        let key = canonical_key::program(program);
        let stored = |optimized: Optimized| {
            let again = optimized.to_bytes(&key, SMALL_BYTES).and_then(|bytes| Optimized::from_bytes(&bytes, &key));
            let again = again.ok_or_else(|| Error::Internal("a program that cannot be stored".into()))?;
            if again.program.to_string() == optimized.program.to_string() {
                return Ok(again);
            }
            Err(Error::Internal("a stored program that differs".into()))
        };
        let (optimized, general) = (stored(optimize(&lowered, true)?)?, stored(optimize(&lowered, false)?)?.program);
        Ok(Box::new(Evaluated { arg, result, general, optimized: Some(optimized) }))
    }
}

impl Executable for Evaluated {
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple> {
        let inputs = check_argument(argument, &self.arg)?;
        let fits = |o: &&Optimized| o.conditions.hold(|k| inputs.get(k).map(|a| &*a.extents));
        let program = self.optimized.as_ref().filter(fits).map_or(&self.general, |o| &o.program);
        let mut arrays = program.evaluate(argument)?.into_iter();
        let result = ArrayTuple::of(&self.result, &mut arrays);
        result.ok_or_else(|| Error::Internal("a program with too few results".into()))
    }
}
