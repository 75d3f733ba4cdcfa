//! Traces: their public interface.

use crate::adjoints::Adjoints;
use crate::plan::{Plan, plan};
use crate::rebuild::rebuild;
use crate::record::record;
use crate::reverse::reverse;
use crate::show;
use crate::statistics::{Stats, stats};
use crate::step::Steps;
use accel_core::afun::Afun;
use accel_core::backend::Backend;
use accel_core::error::{Error, Result};
use accel_core::repr::{ArrayTuple, RawArray};
use accel_core::types::{Arrays, Inputs};
use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

/// What a trace keeps whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keep {
    /// Operations on arrays are steps. Conditionals and loops in their scalar code stay there.
    Arrays,
}

/// The straight-line program of one run. It is data: it can be printed, drawn, counted, turned into a program, and
/// differentiated. Clones share it, and any thread can use it.
pub struct Trace<A, R> {
    recorded: Arc<Recorded>,
    types: PhantomData<fn(A) -> R>,
}

struct Recorded {
    steps: Steps,
    backend: &'static dyn Backend,
    plan: OnceLock<Plan>,
}

impl<A, R> Clone for Trace<A, R> {
    fn clone(&self) -> Self {
        Trace { recorded: self.recorded.clone(), types: PhantomData }
    }
}

/// Runs a program once, step by step, and records the straight-line program of this run.
///
/// `backend` runs each operation by itself.
///
/// # Errors
/// A mistake in the program, inputs that do not match, and whatever fails in the run.
pub fn trace_on<A: Arrays, R: Arrays>(
    backend: &'static dyn Backend,
    prog: impl Borrow<Afun<A, R>>,
    inputs: impl Inputs<A>,
    keep: Keep,
) -> Result<(R, Trace<A, R>)> {
    let Keep::Arrays = keep;
    let steps = record(prog.borrow().program()?, &inputs.to_tuple(), backend)?;
    let mut leaves = steps.result.leaves().into_iter().map(|id| steps.steps[id].value.clone());
    let result = ArrayTuple::of(&steps.ty, &mut leaves).ok_or_else(|| Error::Internal("a result is missing".into()))?;
    let result = R::from_tuple(result)?;
    let recorded = Recorded { steps, backend, plan: OnceLock::new() };
    Ok((result, Trace { recorded: Arc::new(recorded), types: PhantomData }))
}

impl<A: Arrays, R: Arrays> Trace<A, R> {
    /// The trace as a closed program, which is simplified, compiled, differentiated and run like any other.
    ///
    /// It computes what the traced program computes for every argument for which the traced program takes the same
    /// way: the same branches of conditionals on arrays, and as many steps of each loop over arrays. For other arguments
    /// it computes what this way would.
    pub fn to_program(&self) -> Afun<A, R> {
        Afun::from_result(Ok(rebuild(&self.recorded.steps)))
    }

    /// The reverse pass: the adjoints of the argument and of all arrays with names, for an adjoint of the result of the
    /// same shapes. Discrete parts of adjoints are zero.
    ///
    /// The first call compiles the adjoints of the operations. Independent steps run in parallel, on the rayon pool of
    /// the caller; adjoints do not depend on the number of its threads.
    ///
    /// # Errors
    /// `Error::Shape` for a seed of other shapes than the result; an operation without a reverse derivative; whatever
    /// fails in the adjoint of an operation.
    pub fn reverse(&self, seed: impl Inputs<R>) -> Result<Adjoints<A>> {
        let Recorded { steps, backend, plan: cached } = &*self.recorded;
        let seed = seed.to_tuple();
        let seeds: Vec<RawArray> = seed.leaves().into_iter().cloned().collect();
        check_seed(steps, &seeds)?;
        let plan = match cached.get() {
            Some(plan) => plan,
            None => {
                let plan = plan(steps, *backend)?;
                cached.get_or_init(|| plan)
            }
        };
        let resolved = reverse(steps, plan, &seeds)?;
        Adjoints::new(steps, plan, resolved)
    }

    /// The arrays to which the program gave this name with [`named`](accel_core::surface::named), in the order in which
    /// the run computed them.
    ///
    /// # Errors
    /// `Error::Type` if one of them has another type than `T`.
    pub fn named<T: Arrays>(&self, name: &str) -> Result<Vec<T>> {
        let labelled = self.recorded.steps.steps.iter().filter(|s| s.label() == Some(name));
        labelled.map(|s| T::from_tuple(ArrayTuple::Array(s.value.clone()))).collect()
    }

    /// Counts steps, memory, uses, depth and width.
    pub fn stats(&self) -> Stats {
        stats(&self.recorded.steps)
    }

    /// The graph of the trace in the language of Graphviz; `dot -Tsvg` draws it.
    pub fn to_dot(&self) -> String {
        show::dot(&self.recorded.steps)
    }
}

fn check_seed(steps: &Steps, seeds: &[RawArray]) -> Result<()> {
    for (id, seed) in steps.result.leaves().into_iter().zip(seeds) {
        let expected = &steps.steps[id].value.extents;
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
        show::print(&self.recorded.steps, f)
    }
}

impl<A, R> fmt::Debug for Trace<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
