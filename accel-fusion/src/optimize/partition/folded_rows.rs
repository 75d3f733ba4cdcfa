//! Folded rows: functions of an index for loops that run through the rows of an array without a break.
//!
//! NOTE [Folded rows]: a row of three numbers does not fill a vector. If all arrays of a loop have such rows, and the loop reads
//! them nowhere but at its own index, it runs over all rows as if they were one: NOTE [Merged dimensions] in `accel_codegen`.
//! Otherwise it needs the index: `x[i, j] - mean[j]` reads by `j`, and a stencil decides by it. So a vector has the elements at
//! neighbouring positions, with an index each. What is read at the loop's own index, or at a constant distance from it, is adjacent
//! in memory, across the ends of rows, as long as the rows of the array are as long as those of the loop. What is read elsewhere is
//! gathered.
//!
//! There are no branches in a vector:
//! - Decisions that a whole row makes in the same way (NOTE [Row decisions]) are made before, for all positions of a vector. There
//!   are few rows in which they differ.
//! - Decisions at the ends of rows (NOTE [Interiors]) concern a column or two. There is a version of the function for each of these
//!   columns, in which all of them are made, and one for the others. All versions are computed, and each lane selects its own. A
//!   clamped read is near in each version. A version also reads for lanes that do not select it, before the start or behind the end
//!   of the row. That is inside the array, except for the first and the last positions.
//! - Other conditionals become selections, as in NOTE [Row selections]. What is read in a branch that is not taken is the first
//!   element of the array instead, so the array must have one.

use crate::kernel::builder::Builder;
use crate::kernel::{ArrayId, Instr, Program, Reg, ScalarFn, walk, walk_mut};
use crate::optimize::facts::edges::{At, EdgeDecision, edge_decisions, forms, sum, with_decisions};
use crate::optimize::facts::poly::{Poly, Sym};
use crate::optimize::facts::shape_analysis::Facts;
use crate::optimize::partition::interior::MOST_INSTRS;
use crate::optimize::partition::row_decisions::{RowDecisions, row_decisions};
use crate::optimize::partition::row_selections::all_selected;
use crate::optimize::scalar::cheap_branches::{MOST_COST, is_for_numbers};
use crate::optimize::scalar::scalar_cleanup::{ExecutionCount, NoProducers, clean};
use accel_core::repr::op::{Cmp, Num2, Op2};
use accel_core::repr::{Scalar, ScalarType};
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

/// The largest number of columns with an own version: two at each end, as a stencil of five places needs. All versions are computed for
/// each element.
const MOST_COLUMNS: i64 = 4;

/// A function of an index for vectors of neighbouring positions.
pub struct FoldedRows {
    /// Whether the function computes the elements of a row: a function of the same index that does not use its last component.
    /// If there is none, it computes all.
    pub hold: Option<ScalarFn>,
    /// The least extent of a row.
    pub least: i64,
    /// The arrays that must have elements.
    pub read: BTreeSet<ArrayId>,
    /// The function, without branches.
    pub code: ScalarFn,
    /// The reads at a constant distance from the index, by their first result, with the distance along each dimension. They can
    /// be outside of the array for lanes whose results do not depend on them.
    pub near: HashMap<Reg, Vec<i64>>,
    /// The arrays of these reads. Their extents, without the outermost one, must be those of the loop.
    pub same: BTreeSet<ArrayId>,
    /// Whether other reads are at sums of multiples of the index. Vectors gather there. A loop along a row need not.
    pub gathers: bool,
}

