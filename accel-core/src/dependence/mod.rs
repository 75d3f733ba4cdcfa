//! By which numbers of its argument each number of a program's result has a derivative: the pattern of its Jacobian.
//!
//! NOTE \[Sets of numbers\]: the plan of the interpreter runs on *cells* instead of scalars. A cell knows the set of the chosen numbers by
//! which it has a derivative, and its value only if it depends on none of them, not even through a comparison or a
//! rounding. So a run stands for the runs at all values of the chosen numbers, and its sets hold for all of them. Where a value
//! decides that is not known, the run goes all ways:
//!
//! - a conditional computes both branches, and the results are joined: a value stays known where both agree, and
//!   the set is the union. A branch that fails at every value of the chosen numbers contributes nothing;
//! - a loop whose condition is not known is repeated until its state, joined with those of all earlier steps, does not change. The values of a
//!   state are forgotten where they change, and sets only grow, so this ends;
//! - a read at an index that is not known reads all elements that its known components leave.
//!
//! What is not used has no derivative, and what is multiplied by 0 has one: other values of the other arguments may differ from 0. Extents
//! that are not known are an error, since no result then has a place in a matrix.

mod cells;
mod code;
mod ops;
mod run;

use crate::ast::Program;
use crate::backend::check_argument;
use crate::error::{Error, Result};
use crate::interp::Interpreted;
use crate::pass::with_dependences_of_rules;
use crate::repr::ArrayTuple;
use cells::{Arrays, Cell, Cells, Stop};
use std::rc::Rc;

/// For each floating-point number of a result, the numbers of the argument by which it has a derivative, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependences {
    /// One list for each number of the result.
    pub rows: Vec<Vec<u32>>,
    /// How many numbers of the argument were chosen.
    pub columns: usize,
}

/// By which numbers of the parts `by` of its argument (`None`: of the whole argument) each number of a program's result may have a
/// derivative, at any values of these parts: NOTE \[Sets of numbers\] in the source of this module. Shapes and the other parts of the argument
/// are those of `argument`.
///
/// Numbers are the floating-point components of elements. They are counted array by array, in row-major order of the elements, and
/// for elements that are tuples component by component.
///
/// # Errors
/// `Error::Shape` if an extent depends on the chosen parts. Those of a run that do not depend on the chosen parts.
pub fn dependences(program: &Program, by: Option<&Program>, argument: &ArrayTuple) -> Result<Dependences> {
    let interpreted = Interpreted::new(&with_dependences_of_rules(program));
    check_argument(argument, &interpreted.arg)?;
    let known: Arrays = argument.leaves().into_iter().map(|a| Rc::new(Cells::known(a))).collect();
    let (arguments, columns) = choose(&known, by)?;
    let results = run::run(&interpreted.plan, &arguments).map_err(Stop::error)?;
    let numbers = results.iter().flat_map(|a| a.numbers());
    Ok(Dependences { rows: numbers.map(|cell| cell.by.members().to_vec()).collect(), columns })
}

/// The argument with unknown numbers in the chosen parts, and how many these are.
fn choose(known: &Arrays, by: Option<&Program>) -> Result<(Arrays, usize)> {
    let all: usize = known.iter().map(|a| a.numbers().count()).sum();
    if u32::try_from(all).is_err() {
        let expected = "at most 2^32 numbers".into();
        return Err(Error::Shape { op: "pattern of a Jacobian".into(), expected, found: all.to_string() });
    }
    let unknown = numbered(known, Some);
    let Some(by) = by else { return Ok((unknown, all)) };
    // A choice moves arrays and computes nothing.
    let parts = run::run(&Interpreted::new(by).plan, &unknown).map_err(Stop::error)?;
    let chosen: Vec<u32> = parts.iter().flat_map(|a| a.numbers()).flat_map(|c| c.by.members()).copied().collect();
    let mut columns = vec![None; all];
    chosen.iter().enumerate().for_each(|(column, k)| columns[*k as usize] = Some(column as u32));
    Ok((numbered(known, |k| columns[k as usize]), chosen.len()))
}

/// The arrays in which the numbers are unknown that `column` makes columns of the Jacobian.
fn numbered(arrays: &Arrays, column: impl Fn(u32) -> Option<u32>) -> Arrays {
    let mut next = 0..;
    let mut number = |cell: &Cell| next.next().and_then(&column).map_or_else(|| cell.clone(), Cell::chosen);
    arrays.iter().map(|a| Rc::new(a.map_numbers(&mut number))).collect()
}
