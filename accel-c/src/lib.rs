//! The interface to C: `include/accel.h` says what each function does.
//!
//! NOTE [Memory of C]: pointers come from outside, and nothing is known about them but what the header demands. What can be checked is
//! checked before it is used: null, alignment, sizes, memory that two columns share, and that a `bool` is 0 or 1.
//!
//! NOTE [No unwinding into C]: a panic in a function that C calls would end the process. So each function catches it.

mod columns;

use accel_core::backend::Executable;
use accel_core::error::Error;
use accel_core::repr::{ArrayTuple, RawArray, View, Views, ViewsMut};
use accel_native::bundle::{Loaded, open, open_embedded};
use columns::{AccelColumn, Group, elements, groups, of_each, overlap, places, put};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr;

/// What a function returns.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccelStatus {
    /// No error.
    Ok,
    /// The program is not what was expected.
    Bundle,
    /// An argument of another type, or a pointer that cannot be one.
    Type,
    /// Extents that do not fit.
    Shape,
    /// An index out of bounds.
    Index,
    /// An integer division by zero.
    Division,
    /// There is not enough memory.
    Memory,
    /// Anything else.
    Other,
}

impl From<&Error> for AccelStatus {
    fn from(error: &Error) -> AccelStatus {
        match error {
            Error::Bundle { .. } => AccelStatus::Bundle,
            Error::Type { .. } => AccelStatus::Type,
            Error::Shape { .. } | Error::Host(_) => AccelStatus::Shape,
            Error::OutOfBounds { .. } => AccelStatus::Index,
            Error::DivisionByZero { .. } => AccelStatus::Division,
            Error::Memory { .. } => AccelStatus::Memory,
            _ => AccelStatus::Other,
        }
    }
}

/// A loaded program.
pub struct AccelProgram {
    loaded: Loaded,
    arguments: Vec<Group>,
    results: Vec<Group>,
}

impl AccelProgram {
    fn new(loaded: Loaded) -> Result<AccelProgram, Error> {
        let [arg, result] = loaded.types();
        let (arguments, results) = (groups(arg)?, groups(result)?);
        Ok(AccelProgram { loaded, arguments, results })
    }
}

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// Notes the text of an error, and gives its code.
fn fail(error: &Error) -> AccelStatus {
    let text = CString::new(error.to_string().replace('\0', " ")).unwrap_or_default();
    // A thread that ends has no text any more.
    let _ = ERROR.try_with(|last| last.replace(text));
    error.into()
}

/// Calls a function, whose panic is an error: NOTE [No unwinding into C].
fn caught<T>(call: impl FnOnce() -> Result<T, Error>) -> Result<T, AccelStatus> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.map_err(|e| fail(&e)),
        Err(_) => Err(fail(&Error::Internal("a panic".into()))),
    }
}

fn loaded(load: impl FnOnce() -> Result<Loaded, Error>) -> *mut AccelProgram {
    let program = caught(|| Ok(Box::new(AccelProgram::new(load()?)?)));
    program.map_or(ptr::null_mut(), Box::into_raw)
}

fn wrong(what: &str) -> Error {
    Error::Type { op: "`accel.h`".into(), expected: what.into(), found: "another pointer".into() }
}

/// The program in a file; null after an error.
///
/// # Safety
/// `path` is null, or a text that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accel_load(path: *const c_char) -> *mut AccelProgram {
    loaded(|| {
        if path.is_null() {
            return Err(wrong("the name of a file"));
        }
        // SAFETY: the caller's guarantee.
        let path = unsafe { CStr::from_ptr(path) };
        open(Path::new(path.to_str().map_err(|_| wrong("the name of a file in UTF-8"))?))
    })
}

/// The program in bytes of the caller's program; null after an error.
///
/// # Safety
/// The bytes are a bundle, and stay where they are for ever.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accel_embedded(bytes: *const c_void, size: usize) -> *mut AccelProgram {
    loaded(|| {
        if bytes.is_null() || isize::try_from(size).is_err() {
            return Err(wrong("the bytes of a bundle"));
        }
        // SAFETY: the caller's guarantee.
        unsafe { open_embedded(std::slice::from_raw_parts(bytes.cast(), size)) }
    })
}

/// Frees a program.
///
/// # Safety
/// `program` is null, or comes from a function above, was not freed before, and does not run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accel_free(program: *mut AccelProgram) {
    if !program.is_null() {
        // SAFETY: the caller's guarantee; `loaded` has made it from a box.
        let program = unsafe { Box::from_raw(program) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(program)));
    }
}

