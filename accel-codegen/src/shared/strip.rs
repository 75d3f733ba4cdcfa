//! Strip-mining: executes a group of statements for 32 positions of their outermost dimension at a time.
//!
//! The working memory of a strip has the position within the strip (the lane) as its innermost dimension. So every
//! inner loop is a loop over lanes, which the compiler turns into vector operations without a remainder. In the last
//! strip of a task, the superfluous lanes repeat its last position; they are not written to arrays and not included in
//! totals.
//!
//! Names in the generated code: `s3_0` is the first column of array 3 in the strip's working memory, `a3_0` in memory,
//! `o3_0` also in memory if the strip writes it, and `t3_0` the task's partial total; `i1`, `i2`, … are indices, `l` is
//! the lane, `position[l]` the outermost index.

use super::blocks::loops;
use crate::cost_model::{COPIED_VALUES, LANES, LINE, LONG_ROW, LONGEST_ROW};
use crate::nest::applied::applied;
use crate::nest::edit::Why;
use crate::nest::ir::Nest;
use crate::nest::lower::strip::StripSum;
use crate::nest::strip_sums::{self, Machine};
use crate::nest::verify::verify;
use crate::text::arrays::uses;
use crate::text::names::{elements, index, names, position, position_in_strip};
use crate::text::primitives;
use crate::text::types::{bytes, in_memory, in_staging};
use crate::text::writer::{Lanes, Writer};
use accel_core::repr::{Scalar, ScalarType};
use accel_fusion::kernel::{ArrayId, Block, Instr, Op, Program, Reduction, Reg, ScalarFn, SiteId, walk};
use accel_fusion::optimize::specialized;
use accel_fusion::strip::{Role, roles};
use std::collections::{BTreeMap, BTreeSet};

/// A strip, with the facts that its functions need.
pub struct Strip<'a> {
    program: &'a Program,
    /// The arrays that are used outside.
    pub to: &'a [ArrayId],
    pub body: Vec<Statement<'a>>,
    /// Arrays from outside that are copied to the strip's working memory, since statements read them at its positions.
    staged: BTreeSet<ArrayId>,
    /// The arrays of the row statements.
    pub rows: Vec<ArrayId>,
    /// Whether long rows are executed one position at a time.
    in_rows: bool,
}

/// A sum of floating-point numbers in a strip.
struct Sum {
    nest: Nest,
    /// The type of the numbers.
    t: ScalarType,
    /// Whether it reads numbers of neighbouring positions as vectors from memory. Then all lanes must be positions.
    across: bool,
}

/// The length of the rows of a statement.
enum RowLength<'a> {
    /// Of the rows that it reduces to this array.
    Reduced(ArrayId, &'a ScalarFn),
    /// The second extent of this array.
    Extent(ArrayId),
}

/// The positions for which there is room in a column of the strip's working memory.
enum Positions {
    /// All lanes.
    Lanes,
    /// Those that are executed together.
    Together,
    /// All lanes, and none if rows are long.
    OfShortRows,
}

/// The operations of a strip with their roles and sites.
pub type Statement<'a> = (Role, &'a Op, SiteId);

impl<'a> Strip<'a> {
    /// Prepares the statements of `body`, which the verifier has accepted.
    pub fn new(program: &'a Program, to: &'a [ArrayId], len: &ScalarFn, body: &'a Block) -> Self {
        let roles = roles(to, len, body).unwrap_or_default();
        let body: Vec<_> = roles.into_iter().zip(&body.stmts).map(|(r, s)| (r, &s.op, s.site)).collect();
        let is_row = |(role, ..): &&Statement| *role == Role::Row;
        let rows = body.iter().filter(is_row).flat_map(|(_, op, _)| op.defines()).collect();
        let in_rows = body.iter().all(|(role, op, _)| is_of_rows(program, *role, op));
        let mut strip = Strip { program, to, body, staged: BTreeSet::new(), rows, in_rows };
        let mut staged = BTreeSet::new();
        for (role, op, _) in &strip.body {
            let (code, lane) = elementwise(*role, op);
            copied(&code.instrs, code.params, lane, &mut staged);
        }
        let inside: BTreeSet<_> = strip.body.iter().flat_map(|(_, op, _)| op.defines()).collect();
        staged.retain(|a| !inside.contains(a));
        strip.staged = staged;
        strip
    }

