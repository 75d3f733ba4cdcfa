//! All stages of the native backend before the code generator, followed by an evaluator.

use accel::ast;
use accel::backend::{Backend, Executable};
use accel::prelude::Error;
use accel::repr::{ArrayTuple, RawTy};
use accel_fusion::pipeline::{Optimized, Options, Pipeline, Target};
use accel_fusion::simplify;

/// The simplifier, the optimiser of kernel programs, and strip-mining.
pub struct AllPasses {
    /// Whether the optimiser may make assumptions on extents. If they do not hold, the program without assumptions is
    /// run.
    pub assume: bool,
}

struct Passed {
    result: RawTy,
    pipeline: Pipeline,
    optimized: Optimized,
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
        let strict = Options { strict: true, validate: Options::from_env().unwrap().validate, ..Options::default() };
        let pipeline = Pipeline::new(&program, Target::Processor, strict)?;
        let optimized = pipeline.optimized(self.assume)?;
        Ok(Box::new(Passed { result: program.result().clone(), pipeline, optimized }))
    }
}

impl Executable for Passed {
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple, Error> {
        let inputs = argument.leaves();
        let arrays = if self.optimized.conditions.hold(|k| inputs.get(k).map(|a| &*a.extents)) {
            self.optimized.program.evaluate(argument)?
        } else {
            self.pipeline.optimized(false)?.program.evaluate(argument)?
        };
        let mut arrays = arrays.into_iter();
        ArrayTuple::of(&self.result, &mut arrays).ok_or_else(|| Error::Internal("too few results".into()))
    }
}
