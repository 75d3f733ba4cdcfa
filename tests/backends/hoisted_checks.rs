//! Statements whose indices contain numbers in memory: NOTE [Hoisted checks] in `accel-fusion/src/optimize/loops/hoisted_checks.rs`. For
//! every such number, the results are those of the interpreter, or the error is.

use accel::interp::Interpreter;
use accel::prelude::*;
use std::fmt::Debug;

type Compiled<A, R> = accel::afun::Compiled<A, R>;

/// Runs a program for each argument, natively and by the interpreter. Both kinds of outcomes must occur.
fn check<A: Arrays, R: Arrays + Debug>(program: &Afun<A, R>, arguments: impl IntoIterator<Item = A>) {
    let native: Compiled<A, R> = compile_on(accel::backend_named("native").unwrap(), program).expect("a program");
    let meaning: Compiled<A, R> = compile_on(&Interpreter, program).expect("a program");
    let (mut results, mut errors) = (0, 0);
    for x in arguments {
        match (meaning.run(&x), native.run(&x)) {
            (Ok(expected), Ok(found)) => {
                assert_eq!(format!("{found:?}"), format!("{expected:?}"));
                results += 1;
            }
            (Err(expected), Err(found)) => {
                assert_eq!(found.to_string(), expected.to_string());
                errors += 1;
            }
            (expected, found) => panic!("expected {expected:?}, found {found:?}"),
        }
    }
    assert!(results > 0 && errors > 0, "{results} results, {errors} errors");
}

/// Small numbers, so that sums are exact in any order.
fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|i| (i * 7 % 11) as f64).collect()
}

fn vector(n: usize) -> Vector<f64> {
    Array::vector(numbers(n))
}

fn matrix(n: usize, m: usize) -> Matrix<f64> {
    Array::matrix(n, m, numbers(n * m)).unwrap()
}

/// Numbers in memory, also such that sums wrap.
const NUMBERS: [i64; 17] =
    [0, 1, -1, 2, 3, 5, 9, 10, 11, -5, -10, -11, 1 << 40, i64::MAX, i64::MIN, i64::MAX - 3, i64::MIN + 3];

fn number(x: i64) -> Scalar<i64> {
    Array::scalar(x)
}

#[test]
fn a_shifted_vector() {
    let program = afun(|n: Acc<Scalar<i64>>, shift: Acc<Scalar<i64>>, xs: Acc<Vector<f64>>| {
        generate(the(n), |i: Exp<i64>| xs.at(i + the(shift)) * 2.0)
    });
    for n in [1, 5, 100] {
        let all = NUMBERS.into_iter().chain([-n, n, n + 1]);
        check(&program, all.map(|shift| (number(n), number(shift), vector(n as usize + 2))));
    }
}

#[test]
fn a_vector_from_its_end_and_every_other_element() {
    let program = afun(|at: Acc<Scalar<i64>>, xs: Acc<Vector<f64>>, ys: Acc<Vector<f64>>| {
        imap(|i, x| x + xs.at(the(at) - i) * xs.at(i * 2i64 + the(at) - 20i64), ys)
    });
    check(&program, NUMBERS.into_iter().chain(15..50).map(|at| (number(at), vector(50), vector(10))));
}

#[test]
fn rows_of_sums_and_scans() {
    let rows = |reduce: bool| {
        afun(move |t: Acc<Scalar<i64>>, xs: Acc<Array<Dim3, f64>>, ys: Acc<Matrix<f64>>| {
            let (n, m) = ys.shape();
            let products = generate((n, m), |(i, j)| xs.at((the(t) - 1i64, i, j + the(t) - 2i64)) + ys.at((i, j)));
            match reduce {
                true => sum(products),
                false => map(|x| x, fold(|x, y| x + y, 1.0, scanl1(|x, y| x + y, products))),
            }
        })
    };
    let cube = |n, m| Array::<Dim3, f64>::from_vec([4, n, m], numbers(4 * n * m)).unwrap();
    for reduce in [false, true] {
        for [n, m] in [[3, 5], [40, 33], [1, 100]] {
            check(&rows(reduce), NUMBERS.into_iter().map(|t| (number(t), cube(n, m + 2), matrix(n, m))));
        }
    }
}

