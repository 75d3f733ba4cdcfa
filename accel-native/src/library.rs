//! A loaded library of generated functions.

use crate::abi::{Array, Function, Task};
use accel_core::error::{Error, Result};
use std::path::Path;

/// The functions of one program.
pub struct Library {
    functions: Vec<Function>,
    /// Keeps the code in memory.
    _library: libloading::Library,
}

impl Library {
    /// Loads a library that was compiled from a module with `count` functions.
    ///
    /// # Errors
    /// `Error::Compiler` if the system does not load it.
    pub fn load(path: &Path, count: usize) -> Result<Library> {
        let failed = |e: libloading::Error| Error::Compiler(e.to_string());
        // SAFETY: the file was compiled from code that we generated (its digest has been checked): it has no initialisers.
        let library = unsafe { libloading::Library::new(path) }.map_err(failed)?;
        // SAFETY: the generated text defines this symbol as an array of `count` functions of this type.
        let functions = unsafe {
            let table = library.get::<*const Function>(c"accel_functions").map_err(failed)?;
            let first: *const Function = *table;
            std::slice::from_raw_parts(first, count).to_vec()
        };
        // SAFETY: the library was compiled from generated code, and nobody has it yet.
        unsafe { crate::hooks::set(&library) };
        Ok(Library { functions, _library: library })
    }

    /// Calls a function: what it returns. The same must hold as for [`call`](Self::call).
    pub unsafe fn all(&self, function: usize, arrays: *const Array, task: &Task, fault: &mut [i64]) -> i32 {
        // SAFETY: the caller's promise is what generated code relies on.
        unsafe { self.functions[function](arrays, task, fault.as_mut_ptr()) }
    }

    /// Calls a function: whether it succeeded.
    ///
    /// # Safety
    /// `function` belongs to a statement of the program that the library was made from, `task` is what the function's description says,
    /// the arrays that it reads are in the table with all their elements, those that it writes with room for them, no one
    /// else uses the part that is written meanwhile, and `fault` has room for a record.
    pub unsafe fn call(&self, function: usize, arrays: *const Array, task: &Task, fault: &mut [i64]) -> bool {
        // SAFETY: the caller's promise is what generated code relies on.
        unsafe { self.functions[function](arrays, task, fault.as_mut_ptr()) == 0 }
    }
}
