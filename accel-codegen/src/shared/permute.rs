//! Permutations: combine each element into its target.
//!
//! NOTE [Order of permutations]: a small permutation processes the source from the first element to the last. Several
//! threads execute a large one, in such a way that the result does not depend on their number:
//! - If the operator is a recognised monoid, and there are far fewer targets than elements, the source is cut into
//!   parts, which depend only on sizes. Each part has its own targets, which start with the neutral element. At the
//!   end, these are combined with the defaults, from the first part to the last.
//! - Otherwise, each thread reads the whole source, but combines only the elements whose targets lie in its own range.
//!   Every target gets its elements in the order of the source. Few threads gain nothing from this if elements are cheap
//!   and all targets fit into caches: processors do not foresee which elements are in a range, and a wrong guess takes
//!   longer than an element.
//!
//! After a failure, one thread processes the source once more, so that the first failure is reported.

use crate::analysis::fault;
use crate::cost_model::{
    CACHED_TARGETS, CHEAP_TARGET, COSTLY_ELEMENT, OWN_RANGES, PER_CACHED_TARGET, PER_TARGET, RANGED_TARGETS, RANGES,
    SCATTERED, SERIAL_ELEMENTS, TASKS,
};
use crate::text::names::{elements, index, names, outside, position};
use crate::text::primitives;
use crate::text::types::{bytes, in_memory};
use crate::text::writer::Writer;
use accel_fusion::kernel::{ArrayId, Monoid, Op, Program, ScalarFn};

/// A permutation, see `Op::Permute`.
pub struct Permute<'a> {
    /// The result, which contains the defaults at first.
    pub to: ArrayId,
    /// The rank of the source.
    rank: usize,
    /// The target of each source element.
    pub target: &'a ScalarFn,
    /// Whether they are all within bounds.
    inside: bool,
    /// The elements.
    pub element: &'a ScalarFn,
    comb: &'a ScalarFn,
    /// The monoid of the operator, if it is a recognised one.
    pub monoid: Option<Monoid>,
}

impl Permute<'_> {
    /// The permutation that a statement executes.
    pub fn new<'a>(program: &Program, op: &'a Op) -> Option<Permute<'a>> {
        let Op::Permute { to, extents, target, inside, element, comb, monoid, .. } = op else { return None };
        let monoid = monoid.filter(|_| program.arrays[*to].columns.len() == 1 && comb.is_branch_free());
        Some(Permute { to: *to, rank: extents.results.len(), target, inside: *inside, element, comb, monoid })
    }

    /// Whether targets are so cheap that every thread can compute all of them.
    pub fn has_cheap_targets(&self) -> bool {
        self.target.instrs.len() <= CHEAP_TARGET && self.target.is_straight_line()
    }
}

