//! Statements in the frame of a function: NOTE [Frames] in [`crate::c::frames`].
//!
//! Arrays of the frame have the local names that all code uses (`a3_0` is the first column of array 3, `a3_n0` its outermost extent), and so
//! have the arrays from outside. So scalar code is the same as in kernels.

use super::statements::places_of_rows;
use super::writer::Host;
use crate::analysis::fault;
use crate::analysis::liveness::{Block, Step};
use crate::c::frames::lists_of;
use crate::cost_model::{CALLED_ROW, FEW_COLUMNS, VECTORIZED_ROW};
use crate::shared::interchanged_reduce::in_columns;
use crate::shared::permute::Permute;
use crate::shared::row_lanes::adds_integers;
use crate::shared::scan::Scan;
use crate::text::arrays::{columns, local_array};
use crate::text::names::{elements, in_order, index, names, position, row_index};
use crate::text::types::{bytes, in_memory};
use accel_core::ast::deep;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Instr, Op, Reduction, ScalarFn, Trips, walk};
use accel_fusion::optimize::{constants, function_of_arrays};
use std::collections::BTreeSet;

impl Host<'_> {
    /// Executes the statements of a frame, in a function of its own.
    pub fn frame(&mut self, steps: &[Step]) {
        let name = format!("frame_{}", self.count);
        self.count += 1;
        self.function(&format!("HOT int {name}"), |h| {
            h.arrays_of_frame(steps);
            h.w.in_frame = true;
            h.w.declarations.one_by_one = true;
            steps.iter().for_each(|s| h.step_in_frame(s));
            h.w.in_frame = false;
            h.w.declarations.one_by_one = false;
            h.results_of_frame(steps);
        });
        self.w.line(format!("if ({name}(r)) return 1;"));
        steps.iter().for_each(|s| self.drop_outer(s.last_uses.iter()));
    }
}