/// The function for folded rows of a loop with these extents, if vectors pay.
pub fn folded_rows(program: &Program, extents: &ScalarFn, code: &ScalarFn) -> Option<FoldedRows> {
    let rank = extents.results.len();
    let cheap = |i: &Instr| match i {
        Instr::If { then, otherwise, .. } => code.cost_of(then) + code.cost_of(otherwise) <= MOST_COST,
        _ => !is_for_numbers(i),
    };
    if rank < 2 || walk(&code.instrs).count() > MOST_INSTRS || !walk(&code.instrs).all(cheap) {
        return None;
    }
    let mut facts = Facts::new(program, false);
    let ranges: Vec<Poly> = (0..rank).map(|_| facts.unknown()).collect();
    let rows = row_decisions(&mut facts, code, &ranges, true);
    let (hold, code) = rows.map_or((None, code.clone()), |RowDecisions { hold, code }| (Some(hold), code));
    let ends = Ends::new(extents, &code, rank).unwrap_or_else(|| Ends { last: rank - 1, ..Ends::default() });
    let mut b = Builder::new(code.param_types());
    let (index, mut results, mut read) = (b.params(), vec![], BTreeSet::new());
    for column in ends.columns() {
        let decided = with_decisions(&code, |r| ends.order(r, &column));
        let version = clean(&mut facts, &NoProducers, &decided, &ranges, ExecutionCount::Maybe).code;
        let (version, conditions) = ends.of_column(program, version, rank, &column);
        let forms = forms(&version, rank);
        let selected = all_selected(&version, rank, &conditions, &|i| distances(program, &forms, rank, i).is_some())?;
        let mut own = b.inline(&selected.code, &index);
        // The last result of the version of a column is whether it is this column.
        let is_own = (column != Column::Interior).then(|| own.pop()).flatten();
        results = match is_own {
            Some(is_own) => selected_results(&mut b, is_own, &own, &results),
            None => own,
        };
        read.extend(selected.read);
    }
    let code = b.finish(results);
    let forms = forms(&code, rank);
    let (mut near, mut same, mut gathers) = (HashMap::new(), BTreeSet::new(), false);
    for i in &code.instrs {
        let Instr::Read { to, array, index, .. } = i else { continue };
        if let (Some(first), Some(distances)) = (to.first(), distances(program, &forms, rank, i)) {
            near.insert(*first, distances);
            same.insert(*array);
        } else {
            gathers |= !index.is_empty() && index.iter().all(|r| forms.get(r).is_some_and(is_linear));
        }
    }
    Some(FoldedRows { hold, least: ends.before + ends.behind, read, code, near, same, gathers })
}

/// The results of a column if a lane is in it, and otherwise the other ones.
fn selected_results(b: &mut Builder, is_own: Reg, own: &[Reg], others: &[Reg]) -> Vec<Reg> {
    let merge: Vec<_> = own.iter().zip(others).map(|(x, y)| (b.reg(b.so_far().types[*x]), *x, *y)).collect();
    let results = merge.iter().map(|m| m.0).collect();
    b.emit(Instr::If { cond: is_own, then: vec![].into(), otherwise: vec![].into(), merge });
    results
}

/// The distance of a read from the loop's index along each dimension, if it is constant.
fn distances(program: &Program, forms: &HashMap<Reg, Poly>, rank: usize, i: &Instr) -> Option<Vec<i64>> {
    let Instr::Read { array, index, .. } = i else { return None };
    let distance = |(d, r): (usize, &Reg)| forms.get(r)?.minus_exactly(&Poly::sym(Sym::Param(d)))?.as_constant();
    (program.arrays[*array].rank == rank).then(|| index.iter().enumerate().map(distance).collect()).flatten()
}

/// Whether an integer is a sum of multiples of the loop's index and a constant.
fn is_linear(p: &Poly) -> bool {
    p.terms().all(|(syms, _)| matches!(syms, [] | [Sym::Param(_)]))
}

/// What decides in another way at the ends of a row than in between.
#[derive(Default)]
struct Ends {
    /// The extent of the row, if something is decided at its end.
    extent: Option<Poly>,
    /// The number of columns at the start and at the end that differ.
    before: i64,
    behind: i64,
    /// The instructions that decide, with the difference of their operands and its sign in the interior.
    decisions: HashMap<Reg, (Poly, Ordering)>,
    last: usize,
}

#[derive(PartialEq, Eq)]
enum Column {
    Interior,
    /// The number of columns before it.
    Start(i64),
    /// The number of columns behind it.
    End(i64),
}

impl Ends {
    /// The decisions at the ends of a row, if they concern few columns.
    fn new(extents: &ScalarFn, code: &ScalarFn, rank: usize) -> Option<Ends> {
        let last = rank - 1;
        let (forms, of_extents) = (forms(code, rank), forms(extents, 0));
        let mut ends = Ends { last, ..Ends::default() };
        for EdgeDecision { to, difference, edge, decision, .. } in
            edge_decisions(walk(&code.instrs), &forms, last..rank)
        {
            let strict = i64::from(decision.strict);
            match &edge.at {
                At::Start(at) => ends.before = ends.before.max(at + strict),
                At::End(at) => {
                    let extent = of_extents.get(&extents.results[last]).filter(|e| is_near_extent(e))?;
                    let columns = extent.minus_exactly(&at.plus_constant(1 - strict))?.as_constant()?;
                    ends.behind = ends.behind.max(columns);
                    ends.extent = Some(extent.clone());
                }
            }
            ends.decisions.insert(to, (difference, edge.order()));
        }
        let columns = ends.before + ends.behind;
        let instrs = walk(&code.instrs).count() * (1 + columns as usize);
        (columns <= MOST_COLUMNS && instrs <= MOST_INSTRS).then_some(ends)
    }

