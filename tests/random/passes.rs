//! All that the native backend does before it emits code, with an evaluator instead of the code.

use accel::ast;
use accel::backend::{Backend, Executable};
use accel::prelude::Error;
use accel::repr::{ArrayTuple, RawTy};
use accel_fusion::kernel::{Program, Verified};
use accel_fusion::pipeline::{Optimized, Options, Pipeline, Target};
use accel_fusion::simplify;

/// The simplifier, the optimisation of the kernel program, strips.
pub struct AllPasses;

struct Passed {
    result: RawTy,
    optimized: Optimized,
    /// For arguments of which the assumptions do not hold, and for those too: it must do as well.
    general: Verified<Program>,
}

impl Backend for AllPasses {
    fn name(&self) -> &'static str {
        "all passes"
    }
    fn compile(&self, program: &ast::Program) -> Result<Box<dyn Executable>, Error> {
        let (program, done) = simplify(program)?;
        let (_, left) = simplify(&program)?;
        if left.total() > 0 {
            return Err(Error::Internal(format!("the simplifier did {done}, and left to do {left}, in\n{program}")));
        }
        let strict = Options { strict: true, ..Options::default() };
        let pipeline = Pipeline::new(&program, Target::Processor, strict)?;
        let (optimized, general) = (pipeline.optimized(true)?, pipeline.optimized(false)?.program);
        Ok(Box::new(Passed { result: program.result().clone(), optimized, general }))
    }
}

impl Executable for Passed {
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple, Error> {
        let run = |p: &Verified<Program>| {
            let mut arrays = p.evaluate(argument)?.into_iter();
            ArrayTuple::of(&self.result, &mut arrays).ok_or_else(|| Error::Internal("too few results".into()))
        };
        let general = run(&self.general);
        let inputs = argument.leaves();
        if !self.optimized.conditions.hold(|k| inputs.get(k).map(|a| &*a.extents)) {
            return general;
        }
        let found = run(&self.optimized.program);
        super::agree::compare(&general, &found, super::agree::CLOSE)
            .map_err(|e| Error::Internal(format!("with assumptions: {e}")))?;
        found
    }
}
