//! The kernels of each kind of statement: functions of a task.
//!
//! A task is `{ from, to, row, slot, len, extents, state }`, all numbers `i64`: what it means is told at each function. `extents` are
//! those of the index space that positions and rows are counted in (row-major), `state` is a list of columns.

use crate::around::pieces;
use crate::code::{Writer, is_smooth};
use crate::ops;
use crate::prefetch::is_quick;
use accel_core::repr::op::{Num2, Op2};
use accel_core::repr::{Scalar, ScalarType};
use accel_fusion::kernel::{ArrayId, Code, Known, Rows};

/// How many partial results a reduction with a well-known operator keeps: four of the largest vector registers, so that it does
/// not wait for the result of one addition before the next.
pub fn lane_count(t: ScalarType) -> usize {
    match t {
        ScalarType::I64 | ScalarType::U64 | ScalarType::F64 => 32,
        _ => 64,
    }
}

/// Rows of fewer elements are reduced without a function call for each.
const SHORT: usize = 16;

// NOTE [Operators that select]
// An operator such as that of the least element and its position gives one of its arguments as a whole. Most elements of a long row change
// nothing, and whether one of many does is found with vectors: each is compared with the value accumulated before all of them. Only
// where there is one that changes it, they are gone through one by one.

/// How many elements are compared at once.
const CANDIDATES: usize = 256;

/// The names `i0`, `i1`, … of an index.
pub fn index(rank: usize) -> Vec<String> {
    (0..rank).map(|k| format!("i{k}")).collect()
}

/// Names for the columns of an element.
pub fn names(prefix: &str, types: &[ScalarType]) -> Vec<String> {
    (0..types.len()).map(|c| format!("{prefix}{c}")).collect()
}

/// Copies of a name with a position: `a3_0[p]`, …
pub fn elements(array: ArrayId, columns: usize, position: &str) -> Vec<String> {
    (0..columns).map(|c| format!("a{array}_{c}[{position}]")).collect()
}

