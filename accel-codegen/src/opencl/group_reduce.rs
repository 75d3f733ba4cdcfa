//! Reductions by work-groups, for GPUs, and what scans have in common with them: each group processes a part of a row
//! in local memory.
//!
//! NOTE [Order within groups]: operators need not be commutative. A work-item combines adjacent elements, and then each
//! item is combined with a neighbour, at twice the distance in each step. Only for recognised monoids do the items of a
//! group read elements alternately, so that they read neighbouring elements at the same time.
//!
//! Items wait for each other at barriers, so no item may return before. Functions that can fail are therefore executed
//! by tasks instead.

use super::emitter::Emitter;
use super::loads::is_cheap;
use super::rows::SHORT;
use super::work::Kernel;
use crate::analysis::liveness::Step;
use crate::text::names::{elements, in_order, names, names_at, row_index};
use crate::text::parameters::{Arg, Parameter};
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Reduction, ScalarFn};

/// The number of elements that an item reads before it combines them, if they are cheap: NOTE [Loads in flight].
pub const TURNS: usize = 8;
/// The same number for short rows, of which an item has about [`SHORT`] elements: more turns would often be incomplete.
const FEW_TURNS: usize = SHORT / 2;

/// Whether groups can process these rows.
pub fn suits(rows: &Reduction) -> bool {
    ![&rows.element, &rows.op].into_iter().chain(&rows.init).any(ScalarFn::can_fail)
}

impl Emitter<'_> {
    /// Generates a kernel of groups, `arg2` for each row; `body` writes it.
    pub fn group_kernel(&mut self, s: &Step, name: &str, outer: usize, body: impl FnOnce(&mut Writer)) -> Kernel {
        self.numbered_kernel(s, name, outer, |w| w.line("const P part = get_group_id(0);"), body)
    }

    /// As [`group_kernel`](Self::group_kernel); `number` says which part a group takes.
    pub fn numbered_kernel(
        &mut self,
        s: &Step,
        name: &str,
        outer: usize,
        number: impl FnOnce(&mut Writer),
        body: impl FnOnce(&mut Writer),
    ) -> Kernel {
        self.kernel_of(s, name, outer, 3, |w| {
            w.line("const uint item = get_local_id(0), size = get_local_size(0);");
            number(w);
            w.line("const P row = part / (P)arg2, slot = part % (P)arg2;");
            w.narrow_index(outer, "row");
            body(w);
        })
    }

    /// Reduces part `g` of row `r`: `arg0` elements of `arg1`. There are `arg2` parts. A single part is the whole row.
    pub fn fold_group(&mut self, s: &Step, to: ArrayId, outer: usize, rows: &Reduction) -> Kernel {
        self.group_kernel(s, &format!("fold_{}_group", s.number), outer, |w| {
            let types = w.columns(to);
            w.part_bounds();
            w.locals(&types);
            w.reduce_part(&types, outer, rows, false, TURNS);
            w.braces("if (item == 0)", |w| {
                w.finish_part(to, &types, rows, &names_at("l", &types, "0"));
            });
        })
    }

    /// Combines the `arg0` parts of row `r`; `arg2` is 1.
    pub fn join_group(&mut self, s: &Step, to: ArrayId, outer: usize, rows: &Reduction) -> Kernel {
        self.group_kernel(s, &format!("fold_{}_join_group", s.number), outer, |w| {
            let types = w.columns(to);
            w.state(&types);
            w.locals(&types);
            w.line("const P from = 0, to = arg0;");
            let part =
                |k: &str| -> Vec<String> { (0..types.len()).map(|c| format!("s{c}[row * arg0 + {k}]")).collect() };
            w.reduce_items(&types, rows, false, TURNS, |w, k, x| w.assign(x, &part(k)));
            w.braces("if (item == 0)", |w| w.finish_row(to, &types, rows, &names_at("l", &types, "0")));
        })
    }

    /// Reduces the `arg0` rows of `arg1` elements with teams of `arg2` items, several of them in a group. A team
    /// without a row repeats the last one, since all items go to the barriers.
    pub fn fold_team(&mut self, s: &Step, to: ArrayId, outer: usize, rows: &Reduction) -> Kernel {
        self.kernel_of(s, &format!("fold_{}_team", s.number), outer, 3, |w| {
            let types = w.columns(to);
            w.line("const uint size = arg2, team = get_local_id(0) / size, item = get_local_id(0) % size;");
            w.line("const P number = get_group_id(0) * (get_local_size(0) / size) + team;");
            w.line("const P row = min(number, (P)arg0 - 1), from = 0, to = arg1;");
            w.narrow_index(outer, "row");
            for (c, t) in types.iter().enumerate() {
                w.params.add(Arg::Local(c), Parameter::buffer(&format!("local {t}"), format!("m{c}")));
                w.line(format!("local {t} *const l{c} = m{c} + team * size;"));
            }
            w.reduce_part(&types, outer, rows, false, FEW_TURNS);
            w.braces("if (item == 0 && number < (P)arg0)", |w| {
                w.finish_row(to, &types, rows, &names_at("l", &types, "0"))
            });
        })
    }

    /// Reduces part `slot` of each row with one item, and neighbouring rows with neighbouring items: `arg0` elements of
    /// `arg1`. There are `arg2` parts and `arg3` rows. A single part is the whole row.
    pub fn fold_across(&mut self, s: &Step, to: ArrayId, outer: usize, rows: &Reduction) -> Kernel {
        self.kernel_of(s, &format!("fold_{}_across", s.number), outer, 4, |w| {
            let types = w.columns(to);
            w.line("const P row = get_global_id(0), slot = get_global_id(1), step = 1;");
            w.line("if (row >= (P)arg3 || slot >= (P)arg2) return;");
            w.part_bounds();
            w.line("const P stop = to;");
            w.narrow_index(outer, "row");
            w.hoist(&[&rows.element, &rows.op]);
            w.line("P k = from;");
            let element = |w: &mut Writer, k: &str, x: &[String]| w.code(&rows.element, &row_index(outer, k), x);
            w.accumulate(&types, rows, false, TURNS, element);
            w.finish_part(to, &types, rows, &names("y", &types));
        })
    }
}

