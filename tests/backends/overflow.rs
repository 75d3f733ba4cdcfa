//! Tests of extents and indices that overflow: what is proved about indices also holds if integers wrap, and sizes that
//! no array can have are errors. They run on all backends and the evaluators of kernel programs, and compare with the
//! interpreter.
//!
//! An array with an extent of 0 takes no memory, so its other extent can be anything up to the largest extent.

mod empty;
mod reads;

use crate::support::agree::same_place;
#[cfg(feature = "opencl")]
use crate::support::left_out;
use accel::backend::Backend;
use accel::backend_named;
use accel::interp::Interpreter;
use accel::native::VectorizedInterpreter;
use accel::prelude::*;
use accel::repr::{ArrayTuple, Column, MAX_EXTENT, RawArray};
use accel::types::Dim6;
use accel_fusion::{KernelEvaluator, OptimizedEvaluator};
use std::fmt::Debug;

type M = Acc<Matrix<f64>>;
type I = Acc<Vector<i64>>;

/// All backends except the interpreter.
fn others() -> Vec<&'static dyn Backend> {
    let evaluators: [&dyn Backend; 3] = [&KernelEvaluator, &OptimizedEvaluator, &VectorizedInterpreter];
    let native = backend_named("native").expect("it is always built in");
    evaluators.into_iter().chain([native]).chain(opencl()).collect()
}

/// The OpenCL backend, if there is a device.
#[cfg(feature = "opencl")]
fn opencl() -> Option<&'static dyn Backend> {
    static TOLD: std::sync::Once = std::sync::Once::new();
    if let Err(e) = accel::opencl::default_device() {
        TOLD.call_once(|| left_out(&format!("extents that overflow, on a device: {e}")));
        return None;
    }
    Some(backend_named("opencl").expect("there is a device"))
}

#[cfg(not(feature = "opencl"))]
fn opencl() -> Option<&'static dyn Backend> {
    None
}

/// Checks that all other backends have the result, or the error, of the interpreter.
#[track_caller]
fn everywhere<A: Arrays, R: Arrays + Debug>(f: &Afun<A, R>, inputs: impl Inputs<A> + Copy) -> Result<R, Error> {
    let text = |r: &Result<R, Error>| r.as_ref().map_or_else(|e| e.to_string(), |r| format!("{r:?}"));
    let expected = run_on(&Interpreter, f, inputs);
    for backend in others() {
        let found = run_on(backend, f, inputs);
        match (&expected, &found) {
            // A device reports any of the elements that fail.
            (Err(x), Err(y)) if backend.name() == "opencl" => assert!(same_place(x, y), "{y}, expected {x}\n{f}"),
            _ => assert_eq!(text(&found), text(&expected), "{}\n{f}", backend.name()),
        }
    }
    expected
}

/// As [`everywhere`], for programs that read and write at the same index: either error can be reported, depending on
/// what the optimiser leaves.
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
/// `LARGE` times this is 0, because it wraps.
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
    // The program for extents that satisfy the assumptions.
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
    // The result has as many elements as the shorter array, which is the longer one here.
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
        // The error is that of the scan, if it computes the elements itself.
        of(run_on(backend, &constant, &columns(1)));
    }
}

/// The gradient of an element that is read for all indices of two dimensions: a sum over their product.
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

/// The product of the extents is the largest integer, so that sums with it wrap.
#[test]
fn edges_at_products_of_extents_that_wrap() {
    let (a, b) = (columns(7 * 7 * 73 * 127 * 337), columns(92737 * 649657));
    let data = Array::vector((0..100).collect::<Vec<i64>>());
    let f = afun(|a: M, b: M, data: I| {
        let largest = a.shape().1 * b.shape().1;
        imap(|i, x| cond((i + largest).le(largest), x, -x).max((i + largest).min(largest)), data)
    });
    let values = everywhere(&f, (&a, &b, &data)).expect("values");
    assert_eq!(values.to_vec()[..3], [i64::MAX, 1, 2]);
}

/// More dimensions than any array has: only the statement knows them. Their numbers are part of the error.
#[test]
fn sources_of_more_dimensions_than_arrays() {
    type E = Exp<i64>;
    let f = afun(|x: Acc<Vector<f64>>, k: I| {
        let e = |i: i64| k.at(i);
        let source: Acc<Array<Dim6, f64>> = generate((e(0), e(1), e(2), e(3), e(4), e(5)), |_| lit::<f64>(1.0));
        permute(|a, b| a + b, x, |(_, j, ..): (E, E, E, E, E, E)| (true, j % 4), source)
    });
    let x = Array::vector(vec![1.0, 2.0, 3.0, 4.0]);
    for (wrong, extents) in [(1, -1), (5, -1), (0, i64::MIN), (3, i64::MAX)] {
        let mut k = vec![1; 6];
        k[wrong] = extents;
        // A source that is not stored has no name of its own.
        for backend in others().into_iter().chain([&Interpreter as &dyn Backend]) {
            let error =
                run_on(backend, &f, (&x, &Array::vector(k.clone()))).expect_err("an impossible extent").to_string();
            let numbers = k.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
            assert!(error.contains(&numbers), "{}: {error}, expected {numbers}", backend.name());
        }
    }
    let values = everywhere(&f, (&x, &Array::vector(vec![1, 2, 3, 1, 1, 1]))).expect("values");
    assert_eq!(values.to_vec(), [4.0, 5.0, 3.0, 4.0]);
}
