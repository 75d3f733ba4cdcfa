//! Reads elements by one index instead of by the digits of one.
//!
//! NOTE [Digits of an index]: a sum over two dimensions of an array, such as the adjoint of a vector that stands in all rows of an array of three
//! dimensions, has one index for both, and reads `a[i / n, i % n, j]`. With the two dimensions as one it reads `b[i, j]`: sums whose indices are
//! parameters have kernels of their own, and the reshape costs nothing.

use crate::kernel::builder::Builder;
use crate::kernel::dead_code::{defined, restricted_to};
use crate::kernel::{ArrayId, ArrayInfo, Instr, Op, Program, Reg, ScalarFn, Stmt};
use crate::optimize::facts::known_extents::{KnownExtents, known_extents};
use crate::optimize::facts::shape_analysis::InputExtents;
use crate::optimize::{Place, Rule, rewrite};
use accel_core::repr::Scalar;
use accel_core::repr::op::{Num2, Op2};
use std::collections::BTreeMap;

/// Lets sums read arrays whose dimensions are merged.
pub(crate) fn merged_dimensions(program: &Program, given: &InputExtents) -> Program {
    rewrite(program, &mut Merged { known: known_extents(program, given), origins: BTreeMap::new() })
}

/// `Σ_i a[i / n, i % n, j]` is `b = reshape a; Σ_i b[i, j]`.
struct Merged {
    known: KnownExtents,
    /// Of dimensions of views, the dimensions that they are.
    origins: BTreeMap<(ArrayId, usize), (ArrayId, usize)>,
}

impl Rule for Merged {
    fn stmt(&mut self, place: &mut Place, mut s: Stmt, before: &mut Vec<Stmt>) {
        if let Op::Reduce { rows, .. } = &mut s.op {
            let mut views = BTreeMap::new();
            while let Some(Digits { at, array, dim, whole }) = self.digits(&rows.element) {
                let view = *views.entry((array, dim)).or_insert_with(|| {
                    let (to, op) = self.view(place, array, dim);
                    before.push(Stmt { op, site: s.site });
                    to
                });
                if let Instr::Read { array, index, .. } = &mut rows.element.instrs[at] {
                    *array = view;
                    index.splice(dim..dim + 2, [whole]);
                }
            }
            if !views.is_empty() {
                rows.element = restricted_to(&rows.element, rows.element.results.clone());
            }
        }
        before.push(s);
    }
}

/// A read of an array at the quotient and the remainder of an index by an extent.
struct Digits {
    /// The place of the instruction.
    at: usize,
    array: ArrayId,
    /// The dimension of the quotient; that of the remainder is the next one.
    dim: usize,
    /// The index.
    whole: Reg,
}

impl Merged {
    fn digits(&self, code: &ScalarFn) -> Option<Digits> {
        code.instrs.iter().enumerate().find_map(|(at, i)| {
            let Instr::Read { array, index, inside: true, .. } = i else { return None };
            let pair = |dim: usize| match [index[dim], index[dim + 1]].map(|r| defined(code, r)) {
                [Some(Instr::Op2(_, div, whole, n)), Some(Instr::Op2(_, rem, other, m))] => {
                    let is_pair = [*div, *rem] == [Op2::Num(Num2::Div), Op2::Num(Num2::Rem)]
                        && (whole, n) == (other, m)
                        && match defined(code, *n) {
                            Some(Instr::Extent(_, of, k)) => (*of, *k) == self.origin(*array, dim + 1),
                            Some(Instr::Const(_, Scalar::I64(n))) => self.extent(*array, dim + 1) == Some(*n),
                            _ => false,
                        };
                    is_pair.then_some(Digits { at, array: *array, dim, whole: *whole })
                }
                _ => None,
            };
            (0..index.len().saturating_sub(1)).find_map(pair)
        })
    }

    fn origin(&self, array: ArrayId, dim: usize) -> (ArrayId, usize) {
        *self.origins.get(&(array, dim)).unwrap_or(&(array, dim))
    }

    /// An extent, if it is known.
    fn extent(&self, array: ArrayId, dim: usize) -> Option<i64> {
        let (array, dim) = self.origin(array, dim);
        self.known.get(array)?.as_ref()?.get(dim).copied()
    }

    /// The array with the dimensions `dim` and `dim + 1` as one.
    fn view(&mut self, place: &mut Place, array: ArrayId, dim: usize) -> (ArrayId, Op) {
        let info = place.arrays[array].clone();
        let mut b = Builder::new(&[]);
        let mut extents: Vec<_> = (0..info.rank).map(|k| b.extent(array, k)).collect();
        let one = b.index_op(Num2::Mul, extents[dim], extents[dim + 1]);
        extents.splice(dim..dim + 2, [one]);
        let others = (0..info.rank).filter(|k| *k != dim && *k != dim + 1);
        let to = place.arrays.push(ArrayInfo { rank: info.rank - 1, ..info.clone() });
        for k in others {
            let origin = self.origin(array, k);
            self.origins.insert((to, if k < dim { k } else { k - 1 }), origin);
        }
        (to, Op::Reshape { to, from: array, extents: b.finish(extents) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{evaluate, parse, verify};
    use accel_core::array::Array;
    use accel_core::types::{Arrays, Dim4};

    #[test]
    fn digits_are_one_index() {
        let program = |low: &str, n: &str| {
            let text = format!(
                "program (a0: Array4<f64>) site 0 = \"fold\" {{
                   a1: Array1<f64> = reduce @0 sum
                     extents () {{ x0: i64 = extent a0 3 -> x0 }}
                     len () {{ x0: i64 = extent a0 0 x1: i64 = extent a0 1 x2: i64 = extent a0 2 x3: i64 = x0 * x1 x4: i64 = x3 * x2 -> x4 }}
                     element (x0: i64, x1: i64) {{
                       x2: i64 = extent a0 2 x3: i64 = x1 % x2 x4: i64 = x1 / x2 x5: i64 = extent a0 {n} x6: i64 = x4 % x5 x7: i64 = x4 / x5
                       x8: f64 = a0[x7, x6, {low}, x0] @0 inside -> x8
                     }}
                     init () {{ x0: f64 = 0.0 -> x0 }}
                     op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
                   -> a1
                 }}"
            );
            let program = parse(&text).unwrap();
            let after = merged_dimensions(&program, &vec![]);
            verify(&after).unwrap_or_else(|e| panic!("{e}\n{after}"));
            if (low, n) == ("x3", "1") {
                let numbers = (0..96).map(|i| f64::from(i * i % 37)).collect();
                let argument = Array::<Dim4, f64>::from_vec([2, 3, 4, 4], numbers).unwrap().to_tuple();
                let [before, own] = [&program, &after].map(|p| format!("{:?}", evaluate(p, &argument).unwrap()));
                assert_eq!(before, own);
            }
            let reads: Vec<usize> = after
                .body
                .stmts
                .iter()
                .flat_map(|s| s.op.scalar_fns().into_iter().flat_map(|(_, c)| c.instrs.clone()))
                .filter_map(|i| if let Instr::Read { index, .. } = i { Some(index.len()) } else { None })
                .collect();
            (after.body.stmts.len(), reads)
        };
        // Three dimensions become two, and then one.
        assert_eq!(program("x3", "1"), (3, vec![2]));
        // Only the first two; the wrong extent.
        assert_eq!(program("x2", "1"), (2, vec![3]));
        assert_eq!(program("x3", "0"), (1, vec![4]));
    }
}
