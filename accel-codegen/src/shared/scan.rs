//! Scans: functions of a task.
//!
//! NOTE [Chains of a scan]: an accumulated value depends on the one before it, so a processor waits for each operation before
//! it starts the next, most of the time. If the operator is small, a task for a part of a row cuts its part into up to
//! four pieces, and combines one element of each in turn. So several operations are under way at a time. Each piece has a total of
//! its own in the state. Devices execute several work-items at a time instead.
//!
//! NOTE [Rows side by side]: the rows of a transposed matrix lie side by side in memory. If a scan took one row after the other,
//! each element would need another line of memory, and the next row would need these lines again. So such rows are scanned
//! several at a time, which also makes vectors of their totals.

use crate::cost_model::{ACCUMULATED, CHAINS, SIDE_BY_SIDE, WAITING};
use crate::text::names::{element, in_order, index, names, row_index};
use crate::text::writer::Writer;
use accel_fusion::kernel::{ArrayId, Instr, Op, Reduction, Reg, ScalarFn};

/// The steps of a row between two jumps: an addition takes as long as counting and jumping. Measured with AVX2: rows of 100 f32 take
/// half of the time, those of 64-bit numbers four fifths.
const STEPS: i64 = 4;

/// A scan, in the form that its functions need.
#[derive(Clone, Copy)]
pub struct Scan<'a> {
    pub to: ArrayId,
    /// The columns of the accumulated values that the array has.
    pub kept: &'a [usize],
    pub outer: usize,
    pub reverse: bool,
    /// Whether the results of the rows lie side by side.
    pub down: bool,
    pub rows: &'a Reduction,
}

/// The number of pieces into which a task cuts its part of a row: NOTE [Chains of a scan].
pub fn chains(rows: &Reduction) -> usize {
    if is_short(rows) { (ACCUMULATED / rows.op.results.len().max(1)).clamp(1, CHAINS) } else { 1 }
}

/// Whether a step takes so little that a call, or waiting for the step before, takes longer.
fn is_short(rows: &Reduction) -> bool {
    [&rows.element, &rows.op].iter().all(|c| !c.can_fail() && c.work() <= WAITING && !c.has_loop())
}

impl<'a> Scan<'a> {
    pub fn new(op: &'a Op) -> Option<Self> {
        let Op::Scan { to, kept, extents, reverse, down, rows } = op else { return None };
        let outer = extents.results.len();
        Some(Scan { to: *to, kept, outer, reverse: *reverse, down: *down, rows })
    }

    /// Where result `k` of a row is.
    pub fn place(&self, k: &str) -> String {
        if self.down { format!("base + ({k}) * side") } else { format!("base + {k}") }
    }

    /// Declares `base`, where the results of row `p` begin, and the number of rows side by side if there are several.
    pub fn declare_base(&self, w: &mut Writer, p: &str) {
        let length = format!("(task->len + {})", self.rows.init.is_some() as u8);
        if self.down {
            w.line(format!("const i64 side = task->extents[{}];", self.outer - 1));
            w.line(format!("const i64 base = {p} / side * {length} * side + {p} % side;"));
        } else {
            w.line(format!("const i64 base = {p} * {length};"));
        }
    }

    /// The last arguments of the function of a row, which writes its results if `write`.
    fn arguments(&self, write: &str) -> String {
        format!(", base{}, task->len, {write}", if self.down { ", side" } else { "" })
    }

    /// The last arguments of the function of a row that only computes the total.
    pub fn total_arguments(&self) -> &'static str {
        if self.down { ", 0, 1, task->len, 0" } else { ", 0, task->len, 0" }
    }

    /// The last parameters of the function of a row.
    fn parameters(&self) -> &'static str {
        if self.down { "i64 base, i64 side, i64 len, bool write" } else { "i64 base, i64 len, bool write" }
    }

    /// Whether the rows lie side by side, but not the results: NOTE [Rows side by side].
    fn is_side_by_side(&self) -> bool {
        let (row, position) = (Reg::new(0), Reg::new(1));
        let reads_across = |i: &Instr| match i {
            Instr::Read { index, .. } => index.last() == Some(&row) && index.contains(&position),
            _ => false,
        };
        let codes = [&self.rows.element, &self.rows.op];
        self.outer == 1
            && !self.down
            && codes.iter().all(|c| !c.can_fail() && !c.has_loop())
            && self.rows.element.instrs.iter().any(reads_across)
    }

    /// Stores the kept columns of an accumulated value.
    pub fn store(&self, w: &mut Writer, position: &str, value: &[String]) {
        let to: Vec<_> = (0..self.kept.len()).map(|c| element(self.to, c, position)).collect();
        let kept: Vec<_> = self.kept.iter().map(|c| value[*c].clone()).collect();
        w.assign(&to, &kept);
    }
}

