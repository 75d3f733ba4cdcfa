//! Views of the lists of a loop: the lists themselves, and copies of them with other extents.

use super::numbers::{Atom, Definitions, Linear};
use crate::kernel::dead_code::restricted_to;
use crate::kernel::{ArrayId, ArrayInfo, IndexVec, Instr, Op, Reg, ScalarFn, Stmt, arrays_mentioned};
use accel_core::repr::ScalarType;
use std::collections::{BTreeMap, BTreeSet};

/// A list, or a copy of one.
#[derive(Clone, Debug)]
pub struct View {
    /// The number of the list.
    pub list: usize,
    /// For each column, that of the list.
    pub columns: Vec<usize>,
    /// The types of all columns of the list.
    pub all: Vec<ScalarType>,
    /// The extents of its rows, if it is a copy.
    pub rows: Option<Vec<Linear>>,
}

/// The views of the lists of a loop, and the lists that are used in other ways.
pub struct Views<'a> {
    pub arrays: &'a IndexVec<ArrayId, ArrayInfo>,
    pub definitions: &'a Definitions,
    pub known: BTreeMap<ArrayId, View>,
    pub excluded: BTreeSet<usize>,
    /// The forms of the number of steps of the loop.
    pub steps: Vec<Linear>,
}

impl Views<'_> {
    /// The lists among arrays.
    pub fn lists(&self, arrays: &BTreeSet<ArrayId>) -> BTreeSet<usize> {
        arrays.iter().filter_map(|a| self.known.get(a)).map(|v| v.list).collect()
    }

    /// The extents that all views have as their first one: that of any of them, and the number of steps.
    pub fn lengths(&self) -> impl Iterator<Item = Linear> {
        self.known.keys().map(|a| Linear::atom(Atom::Extent(*a, 0))).chain(self.steps.iter().cloned())
    }

    /// Notes what a statement in front of the other loop does with the lists. Copies of whole lists are views, too; returns them.
    pub fn note(&mut self, s: &Stmt) -> Vec<ArrayId> {
        let mut used = BTreeSet::new();
        s.op.used_arrays(&mut used);
        if self.lists(&used).is_empty() {
            return vec![];
        }
        let Op::Loop { to, extents, body } = &s.op else {
            self.excluded.extend(self.lists(&used));
            return vec![];
        };
        let mut others = vec![];
        let mut found = vec![];
        for (a, own) in body.results_of(to, self.arrays) {
            match self.copied(own, extents, body) {
                Some(view) => found.push((a, view)),
                None => others.extend(own),
            }
        }
        // What else the loop computes needs the lists.
        if found.len() < to.len() {
            let mut mentioned = BTreeSet::new();
            arrays_mentioned(&restricted_to(body, others).instrs, &mut mentioned);
            arrays_mentioned(&extents.instrs, &mut mentioned);
            self.excluded.extend(self.lists(&mentioned));
        }
        let copies = found.iter().map(|(a, _)| *a).collect();
        self.known.extend(found);
        copies
    }

    /// The view that these results of a loop are.
    fn copied(&self, results: &[Reg], extents: &ScalarFn, body: &ScalarFn) -> Option<View> {
        let read = |i: &Instr| match i {
            Instr::Read { to, array, index, .. } if results.iter().all(|r| to.contains(r)) => {
                Some((to.clone(), *array, index.clone()))
            }
            _ => None,
        };
        let (to, array, index) = body.instrs.iter().find_map(read)?;
        let of = self.known.get(&array)?;
        let all = self.definitions.extents_of(extents);
        let whole = index.iter().copied().eq(body.param_regs()) && self.lengths().any(|n| Some(&n) == all.first());
        if !whole {
            return None;
        }
        let column = |r: &Reg| to.iter().position(|t| t == r).map(|c| of.columns[c]);
        let columns: Vec<usize> = results.iter().map(column).collect::<Option<_>>()?;
        // A read sets each register once.
        let distinct = columns.iter().collect::<BTreeSet<_>>().len() == columns.len();
        distinct.then(|| View { list: of.list, columns, all: of.all.clone(), rows: Some(all[1..].to_vec()) })
    }
}
