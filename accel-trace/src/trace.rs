//! Traces: their public interface.

use crate::adjoints::{Adjoints, Found};
use crate::cluster::LARGEST;
use crate::plan::{Plan, plan};
use crate::rebuild::rebuild;
use crate::record::record;
use crate::reverse::reverse;
use crate::scalars;
use crate::scalars::tape::Tape;
use crate::show;
use crate::statistics::{Stats, stats};
use crate::steps::Steps;
use accel_ad::{Reverse, reverse_mode};
use accel_core::afun::{Afun, AsAfun};
use accel_core::ast::{Program, Source, conforms};
use accel_core::backend::{Backend, Executable};
use accel_core::error::{Error, Result};
use accel_core::pass::first_rule;
use accel_core::repr::{ArrayTuple, RawArray, RawExtents, RawTy};
use accel_core::types::{Arrays, Inputs};
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

/// What a trace keeps whole; tracing decides or dissolves everything else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keep {
    /// Operations on arrays are steps. Conditionals and loops in their scalar code stay there, so maps stay maps.
    /// Conditionals and loops on arrays are decided. The reverse pass fuses the adjoints of steps whose intermediate
    /// arrays nothing else uses, such as the steps of a product of matrices, and these arrays are not stored.
    Arrays,
    /// The same, but every array is stored and every step is resolved by itself: slower, and large where operations would
    /// be fused.
    EveryArray,
    /// Only operations on floating-point numbers are steps. All control flow is decided, and arrays dissolve into their
    /// elements, so a trace has a step for every operation of the run. This is for teaching, and for checking everything
    /// else on small programs: the trace and its reverse pass use no backend.
    Scalars,
}

/// The straight-line program of one run. It is data: it can be printed, drawn, counted, turned into a program, and
/// differentiated. Clones share it, and any thread can use it.
pub struct Trace<A, R> {
    recorded: Arc<RawTrace>,
    types: PhantomData<fn(A) -> R>,
}

/// A trace without the types of its argument and result, for tools that trace [`Program`]s. [`Trace`] adds the types.
pub struct RawTrace {
    form: Form,
    /// The first function with a rule of its own, of which the trace has only the function.
    rule: Option<Source>,
    backend: &'static dyn Backend,
    pullback: OnceLock<Box<dyn Executable>>,
}

enum Form {
    Arrays { steps: Steps, plan: OnceLock<Plan> },
    Scalars(Tape),
}

impl<A, R> Clone for Trace<A, R> {
    fn clone(&self) -> Self {
        Trace { recorded: self.recorded.clone(), types: PhantomData }
    }
}

/// Runs a program once, step by step, and records the straight-line program of this run.
///
/// With whole arrays, `backend` runs each operation by itself: a backend that compiles does so once for each kind of
/// operation. With [`Keep::Scalars`], it is only used for [`Trace::pullback`].
///
/// # Errors
/// A mistake in the program, inputs that do not match, and whatever fails in the run.
pub fn trace_on<A: Arrays, R: Arrays>(
    backend: &'static dyn Backend,
    prog: impl AsAfun<A, R>,
    inputs: impl Inputs<A>,
    keep: Keep,
) -> Result<(R, Trace<A, R>)> {
    let (result, recorded) = RawTrace::record(backend, prog.as_afun().program()?, &inputs.to_tuple(), keep)?;
    Ok((R::from_tuple(result)?, Trace { recorded: Arc::new(recorded), types: PhantomData }))
}

impl RawTrace {
    /// Runs a program once and records the straight-line program of this run: see [`trace_on`].
    ///
    /// # Errors
    /// Those of `trace_on`.
    pub fn record(
        backend: &'static dyn Backend,
        program: &Program,
        argument: &ArrayTuple,
        keep: Keep,
    ) -> Result<(ArrayTuple, RawTrace)> {
        let form = match keep {
            Keep::Arrays => Form::arrays(record(program, argument, backend, LARGEST)?),
            Keep::EveryArray => Form::arrays(record(program, argument, backend, 1)?),
            Keep::Scalars => Form::Scalars(scalars::record(program, argument)?),
        };
        let result = ArrayTuple::of(program.result(), &mut form.results().into_iter());
        let result = result.ok_or_else(|| Error::Internal("a result is missing".into()))?;
        Ok((result, RawTrace { form, rule: first_rule(program), backend, pullback: OnceLock::new() }))
    }

