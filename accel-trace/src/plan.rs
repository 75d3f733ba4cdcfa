//! The plan of a reverse pass: which steps have adjoints, and how many contributions each of them waits for.
//!
//! A step waits for the contributions of the steps on which the result depends, and of no others. Counting all uses, as
//! the thesis does, never ends where a use belongs to code on which the result does not depend.

use crate::kernel::Kernel;
use crate::step::{Id, Origin, Steps};
use accel_core::backend::{Backend, Executable};
use accel_core::error::{Error, Result};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// What a reverse pass does at each step.
pub struct Plan {
    /// The steps by their numbers; those without an adjoint do nothing.
    pub steps: Vec<Planned>,
    /// The steps that wait for nothing but the seed.
    pub first: Vec<Id>,
    /// The number of steps that the result depends on and that have an adjoint.
    pub reachable: usize,
}

/// What a reverse pass does at one step.
#[derive(Default)]
pub struct Planned {
    /// The number of contributions: those of the seed, then those of the steps that use this one, in their order.
    pub parts: usize,
    /// For each input that gets a contribution: its number among the inputs, the step, and which of the contributions to
    /// the step this is.
    pub to: Vec<(usize, Id, usize)>,
    /// How the contributions are computed.
    pub rule: Rule,
}

/// How the adjoints of the inputs of a step are computed from its own.
#[derive(Default)]
pub enum Rule {
    /// There are none.
    #[default]
    Nothing,
    /// They have the same elements in the same order.
    Same,
    /// The adjoint is put at the positions where the step has read.
    Positions(Arc<Kernel>),
    /// A compiled program computes those of all inputs that get a contribution.
    Program(Arc<dyn Executable>),
}

/// Whether the adjoint of a step that reads some elements of an array is sparse: the array is larger than the result by
/// this factor.
const SPARSE: usize = 4;

/// Plans the reverse pass of a trace and compiles the adjoints of its kernels.
///
/// # Errors
/// An operation without a reverse derivative; whatever prevents the backend from compiling an adjoint.
pub fn plan(steps: &Steps, backend: &dyn Backend) -> Result<Plan> {
    let active = &active(steps);
    let mut reached = vec![false; steps.steps.len()];
    let mut planned: Vec<Planned> = steps.steps.iter().map(|_| Planned::default()).collect();
    for id in steps.result.leaves() {
        reached[id] = active[id];
        planned[id].parts += 1;
    }
    let gets = |id: Id| {
        let step = &steps.steps[id];
        let depends = |k: usize| step.kernel().is_some_and(|kernel| kernel.elements[k]);
        step.inputs.iter().enumerate().filter(move |(k, i)| depends(*k) && active[**i])
    };
    for id in (0..planned.len()).rev() {
        if reached[id] {
            gets(id).for_each(|(_, i)| reached[*i] = true);
        }
    }
    // Contributions are numbered in the order of the steps that make them, whatever the order in which these run.
    for id in 0..planned.len() {
        if reached[id] {
            for (k, input) in gets(id) {
                let part = planned[*input].parts;
                planned[*input].parts += 1;
                planned[id].to.push((k, *input, part));
            }
        }
    }
    let mut compiled = Compiled::default();
    for (id, p) in planned.iter_mut().enumerate() {
        p.rule = compiled.rule(steps, id, &p.to);
    }
    let programs = compiled.all(backend)?;
    for (id, adjoint) in compiled.of {
        planned[id].rule = Rule::Program(programs[adjoint].clone());
    }
    // Those of the result that no other step of the result depends on.
    let mut seeded = vec![0; planned.len()];
    steps.result.leaves().into_iter().for_each(|id| seeded[id] += 1);
    let first = (0..planned.len()).filter(|id| reached[*id] && seeded[*id] == planned[*id].parts).collect();
    let reachable = reached.iter().filter(|r| **r).count();
    Ok(Plan { steps: planned, first, reachable })
}

/// Whether each step has an adjoint that somebody may ask for: it contains floating-point numbers and depends on the
/// argument or on an array with a name.
fn active(steps: &Steps) -> Vec<bool> {
    let mut active: Vec<bool> = vec![];
    for step in &steps.steps {
        let depends = match &step.origin {
            Origin::Argument(_) => true,
            Origin::Constant => false,
            Origin::Kernel(k) => {
                k.label.is_some() || step.inputs.iter().zip(&k.elements).any(|(i, element)| *element && active[*i])
            }
        };
        active.push(depends && step.has_floats());
    }
    active
}

/// The adjoints of kernels that must be compiled, each once.
#[derive(Default)]
struct Compiled {
    adjoints: Vec<(Arc<Kernel>, Vec<bool>)>,
    known: HashMap<(*const Kernel, Vec<bool>), usize>,
    /// The steps, and the adjoints that they need.
    of: Vec<(Id, usize)>,
}

impl Compiled {
    fn rule(&mut self, steps: &Steps, id: Id, to: &[(usize, Id, usize)]) -> Rule {
        let step = &steps.steps[id];
        let (Some(kernel), false) = (step.kernel(), to.is_empty()) else { return Rule::Nothing };
        if kernel.same.is_some() {
            return Rule::Same;
        }
        if let (Some(reads), [(k, source, _)]) = (&kernel.reads, to)
            && reads.source == *k
            && step.value.size().saturating_mul(SPARSE) <= steps.steps[*source].value.size()
        {
            return Rule::Positions(kernel.clone());
        }
        let mut chosen = vec![false; step.inputs.len()];
        to.iter().for_each(|(k, ..)| chosen[*k] = true);
        let adjoint = *self.known.entry((Arc::as_ptr(kernel), chosen.clone())).or_insert_with(|| {
            self.adjoints.push((kernel.clone(), chosen));
            self.adjoints.len() - 1
        });
        self.of.push((id, adjoint));
        Rule::Nothing
    }

    /// Compiles all of them. If several fail, the error is that of the first.
    fn all(&self, backend: &dyn Backend) -> Result<Vec<Arc<dyn Executable>>> {
        let compiled: Vec<Result<_>> = self.adjoints.par_iter().map(|(k, chosen)| k.adjoint(backend, chosen)).collect();
        compiled.into_iter().collect()
    }
}

/// An error that hides a broken plan.
pub fn broken(what: &str) -> Error {
    Error::Internal(format!("reverse pass: {what}"))
}
