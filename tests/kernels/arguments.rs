//! The arguments of runs.

use accel_core::error::Result as Evaluated;
use accel_core::repr::{ArrayTuple, Column, RawArray, ScalarType, View};
use accel_fusion::kernel::{ArrayId, ArrayInfo, Program, Verified, parse as parse_program};
use libtest_mimic::Failed;
use std::collections::HashSet;
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
        self.arrays.iter().cloned().collect()
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
        let array = |(k, a): (usize, &ArrayId)| {
            let info = &program.arrays[*a];
            generated(k, info, vec![if info.rank == 1 { vector } else { other }; info.rank])
        };
        Arguments::new(program.inputs.iter().enumerate().map(array).collect())
    };
    let has_extents = program.inputs.iter().any(|a| program.arrays[*a].rank > 0);
    COMMON.into_iter().take(if has_extents { COMMON.len() } else { 1 }).map(with).collect()
}

/// Argument `k`: truth values, integers from 1 to 5, so that they are indices of most arrays, and floats from 1 to 6. No two arguments,
/// columns, rows or blocks are equal, so a result shows which element was read.
fn generated(k: usize, info: &ArrayInfo, extents: Vec<usize>) -> RawArray {
    let n = extents.iter().product();
    let columns = info.columns.iter().enumerate().map(|(c, t)| {
        let mut column = Column::with_capacity(*t, n);
        for i in 0..n {
            let random = mixed((k << 48 | c << 40 | i) as u64);
            let x = match t {
                // Multiples of 1/8 are exact, and so are their sums and small products.
                ScalarType::F32 | ScalarType::F64 => 1.0 + (random % 41) as f64 / 8.0,
                ScalarType::Bool => (random % 2) as f64,
                _ => 1.0 + (random % 5) as f64,
            };
            assert!(column.push(t.from_f64(x)));
        }
        column
    });
    RawArray { columns: columns.collect(), extents: extents.into() }
}

/// A pseudo-random number for `i` (the finaliser of splitmix64).
fn mixed(i: u64) -> u64 {
    let z = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ (z >> 31)
}

/// The arguments, their columns of elements, and the rows, columns and blocks of generated data are all different.
pub fn data_differs() -> Result<(), Failed> {
    const N: usize = 40;
    let all_differ = |parts: Vec<Vec<String>>| parts.len() == parts.iter().collect::<HashSet<_>>().len();
    let info = ArrayInfo { rank: 3, columns: vec![ScalarType::F64, ScalarType::I64, ScalarType::F64] };
    let arrays = [0, 1].map(|k| generated(k, &info, vec![N; 3]));
    let numbers = |column: &Column| (0..column.len()).map(|i| format!("{:?}", column.get(i))).collect::<Vec<_>>();
    let columns: Vec<Vec<String>> = arrays.iter().flat_map(|a| &a.columns).map(numbers).collect();
    for column in &columns {
        let consecutive = |length| column.chunks(length).map(|part| part.to_vec()).collect();
        let apart = |by| (0..by).map(|j| column.iter().skip(j).step_by(by).cloned().collect()).collect();
        if ![consecutive(N), consecutive(N * N), apart(N), apart(N * N)].into_iter().all(all_differ) {
            return Err("two rows, columns or blocks are equal".into());
        }
    }
    if all_differ(columns) { Ok(()) } else { Err("two arguments or two columns of elements are equal".into()) }
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
    let inputs = program.inputs.iter().enumerate();
    let arrays = texts.iter().zip(inputs).map(|(text, (k, a))| argument(k, &program.arrays[*a], text));
    let arguments = Arguments::new(arrays.collect::<Result<_, _>>()?);
    match program.takes(arguments.arrays.iter().map(View::Array)) {
        true => Ok(arguments),
        false => Err(
            "the arguments have other types than the program's, or other numbers of elements than their extents say"
                .into(),
        ),
    }
}

/// Argument `k` as a literal of a program, or its extents.
fn argument(k: usize, info: &ArrayInfo, text: &str) -> Result<RawArray, String> {
    let literal = parse_program(&format!("program ()\nliteral 0 = {text}\n{{ -> }}"));
    let array = literal.map_err(|e| format!("argument `{text}`: {e}"))?.literals.remove(0);
    if array.extents.len() != info.rank {
        return Err(format!(
            "argument `{text}` has {} extents, and the program takes {}",
            array.extents.len(),
            info.rank
        ));
    }
    if array.columns.is_empty() { Ok(generated(k, info, array.extents.to_vec())) } else { Ok(array) }
}
