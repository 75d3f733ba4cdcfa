//! Scalar functions with loops, computed for a vector of elements at a time.
//!
//! NOTE [Lanes of scalar loops]: a loop of a scalar function runs for one element, and each step waits for the one
//! before. So a `map` of such loops leaves most of a processor idle. Instead, the function is computed for `LANES`
//! elements at a time: each element is a lane, all lanes go through the loop together, and what a step computes is an
//! inner loop over the lanes, which compilers turn into vector operations.
//!
//! A register is uniform if all lanes have the same value in it, such as the counter of a loop with a fixed number of
//! steps. It stays a variable. The other registers vary. Instructions without loops form runs; each run is one loop over
//! the lanes, with variables for its registers. Only registers that other runs use are kept in arrays with an element for
//! each lane.
//!
//! A loop whose condition varies continues until no lane is active, and so does a branch with a loop inside. The mask of
//! the active lanes is an array of its own: lanes that are not active keep their state. They still compute, except
//! where a run reads elements, whose indices are within bounds only for active lanes.
//!
//! If an element fails, for example at an index outside of an array, the function gives up, and its caller computes one
//! element after the other: the error is that of the first element that fails. It also gives up if a list gets long:
//! the lists of all lanes do not fit into caches, and need the memory of many elements instead of one.

use super::ids::Reg;
use super::ir::{Instr, ScalarFn};
use super::walk::walk;
use accel_core::ast::deep;
use std::collections::BTreeSet;

/// A scalar function with loops, and what its lanes share.
pub struct ScalarLoops<'a> {
    /// The function.
    pub code: &'a ScalarFn,
    /// The registers with a value for each lane.
    pub varying: BTreeSet<Reg>,
    /// Those among them that are used outside the run that sets them.
    pub kept: BTreeSet<Reg>,
}

/// Deeper nests of loops and conditionals are computed one element at a time.
const DEEPEST: usize = 16;

impl<'a> ScalarLoops<'a> {
    /// Analyses a function. Returns nothing if it has no loops that profit from lanes: if it adds to sums, or only has loops
    /// that compilers vectorise without this, or a loop that reads different elements in each lane and ends at different
    /// times. Vectors do not make such reads faster, and lanes would wait for the longest.
    pub fn new(code: &'a ScalarFn) -> Option<Self> {
        if !code.has_loop() || code.emits() || depth(&code.instrs) > DEEPEST {
            return None;
        }
        let varying = varying(code);
        let is_worthwhile = |i: &Instr| match i {
            Instr::While { continues, body, lists, .. } => {
                let inner = || {
                    walk(body).any(|i| {
                        matches!(i, Instr::While { .. }) || i.library_call().is_some() || i.check(code).is_some()
                    })
                };
                varying.contains(continues) || !lists.is_empty() || inner()
            }
            _ => false,
        };
        let is_search = |i: &Instr| match i {
            Instr::While { continues, cond, body, .. } if varying.contains(continues) => walk(cond)
                .chain(walk(body))
                .any(|i| matches!(i, Instr::Read { index, .. } if index.iter().any(|r| varying.contains(r)))),
            _ => false,
        };
        if !walk(&code.instrs).any(is_worthwhile) || walk(&code.instrs).any(is_search) {
            return None;
        }
        let mut kept = BTreeSet::new();
        used_elsewhere(&code.instrs, &code.results, &mut kept);
        let lists = code.lists();
        kept.retain(|r| varying.contains(r) && !lists.contains(r));
        Some(ScalarLoops { code, varying, kept })
    }

    /// Splits a run into what is the same for all lanes and the rest.
    pub fn split(&self, run: &[Instr]) -> (Vec<Instr>, Vec<Instr>) {
        run.iter().cloned().partition(|i| self.is_uniform(i))
    }

    fn is_uniform(&self, i: &Instr) -> bool {
        !i.sets().iter().any(|r| self.varying.contains(r))
    }
}

/// Splits instructions into runs, each with the loop or the conditional with loops that follows it. There is none after
/// the last run, which may be empty.
pub fn runs(instrs: &[Instr]) -> Vec<(&[Instr], Option<&Instr>)> {
    let (mut runs, mut from) = (vec![], 0);
    for (n, i) in instrs.iter().enumerate().filter(|(_, i)| i.has_loop()) {
        runs.push((&instrs[from..n], Some(i)));
        from = n + 1;
    }
    runs.push((&instrs[from..], None));
    runs
}

/// Adds the registers that a run of `instrs` uses and does not set. The last run also uses the `results`.
fn used_elsewhere(instrs: &[Instr], results: &[Reg], found: &mut BTreeSet<Reg>) {
    for (run, nest) in runs(instrs) {
        let mut used = BTreeSet::new();
        run.iter().for_each(|i| i.uses(&mut used));
        if nest.is_none() {
            used.extend(results);
        }
        walk(run).flat_map(Instr::sets).for_each(|r| _ = used.remove(&r));
        found.append(&mut used);
        let mut inner = |instrs: &[Instr], results: Vec<Reg>| deep(|| used_elsewhere(instrs, &results, found));
        match nest {
            Some(Instr::If { cond, then, otherwise, merge }) => {
                inner(then, merge.iter().map(|m| m.1).collect());
                inner(otherwise, merge.iter().map(|m| m.2).collect());
                found.extend(merge.iter().map(|m| m.0).chain([*cond]));
            }
            Some(Instr::While { state, cond, continues, body, next, lists }) => {
                inner(cond, vec![*continues]);
                inner(body, next.iter().copied().chain(lists.iter().map(|l| l.1)).collect());
                found.extend(state.iter().flat_map(|s| [s.0, s.1]));
            }
            _ => {}
        }
    }
}

