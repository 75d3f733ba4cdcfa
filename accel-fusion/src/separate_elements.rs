//! Gives elements of reductions, scans and permutations statements of their own: loops before these statements.
//!
//! NOTE [Lists on devices]: a work-item needs memory for its lists, so few items can run at once. Loops and statements
//! with sums run with any number of items. The kernels of other statements do not. So elements of reductions, scans and
//! permutations that need lists become loops before these statements. An operator with lists stays: its statement needs
//! memory for each item. The host evaluates extents and conditions.
//!
//! On processors, the kernels of loops compute scalar functions with loops for a vector of elements at a time: NOTE [Lanes
//! of scalar functions] in [`crate::kernel::LaneFn`]. So there, elements with such loops get statements of their own.

use crate::kernel::builder::{Builder, joined};
use crate::kernel::{Instr, LaneFn, Op, Program, Reg, ScalarFn, SiteId, Stmt};
use crate::optimize::{Place, Rule, rewrite};
use accel_core::repr::ScalarType;

/// Separates elements with private lists.
pub fn with_lists(program: &Program) -> Program {
    separated(program, |code| !code.lists().is_empty())
}

/// Separates elements with loops that profit from lanes.
pub fn with_scalar_loops(program: &Program) -> Program {
    separated(program, |code| code.params > 0 && LaneFn::of_loops(code).is_some())
}

fn separated(program: &Program, is_separate: fn(&ScalarFn) -> bool) -> Program {
    rewrite(program, &mut Separated { is_separate })
}

/// `reduce f` is `a = loop f; reduce a[i]`.
struct Separated {
    /// Whether an element gets a statement of its own.
    is_separate: fn(&ScalarFn) -> bool,
}

impl Rule for Separated {
    fn stmt(&mut self, place: &mut Place, mut s: Stmt, before: &mut Vec<Stmt>) {
        if let Op::Strip { body, .. } = &mut s.op
            && body.stmts.iter().any(|s| s.op.scalar_fns().iter().any(|(_, c)| (self.is_separate)(c)))
        {
            // The statements one after the other, without the strip.
            return std::mem::take(&mut body.stmts).into_iter().for_each(|s| self.stmt(place, s, before));
        }
        let mut stored = |body: &ScalarFn, extents: &ScalarFn| stored(place, body, extents, s.site, before);
        match &mut s.op {
            Op::Reduce { extents, rows, .. } | Op::Scan { extents, rows, .. } => {
                if (self.is_separate)(&rows.element) {
                    rows.element = stored(&rows.element, &joined(&[extents, &rows.len]));
                }
                if let Some(init) = rows.init.as_mut().filter(|init| (self.is_separate)(init)) {
                    *init = stored(init, &ScalarFn::default());
                }
            }
            Op::Permute { extents, target, element, .. } => {
                if (self.is_separate)(element) {
                    *element = stored(&only_if_kept(target, element), extents);
                }
                if (self.is_separate)(target) {
                    *target = stored(target, extents);
                }
            }
            _ => {}
        }
        before.push(s);
    }
}

/// Adds a loop that stores the results of `body`. Returns the function that reads them.
fn stored(place: &mut Place, body: &ScalarFn, extents: &ScalarFn, site: SiteId, before: &mut Vec<Stmt>) -> ScalarFn {
    let array = place.store(body.clone(), extents.clone(), site, before);
    let mut b = Builder::new(body.param_types());
    let to: Vec<Reg> = body.results.iter().map(|r| b.reg(body.types[*r])).collect();
    b.emit(Instr::Read { to: to.clone(), array, index: b.params(), site, inside: true });
    b.finish(to)
}

/// The element of a permutation where it is kept; zeros elsewhere, where it could fail.
fn only_if_kept(target: &ScalarFn, element: &ScalarFn) -> ScalarFn {
    let mut b = Builder::new(element.param_types());
    let index = b.params();
    let keep = b.inline(target, &index)[0];
    let (then, found) = b.block(|b| b.inline(element, &index));
    let types: Vec<ScalarType> = element.results.iter().map(|r| element.types[*r]).collect();
    let (otherwise, zeros) = b.block(|b| types.iter().map(|t| b.constant(t.zero())).collect::<Vec<Reg>>());
    let results: Vec<Reg> = types.iter().map(|t| b.reg(*t)).collect();
    let merge = results.iter().zip(found.iter().zip(&zeros)).map(|(to, (a, z))| (*to, *a, *z)).collect();
    b.emit(Instr::If { cond: keep, then, otherwise, merge });
    b.finish(results)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{parse, verify};

    #[test]
    fn elements_with_lists_become_loops() {
        let list = "x20: i64, x21: i64 = while x0 cond { x22: i64 = 3 x23: bool = x20 < x22 -> x23 } \
                    body { x24: i64 = 1 x25: i64 = x20 + x24 -> x25 } lists x20 x26: i64 = 0 x27: i64 = list x21[x26]";
        let unset: String = (1..20).map(|k| format!("unset x{k}: i64 ")).collect();
        let text = format!(
            "program (a0: Array1<i64>) site 0 = \"fold\" {{
               a1: Array0<i64> = reduce @0 sum
                 extents () {{ -> }}
                 len () {{ x0: i64 = extent a0 0 -> x0 }}
                 element (x0: i64) {{ {unset} {list} -> x27 }}
                 init () {{ x0: i64 = 0 -> x0 }}
                 op (x0: i64, x1: i64) {{ x2: i64 = x0 + x1 -> x2 }}
               a2: Array1<i64> = permute a0 @0 sum
                 extents () {{ x0: i64 = extent a0 0 -> x0 }}
                 target (x0: i64) {{ x1: bool = true -> x1, x0 }}
                 element (x0: i64) {{ {unset} {list} -> x27 }}
                 comb (x0: i64, x1: i64) {{ x2: i64 = x0 + x1 -> x2 }}
               -> a1, a2
             }}"
        );
        let after = with_lists(&parse(&text).unwrap());
        verify(&after).unwrap_or_else(|e| panic!("{e}\n{after}"));
        let with_lists = |op: &Op| op.scalar_fns().iter().any(|(_, c)| !c.lists().is_empty());
        let found: Vec<_> = after.body.stmts.iter().map(|s| (s.op.keyword(), with_lists(&s.op))).collect();
        assert_eq!(found, [("loop", true), ("reduce", false), ("loop", true), ("permute", false)]);
    }
}
