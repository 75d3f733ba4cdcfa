//! Scans that go down: scans of columns write their results where the columns are.
//!
//! NOTE [Scans that go down]: a scan goes along the innermost dimension, so programs scan the columns of a matrix as the rows
//! of its transpose, and transpose the result. The scan reads the matrix where it is, but the second transposition takes a
//! pass over memory that is as slow as the scan. So if the results of such a scan are read only by loops along the columns, the
//! last two dimensions of the array are exchanged. The loop is then often a copy: NOTE [Copies of scans] in `scan_copies`.

use crate::kernel::{ArrayId, ArrayInfo, IndexVec, Instr, Op, Program, Reduction, Reg, walk, walk_mut};
use std::collections::BTreeSet;

/// Lets scans of columns go down.
pub(crate) fn scans_down(program: &Program) -> Program {
    let mut program = program.clone();
    let mut down: BTreeSet<ArrayId> = program.body.walk().filter_map(|s| of_columns(&s.op)).collect();
    program.results.iter().for_each(|a| _ = down.remove(a));
    program.body.walk().for_each(|s| keep_if_read_along_columns(&s.op, &mut down));
    if !down.is_empty() {
        program.body.walk_mut(|s| exchange(&mut s.op, &down, &program.arrays));
    }
    program
}

/// The array of a scan whose rows lie side by side in memory.
fn of_columns(op: &Op) -> Option<ArrayId> {
    let Op::Scan { to, extents, down: false, rows, .. } = op else { return None };
    let last = Reg::new(extents.results.len().checked_sub(1)?);
    let position = Reg::new(extents.results.len());
    let Reduction { element, op, .. } = rows;
    // The rows are computed at the same time, so it must not matter which of them fails first.
    let can_go = [element, op].iter().all(|c| !c.can_fail() && !c.has_loop());
    let mut reads = walk(&element.instrs).filter_map(|i| match i {
        Instr::Read { index, .. } if index.contains(&position) => index.last(),
        _ => None,
    });
    let first = reads.next();
    (can_go && first == Some(&last) && reads.all(|r| *r == last)).then_some(*to)
}

/// Keeps the arrays that the operation does not use, or reads only along the second last dimension.
fn keep_if_read_along_columns(op: &Op, down: &mut BTreeSet<ArrayId>) {
    let mut other = BTreeSet::new();
    op.arrays_used_whole(&mut other);
    for (name, code) in op.scalar_fns() {
        let innermost = match op {
            Op::Loop { extents, .. } if name == "body" => extents.results.len().checked_sub(1).map(Reg::new),
            _ => None,
        };
        let is_along = |index: &[Reg]| match index {
            [.., column, row] => Some(*column) == innermost && row != column,
            _ => false,
        };
        other.extend(walk(&code.instrs).filter_map(|i| match i {
            Instr::Read { array, index, inside, .. } if !inside || !is_along(index) => Some(*array),
            _ => None,
        }));
    }
    down.retain(|a| !other.contains(a));
}

/// Exchanges the last two dimensions of these arrays.
fn exchange(op: &mut Op, down: &BTreeSet<ArrayId>, arrays: &IndexVec<ArrayId, ArrayInfo>) {
    if let Op::Scan { to, down: goes_down, .. } = op {
        *goes_down |= down.contains(to);
    }
    for code in op.scalar_fns_mut() {
        walk_mut(&mut code.instrs, |i| match i {
            Instr::Read { array, index, .. } if down.contains(array) => {
                let last = index.len() - 1;
                index.swap(last - 1, last);
            }
            Instr::Extent(_, a, dim) if down.contains(a) => {
                let last = arrays[*a].rank - 1;
                match *dim {
                    d if d == last => *dim = last - 1,
                    d if d + 1 == last => *dim = last,
                    _ => {}
                }
            }
            _ => {}
        });
    }
}
