//! Recognises reductions that are matrix products.

use super::builder::{Builder, renamed};
use super::dead_code::{defined, parameters, restricted_to};
use super::ids::{ArrayId, Reg};
use super::ir::*;
use accel_core::repr::op::{Float2, Num1, Num2, Op1, Op2};
use accel_core::repr::{Scalar, ScalarType};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

/// A contraction: a reduction by `+` of `factor * left[..] * right[..]` over floats, where all indices are plain
/// parameters. It is a product of two matrices, possibly transposed, possibly a batch of products.
/// `a0[x0, x2] * a1[x2, x1]`, summed over `x2`, is the usual matrix product.
#[derive(Clone, Debug)]
pub struct Contraction<O = Operand> {
    /// The element type: `f32` or `f64`.
    pub ty: ScalarType,
    /// The operand that provides the rows of the result.
    pub left: O,
    /// The operand that provides the columns of the result.
    pub right: O,
    /// A factor of all products: a scalar function without parameters.
    pub factor: ScalarFn,
    /// The role of every parameter of the element: first the outer dimensions of the result, last the reduced
    /// dimension.
    pub roles: Vec<Role>,
}

/// A read of an array whose indices are parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operand {
    /// The array.
    pub array: ArrayId,
    /// The column that is read.
    pub column: usize,
    /// For each dimension of the array, the parameter that is its index.
    pub index: Vec<Reg>,
}

/// An operand that is computed from elements of arrays: `a0[x0, x2] - a1[x2]`.
#[derive(Clone, Debug)]
pub struct Computed {
    /// The reads, those of arrays of the highest rank first.
    pub reads: Vec<Operand>,
    /// The scalar function from the elements to the operand, without branches and loops.
    pub value: ScalarFn,
}

impl Computed {
    /// The read, if the operand is an array element without further computation.
    pub fn plain(&self) -> Option<&Operand> {
        match (&self.reads[..], &self.value.instrs[..]) {
            ([read], []) => Some(read),
            _ => None,
        }
    }
}

/// Factors of one operand, with the parameters that they depend on.
pub type Operands = (BTreeSet<Reg>, Vec<Reg>);

/// In which operands a parameter of a contraction's element occurs.
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

impl Role {
    /// The number by which the library for products knows the role.
    pub fn number(self) -> usize {
        match self {
            Role::Batch => 0,
            Role::Row => 1,
            Role::Column => 2,
            Role::Reduced => 3,
        }
    }
}

impl Reduction {
    /// The result of the element function, if it is one float and the rows are summed.
    pub fn float_sum(&self) -> Option<Reg> {
        match self.element.results[..] {
            [r] if self.monoid == Some(Monoid::Sum) && self.element.types[r].is_float() => Some(r),
            _ => None,
        }
    }

    /// The initial value, if it is the floating-point number 0 or -0.
    pub fn initial_zero(&self) -> Option<Scalar> {
        match &self.init.as_ref()?.instrs[..] {
            [Instr::Const(_, x)] if matches!(x, Scalar::F32(0.0) | Scalar::F64(0.0)) => Some(*x),
            _ => None,
        }
    }

