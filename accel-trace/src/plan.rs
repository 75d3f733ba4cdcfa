//! The plan of a reverse pass: the tasks, and how many contributions each of them waits for.
//!
//! A task resolves a cluster of steps. It waits for the contributions of the clusters on which the result depends, and of
//! no others. If all uses were counted, as in the thesis, a task would wait forever for a use in code on which the
//! result does not depend.

use crate::closed::choice;
use crate::cluster::{Cluster, is_sparse};
use crate::kernel::Kernel;
use crate::rebuild::compose;
use crate::step::{Id, Origin, Step};
use crate::steps::Steps;
use accel_ad::{Reverse, reverse_mode};
use accel_core::ast::Program;
use accel_core::backend::{Backend, Executable};
use accel_core::error::{Error, Result};
use accel_core::repr::RawTy;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// What a reverse pass does.
pub struct Plan {
    /// The tasks, one for each cluster; those that are not reached do nothing.
    pub tasks: Vec<Task>,
    /// The tasks that wait for nothing but the seed.
    pub first: Vec<usize>,
    /// The tasks of the arrays of the result.
    pub results: Vec<usize>,
    /// The number of steps that the result depends on and that have an adjoint.
    pub reachable: usize,
}

/// What a reverse pass does at one cluster.
#[derive(Default)]
pub struct Task {
    /// The last step of the cluster, whose adjoint is the sum of the contributions.
    pub step: Id,
    /// The inputs of the cluster.
    pub inputs: Vec<Id>,
    /// The number of steps of the cluster that the result depends on and that have an adjoint.
    pub steps: usize,
    /// The number of contributions: those of the seed, then those of the clusters that use this one, in their order.
    pub parts: usize,
    /// For each input that gets a contribution, in their order: its task, and which of the contributions this is.
    pub to: Vec<(usize, usize)>,
    /// How the contributions are computed.
    pub rule: Rule,
}

/// How the adjoints of the inputs of a cluster are computed from its own.
#[derive(Default)]
pub enum Rule {
    /// There are none.
    #[default]
    Nothing,
    /// The adjoint of this input has the same elements in the same order.
    Same(usize),
    /// The adjoint is put at the positions where the step has read.
    Positions(Arc<Kernel>),
    /// A compiled program computes those of all inputs that get a contribution.
    Program(Arc<dyn Executable>),
}

/// Plans the reverse pass of a trace and compiles the adjoints of its clusters, equal ones once.
///
/// # Errors
/// An operation without a reverse derivative; whatever prevents the backend from compiling an adjoint.
pub fn plan(steps: &Steps, backend: &dyn Backend) -> Result<Plan> {
    let Steps { steps: all, clusters, .. } = steps;
    let active = active(all);
    let reached = reached(steps, &active);
    let task_of: HashMap<Id, usize> = clusters.iter().enumerate().map(|(k, c)| (c.last(), k)).collect();
    let mut tasks: Vec<Task> = clusters.iter().map(|c| task(c, &reached)).collect();
    let results: Vec<usize> = steps.result.leaves().into_iter().map(|id| task_of[&id]).collect();
    results.iter().for_each(|task| tasks[*task].parts += 1);
    let seeds: Vec<usize> = tasks.iter().map(|t| t.parts).collect();
    let mut adjoints = Adjoints::default();
    // Contributions are numbered in the order of the clusters that make them, whatever the order in which these run.
    for (k, cluster) in clusters.iter().enumerate().filter(|(_, c)| reached[c.last()]) {
        let depends = |i: &Id| cluster.members.iter().any(|m| reached[*m] && gets(&all[*m], &active).any(|g| g == *i));
        let chosen: Vec<bool> = cluster.inputs.iter().map(depends).collect();
        for input in cluster.inputs.iter().zip(&chosen).filter(|(_, c)| **c).map(|(i, _)| task_of[i]) {
            let part = tasks[input].parts;
            tasks[input].parts += 1;
            tasks[k].to.push((input, part));
        }
        tasks[k].rule = adjoints.rule(all, cluster, k, chosen);
    }
    let programs = adjoints.compile(backend)?;
    for (task, adjoint) in adjoints.of {
        tasks[task].rule = Rule::Program(programs[adjoint].clone());
    }
    let first = (0..tasks.len()).filter(|k| reached[tasks[*k].step] && tasks[*k].parts == seeds[*k]).collect();
    Ok(Plan { tasks, first, results, reachable: reached.iter().filter(|r| **r).count() })
}

