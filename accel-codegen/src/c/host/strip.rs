//! Strips in the host program.

use super::writer::Host;
use crate::analysis::fault;
use crate::analysis::liveness::Step;
use crate::cost_model::STRIPS;
use crate::shared::strip_choice::{Excluded, exclusions};
use accel_fusion::kernel::{self, ArrayId, Op, ScalarFn};

impl Host<'_> {
    /// Executes all statements of the body together.
    pub fn strip(&mut self, s: &Step, to: &[ArrayId], len: &ScalarFn, body: &kernel::Block) {
        self.extents("len", len);
        for inner in &body.stmts {
            self.w.site = inner.site;
            self.w.open("");
            self.w.line(format!("r->site = {};", inner.site));
            let rank = match &inner.op {
                Op::Reduce { extents, rows, .. } => self.checked_rows(extents, rows),
                op => {
                    let rank = self.extents("e", op.scalar_fns()[0].1);
                    self.size("n", "e", rank);
                    rank
                }
            };
            let e: Vec<_> = (0..rank).map(|k| format!("e[{k}]")).collect();
            inner.op.defines().iter().for_each(|a| self.set_extents(*a, &e));
            self.w.close();
        }
        self.w.site = s.stmt.site;
        let name = format!("strip_{}", s.number);
        self.w.line(format!("r->site = {};", s.stmt.site));
        self.w.line("i64 sizes[4];");
        self.w.line("const task t = { 0, 0, 0, 0, 0, 0, (void *const[]){ sizes } };");
        self.w.line(format!("if ({name}_sizes(r->arrays, &t, fault)) return 1;"));
        let conditions = exclusions(self.w.program, self.w.declarations.vectors, to, len, body);
        let in_c = |excluded: &Excluded| match excluded {
            Excluded::Memory => format!("sizes[0] > {}", largest_in_c("len[0]")),
            Excluded::Wide(a) => format!("len[0] < {}", self.extents_of(*a)[1..].join(" * ")),
            Excluded::Tiles(a, least) => {
                format!("{} >= {least}", self.extents_of(*a).last().map_or("1", String::as_str))
            }
        };
        let does_not_pay: Vec<_> = conditions.iter().map(in_c).collect();
        self.w.fault(&does_not_pay.join(" || "), fault::STRIP, self.w.site, to[0].index(), &[]);
        for a in to {
            let (e, rank) = (self.extents_at(*a), self.extents_of(*a).len());
            self.w.open("");
            self.w.line(format!("const i64 *const e = {e};"));
            self.size("n", "e", rank);
            if rank > 0 {
                self.pairs(*a, *a).into_iter().for_each(|(c, _, t)| self.make(c, "n", t, "e", rank));
            }
            self.w.close();
        }
        self.w.line(format!(
            "if (r->calls->strip(r, (function *const[]){{ {name}, {name}_join }}, len[0], sizes)) return 1;"
        ));
    }
}

/// The limit for the working memory of a strip of this many positions, in bytes, as an expression of C.
fn largest_in_c(positions: &str) -> String {
    let [few @ .., (_, last)] = STRIPS;
    let choice = |(below, bytes): &(usize, usize)| format!("{positions} < {below} ? {bytes} : ");
    format!("({}{last})", few.iter().map(choice).collect::<String>())
}
