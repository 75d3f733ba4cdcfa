//! The adjoints that a reverse pass has computed.

use crate::contribution::zeros;
use crate::plan::Plan;
use crate::reverse::Resolved;
use crate::step::{Origin, Steps};
use accel_core::error::{Error, Result};
use accel_core::repr::{ArrayTuple, RawArray};
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
    /// How many adjoints of steps were computed: each of these once.
    pub resolved: usize,
}

impl<A: Arrays> Adjoints<A> {
    pub(crate) fn new(steps: &Steps, plan: &Plan, resolved: Resolved) -> Result<Self> {
        let (mut inputs, mut named) = (vec![], vec![]);
        for (step, adjoint) in steps.steps.iter().zip(resolved.adjoints) {
            let label = step.label();
            let is_argument = matches!(step.origin, Origin::Argument(_));
            if !is_argument && label.is_none() {
                continue;
            }
            let adjoint = adjoint.map_or_else(|| zeros(&step.ty, &step.value), Ok)?;
            match label {
                Some(label) => named.push((label, adjoint)),
                None => inputs.push(adjoint),
            }
        }
        let inputs = ArrayTuple::of(&steps.argument, &mut inputs.into_iter());
        let inputs = A::from_tuple(inputs.ok_or_else(|| Error::Internal("an adjoint is missing".into()))?)?;
        Ok(Adjoints { inputs, named, work: Work { reachable: plan.reachable, resolved: resolved.resolved } })
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
