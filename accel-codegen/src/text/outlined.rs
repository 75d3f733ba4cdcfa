//! Outlined code: deeply nested conditionals and loops, which become functions of their own.
//!
//! NOTE [Outlined functions]: users can nest conditionals and loops to any depth, and C compilers are not made for
//! this: clang refuses more than 256 nested braces, and the time and memory of compilers grow faster than the size of a
//! function. So a conditional or a loop at a depth of `DEEPEST` becomes a function. Its parameters are the registers,
//! arrays and columns from outside that it needs. Compilers are told not to inline it.

use accel_fusion::kernel::{ArrayId, Instr, Reg};
use std::collections::{BTreeMap, BTreeSet};

/// The largest depth of nested conditionals and loops in one function: a quarter of the braces that clang accepts, for a level may open
/// several, and loops over an index space are around the code.
pub const DEEPEST: usize = 64;

/// What outlined instructions use, collected while it is written.
#[derive(Default)]
pub struct Outlined {
    /// Registers that are set inside.
    pub set: BTreeSet<Reg>,
    /// Registers from outside that are used.
    pub given: BTreeSet<Reg>,
    /// Arrays, with the columns that are read in memory.
    pub arrays: BTreeMap<ArrayId, BTreeSet<usize>>,
    /// Columns of sums that are added to.
    pub sums: BTreeSet<(ArrayId, usize)>,
    /// Columns that are read in the working memory of a strip.
    pub in_strip: BTreeSet<(ArrayId, usize)>,
}

impl Outlined {
    /// Called before the inner instructions of an instruction.
    pub fn enter(&mut self, i: &Instr) {
        self.set.extend(i.sets());
    }

    /// Called after the inner instructions of an instruction.
    pub fn leave(&mut self, i: &Instr, in_strip: bool) {
        let mut used = vec![];
        i.direct_uses(&mut used);
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
            Instr::Emit { to, values, .. } => {
                self.arrays.entry(*to).or_default();
                self.sums.extend((0..values.len()).map(|c| (*to, c)));
            }
            _ => {}
        }
    }

    /// Adds what an inner function uses.
    pub fn includes(&mut self, inner: Outlined) {
        self.given.extend(inner.given.into_iter().filter(|r| !self.set.contains(r)));
        inner.arrays.into_iter().for_each(|(a, columns)| self.arrays.entry(a).or_default().extend(columns));
        self.sums.extend(inner.sums);
        self.in_strip.extend(inner.in_strip);
    }
}
