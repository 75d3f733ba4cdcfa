//! Calls of foreign functions: NOTE [Foreign functions] of `accel_core::repr::foreign`.

use super::entry::{Failed, Outcome, enter};
use crate::abi::Run;
use crate::context::Context;
use accel_core::error::Error;
use accel_core::repr::foreign::{View, ViewMut};
use accel_core::repr::{ColumnPart, ColumnView, RawExtents, ScalarType};
use accel_fusion::kernel::ArrayId;
use rayon::prelude::*;
use std::ffi::c_void;
use std::slice::{from_raw_parts, from_raw_parts_mut};

pub unsafe extern "C" fn foreign(run: *mut Run, to: i64) -> i32 {
    // SAFETY: called by generated code for a statement that it executes, whose first result this is.
    unsafe { enter(run, 1, |c| c.foreign(to as usize).map(|()| 0)) }
}

macro_rules! columns {
    ($($variant:ident $rust:ty),*) => {
        /// The elements of a column.
        ///
        /// # Safety
        /// There are `n` elements of this type.
        unsafe fn column<'a>(t: ScalarType, data: *const c_void, n: usize) -> ColumnView<'a> {
            match t {
                // SAFETY: the caller's guarantee.
                $(ScalarType::$variant => ColumnView::$variant(unsafe { from_raw_parts(data.cast::<$rust>(), n) })),*
            }
        }

        /// The memory of a column, with zeros.
        ///
        /// # Safety
        /// There is room for `n` elements of this type, and nobody else uses it.
        unsafe fn output<'a>(t: ScalarType, data: *mut c_void, n: usize) -> ColumnPart<'a> {
            match t {
                // SAFETY: the caller's guarantee. Zero bytes are a value of each type.
                $(ScalarType::$variant => unsafe {
                    data.cast::<$rust>().write_bytes(0, n);
                    ColumnPart::$variant(from_raw_parts_mut(data.cast::<$rust>(), n))
                }),*
            }
        }
    };
}
columns!(Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F32 f32, F64 f64);

impl Context<'_> {
    /// Calls the function for all items, in parallel.
    ///
    /// # Safety
    /// The array is the first result of the statement that is being executed. Its results have memory.
    unsafe fn foreign(&mut self, to: usize) -> Outcome {
        let code = self.code;
        let Some(f) = code.foreign.get(&to) else {
            self.failure = Some(Error::Internal("an unknown call of a foreign function".into()));
            return Err(Failed);
        };
        let (table, infos) = (self.run.arrays, &code.program.arrays);
        let parts = |a: ArrayId| {
            // SAFETY: the array is in the table, and has as many extents as its rank says.
            let extents = unsafe { from_raw_parts((*table.add(a.index())).extents, infos[a].rank) };
            let extents: RawExtents = extents.iter().map(|n| *n as usize).collect();
            let n = extents.iter().product();
            // SAFETY: the array has these columns. One without elements may have no memory.
            let data = move |k| match unsafe { *(*table.add(a.index())).columns.add(k) } {
                data if data.is_null() => std::ptr::NonNull::<u64>::dangling().as_ptr().cast(),
                data => data,
            };
            (extents, n, data)
        };
        let types = |a: &ArrayId| infos[*a].columns.iter().copied().enumerate();
        let argument = |a: &ArrayId| {
            let (extents, n, data) = parts(*a);
            // SAFETY: the columns have `n` elements of these types.
            View { extents, columns: types(a).map(|(k, t)| unsafe { column(t, data(k), n) }).collect() }
        };
        let result = |a: &ArrayId| {
            let (extents, n, data) = parts(*a);
            // SAFETY: the columns have room for `n` elements of these types, and only this statement uses them.
            ViewMut { extents, columns: types(a).map(|(k, t)| unsafe { output(t, data(k), n) }).collect() }
        };
        let from: Vec<View> = f.from.iter().map(argument).collect();
        let items = f.call.items(&from, f.to.iter().map(result).collect());
        let called: Vec<Result<(), String>> = match items.len() {
            1 => items.into_iter().map(|(from, mut to)| f.call.item(&from, &mut to)).collect(),
            _ => items.into_par_iter().map(|(from, mut to)| f.call.item(&from, &mut to)).collect(),
        };
        called.into_iter().collect::<Result<(), _>>().map_err(|why| {
            let site = accel_fusion::kernel::SiteId::new(self.run.site as usize);
            self.failure = Some(Error::Foreign { op: code.program.sites[site].to_string(), why });
            Failed
        })
    }
}
