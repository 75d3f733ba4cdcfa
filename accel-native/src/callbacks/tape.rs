//! Tapes: the states that `Keep` offers and `Recall` gets back. A tape shares the blocks of memory of the arrays.

use super::entry::{Failed, Outcome, enter};
use super::states::{OF_BLOCK, OF_STATE, RunningTape, State, Word, release};
use crate::abi::Run;
use crate::context::Context;
use crate::memory::element_size;
use accel_codegen::fault;
use accel_core::error::Error;
use accel_fusion::kernel::ArrayId;
use accel_fusion::kernel::tape::{Found, StateSize};
use smallvec::SmallVec;
use std::slice::from_raw_parts;

pub unsafe extern "C" fn keep(run: *mut Run, tape: i64) -> i32 {
    // SAFETY: called by generated code for a statement that it executes.
    unsafe { enter(run, 1, |c| c.keep(tape as usize).map(|()| 0)) }
}

pub unsafe extern "C" fn recall(run: *mut Run, tape: i64, at: i64) -> i64 {
    // SAFETY: as above.
    unsafe { enter(run, -1, |c| c.recall(tape as usize, at)) }
}

pub unsafe extern "C" fn again(run: *mut Run, tape: i64, k: i64, at: i64) -> i32 {
    // SAFETY: as above. The numbers are not negative, as the result of `recall` is not.
    unsafe { enter(run, 1, |c| c.again(tape as usize, k as usize, at as usize).map(|()| 0)) }
}

