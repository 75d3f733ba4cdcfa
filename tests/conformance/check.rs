//! Running a program and comparing its result with the expected one.

use accel::backend::Backend;
use accel::prelude::*;
use accel::repr::{ArrayTuple, Column, RawArray, Scalar};
use std::cell::Cell;

/// A backend under test.
pub struct Suite<'a> {
    backend: &'a dyn Backend,
    count: Cell<usize>,
}

impl<'a> Suite<'a> {
    pub fn new(backend: &'a dyn Backend) -> Self {
        Suite { backend, count: Cell::new(0) }
    }

    /// How many results have been compared.
    pub fn count(&self) -> usize {
        self.count.get()
    }

    /// What the program computes is exactly `expected`; NaN is the same as NaN.
    #[track_caller]
    pub fn is<A: Arrays, R: Arrays>(&self, prog: Afun<A, R>, inputs: impl Inputs<A>, expected: R) {
        self.near(0.0, prog, inputs, expected);
    }

    /// The program fails because of shapes, and the message is `expected`, without the column of the place.
    #[track_caller]
    pub fn fails<A: Arrays, R: Arrays>(&self, prog: Afun<A, R>, inputs: impl Inputs<A>, expected: &str) {
        self.count.set(self.count.get() + 1);
        match run_with(self.backend, &prog, inputs) {
            Ok(_) => panic!("no error, expected: {expected}\nin {prog}"),
            Err(e) => {
                let text = e.to_string();
                let (place, rest) = text.split_once(": expected").unwrap_or((&text, ""));
                let line = place.rsplit_once(':').map_or(place, |(line, _column)| line);
                assert_eq!(format!("{line}: expected{rest}"), expected, "in {prog}");
            }
        }
    }

    /// What the program computes differs from `expected` by `tolerance` at most, relative to the larger of 1 and the
    /// expected number.
    #[track_caller]
    pub fn near<A: Arrays, R: Arrays>(&self, tolerance: f64, prog: Afun<A, R>, inputs: impl Inputs<A>, expected: R) {
        self.count.set(self.count.get() + 1);
        let found = match run_with(self.backend, &prog, inputs) {
            Ok(found) => found.to_tuple(),
            Err(e) => panic!("{e}\nin {prog}"),
        };
        if let Err(difference) = same(&found, &expected.to_tuple(), tolerance) {
            panic!("{difference}\nin {prog}");
        }
    }
}

impl Suite<'_> {
    /// A program as a function of numbers.
    #[track_caller]
    pub fn function<A: Numbers, R: Numbers>(&self, prog: Afun<A, R>) -> Function<'_, A, R> {
        let compiled = Compiled::new(self.backend, &prog).unwrap_or_else(|e| panic!("{e}\nin {prog}"));
        Function { suite: self, prog, compiled }
    }
}

/// A compiled program under test.
pub struct Function<'a, A, R> {
    suite: &'a Suite<'a>,
    prog: Afun<A, R>,
    pub compiled: Compiled<A, R>,
}

impl<A: Numbers, R: Numbers> Function<'_, A, R> {
    /// Its results for an argument, when called with numbers and when run on arrays, are exactly `expected`.
    #[track_caller]
    pub fn gives(&self, argument: A::Values, expected: R::Values) {
        self.suite.count.set(self.suite.count.get() + 2);
        let run = self.compiled.run(&A::from_values(argument.clone()));
        let called = self.compiled.call(argument).map(R::from_values);
        let expected = R::from_values(expected).to_tuple();
        for (way, found) in [("call", called), ("run", run)] {
            let found = found.unwrap_or_else(|e| panic!("`{way}`: {e}\nin {}", self.prog)).to_tuple();
            if let Err(difference) = same(&found, &expected, 0.0) {
                panic!("`{way}`: {difference}\nin {}", self.prog);
            }
        }
    }
}

fn same(found: &ArrayTuple, expected: &ArrayTuple, tolerance: f64) -> Result<(), String> {
    match (found, expected) {
        (ArrayTuple::Unit, ArrayTuple::Unit) => Ok(()),
        (ArrayTuple::Pair(f), ArrayTuple::Pair(e)) => {
            same(&f.0, &e.0, tolerance)?;
            same(&f.1, &e.1, tolerance)
        }
        (ArrayTuple::Array(f), ArrayTuple::Array(e)) => same_array(f, e, tolerance),
        _ => Err(format!("found {found:?}, expected {expected:?}")),
    }
}

fn same_array(found: &RawArray, expected: &RawArray, tolerance: f64) -> Result<(), String> {
    let shapes = || format!("found shape {:?}, expected {:?}", found.extents, expected.extents);
    if found.extents != expected.extents || found.columns.len() != expected.columns.len() {
        return Err(shapes());
    }
    for (f, e) in found.columns.iter().zip(&expected.columns) {
        if f.len() != e.len() || f.ty() != e.ty() {
            return Err(format!("columns of {} {} and {} {}", f.len(), f.ty(), e.len(), e.ty()));
        }
        if let Some(i) = (0..f.len()).find(|i| !same_scalar(f.get(*i), e.get(*i), tolerance)) {
            let show = |c: &Column| c.get(i).map(|s| format!("{s:?}")).unwrap_or_default();
            return Err(format!("at position {i} found {}, expected {}; {}", show(f), show(e), shapes()));
        }
    }
    Ok(())
}

fn same_scalar(found: Option<Scalar>, expected: Option<Scalar>, tolerance: f64) -> bool {
    let close = |f: f64, e: f64| f == e || (f.is_nan() && e.is_nan()) || (f - e).abs() <= tolerance * e.abs().max(1.0);
    match (found, expected) {
        (Some(Scalar::F64(f)), Some(Scalar::F64(e))) => close(f, e),
        (Some(Scalar::F32(f)), Some(Scalar::F32(e))) => close(f as f64, e as f64),
        (found, expected) => found == expected,
    }
}