    fn totals(&self) -> impl Iterator<Item = (ArrayId, &'a Reduction, SiteId)> {
        self.body.iter().filter_map(|(role, op, site)| match (role, op) {
            (Role::Total, Op::Reduce { to, rows, .. }) => Some((*to, rows, *site)),
            _ => None,
        })
    }

    /// Whether a total can have many elements.
    pub fn has_large_totals(&self) -> bool {
        self.totals().any(|(a, ..)| self.program.arrays[a].rank > 0)
    }

    pub fn columns(&self, a: ArrayId) -> &'a [ScalarType] {
        &self.program.arrays[a].columns
    }

    /// The arrays whose elements are in the strip's working memory.
    fn held(&self) -> impl Iterator<Item = ArrayId> {
        self.staged.iter().chain(&self.rows).copied()
    }

    /// The rank of an array.
    pub fn rank(&self, a: ArrayId) -> usize {
        self.program.arrays[a].rank
    }

    /// Whether the elements of an array at one position are a vector, not a number.
    pub fn is_vector(&self, a: ArrayId) -> bool {
        self.rank(a) > 1
    }

    /// Declares local names for the extents of all arrays that occur, and for the columns of those from outside if
    /// `columns`.
    fn names(&self, w: &mut Writer, columns: bool) {
        let mut used = BTreeMap::new();
        for (_, op, _) in &self.body {
            // Arrays of the body are defined before the statements that read them.
            op.scalar_fns().iter().for_each(|(_, c)| uses(&c.instrs, &mut used));
            used.extend(op.defines().iter().map(|a| (*a, BTreeSet::new())));
        }
        let inside: BTreeSet<_> = self.body.iter().flat_map(|(_, op, _)| op.defines()).collect();
        for (array, read) in used {
            w.hoist_extents(array);
            for c in read.into_iter().filter(|_| columns && !inside.contains(&array)) {
                w.hoist_column(array, c, "const ");
            }
        }
    }

    /// The number of elements of an array at one position.
    pub fn inner_size(&self, a: ArrayId) -> String {
        product((1..self.program.arrays[a].rank).map(|d| format!("a{a}_n{d}")))
    }

    /// Whether a position has only numbers in working memory: then long rows are executed in groups. NOTE [Strips of long rows].
    pub fn in_groups(&self) -> bool {
        self.in_rows && !self.rows.iter().any(|a| self.is_vector(*a))
    }

    /// The lengths of rows, if long ones are executed one position at a time.
    fn row_lengths(&self) -> Vec<RowLength<'a>> {
        let length = |(role, op, _): &Statement<'a>| match op {
            Op::Reduce { to, rows, .. } => (*role == Role::Row).then_some(RowLength::Reduced(*to, &rows.len)),
            op => op.defines().first().filter(|a| self.is_vector(**a)).map(|a| RowLength::Extent(*a)),
        };
        self.body.iter().filter(|_| self.in_rows).filter_map(length).collect()
    }

    /// The condition that the strip has rows of at least this length, if long rows are executed one position at a time.
    pub fn rows_of(&self, least: usize) -> Option<String> {
        let name = |length: &RowLength| match length {
            RowLength::Reduced(to, _) => format!("m{to} >= {least}"),
            RowLength::Extent(a) => format!("a{a}_n1 >= {least}"),
        };
        let lengths: Vec<_> = self.row_lengths().iter().map(name).collect();
        (!lengths.is_empty()).then(|| lengths.join(" || "))
    }

    /// From this length on, rows are executed one position at a time.
    fn long_alone(&self) -> usize {
        if self.in_groups() { LONGEST_ROW } else { LONG_ROW }
    }

    /// Declares the lengths of rows, and `lanes`, the number of positions that are executed together.
    fn lengths(&self, w: &mut Writer) {
        for (role, op, site) in &self.body {
            if let Op::Reduce { to, rows, .. } = op {
                w.site = *site;
                self.length(w, *to, *role, rows);
            }
        }
        let alone = self.rows_of(self.long_alone());
        let lanes = alone.map_or(LANES.to_string(), |alone| format!("{alone} ? 1 : {LANES}"));
        w.line(format!("const i64 lanes = {lanes};"));
    }

    /// The type of a column in the strip's working memory.
    fn in_scratch(&self, a: ArrayId, t: ScalarType) -> ScalarType {
        if self.staged.contains(&a) { in_staging(t) } else { in_memory(t) }
    }

    /// The positions for which there is room in a column of the strip's working memory.
    fn positions_of(&self, a: ArrayId) -> Positions {
        match self.in_groups() && !self.row_lengths().is_empty() {
            true if self.staged.contains(&a) => Positions::OfShortRows,
            true => Positions::Lanes,
            false => Positions::Together,
        }
    }

    /// The size of a column in the strip's working memory, in bytes.
    fn room(&self, a: ArrayId, t: ScalarType) -> String {
        let positions = match self.positions_of(a) {
            Positions::Lanes => LANES.to_string(),
            Positions::Together => "lanes".into(),
            Positions::OfShortRows => format!("({} ? 0 : {LANES})", self.rows_of(LONG_ROW).unwrap_or_default()),
        };
        format!("room(times({}, {positions} * sizeof({})))", self.inner_size(a), self.in_scratch(a, t))
    }

    /// The size of the strip's working memory, in bytes, as [`sizes`](Self::sizes) computes it. `None` if extents, or a length of rows that
    /// are reduced, are not known.
    pub fn memory<'e>(
        &self,
        extents: impl Fn(ArrayId) -> Option<&'e [usize]>,
        reduced: impl Fn(&ScalarFn) -> Option<usize>,
    ) -> Option<usize> {
        let mut longest = 0;
        for length in self.row_lengths() {
            longest = longest.max(match length {
                RowLength::Reduced(_, len) => reduced(len)?,
                RowLength::Extent(a) => *extents(a)?.get(1)?,
            });
        }
        let mut all = 0usize;
        for a in self.held() {
            let positions = match self.positions_of(a) {
                Positions::OfShortRows if longest >= LONG_ROW => 0,
                Positions::Together if longest >= self.long_alone() => 1,
                _ => LANES,
            };
            let elements = extents(a)?.iter().skip(1).fold(positions, |n, extent| n.saturating_mul(*extent));
            for t in self.columns(a) {
                let size = elements.saturating_mul(bytes(self.in_scratch(a, *t)) as usize);
                all = all.saturating_add(size.checked_next_multiple_of(LINE).unwrap_or(size));
            }
        }
        Some(all)
    }

    /// The size of a column of a total, in bytes.
    fn total_room(&self, a: ArrayId, t: ScalarType) -> String {
        let size = product((0..self.program.arrays[a].rank).map(|d| format!("a{a}_n{d}")));
        format!("room(times({size}, sizeof({t})))")
    }

    /// Writes to `state[0]` what a task needs: the size of its working memory, the size of its partial totals (both in
    /// bytes), the approximate number of operations of a position, and the number of positions that are executed together.
    pub fn sizes(&self, w: &mut Writer) {
        arithmetic(w);
        self.names(w, true);
        self.lengths(w);
        w.line("i64 scratch = 0, partial = 0, cost = 0;");
        for a in self.held() {
            for t in self.columns(a) {
                w.line(format!("scratch = plus(scratch, {});", self.room(a, *t)));
            }
        }
        for (a, ..) in self.totals() {
            for t in self.columns(a) {
                w.line(format!("partial = plus(partial, {});", self.total_room(a, *t)));
            }
        }
        for (role, op, _) in &self.body {
            let a = op.defines()[0];
            let size = match role {
                Role::Row => self.inner_size(a),
                Role::Total => product((0..self.program.arrays[a].rank).map(|d| format!("a{a}_n{d}"))),
            };
            match op {
                Op::Reduce { rows, .. } => {
                    let each = rows.cost();
                    let length = if *role == Role::Row { format!("m{a}") } else { "1".into() };
                    w.line(format!("cost = plus(cost, times({size}, times({length}, {each})));"));
                }
                _ => {
                    let (code, _) = elementwise(*role, op);
                    w.line(format!("cost = plus(cost, times({size}, {}));", code.cost()));
                }
            }
        }
        w.line("i64 *const out = task->state[0];");
        w.line("out[0] = scratch; out[1] = partial; out[2] = cost; out[3] = lanes;");
    }

    /// The length of the rows that a row statement reduces.
    fn length(&self, w: &mut Writer, a: ArrayId, role: Role, rows: &Reduction) {
        if role == Role::Row {
            w.line(format!("i64 m{a};"));
            w.code(&rows.len, &[], &[format!("m{a}")]);
        }
    }

    /// Declares the names that the statements use. `state` is working memory and memory for partial totals, both aligned to
    /// 64 bytes.
    pub fn prepare(&self, w: &mut Writer) {
        arithmetic(w);
        self.names(w, true);
        self.lengths(w);
        w.line("char *scratch = task->state[0], *partial = task->state[1];");
        for a in self.held() {
            for (c, t) in self.columns(a).iter().enumerate() {
                let (held, room) = (self.in_scratch(a, *t), self.room(a, *t));
                w.line(format!("{held} *restrict const s{a}_{c} = (void *)scratch; scratch += {room};"));
            }
        }
        for a in self.rows.iter().filter(|a| self.to.contains(a)) {
            for (c, t) in self.columns(*a).iter().enumerate() {
                let column = w.column(*a, c, "");
                w.line(format!("{} *restrict const o{a}_{c} = {column};", in_memory(*t)));
            }
        }
        for (a, rows, _) in self.totals() {
            for (c, t) in self.columns(a).iter().enumerate() {
                let room = self.total_room(a, *t);
                w.line(format!("{t} *restrict const t{a}_{c} = (void *)partial; partial += {room};"));
                if let Some(monoid) = rows.monoid {
                    let (size, zero) = (self.total_size(a), primitives::constant(w.declarations, monoid.neutral(*t)));
                    w.line(format!("for (i64 q = 0, size = {size}; q < size; q++) t{a}_{c}[q] = {zero};"));
                }
            }
        }
        for (role, op, site) in &self.body {
            if let (Role::Row, Op::Reduce { to, rows, .. }) = (role, op) {
                w.site = *site;
                if let Some(init) = &rows.init {
                    let z = names(&format!("z{to}_"), self.columns(*to));
                    w.declare(&z, self.columns(*to));
                    w.code(init, &[], &z);
                }
            }
        }
    }

    /// Executes the positions `from..to` (at least one), `LANES` at a time.
    pub fn in_lanes(&self, w: &mut Writer) {
        self.positions(w, &LANES.to_string(), |w| {
            self.staged.iter().for_each(|a| self.stage(w, *a));
            w.lanes.arrays = self.held().collect();
            w.lanes.staged.clone_from(&self.staged);
            for (role, op, site) in &self.body {
                w.site = *site;
                w.lanes.position = elementwise(*role, op).1;
                self.statement(w, *role, op);
            }
        });
    }

    /// A loop over the positions, this number of them at a time.
    pub fn positions(&self, w: &mut Writer, step: &str, body: impl FnOnce(&mut Writer)) {
        w.braces(&format!("for (i64 base = task->from; base < task->to; base += {step})"), |w| {
            w.line(format!("const i64 width = task->to - base < {step} ? task->to - base : {step};"));
            w.line(format!("i64 position[{LANES}];"));
            w.line(format!("{} position[l] = base + (l < width ? l : width - 1);", w.lane()));
            body(w);
            w.lanes = Lanes::default();
        });
    }

    fn total_size(&self, a: ArrayId) -> String {
        product((0..self.program.arrays[a].rank).map(|d| format!("a{a}_n{d}")))
    }

    /// Copies the elements of an array from outside to the strip's working memory. Statements may read less: the array
    /// may have fewer positions.
    fn stage(&self, w: &mut Writer, a: ArrayId) {
        let copy = |from: &str, at: &str| -> String {
            let one = |c| format!("s{a}_{c}[{at}] = a{a}_{c}[{from}];");
            (0..self.columns(a).len()).map(one).collect::<Vec<_>>().join(" ")
        };
        let lane = w.lane();
        if self.program.arrays[a].rank == 1 {
            w.line(format!("if (base + {LANES} <= a{a}_n0) {{ {lane} {{ {} }} }}", copy("base + l", "l")));
            w.line(format!("else if (a{a}_n0 > 0) {lane} {{"));
            w.line(format!("    const i64 p = position[l] < a{a}_n0 ? position[l] : a{a}_n0 - 1;"));
            w.line(format!("    {}", copy("p", "l")));
            return w.line("}");
        }
        w.braces(&format!("if (a{a}_n0 > 0)"), |w| {
            w.line(format!("const i64 size = {};", self.inner_size(a)));
            w.line(format!("i64 first[{LANES}];"));
            w.line(format!("{lane} first[l] = (position[l] < a{a}_n0 ? position[l] : a{a}_n0 - 1) * size;"));
            // The loop over positions is innermost: writes are adjacent, and what is read stays in the cache until it
            // was used completely.
            w.braces("for (i64 q = 0; q < size; q++)", |w| {
                w.line(format!("{lane} {{ {} }}", copy("first[l] + q", &format!("q * {LANES} + l"))));
            });
        });
    }

    pub fn statement(&self, w: &mut Writer, role: Role, op: &Op) {
        match (role, op) {
            (Role::Row, Op::Loop { to, extents, body }) if self.by_value(w, to, extents, body) => {
                to.iter().for_each(|a| self.store(w, *a));
            }
            (Role::Row, Op::Loop { to, body, .. }) => {
                self.inner_indices(w, to[0], |w, ix| {
                    let q = position_in_strip(to[0], ix);
                    w.line(format!("const i64 q = ({q}) * {LANES};"));
                    let out: Vec<_> = to.iter().flat_map(|a| in_strip(*a, self.columns(*a).len(), "q + l")).collect();
                    w.all_lanes(body, ix, &out);
                });
                to.iter().for_each(|a| self.store(w, *a));
            }
            (Role::Row, Op::Reduce { to, rows, .. }) => {
                let fold = |w: &mut Writer| self.inner_indices(w, *to, |w, ix| self.fold(w, *to, rows, ix));
                match self.nest(w, *to, rows, Reg::new(0), strip_sums::rows) {
                    Some(sum) if sum.across => {
                        w.braces(&format!("if (width == {LANES})"), |w| w.loop_nest(&sum.nest, sum.t));
                        w.braces("else", fold);
                    }
                    Some(sum) => w.loop_nest(&sum.nest, sum.t),
                    None => fold(w),
                }
                self.store(w, *to);
            }
            (Role::Total, Op::Reduce { to, rows, .. }) => {
                let rank = self.program.arrays[*to].rank;
                // The schedule is for several results.
                let several = rank > 0;
                match several.then(|| self.nest(w, *to, rows, Reg::new(rank), strip_sums::total)).flatten() {
                    Some(sum) => {
                        w.braces("", |w| {
                            w.line(format!("const int full = width & -{};", w.declarations.vectors.lanes(sum.t)));
                            w.loop_nest(&sum.nest, sum.t);
                            w.braces("if (full < width)", |w| self.total(w, *to, rows, "l >= full && l < width"));
                        });
                    }
                    None => self.total(w, *to, rows, "l < width"),
                }
            }
            _ => {}
        }
    }

    /// The nest of a sum of floating-point numbers. `position` is the parameter of the element with the position.
    fn nest(
        &self,
        w: &Writer,
        to: ArrayId,
        rows: &Reduction,
        position: Reg,
        schedule: fn(&StripSum, Machine) -> Result<Nest, Why>,
    ) -> Option<Sum> {
        let sum = StripSum::new(self.program, to, rows, position, &w.lanes.arrays, LANES)?;
        let nest = schedule(&sum, Machine::new(w.declarations.vectors, sum.t));
        let nest = applied("sums in strips", nest.and_then(|nest| verify(&nest).map_err(Why).map(|()| nest)))?;
        Some(Sum { nest, t: sum.t, across: sum.reads_across() })
    }

    /// A loop over positions and an index of few values on which conditions depend, such as the column of a row: each
    /// value gets a copy of the code, without the conditions. Returns whether this was possible and worthwhile.
    fn by_value(&self, w: &mut Writer, to: &[ArrayId], extents: &ScalarFn, body: &ScalarFn) -> bool {
        let decides = |i: &Instr| matches!(i, Instr::If { .. });
        let constant = |r: &Reg| {
            extents.instrs.iter().find_map(|i| match i {
                Instr::Const(to, Scalar::I64(n)) if to == r => usize::try_from(*n).ok(),
                _ => None,
            })
        };
        let Some(n) = extents.results.get(1).and_then(constant).filter(|n| *n <= COPIED_VALUES) else { return false };
        if extents.results.len() != 2 || !body.instrs.iter().any(decides) {
            return false;
        }
        let codes: Vec<ScalarFn> = (0..n).map(|k| specialized(self.program, body, 1, k as i64)).collect();
        if codes.iter().any(|c| c.instrs.iter().any(decides)) {
            return false;
        }
        for (k, code) in codes.iter().enumerate() {
            let ix = ["position[l]".to_string(), k.to_string()];
            let at = format!("{} + l", k * LANES);
            let out: Vec<_> = to.iter().flat_map(|a| in_strip(*a, self.columns(*a).len(), &at)).collect();
            w.each_lane(code, &ix, &out);
        }
        true
    }

    /// Executes `body` for all inner indices of an array, given the index of an element of the strip.
    fn inner_indices(&self, w: &mut Writer, a: ArrayId, body: impl FnOnce(&mut Writer, &[String])) {
        let mut ix = index(self.program.arrays[a].rank);
        ix[0] = "position[l]".into();
        loops(w, a, 1, ix.len(), |w| body(w, &ix));
    }

    /// Reduces a row for every lane.
    fn fold(&self, w: &mut Writer, to: ArrayId, rows: &Reduction, ix: &[String]) {
        let types = self.columns(to);
        let element = |k: &str| [ix, &[k.to_string()]].concat();
        let lane = w.fold_lanes(types, rows, element, &names(&format!("z{to}_"), types), &format!("m{to}"));
        w.line(format!("const i64 q = ({}) * {LANES};", position_in_strip(to, ix)));
        w.braces(w.lane(), |w| w.assign(&in_strip(to, types.len(), "q + l"), &lane));
    }

    /// Combines the elements of the strip with the task's partial total. If the operator is a recognised monoid, only
    /// the lanes that are `counted` take part.
    fn total(&self, w: &mut Writer, to: ArrayId, rows: &Reduction, counted: &str) {
        let types = self.columns(to);
        let rank = self.program.arrays[to].rank;
        let ix = index(rank);
        let element = [&ix[..], &["position[l]".to_string()]].concat();
        loops(w, to, 0, rank, |w| {
            w.line(format!("const i64 q = {};", position(to, &ix)));
            let (y, x) = (names("y", types), names("x", types));
            let partial: Vec<_> = (0..types.len()).map(|c| format!("t{to}_{c}[q]")).collect();
            match (rows.monoid, types) {
                (Some(monoid), [t]) => {
                    let combine = |w: &mut Writer, a: &str, b: &str| {
                        let value = primitives::op2(w.declarations, monoid.operator(), *t, a, b);
                        w.line(format!("{a} = {value};"));
                    };
                    w.line(format!("{t} y[{LANES}];"));
                    w.elements_of_lanes(rows, &element, |w| {
                        let zero = primitives::constant(w.declarations, monoid.neutral(*t));
                        w.line(format!("y[l] = {counted} ? x0 : {zero};"));
                    });
                    let mut half = LANES / 2;
                    while half > 0 {
                        w.braces(&format!("for (int l = 0; l < {half}; l++)"), |w| {
                            combine(w, "y[l]", &format!("y[l + {half}]"))
                        });
                        half /= 2;
                    }
                    combine(w, &partial[0], "y[0]");
                }
                _ => {
                    w.declare(&y, types);
                    w.line("int l = 0;");
                    w.braces("if (base == task->from)", |w| {
                        w.code(&rows.element, &element, &y);
                        w.line("l++;");
                    });
                    w.braces("else", |w| w.assign(&y, &partial));
                    w.braces("for (; l < width; l++)", |w| {
                        w.declare(&x, types);
                        w.code(&rows.element, &element, &x);
                        w.code(&rows.op, &[y.clone(), x.clone()].concat(), &y);
                    });
                    w.assign(&partial, &y);
                }
            }
        });
    }

    /// Writes an array of the strip to memory, if it is used outside.
    pub fn store(&self, w: &mut Writer, a: ArrayId) {
        if !self.to.contains(&a) {
            return;
        }
        let one = |c| format!("o{a}_{c}[(base + l) * size + q] = s{a}_{c}[q * {LANES} + l];");
        let all = (0..self.columns(a).len()).map(one).collect::<Vec<_>>().join(" ");
        w.braces("", |w| {
            w.line(format!("const i64 size = {};", self.inner_size(a)));
            w.line(format!("for (i64 l = 0; l < width; l++) for (i64 q = 0; q < size; q++) {{ {all} }}"));
        });
    }

    /// Combines the partial totals of the first `to` tasks, which are `len` bytes apart in the state of the task.
    pub fn join(&self, w: &mut Writer) {
        arithmetic(w);
        w.line("const char *partial = task->state[0];");
        for (a, rows, site) in self.totals() {
            w.site = site;
            let types = self.columns(a);
            w.braces("", |w| {
                let z = names("z", types);
                w.initial(&z, types, rows, &[&rows.op]);
                w.hoist_output(a, true);
                for (c, t) in types.iter().enumerate() {
                    w.line(format!(
                        "const {t} *const t{c} = (const void *)partial; partial += {};",
                        self.total_room(a, *t)
                    ));
                }
                let out = elements(a, types.len(), "q");
                let part: Vec<_> = (0..types.len()).map(|c| format!("p{c}[q]")).collect();
                let parts = |w: &mut Writer| {
                    for (c, t) in types.iter().enumerate() {
                        let at = format!("(const void *)((const char *)t{c} + s * task->len)");
                        w.line(format!("const {t} *restrict const p{c} = {at};"));
                    }
                };
                // The loop over elements is innermost, since they do not depend on each other.
                let each = "for (i64 q = 0; q < size; q++)";
                w.line(format!("const i64 size = {};", self.total_size(a)));
                w.line("i64 s = 0;");
                if rows.init.is_some() {
                    w.braces(each, |w| w.assign(&out, &z));
                } else {
                    parts(w);
                    w.braces(each, |w| w.assign(&out, &part));
                    w.line("s++;");
                }
                w.braces("for (; s < task->to; s++)", |w| {
                    parts(w);
                    w.braces(each, |w| w.code(&rows.op, &[out.clone(), part.clone()].concat(), &out));
                });
            });
        }
    }
}

