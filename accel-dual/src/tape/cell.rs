//! Adjoints that several jobs may add to.
//!
//! A job reads and writes the adjoints of its own tape with plain (relaxed) loads and stores, which cost nothing. Only
//! additions to the adjoints of other jobs are atomic operations. The joins of rayon order all accesses: when a job reads
//! its adjoints, the jobs that add to them have ended.

use crate::dual::Dual;
use crate::real::Real;
use num_traits::Zero;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// The adjoint of a number of type `S`.
pub trait Cell<S>: Default + Send + Sync + 'static {
    /// The adjoint.
    fn get(&self) -> S;
    /// Replaces the adjoint.
    fn set(&self, value: S);
    /// Adds to the adjoint of the job that runs.
    fn add(&self, value: S);
    /// Adds to the adjoint of another job, while others may do the same.
    fn add_shared(&self, value: S);
}

macro_rules! cells {
    ($($float:ty, $atomic:ty;)*) => {$(
        impl Cell<$float> for $atomic {
            #[inline(always)]
            fn get(&self) -> $float {
                <$float>::from_bits(self.load(Relaxed))
            }
            #[inline(always)]
            fn set(&self, value: $float) {
                self.store(value.to_bits(), Relaxed);
            }
            #[inline(always)]
            fn add(&self, value: $float) {
                self.set(self.get() + value);
            }
            #[inline]
            fn add_shared(&self, value: $float) {
                let add = |old| Some((<$float>::from_bits(old) + value).to_bits());
                // The closure always returns a value, so the update happens.
                let _ = self.fetch_update(Relaxed, Relaxed, add);
            }
        }
    )*};
}

cells!(f32, AtomicU32; f64, AtomicU64;);

/// The adjoint of a number with tangents.
#[derive(Debug)]
pub struct DualCell<C, const N: usize> {
    value: C,
    tangent: [C; N],
}

impl<C: Default, const N: usize> Default for DualCell<C, N> {
    fn default() -> Self {
        DualCell { value: C::default(), tangent: std::array::from_fn(|_| C::default()) }
    }
}

impl<T: Real, C: Cell<T>, const N: usize> Cell<Dual<T, N>> for DualCell<C, N> {
    #[inline(always)]
    fn get(&self) -> Dual<T, N> {
        Dual::new(self.value.get(), std::array::from_fn(|k| self.tangent[k].get()))
    }
    #[inline(always)]
    fn set(&self, value: Dual<T, N>) {
        self.value.set(value.value);
        self.tangent.iter().zip(value.tangent).for_each(|(c, t)| c.set(t));
    }
    #[inline(always)]
    fn add(&self, value: Dual<T, N>) {
        self.set(self.get() + value);
    }
    #[inline]
    fn add_shared(&self, value: Dual<T, N>) {
        self.value.add_shared(value.value);
        self.tangent.iter().zip(value.tangent).for_each(|(c, t)| c.add_shared(t));
    }
}

/// Whether a number and its tangents, if it has any, are zero.
pub trait Vanishes {
    /// Whether everything is zero.
    fn vanishes(&self) -> bool;
}

impl Vanishes for f32 {
    #[inline(always)]
    fn vanishes(&self) -> bool {
        *self == 0.0
    }
}

impl Vanishes for f64 {
    #[inline(always)]
    fn vanishes(&self) -> bool {
        *self == 0.0
    }
}

impl<T: Zero, const N: usize> Vanishes for Dual<T, N> {
    #[inline(always)]
    fn vanishes(&self) -> bool {
        self.value.is_zero() && self.tangent.iter().all(Zero::is_zero)
    }
}
