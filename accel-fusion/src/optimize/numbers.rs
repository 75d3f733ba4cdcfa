//! Value numbers: registers with the same number hold the same value, wherever they are set.
//!
//! NOTE [Numbers of conditionals]: two conditionals give the same if they decide by the same value, and what they merge are the same values
//! after each decision. So the number of what a conditional merges is made of the numbers of these three, and equal
//! conditionals are found in constant time, also where one of them sets a constant inside that another one finds outside, and however large
//! their branches are. Loops are numbered likewise: their state has the numbers of its place, in the loop as deep as this one.

use super::code::bits;
use crate::kernel::{ArrayId, Instr, Reg};
use accel_core::repr::ScalarType;
use accel_core::repr::op::{Op1, Op2};
use std::collections::HashMap;

/// A value number.
pub type Number = usize;

/// How a value is computed.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Value {
    Param(Reg),
    Const(ScalarType, u64),
    Op1(Op1, Number),
    Op2(Op2, Number, Number),
    Extent(ArrayId, usize),
    /// A column of an element.
    Read(ArrayId, usize, Vec<Number>),
    If(Number, Number, Number),
    /// A part of the state, while a loop that is inside of so many others is executed.
    State(usize, usize),
    /// The first state, whether to go on, and the next state.
    While(Vec<Number>, Number, Vec<Number>),
    /// A part of the state after a loop.
    Part(Number, usize),
}

/// The numbers of all registers that have been set.
pub struct Numbers {
    of: Vec<Number>,
    known: HashMap<Value, Number>,
    /// How many loops are open.
    loops: usize,
}

impl Numbers {
    /// Of parameters.
    pub fn new(params: usize) -> Numbers {
        let mut numbers = Numbers { of: vec![], known: HashMap::new(), loops: 0 };
        (0..params).for_each(|r| numbers.set(r, Value::Param(r)));
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
        if self.of.len() <= r {
            self.of.resize(r + 1, Number::MAX);
        }
        self.of[r] = number;
    }

    /// An instruction is added; those inside of it were added before.
    pub fn add(&mut self, i: &Instr) {
        match i {
            Instr::Const(to, x) => self.set(*to, Value::Const(x.ty(), bits(*x))),
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
            Instr::While { state, go_on, next, .. } => {
                let (init, next) = (self.all(state.iter().map(|s| s.1)), self.all(next.iter().copied()));
                let whole = self.number(Value::While(init, self.of(*go_on), next));
                state.iter().enumerate().for_each(|(k, (to, _))| self.set(*to, Value::Part(whole, k)));
            }
        }
    }

    /// What is added from here on belongs to a loop with this state.
    pub fn open_loop(&mut self, state: impl IntoIterator<Item = Reg>) {
        let depth = self.loops;
        state.into_iter().enumerate().for_each(|(k, r)| self.set(r, Value::State(depth, k)));
        self.loops += 1;
    }

    /// The end of the loop.
    pub fn close_loop(&mut self) {
        self.loops -= 1;
    }
}
