//! A kernel of the sweep: a program, the same written by hand, and the extents at which they are compared.

use crate::hand::{reals, reuse};
use accel::afun::Afun;
use accel::prelude::*;
use accel::repr::{ArrayTuple, Column, RawArray};
use bench_common::case::{Measure, Pair, Result, arrays, check_close, native, numbers};
use std::rc::Rc;
use std::sync::Arc;

/// The extents of one measurement.
pub type Extents = &'static [usize];

/// A program that is measured at several extents.
pub struct Kernel {
    /// What is computed, with the type of the elements.
    pub name: String,
    /// The extents at which it is measured.
    pub extents: &'static [Extents],
    /// Compiles the program.
    pub compile: Box<dyn FnOnce() -> Result<At>>,
}

/// Both sides at some extents, after a check that their results are equal.
pub type At = Box<dyn Fn(Extents) -> Result<Pair>>;

/// All kernels.
#[derive(Default)]
pub struct Sweep(pub Vec<Kernel>);

/// A program with its inputs and the same work by hand.
pub struct Work<A, R> {
    pub name: String,
    pub extents: &'static [Extents],
    /// The inputs of a measurement.
    pub inputs: fn(Extents) -> A,
    pub program: Afun<A, R>,
    pub by_hand: fn(&A) -> R,
}

impl<A: Arrays, R: Arrays> Work<A, R> {
    /// Adds the program to the sweep.
    pub fn add(self, sweep: &mut Sweep) -> Self {
        let Work { inputs, by_hand, .. } = self;
        sweep.push(self.name.clone(), self.extents, &self.program, inputs, by_hand);
        self
    }

    /// Adds a vector-Jacobian product of the program. The adjoint of the result is random.
    pub fn adjoint<P: Arrays>(self, adjoint: &Afun<(A, R), P>, by_hand: fn(&A, &R) -> P, sweep: &mut Sweep) -> Self {
        let Work { inputs, by_hand: primal, .. } = self;
        let inputs = move |extents| {
            let inputs = inputs(extents);
            let adjoint = random_like(&primal(&inputs));
            (inputs, adjoint)
        };
        let name = format!("gradient of {}", self.name);
        sweep.push(name, self.extents, adjoint, inputs, move |(inputs, adjoint)| by_hand(inputs, adjoint));
        self
    }
}

impl Sweep {
    fn push<A: Arrays, R: Arrays>(
        &mut self,
        name: String,
        extents: &'static [Extents],
        program: &Afun<A, R>,
        inputs: impl Fn(Extents) -> A + 'static,
        by_hand: impl Fn(&A) -> R + Copy + 'static,
    ) {
        let program = program.clone();
        let compile = Box::new(move || -> Result<At> {
            let ours = Rc::new(native(&program)?);
            Ok(Box::new(move |extents| {
                let inputs = Rc::new(inputs(extents));
                check(&ours.run(&*inputs)?, &by_hand(&inputs), largest(&*inputs))?;
                let (ours, inputs2) = (ours.clone(), inputs.clone());
                Ok(Pair {
                    ours: Measure::work(move || Ok(ours.run(&*inputs)?)),
                    reference: Measure::work(move || {
                        let result = std::hint::black_box(by_hand(&inputs2));
                        let arrays = result.to_tuple();
                        drop(result);
                        reuse(arrays);
                        Ok(())
                    }),
                })
            }))
        });
        self.0.push(Kernel { name, extents, compile });
    }
}

/// Random numbers in place of all elements.
fn random_like<R: Arrays>(result: &R) -> R {
    R::from_tuple(random_tuple(&result.to_tuple())).expect("the same types and extents")
}

fn random_tuple(tuple: &ArrayTuple) -> ArrayTuple {
    match tuple {
        ArrayTuple::Unit => ArrayTuple::Unit,
        ArrayTuple::Pair(p) => ArrayTuple::Pair(Arc::new((random_tuple(&p.0), random_tuple(&p.1)))),
        ArrayTuple::Array(array) => {
            let n = array.size();
            let random = |column: &Column| match column {
                Column::F32(_) => Column::from(reals::<f32>(9, n)),
                Column::F64(_) => Column::from(reals::<f64>(9, n)),
                other => other.clone(),
            };
            let columns = array.columns.iter().map(random).collect();
            ArrayTuple::Array(RawArray { extents: array.extents.clone(), columns })
        }
    }
}

/// The largest number.
fn largest(all: &impl Arrays) -> f64 {
    let columns = arrays(all.to_tuple()).into_iter().flat_map(|a| a.columns);
    columns.flat_map(|c| numbers(&c)).fold(0.0, |m: f64, x| m.max(x.abs()))
}

/// Checks that all results are equal: integers exactly, others up to rounding errors. These are in proportion to the largest
/// number in the computation.
fn check(ours: &impl Arrays, by_hand: &impl Arrays, largest_argument: f64) -> Result<()> {
    let errors = 1.0_f64.max(largest_argument / largest(by_hand));
    let (ours, by_hand) = (arrays(ours.to_tuple()), arrays(by_hand.to_tuple()));
    for (number, (ours, by_hand)) in ours.iter().zip(&by_hand).enumerate() {
        if ours.extents != by_hand.extents {
            return Err(format!("array {number} is {:?}, by hand {:?}", ours.extents, by_hand.extents).into());
        }
        for (ours, by_hand) in ours.columns.iter().zip(&by_hand.columns) {
            let tolerance = match ours {
                Column::F32(_) => 1e-4 * errors,
                Column::F64(_) => 1e-11 * errors,
                _ => 0.0,
            };
            check_close(&numbers(ours), &numbers(by_hand), tolerance).map_err(|e| format!("array {number}: {e}"))?;
        }
    }
    Ok(())
}
