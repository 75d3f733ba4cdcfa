//! The types of values on tapes, and how each finds the recorder of its thread.

use super::cell::{Cell, DualCell, Vanishes};
use super::node::Node;
use super::pool::{Pool, SINGLE_CELLS, SINGLE_NODES, WIDE_CELLS, WIDE_NODES};
use super::recorder::Recorder;
use super::slots::{Slots, run_wide, with_other, with_single, with_wide};
use crate::dual::Dual;
use crate::real::Real;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// The values and derivatives of [`Rev`](crate::Rev): `f32`, `f64`, or [`Dual`] of one of them.
///
/// Other crates cannot implement this trait.
#[diagnostic::on_unimplemented(
    message = "reverse mode does not support `{Self}` as the type of its values",
    note = "the types are `f32`, `f64` and `Dual` of one of them; `Dual<Rev<f64>, N>` and `Rev<Dual<f64, N>>` give second derivatives"
)]
pub trait Base: Real + Vanishes {
    /// An adjoint.
    #[doc(hidden)]
    type Cell: Cell<Self>;
    /// Gives the recorder of the thread to a function, if there is one of this type.
    ///
    /// # Safety
    /// The function does not use the thread's recorder in another way: it calls no function of the user, and drops no closure of
    /// the user.
    #[doc(hidden)]
    #[allow(unsafe_code)]
    unsafe fn with<R>(f: impl FnOnce(&mut Recorder<Self>) -> R) -> Option<R>;
    /// Runs a function with a recorder for the thread, and returns the recorder with its result.
    #[doc(hidden)]
    fn run<R>(recorder: Recorder<Self>, f: impl FnOnce() -> R) -> (R, Recorder<Self>);
    /// Memory for nodes.
    #[doc(hidden)]
    fn node_pool() -> Option<&'static Pool<Node<Self>>>;
    /// Memory for adjoints.
    #[doc(hidden)]
    fn cell_pool() -> Option<&'static Pool<Self::Cell>>;
}

macro_rules! base {
    ($($ty:ty, $cell:ty, $run:ident, $with:ident, $nodes:ident, $cells:ident;)*) => {$(
        impl Base for $ty {
            type Cell = $cell;
            #[inline(always)]
            #[allow(unsafe_code)]
            unsafe fn with<R>(f: impl FnOnce(&mut Recorder<Self>) -> R) -> Option<R> {
                // SAFETY: the caller's guarantee.
                Some(unsafe { $with(f) })
            }
            fn run<R>(recorder: Recorder<Self>, f: impl FnOnce() -> R) -> (R, Recorder<Self>) {
                $run(recorder, f)
            }
            fn node_pool() -> Option<&'static Pool<Node<Self>>> {
                Some(&$nodes)
            }
            fn cell_pool() -> Option<&'static Pool<Self::Cell>> {
                Some(&$cells)
            }
        }
    )*};
}

fn run_single<R>(recorder: Recorder<f32>, f: impl FnOnce() -> R) -> (R, Recorder<f32>) {
    let (result, slots) = Slots { single: recorder, ..Slots::idle() }.run(f);
    (result, slots.single)
}

base! {
    f32, AtomicU32, run_single, with_single, SINGLE_NODES, SINGLE_CELLS;
    f64, AtomicU64, run_wide, with_wide, WIDE_NODES, WIDE_CELLS;
}

/// `f32` and `f64`.
pub trait Primitive: Base {}
impl Primitive for f32 {}
impl Primitive for f64 {}

impl<T: Primitive, const N: usize> Base for Dual<T, N> {
    type Cell = DualCell<T::Cell, N>;
    #[inline]
    #[allow(unsafe_code)]
    unsafe fn with<R>(f: impl FnOnce(&mut Recorder<Self>) -> R) -> Option<R> {
        with_other(f)
    }
    fn run<R>(recorder: Recorder<Self>, f: impl FnOnce() -> R) -> (R, Recorder<Self>) {
        let (result, slots) = Slots { other: Some(Box::new(recorder)), ..Slots::idle() }.run(f);
        let recorder = slots.other.and_then(|r| r.into_any().downcast().ok());
        (result, recorder.map_or_else(Recorder::idle, |r| *r))
    }
    fn node_pool() -> Option<&'static Pool<Node<Self>>> {
        None
    }
    fn cell_pool() -> Option<&'static Pool<Self::Cell>> {
        None
    }
}
