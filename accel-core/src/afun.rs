//! Typed programs (`Afun`) and compiled programs (`Compiled`).

use crate::ast::Program;
use crate::ast::ty::Repr;
use crate::backend::{Backend, Executable};
use crate::elaborate::elaborate;
use crate::error::{Error, Result};
use crate::nan::with_nan_check;
use crate::print;
use crate::program_cache::{CachedProgram, Derivation};
use crate::repr::{RawTy, Scalars};
use crate::surface::graph::{ArrayOp, Op, build};
use crate::surface::{Acc, ArrayFn, IntoAcc, stage};
use crate::types::{Arrays, Elt, Inputs, Numbers};
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

/// A closed array program from `Args` to `R`. It is cheap to clone, and any thread can use it.
///
/// If the program contains a mistake, the error is stored here: [`Afun::program`] and every run return it.
pub struct Afun<Args, R> {
    program: Result<Arc<CachedProgram>>,
    types: PhantomData<fn(Args) -> R>,
}

impl<Args, R> Clone for Afun<Args, R> {
    fn clone(&self) -> Self {
        Afun { program: self.program.clone(), types: PhantomData }
    }
}

/// A program from `A` to `R`, or a reference to one: what is run, compiled and called.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a program",
    label = "expected a program",
    note = "`afun(f)` makes a program of an array function `f`: `run(&afun(f), &xs)`"
)]
pub trait AsAfun<A, R> {
    /// The program.
    fn as_afun(&self) -> &Afun<A, R>;
}
impl<A, R> AsAfun<A, R> for Afun<A, R> {
    fn as_afun(&self) -> &Afun<A, R> {
        self
    }
}
impl<A, R, P: AsAfun<A, R>> AsAfun<A, R> for &P {
    fn as_afun(&self) -> &Afun<A, R> {
        (**self).as_afun()
    }
}

/// Records the program of an array function of up to eight [`Acc`]s. `f` is called once, immediately.
///
/// Several arguments form one tuple: `afun(|xs: Acc<A>, ys: Acc<B>| ..)` is an `Afun<(A, B), _>`. A program without
/// arguments has the argument `()`. Mistakes that rustc cannot see do not panic: they are reported when the program is
/// used. [`try_afun`] reports them immediately.
#[track_caller]
pub fn afun<M, F: ArrayFn<M>>(f: F) -> Afun<F::Args, F::Result> {
    let _span = tracing::debug_span!("front end").entered();
    let staged = stage(|args| f.apply(args));
    Afun::from_result(staged.and_then(|s| elaborate(&s)))
}

/// Like [`afun`], but reports mistakes in the program immediately.
///
/// # Errors
/// Handles of other programs or of closures that have ended, nested parallelism, mismatched types.
#[track_caller]
pub fn try_afun<M, F: ArrayFn<M>>(f: F) -> Result<Afun<F::Args, F::Result>> {
    let f = afun(f);
    f.program()?;
    Ok(f)
}

impl<Args: Arrays, R: Arrays> Afun<Args, R> {
    /// Turns a typed program into an array function.
    ///
    /// # Errors
    /// The argument or the result of the program has another type than `Args` or `R`.
    pub fn from_program(program: Program) -> Result<Self> {
        Self::from_cached(Arc::new(CachedProgram::new(program)))
    }

    fn from_cached(program: Arc<CachedProgram>) -> Result<Self> {
        check_types(program.program(), Args::Repr::raw(), R::Repr::raw())?;
        Ok(Afun { program: Ok(program), types: PhantomData })
    }

    /// Turns the result of a program transformation into an array function. An error, or a program of another type, is
    /// stored as an error.
    pub fn from_result(program: Result<Program>) -> Self {
        program.and_then(Self::from_program).unwrap_or_else(Self::from_error)
    }

    fn from_error(error: Error) -> Self {
        Afun { program: Err(error), types: PhantomData }
    }

    /// The program that a transformation makes of this one. The transformation is applied once; the program remembers
    /// the result. An error, or a program of another type, is stored as an error.
    pub fn derived<A: Arrays, S: Arrays>(
        &self,
        derivation: Derivation,
        derive: impl FnOnce(&Program) -> Result<Program>,
    ) -> Afun<A, S> {
        let program = self.program.as_ref().map_err(Error::clone);
        let derived = program.and_then(|p| p.derived(derivation, derive));
        derived.and_then(Afun::from_cached).unwrap_or_else(Afun::from_error)
    }

    /// Runs the program. If the process has not compiled it for this backend yet, it is compiled first:
    /// [`crate::program_cache`].
    ///
    /// # Errors
    /// As [`Compiled::new`] and [`Compiled::run`].
    pub fn run_on(&self, backend: &dyn Backend, inputs: impl Inputs<Args>) -> Result<R> {
        let program = self.program.as_ref().map_err(Error::clone)?;
        with_nan_check(backend, |b| program.with_executable(b, |executable| run(executable, inputs)))
    }
}

/// Runs an executable of a program from `Args` to `R`.
fn run<Args: Arrays, R: Arrays>(executable: &dyn Executable, inputs: impl Inputs<Args>) -> Result<R> {
    let _span = tracing::debug_span!("run").entered();
    R::from_tuple(executable.run(&inputs.to_tuple())?)
}

