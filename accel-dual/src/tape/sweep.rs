//! The reverse pass: from the adjoints of the results to those of the inputs.
//!
//! It goes through the tape of each job once, from its end to its start. Where the program forked, the jobs of the fork run
//! in parallel again: *forks in the primal become joins in the dual* (Smeding and Vákár, section 12).

use super::base::Base;
use super::cell::{Cell, Vanishes};
use super::graph::{Graph, Job, Step};
use super::pool::LEAST;
use super::recorder::Wide;
use crate::error::{Error, Result};
use num_traits::Zero;
use std::sync::{Mutex, PoisonError};

/// The number of nodes below which a fork is not worth the cost of a second thread.
const GRAIN: usize = 2000;

/// The adjoints of a program.
#[derive(Debug, Default)]
pub struct Adjoints<C> {
    /// The adjoints of all places of all jobs.
    pub cells: Vec<C>,
    /// In deterministic mode, the adjoints of imports, which are added in a fixed order.
    pub imported: Vec<C>,
}

impl<C> Adjoints<C> {
    /// Makes all adjoints zero.
    pub fn reset<S: Base<Cell = C>>(&mut self, graph: &Graph<S>, deterministic: bool)
    where
        C: Cell<S>,
    {
        clear(&mut self.cells, graph.cells);
        if deterministic {
            clear(&mut self.imported, graph.imports);
        }
    }
}

fn clear<S: Zero, C: Cell<S>>(cells: &mut Vec<C>, len: usize) {
    cells.iter().take(len).for_each(|c| c.set(S::zero()));
    if cells.len() < len {
        // At least enough for the pool to keep it.
        cells.resize_with(len.max(LEAST / size_of::<C>() + 1), C::default);
    }
}

/// Goes through all tapes. The adjoints of the results have been added.
///
/// # Errors
/// The error of the derivative of a wide node.
pub fn sweep<S: Base>(graph: &Graph<S>, adjoints: &Adjoints<S::Cell>, deterministic: bool) -> Result<()> {
    let imported = deterministic.then_some(&adjoints.imported[..]);
    let sweep = Sweep { graph, cells: &adjoints.cells, imported, failure: Mutex::new(None) };
    sweep.job(0);
    let failure = sweep.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
    failure.map_or(Ok(()), |(_, error)| Err(error))
}

struct Sweep<'a, S: Base> {
    graph: &'a Graph<S>,
    cells: &'a [S::Cell],
    imported: Option<&'a [S::Cell]>,
    /// The failure of the job with the smallest number.
    failure: Mutex<Option<(u32, Error)>>,
}

impl<S: Base> Sweep<'_, S> {
    /// Goes through the tape of a job and of those that are nested in it.
    fn job(&self, number: u32) {
        let job = &self.graph.jobs[number as usize];
        let adjoints = &self.cells[job.cells..][..job.places()];
        // Uses by jobs that are not nested in this one: all of them have been passed.
        self.gather(job, 0, number);
        self.gather(job, job.end, u32::MAX);
        let mut end = job.places();
        let mut imports = job.imports.len();
        for event in job.events.iter().rev() {
            let position = event.position as usize;
            match &event.kind {
                Step::Fork(children) => {
                    self.nodes(job, adjoints, position, end);
                    imports = self.flush(job, adjoints, event.position, imports);
                    self.fork(children);
                    if let (Some(first), Some(last)) = (children.first(), children.last()) {
                        self.gather(job, *first, self.graph.jobs[*last as usize].end);
                    }
                }
                Step::Wide(wide) => {
                    self.nodes(job, adjoints, position + wide.outputs as usize, end);
                    self.wide(number, wide, adjoints, position);
                }
            }
            end = position;
        }
        self.nodes(job, adjoints, job.first as usize, end);
        self.flush(job, adjoints, 0, imports);
    }

    /// Passes the nodes at the places from `begin` to `end`, backwards.
    #[inline(always)]
    fn nodes(&self, job: &Job<S>, adjoints: &[S::Cell], begin: usize, end: usize) {
        let first = job.first as usize;
        let nodes = &job.nodes[begin - first..end - first];
        for (node, adjoint) in nodes.iter().zip(&adjoints[begin..end]).rev() {
            let d = adjoint.get();
            if d.vanishes() {
                continue;
            }
            adjoints[node.parents[0] as usize].add(d.strong_mul(node.partials[0]));
            adjoints[node.parents[1] as usize].add(d.strong_mul(node.partials[1]));
        }
    }

    /// Goes through the jobs of a fork.
    fn fork(&self, children: &[u32]) {
        let work: usize = children.iter().map(|c| self.graph.jobs[*c as usize].work).sum();
        self.halves(children, work);
    }

    fn halves(&self, children: &[u32], work: usize) {
        if work < GRAIN || children.len() < 2 {
            children.iter().rev().for_each(|child| self.job(*child));
            return;
        }
        let (left, right) = children.split_at(children.len() / 2);
        rayon::join(|| self.halves(left, work / 2), || self.halves(right, work / 2));
    }

    /// Passes on the adjoints of the imports from a place on. Returns the number of those that are left.
    fn flush(&self, job: &Job<S>, adjoints: &[S::Cell], from: u32, end: usize) -> usize {
        let begin = job.imports[..end].partition_point(|i| i.local < from);
        for (k, import) in job.imports[begin..end].iter().enumerate() {
            let adjoint = adjoints[import.local as usize].get();
            match self.imported {
                Some(imported) => imported[job.first_import + begin + k].set(adjoint),
                None if adjoint.vanishes() => {}
                None => self.cells[import.cell].add_shared(adjoint),
            }
        }
        begin
    }

    /// In deterministic mode, adds the adjoints from the jobs with the numbers from `begin` to `end`.
    fn gather(&self, job: &Job<S>, begin: u32, end: u32) {
        let Some(imported) = self.imported else { return };
        let range = job.uses.partition_point(|u| u.0 < begin)..job.uses.partition_point(|u| u.0 < end);
        for (user, k) in &job.uses[range] {
            let user = &self.graph.jobs[*user as usize];
            let adjoint = imported[user.first_import + *k as usize].get();
            if !adjoint.vanishes() {
                self.cells[user.imports[*k as usize].cell].add(adjoint);
            }
        }
    }

    /// Passes a node with any number of inputs and outputs.
    fn wide(&self, number: u32, wide: &Wide<S>, adjoints: &[S::Cell], position: usize) {
        let outputs = &adjoints[position..][..wide.outputs as usize];
        let outputs: Vec<S> = outputs.iter().map(Cell::get).collect();
        if outputs.iter().all(Vanishes::vanishes) {
            return;
        }
        match (wide.pull)(&outputs) {
            Ok(inputs) => {
                for ((place, scale), adjoint) in wide.inputs.iter().zip(inputs) {
                    adjoints[*place as usize].add(adjoint.strong_mul(*scale));
                }
            }
            Err(error) => {
                let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                if failure.as_ref().is_none_or(|(first, _)| number < *first) {
                    *failure = Some((number, error));
                }
            }
        }
    }
}
