//! Reductions and scans by work-groups, for GPUs: each group does a part of a row in local memory.
//!
//! NOTE [Groups keep the order]
//! Operators need not be commutative. An item combines elements that lie next to each other, and items are combined with their neighbours,
//! at twice the distance each time. Only for well-known operators do the items of a group take turns, so that they read
//! neighbouring elements at the same time.
//!
//! Items wait for each other at barriers, so none may leave before: codes that can fail are done by tasks.
//!
//! NOTE [Scans in two launches]
//! The first launch computes the totals of the parts of rows, the second one goes through the parts again and writes them, each group from the
//! total of all parts before its own. So the array is read twice and written once: 12 bytes for a number of 4, where a copy
//! moves 8, and at most 2/3 of the elements per second of a copy. Reading it once takes groups that wait for the totals of the groups before
//! them (decoupled look-back). OpenCL promises neither that a group makes progress while another one waits for it, nor, before version 2.0,
//! that what a group has written is seen by others in the order in which it was written. There are devices that do both, but no way to ask
//! them, and the failure is a kernel that never ends. Rows that one group does as a whole are read once anyway.

use super::emit::Emitter;
use super::gpu::{UNROLL, is_cheap};
use super::{Arg, Kernel};
use crate::code::Writer;
use crate::kernels::{elements, in_order, names, row_index};
use crate::liveness::Step;
use crate::ops;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Code, Instr, Rows};

/// How many elements each item of a group scans at a time.
pub const EACH: usize = 4;

/// Where in local memory the elements of a scan are: apart such that items that go through [`EACH`] of their own do not wait for
/// the same bank.
const PLACE: &str = "#define PLACE(n) ((n) + (n) / 32)";

/// How many places so many items need.
pub fn places(items: usize) -> usize {
    items * EACH + items * EACH / 32 + 1
}

/// Whether code always succeeds.
pub fn succeeds(code: &Code) -> bool {
    fn all(code: &Code, instrs: &[Instr]) -> bool {
        instrs.iter().all(|i| match i {
            Instr::Op2(_, op, a, _) => ops::division(*op, code.types[*a]).is_none(),
            Instr::Read { inside, index, .. } => *inside || index.is_empty(),
            _ => i.inner().into_iter().all(|inner| all(code, inner)),
        })
    }
    all(code, &code.instrs)
}

/// Whether groups can do these rows.
pub fn suits(rows: &Rows) -> bool {
    succeeds(&rows.element) && succeeds(&rows.op) && rows.init.as_ref().is_none_or(succeeds)
}

/// The lines that all these kernels begin with.
const HEAD: [&str; 2] = [
    "const uint item = get_local_id(0), size = get_local_size(0);",
    "const P row = (P)get_group_id(0) / (P)arg2, slot = (P)get_group_id(0) % (P)arg2;",
];

impl Emitter<'_> {
    /// A kernel of groups; `body` writes it.
    fn group_kernel(&mut self, s: &Step, name: &str, outer: usize, body: impl FnOnce(&mut Writer)) -> Kernel {
        let mut w = Writer::new(self.program, self.declarations, s.stmt.site);
        HEAD.iter().for_each(|line| w.line(line));
        w.narrow_index(outer, "row");
        body(&mut w);
        let params = std::mem::take(&mut w.params);
        let body = w.finish();
        self.entry(name, params, outer, 3, &body)
    }

    /// Part `g` of row `r`: `arg0` elements of `arg1`; there are `arg2` parts. A single part is the whole row.
    pub fn fold_group(&mut self, s: &Step, to: ArrayId, outer: usize, rows: &Rows) -> Kernel {
        self.group_kernel(s, &format!("fold_{}_group", s.number), outer, |w| {
            let types = w.columns(to);
            w.part_bounds();
            w.reduce_part(&types, outer, rows, false);
            w.braces("if (item == 0)", |w| {
                w.braces("if (arg2 == 1)", |w| w.finish_row(to, &types, rows));
                w.braces("else", |w| w.leave_part(&types));
            });
        })
    }

    /// The `arg0` parts of row `r`; `arg2` is 1.
    pub fn join_group(&mut self, s: &Step, to: ArrayId, outer: usize, rows: &Rows) -> Kernel {
        self.group_kernel(s, &format!("fold_{}_join_group", s.number), outer, |w| {
            let types = w.columns(to);
            w.state(&types);
            w.line("const P from = 0, to = arg0;");
            let part =
                |k: &str| -> Vec<String> { (0..types.len()).map(|c| format!("s{c}[row * arg0 + {k}]")).collect() };
            w.reduce_items(&types, rows, false, |w, k, x| w.assign(x, &part(k)));
            w.braces("if (item == 0)", |w| w.finish_row(to, &types, rows));
        })
    }

    /// The total of part `g` of row `r`, as above, in the order of a scan.
    pub fn scan_group(&mut self, s: &Step, to: ArrayId, outer: usize, reverse: bool, rows: &Rows) -> Kernel {
        self.group_kernel(s, &format!("scan_{}_group", s.number), outer, |w| {
            let types = w.columns(to);
            w.part_bounds();
            w.reduce_part(&types, outer, rows, reverse);
            w.braces("if (item == 0)", |w| w.leave_part(&types));
        })
    }

    /// Writes part `g` of row `r`, from the totals of the parts before it on.
    pub fn write_group(&mut self, s: &Step, to: ArrayId, outer: usize, reverse: bool, rows: &Rows) -> Kernel {
        self.group_kernel(s, &format!("scan_{}_write_group", s.number), outer, |w| {
            w.part_bounds();
            w.scan_part(to, outer, reverse, rows);
        })
    }
}

