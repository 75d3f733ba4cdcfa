//! Functions of ours that generated code calls, through variables that it defines if it needs them.

use crate::abi::{Array, Function, Task, polygamma};
use crate::parallel::all;
use crate::product::{product_f32, product_f64};
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
    // SAFETY: the caller promises that there are so many tasks, and what `all` wants.
    unsafe {
        let tasks = std::slice::from_raw_parts(tasks, count as usize);
        i32::from(all(function, arrays, tasks, (fault, length as usize)).is_err())
    }
}
