//! A loaded library of generated code.

use crate::abi::{Call, Entry};
use accel_core::error::{Error, Result};
use std::path::Path;

/// The code of one program.
pub struct Library {
    /// The whole program. It may be called as long as the library exists.
    pub entry: Entry,
    /// The same as a function of numbers, for a program of scalar code only.
    pub call: Option<Call>,
    /// Keeps the code in memory.
    _library: libloading::Library,
}

impl Library {
    /// Loads a library that was compiled from a module.
    ///
    /// # Errors
    /// `Error::Compiler` if the system does not load it.
    pub fn load(path: &Path) -> Result<Library> {
        let failed = |e: libloading::Error| Error::Compiler(e.to_string());
        // SAFETY: the file was compiled from code that we generated (its digest has been checked): it has no initialisers.
        let library = unsafe { libloading::Library::new(path) }.map_err(failed)?;
        // SAFETY: the generated text defines this symbol as a function of this type.
        let entry = unsafe { *library.get::<Entry>(c"accel_run").map_err(failed)? };
        // SAFETY: as above, where it is defined.
        let call = unsafe { library.get::<Call>(c"accel_call") }.ok().map(|f| *f);
        // SAFETY: the library was compiled from generated code, and nobody has it yet.
        unsafe { crate::hooks::set(&library) };
        Ok(Library { entry, call, _library: library })
    }
}
