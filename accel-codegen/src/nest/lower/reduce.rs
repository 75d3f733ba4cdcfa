//! Reductions in memory that read few numbers many times, such as the distances of all pairs of points.

use super::{Builder, Element, Lowered, arithmetic, each, nested};
use crate::nest::ir::*;
use accel_core::repr::ScalarType;
use accel_core::repr::op::{Num2, Op2};
use accel_fusion::kernel::{ArrayId, IndexVec, Instr, Program, Reduction, Reg, index_vec};

/// A sum of floating-point numbers whose neighbouring results read neighbouring numbers, or the same.
pub struct TiledSum<'a> {
    program: &'a Program,
    to: ArrayId,
    rows: &'a Reduction,
    /// The type of the numbers.
    pub t: ScalarType,
    /// For each register of the element, whether it differs between neighbouring results.
    varying: IndexVec<Reg, bool>,
}

impl<'a> TiledSum<'a> {
    /// The sum, if it has this form: the result has a rank of 2 or more; the elements consist of floating-point arithmetic
    /// on numbers whose index depends on the last index of the result as its own last component does, or not at all; and
    /// the former are in arrays of a smaller rank than the loops have, so that each is read several times.
    pub fn new(program: &'a Program, to: ArrayId, rows: &'a Reduction) -> Option<TiledSum<'a>> {
        let (result, code, rank) = (rows.float_sum()?, &rows.element, program.arrays[to].rank);
        let t = code.types[result];
        if rank < 2 || !code.is_branch_free() {
            return None;
        }
        let last = Reg::new(rank - 1);
        // The factor of the last index in each register; `varying` are the numbers that differ between lanes.
        let mut factor: IndexVec<Reg, i64> = index_vec![0; code.types.len()];
        let mut varying = index_vec![false; code.types.len()];
        factor[last] = 1;
        for i in &code.instrs {
            let mut used = vec![];
            i.direct_uses(&mut used);
            match i {
                Instr::Read { to, array, index, inside, .. } => {
                    let Some((inner, outer)) = index.split_last() else { continue };
                    if factor[*inner] == 0 && outer.iter().all(|r| factor[*r] == 0) && !used.iter().any(|r| varying[*r])
                    {
                        if i.check(code).is_some() {
                            return None;
                        }
                        continue;
                    }
                    let along = factor[*inner] == 1 && outer.iter().all(|r| factor[*r] == 0);
                    let is_reused = program.arrays[*array].rank <= rank;
                    if !along || !is_reused || !inside || to.iter().any(|r| code.types[*r] != t) {
                        return None;
                    }
                    to.iter().for_each(|r| varying[*r] = true);
                }
                i if arithmetic(code, i, &varying).is_some() => i.sets().iter().for_each(|to| varying[*to] = true),
                Instr::Op2(to, Op2::Num(op @ (Num2::Add | Num2::Sub)), a, b) if factor[*a] != 0 || factor[*b] != 0 => {
                    factor[*to] = if *op == Num2::Add { factor[*a] + factor[*b] } else { factor[*a] - factor[*b] };
                }
                _ if used.iter().any(|r| varying[*r] || factor[*r] != 0) => return None,
                _ => {}
            }
        }
        varying[result].then_some(TiledSum { program, to, rows, t, varying })
    }

    /// The rank of the result.
    pub fn rank(&self) -> usize {
        self.program.arrays[self.to].rank
    }

    /// The naive nest, for a result whose innermost extent is at least `least`.
    pub fn lower(&self, least: i64) -> Lowered {
        let rank = self.rank();
        let mut b = Builder::new(self.program, self.t);
        let index: Vec<Reg> = (0..rank).map(|d| b.variable(&format!("i{d}"))).collect();
        let k = b.variable("k");
        let extents: Vec<Reg> = (0..rank).map(|d| b.param(format!("task->extents[{d}]"), ScalarType::I64)).collect();
        if let Some(p) = b.nest.params.last_mut() {
            p.least = Some(least);
        }
        let extents: Vec<Affine> = extents.into_iter().map(Affine::from).collect();
        let length = b.param("task->len".into(), ScalarType::I64);
        let buffer = b.buffer(Space::Array(self.to, 0), extents.clone());
        let place = Place::new(buffer, index.iter().map(|r| Affine::from(*r)).collect());
        let args = [&index[..], &[k]].concat();
        let init = self.rows.init.as_ref().map(|_| "z0".to_string());
        let (body, e) = b.row(k, length, place, init, |b| self.element(b, &args));
        // The innermost loop over the result has more than one node.
        let results = each(index[rank - 1], Affine::constant(0), extents[rank - 1].clone(), body);
        b.lowered(nested(&index[..rank - 1], &extents, results), e)
    }

    fn element(&self, b: &mut Builder, args: &[Reg]) -> Element {
        // The first factor is a vector.
        b.element(&self.rows.element, args, |r| self.varying[r], &|b, i, c, sum| {
            let Instr::Read { array, index, .. } = i else { return None };
            Some(Place::new(b.in_memory((*array, c)), index.iter().map(|r| sum(*r)).collect()))
        })
    }
}
