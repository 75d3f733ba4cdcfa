//! Tests of extents and indices that overflow: what is proved about indices also holds if integers wrap, and sizes that
//! no array can have are errors. They run on all backends and the evaluators of kernel programs, and compare with the
//! interpreter.
//!
//! An array with an extent of 0 takes no memory, so its other extent can be anything up to the largest extent.

use accel::backend::Backend;
use accel::backend_named;
use accel::interp::Interpreter;
use accel::prelude::*;
use accel::repr::{ArrayTuple, Column, MAX_EXTENT, RawArray};
use accel_fusion::{KernelEvaluator, OptimizedEvaluator};
use quickcheck::{Arbitrary, Gen, QuickCheck};
use std::fmt::Debug;

type M = Acc<Matrix<f64>>;
type I = Acc<Vector<i64>>;

/// All but the interpreter.
fn others() -> Vec<&'static dyn Backend> {
    let all =
        [Some(&KernelEvaluator as &dyn Backend), Some(&OptimizedEvaluator), backend_named("native").ok(), opencl()];
    all.into_iter().flatten().collect()
}

/// The OpenCL backend, where there is a device.
fn opencl() -> Option<&'static dyn Backend> {
    #[cfg(feature = "opencl")]
    let found = accel::opencl::default_device().is_ok().then(|| backend_named("opencl").ok()).flatten();
    #[cfg(not(feature = "opencl"))]
    let found = None;
    found
}

/// What the interpreter computes, and so do all others, or the same error.
#[track_caller]
fn everywhere<A: Arrays, R: Arrays + Debug>(f: &Afun<A, R>, inputs: impl Inputs<A> + Copy) -> Result<R, Error> {
    let text = |r: &Result<R, Error>| r.as_ref().map_or_else(|e| e.to_string(), |r| format!("{r:?}"));
    let expected = run_on(&Interpreter, f, inputs);
    for backend in others() {
        assert_eq!(text(&run_on(backend, f, inputs)), text(&expected), "{}\n{f}", backend.name());
    }
    expected
}

/// As [`everywhere`], where the program reads and writes at the same index: which of both is told depends on what is left of it.
#[track_caller]
fn fails_everywhere<A: Arrays, R: Arrays + Debug>(f: &Afun<A, R>, inputs: impl Inputs<A> + Copy) {
    for backend in others().into_iter().chain([&Interpreter as &dyn Backend]) {
        assert!(is_outside(run_on(backend, f, inputs)), "{}\n{f}", backend.name());
    }
}

/// A matrix without rows.
fn columns(n: usize) -> Matrix<f64> {
    Array::matrix(0, n, vec![]).expect("extents that an array can have")
}

/// The numbers up to `n`, in memory.
fn numbers(n: Exp<i64>) -> I {
    scanl1(|a, b| a + b, generate(n, |_| 1i64))
}

const LARGE: usize = MAX_EXTENT;
/// Times this, `LARGE` is 0.
const WRAPS: i64 = 1 << 16;

fn is_outside<R: Debug>(r: Result<R, Error>) -> bool {
    matches!(r, Err(Error::OutOfBounds { .. }))
}

#[test]
fn a_product_that_wraps_is_not_more_than_its_factor() {
    let f = afun(|m: M, k: Acc<Scalar<i64>>| {
        let (_, c) = m.shape();
        let (ten, k) = (numbers(c * WRAPS + 10), the(k));
        unit(cond(k.ge(0).and(k.lt(c)), ten.at(k), -1i64))
    });
    let m = columns(LARGE);
    assert_eq!(everywhere(&f, (&m, &Array::scalar(9))).ok(), Some(Array::scalar(10)));
    assert_eq!(everywhere(&f, (&m, &Array::scalar(-9))).ok(), Some(Array::scalar(-1)));
    assert!(is_outside(everywhere(&f, (&m, &Array::scalar(10)))));
    assert!(is_outside(everywhere(&f, (&m, &Array::scalar(1 << 40)))));
    // The program for extents as they are assumed to be.
    let m = columns(3);
    assert_eq!(everywhere(&f, (&m, &Array::scalar(2))).ok(), Some(Array::scalar(3)));
    assert_eq!(everywhere(&f, (&m, &Array::scalar(3))).ok(), Some(Array::scalar(-1)));
}

