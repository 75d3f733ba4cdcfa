//! Register tiles: sums in strips that compute several results at a time, with explicit vectors. Common operands are
//! loaded once, and every accumulated vector stays in a register.
//!
//! NOTE [Fused multiply-add]: if a product is summed, and the processor can multiply and add in one instruction, the
//! product is not rounded before the addition, as in any matrix product. The order of a sum is undefined, so its last
//! places are undefined as well.
//!
//! NOTE [Subnormal factors]: processors of the x86 family take a hundred times as long for an operation with a
//! subnormal number (below 2.2e-308 for 64 bits), and such numbers are common where probabilities are multiplied. Only
//! while products are summed, they count as zero. This changes a sum by less than its rounding, unless the whole sum is
//! as tiny or has huge factors.

use super::blocks::{clamped, loops};
use super::outer_product::Outer;
use crate::analysis::partition::LANES;
use crate::analysis::unroll_jam::Copies;
use crate::text::names::{index, position, position_in_strip};
use crate::text::primitives;
use crate::text::registers::Vectors;
use crate::text::scalar_code::Constants;
use crate::text::vectors::{add_half, declare, zero};
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_core::repr::op::{Num1, Num2, Op1, Op2};
use accel_fusion::kernel::{ArrayId, IndexVec, Instr, Monoid, Reduction, Reg, index_vec};
use std::collections::BTreeSet;

/// The elements of a sum as vectors over the lanes.
pub struct Sum<'a> {
    rows: &'a Reduction,
    t: ScalarType,
    /// The vector registers of the processor.
    registers: Vectors,
    /// For each register, whether it is a vector. The others are the same for all lanes.
    lanes: IndexVec<Reg, bool>,
    /// The two factors, if the result is a product.
    factors: Option<(Reg, Reg)>,
}

