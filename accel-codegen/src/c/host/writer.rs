//! The state of the host program while it is written.

use crate::analysis::layout::Layout;
use crate::c::frames::Frames;
use crate::shared::ways::KnownWays;
use crate::text::writer::Writer;
use accel_fusion::kernel::ArrayId;
use std::collections::BTreeSet;
use std::fmt::Write;

pub struct Host<'a> {
    pub w: Writer<'a>,
    pub layout: &'a Layout,
    pub frames: &'a Frames,
    /// The arrays of the frame that is being written.
    pub frame_arrays: BTreeSet<ArrayId>,
    /// Whether it is a scalar program.
    pub numbers: bool,
    /// The ways of reductions for which the program has code.
    pub ways: &'a KnownWays,
    /// Complete functions.
    pub functions: String,
    /// The number of blocks that became functions.
    pub count: usize,
}

impl Host<'_> {
    pub fn function(&mut self, head: &str, body: impl FnOnce(&mut Self)) {
        let outer = self.w.begin();
        self.w.line("i64 *const fault = r->fault;");
        body(self);
        let body = self.w.end(outer);
        let _ = write!(self.functions, "\n{head}(run *r) {{\n{body}    return 0;\n}}\n");
    }
}
