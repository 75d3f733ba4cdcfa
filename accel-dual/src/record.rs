//! Records a program once, and pulls adjoints back through it any number of times.

use crate::error::{Error, Result};
use crate::rev::Rev;
use crate::tape::base::Base;
use crate::tape::cell::Cell;
use crate::tape::graph::Graph;
use crate::tape::recorder::{Recorder, Settings};
use crate::tape::slots::Slots;
use crate::tape::sweep::{Adjoints, sweep};
use smallvec::SmallVec;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A recorded program from numbers to numbers.
pub(crate) struct Recorded<S: Base> {
    graph: Graph<S>,
    inputs: usize,
    /// The adjoint of each result, and the factor between the result and it. Constants have none.
    outputs: SmallVec<[Option<(usize, S)>; 1]>,
    settings: Settings,
    /// Adjoints of earlier calls, for later ones, if they are not in the pool.
    spare: Mutex<Vec<Adjoints<S::Cell>>>,
}

/// The numbers of a result, of which there is often one.
pub(crate) type Numbers<S> = SmallVec<[Rev<S>; 1]>;

/// The size of a tape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TapeSize {
    /// The number of jobs that recorded something, including the first one.
    pub jobs: usize,
    /// The number of nodes: operations with two operands that depend on different numbers, uses of numbers of other jobs,
    /// and results of checkpoints and custom operations.
    pub nodes: usize,
    /// The number of uses of numbers of other jobs.
    pub imports: usize,
    /// The size of all of this in bytes, without the memory that custom operations hold.
    pub bytes: usize,
}

impl<S: Base> Recorded<S> {
    /// Runs a program for `inputs` inputs. The program gets the number of its job, in which the inputs have the places from
    /// 1 on. `results` lists the numbers of its result. `op` is the function that the user called.
    ///
    /// # Errors
    /// Numbers of other programs, of parallel jobs, and tapes that are too long.
    pub fn new<Y>(
        op: &'static str,
        settings: Settings,
        inputs: usize,
        program: impl FnOnce(u32) -> Y,
        results: impl FnOnce(&Y) -> Numbers<S>,
    ) -> Result<(Y, Self)> {
        let recorder = Recorder::root(inputs, settings, S::node_pool())?;
        let job = recorder.job;
        let (y, mut recorder) = S::run(recorder, || program(job));
        if let Some(error) = recorder.fault.take() {
            return Err(*error);
        }
        let graph = Graph::new(op, recorder)?;
        let mut outputs = SmallVec::new();
        for r in results(&y) {
            outputs.push(match r.place() {
                None => None,
                Some((job, index, scale)) => Some((graph.find(op, job, index)?.1, scale)),
            });
        }
        Ok((y, Recorded { graph, inputs, outputs, settings, spare: Mutex::default() }))
    }

    /// Gives the adjoints of the inputs, computed from those of the results, to a function.
    ///
    /// # Errors
    /// Another number of adjoints, and the errors of custom operations.
    pub fn pull<R>(&self, op: &'static str, seeds: &[S], result: impl FnOnce(&[S::Cell]) -> R) -> Result<R> {
        if seeds.len() != self.outputs.len() {
            let text = |n| format!("{n} adjoints");
            return Err(Error::Shape { op, expected: text(self.outputs.len()), found: text(seeds.len()) });
        }
        let mut adjoints = self.spare_adjoints();
        adjoints.reset(&self.graph, self.settings.deterministic);
        for (output, seed) in self.outputs.iter().zip(seeds) {
            if let Some((cell, scale)) = output {
                adjoints.cells[*cell].add(*seed * *scale);
            }
        }
        let deterministic = self.settings.deterministic;
        if self.graph.jobs.len() == 1 {
            sweep(&self.graph, &adjoints, deterministic)?;
        } else {
            // While this thread waits for another one, it may run jobs of other programs. They must not find its recorder.
            Slots::idle().run(|| sweep(&self.graph, &adjoints, deterministic)).0?;
        }
        let inputs = result(&adjoints.cells[1..=self.inputs]);
        match S::cell_pool() {
            Some(pool) if !self.settings.deterministic => pool.give(adjoints.cells),
            _ => self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(adjoints),
        }
        Ok(inputs)
    }

    fn spare_adjoints(&self) -> Adjoints<S::Cell> {
        match S::cell_pool() {
            Some(pool) if !self.settings.deterministic => Adjoints { cells: pool.take(), imported: vec![] },
            _ => self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default(),
        }
    }

    /// The size of the tape.
    pub fn size(&self) -> TapeSize {
        let nodes = self.graph.jobs.iter().map(|j| j.nodes.len()).sum();
        let TapeBytes { node, import, event, job } = TapeBytes::of::<S>();
        let events: usize = self.graph.jobs.iter().map(|j| j.events.len()).sum();
        let (jobs, imports) = (self.graph.jobs.len(), self.graph.imports);
        TapeSize { jobs, nodes, imports, bytes: nodes * node + imports * import + events * event + jobs * job }
    }
}

/// The sizes of the parts of a tape.
struct TapeBytes {
    node: usize,
    import: usize,
    event: usize,
    job: usize,
}

impl TapeBytes {
    fn of<S: Base>() -> Self {
        use crate::tape::graph::{Event, Job, Source};
        TapeBytes {
            node: size_of::<crate::tape::node::Node<S>>(),
            // The list of sources, and that of uses.
            import: size_of::<Source>() + size_of::<(u32, u32)>(),
            event: size_of::<Event<S>>(),
            job: size_of::<Job<S>>(),
        }
    }
}

impl<S: Base> fmt::Debug for Recorded<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded").field("inputs", &self.inputs).field("size", &self.size()).finish_non_exhaustive()
    }
}
