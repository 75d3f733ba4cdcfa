//! Loops: one element of each output at every position.

use super::nontemporal::pieces;
use crate::text::names::{elements, index};
use crate::text::writer::Writer;
use accel_fusion::kernel::{ArrayId, Code};

impl Writer<'_> {
    /// The elements of the arrays `to` at positions.
    pub fn elements(&mut self, to: &[ArrayId], rank: usize, body: &Code) {
        self.hoist(&[body]);
        to.iter().for_each(|a| self.hoist_output(*a, false));
        if pieces(self.program, to, rank).is_some() {
            return self.elements_around(to[0], rank, body);
        }
        let results: Vec<_> = to.iter().flat_map(|a| elements(*a, self.columns(*a).len(), "p")).collect();
        self.positions(rank, |w| w.code(body, &index(rank), &results));
    }
}