#[test]
fn sums_of_rows_that_are_added() {
    // The adjoint adds to row `t` of the array.
    let program = afun(|xs: Acc<Matrix<f64>>, t: Acc<Scalar<i64>>, ys: Acc<Vector<f64>>| {
        sum(imap(|j, y| xs.at((the(t), j)) * xs.at((2i64, j)) * y, ys))
    });
    let adjoint = value_and_grad(program.by(|(xs, _, _)| xs));
    check(&adjoint, NUMBERS.into_iter().map(|t| (matrix(5, 7), number(t), vector(7))));
    check(&adjoint, [(matrix(5, 7), number(1), vector(6)), (matrix(5, 7), number(1), vector(8))]);
}

#[test]
fn two_checks_of_which_one_fails_first() {
    let program = afun(|at: Acc<Scalar<i64>>, xs: Acc<Vector<f64>>, ys: Acc<Vector<f64>>| {
        generate(20i64, |i: Exp<i64>| xs.at(i + the(at)) + ys.at(i * 3i64 - the(at)))
    });
    check(&program, NUMBERS.into_iter().map(|at| (number(at), vector(25), vector(60))));
}

/// A list of a loop keeps its checks: of two that fail, the first one is reported, whichever that is.
#[test]
fn lists_beside_other_arrays() {
    let program = afun(|at: Acc<Scalar<i64>>, xs: Acc<Vector<f64>>, ys: Acc<Vector<f64>>| {
        let step = |s: Acc<Scalar<f64>>, x: Acc<Scalar<f64>>| (zip_with(|s, x| s * 0.5 + x, s, x), s);
        let sums = map_accum_l(step, unit(lit::<f64>(0.0)), xs).1;
        generate(20i64, |i: Exp<i64>| sums.at(i + the(at)) + ys.at(i * 3i64 - the(at)))
    });
    for n in [21, 25] {
        check(&program, NUMBERS.into_iter().map(|at| (number(at), vector(n), vector(60))));
    }
}

/// The checks of a list and of another array depend on different indices.
#[test]
fn lists_along_another_dimension() {
    let program =
        afun(|at: Acc<Scalar<i64>>, list_at: Acc<Scalar<i64>>, xs: Acc<Vector<f64>>, ys: Acc<Vector<f64>>| {
            let step = |s: Acc<Scalar<f64>>, x: Acc<Scalar<f64>>| (zip_with(|s, x| s * 0.5 + x, s, x), s);
            let sums = map_accum_l(step, unit(lit::<f64>(0.0)), xs).1;
            generate((5i64, 7i64), |(i, j): (Exp<i64>, Exp<i64>)| sums.at(j + the(list_at)) + ys.at(i + the(at)))
        });
    let arguments =
        (-1..4).flat_map(|at| (-1..4).map(move |list_at| (number(at), number(list_at), vector(8), vector(6))));
    check(&program, arguments);
}

#[test]
fn nothing_is_read_for_no_elements() {
    let program = afun(|n: Acc<Scalar<i64>>, shift: Acc<Scalar<i64>>, xs: Acc<Vector<f64>>| {
        generate(the(n), |i: Exp<i64>| xs.at(i + the(shift)))
    });
    let native = compile(&program).expect("a program");
    for shift in NUMBERS {
        let found = native.run(&(number(0), number(shift), vector(0))).expect("no element");
        assert!(found.to_vec().is_empty());
    }
}

/// With these extents, the last index is the first one again, since integers wrap.
#[test]
fn extents_for_which_indices_wrap() {
    type N = Acc<Scalar<i64>>;
    let read = afun(|n: N, start: N, xs: Acc<Vector<f64>>| {
        sum(generate(the(n), |i: Exp<i64>| xs.at(i * 4096i64 + the(start))))
    });
    let added = afun(|n: N, start: N, xs: Acc<Vector<f64>>| {
        let numbers = generate(the(n), |i: Exp<i64>| i.cast::<f64>());
        permute(|x, y| x + y, xs, |i: Exp<i64>| (true, i * 4096i64 + the(start)), numbers)
    });
    let arguments = |extents: [i64; 2]| extents.map(|n| (number(n), number(1), vector(4096)));
    check(&read, arguments([1, 2]));
    check(&added, arguments([1, 2]));
    for x in [1 << 52, 1 << 60].into_iter().flat_map(|n| arguments([n + 1, i64::MAX - n])) {
        assert!(matches!(run(&read, (&x.0, &x.1, &x.2)), Err(Error::Memory { .. })), "{x:?}");
        assert!(matches!(run(&added, (&x.0, &x.1, &x.2)), Err(Error::Memory { .. })), "{x:?}");
    }
}

