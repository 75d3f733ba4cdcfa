//! Tapes: the states that `Keep` offers and `Recall` gets back. A tape shares the blocks of memory of the arrays.

use super::entry::{Failed, Outcome, enter};
use crate::abi::{Block, Run, SmallStates};
use crate::context::{CompiledProgram, Context};
use crate::memory::{Memory, element_size};
use accel_codegen::fault;
use accel_core::error::Error;
use accel_fusion::kernel::tape::{Budget, Found, Limit, Tape};
use accel_fusion::kernel::{ArrayId, Op, Program, other_row};
use smallvec::SmallVec;
use std::mem::MaybeUninit;
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
    limit: Limit,
    /// The extents of all arrays of a state, which are those of the first one.
    extents: Vec<i64>,
    /// For the states of NOTE [Small states] in `accel_codegen`, if there is room for them: the bytes of each column, a
    /// block for each column of rank 1 or more, and the memory of the states.
    is_small: bool,
    bytes: Vec<i64>,
    blocks: Vec<*mut Block>,
    memory: SmallMemory,
}

/// Memory for small states, which the next run uses again.
pub type SmallMemory = Vec<MaybeUninit<u64>>;

/// This number of bytes may be kept for the next run, for each tape.
const KEPT: usize = 4 << 20;
/// The largest size of a small state, in bytes.
const SMALL: usize = 1 << 10;
/// The number of small states for which there is memory at first.
const FIRST: usize = 16;
/// The part of a tape's limit that small states may take.
const PART: usize = 4;

impl RunningTape {
    /// The tapes of a program, before a run.
    pub fn all(code: &CompiledProgram, budget: Budget, memory: &mut Vec<SmallMemory>) -> Vec<RunningTape> {
        let limit = budget.shared(code.tapes.len());
        let mut new = || RunningTape {
            states: Tape::new(limit),
            limit,
            extents: vec![],
            is_small: false,
            bytes: vec![],
            blocks: vec![],
            memory: memory.pop().unwrap_or_default(),
        };
        code.tapes.iter().map(|_| new()).collect()
    }

