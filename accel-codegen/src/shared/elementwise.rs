//! Elementwise loops: compute one element of each output at every position.

use super::nontemporal::pieces;
use crate::text::names::{elements, index};
use crate::text::writer::Writer;
use accel_fusion::kernel::{ArrayId, ScalarFn};

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
        if pieces(self.program, to, rank).is_some() {
            return self.elements_around(to[0], rank, body);
        }
        self.positions(rank, |w| w.code(body, &index(rank), &results));
    }
}
