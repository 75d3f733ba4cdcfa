//! Programs of scalar code as functions of numbers: NOTE [Programs of numbers] of the generator.

use crate::abi::Call;
use crate::library::Library;
use accel_core::repr::{Scalar, ScalarType};
use accel_fusion::kernel::{ArrayId, Program};

/// The function of such a program. It may be called as long as the library exists.
pub struct Numbers {
    call: Call,
    /// The types of what the arguments consist of.
    arguments: Vec<ScalarType>,
    /// The same of the results.
    results: Vec<ScalarType>,
}

impl Numbers {
    /// `None` for other programs.
    pub fn new(program: &Program, library: &Library) -> Option<Numbers> {
        let types =
            |arrays: &[ArrayId]| arrays.iter().flat_map(|a| program.arrays[*a].columns.iter().copied()).collect();
        Some(Numbers { call: library.call?, arguments: types(&program.inputs), results: types(&program.results) })
    }

    /// Computes the numbers that are the results for these. `false` if they have other types than the program's, or it fails.
    #[inline]
    pub fn call(&self, given: &[Scalar], found: &mut [Scalar]) -> bool {
        let fit = |types: &[ScalarType], xs: &[Scalar]| types.iter().copied().eq(xs.iter().map(|x| x.ty()));
        // SAFETY: the library is one of this program: it reads as many scalars of these types, and sets the values of as many results.
        fit(&self.arguments, given)
            && fit(&self.results, found)
            && unsafe { (self.call)(given.as_ptr(), found.as_mut_ptr()) } == 0
    }
}
