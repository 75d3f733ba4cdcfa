//! Totals of outer products.
//!
//! NOTE [Outer products]: where a total is the sum over positions of a product of `x[.., h]` and `y[.., j]`, all `h` by all `j`, vectors over
//! the positions have to be added up to one number for each element, which takes as long as the products of a strip. So `y` is
//! turned round first, vectors over `j` for each position: then the vectors are those of the result. Turning pays off when it is for
//! many `h`, and the result has whole pairs of vectors; what is left over is for [`Sum`](crate::sums::Sum).

use super::blocks::near;
use crate::analysis::partition::LANES;
use crate::text::names::{index, position, position_in_strip};
use crate::text::vectors::zero;
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Code, Instr, Reg};

/// How many vectors of an element are computed at once.
const PAIR: usize = 2;

/// An element that is the product of two numbers of a strip, one of which does not depend on the last index, the other one not on the
/// index before.
pub struct Outer<'a> {
    t: ScalarType,
    rank: usize,
    x: Held<'a>,
    y: Held<'a>,
}

/// A number of a strip.
struct Held<'a> {
    array: ArrayId,
    column: usize,
    /// The parameters that are its index; the first one is the position.
    index: &'a [Reg],
}

impl<'a> Outer<'a> {
    /// The product of two registers of an element of an array of this rank.
    pub fn new(element: &'a Code, t: ScalarType, rank: usize, a: Reg, b: Reg) -> Option<Outer<'a>> {
        let (row, column) = (rank.checked_sub(2)?, rank - 1);
        let (a, b) = (held(element, a)?, held(element, b)?);
        let only = |h: &Held, yes: Reg, no: Reg| h.index.contains(&yes) && !h.index.contains(&no);
        let (x, y) = if only(&a, row, column) { (a, b) } else { (b, a) };
        (only(&x, row, column) && only(&y, column, row)).then_some(Outer { t, rank, x, y })
    }

    /// Adds the elements of the first `full` lanes to the task's total for as many of the innermost indices as are whole pairs of vectors,
    /// and counts these in `done`.
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
                    let at = self.y.number(&format!("(done + b * {n} + {k})"), rank - 1);
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

    /// The rows from `row` on.
    fn rows(&self, w: &mut Writer, to: ArrayId, count: usize, n: usize, row: &str, rows: &str) {
        let (t, space) = (self.t, w.global());
        let zero = zero(w, t);
        near(w, "h", row, rows, count);
        let all = || (0..count).flat_map(|h| (0..PAIR).map(move |b| (h, b)));
        all().for_each(|(h, b)| w.line(format!("v_{t} y{h}_{b} = {zero};")));
        w.braces("for (int l = 0; l < full; l++)", |w| {
            (0..PAIR).for_each(|b| w.line(format!("const v_{t} c{b} = turned[{PAIR} * l + {b}];")));
            for h in 0..count {
                let at = self.x.number(&format!("h{h}"), self.rank - 2);
                // As in a sum: that leaves zeros as they are.
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
                    w.line(match w.is_opencl() {
                        true => format!("vstore{n}(vload{n}(0, {at}) + y{h}_{b}, 0, {at});"),
                        false => format!("*(u_{t} *)({at}) += y{h}_{b};"),
                    });
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

/// The read that sets a register, if its index is made of parameters. The arrays that a sum over lanes reads at the position are held.
fn held(element: &Code, r: Reg) -> Option<Held<'_>> {
    element.instrs.iter().find_map(|i| match i {
        Instr::Read { to, array, index, .. } if index.iter().all(|r| *r < element.params) => {
            let column = to.iter().position(|x| *x == r)?;
            // The position is the last parameter.
            (index.first() == Some(&(element.params - 1))).then_some(Held { array: *array, column, index })
        }
        _ => None,
    })
}

/// `turn`: `n` vectors of `n` numbers to the vectors of their first, second, … numbers, of which every second one is stored.
fn declare_turn(w: &mut Writer, t: ScalarType, n: usize) {
    let opencl = w.is_opencl();
    w.declarations.need(&format!("turn_{t}"), || {
        let params: Vec<_> = (0..n).map(|k| format!("v_{t} a{k}")).collect();
        let inline = if opencl { "static" } else { "static inline" };
        let mut text = format!("{inline} void turn_{t}({}, v_{t} *to) {{\n", params.join(", "));
        // Blocks of 1, 2, 4, … numbers change places with those on the other side of the diagonal.
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
                let pair = format!("{from}{first}, {from}{}", first + size);
                text += &match opencl {
                    true => {
                        let mask = if t == ScalarType::F32 { "uint16" } else { "ulong8" };
                        format!("    const v_{t} {to}{k} = shuffle2({pair}, ({mask})({lanes}));\n")
                    }
                    false => format!("    const v_{t} {to}{k} = __builtin_shufflevector({pair}, {lanes});\n"),
                };
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