impl Context<'_> {
    /// The columns of an array: their positions in the table, and the sizes of their elements.
    pub fn columns(&self, a: ArrayId) -> impl Iterator<Item = (usize, usize)> {
        let types = self.code.program.arrays[a].columns.iter();
        (self.code.layout.columns[a]..).zip(types.map(|t| element_size(*t)))
    }

    /// The extents of arrays, one after the other.
    ///
    /// # Safety
    /// The arrays have been computed.
    pub unsafe fn extents(&self, arrays: &[ArrayId]) -> impl Iterator<Item = i64> {
        arrays.iter().flat_map(|a| {
            let (first, rank) = (self.code.layout.extents[*a], self.code.program.arrays[*a].rank);
            // SAFETY: the table has these extents.
            unsafe { from_raw_parts(self.run.extents.add(first), rank) }.iter().copied()
        })
    }

    /// The present values of arrays, with references to their blocks.
    ///
    /// # Safety
    /// The arrays have been computed.
    unsafe fn shared(&self, arrays: &[ArrayId]) -> State {
        let mut state = State::new();
        for a in arrays {
            let is_cell = self.code.program.arrays[*a].rank == 0;
            for (c, size) in self.columns(*a) {
                // SAFETY: a computed array has its columns in the table, and a block for each unless its rank is 0.
                state.push(unsafe {
                    if is_cell {
                        let mut bytes = 0u64;
                        let cell = (*self.run.columns.add(c)).cast::<u8>();
                        cell.copy_to_nonoverlapping((&raw mut bytes).cast(), size);
                        Word::Cell(bytes)
                    } else {
                        let block = *self.run.blocks.add(c);
                        (*block).count += 1;
                        Word::Block(block)
                    }
                });
            }
        }
        state
    }

    /// Makes arrays the values of a state, whose references become theirs.
    ///
    /// # Safety
    /// The state and the extents are those of arrays of the same types. These arrays are defined by a statement, so their
    /// cells are those of the run.
    unsafe fn restore(&self, arrays: &[ArrayId], state: &[Word], mut extents: &[i64]) {
        let mut words = state.iter();
        for a in arrays {
            for ((c, size), word) in self.columns(*a).zip(&mut words) {
                // SAFETY: the tables have these columns, and a cell has room for an element of every type.
                unsafe {
                    match word {
                        Word::Cell(bytes) => {
                            let cell = (*self.run.columns.add(c)).cast::<u8>();
                            cell.copy_from_nonoverlapping((&raw const *bytes).cast(), size);
                        }
                        Word::Block(block) => {
                            *self.run.blocks.add(c) = *block;
                            *self.run.columns.add(c) = (**block).data;
                        }
                    }
                }
            }
            let (own, rest) = extents.split_at(self.code.program.arrays[*a].rank);
            // SAFETY: the table has these extents.
            unsafe {
                let to = self.run.extents.add(self.code.layout.extents[*a]);
                to.copy_from_nonoverlapping(own.as_ptr(), own.len());
            }
            extents = rest;
        }
    }

    /// The memory that a state takes.
    ///
    /// # Safety
    /// The arrays have been computed.
    unsafe fn size(&self, arrays: &[ArrayId]) -> StateSize {
        let mut all = StateSize { elements: 0, besides: OF_STATE };
        for a in arrays.iter().filter(|a| self.code.program.arrays[**a].rank > 0) {
            // SAFETY: the caller's guarantee.
            let n: i64 = unsafe { self.extents(std::slice::from_ref(a)) }.product();
            for (_, size) in self.columns(*a) {
                all.elements += size * n as usize;
                all.besides += OF_BLOCK;
            }
        }
        all
    }

    /// # Safety
    /// Generated code executes the statement `Keep` of this tape.
    unsafe fn keep(&mut self, tape: usize) -> Outcome {
        let arrays = &self.code.tapes[tape].kept;
        // SAFETY: the arrays are computed before the statement, and all tapes are in the table.
        let (extents, size, small) = unsafe {
            let extents: SmallVec<[i64; 8]> = self.extents(arrays).collect();
            (extents, self.size(arrays), *self.run.tapes.add(tape))
        };
        if small.count == 0 && self.tapes[tape].states.held() == 0 {
            self.tapes[tape].extents = extents.to_vec();
            // SAFETY: as above.
            unsafe { self.begin_small(tape)? };
        } else if self.tapes[tape].extents[..] != extents[..] {
            return Err(self.other_extents(tape));
        }
        // SAFETY: as above.
        if unsafe { self.keep_small(tape)? } {
            return Ok(());
        }
        let memory = &mut *self.memory;
        // SAFETY: the states of a run have blocks of its memory.
        if self.tapes[tape].states.keeps_next(size, |state| unsafe { release(memory, state) }) {
            // SAFETY: as above.
            let state = unsafe { self.shared(arrays) };
            self.tapes[tape].states.keep(state);
        }
        Ok(())
    }

    /// # Safety
    /// Generated code executes the statement `Recall` of this tape.
    unsafe fn recall(&mut self, tape: usize, at: i64) -> Result<i64, Failed> {
        if self.tapes[tape].is_small {
            // SAFETY: all tapes are in the table.
            unsafe { self.end_small(tape)? };
        }
        let memory = &mut *self.memory;
        let RunningTape { states, .. } = &mut self.tapes[tape];
        // SAFETY: the states of a run have blocks of its memory.
        let drop = |state| unsafe { release(memory, state) };
        let found = usize::try_from(at).ok().and_then(|at| states.back(at, drop));
        let (k, state) = match found {
            Some(Found::Exact(state)) => (at, state),
            Some(Found::Before(k, state)) => {
                for word in state {
                    if let Word::Block(block) = word {
                        // SAFETY: the state has a reference, so the block exists.
                        unsafe { (**block).count += 1 };
                    }
                }
                (k as i64, state.clone())
            }
            None => {
                self.failure = Some(Error::Internal(format!("tape {tape} has no state {at}")));
                return Err(Failed);
            }
        };
        // SAFETY: `Keep` and `Recall` of a tape have arrays of the same types, see NOTE [Verified programs].
        unsafe { self.restore(&self.code.tapes[tape].back, &state, &self.tapes[tape].extents) };
        Ok(k)
    }

    /// # Safety
    /// Generated code executes the statement `Recall` of this tape, and has computed state `k` again.
    unsafe fn again(&mut self, tape: usize, k: usize, at: usize) -> Outcome {
        if self.tapes[tape].states.keeps(k, at) {
            // SAFETY: the caller's guarantee.
            let state = unsafe { self.shared(&self.code.tapes[tape].back) };
            self.tapes[tape].states.keep_again(k, at, state);
        }
        Ok(())
    }

    /// The failure of a state whose arrays have other extents than those of the states before.
    fn other_extents(&mut self, tape: usize) -> Failed {
        let program = &self.code.program;
        let mut before = self.tapes[tape].extents.as_slice();
        for a in &self.code.tapes[tape].kept {
            // SAFETY: the arrays are computed before the statement.
            let found: Vec<i64> = unsafe { self.extents(std::slice::from_ref(a)) }.collect();
            let (own, rest) = before.split_at(found.len());
            if own != found {
                let sizes = |e: &[i64]| e.iter().map(|e| *e as usize).collect::<Vec<_>>();
                let site = fault::entry(&program.sites, self.run.site).map(|s| program.sites[s].to_string());
                self.failure = Some(Error::other_row(site.unwrap_or_default(), &sizes(own), &sizes(&found)));
                break;
            }
            before = rest;
        }
        Failed
    }
}
