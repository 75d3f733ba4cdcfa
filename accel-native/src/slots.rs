//! Values that are kept between uses, one for each thread that uses them at the same time.
//!
//! NOTE [Slots of threads]: threads that run one program must not wait for each other, not even for a word in memory
//! that both change. So each thread has a number, which is the smallest that no living thread has, and prefers the slot
//! with this number. There are only as many values as there were threads at the same time. If the slot is in use, because
//! there are more threads than slots, or because a task of a run runs the same program, another one is taken.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError, TryLockError};

/// The number of slots.
const SLOTS: usize = 8;

/// A value for each thread. What a thread changes is not on a cache line of another thread, nor on the line beside it,
/// which processors load together with it.
#[derive(Default)]
pub struct Slots<T>([Slot<T>; SLOTS]);

#[derive(Default)]
#[repr(align(128))]
struct Slot<T>(Mutex<T>);

impl<T: Default> Slots<T> {
    /// Gives `user` a value that nobody else uses meanwhile.
    pub fn with<R>(&self, user: impl FnOnce(&mut T) -> R) -> R {
        let first = thread_number();
        for k in 0..SLOTS {
            let Slot(slot) = &self.0[(first + k) % SLOTS];
            match slot.try_lock() {
                Ok(mut value) => return user(&mut value),
                Err(TryLockError::Poisoned(left)) => {
                    // A panic may have left it half changed.
                    let mut value = left.into_inner();
                    *value = T::default();
                    slot.clear_poison();
                    return user(&mut value);
                }
                Err(TryLockError::WouldBlock) => {}
            }
        }
        user(&mut T::default())
    }
}

/// The numbers below the largest number of a living thread that no living thread has, and the number after it.
static FREE: Mutex<(BTreeSet<usize>, usize)> = Mutex::new((BTreeSet::new(), 0));

/// The number of a thread, as long as the thread lives.
struct Number(usize);

impl Number {
    fn new() -> Number {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let (unused, next) = &mut *free;
        Number(unused.pop_first().unwrap_or_else(|| {
            *next += 1;
            *next - 1
        }))
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        FREE.lock().unwrap_or_else(PoisonError::into_inner).0.insert(self.0);
    }
}

fn thread_number() -> usize {
    thread_local! {
        static NUMBER: OnceCell<Number> = const { OnceCell::new() };
    }
    // A thread that ends has no number any more.
    NUMBER.try_with(|n| n.get_or_init(Number::new).0).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn a_thread_gets_its_value_again() {
        let slots = Slots::<usize>::default();
        for k in 0..3 {
            assert_eq!(slots.with(|n| std::mem::replace(n, k + 1)), k);
        }
    }

    #[test]
    fn nobody_waits_and_nobody_shares() {
        let slots = Slots::<usize>::default();
        let inner = slots.with(|outer| {
            *outer = 1;
            slots.with(|inner| *inner)
        });
        assert_eq!(inner, 0);
        let (threads, all) = (2 * SLOTS, Barrier::new(2 * SLOTS));
        std::thread::scope(|scope| {
            for k in 0..threads {
                let (slots, all) = (&slots, &all);
                scope.spawn(move || {
                    slots.with(|value| {
                        *value = k;
                        all.wait();
                        assert_eq!(*value, k);
                    });
                });
            }
        });
    }

    #[test]
    fn a_value_after_a_panic_is_new() {
        let slots = Slots::<usize>::default();
        let panics = || {
            slots.with(|value| {
                *value = 7;
                panic!("half changed");
            })
        };
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics));
        assert!(outcome.is_err());
        assert_eq!(slots.with(|value| *value), 0);
    }
}
