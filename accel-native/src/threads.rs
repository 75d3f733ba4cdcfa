//! Tasks on all threads.
//!
//! NOTE [The calling thread works too]
//! Waking a thread takes some 25 µs, as long as summing 300,000 numbers. So the thread that runs a program takes tasks like those of the
//! pool, of which one fewer is called: it begins at once, and where the others come too late there is nothing left for them to do. It waits
//! for tasks that have begun, not for threads that have not: they find that all tasks are taken, and what those worked on may be gone by
//! then. A sum of 1 MB takes 0.4 of the time that it takes if the caller sleeps until the pool has done it, one of 16 MB 0.8. The results of
//! tasks do not depend on who executes them.
//!
//! NOTE [Threads come back to what they know]
//! Operations that follow each other go over the same arrays, mostly, and what a thread has read last is in the caches of its processor. So
//! each thread has a range of the tasks, the same one whenever there are as many, and every other operation goes through the ranges
//! backwards. Who has done his own helps the others. A sum of 8 MB, again and again, takes 0.7 of the time with that, a loop that follows
//! a sum of 16 MB makes both together 0.9 as long.

mod tasks;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tasks::Tasks;

/// A thread asks for others that have not come yet at most so often, for each thread of the pool.
const MOST_MISSING: usize = 4;

/// Calls `f` for the tasks `0..count` on this thread and on those of rayon's pool. `f` must not panic. It is not called any more when this
/// returns, but may be dropped later.
///
/// # Errors
/// That of the first task, in their order, that has one.
pub fn each<E, F>(count: usize, f: F) -> Result<(), E>
where
    E: Send + 'static,
    F: Fn(usize) -> Result<(), E> + Send + Sync + 'static,
{
    static BACKWARDS: AtomicBool = AtomicBool::new(false);
    if count == 1 {
        return f(0);
    }
    let threads = rayon::current_num_threads().min(count).max(1);
    let tasks = Arc::new(Tasks::new(f, count, threads, BACKWARDS.fetch_xor(true, Ordering::Relaxed)));
    // A caller that is no thread of the pool has the first range, and the threads of the pool the others. Rayon wakes the first of its
    // threads first, so with such a caller it is the last one that is not needed.
    let outsiders = usize::from(rayon::current_thread_index().is_none());
    call(threads - 1, &tasks, outsiders);
    tasks.run(rayon::current_thread_index().unwrap_or(0));
    tasks.wait();
    tasks.outcome()
}

thread_local! {
    /// How often this thread has asked for one that has not come yet.
    static MISSING: Arc<AtomicUsize> = Arc::default();
}

/// Asks so many threads of the pool to take tasks, but not while many that were asked before have not come: they have other things to do,
/// perhaps for long, and what they were asked would pile up.
fn call<E, F>(threads: usize, tasks: &Arc<Tasks<F, E>>, outsiders: usize)
where
    E: Send + 'static,
    F: Fn(usize) -> Result<(), E> + Send + Sync + 'static,
{
    let missing = MISSING.with(Arc::clone);
    let most = MOST_MISSING * rayon::current_num_threads();
    for _ in 0..threads {
        if missing.load(Ordering::Relaxed) >= most {
            return;
        }
        missing.fetch_add(1, Ordering::Relaxed);
        let (missing, tasks) = (missing.clone(), tasks.clone());
        rayon::spawn(move || {
            missing.fetch_sub(1, Ordering::Relaxed);
            tasks.run(rayon::current_thread_index().map_or(0, |k| k + outsiders));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_runs_once_and_the_first_error_is_told() {
        for count in [0, 1, 2, 7, 100] {
            let times: Arc<Vec<AtomicUsize>> = Arc::new((0..count).map(|_| AtomicUsize::new(0)).collect());
            let seen = times.clone();
            let task = move |k: usize| {
                seen[k].fetch_add(1, Ordering::Relaxed);
                if k % 40 == 39 { Err(k) } else { Ok(()) }
            };
            assert_eq!(each(count, task), if count == 100 { Err(39) } else { Ok(()) });
            assert!(times.iter().all(|n| n.load(Ordering::Relaxed) == 1));
        }
    }

    /// In a pool whose only thread is the one that waits, and in one whose other threads do something else.
    #[test]
    fn nobody_waits_for_threads_that_are_busy() {
        for threads in [1, 2, 20] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (started, go_on) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            for _ in 1..threads {
                let (started, go_on) = (started.clone(), go_on.clone());
                pool.spawn(move || {
                    started.fetch_add(1, Ordering::Release);
                    while go_on.load(Ordering::Acquire) == 0 {
                        std::thread::yield_now();
                    }
                });
            }
            while started.load(Ordering::Acquire) + 1 < threads {
                std::thread::yield_now();
            }
            let missing = pool.install(|| {
                for _ in 0..1000 {
                    assert_eq!(each(10, |_| Ok::<(), ()>(())), Ok(()));
                }
                MISSING.with(|m| m.load(Ordering::Relaxed))
            });
            assert!(missing <= MOST_MISSING * threads, "{missing}");
            go_on.store(1, Ordering::Release);
        }
    }
}