impl Writer<'_> {
    pub fn part_bounds(&mut self) {
        self.line("const P from = slot * (P)arg0, to = min(from + (P)arg0, (P)arg1);");
    }

    pub fn locals(&mut self, types: &[ScalarType]) {
        for (c, t) in types.iter().enumerate() {
            self.params.add(Arg::Local(c), Parameter::buffer(&format!("local {t}"), format!("l{c}")));
        }
    }

    /// Combines the elements `from..to` of the row to `l0[0]`, ... If they are cheap, an item reads `turns` of
    /// them at a time.
    pub fn reduce_part(&mut self, types: &[ScalarType], outer: usize, rows: &Reduction, reverse: bool, turns: usize) {
        self.hoist(&[&rows.element, &rows.op]);
        self.reduce_items(types, rows, reverse, turns, |w, k, x| {
            let at = if reverse { format!("arg1 - 1 - ({k})") } else { k.into() };
            w.code(&rows.element, &row_index(outer, &at), x);
        });
    }

    pub fn reduce_items(
        &mut self,
        types: &[ScalarType],
        rows: &Reduction,
        reverse: bool,
        turns: usize,
        element: impl Fn(&mut Self, &str, &[String]),
    ) {
        self.hoist(&[&rows.op]);
        if rows.monoid.is_some() {
            self.line("const P count = min(to - from, (P)size), stop = to, step = size;");
            self.line("P k = from + item;");
        } else {
            self.line(
                "const P piece = (to - from + size - 1) / size, count = (to - from + piece - 1) / piece, step = 1;",
            );
            self.line("P k = from + item * piece;");
            self.line("const P stop = min(k + piece, to);");
        }
        let at = |i: &str| names_at("l", types, i);
        self.braces("if (item < count)", |w| {
            w.accumulate(types, rows, reverse, turns, element);
            w.assign(&at("item"), &names("y", types));
        });
        self.line("barrier(CLK_LOCAL_MEM_FENCE);");
        self.braces("for (uint apart = 1; apart < size; apart *= 2)", |w| {
            w.braces("if ((item & (2 * apart - 1)) == 0 && item + apart < count)", |w| {
                w.code(&rows.op, &in_order(reverse, &at("item"), &at("item + apart")), &at("item"));
            });
            w.line("barrier(CLK_LOCAL_MEM_FENCE);");
        });
    }

    /// Combines the elements `k`, `k + step`, .., before `stop`, to `y0`, ... There is at least one. If they are cheap,
    /// it reads `turns` of them at a time.
    fn accumulate(
        &mut self,
        types: &[ScalarType],
        rows: &Reduction,
        reverse: bool,
        turns: usize,
        element: impl Fn(&mut Self, &str, &[String]),
    ) {
        let (y, x) = (names("y", types), names("x", types));
        self.declare(&y, types);
        element(self, "k", &y);
        self.line("k += step;");
        if is_cheap(&rows.element) {
            self.braces(&format!("for (; k + {} * step < stop; k += {turns} * step)", turns - 1), |w| {
                let element = |w: &mut Self, v: &[String]| element(w, "(k + u * step)", v);
                w.several(turns, types, element, |w, v| w.code(&rows.op, &in_order(reverse, &y, v), &y));
            });
        }
        self.braces("for (; k < stop; k += step)", |w| {
            w.declare(&x, types);
            element(w, "k", &x);
            w.code(&rows.op, &in_order(reverse, &y, &x), &y);
        });
    }

    /// Stores the result of a row, if it has one part, or of a part.
    fn finish_part(&mut self, to: ArrayId, types: &[ScalarType], rows: &Reduction, total: &[String]) {
        self.braces("if (arg2 == 1)", |w| w.finish_row(to, types, rows, total));
        self.braces("else", |w| w.leave_part(types, total));
    }

    /// Stores the result of a row: the initial value, combined with the total of the elements.
    fn finish_row(&mut self, to: ArrayId, types: &[ScalarType], rows: &Reduction, total: &[String]) {
        let z = names("z", types);
        self.initial(&z, types, rows, &[&rows.op]);
        self.hoist_output(to, false);
        let out = elements(to, types.len(), "row");
        match rows.init.is_some() {
            true => self.code(&rows.op, &[&z, total].concat(), &out),
            false => self.assign(&out, total),
        }
    }

    pub fn leave_part(&mut self, types: &[ScalarType], total: &[String]) {
        self.state(types);
        self.assign(&names_at("s", types, "row * arg2 + slot"), total);
    }
}
