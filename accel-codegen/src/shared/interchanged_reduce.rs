//! Interchanged reductions: reductions whose rows are columns in memory. Neighbouring rows are adjacent there, and the
//! elements of one row are far apart.
//!
//! NOTE [Interchanged reductions]: the sum over the first dimension of a matrix reads `a[k, i]` for row `i`. A loop
//! along each row in turn would read only a few bytes at each place. Instead, many rows are reduced side by side, with
//! an accumulator for each. So memory is read in its order, and the C compiler uses vectors. Every row is still
//! combined from its first element to its last. If there are too few rows for all threads, the rows are cut into parts,
//! and the parts' results are combined from the first to the last. The parts depend only on sizes.

use super::ways::Way;
use crate::cost_model::{
    BLOCK, FEW_COLUMNS, FEWEST_PARTS, MANY_COLUMNS, PARTIAL_RESULTS, SERIAL_ELEMENTS, SHORTEST_PART, SIMPLE, TASKS,
};
use crate::nest::applied::applied;
use crate::nest::ir::Nest;
use crate::nest::side_by_side::{COLUMNS, side_by_side};
use crate::text::names::{index, names};
use crate::text::writer::Writer;
use accel_fusion::kernel::{ArrayId, Instr, Program, Reduction, Reg, ScalarFn, index_vec};

/// Whether neighbouring rows are adjacent in memory: the last outer dimension is the innermost dimension of the arrays
/// that are read. Other reads must not depend on it.
pub fn in_columns(outer: usize, rows: &Reduction) -> bool {
    let simple = |c: &ScalarFn| c.is_if_convertible() && c.instrs.len() <= SIMPLE;
    let Some(last) = outer.checked_sub(1) else { return false };
    if !simple(&rows.element) || !simple(&rows.op) || rows.op.instrs.iter().any(|i| matches!(i, Instr::Read { .. })) {
        return false;
    }
    // The registers that depend on the last outer dimension.
    let mut varying = index_vec![false; rows.element.types.len()];
    let (outer, last) = (Reg::new(outer), Reg::new(last));
    varying[last] = true;
    let mut found = false;
    for i in &rows.element.instrs {
        match i {
            Instr::Op1(to, _, a) => varying[*to] = varying[*a],
            Instr::Op2(to, _, a, b) => varying[*to] = varying[*a] || varying[*b],
            Instr::Read { to, index, .. } => {
                let Some((inner, others)) = index.split_last() else { continue };
                if others.iter().any(|r| varying[*r]) || (varying[*inner] && *inner != last) {
                    return false;
                }
                found |= *inner == last && others.contains(&outer);
                to.iter().for_each(|to| varying[*to] = varying[*inner]);
            }
            // Its branches read nothing.
            Instr::If { merge, .. } => merge.iter().for_each(|(to, ..)| varying[*to] = true),
            _ => {}
        }
    }
    found
}

/// The nest that combines elements of neighbouring rows, if they are adjacent in memory.
pub fn columns_nest(program: &Program, to: ArrayId, outer: usize, rows: &Reduction) -> Option<Nest> {
    in_columns(outer, rows).then(|| applied("columns", side_by_side(program, to, outer, rows, COLUMNS)))?
}

/// Whether rows of this number and length can be reduced in parts at the same time.
pub fn are_parts(count: usize, len: usize) -> bool {
    let are_large = || count.saturating_mul(len) >= SERIAL_ELEMENTS && len > SHORTEST_PART;
    (FEW_COLUMNS..MANY_COLUMNS).contains(&count) && are_large()
}

