//! Runs a program and compares its result with the expected one.

use crate::support::is_chosen;
use accel::backend::Backend;
use accel::bundle;
use accel::prelude::*;
use accel::repr::{ArrayTuple, Column, RawArray, Scalar};
use accel_core::pass::operations;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt::Display;

/// A backend under test.
pub struct Suite<'a> {
    backend: &'a dyn Backend,
    /// Whether only a fifth of the programs run.
    part: bool,
    count: Cell<usize>,
    operations: RefCell<BTreeSet<&'static str>>,
}

impl<'a> Suite<'a> {
    pub fn new(backend: &'a dyn Backend, part: bool) -> Self {
        Suite { backend, part, count: Cell::new(0), operations: RefCell::default() }
    }

    /// Whether the program is not among those that run.
    fn leaves_out(&self, prog: &impl Display) -> bool {
        self.part && !is_chosen(prog, 5)
    }

    /// Whether programs are simplified before they are lowered. The simplifier keeps the checks of shapes of arrays that it
    /// drops; the evaluators of kernel programs do without it.
    pub fn simplifies(&self) -> bool {
        !["kernel", "optimized kernel"].contains(&self.backend.name())
    }

    /// The number of compared results.
    pub fn count(&self) -> usize {
        self.count.get()
    }

    /// The array operations of all programs.
    pub fn operations(&self) -> BTreeSet<&'static str> {
        self.operations.borrow().clone()
    }

    /// Checks that the result is exactly `expected`, where NaN equals NaN.
    #[track_caller]
    pub fn is<A: Arrays, R: Arrays>(&self, prog: Afun<A, R>, inputs: impl Inputs<A>, expected: R) {
        self.near(0.0, prog, inputs, expected);
    }

    /// Checks that the program fails because of shapes, with the message `expected`, without the column of the source
    /// location.
    #[track_caller]
    pub fn fails<A: Arrays, R: Arrays>(&self, prog: Afun<A, R>, inputs: impl Inputs<A>, expected: &str) {
        if self.leaves_out(&prog) {
            return;
        }
        self.count.set(self.count.get() + 1);
        match run_with(self.backend, &prog, inputs) {
            Ok(_) => panic!("no error, expected: {expected}\nin {prog}"),
            Err(e) => {
                let text = e.to_string();
                let (place, rest) = text.split_once(": ").unwrap_or((&text, ""));
                let line = place.rsplit_once(':').map_or(place, |(line, _column)| line);
                assert_eq!(format!("{line}: {rest}"), expected, "in {prog}");
            }
        }
    }

    /// Checks that the result differs from `expected` by at most `tolerance`, relative to the expected number, or to 1
    /// if that is larger.
    #[track_caller]
    pub fn near<A: Arrays, R: Arrays>(&self, tolerance: f64, prog: Afun<A, R>, inputs: impl Inputs<A>, expected: R) {
        self.operations.borrow_mut().extend(prog.program().map(operations).unwrap_or_default());
        if self.leaves_out(&prog) {
            return;
        }
        self.count.set(self.count.get() + 1);
        let run = || {
            let inputs = A::from_tuple(inputs.to_tuple())?;
            let compiled = Compiled::new(self.backend, &prog)?;
            let found = compiled.run(&inputs)?;
            // Other backends copy the results of `run`.
            if self.backend.name() == "native" {
                let mut place = R::from_tuple(found.to_tuple().map_floats(&mut |_| f64::NAN))?;
                compiled.run_into(&inputs, &mut place)?;
                let difference = same(&place.to_tuple(), &found.to_tuple(), 0.0);
                difference.map_err(|difference| Error::Internal(format!("`run_into`: {difference}")))?;
                // Each bundle is compiled once more.
                if is_chosen(&prog, 40) {
                    let difference = same(&bundled(&compiled, &inputs)?.to_tuple(), &found.to_tuple(), 0.0);
                    difference.map_err(|difference| Error::Internal(format!("in a bundle: {difference}")))?;
                }
            }
            Ok::<_, Error>(found.to_tuple())
        };
        let found = run().unwrap_or_else(|e| panic!("{e}\nin {prog}"));
        if let Err(difference) = same(&found, &expected.to_tuple(), tolerance) {
            panic!("{difference}\nin {prog}");
        }
    }
}

/// The result of a program that was written to a file and loaded again. Foreign functions are not in files.
fn bundled<A: Arrays, R: Arrays>(compiled: &Compiled<A, R>, inputs: &A) -> Result<R, Error> {
    let file = tempfile::NamedTempFile::new().map_err(|e| Error::Internal(e.to_string()))?;
    match bundle::save(compiled, file.path()) {
        Err(Error::Bundle { why, .. }) if why.contains("foreign") => compiled.run(inputs),
        saved => saved.and_then(|()| bundle::load::<A, R>(file.path()))?.run(inputs),
    }
}

impl Suite<'_> {
    /// Compiles a program as a function of numbers.
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
    /// Checks that the results for an argument are exactly `expected`, when it is called with numbers and when it is
    /// run on arrays.
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
