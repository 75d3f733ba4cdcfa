//! Tapes in the host program. What a tape keeps is decided by callbacks, which know its arrays by its number: see NOTE
//! [Tapes] in `accel_fusion::kernel::tape`.

use super::writer::Host;
use crate::analysis::liveness::Step;
use accel_fusion::kernel::{ArrayId, ScalarFn};

impl Host<'_> {
    /// Offers the present values of arrays to a tape.
    pub fn keep(&mut self, tape: usize) {
        self.w.line(format!("if (r->calls->keep(r, {tape})) return 1;"));
    }

    /// Gets arrays back from a tape, with their own references to memory.
    pub fn recall(&mut self, s: &Step, to: &[ArrayId], tape: usize, at: &ScalarFn, next: &[ArrayId]) {
        self.w.line("i64 at;");
        self.values(at, &["at".into()]);
        self.w.line(format!("i64 k = r->calls->recall(r, {tape}, at);"));
        self.w.line("if (k < 0) return 1;");
        self.w.open("while (k < at)");
        let step = &s.blocks[0];
        self.block(step);
        self.take(to, next, |a| step.owned_results.contains(&a));
        self.w.line(format!("if (r->calls->again(r, {tape}, ++k, at)) return 1;"));
        self.w.close();
    }
}
