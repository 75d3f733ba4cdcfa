//! A backend that traces each run: equations 8 and 9 of the thesis on tracing become comparisons of backends.

use accel::ast;
use accel::backend::{Backend, Executable};
use accel::interp::Interpreter;
use accel::prelude::Error;
use accel::repr::ArrayTuple;
use accel_trace::{Keep, RawTrace};

/// Traces on the interpreter. The result is that of the trace as a program, and the trace of this program must be the
/// same trace.
pub struct Traced(pub Keep);

struct Run {
    program: ast::Program,
    keep: Keep,
}

impl Backend for Traced {
    fn name(&self) -> &'static str {
        "traced"
    }
    fn compile(&self, program: &ast::Program) -> Result<Box<dyn Executable>, Error> {
        Ok(Box::new(Run { program: program.clone(), keep: self.0 }))
    }
}

impl Executable for Run {
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple, Error> {
        let (_, first) = RawTrace::record(&Interpreter, &self.program, argument, self.keep)?;
        let program = first.program();
        ast::lint(&program)?;
        let (result, second) = RawTrace::record(&Interpreter, &program, argument, self.keep)?;
        if first.to_string() != second.to_string() {
            return Err(Error::Internal(format!("the trace\n{first}\nis traced as\n{second}")));
        }
        Ok(result)
    }
}
