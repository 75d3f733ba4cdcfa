//! A workload: a program, its reference, and the demands on its times.

use accel::afun::{Afun, Compiled};
use accel::backend_named;
use accel::prelude::{Arrays, compile_on};
use accel::repr::{ArrayTuple, Column, RawArray};
use std::time::Duration;

/// An error while a case is set up or run is shown in its row.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A row of the table.
pub struct Case {
    /// What filters search, besides the work.
    pub theme: &'static str,
    /// What is computed.
    pub work: String,
    /// The reference whose time is compared.
    pub reference: &'static str,
    /// The demands on the row.
    pub asked: Vec<Asked>,
    /// Makes the inputs, compiles the program, and checks that the results of both sides are equal. It is called just
    /// before the case is measured, so that the inputs of only one case at a time are in memory.
    pub setup: Box<dyn FnOnce() -> Result<Pair>>,
}

impl Case {
    /// A row whose measurements `setup` prepares.
    pub fn new(
        theme: &'static str,
        work: impl Into<String>,
        reference: &'static str,
        asked: impl Into<Vec<Asked>>,
        setup: impl FnOnce() -> Result<Pair> + 'static,
    ) -> Case {
        Case { theme, work: work.into(), reference, asked: asked.into(), setup: Box::new(setup) }
    }
}

/// A demand on a row.
#[derive(Clone, Copy)]
pub enum Asked {
    /// At least this many times as fast as the reference.
    Speed(f64),
    /// At most this many times the time of the reference.
    Cost(f64),
    /// At most this long.
    Within(Duration),
}

/// Both sides of a case.
pub struct Pair {
    /// A program of accel.
    pub ours: Measure,
    /// The reference.
    pub reference: Measure,
}

/// One side of a case.
pub enum Measure {
    /// Work whose runs are timed.
    Work(Box<dyn FnMut() -> Result<()>>),
    /// Work in another process, which reports how long it took.
    Elsewhere(Box<dyn FnMut() -> Result<Duration>>),
}

impl Measure {
    /// Work whose runs are timed. The time includes dropping its result.
    pub fn work<T>(mut f: impl FnMut() -> Result<T> + 'static) -> Measure {
        Measure::Work(Box::new(move || {
            std::hint::black_box(f()?);
            Ok(())
        }))
    }
}

/// Compiles a program for the native backend.
pub fn native<A: Arrays, R: Arrays>(prog: &Afun<A, R>) -> Result<Compiled<A, R>> {
    Ok(compile_on(backend_named("native")?, prog)?)
}

/// Checks that our results are those of the reference, up to `tolerance` times the largest of them.
pub fn check_close<T: Copy + Into<f64>>(ours: &[T], reference: &[T], tolerance: f64) -> Result<()> {
    if ours.len() != reference.len() {
        return Err(format!("{} results where the reference has {}", ours.len(), reference.len()).into());
    }
    let largest = reference.iter().fold(0.0, |m: f64, x| m.max((*x).into().abs()));
    let differs = |(a, b): (&T, &T)| {
        let (a, b): (f64, f64) = ((*a).into(), (*b).into());
        // This condition also rejects NaN.
        let close = (a - b).abs() <= tolerance * largest;
        !close
    };
    match ours.iter().zip(reference).position(differs) {
        None => Ok(()),
        Some(i) => {
            let (a, b): (f64, f64) = (ours[i].into(), reference[i].into());
            Err(format!("result {i} is {a}, that of the reference {b}").into())
        }
    }
}

/// The arrays of a tuple, in order.
pub fn arrays(tuple: ArrayTuple) -> Vec<RawArray> {
    match tuple {
        ArrayTuple::Unit => vec![],
        ArrayTuple::Pair(p) => [arrays(p.0.clone()), arrays(p.1.clone())].concat(),
        ArrayTuple::Array(array) => vec![array],
    }
}

/// The elements of a column. Integers above 2^53 are rounded.
pub fn numbers(column: &Column) -> Vec<f64> {
    match column {
        Column::F64(c) => c.to_vec(),
        Column::F32(c) => c.iter().map(|x| f64::from(*x)).collect(),
        Column::I64(c) => c.iter().map(|x| *x as f64).collect(),
        Column::I32(c) => c.iter().map(|x| f64::from(*x)).collect(),
        Column::Bool(c) => c.iter().map(|x| f64::from(u8::from(*x))).collect(),
        // Not equal to anything.
        _ => vec![f64::NAN],
    }
}
