//! Statements with sums: compute the elements of arrays, and add to sums.
//!
//! NOTE [Order of sums]: the result of floating-point additions depends on their order. A statement of little work, or
//! with large sums, is executed by one thread from the first index to the last. Otherwise the indices are cut into
//! parts. Each part adds to copies of the sums of its own, which start with the neutral element. At the end, the copies
//! are added to the sums, from the first part to the last. The number of parts depends only on the extents and on the
//! program, never on the number of threads. So each run gives the same bits.
//!
//! The number of parts is the largest for which
//! - each part has as much work as a task should have ([`TASK`]); the cost of a body assumes that each of its loops has
//!   some tens of steps;
//! - each part has at least [`PER_COPIED`] operations for each number of its copies. Such a number is written, read and
//!   added once, which takes up to 7 ns where the copies do not stay in a cache; the operations take 3 to 50 ns;
//! - all copies together have at most [`COPIES`] bytes;
//! - there are at most [`TASKS`] parts, and no part is empty.

use crate::analysis::fault;
use crate::cost_model::{COPIES, LINE, PER_COPIED, SERIAL, TASK, TASKS};
use crate::text::arrays::{Column, columns};
use crate::text::names::{elements, index};
use crate::text::primitives;
use crate::text::types::bytes;
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Monoid, Op, Program, ScalarFn};

/// A statement with sums, see `Op::Accumulate`.
pub struct Accumulate<'a> {
    /// The arrays defined as by a loop.
    pub to: &'a [ArrayId],
    /// The sums.
    pub sums: Vec<ArrayId>,
    /// The rank of the index space.
    pub rank: usize,
    /// The body.
    pub body: &'a ScalarFn,
}

impl<'a> Accumulate<'a> {
    /// The statement with sums that an operation is, if it is one.
    pub fn new(op: &'a Op) -> Option<Accumulate<'a>> {
        let Op::Accumulate { to, sums, extents, body } = op else { return None };
        let sums = sums.iter().map(|s| s.0).collect();
        Some(Accumulate { to, sums, rank: extents.results.len(), body })
    }

    /// The columns of all sums.
    pub fn columns(&self, program: &Program) -> Vec<Column> {
        columns(program, &self.sums)
    }
}

impl Writer<'_> {
    /// Writes the function that executes the body for the indices `from..to` of a task, and adds to given memory.
    /// Returns the first line of the function.
    pub fn add_into(&mut self, name: &str, s: &Accumulate) -> String {
        self.hoist(&[s.body]);
        s.to.iter().for_each(|a| self.hoist_output(*a, false));
        s.sums.iter().for_each(|a| self.hoist_extents(*a));
        let results: Vec<_> = s.to.iter().flat_map(|a| elements(*a, self.columns(*a).len(), "p")).collect();
        // Several indices can add to the same element, so the iterations are not independent.
        self.positions_in_order(s.rank, |w| w.code(s.body, &index(s.rank), &results));
        let (parameters, space) = (self.task_parameters(), self.global());
        let columns = s.columns(self.program);
        let sums: String = columns.iter().map(|(a, c, t)| format!(", {space}{t} *restrict a{a}_{c}")).collect();
        format!("static int {name}({parameters}{sums})")
    }

    /// Writes a call of the function of [`add_into`](Self::add_into) with the columns in scope, and returns its result.
    fn add_call(&mut self, name: &str, s: &Accumulate) {
        let columns: String = s.columns(self.program).iter().map(|(a, c, _)| format!(", a{a}_{c}")).collect();
        let into = format!("{name}_into");
        let arguments = self.task_arguments(&into, "task");
        self.line(format!("return {into}({arguments}{columns});"));
    }

    /// Adds to the sums for the indices `from..to` of a task, one after the other.
    pub fn add_in_order(&mut self, name: &str, s: &Accumulate) {
        s.sums.iter().for_each(|a| self.hoist_output(*a, false));
        self.add_call(name, s);
    }

    /// Declares the sizes of the sums, `m4` for array 4.
    pub fn sizes_of_sums(&mut self, s: &Accumulate) {
        for a in &s.sums {
            self.hoist_extents(*a);
            let size: String = (0..self.program.arrays[*a].rank).map(|d| format!(" * a{a}_n{d}")).collect();
            self.line(format!("const i64 m{a} = (i64)1{size};"));
        }
    }

