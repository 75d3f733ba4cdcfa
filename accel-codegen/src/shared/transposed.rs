//! Loops that transpose: elementwise loops that read an array along another dimension than they write.
//!
//! NOTE [Tiles of transpositions]: if the innermost index of a loop is not the innermost one of a read, each iteration reads
//! another line of memory, and the next row needs these lines again. By then they are gone, especially if the rows of the array
//! lie a power of two apart and so compete for the same places of the cache. So such a loop computes square tiles of as many
//! rows as a line has elements. The matrix of 1024×1024 `f32` took 8.1 ms without tiles.

use crate::cost_model::SIDE_BY_SIDE;
use crate::text::names::index;
use crate::text::writer::Writer;
use accel_fusion::kernel::{Instr, Reg, ScalarFn};

/// Whether a loop of this rank reads a matrix along its second last dimension.
pub fn transposes(body: &ScalarFn, rank: usize) -> bool {
    let reads_column = |i: &Instr| match i {
        Instr::Read { index, .. } => index
            .split_last()
            .is_some_and(|(last, outer)| *last == Reg::new(rank - 2) && outer.contains(&Reg::new(rank - 1))),
        _ => false,
    };
    rank >= 2 && body.instrs.iter().any(reads_column)
}

impl Writer<'_> {
    /// Computes the elements at the task's positions tile by tile, and parts of rows at the ends.
    pub fn elements_in_tiles(&mut self, rank: usize, body: &ScalarFn, results: &[String]) {
        let (last, row, independent) = (rank - 1, rank - 2, self.says_independent());
        self.first_position();
        self.rest_of_index_space(rank, |w| {
            w.braces("while (p < to)", |w| {
                w.line(format!(
                    "const i64 whole = (to - p) / n{last}, rows = whole < n{row} - i{row} ? whole : n{row} - i{row};"
                ));
                w.braces(&format!("if (i{last} == 0 && rows > 0)"), |w| {
                    w.line(format!("const i64 corner = p, height = rows < {SIDE_BY_SIDE} ? rows : {SIDE_BY_SIDE};"));
                    w.braces(&format!("for (i64 left = 0; left < n{last}; left += {SIDE_BY_SIDE})"), |w| {
                        w.line(format!(
                            "const i64 right = left + {SIDE_BY_SIDE} < n{last} ? left + {SIDE_BY_SIDE} : n{last};"
                        ));
                        w.braces("for (i64 below = 0; below < height; below++)", |w| {
                            w.line(format!("const i64 first = i{row}, start = corner + below * n{last};"));
                            w.say_independent(independent);
                            w.braces(&format!("for (i64 i{last} = left; i{last} < right; i{last}++)"), |w| {
                                w.line(format!("const i64 i{row} = first + below, p = start + i{last};"));
                                w.code(body, &index(rank), results);
                            });
                        });
                    });
                    w.line(format!("p += height * n{last};"));
                    w.line(format!("i{row} += height - 1;"));
                });
                w.braces("else", |w| {
                    w.end_of_row("to", rank);
                    w.row_to("stop", rank, independent, |w| w.code(body, &index(rank), results));
                    w.line(format!("i{last} = 0;"));
                });
                w.next_index(last);
            });
        });
    }
}
