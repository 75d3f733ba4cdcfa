//! Row bounds: the part of a row in which elements of a reduction are not all the same constant.
//!
//! NOTE [Row bounds]: row `i` of a triangular matrix has `i + 1` elements, and a row of a band has as many as the band is wide. A
//! program that has the whole matrix in memory says so by a decision:
//!
//! ```text
//! y[i] = sum_j (if j <= i { l[i, j] * x[j] } else { 0 })
//! ```
//!
//! Outside of the bounds, the elements are a constant `c`. If `c . c = c`, it makes no difference how often `c` is combined, so the
//! reduction takes the elements inside, without the decision, and `c` once. With the neutral element, NaN and infinity in the other
//! triangle are not read, as the program says. Products with zeros in memory are not skipped: `0 * inf` is NaN.

use crate::kernel::builder::Builder;
use crate::kernel::dead_code::defined;
use crate::kernel::{Instr, Monoid, Program, Reduction, Reg, ScalarFn, walk};
use crate::optimize::facts::edges::{Outcome, decision, forms, sum, with_decisions};
use crate::optimize::facts::poly::{Poly, Sym};
use crate::optimize::facts::shape_analysis::Facts;
use crate::optimize::scalar::scalar_cleanup::{ExecutionCount, NoProducers, clean};
use accel_core::repr::op::{Logic, Op2};
use accel_core::repr::{Scalar, ScalarType};
use std::cmp::Ordering;
use std::collections::HashMap;

/// The bounds of a reduction's rows.
pub struct RowBounds {
    /// Numbers that the first position is not below, as functions of the outer index.
    pub lowest: Vec<ScalarFn>,
    /// Numbers that are larger than the last position.
    pub ends: Vec<ScalarFn>,
    /// The element between them.
    pub element: ScalarFn,
    /// The other elements.
    pub outside: Scalar,
}

/// The bounds of the rows of a reduction with `outer` other dimensions, if there are any.
pub fn row_bounds(program: &Program, rows: &Reduction, outer: usize) -> Option<RowBounds> {
    let code = &rows.element;
    let [result] = code.results[..] else { return None };
    let decision = defined(code, result)?;
    let Instr::If { cond, then: yes, otherwise: no, merge } = decision else { return None };
    let (_, then, otherwise) = merge.iter().find(|m| m.0 == result)?;
    let constant = |r: &Reg| constant(code, *r).filter(|c| combines_once(rows.monoid, *c));
    let (outside, holds) = match (constant(then), constant(otherwise)) {
        (_, Some(c)) => (c, true),
        (Some(c), None) => (c, false),
        (None, None) => return None,
    };
    // What fails for elements outside is not left out.
    let others = code.instrs.iter().filter(|i| !std::ptr::eq(*i, decision));
    let mut evaluated = others.flat_map(|i| walk(std::slice::from_ref(i))).chain(walk(if holds { no } else { yes }));
    if evaluated.any(|i| i.check(code).is_some()) {
        return None;
    }
    let mut bounds = Bounds::new(code, outer);
    bounds.add(*cond, holds)?;
    let Bounds { lowest, ends, decisions, .. } = bounds;
    let decided = with_decisions(code, |r| decisions.get(&r).copied());
    let mut facts = Facts::new(program, false);
    let ranges: Vec<Poly> = (0..=outer).map(|_| facts.unknown()).collect();
    let element = clean(&mut facts, &NoProducers, &decided, &ranges, ExecutionCount::Maybe).code;
    Some(RowBounds { lowest, ends, element, outside })
}

/// The value of a register that is a constant.
fn constant(code: &ScalarFn, r: Reg) -> Option<Scalar> {
    walk(&code.instrs).find_map(|i| match i {
        Instr::Const(to, x) if *to == r => Some(*x),
        _ => None,
    })
}

