//! Elementwise loops: compute one element of each output at every position.

use super::nontemporal::pieces;
use super::transposed::transposes;
use crate::text::names::{elements, index};
use crate::text::writer::Writer;
use accel_fusion::kernel::{ArrayId, ScalarFn};
use accel_fusion::optimize::{Interior, interior};

/// A shorter interior does not pay for its separate loop.
const SHORTEST: i64 = 16;

impl Writer<'_> {
    /// Computes the elements of the arrays `to` at the task's positions.
    pub fn elements(&mut self, to: &[ArrayId], rank: usize, body: &ScalarFn) {
        self.hoist(&[body]);
        to.iter().for_each(|a| self.hoist_output(*a, false));
        let results: Vec<_> = to.iter().flat_map(|a| elements(*a, self.columns(*a).len(), "p")).collect();
        if !body.lists().is_empty() {
            // All positions use the same memory for lists, so they are not independent.
            return self.positions_in_order(rank, |w| w.code(body, &index(rank), &results));
        }
        if self.dialect().has_tables() && transposes(body, rank) {
            return self.elements_in_tiles(rank, body, &results);
        }
        if pieces(self.program, to, rank).is_some() {
            return self.elements_around(to[0], rank, body);
        }
        let independent = !self.aliased.is_empty();
        self.first_position();
        self.rest_of_index_space(rank, |w| w.elements_to("to", rank, independent, body, &results));
    }

    /// Computes the elements at the positions from `p`, whose index is known, to `to`: those in the interior without the
    /// decisions that only concern the edges. See NOTE [Interiors] in `accel_fusion`.
    pub fn elements_to(&mut self, to: &str, rank: usize, independent: bool, body: &ScalarFn, results: &[String]) {
        let Some(Interior { code, first, end, behind }) = interior(self.program, body, rank) else {
            return self.positions_to(to, rank, independent, |w| w.code(body, &index(rank), results));
        };
        self.rows_to(to, rank, |w, stop| {
            w.line(format!("i64 low = {first}, high = n{};", rank - 1));
            if let Some(end) = end {
                w.code(&end, &[], &["high".into()]);
            }
            if behind.is_none() {
                w.line(format!("if (high - low < {SHORTEST}) high = low;"));
            }
            w.line("low -= offset, high -= offset;");
            w.braces(&format!("while (p < {stop})"), |w| {
                w.line("const bool inside = p >= low && p < high;");
                w.line("const i64 next = inside ? high : low;");
                w.line(format!("const i64 part = p < next && next < {stop} ? next : {stop};"));
                w.braces("if (inside)", |w| {
                    w.row_to("part", rank, independent, |w| w.code(&code, &index(rank), results))
                });
                let other = behind.as_ref().unwrap_or(body);
                w.braces("else", |w| w.row_to("part", rank, independent, |w| w.code(other, &index(rank), results)));
            });
        });
    }
}
