//! Several loads in flight per work-item, for GPUs.
//!
//! NOTE [Loads in flight]: an item waits for a load at the first use of its value. No compiler may move a load before
//! the test whether there is another iteration, or before a store that could be to the same place. So in a loop with
//! one load per iteration, each item has one load in flight. All items that fit on a GPU then request 8 KB for each
//! unit, but bandwidth times latency is some 25 KB. So if memory limits the speed, the elements of several iterations
//! are computed before the first one is stored or combined, with one test for all of them.

use crate::text::names::names_at;
use crate::text::parameters::{Arg, Parameter};
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::ScalarFn;

/// The number of elements that an item computes at a time if they are cheap: NOTE [Loads in flight].
pub const AT_ONCE: usize = 4;

/// The limit for the instructions of a scalar function that is unrolled.
const FEW: usize = 16;

/// Whether a scalar function is so short that memory limits the speed.
pub fn is_cheap(code: &ScalarFn) -> bool {
    code.instrs.len() <= FEW && code.is_straight_line()
}

impl Writer<'_> {
    /// Computes several elements `v0[u]`, .. before it uses the first one: NOTE [Loads in flight].
    pub fn several(
        &mut self,
        turns: usize,
        types: &[ScalarType],
        compute: impl FnOnce(&mut Self, &[String]),
        then: impl FnOnce(&mut Self, &[String]),
    ) {
        let values = names_at("v", types, "u");
        types.iter().enumerate().for_each(|(c, t)| self.line(format!("{t} v{c}[{turns}];")));
        self.unrolled(turns, |w| compute(w, &values));
        self.unrolled(turns, |w| then(w, &values));
    }

    /// A loop of `turns` iterations with the counter `u`, which compilers unroll completely.
    pub fn unrolled(&mut self, turns: usize, body: impl FnOnce(&mut Self)) {
        self.line("#pragma unroll");
        self.braces(&format!("for (uint u = 0; u < {turns}; u++)"), body);
    }

    /// Sets `i0`, `i1`, … to the index of a position within the index space.
    pub fn narrow_index(&mut self, rank: usize, p: &str) {
        let mut rest = p.to_string();
        for k in (1..rank).rev() {
            self.params.add(Arg::Space(k), Parameter::number(Arg::Space(k)));
            self.line(format!("const P i{k} = {rest} % (P)n{k}, q{k} = {rest} / (P)n{k};"));
            rest = format!("q{k}");
        }
        if rank > 0 {
            self.line(format!("const P i0 = {rest};"));
        }
    }
}
