//! The monoids of reductions: recognised by the form of the operator.

use super::ids::Reg;
use super::ir::*;
use accel_core::repr::op::{Logic, Num2, Op2};
use accel_core::repr::{Scalar, ScalarType};

impl Monoid {
    /// All recognised monoids.
    pub const ALL: [Monoid; 6] = [Monoid::Sum, Monoid::Product, Monoid::Min, Monoid::Max, Monoid::And, Monoid::Or];

    /// The monoid whose operator is this function, if it is a recognised one.
    pub fn of(function: Op2) -> Option<Monoid> {
        Monoid::ALL.into_iter().find(|monoid| monoid.operator() == function)
    }

    /// Its operator.
    pub fn operator(self) -> Op2 {
        match self {
            Monoid::Sum => Op2::Num(Num2::Add),
            Monoid::Product => Op2::Num(Num2::Mul),
            Monoid::Min => Op2::Num(Num2::Min),
            Monoid::Max => Op2::Num(Num2::Max),
            Monoid::And => Op2::Logic(Logic::And),
            Monoid::Or => Op2::Logic(Logic::Or),
        }
    }

    /// Its neutral element: combined with any other number, it gives that number.
    pub fn neutral(self, t: ScalarType) -> Scalar {
        match (self, t) {
            // The sum of 0 and -0 is 0.
            (Monoid::Sum, ScalarType::F32) => Scalar::F32(-0.0),
            (Monoid::Sum, ScalarType::F64) => Scalar::F64(-0.0),
            (Monoid::Sum, _) => t.zero(),
            (Monoid::Product, _) => t.one(),
            (Monoid::And, _) => Scalar::Bool(true),
            (Monoid::Or, _) => Scalar::Bool(false),
            // The minimum and the maximum of NaN and a number are the number.
            (Monoid::Min | Monoid::Max, ScalarType::F32) => Scalar::F32(f32::NAN),
            (Monoid::Min | Monoid::Max, ScalarType::F64) => Scalar::F64(f64::NAN),
            (Monoid::Min, _) => t.greatest(),
            (Monoid::Max, _) => t.least(),
        }
    }

    /// Whether the arguments can be exchanged. The minimum of two zeros is the first of them, so the order matters there.
    pub fn commutes(self) -> bool {
        !matches!(self, Monoid::Min | Monoid::Max)
    }

    /// Whether an element that is combined twice makes no difference. Every recognised monoid that has this property
    /// gives the same result in any order, up to the sign of zero.
    pub fn is_idempotent(self) -> bool {
        !matches!(self, Monoid::Sum | Monoid::Product)
    }
}

impl ScalarFn {
    /// The monoid, if the operator is a function of its two parameters and nothing else.
    pub fn monoid(&self) -> Option<Monoid> {
        let ([Instr::Op2(to, f, a, b)], [result]) = (&self.instrs[..], &self.results[..]) else {
            return None;
        };
        let in_order =
            |monoid: &Monoid| (a.index(), b.index()) == (0, 1) || monoid.commutes() && (a.index(), b.index()) == (1, 0);
        Monoid::of(*f).filter(in_order).filter(|_| to == result && self.params == 2)
    }

    /// Whether the operator returns its first argument.
    pub fn is_first_argument(&self) -> bool {
        self.params == 2 * self.results.len() && self.results.iter().enumerate().all(|(c, r)| r.index() == c)
    }

    /// The monoids of the columns, if the operator combines each column separately with a recognised one: for example
    /// `a + b` for the first columns of two elements and `min(a, b)` for the second ones.
    pub fn column_monoids(&self) -> Option<Vec<Monoid>> {
        let n = self.results.len();
        let monoid = |(c, r): (usize, &Reg)| {
            let found = self.instrs.iter().find_map(|i| match i {
                Instr::Op2(to, op, a, b) if to == r && *a == c && *b == n + c => Some(*op),
                _ => None,
            });
            Monoid::of(found?)
        };
        (self.params == 2 * n).then(|| self.results.iter().enumerate().map(monoid).collect())?
    }

