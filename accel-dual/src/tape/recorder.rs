//! The tape of one job while it grows.

use super::node::{CONSTANT, LOST, NOWHERE, Node};
use super::pool::{LEAST, Pool};
use crate::error::{Error, Result};
use crate::real::Real;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The tape of one job.
#[derive(Debug)]
pub struct Recorder<S: 'static> {
    /// The number of the job. [`CONSTANT`] means that nothing is recorded.
    pub job: u32,
    /// The place of the first node. Inputs have the places before it.
    pub first: u32,
    /// The nodes.
    pub nodes: Vec<Node<S>>,
    /// The numbers of other jobs that this one uses, in the order of their places.
    pub imports: Vec<Import>,
    /// Forks and nodes with many inputs, in the order of their places.
    pub events: Vec<Event<S>>,
    /// The first mistake that was noticed while recording.
    pub fault: Option<Box<Error>>,
    /// Places of imports by a hash of the places that they import, once there are more than a few.
    recent: Vec<u32>,
    /// How it is recorded.
    pub settings: Settings,
    /// Memory for long tapes.
    pool: Option<&'static Pool<Node<S>>>,
}

/// How programs are recorded and differentiated. The functions of the crate have the default settings.
///
/// ```
/// use accel_dual::Settings;
///
/// let settings = Settings { deterministic: true, ..Settings::default() };
/// let (y, slope) = settings.value_and_grad(|x| x * x, &3.0)?;
/// assert_eq!((y, slope), (9.0, 6.0));
/// # Ok::<(), accel_dual::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether parallel jobs add their adjoints in a fixed order. Gradients then have the same bits in each run and for each
    /// number of threads. Without it, the last bits depend on which job is first.
    pub deterministic: bool,
    /// The largest number of inputs and operations on the tape of one job. A longer tape causes
    /// [`Error::TapeFull`](crate::Error::TapeFull).
    pub longest_tape: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings::DEFAULT
    }
}

impl Settings {
    /// The default settings: additions in any order, and tapes of up to 4 billion operations.
    pub const DEFAULT: Settings = Settings { deterministic: false, longest_tape: u32::MAX - 1 };
}

/// A number of another job that a tape uses. Its adjoint is first collected at a place of this tape.
#[derive(Clone, Copy, Debug)]
pub struct Import {
    /// The place on this tape.
    pub local: u32,
    /// The number of the other job.
    pub job: u32,
    /// The place there.
    pub index: u32,
}

/// Something on a tape that is not a node of two operands.
#[derive(Debug)]
pub struct Event<S: 'static> {
    /// The place at which it happened.
    pub position: u32,
    /// What happened.
    pub kind: Kind<S>,
}

/// The kinds of events.
#[derive(Debug)]
pub enum Kind<S: 'static> {
    /// The job waited for these jobs, which ran in parallel.
    Fork(Vec<Recorder<S>>),
    /// A node with any number of inputs and outputs.
    Wide(Box<Wide<S>>),
}

/// The function from the adjoints of the outputs to those of the inputs.
pub type Pull<S> = Box<dyn Fn(&[S]) -> Result<Vec<S>> + Send + Sync>;

/// A node with any number of inputs and outputs. Its outputs have the places from its position on.
pub struct Wide<S> {
    /// The number of outputs.
    pub outputs: u32,
    /// The place of each input, and the factor between the input and that place.
    pub inputs: Vec<(u32, S)>,
    /// Its derivative.
    pub pull: Pull<S>,
}

impl<S> std::fmt::Debug for Wide<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Wide({} inputs, {} outputs)", self.inputs.len(), self.outputs)
    }
}

/// The numbers of jobs that have been given out.
static NEXT: AtomicU32 = AtomicU32::new(1);

/// A number for a new job, which no number of an older job has (until the numbers start again after 4 billion jobs).
fn new_job() -> u32 {
    loop {
        let job = NEXT.fetch_add(1, Relaxed);
        if job != CONSTANT && job != LOST {
            return job;
        }
    }
}

/// The number of imports that are searched before a table is made.
const FEW: usize = 8;
/// The number of nodes from which a tape uses memory of earlier tapes.
const LONG: usize = 1024;
/// The size of the table of imports.
const TABLE: usize = 64;

