//! The tapes of all jobs of a finished program.
//!
//! A job is a part of a program that runs in sequence. When it forks, it waits for the jobs of the fork and then goes on, on
//! the same tape: so the jobs are a tree. NOTE [The order of jobs] states which numbers a job may use.

use super::base::Base;
use super::node::Node;
use super::recorder::{Import, Kind, Recorder, Wide};
use crate::error::{Error, Result};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

// NOTE [The order of jobs]
//
// A job may use the numbers of the jobs in which it is nested, of the jobs into which it has forked, and of all jobs inside
// of forks that ended before it began. It may not use those of jobs that run in parallel: a program can move a number from
// one to another, for example through a mutex, but the reverse pass of the two would then race.
//
// Two numberings decide this, as in the English and Hebrew orderings of Nudler and Rudolph (1988). Both number a job before
// the jobs into which it forks, and these in the order of the forks. In the first, the jobs of one fork have numbers from
// left to right, in the second from right to left. For jobs that are not nested in each other: one ended before the other
// began if it comes first in both numberings; otherwise they ran in parallel.

/// The tapes of a program.
#[derive(Debug)]
pub struct Graph<S: Base> {
    /// The jobs in the first numbering.
    pub jobs: Vec<Job<S>>,
    /// The number of adjoints.
    pub cells: usize,
    /// The number of imports.
    pub imports: usize,
    /// The number of the first job while recording.
    root: u32,
    /// The other jobs by the numbers that they had while recording.
    by_id: HashMap<u32, u32, BuildHasherDefault<JobHasher>>,
}

/// The tape of a job.
#[derive(Debug)]
pub struct Job<S> {
    /// The place of the first node.
    pub first: u32,
    /// The nodes.
    pub nodes: Vec<Node<S>>,
    /// The used numbers of other jobs, in the order of their places.
    pub imports: Vec<Source>,
    /// Forks and wide nodes, in the order of their places.
    pub events: Vec<Event<S>>,
    /// Where the job's adjoints begin.
    pub cells: usize,
    /// Where the job's imports begin.
    pub first_import: usize,
    /// The end of the numbers of the jobs that are nested in this one.
    pub end: u32,
    /// The number of nodes of this job and of those that are nested in it.
    pub work: usize,
    /// The used numbers of this job as (job, import), in the order of jobs.
    pub uses: Vec<(u32, u32)>,
}

/// A number of another job.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The place on this tape.
    pub local: u32,
    /// The adjoint of the number.
    pub cell: usize,
}

/// A fork or a wide node.
#[derive(Debug)]
pub struct Event<S> {
    /// The place at which it happened.
    pub position: u32,
    /// What happened.
    pub kind: Step<S>,
}

/// The kinds of events.
#[derive(Debug)]
pub enum Step<S> {
    /// The jobs of a fork.
    Fork(Vec<u32>),
    /// A node with any number of inputs and outputs.
    Wide(Box<Wide<S>>),
}

impl<S: Base> Graph<S> {
    /// Numbers the jobs of a program and checks what they use. `op` is the function that the user called.
    ///
    /// # Errors
    /// Numbers of other programs and of jobs that ran in parallel.
    pub fn new(op: &'static str, root: Recorder<S>) -> Result<Self> {
        let by_id = HashMap::default();
        let mut graph = Graph { jobs: Vec::with_capacity(1), cells: 0, imports: 0, root: root.job, by_id };
        let imported = graph.number(root);
        graph.sum_up();
        graph.connect(op, imported)?;
        Ok(graph)
    }