impl Host<'_> {
    /// Whether an array is one of the frame's. Arrays from outside are others.
    fn is_in_frame(&self, a: ArrayId) -> bool {
        self.frame_arrays.contains(&a)
    }

    /// Declares the arrays of a frame, and local names for those from outside that it uses.
    fn arrays_of_frame(&mut self, steps: &[Step]) {
        let program = self.w.program;
        let (mut used, mut defined, mut named) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for s in steps {
            s.stmt.op.used_arrays(&mut used);
            let inner = s.stmt.op.blocks().into_iter().flat_map(|b| b.walk());
            for s in std::iter::once(s.stmt).chain(inner) {
                if !matches!(s.op, Op::Literal { .. }) {
                    let lists = lists_of(&s.op);
                    defined.extend(s.op.defines().into_iter().filter(|a| !lists.contains(a)));
                }
                named.extend(arrays_in_errors(&s.op));
            }
        }
        let lists: BTreeSet<ArrayId> = steps.iter().flat_map(|s| lists_of(&s.stmt.op)).copied().collect();
        for a in used.iter().filter(|a| !defined.contains(a) && !lists.contains(a)) {
            self.w.hoist_extents(*a);
            let rank = program.arrays[*a].rank;
            for (a, c, t) in columns(program, &[*a]) {
                let (place, t) = (self.w.column(a, c, "const "), in_memory(t));
                match rank {
                    // Nobody writes it while the frame is executed.
                    0 => self.w.line(format!("const {t} a{a}_{c}[] = {{ *(const {t} *){place} }};")),
                    _ => self.w.line(format!("const {t} *const a{a}_{c} = {place};")),
                }
            }
        }
        for a in &defined {
            let extents = self.known_extents(*a);
            for (dim, n) in extents.iter().enumerate() {
                self.w.line(format!("const i64 a{a}_n{dim} = {n};"));
            }
            for (_, c, t) in columns(program, &[*a]) {
                self.w.line(local_array(in_memory(t), &format!("a{a}_{c}"), self.length_of(*a)));
            }
            if named.contains(a) {
                self.set_known_extents(*a);
            }
        }
        self.frame_arrays = defined;
    }

    fn known_extents(&self, a: ArrayId) -> Vec<i64> {
        self.frames.known[a].as_deref().map(<[i64]>::to_vec).unwrap_or_default()
    }

    fn set_known_extents(&mut self, a: ArrayId) {
        let extents: Vec<_> = self.known_extents(a).iter().map(i64::to_string).collect();
        self.set_extents(a, &extents);
    }

    /// The number of elements of an array with known extents.
    fn length_of(&self, a: ArrayId) -> i64 {
        self.known_extents(a).iter().product()
    }

    /// Copies what the statements of the frame define, and others use, to memory of the run.
    fn results_of_frame(&mut self, steps: &[Step]) {
        let mut unused = BTreeSet::new();
        steps.iter().for_each(|s| released(s, &mut unused));
        for s in steps {
            let all: Vec<ArrayId> = s.stmt.op.defines().into_iter().filter(|a| self.is_in_frame(*a)).collect();
            let all: Vec<ArrayId> = all.into_iter().filter(|a| !unused.contains(a)).collect();
            if !all.is_empty() {
                self.w.line(format!("r->site = {};", s.stmt.site));
                all.into_iter().for_each(|a| self.enter_table(a));
            }
        }
    }

    fn block_in_frame(&mut self, b: &Block) {
        self.drop_outer(b.unused.iter());
        deep(|| b.steps.iter().for_each(|s| self.inner_step(s)));
    }

    /// A statement in a block of the frame. What it uses last may be an array from outside.
    fn inner_step(&mut self, s: &Step) {
        self.step_in_frame(s);
        self.drop_outer(s.last_uses.iter());
    }

    fn step_in_frame(&mut self, s: &Step) {
        self.w.site = s.stmt.site;
        self.w.open("");
        match &s.stmt.op {
            Op::Literal { to, literal } => self.literal(*to, *literal),
            Op::If { to, cond, then, otherwise } => self.if_in_frame(s, to, cond, [&then.1, &otherwise.1]),
            Op::While { to, init, trips, row, body } => self.while_in_frame(s, to, init, trips, *row, &body.1),
            Op::Keep { tape, arrays } => self.keep_in_frame(*tape, arrays),
            Op::Recall { to, tape, at, step } => self.recall_in_frame(s, to, *tape, at, &step.1),
            Op::Strip { body, .. } => {
                for s in &body.stmts {
                    self.w.site = s.site;
                    self.simple(&s.op);
                }
            }
            op => self.simple(op),
        }
        self.w.close();
    }

    /// A statement without blocks.
    fn simple(&mut self, op: &Op) {
        self.w.open("");
        match op {
            Op::Loop { to, body, .. } if self.applies_function(to, body) => {}
            Op::Loop { to, extents, body } => {
                let results = self.results_at(to);
                self.space(extents, &to[..1], |h, ix| h.w.code(body, ix, &results));
            }
            Op::Accumulate { to, sums, extents, body } => {
                sums.iter().for_each(|(sum, initial)| self.copy_elements(*sum, *initial));
                let results = self.results_at(to);
                self.w.alone = true;
                self.space(extents, to.get(..1).unwrap_or_default(), |h, ix| h.w.code(body, ix, &results));
                self.w.alone = false;
            }
            Op::Reduce { to, extents, rows } => self.reduce_in_frame(*to, extents, rows),
            Op::Scan { .. } => {
                if let Some(scan) = Scan::new(op) {
                    self.scan_in_frame(&scan, op);
                }
            }
            Op::Permute { defaults, extents, .. } => {
                if let Some(p) = Permute::new(self.w.program, op) {
                    self.copy_elements(p.to, *defaults);
                    self.space(extents, &[], |h, ix| h.w.combine_at(&p, ix, ""));
                }
            }
            Op::Reshape { to, from, .. } => {
                let (n, rank) = (self.length_of(*to), self.w.program.arrays[*from].rank);
                let size: Vec<_> = (0..rank).map(|d| format!("a{from}_n{d}")).collect();
                let size = if size.is_empty() { "1".into() } else { size.join(" * ") };
                let site = self.w.site;
                self.w.fault(&format!("{size} != {n}"), fault::RESHAPE, site, to.index(), &[from.to_string()]);
                self.copy_elements(*to, *from);
            }
            Op::Agree { agreement, left, right } => self.agree(*agreement, left, right),
            Op::Literal { .. }
            | Op::Argsort { .. }
            | Op::Foreign { .. }
            | Op::If { .. }
            | Op::While { .. }
            | Op::Keep { .. }
            | Op::Recall { .. }
            | Op::Strip { .. } => unreachable!("a statement that is not in a frame"),
        }
        self.w.close();
    }

    /// Applies a function to all elements of arrays at once, if a loop does nothing else: NOTE [Functions of arrays] in `accel_fusion`.
    fn applies_function(&mut self, to: &[ArrayId], body: &ScalarFn) -> bool {
        let (Some(function), [to]) = (function_of_arrays(body), to) else { return false };
        let arrays: Vec<ArrayId> = function.arguments;
        if arrays.iter().any(|a| self.frames.known[*a] != self.frames.known[*to]) {
            return false;
        }
        let t = body.types[body.results[0]];
        let one_by_one = std::mem::replace(&mut self.w.declarations.one_by_one, false);
        let outside = self.w.begin();
        let mut x = 0..arrays.len();
        for i in &body.instrs {
            match i {
                Instr::Read { to, .. } => {
                    x.next().iter().for_each(|k| self.w.line(format!("const {t} r{} = x{k}[p];", to[0])));
                }
                i => self.w.instr(body, i),
            }
        }
        self.w.line(format!("y[p] = r{};", body.results[0]));
        let text = self.w.end(outside);
        self.w.declarations.one_by_one = one_by_one;
        let name = self.w.declarations.function_of_arrays(t, arrays.len(), &text);
        let all: Vec<_> = arrays.iter().chain([to]).map(|a| format!("a{a}_0")).collect();
        self.w.line(format!("{name}({}, {});", self.length_of(*to), all.join(", ")));
        true
    }

    /// The elements of arrays that a loop defines, at its position `p`.
    fn results_at(&self, to: &[ArrayId]) -> Vec<String> {
        to.iter().flat_map(|a| elements(*a, self.w.columns(*a).len(), "p")).collect()
    }

    /// Executes something for each index of a space with constant extents, with the position `p` of the index if there is an array `of`
    /// these extents.
    fn space(&mut self, extents: &ScalarFn, of: &[ArrayId], each: impl FnOnce(&mut Self, &[String])) {
        let extents = constants(extents, &self.frames.known).unwrap_or_default();
        let ix = index(extents.len());
        for (i, n) in ix.iter().zip(&extents) {
            self.w.open(&format!("for (i64 {i} = 0; {i} < {n}; {i}++)"));
        }
        self.w.open("");
        if let Some(a) = of.first() {
            self.w.line(format!("const i64 p = {};", position(*a, &ix)));
        }
        each(self, &ix);
        self.w.close();
        ix.iter().for_each(|_| self.w.close());
    }

    /// Combines the elements of each row in the order in which kernels do so for little work.
    fn reduce_in_frame(&mut self, to: ArrayId, extents: &ScalarFn, rows: &Reduction) {
        let types = self.w.columns(to);
        let (outer, y, z) = (extents.results.len(), names("y", &types), names("z", &types));
        let len = constants(&rows.len, &self.frames.known).map_or(0, |len| len[0]);
        self.w.initial(&z, &types, rows, &[]);
        let all = constants(extents, &self.frames.known).unwrap_or_default();
        if in_columns(outer, rows) && all.last().is_some_and(|n| *n >= FEW_COLUMNS as i64) {
            return self.columns_in_frame(to, &all, rows, &z, len);
        }
        let called = if adds_integers(rows) { VECTORIZED_ROW } else { CALLED_ROW };
        if len < called as i64 {
            return self.space(extents, &[to], |h, _| h.w.fold_one(to, outer, rows, &z, &len.to_string()));
        }
        let some = rows.init.is_some();
        self.space(extents, &[to], |h, _| {
            h.w.declare(&y, &types);
            match some {
                true => h.w.assign(&y, &z),
                false => h.w.code(&rows.element, &row_index(outer, "(i64)0"), &y),
            }
            h.w.line(format!("const i64 to = {len};"));
            h.w.line(format!("i64 k = {};", !some as u8));
            h.w.rest_of_row(&types, &y, outer, rows);
            h.w.assign(&elements(to, types.len(), "p"), &y);
        });
    }

    /// Combines the elements of neighbouring rows, which are adjacent in memory, side by side: NOTE [Interchanged reductions]. Each row is
    /// combined in its order.
    fn columns_in_frame(&mut self, to: ArrayId, extents: &[i64], rows: &Reduction, z: &[String], len: i64) {
        let (types, outer) = (self.w.columns(to), extents.len());
        let (x, some) = (names("x", &types), rows.init.is_some());
        let (ix, side) = (index(outer), extents[outer - 1]);
        for (i, n) in ix.iter().zip(extents).take(outer - 1) {
            self.w.open(&format!("for (i64 {i} = 0; {i} < {n}; {i}++)"));
        }
        let sides = format!("_Pragma(\"GCC unroll 1\") for (i64 {i} = 0; {i} < {side}; {i}++)", i = ix[outer - 1]);
        self.w.open("");
        let y: Vec<_> = names("y", &types).iter().map(|y| format!("{y}[{}]", ix[outer - 1])).collect();
        for (k, t) in types.iter().enumerate() {
            self.w.line(local_array(*t, &format!("y{k}"), side));
        }
        self.w.braces(&sides, |w| match some {
            true => w.assign(&y, z),
            false => w.code(&rows.element, &row_index(outer, "(i64)0"), &y),
        });
        self.w.open(&format!("for (i64 k = {}; k < {len}; k++)", !some as u8));
        self.w.braces(&sides, |w| {
            w.declare(&x, &types);
            w.code(&rows.element, &row_index(outer, "k"), &x);
            w.code(&rows.op, &[y.clone(), x.clone()].concat(), &y);
        });
        self.w.close();
        self.w.braces(&sides, |w| w.assign(&elements(to, types.len(), &position(to, &ix)), &y));
        self.w.close();
        ix.iter().take(outer - 1).for_each(|_| self.w.close());
    }

    fn scan_in_frame(&mut self, scan: &Scan, op: &Op) {
        let Op::Scan { extents, rows, .. } = op else { return };
        let types = rows.columns();
        let (y, z, x) = (names("y", &types), names("z", &types), names("x", &types));
        let len = constants(&rows.len, &self.frames.known).map_or(0, |len| len[0]);
        let shift = rows.init.is_some() as i64;
        let outer_extents = constants(extents, &self.frames.known).unwrap_or_default();
        self.w.initial(&z, &types, rows, &[]);
        self.space(extents, &[], |h, ix| {
            // The row-major position among the rows.
            let row = ix.iter().zip(&outer_extents).fold("0".to_string(), |p, (i, n)| format!("({p}) * {n} + {i}"));
            let all = len + shift;
            if scan.down {
                let side = outer_extents.last().copied().unwrap_or(1);
                h.w.line(format!("const i64 row = {row}, side = {side};"));
                h.w.line(format!("const i64 base = row / side * {all} * side + row % side;"));
            } else {
                h.w.line(format!("const i64 base = ({row}) * {all};"));
            }
            let at = |k: &str| if scan.reverse { format!("{} - ({k})", len - 1) } else { k.to_string() };
            let target = |k: &str| {
                scan.place(&if scan.reverse { format!("{} - {k}", len - 1) } else { format!("{k} + {shift}") })
            };
            h.w.declare(&y, &types);
            let first = match rows.init {
                Some(_) => {
                    h.w.assign(&y, &z);
                    scan.store(&mut h.w, &if scan.reverse { scan.place(&len.to_string()) } else { "base".into() }, &z);
                    0
                }
                None if len == 0 => return,
                None => {
                    h.w.code(&rows.element, &row_index(scan.outer, &at("0")), &y);
                    scan.store(&mut h.w, &target("0"), &y);
                    1
                }
            };
            h.w.braces(&format!("for (i64 k = {first}; k < {len}; k++)"), |w| {
                w.declare(&x, &types);
                w.code(&rows.element, &row_index(scan.outer, &at("k")), &x);
                w.code(&rows.op, &in_order(scan.reverse, &y, &x), &y);
                scan.store(w, &target("k"), &y);
            });
        });
    }

    /// Copies as many elements as the array `to` has.
    fn copy_elements(&mut self, to: ArrayId, from: ArrayId) {
        let n = self.length_of(to);
        for (k, (_, _, t)) in self.pairs(to, from).into_iter().enumerate() {
            self.copy_numbers(&format!("a{to}_{k}"), &format!("a{from}_{k}"), n, t);
        }
    }

    /// Copies arrays, all at once: an array can be the old value of another one.
    fn copies(&mut self, to: &[ArrayId], from: &[ArrayId]) {
        let mut left: Vec<_> = to.iter().copied().zip(from.iter().copied()).filter(|(a, b)| a != b).collect();
        while !left.is_empty() {
            let read: BTreeSet<ArrayId> = left.iter().map(|(_, from)| *from).collect();
            let (later, now): (Vec<_>, Vec<_>) = left.into_iter().partition(|(to, _)| read.contains(to));
            if now.is_empty() {
                // Only circles are left.
                for (_, a) in &later {
                    for (k, (_, _, t)) in self.pairs(*a, *a).into_iter().enumerate() {
                        let (t, n) = (in_memory(t), self.length_of(*a));
                        self.w.line(local_array(t, &format!("old{a}_{k}"), n));
                        self.copy_numbers(&format!("old{a}_{k}"), &format!("a{a}_{k}"), n, t);
                    }
                }
                for (to, a) in &later {
                    for (k, (_, _, t)) in self.pairs(*a, *a).into_iter().enumerate() {
                        self.copy_numbers(&format!("a{to}_{k}"), &format!("old{a}_{k}"), self.length_of(*a), t);
                    }
                }
                return;
            }
            now.into_iter().for_each(|(to, from)| self.copy_elements(to, from));
            left = later;
        }
    }

    fn if_in_frame(&mut self, s: &Step, to: &[ArrayId], cond: &ScalarFn, results: [&[ArrayId]; 2]) {
        self.w.line("bool chosen;");
        self.values(cond, &["chosen".into()]);
        for ((head, b), results) in ["if (chosen)", "else"].into_iter().zip(&s.blocks).zip(results) {
            self.w.open(head);
            self.block_in_frame(b);
            self.copies(to, results);
            self.drop_outer(results.iter().filter(|a| b.owned_results.contains(a)));
            self.w.close();
        }
    }

    /// Drops those of some arrays that come from outside.
    fn drop_outer<'a>(&mut self, arrays: impl Iterator<Item = &'a ArrayId>) {
        let all: BTreeSet<ArrayId> = arrays.copied().filter(|a| !self.is_in_frame(*a)).collect();
        all.into_iter().for_each(|a| self.drop_array(a));
    }

    fn while_in_frame(
        &mut self,
        s: &Step,
        to: &[ArrayId],
        init: &[ArrayId],
        trips: &Trips,
        row: Option<ArrayId>,
        next: &[ArrayId],
    ) {
        let (state, lists) = to.split_at(init.len());
        self.copies(state, init);
        self.drop_outer(s.moved.iter());
        self.empty_lists(lists);
        let k = self.open_loop(trips, row, |a| format!("a{a}_0[0]"));
        if let Trips::While(_, continues) = trips {
            self.block_in_frame(&s.blocks[0]);
            self.w.line(format!("if (!a{continues}_0[0]) break;"));
        }
        row.iter().for_each(|row| self.w.line(format!("a{row}_0[0] = {k};")));
        s.blocks.last().into_iter().for_each(|body| self.block_in_frame(body));
        let (next, rows) = next.split_at(state.len());
        self.append_in_frame(s, lists, rows, trips);
        self.copies(state, next);
        self.w.close();
        for list in lists {
            self.w.line(format!("*({}) = rows;", self.extents_at(*list)));
        }
    }

    /// Appends a row to each list. All rows have the same extents.
    fn append_in_frame(&mut self, s: &Step, lists: &[ArrayId], rows: &[ArrayId], trips: &Trips) {
        if lists.is_empty() {
            return;
        }
        self.w.open("if (rows == room)");
        self.w.line(format!("r->site = {};", s.stmt.site));
        let (most, right, at_row) = places_of_rows(trips);
        self.w.line(format!("room = more_rows(room, {most});"));
        for (list, row) in lists.iter().zip(rows) {
            let (rank, at, n) = (self.w.program.arrays[*list].rank, self.extents_at(*list), self.length_of(*row));
            let places: Vec<_> = self.extents_of(*list).into_iter().skip(1).collect();
            for (place, e) in places.iter().zip(self.known_extents(*row)) {
                self.w.line(format!("{place} = {e};"));
            }
            for (c, _, t) in self.pairs(*list, *list) {
                let bytes = bytes(t);
                self.w.line(format!("if (grow(r, {c}, rows, room, {n}, {bytes}, {at}, {rank}, {right})) return 1;"));
            }
        }
        self.w.close();
        for (list, row) in lists.iter().zip(rows) {
            let n = self.length_of(*row);
            for (k, (c, _, t)) in self.pairs(*list, *list).into_iter().enumerate() {
                let place = format!("({} *)r->columns[{c}] + ({at_row}) * {n}", in_memory(t));
                self.copy_numbers(&place, &format!("a{row}_{k}"), n, t);
            }
        }
        self.w.line("rows++;");
    }

    /// Copies numbers from one address to another. A single one is copied as a number, which does not overlap with pointers.
    fn copy_numbers(&mut self, to: &str, from: &str, n: i64, t: ScalarType) {
        let (t, bytes) = (in_memory(t), n * i64::from(bytes(t)));
        match n {
            1 => self.w.line(format!("*({t} *)({to}) = *(const {t} *)({from});")),
            _ => self.w.line(format!("__builtin_memcpy({to}, {from}, {bytes});")),
        }
    }
}

