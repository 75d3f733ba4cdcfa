//! A loaded shared library of generated code.

use crate::abi::{Entry, ScalarEntry};
use std::error::Error;
use std::path::Path;

/// The library of one program.
pub struct Library {
    /// The whole program. It can be called as long as the library exists.
    pub entry: Entry,
    /// The same as a function of scalars, for a scalar program.
    pub call: Option<ScalarEntry>,
    /// Keeps the code in memory.
    _library: libloading::Library,
}

// NOTE [Libraries from memory]: the system loads libraries by the names of files. The file behind a name may change
// between the check and the loading. So the contents are written to a file in memory, without a name in any folder,
// which is then sealed: nobody can change it any more, not even this process. It is loaded by the name of its
// descriptor in `/proc`.
//
// If the loader gets a name that it has loaded before, it takes the same library. New descriptors reuse the numbers of
// closed ones, so each library gets its own spelling of the path: a binary number, in which `/.` is a one and `/` is a
// zero.
//
// If there are no such files, or no `/proc`, or if such files must not be executed, the contents go to a file in a new
// folder that only the user can enter.

impl Library {
    /// Loads the library with these contents, which a compiler has made from a module.
    ///
    /// # Errors
    /// The reason why the system does not load it.
    pub fn load(code: &[u8]) -> Result<Library, String> {
        check_segments(code)?;
        #[cfg(target_os = "linux")]
        if let Ok(file) = sealed(code)
            && let Ok(library) = Self::open(Path::new(&name(&file)))
        {
            return Ok(library);
        }
        let failed = |e: std::io::Error| e.to_string();
        let folder = crate::toolchain::work_folder(&std::env::temp_dir()).map_err(failed)?;
        let path = folder.path().join("kernels.so");
        crate::files::write(&path, code).map_err(failed)?;
        Self::open(&path)
    }

    fn open(path: &Path) -> Result<Library, String> {
        // The error itself does not contain the reason.
        let failed = |e: libloading::Error| e.source().map_or(e.to_string(), |why| format!("{e}: {why}"));
        // SAFETY: the contents were compiled from code that we generated, which has no initialisers.
        let library = unsafe { libloading::Library::new(path) }.map_err(failed)?;
        // SAFETY: the generated text defines this symbol as a function of this type.
        let entry = unsafe { *library.get::<Entry>(c"accel_run").map_err(failed)? };
        // SAFETY: as above, if it is defined.
        let call = unsafe { library.get::<ScalarEntry>(c"accel_call") }.ok().map(|f| *f);
        // SAFETY: the library was compiled from generated code, and nobody uses it yet.
        unsafe { crate::runtime_imports::set(&library) };
        Ok(Library { entry, call, _library: library })
    }
}

/// A file in memory with these contents, which nobody can change.
#[cfg(target_os = "linux")]
fn sealed(code: &[u8]) -> std::io::Result<std::fs::File> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    use std::io::Write;
    crate::files::check_file_size(code.len())?;
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Linux before 6.3 does not know the last flag, and some later systems demand it.
    let file = memfd_create(c"accel", flags | MemfdFlags::NOEXEC_SEAL).or_else(|_| memfd_create(c"accel", flags))?;
    let mut file = std::fs::File::from(file);
    file.write_all(code)?;
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    Ok(file)
}

/// A name of the file that no other file has had.
#[cfg(target_os = "linux")]
fn name(file: &std::fs::File) -> String {
    use std::os::fd::AsRawFd;
    use std::sync::atomic::{AtomicU64, Ordering};
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let digits = (0..64 - number.leading_zeros()).map(|k| if number >> k & 1 == 1 { "/." } else { "/" });
    format!("/proc/self/fd{}/{}", digits.collect::<String>(), file.as_raw_fd())
}

/// Checks that an ELF file contains all segments that it tells the system to load. The system maps them without a
/// check, and the process ends when it reads a missing one.
fn check_segments(code: &[u8]) -> Result<(), String> {
    const LOAD: u64 = 1;
    let number = |at: usize, bytes: usize| {
        let field = code.get(at..at.checked_add(bytes)?)?;
        Some(field.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b)))
    };
    // 64 bits, and the least significant byte first.
    if !code.starts_with(&[0x7f, b'E', b'L', b'F', 2, 1]) {
        return Ok(());
    }
    let is_there = |k: u64, table: u64, size: u64| {
        let header = usize::try_from(table.checked_add(k.checked_mul(size)?)?).ok()?;
        let end = number(header + 8, 8)?.checked_add(number(header + 32, 8)?)?;
        Some(number(header, 4)? != LOAD || end <= code.len() as u64)
    };
    let all = || {
        let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
        Some((0..count).all(|k| is_there(k, table, size) == Some(true)))
    };
    match all() {
        Some(true) => Ok(()),
        _ => Err("the file is too short".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::Toolchain;

    fn library(answer: i32) -> Vec<u8> {
        let cc = Toolchain::new("cc").expect("the tests need a C compiler");
        let source = format!("int accel_run(void *run) {{ return {answer}; }}\n");
        cc.compile(&accel_codegen::Module { source, units: 1, calls_library: false }).unwrap().0
    }

    fn answer(library: &Library) -> i32 {
        // SAFETY: the functions in these tests do not use their argument.
        unsafe { (library.entry)(std::ptr::null_mut()) }
    }

    /// Even though all have the same descriptor, and the loader identifies libraries by their names.
    #[test]
    fn libraries_that_are_loaded_at_the_same_time_are_different() {
        let libraries: Vec<_> = (0..4).map(|k| Library::load(&library(k)).unwrap()).collect();
        assert_eq!(libraries.iter().map(answer).collect::<Vec<_>>(), [0, 1, 2, 3]);
        // Two libraries of the same code do not share variables.
        let code = library(5);
        let (first, second) = (Library::load(&code).unwrap(), Library::load(&code).unwrap());
        assert_ne!(first.entry as usize, second.entry as usize);
        drop(first);
        assert_eq!(answer(&second), 5);
    }

    /// Loading a truncated file would end the process.
    #[test]
    fn what_is_too_short_is_not_loaded() {
        let code = library(1);
        for length in (0..code.len()).step_by(61) {
            match Library::load(&code[..length]) {
                Err(_) => {}
                Ok(l) => assert_eq!(answer(&l), 1, "only what nobody needs is missing"),
            }
        }
        assert!(Library::load(b"not a library").err().unwrap().contains("kernels.so"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nobody_can_change_what_is_loaded() {
        use std::io::{Seek, Write};
        let mut file = sealed(b"contents").unwrap();
        file.rewind().unwrap();
        assert!(file.write_all(b"others").is_err());
        assert!(file.set_len(0).is_err() && file.set_len(100).is_err());
        assert_eq!(std::fs::read(name(&file)).unwrap(), b"contents");
        assert_ne!(name(&file), name(&file));
    }
}
