//! Scalar code without what is not needed.

use super::builder::moved;
use super::ir::{Code, Instr, Reg};
use accel_core::repr::ScalarType;
use std::collections::{BTreeMap, BTreeSet};

/// What a code does for some of its results.
pub fn only(body: &Code, results: Vec<usize>) -> Code {
    let mut code = Code { results, ..body.clone() };
    drop_unused(&mut code);
    code
}

/// The instruction that sets a register, outside of branches and loops.
pub fn defined(code: &Code, r: Reg) -> Option<&Instr> {
    code.instrs.iter().find(|i| i.sets().contains(&r))
}

/// The parameters that a register depends on.
pub fn parameters(code: &Code, r: Reg) -> BTreeSet<Reg> {
    let code = only(code, vec![r]);
    let mut used = BTreeSet::new();
    code.instrs.iter().for_each(|i| i.uses(&mut used));
    used.retain(|r| *r < code.params);
    used
}

/// Drops what is not needed for the results, and numbers the registers without gaps.
pub fn drop_unused(code: &mut Code) {
    let mut live: BTreeSet<Reg> = code.results.iter().copied().collect();
    live_instrs(&mut code.instrs, &mut live);
    let mut numbers: BTreeMap<Reg, Reg> = (0..code.params).map(|r| (r, r)).collect();
    number(&code.instrs, &mut numbers);
    let to = |r: &Reg| numbers[r];
    let mut types = vec![ScalarType::Bool; numbers.len()];
    numbers.iter().for_each(|(old, new)| types[*new] = code.types[*old]);
    let moved = code.instrs.iter().map(|i| moved(i, &to)).collect();
    *code = Code { params: code.params, types, instrs: moved, results: code.results.iter().map(to).collect() };
}

/// Numbers the registers that instructions set, in their order.
pub fn number(instrs: &[Instr], numbers: &mut BTreeMap<Reg, Reg>) {
    for i in instrs {
        let inner_first = matches!(i, Instr::If { .. });
        let own = |numbers: &mut BTreeMap<Reg, Reg>| {
            for r in i.sets() {
                let next = numbers.len();
                numbers.entry(r).or_insert(next);
            }
        };
        if !inner_first {
            own(numbers);
        }
        i.inner().into_iter().for_each(|inner| number(inner, numbers));
        own(numbers);
    }
}

/// Drops the instructions that set nothing that is needed after them; `live` becomes what is needed before.
fn live_instrs(instrs: &mut Vec<Instr>, live: &mut BTreeSet<Reg>) {
    let mut kept = vec![];
    while let Some(mut i) = instrs.pop() {
        if !i.sets().iter().any(|r| live.contains(r)) {
            continue;
        }
        match &mut i {
            Instr::If { cond, then, otherwise, merge } => {
                merge.retain(|m| live.contains(&m.0));
                live.extend(merge.iter().flat_map(|m| [m.1, m.2]));
                live_instrs(then, live);
                live_instrs(otherwise, live);
                live.insert(*cond);
            }
            Instr::While { state, cond, go_on, body, next } => {
                // The whole state: a loop is not taken apart.
                live.extend(next.iter().copied());
                live.insert(*go_on);
                live.extend(state.iter().map(|s| s.0));
                live_instrs(body, live);
                live_instrs(cond, live);
                live.extend(state.iter().map(|s| s.1));
            }
            _ => i.uses(live),
        }
        kept.push(i);
    }
    kept.reverse();
    *instrs = kept;
}
