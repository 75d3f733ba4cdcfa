//! Tests of unusual cases: small and huge extents, many dimensions, NaN, the same array twice, many threads, long
//! programs, too little memory. They run on all backends and the evaluators of kernel programs, and compare with the
//! interpreter or plain Rust.

use accel::backend::Backend;
use accel::backend_named;
use accel::interp::Interpreter;
use accel::native::VectorizedInterpreter;
use accel::prelude::*;
use accel_fusion::{KernelEvaluator, OptimizedEvaluator};
use std::fmt::Debug;

type V = Acc<Vector<f64>>;
type I = Acc<Vector<i64>>;
type M = Acc<Matrix<f64>>;

/// The native backend.
fn native() -> &'static dyn Backend {
    backend_named("native").expect("a backend of this build")
}

/// All backends except the interpreter.
fn others() -> [&'static dyn Backend; 4] {
    [&KernelEvaluator, &OptimizedEvaluator, &VectorizedInterpreter, native()]
}

/// Checks that all other backends compute what the interpreter computes: exactly, except that any NaN equals any other
/// NaN. Returns the result.
#[track_caller]
fn everywhere<A: Arrays, R: Arrays + Debug>(f: &Afun<A, R>, inputs: impl Inputs<A> + Copy) -> R {
    let expected = run_on(&Interpreter, f, inputs).unwrap_or_else(|e| panic!("{e}\n{f}"));
    for backend in others() {
        let found = run_on(backend, f, inputs).unwrap_or_else(|e| panic!("{}: {e}\n{f}", backend.name()));
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{}\n{f}", backend.name());
    }
    expected
}

/// Small integers as floats: sums and products are exact in any order.
fn floats(n: usize) -> Vector<f64> {
    Array::vector((0..n).map(|i| (i * i % 7) as f64 - 3.0).collect())
}

fn matrix(rows: usize, columns: usize) -> Matrix<f64> {
    Array::matrix(rows, columns, floats(rows * columns).to_vec()).expect("as many elements as the extents say")
}

/// Extents around the limits of different methods.
const EXTENTS: [usize; 8] = [0, 1, 2, 31, 97, 257, 1009, 4099];

#[test]
fn vectors_of_special_extents() {
    let moved = afun(|xs: V| {
        let n = xs.len();
        let (a, b) = (take(3, xs), skip(2, xs));
        (zip_with_min(|x, y| x * 2.0 + y, a, b), reverse(xs), concat(xs, b), backpermute(n * 2, |i| i / 2, xs))
    });
    let folded = afun(|xs: V| {
        let best =
            fold(|(x, i): (Exp<f64>, Exp<i64>), (y, j)| cond(x.lt(y), pair(y, j), pair(x, i)), (f64::MIN, -1i64), {
                imap(|i, x: Exp<f64>| pair(x, i), xs)
            });
        (sum(xs), fold(|x, y| x.min(y), 9.0, xs), best, scanl(|x, y| x + y, 1.0, xs), scanr1(|x, y| x + y, xs))
    });
    let scattered = afun(|xs: V| {
        let counts = permute(|x, y| x + y, fill(5, 0.0), |i| (true, i * i % 5), xs);
        let kept = permute(|x, y| x + y, xs, |i| ((i % 3).eq(0), i / 3), xs);
        // Without elements, nothing is divided.
        let place = constant(-2i64).rem_euclid(xs.len());
        let last = permute(|x, y| x + y, fill(xs.len() + 1, 0.0), |_| (true, place), xs);
        (counts, kept, last, sum_all(generate((xs.len(), 3), |(i, j)| xs.at(i) * j.cast::<f64>())))
    });
    for n in EXTENTS {
        let xs = &floats(n);
        everywhere(&moved, xs);
        everywhere(&folded, xs);
        everywhere(&scattered, xs);
        everywhere(&grad(&afun(|xs: V| sum(map(|x| x * x * x, xs)))), xs);
    }
}