    /// The trace as a closed program: see [`Trace::to_program`].
    pub fn program(&self) -> Program {
        self.form.program()
    }

    /// The adjoint of the argument for an adjoint of the result: see [`Trace::reverse`].
    ///
    /// # Errors
    /// Those of [`Trace::reverse`], and `Error::Type` for a seed of another type than the result.
    pub fn reverse(&self, seed: &ArrayTuple) -> Result<ArrayTuple> {
        ArrayTuple::of(self.form.argument(), &mut self.adjoints(seed)?.inputs.into_iter())
            .ok_or_else(|| Error::Internal("an adjoint is missing".into()))
    }

    /// Whether derivatives of the trace are those of the program.
    fn check_rules(&self, user: &'static str) -> Result<()> {
        self.rule.map_or(Ok(()), |s| Err(Error::Rule { user, op: s.name, at: s.at }))
    }

    fn adjoints(&self, seed: &ArrayTuple) -> Result<Found> {
        self.check_rules("`reverse` of a trace")?;
        let ty = self.form.ty();
        if !conforms(seed, ty) {
            let found = "arrays of another type".into();
            return Err(Error::Type { op: "`reverse`".into(), expected: ty.to_string(), found });
        }
        let seeds: Vec<RawArray> = seed.leaves().into_iter().cloned().collect();
        check_seed(&self.form.shapes(), &seeds)?;
        self.form.reverse(&seeds, self.backend)
    }
}

impl fmt::Display for RawTrace {
    /// One line for each step.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.form {
            Form::Arrays { steps, .. } => show::print(steps, f),
            Form::Scalars(tape) => scalars::print(tape, f),
        }
    }
}

impl Form {
    fn arrays(steps: Steps) -> Form {
        Form::Arrays { steps, plan: OnceLock::new() }
    }
    /// The arrays of the result.
    fn results(&self) -> Vec<RawArray> {
        match self {
            Form::Arrays { steps, .. } => {
                steps.result.leaves().into_iter().map(|id| steps.steps[id].value.clone()).collect()
            }
            Form::Scalars(tape) => tape.results.iter().map(|e| e.array()).collect(),
        }
    }
    /// The extents of the arrays of the result.
    fn shapes(&self) -> Vec<RawExtents> {
        match self {
            Form::Arrays { steps, .. } => {
                steps.result.leaves().into_iter().map(|id| steps.steps[id].value.extents.clone()).collect()
            }
            Form::Scalars(tape) => tape.results.iter().map(|e| e.extents.clone()).collect(),
        }
    }
    /// The type of the argument.
    fn argument(&self) -> &RawTy {
        match self {
            Form::Arrays { steps, .. } => &steps.argument,
            Form::Scalars(tape) => &tape.argument,
        }
    }
    /// The type of the result.
    fn ty(&self) -> &RawTy {
        match self {
            Form::Arrays { steps, .. } => &steps.ty,
            Form::Scalars(tape) => &tape.ty,
        }
    }
    fn program(&self) -> Program {
        match self {
            Form::Arrays { steps, .. } => rebuild(steps),
            Form::Scalars(tape) => scalars::rebuild(tape),
        }
    }
    fn reverse(&self, seeds: &[RawArray], backend: &dyn Backend) -> Result<Found> {
        match self {
            Form::Arrays { steps, plan: cached } => {
                let plan = match cached.get() {
                    Some(plan) => plan,
                    None => {
                        let plan = plan(steps, backend)?;
                        cached.get_or_init(|| plan)
                    }
                };
                Found::in_steps(steps, plan, reverse(steps, plan, seeds)?)
            }
            Form::Scalars(tape) => Ok(Found::in_tape(scalars::reverse(tape, seeds))),
        }
    }
}

impl<A: Arrays, R: Arrays> Trace<A, R> {
    /// The trace as a closed program, which is simplified, compiled, differentiated and run like any other.
    ///
    /// It computes what the traced program computes for every argument for which the traced program takes the same
    /// path: the same branches of conditionals, and as many steps of each loop. For other arguments it computes what
    /// this path would. (With whole arrays, this is about conditionals and loops on arrays. With [`Keep::Scalars`], it
    /// is also about those in scalar code, about indices and about all discrete numbers, which are constants of the
    /// trace, and names are lost.) Rules of one's own are lost, too: a function that has one is what it computes.
    pub fn to_program(&self) -> Afun<A, R> {
        Afun::from_result(Ok(self.recorded.program()))
    }