#[test]
fn reads_of_an_array_whose_extent_has_wrapped() {
    // n^3 + 10 is 10 for n = 2^22, and so is n * 2^40 + 10 for n = 2^24.
    let cube = afun(|m: M| {
        let (_, n) = m.shape();
        let big = numbers(n * n * n + 10);
        maximum(generate(n, |i| big.at(i)))
    });
    assert!(is_outside(everywhere(&cube, &columns(1 << 22))));
    assert_eq!(everywhere(&cube, &columns(3)).ok(), Some(Array::scalar(3)));
    let factor = afun(|m: M| {
        let (_, n) = m.shape();
        let big = numbers(n * (1i64 << 40) + 10);
        maximum(generate(n, |i| big.at(i)))
    });
    assert!(is_outside(everywhere(&factor, &columns(1 << 24))));
    let last = afun(|m: M| {
        let (_, c) = m.shape();
        unit(numbers(c * WRAPS + 10).at(c - 1))
    });
    assert!(is_outside(everywhere(&last, &columns(LARGE))));
    let diagonal = grad(&afun(|m: M, xs: Acc<Vector<f64>>| {
        let (_, c) = m.shape();
        let base = map(|x: Exp<i64>| x.cast::<f64>(), numbers(c * WRAPS + 3));
        let t = zip_with(|x, y| x * y, base, fill(c * WRAPS + 3, the(sum(xs))));
        sum(generate(3, |i| t.at(i * c + i)))
    }));
    fails_everywhere(&diagonal, (&columns(LARGE), &Array::vector(vec![1.0, 2.0, 3.0])));
}

#[test]
fn the_smaller_of_two_extents_of_which_one_has_wrapped() {
    let min = afun(|m: M| {
        let (_, c) = m.shape();
        (unit((c * WRAPS).min(c)), unit((c * WRAPS).max(c)), unit(cond(c.le(c * WRAPS), 1i64, 0)))
    });
    let found = everywhere(&min, &columns(LARGE));
    assert_eq!(found.ok(), Some((Array::scalar(0), Array::scalar(LARGE as i64), Array::scalar(0))));
    let found = everywhere(&min, &columns(2));
    assert_eq!(found.ok(), Some((Array::scalar(2), Array::scalar(2 * WRAPS), Array::scalar(1))));
    // As many as the shorter one has, which is the longer one.
    let zip = afun(|m: M| {
        let (_, n) = m.shape();
        take(n, numbers(n * n * n + 10))
    });
    assert_eq!(everywhere(&zip, &columns(1 << 22)).expect("ten numbers").len(), 10);
    let largest = afun(|xs: I| {
        let x = (xs.len() << 63i64) - 1;
        (unit(x.min(x + 1)), unit(cond(x.ge(0).and((x + 1).lt(xs.len())), xs.at(x), -1i64)))
    });
    let _ = everywhere(&largest, &Array::vector(vec![5i64]));
}

#[test]
fn scatters_into_an_array_whose_extent_has_wrapped() {
    let all = afun(|m: M| {
        let (_, n) = m.shape();
        permute(|new, old| new + old, fill(n * n * n + 10, 7i64), |i| (true, i), generate(n, |i| i))
    });
    assert!(is_outside(everywhere(&all, &columns(1 << 22))));
    let some = afun(|m: M, xs: I| {
        let (_, c) = m.shape();
        let h = permute(|a, b| a + b, numbers(c * WRAPS + 3), |i| (xs.at(i).gt(0), i + c), xs);
        (sum(h), h)
    });
    assert!(is_outside(everywhere(&some, (&columns(LARGE), &Array::vector(vec![1i64, 2, 3])))));
    let read = grad(&afun(|m: M, xs: Acc<Vector<f64>>| {
        let (_, c) = m.shape();
        let base = map(|x| x * 2.0, fill(c * WRAPS + 3, the(sum(xs))));
        unit(base.at(c - 1))
    }));
    fails_everywhere(&read, (&columns(LARGE), &Array::vector(vec![1.0, 2.0, 3.0])));
}