    /// The same reduction without zeros that are added to parts of its terms. As the sum begins with 0, the sign of a term that is 0 makes no
    /// difference. Adjoints are sums that begin with 0, so without this, a product of matrices would hide behind such zeros.
    pub fn without_zeros(mut self) -> Reduction {
        let begins = |x: Scalar| {
            matches!(x, Scalar::F32(x) if x.to_bits() == 0) || matches!(x, Scalar::F64(x) if x.to_bits() == 0)
        };
        let Some(result) = self.float_sum().filter(|_| self.initial_zero().is_some_and(begins)) else { return self };
        let code = &self.element;
        // Whether the sign of a zero makes a difference somewhere.
        let mut matters: BTreeSet<Reg> = BTreeSet::new();
        for i in code.instrs.iter().rev() {
            match i {
                Instr::Op2(to, Op2::Num(Num2::Add | Num2::Sub | Num2::Mul) | Op2::Float(Float2::StrongMul), ..)
                | Instr::Op1(to, Op1::Num(Num1::Neg), _)
                    if code.types[*to].is_float() && !matters.contains(to) => {}
                Instr::If { cond, then, otherwise, merge } => {
                    matters.insert(*cond);
                    [then, otherwise].into_iter().flat_map(|all| all.iter()).for_each(|i| i.uses(&mut matters));
                    let counting: Vec<_> = merge.iter().filter(|m| matters.contains(&m.0)).collect();
                    counting.into_iter().for_each(|(_, a, b)| matters.extend([*a, *b]));
                }
                _ => i.uses(&mut matters),
            }
        }
        let is_zero = |r: Reg| matches!(defined(code, r), Some(Instr::Const(_, Scalar::F32(0.0) | Scalar::F64(0.0))));
        let mut same: HashMap<Reg, Reg> = HashMap::new();
        for i in &code.instrs {
            if let Instr::Op2(to, Op2::Num(Num2::Add), a, b) = i
                && code.types[*to].is_float()
                && !matters.contains(to)
                && let Some(other) = if is_zero(*b) { Some(*a) } else { is_zero(*a).then_some(*b) }
            {
                same.insert(*to, *same.get(&other).unwrap_or(&other));
            }
        }
        let instrs = code.instrs.iter().filter(|i| !matches!(i, Instr::Op2(to, ..) if same.contains_key(to)));
        let name = |r: &Reg| *same.get(r).unwrap_or(r);
        let instrs = instrs.map(|i| renamed(i, &name)).collect();
        let result = name(&result);
        self.element = restricted_to(&ScalarFn { instrs, ..self.element.clone() }, vec![result]);
        self
    }

    /// The same reduction, but products of matrices have no strong zeros (NOTE [Strong zeros] in `accel-ad`), and neither have sums
    /// of such products: they are what several sums become.
    pub fn with_products_of_matrices(mut self) -> Reduction {
        let terms = self.float_sum().map(|r| terms(&self.element, r)).unwrap_or_default();
        let products = terms.into_iter().map(|t| t.0).filter(|r| self.product_of_matrices(*r).is_some());
        let mut factors: BTreeSet<Reg> = products.collect();
        for i in self.element.instrs.iter_mut().rev() {
            if let Instr::Op2(to, op, a, b) = i
                && is_product(*op)
                && factors.contains(to)
            {
                *op = Op2::Num(Num2::Mul);
                factors.extend([*a, *b]);
            }
        }
        self
    }

    /// The contraction that this reduction computes. `None` unless it has both rows and columns, and both operands are
    /// plain array elements.
    pub fn contraction(&self) -> Option<Contraction> {
        let Contraction { ty, left, right, factor, roles } = self.contraction_of_computed_operands()?;
        Some(Contraction { ty, left: left.plain()?.clone(), right: right.plain()?.clone(), factor, roles })
    }

    /// As [`contraction`](Self::contraction), but operands may also be computed from arrays.
    pub fn contraction_of_computed_operands(&self) -> Option<Contraction<Computed>> {
        self.product_of_matrices(self.float_sum()?)
    }

    /// The factors of a register of the element in two groups, each with the parameters that it depends on, and the factors that are the same
    /// for all elements.
    pub fn operands(&self, result: Reg) -> Option<([Operands; 2], Vec<Reg>)> {
        let (mut factors, scalars) = factors(&self.element, result)?;
        // A factor whose parameters all occur in a larger one belongs to the larger one's operand.
        factors.sort_by_key(|f| Reverse(f.0.len()));
        let mut groups: Vec<Operands> = vec![];
        for (indices, r) in factors {
            match groups.iter_mut().find(|g| indices.is_subset(&g.0)) {
                Some((_, group)) => group.push(r),
                None => groups.push((indices, vec![r])),
            }
        }
        Some((<[_; 2]>::try_from(groups).ok()?, scalars))
    }

