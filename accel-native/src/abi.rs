//! What generated functions are called with: the same layouts as in the prelude of `accel-codegen`'s C.

use std::ffi::c_void;

/// An array of the table.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Array {
    pub extents: *const i64,
    pub columns: *const *mut c_void,
}

/// A part of a statement, see `accel_codegen::Kernel`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Task {
    pub from: i64,
    pub to: i64,
    pub row: i64,
    pub slot: i64,
    pub len: i64,
    pub extents: *const i64,
    pub state: *const *mut c_void,
}

impl Task {
    /// The positions `from..to` of an index space.
    pub fn range(from: usize, to: usize, extents: &[i64]) -> Task {
        Task {
            from: from as i64,
            to: to as i64,
            row: 0,
            slot: 0,
            len: 0,
            extents: extents.as_ptr(),
            state: std::ptr::null(),
        }
    }
}

/// A generated function: 0, or 1 with a record of what went wrong.
pub type Function = unsafe extern "C" fn(*const Array, *const Task, *mut i64) -> i32;

/// Polygamma of order `n`, for the variable `accel_polygamma`.
pub extern "C" fn polygamma(n: i32, x: f64) -> f64 {
    accel_core::repr::special::polygamma(n as u8, x)
}
