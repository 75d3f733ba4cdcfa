//! Scans that go down: the results of the rows lie side by side in memory, and usually the elements do, too.
//!
//! NOTE [Scans of columns]: the sums of the columns of a matrix that end at each row are its prefix sums along the first
//! dimension. A scan of one column after the other would use a few bytes of each line of memory. Instead, as in NOTE
//! [Interchanged reductions], many columns are scanned side by side, with an accumulated value for each. So memory is read and
//! written in its order, and the C compiler uses vectors. Each column is still combined from its first element to its last.

use super::scan::Scan;
use crate::cost_model::{BLOCK, LINE, NARROW, TASK_COLUMNS, TASKS};
use crate::text::names::{in_order, index, names, row_index};
use crate::text::writer::Writer;

/// The number of elements of a row that are then combined before the next row: few enough that several rows are under way at
/// a time.
const STEPS: usize = 8;

impl Scan<'_> {
    /// Whether blocks of rows are scanned side by side: NOTE [Scans of columns].
    pub fn in_blocks(&self) -> bool {
        self.down && [&self.rows.element, &self.rows.op].iter().all(|c| !c.can_fail() && !c.has_loop())
    }
}

impl Writer<'_> {
    /// Writes the function that scans the elements from `from` to `to` of `width` neighbouring rows. `acc` are the values
    /// accumulated before, if `started`, and then those of all. Returns the first line of the function.
    pub fn scan_block(&mut self, name: &str, scan: &Scan) -> String {
        let Scan { to, outer, reverse, rows, .. } = *scan;
        let types = rows.columns();
        self.hoist(&[&rows.element, &rows.op]);
        self.hoist_output(to, false);
        let (y, x) = (names("y", &types), names("x", &types));
        let acc: Vec<_> = (0..types.len()).map(|c| format!("acc{c}[j]")).collect();
        let shift = rows.init.is_some() as u8;
        let element = |w: &mut Self, k: &str, to: &[String]| {
            let mut ix = row_index(outer, &if reverse { format!("len - 1 - ({k})") } else { k.into() });
            ix[outer - 1] = format!("i{} + j", outer - 1);
            w.code(&rows.element, &ix, to);
        };
        let store = |w: &mut Self, k: &str, value: &[String]| {
            let place = scan.place(&if reverse { format!("len - 1 - ({k})") } else { format!("{k} + {shift}") });
            scan.store(w, &format!("{place} + j"), value);
        };
        // Rows are independent.
        let lanes = |w: &mut Self, body: &dyn Fn(&mut Self)| {
            w.say_independent(true);
            w.braces("for (i64 j = 0; j < width; j++)", body);
        };
        self.line("i64 k = from;");
        self.braces("if (!started)", |w| {
            lanes(w, &|w| {
                element(w, "k", &acc);
                store(w, "k", &acc);
            });
            w.line("k++;");
        });
        // Each row takes some steps at a time.
        self.braces(&format!("while (width < {NARROW} && k < to)"), |w| {
            w.line(format!("const i64 stop = k + {STEPS} < to ? k + {STEPS} : to;"));
            w.braces("for (i64 j = 0; j < width; j++)", |w| {
                w.declare(&y, &types);
                w.assign(&y, &acc);
                w.braces("for (i64 n = k; n < stop; n++)", |w| {
                    w.declare(&x, &types);
                    element(w, "n", &x);
                    w.code(&rows.op, &in_order(reverse, &y, &x), &y);
                    store(w, "n", &y);
                });
                w.assign(&acc, &y);
            });
            w.line("k = stop;");
        });
        self.braces("for (; k < to; k++)", |w| {
            lanes(w, &|w| {
                w.declare(&x, &types);
                element(w, "k", &x);
                w.code(&rows.op, &in_order(reverse, &acc, &x), &acc);
                store(w, "k", &acc);
            });
        });
        let ix: String = index(outer).iter().map(|i| format!(", i64 {i}")).collect();
        let acc: String = types.iter().enumerate().map(|(c, t)| format!(", {t} *restrict acc{c}")).collect();
        let parameters = self.parameters();
        format!(
            "static int {name}({parameters}{ix}, i64 from, i64 to, bool started, i64 width{acc}, i64 base, i64 side, i64 len)"
        )
    }

    /// Scans whole rows block by block; positions are those of rows.
    pub fn scan_blocks(&mut self, function: &str, scan: &Scan) {
        let Scan { to, outer, reverse, rows, .. } = *scan;
        let (types, last) = (rows.columns(), outer - 1);
        let z = names("z", &types);
        self.initial(&z, &types, rows, &[]);
        self.hoist_output(to, false);
        let some = rows.init.is_some();
        if !some {
            self.line("if (task->len == 0) return 0;");
        }
        self.first_position();
        self.rest_of_index_space(outer, |w| {
            for (c, t) in types.iter().enumerate() {
                w.line(format!("{t} acc{c}[{BLOCK}];"));
            }
            w.braces("while (p < to)", |w| {
                w.line(format!("i64 width = n{last} - i{last} < to - p ? n{last} - i{last} : to - p;"));
                w.line(format!("if (width > {BLOCK}) width = {BLOCK};"));
                scan.declare_base(w, "p");
                if some {
                    w.braces("for (i64 j = 0; j < width; j++)", |w| {
                        let acc: Vec<_> = (0..types.len()).map(|c| format!("acc{c}[j]")).collect();
                        w.assign(&acc, &z);
                        let first = if reverse { scan.place("task->len") } else { "base".into() };
                        scan.store(w, &format!("{first} + j"), &z);
                    });
                }
                let ix: String = index(outer).iter().map(|i| format!(", {i}")).collect();
                let acc: String = (0..types.len()).map(|c| format!(", acc{c}")).collect();
                let arguments = w.arguments(function);
                w.line(format!(
                    "if ({function}({arguments}{ix}, 0, task->len, {}, width{acc}, base, side, task->len)) return 1;",
                    some as u8
                ));
                w.line("p += width;");
                w.line(format!("i{last} += width;"));
                w.braces(&format!("if (i{last} == n{last})"), |w| {
                    w.line(format!("i{last} = 0;"));
                    w.next_index(last);
                });
            });
        });
    }

    /// Scans all rows, in tasks of neighbouring rows.
    pub fn scan_all_blocks(&mut self, function: &str) {
        self.line(format!("i64 width = (task->to + {TASKS} - 1) / {TASKS};"));
        self.line(format!(
            "width = width < {TASK_COLUMNS} ? {TASK_COLUMNS} : (width + {}) / {LINE} * {LINE};",
            LINE - 1
        ));
        self.line("const i64 count = (task->to + width - 1) / width;");
        self.line(format!("if (count < 2) return {function}(arrays, task, fault);"));
        self.line(format!("job jobs[{TASKS}];"));
        self.braces("for (i64 i = 0; i < count; i++)", |w| {
            w.line("const i64 from = i * width, to = from + width < task->to ? from + width : task->to;");
            w.line("jobs[i] = (job){ from, to, 0, 0, task->len, task->extents, 0 };");
        });
        self.line("int result;");
        self.parallel(function, "jobs", "count");
        self.line("return result;");
    }
}
