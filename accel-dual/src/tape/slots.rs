//! The recorder of each thread.
//!
//! NOTE [Recorders of threads]: all programs of this crate spend their time where a thread's recorder grows. With a `RefCell`, each
//! operation writes its flag twice, and the code grows so much that rustc may stop inlining it: particles and determinants then take
//! 1.6 to 2.1 times as long. So nothing checks that there is only one reference to a recorder, and the functions that give one to
//! a closure are unsafe.
#![allow(unsafe_code)]

use super::recorder::Recorder;
use crate::real::Real;
use std::any::Any;
use std::cell::{RefCell, UnsafeCell};
use std::mem::{ManuallyDrop, replace};
use std::thread::LocalKey;

thread_local! {
    // Without destructors, rustc need not check in each access whether the variable exists. Nothing is lost: a thread
    // ends only outside of all jobs, so its recorders are idle and own no memory.
    static WIDE: Slot<f64> = const { Slot::idle() };
    static SINGLE: Slot<f32> = const { Slot::idle() };
    static OTHER: RefCell<ManuallyDrop<Option<Box<dyn AnyRecorder>>>> =
        const { RefCell::new(ManuallyDrop::new(None)) };
}

/// The recorder of a thread.
struct Slot<S: 'static>(UnsafeCell<ManuallyDrop<Recorder<S>>>);

impl<S> Slot<S> {
    const fn idle() -> Self {
        Slot(UnsafeCell::new(ManuallyDrop::new(Recorder::idle())))
    }
}

/// Gives the recorder of a thread to a function: NOTE [Recorders of threads].
///
/// # Safety
/// The function does not use the thread's recorder in another way: it calls no function of the user, drops no closure of the
/// user, and does not come back here.
#[inline(always)]
unsafe fn with_slot<S, R>(slot: &'static LocalKey<Slot<S>>, f: impl FnOnce(&mut Recorder<S>) -> R) -> R {
    let recorder = slot.with(|slot| slot.0.get());
    // SAFETY: the pointer is valid, since the variable has no destructor and `f` ends before the thread. It is the only
    // reference: no other thread sees the variable, only this function makes references to it, and the caller guarantees that
    // `f` does not call it again.
    f(unsafe { &mut *recorder })
}

/// Gives the recorder of `f64` to a function.
///
/// # Safety
/// As for [`with_slot`].
#[inline(always)]
pub unsafe fn with_wide<R>(f: impl FnOnce(&mut Recorder<f64>) -> R) -> R {
    // SAFETY: the caller's guarantee.
    unsafe { with_slot(&WIDE, f) }
}

/// Gives the recorder of `f32` to a function.
///
/// # Safety
/// As for [`with_slot`].
#[inline(always)]
pub unsafe fn with_single<R>(f: impl FnOnce(&mut Recorder<f32>) -> R) -> R {
    // SAFETY: the caller's guarantee.
    unsafe { with_slot(&SINGLE, f) }
}

/// Makes this the recorder of `f64`, and returns the one before.
#[inline]
fn swap_wide(recorder: Recorder<f64>) -> Recorder<f64> {
    // SAFETY: a move.
    unsafe { with_wide(|slot| replace(slot, recorder)) }
}

/// Gives the recorder of another type to a function, if there is one of this type.
#[inline]
pub fn with_other<S: Real, R>(f: impl FnOnce(&mut Recorder<S>) -> R) -> Option<R> {
    OTHER.with(|slot| slot.borrow_mut().as_mut().and_then(|r| r.as_any().downcast_mut()).map(f))
}

/// A recorder of any type of values.
pub trait AnyRecorder: Any + Send {
    /// The recorder, to find its type.
    fn as_any(&mut self) -> &mut dyn Any;
    /// The recorder, to find its type.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
    /// A recorder for a job into which this one forks.
    fn fork(&self) -> Box<dyn AnyRecorder>;
    /// Appends the fork into jobs that have ended.
    fn join_any(&mut self, children: Vec<Box<dyn Any>>);
}

