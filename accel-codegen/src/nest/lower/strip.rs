//! Sums in strips.

use super::{Builder, Element, Lowered, each, nested};
use crate::nest::ir::*;
use accel_core::repr::ScalarType;
use accel_core::repr::op::{Num1, Num2, Op1, Op2};
use accel_fusion::kernel::{ArrayId, IndexVec, Instr, Monoid, Program, Reduction, Reg, index_vec};
use std::collections::BTreeSet;

/// The sums of the rows of all lanes, for a result in the strip's working memory.
pub fn row_sums(s: &StripSum) -> Lowered {
    let rank = s.rank();
    let mut b = Builder::new(s.program, s.t);
    let inner: Vec<Reg> = (1..rank).map(|d| b.variable(&format!("i{d}"))).collect();
    let (l, k) = (b.variable("l"), b.variable("k"));
    let extents = (1..rank).map(|d| b.extent(s.to, d)).collect::<Vec<_>>();
    let length = b.param(format!("m{}", s.to), ScalarType::I64);
    let to = Place {
        buffer: b.buffer(Space::Strip(s.to, 0), [&extents[..], &[Affine::constant(s.lanes)]].concat()),
        index: inner.iter().chain([&l]).map(|r| Affine::from(*r)).collect(),
    };
    let first = match s.rows.init {
        Some(_) => b.param(format!("z{}_0", s.to), s.t),
        None => b.neutral(Monoid::Sum),
    };
    let start = b.take();
    let args = [&[l], &inner[..], &[k]].concat();
    let e = s.element(&mut b, &args);
    let mut element = b.take();
    element.push(Node::Acc { to: to.clone(), monoid: Monoid::Sum, value: e.value, times: e.times });
    let zero = Affine::constant(0);
    let row = each(k, zero.clone(), length.into(), element);
    let body = [start, vec![Node::Store { to, value: first }, row]].concat();
    let lanes = each(l, zero, Affine::constant(s.lanes), body);
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
    let to = Place {
        buffer: b.buffer(Space::Total(s.to, 0), extents.clone()),
        index: index.iter().map(|r| Affine::from(*r)).collect(),
    };
    let args = [&index[..], &[l]].concat();
    let e = s.element(&mut b, &args);
    let mut element = b.take();
    element.push(Node::Acc { to, monoid: Monoid::Sum, value: e.value, times: e.times });
    let lanes = each(l, Affine::constant(0), full.into(), element);
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
    /// The sum, if its elements consist of floating-point arithmetic on arrays in the strip's working memory and on values
    /// that are the same for all lanes.
    pub fn new(
        program: &'a Program,
        to: ArrayId,
        rows: &'a Reduction,
        position: Reg,
        held: &'a BTreeSet<ArrayId>,
        lanes: usize,
    ) -> Option<StripSum<'a>> {
        let types = &program.arrays[to].columns[..];
        let (Some(Monoid::Sum), [t @ (ScalarType::F32 | ScalarType::F64)]) = (rows.monoid, types) else { return None };
        let code = &rows.element;
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
                Instr::Op1(to, Op1::Num(Num1::Neg), a) if varying[*a] && code.types[*a] == *t => varying[*to] = true,
                Instr::Op2(to, Op2::Num(Num2::Add | Num2::Sub | Num2::Mul | Num2::Div), a, b)
                    if (varying[*a] || varying[*b]) && code.types[*a] == *t =>
                {
                    varying[*to] = true
                }
                i => {
                    let mut used = vec![];
                    i.direct_uses(&mut used);
                    if used.iter().any(|r| depends(&varying, *r)) {
                        return None;
                    }
                }
            }
        }
        let lanes = lanes as i64;
        varying[code.results[0]].then_some(StripSum { program, to, rows, t: *t, lanes, position, held, varying })
    }

    /// The rank of the result.
    pub fn rank(&self) -> usize {
        self.program.arrays[self.to].rank
    }

    fn element(&self, b: &mut Builder, args: &[Reg]) -> Element {
        // The first factor is a vector.
        b.element(&self.rows.element, args, |r| self.varying[r], &|b, i, c, sum| {
            let Instr::Read { array, index, .. } = i else { return None };
            let (first, inner) = index.split_first()?;
            if *first != self.position {
                return None;
            }
            let rank = self.program.arrays[*array].rank;
            let buffer = b.column(Space::Strip(*array, c), |b| {
                (1..rank).map(|d| b.extent(*array, d)).chain([Affine::constant(self.lanes)]).collect()
            })?;
            Some(Place { buffer, index: inner.iter().chain([first]).map(|r| sum(*r)).collect() })
        })
    }
}
