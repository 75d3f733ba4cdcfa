//! The reads of lists in the loop that takes them backwards.

use super::numbers::{Atom, Definitions, Linear};
use super::views::{View, Views};
use crate::kernel::{ArrayId, Instr, Op, Reg, ScalarFn, walk, walk_mut};
use std::collections::{BTreeMap, BTreeSet};

/// What the second loop may do with the lists.
pub struct Readers<'a> {
    pub views: &'a Views<'a>,
    /// The extents of the rows of each list.
    pub rows: &'a [Vec<Linear>],
}

impl Readers<'_> {
    /// Excludes the lists that the loop uses in another way than as the row of the step.
    pub fn check(&self, loop_: &Op, excluded: &mut BTreeSet<usize>) {
        let Op::While { row, body, .. } = loop_ else { return };
        let mut whole = BTreeSet::new();
        loop_.arrays_used_whole(&mut whole);
        for s in body.0.walk() {
            s.op.arrays_used_whole(&mut whole);
            s.op.scalar_fns().into_iter().for_each(|(_, code)| self.code(code, *row, excluded));
        }
        excluded.extend(self.views.lists(&whole));
    }

    fn code(&self, code: &ScalarFn, row: Option<ArrayId>, excluded: &mut BTreeSet<usize>) {
        let row = row.map(|a| Linear::atom(Atom::Number(a)));
        for i in walk(&code.instrs) {
            let (array, good) = match i {
                Instr::Extent(_, array, dim) => (array, *dim > 0),
                Instr::Read { array, index, .. } => (array, !index.is_empty()),
                _ => continue,
            };
            let Some(view) = self.views.known.get(array) else { continue };
            let good = good
                && match i {
                    Instr::Read { index, .. } => Some(self.views.definitions.register(code, index[0])) == row,
                    // A copy may have other extents than the states.
                    _ => view.rows.as_ref().is_none_or(|rows| *rows == self.rows[view.list]),
                };
            if !good {
                excluded.insert(view.list);
            }
        }
    }
}

/// Replaces rows of lists by arrays: the row of list `k` by `rows[k]`, which has the extents `extents[k]`.
pub fn replace(
    loop_: &mut Op,
    definitions: &Definitions,
    views: &BTreeMap<ArrayId, View>,
    rows: &[ArrayId],
    extents: &[Vec<Linear>],
) {
    let Op::While { body, .. } = loop_ else { return };
    body.0.walk_mut(|s| {
        let spaces = spaces(&s.op, definitions);
        for (code, space) in s.op.scalar_fns_mut().into_iter().zip(spaces) {
            replace_in(code, &space, views, rows, extents);
        }
    });
}

/// For each scalar function of an operation, the extents of its parameters, as far as they are known.
fn spaces(op: &Op, definitions: &Definitions) -> Vec<Vec<Linear>> {
    op.scalar_fns()
        .into_iter()
        .map(|(name, _)| match op {
            Op::Loop { extents, .. } if name == "body" => definitions.extents_of(extents),
            Op::Reduce { extents, rows, .. } | Op::Scan { extents, rows, .. } if name == "element" => {
                [definitions.extents_of(extents), definitions.extents_of(&rows.len)].concat()
            }
            _ => vec![],
        })
        .collect()
}

fn replace_in(
    code: &mut ScalarFn,
    space: &[Linear],
    views: &BTreeMap<ArrayId, View>,
    rows: &[ArrayId],
    extents: &[Vec<Linear>],
) {
    // The columns of a row that are read, and the types of its others.
    let mut types = std::mem::take(&mut code.types);
    walk_mut(&mut code.instrs, |i| match i {
        Instr::Extent(_, array, dim) => {
            if let Some(view) = views.get(array) {
                (*array, *dim) = (rows[view.list], *dim - 1);
            }
        }
        Instr::Read { to, array, index, inside, .. } => {
            let Some(view) = views.get(array) else { return };
            *array = rows[view.list];
            index.remove(0);
            let known = &extents[view.list];
            // A copy of other extents was read within bounds of its own.
            let same = view.rows.as_ref().is_none_or(|rows| rows == known);
            let within = |(dim, r): (usize, &Reg)| space.get(r.index()).is_some_and(|n| known.get(dim) == Some(n));
            *inside = *inside && same || index.iter().enumerate().all(within);
            if view.columns.iter().copied().ne(0..view.all.len()) {
                let mut all: Vec<Option<Reg>> = vec![None; view.all.len()];
                to.iter().zip(&view.columns).for_each(|(r, c)| all[*c] = Some(*r));
                *to = all.into_iter().zip(&view.all).map(|(r, t)| r.unwrap_or_else(|| types.push(*t))).collect();
            }
        }
        _ => {}
    });
    code.types = types;
}
