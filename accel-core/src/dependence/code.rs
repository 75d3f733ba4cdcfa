//! Runs the scalar code of the interpreter on cells.

use super::cells::{Cell, Cells, Result, Set, Stop, index, join};
use crate::error::Error;
use crate::interp::code::{Code, Emit, Instr, Read, Reg, bool, no_row, read_name};
use crate::interp::place::Place;
use crate::repr::Scalar;
use std::rc::Rc;

/// A private list. A loop whose steps are not known makes a list of one cell, which stands for all elements.
#[derive(Clone, PartialEq, Default, Debug)]
struct List {
    cells: Vec<Cell>,
    stands_for_all: bool,
}

/// What code has emitted.
pub struct Emission<'a> {
    pub emit: &'a Emit,
    pub index: Vec<Cell>,
    pub values: Vec<Cell>,
}

/// What instructions change.
#[derive(Clone, PartialEq)]
struct State {
    registers: Vec<Cell>,
    lists: Vec<List>,
}

/// A scalar function with its registers and the arrays that it reads. It can be called many times.
pub struct Machine<'a> {
    code: &'a Code,
    /// The registers before the arguments are set.
    first: Vec<Cell>,
    state: State,
    arrays: Vec<Rc<Cells>>,
    emitted: Vec<Emission<'a>>,
    place: Place,
    /// The number of conditionals and loops around the instruction whose conditions are not known.
    unsure: usize,
}

impl<'a> Machine<'a> {
    pub fn new(code: &'a Code, arrays: Vec<Rc<Cells>>, place: Place) -> Self {
        let mut registers: Vec<Cell> = code.registers.iter().map(|x| Cell::known(*x)).collect();
        for (array, first) in &code.shapes {
            for (k, extent) in arrays[*array].extents.iter().enumerate() {
                registers[first + k] = Cell::known(Scalar::I64(*extent as i64));
            }
        }
        let first = registers.clone();
        let state = State { registers, lists: vec![List::default(); code.lists] };
        Machine { code, first, state, arrays, emitted: vec![], place, unsure: 0 }
    }

    /// Sets the leaves of the arguments from `first` on.
    pub fn set(&mut self, first: usize, xs: &[Cell]) {
        self.state.registers[first..first + xs.len()].clone_from_slice(xs);
    }

    pub fn set_index(&mut self, index: &[usize]) {
        for (k, i) in index.iter().enumerate() {
            self.state.registers[k] = Cell::known(Scalar::I64(*i as i64));
        }
    }

    /// The leaves of the result.
    pub fn call(&mut self) -> Result<Vec<Cell>> {
        self.run(0, self.code.instrs.len())?;
        let results = self.code.results.iter().map(|r| self.state.registers[*r].clone()).collect();
        // Joins of branches would add what earlier calls have left in registers that one branch does not write.
        self.state.registers.clone_from(&self.first);
        Ok(results)
    }

