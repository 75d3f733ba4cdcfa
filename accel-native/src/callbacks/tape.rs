//! Tapes: the states that `Keep` offers and `Recall` gets back. A tape shares the blocks of memory of the arrays.

use super::entry::{Failed, Outcome, enter};
use crate::abi::{Block, Run};
use crate::context::{CompiledProgram, Context};
use crate::memory::{Memory, element_size};
use accel_codegen::fault;
use accel_core::error::Error;
use accel_fusion::kernel::tape::{Budget, Found, Tape};
use accel_fusion::kernel::{ArrayId, Op, Program, other_row};
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

/// A column of an array: the bytes of a cell if the array has rank 0, otherwise a block, to which this is a reference.
#[derive(Clone, Copy)]
enum Word {
    Cell(u64),
    Block(*mut Block),
}

/// The columns of some arrays.
type State = SmallVec<[Word; 2]>;

/// The bytes that a state takes besides its elements: its entry, and for each block its description.
const OF_STATE: usize = size_of::<(usize, State)>();
const OF_BLOCK: usize = size_of::<Block>() + 4 * size_of::<usize>();

/// The arrays of a tape.
#[derive(Clone, Default)]
pub struct TapeArrays {
    /// Those that the loop offers,
    kept: Vec<ArrayId>,
    /// and those that get their values back.
    back: Vec<ArrayId>,
}

/// The arrays of all tapes of a program.
pub fn tape_arrays(program: &Program) -> Vec<TapeArrays> {
    let mut all = vec![];
    for s in program.body.walk() {
        let (Op::Keep { tape, .. } | Op::Recall { tape, .. }) = &s.op else { continue };
        all.resize(all.len().max(tape + 1), TapeArrays::default());
        match &s.op {
            Op::Keep { arrays, .. } => all[*tape].kept.clone_from(arrays),
            op => all[*tape].back = op.defines().to_vec(),
        }
    }
    all
}

/// A tape of a run.
pub struct RunningTape {
    states: Tape<State>,
    /// The extents of all arrays of a state, which are those of the first one.
    extents: Vec<i64>,
}

impl RunningTape {
    /// The tapes of a program, before a run.
    pub fn all(code: &CompiledProgram, budget: Budget) -> Vec<RunningTape> {
        let limit = budget.shared(code.tapes.len());
        code.tapes.iter().map(|_| RunningTape { states: Tape::new(limit), extents: vec![] }).collect()
    }
}

/// Gives back the references of a state.
///
/// # Safety
/// The blocks belong to this memory.
unsafe fn release(memory: &mut Memory, state: State) {
    for word in state {
        let Word::Block(block) = word else { continue };
        // SAFETY: the state has a reference, so the block exists; without references, nobody uses it.
        unsafe {
            (*block).count -= 1;
            if (*block).count == 0 {
                memory.release(block);
            }
        }
    }
}

impl Context<'_> {
    /// The columns of an array: their positions in the table, and the sizes of their elements.
    fn columns(&self, a: ArrayId) -> impl Iterator<Item = (usize, usize)> {
        let types = self.code.program.arrays[a].columns.iter();
        (self.code.layout.columns[a]..).zip(types.map(|t| element_size(*t)))
    }

    /// The extents of arrays, one after the other.
    ///
    /// # Safety
    /// The arrays have been computed.
    unsafe fn extents(&self, arrays: &[ArrayId]) -> impl Iterator<Item = i64> {
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

    /// The bytes that a state takes.
    ///
    /// # Safety
    /// The arrays have been computed.
    unsafe fn bytes(&self, arrays: &[ArrayId]) -> usize {
        let of_array = |a: &ArrayId| {
            // SAFETY: the caller's guarantee.
            let n: i64 = unsafe { self.extents(std::slice::from_ref(a)) }.product();
            let is_cell = self.code.program.arrays[*a].rank == 0;
            let of_column = |(_, size)| if is_cell { 0 } else { OF_BLOCK + size * n as usize };
            self.columns(*a).map(of_column).sum::<usize>()
        };
        OF_STATE + arrays.iter().map(of_array).sum::<usize>()
    }

    /// # Safety
    /// Generated code executes the statement `Keep` of this tape.
    unsafe fn keep(&mut self, tape: usize) -> Outcome {
        let arrays = &self.code.tapes[tape].kept;
        let known = &self.tapes[tape];
        // SAFETY: the arrays are computed before the statement.
        let (is_first, same, size) = unsafe {
            let same = self.extents(arrays).eq(known.extents.iter().copied());
            (known.states.held() == 0, same, self.bytes(arrays))
        };
        if is_first && !same {
            // SAFETY: as above.
            self.tapes[tape].extents = unsafe { self.extents(arrays) }.collect();
        } else if !same {
            return Err(self.other_extents(tape));
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
                self.failure = Some(other_row(site.unwrap_or_default(), &sizes(own), &sizes(&found)));
                break;
            }
            before = rest;
        }
        Failed
    }
}
