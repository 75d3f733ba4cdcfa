//! Loops that write around the caches.
//!
//! NOTE [Around the caches]
//! A store to a line that is not in the caches reads the line first, which costs a third of the time of a sum of two large vectors. Compilers
//! do not turn loops into stores that do not read. So where a result is larger than the caches, another kernel lets the function of the
//! loop write pieces of it to a small buffer, which stays in the first cache, at the positions that they would have there, and copies each to
//! its place, a line at a time.

use super::emit::{Emitter, Tasks};
use super::launch::{self, Rest};
use super::{Kernel, Target, Work, size_of};
use crate::code::Writer;
use crate::liveness::Step;
use crate::tasks::task_size;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::ArrayId;

/// Results from this size on (in bytes, of all columns) are larger than the caches.
const LARGE: usize = 32 << 20;
/// The bytes of the buffers of all columns, about.
const BUFFER: usize = 2 << 10;
/// The bytes that are written to memory at once.
const LINE: usize = 64;

/// The kernel of a loop with one result.
#[derive(Clone, Debug)]
pub struct Around {
    kernel: Kernel,
    types: Vec<ScalarType>,
}

impl Around {
    /// Prints it. `function` is that of the loop.
    pub fn new(e: &mut Emitter, s: &Step, function: &str, to: ArrayId, rank: usize) -> Around {
        let name = format!("{function}_around");
        let types = e.program.arrays[to].columns.clone();
        e.task_function(s, &name, |w| w.around(function, to, &types));
        Around { kernel: e.kernel(&name, rank, Tasks::Pieces), types }
    }

    /// What to launch for `n` elements, if they are many.
    pub fn work(&self, n: usize, cost: usize, target: &Target) -> Option<Work<'_>> {
        let bytes: usize = self.types.iter().map(|t| size_of(*t, n)).sum();
        if bytes < LARGE || !cfg!(target_arch = "x86_64") {
            return None;
        }
        let each = task_size(n, cost);
        let room = n.div_ceil(each) * piece(&self.types);
        let scratch = self.types.iter().map(|t| size_of(*t, room)).collect();
        let launches = vec![launch::ranges(&self.kernel, n, each, Rest { len: 1, row: 0, slot: None }, target)];
        Some(Work { scratch, launches })
    }
}

/// How many elements a piece has at most: whole lines.
fn piece(types: &[ScalarType]) -> usize {
    let bytes: usize = types.iter().map(|t| size_of(*t, 1)).sum();
    (BUFFER / bytes.max(1)).next_multiple_of(LINE)
}

impl Writer<'_> {
    /// The positions `from..to`, piece by piece.
    fn around(&mut self, function: &str, to: ArrayId, types: &[ScalarType]) {
        self.declarations.need("write_around", || WRITE.into());
        let arguments = self.task_arguments(function, "&piece");
        let most = piece(types);
        let columns = || types.iter().enumerate();
        for (c, t) in columns() {
            self.scratch(c, &t.to_string());
            self.line(format!("global {t} *const piece_{c} = s{c} + task->slot * {most};"));
        }
        self.line("i64 to;");
        self.braces("for (i64 p = task->from; p < task->to; p = to)", |w| {
            // Pieces end where a line of the first column does.
            let first = types.first().map_or(1, |t| size_of(*t, 1));
            w.line(format!("to = min(p + {most} - (i64)((uintptr_t)(a{to}_0 + p) % {LINE} / {first}), task->to);"));
            w.line("const job piece = { p, to, task->row, task->slot, task->len, task->extents };");
            columns().for_each(|(c, t)| w.line(format!("global {t} *const to_{c} = a{to}_{c} + p;")));
            w.braces("", |w| {
                for (c, t) in columns() {
                    let back = format!("(uintptr_t)piece_{c} - p * {}", size_of(*t, 1));
                    w.line(format!("global {t} *const a{to}_{c} = (global {t} *)({back});"));
                }
                w.line(format!("if ({function}({arguments})) return 1;"));
            });
            for (c, t) in columns() {
                let bytes = size_of(*t, 1);
                w.line(format!("write_around((global u8 *)to_{c}, (const global u8 *)piece_{c}, (to - p) * {bytes});"));
            }
        });
        self.line("mem_fence(CLK_GLOBAL_MEM_FENCE);");
    }
}

/// Copies bytes to memory that is not read before.
const WRITE: &str = "\
static void write_around(global u8 *to, const global u8 *from, i64 bytes) {
    for (; bytes > 0 && (uintptr_t)to % 64; bytes--) *to++ = *from++;
    for (; bytes >= 64; bytes -= 64, to += 64, from += 64)
        STORE_AROUND(vload8(0, (const global u64 *)from), (global ulong8 *)to);
    for (; bytes > 0; bytes--) *to++ = *from++;
}";
