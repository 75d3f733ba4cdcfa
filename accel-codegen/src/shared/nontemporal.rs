//! Non-temporal stores: large results of loops bypass the caches.
//!
//! NOTE [Non-temporal stores]: a store to a line that is not in the caches first reads the line, so writing costs twice
//! the traffic. It also evicts other lines, although the new one will be evicted before its next use. So if an output
//! is larger than the caches, a loop writes small pieces of it to a buffer, which is copied with non-temporal stores.
//! These do not read. A piece has a few lines: with a buffer of 2 KiB, reading and writing alternate, and a loop takes
//! 13 per cent longer than with a buffer of 512 bytes. The latter is as fast as stores directly from registers. A loop
//! with several outputs has a buffer for each: the gradient of a `zip_with` of ten million f64 takes 12.3 ms instead of
//! 16.4. If it branches, it computes longer than it writes, and the buffers cost more than they save: with them, the
//! Jacobian of bundle adjustment takes 39.5 ms instead of 35. Outputs that share their memory with an input do not use
//! this, because their memory is in the caches already.

use super::prefetch::is_quick;
use crate::cost_model::{LINE, PIECE};
use crate::text::arrays::{Column, columns};
use crate::text::names::index;
use crate::text::types::{bytes, in_memory};
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Program, ScalarFn};

impl Writer<'_> {
    /// Declares `store_around` and `STORED`.
    pub fn declare_around(&mut self) {
        self.declarations.declare_once("around", || include_str!("../c/nontemporal.c").trim_end().into());
    }

    /// Computes the elements of the arrays with these columns at the positions from `task->from` to `task->to`, with non-temporal
    /// stores if `task->slot` is not 0.
    pub fn elements_around(&mut self, columns: &[Column], extents: &ScalarFn, body: &ScalarFn) {
        let rank = extents.results.len();
        self.declare_around();
        let size = |t: ScalarType| bytes(t) as usize;
        let widest = columns.iter().map(|(.., t)| size(*t)).max().unwrap_or(1);
        let count = PIECE / widest;
        self.line("const i64 to = task->to;");
        self.line("const bool around = task->slot != 0;");
        for (k, (.., t)) in columns.iter().enumerate() {
            self.line(format!("{} piece{k}[{count}] __attribute__((aligned({LINE})));", in_memory(*t)));
        }
        let folded = self.folds(extents, body);
        self.line("i64 p = task->from;");
        self.braces("while (p < to)", |w| {
            w.line("const i64 first = p;");
            w.index_of(rank, "p");
            // Pieces end where lines of the first column end.
            w.line("i64 end = to;");
            w.braces("if (around)", |w| {
                if let Some((a, c, t)) = columns.first() {
                    let line = format!("(u64)(a{a}_{c} + p) % {LINE} / {}", size(*t));
                    w.line(format!("end = p + {count} - (i64)({line});"));
                }
                w.line("if (end > to) end = to;");
                if !is_quick(body) {
                    w.prefetch(body, &index(rank), count);
                }
            });
            for (k, (a, c, t)) in columns.iter().enumerate() {
                let t = in_memory(*t);
                w.line(format!("{t} *const out{k} = around ? piece{k} : a{a}_{c} + p;"));
            }
            let results: Vec<_> = (0..columns.len()).map(|k| format!("out{k}[p - first]")).collect();
            w.elements_to("end", rank, true, body, folded.as_ref(), &results);
            w.braces("if (around)", |w| {
                for (k, (a, c, t)) in columns.iter().enumerate() {
                    w.line(format!("store_around(a{a}_{c} + first, piece{k}, (p - first) * {});", size(*t)));
                }
            });
        });
        self.line("if (around) STORED();");
    }
}

/// The columns of a loop's results, if they can be written in pieces and this can pay. The loop has indices of this rank.
pub fn pieces(program: &Program, to: &[ArrayId], rank: usize, body: &ScalarFn) -> Option<Vec<Column>> {
    let pays = to.len() == 1 || body.is_if_convertible();
    Some(columns(program, to)).filter(|all| pays && rank > 0 && !all.is_empty())
}
