//! The host program: what is done around the kernels, as C functions of the run.
//!
//! Extents and columns of all arrays are in the tables of the run, at the places that [`Layout`] tells, and so is each column's block of
//! memory with the number of arrays that share it. An array of rank 0 has no blocks: its columns are cells of the run, and
//! are copied where others are shared.

use crate::code::{Writer, is_straight};
use crate::cost::{SMALL, cost};
use crate::fault;
use crate::layout::Layout;
use crate::liveness::{Block, Step, block_reads, code_reads};
use crate::module::has_all;
use crate::ops::{self, Declarations};
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Code, Instr, Op, Program, Reg, Rows};
use std::fmt::Write;

/// Functions have about this many statements: compilers take more than twice as long for a function of twice the size.
const LONG: usize = 40;

/// With fewer positions than this, most lanes of a strip are idle.
const SHORT: usize = 8;
/// A strip of a short dimension that takes more bytes than this is not worth it ..
const LARGE_FOR_SHORT: usize = 1 << 18;
/// .. and no strip that takes more than this, which is far more than the caches.
const LARGE: usize = 32 << 20;

/// What the host program is made of besides its statements.
pub const PRELUDE: &str = "\
static inline void drop(run *r, i64 c) { if (--r->blocks[c]->count == 0) r->calls->release(r, r->blocks[c]); }
static inline bool make(run *r, i64 c, i64 n, i64 size) {
    block *b = r->calls->allocate(r, n, size);
    if (!b) return 1;
    r->blocks[c] = b;
    r->columns[c] = b->data;
    return 0;
}
static inline void hand(run *r, i64 to, i64 from) { r->blocks[to] = r->blocks[from]; r->columns[to] = r->columns[from]; }
static i64 size(const i64 *extents, i64 rank) {
    u64 n = 1;
    bool none = 0;
    for (i64 k = 0; k < rank; k++) {
        none |= extents[k] == 0;
        if (extents[k] != 0 && __builtin_mul_overflow(n, (u64)extents[k], &n)) return -1;
    }
    return n >> 63 ? -1 : none ? 0 : (i64)n;
}
";

/// Whether a statement is so small that the host program does it itself.
pub fn is_inline(op: &Op) -> bool {
    matches!(op, Op::Loop { extents, body, .. } if extents.results.is_empty() && cost(&body.instrs) <= 50)
}

/// The functions of a program's statements; the last one, `accel_run`, is the whole program.
pub fn emit(program: &Program, layout: &Layout, declarations: &mut Declarations, body: &Block) -> String {
    let mut w = Writer::new(program, declarations, 0);
    w.host = Some(layout);
    let mut host = Host { w, layout, functions: String::new(), count: 0 };
    host.function("int accel_run", |h| h.block(body));
    host.functions
}

struct Host<'a> {
    w: Writer<'a>,
    layout: &'a Layout,
    /// Complete functions.
    functions: String,
    /// How many blocks have become functions.
    count: usize,
}

