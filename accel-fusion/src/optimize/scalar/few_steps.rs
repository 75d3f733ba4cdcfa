//! Loops of few steps in scalar code.
//!
//! NOTE [Loops of few steps]: a loop such as `iterate(3, step, x)` has a number of steps that is known from constants. If all
//! steps together have few instructions, they are executed one after the other: without a counter, in vectors, and values
//! are folded across steps.

use crate::kernel::{Instr, Reg, walk};
use accel_core::repr::Scalar;
use std::collections::HashMap;

/// The largest number of instructions of all steps. In longer loops, the counter and the jump are a small part, and the text of nested
/// ones would grow fast. Chosen.
const UNROLLED: usize = 128;

/// The number of steps of a loop, if it is known and small. `outside` tells the constants before the loop.
pub(crate) fn few_steps(instr: &Instr, outside: impl Fn(Reg) -> Option<Scalar>) -> Option<usize> {
    let Instr::While { state, cond, continues, body, next, lists } = instr else { return None };
    let size = walk(cond).chain(walk(body)).count();
    // Steps of loops inside would have to be counted, too. If those loops are gone, this one is cleaned again.
    if !lists.is_empty() || size > UNROLLED || cond.iter().chain(body.iter()).any(Instr::has_loop) {
        return None;
    }
    let mut inside = Inside::new();
    let sets = walk(cond).chain(walk(body)).flat_map(|i| i.sets().to_vec());
    inside.extend(sets.map(|r| (r, None)));
    inside.extend(state.iter().map(|(to, init)| (*to, outside(*init))));
    for steps in 0..=UNROLLED / size.max(1) {
        evaluate(cond, &mut inside, &outside);
        match constant(*continues, &inside, &outside) {
            Some(Scalar::Bool(false)) => return Some(steps),
            Some(Scalar::Bool(true)) => {}
            _ => return None,
        }
        evaluate(body, &mut inside, &outside);
        let values: Vec<Option<Scalar>> = next.iter().map(|r| constant(*r, &inside, &outside)).collect();
        inside.extend(state.iter().map(|s| s.0).zip(values));
    }
    None
}

/// The registers that the loop sets, with their values if these are known.
type Inside = HashMap<Reg, Option<Scalar>>;

fn constant(r: Reg, inside: &Inside, outside: &impl Fn(Reg) -> Option<Scalar>) -> Option<Scalar> {
    inside.get(&r).copied().unwrap_or_else(|| outside(r))
}

/// Evaluates the operations on constants. All others have unknown results.
fn evaluate(code: &[Instr], inside: &mut Inside, outside: &impl Fn(Reg) -> Option<Scalar>) {
    for i in code {
        let of = |r: &Reg| constant(*r, inside, outside);
        match i {
            Instr::Const(to, x) => _ = inside.insert(*to, Some(*x)),
            Instr::Op1(to, op, a) => {
                let value = of(a).and_then(|x| op.eval(x).ok());
                inside.insert(*to, value);
            }
            Instr::Op2(to, op, a, b) => {
                let value = of(a).zip(of(b)).and_then(|(x, y)| op.eval(x, y).ok());
                inside.insert(*to, value);
            }
            i => inside.extend(i.sets().iter().map(|r| (*r, None))),
        }
    }
}