#[test]
fn matrices_of_special_extents() {
    let f = afun(|a: M| (sum(a), transpose(a), sum(transpose(a)), scanl1(|x, y| x + y, a), flatten(reverse(a))));
    let moved = afun(|a: M| {
        let (n, m) = a.shape();
        // Without elements, nothing is divided.
        let column = constant(-2i64).rem_euclid(m);
        let below = permute(|x, y| x + y, fill((n, m + 1), 1.0), |(i, _)| (true, (i, column)), a);
        (permute(|x, y| x + y, a, |(i, _)| (true, (i, column)), a), below)
    });
    let product = afun(|a: M| matmul(a, transpose(a)));
    let gradient = grad(&afun(|a: M| sum_all(matmul(transpose(a), a))));
    for (n, m) in [(0, 0), (0, 5), (5, 0), (1, 1), (1, 97), (97, 1), (31, 37), (2, 1009)] {
        let a = &matrix(n, m);
        everywhere(&f, a);
        everywhere(&moved, a);
        if n < 100 && m < 100 {
            everywhere(&product, a);
            everywhere(&gradient, a);
        }
    }
}

#[test]
fn extents_that_differ() {
    let f = afun(|a: M, b: M| {
        let both = zip_with_min(|x, y| x - y, a, transpose(b));
        (both, sum(zip_with_min(|x, y| x * y, both, a)), zip_min(a, b))
    });
    for (n, m, k, l) in [(3, 4, 4, 3), (3, 4, 3, 4), (0, 4, 4, 1), (5, 1, 1, 2), (1, 0, 1, 0)] {
        everywhere(&f, (&matrix(n, m), &matrix(k, l)));
    }
}

/// A program of more than 2^31 elements, of which the result needs only some.
#[track_caller]
fn huge<A: Arrays, R: Arrays + Debug>(f: &Afun<A, R>, inputs: impl Inputs<A> + Copy, expected: R) {
    // The interpreter computes all elements, which do not fit into memory.
    assert!(matches!(run_on(&Interpreter, f, inputs), Err(Error::Memory { .. })));
    for backend in [&OptimizedEvaluator as &dyn Backend, &VectorizedInterpreter, native()] {
        let found = run_on(backend, f, inputs).unwrap_or_else(|e| panic!("{}: {e}\n{f}", backend.name()));
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{}", backend.name());
    }
}

#[test]
fn more_elements_than_32_bits_count() {
    const N: i64 = 1 << 20;
    // The compiler can prove that these indices are within bounds. Otherwise the array would be needed to report that
    // they are not.
    let place = |k: i64| (k * (N / 5), N - 1 - k * 100_000);
    let f = afun(move |_: Acc<()>| {
        let t = generate((N, N), |(i, j)| i * N + j);
        backpermute(5, |k| (k * (N / 5), constant(N - 1) - k * 100_000), t)
    });
    huge(&f, &(), Array::vector((0..5).map(place).map(|(i, j)| i * N + j).collect()));
    // Elements of a vector of 2^40.
    let f = afun(|_: Acc<()>| {
        let t = generate(1i64 << 40, |i| i * 3);
        map(|i| t.at((1i64 << 40) - 1 - i * (1i64 << 37)), iota(8))
    });
    huge(&f, &(), Array::vector((0..8).map(|i| ((1 << 40) - 1 - i * (1 << 37)) * 3).collect()));
    // Replicated to an array larger than memory, and a row of it.
    let f = afun(|xs: V| slice((1i64 << 39, All), replicate((1i64 << 40, All), xs)));
    huge(&f, &floats(5), floats(5));
    // The sum of a few columns of a row.
    let f = afun(move |xs: V| {
        let t = generate((N, N), |(i, j)| xs.at(i % 5) + j.cast::<f64>());
        sum(backpermute(4, |k| (k + N - 4, k * (N / 4)), t))
    });
    let expected = (0..4).map(|k| floats(5).to_vec()[((k + N - 4) % 5) as usize] + (k * (N / 4)) as f64).sum::<f64>();
    huge(&f, &floats(5), Array::scalar(expected));
}

#[test]
fn an_index_outside_of_a_huge_array_is_an_error() {
    let f = afun(|is: I| {
        let t = generate((1i64 << 20, 1i64 << 20), |(i, j)| i + j);
        map(|i| t.at((i, 0)), is)
    });
    for i in [1 << 20, -1, 1 << 32, i64::MAX, i64::MIN] {
        for backend in [&OptimizedEvaluator as &dyn Backend, &VectorizedInterpreter, native()] {
            let found = run_on(backend, &f, &Array::vector(vec![3, i]));
            assert!(found.is_err(), "{}: {found:?}", backend.name());
        }
    }
}

