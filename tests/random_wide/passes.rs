//! All that the native backend does before it emits code, with an evaluator instead of the code.

use accel::ast;
use accel::backend::{Backend, Executable};
use accel::prelude::Error;
use accel::repr::{ArrayTuple, RawTy};
use accel_fusion::kernel::{Program, evaluate};
use accel_fusion::optimize::Optimized;
use accel_fusion::strip::strips;
use accel_fusion::{lower, optimize, simplify};

/// The simplifier, the optimisation of the kernel program, strips.
pub struct AllPasses {
    /// Whether the optimiser may assume what it likes of extents. Where that does not hold, the program is run that assumes nothing.
    pub assume: bool,
}

struct Passed {
    result: RawTy,
    optimized: Optimized,
    general: Option<Program>,
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
        let lowered = lower(&program);
        let mut optimized = optimize(&lowered, self.assume);
        optimized.program = strips(&optimized.program);
        let general = self.assume.then(|| strips(&optimize(&lowered, false).program));
        Ok(Box::new(Passed { result: program.result().clone(), optimized, general }))
    }
}

impl Executable for Passed {
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple, Error> {
        let inputs = argument.leaves();
        let program = match &self.general {
            Some(general) if !self.optimized.fits(|k| inputs.get(k).map(|a| &*a.extents)) => general,
            _ => &self.optimized.program,
        };
        let mut arrays = evaluate(program, argument)?.into_iter();
        ArrayTuple::of(&self.result, &mut arrays).ok_or_else(|| Error::Internal("too few results".into()))
    }
}
