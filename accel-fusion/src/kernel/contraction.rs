//! Reductions that are matrix products in some disguise.

use super::ir::*;
use accel_core::repr::ScalarType;
use accel_core::repr::op::{Num2, Op2};
use std::collections::HashMap;

/// A reduction by `+` of `factor * left[..] * right[..]` over floats, where the indices are plain parameters: a product of two
/// matrices, perhaps transposed, perhaps many at once. `a0[x0, x2] * a1[x2, x1]` summed over `x2` is the plain one.
#[derive(Clone, Debug)]
pub struct Contraction {
    /// The element type: `f32` or `f64`.
    pub ty: ScalarType,
    /// The operand that the rows of the result come from.
    pub left: Operand,
    /// The operand that the columns of the result come from.
    pub right: Operand,
    /// A number that all products are multiplied with: code without parameters.
    pub factor: Code,
    /// The role of every parameter of the element: the outer dimensions of the result, and at last the reduced one.
    pub roles: Vec<Role>,
}

/// A read of an array at parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operand {
    /// The array.
    pub array: ArrayId,
    /// Which of its columns.
    pub column: usize,
    /// The parameter that each dimension is indexed by.
    pub index: Vec<Reg>,
}

/// Where a parameter of a contraction's element occurs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// In both operands and the result.
    Batch,
    /// In the left operand and the result.
    Row,
    /// In the right operand and the result.
    Column,
    /// In both operands only.
    Reduced,
}

impl Rows {
    /// The contraction that a reduction of these rows is, if it has both rows and columns.
    pub fn contraction(&self) -> Option<Contraction> {
        let (Some(Known::Sum), &[result]) = (self.known, self.element.results.as_slice()) else { return None };
        let ty = self.element.types[result];
        if !ty.is_float() {
            return None;
        }
        let (operands, factors) = factors(&self.element, result)?;
        let [a, b] = <[Operand; 2]>::try_from(operands).ok()?;
        // The operand with the outermost dimension of the result gives its rows.
        let params = self.element.params;
        let first = (0..params).find(|p| a.index.contains(p) != b.index.contains(p))?;
        let (left, right) = if a.index.contains(&first) { (a, b) } else { (b, a) };
        let role = |p: Reg| match (left.index.contains(&p), right.index.contains(&p), p + 1 == params) {
            (true, true, true) => Some(Role::Reduced),
            (true, true, false) => Some(Role::Batch),
            (true, false, false) => Some(Role::Row),
            (false, true, false) => Some(Role::Column),
            _ => None,
        };
        let roles: Vec<Role> = (0..params).map(role).collect::<Option<_>>()?;
        let both = roles.contains(&Role::Row) && roles.contains(&Role::Column);
        both.then(|| Contraction { ty, left, right, factor: product(ty, &factors, &self.element.types), roles })
    }
}

/// What multiplies to a register: reads of arrays at parameters, and instructions that are the same for all elements.
fn factors(code: &Code, result: Reg) -> Option<(Vec<Operand>, Vec<(Instr, Reg)>)> {
    let mut defined: HashMap<Reg, &Instr> = HashMap::new();
    for i in &code.instrs {
        // What can fail must be done, also where its value is not used.
        if i.may_fail(&code.types) {
            return None;
        }
        match i {
            Instr::Const(to, _) | Instr::Op2(to, ..) => _ = defined.insert(*to, i),
            Instr::Read { to, .. } => to.iter().for_each(|to| _ = defined.insert(*to, i)),
            _ => {}
        }
    }
    let (mut operands, mut scalars) = (vec![], vec![]);
    let mut open = vec![result];
    while let Some(r) = open.pop() {
        match defined.get(&r)? {
            Instr::Op2(_, Op2::Num(Num2::Mul), a, b) => open.extend([*b, *a]),
            i @ Instr::Const(..) => scalars.push(((*i).clone(), r)),
            i @ Instr::Read { index, .. } if index.is_empty() => scalars.push(((*i).clone(), r)),
            Instr::Read { to, array, index, inside: true, .. } if index.iter().all(|p| *p < code.params) => {
                let column = to.iter().position(|to| *to == r)?;
                operands.push(Operand { array: *array, column, index: index.clone() });
            }
            _ => return None,
        }
        // A product of many factors is not ours, and one that uses the same register again and again may have very many.
        if operands.len() > 2 || scalars.len() > 8 {
            return None;
        }
    }
    Some((operands, scalars))
}

