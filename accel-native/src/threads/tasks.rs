//! A set of tasks that several threads take one after the other, and waiting for the end of all tasks.
//!
//! With `--cfg loom` in `RUSTFLAGS`, the tests try all orders in which threads can take and end tasks
//! (`scripts/loom.sh`).

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::PoisonError;
use std::thread::Result as Caught;
use sync::{AtomicUsize, Mutex, MutexGuard, Ordering, back_off};

#[cfg(not(all(test, loom)))]
mod sync {
    pub use std::sync::atomic::{AtomicUsize, Ordering};
    pub use std::sync::{Mutex, MutexGuard};
    use std::time::Duration;

    /// The number of checks for the end of the last tasks before this thread yields the processor. After a few times as
    /// many, it sleeps.
    const SPINS: usize = 1 << 10;
    /// The time to sleep between two checks. Only tasks that take milliseconds are waited for like this.
    const NAP: Duration = Duration::from_micros(50);

    /// Spins, yields or sleeps, depending on the number of checks so far.
    pub fn back_off(looks: usize) {
        match looks / SPINS {
            0 => std::hint::spin_loop(),
            1..4 => std::thread::yield_now(),
            _ => std::thread::sleep(NAP),
        }
    }
}

#[cfg(all(test, loom))]
mod sync {
    pub use loom::sync::atomic::{AtomicUsize, Ordering};
    pub use loom::sync::{Mutex, MutexGuard};

    pub fn back_off(_looks: usize) {
        loom::thread::yield_now();
    }
}

/// Tasks that threads take one after the other.
pub struct Tasks<F, E> {
    f: F,
    count: usize,
    ranges: Vec<TaskRange>,
    backwards: bool,
    /// The number of tasks that have ended.
    ended: AtomicUsize,
    /// The first task that failed, and its error or panic.
    failed: Mutex<Option<(usize, Caught<E>)>>,
}

/// The tasks of a range, and a counter of those that were taken, which can exceed their number.
struct TaskRange(Range<usize>, AtomicUsize);

impl<F, E> Tasks<F, E>
where
    E: Send + 'static,
    F: Fn(usize) -> Result<(), E> + Send + Sync + 'static,
{
    /// The tasks `0..count` in `ranges` ranges, which are visited backwards or forwards.
    pub fn new(f: F, count: usize, ranges: usize, backwards: bool) -> Self {
        let range = |k: usize| TaskRange(count * k / ranges..count * (k + 1) / ranges, AtomicUsize::new(0));
        Tasks {
            f,
            count,
            ranges: (0..ranges).map(range).collect(),
            backwards,
            ended: AtomicUsize::new(0),
            failed: Mutex::new(None),
        }
    }

    /// Takes tasks until there are none left, first those of the range `own` (the last range, if there is no such
    /// range).
    pub fn run(&self, own: usize) {
        let (before, from) = self.ranges.split_at(own.min(self.ranges.len() - 1));
        for range in from.iter().chain(before) {
            while let Some(k) = range.take(self.backwards) {
                // After a panic, nobody uses what the function changed: the caller panics as well.
                let outcome = catch_unwind(AssertUnwindSafe(|| (self.f)(k)));
                self.end(k, outcome);
            }
        }
    }

    fn end(&self, k: usize, outcome: Caught<Result<(), E>>) {
        let failure = match outcome {
            Ok(Ok(())) => None,
            Ok(Err(e)) => Some(Ok(e)),
            Err(panic) => Some(Err(panic)),
        };
        if let Some(e) = failure {
            let mut failed = self.failed();
            if failed.as_ref().is_none_or(|(other, _)| k < *other) {
                *failed = Some((k, e));
            }
        }
        self.ended.fetch_add(1, Ordering::Release);
    }

    /// Waits until all tasks have ended. Then the function is not called any more, and the caller can read what its
    /// calls wrote.
    pub fn wait(&self) {
        let mut looks = 0;
        while self.ended.load(Ordering::Acquire) < self.count {
            looks += 1;
            back_off(looks);
        }
    }

    /// The error of the first task that failed, in the order of tasks. If it panicked, this function does.
    pub fn outcome(&self) -> Result<(), E> {
        let first = self.failed().take();
        first.map_or(Ok(()), |(_, failure)| Err(failure.unwrap_or_else(|panic| resume_unwind(panic))))
    }

    fn failed(&self) -> MutexGuard<'_, Option<(usize, Caught<E>)>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TaskRange {
    fn take(&self, backwards: bool) -> Option<usize> {
        let TaskRange(range, taken) = self;
        let k = taken.fetch_add(1, Ordering::Relaxed);
        (k < range.len()).then(|| if backwards { range.end - 1 - k } else { range.start + k })
    }
}

#[cfg(all(test, loom))]
mod tests {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    /// The data that tasks use, and that the caller uses afterwards. Loom reports if two threads use them at the same
    /// time.
    struct Memory(Vec<UnsafeCell<usize>>);
    // SAFETY: this is what the test checks.
    unsafe impl Sync for Memory {}
    // SAFETY: as above.
    unsafe impl Send for Memory {}

    /// Tries all orders of `count` tasks, some of which fail, on the calling thread and on others, which may come too
    /// late. With `switches`, tries only orders with at most that many preemptions of a thread.
    fn model(count: usize, others: usize, backwards: bool, fails: &'static [usize], switches: Option<usize>) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = switches;
        builder.check(move || {
            let memory = Arc::new(Memory((0..count).map(|_| UnsafeCell::new(0)).collect()));
            let written = memory.clone();
            let task = move |k: usize| {
                // SAFETY: the test checks that nobody else uses it.
                written.0[k].with_mut(|x| unsafe { *x += 1 });
                if fails.contains(&k) { Err(k) } else { Ok(()) }
            };
            let tasks = Arc::new(Tasks::new(task, count, others + 1, backwards));
            let threads: Vec<_> = (1..=others)
                .map(|own| {
                    let tasks = tasks.clone();
                    thread::spawn(move || tasks.run(own))
                })
                .collect();
            tasks.run(0);
            tasks.wait();
            assert_eq!(tasks.outcome(), fails.iter().min().map_or(Ok(()), |k| Err(*k)));
            for cell in &memory.0 {
                // SAFETY: as above. The write stands for freeing the memory.
                cell.with_mut(|x| unsafe {
                    assert_eq!(*x, 1, "each task runs once");
                    *x = 100;
                });
            }
            threads.into_iter().for_each(|t| t.join().unwrap());
        });
    }

    #[test]
    fn two_threads() {
        for backwards in [false, true] {
            model(2, 1, backwards, &[], None);
            model(3, 1, backwards, &[], None);
            model(3, 1, backwards, &[2, 1], None);
        }
    }

    /// All orders would be too many here.
    #[test]
    fn three_threads() {
        model(2, 2, false, &[], Some(2));
        model(2, 2, true, &[0, 1], Some(2));
        model(3, 2, false, &[], Some(2));
    }
}
