//! The interface of backends: a backend compiles a closed program once, and the compiled program runs many times.

use crate::ast::{Program, conforms};
use crate::error::{Error, Result};
use crate::repr::{ArrayTuple, RawArray, RawTy, Scalar, View, ViewMut, checked_size};
use smallvec::SmallVec;

/// A backend: it compiles programs.
pub trait Backend: Send + Sync {
    /// The name by which users select the backend.
    fn name(&self) -> &'static str;
    /// Compiles a program.
    ///
    /// # Errors
    /// Whatever prevents the program from being compiled.
    fn compile(&self, program: &Program) -> Result<Box<dyn Executable>>;

    /// Names everything on which the result of [`start`](Self::start) depends, besides the program. A process
    /// compiles a program once for each configuration: see [`crate::program_cache`]. `None` if each call may
    /// have another result.
    fn configuration(&self) -> Option<&str> {
        None
    }

    /// As [`compile`](Self::compile), for a program that is run at once, perhaps only once. A backend whose compiler takes
    /// long may execute the first runs in another way, while the compiler works in the background.
    ///
    /// # Errors
    /// As [`compile`](Self::compile).
    fn start(&self, program: &Program) -> Result<Box<dyn Executable>> {
        self.compile(program)
    }
}

/// A compiled program. Several threads may run it at once.
pub trait Executable: Send + Sync {
    /// Computes the result for an argument of the program's type.
    ///
    /// # Errors
    /// An argument of another type, and everything that is checked at run time: indices, extents, division by zero.
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple>;

    /// As [`run`](Self::run), on arrays and with results in the memory of the caller. Returns `false`, and changes nothing, if the backend has no better way at
    /// the moment than to copy the results of `run`.
    ///
    /// # Errors
    /// As [`run`](Self::run), and results of other extents than their places, which may be partly overwritten.
    fn run_into(&self, _arguments: &[View<'_>], _results: &mut [ViewMut<'_>]) -> Result<bool> {
        Ok(false)
    }

    /// Prepares runs with arguments of the extents of this one: whatever a backend compiles for these extents, it compiles now.
    ///
    /// # Errors
    /// As [`run`](Self::run) for an argument of another type, and as [`Backend::compile`].
    fn prepare(&self, _argument: &ArrayTuple) -> Result<()> {
        Ok(())
    }

    /// The compiled program for other processes, which have neither the program nor a compiler: for each of these kinds of processors, or for
    /// that of this process if there are none.
    ///
    /// # Errors
    /// [`Error::Bundle`] if the backend has no such form of the program, and as [`Backend::compile`].
    fn bundle(&self, _processors: &[&str]) -> Result<Vec<u8>> {
        Err(Error::Bundle { place: "of a program".into(), why: "only the native backend makes bundles".into() })
    }

    /// Like [`run`](Self::run), for a program whose arguments and results have no dimensions. The scalars of the
    /// arguments and of the results are in order from left to right; the entries of the results already have the right
    /// types. Returns `false` if the backend has no faster way than `run`, if a scalar has another type than in the
    /// program, or if the program fails: then `run` reports the reason.
    fn call(&self, _argument: &[Scalar], _result: &mut [Scalar]) -> bool {
        false
    }
}

/// Checks an argument: it must have the type of the program's argument, extents that arrays can have (NOTE [The largest
/// extent]), and columns of matching length. Returns the arrays from left to right.
///
/// # Errors
/// `Error::Type`, and `Error::Memory` for the extents.
pub fn check_argument<'a>(argument: &'a ArrayTuple, ty: &RawTy) -> Result<SmallVec<[&'a RawArray; 8]>> {
    if !conforms(argument, ty) {
        let (expected, found) = (ty.to_string(), describe(argument));
        return Err(Error::Type { op: "argument of the program".into(), expected, found });
    }
    let arrays = argument.leaves();
    match arrays.iter().find(|a| checked_size(&a.extents).is_none()) {
        None => Ok(arrays),
        Some(a) => Err(Error::Memory { op: "`argument`".into(), shape: a.extents.to_vec() }),
    }
}

/// The type of host arrays, for messages. It mentions columns that do not match.
fn describe(a: &ArrayTuple) -> String {
    match a {
        ArrayTuple::Unit => "()".into(),
        ArrayTuple::Pair(p) => format!("({}, {})", describe(&p.0), describe(&p.1)),
        ArrayTuple::Array(a) => {
            let columns: Vec<_> = a.columns.iter().map(|c| c.ty().to_string()).collect();
            let bad = a.columns.iter().find(|c| c.len() != a.size());
            let lengths = bad.map(|c| format!(" with {} elements in a column", c.len())).unwrap_or_default();
            format!("array of shape {:?} and scalars [{}]{lengths}", a.extents, columns.join(", "))
        }
    }
}
