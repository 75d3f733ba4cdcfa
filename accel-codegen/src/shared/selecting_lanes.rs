//! Reductions of one row in lanes by an operator that returns one of its arguments as a whole.
//!
//! NOTE [Selecting operators]: such an operator returns, for example, the smallest element and its position. By a theorem on
//! quasitrivial semigroups (Langer, 1980), an associative operator of this kind chooses from two classes of elements always
//! the same class, and from two elements of one class always the first, or always the second. So the elements can be
//! compared in any order, if the operator gets those that come first in the row as its first argument. Each lane has the
//! columns of its chosen element that the choice depends on, and its position. The lanes' elements are combined by their
//! positions, in pairs. Then the chosen element is computed again, with all columns. A thousand numbers take 0.17 µs instead of 0.64.

use super::prefetch::is_quick;
use super::row_lanes::halves;
use crate::cost_model::{LANES, SELECTED};
use crate::text::names::{names, row_index};
use crate::text::types::in_memory;
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{Reduction, Reg, ScalarFn};
use std::collections::HashSet;

/// The least length of rows that are reduced in lanes, if any are.
pub fn least_to_select(rows: &Reduction) -> Option<usize> {
    Selection::new(rows, 0).map(|_| SELECTED)
}

/// How the lanes' elements are chosen.
struct Selection<'a> {
    rows: &'a Reduction,
    outer: usize,
    types: Vec<ScalarType>,
    /// The condition of the operator, and whether it returns the first argument where this holds.
    condition: ScalarFn,
    first: bool,
    /// Whether the choice depends on a column.
    decides: Vec<bool>,
}

impl<'a> Selection<'a> {
    fn new(rows: &'a Reduction, outer: usize) -> Option<Selection<'a>> {
        let (condition, first) = rows.op.selection().filter(|_| rows.element.is_if_convertible())?;
        let (types, n) = (rows.columns(), rows.op.results.len());
        let mut used: HashSet<Reg> = condition.results.iter().copied().collect();
        condition.instrs.iter().for_each(|i| i.uses(&mut used));
        let decides = (0..n).map(|c| used.contains(&Reg::new(c)) || used.contains(&Reg::new(n + c))).collect();
        Some(Selection { rows, outer, types, condition, first, decides })
    }

    /// The name of the positions of the lanes' elements: that of a column, if it consists of them.
    fn positions(&self) -> String {
        let is_position = |c: &usize| self.decides[*c] && self.rows.element.results[*c] == Reg::new(self.outer);
        (0..self.types.len()).find(is_position).map_or("at".into(), |c| format!("lane{c}"))
    }

    /// What lanes have: types in memory, names, and the values for element `x` at position `k + l`.
    fn kept(&self) -> Vec<(ScalarType, String, String)> {
        let columns = self.types.iter().enumerate().filter(|(c, _)| self.decides[*c]);
        let mut kept: Vec<_> = columns.map(|(c, t)| (in_memory(*t), format!("lane{c}"), format!("x{c}"))).collect();
        let positions = self.positions();
        if kept.iter().all(|(_, lane, _)| *lane != positions) {
            kept.push((ScalarType::I64, positions, "k + l".into()));
        }
        kept
    }

    /// Defines `chosen`: whether the operator returns the first of two elements, whose columns have these names.
    fn choose(&self, w: &mut Writer, first: &dyn Fn(usize) -> String, second: &dyn Fn(usize) -> String) {
        let n = self.types.len();
        // Nothing reads the other columns.
        let name = |of: &dyn Fn(usize) -> String, c: usize| if self.decides[c] { of(c) } else { "0".into() };
        let both: Vec<_> = (0..n).map(|c| name(first, c)).chain((0..n).map(|c| name(second, c))).collect();
        w.line("bool chosen;");
        w.code(&self.condition, &both, &["chosen".into()]);
        if !self.first {
            w.line("chosen = !chosen;");
        }
    }
}

impl Writer<'_> {
    /// Combines the elements from `k` on with the accumulated value `y`, if the operator returns one of its arguments and
    /// there are enough elements.
    pub fn select_in_lanes(&mut self, y: &[String], outer: usize, rows: &Reduction) {
        let Some(selection) = Selection::new(rows, outer) else { return };
        if self.dialect().has_few_registers() {
            return;
        }
        let (types, kept) = (&selection.types, selection.kept());
        let x = names("x", types);
        let element = |w: &mut Self, k: &str| {
            w.declare(&x, types);
            w.code(&rows.element, &row_index(outer, k), &x);
        };
        self.braces(&format!("if (to - k >= {SELECTED})"), |w| {
            kept.iter().for_each(|(t, lane, _)| w.line(format!("{t} {lane}[{LANES}];")));
            w.braces(&format!("for (int l = 0; l < {LANES}; l++)"), |w| {
                element(w, "k + l");
                kept.iter().for_each(|(_, lane, x)| w.line(format!("{lane}[l] = {x};")));
            });
            w.braces(&format!("for (k += {LANES}; k + {LANES} <= to; k += {LANES})"), |w| {
                if !is_quick(&rows.element) {
                    w.prefetch(&rows.element, &row_index(outer, "k"), LANES);
                }
                w.braces(&format!("for (int l = 0; l < {LANES}; l++)"), |w| {
                    element(w, "k + l");
                    selection.choose(w, &|c| format!("lane{c}[l]"), &|c| format!("x{c}"));
                    kept.iter().for_each(|(_, lane, x)| w.line(format!("{lane}[l] = chosen ? {lane}[l] : {x};")));
                });
            });
            let positions = selection.positions();
            for half in halves(LANES) {
                w.braces(&format!("for (int l = 0; l < {half}; l++)"), |w| {
                    let other = |lane: &str| format!("{lane}[l + {half}]");
                    let column = |c: usize| format!("lane{c}");
                    let either = |yes: String, no: String| format!("(before ? {yes} : {no})");
                    w.line(format!("const bool before = {} < {positions}[l];", other(&positions)));
                    let first = |c: usize| either(other(&column(c)), format!("lane{c}[l]"));
                    let second = |c: usize| either(format!("lane{c}[l]"), other(&column(c)));
                    selection.choose(w, &first, &second);
                    w.line("const bool takes = chosen == before;");
                    let take = |lane: &str| format!("{lane}[l] = takes ? {} : {lane}[l];", other(lane));
                    kept.iter().for_each(|(_, lane, _)| w.line(take(lane)));
                });
            }
            w.line(format!("const i64 best = {positions}[0];"));
            element(w, "best");
            w.code(&rows.op, &[y, &x].concat(), y);
        });
    }
}
