//! Several loads per work-item at a time, for GPUs.
//!
//! NOTE [Several loads at a time]
//! An item waits for a load where its value is needed first, and no compiler may move a load before the test whether there is another
//! turn, or before a store that may be to the same place. So a loop of one load for each turn has one load under way. All the items that fit
//! on a GPU ask for 8 KB of each unit then, where bandwidth times latency is some 25 KB. Where memory is what takes time, the elements of
//! several turns are therefore computed before the first one is stored or combined, with one test for all of them.

use crate::text::names::names_at;
use crate::text::parameters::{Arg, Parameter};
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::Code;

/// How many elements an item computes at a time where that is cheap: NOTE [Several loads at a time].
pub const AT_ONCE: usize = 4;

/// Code of at most so many instructions is unrolled.
const FEW: usize = 16;

/// Whether code is so short that memory is what takes time.
pub fn is_cheap(code: &Code) -> bool {
    code.instrs.len() <= FEW && code.instrs.iter().all(|i| i.inner().is_empty())
}

impl Writer<'_> {
    /// Computes several elements `v0[u]`, .. before it uses the first one: NOTE [Several loads at a time].
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

    /// A loop of `turns` with a number `u`, all of which compilers write down.
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