fn task(c: &Cluster, reached: &[bool]) -> Task {
    let steps = c.members.iter().filter(|m| reached[**m]).count();
    Task { step: c.last(), inputs: c.inputs.clone(), steps, ..Task::default() }
}

/// Whether each step has an adjoint that somebody may ask for: it contains floating-point numbers and depends on the
/// argument or on an array with a name.
fn active(steps: &[Step]) -> Vec<bool> {
    let mut active: Vec<bool> = vec![];
    for step in steps {
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

/// The inputs of a step that get a contribution from it.
fn gets<'s>(step: &'s Step, active: &'s [bool]) -> impl Iterator<Item = Id> + 's {
    let elements = step.kernel().map(|k| k.elements.as_slice()).unwrap_or_default();
    step.inputs.iter().zip(elements).filter(|(i, element)| **element && active[**i]).map(|(i, _)| *i)
}

/// Whether the result depends on each step, if it has an adjoint.
fn reached(steps: &Steps, active: &[bool]) -> Vec<bool> {
    let mut reached = vec![false; steps.steps.len()];
    steps.result.leaves().into_iter().for_each(|id| reached[id] = active[id]);
    for (id, step) in steps.steps.iter().enumerate().rev() {
        if reached[id] {
            gets(step, active).for_each(|i| reached[i] = true);
        }
    }
    reached
}

/// The adjoints that must be compiled, each once.
#[derive(Default)]
struct Adjoints {
    /// The programs, the types of their inputs, and the inputs whose adjoints are computed.
    programs: Vec<(Program, Vec<RawTy>, Vec<bool>)>,
    known: HashMap<(Vec<usize>, Vec<bool>), usize>,
    /// The tasks, and the adjoints that they need.
    of: Vec<(usize, usize)>,
}

impl Adjoints {
    fn rule(&mut self, steps: &[Step], c: &Cluster, task: usize, chosen: Vec<bool>) -> Rule {
        if !chosen.contains(&true) {
            return Rule::Nothing;
        }
        if let ([id], Some(kernel)) = (&c.members[..], steps[c.last()].kernel()) {
            if let Some(input) = kernel.same {
                return Rule::Same(input);
            }
            if is_sparse(&steps[*id], steps) {
                return Rule::Positions(kernel.clone());
            }
        }
        let adjoint = *self.known.entry((wiring(steps, c), chosen.clone())).or_insert_with(|| {
            let types = c.inputs.iter().map(|i| steps[*i].ty.clone()).collect();
            self.programs.push((compose(steps, c), types, chosen));
            self.programs.len() - 1
        });
        self.of.push((task, adjoint));
        Rule::Nothing
    }

    /// Compiles all of them. If several fail, the error is that of the first.
    fn compile(&self, backend: &dyn Backend) -> Result<Vec<Arc<dyn Executable>>> {
        let compile = |(program, types, chosen): &(Program, Vec<RawTy>, Vec<bool>)| {
            let by = choice(types, chosen);
            let reverse = reverse_mode(program, Some(&by), Reverse::Pullback { at: None })?;
            Ok(backend.compile(&reverse)?.into())
        };
        let compiled: Vec<Result<_>> = self.programs.par_iter().map(compile).collect();
        compiled.into_iter().collect()
    }
}

/// The kernels of a cluster and how they use each other: it is equal for clusters that compute the same.
fn wiring(steps: &[Step], c: &Cluster) -> Vec<usize> {
    let number = |id: &Id| match c.members.binary_search(id) {
        Ok(k) => c.inputs.len() + k,
        Err(_) => c.inputs.iter().position(|i| i == id).unwrap_or(usize::MAX),
    };
    let mut wiring = vec![c.inputs.len()];
    for step in c.members.iter().map(|m| &steps[*m]) {
        // Kernels are alive as long as their trace.
        wiring.push(step.kernel().map_or(0, |k| Arc::as_ptr(k).addr()));
        wiring.extend(step.inputs.iter().map(number));
    }
    wiring
}

/// The error for a broken plan.
pub fn broken(what: &str) -> Error {
    Error::Internal(format!("reverse pass: {what}"))
}
