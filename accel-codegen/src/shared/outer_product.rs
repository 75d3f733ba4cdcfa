//! Outer products: totals of products of two vectors.
//!
//! NOTE [Outer products]: suppose that a total is the sum over positions of the products of `x[.., h]` and `y[.., j]`,
//! for all `h` and all `j`. With vectors over the positions, each result would be the sum of the lanes of a vector,
//! which takes as long as the products of a strip. So `y` is transposed first, to vectors over `j` for each position:
//! then the vectors are those of the result. The transposition pays if it is used for many `h`. The result is computed
//! in whole pairs of vectors; the rest is computed by [`Sum`](super::register_tile::Sum).

use super::blocks::clamped;
use crate::analysis::partition::LANES;
use crate::text::names::{index, position, position_in_strip};
use crate::text::vectors::zero;
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Instr, Reg, ScalarFn};

/// The number of vectors of results that are computed at once.
const PAIR: usize = 2;

/// An element that is the product of two numbers of a strip. One does not depend on the last index, and the other one
/// does not depend on the index before it.
pub struct Outer<'a> {
    t: ScalarType,
    rank: usize,
    x: Held<'a>,
    y: Held<'a>,
}

/// A number in the working memory of a strip.
struct Held<'a> {
    array: ArrayId,
    column: usize,
    /// The parameters that form its index; the first one is the position.
    index: &'a [Reg],
}

impl<'a> Outer<'a> {
    /// The product of two registers, as an element of an array of this rank, if it has this form.
    pub fn new(element: &'a ScalarFn, t: ScalarType, rank: usize, a: Reg, b: Reg) -> Option<Outer<'a>> {
        let (row, column) = (Reg::new(rank.checked_sub(2)?), Reg::new(rank - 1));
        let (a, b) = (held(element, a)?, held(element, b)?);
        let only = |h: &Held, yes: Reg, no: Reg| h.index.contains(&yes) && !h.index.contains(&no);
        let (x, y) = if only(&a, row, column) { (a, b) } else { (b, a) };
        (only(&x, row, column) && only(&y, column, row)).then_some(Outer { t, rank, x, y })
    }

    /// Adds the elements of the first `full` lanes to the task's total, for all whole pairs of vectors of the innermost
    /// index, and stores the number of these indices in `done`.
    pub fn total(&self, w: &mut Writer, to: ArrayId) {
        let (t, rank) = (self.t, self.rank);
        let n = w.declarations.vectors.lanes(t);
        declare_turn(w, t, n);
        let (row, space) = (format!("i{}", rank - 2), w.global());
        let (rows, columns) = (format!("a{to}_n{}", rank - 2), format!("a{to}_n{}", rank - 1));
        let width = PAIR * n;
        w.line("i64 done = 0;");
        w.braces(&format!("for (; done + {width} <= {columns}; done += {width})"), |w| {
            w.line(format!("v_{t} turned[{}];", PAIR * LANES));
            w.braces(&format!("for (int l = 0; l < {LANES}; l += {n}) for (int b = 0; b < {PAIR}; b++)"), |w| {
                for k in 0..n {
                    let at = self.y.number(&format!("(done + b * {n} + {k})"), Reg::new(rank - 1));
                    w.line(format!("const v_{t} a{k} = *(const {space}v_{t} *)&{at};"));
                }
                let all: Vec<_> = (0..n).map(|k| format!("a{k}")).collect();
                w.line(format!("turn_{t}({}, &turned[{PAIR} * l + b]);", all.join(", ")));
            });
            w.line(format!("i64 {row} = 0;"));
            if w.declarations.vectors.registers > 16 {
                let head = format!("for (; {row} + 8 <= {rows}; {row} += 8)");
                w.braces(&head, |w| self.rows(w, to, 8, n, &row, &rows));
            }
            w.braces(&format!("for (; {row} < {rows}; {row} += 4)"), |w| self.rows(w, to, 4, n, &row, &rows));
        });
    }

    /// Computes the rows from `row` on.
    fn rows(&self, w: &mut Writer, to: ArrayId, count: usize, n: usize, row: &str, rows: &str) {
        let (t, space) = (self.t, w.global());
        let zero = zero(w, t);
        clamped(w, "h", row, rows, count);
        let all = || (0..count).flat_map(|h| (0..PAIR).map(move |b| (h, b)));
        all().for_each(|(h, b)| w.line(format!("v_{t} y{h}_{b} = {zero};")));
        w.braces("for (int l = 0; l < full; l++)", |w| {
            (0..PAIR).for_each(|b| w.line(format!("const v_{t} c{b} = turned[{PAIR} * l + {b}];")));
            for h in 0..count {
                let at = self.x.number(&format!("h{h}"), Reg::new(self.rank - 2));
                // As in a sum: this subtraction does not change a zero.
                w.line(format!("const v_{t} x{h} = {at} - {zero};"));
            }
            all().for_each(|(h, b)| w.line(format!("y{h}_{b} = fma_{t}(x{h}, c{b}, y{h}_{b});")));
        });
        for h in 0..count {
            let mut ix = index(self.rank);
            ix[self.rank - 2] = format!("h{h}");
            ix[self.rank - 1] = "done".into();
            let inside = if h == 0 { String::new() } else { format!("if ({row} + {h} < {rows})") };
            w.braces(&inside, |w| {
                w.line(format!("{space}{t} *const out = &t{to}_0[{}];", position(to, &ix)));
                for b in 0..PAIR {
                    let at = format!("out + {}", b * n);
                    w.line(w.dialect().add_to(&at, &format!("y{h}_{b}"), n, t));
                }
            });
        }
    }
}

impl Held<'_> {
    /// The number of lane `l`, with `name` for a parameter.
    fn number(&self, name: &str, param: Reg) -> String {
        let names: Vec<_> =
            self.index.iter().map(|r| if *r == param { name.into() } else { format!("i{r}") }).collect();
        format!("s{}_{}[({}) * {LANES} + l]", self.array, self.column, position_in_strip(self.array, &names))
    }
}