    /// The reverse pass: the adjoints of the argument and of all arrays with names, for an adjoint of the result of the
    /// same shapes. Discrete parts of adjoints are zero.
    ///
    /// With whole arrays, the first call compiles the adjoints of the operations, equal ones once. Independent tasks run in
    /// parallel, on the rayon pool of the caller; adjoints do not depend on the number of its threads.
    ///
    /// # Errors
    /// `Error::Shape` for a seed of other shapes than the result; `Error::Rule` for a program with a rule of one's own; an operation
    /// without a reverse derivative; whatever fails in the adjoint of an operation.
    pub fn reverse(&self, seed: impl Inputs<R>) -> Result<Adjoints<A>> {
        Adjoints::new(self.recorded.form.argument(), self.recorded.adjoints(&seed.to_tuple())?)
    }

    /// The adjoint of the argument for other inputs: the whole trace is differentiated and compiled as one program, once,
    /// and this program runs for `inputs` and an adjoint `seed` of the result.
    ///
    /// This is how a trace is used many times. Operations are fused, so intermediate arrays are not stored and have no
    /// adjoints that could be inspected; parallelism is that inside the operations. The result is that of
    /// [`vjp`](accel_ad::vjp) for [`to_program`](Self::to_program); for the traced inputs, up to rounding, it is that of
    /// [`reverse`](Self::reverse).
    ///
    /// # Errors
    /// Those of `vjp`, and of a run; `Error::Rule` for a program with a rule of one's own.
    pub fn pullback(&self, inputs: impl Inputs<A>, seed: impl Inputs<R>) -> Result<A> {
        self.recorded.check_rules("`pullback` of a trace")?;
        let RawTrace { form, backend, pullback, .. } = &*self.recorded;
        let compiled = match pullback.get() {
            Some(compiled) => compiled,
            None => {
                let reverse = reverse_mode(&form.program(), None, Reverse::Pullback { at: None })?;
                let compiled = backend.compile(&reverse)?;
                pullback.get_or_init(|| compiled)
            }
        };
        A::from_tuple(compiled.run(&ArrayTuple::pair(inputs.to_tuple(), seed.to_tuple()))?)
    }

    /// The arrays to which the program gave this name with [`named`](accel_core::surface::named), in the order in which
    /// the run computed them.
    ///
    /// # Errors
    /// `Error::Type` if one of them has another type than `T`.
    pub fn named<T: Arrays>(&self, name: &str) -> Result<Vec<T>> {
        let found: Vec<RawArray> = match &self.recorded.form {
            Form::Arrays { steps, .. } => {
                steps.steps.iter().filter(|s| s.label() == Some(name)).map(|s| s.value.clone()).collect()
            }
            Form::Scalars(tape) => tape.named.iter().filter(|(n, _)| *n == name).map(|(_, e)| e.array()).collect(),
        };
        found.into_iter().map(|a| T::from_tuple(ArrayTuple::Array(a))).collect()
    }

    /// Counts steps, memory, uses, depth and width.
    pub fn stats(&self) -> Stats {
        match &self.recorded.form {
            Form::Arrays { steps, .. } => stats(steps),
            Form::Scalars(tape) => scalars::stats(tape),
        }
    }

    /// The graph of the trace in the language of Graphviz; `dot -Tsvg` draws it.
    pub fn to_dot(&self) -> String {
        match &self.recorded.form {
            Form::Arrays { steps, .. } => show::dot(steps),
            Form::Scalars(tape) => scalars::dot(tape),
        }
    }
}

fn check_seed(shapes: &[RawExtents], seeds: &[RawArray]) -> Result<()> {
    for (expected, seed) in shapes.iter().zip(seeds) {
        if seed.extents != *expected {
            return Err(Error::Shape {
                op: "`reverse`".into(),
                expected: format!("an adjoint of the shape of the result, {expected:?}"),
                found: format!("{:?}", seed.extents),
            });
        }
    }
    Ok(())
}

impl<A, R> fmt::Display for Trace<A, R> {
    /// One line for each step.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.recorded, f)
    }
}

impl<A, R> fmt::Debug for Trace<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