    /// For an operator that always returns one of its two arguments as a whole: the condition as a scalar function, and
    /// whether the operator returns the left argument where it holds. The condition cannot fail and reads no arrays.
    pub fn selection(&self) -> Option<(ScalarFn, bool)> {
        let n = self.results.len();
        let (Instr::If { cond, then, otherwise, merge }, before) = self.instrs.split_last()? else { return None };
        // Comparisons, and arithmetic of floats.
        let computes = |i: &Instr| match i {
            Instr::Const(..) | Instr::Op1(..) | Instr::Op2(_, Op2::Cmp(_), ..) => true,
            Instr::Op2(_, _, a, _) => !self.types[*a].is_integral(),
            Instr::Extent(..)
            | Instr::Read { .. }
            | Instr::If { .. }
            | Instr::While { .. }
            | Instr::Get { .. }
            | Instr::Emit { .. } => false,
        };
        let merged = |c: usize| merge.iter().find(|(to, ..)| *to == self.results[c]);
        let gives = |first: usize, second: usize| {
            (0..n).all(|c| merged(c).is_some_and(|(_, a, b)| *a == first + c && *b == second + c))
        };
        let whole = self.params == 2 * n && then.is_empty() && otherwise.is_empty() && before.iter().all(computes);
        let left = gives(0, n);
        let code = || ScalarFn { instrs: before.to_vec(), results: vec![*cond], ..self.clone() };
        (n > 0 && whole && (left || gives(n, 0))).then(|| (code(), left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::parse;

    /// The operator of a reduction over pairs.
    fn operator(op: &str) -> ScalarFn {
        let text = format!(
            r#"program (a0: Array1<f64>)
site 0 = "fold1"
{{
  a1: Array0<i64, f64> = reduce @0
    extents () {{ -> }}
    len () {{ x0: i64 = extent a0 0 -> x0 }}
    element (x0: i64) {{ x1: f64 = a0[x0] @0 inside -> x0, x1 }}
    op (x0: i64, x1: f64, x2: i64, x3: f64) {{ {op} }}
  -> a1
}}"#
        );
        match &parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}")).body.stmts[0].op {
            Op::Reduce { rows, .. } => rows.op.clone(),
            _ => panic!("a reduction"),
        }
    }

    #[test]
    fn neutral_elements_leave_numbers_as_they_are() {
        for monoid in Monoid::ALL {
            for t in ScalarType::ALL.into_iter().filter(|t| monoid.operator().result(*t).is_some()) {
                for x in [t.zero(), t.one(), t.least(), t.greatest(), Monoid::Sum.neutral(t)] {
                    let found = monoid.operator().eval(monoid.neutral(t), x);
                    assert_eq!(format!("{found:?}"), format!("{:?}", Ok::<_, ()>(x)), "{monoid} of {t}");
                }
            }
        }
    }

    #[test]
    fn columns_are_combined_by_themselves() {
        let monoid = |op: &str| operator(op).column_monoids();
        let both = Some(vec![Monoid::Sum, Monoid::Max]);
        assert_eq!(monoid("x4: i64 = x0 + x2; x5: f64 = max x1 x3 -> x4, x5"), both);
        // With swapped arguments it is a different operator for NaN. An operator that uses the other column is not
        // recognised.
        assert_eq!(monoid("x4: i64 = x0 + x2; x5: f64 = max x3 x1 -> x4, x5"), None);
        assert_eq!(monoid("x4: i64 = x0 + x2; x5: f64 = x1 - x3 -> x4, x5"), None);
        assert_eq!(monoid("x4: i64 = x0 + x2 -> x4, x3"), None);
    }

    #[test]
    fn one_argument_is_selected() {
        let left = |op: &str| operator(op).selection().map(|(_, left)| left);
        let test = "x4: bool = x1 < x3;";
        assert_eq!(
            left(&format!("{test} x5: i64, x6: f64 = if x4 {{ -> x0, x1 }} else {{ -> x2, x3 }} -> x5, x6")),
            Some(true)
        );
        assert_eq!(
            left(&format!("{test} x5: i64, x6: f64 = if x4 {{ -> x2, x3 }} else {{ -> x0, x1 }} -> x5, x6")),
            Some(false)
        );
        assert_eq!(
            left(&format!("{test} x5: i64, x6: f64 = if x4 {{ -> x2, x1 }} else {{ -> x0, x3 }} -> x5, x6")),
            None
        );
        assert_eq!(
            left(
                "x4: i64 = x0 / x2; x5: bool = x4 < x0; x6: i64, x7: f64 = if x5 { -> x0, x1 } else { -> x2, x3 } -> x6, x7"
            ),
            None
        );
        assert_eq!(left("x4: i64 = x0 + x2 -> x4, x3"), None);
    }
}
