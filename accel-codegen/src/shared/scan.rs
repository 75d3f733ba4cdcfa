//! Scans: functions of a task.

use crate::text::names::{elements, in_order, names, row_index};
use crate::text::writer::Writer;
use accel_fusion::kernel::{ArrayId, Reduction};

impl Writer<'_> {
    /// As [`fold`](Self::fold). If `write`, it also writes every accumulated value to the row that starts at `base`.
    pub fn scan(&mut self, name: &str, to: ArrayId, outer: usize, reverse: bool, rows: &Reduction) -> String {
        let types = self.columns(to);
        self.hoist(&[&rows.element, &rows.op]);
        self.hoist_output(to, false);
        let (y, x) = (names("y", &types), names("x", &types));
        // The first `shift` results are initial values.
        let shift = rows.init.is_some() as usize;
        let at = |k: &str| if reverse { format!("len - 1 - ({k})") } else { k.to_string() };
        let source = &at("k");
        let target = if reverse { "base + len - 1 - k".to_string() } else { format!("base + k + {shift}") };
        self.begin_row(&types, &y, rows, outer, source);
        // Only the total is needed.
        self.lanes("!write && ", &types, outer, rows, at);
        let out = elements(to, types.len(), &target);
        self.braces("if (write && !started)", |w| {
            w.line("k = from;");
            w.assign(&out, &y);
            w.line("k++;");
        });
        self.braces("for (; k < to; k++)", |w| {
            w.declare(&x, &types);
            w.code(&rows.element, &row_index(outer, source), &x);
            w.code(&rows.op, &in_order(reverse, &y, &x), &y);
            w.braces("if (write)", |w| w.assign(&out, &y));
        });
        self.end_row(&y);
        let params = self.row_parameters(to, outer);
        format!("static int {name}({params}, i64 base, i64 len, bool write)")
    }

    /// Scans whole rows; positions are those of rows.
    pub fn scan_rows(&mut self, scan: &str, to: ArrayId, outer: usize, reverse: bool, rows: &Reduction) {
        let types = self.columns(to);
        let (y, z) = (names("y", &types), names("z", &types));
        self.initial(&z, &types, rows, &[]);
        self.hoist_output(to, false);
        let some = rows.init.is_some();
        if !some {
            self.line("if (task->len == 0) return 0;");
        }
        self.positions(outer, |w| {
            w.line(format!("const i64 base = p * (task->len + {});", some as u8));
            w.declare(&y, &types);
            if some {
                w.assign(&y, &z);
                w.assign(&elements(to, types.len(), if reverse { "base + task->len" } else { "base" }), &z);
            }
            w.row_call(scan, outer, "0, task->len", some, &y, ", base, task->len, 1");
        });
    }

    /// Replaces the totals of the parts of one row by the values accumulated before them, and writes the initial value.
    pub fn carry(&mut self, to: ArrayId, reverse: bool, rows: &Reduction) {
        let types = self.columns(to);
        let (y, z, t) = (names("y", &types), names("z", &types), names("t", &types));
        self.initial(&z, &types, rows, &[&rows.op]);
        self.hoist_output(to, false);
        self.state(&types);
        self.declare(&y, &types);
        let part: Vec<String> = (0..types.len()).map(|c| format!("s{c}[s]")).collect();
        self.line("i64 s = 0;");
        if rows.init.is_some() {
            let start = if reverse { "task->row * (task->len + 1) + task->len" } else { "task->row * (task->len + 1)" };
            self.assign(&elements(to, types.len(), start), &z);
            self.assign(&y, &z);
        } else {
            self.assign(&y, &part);
            self.line("s++;");
        }
        self.braces("for (; s < task->to; s++)", |w| {
            w.declare(&t, &types);
            w.assign(&t, &part);
            w.assign(&part, &y);
            w.code(&rows.op, &in_order(reverse, &y, &t), &y);
        });
    }

    /// Scans a part of one row, starting with the value in the state (except the first part without an initial value).
    pub fn write_part(&mut self, scan: &str, to: ArrayId, outer: usize, rows: &Reduction) {
        let types = self.columns(to);
        let y = names("y", &types);
        let some = rows.init.is_some();
        self.state(&types);
        self.index_of(outer, "task->row");
        self.line(format!("const i64 base = task->row * (task->len + {});", some as u8));
        self.declare(&y, &types);
        let more = ", base, task->len, 1";
        if !some {
            self.braces("if (task->from == 0)", |w| {
                w.row_call(scan, outer, "task->from, task->to", false, &y, more);
                w.line("return 0;");
            });
        }
        let from: Vec<_> = (0..types.len()).map(|c| format!("s{c}[task->slot]")).collect();
        self.assign(&y, &from);
        self.row_call(scan, outer, "task->from, task->to", true, &y, more);
    }
}