    /// The contraction that the sum of this register of the element computes.
    fn product_of_matrices(&self, result: Reg) -> Option<Contraction<Computed>> {
        let ty = self.element.types[result];
        let ([a, b], scalars) = self.operands(result)?;
        // The operand that depends on the outermost dimension of the result provides the rows.
        let mut params = self.element.param_regs();
        let first = params.find(|p| a.0.contains(p) != b.0.contains(p))?;
        let (left, right) = if a.0.contains(&first) { (a, b) } else { (b, a) };
        let last = self.element.params - 1;
        let role = |p: Reg| match (left.0.contains(&p), right.0.contains(&p), p == last) {
            (true, true, true) => Some(Role::Reduced),
            (true, true, false) => Some(Role::Batch),
            (true, false, false) => Some(Role::Row),
            (false, true, false) => Some(Role::Column),
            _ => None,
        };
        let roles: Vec<Role> = self.element.param_regs().map(role).collect::<Option<_>>()?;
        if !roles.contains(&Role::Row) || !roles.contains(&Role::Column) {
            return None;
        }
        let operand = |factors: &[Reg]| operand(&self.element, factors);
        let factor = factor(ty, &self.element, scalars);
        Some(Contraction { ty, left: operand(&left.1)?, right: operand(&right.1)?, factor, roles })
    }
}

impl ScalarFn {
    /// The only result of the scalar function, as an operand computed from array elements at parameters, if it has this
    /// form.
    pub fn element(&self) -> Option<Computed> {
        let &[result] = self.results.as_slice() else { return None };
        if !self.is_total() {
            return None;
        }
        operand(self, &[result])
    }
}

/// The factors of a register: those that depend on parameters, each with these parameters, and those that are the same
/// for all elements.
pub fn factors(code: &ScalarFn, result: Reg) -> Option<(Vec<(BTreeSet<Reg>, Reg)>, Vec<Reg>)> {
    // An instruction that can fail must be executed, even if its value is not used.
    if !code.is_total() {
        return None;
    }
    let (factors, scalars) = product_of(code, result)?;
    Some((factors.into_iter().map(|r| (parameters(code, r), r)).collect(), scalars))
}

/// The registers of which a register is the sum. Beyond the largest number of summands, sums are not taken apart.
pub fn summands(code: &ScalarFn, result: Reg) -> Vec<Reg> {
    let (mut found, mut open) = (vec![], vec![result]);
    while let Some(r) = open.pop() {
        match defined(code, r) {
            Some(Instr::Op2(_, Op2::Num(Num2::Add), a, b)) if found.len() + open.len() <= MOST_SUMMANDS => {
                open.extend([*b, *a]);
            }
            _ => found.push(r),
        }
    }
    found
}

/// Each summand is looked for among all instructions and compared with all others, so the work grows with the square of their number.
/// What stays together is right, only not added in place. Chosen.
const MOST_SUMMANDS: usize = 100;

/// The registers of which a register is a sum or a difference, and whether they are subtracted.
pub fn terms(code: &ScalarFn, result: Reg) -> Vec<(Reg, bool)> {
    let (mut terms, mut open) = (vec![], vec![(result, false)]);
    while let Some((r, minus)) = open.pop() {
        match defined(code, r) {
            Some(Instr::Op2(_, Op2::Num(Num2::Add), a, b)) => open.extend([(*b, minus), (*a, minus)]),
            Some(Instr::Op2(_, Op2::Num(Num2::Sub), a, b)) => open.extend([(*b, !minus), (*a, minus)]),
            Some(Instr::Op1(_, Op1::Num(Num1::Neg), a)) => open.push((*a, !minus)),
            _ => terms.push((r, minus)),
        }
        // A register that is doubled repeatedly has very many terms.
        if terms.len() > MOST {
            return vec![];
        }
    }
    terms
}

/// The largest number of terms or factors that are looked at. A product of matrices has two, and perhaps some numbers or weights. What
/// each of more depends on would take time, and the sum stays right without. Chosen.
const MOST: usize = 8;

/// Whether a function is a product, where sums of products are computed as products of matrices. They have no strong zeros.
pub fn is_product(op: Op2) -> bool {
    matches!(op, Op2::Num(Num2::Mul) | Op2::Float(Float2::StrongMul))
}

