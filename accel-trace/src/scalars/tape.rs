//! The straight-line program of numbers.

use accel_core::error::Result;
use accel_core::repr::op::{Op1, Op2};
use accel_core::repr::tree::Tree;
use accel_core::repr::{Column, RawArray, RawExtents, RawTy, Scalar, ScalarType};

/// The number of a step.
pub type Id = usize;

/// A floating-point number, and how it was computed.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// How the number was computed.
    pub op: Op,
    /// The number.
    pub value: Scalar,
}

/// How a number was computed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Op {
    /// A number of the argument: the array, the column and the position.
    Argument(usize, usize, usize),
    /// A function of one number.
    One(Op1, Operand),
    /// A function of two numbers.
    Two(Op2, Operand, Operand),
}

/// What a step computes with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Operand {
    /// An earlier step.
    Step(Id),
    /// A number that does not depend on floating-point numbers of the argument.
    Constant(Scalar),
}

impl Op {
    /// The steps that the step uses.
    pub fn inputs(self) -> impl Iterator<Item = Id> {
        let operands = match self {
            Op::Argument(..) => [None, None],
            Op::One(_, a) => [Some(a), None],
            Op::Two(_, a, b) => [Some(a), Some(b)],
        };
        operands.into_iter().flatten().filter_map(|o| match o {
            Operand::Step(id) => Some(id),
            Operand::Constant(_) => None,
        })
    }
}

/// A scalar, and the step that computed it, if it is a floating-point number that depends on the argument.
#[derive(Clone, Copy, Debug)]
pub struct Traced {
    /// The scalar.
    pub value: Scalar,
    /// The step.
    pub step: Option<Id>,
}

impl Traced {
    /// A scalar that does not depend on the argument, or is discrete.
    pub fn constant(value: Scalar) -> Traced {
        Traced { value, step: None }
    }
    /// The scalar as an operand.
    pub fn operand(self) -> Operand {
        self.step.map_or(Operand::Constant(self.value), Operand::Step)
    }
}

/// An array of traced scalars: the leaves of element 0, then those of element 1, and so on.
#[derive(Clone, Debug)]
pub struct Elements {
    /// The extents, outermost first.
    pub extents: RawExtents,
    /// The types of the leaves of an element.
    pub types: Vec<ScalarType>,
    /// All leaves of all elements.
    pub leaves: Vec<Traced>,
}

impl Elements {
    /// The number of elements.
    pub fn size(&self) -> usize {
        self.extents.iter().product()
    }
    /// The leaves of an element.
    pub fn get(&self, i: usize) -> &[Traced] {
        let width = self.types.len();
        &self.leaves[i * width..(i + 1) * width]
    }
    /// The array without its steps.
    pub fn array(&self) -> RawArray {
        let column = |k: usize| {
            let mut column = Column::with_capacity(self.types[k], self.size());
            (0..self.size()).for_each(|i| {
                column.push(self.get(i)[k].value);
            });
            column
        };
        RawArray { extents: self.extents.clone(), columns: (0..self.types.len()).map(column).collect() }
    }
}

/// The trace of a run, element by element. The numbers of the argument come first.
#[derive(Default)]
pub struct Tape {
    /// All steps; each uses only earlier ones.
    pub steps: Vec<Step>,
    /// The arrays of the argument.
    pub arguments: Vec<Elements>,
    /// The arrays of the result.
    pub results: Vec<Elements>,
    /// The arrays with names.
    pub named: Vec<(&'static str, Elements)>,
    /// The type of the argument.
    pub argument: RawTy,
    /// The type of the result.
    pub ty: RawTy,
}

impl Tape {
    /// Applies a function of one scalar. It is a step if it computes a floating-point number from a step.
    pub fn one(&mut self, op: Op1, a: Traced) -> Result<Traced> {
        let value = op.eval(a.value)?;
        Ok(self.push(Op::One(op, a.operand()), value))
    }
    /// Applies a function of two scalars.
    pub fn two(&mut self, op: Op2, a: Traced, b: Traced) -> Result<Traced> {
        let value = op.eval(a.value, b.value)?;
        Ok(self.push(Op::Two(op, a.operand(), b.operand()), value))
    }
    fn push(&mut self, op: Op, value: Scalar) -> Traced {
        if !value.ty().is_float() || op.inputs().next().is_none() {
            return Traced::constant(value);
        }
        self.steps.push(Step { op, value });
        Traced { value, step: Some(self.steps.len() - 1) }
    }
    /// An array of the argument: its floating-point numbers are steps.
    pub fn take(&mut self, number: usize, a: &RawArray) -> Elements {
        let types: Vec<_> = a.columns.iter().map(|c| c.ty()).collect();
        let mut leaves = vec![];
        for i in 0..a.size() {
            for (k, c) in a.columns.iter().enumerate() {
                let value = c.get(i).unwrap_or_else(|| c.ty().zero());
                leaves.push(if c.ty().is_float() {
                    self.steps.push(Step { op: Op::Argument(number, k, i), value });
                    Traced { value, step: Some(self.steps.len() - 1) }
                } else {
                    Traced::constant(value)
                });
            }
        }
        Elements { extents: a.extents.clone(), types, leaves }
    }

    /// Removes the steps on which neither the result nor an array with a name depends.
    pub fn prune(mut self) -> Tape {
        let mut needed = vec![false; self.steps.len()];
        let kept = self.results.iter().chain(self.named.iter().map(|(_, e)| e));
        kept.flat_map(|e| &e.leaves).filter_map(|x| x.step).for_each(|id| needed[id] = true);
        for (id, step) in self.steps.iter().enumerate().rev() {
            needed[id] |= matches!(step.op, Op::Argument(..));
            if needed[id] {
                step.op.inputs().for_each(|i| needed[i] = true);
            }
        }
        let mut new = vec![0; needed.len()];
        for (next, (new, _)) in new.iter_mut().zip(&needed).filter(|(_, n)| **n).enumerate() {
            *new = next;
        }
        let operand = |o| match o {
            Operand::Step(id) => Operand::Step(new[id]),
            Operand::Constant(x) => Operand::Constant(x),
        };
        let renumbered = |op| match op {
            Op::Argument(..) => op,
            Op::One(op, a) => Op::One(op, operand(a)),
            Op::Two(op, a, b) => Op::Two(op, operand(a), operand(b)),
        };
        let steps = self.steps.iter().zip(&needed).filter(|(_, needed)| **needed);
        self.steps = steps.map(|(s, _)| Step { op: renumbered(s.op), value: s.value }).collect();
        let arrays = self.arguments.iter_mut().chain(&mut self.results).chain(self.named.iter_mut().map(|(_, e)| e));
        for x in arrays.flat_map(|e| &mut e.leaves) {
            x.step = x.step.map(|id| new[id]);
        }
        self
    }
}

/// A scalar of the language or the number of a private list, as a leaf of a scalar value.
#[derive(Clone, Copy, Debug)]
pub enum Leaf {
    /// A scalar.
    Scalar(Traced),
    /// A list.
    List(usize),
}

/// A value of scalar code.
pub type Value = Tree<Leaf>;
