//! Bundles: compiled programs in files, for processes that have neither the program nor a C compiler.
//!
//! ```text
//! compiled program --save--> file --load--> compiled program, in another process, on another machine
//! ```
//!
//! A bundle has the versions of a program that there are when it is [saved](save), and those for all other extents
//! (NOTE \[Versions\] in `versions.rs`), each as an optimised program and as the libraries that a C compiler has made of it. So a loaded
//! program runs for all arguments, with the results and the errors of the one that was saved; the places in them are those of the source
//! from which it was compiled. It never calls a compiler. The system's libraries that it needs are those of a C program with mathematical
//! functions.
//!
//! Machine code is for a kind of processors: `x86-64`, `x86-64-v2`, `x86-64-v3` and `x86-64-v4` of the psABI for x86-64, or the name of
//! the architecture. [`save`] takes the kind of the processor on which it runs, and [`save_for`] several ones; the last one that
//! the processor supports is used. Results may differ between kinds in the last places, as they do between processors.
//!
//! NOTE [Trusted bundles]: a bundle is code, which runs with all rights of the process, and a kernel program with proofs that are believed.
//! A digest finds damage, not malice. So a file is loaded only if it belongs to the user or to the administrator and nobody else may write to
//! it, as the files of the [cache](crate::cache). Bytes that are part of the program itself are as trusted as the program, but only who
//! writes it can know that they are: [`embedded`] is unsafe.

pub(crate) mod format;
pub(crate) mod write;

use crate::context::CompiledProgram;
use crate::kernels::{Forms, Kernels, Known, Left};
use crate::library::Library;
use crate::processor::{self, KINDS};
use crate::version::{Version, views};
use crate::{cache, files};
use accel_core::afun::Compiled;
use accel_core::backend::{Executable, check_argument};
use accel_core::error::{Error, Result};
use accel_core::pass::canonical_key::ProgramKey;
use accel_core::repr::{ArrayTuple, RawTy, Scalar, View, ViewMut};
use accel_core::types::Arrays;
use accel_fusion::kernel::tape::Budget;
use accel_fusion::kernel::{Program, Verified};
use accel_fusion::pipeline::Optimized;
use format::{MAGIC, Reader, failed, made_by};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Writes a compiled program to a file, for processors of the kind of this one. It replaces a file of this name. What runs have compiled so
/// far is in it, and what is needed for other extents; so give it the program after [`compile_for`], or after runs with typical arguments.
/// It compiles all of it once more, for the kind of processors instead of this one.
///
/// ```
/// use accel_core::prelude::*;
/// use accel_native::{Native, bundle};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("squares.accel");
/// let squares = afun(|xs: Acc<Vector<f64>>| map(|x| x * x, xs));
/// bundle::save(&Compiled::new(&Native, &squares)?, &path)?;
///
/// // In another process:
/// let squares: Compiled<Vector<f64>, Vector<f64>> = bundle::load(&path)?;
/// assert_eq!(squares.run(&Array::vector(vec![1.0, 2.0, 3.0]))?.as_slice(), [1.0, 4.0, 9.0]);
/// # Ok::<(), Error>(())
/// ```
///
/// [`compile_for`]: https://docs.rs/accel/latest/accel/fn.compile_for.html
///
/// # Errors
/// [`Error::Bundle`] if the file cannot be written, if another backend has compiled the program, or if it calls foreign functions;
/// [`Error::Compiler`].
pub fn save<A: Arrays, R: Arrays>(compiled: &Compiled<A, R>, path: impl AsRef<Path>) -> Result<()> {
    save_for(compiled, path, &[])
}

/// As [`save`], for several kinds of processors of this architecture, such as `["x86-64-v2", "x86-64-v3", "x86-64-v4"]`.
///
/// # Errors
/// As [`save`], and [`Error::Bundle`] for a kind that does not exist.
pub fn save_for<A: Arrays, R: Arrays>(
    compiled: &Compiled<A, R>,
    path: impl AsRef<Path>,
    processors: &[&str],
) -> Result<()> {
    let path = path.as_ref();
    let bytes = compiled.executable().bundle(processors).map_err(|e| at(path, e))?;
    files::write_for_owner(path, &bytes).map_err(|e| failed(path.display(), e))
}

/// The compiled program in a file.
///
/// # Errors
/// [`Error::Bundle`] if the file cannot be read, if others than its owner, the user or the administrator, may write to it, if
/// it is damaged, or if the program in it has other types, is for other processors, or was compiled by another version of accel.
pub fn load<A: Arrays, R: Arrays>(path: impl AsRef<Path>) -> Result<Compiled<A, R>> {
    let path = path.as_ref();
    typed(open(path)?, path.display())
}

