//! Programs of scalar code as functions of numbers: NOTE [Programs of numbers] of the generator.

use crate::abi::Call;
use crate::library::Library;
use accel_core::repr::{Scalar, ScalarType, Scalars};
use accel_fusion::kernel::{ArrayId, Program};

/// The function of such a program. It may be called as long as the library exists.
pub struct Numbers {
    call: Call,
    /// The types of what the arguments consist of.
    arguments: Vec<ScalarType>,
    /// Zeros of the types of what the results consist of.
    results: Vec<Scalar>,
}

impl Numbers {
    /// `None` for other programs.
    pub fn new(program: &Program, library: &Library) -> Option<Numbers> {
        let call = library.call?;
        let types = |arrays: &[ArrayId]| -> Vec<ScalarType> {
            arrays.iter().flat_map(|a| program.arrays[*a].columns.iter().copied()).collect()
        };
        let results = types(&program.results).into_iter().map(ScalarType::zero).collect();
        Some(Numbers { call, arguments: types(&program.inputs), results })
    }

    /// Appends the numbers that are the results for these. `false` if these do not fit or the program fails.
    pub fn call(&self, given: &[Scalar], found: &mut Scalars) -> bool {
        if !self.arguments.iter().copied().eq(given.iter().map(|x| x.ty())) {
            return false;
        }
        let first = found.len();
        self.results.iter().for_each(|zero| found.push(*zero));
        // SAFETY: the library is one of this program: it reads as many scalars of these types, and sets the values of as many results.
        let failed = unsafe { (self.call)(given.as_ptr(), found[first..].as_mut_ptr()) } != 0;
        if failed {
            found.truncate(first);
        }
        !failed
    }
}
