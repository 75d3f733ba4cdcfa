//! Scalar code of the interpreter: instructions over registers, and the machine that executes them.

use super::extents::{offset, out_of_bounds};
use super::place::Place;
use super::slots::{Slot, Slots};
use super::watch::Observer;
use crate::ast::Src;
use crate::error::{Error, Result};
use crate::repr::op::{Float2, Num1, Op1, Op2};
use crate::repr::{RawArray, Scalar, ScalarType};
use std::fmt::Display;

/// The number of a scalar register.
pub type Reg = usize;

/// A scalar function. The leaves of its arguments are in the first registers, in order; no instruction overwrites them.
#[derive(Default, Debug)]
pub struct Code {
    pub instrs: Vec<Instr>,
    /// The contents of the registers before the arguments are set; constants keep these values.
    pub registers: Vec<Scalar>,
    /// The array variables that the function reads.
    pub arrays: Vec<Slot>,
    /// Pairs of an array (a position in `arrays`) and the first of the registers that hold its extents.
    pub shapes: Vec<(usize, Reg)>,
    /// The number of lists.
    pub lists: usize,
    /// The registers that finally hold the leaves of the result, and the types of these leaves.
    pub results: Vec<Reg>,
    pub types: Vec<ScalarType>,
}

impl Code {
    /// The last instructions of the loops around an instruction, outermost first.
    fn loops_around(&self, at: usize) -> impl Iterator<Item = usize> {
        // A loop ends after the loops in it.
        let instrs = self.instrs.iter().enumerate().rev();
        instrs
            .filter(move |(end, i)| matches!(i, Instr::Jump(start) if (*start..=*end).contains(&at)))
            .map(|(end, _)| end)
    }
}

/// An instruction. The targets of jumps are positions in the list of instructions.
#[derive(Debug)]
pub enum Instr {
    Op1(Op1, Reg, Reg),
    Op2(Op2, Reg, Reg, Reg),
    Move(Reg, Reg),
    Jump(usize),
    JumpUnless(Reg, usize),
    Read(Box<Read>),
    /// Empties a list.
    Clear(usize),
    /// Appends the content of a register to a list.
    Push(usize, Reg),
    /// Reverses a list.
    Reverse(usize),
    /// Sets a register to the element of a list at the position in another register.
    Get(Reg, usize, Reg),
    Emit(Box<Emit>),
}

/// Emits values to an element of an accumulator, given by its position.
#[derive(Debug)]
pub struct Emit {
    pub to: usize,
    pub index: Vec<Reg>,
    pub values: Vec<Reg>,
    pub at: Src,
}

/// What a function has emitted.
#[derive(Debug)]
pub struct Emission {
    pub to: usize,
    pub index: Vec<Scalar>,
    pub values: Vec<Scalar>,
    pub at: Src,
}

/// Reads an element of an array, given by its position in [`Code::arrays`]. The leaves go to `to`, `to + 1`, …
#[derive(Debug)]
pub struct Read {
    pub array: usize,
    pub index: Vec<Reg>,
    pub to: Reg,
    pub at: Src,
}

/// A scalar function with its registers and the arrays that it reads. It can be called many times.
pub struct Machine<'a> {
    code: &'a Code,
    registers: Vec<Scalar>,
    lists: Vec<Vec<Scalar>>,
    slots: &'a Slots,
    /// The arrays, if they are not those of a failed operation.
    arrays: Vec<Option<&'a RawArray>>,
    emitted: Vec<Emission>,
    place: Place,
    observer: Option<Observer<'a>>,
}

impl<'a> Machine<'a> {
    /// `place` is the array operation to which the function belongs, for messages.
    pub fn new(code: &'a Code, slots: &'a Slots, place: Place) -> Result<Self> {
        let arrays = code.arrays.iter().map(|s| slots.get(*s).ok()).collect();
        let mut registers = code.registers.clone();
        for (array, first) in &code.shapes {
            for (k, extent) in slots.extents(code.arrays[*array])?.iter().enumerate() {
                registers[first + k] = Scalar::I64(*extent as i64);
            }
        }
        let observer = slots.watch.as_ref().map(Observer::new);
        Ok(Machine {
            code,
            registers,
            lists: vec![vec![]; code.lists],
            slots,
            arrays,
            emitted: vec![],
            place,
            observer,
        })
    }

    /// Sets a leaf of the arguments.
    pub fn set(&mut self, leaf: usize, x: Scalar) {
        self.registers[leaf] = x;
    }

    /// Sets the leaves of the arguments from `first` on.
    pub fn set_all(&mut self, first: usize, xs: &[Scalar]) {
        self.registers[first..first + xs.len()].copy_from_slice(xs);
    }

    /// Sets the leaves of the arguments from `first` on to element `i` of an array.
    pub fn set_element(&mut self, first: usize, a: &RawArray, i: usize) -> Result<()> {
        self.observer.iter_mut().for_each(|o| o.element(a, i));
        self.load(first, a, i)
    }

    /// Sets the registers from `first` on to element `i` of an array.
    fn load(&mut self, first: Reg, a: &RawArray, i: usize) -> Result<()> {
        for (k, c) in a.columns.iter().enumerate() {
            self.registers[first + k] = c.get(i).ok_or_else(no_element)?;
        }
        Ok(())
    }

    /// Sets the leaves of the first argument to an index.
    pub fn set_index(&mut self, index: &[usize]) {
        self.observer.iter_mut().for_each(|o| o.index(index));
        for (k, i) in index.iter().enumerate() {
            self.registers[k] = Scalar::I64(*i as i64);
        }
    }

