//! Statements in the host program: one function for every kind. The text is short, because the functions of `prelude.c`
//! do the work. So programs of thousands of statements can be compiled.

use super::inline::is_inline;
use super::writer::Host;
use crate::analysis::fault;
use crate::analysis::layout::Layout;
use crate::analysis::liveness::{Block, Step};
use crate::analysis::merged_dimensions::merged_dimensions;
use crate::c::frames::Frames;
use crate::c::kernels::has_all;
use crate::cost_model::{HOST_FUNCTION, SERIAL};
use crate::shared::tiled_reduce::Tiled;
use crate::shared::ways::{KnownWays, Way, known_ways};
use crate::text::declarations::Declarations;
use crate::text::types::bytes;
use crate::text::writer::Writer;
use accel_core::ast::{Dir, deep};
use accel_core::repr::{Agreement, MAX_EXTENT, MAX_SIZE, checked_size};
use accel_fusion::kernel::{ArrayId, Op, Program, Reduction, ScalarFn, SiteId, Trips, scan_extents};
use std::collections::BTreeSet;

/// The functions that the statements use.
pub fn prelude(record_length: usize) -> String {
    let (negative, memory, rows, short, way) = (fault::NEGATIVE, fault::MEMORY, fault::ROWS, fault::SHORT, fault::WAY);
    format!(
        "enum {{ SMALL = {SERIAL}, NEGATIVE = {negative}, MEMORY = {memory}, ROWS = {rows}, SHORT = {short}, WAY = {way} }};\n\
         #define RECORD_LENGTH {record_length}\n#define MAX_EXTENT {MAX_EXTENT}LL\n#define MAX_SIZE {MAX_SIZE}ULL\n{}",
        include_str!("prelude.c")
    )
}

/// The functions of a program's statements. The last one, `accel_run`, is the whole program. A scalar program
/// (`numbers`) has `accel_call` before it: see NOTE [Scalar programs].
pub fn emit(
    program: &Program,
    layout: &Layout,
    frames: &Frames,
    declarations: &mut Declarations,
    body: &Block,
    numbers: bool,
    ways: &KnownWays,
) -> String {
    let mut w = Writer::new(program, declarations, SiteId::new(0));
    w.host = Some(layout);
    let (frame_arrays, functions) = Default::default();
    let mut host = Host { w, layout, frames, frame_arrays, numbers, ways, functions, count: 0 };
    if !numbers {
        host.function("int accel_run", |h| h.block(body));
        return host.functions;
    }
    host.function("static int program", |h| h.block(body));
    host.call();
    host.functions
}

