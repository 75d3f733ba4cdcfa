//! Scalar programs as functions of scalars: NOTE [Scalar programs] of the generator.

use crate::abi::ScalarEntry;
use crate::library::Library;
use accel_core::repr::{Scalar, ScalarType};
use accel_fusion::kernel::{ArrayId, Program};

/// The function of a scalar program. It can be called as long as the library exists.
pub struct ScalarProgram {
    call: ScalarEntry,
    /// The types of the scalar components of the arguments.
    arguments: Vec<ScalarType>,
    /// The types of the scalar components of the results.
    results: Vec<ScalarType>,
}

impl ScalarProgram {
    /// `None` if the program is not a scalar program.
    pub fn new(program: &Program, library: &Library) -> Option<ScalarProgram> {
        let types =
            |arrays: &[ArrayId]| arrays.iter().flat_map(|a| program.arrays[*a].columns.iter().copied()).collect();
        Some(ScalarProgram { call: library.call?, arguments: types(&program.inputs), results: types(&program.results) })
    }

    /// Computes the results for these arguments. Returns `false` if they do not have the program's types, or if the
    /// program fails.
    #[inline]
    pub fn call(&self, given: &[Scalar], found: &mut [Scalar]) -> bool {
        let fit = |types: &[ScalarType], xs: &[Scalar]| types.iter().copied().eq(xs.iter().map(|x| x.ty()));
        // SAFETY: the library belongs to this program: it reads as many scalars of these types, and sets the values of
        // as many results.
        fit(&self.arguments, given)
            && fit(&self.results, found)
            && unsafe { (self.call)(given.as_ptr(), found.as_mut_ptr()) } == 0
    }
}
