//! Functions of this crate that generated code calls through variables. It defines these variables if it needs the
//! functions.

use crate::abi::{Array, Function, Task, bessel_i, bessel_j, polygamma};
use crate::parallel_tasks::run_tasks;
use crate::product::{product_f32, product_f64};
use std::cell::RefCell;
use std::ffi::{CStr, c_void};
use std::mem::ManuallyDrop;

/// Sets the variables of a library.
///
/// # Safety
/// The library was compiled from generated code, and none of its code runs yet.
pub unsafe fn set(library: &libloading::Library) {
    let runtime_imports: [(&CStr, *const c_void); 8] = [
        (c"accel_polygamma", polygamma as *const c_void),
        (c"accel_bessel_j", bessel_j as *const c_void),
        (c"accel_bessel_i", bessel_i as *const c_void),
        (c"accel_product_f32", product_f32 as *const c_void),
        (c"accel_product_f64", product_f64 as *const c_void),
        (c"accel_tape", tape as *const c_void),
        (c"accel_parallel", parallel as *const c_void),
        (c"accel_threads", thread_count as *const c_void),
    ];
    for (name, address) in runtime_imports {
        // SAFETY: generated text defines each of these symbols as a variable for a pointer to a function of that type.
        if let Ok(variable) = unsafe { library.get::<*mut *const c_void>(name) } {
            // SAFETY: as above, and nobody reads the variable meanwhile.
            unsafe { **variable = address };
        }
    }
}

thread_local! {
    /// The memory of lists, by number: NOTE [Memory of lists] in `accel-codegen`. It is not destroyed with the thread's other
    /// variables, whose destructors may run programs.
    static TAPES: RefCell<ManuallyDrop<Vec<Vec<u64>>>> = const { RefCell::new(ManuallyDrop::new(vec![])) };
    static FREE_TAPES: FreeTapes = const { FreeTapes };
}

/// Frees the memory of lists when a thread ends. What destructors need after that stays.
struct FreeTapes;

impl Drop for FreeTapes {
    fn drop(&mut self) {
        drop(ManuallyDrop::into_inner(TAPES.take()));
    }
}

/// The address of the calling thread's memory for list `number`, enlarged to at least this number of bytes. It keeps
/// its contents. Null if there is not enough memory.
extern "C" fn tape(number: i64, bytes: i64) -> *mut c_void {
    let _ = FREE_TAPES.try_with(|_| ());
    TAPES.with_borrow_mut(|tapes| {
        let (number, words) = (number as usize, (bytes as usize).div_ceil(size_of::<u64>()));
        if tapes.len() <= number {
            tapes.resize_with(number + 1, Vec::new);
        }
        let tape = &mut tapes[number];
        if tape.len() < words {
            if tape.try_reserve_exact(words - tape.len()).is_err() {
                return std::ptr::null_mut();
            }
            tape.resize(words, 0);
        }
        tape.as_mut_ptr().cast()
    })
}

/// The number of threads that run tasks.
extern "C" fn thread_count() -> i64 {
    crate::threads::count() as i64
}

/// Calls a function for `count` tasks, in parallel. Returns 1 if tasks failed; the record is then that of the first
/// one.
///
/// # Safety
/// The tasks can run at the same time, and a record has `length` numbers.
unsafe extern "C" fn parallel(
    function: Function,
    arrays: *const Array,
    tasks: *const Task,
    count: i64,
    fault: *mut i64,
    length: i64,
) -> i32 {
    // SAFETY: the caller guarantees that the tasks exist, and the conditions of `run_tasks`.
    unsafe {
        let tasks = std::slice::from_raw_parts(tasks, count as usize);
        i32::from(run_tasks(function, arrays, tasks, (fault, length as usize)).is_err())
    }
}
