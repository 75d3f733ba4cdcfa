//! Scans of rows.
//!
//! All elements are computed first. If there are many rows, each lane scans a row. A row that compiled code cuts into parts
//! is also cut here, into one part for each lane: the parts are reduced, the totals of the parts before each part are combined, and then each lane scans its
//! part from there (Blelloch, "Prefix sums and their applications", 1990).

use super::lanes::{Value, scatter, strided};
use super::machine::{Context, width};
use super::operator::{Operator, registers, uniform};
use super::primitives::prefixes;
use super::rows::{Rows, cut};
use super::space::{tabulate, zeros};
use accel_codegen::partition::part_size;
use accel_core::repr::{Column, RawArray, ScalarType, checked_size};
use accel_fusion::kernel::{Reduction, scan_extents};

/// From this number of rows on, each lane scans a row, unless the operator is a primitive function.
const MANY_ROWS: usize = 32;

/// The array of all partial reductions, with the columns `kept`.
pub fn scan(
    context: Context,
    kept: &[usize],
    (reverse, down): (bool, bool),
    rows: &Reduction,
    outer: &[usize],
) -> Option<RawArray> {
    let rows = Rows::new(context, rows, outer)?;
    let length = rows.len + usize::from(rows.init.is_some());
    let types = rows.code.columns();
    let kept_types: Vec<ScalarType> = kept.iter().map(|k| types[*k]).collect();
    let n = rows.count();
    let extents = scan_extents(outer, length, down);
    let out = zeros(&kept_types, checked_size(&extents)?)?;
    if length == 0 {
        return Some(RawArray { extents: extents.as_slice().into(), columns: out.into() });
    }
    let mut extents_of_elements = outer.to_vec();
    extents_of_elements.push(rows.len);
    let elements = tabulate(context, &rows.code.element, &extents_of_elements)?;
    let operator = Operator::new(context, rows.code);
    let lanes = width(&rows.code.op);
    let side = outer.last().copied().filter(|_| down).unwrap_or(1);
    let place = Place { length, side, reverse };
    let mut scanner = Scanner { rows: &rows, operator, types, elements, kept, out, place, reverse, positions: vec![] };
    let is_primitive = matches!(scanner.operator, Operator::Primitive(_));
    if n >= MANY_ROWS && !is_primitive {
        for first in (0..n).step_by(lanes) {
            scanner.row_per_lane(first, lanes.min(n - first))?;
        }
    } else {
        let parts = if part_size(n, rows.len, rows.code.cost(), lanes).is_some() { lanes } else { 1 };
        (0..n).try_for_each(|row| scanner.part_per_lane(row, parts))?;
    }
    Some(RawArray { extents: extents.as_slice().into(), columns: scanner.out.into() })
}

struct Scanner<'e> {
    rows: &'e Rows<'e>,
    operator: Operator<'e>,
    types: Vec<ScalarType>,
    elements: Vec<Column>,
    kept: &'e [usize],
    out: Vec<Column>,
    place: Place,
    reverse: bool,
    positions: Vec<usize>,
}

/// Where results are.
#[derive(Clone, Copy)]
struct Place {
    /// The number of results of a row.
    length: usize,
    /// The number of rows that lie side by side.
    side: usize,
    reverse: bool,
}

impl Place {
    /// The position of result `j` of a row, in the order of the scan.
    fn of(&self, row: usize, j: usize) -> usize {
        let j = if self.reverse { self.length - 1 - j } else { j };
        (row / self.side * self.length + j) * self.side + row % self.side
    }
}

