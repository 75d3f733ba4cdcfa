//! The arguments of runs.

use accel_core::error::Result as Evaluated;
use accel_core::repr::{ArrayTuple, Column, RawArray};
use accel_fusion::kernel::{ArrayId, ArrayInfo, Program, Verified, parse as parse_program};
use std::sync::OnceLock;

/// The arguments of a run, and the evaluator's results for them.
pub struct Arguments {
    pub arrays: Vec<RawArray>,
    expected: OnceLock<Evaluated<Vec<RawArray>>>,
}

impl Arguments {
    fn new(arrays: Vec<RawArray>) -> Arguments {
        Arguments { arrays, expected: OnceLock::new() }
    }

    /// The evaluator's results of a program for these arguments.
    pub fn evaluated(&self, program: &Verified<Program>) -> Evaluated<Vec<RawArray>> {
        program.evaluate(&self.tuple())
    }

    /// The arguments as one tuple.
    pub fn tuple(&self) -> ArrayTuple {
        let arrays = self.arrays.iter().cloned().map(ArrayTuple::Array);
        arrays.rev().reduce(|rest, a| ArrayTuple::pair(a, rest)).unwrap_or(ArrayTuple::Unit)
    }

    /// The evaluator's results of the test's program, computed once.
    pub fn expected(&self, program: &Verified<Program>) -> &Evaluated<Vec<RawArray>> {
        self.expected.get_or_init(|| self.evaluated(program))
    }

    /// Their extents.
    pub fn extents(&self) -> String {
        self.arrays.iter().map(|a| format!("{:?}", a.extents)).collect::<Vec<_>>().join(", ")
    }
}

/// Extents around the limits of different methods: none, one, fewer and more than vectors and groups have, and many.
/// Arrays of several dimensions have them in each dimension.
const COMMON: [[usize; 2]; 5] = [[0, 0], [1, 1], [7, 7], [40, 40], [3000, 60]];

/// Arguments of the common extents; only one run if no argument has extents.
pub fn common(program: &Program) -> Vec<Arguments> {
    let with = |[vector, other]: [usize; 2]| {
        let array = |a: &ArrayId| {
            let info = &program.arrays[*a];
            generated(info, vec![if info.rank == 1 { vector } else { other }; info.rank])
        };
        Arguments::new(program.inputs.iter().map(array).collect())
    };
    let has_extents = program.inputs.iter().any(|a| program.arrays[*a].rank > 0);
    COMMON.into_iter().take(if has_extents { COMMON.len() } else { 1 }).map(with).collect()
}

/// An array of small numbers that are not zero.
fn generated(info: &ArrayInfo, extents: Vec<usize>) -> RawArray {
    let n = extents.iter().product();
    let columns = info.columns.iter().map(|t| {
        let mut column = Column::with_capacity(*t, n);
        (0..n).for_each(|i| assert!(column.push(t.from_f64(1.0 + (i * 7 % 5) as f64))));
        column
    });
    RawArray { columns: columns.collect(), extents: extents.into() }
}

/// Parses arguments such as `[7], [2] f64 { 0.5 inf }`: extents, and elements unless they are generated.
pub fn parse(program: &Program, text: &str) -> Result<Arguments, String> {
    // No comma follows the first extent of an array.
    let parts: Vec<&str> = text.split_inclusive(']').collect();
    let mut texts: Vec<String> = vec![];
    for part in parts {
        match part.find('[') {
            Some(start) => {
                if let Some(last) = texts.last_mut() {
                    let before = part[..start].trim_end();
                    *last += before.strip_suffix(',').ok_or("expected `,` between arguments")?;
                } else if !part[..start].trim().is_empty() {
                    return Err(format!("expected the extents of an argument, found `{part}`"));
                }
                texts.push(part[start..].into());
            }
            None => {
                *texts.last_mut().ok_or_else(|| format!("expected the extents of an argument, found `{part}`"))? += part
            }
        }
    }
    if texts.len() != program.inputs.len() {
        return Err(format!("{} arguments for a program of {}", texts.len(), program.inputs.len()));
    }
    let arrays = texts.iter().zip(&program.inputs).map(|(text, a)| argument(&program.arrays[*a], text));
    let arguments = Arguments::new(arrays.collect::<Result<_, _>>()?);
    match program.takes(&arguments.arrays.iter().collect::<Vec<_>>()) {
        true => Ok(arguments),
        false => Err(
            "the arguments have other types than the program's, or other numbers of elements than their extents say"
                .into(),
        ),
    }
}

/// An argument as a literal of a program, or its extents.
fn argument(info: &ArrayInfo, text: &str) -> Result<RawArray, String> {
    let literal = parse_program(&format!("program ()\nliteral 0 = {text}\n{{ -> }}"));
    let array = literal.map_err(|e| format!("argument `{text}`: {e}"))?.literals.remove(0);
    if array.extents.len() != info.rank {
        return Err(format!(
            "argument `{text}` has {} extents, and the program takes {}",
            array.extents.len(),
            info.rank
        ));
    }
    if array.columns.is_empty() { Ok(generated(info, array.extents.to_vec())) } else { Ok(array) }
}
