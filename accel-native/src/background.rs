//! Compilations in the background.
//!
//! A process may start many programs in a short time, so compilations wait in a queue: as many run at the same time as
//! there are cores. The threads end when the queue is empty. A process does not wait for them at its end: a compiler
//! that still runs then writes to a temporary folder, which a later compilation removes, and the cache contains whole
//! files only (NOTE [Trusted cache files]).

use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, available_parallelism};

type Job = Box<dyn FnOnce() + Send>;

struct Queue {
    jobs: VecDeque<Job>,
    threads: usize,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue { jobs: VecDeque::new(), threads: 0 });

fn queue() -> MutexGuard<'static, Queue> {
    // Nothing panics while the queue is locked.
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Executes a job in another thread, soon. If no thread can be started, it is not executed.
pub fn submit(job: impl FnOnce() + Send + 'static) {
    let mut queue = queue();
    queue.jobs.push_back(Box::new(job));
    if queue.threads < available_parallelism().map_or(1, NonZero::get) {
        match Builder::new().name("accel compiler".into()).spawn(work) {
            Ok(_) => queue.threads += 1,
            Err(e) => tracing::debug!("no thread for compilations: {e}"),
        }
    }
}

fn work() {
    while let Some(job) = next() {
        // A panic is the end of this job only.
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(job)).is_err() {
            tracing::error!("a compilation in the background has panicked");
        }
    }
}

fn next() -> Option<Job> {
    let mut queue = queue();
    let job = queue.jobs.pop_front();
    if job.is_none() {
        queue.threads -= 1;
    }
    job
}
