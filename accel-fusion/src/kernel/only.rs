//! Scalar code without what is not needed.

use super::builder::moved;
use super::ir::{Code, Instr, Reg};
use accel_core::ast::deep;
use std::collections::BTreeSet;

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
    let mut live = Live(vec![false; code.types.len()]);
    live.extend(code.results.iter().copied());
    live_instrs(&mut code.instrs, &mut live);
    let mut numbers: Vec<Option<Reg>> = vec![None; code.types.len()];
    let mut types = vec![];
    let mut number = |r: Reg| {
        if numbers[r].is_none() {
            numbers[r] = Some(types.len());
            types.push(code.types[r]);
        }
    };
    (0..code.params).for_each(&mut number);
    each_set(&code.instrs, &mut number);
    let to = |r: &Reg| numbers[*r].expect("a register is set before it is used");
    let instrs = code.instrs.iter().map(|i| moved(i, &to)).collect();
    *code = Code { params: code.params, types, instrs, results: code.results.iter().map(to).collect() };
}

/// The registers that instructions set, in their order: a conditional sets its own after those of its branches.
pub fn each_set(instrs: &[Instr], f: &mut impl FnMut(Reg)) {
    for i in instrs {
        let own_last = matches!(i, Instr::If { .. });
        if !own_last {
            i.sets().into_iter().for_each(&mut *f);
        }
        i.inner().into_iter().for_each(|inner| deep(|| each_set(inner, f)));
        if own_last {
            i.sets().into_iter().for_each(&mut *f);
        }
    }
}

/// The registers whose values are needed.
struct Live(Vec<bool>);

impl Live {
    fn contains(&self, r: &Reg) -> bool {
        self.0[*r]
    }
}
impl Extend<Reg> for Live {
    fn extend<I: IntoIterator<Item = Reg>>(&mut self, registers: I) {
        registers.into_iter().for_each(|r| self.0[r] = true);
    }
}

/// Drops the instructions that set nothing that is needed after them; `live` becomes what is needed before.
fn live_instrs(instrs: &mut Vec<Instr>, live: &mut Live) {
    let mut kept = vec![];
    while let Some(mut i) = instrs.pop() {
        if !i.sets().iter().any(|r| live.contains(r)) {
            continue;
        }
        match &mut i {
            Instr::If { cond, then, otherwise, merge } => {
                merge.retain(|m| live.contains(&m.0));
                live.extend(merge.iter().flat_map(|m| [m.1, m.2]));
                deep(|| live_instrs(then, live));
                deep(|| live_instrs(otherwise, live));
                live.extend([*cond]);
            }
            Instr::While { state, cond, go_on, body, next } => {
                // The whole state: a loop is not taken apart.
                live.extend(next.iter().copied());
                live.extend([*go_on]);
                live.extend(state.iter().map(|s| s.0));
                deep(|| live_instrs(body, live));
                deep(|| live_instrs(cond, live));
                live.extend(state.iter().map(|s| s.1));
            }
            _ => i.uses(live),
        }
        kept.push(i);
    }
    kept.reverse();
    *instrs = kept;
}
