//! Sorting: the arrays of a statement as slices, for [`crate::sort`].

use super::entry::{Failed, Outcome, enter};
use crate::abi::Run;
use crate::context::Context;
use crate::sort::{Column, Moved, OutOfMemory, Output, SortKey, sort};
use accel_core::error::Error;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::ArrayId;
use std::ffi::c_void;
use std::slice::{from_raw_parts, from_raw_parts_mut};

pub unsafe extern "C" fn argsort(run: *mut Run, keys: i64, moved: *const [i64; 2], count: i64) -> i32 {
    // SAFETY: called by generated code for a statement that it executes, with this number of pairs.
    unsafe {
        let moved = from_raw_parts(moved, count as usize);
        enter(run, 1, |c| c.argsort(keys as usize, moved).map(|()| 0))
    }
}

/// The elements of a column, as integers of their size.
///
/// # Safety
/// There are `n` elements of this type.
unsafe fn column<'a>(t: ScalarType, data: *const c_void, n: usize) -> Column<'a> {
    // SAFETY: the caller's guarantee.
    unsafe {
        match t {
            ScalarType::Bool | ScalarType::I8 | ScalarType::U8 => Column::U8(from_raw_parts(data.cast(), n)),
            ScalarType::I16 | ScalarType::U16 => Column::U16(from_raw_parts(data.cast(), n)),
            ScalarType::I32 | ScalarType::U32 | ScalarType::F32 => Column::U32(from_raw_parts(data.cast(), n)),
            ScalarType::I64 | ScalarType::U64 | ScalarType::F64 => Column::U64(from_raw_parts(data.cast(), n)),
        }
    }
}

/// The memory of a column.
///
/// # Safety
/// There is room for `n` elements of this type, and nobody else uses it.
unsafe fn output<'a>(t: ScalarType, data: *mut c_void, n: usize) -> Output<'a> {
    // SAFETY: the caller's guarantee.
    unsafe {
        match t {
            ScalarType::Bool | ScalarType::I8 | ScalarType::U8 => Output::U8(from_raw_parts_mut(data.cast(), n)),
            ScalarType::I16 | ScalarType::U16 => Output::U16(from_raw_parts_mut(data.cast(), n)),
            ScalarType::I32 | ScalarType::U32 | ScalarType::F32 => Output::U32(from_raw_parts_mut(data.cast(), n)),
            ScalarType::I64 | ScalarType::U64 | ScalarType::F64 => Output::U64(from_raw_parts_mut(data.cast(), n)),
        }
    }
}

impl Context<'_> {
    /// Sorts the rows of `keys`. Each pair consists of an array that is defined, and the array whose elements it gets, or a
    /// negative number for positions.
    ///
    /// # Safety
    /// The arrays are those of the statement that is being executed. Those that it defines have memory for as many
    /// elements as there are keys.
    unsafe fn argsort(&mut self, keys: usize, moved: &[[i64; 2]]) -> Outcome {
        let (table, infos) = (self.run.arrays, &self.code.program.arrays);
        // SAFETY: the arrays are in the table, and have as many extents as their rank says.
        let extents = |a: usize| unsafe { from_raw_parts((*table.add(a)).extents, infos[ArrayId::new(a)].rank) };
        // SAFETY: the array has these columns.
        let data = |a: usize, k: usize| unsafe { *(*table.add(a)).columns.add(k) };
        let types = |a: usize| infos[ArrayId::new(a)].columns.iter().copied().enumerate();
        let shape = extents(keys);
        if moved.iter().any(|[_, from]| usize::try_from(*from).is_ok_and(|a| extents(a) != shape)) {
            self.failure = Some(Error::Internal("an array that moves with keys of other extents".into()));
            return Err(Failed);
        }
        let n = shape.iter().product::<i64>() as usize;
        let Some(len) = shape.last().map(|len| *len as usize).filter(|_| n > 0) else { return Ok(()) };
        let mut all = vec![];
        for [to, from] in moved {
            let from = usize::try_from(*from).ok();
            for (k, t) in types(*to as usize) {
                // SAFETY: both columns have `n` elements of this type, and only this statement uses the new one.
                unsafe {
                    let moved = match from {
                        None => Moved::Positions,
                        Some(a) if a == keys => Moved::Keys(column(t, data(a, k), n)),
                        Some(a) => Moved::Elements(column(t, data(a, k), n)),
                    };
                    all.push((moved, output(t, data(*to as usize, k), n)));
                }
            }
        }
        // SAFETY: there are `n` keys of the type of the first column.
        unsafe {
            match infos[ArrayId::new(keys)].columns[0] {
                // The bytes of booleans are 0 and 1.
                ScalarType::Bool | ScalarType::U8 => self.sort::<u8>(data(keys, 0), n, len, all),
                ScalarType::I8 => self.sort::<i8>(data(keys, 0), n, len, all),
                ScalarType::I16 => self.sort::<i16>(data(keys, 0), n, len, all),
                ScalarType::I32 => self.sort::<i32>(data(keys, 0), n, len, all),
                ScalarType::I64 => self.sort::<i64>(data(keys, 0), n, len, all),
                ScalarType::U16 => self.sort::<u16>(data(keys, 0), n, len, all),
                ScalarType::U32 => self.sort::<u32>(data(keys, 0), n, len, all),
                ScalarType::U64 => self.sort::<u64>(data(keys, 0), n, len, all),
                ScalarType::F32 => self.sort::<f32>(data(keys, 0), n, len, all),
                ScalarType::F64 => self.sort::<f64>(data(keys, 0), n, len, all),
            }
        }
    }

    /// Sorts `n` keys, in rows of `len`.
    ///
    /// # Safety
    /// There are `n` keys of this type.
    unsafe fn sort<T: SortKey>(
        &mut self,
        keys: *const c_void,
        n: usize,
        len: usize,
        moved: Vec<(Moved, Output)>,
    ) -> Outcome {
        // SAFETY: the caller's guarantee.
        let keys = unsafe { from_raw_parts(keys.cast::<T>(), n) };
        sort(keys, moved, len, &self.code.sorting).map_err(|OutOfMemory(n)| self.no_memory(n))
    }
}