    /// The memory of small states that the next run can use.
    pub fn left(self) -> SmallMemory {
        if self.memory.capacity() * WORD <= KEPT { self.memory } else { SmallMemory::new() }
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

/// The size and alignment of what a small state consists of.
const WORD: usize = size_of::<u64>();

/// The bytes that a column of so many bytes takes in a small state.
fn slot(bytes: i64) -> usize {
    (bytes as usize).next_multiple_of(WORD)
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
        // SAFETY: the arrays are computed before the statement, and all tapes are in the table.
        let (extents, size, small) = unsafe {
            let extents: SmallVec<[i64; 8]> = self.extents(arrays).collect();
            (extents, self.bytes(arrays), *self.run.tapes.add(tape))
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

    /// Makes memory for small states, if the first state, whose extents are known, is small.
    ///
    /// # Safety
    /// Generated code executes the statement `Keep` of this tape.
    unsafe fn begin_small(&mut self, tape: usize) -> Outcome {
        // SAFETY: the caller's guarantee.
        unsafe { self.release_small(tape) };
        let arrays = &self.code.tapes[tape].kept;
        let (mut bytes, mut sizes) = (vec![], vec![]);
        for a in arrays {
            // SAFETY: the arrays are computed before the statement.
            let n: i64 = unsafe { self.extents(std::slice::from_ref(a)) }.product();
            for (_, size) in self.columns(*a) {
                bytes.push(size as i64 * n);
                sizes.push((self.code.program.arrays[*a].rank > 0).then_some((n as usize, size)));
            }
        }
        let size = bytes.iter().map(|b| slot(*b)).sum::<usize>();
        let running = &mut self.tapes[tape];
        if size == 0 || size > SMALL || running.limit.bytes() / PART < FIRST * size {
            return Ok(());
        }
        let room = (running.memory.capacity() * WORD).min(running.limit.bytes() / PART) / size;
        let room = room.max(FIRST);
        running.is_small = true;
        if running.memory.capacity() * WORD < room * size {
            running.memory = SmallMemory::new();
            running.memory.try_reserve_exact(room * size / WORD).map_err(|_| self.no_memory(room * size))?;
        }
        let running = &mut self.tapes[tape];
        running.blocks.extend(sizes.iter().map(|column| match column {
            Some((n, size)) => self.memory.allocate(*n, *size),
            None => std::ptr::null_mut(),
        }));
        running.bytes = bytes;
        let missing = |(block, size): (&*mut Block, &Option<_>)| block.is_null() && size.is_some();
        if running.blocks.iter().zip(&sizes).any(missing) {
            return Err(self.no_memory(size));
        }
        // SAFETY: the tape is in the table.
        unsafe {
            *self.run.tapes.add(tape) = SmallStates {
                data: running.memory.as_mut_ptr().cast(),
                count: 0,
                room: room as i64,
                size: size as i64,
                extents: running.extents.as_ptr(),
                bytes: running.bytes.as_ptr(),
                blocks: running.blocks.as_ptr(),
            };
        }
        Ok(())
    }

    /// Keeps the present state as a small one, if all states have been kept as small ones and there is room.
    ///
    /// # Safety
    /// Generated code executes the statement `Keep` of this tape, and the state has the extents of those before.
    unsafe fn keep_small(&mut self, tape: usize) -> Result<bool, Failed> {
        let running = &mut self.tapes[tape];
        if !running.is_small {
            return Ok(false);
        }
        // SAFETY: the tape is in the table.
        let small = unsafe { &mut *self.run.tapes.add(tape) };
        if small.count == small.room {
            let bytes = 2 * (small.room * small.size) as usize;
            if bytes > running.limit.bytes() / PART {
                // SAFETY: the caller's guarantee.
                unsafe { self.end_small(tape)? };
                return Ok(false);
            }
            let mut more = SmallMemory::new();
            more.try_reserve_exact(bytes / WORD).map_err(|_| self.no_memory(bytes))?;
            // SAFETY: the new memory has room for the old states.
            unsafe { small.data.copy_to_nonoverlapping(more.as_mut_ptr().cast(), bytes / 2) };
            small.data = more.as_mut_ptr().cast();
            small.room *= 2;
            self.tapes[tape].memory = more;
        }
        // SAFETY: there is room for one more state.
        let mut to = unsafe { small.data.add((small.count * small.size) as usize) };
        small.count += 1;
        for (k, c) in self.code.tapes[tape].kept.iter().flat_map(|a| self.columns(*a)).map(|(c, _)| c).enumerate() {
            let bytes = self.tapes[tape].bytes[k];
            // SAFETY: the column has so many bytes, and the state has room for them.
            unsafe {
                to.copy_from_nonoverlapping((*self.run.columns.add(c)).cast(), bytes as usize);
                to = to.add(slot(bytes));
            }
        }
        Ok(true)
    }

    /// Makes ordinary states of the small ones.
    ///
    /// # Safety
    /// Generated code executes a statement of this tape.
    unsafe fn end_small(&mut self, tape: usize) -> Outcome {
        // SAFETY: the tape is in the table.
        let small = unsafe { *self.run.tapes.add(tape) };
        let arrays = &self.code.tapes[tape].kept;
        let size = OF_STATE + small.size as usize + self.tapes[tape].blocks.len() * OF_BLOCK;
        for k in 0..small.count {
            let memory = &mut *self.memory;
            // SAFETY: the states of a run have blocks of its memory.
            if !self.tapes[tape].states.keeps_next(size, |state| unsafe { release(memory, state) }) {
                continue;
            }
            // SAFETY: there are so many states.
            let mut from = unsafe { small.data.add((k * small.size) as usize) };
            let mut state = State::new();
            let mut bytes = self.tapes[tape].bytes.clone().into_iter();
            for a in arrays {
                for ((_, size), n) in self.columns(*a).zip(&mut bytes).collect::<SmallVec<[_; 4]>>() {
                    // SAFETY: the column has so many bytes, and a new block has room for them.
                    unsafe {
                        if self.code.program.arrays[*a].rank == 0 {
                            let mut cell = 0u64;
                            from.copy_to_nonoverlapping((&raw mut cell).cast(), n as usize);
                            state.push(Word::Cell(cell));
                        } else {
                            let block = self.memory.allocate(n as usize / size, size);
                            if block.is_null() {
                                return Err(self.no_memory(n as usize / size));
                            }
                            from.copy_to_nonoverlapping((*block).data.cast(), n as usize);
                            state.push(Word::Block(block));
                        }
                        from = from.add(slot(n));
                    }
                }
            }
            self.tapes[tape].states.keep(state);
        }
        // SAFETY: the caller's guarantee.
        unsafe { self.release_small(tape) };
        Ok(())
    }

    /// Gives back the blocks for small states.
    ///
    /// # Safety
    /// Generated code executes a statement of this tape.
    unsafe fn release_small(&mut self, tape: usize) {
        let running = &mut self.tapes[tape];
        running.is_small = false;
        let blocks = running.blocks.drain(..).filter(|b| !b.is_null());
        let state = blocks.map(Word::Block).collect();
        // SAFETY: these are references of the tape; the tape is in the table.
        unsafe {
            release(self.memory, state);
            *self.run.tapes.add(tape) = SmallStates::NONE;
        }
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
