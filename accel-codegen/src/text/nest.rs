//! Nests: deep conditionals and loops that become functions of their own.
//!
//! NOTE [Nests of functions]
//! Users nest conditionals and loops as deeply as they like, and C compilers do not expect that: clang refuses more than 256 nested braces,
//! and the time and memory that compilers need grow faster than the size of a function. So a conditional or a loop inside of `DEEPEST` others
//! becomes a function. Its parameters are the registers, arrays and columns that it needs from outside. Compilers are told not to inline it.

use accel_fusion::kernel::{ArrayId, Instr, Reg};
use std::collections::{BTreeMap, BTreeSet};

/// How many conditionals and loops are in each other in one function.
pub const DEEPEST: usize = 64;

/// What the instructions of a nest need, while it is written.
#[derive(Default)]
pub struct Nest {
    /// Registers that are set inside.
    pub set: BTreeSet<Reg>,
    /// Registers from outside.
    pub given: BTreeSet<Reg>,
    /// Arrays, with the columns that are read in memory.
    pub arrays: BTreeMap<ArrayId, BTreeSet<usize>>,
    /// Columns that are read in a strip.
    pub in_strip: BTreeSet<(ArrayId, usize)>,
}

impl Nest {
    /// An instruction, before those inside of it.
    pub fn enter(&mut self, i: &Instr) {
        self.set.extend(i.sets());
    }

    /// An instruction, after those inside of it.
    pub fn leave(&mut self, i: &Instr, in_strip: bool) {
        let mut used = vec![];
        i.own_uses(&mut used);
        self.given.extend(used.into_iter().filter(|r| !self.set.contains(r)));
        match i {
            Instr::Extent(_, array, _) => _ = self.arrays.entry(*array).or_default(),
            Instr::Read { to, array, .. } => {
                let columns = self.arrays.entry(*array).or_default();
                match in_strip {
                    true => self.in_strip.extend((0..to.len()).map(|c| (*array, c))),
                    false => columns.extend(0..to.len()),
                }
            }
            _ => {}
        }
    }

    /// A nest inside.
    pub fn includes(&mut self, inner: Nest) {
        self.given.extend(inner.given.into_iter().filter(|r| !self.set.contains(r)));
        inner.arrays.into_iter().for_each(|(a, columns)| self.arrays.entry(a).or_default().extend(columns));
        self.in_strip.extend(inner.in_strip);
    }
}
