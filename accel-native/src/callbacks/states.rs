//! The parts of the tapes of a run: the values of arrays, and the memory of small states.

use crate::abi::Block;
use crate::memory::Memory;
use accel_fusion::kernel::tape::{Budget, Limit, Tape};
use accel_fusion::kernel::{ArrayId, Op, Program};
use smallvec::SmallVec;
use std::mem::MaybeUninit;

/// A column of an array: the bytes of a cell if the array has rank 0, otherwise a block, to which this is a reference.
#[derive(Clone, Copy)]
pub enum Word {
    Cell(u64),
    Block(*mut Block),
}

/// The columns of some arrays.
pub type State = SmallVec<[Word; 2]>;

/// The bytes that a state takes besides its elements: its entry, and for each block its description.
pub const OF_STATE: usize = size_of::<(usize, State)>();
pub const OF_BLOCK: usize = size_of::<Block>() + 4 * size_of::<usize>();

/// The arrays of a tape.
#[derive(Clone, Default)]
pub struct TapeArrays {
    /// The arrays that the loop offers.
    pub kept: Vec<ArrayId>,
    /// The arrays that get the values back.
    pub back: Vec<ArrayId>,
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

/// The size and alignment of what a small state consists of.
pub const WORD: usize = size_of::<u64>();

/// Memory for small states, which the next run uses again.
pub type SmallMemory = Vec<MaybeUninit<u64>>;

/// This number of bytes may be kept for the next run, for each tape.
const KEPT: usize = 4 << 20;

/// A tape of a run.
pub struct RunningTape {
    pub states: Tape<State>,
    pub limit: Limit,
    /// The extents of all arrays of a state, which are those of the first one.
    pub extents: Vec<i64>,
    /// For the states of NOTE [Small states] in `accel_codegen`, if there is room for them: the bytes of each column, a
    /// block for each column of rank 1 or more, and the memory of the states.
    pub is_small: bool,
    pub bytes: Vec<i64>,
    pub blocks: Vec<*mut Block>,
    pub memory: SmallMemory,
}

impl RunningTape {
    /// The tapes of a program that has `n`, before a run.
    pub fn all(n: usize, budget: Budget, memory: &mut Vec<SmallMemory>) -> Vec<RunningTape> {
        let limit = budget.shared(n);
        let mut new = || RunningTape {
            states: Tape::new(limit),
            limit,
            extents: vec![],
            is_small: false,
            bytes: vec![],
            blocks: vec![],
            memory: memory.pop().unwrap_or_default(),
        };
        (0..n).map(|_| new()).collect()
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
pub unsafe fn release(memory: &mut Memory, state: State) {
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