/// The registers whose product a register is: those that depend on parameters or can, and those that are the same for all
/// elements.
pub fn product_of(code: &ScalarFn, result: Reg) -> Option<(Vec<Reg>, Vec<Reg>)> {
    let (mut factors, mut scalars) = (vec![], vec![]);
    let mut open = vec![result];
    while let Some(r) = open.pop() {
        match defined(code, r)? {
            Instr::Op2(_, op, a, b) if is_product(*op) => open.extend([*b, *a]),
            Instr::Const(..) => scalars.push(r),
            Instr::Read { index, .. } if index.is_empty() => scalars.push(r),
            _ => factors.push(r),
        }
        // A register that is squared repeatedly can have very many factors.
        if factors.len().max(scalars.len()) > MOST {
            return None;
        }
    }
    Some((factors, scalars))
}

/// The limits of a computed operand: the number of arrays that it reads, and the number of instructions. Each tile computes it anew, so
/// it should not take much longer than the read of one number that it replaces. Chosen: a difference or a product with a weight fits.
const READS: usize = 3;
const INSTRUCTIONS: usize = 8;

/// The product of these registers as one operand.
fn operand(code: &ScalarFn, factors: &[Reg]) -> Option<Computed> {
    let code = restricted_to(code, factors.to_vec());
    let mut used: BTreeSet<Reg> = code.results.iter().copied().collect();
    let mut reads = vec![];
    for i in &code.instrs {
        match i {
            Instr::Read { to, array, index, .. } if index.iter().all(|p| *p < code.params) => {
                let one = |(column, r): (usize, &Reg)| (*r, Operand { array: *array, column, index: index.clone() });
                reads.extend(to.iter().enumerate().map(one));
            }
            Instr::Const(..) | Instr::Op1(..) | Instr::Op2(..) => i.uses(&mut used),
            _ => return None,
        }
    }
    reads.retain(|(r, _)| used.contains(r));
    reads.sort_by_key(|(_, read)| Reverse(read.index.len()));
    let instrs = code.instrs.len() + factors.len() - 1;
    // The operand must not use an index as a number.
    if reads.is_empty() || reads.len() > READS || instrs > INSTRUCTIONS || used.iter().any(|r| *r < code.params) {
        return None;
    }
    let types: Vec<_> = reads.iter().map(|(r, _)| code.types[*r]).collect();
    let mut b = Builder::new(&types);
    let mut places: HashMap<Reg, Reg> = reads.iter().zip(b.params()).map(|((r, _), p)| (*r, p)).collect();
    for i in code.instrs.iter().filter(|i| !matches!(i, Instr::Read { .. })) {
        i.sets().into_iter().for_each(|r| _ = places.insert(r, b.reg(code.types[r])));
        b.emit(renamed(i, &|r| places[r]));
    }
    let result = b.product(code.types[code.results[0]], code.results.iter().map(|r| places[r]))?;
    Some(Computed { reads: reads.into_iter().map(|r| r.1).collect(), value: b.finish(vec![result]) })
}

