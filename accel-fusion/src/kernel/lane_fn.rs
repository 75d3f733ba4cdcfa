//! Scalar functions that are computed for a vector of elements at a time, although they have loops or branches.
//!
//! NOTE [Lanes of scalar functions]: a loop of a scalar function runs for one element, and each step waits for the one
//! before. So a `map` of such loops leaves most of a processor idle. Instead, the function is computed for `LANES`
//! elements at a time: each element is a lane, all lanes go through the loop together, and what a step computes is an
//! inner loop over the lanes, which compilers turn into vector operations. Branches that call functions such as `exp` are
//! computed in this way, too, since compilers have no vectors for a function that some lanes call.
//!
//! A register is uniform if all lanes have the same value in it, such as the counter of a loop with a fixed number of
//! steps. It stays a variable. The other registers vary. Instructions without such loops and branches form runs; each run is one
//! loop over the lanes, with variables for its registers. Only registers that other runs use are kept in arrays with an element
//! for each lane.
//!
//! A loop whose condition varies continues until no lane is active, and a branch is left out if no lane is active. The mask of
//! the active lanes is an array of its own: lanes that are not active keep their state. They still compute, except
//! where a run reads elements, whose indices are within bounds only for active lanes.
//!
//! NOTE [Lanes that leave]: if elements take different numbers of steps, most lanes would wait for the last one. A function with one
//! such loop has more lanes than vectors need. When half of them have ended, their results are stored, and the others move together.
//! This is not possible if an element can fail, since results would be there already, or if steps add to lists.
//!
//! NOTE [Lanes of a row]: the elements of a vector mostly lie in one row. Then all indices but the innermost one are uniform, and so is
//! what is read by them alone: an element is read once instead of once in each lane. If there are such reads, the function is
//! written twice, for lanes in one row and for any lanes.
//!
//! If an element fails, for example at an index outside of an array, the function gives up, and its caller computes one
//! element after the other: the error is that of the first element that fails. It also gives up if a list gets long:
//! the lists of all lanes do not fit into caches, and need the memory of many elements instead of one.

use super::ids::Reg;
use super::ir::{Instr, ScalarFn};
use super::walk::walk;
use accel_core::ast::deep;
use std::collections::BTreeSet;

/// A scalar function with loops or branches, and what its lanes share.
pub struct LaneFn<'a> {
    /// The function.
    pub code: &'a ScalarFn,
    /// The registers with a value for each lane.
    pub varying: BTreeSet<Reg>,
    /// Those among them that are used outside the run that sets them.
    pub kept: BTreeSet<Reg>,
}

/// Deeper nests of loops and conditionals are computed one element at a time: each level has a mask of its own, and fewer and fewer
/// lanes are active. Chosen.
const DEEPEST: usize = 16;

impl<'a> LaneFn<'a> {
    /// Analyses a function of which all parameters vary. Returns nothing if it has no loops that profit from lanes: if it adds to
    /// sums, or only has loops that compilers vectorise without this, or a loop that reads different elements in each lane and
    /// ends at different times. Vectors do not make such reads faster, and lanes would wait for the longest.
    pub fn of_loops(code: &'a ScalarFn) -> Option<Self> {
        if !code.has_loop() {
            return None;
        }
        let function = LaneFn::new(code, code.param_regs().collect())?;
        let varying = &function.varying;
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
        let profits = walk(&code.instrs).any(is_worthwhile) && !walk(&code.instrs).any(is_search);
        profits.then_some(function)
    }

    /// Analyses a function without loops, of which these parameters vary. Returns nothing if compilers make no worse vectors
    /// of it: if no branch calls a function of the mathematical library.
    pub fn of_branches(code: &'a ScalarFn, params: BTreeSet<Reg>) -> Option<Self> {
        let profits = !code.has_loop() && code.instrs.iter().any(is_nest);
        profits.then(|| LaneFn::new(code, params))?
    }

    /// The function for lanes that differ only in the last parameter. Returns nothing if they would not share what they read: NOTE
    /// [Lanes of a row].
    pub fn in_row(&self) -> Option<Self> {
        let last = self.code.param_regs().last()?;
        let row = LaneFn::new(self.code, BTreeSet::from([last]))?;
        let is_shared = |r: &Reg| self.varying.contains(r) && !row.varying.contains(r);
        let shares = |i: &Instr| matches!(i, Instr::Read { to, .. } if to.iter().any(is_shared));
        walk(&self.code.instrs).any(shares).then_some(row)
    }

