//! Non-temporal stores: large results of loops bypass the caches.
//!
//! NOTE [Non-temporal stores]: a store to a line that is not in the caches first reads the line, so writing costs twice
//! the traffic. It also evicts other lines, although the new one will be evicted before its next use. So if an output
//! is larger than the caches, a loop writes small pieces of it to a buffer, which is copied with non-temporal stores.
//! These do not read. A piece has a few lines: with a buffer of 2 KiB, reading and writing alternate, and a loop takes
//! 13 per cent longer than with a buffer of 512 bytes. The latter is as fast as stores directly from registers. An
//! output that shares its memory with an input does not use this, because its memory is in the caches already.
//!
//! In OpenCL C, a pointer belongs to an address space, and the buffer is in a different one than arrays. The processors
//! in question have only one address space, so the address of the buffer is converted to one of an array.

use super::prefetch::is_quick;
use crate::cost_model::{LINE, PIECE};
use crate::text::names::{index, names};
use crate::text::types::{bytes, in_memory};
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Program, ScalarFn};

impl Writer<'_> {
    /// Declares `store_around` and `STORED`.
    pub fn declare_around(&mut self) {
        let store = self.dialect().nontemporal_store();
        self.declarations.declare_once("around", || store.trim_end().into());
    }

    /// Computes the elements of an array with these extents at the positions from `task->from` to `task->to`, with non-temporal stores if
    /// `task->slot` is not 0.
    pub fn elements_around(&mut self, to: ArrayId, extents: &ScalarFn, body: &ScalarFn) {
        let rank = extents.results.len();
        self.declare_around();
        let types = self.columns(to);
        let widest = types.iter().map(|t| bytes(*t) as usize).max().unwrap_or(1);
        let count = PIECE / widest;
        self.line("const i64 to = task->to;");
        self.line("const bool around = task->slot != 0;");
        for (c, t) in types.iter().enumerate() {
            self.line(format!("{} piece{c}[{count}] __attribute__((aligned({LINE})));", in_memory(*t)));
        }
        let folded = self.folds(extents, body);
        self.line("i64 p = task->from;");
        self.braces("while (p < to)", |w| {
            w.line("const i64 first = p;");
            w.index_of(rank, "p");
            // Pieces end where lines of the first column end.
            w.line("i64 end = to;");
            let (column, size) = (format!("a{to}_0"), bytes(types[0]));
            w.braces("if (around)", |w| {
                w.line(format!("end = p + {count} - (i64)((u64)({column} + p) % {LINE} / {size});"));
                w.line("if (end > to) end = to;");
                if !is_quick(body) {
                    w.prefetch(body, &index(rank), count);
                }
            });
            for (c, t) in types.iter().enumerate() {
                let t = in_memory(*t);
                let (space, piece) = (w.global(), w.dialect().as_array(t, &format!("piece{c}")));
                w.line(format!("{space}{t} *const out{c} = around ? {piece} : a{to}_{c} + p;"));
            }
            let results: Vec<_> = names("out", &types).iter().map(|out| format!("{out}[p - first]")).collect();
            w.elements_to("end", rank, true, body, folded.as_ref(), &results);
            w.braces("if (around)", |w| {
                for (c, t) in types.iter().enumerate() {
                    let bytes = format!("(p - first) * {}", bytes(*t));
                    w.line(format!("store_around(a{to}_{c} + first, piece{c}, {bytes});"));
                }
            });
        });
        self.line("if (around) STORED();");
    }
}

/// The columns of a loop's result, if it can be written in pieces. The loop has indices of this rank.
pub fn pieces<'a>(program: &'a Program, to: &[ArrayId], rank: usize) -> Option<&'a [ScalarType]> {
    match to {
        [to] if rank > 0 => Some(&program.arrays[*to].columns[..]).filter(|types| !types.is_empty()),
        _ => None,
    }
}