impl Writer<'_> {
    fn part_bounds(&mut self) {
        self.line("const P from = slot * (P)arg0, to = min(from + (P)arg0, (P)arg1);");
    }

    fn locals(&mut self, types: &[ScalarType]) {
        for (c, t) in types.iter().enumerate() {
            self.param(Arg::Local(c), format!("local {t} *l{c}"));
        }
    }

    /// Combines the elements `from..to` of the row to `l0[0]`, ..
    fn reduce_part(&mut self, types: &[ScalarType], outer: usize, rows: &Rows, reverse: bool) {
        self.hoist(&[&rows.element, &rows.op]);
        self.reduce_items(types, rows, reverse, |w, k, x| {
            let at = if reverse { format!("arg1 - 1 - ({k})") } else { k.into() };
            w.code(&rows.element, &row_index(outer, &at), x);
        });
    }

    fn reduce_items(
        &mut self,
        types: &[ScalarType],
        rows: &Rows,
        reverse: bool,
        element: impl Fn(&mut Self, &str, &[String]),
    ) {
        self.hoist(&[&rows.op]);
        self.locals(types);
        let (y, x) = (names("y", types), names("x", types));
        let turns = rows.known.is_some();
        if turns {
            self.line("const P count = min(to - from, (P)size), stop = to, step = size;");
            self.line("P k = from + item;");
        } else {
            self.line(
                "const P piece = (to - from + size - 1) / size, count = (to - from + piece - 1) / piece, step = 1;",
            );
            self.line("P k = from + item * piece;");
            self.line("const P stop = min(k + piece, to);");
        }
        let at = |i: &str| -> Vec<String> { (0..types.len()).map(|c| format!("l{c}[{i}]")).collect() };
        self.braces("if (item < count)", |w| {
            w.declare(&y, types);
            element(w, "k", &y);
            w.line("k += step;");
            if turns && is_cheap(&rows.element) {
                w.line(UNROLL);
            }
            w.braces("for (; k < stop; k += step)", |w| {
                w.declare(&x, types);
                element(w, "k", &x);
                w.code(&rows.op, &in_order(reverse, &y, &x), &y);
            });
            w.assign(&at("item"), &y);
        });
        self.line("barrier(CLK_LOCAL_MEM_FENCE);");
        self.braces("for (uint apart = 1; apart < size; apart *= 2)", |w| {
            w.braces("if ((item & (2 * apart - 1)) == 0 && item + apart < count)", |w| {
                w.code(&rows.op, &in_order(reverse, &at("item"), &at("item + apart")), &at("item"));
            });
            w.line("barrier(CLK_LOCAL_MEM_FENCE);");
        });
    }

    /// The result of a row: the initial value with what is in local memory.
    fn finish_row(&mut self, to: ArrayId, types: &[ScalarType], rows: &Rows) {
        let z = names("z", types);
        self.initial(&z, types, rows, &[&rows.op]);
        self.hoist_output(to, false);
        let (total, out) = (names_at("l", types, "0"), elements(to, types.len(), "row"));
        match rows.init.is_some() {
            true => self.code(&rows.op, &[z, total].concat(), &out),
            false => self.assign(&out, &total),
        }
    }

    fn leave_part(&mut self, types: &[ScalarType]) {
        self.state(types);
        self.assign(&names_at("s", types, "row * arg2 + slot"), &names_at("l", types, "0"));
    }

    /// Goes through a part of a row, [`EACH`] elements for every item at a time: each item scans its own, the totals are scanned in local
    /// memory, and everything is combined with what came before. Elements come and go through local memory, so that items next to each
    /// other read and write elements next to each other.
    fn scan_part(&mut self, to: ArrayId, outer: usize, reverse: bool, rows: &Rows) {
        let types = self.columns(to);
        let some = rows.init.is_some();
        self.hoist(&[&rows.element, &rows.op]);
        self.hoist_output(to, false);
        self.state(&types);
        self.locals(&types);
        let before = names("b", &types);
        self.declare(&before, &types);
        self.line(format!("const P base = row * ((P)arg1 + {});", some as u8));
        // Without an initial value there is nothing before the first part.
        self.line(format!("bool started = {};", if some { "1" } else { "slot > 0" }));
        let z = names("z", &types);
        self.initial(&z, &types, rows, &[]);
        if some {
            self.assign(&before, &z);
            let place = if reverse { "base + arg1" } else { "base" };
            self.braces("if (slot == 0 && item == 0)", |w| w.assign(&elements(to, types.len(), place), &z));
        }
        self.braces("if (slot > 0)", |w| {
            w.line("const P from = 0, to = slot;");
            let part = |k: &str| names_at("s", &types, &format!("row * arg2 + {k}"));
            w.reduce_items(&types, rows, reverse, |w, k, x| w.assign(x, &part(k)));
            let total = names_at("l", &types, "0");
            match some {
                true => w.code(&rows.op, &in_order(reverse, &z, &total), &before),
                false => w.assign(&before, &total),
            }
            w.line("barrier(CLK_LOCAL_MEM_FENCE);");
        });
        for (c, t) in types.iter().enumerate() {
            self.param(Arg::Local(types.len() + c), format!("local {t} *m{c}"));
        }
        let source = |k: &str| if reverse { format!("arg1 - 1 - ({k})") } else { k.to_string() };
        let target = |k: &str| match (reverse, some) {
            (true, _) => format!("base + (P)arg1 - 1 - ({k})"),
            (false, true) => format!("base + ({k}) + 1"),
            (false, false) => format!("base + {k}"),
        };
        let tile = |n: &str| names_at("m", &types, &format!("PLACE({n})"));
        let own = |e: &str| tile(&format!("item * {EACH} + {e}"));
        let here = names_at("l", &types, "item");
        let by_turns = "for (uint n = item; n < filled; n += size)";
        self.declarations.need("PLACE", || PLACE.into());
        self.braces(&format!("for (P tile = from; tile < to; tile += size * {EACH})"), |w| {
            w.line(format!("const uint filled = min(to - tile, (P)(size * {EACH}));"));
            w.line(format!(
                "const uint count = (filled + {EACH} - 1) / {EACH}, last = min(item * {EACH} + {EACH}, filled);"
            ));
            if is_cheap(&rows.element) {
                w.line(UNROLL);
            }
            w.braces(by_turns, |w| w.code(&rows.element, &row_index(outer, &source("tile + n")), &tile("n")));
            w.line("barrier(CLK_LOCAL_MEM_FENCE);");
            w.braces("if (item < count)", |w| {
                let y = names("y", &types);
                w.declare(&y, &types);
                w.assign(&y, &own("0"));
                w.braces(&format!("for (uint n = item * {EACH} + 1; n < last; n++)"), |w| {
                    w.code(&rows.op, &in_order(reverse, &y, &tile("n")), &y);
                    w.assign(&tile("n"), &y);
                });
                w.assign(&here, &y);
            });
            w.line("barrier(CLK_LOCAL_MEM_FENCE);");
            let total = names("t", &types);
            w.declare(&total, &types);
            w.braces("for (uint apart = 1; apart < count; apart *= 2)", |w| {
                w.line("const bool more = item >= apart && item < count;");
                w.braces("if (more)", |w| {
                    let left = names_at("l", &types, "item - apart");
                    w.code(&rows.op, &in_order(reverse, &left, &here), &total);
                });
                w.line("barrier(CLK_LOCAL_MEM_FENCE);");
                w.braces("if (more)", |w| w.assign(&here, &total));
                w.line("barrier(CLK_LOCAL_MEM_FENCE);");
            });
            // What comes before this item's elements.
            let prefix = names("p", &types);
            w.declare(&prefix, &types);
            w.line("const bool any = started || item > 0;");
            let left = names_at("l", &types, "item - 1");
            w.braces("if (item > 0 && item < count && started)", |w| {
                w.code(&rows.op, &in_order(reverse, &before, &left), &prefix);
            });
            w.braces("else if (item > 0 && item < count)", |w| w.assign(&prefix, &left));
            w.braces("else if (started)", |w| w.assign(&prefix, &before));
            w.braces(&format!("if (any) for (uint n = item * {EACH}; n < last; n++)"), |w| {
                w.code(&rows.op, &in_order(reverse, &prefix, &tile("n")), &tile("n"));
            });
            // Everything up to here.
            let all = names_at("l", &types, "count - 1");
            w.braces("if (started)", |w| w.code(&rows.op, &in_order(reverse, &before, &all), &before));
            w.braces("else", |w| w.assign(&before, &all));
            w.line("started = 1;");
            w.line("barrier(CLK_LOCAL_MEM_FENCE);");
            w.braces(by_turns, |w| {
                w.assign(&elements(to, types.len(), &target("tile + n")), &tile("n"));
            });
            w.line("barrier(CLK_LOCAL_MEM_FENCE);");
        });
    }
}

/// Elements of buffers: `l0[i]`, ..
fn names_at(prefix: &str, types: &[ScalarType], i: &str) -> Vec<String> {
    (0..types.len()).map(|c| format!("{prefix}{c}[{i}]")).collect()
}
