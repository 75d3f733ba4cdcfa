//! Watches a run for the first operation that makes NaN or infinity of other numbers, or where a derivative is a convention.

use super::place::Place;
use crate::error::{Error, Result};
use crate::nan::{Appearance, Finding};
use crate::repr::{RawArray, Scalar};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The watch over a run.
pub struct Watch {
    /// The loops over arrays around the operation that runs, outermost first, with the numbers of their finished steps.
    loops: Vec<(Place, u64)>,
    found: Found,
}

/// What is looked for, and what has appeared.
enum Found {
    NotFinite(Box<RefCell<Finding>>),
    Kink(Box<RefCell<Option<Appearance>>>),
}

impl Watch {
    pub fn for_nan() -> Self {
        Watch { loops: vec![], found: Found::NotFinite(Box::default()) }
    }
    pub fn for_kinks() -> Self {
        Watch { loops: vec![], found: Found::Kink(Box::default()) }
    }
    pub fn enter_loop(&mut self, place: Place) {
        self.loops.push((place, 0));
    }
    pub fn finish_step(&mut self) {
        self.loops.iter_mut().last().into_iter().for_each(|(_, steps)| *steps += 1);
    }
    pub fn leave_loop(&mut self) {
        self.loops.pop();
    }
    /// Where NaN and infinity have appeared, if these are looked for and one has.
    pub fn finding(self) -> Option<Finding> {
        let Found::NotFinite(found) = self.found else { return None };
        Some(found.into_inner()).filter(|f| f.infinity.is_some() || f.nan.is_some())
    }
    /// Where the first kink is, if these are looked for.
    pub fn kink(self) -> Option<Appearance> {
        let Found::Kink(found) = self.found else { return None };
        found.into_inner()
    }

    /// Looks at a result of a primitive function. The first infinity or kink is noted. NaN ends the run with
    /// [`Error::NotFinite`].
    pub fn look(
        &self,
        result: Scalar,
        operands: &[Scalar],
        is_kink: bool,
        details: impl FnOnce() -> Details,
    ) -> Result<()> {
        let appearance = || {
            let Details { function, place, index, steps } = details();
            let (operands, loops) = (operands.to_vec(), self.loops.clone());
            Appearance { function, operands, result, index, source: place.at, place, steps, loops }
        };
        let mut found = match &self.found {
            Found::NotFinite(found) => found.borrow_mut(),
            Found::Kink(found) => {
                if is_kink {
                    found.borrow_mut().get_or_insert_with(appearance);
                }
                return Ok(());
            }
        };
        let is = |x: Scalar, test: fn(f64) -> bool| x.float().is_some_and(test);
        let appears = |test| is(result, test) && !operands.iter().any(|x| is(*x, test));
        if appears(f64::is_nan) {
            found.nan = Some(appearance());
            return Err(Error::NotFinite(found.to_string()));
        }
        if found.infinity.is_none() && appears(|x| !x.is_finite()) {
            found.infinity = Some(appearance());
        }
        Ok(())
    }
}

/// Where a primitive function was applied.
pub struct Details {
    pub function: String,
    pub place: Place,
    /// The index of the element that is computed.
    pub index: Vec<usize>,
    /// The numbers of finished steps of the loops in scalar code around the function, outermost first.
    pub steps: Vec<u64>,
}

/// Watches the calls of a scalar function.
pub struct Observer<'a> {
    watch: &'a Watch,
    /// The index of the element for which the function is called.
    index: Vec<usize>,
    /// For the last instruction of each loop, the number of finished steps in this call.
    steps: BTreeMap<usize, u64>,
}

impl<'a> Observer<'a> {
    pub fn new(watch: &'a Watch) -> Self {
        Observer { watch, index: vec![], steps: BTreeMap::new() }
    }
    /// The next call is for this index.
    pub fn index(&mut self, index: &[usize]) {
        self.index = index.to_vec();
    }
    /// The next call is for element `i` of an array.
    pub fn element(&mut self, a: &RawArray, i: usize) {
        self.index = a.index(i);
    }
    pub fn begin_call(&mut self) {
        self.steps.clear();
    }
    /// The instruction `at` jumps to `target`.
    pub fn jump(&mut self, at: usize, target: usize) {
        if target < at {
            // The loops inside this one start anew.
            self.steps.retain(|end, _| !(target..at).contains(end));
            *self.steps.entry(at).or_insert(0) += 1;
        }
    }
    /// The numbers of finished steps of loops, which are given by their last instructions.
    pub fn steps(&self, loops: impl Iterator<Item = usize>) -> Vec<u64> {
        loops.map(|end| self.steps.get(&end).copied().unwrap_or(0)).collect()
    }
    /// Looks at a result of a primitive function.
    pub fn look(
        &self,
        result: Scalar,
        operands: &[Scalar],
        is_kink: bool,
        details: impl FnOnce() -> (String, Place, Vec<u64>),
    ) -> Result<()> {
        self.watch.look(result, operands, is_kink, || {
            let (function, place, steps) = details();
            Details { function, place, index: self.index.clone(), steps }
        })
    }
}