/// Whether a statement of a strip does little work for each number that it reads or writes: no results have numbers in
/// common.
fn is_of_rows(program: &Program, role: Role, op: &Op) -> bool {
    let rank = op.defines().iter().map(|a| program.arrays[*a].rank).max().unwrap_or(0);
    match (role, op) {
        (Role::Row, Op::Loop { .. }) => rank <= 2,
        (Role::Row | Role::Total, Op::Reduce { .. }) => rank <= 1,
        _ => false,
    }
}

/// The scalar function of the elements, and the register with the position.
pub fn elementwise(role: Role, op: &Op) -> (&ScalarFn, Reg) {
    let first = Reg::new(0);
    match op {
        Op::Loop { body, .. } => (body, first),
        Op::Reduce { rows, .. } if role == Role::Row => (&rows.element, first),
        Op::Reduce { extents, rows, .. } => (&rows.element, Reg::new(extents.results.len())),
        // Does not occur in a strip.
        op => (op.scalar_fns()[0].1, first),
    }
}

/// Adds arrays that are read at the position with all their inner indices, as far as this is visible: the other indices
/// are parameters, over which loops run.
fn copied(instrs: &[Instr], params: usize, lane: Reg, found: &mut BTreeSet<ArrayId>) {
    for i in walk(instrs) {
        if let Instr::Read { array, index, .. } = i {
            let unique: BTreeSet<_> = index.iter().collect();
            if index.first() == Some(&lane) && unique.len() == index.len() && index.iter().all(|r| *r < params) {
                found.insert(*array);
            }
        }
    }
}

/// The columns of an array in the working memory, at a position there.
pub fn in_strip(a: ArrayId, columns: usize, position: &str) -> Vec<String> {
    (0..columns).map(|c| format!("s{a}_{c}[{position}]")).collect()
}

/// A product of sizes that saturates.
fn product(factors: impl Iterator<Item = String>) -> String {
    factors.reduce(|a, b| format!("times({a}, {b})")).unwrap_or_else(|| "1".into())
}

/// Declares arithmetic on sizes. It saturates: there is no memory of the largest size.
fn arithmetic(w: &mut Writer) {
    w.declarations.declare_once("sizes", || include_str!("../c/sizes.c").trim_end().into());
}