#[test]
fn extents_above_the_largest_are_refused() {
    for extents in [vec![0, LARGE + 1], vec![0, 1 << 62], vec![usize::MAX, 0], vec![0, 1 << 40, 1 << 40]] {
        let array = match extents.len() {
            2 => Array::<Dim2, f64>::from_extents(&extents, vec![]).map(|_| ()),
            _ => Array::<Dim3, f64>::from_extents(&extents, vec![]).map(|_| ()),
        };
        assert!(matches!(array, Err(Error::Host(_))), "{extents:?}: {array:?}");
        let raw = RawArray { extents: extents.clone().into(), columns: vec![Column::from(Vec::<f64>::new())].into() };
        assert!(extents.len() != 2 || Array::<Dim2, f64>::from_raw(raw.clone()).is_err());
        // As an argument of a compiled program.
        if extents.len() == 2 {
            let f = afun(|m: M| map(|x| x + 1.0, m));
            for backend in others().into_iter().chain([&Interpreter as &dyn Backend]) {
                let compiled = backend.compile(f.program().expect("a program")).expect("a compiled program");
                let e =
                    compiled.run(&ArrayTuple::Array(raw.clone())).map(|_| ()).expect_err("extents that no array has");
                assert!(matches!(e, Error::Memory { .. }), "{}: {e}", backend.name());
            }
        }
    }
}

#[test]
fn computed_extents_above_the_largest_are_errors() {
    let of = |r: Result<(Matrix<f64>, Scalar<i64>), Error>| match r {
        Err(Error::Memory { op, .. }) => op,
        r => panic!("{r:?}"),
    };
    let n = Array::scalar(LARGE as i64 + 1);
    let generated = afun(|n: Acc<Scalar<i64>>| (generate((0, the(n)), |(_, j)| j.cast::<f64>()), n));
    assert!(of(everywhere(&generated, &n)).starts_with("`generate` at "));
    let added = afun(|m: M| (generate((0, m.shape().1 + 1), |(_, j)| j.cast::<f64>()), unit(m.shape().1)));
    assert!(of(everywhere(&added, &columns(LARGE))).starts_with("`generate` at "));
    assert!(everywhere(&added, &columns(LARGE - 1)).is_ok());
    let scanned = afun(|m: M| (scanl(|a, b| a + b, 0.0, m), unit(m.shape().1)));
    assert!(of(everywhere(&scanned, &columns(LARGE))).starts_with("`scanl` at "));
    assert!(everywhere(&scanned, &columns(LARGE - 1)).is_ok());
    let constant = afun(|m: M| {
        let all = generate((0, i64::MAX), |(_, j): (Exp<i64>, Exp<i64>)| j.cast::<f64>());
        (scanl(|a, b| a + b, 0.0, all), unit(m.shape().1))
    });
    for backend in others().into_iter().chain([&Interpreter as &dyn Backend]) {
        // Of the scan, where it computes the elements itself.
        of(run_on(backend, &constant, &columns(1)));
    }
}

