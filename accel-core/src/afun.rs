//! Typed programs (`Afun`) and compiled programs (`Compiled`).

use crate::ast::ty::Repr;
use crate::ast::{Program, Source};
use crate::backend::{Backend, Executable};
use crate::elaborate::elaborate;
use crate::error::{Error, Result};
use crate::nan::with_nan_check;
use crate::print;
use crate::program_cache::{CachedProgram, Derivation};
use crate::repr::{RawTy, Scalars, Views, ViewsMut};
use crate::surface::graph::{ArrayOp, Handle, Op, build, check_scope, lifted, record, tuple_of};
use crate::surface::nodes::{array_components, array_tuple};
use crate::surface::{Acc, ArrayFn, IntoAcc, Staged, stage};
use crate::types::{Arrays, Elt, Inputs, Numbers, Outputs};
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

/// An array program from `Args` to `R`. It is cheap to clone, and any thread can use it. A program that uses arrays of the program
/// around it belongs to that one: see [`afun`].
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
///
/// A program that is written inside of another one may use arrays and numbers of that one: it captures them, as a closure does. [`call`]
/// uses it there, and so do the programs that are written there. For its own derivatives, what it captures is constant; a
/// derivative of the program around it goes through the call.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let program = afun(|xs: Acc<Vector<f64>>, factor: Acc<Scalar<f64>>| {
///     let scaled = afun(|ys: Acc<Vector<f64>>| map(|y| y * the(factor), ys));
///     call(&scaled, call(&scaled, xs))
/// });
/// let ys = run_with(&Interpreter, &program, (&Array::vector(vec![1.0, 2.0]), &Array::scalar(3.0)))?;
/// assert_eq!(ys.to_vec(), [9.0, 18.0]);
/// # Ok::<(), Error>(())
/// ```
///
/// To run such a program by itself is an error, and so is its use after the program around it is finished, or on another thread
/// ([`Error::Scope`]). A number that it captures is no variable of scalar code: that would be nested parallelism.
#[track_caller]
pub fn afun<M, F: ArrayFn<M>>(f: F) -> Afun<F::Args, F::Result> {
    let _span = tracing::debug_span!("front end").entered();
    Afun::recorded(stage(|args| f.apply(args)))
}

/// Like [`afun`], but reports mistakes in the program immediately.
///
/// # Errors
/// Handles of other programs or of closures that have ended, nested parallelism, mismatched types.
#[track_caller]
pub fn try_afun<M, F: ArrayFn<M>>(f: F) -> Result<Afun<F::Args, F::Result>> {
    let f = afun(f);
    f.cached()?;
    Ok(f)
}

impl<Args: Arrays, R: Arrays> Afun<Args, R> {
    /// Turns a typed program into an array function.
    ///
    /// # Errors
    /// The argument or the result of the program has another type than `Args` or `R`.
    pub fn from_program(program: Program) -> Result<Self> {
        Self::from_cached(Arc::new(CachedProgram::new(program, vec![])))
    }

    /// The program that was recorded, which may have captured values. An error is stored.
    pub(crate) fn recorded(staged: Result<Staged>) -> Self {
        let program = staged.and_then(|s| Ok(CachedProgram::new(elaborate(&s)?, s.captured)));
        program.and_then(|p| Self::from_cached(Arc::new(p))).unwrap_or_else(Self::from_error)
    }