    /// What the function has emitted since the last call of this method, in order.
    pub fn emitted(&mut self) -> Vec<Emission<'a>> {
        std::mem::take(&mut self.emitted)
    }

    /// Runs the instructions from `next` up to `end`.
    fn run(&mut self, mut next: usize, end: usize) -> Result<()> {
        let code = self.code;
        while next < end {
            let r = &mut self.state.registers;
            let at = next;
            next += 1;
            match &code.instrs[at] {
                Instr::Op1(op, to, a) => r[*to] = Cell::one(*op, &r[*a]).map_err(|e| self.place.blame(e))?,
                Instr::Op2(op, to, a, b) => r[*to] = Cell::two(*op, &r[*a], &r[*b]).map_err(|e| self.place.blame(e))?,
                Instr::Move(to, a) => r[*to] = r[*a].clone(),
                Instr::Jump(target) => next = *target,
                Instr::JumpUnless(c, target) => match r[*c].value.map(bool).transpose()? {
                    Some(true) => {}
                    Some(false) => next = *target,
                    None => next = self.both_ways(at, *target)?,
                },
                Instr::Read(read) => self.read(read)?,
                Instr::Emit(emit) => {
                    let all = |regs: &[Reg]| regs.iter().map(|a| self.state.registers[*a].clone()).collect::<Vec<_>>();
                    let mut values = all(&emit.values);
                    if self.unsure > 0 {
                        values.iter_mut().for_each(|x| *x = x.unknown());
                    }
                    let index = all(&emit.index);
                    self.emitted.push(Emission { emit, index, values });
                }
                Instr::Clear(list) => self.state.lists[*list] = List::default(),
                Instr::Push(list, a) => {
                    let (list, x) = (&mut self.state.lists[*list], r[*a].clone());
                    if self.unsure > 0 {
                        let all = list.cells.iter().fold(x, |all, x| all.join(x));
                        *list = List { cells: vec![all], stands_for_all: true };
                    } else {
                        list.cells.push(x);
                    }
                }
                Instr::Reverse(list) => self.state.lists[*list].cells.reverse(),
                Instr::Get(to, list, at) => {
                    let list = &self.state.lists[*list];
                    r[*to] = match r[*at].value {
                        Some(Scalar::I64(at)) if !list.stands_for_all => {
                            let row = usize::try_from(at).ok().and_then(|at| list.cells.get(at));
                            row.cloned().ok_or_else(no_row)?
                        }
                        _ => {
                            let nothing = Cell { value: None, by: Set::default() };
                            list.cells.iter().fold(nothing, |all, x| all.join(x))
                        }
                    };
                }
            }
        }
        Ok(())
    }

    /// Goes both ways at the instruction `at`, whose condition is not known, and returns where the ways meet. Before the other way, which begins at
    /// `target`, there is a jump: forwards to the end of a conditional, or backwards to the condition of a loop.
    fn both_ways(&mut self, at: usize, target: usize) -> Result<usize> {
        self.unsure += 1;
        let end = match self.code.instrs.get(target - 1) {
            Some(Instr::Jump(end)) if *end >= target => self.branches(at + 1, target, *end).map(|()| *end),
            Some(Instr::Jump(start)) => self.repeat(*start, at, target).map(|()| target),
            _ => Err(Stop::Unknown(Error::Internal("a jump of an unknown form".into()))),
        };
        self.unsure -= 1;
        end
    }

    fn branches(&mut self, then: usize, otherwise: usize, end: usize) -> Result<()> {
        let before = self.state.clone();
        let first = self.run(then, otherwise - 1);
        let after_first = std::mem::replace(&mut self.state, before);
        let second = self.run(otherwise, end);
        match either(first, second)? {
            (Some(()), Some(())) => self.state = after_first.join(&self.state),
            (Some(()), None) => self.state = after_first,
            (None, _) => {}
        }
        Ok(())
    }

    /// Repeats a loop, whose condition is the code from `start` to `at` and whose body ends before `exit`, until the state does not change.
    fn repeat(&mut self, start: usize, at: usize, exit: usize) -> Result<()> {
        loop {
            let before = self.state.clone();
            let step = self.run(at + 1, exit - 1).and_then(|()| self.run(start, at));
            match either(step, Ok(()))? {
                (Some(()), _) => self.state = before.join(&self.state),
                (None, _) => self.state.clone_from(&before),
            }
            if self.state == before {
                return Ok(());
            }
        }
    }

    fn read(&mut self, read: &Read) -> Result<()> {
        let a = self.arrays[read.array].clone();
        let ix: Vec<Cell> = read.index.iter().map(|r| self.state.registers[*r].clone()).collect();
        let element = a.read(&index(&ix, &a.extents, || read_name(read.at, self.place))?);
        self.set(read.to, &element);
        Ok(())
    }
}

impl State {
    fn join(&self, other: &State) -> State {
        let list = |(a, b): (&List, &List)| match a == b {
            true => a.clone(),
            false => {
                let all = a.cells.iter().chain(&b.cells).cloned().reduce(|x, y| x.join(&y));
                List { cells: all.into_iter().collect(), stands_for_all: true }
            }
        };
        State {
            registers: join(&self.registers, &other.registers),
            lists: self.lists.iter().zip(&other.lists).map(list).collect(),
        }
    }
}

/// The results of two ways of which the program goes one. One that fails is never gone without an error.
pub fn either<T>(first: Result<T>, second: Result<T>) -> Result<(Option<T>, Option<T>)> {
    match (first, second) {
        (Err(Stop::Unknown(e)), _) | (_, Err(Stop::Unknown(e))) => Err(Stop::Unknown(e)),
        (Err(e), Err(_)) => Err(e),
        (first, second) => Ok((first.ok(), second.ok())),
    }
}