    /// A leaf of the result of the last call.
    pub fn result(&self, leaf: usize) -> Scalar {
        self.registers[self.code.results[leaf]]
    }

    /// The leaves of the result of the last call.
    pub fn results(&self) -> impl Iterator<Item = Scalar> {
        self.code.results.iter().map(|r| self.registers[*r])
    }

    /// What the function has emitted since the last call of this method, in order.
    pub fn emitted(&mut self) -> Vec<Emission> {
        std::mem::take(&mut self.emitted)
    }

    /// Calls the function with the arguments that were set.
    pub fn call(&mut self) -> Result<()> {
        let code = self.code;
        let mut next = 0;
        self.observer.iter_mut().for_each(Observer::begin_call);
        while let Some(instr) = code.instrs.get(next) {
            next += 1;
            let r = &mut self.registers;
            match instr {
                Instr::Op1(op, to, a) => {
                    let x = r[*a];
                    r[*to] = op.eval(x).map_err(|e| self.place.blame(e))?;
                    self.look(next - 1, op, &[x], *to, || false)?
                }
                Instr::Op2(op, to, a, b) => {
                    let (x, y) = (r[*a], r[*b]);
                    r[*to] = op.eval(x, y).map_err(|e| self.place.blame(e))?;
                    self.look(next - 1, &shown(*op), &[x, y], *to, || {
                        is_zero_by_convention(*op, x, y) || self.is_product_at_kink(*op, (x, y), *b)
                    })?
                }
                Instr::Move(to, a) => r[*to] = r[*a],
                Instr::Jump(target) => {
                    self.observer.iter_mut().for_each(|o| o.jump(next - 1, *target));
                    next = *target
                }
                Instr::JumpUnless(c, target) => {
                    if !bool(r[*c])? {
                        next = *target;
                    }
                }
                Instr::Read(read) => self.read(read)?,
                Instr::Emit(e) => {
                    let all = |regs: &[Reg]| regs.iter().map(|a| r[*a]).collect();
                    self.emitted.push(Emission { to: e.to, index: all(&e.index), values: all(&e.values), at: e.at });
                }
                Instr::Clear(list) => self.lists[*list].clear(),
                Instr::Push(list, a) => self.lists[*list].push(r[*a]),
                Instr::Reverse(list) => self.lists[*list].reverse(),
                Instr::Get(to, list, at) => {
                    let Scalar::I64(at) = r[*at] else { return Err(no_row()) };
                    let row = usize::try_from(at).ok().and_then(|at| self.lists[*list].get(at));
                    r[*to] = *row.ok_or_else(no_row)?;
                }
            }
        }
        Ok(())
    }

    /// Shows the observer what the instruction `at` has computed.
    fn look(
        &self,
        at: usize,
        function: &impl Display,
        operands: &[Scalar],
        to: Reg,
        is_kink: impl FnOnce() -> bool,
    ) -> Result<()> {
        let Some(o) = &self.observer else { return Ok(()) };
        let details = || (function.to_string(), self.place, o.steps(self.code.loops_around(at)));
        o.look(self.registers[to], operands, is_kink(), details)
    }

    /// Whether this is the product of an adjoint or a tangent with the sign of 0, which stands for the derivative of an absolute value at its
    /// kink.
    fn is_product_at_kink(&self, op: Op2, (x, y): (Scalar, Scalar), factor: Reg) -> bool {
        let is_sign = |i: &Instr| matches!(i, Instr::Op1(Op1::Num(Num1::Signum), to, _) if *to == factor);
        let is_product = matches!(op, Op2::Float(Float2::StrongMul));
        is_product && y.float() == Some(0.0) && x.float() != Some(0.0) && self.code.instrs.iter().any(is_sign)
    }

    fn read(&mut self, read: &Read) -> Result<()> {
        let a = self.arrays[read.array].map_or_else(|| self.slots.get(self.code.arrays[read.array]), Ok)?;
        let index = read.index.iter().map(|r| self.registers[*r]);
        let i = offset(&a.extents, index.clone())?
            .ok_or_else(|| out_of_bounds(read_name(read.at, self.place), index, &a.extents))?;
        self.load(read.to, a, i)
    }
}

/// The name of a read in a function of the operation `place`, for messages.
pub fn read_name(at: Src, place: Place) -> String {
    match at {
        Some(_) => Place { name: "index", at }.to_string(),
        None => format!("`index` in {place}"),
    }
}

/// The truth value of a condition.
pub fn bool(x: Scalar) -> Result<bool> {
    match x {
        Scalar::Bool(b) => Ok(b),
        _ => Err(Error::Internal(format!("condition of type {}", x.ty()))),
    }
}

/// The number of steps of a loop is the length of the lists that it reads.
pub fn no_row() -> Error {
    Error::Internal("a loop reads beyond the end of a list".into())
}

pub fn no_element() -> Error {
    Error::Internal("a column is shorter than its array".into())
}

/// Whether a strong zero stands for something that numbers do not say: 0 times infinity, or 0 by 0.
fn is_zero_by_convention(op: Op2, x: Scalar, y: Scalar) -> bool {
    let strong = matches!(op, Op2::Float(f) if f.is_strong_zero(Some(x), Some(y)));
    strong && shown(op).eval(x, y).is_ok_and(|found| found.float().is_some_and(f64::is_nan))
}

/// The function that users see: strong zeros are a matter of derivatives.
fn shown(op: Op2) -> Op2 {
    match op {
        Op2::Float(f) => f.without_strong_zeros().map_or(op, Op2::Num),
        op => op,
    }
}