    /// Adds to the copies number `slot` for the indices `from..to` of a task.
    pub fn accumulate_part(&mut self, name: &str, s: &Accumulate) {
        self.sizes_of_sums(s);
        for (k, (a, c, t)) in s.columns(self.program).into_iter().enumerate() {
            let start = primitives::constant(self.declarations, Monoid::Sum.neutral(t));
            let stride = stride(a, t);
            self.line(format!("{t} *const a{a}_{c} = ({t} *)task->state[{k}] + task->slot * {stride};"));
            self.line(format!("for (i64 q = 0; q < m{a}; q++) a{a}_{c}[q] = {start};"));
        }
        self.add_call(name, s);
    }

    /// Adds the first `slot` copies to part `from` of `len` parts of each sum.
    pub fn add_copies(&mut self, s: &Accumulate) {
        self.sizes_of_sums(s);
        for (k, (a, c, t)) in s.columns(self.program).into_iter().enumerate() {
            self.hoist_column(a, c, "");
            self.braces("for (i64 i = 0; i < task->slot; i++)", |w| {
                let stride = stride(a, t);
                w.line(format!("const {t} *restrict const copy = (const {t} *)task->state[{k}] + i * {stride};"));
                w.line(format!("const i64 end = m{a} * (task->from + 1) / task->len;"));
                w.line(format!("for (i64 q = m{a} * task->from / task->len; q < end; q++) a{a}_{c}[q] += copy[q];"));
            });
        }
    }

    /// Executes the whole statement, in parts if this pays: NOTE [Order of sums].
    pub fn accumulate_all(&mut self, name: &str, s: &Accumulate) {
        let columns = s.columns(self.program);
        self.sizes_of_sums(s);
        let sum = |terms: Vec<String>| if terms.is_empty() { "0".into() } else { terms.join(" + ") };
        let numbers = sum(columns.iter().map(|(a, ..)| format!("m{a}")).collect());
        let sizes = sum(columns.iter().map(|(a, _, t)| format!("{} * {}", stride(*a, *t), bytes(*t))).collect());
        self.line(format!("const i64 n = task->to, numbers = {numbers}, size = {sizes};"));
        self.line("i64 work;");
        self.line(format!("if (__builtin_mul_overflow(n, {}, &work)) work = __INT64_MAX__;", s.body.cost().max(1)));
        self.line(format!("i64 parts = work < {SERIAL} ? 1 : work / {TASK};"));
        self.line(format!(
            "const i64 most[] = {{ work / {PER_COPIED} / (numbers ? numbers : 1), {COPIES} / (size ? size : 1), {TASKS}, n }};"
        ));
        self.line("for (int k = 0; k < 4; k++) parts = parts < most[k] ? parts : most[k];");
        self.line(format!("if (parts < 2) return {name}(arrays, task, fault);"));
        self.line(format!("void *state[{}];", columns.len().max(1)));
        self.line("bool full = 0;");
        for (k, (a, _, t)) in columns.iter().enumerate() {
            let stride = stride(*a, *t);
            self.line(format!("full |= !(state[{k}] = __builtin_malloc(parts * {stride} * {}));", bytes(*t)));
        }
        self.line("int result = 1;");
        self.line(format!("job jobs[{TASKS}];"));
        let (site, n) = (self.site, "n".to_string());
        self.braces("if (!full)", |w| {
            w.jobs("parts", "n", "0, i, 0, task->extents, state");
            w.parallel(&format!("{name}_part"), "jobs", "parts");
            w.braces("if (result == 0)", |w| {
                w.line(format!("i64 count = numbers / {TASK};"));
                w.line(format!("count = count < 1 ? 1 : count < {TASKS} ? count : {TASKS};"));
                w.jobs("count", "count", "0, parts, count, task->extents, state");
                w.parallel(&format!("{name}_copies"), "jobs", "count");
            });
        });
        (0..columns.len()).for_each(|k| self.line(format!("__builtin_free(state[{k}]);")));
        // A different number of parts would change the order of additions.
        self.fault("full", fault::MEMORY, site, 1, &[n]);
        self.line("return result;");
    }
}

/// The distance of two copies of a sum, in elements of this type.
fn stride(sum: ArrayId, t: ScalarType) -> String {
    let size = bytes(t) as usize;
    format!("((m{sum} * {size} + {}) / {LINE} * {})", 2 * LINE - 1, LINE / size)
}
