//! Functions of ours that generated code calls, through variables that it defines if it needs them.

use crate::abi::{Array, Function, Task, polygamma};
use crate::product::{product_f32, product_f64};
use crate::threads;
use std::ffi::{CStr, c_void};

/// Sets the variables of a library.
///
/// # Safety
/// The library was compiled from generated code, and no code of it runs yet.
pub unsafe fn set(library: &libloading::Library) {
    let hooks: [(&CStr, *const c_void); 5] = [
        (c"accel_polygamma", polygamma as *const c_void),
        (c"accel_product_f32", product_f32 as *const c_void),
        (c"accel_product_f64", product_f64 as *const c_void),
        (c"accel_parallel", parallel as *const c_void),
        (c"accel_threads", thread_count as *const c_void),
    ];
    for (name, address) in hooks {
        // SAFETY: generated text defines each of these symbols as a variable for a pointer to a function of that type.
        if let Ok(variable) = unsafe { library.get::<*mut *const c_void>(name) } {
            // SAFETY: as above, and no one reads the variable meanwhile.
            unsafe { **variable = address };
        }
    }
}

/// How many threads run tasks.
extern "C" fn thread_count() -> i64 {
    rayon::current_num_threads() as i64
}

/// What threads share while tasks run.
struct Shared {
    function: Function,
    arrays: *const Array,
    tasks: *const Task,
}
// SAFETY: the tasks write different memory, and no one writes the table of arrays.
unsafe impl Sync for Shared {}

/// Calls a function for `count` tasks, in parallel. 1 if one of them failed: the record is that of the first that did.
///
/// # Safety
/// The tasks are such that they can run at the same time, and a record has `length` numbers.
unsafe extern "C" fn parallel(
    function: Function,
    arrays: *const Array,
    tasks: *const Task,
    count: i64,
    fault: *mut i64,
    length: i64,
) -> i32 {
    let shared = Shared { function, arrays, tasks };
    let (shared, length) = (&shared, length as usize);
    let one = |i: usize| {
        let mut record = vec![0; length];
        // SAFETY: the caller promises that the task can be run.
        let ok = unsafe { (shared.function)(shared.arrays, shared.tasks.add(i), record.as_mut_ptr()) == 0 };
        if ok { Ok(()) } else { Err(record) }
    };
    match threads::each(count as usize, threads::MUCH, one) {
        Ok(()) => 0,
        Err(record) => {
            // SAFETY: the caller's record has as many numbers.
            unsafe { std::ptr::copy_nonoverlapping(record.as_ptr(), fault, length) };
            1
        }
    }
}