impl Writer<'_> {
    fn target_parameters(&self, to: ArrayId) -> String {
        let space = self.global();
        self.columns(to)
            .iter()
            .enumerate()
            .map(|(c, t)| format!(", {space}{} *restrict a{to}_{c}", in_memory(*t)))
            .collect()
    }

    /// Writes the function that combines the source elements `from..to` of a task whose targets are at positions from
    /// `low` to `low + most`. Returns the first line of the function.
    pub fn combine_into(&mut self, name: &str, p: &Permute) -> String {
        let (to, rank) = (p.to, p.rank);
        self.hoist(&[p.target, p.element, p.comb]);
        self.hoist_extents(to);
        self.positions(rank, |w| w.combine_at(p, &index(rank), "if ((u64)q - low <= most)"));
        let target = self.target_parameters(to);
        let (parameters, inlined) = (self.task_parameters(), self.dialect().always_inline());
        format!("static inline {inlined}int {name}({parameters}, u64 low, u64 most{target})")
    }

    /// Combines the source element at an index with its target, at position `q`, if this condition holds.
    pub fn combine_at(&mut self, p: &Permute, ix: &[String], condition: &str) {
        let to = p.to;
        let types = self.columns(to);
        let t: Vec<_> = (0..self.program.arrays[to].rank).map(|k| format!("t{k}")).collect();
        self.line("bool keep;");
        t.iter().for_each(|t| self.line(format!("i64 {t};")));
        let results: Vec<_> = std::iter::once("keep".to_string()).chain(t.iter().cloned()).collect();
        self.code(p.target, ix, &results);
        self.braces("if (keep)", |w| {
            if !t.is_empty() && !p.inside {
                let site = w.site;
                w.fault(&outside(to, &t), fault::TARGET, site, to.index(), &t);
            }
            w.line(format!("const i64 q = {};", position(to, &t)));
            w.braces(condition, |w| {
                let x = names("x", &types);
                w.declare(&x, &types);
                w.code(p.element, ix, &x);
                let old = elements(to, types.len(), "q");
                w.code(p.comb, &[x, old.clone()].concat(), &old);
            });
        });
    }

    fn combine_call(&mut self, name: &str, to: ArrayId, task: &str, range: &str) -> String {
        let columns: String = (0..self.columns(to).len()).map(|c| format!(", a{to}_{c}")).collect();
        let into = format!("{name}_into");
        let arguments = self.task_arguments(&into, task);
        format!("{into}({arguments}, {range}{columns})")
    }

    /// Combines the elements `from..to` of the source, one after the other.
    pub fn scatter(&mut self, name: &str, p: &Permute) {
        self.hoist_output(p.to, false);
        let call = self.combine_call(name, p.to, "task", EVERYWHERE);
        self.line(format!("return {call};"));
    }

    /// Combines the elements `from..to` of the source into copy number `slot` of the `len` targets in `state`.
    pub fn private(&mut self, name: &str, p: &Permute, monoid: Monoid) {
        let (to, t) = (p.to, in_memory(self.columns(p.to)[0]));
        self.line(format!("{t} *const a{to}_0 = ({t} *)task->state[0] + task->slot * task->len;"));
        let start = primitives::constant(self.declarations, monoid.neutral(self.columns(to)[0]));
        self.line(format!("for (i64 q = 0; q < task->len; q++) a{to}_0[q] = {start};"));
        let call = self.combine_call(name, to, "task", EVERYWHERE);
        self.line(format!("return {call};"));
    }

    /// Combines the first `slot` copies with the targets `from..to`.
    pub fn combine_copies(&mut self, p: &Permute) {
        let (to, t) = (p.to, in_memory(self.columns(p.to)[0]));
        self.hoist(&[p.comb]);
        self.hoist_output(to, false);
        self.line(format!("const {t} *restrict const copies = task->state[0];"));
        self.braces("for (i64 i = 0; i < task->slot; i++)", |w| {
            w.line(format!("const {t} *const copy = copies + i * task->len;"));
            w.braces("for (i64 q = task->from; q < task->to; q++)", |w| {
                let old = elements(to, 1, "q");
                w.code(p.comb, &["copy[q]".to_string(), old[0].clone()], &old);
            });
        });
    }

    /// Combines all elements of the source whose targets are at positions from `from` to `to`; the source has `len`
    /// elements.
    pub fn owned(&mut self, name: &str, p: &Permute) {
        self.hoist_output(p.to, false);
        self.line("if (task->from == task->to) return 0;");
        self.line("const job all = { 0, task->len, 0, 0, 0, task->extents, task->state };");
        let call = self.combine_call(name, p.to, "&all", "task->from, task->to - 1 - task->from");
        self.line(format!("return {call};"));
    }

    /// Declares tasks. Task `i` has part `i` of `count` parts of `0..n`; its other fields are `rest`.
    pub fn jobs(&mut self, count: &str, n: &str, rest: &str) {
        self.braces(&format!("for (i64 i = 0; i < {count}; i++)"), |w| {
            w.line(format!("const i64 size = ({n} + {count} - 1) / {count}, from = i * size < {n} ? i * size : {n};"));
            w.line(format!("jobs[i] = (job){{ from, from + size < {n} ? from + size : {n}, {rest} }};"));
        });
    }

    /// Executes the whole permutation in several threads; returns -1 if one thread is enough.
    pub fn scatter_all(&mut self, name: &str, p: &Permute) {
        let to = p.to;
        self.line("const i64 n = task->to;");
        self.line(format!("if (n < {SERIAL_ELEMENTS}) return -1;"));
        self.hoist_extents(to);
        let size: String = (0..self.program.arrays[to].rank).map(|d| format!(" * a{to}_n{d}")).collect();
        self.line(format!("const i64 targets = (i64)1{size};"));
        self.line("if (targets == 0) return -1;");
        self.line(format!("job jobs[{TASKS}];"));
        self.line("int result = -1;");
        if p.monoid.is_some() {
            let t = self.columns(to)[0];
            let few = CACHED_TARGETS / bytes(t) as usize;
            self.line(format!("const i64 each = targets < {few} ? {PER_CACHED_TARGET} : {PER_TARGET};"));
            self.line(format!(
                "i64 parts = n / each / targets, most = n / {SCATTERED} < {TASKS} ? n / {SCATTERED} : {TASKS};"
            ));
            self.line("parts = parts < most ? parts : most;");
            self.braces("if (parts > 1)", |w| {
                w.line(format!("void *const state[] = {{ __builtin_malloc(parts * targets * sizeof({t})) }};"));
                w.braces("if (state[0])", |w| {
                    w.jobs("parts", "n", "0, i, targets, task->extents, state");
                    w.parallel(&format!("{name}_part"), "jobs", "parts");
                    w.braces("if (result == 0)", |w| {
                        w.line(format!("i64 count = targets / {SCATTERED};"));
                        w.line(format!("count = count < 1 ? 1 : count < {TASKS} ? count : {TASKS};"));
                        w.jobs("count", "targets", "0, parts, targets, task->extents, state");
                        w.parallel(&format!("{name}_copies"), "jobs", "count");
                    });
                });
                w.line("__builtin_free(state[0]);");
            });
        }
        if p.has_cheap_targets() {
            self.braces("if (result < 0)", |w| {
                w.line("i64 count = accel_threads();");
                w.line(format!("count = count < {RANGES} ? count : {RANGES};"));
                w.line("if (count < 2) return -1;");
                if p.element.cost() < COSTLY_ELEMENT {
                    let bytes: usize = w.columns(to).iter().map(|t| bytes(*t) as usize).sum();
                    w.line(format!("if (count < {OWN_RANGES} && targets < {}) return -1;", RANGED_TARGETS / bytes));
                }
                w.jobs("count", "targets", "0, 0, n, task->extents, task->state");
                w.parallel(&format!("{name}_range"), "jobs", "count");
            });
        }
        self.braces("if (result == 1)", |w| {
            w.line("// For the record of the first mistake.");
            w.line(format!("{name}(arrays, task, fault);"));
        });
        self.line("return result;");
    }
}

/// All positions.
const EVERYWHERE: &str = "0, ~(u64)0";
