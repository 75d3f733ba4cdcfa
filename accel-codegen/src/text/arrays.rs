//! Local names for the extents and columns of the arrays that a function reads and writes.

use super::names::position;
use super::parameters::Arg;
use super::types::{bytes, in_memory};
use super::writer::Writer;
use crate::text::parameters::{Parameter, name};
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Instr, Program, ScalarFn, walk};
use std::collections::{BTreeMap, BTreeSet};

/// A column of an array: its number and its type.
pub type Column = (ArrayId, usize, ScalarType);

/// The columns of all of these arrays.
pub fn columns(program: &Program, arrays: &[ArrayId]) -> Vec<Column> {
    let of = |a: &ArrayId| program.arrays[*a].columns.iter().enumerate().map(|(c, t)| (*a, c, *t)).collect::<Vec<_>>();
    arrays.iter().flat_map(of).collect()
}

/// The declaration of an array of `n` numbers on the stack.
///
/// NOTE [Arrays on the stack]: GCC 12 takes an array to begin at a multiple of 32 bytes where a loop over rows ends in a vector of 32 bytes,
/// after vectors of 64 bytes that may begin anywhere, and yet leaves it at a multiple of 16. Copying rows of 12 integers ended
/// the process. So arrays that are long enough for such a vector say where they begin.
pub fn local_array(t: ScalarType, name: &str, n: i64) -> String {
    let n = n.max(1);
    let aligned =
        if i64::from(bytes(t)) * n < PART { String::new() } else { format!(" __attribute__((aligned({PART})))") };
    format!("{t} {name}[{n}]{aligned};")
}

/// The bytes of the vectors in which loops over vectors of 64 bytes end.
const PART: i64 = 32;

impl Writer<'_> {
    /// Declares local names for the extents and columns that scalar functions read: `a3_n0` is the outermost extent of
    /// array 3, `a3_0` its first column.
    pub fn hoist(&mut self, codes: &[&ScalarFn]) {
        let mut used = BTreeMap::new();
        codes.iter().for_each(|c| uses(&c.instrs, &mut used));
        for (array, columns) in used {
            self.hoist_extents(array);
            columns.into_iter().for_each(|c| self.hoist_column(array, c, "const "));
        }
    }

    /// Declares local names for the columns of an array that the function writes, and for its extents if `extents`.
    pub fn hoist_output(&mut self, array: ArrayId, extents: bool) {
        if extents {
            self.hoist_extents(array);
        }
        (0..self.program.arrays[array].columns.len()).for_each(|c| self.hoist_column(array, c, ""));
    }

    /// Declares local names for the extents of an array.
    pub fn hoist_extents(&mut self, array: ArrayId) {
        if self.in_frame {
            return;
        }
        for dim in 0..self.program.arrays[array].rank {
            if !self.dialect().has_tables() {
                let arg = Arg::Extent(array, dim);
                self.params.add(arg, Parameter::number(arg));
                continue;
            }
            let place = match self.host {
                Some(layout) => format!("r->extents[{}]", layout.extents[array] + dim),
                None => format!("arrays[{array}].extents[{dim}]"),
            };
            self.line(format!("const i64 a{array}_n{dim} = {place};"));
        }
    }

    /// Declares a local name for a column of an array; `constant` is `const ` if the column is only read.
    pub fn hoist_column(&mut self, array: ArrayId, c: usize, constant: &str) {
        if self.in_frame {
            return;
        }
        let t = in_memory(self.program.arrays[array].columns[c]);
        let place = self.column(array, c, constant);
        if !self.dialect().has_tables() {
            // A parameter with this name.
            return;
        }
        if self.program.arrays[array].rank == 0 && self.host.is_none() && !constant.is_empty() {
            // Copies the value. Otherwise the compiler, which does not know that nobody writes it, would read it again
            // at each position.
            return self.line(format!("const {t} a{array}_{c}[] = {{ *(const {t} *){place} }};"));
        }
        // The functions of the host program read and write the same memory in one body.
        let restrict = if self.host.is_some() || self.aliased.contains(&array) { "" } else { "restrict " };
        self.line(format!("{constant}{t} *{restrict}const a{array}_{c} = {place};"));
    }

    /// The address of a column of an array; `constant` is `const ` if the column is only read.
    pub fn column(&mut self, array: ArrayId, c: usize, constant: &str) -> String {
        if self.dialect().has_tables() {
            return match self.host {
                Some(layout) => format!("r->columns[{}]", layout.columns[array] + c),
                None => format!("arrays[{array}].columns[{c}]"),
            };
        }
        let (arg, t) = (Arg::Column(array, c), self.program.arrays[array].columns[c]);
        let mut column = Parameter::buffer(&format!("global {t}"), name(arg));
        if !constant.is_empty() {
            column = column.constant();
        }
        if !self.aliased.contains(&array) {
            column = column.alone();
        }
        self.params.add(arg, column);
        name(arg)
    }

    /// The row-major position of an index of an array.
    pub fn place(&self, array: ArrayId, index: &[String]) -> String {
        if !self.declarations.dialect.is_narrow() {
            return position(array, index);
        }
        // The unsigned arithmetic gives the position modulo 2³², whatever the intermediate results are, and the
        // position fits.
        let narrow: Vec<_> = index.iter().map(|i| format!("(uint)({i})")).collect();
        let Some((first, rest)) = narrow.split_first() else { return "0".into() };
        let next = |p, (k, i): (usize, &String)| format!("({p}) * (uint)a{array}_n{} + {i}", k + 1);
        rest.iter().enumerate().fold(first.clone(), next)
    }
}

/// Adds the arrays that instructions use, with the columns that they read.
pub fn uses(instrs: &[Instr], found: &mut BTreeMap<ArrayId, BTreeSet<usize>>) {
    for i in walk(instrs) {
        match i {
            Instr::Extent(_, array, _) => {
                found.entry(*array).or_default();
            }
            Instr::Read { to, array, .. } => found.entry(*array).or_default().extend(0..to.len()),
            _ => {}
        }
    }
}
