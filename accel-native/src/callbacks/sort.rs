//! Sorting: the arrays of a statement as slices, for [`crate::sort`].

use super::entry::{Outcome, enter};
use crate::abi::Run;
use crate::context::Context;
use crate::sort::{OutOfMemory, SortKey, argsort as sort};
use accel_core::repr::ScalarType;
use accel_fusion::kernel::ArrayId;
use std::mem::MaybeUninit;

pub unsafe extern "C" fn argsort(run: *mut Run, to: i64, keys: i64) -> i32 {
    // SAFETY: called by generated code for a statement that it executes.
    unsafe { enter(run, 1, |c| c.argsort(to as usize, ArrayId::new(keys as usize)).map(|()| 0)) }
}

impl Context<'_> {
    /// Writes the positions of the elements of `keys` in sorted order to `to`.
    ///
    /// # Safety
    /// The arrays are those of the statement that is being executed.
    unsafe fn argsort(&mut self, to: usize, keys: ArrayId) -> Outcome {
        let t = self.code.program.arrays[keys].columns[0];
        // SAFETY: the caller's guarantee. Both arrays are in the table, and have the same extents.
        unsafe {
            match t {
                // The bytes of booleans are 0 and 1.
                ScalarType::Bool | ScalarType::U8 => self.argsort_of::<u8>(to, keys),
                ScalarType::I8 => self.argsort_of::<i8>(to, keys),
                ScalarType::I16 => self.argsort_of::<i16>(to, keys),
                ScalarType::I32 => self.argsort_of::<i32>(to, keys),
                ScalarType::I64 => self.argsort_of::<i64>(to, keys),
                ScalarType::U16 => self.argsort_of::<u16>(to, keys),
                ScalarType::U32 => self.argsort_of::<u32>(to, keys),
                ScalarType::U64 => self.argsort_of::<u64>(to, keys),
                ScalarType::F32 => self.argsort_of::<f32>(to, keys),
                ScalarType::F64 => self.argsort_of::<f64>(to, keys),
            }
        }
    }

    /// As [`argsort`](Self::argsort).
    ///
    /// # Safety
    /// As for `argsort`, and the keys are of type `T`.
    unsafe fn argsort_of<T: SortKey>(&mut self, to: usize, keys: ArrayId) -> Outcome {
        let (rank, keys) = (self.code.program.arrays[keys].rank, keys.index());
        // SAFETY: the table has these arrays. The keys have as many elements as the extents say, and so has the memory
        // of the result, which nobody else uses.
        let (keys, to, len) = unsafe {
            let [keys, to] = [keys, to].map(|a| *self.run.arrays.add(a));
            let extents = std::slice::from_raw_parts(keys.extents, rank);
            let n = extents.iter().product::<i64>() as usize;
            if n == 0 {
                return Ok(());
            }
            let to = std::slice::from_raw_parts_mut((*to.columns).cast::<MaybeUninit<i64>>(), n);
            (std::slice::from_raw_parts((*keys.columns).cast::<T>(), n), to, extents[rank - 1] as usize)
        };
        sort(keys, to, len, &self.code.sorting).map_err(|OutOfMemory(n)| self.no_memory(n))
    }
}
