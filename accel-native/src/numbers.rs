//! Programs in which no array has dimensions, called with numbers.
//!
//! A program of scalar code only has a function of words: NOTE [Programs of numbers] of the generator. Others have tables as runs on arrays
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
    /// The places among the columns, and the types, of what arguments and results consist of.
    arguments: Vec<(usize, ScalarType)>,
    results: Vec<(usize, ScalarType)>,
    /// What the last call leaves. The tables are those of the next one but for the arguments, as all that the program writes is in cells.
    kept: Mutex<Option<Spare>>,
}

/// Functions of words have up to so many arguments and results.
const FEW: usize = 8;

impl Numbers {
    /// `None` for a program with dimensions.
    pub fn new(program: &Program, layout: &Layout) -> Option<Numbers> {
        let places = |arrays: &[ArrayId]| {
            let of = |a: &ArrayId| (layout.columns[*a]..).zip(program.arrays[*a].columns.clone());
            arrays.iter().flat_map(of).collect()
        };
        let (arguments, results) = (places(&program.inputs), places(&program.results));
        program.arrays.iter().all(|a| a.rank == 0).then(|| Numbers { arguments, results, kept: Mutex::default() })
    }

    /// Calls the function of words. `false` if there is none or it has failed.
    fn call_with_words(&self, code: &Code, given: &[Scalar], found: &mut Scalars) -> bool {
        let Some(call) = code.library.call else { return false };
        if given.len() > FEW || self.results.len() > FEW {
            return false;
        }
        let (mut arguments, mut results) = ([0; FEW], [0; FEW]);
        arguments.iter_mut().zip(given).for_each(|(word, x)| set(word, *x));
        // SAFETY: the library is one of this program: it reads a word for each argument, writes one for each result, and no others.
        if unsafe { call(arguments.as_ptr(), results.as_mut_ptr()) } != 0 {
            return false;
        }
        for (word, (_, t)) in results.iter().zip(&self.results) {
            // SAFETY: the word has a number of this type now.
            found.push(unsafe { scalar(std::ptr::from_ref(word).cast(), *t) });
        }
        true
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
        for (at, t) in &self.results {
            // SAFETY: the program has computed its results, each in its cell.
            found.push(unsafe { scalar(spare.tables.columns[*at], *t) });
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
    if numbers.call_with_words(code, given, found) { Ok(true) } else { numbers.call_with_tables(code, given, found) }
}
