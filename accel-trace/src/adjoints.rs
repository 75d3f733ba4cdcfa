//! The adjoints that a reverse pass has computed.

use crate::contribution::zeros;
use crate::plan::Plan;
use crate::reverse::Resolved;
use crate::scalars;
use crate::step::Origin;
use crate::steps::Steps;
use accel_core::error::{Error, Result};
use accel_core::repr::{ArrayTuple, RawArray, RawTy};
use accel_core::types::Arrays;

/// The adjoints of the argument and of all arrays with names.
#[derive(Clone, Debug)]
pub struct Adjoints<A> {
    inputs: A,
    named: Vec<(&'static str, RawArray)>,
    work: Work,
}

/// What a reverse pass did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// The number of steps on which the result depends and that have adjoints.
    pub reachable: usize,
    /// How many steps were resolved: each of these once.
    pub resolved: usize,
    /// The number of tasks. A task resolves a cluster of steps, such as the four of a product of matrices, whose
    /// intermediate arrays nothing else uses: they have one fused adjoint.
    pub tasks: usize,
    /// How many numbers the contributions to adjoints had together.
    pub numbers: usize,
}

/// The adjoints that a pass has found, without types.
pub struct Found {
    /// Those of the arrays of the argument.
    pub inputs: Vec<RawArray>,
    named: Vec<(&'static str, RawArray)>,
    work: Work,
}

impl Found {
    /// Those of a trace of arrays.
    pub fn in_steps(steps: &Steps, plan: &Plan, resolved: Resolved) -> Result<Found> {
        let Resolved { adjoints, tasks, resolved, numbers } = resolved;
        let work = Work { reachable: plan.reachable, resolved, tasks, numbers };
        let mut found = Found { inputs: vec![], named: vec![], work };
        for (step, adjoint) in steps.steps.iter().zip(adjoints) {
            let is_argument = matches!(step.origin, Origin::Argument(_));
            if !is_argument && step.label().is_none() {
                continue;
            }
            let adjoint = adjoint.map_or_else(|| zeros(&step.ty, &step.value), Ok)?;
            match step.label() {
                Some(label) => found.named.push((label, adjoint)),
                None => found.inputs.push(adjoint),
            }
        }
        Ok(found)
    }

    /// Those of a trace of scalars.
    pub fn in_tape(resolved: scalars::Resolved) -> Found {
        let (reachable, numbers) = (resolved.reachable, resolved.contributions);
        let work = Work { reachable, resolved: reachable, tasks: 1, numbers };
        Found { inputs: resolved.arguments, named: resolved.named, work }
    }
}

impl<A: Arrays> Adjoints<A> {
    pub(crate) fn new(argument: &RawTy, found: Found) -> Result<Self> {
        let inputs = ArrayTuple::of(argument, &mut found.inputs.into_iter());
        let inputs = A::from_tuple(inputs.ok_or_else(|| Error::Internal("an adjoint is missing".into()))?)?;
        Ok(Adjoints { inputs, named: found.named, work: found.work })
    }

    /// The adjoint of the argument, in its type and shapes; discrete parts are zero.
    pub fn inputs(&self) -> &A {
        &self.inputs
    }

    /// The adjoint of the argument.
    pub fn into_inputs(self) -> A {
        self.inputs
    }

    /// The adjoints of the arrays with a name, in the order in which the traced run computed these arrays.
    ///
    /// # Errors
    /// `Error::Type` if one of them has another type than `T`.
    pub fn named<T: Arrays>(&self, name: &str) -> Result<Vec<T>> {
        let chosen = self.named.iter().filter(|(n, _)| *n == name);
        chosen.map(|(_, a)| T::from_tuple(ArrayTuple::Array(a.clone()))).collect()
    }

    /// The names of all arrays with names, without repetitions, in the order of their first use.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names = vec![];
        for (name, _) in &self.named {
            if !names.contains(name) {
                names.push(*name);
            }
        }
        names
    }

    /// What the pass did.
    pub fn work(&self) -> Work {
        self.work
    }
}