/// Row sums of a product of shortened arrays. Two results need them: one alone, and one in pairs with an argument of
/// the same length.
#[test]
fn row_sums_that_two_results_need() {
    fn sums<T: Num>(a: Acc<Vector<T>>, b: Acc<Vector<T>>) -> Acc<Vector<T>> {
        sum(zip_with(|x, y| x * y, replicate((All, b.len()), a), replicate((a.len(), All), b)))
    }
    /// `len` is the length of `a(xs)` for one of `xs`.
    fn agree(a: impl Fn(V) -> V, len: impl Fn(usize) -> usize, b: impl Fn(V) -> V) {
        let alone = afun(|xs: V, bs: V, ys: V| {
            let p = zip(sums(a(xs), b(bs)), ys);
            (map(|(s, _)| s, p), p)
        });
        let twice = afun(|xs: V, bs: V, ys: V| {
            let s = sums(a(xs), b(bs));
            (zip_with(|x, y| x + y, s, ys), zip_with(|x, y| x * y, s, ys))
        });
        let pairs = afun(|xs: V, bs: V, ys: V| zip(sums(a(xs), b(bs)), ys));
        let next = afun(|xs: V, bs: V, _: V| {
            let s = sums(a(xs), b(bs));
            (s, map(|x| x + 1.0, s))
        });
        for (n, m) in [(1, 0), (5, 3), (40, 37), (41, 50), (50, 41)] {
            let inputs = (&floats(n), &floats(m), &floats(len(n)));
            everywhere(&alone, inputs);
            everywhere(&twice, inputs);
            everywhere(&pairs, inputs);
            everywhere(&next, inputs);
        }
    }
    agree(|xs| take(40, xs), |n| n.min(40), |bs| take(37, bs));
    agree(|xs| take(40, xs), |n| n.min(40), |bs| bs);
    agree(|xs| tail(xs), |n| n - 1, |bs| bs);
    agree(|xs| xs, |n| n, |bs| bs);
    let of_types = afun(|xs: Acc<Vector<i32>>, ys: Acc<Vector<f32>>| {
        let p = zip(sums(take(40, xs), take(37, xs)), ys);
        (map(|(s, _)| s, p), p)
    });
    let (xs, ys) = (Array::vector((0..50).collect()), Array::vector(vec![0.5; 40]));
    everywhere(&of_types, (&xs, &ys));
    let scaled = afun(|xs: V, ys: V| {
        let s = sum(map(|x| x * 2.0, replicate((All, 3), take(40, xs))));
        (zip_with(|a, b| a + b, s, ys), zip_with(|a, b| a * b, s, ys))
    });
    everywhere(&scaled, (&floats(50), &floats(40)));
}

#[test]
fn six_dimensions() {
    let f = afun(|xs: V| {
        let n = xs.len();
        let a = generate((2, n, 3, 1, n, 2), |(a, b, c, d, e, f)| {
            xs.at(b) * 2.0 - xs.at(e) + (a * 100 + c * 10 + d + f).cast::<f64>()
        });
        let turned = backpermute((2, n, 1, 3, n, 2), |(a, b, c, d, e, f)| (f, e, d, c, b, a), a);
        let row = slice((1, All, 2, 0, All, 1), a);
        let again = replicate((All, 2, All, 1, 1, 2), row);
        let counts = permute(|x, y| x + y, fill((2, 2), 0.0), |(a, _, _, _, _, f)| (true, (f, a)), turned);
        (sum(a), sum_all(turned), row, sum(again), counts, scanl1(|x, y| x + y, turned))
    });
    for n in [0, 1, 3] {
        everywhere(&f, &floats(n));
    }
    let f = afun(|xs: V| {
        let n = xs.len();
        let a =
            generate((1, n, 2, n, 1, 2), |(a, b, c, d, e, f)| xs.at(b) * xs.at(d) * (a + c + e + f + 1).cast::<f64>());
        sum_all(sum(transposed(a)))
    });
    fn transposed(a: Acc<Array<accel::types::Dim6, f64>>) -> Acc<Array<accel::types::Dim6, f64>> {
        let (a0, a1, a2, a3, a4, a5) = a.shape();
        backpermute((a5, a4, a3, a2, a1, a0), |(i, j, k, l, m, n)| (n, m, l, k, j, i), a)
    }
    for n in [0, 1, 3] {
        everywhere(&grad(&f), &floats(n));
    }
}

