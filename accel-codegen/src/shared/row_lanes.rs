//! Reductions of one row in lanes: each lane combines its share of the elements, then the lanes are combined in pairs.
//!
//! NOTE [The last step of lanes]: elements that do not fill all lanes would be combined one by one, each waiting for the one
//! before. Instead, the last step takes the last elements of the row, some of which have been combined before. If the monoid
//! is not idempotent, the lanes of those get its neutral element. So rows use lanes as soon as they fill them once. A
//! hundred floats are added in 8 ns instead of 23.
//!
//! NOTE [Products in order]: the product of every 32nd number can be infinite, or too small for a number that is not 0, where
//! the product in order is neither at any time: factors that follow each other often balance. So floats are not multiplied
//! in lanes.
//!
//! NOTE [Lanes of extrema]: the maximum of NaN and a number is the number. A lane that starts with NaN needs two
//! comparisons and a choice for each element. A lane that starts with minus infinity needs a single instruction, which
//! ignores NaN. Then only the result minus infinity is in doubt: there can have been nothing but NaN. In this case, the
//! elements are searched for a number. A thousand numbers take 24 ns instead of 95.
//!
//! NOTE [Lanes of bytes]: how many elements of a row are true is a sum of booleans that are cast to integers. Lanes of
//! bytes add them without a conversion, up to 255 times. Then they are added to the integer. A thousand booleans take 12
//! ns instead of 93.
//!
//! NOTE [Bytes beside numbers]: a C compiler reads bytes, such as the decisions of a mask, a vector at a time. GCC 12 does not use vectors at all for a
//! loop that is shorter than one. So there are as many lanes as bytes in the largest vector. A sum of 10,000 exponential functions with a mask takes
//! 8 µs instead of 39.

use super::prefetch::is_quick;
use crate::cost_model::{LANES, VECTOR};
use crate::text::names::{names, row_index};
use crate::text::primitives;
use crate::text::types::in_memory;
use crate::text::writer::Writer;
use accel_core::repr::op::Op1;
use accel_core::repr::{Scalar, ScalarType};
use accel_fusion::kernel::{Instr, Monoid, Reduction, Reg, ScalarFn};

/// How often a byte can be added to a lane of bytes.
const MOST: usize = u8::MAX as usize;

/// The position of an element of the row, from the position in the order in which elements are combined.
type Source<'a> = &'a dyn Fn(&str) -> String;

/// The number of partial results of a reduction by a recognised monoid: four of the largest vector registers, so that
/// it does not wait for one addition before the next.
fn lane_count(t: ScalarType) -> usize {
    match t {
        ScalarType::I64 | ScalarType::U64 | ScalarType::F64 => LANES,
        _ => 2 * LANES,
    }
}

/// The monoid of each column, if rows are reduced in lanes.
pub fn lane_monoids(rows: &Reduction) -> Option<Vec<Monoid>> {
    let monoids = if rows.op.results.len() == 1 { rows.monoid.map(|k| vec![k]) } else { rows.op.column_monoids() };
    monoids.filter(|_| rows.element.is_if_convertible())
}

/// The least number of elements that are reduced in lanes, if any are.
pub fn least_in_lanes(rows: &Reduction) -> Option<usize> {
    Some(Lanes::new(rows)?.count)
}

/// Whether a row is a sum of integers, which are added in any order, and which are not counted in bytes.
pub fn adds_integers(rows: &Reduction) -> bool {
    rows.monoid == Some(Monoid::Sum) && rows.columns().iter().all(|t| !t.is_float()) && counted(rows).is_none()
}

/// The numbers of lanes that are combined with as many others, until one is left. Loops of known length become vector
/// operations.
pub fn halves(count: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(count / 2), |half| Some(half / 2)).take_while(|half| *half > 0)
}

/// How a row is reduced in lanes.
struct Lanes {
    /// The monoid and the type of each column.
    columns: Vec<(Monoid, ScalarType)>,
    count: usize,
}