impl<'a> Sum<'a> {
    /// The sum, if its elements consist of floating-point arithmetic on arrays in the strip's working memory (`held`)
    /// and on values that are the same for all lanes. `position` is the register with the position.
    pub fn new(w: &Writer, rows: &'a Reduction, types: &[ScalarType], position: Reg) -> Option<Sum<'a>> {
        let (held, registers) = (&w.lanes.arrays, w.declarations.vectors);
        let (Some(Monoid::Sum), [t @ (ScalarType::F32 | ScalarType::F64)]) = (rows.monoid, types) else { return None };
        let code = &rows.element;
        let mut lanes = index_vec![false; code.types.len()];
        if !code.is_branch_free() {
            return None;
        }
        for i in &code.instrs {
            match i {
                Instr::Read { to, array, index, .. } if index.first() == Some(&position) => {
                    if !held.contains(array) || index[1..].iter().any(|r| lanes[*r] || *r == position) {
                        return None;
                    }
                    to.iter().for_each(|r| lanes[*r] = true);
                }
                Instr::Read { index, .. } if index.iter().any(|r| lanes[*r] || *r == position) => return None,
                Instr::Op1(to, Op1::Num(Num1::Neg), a) if lanes[*a] && code.types[*a] == *t => lanes[*to] = true,
                Instr::Op2(to, Op2::Num(Num2::Add | Num2::Sub | Num2::Mul | Num2::Div), a, b)
                    if (lanes[*a] || lanes[*b]) && code.types[*a] == *t =>
                {
                    lanes[*to] = true
                }
                Instr::Op1(_, _, a) if lanes[*a] || *a == position => return None,
                Instr::Op2(_, _, a, b) if [a, b].iter().any(|r| lanes[**r] || **r == position) => return None,
                _ => {}
            }
        }
        let result = code.results[0];
        let factors = match code.instrs.last() {
            Some(Instr::Op2(to, Op2::Num(Num2::Mul), a, b)) if *to == result => Some((*a, *b)),
            _ => None,
        };
        lanes[result].then_some(Sum { rows, t: *t, registers, lanes, factors })
    }

    /// The number of lanes of a vector.
    pub fn vector(&self) -> usize {
        self.registers.lanes(self.t)
    }

    /// The number of vectors for the lanes of a strip.
    fn vectors(&self) -> usize {
        LANES / self.vector()
    }

    /// Writes `acc = acc + element` for each of the pairs `(arguments, acc)`. The argument for the position is the
    /// first lane of the vector.
    fn add(&self, w: &mut Writer, all: &[(Vec<String>, String)]) {
        let (t, position) = (self.t, w.lanes.position);
        let mut element = self.rows.element.clone();
        if self.factors.is_some() {
            element.instrs.pop();
        }
        let copies = Copies::new(&element, &all.iter().map(|(args, _)| args.clone()).collect::<Vec<_>>());
        let code = &copies.code;
        // The copies read at the position only as vectors.
        w.lanes.position = Reg::NONE;
        for (r, arg) in copies.args.iter_enumerated().filter(|(r, _)| copies.original[*r] != position) {
            w.line(format!("const i64 r{r} = {arg};"));
        }
        let (space, zero) = (w.global(), zero(w, t));
        let is_vector = |r: Reg| self.lanes[copies.original[r]];
        let mut wide = BTreeSet::new();
        let mut value = |w: &mut Writer, r: Reg| {
            if is_vector(r) {
                return format!("r{r}");
            }
            if wide.insert(r) {
                // Subtracting this zero changes no number, not even the sign of a zero.
                w.line(format!("const v_{t} w{r} = r{r} - {zero};"));
            }
            format!("w{r}")
        };
        for i in &code.instrs {
            match i {
                Instr::Read { to, array, index, .. } if to.first().is_some_and(|r| is_vector(*r)) => {
                    let l = &copies.args[index[0]];
                    let index: Vec<_> = index.iter().map(|r| format!("r{r}")).collect();
                    let q = position_in_strip(*array, &index);
                    for (c, r) in to.iter().enumerate().filter(|(_, r)| code.types[**r] == t) {
                        w.line(format!(
                            "const v_{t} r{r} = *(const {space}v_{t} *)&s{array}_{c}[({q}) * {LANES} + {l}];"
                        ));
                    }
                }
                Instr::Op1(to, _, a) if is_vector(*to) => w.line(format!("const v_{t} r{to} = -r{a};")),
                Instr::Op2(to, op, a, b) if is_vector(*to) => {
                    let (a, b) = (value(w, *a), value(w, *b));
                    let x = primitives::op2(w.declarations, *op, ScalarType::F64, &a, &b);
                    w.line(format!("const v_{t} r{to} = {x};"));
                }
                i => w.instrs(code, std::slice::from_ref(i), &mut Constants::new()),
            }
        }
        for ((_, acc), registers) in all.iter().zip(&copies.registers) {
            match self.factors {
                Some((a, b)) => {
                    let (a, b) = (value(w, registers[a]), value(w, registers[b]));
                    w.line(format!("{acc} = fma_{t}({a}, {b}, {acc});"));
                }
                None => w.line(format!("{acc} = {acc} + r{};", registers[self.rows.element.results[0]])),
            }
        }
        w.lanes.position = position;
    }

    /// Computes the rows of all lanes, for several values of the innermost index at a time.
    pub fn rows(&self, w: &mut Writer, to: ArrayId) {
        declare(w, self.t);
        let rank = w.columns_and_rank(to).1;
        self.flushing(w, |w| {
            loops(w, to, 1, rank.max(2) - 1, |w| {
                self.groups(w, |w, group| {
                    if rank == 1 {
                        return w.braces("", |w| self.some_rows(w, to, 1, group));
                    }
                    let (last, size) = (format!("i{}", rank - 1), format!("a{to}_n{}", rank - 1));
                    // Eight sums hide the latency of additions. Sixteen need half as many loads of common operands.
                    let few = 8 / group;
                    w.line(format!("i64 {last} = 0;"));
                    if self.shares(rank - 1) && self.registers.registers > 16 {
                        let many = 2 * few;
                        w.braces(&format!("for (; {last} + {many} <= {size}; {last} += {many})"), |w| {
                            (0..many).for_each(|b| w.line(format!("const i64 j{b} = {last} + {b};")));
                            self.some_rows(w, to, many, group);
                        });
                    }
                    w.braces(&format!("for (; {last} < {size}; {last} += {few})"), |w| {
                        clamped(w, "j", &last, &size, few);
                        self.some_rows(w, to, few, group);
                    });
                });
            });
        });
    }

    /// Executes `body` for the vectors of the lanes, at most four at a time. It gets their number, and starts at lane
    /// `g` if these are not all.
    fn groups(&self, w: &mut Writer, body: impl FnOnce(&mut Writer, usize)) {
        let group = self.vectors().min(4);
        if group == self.vectors() {
            return body(w, group);
        }
        w.braces(&format!("for (int g = 0; g < {LANES}; g += {})", group * self.vector()), |w| body(w, group));
    }

    /// The first lane of a vector of a group.
    fn lane(&self, v: usize) -> String {
        let lane = v * self.vector();
        if self.vectors() > 4 { format!("g + {lane}") } else { lane.to_string() }
    }

    /// Whether elements that differ only in this index have numbers of the lanes in common.
    fn shares(&self, dim: usize) -> bool {
        let independent = |i: &Instr| match i {
            Instr::Read { to, index, .. } => to.iter().any(|r| self.lanes[*r]) && !index.contains(&Reg::new(dim)),
            _ => false,
        };
        self.factors.is_some() && self.rows.element.instrs.iter().any(independent)
    }

    /// Computes the rows of all lanes for the innermost indices `j0`, `j1`, ….
    fn some_rows(&self, w: &mut Writer, to: ArrayId, count: usize, group: usize) {
        let (t, rank) = (self.t, w.columns_and_rank(to).1);
        let place = |b: usize| -> Vec<String> {
            let mut ix = index(rank);
            if rank > 1 {
                ix[rank - 1] = format!("j{b}");
            }
            ix
        };
        let first = if self.rows.init.is_some() {
            format!("z{to}_0")
        } else {
            primitives::constant(w.declarations, Monoid::Sum.neutral(t))
        };
        let (space, zero) = (w.global(), zero(w, t));
        let acc = |b: usize, v: usize| format!("y{b}_{v}");
        let all = || (0..count).flat_map(|b| (0..group).map(move |v| (b, v)));
        for (b, v) in all() {
            w.line(format!("v_{t} {} = {first} - {zero};", acc(b, v)));
        }
        w.braces(&format!("for (i64 k = 0; k < m{to}; k++)"), |w| {
            let copy = |(b, v): (usize, usize)| {
                let mut args = [place(b), vec!["k".into()]].concat();
                args[0] = self.lane(v);
                (args, acc(b, v))
            };
            self.add(w, &all().map(copy).collect::<Vec<_>>());
        });
        for (b, v) in all() {
            let q = position_in_strip(to, &place(b));
            let l = self.lane(v);
            w.line(format!("*({space}v_{t} *)&s{to}_0[({q}) * {LANES} + {l}] = {};", acc(b, v)));
        }
    }

    /// Adds the elements of the first `full` lanes, which are whole vectors, to the task's partial total. It computes
    /// eight results at a time: two by four of the innermost two indices, or eight of one.
    pub fn total(&self, w: &mut Writer, to: ArrayId) {
        self.flushing(w, |w| self.whole_total(w, to));
    }

    /// Executes what `body` writes in the mode of NOTE [Subnormal factors].
    fn flushing(&self, w: &mut Writer, body: impl FnOnce(&mut Writer)) {
        if self.factors.is_none() {
            return w.braces("", body);
        }
        // OpenCL has no such mode, but its compilers for these processors have the functions that change it.
        w.declarations.declare_once("tiny", || {
            "#ifdef __SSE2__\n\
             static inline unsigned without_tiny(void) { unsigned s = __builtin_ia32_stmxcsr(); __builtin_ia32_ldmxcsr(s | 0x8040); return s; }\n\
             static inline void with_tiny(unsigned s) { __builtin_ia32_ldmxcsr(s); }\n\
             #else\n\
             static inline unsigned without_tiny(void) { return 0; }\n\
             static inline void with_tiny(unsigned s) {}\n\
             #endif"
                .into()
        });
        w.braces("", |w| {
            w.line("const unsigned state = without_tiny();");
            body(w);
            w.line("with_tiny(state);");
        });
    }

    fn whole_total(&self, w: &mut Writer, to: ArrayId) {
        let (t, rank) = (self.t, w.columns_and_rank(to).1);
        declare(w, t);
        let (high, wide) = if rank > 1 { (2, 4) } else { (1, 8) };
        let size = |d: usize| format!("a{to}_n{d}");
        let each = |d: usize, by: usize| format!("for (i64 i{d} = 0; i{d} < {}; i{d} += {by})", size(d));
        let place = |b: usize| -> Vec<String> {
            let mut ix = index(rank);
            ix[rank - 1] = format!("j{}", b % wide);
            if rank > 1 {
                ix[rank - 2] = format!("h{}", b / wide);
            }
            ix
        };
        let outer = self.factors.and_then(|(a, b)| Outer::new(&self.rows.element, t, rank, a, b));
        let plus = |d: usize, by: usize| format!("i{d} + {by}");
        let one_by_one = |w: &mut Writer| {
            for h in 0..high {
                let q = position(to, &place(h * wide));
                let inside = |b: usize| format!("{} < {}", plus(rank - 1, b), size(rank - 1));
                let outer =
                    if h > 0 { format!("if ({} < {})", plus(rank - 2, h), size(rank - 2)) } else { String::new() };
                w.braces(&outer, |w| {
                    let sums: Vec<_> = (0..wide).map(|b| w.dialect().element("sums", h * wide + b)).collect();
                    let space = w.global();
                    w.line(format!("{space}{t} *const out = &t{to}_0[{q}];"));
                    w.line(format!("out[0] += {};", sums[0]));
                    for (b, sum) in sums.iter().enumerate().skip(1) {
                        w.line(format!("if ({}) out[{b}] += {sum};", inside(b)));
                    }
                });
            }
        };
        let block = |w: &mut Writer| {
            clamped(w, "j", &format!("i{}", rank - 1), &size(rank - 1), wide);
            let start = zero(w, t);
            (0..8).for_each(|b| w.line(format!("v_{t} y{b} = {start};")));
            let lanes = |w: &mut Writer, count: &str| {
                w.braces(&format!("for (int l = 0; l < {count}; l += {})", self.vector()), |w| {
                    let copy = |b: usize| ([place(b), vec!["l".into()]].concat(), format!("y{b}"));
                    self.add(w, &(0..8).map(copy).collect::<Vec<_>>());
                });
            };
            // Compilers unroll a loop of constant length.
            w.braces(&format!("if (full == {LANES})"), |w| lanes(w, &LANES.to_string()));
            w.braces("else", |w| lanes(w, "full"));
            w.line(format!("const w_{t} sums = sums_{t}(y0, y1, y2, y3, y4, y5, y6, y7);"));
            if rank > 1 {
                let whole = format!(
                    "{} <= {} && {} <= {}",
                    plus(rank - 2, high),
                    size(rank - 2),
                    plus(rank - 1, wide),
                    size(rank - 1)
                );
                w.braces(&format!("if ({whole})"), |w| {
                    (0..high).for_each(|h| add_half(w, t, &format!("&t{to}_0[{}]", position(to, &place(h * wide))), h));
                });
                return w.braces("else", one_by_one);
            }
            one_by_one(w);
        };
        loops(w, to, 0, rank.saturating_sub(2), |w| {
            if rank == 1 {
                return w.braces(&each(0, wide), block);
            }
            match outer {
                Some(outer) => outer.total(w, to),
                None => w.line("const i64 done = 0;"),
            }
            w.braces(&format!("if (done < {})", size(rank - 1)), |w| {
                w.braces(&each(rank - 2, high), |w| {
                    clamped(w, "h", &format!("i{}", rank - 2), &size(rank - 2), high);
                    let last = rank - 1;
                    w.braces(&format!("for (i64 i{last} = done; i{last} < {}; i{last} += {wide})", size(last)), block);
                });
            });
        });
    }
}
