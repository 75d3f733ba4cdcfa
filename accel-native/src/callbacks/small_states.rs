//! The memory of small states, which generated code fills: NOTE [Small states] in `accel_codegen`.

use super::entry::{Failed, Outcome};
use super::states::{OF_BLOCK, OF_STATE, SmallMemory, State, WORD, Word, release};
use crate::abi::{Block, SmallStates};
use crate::context::Context;
use accel_fusion::kernel::tape::StateSize;
use smallvec::SmallVec;

/// The largest size of a small state, in bytes.
const SMALL: usize = 1 << 10;
/// The number of small states for which there is memory at first.
const FIRST: usize = 16;
/// The part of a tape's limit that small states may take.
const PART: usize = 4;

/// The room that a column of this number of bytes takes in a small state, in bytes.
fn slot(bytes: i64) -> usize {
    (bytes as usize).next_multiple_of(WORD)
}

impl Context<'_> {
    /// Makes memory for small states, if the first state, whose extents are known, is small.
    ///
    /// # Safety
    /// Generated code executes the statement `Keep` of this tape.
    pub unsafe fn begin_small(&mut self, tape: usize) -> Outcome {
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
    pub unsafe fn keep_small(&mut self, tape: usize) -> Result<bool, Failed> {
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
            // SAFETY: the column has this many bytes, and the state has room for them.
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
    pub unsafe fn end_small(&mut self, tape: usize) -> Outcome {
        // SAFETY: the tape is in the table.
        let small = unsafe { *self.run.tapes.add(tape) };
        let arrays = &self.code.tapes[tape].kept;
        let running = &self.tapes[tape];
        let columns = running.blocks.iter().zip(&running.bytes).filter(|(block, _)| !block.is_null());
        let elements = columns.clone().map(|(_, bytes)| *bytes as usize).sum();
        let size = StateSize { elements, besides: OF_STATE + columns.count() * OF_BLOCK };
        for k in 0..small.count {
            let memory = &mut *self.memory;
            // SAFETY: the states of a run have blocks of its memory.
            if !self.tapes[tape].states.keeps_next(size, |state| unsafe { release(memory, state) }) {
                continue;
            }
            // SAFETY: there are this many states.
            let mut from = unsafe { small.data.add((k * small.size) as usize) };
            let mut state = State::new();
            let mut bytes = self.tapes[tape].bytes.clone().into_iter();
            for a in arrays {
                for ((_, size), n) in self.columns(*a).zip(&mut bytes).collect::<SmallVec<[_; 4]>>() {
                    // SAFETY: the column has this many bytes, and a new block has room for them.
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
}
