//! Value numbering: registers with the same number hold the same value, wherever they are set.
//!
//! NOTE [Value numbers of conditionals]: two conditionals have equal results if their conditions have equal values, and
//! the values that they merge are equal in each branch. So the number of a conditional's result is made of the numbers
//! of these three values. This finds equal conditionals in constant time, however large their branches are. It also
//! works if one of them sets a constant inside a branch and the other uses one from outside. Loops are numbered in the
//! same way: the numbers of their state consist of the nesting depth of the loop and the place in the state.

use crate::kernel::{ArrayId, IndexVec, Instr, Reg};
use accel_core::repr::Scalar;
use accel_core::repr::op::{Op1, Op2};
use std::collections::HashMap;

/// A value number.
pub type Number = usize;

/// The way in which a value is computed.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Value {
    Param(Reg),
    Const(Scalar),
    Op1(Op1, Number),
    Op2(Op2, Number, Number),
    Extent(ArrayId, usize),
    /// A column of an element.
    Read(ArrayId, usize, Vec<Number>),
    If(Number, Number, Number),
    /// A component of the state during the execution of a loop: the loop's nesting depth, and the component.
    State(usize, usize),
    /// A loop: the initial state, the condition to continue, and the next state.
    While(Vec<Number>, Number, Vec<Number>),
    /// A component of the state after a loop.
    Part(Number, usize),
    /// The list of a value that a loop computes in each step.
    Listed(Number, Number),
    /// An element of a list.
    Get(Number, Number),
}

/// The numbers of all registers set so far.
pub struct Numbers {
    of: IndexVec<Reg, Number>,
    known: HashMap<Value, Number>,
    /// The number of open loops.
    loops: usize,
}

impl Numbers {
    /// Numbers the parameters.
    pub fn new(params: usize) -> Numbers {
        let mut numbers = Numbers { of: IndexVec::new(), known: HashMap::new(), loops: 0 };
        (0..params).map(Reg::new).for_each(|r| numbers.set(r, Value::Param(r)));
        numbers
    }

    /// The number of a register.
    pub fn of(&self, r: Reg) -> Number {
        self.of.get(r).copied().unwrap_or(Number::MAX)
    }

    fn number(&mut self, v: Value) -> Number {
        let next = self.known.len();
        *self.known.entry(v).or_insert(next)
    }

    fn all(&self, registers: impl IntoIterator<Item = Reg>) -> Vec<Number> {
        registers.into_iter().map(|r| self.of(r)).collect()
    }

    fn set(&mut self, r: Reg, v: Value) {
        let number = self.number(v);
        if self.of.len() <= r.index() {
            self.of.resize(r.index() + 1, Number::MAX);
        }
        self.of[r] = number;
    }

    /// Numbers the results of an instruction. Its inner instructions must have been added before.
    pub fn add(&mut self, i: &Instr) {
        match i {
            Instr::Const(to, x) => self.set(*to, Value::Const(*x)),
            Instr::Op1(to, op, a) => self.set(*to, Value::Op1(*op, self.of(*a))),
            Instr::Op2(to, op, a, b) => self.set(*to, Value::Op2(*op, self.of(*a), self.of(*b))),
            Instr::Extent(to, a, dim) => self.set(*to, Value::Extent(*a, *dim)),
            Instr::Read { to, array, index, .. } => {
                let index = self.all(index.iter().copied());
                to.iter().enumerate().for_each(|(c, to)| self.set(*to, Value::Read(*array, c, index.clone())));
            }
            Instr::If { cond, merge, .. } => {
                let cond = self.of(*cond);
                merge.iter().for_each(|(to, a, b)| self.set(*to, Value::If(cond, self.of(*a), self.of(*b))));
            }
            Instr::Emit { .. } => {}
            Instr::Get { to, list, at } => self.set(*to, Value::Get(self.of(*list), self.of(*at))),
            Instr::While { state, continues, next, lists, .. } => {
                let values = self.all(lists.iter().map(|l| l.1));
                let (init, next) = (self.all(state.iter().map(|s| s.1)), self.all(next.iter().copied()));
                let whole = self.number(Value::While(init, self.of(*continues), next));
                state.iter().enumerate().for_each(|(k, (to, _))| self.set(*to, Value::Part(whole, k)));
                lists.iter().zip(values).for_each(|((to, _), value)| self.set(*to, Value::Listed(whole, value)));
            }
        }
    }

    /// Begins a loop with this state: the instructions added next belong to it.
    pub fn open_loop(&mut self, state: impl IntoIterator<Item = Reg>) {
        let depth = self.loops;
        state.into_iter().enumerate().for_each(|(k, r)| self.set(r, Value::State(depth, k)));
        self.loops += 1;
    }

    /// Ends the loop.
    pub fn close_loop(&mut self) {
        self.loops -= 1;
    }
}