/// The product of numbers that do not depend on parameters.
fn product(ty: ScalarType, factors: &[(Instr, Reg)], types: &[ScalarType]) -> Code {
    let mut code = Code { types: vec![ty], instrs: vec![Instr::Const(0, ty.one())], ..Code::default() };
    let mut total = 0;
    for (instr, r) in factors {
        let first = code.types.len();
        let value = match instr {
            Instr::Read { to, array, index, site, inside } => {
                code.types.extend(to.iter().map(|to| types[*to]));
                let place = to.iter().position(|to| to == r).unwrap_or(0);
                let to = (first..first + to.len()).collect();
                let read = Instr::Read { to, array: *array, index: index.clone(), site: *site, inside: *inside };
                code.instrs.push(read);
                first + place
            }
            Instr::Const(_, x) => {
                code.types.push(x.ty());
                code.instrs.push(Instr::Const(first, *x));
                first
            }
            _ => continue,
        };
        let to = code.types.len();
        code.types.push(ty);
        code.instrs.push(Instr::Op2(to, Op2::Num(Num2::Mul), total, value));
        total = to;
    }
    code.results = vec![total];
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::parse;

    /// The contraction that a reduction with this element is.
    fn found(element: &str) -> Option<Contraction> {
        let text = format!(
            r#"program (a0: Array2<f64>, a1: Array2<f64>, a2: Array3<f64, i64, f64>, a3: Array0<f64>)
site 0 = "fold"
{{
  a4: Array2<f64> = reduce @0 sum
    extents () {{ x0: i64 = extent a0 0; x1: i64 = extent a1 1 -> x0, x1 }}
    len () {{ x0: i64 = extent a0 1 -> x0 }}
    element (x0: i64, x1: i64, x2: i64) {{ {element} }}
    op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
  -> a4
}}"#
        );
        let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        match &program.body.stmts[0].op {
            Op::Reduce { rows, .. } => rows.contraction(),
            _ => None,
        }
    }

    #[test]
    fn rows_belong_to_the_left_operand() {
        use Role::*;
        let plain = "x3: f64 = a0[x0, x2] @0 inside; x4: f64 = a1[x2, x1] @0 inside; x5: f64 = x3 * x4 -> x5";
        let turned = "x3: f64 = a0[x1, x2] @0 inside; x4: f64 = a1[x2, x0] @0 inside; x5: f64 = x3 * x4 -> x5";
        for (text, left) in [(plain, 0), (turned, 1)] {
            let c = found(text).expect("a contraction");
            assert_eq!((c.roles, c.left.array), (vec![Row, Column, Reduced], left));
        }
        let batch = "x3: f64, x4: i64, x5: f64 = a2[x0, x2, x1] @0 inside; x6: f64 = a1[x2, x0] @0 inside; x7: f64 = x5 * x6 -> x7";
        // A batch of products of matrices with vectors has no columns.
        assert!(found(batch).is_none());
    }

    #[test]
    fn numbers_are_factored_out() {
        let c = found(
            "x3: f64 = a0[x0, x2] @0 inside; x4: f64 = 2.0; x5: f64 = x3 * x4; x6: f64 = a3[] @0 inside; x7: f64 = x5 * x6;
             x8: f64, x9: i64, x10: f64 = a2[x2, x1, x1] @0 inside; x11: f64 = x7 * x10 -> x11",
        )
        .expect("a contraction");
        assert_eq!(c.right, Operand { array: 2, column: 2, index: vec![2, 1, 1] });
        let products = c.factor.instrs.iter().filter(|i| matches!(i, Instr::Op2(..)));
        assert_eq!((products.count(), c.factor.params), (2, 0));
    }

    #[test]
    fn other_sums_are_not_contractions() {
        for element in [
            // A sum of squares, reads that have to be checked, an index that is computed, three factors, a sum.
            "x3: f64 = a0[x0, x2] @0 inside; x4: f64 = x3 * x3 -> x4",
            "x3: f64 = a0[x0, x2] @0; x4: f64 = a1[x2, x1] @0 inside; x5: f64 = x3 * x4 -> x5",
            "x3: f64 = a0[x0, x2] @0 inside; x4: f64 = a1[x2, x1] @0 inside; x5: f64 = x3 * x4; x6: f64 = a1[x0, x0] @0 -> x5",
            "x3: i64 = x0 + x0; x4: f64 = a0[x3, x2] @0 inside; x5: f64 = a1[x2, x1] @0 inside; x6: f64 = x4 * x5 -> x6",
            "x3: f64 = a0[x0, x2] @0 inside; x4: f64 = a1[x2, x1] @0 inside; x5: f64 = x3 * x4; x6: f64 = x5 * x4 -> x6",
            "x3: f64 = a0[x0, x2] @0 inside; x4: f64 = a1[x2, x1] @0 inside; x5: f64 = x3 + x4 -> x5",
        ] {
            assert!(found(element).is_none(), "{element}");
        }
    }
}
