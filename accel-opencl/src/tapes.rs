//! Tapes: states of loops, whose buffers a tape shares with the arrays. See NOTE [Kept states] in
//! `accel_fusion::kernel::tape`.

use crate::plan::Step;
use crate::run::Run;
use crate::states::State;
use crate::stop::WalkResult;
use accel_codegen::opencl::size_of;
use accel_core::error::Error;
use accel_core::repr::Scalar;
use accel_fusion::kernel::tape::{Found, StateSize, Tape};
use accel_fusion::kernel::{ArrayId, ScalarFn, SiteId};
use std::sync::Arc;

/// The bytes that a state takes besides its elements, for each array.
const OF_ARRAY: usize = 256;

impl Run<'_> {
    fn state(&self, arrays: &[ArrayId]) -> State {
        arrays.iter().map(|a| (self.shapes.extents[*a].clone(), self.arrays[*a].clone())).collect()
    }

    /// Defines arrays as those of a state.
    fn restore(&mut self, to: &[ArrayId], state: State) {
        for (a, (extents, place)) in to.iter().zip(state) {
            if !self.is_known {
                Arc::make_mut(&mut self.shapes).extents[*a] = extents;
            }
            self.put(*a, place);
        }
    }

    /// Offers arrays to a tape.
    pub fn keep(&mut self, tape: usize, arrays: &[ArrayId], site: SiteId) -> WalkResult<()> {
        let state = self.state(arrays);
        let elements = arrays.iter().map(|a| {
            let columns = self.code.program.arrays[*a].columns.iter();
            columns.map(|t| size_of(*t, self.count(*a))).sum::<usize>()
        });
        let size = StateSize { elements: elements.sum(), besides: arrays.len() * OF_ARRAY };
        let limit = self.code.budget.shared(self.code.program.tapes());
        let states = self.tapes.entry(tape).or_insert_with(|| Tape::new(limit));
        let mut both = state.iter().zip(states.first().into_iter().flatten());
        if let Some(((found, _), (first, _))) = both.find(|(found, first)| found.0 != first.0) {
            let [first, found] = [first, found].map(|e| e.iter().map(|e| *e as usize).collect::<Vec<_>>());
            return Err(Error::other_row(self.site(site), &first, &found).into());
        }
        if states.keeps_next(size, drop) {
            states.keep(state);
        }
        Ok(())
    }

    /// Gets arrays back from a tape.
    pub fn recall(&mut self, s: &Step, to: &[ArrayId], tape: usize, at: &ScalarFn, next: &[ArrayId]) -> WalkResult<()> {
        let lost = || Error::Internal(format!("tape {tape} has no such state"));
        let [Scalar::I64(at)] = self.values(at, s.site)?[..] else { return Err(lost().into()) };
        let at = usize::try_from(at).map_err(|_| lost())?;
        let states = self.tapes.get_mut(&tape).ok_or_else(lost)?;
        let (mut k, state) = match states.back(at, drop).ok_or_else(lost)? {
            Found::Exact(state) => (at, state),
            Found::Before(k, state) => (k, state.clone()),
        };
        self.restore(to, state);
        while k < at {
            let step = &s.blocks[0];
            self.plan(step)?;
            self.take(to, next, |a| step.owned_results.contains(&a));
            k += 1;
            let state = self.state(to);
            let states = self.tapes.get_mut(&tape).ok_or_else(lost)?;
            if states.keeps(k, at) {
                states.keep_again(k, at, state);
            }
        }
        Ok(())
    }
}
