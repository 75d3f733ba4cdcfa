//! The reverse pass: tasks on the thread pool compute adjoints as soon as all their contributions are there.
//!
//! It starts with the adjoints of the result. Every step waits for as many contributions as the [`Plan`] says. The task
//! that delivers the last one resolves the step: it adds up the contributions, in the order of the plan, and computes the
//! contributions to the inputs. So nothing depends on the order in which tasks run, and no order is imposed on steps that
//! do not depend on each other (Kahn's algorithm, after section 4.2 of the thesis).

use crate::contribution::{Contribution, sum};
use crate::kernel::tuple;
use crate::plan::{Plan, Rule, broken};
use crate::step::{Id, Origin, Step, Steps};
use accel_core::error::{Error, Result};
use accel_core::repr::{ArrayTuple, RawArray};
use rayon::Scope;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The adjoints of the steps that somebody may ask for, and how many steps were resolved.
pub struct Resolved {
    /// The adjoints of arguments and of arrays with names; `None` for zero.
    pub adjoints: Vec<Option<RawArray>>,
    /// How often a step was resolved: each of those that the result depends on, once.
    pub resolved: usize,
    /// How many numbers the contributions had together.
    pub numbers: usize,
}

/// Runs the reverse pass for adjoints of the result, from left to right.
///
/// # Errors
/// Whatever fails in an adjoint. If several fail, the error is that of the step that was recorded last.
pub fn reverse(steps: &Steps, plan: &Plan, seeds: &[RawArray]) -> Result<Resolved> {
    let slots = plan.steps.iter().map(|p| Slot {
        missing: AtomicUsize::new(p.parts),
        parts: Mutex::new((0..p.parts).map(|_| None).collect()),
        adjoint: Mutex::new(None),
    });
    let pass = Pass {
        steps,
        plan,
        slots: slots.collect(),
        resolved: AtomicUsize::new(0),
        numbers: AtomicUsize::new(0),
        error: Mutex::new(None),
    };
    let mut next = vec![0; plan.steps.len()];
    for (id, seed) in steps.result.leaves().into_iter().zip(seeds) {
        if steps.steps[id].has_floats() {
            pass.put(id, next[id], Contribution::Dense(seed.clone()))?;
        }
        next[id] += 1;
    }
    let pass_ref = &pass;
    rayon::scope(|scope| {
        for id in &plan.first {
            scope.spawn(move |scope| pass_ref.resolve(*id, scope));
        }
    });
    if let Some((_, e)) = locked(&pass.error).take() {
        return Err(e);
    }
    let adjoint = |slot: Slot| slot.adjoint.into_inner().unwrap_or_else(PoisonError::into_inner);
    let adjoints = pass.slots.into_iter().map(adjoint).collect();
    Ok(Resolved { adjoints, resolved: pass.resolved.into_inner(), numbers: pass.numbers.into_inner() })
}

/// The state of a step.
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
    resolved: AtomicUsize,
    numbers: AtomicUsize,
    /// The error of the step with the highest number.
    error: Mutex<Option<(Id, Error)>>,
}

/// A task that panics ends the whole pass, so a value behind a lock is always complete.
fn locked<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'t> Pass<'t> {
    /// Stores a contribution; returns whether it was the last one.
    fn put(&self, id: Id, part: usize, c: Contribution) -> Result<bool> {
        self.numbers.fetch_add(c.numbers(), Ordering::Relaxed);
        let slot = &self.slots[id];
        let mut parts = locked(&slot.parts);
        match parts.get_mut(part) {
            Some(empty @ None) => *empty = Some(c),
            _ => return Err(broken("a contribution that nobody waits for")),
        }
        Ok(slot.missing.fetch_sub(1, Ordering::AcqRel) == 1)
    }

    /// Resolves a step, and those for which this gives the last contribution: all but one of them in other tasks.
    fn resolve<'s>(&'s self, id: Id, scope: &Scope<'s>) {
        let mut next = Some(id);
        while let Some(id) = next.take() {
            match self.step(id) {
                Ok(mut ready) => {
                    next = ready.pop();
                    for id in ready {
                        scope.spawn(move |scope| self.resolve(id, scope));
                    }
                }
                Err(e) => {
                    let mut error = locked(&self.error);
                    if error.as_ref().is_none_or(|(other, _)| *other < id) {
                        *error = Some((id, e));
                    }
                }
            }
        }
    }

    /// Computes the adjoint of a step and delivers contributions to its inputs. Returns the steps that are ready.
    fn step(&self, id: Id) -> Result<Vec<Id>> {
        self.resolved.fetch_add(1, Ordering::Relaxed);
        let (step, planned) = (&self.steps.steps[id], &self.plan.steps[id]);
        let parts = std::mem::take(&mut *locked(&self.slots[id].parts));
        let parts = parts.into_iter().collect::<Option<Vec<_>>>().ok_or_else(|| broken("a contribution is missing"))?;
        let adjoint = sum(parts, &step.ty, &step.value)?;
        if matches!(step.origin, Origin::Argument(_)) || step.label().is_some() {
            *locked(&self.slots[id].adjoint) = Some(adjoint.clone());
        }
        let contributions = self.contributions(step, &planned.rule, adjoint)?;
        if contributions.len() != planned.to.len() {
            return Err(broken("an adjoint of other inputs"));
        }
        let mut ready = vec![];
        for ((_, to, part), c) in planned.to.iter().zip(contributions) {
            if self.put(*to, *part, c)? {
                ready.push(*to);
            }
        }
        Ok(ready)
    }

    /// The contributions to the inputs of a step, in the order of the plan.
    fn contributions(&self, step: &Step, rule: &Rule, adjoint: RawArray) -> Result<Vec<Contribution>> {
        let value = |id: &Id| &self.steps.steps[*id].value;
        let inputs = || tuple(step.inputs.iter().map(value));
        Ok(match rule {
            Rule::Nothing => vec![],
            Rule::Same => {
                let source = step.kernel().and_then(|k| k.same).ok_or_else(|| broken("no input"))?;
                let extents = value(&step.inputs[source]).extents.clone();
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