/// More elements than an array can have, whose checks fail late or not at all, are an error at once.
#[test]
fn too_many_elements() {
    let program = afun(|n: Acc<Scalar<i64>>, start: Acc<Scalar<i64>>, xs: Acc<Vector<f64>>| {
        generate((the(n), the(n)), |(i, _): (Exp<i64>, Exp<i64>)| xs.at(i + the(start)))
    });
    let native = compile_on(accel::backend_named("native").unwrap(), &program).expect("a program");
    for start in [0, -1] {
        let found = native.run(&(number(1 << 40), number(start), vector(1000)));
        assert!(matches!(found, Err(Error::Memory { .. })), "{found:?}");
    }
    // The search for the first failure leaves out the other index.
    let found = native.run(&(number(1 << 29), number(0), vector(1000)));
    assert!(matches!(found, Err(Error::OutOfBounds { ref index, .. }) if index[..] == [1000]), "{found:?}");
}

/// A loop whose statements read the row of a step.
#[test]
fn rows_of_a_loop() {
    let program = afun(|steps: Acc<Scalar<i64>>, xs: Acc<Matrix<f64>>| {
        let m = xs.shape().1;
        let step = |(t, total): (Acc<Scalar<i64>>, Acc<Vector<f64>>)| {
            let row = generate(m, |j| xs.at((the(t), j)) * 2.0);
            (map(|t| t + 1i64, t), zip_with(|x, y| x + y, total, row))
        };
        let start = (unit(lit::<i64>(0.0)), fill(m, lit::<f64>(0.0)));
        awhile(move |(t, _): (Acc<Scalar<i64>>, Acc<Vector<f64>>)| the(t).lt(the(steps)), step, start).1
    });
    check(&program, (0..9).map(|steps| (number(steps), matrix(6, 40))));
}

/// Blocks that a step of a loop replaces or adds, at places that are numbers in memory.
#[test]
fn parts_of_a_matrix_that_change() {
    type M = Acc<Matrix<f64>>;
    for adds in [false, true] {
        let program = afun(move |steps: Acc<Scalar<i64>>, xs: M, ys: M| {
            let (n, m) = ys.shape();
            let step = |t: Exp<i64>, xs: M| match adds {
                true => permute(|x, y| x + y, xs, |(i, j): (Exp<i64>, Exp<i64>)| (true, (i + t, j * 2i64 + t)), ys),
                false => set_block(xs, (t, t), generate((n, m), |(i, j)| ys.at((i, j)) + xs.at((t, j)) * 0.5)),
            };
            aiterate_indexed(the(steps), step, xs)
        });
        for [n, m] in [[1, 1], [3, 5], [17, 33]] {
            check(&program, (0..9).map(|steps| (number(steps), matrix(n + 4, 2 * m + 4), matrix(n, m))));
        }
        check(&program, [(number(3), matrix(4, 9), matrix(0, 3)), (number(3), matrix(2, 9), matrix(2, 3))]);
    }
}

/// Reads of neighbours in the branches of a decision about the index.
#[test]
fn neighbours_where_there_are_some() {
    let program = afun(|at: Acc<Scalar<i64>>, xs: Acc<Vector<f64>>, ys: Acc<Vector<f64>>| {
        let t = the(at);
        imap(
            |i, y| {
                let before = cond(i.eq(0), 0.0, xs.at(i + t - 1i64));
                let behind = cond(i.lt(t), xs.at(i * 2i64), cond(i.ge(5).and(i.le(7)), xs.at(i + t), y));
                before + behind * 2.0
            },
            ys,
        )
    });
    check(&program, NUMBERS.into_iter().chain(11..30).map(|at| (number(at), vector(20), vector(10))));
    check(&program, (0..9).map(|at| (number(at), vector(10), vector(4))));
}
