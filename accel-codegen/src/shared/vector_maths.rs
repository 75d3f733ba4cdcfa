//! Vector maths: mathematical functions of all lanes of a strip, as calls for whole vectors.
//!
//! NOTE [Vector maths]: compilers of devices do not vectorise calls of `exp` in a loop, but they have an `exp` for
//! vectors. So a loop over lanes is split: the arguments of such functions go to an array, the functions are called for
//! whole vectors of it, and the next loop continues with the results. Each loop recomputes the other values that it
//! needs, which is little work beside such a function. C compilers vectorise such calls, but not those in branches: NOTE [Lanes of
//! scalar functions].

use crate::analysis::slice::needed;
use crate::cost_model::LANES;
use crate::opencl::vectors;
use crate::text::primitives;
use crate::text::scalar_code::Constants;
use crate::text::writer::Writer;
use accel_fusion::kernel::{Instr, Reg, ScalarFn};
use std::collections::BTreeSet;

impl Writer<'_> {
    /// Computes `code` for all lanes `l` from the values `args`, and assigns its results to `to`.
    pub fn each_lane(&mut self, code: &ScalarFn, args: &[String], to: &[String]) {
        if let Some(function) = self.lane_fn(code) {
            return self.branches_of_lanes(&function, args, to);
        }
        if !self.has_calls(code) {
            return self.braces(self.lane(), |w| w.code(code, args, to));
        }
        self.braces("", |w| {
            let mut done = BTreeSet::new();
            loop {
                let is_next =
                    |i: &&Instr| i.library_call().is_some_and(|(r, a)| !done.contains(&r) && is_ready(code, a, &done));
                let next: Vec<(Instr, Reg, Reg)> = code
                    .instrs
                    .iter()
                    .filter(is_next)
                    .filter_map(|i| Some((i.clone(), i.library_call()?.0, i.library_call()?.1)))
                    .collect();
                if next.is_empty() {
                    break;
                }
                for (_, r, _) in &next {
                    w.line(format!("{} c{r}[{LANES}];", code.types[*r]));
                }
                let arguments: Vec<_> = next.iter().map(|(_, r, a)| (format!("c{r}[l]"), *a)).collect();
                w.lane_loop(code, args, &arguments, &done);
                for (i, r, a) in &next {
                    w.call(code, i, *r, *a);
                    done.insert(*r);
                }
            }
            let results: Vec<_> = to.iter().cloned().zip(code.results.iter().copied()).collect();
            w.lane_loop(code, args, &results, &done);
        });
    }

    /// Whether it takes several loops over the lanes to compute a function.
    pub fn takes_loops(&self, code: &ScalarFn) -> bool {
        self.has_calls(code) || self.lane_fn(code).is_some()
    }

    /// Whether the scalar function contains functions to call for vectors.
    fn has_calls(&self, code: &ScalarFn) -> bool {
        !self.dialect().vectorizes_calls() && code.instrs.iter().any(|i| i.library_call().is_some())
    }

    /// Computes the registers `wanted`, given the registers `done`.
    fn lane_loop(&mut self, code: &ScalarFn, args: &[String], wanted: &[(String, Reg)], done: &BTreeSet<Reg>) {
        let instrs = needed(&code.instrs, wanted.iter().map(|(_, r)| *r).collect(), done);
        self.braces(self.lane(), |w| {
            for (r, arg) in args.iter().enumerate().take(code.params) {
                w.line(format!("const {} r{r} = {arg};", code.types[r]));
            }
            for r in done {
                w.line(format!("const {} r{r} = c{r}[l];", code.types[*r]));
            }
            w.instrs(code, &instrs, &mut Constants::new());
            for (to, r) in wanted {
                w.line(format!("{to} = r{r};"));
            }
        });
    }

    /// Calls a function for the array of its arguments.
    fn call(&mut self, code: &ScalarFn, i: &Instr, r: Reg, a: Reg) {
        let (t, width) = (code.types[r], vectors::width(code.types[r]));
        let Instr::Op1(_, op, _) = i else { return };
        let value = primitives::op1(self.declarations, *op, code.types[a], "x");
        self.braces(&format!("for (int l = 0; l < {LANES}; l += {width})"), |w| {
            w.line(format!("const {} x = vload{width}(0, c{r} + l);", vectors::name(t)));
            w.line(format!("vstore{width}({value}, 0, c{r} + l);"));
        });
    }
}

/// Whether a register can be computed without functions other than those of `done`.
fn is_ready(code: &ScalarFn, r: Reg, done: &BTreeSet<Reg>) -> bool {
    needed(&code.instrs, BTreeSet::from([r]), done).iter().all(|i| i.library_call().is_none())
}
