//! The writer: the text of one function while it is written.

use super::declarations::Declarations;
use super::outlined::Outlined;
use super::parameters::Params;
use crate::analysis::layout::Layout;
use crate::cost_model::{LANES, LEAVING};
use crate::shared::ways::Ways;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Program, Reg, SiteId};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The body of one function while it is written.
pub struct Writer<'a> {
    pub program: &'a Program,
    pub declarations: &'a mut Declarations,
    /// The site of the statement that the function belongs to.
    pub site: SiteId,
    /// For the host program, the positions of arrays in the tables of the run. Kernels find them in the table of
    /// arrays.
    pub host: Option<&'a Layout>,
    /// Whether all arrays have local names already: NOTE [Frames] in [`crate::c::frames`].
    pub in_frame: bool,
    /// Arrays that can have the same memory as an output: see NOTE [In-place outputs].
    pub aliased: BTreeSet<ArrayId>,
    /// In the loops over the positions of a strip: the places of its arrays.
    pub lanes: Lanes,
    /// Whether one element is computed at a time, or several.
    pub scope: Scope,
    /// Whether the lanes leave their loop one after the other: `some` of them are left.
    pub leaving: bool,
    /// Whether the function that is written has checks or loops, so that compilers compute one element after the other.
    pub jumps: bool,
    /// The arrays that the function uses, in OpenCL C: NOTE [Arrays in OpenCL C].
    pub params: Params,
    /// What the function needs from outside if it is outlined: NOTE [Outlined functions].
    pub outlined: Option<Outlined>,
    /// Whether nobody else adds to the sums at the same time.
    pub alone: bool,
    /// The ways to compute a reduction that are written.
    pub ways: Ways,
    /// The number of conditionals and loops around the current place, in this function.
    pub depth: usize,
    out: String,
    indent: usize,
}

/// The elements that the current place computes, see NOTE [Lanes of scalar functions] in
/// [`LaneFn`](accel_fusion::kernel::LaneFn).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// One element. If a check fails, the function writes a record and returns.
    Element,
    /// What the lanes of several elements have in common. If a check fails, the function [gives up](Writer::give_up).
    Lanes,
    /// One of the lanes. If a check fails, `bad` is set.
    Lane,
}

/// The arrays in the working memory of a strip, with the position within the strip innermost: `s3_0` is the first
/// column of array 3.
pub struct Lanes {
    pub arrays: BTreeSet<ArrayId>,
    /// Those among them that are copies of arrays from outside.
    pub staged: BTreeSet<ArrayId>,
    /// The register with the position. A read whose index begins with it reads from the strip, at position `l`.
    pub position: Reg,
    /// Whether the strip executes one position at a time: NOTE [Strips of long rows].
    pub in_rows: bool,
}

impl Default for Lanes {
    fn default() -> Self {
        Lanes { arrays: BTreeSet::new(), staged: BTreeSet::new(), position: Reg::NONE, in_rows: false }
    }
}

impl<'a> Writer<'a> {
    pub fn new(program: &'a Program, declarations: &'a mut Declarations, site: SiteId) -> Self {
        let aliased = BTreeSet::new();
        Writer {
            program,
            declarations,
            site,
            host: None,
            in_frame: false,
            aliased,
            lanes: Lanes::default(),
            scope: Scope::Element,
            leaving: false,
            jumps: false,
            params: Params::default(),
            outlined: None,
            alone: false,
            ways: Ways::ALL,
            depth: 0,
            out: String::new(),
            indent: 1,
        }
    }

    /// The text.
    pub fn finish(self) -> String {
        self.out
    }

    /// Sets the text aside, to write another function.
    pub fn begin(&mut self) -> (String, usize) {
        (std::mem::take(&mut self.out), std::mem::replace(&mut self.indent, 1))
    }

    /// Returns the text written since, and restores what was set aside.
    pub fn end(&mut self, (out, indent): (String, usize)) -> String {
        self.indent = indent;
        std::mem::replace(&mut self.out, out)
    }

    /// Writes one line, at the current indentation. The indentation does not exceed `INDENTED`: deeply nested code would be
    /// mostly blanks.
    pub fn line(&mut self, text: impl AsRef<str>) {
        // As in printed kernel programs.
        const INDENTED: usize = 40;
        let _ = writeln!(self.out, "{:1$}{2}", "", 4 * self.indent.min(INDENTED), text.as_ref());
    }

    /// Writes `head {`, what `body` writes, and `}`.
    pub fn braces(&mut self, head: &str, body: impl FnOnce(&mut Self)) {
        self.open(head);
        body(self);
        self.close();
    }

    /// The head of a loop over all lanes. Each lane writes its own place, which compilers would otherwise check at run time.
    pub fn lane(&self) -> &'static str {
        match self.leaving {
            true => "_Pragma(\"GCC ivdep\") for (int l = 0; l < some; l++)",
            false => "_Pragma(\"GCC ivdep\") for (int l = 0; l < 32; l++)",
        }
    }

    /// The largest number of lanes.
    pub fn most_lanes(&self) -> usize {
        if self.leaving { LEAVING } else { LANES }
    }

    /// Writes `head {`.
    pub fn open(&mut self, head: &str) {
        self.line(if head.is_empty() { "{".into() } else { format!("{head} {{") });
        self.indent += 1;
    }

    /// Writes `}`.
    pub fn close(&mut self) {
        self.indent -= 1;
        self.line("}");
    }

    pub fn columns(&self, array: ArrayId) -> Vec<ScalarType> {
        self.program.arrays[array].columns.clone()
    }

    pub fn declare(&mut self, names: &[String], types: &[ScalarType]) {
        for (name, t) in names.iter().zip(types) {
            self.line(format!("{t} {name};"));
        }
    }

    pub fn assign(&mut self, to: &[String], from: &[String]) {
        for (to, from) in to.iter().zip(from) {
            self.line(format!("{to} = {from};"));
        }
    }
}