#[test]
fn numbers_that_are_none() {
    let special =
        [0.0, -0.0, 1.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, 5e-324];
    let pairs: Vec<(f64, f64)> = special.iter().flat_map(|x| special.iter().map(move |y| (*x, *y))).collect();
    let (xs, ys): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    let (xs, ys) = (Array::vector(xs), Array::vector(ys));
    let f = afun(|xs: V, ys: V| {
        let compared = zip_with(|x, y| (x.lt(y), x.le(y), x.eq(y), x.ne(y), x.gt(y)), xs, ys);
        let chosen = zip_with(|x, y| (x.min(y), x.max(y), cond(x.lt(y), x, y), x.is_nan()), xs, ys);
        (compared, chosen)
    });
    everywhere(&f, (&xs, &ys));
    let f = afun(|xs: V| {
        let indexed = imap(|i, x: Exp<f64>| pair(x, i), xs);
        let least = fold1(|(x, i): (Exp<f64>, Exp<i64>), (y, j)| cond(y.lt(x), pair(y, j), pair(x, i)), indexed);
        (minimum(xs), maximum(xs), fold(|x, y| x.max(y), f64::NEG_INFINITY, xs), least, sum(xs), product(xs))
    });
    // Each of them in the first, the last and a middle place, also in rows long enough for lanes.
    for n in [1, 2, 3, 9, 40, 1000] {
        for x in special {
            for at in [0, n / 2, n - 1] {
                let mut xs: Vec<f64> = (0..n).map(|i| (i % 5) as f64).collect();
                xs[at] = x;
                everywhere(&f, &Array::vector(xs));
            }
        }
    }
    everywhere(&f, &Array::vector(vec![f64::NAN; 100]));
    let gradient = grad(&afun(|xs: V| zip_with(|x, y| x + y, minimum(xs), maximum(xs))));
    everywhere(&gradient, &Array::vector(vec![1.0, f64::NAN, 3.0, f64::INFINITY]));
}

#[test]
fn one_array_in_many_places() {
    let f = afun(|xs: V, ys: V| {
        let total = zip_with(|x, y| x + y, xs, ys);
        (xs, total, ys, map(|x| x * 2.0, xs), xs, permute(|x, y| x + y, ys, |i| (true, i), xs))
    });
    for n in [0, 1, 5, 5000] {
        let xs = floats(n);
        everywhere(&f, (&xs, &xs));
        // The argument has not changed.
        assert_eq!(xs, floats(n));
    }
    // A loop whose state contains the argument twice, and a result that is an argument.
    let f = afun(|xs: V| {
        let (_, a, b) = awhile(
            |(k, _, _): (Acc<Scalar<i64>>, V, V)| the(k).lt(3),
            |(k, a, b)| (map(|k| k + 1, k), b, map(|x| x * 2.0, a)),
            (unit(0i64), xs, xs),
        );
        (a, b, xs)
    });
    everywhere(&f, &floats(5));
}

#[test]
fn one_program_in_many_threads() {
    let f = afun(|xs: V| {
        let sums = scanl(|x, y| x + y, 0.0, xs);
        let counts = permute(|x, y| x + y, fill(7, 0.0), |i| (true, i % 7), xs);
        let halved = awhile(|s: Acc<Scalar<f64>>| the(s).gt(1.0), |s| map(|x| x * 0.5, s), sum(map(|x| x * x, xs)));
        (sums, counts, halved)
    });
    for backend in others() {
        let f = compile_on(backend, &f).expect("the program compiles");
        std::thread::scope(|s| {
            for t in 0..16 {
                let f = &f;
                s.spawn(move || {
                    for n in [t, 100 + t, 3000 - t] {
                        let xs = floats(n);
                        let alone = f.run(&xs).expect("the program runs");
                        assert_eq!(f.run(&xs).expect("the program runs"), alone);
                        assert_eq!(alone.0.to_vec().last().copied(), Some(xs.iter().sum::<f64>()));
                    }
                });
            }
        });
    }
}