    fn new(code: &'a ScalarFn, params: BTreeSet<Reg>) -> Option<Self> {
        if code.emits() || depth(&code.instrs) > DEEPEST {
            return None;
        }
        let varying = varying(code, params);
        let mut kept = BTreeSet::new();
        used_elsewhere(&code.instrs, &code.results, &mut kept);
        let lists = code.lists();
        kept.retain(|r| varying.contains(r) && !lists.contains(r));
        Some(LaneFn { code, varying, kept })
    }

    /// Splits a run into what is the same for all lanes and the rest.
    pub fn split(&self, run: &[Instr]) -> (Vec<Instr>, Vec<Instr>) {
        run.iter().cloned().partition(|i| self.is_uniform(i))
    }

    /// What is before, in, and after the only loop of a function whose elements end it at different times: NOTE [Lanes that leave].
    pub fn leaving(&self) -> Option<(&[Instr], &Instr, &[Instr])> {
        let [(before, Some(nest)), (after, None)] = runs(&self.code.instrs)[..] else { return None };
        let is_own = matches!(nest, Instr::While { continues, .. } if self.varying.contains(continues));
        (is_own && self.code.lists().is_empty() && !self.code.can_fail()).then_some((before, nest, after))
    }

    fn is_uniform(&self, i: &Instr) -> bool {
        !i.sets().iter().any(|r| self.varying.contains(r))
    }
}

/// Whether an instruction is a loop, or a conditional with loops or calls of functions inside.
fn is_nest(i: &Instr) -> bool {
    i.has_loop() || i.inner().iter().flat_map(|b| walk(b)).any(|i| i.library_call().is_some())
}

/// Splits instructions into runs, each with the loop or the conditional that follows it, if it does not belong to a run. There is
/// none after the last run, which may be empty.
pub fn runs(instrs: &[Instr]) -> Vec<(&[Instr], Option<&Instr>)> {
    let (mut runs, mut from) = (vec![], 0);
    for (n, i) in instrs.iter().enumerate().filter(|(_, i)| is_nest(i)) {
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

/// The registers that can differ between elements: the smallest set that contains these parameters and what depends on
/// them.
fn varying(code: &ScalarFn, params: BTreeSet<Reg>) -> BTreeSet<Reg> {
    let mut varying = params;
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
                    // A conditional of a run varies as a whole.
                    let inside = || walk(then).chain(walk(otherwise)).flat_map(Instr::sets).any(|r| is_varying(&r));
                    let together = is_varying(cond)
                        || !is_nest(i) && (inside() || merge.iter().any(|m| is_varying(&m.1) || is_varying(&m.2)));
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
        let loops = LaneFn::of_loops(&code).unwrap();
        assert_eq!(registers(&loops.varying), ["x0", "x1", "x5", "x6", "x10", "x11", "x12"]);
        // The step uses the element, which another run reads.
        assert_eq!(registers(&loops.kept), ["x0", "x1", "x5"]);
    }

    #[test]
    fn all_states_of_a_loop_vary_whose_condition_varies() {
        let code = body("x4: i64 = while x2 cond { x5: bool = x4 < x1 -> x5 } body { x6: i64 = x4 + x3 -> x6 }", "x4");
        let loops = LaneFn::of_loops(&code).unwrap();
        assert_eq!(registers(&loops.varying), ["x0", "x1", "x4", "x5", "x6"]);
    }

    #[test]
    fn compilers_vectorise_loops_of_equal_lengths_themselves() {
        let code = body(
            "x4: i64, x5: i64 = while x2, x1 cond { x6: i64 = 9 x7: bool = x4 < x6 -> x7 } \
             body { x8: i64 = x4 + x3 x9: i64 = x5 * x1 -> x8, x9 }",
            "x5",
        );
        assert!(LaneFn::of_loops(&code).is_none());
    }

    #[test]
    fn only_branches_that_call_functions_are_computed_in_lanes() {
        let branches = |call: &str| {
            let code = body(
                &format!(
                    "x4: bool = x1 < x2 x5: f64 = 0.5 \
                     x8: f64 = if x4 {{ x6: f64 = {call} x5 x7: f64 = x6 * x5 -> x7 }} else {{ -> x5 }} \
                     x9: bool = x8 < x5 x10: i64 = if x9 {{ -> x2 }} else {{ -> x1 }}"
                ),
                "x10",
            );
            let function = LaneFn::of_branches(&code, code.param_regs().collect());
            function.map(|f| (registers(&f.varying), registers(&f.kept)))
        };
        // Parameters, conditions and what branches define are set elsewhere than they are used.
        let varying = ["x0", "x1", "x4", "x8", "x9", "x10"].map(String::from).to_vec();
        let kept = ["x0", "x1", "x4", "x8"].map(String::from).to_vec();
        assert_eq!(branches("exp"), Some((varying, kept)));
        assert_eq!(branches("sqrt"), None);
    }
}
