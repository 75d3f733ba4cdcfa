//! Sums in strips.

use super::{Builder, Element, Lowered, arithmetic, each, nested};
use crate::nest::ir::*;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, IndexVec, Instr, Program, Reduction, Reg, index_vec};
use std::collections::BTreeSet;

/// The sums of the rows of all lanes, for a result in the strip's working memory.
pub fn row_sums(s: &StripSum) -> Lowered {
    let rank = s.rank();
    let mut b = Builder::new(s.program, s.t);
    let inner: Vec<Reg> = (1..rank).map(|d| b.variable(&format!("i{d}"))).collect();
    let (l, k) = (b.variable("l"), b.variable("k"));
    let extents = (1..rank).map(|d| b.extent(s.to, d)).collect::<Vec<_>>();
    let length = b.param(format!("m{}", s.to), ScalarType::I64);
    let buffer = b.buffer(Space::Strip(s.to, 0), [&extents[..], &[Affine::constant(s.lanes)]].concat());
    let to = Place::new(buffer, inner.iter().chain([&l]).map(|r| Affine::from(*r)).collect());
    let args = [&[l], &inner[..], &[k]].concat();
    let init = s.rows.init.as_ref().map(|_| format!("z{}_0", s.to));
    let (body, e) = b.row(k, length, to, init, |b| s.element(b, &args));
    let lanes = each(l, Affine::constant(0), Affine::constant(s.lanes), body);
    b.lowered(nested(&inner, &extents, lanes), e)
}

/// The sums of the elements of the first `full` lanes, added to the task's partial total. `full` is a multiple of
/// `vector`.
pub fn totals(s: &StripSum, vector: i64) -> Lowered {
    let rank = s.rank();
    let mut b = Builder::new(s.program, s.t);
    let index: Vec<Reg> = (0..rank).map(|d| b.variable(&format!("i{d}"))).collect();
    let l = b.variable("l");
    let extents = (0..rank).map(|d| b.extent(s.to, d)).collect::<Vec<_>>();
    let full = b.param("full".into(), ScalarType::I64);
    if let Some(p) = b.nest.params.last_mut() {
        (p.multiple, p.most) = (vector, Some(s.lanes));
    }
    let buffer = b.buffer(Space::Total(s.to, 0), extents.clone());
    let to = Place::new(buffer, index.iter().map(|r| Affine::from(*r)).collect());
    let args = [&index[..], &[l]].concat();
    let (e, body) = b.summed(to, |b| s.element(b, &args));
    let lanes = each(l, Affine::constant(0), full.into(), body);
    b.lowered(nested(&index, &extents, lanes), e)
}

/// A sum of floating-point numbers in a strip.
pub struct StripSum<'a> {
    /// The program.
    pub program: &'a Program,
    /// The result.
    pub to: ArrayId,
    /// What is summed.
    pub rows: &'a Reduction,
    /// The type of the numbers.
    pub t: ScalarType,
    /// The number of lanes.
    pub lanes: i64,
    /// The parameter of the element with the position.
    pub position: Reg,
    /// The arrays in the strip's working memory.
    pub held: &'a BTreeSet<ArrayId>,
    /// For each register of the element, whether it differs between lanes.
    pub varying: IndexVec<Reg, bool>,
}

impl<'a> StripSum<'a> {
    /// The sum, if its elements consist of floating-point arithmetic on arrays in the strip's working memory, on numbers in
    /// memory whose innermost index is the position, and on values that are the same for all lanes.
    pub fn new(
        program: &'a Program,
        to: ArrayId,
        rows: &'a Reduction,
        position: Reg,
        held: &'a BTreeSet<ArrayId>,
        lanes: usize,
    ) -> Option<StripSum<'a>> {
        let (result, code) = (rows.float_sum()?, &rows.element);
        let mut varying = index_vec![false; code.types.len()];
        if !code.is_branch_free() {
            return None;
        }
        let depends = |varying: &IndexVec<Reg, bool>, r: Reg| varying[r] || r == position;
        for i in &code.instrs {
            match i {
                Instr::Read { to, array, index, .. } if index.first() == Some(&position) => {
                    if !held.contains(array) || index[1..].iter().any(|r| depends(&varying, *r)) {
                        return None;
                    }
                    to.iter().for_each(|r| varying[*r] = true);
                }
                // The numbers of neighbouring positions are a vector in memory.
                Instr::Read { to, index, inside: true, .. } if index.last() == Some(&position) => {
                    let (_, outer) = index.split_last()?;
                    if outer.iter().any(|r| depends(&varying, *r))
                        || to.iter().any(|r| code.types[*r] != code.types[result])
                    {
                        return None;
                    }
                    to.iter().for_each(|r| varying[*r] = true);
                }
                i => {
                    let mut used = vec![];
                    i.direct_uses(&mut used);
                    match arithmetic(code, i, &varying) {
                        Some(to) if used.iter().all(|r| code.types[*r] == code.types[result]) => varying[to] = true,
                        _ if used.iter().any(|r| depends(&varying, *r)) => return None,
                        _ => {}
                    }
                }
            }
        }
        let (t, lanes) = (code.types[result], lanes as i64);
        varying[result].then_some(StripSum { program, to, rows, t, lanes, position, held, varying })
    }

    /// Whether it reads numbers of neighbouring positions, which are no rows of these positions, as vectors from memory.
    pub fn reads_across(&self) -> bool {
        let across = |i: &Instr| matches!(i, Instr::Read { index, .. } if self.is_across(index));
        self.rows.element.instrs.iter().any(across)
    }

    fn is_across(&self, index: &[Reg]) -> bool {
        index.first() != Some(&self.position) && index.last() == Some(&self.position)
    }

    /// The rank of the result.
    pub fn rank(&self) -> usize {
        self.program.arrays[self.to].rank
    }

    fn element(&self, b: &mut Builder, args: &[Reg]) -> Element {
        let base = self.reads_across().then(|| b.param("base".into(), ScalarType::I64));
        // The first factor is a vector.
        b.element(&self.rows.element, args, |r| self.varying[r], &|b, i, c, sum| {
            let Instr::Read { array, index, .. } = i else { return None };
            let (first, inner) = index.split_first()?;
            if let (true, Some((last, outer)), Some(base)) = (self.is_across(index), index.split_last(), base) {
                let last = sum(*last).plus(&base.into(), 1)?;
                return Some(Place::new(
                    b.in_memory((*array, c)),
                    outer.iter().map(|r| sum(*r)).chain([last]).collect(),
                ));
            }
            if *first != self.position {
                return None;
            }
            let rank = self.program.arrays[*array].rank;
            let buffer = b.column(Space::Strip, (*array, c), |b| {
                (1..rank).map(|d| b.extent(*array, d)).chain([Affine::constant(self.lanes)]).collect()
            });
            Some(Place::new(buffer, inner.iter().chain([first]).map(|r| sum(*r)).collect()))
        })
    }
}