#[test]
fn too_little_memory_is_an_error() {
    let needed = afun(|n: Acc<Scalar<i64>>| scanl1(|x, y| x + y, fill(the(n), 1.0)));
    let nested = afun(|n: Acc<Scalar<i64>>| {
        let big = fill(the(n), 1.0);
        acond(the(n).gt(0), scanl1(|x, y| x + y, big), big)
    });
    let n = Array::scalar(1i64 << 45);
    for backend in [&Interpreter as &dyn Backend].into_iter().chain(others()) {
        for f in [&needed, &nested] {
            let found = run_on(backend, f, &n);
            assert!(matches!(found, Err(Error::Memory { .. })), "{}: {found:?}", backend.name());
        }
        // The next request succeeds.
        assert_eq!(run_on(backend, &needed, &Array::scalar(3)).expect("memory").to_vec(), [1.0, 2.0, 3.0]);
    }
}

#[test]
fn a_negative_extent_is_an_error() {
    let f = afun(|n: Acc<Scalar<i64>>| generate(the(n), |i| i * 2));
    let g = afun(|xs: V| generate(xs.len() - 3, |i| xs.at(i + 2)));
    for backend in [&Interpreter as &dyn Backend].into_iter().chain(others()) {
        for n in [-1, i64::MIN] {
            let found = run_on(backend, &f, &Array::scalar(n));
            assert!(matches!(found, Err(Error::Shape { .. })), "{}: {found:?}", backend.name());
        }
        for n in 0..3 {
            let found = run_on(backend, &g, &floats(n));
            assert!(matches!(found, Err(Error::Shape { .. })), "{}: {found:?}", backend.name());
        }
        assert_eq!(run_on(backend, &g, &floats(5)).expect("two elements").to_vec(), floats(5).to_vec()[2..4]);
    }
}

/// 3,000 array operations of several kinds, each of which needs the result before it.
fn a_long_chain(xs: V) -> V {
    let mut xs = xs;
    for k in 0..500 {
        let total = sum(xs);
        let scaled = zip_with(|x, y| x - y * 0.25, xs, reverse(xs));
        let sums = scanl1(|x, y| x * 0.5 + y, scaled);
        let moved = permute(|x, y| x + y, map(|x| x.tanh(), sums), move |i| (true, (i * 7 + k) % 11), scaled);
        // The factor makes differences shrink from step to step.
        xs = map(|x| x * 0.125 + the(total).sin() * 0.01, moved);
    }
    xs
}

/// 3,000 array operations on the same argument, added up.
fn a_wide_program(xs: V) -> V {
    let mut all = vec![];
    for k in 0..500 {
        let shifted = map(move |x| x + k as f64, xs);
        let sums = scanl1(|x, y| x + y * 0.5, shifted);
        let least = minimum(sums);
        let moved = permute(|x, y| x + y, sums, move |i| (true, (i * 3 + k) % 11), shifted);
        all.push(map(|x| x * 1e-3 + the(least), moved));
    }
    while all.len() > 1 {
        all =
            all.chunks(2).map(|two| two.iter().copied().reduce(|a, b| zip_with(|x, y| x + y, a, b)).unwrap()).collect();
    }
    all[0]
}

#[test]
#[ignore = "takes a minute: scripts/test.sh runs it"]
fn programs_of_3000_operations() {
    let xs = floats(11);
    for (name, f) in [("chain", afun(a_long_chain)), ("wide", afun(a_wide_program))] {
        let expected = run_on(&Interpreter, &f, &xs).expect("the interpreter runs it");
        let start = std::time::Instant::now();
        let compiled = compile_on(native(), &f).expect("the program compiles");
        let seconds = start.elapsed().as_secs_f64();
        println!("{name}: compiled in {seconds:.1} s");
        let found = compiled.run(&xs).expect("the program runs");
        for (x, y) in found.iter().zip(expected.iter()) {
            assert!((x - y).abs() <= 1e-9 * y.abs().max(1.0), "{name}: {found:?}, expected {expected:?}");
        }
        // It takes 60 s on two idle cores.
        assert!(seconds < 180.0, "{name}: compiled in {seconds:.1} s");
    }
}
