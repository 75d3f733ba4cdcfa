//! Dead code elimination in scalar functions and in programs. What adds to sums is never dead.

use super::builder::renamed;
use super::ids::{ArrayId, Reg};
use super::ir::{ArrayInfo, Block, Instr, Op, Program, ScalarFn};
use super::uses::arrays_mentioned;
use super::walk::walk;
use accel_core::ast::deep;
use index_vec::{IndexVec, index_vec};
use std::collections::{BTreeMap, BTreeSet};

/// The scalar function that computes only some of the results of `body`.
pub fn restricted_to(body: &ScalarFn, results: Vec<Reg>) -> ScalarFn {
    let mut code = ScalarFn { results, ..body.clone() };
    eliminate_dead_code(&mut code);
    code
}

/// Drops the statements that define nothing that is needed, and the arrays of loops and the sums that nothing needs. Returns the
/// arrays that are needed.
pub fn drop_dead_statements(program: &mut Program) -> BTreeSet<ArrayId> {
    let mut needed = program.results.iter().copied().collect();
    drop_in_block(&mut program.body, &mut needed, &program.arrays);
    needed
}

/// `needed` is the set after the block, and becomes the set before it, including what inner blocks need.
fn drop_in_block(b: &mut Block, needed: &mut BTreeSet<ArrayId>, arrays: &IndexVec<ArrayId, ArrayInfo>) {
    let mut kept = vec![];
    while let Some(mut s) = b.stmts.pop() {
        if !s.op.defines().iter().any(|a| needed.contains(a)) && !checks(&s.op) {
            continue;
        }
        drop_outputs(&mut s.op, arrays, |a| needed.contains(a));
        s.op.scalar_fns().iter().for_each(|(_, c)| arrays_mentioned(&c.instrs, needed));
        s.op.arrays_used_whole(needed);
        s.op.blocks_mut().into_iter().for_each(|b| deep(|| drop_in_block(b, needed, arrays)));
        kept.push(s);
    }
    kept.reverse();
    b.stmts = kept;
}

/// Whether an operation is a check or fills a tape, or contains such a statement in its blocks.
fn checks(op: &Op) -> bool {
    let acts = |op: &Op| matches!(op, Op::Agree { .. } | Op::Keep { .. });
    acts(op) || op.blocks().into_iter().flat_map(Block::walk).any(|s| acts(&s.op))
}

/// Drops the arrays and sums of a loop that are not needed.
pub fn drop_outputs(op: &mut Op, arrays: &IndexVec<ArrayId, ArrayInfo>, is_needed: impl Fn(&ArrayId) -> bool) {
    if op.defines().iter().all(&is_needed) {
        return;
    }
    let (Op::Loop { to, body, .. } | Op::Accumulate { to, body, .. }) = op else { return };
    let kept = body.results_of(to, arrays).into_iter().filter(|(a, _)| is_needed(a));
    let kept = kept.flat_map(|(_, own)| own).copied().collect();
    to.retain(&is_needed);
    if let Op::Accumulate { sums, body, .. } = op {
        sums.retain(|s| is_needed(&s.0));
        drop_emissions(&mut body.instrs, &is_needed);
    }
    if let Op::Loop { body, .. } | Op::Accumulate { body, .. } = op {
        *body = restricted_to(body, kept);
    }
}

/// Drops the instructions that add to sums that are not needed.
fn drop_emissions(instrs: &mut Vec<Instr>, is_needed: &impl Fn(&ArrayId) -> bool) {
    instrs.retain(|i| !matches!(i, Instr::Emit { to, .. } if !is_needed(to)));
    for i in instrs {
        if let Instr::If { then: a, otherwise: b, .. } | Instr::While { cond: a, body: b, .. } = i {
            deep(|| [a, b].into_iter().for_each(|inner| drop_emissions(inner, is_needed)));
        }
    }
}

/// The instruction outside branches and loops that sets a register.
pub fn defined(code: &ScalarFn, r: Reg) -> Option<&Instr> {
    code.instrs.iter().find(|i| i.sets().contains(&r))
}

/// The parameters that a register depends on.
pub fn parameters(code: &ScalarFn, r: Reg) -> BTreeSet<Reg> {
    let code = restricted_to(code, vec![r]);
    let mut used = BTreeSet::new();
    code.instrs.iter().for_each(|i| i.uses(&mut used));
    used.retain(|r| *r < code.params);
    used
}

/// Drops the instructions that no result needs, and renumbers the registers without gaps.
pub fn eliminate_dead_code(code: &mut ScalarFn) {
    let mut live = Live(index_vec![false; code.types.len()]);
    live.extend(code.results.iter().copied());
    let mut effects = Effects::default();
    if code.emits() {
        effects.add(&code.instrs);
    }
    live_instrs(&mut code.instrs, &mut live, &mut effects);
    let mut numbers: IndexVec<Reg, Option<Reg>> = index_vec![None; code.types.len()];
    let mut types = IndexVec::new();
    let mut number = |r: Reg| {
        if numbers[r].is_none() {
            numbers[r] = Some(types.push(code.types[r]));
        }
    };
    code.param_regs().for_each(&mut number);
    each_set(&code.instrs, &mut number);
    let to = |r: &Reg| numbers[*r].expect("a register is set before it is used");
    let instrs = code.instrs.iter().map(|i| renamed(i, &to)).collect();
    *code = ScalarFn { params: code.params, types, instrs, results: code.results.iter().map(to).collect() };
}

