//! What can be seen from the form of a reduction's operator.

use super::ir::*;
use accel_core::repr::op::{Num2, Op2};

impl Code {
    /// The operators that combine each column by itself, if there is a well-known one for each: `a + b` for the first columns
    /// of two elements, say, and `min(a, b)` for the second ones.
    pub fn known_columns(&self) -> Option<Vec<Known>> {
        let n = self.results.len();
        let known = |(c, r): (usize, &Reg)| {
            let found = self.instrs.iter().find_map(|i| match i {
                Instr::Op2(to, Op2::Num(op), a, b) if to == r && (*a, *b) == (c, n + c) => Some(op),
                _ => None,
            });
            match found? {
                Num2::Add => Some(Known::Sum),
                Num2::Mul => Some(Known::Product),
                Num2::Min => Some(Known::Min),
                Num2::Max => Some(Known::Max),
                _ => None,
            }
        };
        (self.params == 2 * n).then(|| self.results.iter().enumerate().map(known).collect())?
    }

    /// If an operator gives one of its arguments as a whole: code for the condition, and whether the left argument is given where it holds.
    /// The condition cannot fail and reads no arrays.
    pub fn selection(&self) -> Option<(Code, bool)> {
        let n = self.results.len();
        let (Instr::If { cond, then, otherwise, merge }, before) = self.instrs.split_last()? else { return None };
        let computes = |i: &Instr| match i {
            Instr::Const(..) | Instr::Op1(..) => true,
            Instr::Op2(_, _, a, _) => !self.types[*a].is_integral() || matches!(i, Instr::Op2(_, Op2::Cmp(_), ..)),
            _ => false,
        };
        let merged = |c: usize| merge.iter().find(|(to, ..)| *to == self.results[c]);
        let gives = |first: usize, second: usize| {
            (0..n).all(|c| merged(c).is_some_and(|(_, a, b)| (*a, *b) == (first + c, second + c)))
        };
        let whole = self.params == 2 * n && then.is_empty() && otherwise.is_empty() && before.iter().all(computes);
        let left = gives(0, n);
        let code = || Code { instrs: before.to_vec(), results: vec![*cond], ..self.clone() };
        (n > 0 && whole && (left || gives(n, 0))).then(|| (code(), left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::parse;

    /// The operator of a reduction to pairs.
    fn operator(op: &str) -> Code {
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
    fn columns_are_combined_by_themselves() {
        let known = |op: &str| operator(op).known_columns();
        let both = Some(vec![Known::Sum, Known::Max]);
        assert_eq!(known("x4: i64 = x0 + x2; x5: f64 = max x1 x3 -> x4, x5"), both);
        // The other way round it is another operator for NaN; one that uses the other column is none.
        assert_eq!(known("x4: i64 = x0 + x2; x5: f64 = max x3 x1 -> x4, x5"), None);
        assert_eq!(known("x4: i64 = x0 + x2; x5: f64 = x1 - x3 -> x4, x5"), None);
        assert_eq!(known("x4: i64 = x0 + x2 -> x4, x3"), None);
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