/// The read that sets a register, if its index consists of parameters. A sum over lanes reads only arrays in the
/// strip's working memory at the position.
fn held(element: &ScalarFn, r: Reg) -> Option<Held<'_>> {
    element.instrs.iter().find_map(|i| match i {
        Instr::Read { to, array, index, .. } if index.iter().all(|r| *r < element.params) => {
            let column = to.iter().position(|x| *x == r)?;
            // The position is the last parameter.
            (index.first().is_some_and(|r| *r == element.params - 1)).then_some(Held { array: *array, column, index })
        }
        _ => None,
    })
}

/// Declares `turn`: it transposes `n` vectors of `n` numbers, and stores every second one of the resulting vectors.
fn declare_turn(w: &mut Writer, t: ScalarType, n: usize) {
    let dialect = w.dialect();
    w.declarations.declare_once(&format!("turn_{t}"), || {
        let params: Vec<_> = (0..n).map(|k| format!("v_{t} a{k}")).collect();
        let mut text = format!("{} void turn_{t}({}, v_{t} *to) {{\n", dialect.vector_function(), params.join(", "));
        // Exchanges blocks of 1, 2, 4, … numbers with those on the other side of the diagonal.
        let (mut names, mut size) = (('a', 'b'), 1);
        while size < n {
            for k in 0..n {
                let (first, low) = (k & !size, k & size == 0);
                let lane = |q: usize| match (low, q & size == 0) {
                    (true, true) => q,
                    (true, false) => n + q - size,
                    (false, true) => q + size,
                    (false, false) => n + q,
                };
                let lanes: Vec<_> = (0..n).map(|q| lane(q).to_string()).collect();
                let ((from, to), lanes) = (names, lanes.join(", "));
                let (a, b) = (format!("{from}{first}"), format!("{from}{}", first + size));
                text += &format!("    const v_{t} {to}{k} = {};\n", dialect.shuffle(t, &a, &b, &lanes));
            }
            names = (names.1, (names.1 as u8 + 1) as char);
            size *= 2;
        }
        for k in 0..n {
            text += &format!("    to[{}] = {}{k};\n", PAIR * k, names.0);
        }
        text + "}"
    });
}
