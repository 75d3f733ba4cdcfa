//! Executes tasks on all threads.
//!
//! NOTE [The caller runs tasks]: waking a thread takes some 25 µs, as long as summing 300,000 numbers. So the thread
//! that runs a program takes tasks itself, and calls one thread fewer of the pool. It begins at once, and threads
//! that come too late find nothing left to do. It waits for tasks that have begun, not for threads that have not: those
//! find that all tasks are taken, and the data of the tasks may be gone by then. A sum of 1 MB takes 0.4 of the time
//! that it takes if the caller sleeps until the pool has finished, one of 16 MB takes 0.8. The results of tasks do not
//! depend on which thread executes them.
//!
//! NOTE [Cache affinity of tasks]: consecutive operations mostly use the same arrays, and the caches of a processor
//! contain what its thread read last. So each thread has a range of the tasks, the same one whenever the number of
//! tasks is the same, and every second operation goes through the ranges backwards. A thread that has finished its
//! range helps the others. A repeated sum of 8 MB takes 0.7 of the time with this, a sum of 16 MB and a loop after it
//! together take 0.9.
//!
//! NOTE [Panics in tasks]: tasks use data of the caller, which would be gone if its stack was unwound while other threads
//! execute tasks. So a panic in a task is the end of this task only, and goes on in the caller when all tasks have
//! ended. Nothing else between the first request and the end of the last task may panic: it ends the process.

//!
//! NOTE [Without a pool]: the threads of rayon's pool do not exist in a child that was forked from this process, and a process may not
//! start threads at all. There, rayon would wait for ever or panic. So such a thread becomes the only one of a pool of its own before
//! it uses rayon, and everything runs in the thread itself.

mod tasks;

use rayon::ThreadPoolBuilder;
use std::error::Error;
use std::process::abort;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use tasks::Tasks;

/// The number of threads that this one can use: NOTE [Without a pool].
pub fn count() -> usize {
    prepare();
    rayon::current_num_threads()
}

/// Makes sure that this thread can use rayon, also in a forked child and in a process that cannot start threads. There, everything runs
/// in the thread itself: NOTE [Without a pool] in `threads.rs`.
pub fn prepare() {
    // The process with the pool; none if it could not be started.
    static POOL: OnceLock<Option<u32>> = OnceLock::new();
    let started = || match ThreadPoolBuilder::new().build_global() {
        // The system gave no thread. Other errors say that there is a pool already.
        Err(e) if e.source().is_some() => None,
        _ => Some(std::process::id()),
    };
    if *POOL.get_or_init(started) == Some(std::process::id()) || rayon::current_thread_index().is_some() {
        return;
    }
    match ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
        // The thread stays in it to its end.
        Ok(pool) => std::mem::forget(pool),
        Err(e) => tracing::debug!("no pool for one thread: {e}"),
    }
}

/// The largest number of requests that a thread leaves open, for each thread of the pool.
const MAX_OPEN_REQUESTS: usize = 4;

/// Calls `f` for the tasks `0..count` on this thread and on those of rayon's pool. It is not called any more when this
/// function returns or panics, but may be dropped later.
///
/// # Panics
/// If the first task that fails panics.
///
/// # Errors
/// The error of the first task that failed, in the order of tasks.
pub fn each<E, F>(count: usize, f: F) -> Result<(), E>
where
    E: Send + 'static,
    F: Fn(usize) -> Result<(), E> + Send + Sync + 'static,
{
    static BACKWARDS: AtomicBool = AtomicBool::new(false);
    if count == 1 {
        return f(0);
    }
    let threads = self::count().min(count).max(1);
    let tasks = Arc::new(Tasks::new(f, count, threads, BACKWARDS.fetch_xor(true, Ordering::Relaxed)));
    // If the caller is no thread of the pool, it has the first range, and the threads of the pool have the others.
    // Rayon wakes the first of its threads first, so the last thread of the pool is not needed.
    let outsiders = usize::from(rayon::current_thread_index().is_none());
    let running = Running;
    call(threads - 1, &tasks, outsiders);
    tasks.run(rayon::current_thread_index().unwrap_or(0));
    tasks.wait();
    std::mem::forget(running);
    tasks.outcome()
}

