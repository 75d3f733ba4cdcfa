//! Unswitching: a condition that is the same for all lanes of a strip, such as whether an element is on the diagonal,
//! is tested once, outside the loop over the lanes. C compilers then turn that loop into vector operations.

use crate::analysis::slice::needed;
use crate::cost_model::CONDITIONS;
use crate::text::writer::Writer;
use accel_fusion::kernel::{Instr, Reg, ScalarFn};
use std::collections::BTreeSet;

/// A scalar function that ends with a conditional.
struct Decided {
    /// The condition.
    cond: ScalarFn,
    /// The whole function if the condition is true, and if it is false.
    then: ScalarFn,
    otherwise: ScalarFn,
}

impl Writer<'_> {
    /// Computes `code` for all lanes `l` from the values `args`, and assigns its results to `to`.
    pub fn all_lanes(&mut self, code: &ScalarFn, args: &[String], to: &[String]) {
        self.with_decisions(CONDITIONS, code, args, to);
    }

    /// The same, with at most `most` conditions tested outside.
    fn with_decisions(&mut self, most: usize, code: &ScalarFn, args: &[String], to: &[String]) {
        let decided = if most > 0 { decided(code, self.lanes.position) } else { None };
        let Some(decided) = decided else { return self.each_lane(code, args, to) };
        let position = self.lanes.position;
        self.braces("", |w| {
            w.line("bool decision;");
            w.braces("", |w| {
                for (r, arg) in args.iter().enumerate().filter(|(r, _)| *r != position) {
                    w.line(format!("const {} r{r} = {arg};", code.types[r]));
                }
                w.instrs(code, &decided.cond.instrs);
                w.line(format!("decision = r{};", decided.cond.results[0]));
            });
            w.braces("if (decision)", |w| w.with_decisions(most - 1, &decided.then, args, to));
            w.braces("else", |w| w.with_decisions(most - 1, &decided.otherwise, args, to));
        });
    }
}

/// The parts of a scalar function whose last instruction is a conditional that does not depend on the position.
fn decided(code: &ScalarFn, position: Reg) -> Option<Decided> {
    let (Instr::If { cond, then, otherwise, merge }, before) = code.instrs.split_last()? else { return None };
    let first = needed(before, BTreeSet::from([*cond]), &BTreeSet::new());
    let plain = |i: &Instr| matches!(i, Instr::Const(..) | Instr::Op1(..) | Instr::Op2(..) | Instr::Extent(..));
    let uses_position = |i: &Instr| match i {
        Instr::Op1(_, _, a) => *a == position,
        Instr::Op2(_, _, a, b) => [*a, *b].contains(&position),
        _ => false,
    };
    if *cond == position || !first.iter().all(|i| plain(i) && !uses_position(i)) {
        return None;
    }
    let branch = |instrs: &[Instr], side: fn(&(Reg, Reg, Reg)) -> Reg| {
        let result = |r: &Reg| merge.iter().find(|m| m.0 == *r).map_or(*r, side);
        ScalarFn {
            instrs: [before, instrs].concat(),
            results: code.results.iter().map(result).collect(),
            ..code.clone()
        }
    };
    Some(Decided {
        then: branch(then, |m| m.1),
        otherwise: branch(otherwise, |m| m.2),
        cond: ScalarFn { instrs: first, results: vec![*cond], ..code.clone() },
    })
}