impl Writer<'_> {
    /// Writes the function that combines the elements from `from` to `to` of `width` neighbouring rows with the
    /// accumulated values. Returns the first line of the function.
    pub fn fold_side_by_side(
        &mut self,
        name: &str,
        to: ArrayId,
        outer: usize,
        rows: &Reduction,
        nest: &Nest,
    ) -> String {
        let types = self.columns(to);
        self.hoist(&[&rows.element, &rows.op]);
        self.line("const i64 first = from + !started, count = to - first;");
        self.loop_nest(nest, types[0]);
        let ix: String = index(outer).iter().map(|i| format!(", i64 {i}")).collect();
        let all: String = types.iter().enumerate().map(|(c, t)| format!(", {t} *restrict t{to}_{c}")).collect();
        let parameters = self.parameters();
        format!("static int {name}({parameters}{ix}, i64 from, i64 to, bool started, i64 width{all})")
    }

    /// Calls that function for the positions from `p` to `stop`, block by block. The accumulators are `acc[base + p]`.
    fn blocks(&mut self, function: &str, outer: usize, range: &str, acc: &[String], init: &[String], base: &str) {
        let last = outer - 1;
        self.braces("while (p < stop)", |w| {
            w.line(format!("i64 width = n{last} - i{last} < stop - p ? n{last} - i{last} : stop - p;"));
            w.line(format!("if (width > {BLOCK}) width = {BLOCK};"));
            for (acc, init) in acc.iter().zip(init) {
                w.line(format!("for (i64 j = 0; j < width; j++) {acc}[{base}p + j] = {init};"));
            }
            let ix: String = index(outer).iter().map(|i| format!(", {i}")).collect();
            let acc: String = acc.iter().map(|a| format!(", {a} + {base}p")).collect();
            let started = !init.is_empty() as u8;
            let arguments = w.arguments(function);
            w.line(format!("if ({function}({arguments}{ix}, {range}, {started}, width{acc})) return 1;"));
            w.line("p += width;");
            w.line(format!("i{last} += width;"));
            w.braces(&format!("if (i{last} == n{last})"), |w| {
                w.line(format!("i{last} = 0;"));
                w.next_index(last);
            });
        });
    }

    /// Reduces whole rows; positions are those of the result.
    pub fn fold_columns(&mut self, function: &str, to: ArrayId, outer: usize, rows: &Reduction) {
        let types = self.columns(to);
        let z = names("z", &types);
        self.initial(&z, &types, rows, &[]);
        self.hoist_output(to, false);
        self.line("const i64 stop = task->to;");
        self.line("i64 p = task->from;");
        self.line("if (p >= stop) return 0;");
        self.index_of(outer, "p");
        let init = if rows.init.is_some() { z } else { vec![] };
        let acc = names(&format!("a{to}_"), &types);
        self.blocks(function, outer, "0, task->len", &acc, &init, "");
    }

    /// Reduces the elements `from..to` (at least one) of all rows, without the initial value. The results are stored
    /// from position `slot * row` of `state` on, where `row` is the number of rows.
    pub fn column_part(&mut self, function: &str, to: ArrayId, outer: usize) {
        let types = self.columns(to);
        self.state(&types);
        self.line("const i64 stop = task->row, base = task->slot * task->row;");
        self.line("i64 p = 0;");
        self.index_of(outer, "p");
        self.blocks(function, outer, "task->from, task->to", &names("s", &types), &[], "base + ");
    }

    /// Reduces all rows in parts at the same time, if there are few long rows; otherwise returns -1.
    pub fn in_parts(&mut self, part: &str, to: ArrayId, rows: &Reduction) {
        let types = self.columns(to);
        self.line("const i64 count = task->to, len = task->len;");
        self.line(format!(
            "if (count < {FEW_COLUMNS} || count >= {MANY_COLUMNS} || count * len < {SERIAL_ELEMENTS} || len <= {SHORTEST_PART}) return -1;"
        ));
        if !self.ways.has(Way::ColumnParts) {
            return self.line("return no_way(arrays, task, fault);");
        }
        // With many rows there are few parts, because the results of the parts have to be read again.
        self.line(format!("i64 parts = {PARTIAL_RESULTS} / count;"));
        self.line(format!("parts = parts > {TASKS} ? {TASKS} : parts < {FEWEST_PARTS} ? {FEWEST_PARTS} : parts;"));
        self.line(format!(
            "const i64 size = len / parts < {SHORTEST_PART} ? {SHORTEST_PART} : (len + parts - 1) / parts;"
        ));
        self.line("parts = (len + size - 1) / size;");
        let z = names("z", &types);
        self.initial(&z, &types, rows, &[&rows.op]);
        self.hoist_output(to, false);
        for (c, t) in types.iter().enumerate() {
            self.line(format!("{t} *const s{c} = __builtin_malloc(parts * count * sizeof({t}));"));
        }
        let all = names("s", &types);
        self.line(format!("void *const state[] = {{ {} }};", all.join(", ")));
        self.line(format!("int result = {} ? 0 : -1;", all.join(" && ")));
        self.braces("if (result == 0)", |w| {
            w.line(format!("job jobs[{TASKS}];"));
            w.braces("for (i64 i = 0; i < parts; i++)", |w| {
                w.line("const i64 from = i * size, to = from + size < len ? from + size : len;");
                w.line("jobs[i] = (job){ from, to, count, i, len, task->extents, state };");
            });
            w.parallel(part, "jobs", "parts");
        });
        self.braces("if (result == 0)", |w| {
            let out = names(&format!("a{to}_"), &types);
            let first: Vec<_> = (0..types.len())
                .map(|c| if rows.init.is_some() { format!("z{c}") } else { format!("s{c}[p]") })
                .collect();
            let at = |names: &[String], p: &str| -> Vec<String> { names.iter().map(|n| format!("{n}[{p}]")).collect() };
            w.braces("for (i64 p = 0; p < count; p++)", |w| w.assign(&at(&out, "p"), &first));
            w.braces(&format!("for (i64 i = {}; i < parts; i++)", rows.init.is_none() as u8), |w| {
                w.braces("for (i64 p = 0; p < count; p++)", |w| {
                    let args = [at(&out, "p"), at(&all, "i * count + p")].concat();
                    w.code(&rows.op, &args, &at(&out, "p"));
                });
            });
        });
        all.iter().for_each(|s| self.line(format!("__builtin_free({s});")));
        self.line("return result;");
    }
}