/// The compiled program in bytes that are part of this program, from `include_bytes!`.
///
/// # Safety
/// [`save`] has written them. They are machine code, which runs with all rights of the process: NOTE \[Trusted bundles\] in
/// `bundle.rs`.
///
/// # Errors
/// As [`load`].
pub unsafe fn embedded<A: Arrays, R: Arrays>(bytes: &'static [u8]) -> Result<Compiled<A, R>> {
    // SAFETY: the caller's guarantee.
    typed(unsafe { open_embedded(bytes)? }, EMBEDDED)
}

/// A loaded program from this place, if it has these types.
fn typed<A: Arrays, R: Arrays>(loaded: Loaded, place: impl ToString) -> Result<Compiled<A, R>> {
    Compiled::of(|arg, result| Ok(Box::new(loaded.of_types(&arg, &result).map_err(|why| failed(place, why))?)))
}

/// The program in a file, whatever its types are: for interfaces to other languages.
///
/// # Errors
/// As [`load`].
#[doc(hidden)]
pub fn open(path: &Path) -> Result<Loaded> {
    let bytes = cache::read_trusted(path).map_err(|why| failed(path.display(), why))?;
    Loaded::new(bytes.into()).map_err(|why| failed(path.display(), why))
}

/// As [`open`], for bytes that are part of the caller's program.
///
/// # Safety
/// As [`embedded`].
///
/// # Errors
/// As [`load`].
#[doc(hidden)]
pub unsafe fn open_embedded(bytes: &'static [u8]) -> Result<Loaded> {
    Loaded::new(bytes.into()).map_err(|why| failed(EMBEDDED, why))
}

/// The place of a bundle that is part of the program.
const EMBEDDED: &str = "in the program";

/// An error of a bundle for this file.
fn at(path: &Path, error: Error) -> Error {
    match error {
        Error::Bundle { why, .. } => failed(path.display(), why),
        other => other,
    }
}

/// The bytes of a bundle.
type Bytes = Arc<Cow<'static, [u8]>>;

/// A loaded program.
#[doc(hidden)]
pub struct Loaded {
    arg: RawTy,
    result: RawTy,
    versions: Vec<Stored>,
}

/// A version in a bundle. It is read when it is needed: most programs run for the extents of one of them only.
struct Stored {
    forms: StoredForms,
    read: OnceLock<Result<Version>>,
}

/// The forms of a version, for this processor. The first one is that with all strips.
#[derive(Clone)]
struct StoredForms {
    bytes: Bytes,
    /// Of each, its program and its library.
    places: Vec<(Left, [Range<usize>; 2])>,
    /// The form for inputs of some extents.
    known: Known,
}

impl Loaded {
    /// # Errors
    /// What is wrong with the bundle.
    fn new(bytes: Cow<'static, [u8]>) -> std::result::Result<Loaded, String> {
        const DAMAGED: &str = "it is damaged";
        let content = match &bytes {
            // What is part of the program is as whole as the program.
            Cow::Borrowed(bytes) => bytes.split_last_chunk::<32>().map(|(content, _)| content),
            Cow::Owned(bytes) => {
                let whole = |(content, end): &(&[u8], &[u8; 32])| <[u8; 32]>::from(Sha256::digest(content)) == **end;
                bytes.split_last_chunk::<32>().filter(whole).map(|(content, _)| content)
            }
        };
        if !bytes.starts_with(MAGIC) {
            return Err("it is not a bundle".into());
        }
        let mut reader = Reader { bytes: content.ok_or(DAMAGED)?, at: MAGIC.len() };
        let made = reader.text().ok_or(DAMAGED)?;
        if made != made_by() {
            return Err(format!(
                "another version of accel has made it: this one is {:?}, that one {made:?}",
                made_by()
            ));
        }
        let (arg, result) = (reader.ty().ok_or(DAMAGED)?, reader.ty().ok_or(DAMAGED)?);
        let names = reader.list(Reader::text).ok_or(DAMAGED)?;
        let is_here = |name: &&str| processor::position(name).filter(|k| (KINDS[*k].is_here)());
        let best = names.iter().enumerate().filter_map(|(i, name)| Some((is_here(name)?, i))).max();
        let Some((_, chosen)) = best else {
            return Err(format!("it is for processors {}, this one is {}", names.join(", "), processor::here().name));
        };
        let versions = reader.list(|reader| {
            let places = reader.list(|reader| {
                let (left, program) = (Left::read(reader)?, reader.range()?);
                let libraries: Option<Vec<_>> = names.iter().map(|_| reader.range()).collect();
                Some((left, [program, libraries?.swap_remove(chosen)]))
            })?;
            let known = reader.list(|reader| Some((reader.list(Reader::number)?, Left::read(reader)?)))?;
            Some((places, known.into_iter().collect()))
        });
        let versions = versions.filter(|_| reader.at == reader.bytes.len()).ok_or(DAMAGED)?;
        let bytes = Arc::new(bytes);
        let stored = |(places, known)| Stored {
            forms: StoredForms { bytes: bytes.clone(), places, known },
            read: OnceLock::new(),
        };
        Ok(Loaded { arg, result, versions: versions.into_iter().map(stored).collect() })
    }

