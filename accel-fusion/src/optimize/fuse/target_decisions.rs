//! Decisions in the targets of scatters.

use crate::kernel::dead_code::defined;
use crate::kernel::{Instr, Reg, ScalarFn, walk, walk_mut};
use accel_core::ast::deep;
use accel_core::repr::Scalar;
use accel_core::repr::op::{Logic, Op1, Op2};
use std::collections::BTreeMap;

/// The function with these comparisons decided.
pub fn decided(code: &ScalarFn, decisions: &BTreeMap<Reg, bool>) -> ScalarFn {
    let mut decided = code.clone();
    walk_mut(&mut decided.instrs, |i| {
        if let Instr::Op2(to, Op2::Cmp(_), ..) = i
            && let Some(value) = decisions.get(to)
        {
            *i = Instr::Const(*to, Scalar::Bool(*value));
        }
    });
    decided
}

/// Finds the comparisons that a condition decides if it has this value.
pub fn decide(code: &ScalarFn, cond: Reg, value: bool, found: &mut BTreeMap<Reg, bool>) {
    let constant = |r: Reg| {
        walk(&code.instrs).find_map(|i| match i {
            Instr::Const(to, Scalar::Bool(x)) if *to == r => Some(*x),
            _ => None,
        })
    };
    deep(|| match defined(code, cond) {
        Some(Instr::Op1(_, Op1::Not, a)) => decide(code, *a, !value, found),
        Some(Instr::Op2(_, Op2::Logic(logic), a, b)) if (*logic == Logic::And) == value => {
            decide(code, *a, value, found);
            decide(code, *b, value, found);
        }
        Some(Instr::Op2(_, Op2::Cmp(_), ..)) => _ = found.insert(cond, value),
        Some(Instr::If { cond: decision, merge, .. }) => {
            let Some((_, then, otherwise)) = merge.iter().find(|m| m.0 == cond) else { return };
            let (then, otherwise) = (constant(*then), constant(*otherwise));
            if then == Some(!value) {
                decide(code, *decision, false, found);
            } else if otherwise == Some(!value) {
                decide(code, *decision, true, found);
            }
        }
        _ => {}
    })
}
