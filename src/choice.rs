//! Selects the backend that runs a program.

use accel_core::afun::{AsAfun, Compiled};
use accel_core::backend::Backend;
use accel_core::error::{Error, Result};
use accel_core::interp::Interpreter;
use accel_core::types::{Arrays, Inputs};
use accel_native::Native;
use std::ffi::OsString;
use std::sync::OnceLock;

/// The names of the backends in this build.
pub const BACKENDS: &[&str] =
    if cfg!(feature = "opencl") { &["interp", "native", "opencl"] } else { &["interp", "native"] };

/// The backend with the given name.
///
/// # Errors
/// `Error::Backend` for a name that is not in [`BACKENDS`]; `Error::Device` for `opencl` without the feature or without a
/// device.
pub fn backend_named(name: &str) -> Result<&'static dyn Backend> {
    match name {
        "interp" => Ok(&Interpreter),
        "native" => Ok(&Native),
        "opencl" => opencl(),
        _ => Err(Error::Backend(name.into(), BACKENDS.join(", "))),
    }
}

#[cfg(feature = "opencl")]
fn opencl() -> Result<&'static dyn Backend> {
    Ok(accel_opencl::OpenCl::shared()?)
}

#[cfg(not(feature = "opencl"))]
fn opencl() -> Result<&'static dyn Backend> {
    Err(not_built_in())
}

/// The error without the feature.
#[cfg(any(test, not(feature = "opencl")))]
fn not_built_in() -> Error {
    Error::Device("it is not built in: turn on the feature `opencl` of the crate `accel`".into())
}

/// The backend that the environment variable `ACCEL_BACKEND` names. If the variable is not set, it is the native backend;
/// without a C compiler this backend interprets programs, after a warning. With `ACCEL_TIERED=1`, [`run`] does not wait for
/// the C compiler: see [`Options::tiered`](crate::native::Options::tiered). A process reads these variables once.
///
/// # Errors
/// Those of [`backend_named`].
pub fn default_backend() -> Result<&'static dyn Backend> {
    // A search of the environment would take a tenth of a small run.
    static NAMED: OnceLock<Option<OsString>> = OnceLock::new();
    match NAMED.get_or_init(|| std::env::var_os("ACCEL_BACKEND")) {
        Some(name) => backend_named(&name.to_string_lossy()),
        None => Ok(&Native),
    }
}

/// Runs a program on the default backend. A process compiles a program once, and once more after it has run many other
/// programs; a function that is staged again is the same program.
///
/// # Errors
/// Mistakes in the program (stored when it was staged), a missing derivative, inputs that do not match, and failures of the
/// run.
pub fn run<A: Arrays, R: Arrays>(prog: impl AsAfun<A, R>, inputs: impl Inputs<A>) -> Result<R> {
    run_on(default_backend()?, prog, inputs)
}

/// Runs a program on the given backend. The errors are those of [`run`].
pub fn run_on<A: Arrays, R: Arrays>(
    backend: &dyn Backend,
    prog: impl AsAfun<A, R>,
    inputs: impl Inputs<A>,
) -> Result<R> {
    prog.as_afun().run_on(backend, inputs)
}

/// Compiles a program on the default backend, to run it many times. The errors are those of [`run`].
pub fn compile<A: Arrays, R: Arrays>(prog: impl AsAfun<A, R>) -> Result<Compiled<A, R>> {
    compile_on(default_backend()?, prog)
}

/// As [`compile`], and also compiles what the backend compiles for the extents of these arguments only, so that the first run with such
/// arguments does not wait. The native backend makes extents of at most 64 constants of the program; see the book, "How a program is
/// compiled".
///
/// ```
/// # use accel::prelude::*;
/// use accel::compile_for;
/// let squares = afun(|xs: Acc<Vector<f64>>| sum(xs * xs));
/// let xs = Array::vector(vec![3.0, 4.0]);
/// let compiled = compile_for(grad(&squares), &xs)?;
/// assert_eq!(compiled.run(&xs)?.to_vec(), [6.0, 8.0]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// As [`run`].
pub fn compile_for<A: Arrays, R: Arrays>(prog: impl AsAfun<A, R>, inputs: impl Inputs<A>) -> Result<Compiled<A, R>> {
    let compiled = compile(prog)?;
    compiled.prepare_for(inputs)?;
    Ok(compiled)
}

/// Compiles a program on the given backend. The errors are those of [`run`].
pub fn compile_on<A: Arrays, R: Arrays>(backend: &dyn Backend, prog: impl AsAfun<A, R>) -> Result<Compiled<A, R>> {
    Compiled::new(backend, prog.as_afun())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tests are built with the feature, so they cannot ask for the backend without it.
    #[test]
    fn a_backend_that_is_not_built_in_says_how_to_get_it() {
        assert!(not_built_in().to_string().contains("turn on the feature `opencl`"));
        assert_eq!(BACKENDS.contains(&"opencl"), cfg!(feature = "opencl"));
    }
}
