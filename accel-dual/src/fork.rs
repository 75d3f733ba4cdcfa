//! Parallel parts of programs.

use crate::tape::slots::Slots;

/// The number of jobs into which [`par_map`] divides its elements. It does not depend on the number of threads, so that the
/// tapes of a program do not either.
const JOBS: usize = 64;

/// Runs two functions, potentially in parallel, with [`rayon::join`], and returns both results.
///
/// In a program that is differentiated, each of them is a job with a tape of its own. The reverse pass runs them in parallel,
/// too. A function may use all numbers from before the fork, but no number that the other one computes.
///
/// ```
/// use accel_dual::{Real, grad, join};
///
/// fn f<T: Real>(x: T) -> T {
///     let (a, b) = join(|| x.sin(), || x.exp());
///     a * b
/// }
///
/// assert_eq!(grad(f, &0.0).unwrap(), 1.0);
/// ```
///
/// # Panics
/// If one of the functions panics, after both have ended.
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let waiting = Waiting::new();
    let (left, right) = (waiting.fork(), waiting.fork());
    let ((ra, left), (rb, right)) = rayon::join(|| left.run(a), || right.run(b));
    waiting.join(vec![left, right]);
    (ra, rb)
}

/// Applies a function to each element, potentially in parallel, and returns the results in the order of the elements.
///
/// Up to 64 elements are a job each; more are divided into 64 jobs of consecutive elements. [`join`] explains what this
/// means.
///
/// # Panics
/// If the function panics for an element.
pub fn par_map<T, R, F>(elements: &[T], f: F) -> Vec<R>
where
    T: Sync,
    R: Send,
    F: Fn(&T) -> R + Sync,
{
    if elements.is_empty() {
        return vec![];
    }
    let size = elements.len().div_ceil(JOBS);
    let waiting = Waiting::new();
    let jobs: Vec<(Slots, &[T])> = elements.chunks(size).map(|chunk| (waiting.fork(), chunk)).collect();
    let run = |(slots, chunk): (Slots, &[T])| slots.run(|| chunk.iter().map(&f).collect::<Vec<R>>());
    let parts = halves(jobs, &run);
    let mut results = Vec::with_capacity(elements.len());
    let mut tapes = Vec::with_capacity(parts.len());
    for (part, slots) in parts {
        results.extend(part);
        tapes.push(slots);
    }
    waiting.join(tapes);
    results
}

/// Runs a list of jobs in parallel.
fn halves<T: Send, R: Send>(mut jobs: Vec<T>, run: &(impl Fn(T) -> R + Sync)) -> Vec<R> {
    if jobs.len() < 2 {
        return jobs.into_iter().map(run).collect();
    }
    let right = jobs.split_off(jobs.len() / 2);
    let (mut left, right) = rayon::join(|| halves(jobs, run), || halves(right, run));
    left.extend(right);
    left
}

/// A job that waits for its fork. Its thread may run other jobs in the meantime, so it records nothing. If a job of the fork
/// panics, the thread gets its recorders back, and the tapes of the fork are lost.
struct Waiting(Option<Slots>);

impl Waiting {
    fn new() -> Self {
        Waiting(Some(Slots::idle().swap()))
    }

    /// The recorders of a job of the fork.
    fn fork(&self) -> Slots {
        self.0.as_ref().map_or_else(Slots::idle, Slots::fork)
    }

    /// Goes on after all jobs of the fork.
    fn join(mut self, children: Vec<Slots>) {
        if let Some(slots) = &mut self.0 {
            slots.join(children);
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.take().map(Slots::swap);
    }
}