    /// All columns, first those in the interior.
    fn columns(&self) -> impl Iterator<Item = Column> {
        let (start, end) = ((0..self.before).map(Column::Start), (0..self.behind).map(Column::End));
        std::iter::once(Column::Interior).chain(start).chain(end)
    }

    /// The order of the operands of an instruction in a column.
    fn order(&self, r: Reg, column: &Column) -> Option<Ordering> {
        let (difference, inside) = self.decisions.get(&r)?;
        // What is decided at the other end has no constant difference.
        let here = self.value(column).and_then(|j| difference.replace_exactly(Sym::Param(self.last), &j));
        Some(here.and_then(|d| d.as_constant()).map_or(*inside, |d| d.cmp(&0)))
    }

    /// The index of a column.
    fn value(&self, column: &Column) -> Option<Poly> {
        match column {
            Column::Interior => None,
            Column::Start(k) => Some(Poly::constant(*k)),
            Column::End(k) => Some(self.extent.as_ref()?.plus_constant(-1 - k)),
        }
    }

    /// The version of a column with reads near the loop's index, and the conditions under which its results are used. That of an
    /// own column is also its last result.
    fn of_column(&self, program: &Program, mut code: ScalarFn, rank: usize, column: &Column) -> (ScalarFn, Vec<Reg>) {
        let (forms, last) = (forms(&code, rank), Reg::new(self.last));
        let mut instrs = std::mem::take(&mut code.instrs);
        let (mut b, _) = Builder::after(ScalarFn { results: vec![], ..code.clone() });
        let value = self.value(column);
        if let Some(value) = &value {
            // At this column, `value` is the index along the row.
            walk_mut(&mut instrs, |i| {
                let Instr::Read { array, index, .. } = i else { return };
                let Some(r) = index.get_mut(self.last).filter(|_| program.arrays[*array].rank == rank) else { return };
                let Some(distance) = forms.get(r).and_then(|f| f.minus_exactly(value)?.as_constant()) else { return };
                let distance = b.constant(Scalar::I64(distance));
                *r = b.index_op(Num2::Add, last, distance);
            });
        }
        let conditions = self.conditions(&mut b, value);
        let head = b.finish(vec![]);
        code.types = head.types;
        code.instrs = [head.instrs, instrs].concat();
        code.results.extend(conditions.iter().filter(|_| *column != Column::Interior));
        (code, conditions)
    }

    /// Whether the index along the row is this one, or, without one, in the interior.
    fn conditions(&self, b: &mut Builder, value: Option<Poly>) -> Vec<Reg> {
        let last = Reg::new(self.last);
        let mut tests = vec![];
        match value {
            Some(value) => tests.push((Cmp::Eq, value)),
            None => {
                tests.extend((self.before > 0).then(|| (Cmp::Ge, Poly::constant(self.before))));
                let end = self.extent.as_ref().filter(|_| self.behind > 0).map(|e| e.plus_constant(-self.behind));
                tests.extend(end.map(|end| (Cmp::Lt, end)));
            }
        }
        let test = |(cmp, value): (Cmp, Poly)| {
            let (value, to) = (sum(b, &value), b.reg(ScalarType::Bool));
            b.emit(Instr::Op2(to, Op2::Cmp(cmp), last, value));
            to
        };
        tests.into_iter().map(test).collect()
    }
}

/// Whether an integer is an extent, or differs from it by a constant.
fn is_near_extent(p: &Poly) -> bool {
    let (mut extents, mut others) = (0, 0);
    for (syms, n) in p.terms() {
        match syms {
            [] => {}
            [Sym::Extent(..)] if n == 1 => extents += 1,
            _ => others += 1,
        }
    }
    extents == 1 && others == 0
}
