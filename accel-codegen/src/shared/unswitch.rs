//! Unswitching: a decision that is the same for all lanes of a strip, such as whether an element is on the diagonal, is made once, outside of the
//! loop over the lanes. Compilers then turn that loop into vector operations.

use crate::analysis::slice::needed;
use crate::text::scalar_code::Constants;
use crate::text::writer::Writer;
use accel_fusion::kernel::{Code, Instr, Reg};
use std::collections::BTreeSet;

/// A code that ends with a decision.
struct Decided {
    /// The decision.
    cond: Code,
    /// What the whole code is, if it is true and if it is false.
    then: Code,
    otherwise: Code,
}

/// So many decisions, one after the other, are made outside: each copies what is before it.
const MOST: usize = 16;

impl Writer<'_> {
    /// Computes `code` for all lanes `l` from the values `args` and assigns its results to `to`.
    pub fn all_lanes(&mut self, code: &Code, args: &[String], to: &[String]) {
        self.with_decisions(MOST, code, args, to);
    }

    /// The same with at most so many decisions outside.
    fn with_decisions(&mut self, most: usize, code: &Code, args: &[String], to: &[String]) {
        let decided = if most > 0 { decided(code, self.lanes.position) } else { None };
        let Some(decided) = decided else { return self.each_lane(code, args, to) };
        let position = self.lanes.position;
        self.braces("", |w| {
            w.line("bool decision;");
            w.braces("", |w| {
                for (r, arg) in args.iter().enumerate().filter(|(r, _)| *r != position) {
                    w.line(format!("const {} r{r} = {arg};", code.types[r]));
                }
                w.instrs(code, &decided.cond.instrs, &mut Constants::new());
                w.line(format!("decision = r{};", decided.cond.results[0]));
            });
            w.braces("if (decision)", |w| w.with_decisions(most - 1, &decided.then, args, to));
            w.braces("else", |w| w.with_decisions(most - 1, &decided.otherwise, args, to));
        });
    }
}

/// If the last instruction is a decision that does not depend on the position.
fn decided(code: &Code, position: Reg) -> Option<Decided> {
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
        Code { instrs: [before, instrs].concat(), results: code.results.iter().map(result).collect(), ..code.clone() }
    };
    Some(Decided {
        then: branch(then, |m| m.1),
        otherwise: branch(otherwise, |m| m.2),
        cond: Code { instrs: first, results: vec![*cond], ..code.clone() },
    })
}
