//! Runs programs and compares their results with the expected ones.

use crate::support::is_chosen;
use accel::ast::{self, Acc as Term, ArraysTy, Idx, Thinning, fresh4};
use accel::backend::Backend;
use accel::prelude::*;
use accel::repr::{ArrayTuple, Column, RawArray, Scalar};
use accel_core::pass::operations;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::panic::Location;

/// The number of checks in a program for backends that start a compiler for each program.
const TOGETHER: usize = 8;

/// A backend under test.
pub struct Suite<'a> {
    backend: &'a dyn Backend,
    /// Whether only a third of the programs run.
    third: bool,
    count: Cell<usize>,
    operations: RefCell<BTreeSet<&'static str>>,
    waiting: RefCell<Vec<Check>>,
}

/// A program, its argument, and the result that it must have.
struct Check {
    program: ast::Program,
    argument: ArrayTuple,
    expected: ArrayTuple,
    tolerance: f64,
    at: &'static Location<'static>,
}

impl Check {
    /// Whether the outcome is right; why not.
    fn compare(&self, found: Result<ArrayTuple, Error>) -> Result<(), String> {
        let wrong = |why: String| format!("{}: {why}\nin {}", self.at, self.program);
        same(&found.map_err(|e| wrong(e.to_string()))?, &self.expected, self.tolerance).map_err(wrong)
    }
}

/// The program of two arguments that computes both results.
fn both(p: &ast::Program, q: &ast::Program) -> ast::Program {
    fresh4(|a, r, b, s| {
        let (p, q) = (p.open(a, r), q.open(b, s));
        let arguments = ArraysTy::pair(&p.arg, &q.arg);
        let v = Term::var(&Idx::zero(&arguments));
        let of_first = Term::let_(&v.fst(), &p.body.weaken(&Thinning::from_nil().lift()));
        let of_second = Term::let_(&v.snd(), &q.body.weaken(&Thinning::from_nil().lift()));
        ast::Program::new(&arguments, &Term::pair(&of_first, &of_second))
    })
}

impl<'a> Suite<'a> {
    pub fn new(backend: &'a dyn Backend, third: bool) -> Self {
        let (count, operations, waiting) = (Cell::new(0), RefCell::default(), RefCell::default());
        Suite { backend, third, count, operations, waiting }
    }

    /// Whether the program is not among those that run.
    fn leaves_out<A: Arrays, R: Arrays>(&self, prog: &Afun<A, R>) -> bool {
        self.third && !is_chosen(prog, 3)
    }

    /// Runs the programs that wait, as one program.
    pub fn finish(&self) {
        let checks = self.waiting.take();
        let programs = checks.iter().map(|c| c.program.clone()).reduce(|p, q| both(&p, &q));
        let Some(whole) = programs else { return };
        let run = |p: &ast::Program, x: &ArrayTuple| self.backend.compile(p)?.run(x);
        let argument = checks.iter().map(|c| c.argument.clone()).reduce(ArrayTuple::pair).unwrap_or(ArrayTuple::Unit);
        let failures: Vec<String> = match run(&whole, &argument) {
            Ok(mut found) => {
                let mut failures = vec![];
                for (k, check) in checks.iter().enumerate().rev() {
                    let own = match &found {
                        ArrayTuple::Pair(p) if k > 0 => {
                            let (rest, own) = (p.0.clone(), p.1.clone());
                            found = rest;
                            own
                        }
                        _ => found.clone(),
                    };
                    failures.extend(check.compare(Ok(own)).err());
                }
                failures
            }
            Err(e) => {
                let alone = |c: &Check| c.compare(run(&c.program, &c.argument)).err();
                let failures: Vec<String> = checks.iter().filter_map(alone).collect();
                if failures.is_empty() { vec![format!("together: {e}\nin {whole}")] } else { failures }
            }
        };
        assert!(failures.is_empty(), "{}", failures.join("\n"));
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
        let program = prog.program().unwrap_or_else(|e| panic!("{e}")).clone();
        let (argument, expected) = (inputs.to_tuple(), expected.to_tuple());
        self.waiting.borrow_mut().push(Check { program, argument, expected, tolerance, at: Location::caller() });
        let starts_a_compiler = ["native", "opencl"].contains(&self.backend.name());
        if !starts_a_compiler || self.waiting.borrow().len() == TOGETHER {
            self.finish();
        }
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