/// The gradient of what is read at one place for all indices of two dimensions: a sum over their product.
#[test]
fn sums_over_dimensions_whose_product_overflows() {
    let f = grad(&afun(|m: M, n: Acc<Matrix<f64>>, x: Acc<Scalar<f64>>| {
        let (r, c) = (m.shape().1, n.shape().1);
        let x = the(x);
        sum(map(|y| y * x, reshape(0, generate((0, r, c), |(_, i, j)| (i + j).cast::<f64>() * x))))
    }));
    for (r, c) in [(2, 3), (1 << 24, 1 << 24), (1 << 31, 1 << 31), (LARGE, 1), (LARGE, LARGE)] {
        let _ = everywhere(&f, (&columns(r), &columns(c), &Array::scalar(2.0)));
    }
}

/// Integers made of two extents and an index.
#[derive(Clone, Debug)]
enum Number {
    Extent(bool),
    Index,
    Data,
    Constant(i64),
    Op(usize, Box<[Number; 2]>),
}

const CONSTANTS: [i64; 19] = [
    0,
    1,
    -1,
    2,
    3,
    4,
    10,
    1 << 15,
    1 << 16,
    1 << 31,
    1 << 32,
    (1 << 32) + 1,
    1 << 40,
    1 << 47,
    1 << 48,
    1 << 62,
    -(1 << 48),
    i64::MAX,
    i64::MIN,
];

const EXTENTS: [usize; 16] = [
    0,
    1,
    2,
    3,
    7,
    1 << 16,
    1 << 21,
    1 << 22,
    (1 << 31) - 1,
    1 << 31,
    1 << 32,
    (1 << 32) + 1,
    1 << 40,
    1 << 47,
    LARGE - 1,
    LARGE,
];

impl Number {
    fn any(g: &mut Gen, depth: usize, with_index: bool) -> Number {
        let leaf = depth == 0 || u8::arbitrary(g) % 4 == 0;
        if !leaf {
            // Polynomials more often than others.
            let op = *g.choose(&[0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 4, 5, 6]).unwrap_or(&0);
            return Number::Op(op, Box::new([(); 2].map(|()| Number::any(g, depth - 1, with_index))));
        }
        match u8::arbitrary(g) % 6 {
            0 | 1 => Number::Extent(bool::arbitrary(g)),
            2 if with_index => Number::Index,
            3 if with_index => Number::Data,
            _ => Number::Constant(*g.choose(&CONSTANTS).unwrap_or(&0)),
        }
    }

    /// In a program.
    fn exp(&self, extents: [Exp<i64>; 2], index: Exp<i64>, data: Exp<i64>) -> Exp<i64> {
        match self {
            Number::Extent(second) => extents[usize::from(*second)],
            Number::Index => index,
            Number::Data => data,
            Number::Constant(n) => constant(*n),
            Number::Op(op, operands) => {
                let [a, b] = operands.each_ref().map(|x| x.exp(extents, index, data));
                match op {
                    0 => a + b,
                    1 => a - b,
                    2 => a * b,
                    3 => a.min(b),
                    4 => a.max(b),
                    5 => a / b,
                    _ => a % b,
                }
            }
        }
    }

    /// Without index and data.
    fn value(&self, extents: [usize; 2]) -> Option<i64> {
        Some(match self {
            Number::Extent(second) => extents[usize::from(*second)] as i64,
            Number::Index | Number::Data => return None,
            Number::Constant(n) => *n,
            Number::Op(op, operands) => {
                let (a, b) = (operands[0].value(extents)?, operands[1].value(extents)?);
                match op {
                    0 => a.wrapping_add(b),
                    1 => a.wrapping_sub(b),
                    2 => a.wrapping_mul(b),
                    3 => a.min(b),
                    4 => a.max(b),
                    _ if b == 0 => return None,
                    5 => a.wrapping_div(b),
                    _ => a.wrapping_rem(b),
                }
            }
        })
    }
}

/// An array of a computed extent, and what is read from it, guarded or not.
#[derive(Clone, Debug)]
struct Reads {
    extent: Number,
    index: Number,
    left: Number,
    right: Number,
    guard: usize,
}

