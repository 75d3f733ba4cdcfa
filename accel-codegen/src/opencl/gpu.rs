//! Kernels of work-items that do one element each.
//!
//! NOTE [Several loads at a time]
//! An item waits for a load where its value is needed first, and no compiler may move a load before the test whether there is another
//! turn, or before a store that may be to the same place. So a loop of one load for each turn has one load under way. All the items that fit
//! on a GPU ask for 8 KB of each unit then, where bandwidth times latency is some 25 KB. Where memory is what takes time, the elements of
//! several turns are therefore computed before the first one is stored or combined, with one test for all of them.

use super::Kernel;
use super::emit::Emitter;
use crate::code::Writer;
use crate::dialect::name;
use crate::kernels::{elements, index};
use crate::liveness::Step;
use crate::opencl::Arg;
use crate::opencl::group::names_at;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Code};

/// How many elements an item computes at a time where that is cheap: NOTE [Several loads at a time].
pub const AT_ONCE: usize = 4;

/// Code of at most so many instructions is unrolled.
const FEW: usize = 16;

/// Whether code is so short that memory is what takes time.
pub fn is_cheap(code: &Code) -> bool {
    code.instrs.len() <= FEW && code.instrs.iter().all(|i| i.inner().is_empty())
}

impl Writer<'_> {
    /// The function of one position `p` of a loop, which puts its elements to `o0`, .., and its head.
    pub fn element_at(&mut self, name: &str, to: &[ArrayId], rank: usize, body: &Code) -> String {
        self.hoist(&[body]);
        let types: Vec<_> = to.iter().flat_map(|a| self.columns(*a)).collect();
        self.narrow_index(rank, "p");
        let results: Vec<_> = (0..types.len()).map(|c| format!("*o{c}")).collect();
        self.code(body, &index(rank), &results);
        let out: String = types.iter().enumerate().map(|(c, t)| format!(", {t} *o{c}")).collect();
        format!("static int {name}({}, const P p{out})", self.parameters())
    }

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
    /// The kernel that calls a function for all of the `arg0` positions, in turns of all items.
    pub fn grid_kernel(&mut self, function: &str) -> Kernel {
        let params = self.declarations.functions.get(function).cloned().unwrap_or_default();
        let arguments: String = params.keys().map(|a| format!(", {}", name(*a))).collect();
        let body = format!(
            "    for (P p = get_global_id(0); p < (P)arg0; p += get_global_size(0)) {function}(fault{arguments}, p);\n"
        );
        self.entry(function, params, 0, 1, &body)
    }

    /// The kernel of a loop with a function that [`Writer::element_at`] wrote: all of the `arg0` positions in turns of all items.
    pub fn loop_kernel(&mut self, s: &Step, function: &str, to: &[ArrayId], cheap: bool) -> Kernel {
        let params = self.declarations.functions.get(function).cloned().unwrap_or_default();
        self.kernel_of(s, function, 0, 1, |w| {
            w.aliased = s.aliased();
            let columns: Vec<_> = to.iter().flat_map(|a| w.columns(*a)).collect();
            let arguments: String = params.keys().map(|a| format!(", {}", name(*a))).collect();
            let out: String = (0..columns.len()).map(|c| format!(", o{c} + u")).collect();
            let call = format!("{function}(fault{arguments}, p + u * step{out})");
            w.params = params;
            to.iter().for_each(|a| w.hoist_output(*a, false));
            let turns = |w: &mut Writer, n: usize| {
                columns.iter().enumerate().for_each(|(c, t)| w.line(format!("{t} o{c}[{n}];")));
                w.line("int failed = 0;");
                w.unrolled(n, |w| w.line(format!("failed |= {call};")));
                w.line("if (failed) return;");
                let place = |a: &ArrayId| elements(*a, w.columns(*a).len(), "p + u * step");
                let targets: Vec<_> = to.iter().flat_map(place).collect();
                let values: Vec<_> = (0..columns.len()).map(|c| format!("o{c}[u]")).collect();
                w.unrolled(n, |w| w.assign(&targets, &values));
            };
            w.line("const P step = get_global_size(0);");
            w.line("P p = get_global_id(0);");
            if cheap {
                let head = format!("for (; p + {} * (ulong)step < (ulong)arg0; p += {AT_ONCE} * step)", AT_ONCE - 1);
                w.braces(&head, |w| turns(w, AT_ONCE));
            }
            w.braces("for (; p < (P)arg0; p += step)", |w| turns(w, 1));
        })
    }
}
