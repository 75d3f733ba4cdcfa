//! What is known of the steps of loops, and of the rows of lists in loops over them.
//!
//! NOTE [Rows of steps]: if a loop takes `n` steps, each step has a row of at least 0 and less than `n`. So an array of `n` rows is read at
//! this row without a check, and a difference such as `n - row` is a possible extent.
//!
//! NOTE [Rows of lists]: all rows of a list have the extents of the array that the loop lists, if these do not change. But a list
//! without rows has extents of 0, so the extents of the list are not those of a row. In the steps of a loop of as many steps as
//! there are rows, there is a row, and both are equal, as after a comparison: NOTE [Extents that were compared]. Adjoints of loops
//! go through the rows of their states: without this, each step would compare extents, and have two versions.

use crate::kernel::{ArrayId, Block, SiteId, Trips};
use crate::optimize::facts::poly::{Poly, Sym};
use crate::optimize::fuse::fused_program::Pass;
use crate::optimize::loops::tapes::single::Code;

/// Whether a number of steps is an extent or a constant that is not negative.
pub fn is_natural(n: &Poly) -> bool {
    matches!(n.as_sym(), Some(Sym::Extent(..))) || n.as_constant() >= Some(0)
}

impl Pass<'_> {
    /// The number of steps of a loop, if it consists of extents.
    pub fn number_of_steps(&mut self, trips: &Trips, site: SiteId) -> Option<Poly> {
        let mut code = Code::new(site);
        let number = code.number(trips.number()?);
        let number = self.preview(&code.done(number), &[]).values.first()?.clone()?;
        self.facts.is_known(&number).then_some(number)
    }

    /// A body of a loop with this number of steps.
    pub fn in_steps(
        &mut self,
        number: Option<&Poly>,
        body: impl FnOnce(&mut Self) -> (Block, Vec<ArrayId>),
    ) -> (Block, Vec<ArrayId>) {
        number.into_iter().for_each(|n| self.facts.enter(n.clone()));
        let found = body(self);
        number.into_iter().for_each(|_| self.facts.leave());
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
                self.facts.set_rows(*list, row);
            }
        }
    }
}
