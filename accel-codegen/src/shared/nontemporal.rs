//! Non-temporal stores: large results of loops bypass the caches.
//!
//! NOTE [Stores around the caches]
//! A store to a line that is not in the caches reads the line first, so writing costs twice the traffic, and evicts what was there
//! for lines that are not used again before they are evicted themselves. Where an output is larger than the caches, a loop writes small
//! pieces of it to a buffer, which is copied with stores that do not read. The pieces are of a few lines: with a buffer of 2 KiB reading
//! and writing take turns, and a loop takes 13 per cent longer than with one of 512 bytes, which is as fast as stores straight from
//! registers. This is for outputs that do not share their memory with an input, since that is in the caches already.
//!
//! In OpenCL C a pointer is to an address space, and the buffer is in another one than arrays. On the processors that this is for there is only
//! one, so the address of the buffer is made one of an array.

use super::prefetch::is_quick;
use crate::text::names::{index, names};
use crate::text::types::bytes;
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Code, Program};

/// Results from this size on (in bytes, of all columns) are larger than the caches.
pub const LARGE: usize = if cfg!(target_arch = "x86_64") { 32 << 20 } else { usize::MAX };

/// The bytes of the buffer of the widest column.
const PIECE: usize = 512;

/// Copies a piece, and makes it seen by other threads.
const STORE: &str = include_str!("nontemporal.c");
const OPENCL_STORE: &str = include_str!("nontemporal.cl");

impl Writer<'_> {
    /// The elements of an array at the positions from `task->from` to `task->to`, around the caches if `task->slot` is not 0.
    pub fn elements_around(&mut self, to: ArrayId, rank: usize, body: &Code) {
        let store = if self.is_opencl() { OPENCL_STORE } else { STORE };
        self.declarations.need("around", || store.trim_end().into());
        let types = self.columns(to);
        let widest = types.iter().map(|t| bytes(*t) as usize).max().unwrap_or(1);
        let count = PIECE / widest;
        self.line("const i64 to = task->to;");
        self.line("const bool around = task->slot != 0;");
        for (c, t) in types.iter().enumerate() {
            self.line(format!("{t} piece{c}[{count}] __attribute__((aligned(64)));"));
        }
        self.line("i64 p = task->from;");
        self.braces("while (p < to)", |w| {
            w.line("const i64 first = p;");
            w.index_of(rank, "p");
            // Pieces end where lines of the first column do.
            w.line("i64 end = to;");
            let (column, size) = (format!("a{to}_0"), bytes(types[0]));
            w.braces("if (around)", |w| {
                w.line(format!("end = p + {count} - (i64)((u64)({column} + p) % 64 / {size});"));
                w.line("if (end > to) end = to;");
                if !is_quick(body) {
                    w.prefetch(body, &index(rank), count);
                }
            });
            for (c, t) in types.iter().enumerate() {
                let (global, piece) = match w.is_opencl() {
                    true => ("global ", format!("(global {t} *)(uintptr_t)piece{c}")),
                    false => ("", format!("piece{c}")),
                };
                w.line(format!("{global}{t} *const out{c} = around ? {piece} : a{to}_{c} + p;"));
            }
            let results: Vec<_> = names("out", &types).iter().map(|out| format!("{out}[p - first]")).collect();
            w.positions_to("end", rank, true, |w| w.code(body, &index(rank), &results));
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

/// The columns of the result of a loop over indices of some rank, if it can be written in pieces.
pub fn pieces<'a>(program: &'a Program, to: &[ArrayId], rank: usize) -> Option<&'a [ScalarType]> {
    match to {
        [to] if rank > 0 => Some(&program.arrays[*to].columns[..]).filter(|types| !types.is_empty()),
        _ => None,
    }
}
