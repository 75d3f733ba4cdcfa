//! Tasks on all threads.
//!
//! NOTE [The calling thread works too]
//! Waking a thread takes as long as a small task. So where there is little to do, the thread that runs a program takes tasks like those of the
//! pool, one after the other: it begins at once, and where the others come too late there is nothing left for them to do. It waits for tasks
//! that have begun, not for threads that have not: they find that all tasks are taken, and what those worked on may be gone by then. That makes
//! the gradient of a small mixture half as long. Where there is much to do it is better to sleep: then the threads of the pool have all
//! processors, and each goes through tasks that are next to each other (a histogram of 16M values took 1.3 times as long otherwise).
//! The results of tasks do not depend on who executes them.

use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Up to about this many simple operations are little to do.
const LITTLE: usize = 1 << 24;
/// So often it is looked whether the last tasks have ended before another thread may have the processor.
const LOOKS: usize = 1 << 10;

/// Calls `f` for the tasks `0..count` on the threads of rayon's pool.
///
/// # Errors
/// That of the first task, in their order, that has one.
pub fn each<E: Send>(count: usize, f: impl Fn(usize) -> Result<(), E> + Sync) -> Result<(), E> {
    if count == 1 {
        return f(0);
    }
    let failed: Vec<E> = (0..count).into_par_iter().filter_map(|k| f(k).err()).collect();
    failed.into_iter().next().map_or(Ok(()), Err)
}

/// The same on this thread, too, if the tasks are little to do: `work` simple operations together, about. `f` must not panic. It is not
/// called any more when this returns, but may be dropped later.
///
/// # Errors
/// As [`each`].
pub fn each_here_too<E, F>(count: usize, work: usize, f: F) -> Result<(), E>
where
    E: Send + 'static,
    F: Fn(usize) -> Result<(), E> + Send + Sync + 'static,
{
    if count == 1 || work >= LITTLE {
        return each(count, f);
    }
    let (next, ended, failed) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(None));
    let tasks = Arc::new(Tasks { f, count, next, ended, failed });
    for _ in 1..rayon::current_num_threads().min(count) {
        let tasks = tasks.clone();
        rayon::spawn(move || tasks.run());
    }
    tasks.run();
    let mut looks = 0;
    while tasks.ended.load(Ordering::Acquire) < count {
        looks += 1;
        if looks < LOOKS { std::hint::spin_loop() } else { std::thread::yield_now() }
    }
    let failed = tasks.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
    failed.map_or(Ok(()), |(_, e)| Err(e))
}

/// Tasks that threads take one after the other.
struct Tasks<F, E> {
    f: F,
    count: usize,
    /// The first one that nobody has taken.
    next: AtomicUsize,
    /// How many have ended.
    ended: AtomicUsize,
    /// The first one that failed.
    failed: Mutex<Option<(usize, E)>>,
}

impl<F: Fn(usize) -> Result<(), E>, E> Tasks<F, E> {
    /// Takes tasks until there are none.
    fn run(&self) {
        loop {
            let k = self.next.fetch_add(1, Ordering::Relaxed);
            if k >= self.count {
                return;
            }
            if let Err(e) = (self.f)(k) {
                let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
                if failed.as_ref().is_none_or(|(other, _)| k < *other) {
                    *failed = Some((k, e));
                }
            }
            self.ended.fetch_add(1, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_runs_once_and_the_first_error_is_told() {
        for count in [0, 1, 2, 100] {
            for work in [0, usize::MAX] {
                let times: Arc<Vec<AtomicUsize>> = Arc::new((0..count).map(|_| AtomicUsize::new(0)).collect());
                let seen = times.clone();
                let task = move |k: usize| {
                    seen[k].fetch_add(1, Ordering::Relaxed);
                    if k % 40 == 39 { Err(k) } else { Ok(()) }
                };
                assert_eq!(each_here_too(count, work, task), if count == 100 { Err(39) } else { Ok(()) });
                assert!(times.iter().all(|n| n.load(Ordering::Relaxed) == 1));
            }
        }
    }

    /// In a pool whose only thread is the one that waits, and in one whose other threads do something else.
    #[test]
    fn nobody_waits_for_threads_that_are_busy() {
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (started, go_on) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            for _ in 1..threads {
                let (started, go_on) = (started.clone(), go_on.clone());
                pool.spawn(move || {
                    started.store(1, Ordering::Release);
                    while go_on.load(Ordering::Acquire) == 0 {
                        std::thread::yield_now();
                    }
                });
            }
            while started.load(Ordering::Acquire) + 1 < threads {
                std::thread::yield_now();
            }
            assert_eq!(pool.install(|| each_here_too(10, 0, |_| Ok::<(), ()>(()))), Ok(()));
            go_on.store(1, Ordering::Release);
        }
    }
}