impl Scanner<'_> {
    /// The elements of `n` lanes. The first lane is at position `k` of a row, in the order of the scan, and the others at
    /// a distance of `step` in this order, or in the next rows if no distance is given.
    fn elements(&self, row: usize, k: usize, step: Option<usize>, n: usize) -> Option<Vec<Value>> {
        let len = self.rows.len;
        let at = row * len + if self.reverse { len - 1 - k } else { k };
        let step = match step {
            None => len as isize,
            Some(step) if self.reverse => -(step as isize),
            Some(step) => step as isize,
        };
        let one = |(t, column): (&ScalarType, &Column)| {
            let mut value = Value::new(*t);
            let mut lanes = value.take(n)?;
            strided(column, at, step, &mut lanes, n)?;
            value.set(lanes);
            Some(value)
        };
        self.types.iter().zip(&self.elements).map(one).collect()
    }

    /// Writes results of `n` lanes, with positions as for [`elements`](Self::elements).
    fn put(&mut self, values: &mut [Value], row: usize, j: usize, step: Option<usize>, n: usize) -> Option<()> {
        let place = self.place;
        self.positions.clear();
        self.positions.extend((0..n).map(|l| {
            let (row, j) = step.map_or((row + l, j), |step| (row, j + l * step));
            place.of(row, j)
        }));
        for (k, out) in self.kept.iter().zip(&mut self.out) {
            let value = values.get_mut(*k)?;
            value.fill(n)?;
            scatter(value.lanes()?, &self.positions, None, out)?;
        }
        Some(())
    }

    /// Combines accumulated values with the next elements.
    fn combine(&mut self, accumulated: &mut [Value], mut next: Vec<Value>, n: usize) -> Option<()> {
        if self.reverse {
            self.operator.prepend(&mut next, accumulated, n)
        } else {
            self.operator.append(accumulated, &mut next, n)
        }
    }

    /// The first accumulated values, and the number of elements that they contain.
    fn begin(&self, row: usize, n: usize) -> Option<(Vec<Value>, usize)> {
        match self.rows.initial() {
            Some(init) => Some((init, 0)),
            None => Some((self.elements(row, 0, None, n)?, 1)),
        }
    }

    fn row_per_lane(&mut self, row: usize, n: usize) -> Option<()> {
        let (mut accumulated, done) = self.begin(row, n)?;
        self.put(&mut accumulated, row, 0, None, n)?;
        for (j, k) in (done..self.rows.len).enumerate() {
            let next = self.elements(row, k, None, n)?;
            self.combine(&mut accumulated, next, n)?;
            self.put(&mut accumulated, row, j + 1, None, n)?;
        }
        Some(())
    }

    fn part_per_lane(&mut self, row: usize, width: usize) -> Option<()> {
        let (mut before, mut k) = self.begin(row, 1)?;
        self.put(&mut before, row, 0, None, 1)?;
        let mut j = 1;
        // For a primitive function, a loop over the row is faster.
        if let (&Operator::Primitive(op), [column]) = (&self.operator, &mut self.out[..]) {
            let (len, reverse, place) = (self.rows.len, self.reverse, self.place);
            let from = (k..len).map(|k| row * len + if reverse { len - 1 - k } else { k });
            let to = (j..place.length).map(|j| place.of(row, j));
            return prefixes(op, before.first()?.get(0)?, self.elements.first()?, from, column, to, reverse);
        }
        while k < self.rows.len {
            let rest = self.rows.len - k;
            let (lanes, len) = cut(rest, 2 * rest.isqrt(), width);
            let mut accumulated = if lanes == 1 { before } else { self.before_parts(before, row, k, lanes, len)? };
            for t in 0..len {
                let next = self.elements(row, k + t, Some(len), lanes)?;
                self.combine(&mut accumulated, next, lanes)?;
                self.put(&mut accumulated, row, j + t, Some(len), lanes)?;
            }
            before = accumulated.iter().map(|value| uniform(value.get(lanes - 1)?)).collect::<Option<_>>()?;
            (k, j) = (k + lanes * len, j + lanes * len);
        }
        Some(())
    }

    /// For each part of a row: what comes before it. `before` is what comes before the first one.
    fn before_parts(
        &mut self,
        mut before: Vec<Value>,
        row: usize,
        k: usize,
        lanes: usize,
        len: usize,
    ) -> Option<Vec<Value>> {
        let mut totals = self.elements(row, k, Some(len), lanes)?;
        for t in 1..len {
            let next = self.elements(row, k + t, Some(len), lanes)?;
            self.combine(&mut totals, next, lanes)?;
        }
        let mut columns = zeros(&self.types, lanes)?;
        for l in 0..lanes {
            for (column, value) in columns.iter_mut().zip(&before) {
                column.set(l, value.get(0)?).then_some(())?;
            }
            let total = totals.iter().map(|value| uniform(value.get(l)?)).collect::<Option<_>>()?;
            self.combine(&mut before, total, 1)?;
        }
        let mut all = registers(&self.types);
        all.iter_mut().zip(columns).for_each(|(value, column)| value.set(column));
        Some(all)
    }
}
