//! Kernels of work-items that do one element each.

use super::Kernel;
use super::emit::Emitter;
use crate::code::Writer;
use crate::dialect::name;
use crate::kernels::{elements, index};
use crate::opencl::Arg;
use accel_fusion::kernel::{ArrayId, Code};

/// Before loops whose iterations wait for memory: drivers that do not know it leave it alone.
pub const UNROLL: &str = "#pragma unroll 4";

/// Code of at most so many instructions is unrolled.
const FEW: usize = 16;

/// Whether code is so short that memory is what takes time.
pub fn is_cheap(code: &Code) -> bool {
    code.instrs.len() <= FEW && code.instrs.iter().all(|i| i.inner().is_empty())
}

impl Writer<'_> {
    /// The function of one position `p` of a loop, and its head.
    pub fn element_at(&mut self, name: &str, to: &[ArrayId], rank: usize, body: &Code) -> String {
        self.hoist(&[body]);
        to.iter().for_each(|a| self.hoist_output(*a, false));
        self.narrow_index(rank, "p");
        let results: Vec<_> = to.iter().flat_map(|a| elements(*a, self.columns(*a).len(), "p")).collect();
        self.code(body, &index(rank), &results);
        format!("static int {name}({}, const P p)", self.parameters())
    }

    /// Sets `i0`, `i1`, … to the index of a position within the index space.
    pub fn narrow_index(&mut self, rank: usize, p: &str) {
        let mut rest = p.to_string();
        for k in (1..rank).rev() {
            self.param(Arg::Space(k), format!("const i64 n{k}"));
            self.line(format!("const P i{k} = {rest} % (P)n{k}, q{k} = {rest} / (P)n{k};"));
            rest = format!("q{k}");
        }
        if rank > 0 {
            self.line(format!("const P i0 = {rest};"));
        }
    }
}

impl Emitter<'_> {
    /// The kernel that calls a function for all of the `arg0` positions, in turns of all items. If that is cheap, loads of several turns
    /// are under way at the same time.
    pub fn grid_kernel(&mut self, function: &str, rank: usize, cheap: bool) -> Kernel {
        let params = self.declarations.functions.get(function).cloned().unwrap_or_default();
        let arguments: String = params.keys().map(|a| format!(", {}", name(*a))).collect();
        let unroll = if cheap { format!("    {UNROLL}\n") } else { String::new() };
        let body = format!(
            "{unroll}    for (P p = get_global_id(0); p < (P)arg0; p += get_global_size(0)) {function}(fault{arguments}, p);\n"
        );
        self.entry(function, params, rank, 1, &body)
    }
}
