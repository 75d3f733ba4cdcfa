//! Programs in which no array has dimensions, called with numbers.
//!
//! A program of scalar code only has a function of scalars: NOTE [Programs of numbers] of the generator. Others have tables as runs on arrays
//! do; they are kept from call to call.

use crate::memory::{scalar, set};
use crate::runtime::{Code, Spare, execute};
use accel_codegen::Layout;
use accel_core::error::Result;
use accel_core::repr::{Scalar, ScalarType, Scalars};
use accel_fusion::kernel::{ArrayId, Program};
use std::sync::Mutex;

/// What is known of such a program.
pub struct Numbers {
    /// The place among the columns and the type of each scalar that the arguments consist of.
    arguments: Vec<(usize, ScalarType)>,
    /// The same of the results, with a zero of the type.
    results: Vec<(usize, Scalar)>,
    /// What the last call leaves. The tables are those of the next one but for the arguments, as all that the program writes is in cells.
    kept: Mutex<Option<Spare>>,
}

impl Numbers {
    /// `None` for a program with dimensions.
    pub fn new(program: &Program, layout: &Layout) -> Option<Numbers> {
        let places = |arrays: &[ArrayId]| -> Vec<_> {
            let of = |a: &ArrayId| (layout.columns[*a]..).zip(program.arrays[*a].columns.clone());
            arrays.iter().flat_map(of).collect()
        };
        let arguments = places(&program.inputs);
        let results = places(&program.results).into_iter().map(|(at, t): (_, ScalarType)| (at, t.zero())).collect();
        program.arrays.iter().all(|a| a.rank == 0).then(|| Numbers { arguments, results, kept: Mutex::default() })
    }

    /// Calls the function of scalars. `false` if there is none or it has failed.
    fn call_directly(&self, code: &Code, given: &[Scalar], found: &mut Scalars) -> bool {
        let Some(call) = code.library.call else { return false };
        let first = found.len();
        self.results.iter().for_each(|(_, zero)| found.push(*zero));
        // SAFETY: the library is one of this program: it reads as many scalars of these types, and sets the values of as many results.
        let failed = unsafe { call(given.as_ptr(), found[first..].as_mut_ptr()) } != 0;
        if failed {
            found.truncate(first);
        }
        !failed
    }

    /// Executes the program with tables.
    fn call_with_tables(&self, code: &Code, given: &[Scalar], found: &mut Scalars) -> Result<bool> {
        let (mut kept, mut own) = (self.kept.try_lock(), None);
        let place = kept.as_deref_mut().unwrap_or(&mut own);
        let spare = place.get_or_insert_with(|| {
            let mut spare = Spare::default();
            code.begin(&mut spare);
            spare
        });
        for ((at, _), x) in self.arguments.iter().zip(given) {
            set(&mut spare.tables.cells[*at], *x);
        }
        let executed = execute(code, spare);
        if !matches!(executed, Ok(true)) {
            // The record of the failure is in the tables.
            *place = None;
            return executed;
        }
        for (at, zero) in &self.results {
            // SAFETY: the program has computed its results, each in its cell.
            found.push(unsafe { scalar(spare.tables.columns[*at], zero.ty()) });
        }
        Ok(true)
    }
}

/// Appends the numbers that are the results for these. `false` for a program with dimensions, or arguments that do not fit.
///
/// # Errors
/// Everything that is checked at run time.
pub fn call(code: &Code, given: &[Scalar], found: &mut Scalars) -> Result<bool> {
    let Some(numbers) = &code.numbers else { return Ok(false) };
    if !numbers.arguments.iter().map(|(_, t)| *t).eq(given.iter().map(|x| x.ty())) {
        return Ok(false);
    }
    // What has failed is told by the other way.
    if numbers.call_directly(code, given, found) { Ok(true) } else { numbers.call_with_tables(code, given, found) }
}