impl Lanes {
    fn new(rows: &Reduction) -> Option<Lanes> {
        let columns: Vec<_> = lane_monoids(rows)?.into_iter().zip(rows.columns()).collect();
        // NOTE [Products in order].
        if columns.iter().any(|(monoid, t)| *monoid == Monoid::Product && t.is_float()) {
            return None;
        }
        let count = columns.iter().map(|(_, t)| lane_count(*t)).min()?;
        // NOTE [Bytes beside numbers].
        let count = if rows.element.reads_bytes() { count.max(VECTOR) } else { count };
        Some(Lanes { columns, count })
    }
}

/// The infinity that is neutral among numbers: NOTE [Lanes of extrema].
fn infinity(monoid: Monoid, t: ScalarType) -> Option<Scalar> {
    match monoid {
        Monoid::Max if t.is_float() => Some(t.least()),
        Monoid::Min if t.is_float() => Some(t.greatest()),
        _ => None,
    }
}

/// The booleans that are counted, if each column is a sum of booleans that are cast to integers.
fn counted(rows: &Reduction) -> Option<ScalarFn> {
    let element = &rows.element;
    let boolean = |r: &Reg| {
        element.instrs.iter().find_map(|i| match i {
            Instr::Op1(to, Op1::Cast(_), a) if to == r && element.types[*a] == ScalarType::Bool => Some(*a),
            _ => None,
        })
    };
    let is_sum = |(monoid, t): (Monoid, ScalarType)| monoid == Monoid::Sum && !t.is_float();
    let all_sums = lane_monoids(rows)?.into_iter().zip(rows.columns()).all(is_sum);
    let results = element.results.iter().map(boolean).collect::<Option<Vec<_>>>()?;
    all_sums.then(|| ScalarFn { results, ..element.clone() })
}