impl<Args, R> Afun<Args, R> {
    /// The typed program.
    ///
    /// # Errors
    /// The mistake that was made when the program was recorded or transformed.
    pub fn program(&self) -> Result<&Program> {
        self.program.as_ref().map(|p| p.program()).map_err(Error::clone)
    }
}

/// Applies a finished program to arguments within another program. So programs can use derivatives, as in
/// `call(&grad(&prog), xs)`. The result is taken apart as it is: `let (value, gradient) = call(value_and_grad(&prog), xs)`, and a record
/// `Model` of arrays is its companion `ModelAcc`.
///
/// # Errors
/// The errors of `prog` are stored, and reported when the surrounding program is run.
#[track_caller]
pub fn call<A: Arrays, R: Arrays>(prog: impl AsAfun<A, R>, args: impl IntoAcc<Arrays = A>) -> R::Acc {
    let args = args.into_acc();
    let program = prog.as_afun().program().cloned();
    R::unlift(Acc::new(build("call", Location::caller(), |b| {
        let args = b.id(args.handle());
        match program {
            Ok(program) => b.push(ArrayOp::Call(program, args), R::Repr::raw()),
            Err(error) => {
                b.fail(error);
                // A placeholder of the right type: a program with an error never runs.
                b.push(Op::Param, R::Repr::raw())
            }
        }
    })))
}

fn check_types(program: &Program, arg: RawTy, result: RawTy) -> Result<()> {
    let parts = [("argument of the program", arg, program.arg()), ("result of the program", result, program.result())];
    for (op, expected, found) in parts {
        if expected != *found {
            return Err(Error::Type { op: op.into(), expected: expected.to_string(), found: found.to_string() });
        }
    }
    Ok(())
}

impl<Args, R> fmt::Display for Afun<Args, R> {
    /// The program as text, or the error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.program {
            Ok(p) => f.write_str(&print::program(p.program(), &print::PrintOptions::default())),
            Err(e) => write!(f, "error: {e}"),
        }
    }
}

impl<Args, R> fmt::Debug for Afun<Args, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A program that a backend has compiled. It can be run many times, also from several threads at once.
pub struct Compiled<Args, R> {
    executable: Arc<dyn Executable>,
    types: PhantomData<fn(Args) -> R>,
}

impl<Args, R> Clone for Compiled<Args, R> {
    fn clone(&self) -> Self {
        Compiled { executable: self.executable.clone(), types: PhantomData }
    }
}

impl<Args: Arrays, R: Arrays> Compiled<Args, R> {
    /// Compiles a program.
    ///
    /// # Errors
    /// A mistake in the program, or whatever prevents the backend from compiling it.
    pub fn new(backend: &dyn Backend, f: &Afun<Args, R>) -> Result<Self> {
        with_nan_check(backend, |b| Self::prepare(b, f, |program| b.compile(program)))
    }

    /// As [`new`](Self::new), for a program that is run at once: see [`Backend::start`].
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn start(backend: &dyn Backend, f: &Afun<Args, R>) -> Result<Self> {
        with_nan_check(backend, |b| Self::prepare(b, f, |program| b.start(program)))
    }

    fn prepare(
        backend: &dyn Backend,
        f: &Afun<Args, R>,
        prepare: impl FnOnce(&Program) -> Result<Box<dyn Executable>>,
    ) -> Result<Self> {
        let _span = tracing::debug_span!("compile", backend = backend.name()).entered();
        let executable = prepare(f.program()?)?.into();
        Ok(Compiled { executable, types: PhantomData })
    }

    /// Computes the result: `f.run(&xs)`, or `f.run((&xs, &ys))` for several arguments.
    ///
    /// # Errors
    /// Everything that is checked at run time: indices, extents, division by zero.
    pub fn run(&self, inputs: impl Inputs<Args>) -> Result<R> {
        run(&*self.executable, inputs)
    }

    /// Computes on numbers: `f.call(3.0)`, or `f.call((3.0, 4.0))` for several arguments. On the native backend, a call
    /// takes tens of nanoseconds if the program contains no array with dimensions, and up to eight numbers need no heap
    /// memory. So the inner loop of another program can call a compiled program.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub fn call<X: Elt, Y: Elt>(&self, argument: X) -> Result<Y>
    where
        Args: Numbers<Values = X>,
        R: Numbers<Values = Y>,
    {
        // No tracing span here: it would take as long as the call.
        let (mut arguments, mut results) = (Scalars::new(), Scalars::new());
        argument.to_scalars(&mut arguments);
        Y::Repr::zeros(&mut results);
        if !self.executable.call(&arguments, &mut results) {
            return Ok(self.run(&Args::from_values(argument))?.values());
        }
        Y::from_scalars(&mut results.iter().copied())
            .ok_or_else(|| Error::Internal("results of other types than the program's".into()))
    }
}

impl<Args, R> fmt::Debug for Compiled<Args, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compiled")
    }
}

/// Compiles a program with a backend and runs it once.
///
/// # Errors
/// As [`Compiled::new`] and [`Compiled::run`].
pub fn run_with<Args: Arrays, R: Arrays>(
    backend: &dyn Backend,
    f: &Afun<Args, R>,
    inputs: impl Inputs<Args>,
) -> Result<R> {
    Compiled::new(backend, f)?.run(inputs)
}
