//! Memory that long rows will need soon.
//!
//! NOTE [Prefetching rows]
//! A processor fetches what follows what is read, but not early enough where there is more to compute than a sum: measured on 16M `f32`, a row of
//! counts and products took 3.4 ms with what the processor does by itself, and 1.5 ms, which is what memory allows, when it is told some
//! kilobytes ahead.

use crate::code::{Writer, position};
use crate::kernels::row_index;
use crate::ops;
use accel_fusion::kernel::{Code, Instr};

/// How far ahead, in bytes, and so to the second cache: the first has other uses than so much of every array.
const AHEAD: usize = 16 << 10;
/// What is fetched at once, in bytes.
const LINE: usize = 64;

impl Writer<'_> {
    /// Asks for what `count` elements from `k` on of a row will need later, where they read arrays along the row.
    pub fn prefetch(&mut self, element: &Code, outer: usize, count: usize) {
        if self.is_opencl() {
            return;
        }
        let index = row_index(outer, "k");
        for i in &element.instrs {
            let Instr::Read { array, index: at, to, .. } = i else { continue };
            let along_row =
                at.split_last().is_some_and(|(last, rest)| *last == outer && rest.iter().all(|r| *r < outer));
            if !along_row {
                continue;
            }
            let at: Vec<String> = at.iter().map(|r| index[*r].clone()).collect();
            let first = position(*array, &at);
            for (c, r) in to.iter().enumerate() {
                let each = LINE / ops::bytes(element.types[*r]) as usize;
                let line = format!("(const char *)&a{array}_{c}[{first} + l] + {AHEAD}");
                self.line(format!("for (int l = 0; l < {count}; l += {each}) __builtin_prefetch({line}, 0, 2);"));
            }
        }
    }
}
