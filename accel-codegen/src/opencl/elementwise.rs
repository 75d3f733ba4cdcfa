//! Loops: each work-item computes one element, or a few.

use super::emitter::Emitter;
use super::loads::AT_ONCE;
use super::work::Kernel;
use crate::analysis::liveness::Step;
use crate::text::names::{elements, index};
use crate::text::parameters::name;
use crate::text::writer::Writer;
use accel_fusion::kernel::{ArrayId, ScalarFn};

impl Writer<'_> {
    /// Writes the function of one position `p` of a loop, which stores its elements to `o0`, ... Returns its head.
    pub fn element_at(&mut self, name: &str, to: &[ArrayId], rank: usize, body: &ScalarFn) -> String {
        self.hoist(&[body]);
        let types: Vec<_> = to.iter().flat_map(|a| self.columns(*a)).collect();
        self.narrow_index(rank, "p");
        let results: Vec<_> = (0..types.len()).map(|c| format!("*o{c}")).collect();
        self.code(body, &index(rank), &results);
        let out: String = types.iter().enumerate().map(|(c, t)| format!(", {t} *o{c}")).collect();
        format!("static int {name}({}, const P p{out})", self.parameters())
    }
}

impl Emitter<'_> {
    /// The kernel that calls a function for all `arg0` positions, in a grid-stride loop.
    pub fn grid_kernel(&mut self, function: &str) -> Kernel {
        let params = self.declarations.params(function);
        let arguments = params.arguments(name);
        let body = format!(
            "    for (P p = get_global_id(0); p < (P)arg0; p += get_global_size(0)) {function}(fault{arguments}, p);\n"
        );
        self.entry(function, params, 0, 1, &body)
    }

    /// The kernel of a loop with a function that [`Writer::element_at`] wrote: all `arg0` positions, in a grid-stride
    /// loop.
    pub fn loop_kernel(&mut self, s: &Step, function: &str, to: &[ArrayId], cheap: bool) -> Kernel {
        let params = self.declarations.params(function);
        self.kernel_of(s, function, 0, 1, |w| {
            w.aliased = s.aliased();
            let columns: Vec<_> = to.iter().flat_map(|a| w.columns(*a)).collect();
            let arguments = params.arguments(name);
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
