//! Memory for columns that generated code fills.

use crate::pages::advise;
use accel_core::repr::{Column, ScalarType};
use std::ffi::c_void;
use std::sync::Arc;

macro_rules! buffers {
    ($($variant:ident $rust:ty),* $(,)?) => {
        /// A column that is being written. It is not initialised: only generated code writes to it, by its address.
        pub enum Buffer { $($variant(Vec<$rust>)),* }

        impl Buffer {
            /// Room for `n` elements; `None` if there is no memory for them.
            pub fn allocate(t: ScalarType, n: usize) -> Option<Buffer> {
                match t { $(ScalarType::$variant => {
                    let mut v: Vec<$rust> = Vec::new();
                    v.try_reserve_exact(n).ok()?;
                    advise(v.as_mut_ptr().cast(), n * size_of::<$rust>());
                    Some(Buffer::$variant(v))
                })* }
            }

            /// A column to be changed: the same memory if no one else has it, or a copy.
            pub fn from_column(c: Column) -> Option<Buffer> {
                match c { $(Column::$variant(c) => match Arc::try_unwrap(c) {
                    Ok(v) => Some(Buffer::$variant(v)),
                    Err(shared) => {
                        let mut v: Vec<$rust> = Vec::new();
                        v.try_reserve_exact(shared.len()).ok()?;
                        v.extend_from_slice(&shared);
                        Some(Buffer::$variant(v))
                    }
                })* }
            }

            /// The address of the first element.
            pub fn address(&mut self) -> *mut c_void {
                match self { $(Buffer::$variant(v) => v.as_mut_ptr().cast()),* }
            }

            /// The column of the first `n` elements.
            ///
            /// # Safety
            /// There is room for `n` elements, and all of them have been written (for `bool`: with 0 or 1).
            pub unsafe fn finish(self, n: usize) -> Column {
                match self { $(Buffer::$variant(mut v) => {
                    // SAFETY: what the caller promises is what `set_len` needs.
                    unsafe { v.set_len(n) };
                    v.into()
                })* }
            }
        }

        /// The address of the first element of a column, for generated code that only reads it.
        pub fn address(c: &Column) -> *mut c_void {
            match c { $(Column::$variant(c) => c.as_ptr().cast_mut().cast()),* }
        }
    };
}
buffers!(Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F32 f32, F64 f64);
