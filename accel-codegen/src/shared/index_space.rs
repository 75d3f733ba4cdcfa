//! Loops over index spaces.

use crate::text::writer::Writer;

/// The line before a loop whose iterations do not depend on each other.
pub const INDEPENDENT: &str = "#pragma GCC ivdep";

impl Writer<'_> {
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

    /// Sets the index to that of another position, as [`index_of`](Self::index_of) does at first.
    pub fn set_index(&mut self, rank: usize, p: &str) {
        self.braces("", |w| {
            w.line(format!("i64 rest = {p};"));
            (1..rank).rev().for_each(|k| w.line(format!("i{k} = rest % n{k}, rest /= n{k};")));
            w.line("i0 = rest;");
        });
    }

    /// Goes to the next index. The dimensions from `rank` on do not change.
    pub fn next_index(&mut self, rank: usize) {
        if rank == 0 {
            return;
        }
        let carry = (1..rank).rev().fold(String::new(), |c, k| format!("{c}if (++i{k} == n{k}) {{ i{k} = 0; "));
        self.line(format!("{carry}i0++;{}", " }".repeat(rank - 1)));
    }

    /// Executes `body` for every position `p` from `task->from` to `task->to` and its index.
    pub fn positions(&mut self, rank: usize, body: impl FnOnce(&mut Self)) {
        let say = !self.aliased.is_empty();
        self.all_positions(rank, say, body);
    }

    /// As [`positions`](Self::positions) for a rank of at least 1: `block` is executed for `count` positions from `p` on whose
    /// innermost indices are adjacent, and `one` for each of the others.
    pub fn positions_in_blocks(
        &mut self,
        rank: usize,
        count: usize,
        block: impl FnOnce(&mut Self),
        one: impl FnOnce(&mut Self),
    ) {
        self.first_position();
        self.rest_of_index_space(rank, |w| {
            w.rows_to("to", rank, |w, stop| {
                w.braces(&format!("for (; p + {count} <= {stop}; p += {count})"), |w| w.at_position(rank, block));
                w.row_to(stop, rank, false, one);
            });
        });
    }

    /// As [`positions`](Self::positions), for positions that depend on each other: one after the other.
    pub fn positions_in_order(&mut self, rank: usize, body: impl FnOnce(&mut Self)) {
        self.all_positions(rank, false, body);
    }

    fn all_positions(&mut self, rank: usize, say: bool, body: impl FnOnce(&mut Self)) {
        self.first_position();
        self.rest(rank, say, body);
    }

    /// Declares the task's positions.
    pub fn first_position(&mut self) {
        self.line("const i64 to = task->to;");
        self.line("i64 p = task->from;");
    }

    /// Executes `body` for the positions from `p` to `to`, one after the other.
    pub fn rest_in_order(&mut self, rank: usize, body: impl FnOnce(&mut Self)) {
        self.rest(rank, false, body);
    }

    fn rest(&mut self, rank: usize, say: bool, body: impl FnOnce(&mut Self)) {
        self.rest_of_index_space(rank, |w| w.positions_to("to", rank, say, body));
    }

    /// Executes `all` with the index of position `p`, if there are positions from `p` to `to`.
    pub fn rest_of_index_space(&mut self, rank: usize, all: impl FnOnce(&mut Self)) {
        self.line("if (p >= to) return 0;");
        self.index_of(rank, "p");
        all(self);
    }

    /// Executes `body` for every position from `p`, whose index is known, to `to`. The innermost dimension is an inner
    /// loop. With `say`, a pragma tells the compiler that positions are independent, see NOTE [In-place outputs].
    pub fn positions_to(&mut self, to: &str, rank: usize, say: bool, body: impl FnOnce(&mut Self)) {
        if rank < 2 {
            self.say_independent(say);
            let next = if rank == 0 { "p++" } else { "p++, i0++" };
            return self.braces(&format!("for (; p < {to}; {next})"), body);
        }
        self.rows_to(to, rank, |w, stop| w.row_to(stop, rank, say, body));
    }

    /// Whether an elementwise loop says that its positions are independent, which they are. GCC tests whether any two arrays
    /// overlap, in spite of `restrict`, and uses no vectors if there are more than ten such tests.
    pub fn says_independent(&self) -> bool {
        self.dialect().has_tables() || !self.aliased.is_empty()
    }

    /// Tells the compiler that the positions of the loop that follows are independent, if they are.
    pub fn say_independent(&mut self, say: bool) {
        if say {
            self.line(INDEPENDENT);
        }
    }

    /// Executes `row` for the part of each row from position `p`, whose index is known, to `to`. `row` gets the name of the
    /// position after that part. An index along the last dimension is its position plus `offset`.
    pub fn rows_to(&mut self, to: &str, rank: usize, row: impl FnOnce(&mut Self, &str)) {
        let last = rank - 1;
        if rank == 1 {
            self.line("const i64 offset = i0 - p;");
            return row(self, to);
        }
        self.braces(&format!("while (p < {to})"), |w| {
            w.end_of_row(to, rank);
            row(w, "stop");
            w.line(format!("i{last} = 0;"));
            w.next_index(last);
        });
    }

    /// Executes `body` for the positions of a row from `p` to `stop`.
    pub fn row_to(&mut self, stop: &str, rank: usize, say: bool, body: impl FnOnce(&mut Self)) {
        self.say_independent(say);
        self.braces(&format!("for (; p < {stop}; p++)"), |w| w.at_position(rank, body));
    }

    /// Executes `body` with the index of position `p` along the last dimension.
    fn at_position(&mut self, rank: usize, body: impl FnOnce(&mut Self)) {
        self.line(format!("const i64 i{} = p + offset;", rank - 1));
        body(self);
    }

    /// Declares `stop`, where the row of position `p` or the positions before `to` end, and `offset`.
    pub fn end_of_row(&mut self, to: &str, rank: usize) {
        let last = rank - 1;
        self.line(format!(
            "const i64 offset = i{last} - p, row = p + n{last} - i{last}, stop = row < {to} ? row : {to};"
        ));
    }

    // NOTE [In-place outputs]: an output of a loop can have the memory of an input that is read only at the position
    // that is written. No iteration accesses what another one writes, but within an iteration the order of reads and
    // writes matters. `restrict` would promise too much. Without it, the compiler would check for an overlap, and would
    // not use vectors if there is one. The pragma says exactly what holds.
}