/// Calls `f` with every register that the instructions set, in order. The registers that a conditional sets come after
/// those of its branches.
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

/// The live registers: those whose values are needed.
struct Live(IndexVec<Reg, bool>);

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

/// For each instruction with inner ones: whether these add to sums, and the length of the list before the inner ones
/// were added. The list is used from its end, as the instructions are visited backwards. It is empty if nothing adds to
/// sums.
#[derive(Default)]
struct Effects(Vec<(bool, usize)>);

impl Effects {
    /// Adds instructions. Returns whether one of them adds to a sum.
    fn add(&mut self, instrs: &[Instr]) -> bool {
        instrs.iter().fold(false, |any, i| {
            let before = self.0.len();
            let emits = match i {
                Instr::Emit { .. } => return true,
                Instr::If { then: last, otherwise: first, .. } | Instr::While { body: last, cond: first, .. } => {
                    deep(|| self.add(first)) | deep(|| self.add(last))
                }
                _ => return any,
            };
            self.0.push((emits, before));
            any | emits
        })
    }

    /// Whether the instruction that is visited next adds to sums. If it does not, it can be left out with its inner
    /// ones.
    fn next(&mut self, i: &Instr, is_live: bool) -> bool {
        if i.inner().is_empty() {
            return matches!(i, Instr::Emit { .. });
        }
        let Some((emits, before)) = self.0.pop() else { return false };
        if !emits && !is_live {
            self.0.truncate(before);
        }
        emits
    }
}

/// Drops the parts of the state of a loop on which neither its end nor what is live depends. They may depend on each other, as a sum
/// that nobody reads depends on itself: forward mode carries values beside tangents, and of the primal loop of a gradient, often only
/// its lists are needed.
fn drop_states(
    state: &mut Vec<(Reg, Reg)>,
    next: &mut Vec<Reg>,
    continues: Reg,
    lists: &[(Reg, Reg)],
    code: [&[Instr]; 2],
    live: &Live,
) {
    if state.iter().all(|s| live.contains(&s.0)) {
        return;
    }
    let mut depends: BTreeMap<Reg, Vec<Reg>> = BTreeMap::new();
    let mut needed: Vec<Reg> = std::iter::once(continues).chain(lists.iter().map(|l| l.1)).collect();
    let all = || code.into_iter().flat_map(walk);
    let emits = all().any(|i| matches!(i, Instr::Emit { .. }));
    for i in all() {
        match i {
            Instr::If { cond, merge, .. } => {
                needed.extend(emits.then_some(*cond));
                depends.extend(merge.iter().map(|(to, a, b)| (*to, vec![*cond, *a, *b])));
            }
            Instr::While { state, continues, next, lists, .. } => {
                needed.extend(emits.then_some(*continues));
                depends.extend(state.iter().zip(next).map(|((to, init), next)| (*to, vec![*init, *next, *continues])));
                depends.extend(lists.iter().map(|(to, value)| (*to, vec![*value, *continues])));
            }
            i => {
                let mut used = BTreeSet::new();
                i.uses(&mut used);
                if matches!(i, Instr::Emit { .. }) {
                    needed.extend(used);
                } else {
                    depends.extend(i.sets().iter().map(|to| (*to, used.iter().copied().collect())));
                }
            }
        }
    }
    depends.extend(state.iter().zip(&*next).map(|((to, _), next)| (*to, vec![*next])));
    needed.extend(state.iter().map(|s| s.0).filter(|to| live.contains(to)));
    let mut found = BTreeSet::new();
    while let Some(r) = needed.pop() {
        if found.insert(r) {
            needed.extend(depends.get(&r).into_iter().flatten());
        }
    }
    // A loop that goes on whatever its state is has no text without one.
    if !state.iter().any(|s| found.contains(&s.0)) {
        return;
    }
    let mut parts: Vec<_> = state.drain(..).zip(next.drain(..)).collect();
    parts.retain(|((to, _), _)| found.contains(to));
    (*state, *next) = parts.into_iter().unzip();
}

/// Drops the instructions that set no live register and add to no sum. `live` is the set after the instructions, and
/// becomes the set before them.
fn live_instrs(instrs: &mut Vec<Instr>, live: &mut Live, effects: &mut Effects) {
    let mut kept = vec![];
    while let Some(mut i) = instrs.pop() {
        let is_live = i.sets().iter().any(|r| live.contains(r));
        if !effects.next(&i, is_live) && !is_live {
            continue;
        }
        match &mut i {
            Instr::If { cond, then, otherwise, merge } => {
                merge.retain(|m| live.contains(&m.0));
                live.extend(merge.iter().flat_map(|m| [m.1, m.2]));
                deep(|| live_instrs(then, live, effects));
                deep(|| live_instrs(otherwise, live, effects));
                live.extend([*cond]);
            }
            Instr::While { state, cond, continues, body, next, lists } => {
                lists.retain(|l| live.contains(&l.0));
                live.extend(lists.iter().map(|l| l.1));
                drop_states(state, next, *continues, lists, [&*cond, &*body], live);
                live.extend(next.iter().copied());
                live.extend([*continues]);
                live.extend(state.iter().map(|s| s.0));
                deep(|| live_instrs(body, live, effects));
                deep(|| live_instrs(cond, live, effects));
                live.extend(state.iter().map(|s| s.1));
            }
            _ => i.uses(live),
        }
        kept.push(i);
    }
    kept.reverse();
    *instrs = kept;
}
