//! The data that generated code and this crate exchange. The layouts are those in the C prelude of `accel-codegen`,
//! which explains them.

use accel_core::maths::special::SpecialFloat;
use accel_core::repr::Scalar;
use accel_core::repr::op::Family;
use std::ffi::c_void;

/// An array in the table of arrays.
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
    /// The size of an element, which is also its alignment.
    pub size: usize,
    /// The size in bytes.
    pub bytes: usize,
    /// The borrowed column that owns the memory, if the run does not: a position in the list of columns.
    pub column: Option<usize>,
}

/// A run, in the layout that generated code expects.
#[repr(C)]
pub struct Run {
    pub arrays: *const Array,
    pub extents: *mut i64,
    pub columns: *mut *mut c_void,
    pub blocks: *mut *mut Block,
    pub fault: *mut i64,
    /// The statement that is being executed.
    pub site: i64,
    pub calls: *const Callbacks,
    pub tapes: *mut SmallStates,
}

/// The states of a tape, one after the other, as long as all are kept and small.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SmallStates {
    /// The memory, with `count` states and room for `room` states of `size` bytes each.
    pub data: *mut u8,
    pub count: i64,
    pub room: i64,
    pub size: i64,
    /// The extents of all arrays.
    pub extents: *const i64,
    /// For each column, its size in bytes.
    pub bytes: *const i64,
    /// For each column, a block of this size, unless its array has rank 0.
    pub blocks: *const *mut Block,
}

impl SmallStates {
    /// No states, and no room for any.
    pub const NONE: SmallStates = SmallStates {
        data: std::ptr::null_mut(),
        count: 0,
        room: 0,
        size: 0,
        extents: std::ptr::null(),
        bytes: std::ptr::null(),
        blocks: std::ptr::null(),
    };
}

/// The functions that generated code calls.
#[repr(C)]
pub struct Callbacks {
    pub allocate: unsafe extern "C" fn(*mut Run, i64, i64) -> *mut Block,
    pub release: unsafe extern "C" fn(*mut Run, *mut Block),
    pub ranges: unsafe extern "C" fn(*mut Run, Function, i64, i64, i64, *const i64) -> i32,
    pub reduce: Rows,
    pub scan: Rows,
    pub strip: unsafe extern "C" fn(*mut Run, *const Function, i64, *const i64) -> i32,
    pub argsort: unsafe extern "C" fn(*mut Run, i64, *const [i64; 2], i64) -> i32,
    pub foreign: unsafe extern "C" fn(*mut Run, i64) -> i32,
    pub keep: unsafe extern "C" fn(*mut Run, i64) -> i32,
    pub recall: unsafe extern "C" fn(*mut Run, i64, i64) -> i64,
    pub again: unsafe extern "C" fn(*mut Run, i64, i64, i64) -> i32,
}

/// The array, the functions, the number of rows, their length, the cost of an element, the outer extents.
pub type Rows = unsafe extern "C" fn(*mut Run, i64, *const Function, i64, i64, i64, *const i64) -> i32;

/// A kernel. It returns 0, or 1 with a record of the failure.
pub type Function = unsafe extern "C" fn(*const Array, *const Task, *mut i64) -> i32;

/// The whole program. It returns 0, or 1 with a record of the failure.
pub type Entry = unsafe extern "C" fn(*mut Run) -> i32;

/// A scalar program: sets the values of the results, whose types are set before the call, to those for the arguments.
/// It returns 0, or 1 if it has failed.
pub type ScalarEntry = unsafe extern "C" fn(*const Scalar, *mut Scalar) -> i32;

/// Functions of a family, for the variables of their names.
macro_rules! families {
    ($($name:ident = $family:ident;)*) => { $(
        /// The function of order `n`.
        pub extern "C" fn $name(n: i32, x: f64) -> f64 {
            SpecialFloat::of_family(Family::$family, n as u8, x)
        }
    )* };
}

families! {
    polygamma = Polygamma;
    bessel_j = BesselJ;
    bessel_i = BesselI;
}
