//! Reads elements by indices that may be wrong before statements that call the mathematical library.
//!
//! NOTE [Checked reads apart]: `exp(a[g[i]])` has to check each index before it goes on. A loop with such a check is computed one element after the
//! other, and then the exponential function, too, takes the time of a vector of them. So `x[i] = a[g[i]]` becomes a loop of its own, and the statement
//! reads `x[i]`. Where the indices are elements of an array that is read at all indices of the statement, this takes no more memory than there is, and
//! strips keep it in the cache.

use super::functions_of_arrays::function;
use crate::kernel::builder::joined;
use crate::kernel::dead_code::restricted_to;
use crate::kernel::{Instr, Op, Program, Reg, ScalarFn, SiteId, Stmt, walk};
use crate::optimize::{Place, Rule, Share, rewrite};

/// Gives reads whose indices are checked statements of their own.
pub(crate) fn checked_reads(program: &Program) -> Program {
    let after = rewrite(program, &mut Apart);
    // Several statements may read by the same indices.
    if after.arrays.len() > program.arrays.len() { rewrite(&after, &mut Share::default()) } else { after }
}

/// `y[i] = exp(a[g[i]])` is `x[i] = a[g[i]]; y[i] = exp(x[i])`.
struct Apart;

impl Rule for Apart {
    fn stmt(&mut self, place: &mut Place, mut s: Stmt, before: &mut Vec<Stmt>) {
        match &mut s.op {
            Op::Loop { extents, body, .. } => apart(place, &[extents], body, s.site, before),
            Op::Reduce { extents, rows, .. } | Op::Scan { extents, rows, .. } => {
                apart(place, &[extents, &rows.len], &mut rows.element, s.site, before);
            }
            _ => {}
        }
        before.push(s);
    }
}

/// Reads before a statement what its elements read, where they call a function.
fn apart(place: &mut Place, extents: &[&ScalarFn], code: &mut ScalarFn, site: SiteId, before: &mut Vec<Stmt>) {
    if code.params == 0 || !calls(code) {
        return;
    }
    let params: Vec<Reg> = code.param_regs().collect();
    let whole = code.clone();
    for i in &mut code.instrs {
        let Instr::Read { to, index, inside: false, .. } = i else { continue };
        let (indices, values) = (restricted_to(&whole, index.clone()), restricted_to(&whole, to.clone()));
        if calls(&values) || !reads_all(&indices) {
            continue;
        }
        let array = place.store(values, joined(extents), site, before);
        *i = Instr::Read { to: to.clone(), array, index: params.clone(), site, inside: true };
    }
    *code = restricted_to(code, code.results.clone());
}

fn calls(code: &ScalarFn) -> bool {
    walk(&code.instrs).any(|i| function(i).is_some())
}

/// Whether some code reads an array at all of its indices.
fn reads_all(code: &ScalarFn) -> bool {
    let covers = |i: &Instr| matches!(i, Instr::Read { index, inside: true, .. } if code.param_regs().all(|p| index.contains(&p)));
    code.instrs.iter().any(covers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{evaluate, parse, verify};
    use accel_core::array::Array;
    use accel_core::types::Arrays;

    #[test]
    fn a_checked_read_is_a_loop_before_functions() {
        let program = |index: &str, value: &str| {
            let text = format!(
                "program (a0: Array1<i64>, a1: Array1<f64>) site 0 = \"fold\" {{
                   a2: Array0<f64> = reduce @0 sum
                     extents () {{ -> }}
                     len () {{ x0: i64 = extent a0 0 -> x0 }}
                     element (x0: i64) {{ x1: i64 = {index} x2: f64 = a1[x1] @0 x3: f64 = {value} -> x3 }}
                     init () {{ x0: f64 = 0.0 -> x0 }}
                     op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
                   -> a2
                 }}"
            );
            let program = parse(&text).unwrap();
            let after = checked_reads(&program);
            verify(&after).unwrap_or_else(|e| panic!("{e}\n{after}"));
            // Indices of elements, and a wrong one.
            for (indices, is_read) in [(vec![3i64, 0, 1, 1, 2], true), (vec![0, 1, 4, 2], false)] {
                let numbers = Array::vector(vec![0.5, -1.25, 2.0, 0.0]);
                let argument = (Array::vector(indices), numbers).to_tuple();
                let [before, own] = [&program, &after].map(|p| evaluate(p, &argument));
                assert_eq!(format!("{before:?}"), format!("{own:?}"));
                assert!(index == "x0 * x0" || before.is_ok() == is_read, "{before:?}");
            }
            after.body.stmts.iter().map(|s| s.op.keyword()).collect::<Vec<_>>()
        };
        assert_eq!(program("a0[x0] @0 inside", "exp x2"), ["loop", "reduce"]);
        // No function; indices that are in no memory.
        assert_eq!(program("a0[x0] @0 inside", "x2 * x2"), ["reduce"]);
        assert_eq!(program("x0 * x0", "exp x2"), ["reduce"]);
    }
}