/// Tapes: as in the rest of the host program, small states are copied, and callbacks do the rest: NOTE [Small states].
impl Host<'_> {
    fn keep_in_frame(&mut self, tape: usize, arrays: &[ArrayId]) {
        self.w.line(format!("tape *const t = r->tapes + {tape};"));
        self.w.open("if (t->count == t->room)");
        self.enter_tables(arrays);
        self.w.line(format!("if (r->calls->keep(r, {tape})) return 1;"));
        self.leave_tables(arrays);
        self.w.close();
        self.w.open("else");
        self.w.line("char *const state = t->data + t->count++ * t->size;");
        for (column, offset, n, t) in self.slots(arrays) {
            self.copy_numbers(&format!("state + {offset}"), &column, n, t);
        }
        self.w.close();
    }

    fn recall_in_frame(&mut self, s: &Step, to: &[ArrayId], tape: usize, at: &ScalarFn, next: &[ArrayId]) {
        self.w.line("i64 at;");
        self.values(at, &["at".into()]);
        self.w.line(format!("tape *const t = r->tapes + {tape};"));
        self.w.open("if (t->count && at == t->count - 1)");
        self.w.line("const char *const state = t->data + --t->count * t->size;");
        for (column, offset, n, t) in self.slots(to) {
            self.copy_numbers(&column, &format!("state + {offset}"), n, t);
        }
        self.w.close();
        self.w.open("else");
        self.w.line(format!("r->site = {};", s.stmt.site));
        self.w.line(format!("i64 k = r->calls->recall(r, {tape}, at);"));
        self.w.line("if (k < 0) return 1;");
        for a in to {
            for (k, (c, _, t)) in self.pairs(*a, *a).into_iter().enumerate() {
                self.copy_numbers(&format!("a{a}_{k}"), &format!("r->columns[{c}]"), self.length_of(*a), t);
            }
        }
        self.leave_tables(to);
        self.w.open("while (k < at)");
        self.block_in_frame(&s.blocks[0]);
        self.copies(to, next);
        self.enter_tables(to);
        self.w.line(format!("if (r->calls->again(r, {tape}, ++k, at)) return 1;"));
        self.leave_tables(to);
        self.w.close();
        self.w.close();
    }

    /// The columns of arrays in a small state of a tape: their names, their positions in bytes, their numbers of elements and types.
    fn slots(&self, arrays: &[ArrayId]) -> Vec<(String, i64, i64, ScalarType)> {
        let mut offset = 0;
        let all = columns(self.w.program, arrays).into_iter().map(|(a, c, t)| {
            let (n, at) = (self.length_of(a), offset);
            offset += (n * i64::from(bytes(t)) + 7) & !7;
            (format!("a{a}_{c}"), at, n, t)
        });
        all.collect()
    }

    /// Copies arrays of the frame to memory of the run.
    fn enter_tables(&mut self, arrays: &[ArrayId]) {
        let site = self.w.site;
        self.w.line(format!("r->site = {site};"));
        for a in arrays {
            if self.is_in_frame(*a) {
                self.enter_table(*a);
            }
        }
    }

    fn enter_table(&mut self, a: ArrayId) {
        let (rank, n, at) = (self.w.program.arrays[a].rank, self.length_of(a), self.extents_at(a));
        self.set_known_extents(a);
        for (k, (c, _, t)) in self.pairs(a, a).into_iter().enumerate() {
            if rank > 0 {
                self.make(c, &n.to_string(), t, &at, rank);
            }
            self.copy_numbers(&format!("r->columns[{c}]"), &format!("a{a}_{k}"), n, t);
        }
    }

    /// Gives the memory of the run back.
    fn leave_tables(&mut self, arrays: &[ArrayId]) {
        for a in arrays {
            if self.is_in_frame(*a) {
                self.drop_array(*a);
            }
        }
    }
}

/// Adds the arrays that nothing uses after a statement: those that it uses last, takes over as its state, or gives to the branches that use
/// them last.
fn released(s: &Step, found: &mut BTreeSet<ArrayId>) {
    found.extend(s.last_uses.iter().chain(&s.moved));
    if matches!(s.stmt.op, Op::If { .. }) {
        for b in &s.blocks {
            found.extend(b.unused.iter().chain(&b.owned_results));
            deep(|| b.steps.iter().for_each(|s| released(s, found)));
        }
    }
}

/// The arrays whose extents an error of the statement would show.
fn arrays_in_errors(op: &Op) -> BTreeSet<ArrayId> {
    let mut found = BTreeSet::new();
    for (_, code) in op.scalar_fns() {
        for i in walk(&code.instrs) {
            match i {
                Instr::Read { array, inside: false, .. } => _ = found.insert(*array),
                Instr::Emit { to, inside: false, .. } => _ = found.insert(*to),
                _ => {}
            }
        }
    }
    match op {
        Op::Permute { to, inside: false, .. } => _ = found.insert(*to),
        Op::Reshape { to, from, .. } => found.extend([*to, *from]),
        _ => {}
    }
    found
}
