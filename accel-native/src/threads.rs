//! Tasks on all threads.
//!
//! NOTE [The calling thread works too]
//! Waking a thread takes as long as a small task. So the thread that runs a program takes tasks like those of the pool, one after the
//! other: it begins at once, and where the others come too late there is nothing left for them to do. The results of tasks do not depend on
//! who executes them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Calls `f` for the tasks `0..count`, on this thread and those of rayon's pool, `count` at most.
///
/// # Errors
/// That of the first task, in their order, that has one.
pub fn each<E: Send>(count: usize, f: impl Fn(usize) -> Result<(), E> + Sync) -> Result<(), E> {
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
    let first = || failed.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || loop {
        let k = next.fetch_add(1, Ordering::Relaxed);
        if k >= count {
            return;
        }
        if let Err(e) = f(k) {
            let mut failed = first();
            if failed.as_ref().is_none_or(|(other, _)| k < *other) {
                *failed = Some((k, e));
            }
        }
    };
    let others = rayon::current_num_threads().min(count).saturating_sub(1);
    if others == 0 {
        work();
    } else {
        rayon::in_place_scope(|s| {
            (0..others).for_each(|_| s.spawn(|_| work()));
            work();
        });
    }
    let failed = first().take();
    failed.map_or(Ok(()), |(_, e)| Err(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_runs_once_and_the_first_error_is_told() {
        for count in [0, 1, 2, 100] {
            let times: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            let found = each(count, |k| {
                times[k].fetch_add(1, Ordering::Relaxed);
                if k % 40 == 39 { Err(k) } else { Ok(()) }
            });
            assert_eq!(found, if count == 100 { Err(39) } else { Ok(()) });
            assert!(times.iter().all(|n| n.load(Ordering::Relaxed) == 1));
        }
    }
}
