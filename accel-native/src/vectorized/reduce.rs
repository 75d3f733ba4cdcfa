//! Reductions of rows.
//!
//! If there are many rows, each lane reduces a row of its own, from its first element to the last one. If there are few
//! rows, the lanes compute elements of one row. A primitive function then combines them in order. Another operator gets
//! a part of the row in each lane; then neighbouring parts are combined.

use super::lanes::Value;
use super::machine::{Context, Machine, width};
use super::operator::{Operator, registers, uniform};
use super::primitives::fold;
use super::product::product;
use super::rows::{Rows, cut};
use super::space::{batches, in_parts, work, zeros};
use accel_core::repr::op::Op2;
use accel_core::repr::{ColumnPart, RawArray, Scalar, ScalarType};
use accel_fusion::kernel::{Reduction, Reg};
use std::ops::Range;

/// What an instruction costs besides the work for each lane, as a number of lanes.
const OVERHEAD: usize = 64;

/// The array of the reduced rows.
pub fn reduce(context: Context, rows: &Reduction, outer: &[usize]) -> Option<RawArray> {
    let rows = Rows::new(context, rows, outer)?;
    let (n, len, types) = (rows.count(), rows.len, rows.code.columns());
    if len == 0 && n > 0 && rows.init.is_none() {
        return None;
    }
    let product = if n * len > 0 { product(&rows) } else { None };
    let columns = match product {
        Some(column) => vec![column],
        None => {
            let (lanes, steps) = (width(&rows.code.element), work(&rows.code.element) + work(&rows.code.op));
            let by_rows = n.div_ceil(lanes).saturating_mul(len).saturating_mul(OVERHEAD);
            let by_row = n.saturating_mul(len / lanes + 8).saturating_mul(OVERHEAD);
            let row_per_lane = by_rows <= by_row;
            let mut columns = zeros(&types, n)?;
            let width = if row_per_lane { lanes } else { 1 };
            in_parts(&mut columns, n, steps.saturating_mul(len), width, |range, parts| {
                let mut reducer = Reducer::new(&rows);
                if row_per_lane { reducer.row_per_lane(range, parts) } else { reducer.row_by_row(range, parts) }
            })?;
            columns
        }
    };
    Some(RawArray { extents: outer.into(), columns: columns.into() })
}

/// The registers for reducing rows.
struct Reducer<'e> {
    rows: &'e Rows<'e>,
    element: Machine<'e>,
    operator: Operator<'e>,
    /// The parameter of the element that is its position in the row.
    position: Reg,
    types: Vec<ScalarType>,
}

impl<'e> Reducer<'e> {
    fn new(rows: &'e Rows<'e>) -> Reducer<'e> {
        Reducer {
            rows,
            element: Machine::new(rows.context, &rows.code.element, 1),
            operator: Operator::new(rows.context, rows.code),
            position: Reg::new(rows.outer.len()),
            types: rows.code.columns(),
        }
    }

    /// Combines the elements at the present positions with the accumulated values.
    fn accumulate(&mut self, accumulated: &mut Option<Vec<Value>>, n: usize) -> Option<()> {
        match accumulated {
            Some(accumulated) => {
                let Reducer { operator, element, .. } = self;
                element.with_results(|right| operator.append(accumulated, right, n))
            }
            None => {
                let mut first = registers(&self.types);
                first.iter_mut().zip(self.element.results()).try_for_each(|(to, x)| to.copy_from(x, n))?;
                *accumulated = Some(first);
                Some(())
            }
        }
    }

    fn row_per_lane(&mut self, range: Range<usize>, parts: &mut [ColumnPart]) -> Option<()> {
        let width = self.element.width();
        for (first, n) in batches(self.rows.outer, range.clone(), width) {
            self.element.set_index(self.rows.outer, first, n)?;
            let mut accumulated = self.rows.initial();
            for k in 0..self.rows.len {
                self.element.value_mut(self.position).set_uniform(Scalar::I64(k as i64));
                if k == 0 { self.element.batch() } else { self.element.step() }?;
                self.accumulate(&mut accumulated, n)?;
            }
            for (value, part) in accumulated?.iter_mut().zip(parts.iter_mut()) {
                value.store(n, part, first - range.start)?;
            }
        }
        Some(())
    }

    /// A long row after the other.
    fn row_by_row(&mut self, range: Range<usize>, parts: &mut [ColumnPart]) -> Option<()> {
        for row in range.clone() {
            self.element.set_index(self.rows.outer, row, 1)?;
            let total = match self.operator {
                Operator::Primitive(op) => self.in_order(op),
                Operator::Function(_) => self.part_per_lane(),
            };
            for (value, part) in total?.iter_mut().zip(parts.iter_mut()) {
                value.store(1, part, row - range.start)?;
            }
        }
        Some(())
    }

    /// Computes elements from position `first` of the row on, at a distance of `step`. `is_new_row` is true at the first
    /// call for a row.
    fn elements(&mut self, first: usize, step: usize, n: usize, is_new_row: bool) -> Option<()> {
        self.element.set_lanes(n);
        self.element.value_mut(self.position).set_ramp(first as i64, step as i64);
        if is_new_row { self.element.batch() } else { self.element.step() }
    }

    /// Reduces a row by a primitive function: this is fast enough to take one element after the other.
    fn in_order(&mut self, op: Op2) -> Option<Vec<Value>> {
        let mut total = self.rows.init.as_ref().and_then(|init| init.first().copied());
        let width = self.element.width();
        for first in (0..self.rows.len).step_by(width) {
            let n = width.min(self.rows.len - first);
            self.elements(first, 1, n, first == 0)?;
            self.element.fill_results()?;
            let elements = self.element.results().next()?;
            total = match total {
                Some(total) => Some(fold(op, total, elements.lanes()?, 0..n)?),
                None => Some(fold(op, elements.get(0)?, elements.lanes()?, 1..n)?),
            };
        }
        Some(vec![uniform(total?)?])
    }

    /// Reduces a row in parts, one for each lane.
    fn part_per_lane(&mut self) -> Option<Vec<Value>> {
        let mut total = self.rows.initial();
        let mut at = 0;
        while at < self.rows.len {
            let rest = self.rows.len - at;
            let (lanes, len) = cut(rest, rest / 4, self.element.width());
            let mut accumulated = None;
            for k in 0..len {
                self.elements(at + k, len, lanes, at + k == 0)?;
                self.accumulate(&mut accumulated, lanes)?;
            }
            let mut part = self.operator.fold(accumulated?, lanes)?;
            match &mut total {
                Some(total) => self.operator.append(total, &mut part, 1)?,
                None => total = Some(part),
            }
            at += lanes * len;
        }
        total
    }
}