impl<S: Real> AnyRecorder for Recorder<S> {
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
    fn fork(&self) -> Box<dyn AnyRecorder> {
        Box::new(self.child())
    }
    fn join_any(&mut self, children: Vec<Box<dyn Any>>) {
        self.join(children.into_iter().filter_map(|child| child.downcast().ok()).map(|child| *child));
    }
}

/// The recorders of a thread. At most one of them is active.
pub struct Slots {
    /// That of `f64`.
    pub wide: Recorder<f64>,
    /// That of `f32`.
    pub single: Recorder<f32>,
    /// That of another type.
    pub other: Option<Box<dyn AnyRecorder>>,
}

impl Slots {
    /// Recorders that record nothing.
    pub fn idle() -> Self {
        Slots { wide: Recorder::idle(), single: Recorder::idle(), other: None }
    }

    /// Makes these the recorders of the thread, and returns those before.
    pub fn swap(self) -> Slots {
        Slots {
            wide: swap_wide(self.wide),
            // SAFETY: a move. An idle recorder that is dropped owns nothing.
            single: unsafe {
                with_single(|recorder| {
                    // Hardly ever used.
                    if recorder.is_active() || self.single.is_active() {
                        replace(recorder, self.single)
                    } else {
                        Recorder::idle()
                    }
                })
            },
            other: OTHER.with(|slot| replace(&mut **slot.borrow_mut(), self.other)),
        }
    }

    /// The recorders of a job into which this one forks.
    pub fn fork(&self) -> Slots {
        let mut child = Slots::idle();
        if self.wide.is_active() {
            child.wide = self.wide.child();
        }
        if self.single.is_active() {
            child.single = self.single.child();
        }
        child.other = self.other.as_ref().map(|r| r.fork());
        child
    }

    /// Appends the fork into jobs that have ended.
    pub fn join(&mut self, children: Vec<Slots>) {
        let (mut wide, mut single, mut other) = (vec![], vec![], vec![]);
        for child in children {
            wide.push(child.wide);
            single.push(child.single);
            other.extend(child.other.map(|r| r.into_any()));
        }
        if self.wide.is_active() {
            self.wide.join(wide.into_iter());
        }
        if self.single.is_active() {
            self.single.join(single.into_iter());
        }
        if let Some(r) = &mut self.other {
            r.join_any(other);
        }
    }

    /// Runs a function with these recorders, and returns them with its result. The thread gets its recorders back, also if
    /// the function panics.
    pub fn run<R>(self, f: impl FnOnce() -> R) -> (R, Slots) {
        /// Puts the recorders back.
        struct Back(Option<Slots>);
        impl Drop for Back {
            fn drop(&mut self) {
                // After a panic, the tape of the job is lost.
                self.0.take().map(Slots::swap);
            }
        }
        let mut back = Back(Some(self.swap()));
        let result = f();
        let before = back.0.take().unwrap_or_else(Slots::idle);
        (result, before.swap())
    }
}

/// Runs a function with a recorder of `f64`, and returns the recorder with its result. This is [`Slots::run`] without the
/// other recorders, which are hardly ever active: small programs would spend half of their time moving them.
pub fn run_wide<R>(recorder: Recorder<f64>, f: impl FnOnce() -> R) -> (R, Recorder<f64>) {
    /// Puts the recorder back, also after a panic.
    struct Back(Option<Recorder<f64>>);
    impl Drop for Back {
        fn drop(&mut self) {
            if let Some(before) = self.0.take() {
                drop(swap_wide(before));
            }
        }
    }
    // SAFETY: a comparison.
    let single_is_active = unsafe { with_single(|recorder| recorder.is_active()) };
    if single_is_active || OTHER.with(|slot| slot.borrow().is_some()) {
        let (result, slots) = Slots { wide: recorder, ..Slots::idle() }.run(f);
        return (result, slots.wide);
    }
    let mut back = Back(Some(swap_wide(recorder)));
    let result = f();
    let before = back.0.take().unwrap_or_else(Recorder::idle);
    (result, swap_wide(before))
}
