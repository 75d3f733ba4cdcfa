//! Tapes in the host program. Callbacks decide what a tape keeps: see NOTE [Kept states] in
//! `accel_fusion::kernel::tape`.
//!
//! NOTE [Small states]: as long as a tape keeps all states and these are small, they are copied to memory one after the
//! other, by the functions of `prelude.c`. A callback and a block of memory for each state would take longer than the
//! steps of a loop of some numbers. The callbacks allocate this memory, and take over its states when it is full.

use super::writer::Host;
use crate::analysis::liveness::Step;
use crate::text::types::bytes;
use accel_fusion::kernel::{ArrayId, ScalarFn};

impl Host<'_> {
    /// Offers the present values of arrays to a tape.
    pub fn keep(&mut self, tape: usize, arrays: &[ArrayId]) {
        let n = self.places(arrays);
        self.w.line(format!("if (keep(r, {tape}, places, {n})) return 1;"));
    }

    /// Gets arrays back from a tape, with their own references to memory.
    pub fn recall(&mut self, s: &Step, to: &[ArrayId], tape: usize, at: &ScalarFn, next: &[ArrayId]) {
        let n = self.places(to);
        self.w.line("i64 at;");
        self.values(at, &["at".into()]);
        self.w.line(format!("i64 k = recall(r, {tape}, places, {n}, at);"));
        self.w.line("if (k < 0) return 1;");
        self.w.open("while (k < at)");
        let step = &s.blocks[0];
        self.block(step);
        self.w.line(format!("r->site = {};", s.stmt.site));
        self.take(to, next, |a| step.owned_results.contains(&a));
        self.w.line(format!("if (r->calls->again(r, {tape}, ++k, at)) return 1;"));
        self.w.close();
    }

    /// Declares the places of the columns of arrays, and returns their number.
    fn places(&mut self, arrays: &[ArrayId]) -> usize {
        let (mut all, mut extents) = (vec![], 0);
        for a in arrays {
            let (first, rank) = (self.layout.extents[*a], self.w.program.arrays[*a].rank);
            for (c, _, t) in self.pairs(*a, *a) {
                all.push(format!("{{ {c}, {first}, {rank}, {extents}, {} }}", bytes(t)));
            }
            extents += rank;
        }
        let n = all.len();
        all.extend((n == 0).then(|| "{ 0 }".to_string()));
        self.w.line(format!("static const place places[] = {{ {} }};", all.join(", ")));
        n
    }
}
