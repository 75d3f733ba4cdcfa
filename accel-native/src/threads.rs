//! Tasks on all threads.
//!
//! NOTE [The calling thread works too]
//! Waking a thread takes as long as a small task. So where there is little to do, the thread that runs a program takes tasks like those of the
//! pool, one after the other: it begins at once, and where the others come too late there is nothing left for them to do. That makes
//! the gradient of a small mixture 0.7 as long. Where there is much to do it is better to sleep: then the threads of the pool have all
//! processors, and each goes through tasks that are next to each other (a histogram of 16M values took 1.3 times as long otherwise).
//! The results of tasks do not depend on who executes them.

use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Up to about this many simple operations are little to do.
const LITTLE: usize = 1 << 24;
/// Work of which nobody knows that it is little.
pub const MUCH: usize = usize::MAX;

/// Calls `f` for the tasks `0..count`, which take about `work` simple operations together, on the threads of rayon's pool, and on this one if
/// that is little.
///
/// # Errors
/// That of the first task, in their order, that has one.
pub fn each<E: Send>(count: usize, work: usize, f: impl Fn(usize) -> Result<(), E> + Sync) -> Result<(), E> {
    if count == 1 {
        return f(0);
    }
    if work < LITTLE {
        return here_too(count, f);
    }
    let failed: Vec<E> = (0..count).into_par_iter().filter_map(|k| f(k).err()).collect();
    failed.into_iter().next().map_or(Ok(()), Err)
}

fn here_too<E: Send>(count: usize, f: impl Fn(usize) -> Result<(), E> + Sync) -> Result<(), E> {
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
    rayon::in_place_scope(|s| {
        (0..others).for_each(|_| s.spawn(|_| work()));
        work();
    });
    let failed = first().take();
    failed.map_or(Ok(()), |(_, e)| Err(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_runs_once_and_the_first_error_is_told() {
        for (count, work) in [(0, 0), (1, 0), (2, 0), (100, 0), (2, MUCH), (100, MUCH)] {
            let times: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            let found = each(count, work, |k| {
                times[k].fetch_add(1, Ordering::Relaxed);
                if k % 40 == 39 { Err(k) } else { Ok(()) }
            });
            assert_eq!(found, if count == 100 { Err(39) } else { Ok(()) });
            assert!(times.iter().all(|n| n.load(Ordering::Relaxed) == 1));
        }
    }
}
