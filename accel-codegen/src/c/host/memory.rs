//! What statements of the host program have in common: extents, memory, and its owners.

use super::writer::Host;
use crate::analysis::fault;
use crate::text::types::bytes;
use accel_core::repr::{MAX_EXTENT, Scalar, ScalarType};
use accel_fusion::kernel::{ArrayId, Instr, Reduction, Reg, ScalarFn};
use std::collections::BTreeSet;
use std::ops::Range;

impl Host<'_> {
    // ---- scalar functions

    /// Assigns the results of a scalar function without parameters to `to`.
    pub fn values(&mut self, code: &ScalarFn, to: &[String]) {
        self.w.open("");
        self.w.hoist(&[code]);
        self.w.code(code, &[], to);
        self.w.close();
    }

    /// Declares the results of a scalar function as the array `name`, and checks that they are possible extents.
    /// Returns their number.
    pub fn extents(&mut self, name: &str, code: &ScalarFn) -> usize {
        let rank = code.results.len();
        let known: Option<Vec<_>> = code.results.iter().map(|r| self.known(code, *r)).collect();
        match known {
            Some(known) if rank > 0 => self.w.line(format!("i64 {name}[] = {{ {} }};", known.join(", "))),
            _ => {
                self.w.line(format!("i64 {name}[{}];", rank.max(1)));
                if rank > 0 {
                    self.values(code, &(0..rank).map(|k| format!("{name}[{k}]")).collect::<Vec<_>>());
                    self.w.line(format!("if (wrong(r, {name}, {rank})) return 1;"));
                }
            }
        }
        rank
    }

    /// The result of a scalar function as an expression, if it is an extent in every run and the function cannot fail.
    fn known(&self, code: &ScalarFn, result: Reg) -> Option<String> {
        let simple = |i: &Instr| matches!(i, Instr::Const(..) | Instr::Extent(..));
        let instr = code.instrs.iter().find(|i| *i.sets() == [result]).filter(|_| code.instrs.iter().all(simple))?;
        match instr {
            Instr::Const(_, Scalar::I64(x)) if (0..=MAX_EXTENT as i64).contains(x) => Some(x.to_string()),
            Instr::Extent(_, a, dim) => Some(format!("r->extents[{}]", self.layout.extents[*a] + dim)),
            _ => None,
        }
    }

    /// Declares `name` as the size of an array with the extents `e`.
    pub fn size(&mut self, name: &str, e: &str, rank: usize) {
        match rank {
            0 => self.w.line(format!("const i64 {name} = 1;")),
            1 => self.w.line(format!("const i64 {name} = {e}[0];")),
            _ => {
                self.w.line(format!("const i64 {name} = checked_size(r, {e}, {rank});"));
                self.w.line(format!("if ({name} < 0) return 1;"));
            }
        }
    }

    /// Declares the outer extents `e`, their size `n`, and the length `len[0]` of rows. Returns the number of outer
    /// extents.
    pub fn rows(&mut self, extents: &ScalarFn, rows: &Reduction) -> usize {
        let rank = self.extents("e", extents);
        self.extents("len", &rows.len);
        self.size("n", "e", rank);
        if rank > 0 {
            let all: String = (0..rank).map(|k| format!("e[{k}], ")).collect();
            let all = format!("(const i64[]){{ {all}len[0] }}");
            self.w.line(format!("if (checked_size(r, {all}, {}) < 0) return 1;", rank + 1));
        }
        rank
    }

    /// As [`rows`](Self::rows), for a reduction: empty rows need an initial value.
    pub fn checked_rows(&mut self, extents: &ScalarFn, rows: &Reduction) -> usize {
        let rank = self.rows(extents, rows);
        if rows.init.is_none() {
            let mut shape: Vec<_> = (0..rank).map(|k| format!("e[{k}]")).collect();
            shape.push("0".into());
            self.w.fault("len[0] == 0 && n > 0", fault::EMPTY, self.w.site, shape.len(), &shape);
        }
        rank
    }

    // ---- places

    /// The numbers of an array's columns.
    pub fn columns(&self, a: ArrayId) -> Range<usize> {
        let first = self.layout.columns[a];
        first..first + self.w.program.arrays[a].columns.len()
    }

    /// The pairs of corresponding columns of two arrays with the same element type.
    pub fn pairs(&self, a: ArrayId, b: ArrayId) -> Vec<(usize, usize, ScalarType)> {
        let types = self.w.program.arrays[a].columns.iter();
        self.columns(a).zip(self.columns(b)).zip(types).map(|((a, b), t)| (a, b, *t)).collect()
    }

    /// The elements of an array of rank 0.
    pub fn cells(&self, a: ArrayId) -> Vec<String> {
        self.pairs(a, a).into_iter().map(|(c, _, t)| format!("*({t} *)r->columns[{c}]")).collect()
    }

    pub fn extents_of(&self, a: ArrayId) -> Vec<String> {
        let first = self.layout.extents[a];
        (0..self.w.program.arrays[a].rank).map(|k| format!("r->extents[{}]", first + k)).collect()
    }

    /// The address of an array's extents.
    pub fn extents_at(&self, a: ArrayId) -> String {
        format!("r->extents + {}", self.layout.extents[a])
    }

    pub fn set_extents(&mut self, a: ArrayId, e: &[String]) {
        for (place, e) in self.extents_of(a).into_iter().zip(e) {
            self.w.line(format!("{place} = {e};"));
        }
    }

    // ---- memory

    /// Makes arrays with extents `e` and size `n`, in place of others where possible.
    pub fn outputs(&mut self, to: &[ArrayId], over: &[Option<(ArrayId, usize)>], e: &str, rank: usize) {
        let mut over = over.iter();
        for a in to {
            self.set_extents(*a, &(0..rank).map(|k| format!("{e}[{k}]")).collect::<Vec<_>>());
            for (c, _, t) in self.pairs(*a, *a) {
                match over.next().copied().flatten() {
                    _ if rank == 0 => {}
                    None => self.make(c, "n", t, e, rank),
                    Some((old, k)) => {
                        let (bytes, k) = (bytes(t), self.layout.columns[old] + k);
                        let at = self.extents_at(old);
                        self.w.line(format!("if (over(r, {c}, n, {bytes}, {e}, {rank}, {k}, {at})) return 1;"));
                    }
                }
            }
        }
    }

    /// Makes memory for `n` elements in a column of an array with extents `e`.
    pub fn make(&mut self, c: usize, n: &str, t: ScalarType, e: &str, rank: usize) {
        self.w.line(format!("if (make(r, {c}, {n}, {}, {e}, {rank})) return 1;", bytes(t)));
    }

    /// Copies one element.
    pub fn copy(&mut self, to: usize, from: usize, t: ScalarType) {
        self.w.line(format!("*({t} *)r->columns[{to}] = *(const {t} *)r->columns[{from}];"));
    }

    /// Makes `to` names of the arrays `from`, all at once. An array is not counted again if its old name is `free`,
    /// because nothing uses that name any more.
    pub fn take(&mut self, to: &[ArrayId], from: &[ArrayId], free: impl Fn(ArrayId) -> bool) {
        let mut moves = vec![];
        self.w.open("");
        for (k, (a, f)) in to.iter().zip(from).enumerate() {
            let rank = self.w.program.arrays[*f].rank;
            let handed_over = free(*f) && !from[k + 1..].contains(f);
            for (c, f, t) in self.pairs(*a, *f) {
                if rank > 0 && !handed_over {
                    self.w.line(format!("r->blocks[{f}]->count++;"));
                }
                if c == f {
                    continue;
                }
                let [read, write] = if rank == 0 {
                    [
                        format!("const {t} x{c} = *(const {t} *)r->columns[{f}];"),
                        format!("*({t} *)r->columns[{c}] = x{c};"),
                    ]
                } else {
                    let write = format!("r->blocks[{c}] = b{c}; r->columns[{c}] = b{c}->data;");
                    [format!("block *const b{c} = r->blocks[{f}];"), write]
                };
                moves.push(Move { to: format!("r->columns[{c}]"), from: format!("r->columns[{f}]"), read, write });
            }
            if a != f {
                let places = self.extents_of(*a).into_iter().zip(self.extents_of(*f));
                moves.extend(places.enumerate().map(|(dim, (to, from))| Move {
                    read: format!("const i64 e{a}_{dim} = {from};"),
                    write: format!("{to} = e{a}_{dim};"),
                    to,
                    from,
                }));
            }
        }
        moved_at_once(moves).iter().for_each(|line| self.w.line(line));
        self.w.close();
    }

    pub fn drop_array(&mut self, a: ArrayId) {
        if self.w.program.arrays[a].rank > 0 {
            self.columns(a).for_each(|c| self.w.line(format!("drop(r, {c});")));
        }
    }
}

/// Takes the value at `from` to the place `to`, by a line that reads it and a line that writes it.
struct Move {
    to: String,
    from: String,
    read: String,
    write: String,
}

/// The lines of moves whose values are all those before the first move.
///
/// A loop can have hundreds of arrays as its state, and C compilers take a time that grows with the square of the number of values that
/// are read and not yet written. So a place is written once no other move will read it, and only circles are read first.
fn moved_at_once(mut moves: Vec<Move>) -> Vec<String> {
    let mut lines = vec![];
    while !moves.is_empty() {
        let read: BTreeSet<_> = moves.iter().map(|m| m.from.clone()).collect();
        let (later, now): (Vec<_>, Vec<_>) = moves.into_iter().partition(|m| read.contains(&m.to));
        if now.is_empty() {
            let (reads, writes): (Vec<_>, Vec<_>) = later.into_iter().map(|m| (m.read, m.write)).unzip();
            lines.extend(reads.into_iter().chain(writes));
            break;
        }
        lines.extend(now.into_iter().flat_map(|m| [m.read, m.write]));
        moves = later;
    }
    lines
}
