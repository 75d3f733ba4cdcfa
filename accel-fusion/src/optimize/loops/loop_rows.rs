//! What is known of the steps of loops, and of the rows of lists in loops over them.
//!
//! NOTE [Numbers of steps]: the steps of a loop and those of its derivative, which goes through the rows from the last one, are
//! counted by the same number. Passes that pair these loops compare it, and the rows at `n - 1 - k`. If each reader of the number
//! computed it, each would also simplify it by what holds there only: `max(n - 1, 0)` is `n - 1` where an index below `n` exists, but
//! not in the condition of the loop. So such a number stays an array, and all readers read it. A constant or an extent has one form
//! anyway, and tells more where it is read.
//!
//! NOTE [Rows of lists]: all rows of a list have the extents of the array that the loop lists, if these do not change. But a list
//! without rows has extents of 0, so the extents of the list are not those of a row. In the steps of a loop that counts up to the
//! number of rows, there is a row, and both are equal, as after a comparison: NOTE [Extents that were compared]. Adjoints of loops
//! go through the rows of their states: without this, each step would compare extents, and have two versions.

use crate::kernel::dead_code::defined;
use crate::kernel::{ArrayId, Block, Instr, Op, Program, ScalarFn};
use crate::optimize::facts::poly::{Poly, Sym};
use crate::optimize::fuse::fused_program::Pass;
use crate::optimize::loops::tapes::numbers::{Atom, Definitions, Linear, comparison};
use accel_core::repr::Scalar;
use std::collections::BTreeSet;

/// The arrays of numbers that decide how often loops run: NOTE [Numbers of steps].
pub fn numbers_of_steps(program: &Program) -> BTreeSet<ArrayId> {
    let limit = |op: &Op| {
        let Op::While { cond, .. } = op else { return None };
        let (code, _, more) = comparison(cond)?;
        match defined(code, more)? {
            Instr::Read { array, index, .. } if index.is_empty() => Some(*array),
            _ => None,
        }
        .filter(|a| !cond.0.stmts.iter().any(|s| s.op.defines().contains(a)))
    };
    program.body.walk().filter_map(|s| limit(&s.op)).collect()
}

impl Pass<'_> {
    /// Whether readers of this array, which has these values, read it and do not compute it: NOTE [Numbers of steps].
    pub fn stays_a_number(&self, a: ArrayId, values: &[Option<Poly>]) -> bool {
        let has_one_form = |n: &Poly| n.as_constant().is_some() || matches!(n.as_sym(), Some(Sym::Extent(..)));
        self.numbers_of_steps.contains(&a) && !values.iter().all(|n| n.as_ref().is_some_and(has_one_form))
    }

    /// The number of steps of a loop that counts its steps up to an extent: it continues as long as a component of its state, which
    /// begins with 0 and increases by 1, is less.
    pub fn number_of_steps(
        &mut self,
        to: &[ArrayId],
        init: &[ArrayId],
        cond: &(Block, ArrayId),
        body: &(Block, Vec<ArrayId>),
    ) -> Option<Poly> {
        let (code, less, more) = comparison(cond).filter(|_| cond.0.stmts.len() == 1)?;
        let definitions = Definitions::of(&body.0.stmts, &self.program.arrays);
        let less = definitions.register(code, less);
        let k = definitions
            .counters(&to[..init.len()], &body.1, &self.program.arrays)
            .find(|k| less == Linear::atom(Atom::Number(to[*k])))?;
        if self.known.producers.get(&init[k])?.constants.as_deref() != Some(&[Scalar::I64(0)]) {
            return None;
        }
        let limit = ScalarFn { results: vec![more], ..code.clone() };
        let limit = self.preview(&limit, &[]).values.first()?.clone()?;
        let is_extent = matches!(limit.as_sym(), Some(Sym::Extent(a, _)) if !to.contains(&a));
        (is_extent || limit.as_constant() >= Some(0)).then_some(limit)
    }

    /// A body of a loop with this number of steps.
    pub fn in_steps(
        &mut self,
        number: Option<&Poly>,
        body: impl FnOnce(&mut Self) -> (Block, Vec<ArrayId>),
    ) -> (Block, Vec<ArrayId>) {
        let before = self.facts.all_compared().clone();
        for (list, row) in &self.known.rows {
            if number.is_some_and(|n| self.facts.dims(*list).first() == Some(n)) {
                row.iter().enumerate().for_each(|(k, n)| self.facts.name(*list, k + 1, n));
            }
        }
        let found = body(self);
        self.facts.set_compared(before);
        found
    }

    /// Defines the lists of a loop with these rows. `first` is the number of the first block inside of it.
    pub fn lists(&mut self, lists: &[ArrayId], rows: &[ArrayId], number: Option<Poly>, first: usize) {
        let Some(number) = number.or_else(|| lists.first().map(|a| Poly::sym(Sym::Extent(*a, 0)))) else { return };
        for (list, row) in lists.iter().zip(rows) {
            let row = self.facts.dims(*row);
            let own = (0..row.len()).map(|k| Poly::sym(Sym::Extent(*list, k + 1)));
            let dims: Vec<Poly> = [number.clone()].into_iter().chain(own).collect();
            self.define(&[*list], &dims);
            if row.iter().all(|n| self.facts.is_known(n) && self.is_visible(n, first)) {
                self.known.rows.insert(*list, row);
            }
        }
    }
}
