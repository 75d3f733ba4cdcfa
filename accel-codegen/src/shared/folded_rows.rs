//! Elements of short rows, in vectors that go across the ends of rows: NOTE [Folded rows] in `accel_fusion`.
//!
//! NOTE [Digits]: the index of position `p + l` is that of position `p` plus that of position `l`, as numbers with several digits
//! are added: a component that reaches its extent carries. The indices of the positions before [`LANES`] are the same for the
//! whole task, so an index takes an addition and a comparison for each of its components, and no division.

use crate::cost_model::{FOLDED, GATHERED, LANES};
use crate::text::names::index;
use crate::text::writer::Writer;
use accel_fusion::kernel::{ArrayId, Instr, ScalarFn};
use accel_fusion::optimize::FoldedRows;

impl Writer<'_> {
    /// Declares `folds`: whether the task's rows are folded, and if so, the digits of the first positions, and the positions
    /// between `lowest` and `highest`, from which all lanes can read. The task's positions end at `to`.
    pub fn declare_folds(&mut self, folded: &FoldedRows, rank: usize) {
        let (program, last) = (self.program, rank - 1);
        let longest = if folded.gathers { GATHERED } else { FOLDED };
        let mut tests = vec![
            format!("task->extents[{last}] < {longest}"),
            format!("task->extents[{last}] >= {}", folded.least),
            format!("to - task->from >= {LANES}"),
        ];
        let dims = |a: ArrayId| 0..program.arrays[a].rank;
        tests.extend(
            folded.same.iter().flat_map(|a| (1..rank).map(move |d| format!("a{a}_n{d} == task->extents[{d}]"))),
        );
        tests.extend(folded.read.iter().flat_map(|a| dims(*a).map(move |d| format!("a{a}_n{d} > 0"))));
        self.line(format!("const bool folds = {};", tests.join(" && ")));
        self.line("i64 lowest = 0, highest = to;");
        for i in &folded.code.instrs {
            let (Instr::Read { to, array, .. }, Some(distances)) = (i, near(folded, i)) else { continue };
            let far: Vec<_> =
                distances.iter().enumerate().map(|(d, n)| format!("{n}{}", inner(*array, rank, d))).collect();
            let size: Vec<_> = dims(*array).map(|d| format!("a{array}_n{d}")).collect();
            let far_to = format!("far{}", to[0]);
            self.line(format!("const i64 {far_to} = {};", far.join(" + ")));
            self.line(format!("lowest = -{far_to} > lowest ? -{far_to} : lowest;"));
            let end = format!("{} - {far_to} - {LANES}", size.join(" * "));
            self.line(format!("highest = {end} < highest ? {end} : highest;"));
        }
        for d in 0..rank {
            self.line(format!("i64 digits{d}[{LANES}], more{d} = 0;"));
        }
        self.braces(&format!("for (int l = 0; folds && l < {LANES}; l++)"), |w| {
            (0..rank).for_each(|d| w.line(format!("digits{d}[l] = more{d};")));
            let carry = |k: usize| format!("if (++more{k} == task->extents[{k}]) {{ more{k} = 0; ");
            let carries: String = (1..rank).rev().map(carry).collect();
            w.line(format!("{carries}more0++;{}", " }".repeat(last)));
        });
    }

    /// Computes the elements at the positions from `p`, whose index is known, to `to`: if rows are folded, in vectors where they
    /// decide as most do, and otherwise as `plain` does to the position that it gets.
    pub fn folded_elements(
        &mut self,
        to: &str,
        rank: usize,
        folded: &FoldedRows,
        results: &[String],
        plain: impl FnOnce(&mut Self, &str),
    ) {
        self.braces(&format!("while (p < {to})"), |w| {
            w.line(format!("bool whole = folds && {to} - p >= {LANES} && p >= lowest && p <= highest;"));
            if let Some(hold) = &folded.hold {
                w.braces("if (whole)", |w| w.all_lanes_hold(hold, rank));
            }
            w.braces("if (whole)", |w| {
                w.lanes_of_rows(rank, folded, results);
                w.line(format!("p += {LANES};"));
                w.add_digits(rank, |d| format!("more{d}"));
                (0..rank).for_each(|d| w.line(format!("i{d} = r{d};")));
            });
            w.braces("else", |w| {
                w.line(format!("const i64 until = folds && {to} - p > {LANES} ? p + {LANES} : {to};"));
                plain(w, "until");
                w.set_index(rank, "p");
            });
        });
    }

    /// Sets `whole` to whether a condition on the index holds for all lanes.
    fn all_lanes_hold(&mut self, hold: &ScalarFn, rank: usize) {
        self.line("i64 failed = 0;");
        self.braces(&format!("for (int l = 0; l < {LANES}; l++)"), |w| {
            w.add_digits(rank, |d| format!("digits{d}[l]"));
            w.instrs(hold, &hold.instrs);
            w.line(format!("failed |= !r{};", hold.results[0]));
        });
        self.line("whole = !failed;");
    }

    /// Computes the elements of all lanes from position `p` on.
    fn lanes_of_rows(&mut self, rank: usize, folded: &FoldedRows, results: &[String]) {
        let code = &folded.code;
        self.line("const i64 start = p;");
        self.say_independent(true);
        self.braces(&format!("for (int l = 0; l < {LANES}; l++)"), |w| {
            w.line("const i64 p = start + l;");
            w.add_digits(rank, |d| format!("digits{d}[l]"));
            for i in &code.instrs {
                match i {
                    Instr::Read { to, array, .. } if near(folded, i).is_some() => {
                        for (c, r) in to.iter().enumerate() {
                            w.line(format!("const {} r{r} = a{array}_{c}[start + far{} + l];", code.types[*r], to[0]));
                        }
                    }
                    i => w.instr(code, i),
                }
            }
            for (to, r) in results.iter().zip(&code.results) {
                w.line(format!("{to} = r{r};"));
            }
        });
    }

    /// Declares `r0`, `r1`, …: the index of `p` plus the digits.
    fn add_digits(&mut self, rank: usize, digit: impl Fn(usize) -> String) {
        let index = index(rank);
        for d in (0..rank).rev() {
            let carried = if d + 1 < rank { format!(" + carry{}", d + 1) } else { String::new() };
            let sum = format!("{} + {}{carried}", index[d], digit(d));
            if d == 0 {
                self.line(format!("const i64 r0 = {sum};"));
            } else {
                self.line(format!("const i64 sum{d} = {sum}, carry{d} = sum{d} >= n{d};"));
                self.line(format!("const i64 r{d} = carry{d} ? sum{d} - n{d} : sum{d};"));
            }
        }
    }
}

/// The distances of a read near the loop's index.
fn near<'f>(folded: &'f FoldedRows, i: &Instr) -> Option<&'f [i64]> {
    let Instr::Read { to, .. } = i else { return None };
    folded.near.get(to.first()?).map(Vec::as_slice)
}

/// The extents by which a component of an index is multiplied.
fn inner(array: ArrayId, rank: usize, dim: usize) -> String {
    (dim + 1..rank).map(|k| format!(" * a{array}_n{k}")).collect()
}