/// How deep conditionals and loops are nested.
pub(crate) fn depth(instrs: &[Instr]) -> usize {
    deep(|| instrs.iter().flat_map(Instr::inner).map(|inner| 1 + depth(inner)).max().unwrap_or(0))
}

/// The registers that can differ between elements: the smallest set that contains the parameters and what depends on
/// them.
fn varying(code: &ScalarFn) -> BTreeSet<Reg> {
    let mut varying: BTreeSet<Reg> = code.param_regs().collect();
    loop {
        let before = varying.len();
        for i in walk(&code.instrs) {
            let is_varying = |r: &Reg| varying.contains(r);
            let more: Vec<Reg> = match i {
                Instr::Const(..) | Instr::Extent(..) | Instr::Emit { .. } => vec![],
                Instr::Op1(to, _, a) => [*to].into_iter().filter(|_| is_varying(a)).collect(),
                Instr::Op2(to, _, a, b) => [*to].into_iter().filter(|_| is_varying(a) || is_varying(b)).collect(),
                Instr::Read { to, index, .. } if index.iter().any(is_varying) => to.clone(),
                Instr::Read { .. } => vec![],
                // Each lane has its own lists.
                Instr::Get { to, .. } => vec![*to],
                Instr::If { cond, then, otherwise, merge } => {
                    // A conditional without loops belongs to a run, as a whole.
                    let inside = || walk(then).chain(walk(otherwise)).flat_map(Instr::sets).any(|r| is_varying(&r));
                    let together = is_varying(cond)
                        || !i.has_loop() && (inside() || merge.iter().any(|m| is_varying(&m.1) || is_varying(&m.2)));
                    let differs = |m: &&(Reg, Reg, Reg)| together || is_varying(&m.1) || is_varying(&m.2);
                    merge.iter().filter(differs).map(|m| m.0).collect()
                }
                Instr::While { state, continues, next, lists, .. } => {
                    // Lanes leave the loop after different numbers of steps.
                    let together = is_varying(continues);
                    let differs =
                        |((_, init), next): &(&(Reg, Reg), &Reg)| together || is_varying(init) || is_varying(next);
                    let states = state.iter().zip(next).filter(differs).map(|((to, _), _)| *to);
                    states.chain(lists.iter().map(|l| l.0)).collect()
                }
            };
            varying.extend(more);
        }
        if varying.len() == before {
            return varying;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Op, parse};

    /// The function that computes the only array of a program: a loop over `a0`.
    fn body(instrs: &str, result: &str) -> ScalarFn {
        let text = format!(
            "program (a0: Array1<i64>) site 0 = \"map\" {{
               a1: Array1<i64> = loop @0
                 extents () {{ x0: i64 = extent a0 0 -> x0 }}
                 body (x0: i64) {{ x1: i64 = a0[x0] @0 inside x2: i64 = 0 x3: i64 = 1 {instrs} -> {result} }}
               -> a1
             }}"
        );
        let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        match &program.body.stmts[0].op {
            Op::Loop { body, .. } => body.clone(),
            op => panic!("{}", op.keyword()),
        }
    }

    fn registers(set: &BTreeSet<Reg>) -> Vec<String> {
        set.iter().map(|r| format!("x{r}")).collect()
    }

    #[test]
    fn a_counter_is_uniform_and_the_state_beside_it_varies() {
        let code = body(
            "x4: i64, x5: i64, x6: i64 = while x2, x1 cond { x7: i64 = 9 x8: bool = x4 < x7 -> x8 } \
             body { x9: i64 = x4 + x3 x10: i64 = x5 * x1 -> x9, x10 } lists x5 \
             x11: i64 = list x6[x2] x12: i64 = x11 + x4",
            "x12",
        );
        let loops = ScalarLoops::new(&code).unwrap();
        assert_eq!(registers(&loops.varying), ["x0", "x1", "x5", "x6", "x10", "x11", "x12"]);
        // The step uses the element, which another run reads.
        assert_eq!(registers(&loops.kept), ["x0", "x1", "x5"]);
    }

    #[test]
    fn all_states_of_a_loop_vary_whose_condition_varies() {
        let code = body("x4: i64 = while x2 cond { x5: bool = x4 < x1 -> x5 } body { x6: i64 = x4 + x3 -> x6 }", "x4");
        let loops = ScalarLoops::new(&code).unwrap();
        assert_eq!(registers(&loops.varying), ["x0", "x1", "x4", "x5", "x6"]);
    }

    #[test]
    fn compilers_vectorise_loops_of_equal_lengths_themselves() {
        let code = body(
            "x4: i64, x5: i64 = while x2, x1 cond { x6: i64 = 9 x7: bool = x4 < x6 -> x7 } \
             body { x8: i64 = x4 + x3 x9: i64 = x5 * x1 -> x8, x9 }",
            "x5",
        );
        assert!(ScalarLoops::new(&code).is_none());
    }
}
