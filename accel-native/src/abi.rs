//! What the generated code and this crate hand each other: the same layouts as in the prelude of `accel-codegen`'s C, where they are
//! explained.

use accel_core::repr::Scalar;
use std::ffi::c_void;

/// An array of the table.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Array {
    pub extents: *const i64,
    pub columns: *const *mut c_void,
}

/// A part of a statement.
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

/// The memory of a column. Generated code knows the first two fields.
#[repr(C)]
pub struct Block {
    pub data: *mut c_void,
    pub count: i64,
    /// The size of an element, which is its alignment as well.
    pub size: usize,
    /// How many bytes there are.
    pub bytes: usize,
    /// Whose memory it is, if not the run's: a position in the list of columns.
    pub column: Option<usize>,
}

/// A run, as the generated code sees it.
#[repr(C)]
pub struct Run {
    pub arrays: *const Array,
    pub extents: *mut i64,
    pub columns: *mut *mut c_void,
    pub blocks: *mut *mut Block,
    pub fault: *mut i64,
    /// The statement that is executed.
    pub site: i64,
    pub calls: *const Calls,
}

/// What the generated code calls.
#[repr(C)]
pub struct Calls {
    pub allocate: unsafe extern "C" fn(*mut Run, i64, i64) -> *mut Block,
    pub release: unsafe extern "C" fn(*mut Run, *mut Block),
    pub ranges: unsafe extern "C" fn(*mut Run, Function, i64, i64, i64, *const i64) -> i32,
    pub reduce: Rows,
    pub scan: Rows,
    pub strip: unsafe extern "C" fn(*mut Run, *const Function, i64, *const i64) -> i32,
}

/// The array, the functions, how many rows, their length, the cost of an element, the outer extents.
pub type Rows = unsafe extern "C" fn(*mut Run, i64, *const Function, i64, i64, i64, *const i64) -> i32;

/// A kernel: 0, or 1 with a record of what went wrong.
pub type Function = unsafe extern "C" fn(*const Array, *const Task, *mut i64) -> i32;

/// The whole program: 0, or 1 with a record of what went wrong.
pub type Entry = unsafe extern "C" fn(*mut Run) -> i32;

/// A program of numbers: sets the values of the results, whose types are there, to those for the arguments. 0, or 1 if it has failed.
pub type Call = unsafe extern "C" fn(*const Scalar, *mut Scalar) -> i32;

/// Polygamma of order `n`, for the variable `accel_polygamma`.
pub extern "C" fn polygamma(n: i32, x: f64) -> f64 {
    accel_core::repr::special::polygamma(n as u8, x)
}