    fn from_cached(program: Arc<CachedProgram>) -> Result<Self> {
        check_types(&program, Args::Repr::raw(), R::Repr::raw())?;
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

    /// The program that `derive` makes of this one, for the user at `at`. It is made once; this program remembers it. An error, or
    /// a program of another type, is stored as an error.
    pub fn derived<A: Arrays, S: Arrays>(
        &self,
        derivation: Derivation,
        at: &'static Location<'static>,
        derive: impl FnOnce() -> Afun<A, S>,
    ) -> Afun<A, S> {
        let program = self.in_scope(derivation.name, at);
        let derived = program.and_then(|p| p.derived(derivation, || derive().program));
        derived.and_then(Afun::from_cached).unwrap_or_else(Afun::from_error)
    }

    /// The program that a transformation makes of this one and the function `by` from its argument to parts of it (`None`: the
    /// whole argument). The argument of the new program is that of this one, or a pair of it and something else. For
    /// the transformation, captured values are a part of the argument that is not chosen. An error, or a program of
    /// another type, is stored as an error.
    pub fn transformed<A: Arrays, S: Arrays>(
        &self,
        by: Option<&Program>,
        transform: impl FnOnce(&Program, Option<&Program>) -> Result<Program>,
    ) -> Afun<A, S> {
        let at = Location::caller();
        let transformed = self.cached().and_then(|p| {
            let (program, captured) = (p.program(), p.captured());
            if captured.is_empty() {
                return Afun::from_program(transform(program, by)?);
            }
            let own = record(program.arg().clone(), at, |x| {
                let [own, _] = array_components(x);
                by.map_or(own, |by| apply(by, own, at))
            })?;
            let derived = transform(program, Some(&elaborate(&own)?))?;
            Ok(Afun::recorded(stage(|args: Acc<A>| {
                let args = if derived.arg() == program.arg() {
                    lifted(args.handle(), captured, at)
                } else {
                    let [own, more] = array_components(args.handle());
                    array_tuple(&[lifted(own, captured, at), more])
                };
                Acc::<S>::new(apply(&derived, args, at))
            })))
        });
        transformed.unwrap_or_else(Afun::from_error)
    }

    /// This program with a derivative that `rule` computes, which is recorded as the function of arguments of type `B`. `make` combines their
    /// programs, of which the two `bool`s say whether they capture values, to one with the argument `((x, c), d)`, where `c`
    /// and `d` are the tuples of these. An error is stored as an error.
    #[doc(hidden)]
    pub fn with_rule<B: Arrays>(
        &self,
        user: Source,
        rule: impl FnOnce(Acc<B>) -> Handle,
        make: impl FnOnce(&Program, &Program, [bool; 2]) -> Result<Program>,
    ) -> Self {
        let at = user.at;
        let made = self.in_scope(user.name, at).and_then(|f| {
            let rule = record(B::Repr::raw(), at, |args| rule(Acc::new(args)))?;
            let captures = [!f.captured().is_empty(), !rule.captured.is_empty()];
            let program = make(f.program(), &elaborate(&rule)?, captures)?;
            Ok(Afun::recorded(stage(|args: Acc<Args>| {
                let captured = [f.captured(), &rule.captured].map(|c| tuple_of(c, at));
                Acc::<R>::new(apply(&program, array_tuple(&[args.handle(), captured[0], captured[1]]), at))
            })))
        });
        made.unwrap_or_else(Afun::from_error)
    }

    /// Runs the program. If the process has not compiled it for this backend yet, it is compiled first:
    /// [`crate::program_cache`].
    ///
    /// # Errors
    /// As [`Compiled::new`] and [`Compiled::run`].
    pub fn run_on(&self, backend: &dyn Backend, inputs: impl Inputs<Args>) -> Result<R> {
        let program = self.closed()?;
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
    /// The mistake that was made when the program was recorded or transformed, or a captured array.
    pub fn program(&self) -> Result<&Program> {
        self.closed().map(|p| p.program())
    }

    /// The program, if it captures nothing.
    fn closed(&self) -> Result<&CachedProgram> {
        let program = self.cached()?;
        program.captured().first().map_or(Ok(program), |c| Err(c.error()))
    }

    /// The program, if the function `name` at `at` can use what it captures.
    pub(crate) fn in_scope(&self, name: &'static str, at: &'static Location<'static>) -> Result<&CachedProgram> {
        let program = self.cached()?;
        check_scope(program.captured(), name, at)?;
        Ok(program)
    }

    pub(crate) fn cached(&self) -> Result<&CachedProgram> {
        self.program.as_deref().map_err(Error::clone)
    }
}

/// Applies a program to arguments within another program. So programs can use derivatives, as in
/// `call(&grad(&prog), xs)`. What `prog` captures ([`afun`]) must belong to a program that is being written. The result is taken apart as it is: `let (value, gradient) = call(value_and_grad(&prog), xs)`, and a record
/// `Model` of arrays is its companion `ModelAcc`.
///
/// # Errors
/// The errors of `prog` are stored, and reported when the surrounding program is run.
#[track_caller]
pub fn call<A: Arrays, R: Arrays>(prog: impl AsAfun<A, R>, args: impl IntoAcc<Arrays = A>) -> R::Acc {
    let (at, args) = (Location::caller(), args.into_acc().handle());
    R::unlift(Acc::new(match prog.as_afun().cached() {
        Ok(program) => apply(program.program(), lifted(args, program.captured(), at), at),
        // A placeholder of the right type: a program with an error never runs.
        Err(error) => build("call", at, |b| {
            b.fail(error);
            b.push(Op::Param, R::Repr::raw())
        }),
    }))
}

/// Applies a program to its argument, with what it captures.
fn apply(program: &Program, args: Handle, at: &'static Location<'static>) -> Handle {
    build("call", at, |b| {
        let args = b.id(args);
        b.push(ArrayOp::Call(program.clone(), args), program.result().clone())
    })
}

fn check_types(program: &CachedProgram, arg: RawTy, result: RawTy) -> Result<()> {
    let (is_closed, program) = (program.captured().is_empty(), program.program());
    let own = match program.arg() {
        RawTy::Pair(both) if !is_closed => &both.0,
        own => own,
    };
    let parts = [("argument of the program", arg, own), ("result of the program", result, program.result())];
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

    /// The compiled program of a function that makes an executable of the types of the argument and of the result. The interface of
    /// backends that load programs.
    ///
    /// # Errors
    /// Those of the function.
    #[doc(hidden)]
    pub fn of(make: impl FnOnce(RawTy, RawTy) -> Result<Box<dyn Executable>>) -> Result<Self> {
        let executable = make(Args::Repr::raw(), R::Repr::raw())?.into();
        Ok(Compiled { executable, types: PhantomData })
    }

    /// What the backend has made of the program.
    #[doc(hidden)]
    pub fn executable(&self) -> &dyn Executable {
        &*self.executable
    }

    /// Compiles what the backend compiles for the extents of these arguments only. Otherwise the first run does so. The elements of the
    /// arguments do not matter.
    ///
    /// # Errors
    /// Whatever prevents the backend from compiling it.
    pub fn prepare_for(&self, inputs: impl Inputs<Args>) -> Result<()> {
        self.executable.prepare(&inputs.to_tuple())
    }

    /// Computes the result: `f.run(&xs)`, or `f.run((&xs, &ys))` for several arguments.
    ///
    /// # Errors
    /// Everything that is checked at run time: indices, extents, division by zero.
    pub fn run(&self, inputs: impl Inputs<Args>) -> Result<R> {
        run(&*self.executable, inputs)
    }

    /// As [`run`](Self::run), with results in memory of the caller, which already has their extents: arrays, slices for vectors, references to
    /// numbers. Arguments may be slices and numbers, too. On the native backend, a call after the first ones allocates nothing if the intermediate
    /// arrays are as large as before, except for sorts and for loops that keep states for a derivative. So solvers and samplers call it in their inner loops.
    ///
    /// ```
    /// use accel_core::interp::Interpreter;
    /// use accel_core::prelude::*;
    ///
    /// let squares = afun(|xs: Acc<Vector<f64>>| (sum(map(|x| x * x, xs)), map(|x| x * 2.0, xs)));
    /// let squares = Compiled::new(&Interpreter, &squares)?;
    /// let (mut value, mut gradient) = (0.0, [0.0; 3]);
    /// squares.run_into(&[1.0, 2.0, 3.0][..], (&mut value, &mut gradient[..]))?;
    /// assert_eq!((value, gradient), (14.0, [2.0, 4.0, 6.0]));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`run`](Self::run), and [`Error::Shape`] if a result has other extents than its place.
    pub fn run_into(&self, inputs: impl Inputs<Args>, mut results: impl Outputs<R>) -> Result<()> {
        let (mut from, mut to) = (Views::new(), ViewsMut::new());
        inputs.views(&mut from);
        results.views_mut(&mut to);
        if self.executable.run_into(&from, &mut to)? {
            return Ok(());
        }
        let found = self.executable.run(&inputs.to_tuple())?;
        let found = found.leaves();
        to.iter().zip(&found).try_for_each(|(to, from)| to.check(&from.extents))?;
        to.iter_mut().zip(found).try_for_each(|(to, from)| to.take(from.clone()))
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