/// The product of registers that do not depend on parameters, as a scalar function.
pub fn factor(ty: ScalarType, code: &ScalarFn, scalars: Vec<Reg>) -> ScalarFn {
    let mut b = Builder::new(&[]);
    let one = b.constant(ty.one());
    let factors = b.inline(&restricted_to(code, scalars), &vec![Reg::NONE; code.params]);
    let result = b.product(ty, [one].into_iter().chain(factors)).unwrap_or(one);
    b.finish(vec![result])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::parse;

    /// A program with one reduction, which has this element.
    fn program(element: &str) -> Program {
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
        parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
    }

    /// The contraction recognised in a reduction with this element.
    fn found(element: &str) -> Option<Contraction> {
        match &program(element).body.stmts[0].op {
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
            assert_eq!((c.roles, c.left.array), (vec![Row, Column, Reduced], ArrayId::new(left)));
        }
        let batch = "x3: f64, x4: i64, x5: f64 = a2[x0, x2, x1] @0 inside; x6: f64 = a1[x2, x0] @0 inside; x7: f64 = x5 * x6 -> x7";
        // A batch of matrix-vector products has no columns.
        assert!(found(batch).is_none());
    }

    #[test]
    fn products_of_matrices_have_no_strong_zeros_in_sums_either() {
        // A sum of two products of matrices, and a product of elements of one of them.
        let element = "x3: f64 = a0[x0, x2] @0 inside; x4: f64 = a1[x2, x1] @0 inside; x5: f64 = strong_mul x3 x4; x6: f64 = neg x3;
                       x7: f64 = strong_mul x6 x4; x8: f64 = x5 - x7; x9: f64 = strong_mul x3 x6; x10: f64 = x8 + x9 -> x10";
        let strong = |element: &str| match &program(element).body.stmts[0].op {
            Op::Reduce { rows, .. } => {
                let all = rows.clone().with_products_of_matrices().element.instrs;
                all.iter().filter(|i| matches!(i, Instr::Op2(_, Op2::Float(Float2::StrongMul), ..))).count()
            }
            op => panic!("{}", op.keyword()),
        };
        assert_eq!(strong(element), 1);
        assert_eq!(strong(&element.replace("x8 + x9", "max x8 x9")), 3);
    }

    #[test]
    fn numbers_are_factored_out() {
        let c = found(
            "x3: f64 = a0[x0, x2] @0 inside; x4: f64 = 2.0; x5: f64 = x3 * x4; x6: f64 = a3[] @0 inside; x7: f64 = x5 * x6;
             x8: f64, x9: i64, x10: f64 = a2[x2, x1, x1] @0 inside; x11: f64 = x7 * x10 -> x11",
        )
        .expect("a contraction");
        assert_eq!(c.right, Operand { array: ArrayId::new(2), column: 2, index: [2, 1, 1].map(Reg::new).into() });
        let products = c.factor.instrs.iter().filter(|i| matches!(i, Instr::Op2(..)));
        assert_eq!((products.count(), c.factor.params), (2, 0));
    }

    /// The contraction with computed operands recognised in a reduction with this element.
    fn computed(element: &str) -> Option<Contraction<Computed>> {
        match &program(element).body.stmts[0].op {
            Op::Reduce { rows, .. } => rows.contraction_of_computed_operands(),
            _ => None,
        }
    }

    #[test]
    fn operands_may_be_computed() {
        let element =
            "x3: f64 = a0[x0, x2] @0 inside; x4: f64 = a1[x2, x1] @0 inside; x5: f64 = x4 + x4; x6: f64 = x3 * x5;
                       x7: f64, x8: i64, x9: f64 = a2[x2, x2, x2] @0 inside; x10: f64 = x6 * x9 -> x10";
        assert!(found(element).is_none());
        let c = computed(element).expect("a contraction");
        // A factor that depends on the reduced index only belongs to one of the operands.
        let arrays = |o: &Computed| o.reads.iter().map(|r| (r.array.index(), r.column)).collect::<Vec<_>>();
        assert_eq!((arrays(&c.left), arrays(&c.right)), (vec![(2, 2), (0, 0)], vec![(1, 0)]));
        assert_eq!((c.left.value.params, c.right.value.instrs.len()), (2, 1));
        for other in [
            // The rejected elements use an index as a number, or contain a conditional.
            "x3: f64 = a0[x0, x2] @0 inside; x4: f64 = as f64 x0; x5: f64 = x3 + x4; x6: f64 = a1[x2, x1] @0 inside; x7: f64 = x5 * x6 -> x7",
            "x3: f64 = a0[x0, x2] @0 inside; x4: bool = x0 < x2; x5: f64 = if x4 { -> x3 } else { x6: f64 = 0.0 -> x6 };
             x7: f64 = a1[x2, x1] @0 inside; x8: f64 = x5 * x7 -> x8",
        ] {
            assert!(computed(other).is_none(), "{other}");
        }
    }

    #[test]
    fn other_sums_are_not_contractions() {
        for element in [
            // The rejected elements are a sum of squares, a product with checked reads, one with a computed index, one
            // with three factors, and one that is a sum.
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