impl Host<'_> {
    fn function(&mut self, head: &str, body: impl FnOnce(&mut Self)) {
        let outer = self.w.begin();
        body(self);
        let body = self.w.end(outer);
        let _ = write!(
            self.functions,
            "\n{head}(run *r) {{\n    const array *const arrays = r->arrays;\n    i64 *const fault = r->fault;\n{body}    return 0;\n}}\n"
        );
    }

    fn block(&mut self, b: &Block) {
        b.unused.iter().for_each(|a| self.drop_array(*a));
        if b.size <= LONG {
            return b.steps.iter().for_each(|s| self.step(s));
        }
        for steps in b.steps.chunks(LONG) {
            let name = format!("block_{}", self.count);
            self.count += 1;
            self.function(&format!("static __attribute__((cold, noinline)) int {name}"), |h| {
                steps.iter().for_each(|s| h.step(s));
            });
            self.w.line(format!("if ({name}(r)) return 1;"));
        }
    }

    fn step(&mut self, s: &Step) {
        let site = s.stmt.site;
        self.w.site = site;
        self.w.open("");
        if !matches!(&s.stmt.op, Op::Loop { body, .. } if is_inline(&s.stmt.op) && is_straight(body)) {
            self.w.line(format!("r->site = {site};"));
        }
        match &s.stmt.op {
            Op::Literal { to, literal } => self.literal(*to, *literal),
            Op::Loop { to, body, .. } if is_inline(&s.stmt.op) => self.scalars(to, body),
            Op::Loop { to, extents, body } => self.loop_(s, to, extents, body),
            Op::Reduce { to, extents, rows } => self.reduce(s, *to, extents, rows),
            Op::Scan { to, extents, rows, .. } => self.scan(s, *to, extents, rows),
            Op::Permute { to, defaults, extents, .. } => self.permute(s, *to, *defaults, extents),
            Op::Reshape { to, from, extents } => self.reshape(s, *to, *from, extents),
            Op::If { to, cond, then, otherwise } => {
                self.w.line("bool chosen;");
                self.values(cond, &["chosen".into()]);
                for (head, b, results) in [("if (chosen)", &s.blocks[0], &then.1), ("else", &s.blocks[1], &otherwise.1)]
                {
                    self.w.open(head);
                    self.block(b);
                    self.take(to, results, |a| b.owned_results.contains(&a));
                    self.w.close();
                }
                self.drop_all(s, &[]);
            }
            Op::While { to, init, cond, body } => self.while_(s, to, init, cond.1, &body.1),
            Op::Strip { to, len, .. } => self.strip(s, to, len),
        }
        self.w.close();
    }

    // ---- statements

    /// Literals are in the tables from the start; the run has a share in their blocks as well.
    fn literal(&mut self, to: ArrayId, literal: usize) {
        let extents = self.w.program.literals[literal].extents.clone();
        let size =
            extents.iter().filter(|e| **e != 0).try_fold(1isize, |n, e| n.checked_mul(isize::try_from(*e).ok()?));
        if size.is_none() {
            let e = self.extents_of(to);
            self.w.fault("1", fault::MEMORY, self.w.site, e.len(), &e);
        }
        if !extents.is_empty() {
            self.pairs(to, to).into_iter().for_each(|(c, ..)| self.w.line(format!("r->blocks[{c}]->count++;")));
        }
    }

    /// A loop of rank 0.
    fn scalars(&mut self, to: &[ArrayId], body: &Code) {
        let results: Vec<_> = to.iter().flat_map(|a| self.cells(*a)).collect();
        self.values(body, &results);
    }

    fn loop_(&mut self, s: &Step, to: &[ArrayId], extents: &Code, body: &Code) {
        let e = self.extents("e", extents);
        self.size("n", "e", &e);
        self.outputs(to, &s.over, &e);
        self.w.line("const task t = { 0, n, 0, 0, 0, e, 0 };");
        self.ranges(&format!("loop_{}", s.number), cost(&body.instrs));
        self.drop_all(s, &s.over);
    }

    /// As [`rows`](Self::rows), for a reduction: empty rows need an initial value.
    fn checked_rows(&mut self, extents: &Code, rows: &Rows) -> Vec<String> {
        let e = self.rows(extents, rows);
        if rows.init.is_none() {
            let shape = [&e[..], &["0".into()]].concat();
            self.w.fault("len[0] == 0 && n > 0", fault::EMPTY, self.w.site, shape.len(), &shape);
        }
        e
    }

    /// Calls a function for the positions up to `n` of the index space `e`.
    fn ranges(&mut self, function: &str, cost: usize) {
        let small = SMALL.div_ceil(cost);
        self.w.line(format!(
            "if (n < {small} ? {function}(arrays, &t, fault) : r->calls->ranges(r, {function}, n, {cost}, e, 0)) return 1;"
        ));
    }

    fn reduce(&mut self, s: &Step, to: ArrayId, extents: &Code, rows: &Rows) {
        let e = self.checked_rows(extents, rows);
        self.outputs(&[to], &[], &e);
        self.all_rows("reduce", to, s, &format!("fold_{}", s.number), &["rows", "part", "join"], rows);
        self.drop_all(s, &[]);
    }

    fn scan(&mut self, s: &Step, to: ArrayId, extents: &Code, rows: &Rows) {
        let e = self.rows(extents, rows);
        let more = rows.init.is_some() as u8;
        self.w
            .line(format!("const i64 all[] = {{ {} }};", [&e[..], &[format!("len[0] + {more}")]].concat().join(", ")));
        let all: Vec<_> = (0..=e.len()).map(|k| format!("all[{k}]")).collect();
        self.w.open("");
        // A row may be too long by its first element.
        self.w.line(format!("const i64 n = size(all, {});", all.len()));
        self.w.fault("n < 0", fault::MEMORY, self.w.site, all.len(), &all);
        self.outputs(&[to], &[], &all);
        self.w.close();
        self.all_rows("scan", to, s, &format!("scan_{}", s.number), &["rows", "part", "carry", "write"], rows);
        self.drop_all(s, &[]);
    }

    /// The outer extents `e`, their size `n` and the length `len[0]` of rows.
    fn rows(&mut self, extents: &Code, rows: &Rows) -> Vec<String> {
        let e = self.extents("e", extents);
        self.extents("len", &rows.len);
        self.size("n", "e", &e);
        if !e.is_empty() {
            let shape = [&e[..], &["len[0]".into()]].concat();
            let list = format!("size((const i64[]){{ {} }}, {}) < 0", shape.join(", "), shape.len());
            self.w.fault(&list, fault::MEMORY, self.w.site, shape.len(), &shape);
        }
        e
    }

    /// Does all rows, the first function those of a small operation; larger ones are left to a callback that gets all functions.
    fn all_rows(&mut self, callback: &str, to: ArrayId, s: &Step, name: &str, functions: &[&str], rows: &Rows) {
        let cost = cost(&rows.element.instrs) + cost(&rows.op.instrs);
        let small = SMALL.div_ceil(cost);
        let all: Vec<_> = functions.iter().map(|f| format!("{name}_{f}")).collect();
        self.w.line("const task t = { 0, n, 0, 0, len[0], e, 0 };");
        self.w.open(&format!("if (n * (len[0] ? len[0] : 1) < {small})"));
        self.w.line(format!("if ({}(arrays, &t, fault)) return 1;", all[0]));
        self.w.close();
        self.w.open("else");
        let large =
            format!("r->calls->{callback}(r, {to}, (function *const[]){{ {} }}, n, len[0], {cost}, e)", all.join(", "));
        self.all_or(s, name, &large);
        self.w.close();
    }

    /// Calls the kernel that may do all of a statement, if there is one, and `otherwise` if it does not.
    fn all_or(&mut self, s: &Step, name: &str, otherwise: &str) {
        if !has_all(self.w.program, &s.stmt.op) {
            return self.w.line(format!("if ({otherwise}) return 1;"));
        }
        self.w.line(format!("const int all = {name}_all(arrays, &t, fault);"));
        self.w.line(format!("if (all > 0 || (all < 0 && {otherwise})) return 1;"));
    }

    /// The output takes over the memory of the defaults if nobody else has it, or gets a copy.
    fn permute(&mut self, s: &Step, to: ArrayId, defaults: ArrayId, extents: &Code) {
        let e = self.extents("e", extents);
        self.size("n", "e", &e);
        let old = self.extents_of(defaults);
        self.set_extents(to, &old);
        let free = s.dies.contains(&defaults) && !code_reads(s.stmt).contains(&defaults);
        self.w.line(format!("const i64 m = size(r->extents + {}, {});", self.layout.extents[to], old.len()));
        for (c, d, t) in self.pairs(to, defaults) {
            if old.is_empty() {
                self.copy(c, d, t);
                continue;
            }
            self.w.open(&if free { format!("if (r->blocks[{d}]->count > 1)") } else { String::new() });
            self.make(c, "m", t, &old);
            self.w.line(format!("__builtin_memcpy(r->columns[{c}], r->columns[{d}], m * {});", ops::bytes(t)));
            if free {
                self.w.line(format!("drop(r, {d});"));
            }
            self.w.close();
            if free {
                self.w.line(format!("else hand(r, {c}, {d});"));
            }
        }
        self.w.line("const task t = { 0, n, 0, 0, 0, e, 0 };");
        let name = format!("permute_{}", s.number);
        self.all_or(s, &name, &format!("{name}(arrays, &t, fault)"));
        self.drop_but(s, |a| free && a == defaults);
    }

    /// The elements are shared, not copied.
    fn reshape(&mut self, s: &Step, to: ArrayId, from: ArrayId, extents: &Code) {
        let e = self.extents("e", extents);
        self.size("n", "e", &e);
        self.set_extents(to, &e);
        let old = self.w.program.arrays[from].rank;
        let changed = format!("n != size(r->extents + {}, {old})", self.layout.extents[from]);
        self.w.fault(&changed, fault::RESHAPE, self.w.site, to, &[from.to_string()]);
        let free = s.dies.contains(&from);
        let shared = old > 0 && !e.is_empty();
        for (c, f, t) in self.pairs(to, from) {
            if shared {
                self.w.line(format!("hand(r, {c}, {f});"));
                if !free {
                    self.w.line(format!("r->blocks[{c}]->count++;"));
                }
                continue;
            }
            if !e.is_empty() {
                self.make(c, "1", t, &e);
            }
            self.copy(c, f, t);
        }
        self.drop_but(s, |a| shared && a == from);
    }

    fn while_(&mut self, s: &Step, to: &[ArrayId], init: &[ArrayId], cond: ArrayId, next: &[ArrayId]) {
        let inner = block_reads(s.stmt);
        let early = |a: ArrayId| s.dies.contains(&a) && init.contains(&a) && !inner.contains(&a);
        self.take(to, init, early);
        self.w.open("for (;;)");
        self.block(&s.blocks[0]);
        let go_on = self.cells(cond).concat();
        self.w.line(format!("if (!{go_on}) break;"));
        self.block(&s.blocks[1]);
        self.take(to, next, |a| s.blocks[1].owned_results.contains(&a));
        self.w.close();
        self.drop_but(s, early);
    }

    /// All statements at once, or, if a strip would take too much memory, one by one.
    fn strip(&mut self, s: &Step, to: &[ArrayId], len: &Code) {
        self.extents("len", len);
        for inner in &s.blocks[0].steps {
            self.w.site = inner.stmt.site;
            self.w.open("");
            self.w.line(format!("r->site = {};", inner.stmt.site));
            let e = match &inner.stmt.op {
                Op::Reduce { extents, rows, .. } => self.checked_rows(extents, rows),
                op => {
                    let e = self.extents("e", op.codes()[0].1);
                    self.size("n", "e", &e);
                    e
                }
            };
            inner.stmt.op.defines().iter().for_each(|a| self.set_extents(*a, &e));
            self.w.close();
        }
        self.w.site = s.stmt.site;
        let name = format!("strip_{}", s.number);
        self.w.line(format!("r->site = {};", s.stmt.site));
        self.w.line("i64 sizes[3];");
        self.w.line("const task t = { 0, 0, 0, 0, 0, 0, (void *const[]){ sizes } };");
        self.w.line(format!("if ({name}_sizes(arrays, &t, fault)) return 1;"));
        self.w.open(&format!("if (sizes[0] > (len[0] < {SHORT} ? {LARGE_FOR_SHORT} : {LARGE}))"));
        self.block(&s.blocks[0]);
        self.w.close();
        self.w.open("else");
        for a in to {
            let e = self.extents_of(*a);
            self.w.open("");
            self.size("n", &format!("r->extents + {}", self.layout.extents[*a]), &e);
            if !e.is_empty() {
                self.pairs(*a, *a).into_iter().for_each(|(c, _, t)| self.make(c, "n", t, &e));
            }
            self.w.close();
        }
        self.w.line(format!(
            "if (r->calls->strip(r, (function *const[]){{ {name}, {name}_join }}, len[0], sizes)) return 1;"
        ));
        self.w.close();
        self.drop_all(s, &[]);
    }

    // ---- their parts

    /// The results of a code without parameters, assigned to `to`.
    fn values(&mut self, code: &Code, to: &[String]) {
        self.w.open("");
        self.w.hoist(&[code]);
        self.w.code(code, &[], to);
        self.w.close();
    }

    /// Declares the results of a code as the array `name`; none may be negative.
    fn extents(&mut self, name: &str, code: &Code) -> Vec<String> {
        let e: Vec<_> = (0..code.results.len()).map(|k| format!("{name}[{k}]")).collect();
        let known: Option<Vec<_>> = code.results.iter().map(|r| self.known(code, *r)).collect();
        if let Some(known) = known.filter(|k| !k.is_empty()) {
            self.w.line(format!("const i64 {name}[] = {{ {} }};", known.join(", ")));
            return e;
        }
        self.w.line(format!("i64 {name}[{}];", e.len().max(1)));
        if !e.is_empty() {
            self.values(code, &e);
            let negative: Vec<_> = e.iter().map(|e| format!("{e} < 0")).collect();
            self.w.fault(&negative.join(" || "), fault::NEGATIVE, self.w.site, e.len(), &e);
        }
        e
    }

    /// A result that is never negative, of a code that does not fail.
    fn known(&self, code: &Code, result: Reg) -> Option<String> {
        let simple = |i: &Instr| matches!(i, Instr::Const(..) | Instr::Extent(..));
        let instr = code.instrs.iter().find(|i| i.sets() == [result]).filter(|_| code.instrs.iter().all(simple))?;
        match instr {
            Instr::Const(_, accel_core::repr::Scalar::I64(x)) if *x >= 0 => Some(x.to_string()),
            Instr::Extent(_, a, dim) => Some(format!("r->extents[{}]", self.layout.extents[*a] + dim)),
            _ => None,
        }
    }

    /// Declares `name` as the size of an array.
    fn size(&mut self, name: &str, array: &str, e: &[String]) {
        match e {
            [] => self.w.line(format!("const i64 {name} = 1;")),
            [e] => self.w.line(format!("const i64 {name} = {e};")),
            _ => {
                self.w.line(format!("const i64 {name} = size({array}, {});", e.len()));
                self.w.fault(&format!("{name} < 0"), fault::MEMORY, self.w.site, e.len(), e);
            }
        }
    }

    /// Makes arrays of extents `e` and size `n`, over others where that is possible.
    fn outputs(&mut self, to: &[ArrayId], over: &[Option<(ArrayId, usize)>], e: &[String]) {
        let mut over = over.iter();
        for a in to {
            self.set_extents(*a, e);
            for (c, _, t) in self.pairs(*a, *a) {
                let over = over.next().copied().flatten();
                if e.is_empty() {
                    continue;
                }
                let Some((old, k)) = over else {
                    self.make(c, "n", t, e);
                    continue;
                };
                let old_column = self.layout.columns[old] + k;
                let same = e.iter().zip(self.extents_of(old)).map(|(a, b)| format!(" && {a} == {b}"));
                let same: String = same.collect();
                self.w.line(format!("const bool over{c} = r->blocks[{old_column}]->count == 1{same};"));
                self.w.line(format!("if (over{c}) hand(r, {c}, {old_column});"));
                self.w.open("else");
                self.make(c, "n", t, e);
                self.w.close();
            }
        }
    }

    /// Room for `n` elements in a column.
    fn make(&mut self, c: usize, n: &str, t: ScalarType, e: &[String]) {
        let no_memory = format!("make(r, {c}, {n}, {})", ops::bytes(t));
        self.w.fault(&no_memory, fault::MEMORY, self.w.site, e.len(), e);
    }

    /// Makes `to` names of the arrays `from`, all at once. What may be taken, because nobody needs its old name, is not counted again.
    fn take(&mut self, to: &[ArrayId], from: &[ArrayId], free: impl Fn(ArrayId) -> bool) {
        let mut later = vec![];
        self.w.open("");
        for (k, (a, f)) in to.iter().zip(from).enumerate() {
            let rank = self.w.program.arrays[*f].rank;
            let handed_over = free(*f) && !from[k + 1..].contains(f);
            let counts = rank > 0 && !handed_over;
            for (c, f, t) in self.pairs(*a, *f) {
                if counts {
                    self.w.line(format!("r->blocks[{f}]->count++;"));
                }
                if c == f {
                    continue;
                }
                if rank == 0 {
                    self.w.line(format!("const {t} x{c} = *(const {t} *)r->columns[{f}];"));
                    later.push(format!("*({t} *)r->columns[{c}] = x{c};"));
                } else {
                    self.w.line(format!("block *const b{c} = r->blocks[{f}];"));
                    later.push(format!("r->blocks[{c}] = b{c}; r->columns[{c}] = b{c}->data;"));
                }
            }
            if a != f {
                let places = self.extents_of(*a).into_iter().zip(self.extents_of(*f));
                for (dim, (a_place, f_place)) in places.enumerate() {
                    self.w.line(format!("const i64 e{a}_{dim} = {f_place};"));
                    later.push(format!("{a_place} = e{a}_{dim};"));
                }
            }
        }
        later.iter().for_each(|line| self.w.line(line));
        self.w.close();
    }

    /// Copies one element.
    fn copy(&mut self, to: usize, from: usize, t: ScalarType) {
        self.w.line(format!("*({t} *)r->columns[{to}] = *(const {t} *)r->columns[{from}];"));
    }

    /// The columns of two arrays of the same element type.
    fn pairs(&self, a: ArrayId, b: ArrayId) -> Vec<(usize, usize, ScalarType)> {
        let (a_first, b_first) = (self.layout.columns[a], self.layout.columns[b]);
        let types = self.w.program.arrays[a].columns.iter().enumerate();
        types.map(|(c, t)| (a_first + c, b_first + c, *t)).collect()
    }

    /// The elements of an array of rank 0.
    fn cells(&self, a: ArrayId) -> Vec<String> {
        self.pairs(a, a).into_iter().map(|(c, _, t)| format!("*({t} *)r->columns[{c}]")).collect()
    }

    fn extents_of(&self, a: ArrayId) -> Vec<String> {
        let first = self.layout.extents[a];
        (0..self.w.program.arrays[a].rank).map(|k| format!("r->extents[{}]", first + k)).collect()
    }

    fn set_extents(&mut self, a: ArrayId, e: &[String]) {
        for (place, e) in self.extents_of(a).into_iter().zip(e) {
            self.w.line(format!("{place} = {e};"));
        }
    }

    fn drop_array(&mut self, a: ArrayId) {
        if self.w.program.arrays[a].rank > 0 {
            self.pairs(a, a).into_iter().for_each(|(c, ..)| self.w.line(format!("drop(r, {c});")));
        }
    }

    fn drop_but(&mut self, s: &Step, but: impl Fn(ArrayId) -> bool) {
        s.dies.iter().filter(|a| !but(**a)).for_each(|a| self.drop_array(*a));
    }

    /// Lets go of what dies with a statement, but for what an output was written over.
    fn drop_all(&mut self, s: &Step, over: &[Option<(ArrayId, usize)>]) {
        let Op::Loop { to, .. } = &s.stmt.op else { return self.drop_but(s, |_| false) };
        let outputs: Vec<usize> = to.iter().flat_map(|a| self.pairs(*a, *a)).map(|(c, ..)| c).collect();
        for a in &s.dies {
            if !over.iter().flatten().any(|(other, _)| other == a) {
                self.drop_array(*a);
                continue;
            }
            for (k, (c, ..)) in self.pairs(*a, *a).into_iter().enumerate() {
                let by = over.iter().position(|o| *o == Some((*a, k)));
                let unless = by.map(|o| format!("if (!over{}) ", outputs[o])).unwrap_or_default();
                self.w.line(format!("{unless}drop(r, {c});"));
            }
        }
    }
}
