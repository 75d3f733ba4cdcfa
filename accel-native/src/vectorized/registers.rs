//! Loops with the vector registers of this processor: rustc compiles for all processors of an architecture.

use pulp::{Arch, Simd, WithSimd};

/// A loop over lanes, compiled for the vector registers of several processors. It is inlined into a function that may use
/// the processor's instructions.
struct Loop<F>(F);

impl<F: FnOnce()> WithSimd for Loop<F> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        (self.0)();
    }
}

/// Executes a loop over lanes with the vector registers of this processor.
#[inline(always)]
pub fn with_vectors(body: impl FnOnce()) {
    Arch::new().dispatch(Loop(body));
}
