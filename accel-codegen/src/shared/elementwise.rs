//! Elementwise loops: compute one element of each output at every position.

use super::nontemporal::pieces;
use super::transposed::transposes;
use crate::analysis::merged_dimensions::merged_dimensions;
use crate::cost_model::{BRANCHING_INTERIOR, INTERIOR};
use crate::text::names::{elements, index};
use crate::text::types::bytes;
use crate::text::writer::Writer;
use accel_fusion::kernel::{ArrayId, ScalarFn};
use accel_fusion::optimize::{FoldedRows, Interior, by_digits, folded_rows, interior};

impl Writer<'_> {
    /// Computes the elements of the arrays `to`, which have these extents, at the task's positions.
    pub fn elements(&mut self, to: &[ArrayId], extents: &ScalarFn, body: &ScalarFn) {
        let rank = extents.results.len();
        self.hoist(&[body]);
        to.iter().for_each(|a| self.hoist_output(*a, false));
        let results: Vec<_> = to.iter().flat_map(|a| elements(*a, self.columns(*a).len(), "p")).collect();
        if !body.lists().is_empty() {
            // All positions use the same memory for lists, so they are not independent.
            return self.positions_in_order(rank, |w| w.code(body, &index(rank), &results));
        }
        if self.dialect().has_tables() && transposes(body, rank) {
            return self.elements_in_tiles(rank, body, &results);
        }
        if let Some(pieces) = pieces(self.program, to, rank, body) {
            return self.elements_around(&pieces, extents, body);
        }
        let independent = self.says_independent();
        self.first_position();
        let folded = self.folds(extents, body);
        self.rest_of_index_space(rank, |w| w.elements_to("to", rank, independent, body, folded.as_ref(), &results));
    }

    /// How rows are folded, if it is not known that they are merged: NOTE [Merged dimensions]. Declares `folds`.
    pub fn folds(&mut self, extents: &ScalarFn, body: &ScalarFn) -> Option<FoldedRows> {
        let rank = extents.results.len();
        let folds = self.dialect().has_tables() && merged_dimensions(body, rank).is_empty();
        let folded = if folds { folded_rows(self.program, extents, body) } else { None };
        folded.iter().for_each(|f| self.declare_folds(f, rank));
        folded
    }

    /// Computes the elements at the positions from `p`, whose index is known, to `to`: those of short rows in vectors, and those
    /// in the interior of long rows without the decisions that only concern the edges. See NOTE [Folded rows] and
    /// NOTE [Interiors] in `accel_fusion`.
    pub fn elements_to(
        &mut self,
        to: &str,
        rank: usize,
        independent: bool,
        body: &ScalarFn,
        folded: Option<&FoldedRows>,
        results: &[String],
    ) {
        let plain = |w: &mut Self, to: &str| {
            let one = |w: &mut Self| w.code(body, &index(rank), results);
            let digits = if rank == 1 && w.dialect().has_tables() { by_digits(w.program, body) } else { None };
            match digits {
                Some(digits) => w.elements_by_digits(to, independent, &digits, results, one),
                None => w.positions_to(to, rank, independent, one),
            }
        };
        let short = |w: &mut Self| match folded {
            Some(folded) => w.folded_elements(to, rank, folded, results, plain),
            None => plain(w, to),
        };
        let Some(interior) = interior(self.program, body, rank) else { return short(self) };
        let smallest = body.results.iter().map(|r| bytes(body.types[*r]) as usize).min().unwrap_or(1);
        let shortest = if body.is_if_convertible() { INTERIOR } else { BRANCHING_INTERIOR.div_ceil(smallest) };
        let is_short = format!("n{} < {shortest}", rank - 1);
        let head = match (rank == 1 || interior.behind.is_some(), folded.is_some()) {
            (true, false) => return self.elements_by_parts(to, rank, independent, body, results, &interior),
            (true, true) => "folds".into(),
            (false, false) => is_short,
            (false, true) => format!("folds || {is_short}"),
        };
        self.braces(&format!("if ({head})"), short);
        self.braces("else", |w| w.elements_by_parts(to, rank, independent, body, results, &interior));
    }

    /// Computes the elements from `p`, whose index is `i0`, to `to`, in whole runs and otherwise with `one`. See NOTE [Digits of
    /// an index] in `accel_fusion`.
    fn elements_by_digits(
        &mut self,
        to: &str,
        independent: bool,
        digits: &[ScalarFn],
        results: &[String],
        one: impl Fn(&mut Self),
    ) {
        let run = digits.len();
        self.braces(&format!("while (p < {to})"), |w| {
            w.line(format!("i64 number = i0 / {run};"));
            w.line(format!("const i64 rest = p + {run} - i0 % {run}, part = rest < {to} ? rest : {to};"));
            w.braces(&format!("if (part - p < {run})"), |w| w.positions_to("part", 1, independent, one));
            w.braces("else", |w| {
                w.braces(&format!("for (; p + {run} <= {to}; p += {run}, i0 += {run}, number++)"), |w| {
                    w.line("const i64 start = p;");
                    for (place, code) in digits.iter().enumerate() {
                        w.braces("", |w| {
                            w.line(format!("const i64 p = start + {place};"));
                            w.code(code, &["number".into(), place.to_string()], results);
                        });
                    }
                });
            });
        });
    }

    /// Computes the elements of each row in up to three parts: those in the interior, before it and behind it.
    fn elements_by_parts(
        &mut self,
        to: &str,
        rank: usize,
        independent: bool,
        body: &ScalarFn,
        results: &[String],
        Interior { code, first, end, behind, rows, selections }: &Interior,
    ) {
        let of_row = |last: &str| -> Vec<String> {
            (0..rank).map(|d| if d == rank - 1 { last.into() } else { format!("i{d}") }).collect()
        };
        self.rows_to(to, rank, |w, stop| {
            w.line(format!("i64 low = {first}, high = n{};", rank - 1));
            if let Some(end) = end {
                w.code(end, &[], &["high".into()]);
            }
            if let Some(rows) = rows {
                // The conditions do not depend on the last index.
                w.line("bool all_hold;");
                w.code(&rows.hold, &of_row("0"), &["all_hold".into()]);
            }
            if let Some(selections) = selections {
                w.line("bool first_exists, last_exists;");
                w.code(&selections.inside, &of_row("low"), &["first_exists".into()]);
                w.code(&selections.inside, &of_row("high - 1"), &["last_exists".into()]);
                w.line("const bool all_exist = first_exists && last_exists;");
            }
            w.line("low -= offset, high -= offset;");
            w.braces(&format!("while (p < {stop})"), |w| {
                w.line("const bool inside = p >= low && p < high;");
                w.line("const i64 next = inside ? high : low;");
                w.line(format!("const i64 part = p < next && next < {stop} ? next : {stop};"));
                let part = |w: &mut Self, code: &ScalarFn| {
                    w.row_to("part", rank, independent, |w| w.code(code, &index(rank), results));
                };
                if let Some(rows) = rows {
                    w.braces("if (inside && all_hold)", |w| part(w, &rows.code));
                    w.line("else");
                }
                if let Some(selections) = selections {
                    w.braces("if (inside && all_exist)", |w| {
                        w.selected_row("part", rank, independent, selections, results);
                    });
                    // What is right behind the interior is not right inside, where not all elements of the selections exist.
                    if behind.is_some() {
                        w.line("else");
                    }
                }
                if selections.is_none() || behind.is_some() {
                    w.braces("if (inside)", |w| part(w, code));
                }
                w.braces("else", |w| part(w, behind.as_ref().unwrap_or(body)));
            });
        });
    }
}
