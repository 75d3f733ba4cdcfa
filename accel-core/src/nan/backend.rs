//! Backends whose runs look for the origin of NaN.

use super::finding::Finding;
use crate::ast::Program;
use crate::backend::{Backend, Executable};
use crate::error::{Error, Result};
use crate::interp::Interpreted;
use crate::repr::{ArrayTuple, Column, Scalar};
use std::sync::OnceLock;

/// A backend that reports where NaN and infinity come from: `run_on(&FindNan::on(&Native), &prog, &xs)`.
///
/// Programs run on another backend. If the result contains NaN or infinity, the interpreter runs the program again, and if
/// it finds where they appear, the run fails with [`Error::NotFinite`]. With `ACCEL_NAN=1` in the environment,
/// all backends do this.
pub struct FindNan<'a> {
    backend: &'a dyn Backend,
    configuration: Option<String>,
}

impl<'a> FindNan<'a> {
    /// Programs run on `backend`.
    pub fn on(backend: &'a dyn Backend) -> Self {
        FindNan { backend, configuration: backend.configuration().map(|c| format!("{c} that finds NaN")) }
    }

    fn watched(&self, program: &Program, executable: Box<dyn Executable>) -> Box<dyn Executable> {
        Box::new(Watched { program: program.clone(), executable })
    }
}

impl Backend for FindNan<'_> {
    fn name(&self) -> &'static str {
        self.backend.name()
    }
    fn compile(&self, program: &Program) -> Result<Box<dyn Executable>> {
        Ok(self.watched(program, self.backend.compile(program)?))
    }
    fn start(&self, program: &Program) -> Result<Box<dyn Executable>> {
        Ok(self.watched(program, self.backend.start(program)?))
    }
    fn configuration(&self) -> Option<&str> {
        self.configuration.as_deref()
    }
}

/// Calls `user` with the backend, and with [`FindNan`] on top of it if the environment asks for it.
pub(crate) fn with_nan_check<T>(backend: &dyn Backend, user: impl FnOnce(&dyn Backend) -> T) -> T {
    static ASKED_FOR: OnceLock<bool> = OnceLock::new();
    match ASKED_FOR.get_or_init(|| std::env::var_os("ACCEL_NAN").is_some_and(|v| v == "1")) {
        true => user(&FindNan::on(backend)),
        false => user(backend),
    }
}

/// An executable whose results are looked at.
struct Watched {
    program: Program,
    executable: Box<dyn Executable>,
}

impl Executable for Watched {
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple> {
        let result = self.executable.run(argument)?;
        let (nan, infinity) = (has(&result, f64::is_nan), has(&result, f64::is_infinite));
        if !nan && !infinity {
            return Ok(result);
        }
        match Interpreted::new(&self.program).run_watched(argument)? {
            // What the result contains comes from the argument or from constants.
            (Some(found), _) if !(nan && found.nan.is_some() || infinity) => Ok(result),
            (Some(found), _) => Err(Error::NotFinite(found.to_string())),
            (None, own) if own.as_ref().is_some_and(|own| !has(own, |x| !x.is_finite())) => {
                Err(Error::NotFinite(Finding::default().to_string()))
            }
            (None, _) => Ok(result),
        }
    }

    fn prepare(&self, argument: &ArrayTuple) -> Result<()> {
        self.executable.prepare(argument)
    }

    fn call(&self, argument: &[Scalar], result: &mut [Scalar]) -> bool {
        let is_finite = |x: &Scalar| x.float().is_none_or(f64::is_finite);
        // `run` finds the reason.
        self.executable.call(argument, result) && result.iter().all(is_finite)
    }
}

/// Whether an array contains such a number.
fn has(a: &ArrayTuple, is: fn(f64) -> bool) -> bool {
    a.leaves().iter().flat_map(|a| &a.columns).any(|c| match c {
        Column::F32(c) => c.iter().any(|x| is((*x).into())),
        Column::F64(c) => c.iter().any(|x| is(*x)),
        _ => false,
    })
}