impl Writer<'_> {
    /// As [`fold`](Self::fold). If `write`, it also writes every accumulated value to the row that starts at `base`.
    pub fn scan(&mut self, name: &str, scan: &Scan) -> String {
        let Scan { to, outer, reverse, rows, .. } = *scan;
        let types = rows.columns();
        self.hoist(&[&rows.element, &rows.op]);
        self.hoist_output(to, false);
        let (y, x) = (names("y", &types), names("x", &types));
        // The first `shift` results are initial values.
        let shift = rows.init.is_some() as usize;
        let at = |k: &str| if reverse { format!("len - 1 - ({k})") } else { k.to_string() };
        let source = &at("k");
        let target = scan.place(&if reverse { "len - 1 - k".to_string() } else { format!("k + {shift}") });
        self.begin_row(&types, &y, rows, outer, source);
        // Only the total is needed.
        self.reduce_in_lanes("!write && ", outer, rows, &at);
        self.braces("if (write && !started)", |w| {
            w.line("k = from;");
            scan.store(w, &target, &y);
            w.line("k++;");
        });
        self.braces("for (; k < to; k++)", |w| {
            w.declare(&x, &types);
            w.code(&rows.element, &row_index(outer, source), &x);
            w.code(&rows.op, &in_order(reverse, &y, &x), &y);
            w.braces("if (write)", |w| scan.store(w, &target, &y));
        });
        self.end_row(&y);
        let params = self.row_parameters(&types, outer);
        format!("static int {name}({params}, {})", scan.parameters())
    }

    /// Combines the elements from `from` to `to` of one row, at least one for each chain: NOTE [Chains of a scan]. The state
    /// has the totals of the chains from `slot` on. Without `write`, they are computed. Otherwise, they are the values
    /// accumulated before each chain, and every accumulated value is written; the first chain has no such value unless
    /// `started`.
    pub fn scan_chains(&mut self, name: &str, scan: &Scan) -> String {
        let Scan { to, outer, reverse, rows, .. } = *scan;
        let (types, chains) = (rows.columns(), chains(rows));
        self.hoist(&[&rows.element, &rows.op]);
        self.hoist_output(to, false);
        let shift = rows.init.is_some() as usize;
        let value = |r: usize| names(&format!("c{r}_"), &types);
        let x = names("x", &types);
        let total = |r: usize| -> Vec<_> { (0..types.len()).map(|c| format!("s{c}[slot + {r}]")).collect() };
        let element = |w: &mut Self, k: &str, x: &[String]| {
            let source = if reverse { format!("len - 1 - ({k})") } else { k.to_string() };
            w.code(&rows.element, &row_index(outer, &source), x);
        };
        let store = |w: &mut Self, k: &str, y: &[String]| {
            let at = scan.place(&if reverse { format!("len - 1 - ({k})") } else { format!("{k} + {shift}") });
            w.braces("if (write)", |w| scan.store(w, &at, y));
        };
        let next = |w: &mut Self, r: usize, k: &str| {
            w.braces("", |w| {
                w.declare(&x, &types);
                element(w, k, &x);
                w.code(&rows.op, &in_order(reverse, &value(r), &x), &value(r));
                store(w, k, &value(r));
            });
        };
        self.line(format!("const i64 each = (to - from) / {chains};"));
        let place = |r: usize, k: &str| format!("from + {r} * each + {k}");
        for r in 0..chains {
            self.declare(&value(r), &types);
            element(self, &place(r, "0"), &value(r));
            self.braces(if r == 0 { "if (write && started)" } else { "if (write)" }, |w| {
                w.code(&rows.op, &in_order(reverse, &total(r), &value(r)), &value(r));
            });
            store(self, &place(r, "0"), &value(r));
        }
        self.braces("for (i64 k = 1; k < each; k++)", |w| (0..chains).for_each(|r| next(w, r, &place(r, "k"))));
        let last = chains - 1;
        self.braces(&format!("for (i64 k = {}; k < to; k++)", place(last, "each")), |w| next(w, last, "k"));
        self.braces("if (!write)", |w| (0..chains).for_each(|r| w.assign(&total(r), &value(r))));
        let ix: String = index(outer).iter().map(|i| format!(", i64 {i}")).collect();
        let state: String = types.iter().enumerate().map(|(c, t)| format!(", {t} *s{c}")).collect();
        let params = self.parameters();
        let more = scan.parameters();
        format!("static int {name}({params}{ix}, i64 from, i64 to, bool started, i64 slot{state}, {more})")
    }

    /// Computes the totals of the chains of a part in lanes, one after the other.
    pub fn lanes_of_chains(&mut self, name: &str, scan: &Scan) {
        let (types, chains) = (scan.rows.columns(), chains(scan.rows));
        let y = names("y", &types);
        self.state(&types);
        self.index_of(scan.outer, "task->row");
        self.line(format!("const i64 each = (task->to - task->from) / {chains};"));
        self.braces(&format!("for (i64 r = 0; r < {chains}; r++)"), |w| {
            w.line("const i64 from = task->from + r * each;");
            w.line(format!("const i64 to = r == {} ? task->to : from + each;", chains - 1));
            w.declare(&y, &types);
            w.row_call(name, scan.outer, "from, to", false, &y, scan.total_arguments());
            let total: Vec<_> = (0..types.len()).map(|c| format!("s{c}[task->slot + r]")).collect();
            w.assign(&total, &y);
        });
    }

    /// Calls the function of chains for a task, which computes totals or writes.
    pub fn chains_of_part(&mut self, name: &str, scan: &Scan, write: bool) {
        let Scan { outer, rows, .. } = *scan;
        let types = rows.columns();
        let some = rows.init.is_some() as u8;
        self.state(&types);
        self.index_of(outer, "task->row");
        let ix: String = index(outer).iter().map(|i| format!(", {i}")).collect();
        let state: String = (0..types.len()).map(|c| format!(", s{c}")).collect();
        let arguments = self.arguments(name);
        scan.declare_base(self, "task->row");
        self.line(format!("const bool started = {some} || task->from > 0;"));
        let more = scan.arguments(if write { "1" } else { "0" });
        self.line(format!("return {name}({arguments}{ix}, task->from, task->to, started, task->slot{state}{more});"));
    }

    /// Scans whole rows; positions are those of rows.
    pub fn scan_rows(&mut self, name: &str, scan: &Scan) {
        let Scan { to, outer, reverse, rows, .. } = *scan;
        let types = rows.columns();
        let (y, z) = (names("y", &types), names("z", &types));
        let (together, inline) = (scan.is_side_by_side(), is_short(rows));
        let codes: &[&ScalarFn] = if together || inline { &[&rows.element, &rows.op] } else { &[] };
        self.initial(&z, &types, rows, codes);
        self.hoist_output(to, false);
        let some = rows.init.is_some();
        if !some {
            self.line("if (task->len == 0) return 0;");
        }
        let say = !self.aliased.is_empty();
        let one_by_one = |w: &mut Self| {
            w.positions_to("to", outer, say, |w| {
                scan.declare_base(w, "p");
                w.declare(&y, &types);
                if some {
                    w.assign(&y, &z);
                    scan.store(w, &if reverse { scan.place("task->len") } else { "base".into() }, &z);
                }
                match inline {
                    true => w.scan_row(scan, &y),
                    false => w.row_call(name, outer, "0, task->len", some, &y, &scan.arguments("1")),
                }
            })
        };
        self.first_position();
        self.rest_of_index_space(outer, |w| {
            if together {
                w.rows_side_by_side(scan, &z);
            }
            one_by_one(w);
        });
    }

    /// Scans the whole row that begins at `base`, without a call. `y` has the initial value, if there is one.
    fn scan_row(&mut self, scan: &Scan, y: &[String]) {
        let Scan { outer, reverse, rows, .. } = *scan;
        let types = rows.columns();
        let (x, some) = (names("x", &types), rows.init.is_some());
        let source = |k: &str| if reverse { format!("task->len - 1 - {k}") } else { k.to_string() };
        let target = |k: &str| scan.place(&if some && !reverse { format!("{k} + 1") } else { source(k) });
        if !some {
            self.code(&rows.element, &row_index(outer, &source("0")), y);
            scan.store(self, &target("0"), y);
        }
        self.line(self.dialect().copies(STEPS));
        self.braces(&format!("for (i64 k = {}; k < task->len; k++)", !some as u8), |w| {
            w.declare(&x, &types);
            w.code(&rows.element, &row_index(outer, &source("k")), &x);
            w.code(&rows.op, &in_order(reverse, y, &x), y);
            scan.store(w, &target("k"), y);
        });
    }

    /// Scans several rows at a time as long as there are so many. `z` is the initial value. The accumulated values of some
    /// positions are collected before they are written, so that a row gets a whole line of memory at once.
    fn rows_side_by_side(&mut self, scan: &Scan, z: &[String]) {
        let Scan { reverse, rows, .. } = *scan;
        let types = rows.columns();
        let (x, some) = (names("x", &types), rows.init.is_some());
        let list =
            |name: &str, at: &str| -> Vec<String> { (0..types.len()).map(|c| format!("{name}{c}{at}")).collect() };
        let (total, collected) = (list("total", "[l]"), list("part", "[l][q]"));
        let lanes = format!("for (int l = 0; l < {SIDE_BY_SIDE}; l++)");
        let combine = |w: &mut Self, is_first: bool| {
            w.declare(&x, &types);
            let source = if reverse { "task->len - 1 - k" } else { "k" };
            w.code(&rows.element, &["i0 + l".into(), source.into()], &x);
            match is_first {
                true => w.assign(&total, &x),
                false => w.code(&rows.op, &in_order(reverse, &total, &x), &total),
            }
        };
        let row = format!("(p + l) * (task->len + {})", some as u8);
        self.braces(&format!("for (; p + {SIDE_BY_SIDE} <= to; p += {SIDE_BY_SIDE}, i0 += {SIDE_BY_SIDE})"), |w| {
            for (c, t) in types.iter().enumerate() {
                w.line(format!("{t} total{c}[{SIDE_BY_SIDE}], part{c}[{SIDE_BY_SIDE}][{SIDE_BY_SIDE}];"));
            }
            if some {
                w.braces(&lanes, |w| {
                    w.assign(&total, z);
                    scan.store(w, &format!("{row} + {}", if reverse { "task->len" } else { "0" }), &total);
                });
            }
            w.braces(&format!("for (i64 from = 0; from < task->len; from += {SIDE_BY_SIDE})"), |w| {
                w.line(format!(
                    "const i64 rest = task->len - from, count = rest < {SIDE_BY_SIDE} ? rest : {SIDE_BY_SIDE};"
                ));
                w.braces("for (i64 n = 0; n < count; n++)", |w| {
                    w.line("const i64 k = from + n;");
                    match some {
                        true => w.braces(&lanes, |w| combine(w, false)),
                        false => {
                            w.braces("if (k == 0)", |w| w.braces(&lanes, |w| combine(w, true)));
                            w.braces("else", |w| w.braces(&lanes, |w| combine(w, false)));
                        }
                    }
                    w.line(format!("const i64 q = {};", if reverse { "count - 1 - n" } else { "n" }));
                    w.braces(&lanes, |w| w.assign(&collected, &total));
                });
                let first = match reverse {
                    true => "rest - count".into(),
                    false => format!("from + {}", some as u8),
                };
                w.line(format!("const i64 first = {first};"));
                w.braces(&lanes, |w| {
                    let store = |w: &mut Self| scan.store(w, &format!("{row} + first + q"), &collected);
                    w.braces("for (i64 q = 0; q < count; q++)", store);
                });
            });
        });
    }

    /// Replaces the totals of the parts of one row by the values accumulated before them, and writes the initial value.
    pub fn carry(&mut self, scan: &Scan) {
        let Scan { to, reverse, rows, .. } = *scan;
        let types = rows.columns();
        let (y, z, t) = (names("y", &types), names("z", &types), names("t", &types));
        self.initial(&z, &types, rows, &[&rows.op]);
        self.hoist_output(to, false);
        self.state(&types);
        self.declare(&y, &types);
        let part: Vec<String> = (0..types.len()).map(|c| format!("s{c}[s]")).collect();
        self.line("i64 s = 0;");
        if rows.init.is_some() {
            scan.declare_base(self, "task->row");
            scan.store(self, &if reverse { scan.place("task->len") } else { "base".into() }, &z);
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
    pub fn write_part(&mut self, name: &str, scan: &Scan) {
        let Scan { outer, rows, .. } = *scan;
        let types = rows.columns();
        let y = names("y", &types);
        let some = rows.init.is_some();
        self.state(&types);
        self.index_of(outer, "task->row");
        scan.declare_base(self, "task->row");
        self.declare(&y, &types);
        let more = &scan.arguments("1");
        if !some {
            self.braces("if (task->from == 0)", |w| {
                w.row_call(name, outer, "task->from, task->to", false, &y, more);
                w.line("return 0;");
            });
        }
        let from: Vec<_> = (0..types.len()).map(|c| format!("s{c}[task->slot]")).collect();
        self.assign(&y, &from);
        self.row_call(name, outer, "task->from, task->to", true, &y, more);
    }
}