impl Arbitrary for Reads {
    fn arbitrary(g: &mut Gen) -> Reads {
        Reads {
            extent: Number::any(g, 3, false),
            index: Number::any(g, 2, true),
            left: Number::any(g, 2, true),
            right: Number::any(g, 2, true),
            guard: usize::arbitrary(g) % 5,
        }
    }
}

impl Reads {
    fn program(&self) -> Afun<(Matrix<f64>, Matrix<f64>, Vector<i64>), (Vector<i64>, Vector<i64>, Vector<i64>)> {
        let this = self.clone();
        afun(move |a: M, b: M, data: I| {
            let extents = [a.shape().1, b.shape().1];
            let none = constant(0i64);
            let array = numbers(this.extent.exp(extents, none, none));
            let value = |x: &Number, i: Exp<i64>| x.exp(extents, i, data.at(i));
            let all = imap(|i, _| value(&this.left, i), data);
            let read = imap(
                |i, _: Exp<i64>| {
                    let (k, left, right) = (value(&this.index, i), value(&this.left, i), value(&this.right, i));
                    let inside = k.ge(0).and(k.lt(array.len()));
                    match this.guard {
                        0 => array.at(k),
                        1 => cond(inside, array.at(k), -1i64),
                        2 => cond(left.le(right), array.at(k), -1i64),
                        3 => cond(k.ge(0).and(k.lt(right)), array.at(k), -1i64),
                        _ => cond(inside, array.at(k), left.min(right)),
                    }
                },
                data,
            );
            (array, all, read)
        })
    }

    /// For some extents with which the array fits into memory, or is none.
    fn agrees(&self, chosen: &[(usize, usize)]) {
        let f = self.program();
        let data = Array::vector(vec![0, 1, 2, -1, 1 << 20, i64::MAX, i64::MIN]);
        let compiled: Vec<_> = others()
            .into_iter()
            .map(|b| (b.name(), b.compile(f.program().expect("a program")).expect("a compiled program")))
            .collect();
        for (a, b) in chosen {
            let n = self.extent.value([*a, *b]);
            if n.is_some_and(|n| n > 1000 && n <= LARGE as i64) {
                continue;
            }
            let inputs = (&columns(*a), &columns(*b), &data);
            let expected = run_on(&Interpreter, &f, inputs);
            let [x, y] = [columns(*a), columns(*b)].map(|m| ArrayTuple::Array(m.raw().clone()));
            let argument = ArrayTuple::pair(ArrayTuple::pair(x, y), ArrayTuple::Array(data.raw().clone()));
            for (name, program) in &compiled {
                let found = program.run(&argument);
                match (&expected, &found) {
                    (Ok((p, q, r)), Ok(found)) => {
                        let raw: Vec<_> = found.leaves().into_iter().cloned().collect();
                        assert_eq!(raw, [p.raw().clone(), q.raw().clone(), r.raw().clone()], "{name}: {a} {b}\n{f}");
                    }
                    (Err(_), Err(_)) => {}
                    // What decides nothing, as the index of a read that a condition on extents excludes, may be left out.
                    (Err(Error::DivisionByZero { .. }), Ok(_)) => {}
                    _ => panic!("{name}: {a} {b}: {:?} instead of {:?}\n{f}", found, expected.map(|_| ())),
                }
            }
        }
    }
}

#[test]
fn indices_of_extreme_extents_are_those_of_the_interpreter() {
    fn property(reads: Reads, places: Vec<(usize, usize)>) -> bool {
        let chosen = places.iter().map(|(a, b)| (EXTENTS[a % EXTENTS.len()], EXTENTS[b % EXTENTS.len()]));
        let all: Vec<_> = chosen.chain([(3, 7), (LARGE, LARGE), (1 << 22, 1 << 22), (1 << 32, 1 << 32)]).collect();
        reads.agrees(&all);
        true
    }
    QuickCheck::new().tests(60).quickcheck(property as fn(Reads, Vec<(usize, usize)>) -> bool);
}