impl Writer<'_> {
    pub fn columns(&self, array: ArrayId) -> Vec<ScalarType> {
        self.program.arrays[array].columns.clone()
    }

    /// The columns and the rank of an array.
    pub fn columns_and_rank(&self, array: ArrayId) -> (&[ScalarType], usize) {
        let info = &self.program.arrays[array];
        (&info.columns, info.rank)
    }

    pub fn declare(&mut self, names: &[String], types: &[ScalarType]) {
        for (name, t) in names.iter().zip(types) {
            self.line(format!("{t} {name};"));
        }
    }

    pub fn assign(&mut self, to: &[String], from: &[String]) {
        for (to, from) in to.iter().zip(from) {
            self.line(format!("{to} = {from};"));
        }
    }

    /// Sets `i0`, `i1`, … to the index of a row-major position within the extents of the task.
    pub fn index_of(&mut self, rank: usize, p: &str) {
        if rank == 0 {
            return;
        }
        for k in 0..rank {
            self.line(format!("const i64 n{k} = task->extents[{k}];"));
        }
        let mut rest = p.to_string();
        for k in (1..rank).rev() {
            self.line(format!("i64 i{k} = {rest} % n{k}, q{k} = {rest} / n{k};"));
            rest = format!("q{k}");
        }
        self.line(format!("i64 i0 = {rest};"));
    }

    /// The next index, the dimensions from `rank` on left alone.
    pub fn next_index(&mut self, rank: usize) {
        if rank == 0 {
            return;
        }
        let carry = (1..rank).rev().fold(String::new(), |c, k| format!("{c}if (++i{k} == n{k}) {{ i{k} = 0; "));
        self.line(format!("{carry}i0++;{}", " }".repeat(rank - 1)));
    }

    /// `body` for every position `p` from `task->from` to `task->to` and its index.
    pub fn positions(&mut self, rank: usize, body: impl FnOnce(&mut Self)) {
        self.line("const i64 to = task->to;");
        self.line("i64 p = task->from;");
        self.line("if (p >= to) return 0;");
        self.index_of(rank, "p");
        self.positions_to("to", rank, !self.aliased.is_empty(), body);
    }

    /// `body` for every position from `p`, which has an index, to `to`; the innermost dimension is an inner loop. With `say`, the
    /// compiler is told that positions are independent, see NOTE [Writing over an input].
    pub fn positions_to(&mut self, to: &str, rank: usize, say: bool, body: impl FnOnce(&mut Self)) {
        let independent = if self.is_opencl() { "INDEPENDENT" } else { "#pragma GCC ivdep" };
        let independent = say.then_some(independent);
        if rank < 2 {
            independent.into_iter().for_each(|line| self.line(line));
            let next = if rank == 0 { "p++" } else { "p++, i0++" };
            return self.braces(&format!("for (; p < {to}; {next})"), body);
        }
        let last = rank - 1;
        self.braces(&format!("while (p < {to})"), |w| {
            w.line(format!(
                "const i64 offset = i{last} - p, row = p + n{last} - i{last}, stop = row < {to} ? row : {to};"
            ));
            independent.into_iter().for_each(|line| w.line(line));
            w.braces("for (; p < stop; p++)", |w| {
                w.line(format!("const i64 i{last} = p + offset;"));
                body(w);
            });
            w.line(format!("i{last} = 0;"));
            w.next_index(last);
        });
    }

    // NOTE [Writing over an input]
    // An output of a loop may have the memory of an input that is read only at the position that is written. No iteration touches what
    // another one writes, but within one the order of reads and writes matters: `restrict` would promise too much, and its absence would
    // make the compiler check for an overlap and give up vectors where there is one. The pragma says exactly what holds.

    /// The elements of the arrays `to` at positions.
    pub fn elements(&mut self, to: &[ArrayId], rank: usize, body: &Code) {
        self.hoist(&[body]);
        to.iter().for_each(|a| self.hoist_output(*a, false));
        if pieces(self.program, to, rank).is_some() {
            return self.elements_around(to[0], rank, body);
        }
        let results: Vec<_> = to.iter().flat_map(|a| elements(*a, self.columns(*a).len(), "p")).collect();
        self.positions(rank, |w| w.code(body, &index(rank), &results));
    }

    /// The parameters of the function that goes along a row: the outer index, and where the accumulated value is.
    fn row_parameters(&self, to: ArrayId, outer: usize) -> String {
        let ix: String = index(outer).iter().map(|i| format!(", i64 {i}")).collect();
        let acc: String = self.columns(to).iter().enumerate().map(|(c, t)| format!(", {t} *acc{c}")).collect();
        format!("{}{ix}, i64 from, i64 to, bool started{acc}", self.parameters())
    }

    /// A call of that function that returns if it fails.
    fn row_call(&mut self, name: &str, outer: usize, range: &str, started: bool, acc: &[String], more: &str) {
        let ix: String = index(outer).iter().map(|i| format!(", {i}")).collect();
        let acc: String = acc.iter().map(|y| format!(", &{y}")).collect();
        let arguments = self.arguments(name);
        self.line(format!("if ({name}({arguments}{ix}, {range}, {}{acc}{more})) return 1;", started as u8));
    }

    /// The function that combines the elements from `from` to `to` of one row with the accumulated value, and its name line.
    /// If nothing has been accumulated, there must be an element.
    pub fn fold(&mut self, name: &str, to: ArrayId, outer: usize, rows: &Rows) -> String {
        let types = self.columns(to);
        self.hoist(&[&rows.element, &rows.op]);
        let (y, x) = (names("y", &types), names("x", &types));
        self.begin_row(&types, &y, rows, outer, "k");
        self.lanes("", &types, outer, rows, |k| k.into());
        let one = |w: &mut Self| {
            w.declare(&x, &types);
            w.code(&rows.element, &row_index(outer, "k"), &x);
            w.code(&rows.op, &[y.clone(), x.clone()].concat(), &y);
        };
        if let Some((keeps, left)) = rows.op.selection().filter(|_| is_smooth(&rows.element)) {
            self.braces(&format!("while (k + {CANDIDATES} <= to)"), |w| {
                w.line("int changes = 0;");
                w.prefetch(&rows.element, &row_index(outer, "k"), CANDIDATES);
                w.braces(&format!("for (int l = 0; l < {CANDIDATES}; l++)"), |w| {
                    w.declare(&x, &types);
                    w.code(&rows.element, &row_index(outer, "k + l"), &x);
                    w.line("bool chosen;");
                    w.code(&keeps, &[y.clone(), x.clone()].concat(), &["chosen".into()]);
                    w.line(format!("changes |= chosen != {};", left as u8));
                });
                w.line(format!("const i64 stop = k + {CANDIDATES};"));
                w.line("if (!changes) k = stop;");
                w.braces("for (; k < stop; k++)", one);
            });
        }
        self.braces("for (; k < to; k++)", one);
        self.end_row(&y);
        format!("static int {name}({})", self.row_parameters(to, outer))
    }

    /// Takes the accumulated value, or makes the first element it.
    fn begin_row(&mut self, types: &[ScalarType], y: &[String], rows: &Rows, outer: usize, source: &str) {
        self.declare(y, types);
        self.line("i64 k = from;");
        let acc: Vec<_> = (0..y.len()).map(|c| format!("*acc{c}")).collect();
        self.braces("if (started)", |w| w.assign(y, &acc));
        self.braces("else", |w| {
            w.code(&rows.element, &row_index(outer, source), y);
            w.line("k++;");
        });
    }

    fn end_row(&mut self, y: &[String]) {
        let acc: Vec<_> = (0..y.len()).map(|c| format!("*acc{c}")).collect();
        self.assign(&acc, y);
    }

    /// Long rows of an operator that is well known on each column: lane `l` combines every so many elements, then the lanes are combined
    /// in pairs. `source` is the position of the `k`th element, `guard` what else must hold.
    fn lanes(&mut self, guard: &str, types: &[ScalarType], outer: usize, rows: &Rows, source: impl Fn(&str) -> String) {
        let known = if types.len() == 1 { rows.known.map(|k| vec![k]) } else { rows.op.known_columns() };
        let Some(known) = known.filter(|_| is_smooth(&rows.element)) else { return };
        // A work-item of a GPU has no room for so many values: they would be in its memory.
        if self.declarations.dialect.is_gpu() {
            return;
        }
        let Some(lanes) = types.iter().map(|t| lane_count(*t)).min() else { return };
        let columns = || known.iter().copied().zip(types.iter().copied()).enumerate();
        let combine = |w: &mut Self, a: &dyn Fn(usize) -> String, b: &dyn Fn(usize) -> String| {
            for (c, (known, t)) in columns() {
                let value = ops::op2(w.declarations, operator(known), t, &a(c), &b(c));
                w.line(format!("{} = {value};", a(c)));
            }
        };
        let lane = |position: &'static str| move |c: usize| format!("lane{c}[{position}]");
        self.braces(&format!("if ({guard}to - k >= {})", 4 * lanes), |w| {
            for (c, (known, t)) in columns() {
                w.line(format!("{t} lane{c}[{lanes}];"));
                let start = ops::constant(w.declarations, neutral(known, t));
                w.line(format!("for (int l = 0; l < {lanes}; l++) lane{c}[l] = {start};"));
            }
            let x = names("x", types);
            w.braces(&format!("for (; k + {lanes} <= to; k += {lanes})"), |w| {
                if source("k") == "k" && !is_quick(&rows.element) {
                    w.prefetch(&rows.element, &row_index(outer, "k"), lanes);
                }
                // In vectors of 8.
                let unrolled = if w.is_opencl() { format!("UNROLLED({}) ", lanes / 8) } else { String::new() };
                w.braces(&format!("{unrolled}for (int l = 0; l < {lanes}; l++)"), |w| {
                    w.declare(&x, types);
                    w.code(&rows.element, &row_index(outer, &source("k + l")), &x);
                    combine(w, &lane("l"), &|c| format!("x{c}"));
                });
            });
            // `half` is a type of OpenCL C.
            let (half, other) = if w.is_opencl() { ("apart", "l + apart") } else { ("half", "l + half") };
            w.braces(&format!("for (int {half} = {}; {half} > 0; {half} /= 2)", lanes / 2), |w| {
                w.braces(&format!("for (int l = 0; l < {half}; l++)"), |w| combine(w, &lane("l"), &lane(other)));
            });
            combine(w, &|c| format!("y{c}"), &lane("0"));
        });
    }

    /// Whole rows: positions of the result.
    pub fn fold_rows(&mut self, fold: &str, to: ArrayId, outer: usize, rows: &Rows) {
        let types = self.columns(to);
        let (y, z) = (names("y", &types), names("z", &types));
        let some = rows.init.is_some();
        self.initial(&z, &types, rows, &[&rows.element, &rows.op]);
        self.hoist_output(to, false);
        // A call for every short row would take longer than the row.
        self.braces(&format!("if (task->len < {SHORT})"), |w| {
            w.positions(outer, |w| {
                w.declare(&y, &types);
                if some {
                    w.assign(&y, &z);
                } else {
                    w.code(&rows.element, &row_index(outer, "(i64)0"), &y);
                }
                w.braces(&format!("for (i64 k = {}; k < task->len; k++)", !some as u8), |w| {
                    let x = names("x", &types);
                    w.declare(&x, &types);
                    w.code(&rows.element, &row_index(outer, "k"), &x);
                    w.code(&rows.op, &[y.clone(), x.clone()].concat(), &y);
                });
                w.assign(&elements(to, types.len(), "p"), &y);
            });
            w.line("return 0;");
        });
        self.positions(outer, |w| {
            w.declare(&y, &types);
            if some {
                w.assign(&y, &z);
            }
            w.row_call(fold, outer, "0, task->len", some, &y, "");
            w.assign(&elements(to, types.len(), "p"), &y);
        });
    }

    /// The initial value, if there is one.
    pub fn initial(&mut self, z: &[String], types: &[ScalarType], rows: &Rows, more: &[&Code]) {
        let codes: Vec<&Code> = rows.init.iter().chain(more.iter().copied()).collect();
        self.hoist(&codes);
        if let Some(init) = &rows.init {
            self.declare(z, types);
            self.code(init, &[], z);
        }
    }

    /// Local names for partial results.
    pub fn state(&mut self, types: &[ScalarType]) {
        for (c, t) in types.iter().enumerate() {
            match self.is_opencl() {
                true => self.scratch(c, &t.to_string()),
                false => self.line(format!("{t} *const s{c} = task->state[{c}];")),
            }
        }
    }

    /// A part of one row, which is not empty; the result goes to the state.
    pub fn part(&mut self, function: &str, to: ArrayId, outer: usize, more: &str) {
        let types = self.columns(to);
        let y = names("y", &types);
        self.state(&types);
        self.index_of(outer, "task->row");
        self.declare(&y, &types);
        self.row_call(function, outer, "task->from, task->to", false, &y, more);
        let to: Vec<_> = (0..types.len()).map(|c| format!("s{c}[task->slot]")).collect();
        self.assign(&to, &y);
    }

    /// Combines the results of the parts of one row.
    pub fn join(&mut self, to: ArrayId, rows: &Rows) {
        let types = self.columns(to);
        let (y, z) = (names("y", &types), names("z", &types));
        self.initial(&z, &types, rows, &[&rows.op]);
        self.hoist_output(to, false);
        self.state(&types);
        self.declare(&y, &types);
        let part = |s: &str| -> Vec<String> { (0..types.len()).map(|c| format!("s{c}[{s}]")).collect() };
        self.line("i64 s = 0;");
        if rows.init.is_some() {
            self.assign(&y, &z);
        } else {
            self.assign(&y, &part("s"));
            self.line("s++;");
        }
        self.braces("for (; s < task->to; s++)", |w| w.code(&rows.op, &[y.clone(), part("s")].concat(), &y));
        self.assign(&elements(to, types.len(), "task->row"), &y);
    }

    /// As [`fold`](Self::fold), and writes every accumulated value to the row that starts at `base` if `write`.
    pub fn scan(&mut self, name: &str, to: ArrayId, outer: usize, reverse: bool, rows: &Rows) -> String {
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
        // Only the total is asked for.
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

    /// Whole rows: positions of rows.
    pub fn scan_rows(&mut self, scan: &str, to: ArrayId, outer: usize, reverse: bool, rows: &Rows) {
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

    /// Makes the totals of the parts of one row the values accumulated before them, and writes the initial value.
    pub fn carry(&mut self, to: ArrayId, reverse: bool, rows: &Rows) {
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

    /// A part of one row, from the value in the state on (but for the first part without an initial value).
    pub fn write_part(&mut self, scan: &str, to: ArrayId, outer: usize, rows: &Rows) {
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

/// The index of an element of a row.
pub fn row_index(outer: usize, k: &str) -> Vec<String> {
    index(outer).into_iter().chain([k.to_string()]).collect()
}

/// The arguments of a scan's operator: the accumulated value first, in a reverse scan last.
pub fn in_order(reverse: bool, accumulated: &[String], element: &[String]) -> Vec<String> {
    if reverse { [element, accumulated].concat() } else { [accumulated, element].concat() }
}

pub fn operator(known: Known) -> Op2 {
    Op2::Num(match known {
        Known::Sum => Num2::Add,
        Known::Product => Num2::Mul,
        Known::Min => Num2::Min,
        Known::Max => Num2::Max,
    })
}

/// What a well-known operator leaves the other argument as it is with.
pub fn neutral(known: Known, t: ScalarType) -> Scalar {
    match (known, t) {
        (Known::Sum, ScalarType::F32) => Scalar::F32(-0.0),
        (Known::Sum, ScalarType::F64) => Scalar::F64(-0.0),
        (Known::Sum, _) => t.zero(),
        (Known::Product, _) => t.one(),
        // The minimum and the maximum of NaN and a number are the number.
        (Known::Min | Known::Max, ScalarType::F32) => Scalar::F32(f32::NAN),
        (Known::Min | Known::Max, ScalarType::F64) => Scalar::F64(f64::NAN),
        (Known::Min, _) => t.greatest(),
        (Known::Max, _) => t.least(),
    }
}