/// The number of columns of the arguments, and their types and ranks.
///
/// # Safety
/// `program` is null or a loaded program; there are `room` columns at `columns`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accel_arguments(
    program: *const AccelProgram,
    columns: *mut AccelColumn,
    room: usize,
) -> usize {
    // SAFETY: the caller's guarantee.
    unsafe { program.as_ref().map_or(0, |program| columns::describe(&program.arguments, columns, room)) }
}

/// The number of columns of the results, and their types and ranks.
///
/// # Safety
/// As [`accel_arguments`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accel_results(program: *const AccelProgram, columns: *mut AccelColumn, room: usize) -> usize {
    // SAFETY: the caller's guarantee.
    unsafe { program.as_ref().map_or(0, |program| columns::describe(&program.results, columns, room)) }
}

/// Runs a program.
///
/// # Safety
/// `program` is a loaded program. There are as many columns as these numbers say. Each has as many elements of its type as its extents
/// say, which nobody changes meanwhile, and nobody else uses those of results.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accel_run(
    program: *const AccelProgram,
    arguments: *const AccelColumn,
    argument_count: usize,
    results: *mut AccelColumn,
    result_count: usize,
) -> AccelStatus {
    let run = || {
        if program.is_null() || (arguments.is_null() && argument_count > 0) || (results.is_null() && result_count > 0) {
            return Err(wrong("a program and columns"));
        }
        // SAFETY: the caller's guarantee. A slice of no elements needs no address.
        let (program, arguments, results) = unsafe {
            (
                &*program,
                if argument_count == 0 { &[] } else { std::slice::from_raw_parts(arguments, argument_count) },
                if result_count == 0 { &mut [] } else { std::slice::from_raw_parts_mut(results, result_count) },
            )
        };
        // SAFETY: as above.
        unsafe { run(program, arguments, results) }
    };
    caught(run).err().unwrap_or(AccelStatus::Ok)
}

/// # Safety
/// As [`accel_run`].
unsafe fn run(program: &AccelProgram, arguments: &[AccelColumn], results: &mut [AccelColumn]) -> Result<(), Error> {
    columns::check("argument", &program.arguments, arguments, false)?;
    columns::check("result", &program.results, results, true)?;
    if overlap(arguments, results) {
        return Err(wrong("memory of a result that is not that of another column"));
    }
    let mut copies = vec![];
    for own in of_each(&program.arguments, arguments).filter(|own| own.len() > 1) {
        // SAFETY: the caller's guarantee, and `check`.
        let columns: Result<_, Error> = own.iter().map(|c| Ok(unsafe { elements(c)? }.to_column())).collect();
        copies.push(RawArray { extents: own[0].extents().into(), columns: columns? });
    }
    let (mut views, mut copies) = (Views::new(), copies.iter());
    for own in of_each(&program.arguments, arguments) {
        views.push(match own {
            // SAFETY: as above.
            [column] => View::Part(column.extents(), unsafe { elements(column)? }),
            _ => View::Array(copies.next().ok_or_else(|| Error::Internal("an argument without columns".into()))?),
        });
    }
    let in_place = program.results.iter().all(|g| g.types.len() == 1) && results.iter().all(|c| !c.data.is_null());
    if in_place {
        // SAFETY: as above, and no other column has this memory.
        let mut places: ViewsMut<'_> = unsafe { places(results)? };
        if program.loaded.run_into(&views, &mut places)? {
            return Ok(());
        }
    }
    let mut all = views.iter().map(|view| view.to_array());
    let [arg, _] = program.loaded.types();
    let argument = ArrayTuple::of(arg, &mut all).ok_or_else(|| Error::Internal("too few arguments".into()))?;
    let found = program.loaded.run(&argument)?;
    // SAFETY: as above.
    unsafe { put(&found.leaves(), results) }
}

/// The text of the last error of this thread.
#[unsafe(no_mangle)]
pub extern "C" fn accel_error() -> *const c_char {
    // The text stays where it is until it is replaced.
    ERROR.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// The number of threads of parallel work.
#[unsafe(no_mangle)]
pub extern "C" fn accel_threads(count: usize) -> AccelStatus {
    let set = || {
        let made = rayon::ThreadPoolBuilder::new().num_threads(count).build_global();
        made.map_err(|why| Error::Host(format!("the threads cannot be chosen: {why}")))
    };
    caught(set).err().unwrap_or(AccelStatus::Ok)
}