impl<S: 'static> Recorder<S> {
    /// A recorder that records nothing.
    pub const fn idle() -> Self {
        Recorder {
            job: CONSTANT,
            first: 1,
            nodes: Vec::new(),
            imports: Vec::new(),
            events: Vec::new(),
            fault: None,
            recent: Vec::new(),
            settings: Settings::DEFAULT,
            pool: None,
        }
    }

    /// Whether something is recorded.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.job != CONSTANT
    }

    /// The tape of a new job. Its inputs have the places from 1 to `inputs`.
    ///
    /// # Errors
    /// Inputs that have no places below the limit.
    pub fn root(inputs: usize, settings: Settings, pool: Option<&'static Pool<Node<S>>>) -> Result<Self> {
        let limit = settings.longest_tape;
        let first = u32::try_from(inputs).ok().and_then(|n| n.checked_add(1)).filter(|n| *n <= limit);
        let first = first.ok_or(Error::TapeFull { limit })?;
        let mut recorder = Recorder { job: new_job(), first, settings, pool, ..Recorder::idle() };
        // At least enough for the pool to keep it.
        let least = LEAST / size_of::<Node<S>>() + 1;
        if !recorder.take_memory(least) && pool.is_some() && least <= recorder.room() {
            recorder.nodes.reserve_exact(least);
        }
        Ok(recorder)
    }

    /// The tape of a job into which this one forks.
    pub fn child(&self) -> Self {
        Recorder { job: new_job(), settings: self.settings, pool: self.pool, ..Recorder::idle() }
    }

    /// The largest number of nodes.
    fn room(&self) -> usize {
        let limit = self.settings.longest_tape;
        (limit - self.first.min(limit)) as usize
    }

    /// Moves the nodes to memory of the pool, if it has room for `least` nodes and for no more than the limit allows.
    fn take_memory(&mut self, least: usize) -> bool {
        let Some(pool) = self.pool else { return false };
        let mut memory = pool.take();
        if memory.capacity() < least || memory.capacity() > self.room() {
            pool.give(memory);
            return false;
        }
        memory.clear();
        memory.append(&mut self.nodes);
        self.nodes = memory;
        true
    }

    /// The place of the next node.
    #[inline(always)]
    pub fn position(&self) -> u32 {
        self.first + self.nodes.len() as u32
    }

    /// Notes a mistake, unless one is noted already.
    #[cold]
    pub fn fail(&mut self, error: Error) {
        self.fault.get_or_insert_with(|| Box::new(error));
    }

    /// Appends the fork into jobs that have ended. Jobs that recorded nothing are left out.
    pub fn join(&mut self, children: impl Iterator<Item = Recorder<S>>) {
        let mut kept = Vec::new();
        for mut child in children {
            if let Some(error) = child.fault.take() {
                self.fail(*error);
            }
            if !child.nodes.is_empty() || !child.events.is_empty() {
                kept.push(child);
            }
        }
        if !kept.is_empty() {
            self.events.push(Event { position: self.position(), kind: Kind::Fork(kept) });
        }
    }
}

impl<S: Real> Recorder<S> {
    /// Appends the node of an operation whose operands have the given jobs and places, and returns the job and the place of
    /// the result.
    #[inline(always)]
    pub fn operation(&mut self, jobs: [u32; 2], node: Node<S>) -> (u32, u32) {
        if jobs[0] == jobs[1] && jobs[0] == self.job && self.nodes.len() < self.nodes.capacity() {
            let index = self.position();
            self.nodes.push(node);
            return (jobs[0], index);
        }
        // In registers: if the node had an address, every operation would write it to the stack.
        let ([a, b], [by_a, by_b]) = (node.parents, node.partials);
        self.other_operation(jobs[0], jobs[1], a, b, by_a, by_b)
    }

    /// The same if an operand belongs to another job, or if the tape has no room.
    #[cold]
    #[inline(never)]
    fn other_operation(&mut self, job_a: u32, job_b: u32, a: u32, b: u32, by_a: S, by_b: S) -> (u32, u32) {
        let mut append = || {
            let parents = [self.place(job_a, a)?, self.place(job_b, b)?];
            self.push(Node { parents, partials: [by_a, by_b] })
        };
        match append() {
            Some(index) => (self.job, index),
            None => (LOST, 0),
        }
    }

    /// Appends a node and returns its place, or `None` if nothing is recorded or the tape is full.
    pub fn push(&mut self, node: Node<S>) -> Option<u32> {
        if !self.is_active() || self.nodes.len() == self.nodes.capacity() && !self.grow() {
            return None;
        }
        let index = self.position();
        self.nodes.push(node);
        Some(index)
    }

    /// Makes room for another node.
    fn grow(&mut self) -> bool {
        let (room, len) = (self.room(), self.nodes.len());
        if len >= room {
            self.fail(Error::TapeFull { limit: self.settings.longest_tape });
            return false;
        }
        if len != LONG || !self.take_memory(LONG + 1) {
            self.nodes.reserve_exact(len.max(16).min(room - len));
        }
        true
    }

    /// The place of a number of this job or of another one, or `None` if the tape is full or the number has no place.
    pub fn place(&mut self, job: u32, index: u32) -> Option<u32> {
        if job == self.job { Some(index) } else { self.import(job, index) }
    }

    /// The place of a number of another job. Its first use makes a node.
    fn import(&mut self, job: u32, index: u32) -> Option<u32> {
        let known = |i: &&Import| i.job == job && i.index == index;
        // The hash ignores the number of the job, which differs from run to run, because the tape must not differ.
        let slot = index.wrapping_mul(0x9E37_79B1) as usize >> 20 & (TABLE - 1);
        let found = match self.recent.get(slot) {
            Some(&k) => self.imports.get(k as usize).filter(known),
            None => self.imports.iter().find(known),
        };
        if let Some(found) = found {
            return Some(found.local);
        }
        let local = self.push(Node { partials: [S::zero(); 2], parents: [NOWHERE; 2] })?;
        if self.recent.is_empty() && self.imports.len() == FEW {
            self.recent = vec![u32::MAX; TABLE];
        }
        if let Some(entry) = self.recent.get_mut(slot) {
            *entry = self.imports.len() as u32;
        }
        self.imports.push(Import { local, job, index });
        Some(local)
    }

    /// Appends a node with any number of inputs and outputs, and returns the place of its first output. It takes `pull`
    /// if it succeeds; if it does not, the caller must drop it outside of the recorder.
    pub fn wide(&mut self, outputs: usize, inputs: Vec<(u32, S)>, pull: &mut Option<Pull<S>>) -> Option<u32> {
        let position = self.position();
        for _ in 0..outputs {
            self.push(Node { partials: [S::zero(); 2], parents: [NOWHERE; 2] })?;
        }
        let wide = Wide { outputs: outputs as u32, inputs, pull: pull.take()? };
        self.events.push(Event { position, kind: Kind::Wide(Box::new(wide)) });
        Some(position)
    }
}