impl Writer<'_> {
    /// Reduces the elements from `k` on of a long row by an operator that is a recognised monoid on each column. `source` is
    /// the position of element `k`, and `guard` is an additional condition.
    pub fn reduce_in_lanes(&mut self, guard: &str, outer: usize, rows: &Reduction, source: Source) {
        let Some(lanes) = Lanes::new(rows) else { return };
        if self.dialect().has_few_registers() {
            return;
        }
        match counted(rows) {
            Some(counted) => self.count_in_bytes(guard, outer, &counted, source),
            None => self.combine_in_lanes(guard, outer, rows, &lanes, source),
        }
    }

    /// NOTE [Lanes of bytes].
    fn count_in_bytes(&mut self, guard: &str, outer: usize, counted: &ScalarFn, source: Source) {
        let columns = counted.results.len();
        self.braces(&format!("while ({guard}to - k >= {VECTOR})"), |w| {
            (0..columns).for_each(|c| w.fill_lanes(c, VECTOR, ScalarType::U8, Scalar::U8(0)));
            w.line(format!("const i64 steps = (to - k) / {VECTOR};"));
            w.line(format!("const i64 stop = k + (steps < {MOST} ? steps : {MOST}) * {VECTOR};"));
            w.steps("stop", VECTOR, outer, counted, source, |w| {
                (0..columns).for_each(|c| w.line(format!("lane{c}[l] = lane{c}[l] + x{c};")));
            });
            for c in 0..columns {
                w.line(format!("for (int l = 0; l < {VECTOR}; l++) y{c} = y{c} + lane{c}[l];"));
            }
        });
    }

    fn combine_in_lanes(&mut self, guard: &str, outer: usize, rows: &Reduction, lanes: &Lanes, source: Source) {
        let count = lanes.count;
        let combine = |w: &mut Self, b: &dyn Fn(usize) -> String| {
            for (c, (monoid, t)) in lanes.columns.iter().enumerate() {
                let (a, b) = (format!("lane{c}[l]"), b(c));
                let value = match (infinity(*monoid, *t), monoid) {
                    (None, _) => primitives::op2(w.declarations, monoid.operator(), *t, &a, &b),
                    (Some(_), Monoid::Max) => format!("{b} > {a} ? {b} : {a}"),
                    (Some(_), _) => format!("{b} < {a} ? {b} : {a}"),
                };
                w.line(format!("{a} = {value};"));
            }
        };
        let element = |c: usize| format!("x{c}");
        self.braces(&format!("if ({guard}to - k >= {})", count), |w| {
            for (c, (monoid, t)) in lanes.columns.iter().enumerate() {
                let start = infinity(*monoid, *t).unwrap_or(monoid.neutral(*t));
                w.fill_lanes(c, count, in_memory(*t), start);
            }
            let doubtful = lanes.columns.iter().any(|(monoid, t)| infinity(*monoid, *t).is_some());
            if doubtful {
                w.line("const i64 first = k;");
            }
            w.steps("to", count, outer, &rows.element, source, |w| combine(w, &element));
            w.braces("if (k < to)", |w| {
                if lanes.columns.iter().any(|(monoid, _)| !monoid.is_idempotent()) {
                    w.line(format!("const int seen = k - (to - {count});"));
                }
                w.line(format!("k = to - {count};"));
                let new: Vec<_> = lanes
                    .columns
                    .iter()
                    .enumerate()
                    .map(|(c, (monoid, t))| {
                        let neutral = primitives::constant(w.declarations, monoid.neutral(*t));
                        if monoid.is_idempotent() { element(c) } else { format!("(l < seen ? {neutral} : x{c})") }
                    })
                    .collect();
                w.step(count, outer, &rows.element, source, |w| combine(w, &|c| new[c].clone()));
                w.line("k = to;");
            });
            for half in halves(count) {
                w.braces(&format!("for (int l = 0; l < {half}; l++)"), |w| {
                    combine(w, &|c| format!("lane{c}[l + {half}]"));
                });
            }
            for (c, (monoid, t)) in lanes.columns.iter().enumerate() {
                if let Some(infinity) = infinity(*monoid, *t) {
                    w.doubt(c, *t, infinity, outer, &rows.element, source);
                }
                let value =
                    primitives::op2(w.declarations, monoid.operator(), *t, &format!("y{c}"), &format!("lane{c}[0]"));
                w.line(format!("y{c} = {value};"));
            }
        });
    }

    fn fill_lanes(&mut self, column: usize, count: usize, t: ScalarType, start: Scalar) {
        let start = primitives::constant(self.declarations, start);
        self.line(format!("{t} lane{column}[{count}];"));
        self.line(format!("for (int l = 0; l < {count}; l++) lane{column}[l] = {start};"));
    }

    /// Executes `then` for the elements from `k` on, as long as all lanes have one before `stop`.
    fn steps(
        &mut self,
        stop: &str,
        count: usize,
        outer: usize,
        element: &ScalarFn,
        source: Source,
        then: impl FnOnce(&mut Self),
    ) {
        self.braces(&format!("for (; k + {count} <= {stop}; k += {count})"), |w| {
            if source("k") == "k" && !is_quick(element) {
                w.prefetch(element, &row_index(outer, "k"), count);
            }
            w.step(count, outer, element, source, then);
        });
    }

    /// Executes `then` for each lane `l` with the columns of the element at `k + l` in `x0`, `x1`, …
    fn step(&mut self, count: usize, outer: usize, element: &ScalarFn, source: Source, then: impl FnOnce(&mut Self)) {
        let types: Vec<_> = element.results.iter().map(|r| element.types[*r]).collect();
        let x = names("x", &types);
        self.braces(&format!("for (int l = 0; l < {count}; l++)"), |w| {
            w.declare(&x, &types);
            w.code(element, &row_index(outer, &source("k + l")), &x);
            then(w);
        });
    }

    /// If the extremum of column `c` is the infinity with which lanes start, but the elements from `first` to `k` are all
    /// NaN, then so is the extremum.
    fn doubt(&mut self, c: usize, t: ScalarType, infinity: Scalar, outer: usize, element: &ScalarFn, source: Source) {
        let types: Vec<_> = element.results.iter().map(|r| element.types[*r]).collect();
        let infinity = primitives::constant(self.declarations, infinity);
        self.braces(&format!("if (lane{c}[0] == {infinity})"), |w| {
            w.line("bool some = 0;");
            w.braces("for (i64 q = first; q < k && !some; q++)", |w| {
                let x = names("x", &types);
                w.declare(&x, &types);
                w.code(element, &row_index(outer, &source("q")), &x);
                w.line(format!("some = x{c} == x{c};"));
            });
            let nan = primitives::constant(w.declarations, Monoid::Max.neutral(t));
            w.line(format!("if (!some) lane{c}[0] = {nan};"));
        });
    }
}
