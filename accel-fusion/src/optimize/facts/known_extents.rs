//! The extents of arrays that are constants of the program.

use crate::kernel::{ArrayId, Block, IndexVec, Instr, Op, Program, Reg, ScalarFn, Trips, scan_extents};
use crate::optimize::facts::shape_analysis::InputExtents;
use accel_core::ast::deep;
use accel_core::repr::{MAX_EXTENT, Scalar, checked_size};
use std::collections::HashMap;

/// The extents of each array, if they are the same in every run.
pub type KnownExtents = IndexVec<ArrayId, Option<Box<[i64]>>>;

/// Finds the extents of arrays that are the same in every run: those that constants determine, and those of inputs in `given`. A state of a loop has known extents if
/// those of its initial value are known and a step keeps them.
pub fn known_extents(program: &Program, given: &InputExtents) -> KnownExtents {
    let mut known: KnownExtents = program.arrays.iter().map(|a| (a.rank == 0).then(Box::default)).collect();
    for (a, extents) in program.inputs.iter().zip(given).filter(|(a, e)| program.arrays[**a].rank == e.len()) {
        known[*a] = extents.iter().map(|n| n.map(|n| n as i64)).collect();
    }
    let mut analysis = Analysis { program, known, tapes: HashMap::new(), depth: 0 };
    analysis.block(&program.body);
    analysis.known
}

/// The results of a scalar function of no arrays' elements, if they are possible extents.
pub fn constants(code: &ScalarFn, known: &KnownExtents) -> Option<Vec<i64>> {
    let of = |x| match x {
        Some(Scalar::I64(n)) if (0..=MAX_EXTENT as i64).contains(&n) => Some(n),
        _ => None,
    };
    results(code, known).into_iter().map(of).collect()
}

/// The results of a scalar function without parameters that are the same in every run.
pub fn results(code: &ScalarFn, known: &KnownExtents) -> Vec<Option<Scalar>> {
    let mut values = HashMap::new();
    add_values(&code.instrs, known, &mut values);
    code.results.iter().map(|r| values.get(r).copied()).collect()
}

/// Adds the values of instructions that are the same in every run.
fn add_values(instrs: &[Instr], known: &KnownExtents, values: &mut HashMap<Reg, Scalar>) {
    for i in instrs {
        let of = |r: &Reg| values.get(r).copied();
        let found = match i {
            Instr::Const(to, x) => (*to, Some(*x)),
            Instr::Extent(to, a, dim) => (*to, known[*a].as_ref().and_then(|e| e.get(*dim)).map(|n| Scalar::I64(*n))),
            Instr::Op1(to, op, a) => (*to, of(a).and_then(|a| op.eval(a).ok())),
            Instr::Op2(to, op, a, b) => (*to, of(a).zip(of(b)).and_then(|(a, b)| op.eval(a, b).ok())),
            Instr::If { cond, then, otherwise, merge } => {
                if let Some(Scalar::Bool(is_true)) = of(cond) {
                    deep(|| add_values(if is_true { then } else { otherwise }, known, values));
                    for (to, a, b) in merge {
                        let value = values.get(if is_true { a } else { b }).copied();
                        values.extend(value.map(|value| (*to, value)));
                    }
                }
                continue;
            }
            _ => continue,
        };
        values.extend(found.1.map(|value| (found.0, value)));
    }
}

struct Analysis<'a> {
    program: &'a Program,
    known: KnownExtents,
    /// The arrays that each tape keeps.
    tapes: HashMap<usize, &'a [ArrayId]>,
    /// The number of loops around the current place.
    depth: usize,
}

/// In deeper nests of loops, no state has known extents: each loop asks twice about the loops in it. Chosen.
const DEEPEST: usize = 6;

impl<'a> Analysis<'a> {
    fn block(&mut self, b: &'a Block) {
        b.stmts.iter().for_each(|s| deep(|| self.op(&s.op)));
    }

    /// Sets the extents of an array.
    fn set(&mut self, a: ArrayId, extents: Option<Vec<i64>>) {
        let is_size = |e: &Vec<i64>| checked_size(&e.iter().map(|n| *n as usize).collect::<Vec<_>>()).is_some();
        self.known[a] = extents.filter(is_size).map(Into::into);
    }

