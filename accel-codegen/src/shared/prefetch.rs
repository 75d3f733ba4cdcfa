//! Prefetching: a loop over a long row asks for the memory that it reads some kilobytes later.
//!
//! NOTE [Prefetching rows]
//! A processor fetches what follows what is read, but not early enough where there is more to compute than a sum: measured on 16M `f32`, a row of
//! counts and products took 3.4 ms with what the processor does by itself, and 1.5 ms, which is what memory allows, when it is told some
//! kilobytes ahead. Where there is hardly more than a sum, telling it is in the way: on an AMD EPYC the product of two vectors of that size took
//! 4.6 ms when it was told, and 4.1 ms when it was not, and on pocl 4.9 and 4.4 ms.

use crate::analysis::cost::cost;
use crate::text::names::position;
use crate::text::types::bytes;
use crate::text::writer::Writer;
use accel_fusion::kernel::{Code, Instr};

/// How far ahead, in bytes, and so to the second cache: the first has other uses than so much of every array.
const AHEAD: usize = 16 << 10;
/// What is fetched at once, in bytes.
const LINE: usize = 64;

/// So many simple operations with what has been read are hardly more than a sum.
const QUICK: usize = 2;

/// Whether a processor fetches early enough what this code reads.
pub fn is_quick(element: &Code) -> bool {
    let is_read = |i: &&Instr| matches!(i, Instr::Read { .. });
    let reads = element.instrs.iter().filter(is_read).cloned().collect::<Vec<_>>();
    cost(&element.instrs) - cost(&reads) <= QUICK
}

impl Writer<'_> {
    /// Asks for what `count` elements from an index on will need later, where they read arrays along its last dimension.
    pub fn prefetch(&mut self, element: &Code, index: &[String], count: usize) {
        // A GPU has other work while it waits.
        if self.declarations.dialect.is_gpu() {
            return;
        }
        // Compilers of devices have the same function, which wants an address of their processor.
        let (name, address) = match self.is_opencl() {
            false => ("__builtin_prefetch", "const char *"),
            true => ("PREFETCH", "const global char *"),
        };
        if self.is_opencl() {
            self.declarations.need(name, || {
                "#ifdef __SSE2__\n\
                 #define PREFETCH(at, write, near) __builtin_prefetch((const void *)(size_t)(at), write, near)\n\
                 #else\n\
                 #define PREFETCH(at, write, near)\n\
                 #endif"
                    .into()
            });
        }
        let last = index.len() - 1;
        for i in &element.instrs {
            let Instr::Read { array, index: at, to, .. } = i else { continue };
            let along = at.split_last().is_some_and(|(k, rest)| *k == last && rest.iter().all(|r| *r < last));
            if !along {
                continue;
            }
            let at: Vec<String> = at.iter().map(|r| index[*r].clone()).collect();
            let first = position(*array, &at);
            for (c, r) in to.iter().enumerate() {
                let each = LINE / bytes(element.types[*r]) as usize;
                let line = format!("({address})&a{array}_{c}[{first} + l] + {AHEAD}");
                self.line(format!("for (int l = 0; l < {count}; l += {each}) {name}({line}, 0, 2);"));
            }
        }
    }
}
