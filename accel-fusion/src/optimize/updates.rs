//! Lets updates of arrays in loops happen in place.
//!
//! NOTE [Updates in place]: a permutation copies its defaults, unless this is their last use: then it changes them in place. In a
//! loop that updates a few elements in each step, the copy would take nearly all of the time. It is avoidable if what the step
//! reads of the old array is read before the update. So, in loops,
//! - a permutation whose elements or targets read its defaults, or those of another one, gets them from loops before it;
//! - a permutation moves behind statements that read its defaults and not its result.

use crate::kernel::builder::{Builder, index_types};
use crate::kernel::{ArrayId, ArrayInfo, Block, Instr, Op, Program, ScalarFn, SiteId, Stmt, walk};
use accel_core::ast::deep;
use index_vec::IndexVec;
use std::collections::BTreeSet;

/// Arranges the statements of loops so that updates can happen in place.
pub(crate) fn in_place(program: &Program) -> Program {
    let mut program = program.clone();
    let mut body = std::mem::take(&mut program.body);
    block(&mut body, &mut program.arrays, false);
    Program { body, ..program }
}

fn block(b: &mut Block, arrays: &mut IndexVec<ArrayId, ArrayInfo>, in_loop: bool) {
    for s in &mut b.stmts {
        let in_loop = in_loop || matches!(s.op, Op::While { .. });
        s.op.blocks_mut().into_iter().for_each(|b| deep(|| block(b, arrays, in_loop)));
    }
    if !in_loop || !b.stmts.iter().any(|s| matches!(s.op, Op::Permute { .. })) {
        return;
    }
    let changed = |s: &Stmt| if let Op::Permute { defaults, .. } = s.op { Some(defaults) } else { None };
    let changed: BTreeSet<ArrayId> = b.stmts.iter().filter_map(changed).collect();
    for s in std::mem::take(&mut b.stmts) {
        separate_reads(s, &changed, arrays, &mut b.stmts);
    }
    // From the last one on, as a permutation may have to move behind another one.
    for k in (0..b.stmts.len()).rev() {
        move_behind_readers(&mut b.stmts, k);
    }
}

/// Adds a statement; before it, if it is a permutation that reads arrays which permutations change, the loops that read them.
fn separate_reads(
    mut s: Stmt,
    changed: &BTreeSet<ArrayId>,
    arrays: &mut IndexVec<ArrayId, ArrayInfo>,
    done: &mut Vec<Stmt>,
) {
    if let Op::Permute { extents, target, element, .. } = &mut s.op {
        for code in [target, element] {
            if walk(&code.instrs).any(|i| matches!(i, Instr::Read { array, .. } if changed.contains(array))) {
                let before = separate(code, extents.clone(), arrays, s.site);
                done.push(before);
            }
        }
    }
    done.push(s);
}

/// A loop that computes a function for all indices. The function then only reads its results.
fn separate(code: &mut ScalarFn, extents: ScalarFn, arrays: &mut IndexVec<ArrayId, ArrayInfo>, site: SiteId) -> Stmt {
    let columns = code.results.iter().map(|r| code.types[*r]).collect();
    let array = arrays.push(ArrayInfo { rank: code.params, columns });
    let mut b = Builder::new(&index_types(code.params));
    let to: Vec<_> = arrays[array].columns.iter().map(|t| b.reg(*t)).collect();
    b.emit(Instr::Read { to: to.clone(), array, index: b.params(), site, inside: true });
    let body = std::mem::replace(code, b.finish(to));
    Stmt { op: Op::Loop { to: vec![array], extents, body }, site }
}

/// Moves the permutation at `k` behind the last statement that uses its defaults, if none until there needs its result.
fn move_behind_readers(stmts: &mut [Stmt], k: usize) {
    let Op::Permute { to, defaults, .. } = stmts[k].op else { return };
    let uses = |s: &Stmt, a: ArrayId| {
        let mut all = BTreeSet::new();
        s.op.used_arrays(&mut all);
        all.contains(&a)
    };
    let independent = stmts[k + 1..].iter().take_while(|s| !uses(s, to));
    if let Some(last) = independent.enumerate().filter(|(_, s)| uses(s, defaults)).map(|(n, _)| n).last() {
        stmts[k..=k + 1 + last].rotate_left(1);
    }
}