    /// Moves the tapes of a tree of jobs into the list of jobs, and returns the imports of each.
    fn number(&mut self, root: Recorder<S>) -> Vec<Vec<Import>> {
        let mut imported = vec![];
        // Where the number of a job is entered: a job, an event and a place in the fork.
        let mut todo = vec![];
        let mut next: Option<(Recorder<S>, Option<(u32, usize, usize)>)> = Some((root, None));
        while let Some((recorder, parent)) = next {
            let number = self.jobs.len() as u32;
            if number > 0 {
                self.by_id.insert(recorder.job, number);
            }
            if let Some((job, event, place)) = parent {
                let job: &mut Job<S> = &mut self.jobs[job as usize];
                if let Step::Fork(children) = &mut job.events[event].kind {
                    children[place] = number;
                }
            }
            let mut events = vec![];
            let begin = todo.len();
            for event in recorder.events {
                let kind = match event.kind {
                    Kind::Wide(wide) => Step::Wide(wide),
                    Kind::Fork(children) => {
                        let numbers = vec![0; children.len()];
                        let places = children.into_iter().enumerate();
                        todo.extend(places.map(|(k, child)| (child, Some((number, events.len(), k)))));
                        Step::Fork(numbers)
                    }
                };
                events.push(Event { position: event.position, kind });
            }
            // The first one comes next.
            todo[begin..].reverse();
            self.jobs.push(Job {
                first: recorder.first,
                work: recorder.nodes.len() + recorder.imports.len(),
                nodes: recorder.nodes,
                imports: vec![],
                events,
                cells: self.cells,
                first_import: self.imports,
                end: 0,
                uses: vec![],
            });
            let job = &self.jobs[number as usize];
            self.cells += job.places();
            self.imports += recorder.imports.len();
            if self.imports > 0 {
                // Jobs without imports at the start have none here.
                imported.resize_with(number as usize, Vec::new);
                imported.push(recorder.imports);
            }
            next = todo.pop();
        }
        imported
    }

    /// Computes the sums over nested jobs.
    fn sum_up(&mut self) {
        for number in (0..self.jobs.len()).rev() {
            let (mut end, mut work) = (number as u32 + 1, self.jobs[number].work);
            for event in &self.jobs[number].events {
                if let Step::Fork(children) = &event.kind {
                    for child in children {
                        let child = &self.jobs[*child as usize];
                        end = end.max(child.end);
                        work += child.work;
                    }
                }
            }
            (self.jobs[number].end, self.jobs[number].work) = (end, work);
        }
    }

    /// Finds and checks the sources of all imports.
    fn connect(&mut self, op: &'static str, imported: Vec<Vec<Import>>) -> Result<()> {
        if self.imports == 0 {
            return Ok(());
        }
        let from_right = self.numbers_from_right();
        for (number, imports) in imported.into_iter().enumerate() {
            let mut sources = Vec::with_capacity(imports.len());
            for (k, import) in imports.iter().enumerate() {
                let (source, cell) = self.find(op, import.job, import.index)?;
                let nested = (number as u32..self.jobs[number].end).contains(&source);
                let earlier = source < number as u32 && from_right[source as usize] < from_right[number];
                if !nested && !earlier {
                    return Err(Error::Smuggled { op });
                }
                self.jobs[source as usize].uses.push((number as u32, k as u32));
                sources.push(Source { local: import.local, cell });
            }
            self.jobs[number].imports = sources;
        }
        Ok(())
    }

    /// The second numbering.
    fn numbers_from_right(&self) -> Vec<u32> {
        let mut numbers = vec![0; self.jobs.len()];
        let mut todo = vec![0u32];
        let mut next = 0;
        while let Some(job) = todo.pop() {
            numbers[job as usize] = next;
            next += 1;
            // The last entry of `todo` is the next: the first fork, and of its jobs the last.
            for event in self.jobs[job as usize].events.iter().rev() {
                if let Step::Fork(children) = &event.kind {
                    todo.extend(children);
                }
            }
        }
        numbers
    }

    /// The job and the adjoint of a recorded number.
    ///
    /// # Errors
    /// A number of another program.
    pub fn find(&self, op: &'static str, job: u32, index: u32) -> Result<(u32, usize)> {
        let number = if job == self.root { Some(&0) } else { self.by_id.get(&job) };
        let number = *number.ok_or(Error::Foreign { op })?;
        let job = &self.jobs[number as usize];
        if index as usize >= job.places() {
            return Err(Error::Foreign { op });
        }
        Ok((number, job.cells + index as usize))
    }
}

impl<S> Job<S> {
    /// The number of places.
    pub fn places(&self) -> usize {
        self.first as usize + self.nodes.len()
    }
}

impl<S: Base> Drop for Graph<S> {
    fn drop(&mut self) {
        if let Some(pool) = S::node_pool() {
            // The next program gets the longest tape, that of the root, for its root.
            self.jobs.iter_mut().rev().for_each(|job| pool.give(std::mem::take(&mut job.nodes)));
        }
    }
}

/// A hash of numbers that are nearly consecutive.
#[derive(Clone, Copy, Debug, Default)]
struct JobHasher(u64);

impl Hasher for JobHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u32(u32::from(*b)));
    }
    fn write_u32(&mut self, n: u32) {
        self.0 = (self.0 ^ u64::from(n)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}