    fn op(&mut self, op: &'a Op) {
        let of = |code: &ScalarFn, known: &KnownExtents| constants(code, known);
        match op {
            Op::Literal { to, literal } => {
                let extents = self.program.literals[*literal].extents.iter().map(|n| *n as i64).collect();
                self.set(*to, Some(extents));
            }
            Op::Loop { to, extents, .. } => {
                let extents = of(extents, &self.known);
                to.iter().for_each(|a| self.set(*a, extents.clone()));
            }
            Op::Accumulate { to, sums, extents, .. } => {
                let extents = of(extents, &self.known);
                to.iter().for_each(|a| self.set(*a, extents.clone()));
                sums.iter().for_each(|(a, initial)| self.known[*a] = self.known[*initial].clone());
            }
            Op::Reduce { to, extents, .. } | Op::Reshape { to, extents, .. } => {
                let extents = of(extents, &self.known);
                self.set(*to, extents);
            }
            Op::Scan { to, extents, down, rows, .. } => {
                let (outer, len) = (of(extents, &self.known), of(&rows.len, &self.known));
                let more = rows.init.is_some() as i64;
                let all = outer.zip(len).map(|(outer, len)| scan_extents(&outer, len[0] + more, *down));
                self.set(*to, all);
            }
            Op::Permute { to, defaults, .. } => self.known[*to] = self.known[*defaults].clone(),
            Op::Argsort { to, keys, .. } => to.iter().for_each(|a| self.known[*a] = self.known[*keys].clone()),
            Op::Foreign { to, extents, .. } => {
                let all = of(extents, &self.known);
                for (k, a) in to.iter().enumerate() {
                    let first: usize = to[..k].iter().map(|a| self.program.arrays[*a].rank).sum();
                    let own = |all: &Vec<i64>| all[first..first + self.program.arrays[*a].rank].to_vec();
                    self.set(*a, all.as_ref().map(own));
                }
            }
            Op::Agree { .. } => {}
            Op::If { to, then, otherwise, .. } => {
                self.block(&then.0);
                self.block(&otherwise.0);
                for (k, a) in to.iter().enumerate() {
                    let [first, second] = [&self.known[then.1[k]], &self.known[otherwise.1[k]]];
                    self.known[*a] = if first == second { first.clone() } else { None };
                }
            }
            Op::While { to, init, trips, body, .. } => {
                for (a, initial) in to.iter().zip(init) {
                    let known = self.known[*initial].clone();
                    self.known[*a] = known.filter(|_| self.depth < DEEPEST || self.program.arrays[*a].rank == 0);
                }
                self.depth += 1;
                // States whose extents change make those of others unknown, so the second time, all are.
                for round in 0.. {
                    if let Trips::While(cond, _) = trips {
                        self.block(cond);
                    }
                    self.block(&body.0);
                    let state = || to[..init.len()].iter().filter(|a| self.program.arrays[**a].rank > 0);
                    let keeps = |(a, next): (&ArrayId, &ArrayId)| {
                        self.known[*a].is_none() || self.known[*a] == self.known[*next]
                    };
                    if to.iter().zip(&body.1[..init.len()]).all(keeps) {
                        break;
                    }
                    let changed: Vec<ArrayId> = match round {
                        0 => {
                            to.iter().zip(&body.1[..init.len()]).filter(|pair| !keeps(*pair)).map(|(a, _)| *a).collect()
                        }
                        _ => state().copied().collect(),
                    };
                    changed.into_iter().for_each(|a| self.known[a] = None);
                }
                self.depth -= 1;
            }
            Op::Keep { tape, arrays } => {
                self.tapes.insert(*tape, arrays);
            }
            Op::Recall { to, tape, step, .. } => {
                let kept = self.tapes.get(tape).copied().unwrap_or_default();
                for (a, kept) in to.iter().zip(kept) {
                    self.known[*a] = self.known[*kept].clone();
                }
                self.block(&step.0);
            }
            Op::Strip { body, .. } => self.block(body),
        }
    }
}