/// Tasks are executed: NOTE [Panics in tasks].
struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        abort();
    }
}

thread_local! {
    /// The number of requests of this thread that no thread of the pool has started to serve.
    static OPEN_REQUESTS: Arc<AtomicUsize> = Arc::default();
}

/// Asks threads of the pool to take tasks. It does not ask while many earlier requests are open: those threads are busy
/// with something else, perhaps for long, and the requests would pile up.
fn call<E, F>(threads: usize, tasks: &Arc<Tasks<F, E>>, outsiders: usize)
where
    E: Send + 'static,
    F: Fn(usize) -> Result<(), E> + Send + Sync + 'static,
{
    // When a thread ends, it may have lost its counter already.
    let missing = OPEN_REQUESTS.try_with(Arc::clone).unwrap_or_default();
    let most = MAX_OPEN_REQUESTS * rayon::current_num_threads();
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
    use std::panic::{AssertUnwindSafe, catch_unwind};

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

    /// NOTE [Panics in tasks]: otherwise the caller's data would be freed while other threads use them.
    #[test]
    fn a_panic_waits_for_the_other_tasks() {
        for (panics, fails, first) in [(3, 100, 3), (3, 50, 3), (70, 50, 50)] {
            let ended = Arc::new(AtomicUsize::new(0));
            let seen = ended.clone();
            let task = move |k: usize| {
                std::thread::sleep(std::time::Duration::from_millis(1));
                assert_ne!(k, panics, "this task panics");
                seen.fetch_add(1, Ordering::Relaxed);
                if k == fails { Err(k) } else { Ok(()) }
            };
            let outcome = catch_unwind(AssertUnwindSafe(|| each(100, task)));
            assert_eq!(ended.load(Ordering::Relaxed), 99, "all other tasks have ended");
            match outcome {
                Ok(outcome) => assert_eq!(outcome, Err(first)),
                Err(panic) => {
                    assert_eq!(first, panics);
                    assert!(panic.downcast_ref::<String>().is_some_and(|said| said.contains("this task panics")));
                }
            }
        }
    }

    /// The child has only the thread that was forked: NOTE [Without a pool].
    #[cfg(unix)]
    #[test]
    fn a_forked_child_runs_everything_itself() {
        use rayon::prelude::*;
        use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
        unsafe extern "C" {
            fn fork() -> i32;
            fn _exit(status: i32) -> !;
        }
        let works = || {
            assert_eq!(each(100, |_| Ok::<(), ()>(())), Ok(()));
            count() > 0 && (0..100_000).into_par_iter().map(|x: u64| x + 1).sum::<u64>() == 5_000_050_000
        };
        assert!(works());
        // SAFETY: the child only computes, and ends without anything that belongs to the parent.
        let child = unsafe { fork() };
        if child == 0 {
            let status = i32::from(!works());
            // SAFETY: as above.
            unsafe { _exit(status) }
        }
        let child = Pid::from_raw(child).expect("a child");
        let start = std::time::Instant::now();
        let status = loop {
            match waitpid(Some(child), WaitOptions::NOHANG).unwrap() {
                Some((_, status)) => break status,
                None if start.elapsed().as_secs() > 60 => {
                    kill_process(child, Signal::KILL).unwrap();
                    panic!("the child hangs");
                }
                None => std::thread::sleep(std::time::Duration::from_millis(5)),
            }
        };
        assert_eq!(status.exit_status(), Some(0));
    }

    /// The only thread of the pool is the one that waits, or the other threads are busy with something else.
    #[test]
    fn nobody_waits_for_threads_that_are_busy() {
        for threads in [1, 2, 20] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (started, continues) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            for _ in 1..threads {
                let (started, continues) = (started.clone(), continues.clone());
                pool.spawn(move || {
                    started.fetch_add(1, Ordering::Release);
                    while continues.load(Ordering::Acquire) == 0 {
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
                OPEN_REQUESTS.with(|m| m.load(Ordering::Relaxed))
            });
            assert!(missing <= MAX_OPEN_REQUESTS * threads, "{missing}");
            continues.store(1, Ordering::Release);
        }
    }
}