    /// This program, if it has these types.
    ///
    /// # Errors
    /// The types that it has.
    fn of_types(self, arg: &RawTy, result: &RawTy) -> std::result::Result<Loaded, String> {
        for (what, expected, found) in [("an argument", arg, &self.arg), ("a result", result, &self.result)] {
            if found != expected {
                return Err(format!("the program has {what} of type {found}, expected {expected}"));
            }
        }
        Ok(self)
    }

    /// The types of its argument and of its result.
    pub fn types(&self) -> [&RawTy; 2] {
        [&self.arg, &self.result]
    }

    /// The first version for these arguments.
    fn version_for(&self, inputs: &[View<'_>]) -> Result<&Version> {
        for stored in &self.versions {
            let version = stored.read()?;
            if version.is_for(inputs) {
                return Ok(version);
            }
        }
        Err(Error::Internal("a bundle without a version for all arguments".into()))
    }
}

impl Stored {
    fn read(&self) -> Result<&Version> {
        self.read.get_or_init(|| self.forms.version()).as_ref().map_err(Clone::clone)
    }
}

impl StoredForms {
    fn version(&self) -> Result<Version> {
        let damaged = || Error::Internal("a bundle with a program that cannot be read".into());
        let (optimized, code) = self.get(&Left::default())?.ok_or_else(damaged)?;
        let (budget, left) = (code.budget, Left::default());
        let kernels = Kernels::of_forms(optimized.program.clone(), Box::new(self.clone())).with_form(left, code, &[]);
        Ok(Version::stored(optimized, kernels, budget))
    }

    fn get(&self, left: &Left) -> Result<Option<(Optimized, CompiledProgram)>> {
        let Some((_, [program, library])) = self.places.iter().find(|(found, _)| found == left) else {
            return Ok(None);
        };
        let library = Library::load(&self.bytes[library.clone()]).map_err(|why| failed("of a program", why))?;
        let Some(optimized) = Optimized::from_bytes(&self.bytes[program.clone()], &ProgramKey::default()) else {
            return Ok(None);
        };
        let budget = Budget::new(Budget::from_env()?);
        let code = CompiledProgram::new(optimized.program.clone(), Arc::new(library), budget);
        Ok(Some((optimized, code)))
    }
}

impl Forms for StoredForms {
    fn choose(&self, _: &Verified<Program>, inputs: &[Vec<usize>]) -> Result<Left> {
        Ok(self.known.get(&inputs.concat()).cloned().unwrap_or_default())
    }

    fn form(&self, _: &Verified<Program>, left: &Left, _: Option<&[Vec<usize>]>) -> Result<Option<CompiledProgram>> {
        Ok(self.get(left)?.map(|(_, code)| code))
    }

    fn has_last(&self) -> bool {
        true
    }
}

impl Executable for Loaded {
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple> {
        let inputs = views(&check_argument(argument, &self.arg)?);
        self.version_for(&inputs)?.run(argument, &inputs, &self.result)
    }

    fn run_into(&self, arguments: &[View<'_>], results: &mut [ViewMut<'_>]) -> Result<bool> {
        self.version_for(arguments)?.run_into(arguments, results)
    }

    fn prepare(&self, argument: &ArrayTuple) -> Result<()> {
        let inputs = views(&check_argument(argument, &self.arg)?);
        self.version_for(&inputs).map(|_| ())
    }

    fn call(&self, argument: &[Scalar], result: &mut [Scalar]) -> bool {
        // A program of arrays of rank 0 has one version.
        let [stored] = &self.versions[..] else { return false };
        stored.read().is_ok_and(|version| version.call(argument, result))
    }
}
