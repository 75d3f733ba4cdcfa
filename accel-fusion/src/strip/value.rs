//! The results of scalar functions as symbolic values.

use crate::kernel::{Instr, Reg, ScalarFn};
use std::collections::HashMap;

/// Longer values are not worth comparing.
const LONGEST: usize = 1000;

/// Result `k` of a scalar function without parameters, as an expression. Two results with the same expression are the
/// same number. `None` if it depends on branches or loops, or is very large.
pub fn value(code: &ScalarFn, k: usize) -> Option<String> {
    let mut known: HashMap<Reg, String> = HashMap::new();
    for i in &code.instrs {
        let get = |r: &Reg| known.get(r).cloned();
        let text = match i {
            Instr::Const(to, x) => Some((*to, format!("{x:?}"))),
            Instr::Op1(to, op, a) => get(a).map(|a| (*to, format!("({op:?} {a})"))),
            Instr::Op2(to, op, a, b) => get(a).zip(get(b)).map(|(a, b)| (*to, format!("({op:?} {a} {b})"))),
            Instr::Extent(to, a, dim) => Some((*to, format!("a{a}.{dim}"))),
            Instr::Read { to, array, index, .. } => {
                let index: Option<Vec<_>> = index.iter().map(get).collect();
                for (c, to) in to.iter().enumerate() {
                    known.extend(index.as_ref().map(|index| (*to, format!("a{array}.{c}[{}]", index.join(", ")))));
                }
                None
            }
            Instr::If { .. } | Instr::While { .. } | Instr::Get { .. } | Instr::Emit { .. } => None,
        };
        known.extend(text.filter(|(_, t)| t.len() <= LONGEST));
    }
    known.remove(code.results.get(k)?)
}