/// Whether a constant may be combined once instead of several times, and after other elements. That is not so for all floats: sums
/// and products can be infinite in between, and the minimum of 0 and -0 is the first one.
fn combines_once(monoid: Option<Monoid>, c: Scalar) -> bool {
    let Some(monoid) = monoid else { return false };
    let zeros = [c.ty().zero(), Monoid::Sum.neutral(c.ty())];
    match monoid {
        Monoid::Product if c.ty().is_float() => return c == c.ty().one(),
        Monoid::Sum if c.ty().is_float() => return zeros.contains(&c),
        Monoid::Min | Monoid::Max if c.ty().is_float() && zeros.contains(&c) => return false,
        _ => {}
    }
    monoid.operator().eval(c, c).is_ok_and(|twice| format!("{twice:?}") == format!("{c:?}"))
}

struct Bounds<'a> {
    code: &'a ScalarFn,
    forms: HashMap<Reg, Poly>,
    outer: usize,
    lowest: Vec<ScalarFn>,
    ends: Vec<ScalarFn>,
    /// The order of the operands of the comparisons, inside.
    decisions: HashMap<Reg, Ordering>,
}

impl<'a> Bounds<'a> {
    fn new(code: &'a ScalarFn, outer: usize) -> Bounds<'a> {
        let forms = forms(code, outer + 1);
        Bounds { code, forms, outer, lowest: vec![], ends: vec![], decisions: HashMap::new() }
    }

    /// Adds the bounds between which a condition holds, or does not. `None` if these are not all positions for which it does.
    fn add(&mut self, cond: Reg, holds: bool) -> Option<()> {
        let (compared, a, b) = match defined(self.code, cond)? {
            Instr::Op2(_, Op2::Logic(Logic::And), a, b) if holds => {
                self.add(*a, true)?;
                return self.add(*b, true);
            }
            Instr::Op2(_, Op2::Logic(Logic::Or), a, b) if !holds => {
                self.add(*a, false)?;
                return self.add(*b, false);
            }
            compared @ Instr::Op2(_, Op2::Cmp(_), a, b) => (compared, a, b),
            _ => return None,
        };
        // The order of the operands inside. `==` and `!=` do not depend on it.
        let is_inside = |more: bool| {
            decision(compared, more)
                .filter(|d| matches!(d.outcome, Outcome::Bool(x) if x == holds))
                .map(|d| (more, d.strict))
        };
        let (more, strict) = match (is_inside(false), is_inside(true)) {
            (Some(order), None) | (None, Some(order)) => order,
            _ => return None,
        };
        let (a, b) = (self.forms.get(a)?, self.forms.get(b)?);
        let (smaller, larger) = if more { (b, a) } else { (a, b) };
        // Positive inside.
        let difference = larger.minus_exactly(smaller)?.plus_constant(i64::from(!strict));
        let position = Poly::sym(Sym::Param(self.outer));
        match factor(&difference, self.outer)? {
            // 0 < rest + position, so position >= 1 - rest.
            1 => {
                let rest = difference.minus_exactly(&position)?;
                self.lowest.push(self.function(&Poly::constant(1).minus_exactly(&rest)?));
            }
            // 0 < rest - position
            -1 => self.ends.push(self.function(&difference.plus_exactly(&position)?)),
            _ => return None,
        }
        self.decisions.insert(cond, if more { Ordering::Greater } else { Ordering::Less });
        Some(())
    }

    /// The function of the outer index that computes a sum.
    fn function(&self, p: &Poly) -> ScalarFn {
        let mut b = Builder::new(&vec![ScalarType::I64; self.outer]);
        let result = sum(&mut b, p);
        b.finish(vec![result])
    }
}

/// The factor of the position in a sum without products, which might wrap.
fn factor(sum: &Poly, position: usize) -> Option<i64> {
    let mut factor = 0;
    for (syms, n) in sum.terms() {
        match syms {
            [Sym::Param(k)] if *k == position => factor = n,
            [] | [_] => {}
            _ => return None,
        }
    }
    Some(factor)
}