impl Host<'_> {
    pub fn block(&mut self, b: &Block) {
        b.unused.iter().for_each(|a| self.drop_array(*a));
        if b.length <= HOST_FUNCTION {
            return deep(|| self.steps(&b.steps));
        }
        for steps in b.steps.chunks(HOST_FUNCTION) {
            let name = format!("block_{}", self.count);
            self.count += 1;
            deep(|| self.function(&format!("COLD int {name}"), |h| h.steps(steps)));
            self.w.line(format!("if ({name}(r)) return 1;"));
        }
    }

    /// Executes statements one after the other, those of frames together.
    fn steps(&mut self, steps: &[Step]) {
        for steps in steps.chunk_by(|a, b| a.frame.is_some() && a.frame == b.frame) {
            match steps {
                [s] if s.frame.is_none() => self.step(s),
                _ => self.frame(steps),
            }
        }
    }

    fn step(&mut self, s: &Step) {
        self.w.site = s.stmt.site;
        self.w.open("");
        let inline = is_inline(&s.stmt.op, self.numbers);
        if !matches!(&s.stmt.op, Op::Loop { body, .. } if inline && body.is_branch_free()) {
            self.w.line(format!("r->site = {};", s.stmt.site));
        }
        match &s.stmt.op {
            Op::Literal { to, literal } => self.literal(*to, *literal),
            Op::Loop { to, body, .. } if inline => self.scalars(to, body),
            Op::Loop { to, extents, body } => self.loop_(s, to, extents, body),
            Op::Accumulate { to, sums, extents, .. } => self.accumulate(s, to, sums, extents),
            Op::Reduce { to, extents, rows } => self.reduce(s, *to, extents, rows),
            Op::Scan { to, extents, down, rows, .. } => self.scan(s, *to, *down, extents, rows),
            Op::Permute { to, defaults, extents, .. } => self.permute(s, *to, *defaults, extents),
            Op::Argsort { to, keys, moved } => self.argsort(to, *keys, moved),
            Op::Foreign { to, extents, .. } => self.foreign(to, extents),
            Op::Reshape { to, from, extents } => self.reshape(*to, *from, extents),
            Op::Agree { agreement, left, right } => self.agree(*agreement, left, right),
            Op::If { to, cond, then, otherwise } => self.if_(s, to, cond, [&then.1, &otherwise.1]),
            Op::While { to, init, trips, row, body } => self.while_(s, to, init, trips, *row, &body.1),
            Op::Keep { tape, arrays } => self.keep(*tape, arrays),
            Op::Recall { to, tape, at, step } => self.recall(s, to, *tape, at, &step.1),
            Op::Strip { to, len, body } => self.strip(s, to, len, body),
        }
        s.last_uses.iter().for_each(|a| self.drop_array(*a));
        self.w.close();
    }

    /// Literals are in the tables from the start. The run also holds a reference to their blocks.
    pub fn literal(&mut self, to: ArrayId, literal: usize) {
        let extents = &self.w.program.literals[literal].extents;
        let rank = extents.len();
        if checked_size(extents).is_none() {
            self.w.line(format!("return bad(r, MEMORY, {}, {rank});", self.extents_at(to)));
        }
        if rank > 0 {
            self.columns(to).for_each(|c| self.w.line(format!("r->blocks[{c}]->count++;")));
        }
    }

    /// A loop of rank 0.
    fn scalars(&mut self, to: &[ArrayId], body: &ScalarFn) {
        let results: Vec<_> = to.iter().flat_map(|a| self.cells(*a)).collect();
        self.values(body, &results);
    }

    fn loop_(&mut self, s: &Step, to: &[ArrayId], extents: &ScalarFn, body: &ScalarFn) {
        let rank = self.extents("e", extents);
        self.size("n", "e", rank);
        self.outputs(to, &s.in_place, "e", rank);
        // Only the extents of arrays without columns are used.
        if body.results.is_empty() {
            return;
        }
        // If another array took over the memory of an array, the latter has no block any more.
        let kept: Vec<_> =
            s.in_place.iter().flatten().map(|(a, c)| format!("r->blocks[{}]", self.layout.columns[*a] + c)).collect();
        let columns = to.iter().flat_map(|a| &self.w.program.arrays[*a].columns);
        let mut width = columns.map(|t| bytes(*t)).sum::<u32>().to_string();
        if !kept.is_empty() {
            width = format!("{} ? {width} : 0", kept.join(" && "));
        }
        self.merge_dimensions(body, rank);
        self.w.line(format!("if (positions(r, loop_{}, {width}, n, {}, e)) return 1;", s.number, body.cost()));
    }

    fn reduce(&mut self, s: &Step, to: ArrayId, extents: &ScalarFn, rows: &Reduction) {
        let rank = self.checked_rows(extents, rows);
        self.outputs(&[to], &[], "e", rank);
        // Tiles have several rows.
        if !Tiled::applies(self.w.program, to, rows) {
            self.merge_dimensions(&rows.element, rank);
        }
        self.all_rows("reduce", to, s, &format!("fold_{}", s.number), &["rows", "part", "join"], rows);
    }

    /// Merges dimensions of the space that a function is executed for: NOTE [Merged dimensions].
    fn merge_dimensions(&mut self, code: &ScalarFn, rank: usize) {
        for (d, same) in merged_dimensions(code, rank) {
            let next = d + 1;
            let same: Vec<_> =
                same.iter().map(|(a, dim)| format!("({})[{dim}] == e[{next}]", self.extents_at(*a))).collect();
            let head = if same.is_empty() { String::new() } else { format!("if ({}) ", same.join(" && ")) };
            self.w.line(format!("{head}e[{next}] *= e[{d}], e[{d}] = 1;"));
        }
    }

    fn scan(&mut self, s: &Step, to: ArrayId, down: bool, extents: &ScalarFn, rows: &Reduction) {
        let rank = self.rows(extents, rows);
        let outer: Vec<_> = (0..rank).map(|k| format!("e[{k}]")).collect();
        let all = scan_extents(&outer, format!("len[0] + {}", rows.init.is_some() as u8), down);
        self.w.open("");
        self.w.line(format!("const i64 all[] = {{ {} }};", all.join(", ")));
        // With the initial value, a row can be too long.
        self.w.line(format!("const i64 n = checked_size(r, all, {});", all.len()));
        self.w.line("if (n < 0) return 1;");
        self.outputs(&[to], &[], "all", all.len());
        self.w.close();
        self.all_rows("scan", to, s, &format!("scan_{}", s.number), &["rows", "part", "carry", "write"], rows);
    }

    fn all_rows(&mut self, callback: &str, to: ArrayId, s: &Step, name: &str, functions: &[&str], rows: &Reduction) {
        let (cost, ways) = (rows.cost(), known_ways(self.ways, to));
        let function = |role: &&str| if ways.has_function(role) { format!("{name}_{role}") } else { "no_way".into() };
        let functions: Vec<_> = functions.iter().map(function).collect();
        self.w.line(format!("static function *const f[] = {{ {} }};", functions.join(", ")));
        let has_all = has_all(self.w.program, &s.stmt.op) || !ways.has(Way::Large);
        let all = if has_all { function(&"all") } else { "0".into() };
        self.w.line(format!("if (all_rows(r, r->calls->{callback}, {to}, {all}, f, n, len[0], {cost}, e)) return 1;"));
    }

    /// A sum takes over the memory of its initial value if nobody else has it, or gets a copy of it.
    fn accumulate(&mut self, s: &Step, to: &[ArrayId], sums: &[(ArrayId, ArrayId)], extents: &ScalarFn) {
        let rank = self.extents("e", extents);
        self.size("n", "e", rank);
        self.outputs(to, &s.in_place, "e", rank);
        let overwritten = s.overwritten();
        for (sum, initial) in sums {
            self.w.open("");
            self.copy_of(*sum, *initial, overwritten.contains(initial));
            self.w.close();
        }
        self.w.line("const task t = { 0, n, 0, 0, 0, e, 0 };");
        self.w.line(format!("if (accumulate_{}_all(r->arrays, &t, fault)) return 1;", s.number));
    }

    /// Makes a copy of an array. With `last`, this is the last use of the array, and the copy takes over its memory if
    /// nobody else has it.
    fn copy_of(&mut self, to: ArrayId, from: ArrayId, last: bool) {
        let (target, at) = (self.extents_of(from), self.extents_at(to));
        self.set_extents(to, &target);
        self.w.line(format!("const i64 m = size({at}, {});", target.len()));
        for (c, d, t) in self.pairs(to, from) {
            if target.is_empty() {
                self.copy(c, d, t);
            } else {
                let (bytes, rank) = (bytes(t), target.len());
                self.w.line(format!("if (from(r, {c}, m, {bytes}, {at}, {rank}, {d}, {})) return 1;", last as u8));
            }
        }
    }

    /// The output takes over the memory of the defaults if nobody else has it, or gets a copy of them.
    fn permute(&mut self, s: &Step, to: ArrayId, defaults: ArrayId, extents: &ScalarFn) {
        let rank = self.extents("e", extents);
        self.size("n", "e", rank);
        self.copy_of(to, defaults, s.overwritten().contains(&defaults));
        self.w.line("const task t = { 0, n, 0, 0, 0, e, 0 };");
        let name = format!("permute_{}", s.number);
        let one = format!("{name}(r->arrays, &t, fault)");
        if !has_all(self.w.program, &s.stmt.op) {
            return self.w.line(format!("if ({one}) return 1;"));
        }
        self.w.line(format!("const int all = {name}_all(r->arrays, &t, fault);"));
        self.w.line(format!("if (all > 0 || (all < 0 && {one})) return 1;"));
    }

    fn argsort(&mut self, to: &[ArrayId], keys: ArrayId, moved: &[Option<ArrayId>]) {
        let rank = self.w.program.arrays[keys].rank;
        let at = self.extents_at(keys);
        self.w.line(format!("const i64 *const e = {at};"));
        self.w.line(format!("const i64 n = size(e, {rank});"));
        self.outputs(to, &[], "e", rank);
        let pair = |(to, from): (&ArrayId, &Option<ArrayId>)| match from {
            Some(from) => format!("{{ {to}, {from} }}"),
            None => format!("{{ {to}, -1 }}"),
        };
        let pairs: Vec<_> = to.iter().zip(moved).map(pair).collect();
        self.w.line(format!("static const i64 moved[][2] = {{ {} }};", pairs.join(", ")));
        self.w.line(format!("if (r->calls->argsort(r, {keys}, moved, {})) return 1;", pairs.len()));
    }

    /// The backend knows the function and the arguments by the first result.
    fn foreign(&mut self, to: &[ArrayId], extents: &ScalarFn) {
        let count = extents.results.len();
        self.w.line(format!("i64 all[{}];", count.max(1)));
        self.values(extents, &(0..count).map(|k| format!("all[{k}]")).collect::<Vec<_>>());
        let mut first = 0;
        for a in to {
            let rank = self.w.program.arrays[*a].rank;
            self.w.open("");
            self.w.line(format!("const i64 *const e = all + {first};"));
            if rank > 0 {
                self.w.line(format!("if (wrong(r, e, {rank})) return 1;"));
            }
            self.size("n", "e", rank);
            self.outputs(&[*a], &[], "e", rank);
            self.w.close();
            first += rank;
        }
        self.w.line(format!("if (r->calls->foreign(r, {})) return 1;", to[0]));
    }

    /// The elements are shared, not copied.
    fn reshape(&mut self, to: ArrayId, from: ArrayId, extents: &ScalarFn) {
        let rank = self.extents("e", extents);
        self.size("n", "e", rank);
        self.set_extents(to, &(0..rank).map(|k| format!("e[{k}]")).collect::<Vec<_>>());
        let old = self.w.program.arrays[from].rank;
        let changed = format!("n != size({}, {old})", self.extents_at(from));
        self.w.fault(&changed, fault::RESHAPE, self.w.site, to.index(), &[from.to_string()]);
        for (c, f, t) in self.pairs(to, from) {
            if old > 0 && rank > 0 {
                self.w.line(format!("share(r, {c}, {f});"));
                continue;
            }
            if rank > 0 {
                self.make(c, "1", t, "e", rank);
            }
            self.copy(c, f, t);
        }
    }

    pub fn agree(&mut self, agreement: Agreement, left: &ScalarFn, right: &ScalarFn) {
        let ranks = [left, right].map(|code| code.results.len());
        let mut record: Vec<String> = ranks.iter().map(usize::to_string).collect();
        for ((name, code), rank) in [("s", left), ("t", right)].into_iter().zip(ranks) {
            let extents: Vec<_> = (0..rank).map(|k| format!("{name}[{k}]")).collect();
            self.w.line(format!("i64 {name}[{}];", rank.max(1)));
            self.values(code, &extents);
            record.extend(extents);
        }
        let differ: Vec<_> = match agreement {
            Agreement::Extents => vec![format!("size(s, {}) < 0", ranks[0])],
            Agreement::Size => {
                let [new, old] = [("s", ranks[0]), ("t", ranks[1])].map(|(e, n)| format!("size({e}, {n})"));
                vec![format!("{new} < 0"), format!("{new} != {old}")]
            }
            Agreement::Inside => (0..ranks[0]).map(|k| format!("s[{k}] < 0 || s[{k}] >= t[{k}]")).collect(),
            Agreement::Nonempty => {
                let outer = (0..ranks[0] - 1).map(|k| format!(" && s[{k}] > 0"));
                vec![format!("(s[{}] == 0{})", ranks[0] - 1, outer.collect::<String>())]
            }
            _ => {
                let pairs = agreement.pairs(ranks[0], ranks[1]).unwrap_or_default();
                pairs.iter().map(|(i, j)| format!("s[{i}] != t[{j}]")).collect()
            }
        };
        if !differ.is_empty() {
            self.w.fault(&differ.join(" || "), fault::AGREE, self.w.site, fault::agreement_number(agreement), &record);
        }
    }

    fn if_(&mut self, s: &Step, to: &[ArrayId], cond: &ScalarFn, results: [&[ArrayId]; 2]) {
        self.w.line("bool chosen;");
        self.values(cond, &["chosen".into()]);
        for ((head, b), results) in ["if (chosen)", "else"].into_iter().zip(&s.blocks).zip(results) {
            self.w.open(head);
            self.block(b);
            self.take(to, results, |a| b.owned_results.contains(&a));
            self.w.close();
        }
    }

    fn while_(
        &mut self,
        s: &Step,
        to: &[ArrayId],
        init: &[ArrayId],
        trips: &Trips,
        row: Option<ArrayId>,
        next: &[ArrayId],
    ) {
        let (state, lists) = to.split_at(init.len());
        self.take(state, init, |a| s.moved.contains(&a));
        self.empty_lists(lists);
        let steps = trips.number().map(|n| self.cells(n).concat()).unwrap_or_default();
        let k = self.open_loop(trips, row, |_| steps);
        let (cond, body) = match &s.blocks[..] {
            [body] => (None, body),
            [cond, body, ..] => (Some(cond), body),
            [] => unreachable!("a loop has a body"),
        };
        if let (Some(cond), Trips::While(_, continues)) = (cond, trips) {
            self.block(cond);
            self.w.line(format!("if (!{}) break;", self.cells(*continues).concat()));
        }
        if let Some(row) = row {
            self.w.line(format!("{} = {k};", self.cells(row).concat()));
        }
        self.block(body);
        let (next, rows) = next.split_at(state.len());
        self.append(s.stmt.site, lists, rows, trips);
        let unused: BTreeSet<_> = rows.iter().filter(|a| !next.contains(a)).copied().collect();
        unused.intersection(&body.owned_results).for_each(|a| self.drop_array(*a));
        self.take(state, next, |a| body.owned_results.contains(&a));
        self.w.close();
    }

    /// Opens the loop of a statement. `number` reads its number of steps. Returns the row of the step `k`.
    pub fn open_loop(
        &mut self,
        trips: &Trips,
        row: Option<ArrayId>,
        number: impl FnOnce(ArrayId) -> String,
    ) -> &'static str {
        let (head, k) = match trips {
            Trips::Times(n, dir) => {
                self.w.line(format!("const i64 steps = {};", number(*n)));
                ("for (i64 k = 0; k < steps; k++)", if *dir == Dir::Left { "k" } else { "steps - 1 - k" })
            }
            Trips::While(..) if row.is_some() => ("for (i64 k = 0;; k++)", "k"),
            Trips::While(..) => ("for (;;)", "k"),
        };
        self.w.open(head);
        k
    }

    /// Declares the number of rows of some lists, and the number for which they have memory; makes the lists empty.
    pub fn empty_lists(&mut self, lists: &[ArrayId]) {
        if lists.is_empty() {
            return;
        }
        self.w.line("i64 rows = 0, room = 0;");
        for a in lists {
            let (extents, at) = (self.extents_of(*a), self.extents_at(*a));
            self.set_extents(*a, &vec!["0".to_string(); extents.len()]);
            self.pairs(*a, *a).into_iter().for_each(|(c, _, t)| self.make(c, "0", t, &at, extents.len()));
        }
    }

    /// Adds a row to each list. Without the last rows, lists from the right lie at the end of their memory.
    fn append(&mut self, site: SiteId, lists: &[ArrayId], rows: &[ArrayId], trips: &Trips) {
        if lists.is_empty() {
            return;
        }
        self.w.line(format!("r->site = {site};"));
        self.w.line("const bool full = rows == room;");
        let (most, right, at_row) = places_of_rows(trips);
        self.w.line(format!("if (full) room = more_rows(room, {most});"));
        for (list, row) in lists.iter().zip(rows) {
            let (rank, at) = (self.w.program.arrays[*list].rank, self.extents_at(*list));
            let of_row = self.extents_at(*row);
            self.w.open("");
            self.w.line(format!("const i64 n = row_size(r, rows, {at}, {of_row}, {});", rank - 1));
            self.w.line("if (n < 0) return 1;");
            for (c, f, t) in self.pairs(*list, *row) {
                let bytes = bytes(t);
                self.w.line(format!(
                    "if (full && grow(r, {c}, rows, room, n, {bytes}, {at}, {rank}, {right})) return 1;"
                ));
                let place = format!("({t} *)r->columns[{c}] + ({at_row}) * n");
                self.w.line(format!("__builtin_memcpy({place}, r->columns[{f}], n * {bytes});"));
            }
            self.w.line(format!("*({at}) = rows + 1;"));
            self.w.close();
        }
        self.w.line("rows++;");
    }
}

/// The largest number of rows of the lists of a loop, whether they are filled from the right, and the place of the next row. Without the last
/// rows, lists from the right lie at the end of their memory.
pub fn places_of_rows(trips: &Trips) -> (&'static str, u8, &'static str) {
    let most = if trips.number().is_some() { "steps" } else { "MAX_EXTENT + 1" };
    match trips.dir() {
        Dir::Left => (most, 0, "rows"),
        Dir::Right => (most, 1, "room - 1 - rows"),
    }
}
