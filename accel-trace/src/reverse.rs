//! The reverse pass: tasks on the thread pool compute adjoints as soon as all their contributions have arrived.
//!
//! It starts with the adjoints of the result. Every task waits for as many contributions as the [`Plan`] says. The task
//! that delivers the last one runs it: it adds up the contributions, in the order of the plan, and computes the contributions
//! to the inputs of its cluster. So nothing depends on the order in which tasks run, and no order is imposed on clusters
//! that do not depend on each other (Kahn's algorithm, after section 4.2 of the thesis).

use crate::contribution::{Contribution, sum};
use crate::kernel::tuple;
use crate::plan::{Plan, Rule, Task, broken};
use crate::step::{Id, Origin, Step};
use crate::steps::Steps;
use accel_core::error::{Error, Result};
use accel_core::repr::{ArrayTuple, RawArray};
use rayon::Scope;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The adjoints of the steps that somebody may ask for, and the work that was done.
pub struct Resolved {
    /// The adjoints of arguments and of arrays with names, by the numbers of their steps; `None` for zero.
    pub adjoints: Vec<Option<RawArray>>,
    /// The number of tasks.
    pub tasks: usize,
    /// The number of steps in their clusters.
    pub resolved: usize,
    /// How many numbers the contributions had together.
    pub numbers: usize,
}

/// Runs the reverse pass for adjoints of the result, from left to right.
///
/// # Errors
/// Whatever fails in an adjoint. If several fail, the error is that of the step that was recorded last.
pub fn reverse(steps: &Steps, plan: &Plan, seeds: &[RawArray]) -> Result<Resolved> {
    let slots = plan.tasks.iter().map(|t| Slot {
        missing: AtomicUsize::new(t.parts),
        parts: Mutex::new((0..t.parts).map(|_| None).collect()),
        adjoint: Mutex::new(None),
    });
    let pass = Pass {
        steps,
        plan,
        slots: slots.collect(),
        tasks: AtomicUsize::new(0),
        resolved: AtomicUsize::new(0),
        numbers: AtomicUsize::new(0),
        error: Mutex::new(None),
    };
    let mut next = vec![0; plan.tasks.len()];
    for (task, seed) in plan.results.iter().zip(seeds) {
        pass.put(*task, next[*task], Contribution::seed(seed)?)?;
        next[*task] += 1;
    }
    let pass_ref = &pass;
    rayon::scope(|scope| {
        for task in &plan.first {
            scope.spawn(move |scope| pass_ref.resolve(*task, scope));
        }
    });
    if let Some((_, e)) = locked(&pass.error).take() {
        return Err(e);
    }
    let mut adjoints = vec![None; steps.steps.len()];
    for (task, slot) in plan.tasks.iter().zip(pass.slots) {
        adjoints[task.step] = slot.adjoint.into_inner().unwrap_or_else(PoisonError::into_inner);
    }
    let Pass { tasks, resolved, numbers, .. } = pass;
    let [tasks, resolved, numbers] = [tasks, resolved, numbers].map(AtomicUsize::into_inner);
    Ok(Resolved { adjoints, tasks, resolved, numbers })
}

/// The state of a task.
struct Slot {
    /// How many contributions have not been delivered.
    missing: AtomicUsize,
    parts: Mutex<Vec<Option<Contribution>>>,
    adjoint: Mutex<Option<RawArray>>,
}

struct Pass<'t> {
    steps: &'t Steps,
    plan: &'t Plan,
    slots: Vec<Slot>,
    tasks: AtomicUsize,
    resolved: AtomicUsize,
    numbers: AtomicUsize,
    /// The error of the task with the highest number.
    error: Mutex<Option<(usize, Error)>>,
}

/// A task that panics ends the whole pass, so a value behind a lock is always complete.
fn locked<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'t> Pass<'t> {
    /// Stores a contribution; returns whether it was the last one.
    fn put(&self, task: usize, part: usize, c: Contribution) -> Result<bool> {
        self.numbers.fetch_add(c.numbers(), Ordering::Relaxed);
        let slot = &self.slots[task];
        let mut parts = locked(&slot.parts);
        match parts.get_mut(part) {
            Some(empty @ None) => *empty = Some(c),
            _ => return Err(broken("a contribution that nobody waits for")),
        }
        Ok(slot.missing.fetch_sub(1, Ordering::AcqRel) == 1)
    }

    /// Runs a task, and then those for which it gives the last contribution: all but one of them in parallel.
    fn resolve<'s>(&'s self, task: usize, scope: &Scope<'s>) {
        let mut next = Some(task);
        while let Some(task) = next.take() {
            match self.run(task) {
                Ok(mut ready) => {
                    next = ready.pop();
                    for task in ready {
                        scope.spawn(move |scope| self.resolve(task, scope));
                    }
                }
                Err(e) => {
                    let mut error = locked(&self.error);
                    if error.as_ref().is_none_or(|(other, _)| *other < task) {
                        *error = Some((task, e));
                    }
                }
            }
        }
    }

    /// Computes the adjoint of a cluster and delivers contributions to its inputs. Returns the tasks that are ready.
    fn run(&self, task: usize) -> Result<Vec<usize>> {
        let (slot, task) = (&self.slots[task], &self.plan.tasks[task]);
        self.tasks.fetch_add(1, Ordering::Relaxed);
        self.resolved.fetch_add(task.steps, Ordering::Relaxed);
        let step = &self.steps.steps[task.step];
        let parts = std::mem::take(&mut *locked(&slot.parts));
        let parts = parts.into_iter().collect::<Option<Vec<_>>>().ok_or_else(|| broken("a contribution is missing"))?;
        let adjoint = sum(parts, &step.ty, &step.value)?;
        if matches!(step.origin, Origin::Argument(_)) || step.label().is_some() {
            *locked(&slot.adjoint) = Some(adjoint.clone());
        }
        let contributions = self.contributions(step, task, adjoint)?;
        if contributions.len() != task.to.len() {
            return Err(broken("an adjoint of other inputs"));
        }
        let mut ready = vec![];
        for ((to, part), c) in task.to.iter().zip(contributions) {
            if self.put(*to, *part, c)? {
                ready.push(*to);
            }
        }
        Ok(ready)
    }

    /// The contributions to the inputs of a cluster, in the order of the plan.
    fn contributions(&self, step: &Step, task: &Task, adjoint: RawArray) -> Result<Vec<Contribution>> {
        let value = |id: &Id| &self.steps.steps[*id].value;
        let inputs = || tuple(task.inputs.iter().map(value));
        Ok(match &task.rule {
            Rule::Nothing => vec![],
            Rule::Same(source) => {
                let extents = value(&step.inputs[*source]).extents.clone();
                vec![Contribution::Dense(RawArray { extents, columns: adjoint.columns })]
            }
            Rule::Positions(kernel) => {
                let reads = kernel.reads.as_ref().ok_or_else(|| broken("no positions"))?;
                let positions = reads.positions(&inputs(), value(&step.inputs[reads.source]))?;
                vec![Contribution::Sparse(positions, adjoint)]
            }
            Rule::Program(program) => {
                let argument = ArrayTuple::pair(inputs(), ArrayTuple::Array(adjoint));
                let adjoints = program.run(&argument)?;
                adjoints.leaves().into_iter().cloned().map(Contribution::Dense).collect()
            }
        })
    }
}
