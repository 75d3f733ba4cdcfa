//! Programs over matrices with rows of all lengths up to that of a few vectors, compared with the interpreter: stencils, rows
//! and columns that are added to matrices, convolutions and scans, and the adjoint of each. Vectors go across the ends of such
//! rows, so what happens at their ends, and in the first and the last row, differs from length to length.

use crate::support::agree::{CLOSE, compare};
use accel::interp::Interpreter;
use accel::prelude::*;
use accel::repr::{ArrayTuple, Column, RawArray};

/// Few rows, and more than a vector has elements.
const ROWS: [usize; 5] = [1, 2, 3, 17, 67];
/// The lengths of rows up to here are all tested.
const LONGEST: usize = 35;

type Compiled<A, R> = accel::afun::Compiled<A, R>;

/// Compares a program of matrices with rows of all lengths from `shortest` on. `inputs` makes the inputs for extents.
fn check<A: Arrays, R: Arrays>(program: &Afun<A, R>, shortest: usize, inputs: impl Fn(usize, usize) -> A) {
    let native: Compiled<A, R> = compile_on(accel::backend_named("native").unwrap(), program).expect("a program");
    let meaning: Compiled<A, R> = compile_on(&Interpreter, program).expect("a program");
    for m in shortest..=LONGEST {
        for n in ROWS.into_iter().filter(|n| *n >= shortest.min(3)) {
            let x = inputs(n, m);
            let [expected, found] = [&meaning, &native].map(|c| c.run(&x).map(|y| y.to_tuple()));
            assert!(expected.is_ok(), "{n} × {m}: {expected:?}");
            compare(&expected, &found, CLOSE).unwrap_or_else(|e| panic!("{n} × {m}: {e}"));
        }
    }
}

/// Compares a program of a matrix, and its adjoint.
fn check_both<R: Arrays + Clone + 'static>(
    shortest: usize,
    program: Afun<Matrix<f64>, R>,
    adjoint: Afun<(Matrix<f64>, R), Matrix<f64>>,
) {
    check(&program, shortest, |n, m| matrix(1, n, m));
    check(&adjoint, shortest, |n, m| {
        let x = matrix(1, n, m);
        let y = program.run_on(&Interpreter, &x).expect("a result");
        (x, R::from_tuple(other_numbers(&y.to_tuple())).expect("the same types"))
    });
}

/// Compares a program of a matrix, and its adjoint, for rows from this length on.
macro_rules! both {
    ($shortest:expr, $program:expr) => {{
        let program = afun($program);
        check_both($shortest, program.clone(), vjp(&program));
    }};
}

fn matrix(seed: u64, n: usize, m: usize) -> Matrix<f64> {
    Array::from_extents(&[n, m], numbers(seed, n * m)).expect("as many numbers as the extents say")
}

/// Pseudo-random numbers between -0.5 and 0.5.
fn numbers(seed: u64, n: usize) -> Vec<f64> {
    (0..n as u64)
        .map(|i| ((i + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f64 / (1 << 24) as f64 - 0.5)
        .collect()
}

fn other_numbers(tuple: &ArrayTuple) -> ArrayTuple {
    match tuple {
        ArrayTuple::Unit => ArrayTuple::Unit,
        ArrayTuple::Pair(p) => ArrayTuple::pair(other_numbers(&p.0), other_numbers(&p.1)),
        ArrayTuple::Array(a) => {
            let columns = a.columns.iter().map(|_| Column::from(numbers(9, a.size()))).collect();
            ArrayTuple::Array(RawArray { extents: a.extents.clone(), columns })
        }
    }
}

type M = Acc<Matrix<f64>>;
type I2 = (Exp<i64>, Exp<i64>);

#[test]
fn rows_and_columns_beside_matrices() {
    // The mean of a column, of a row, and both.
    both!(1, |x: M| {
        let (n, m) = x.shape();
        let row = generate(m, |j| x.at((0, j)) * 0.5);
        generate((n, m), |(i, j)| x.at((i, j)) - row.at(j))
    });
    both!(1, |x: M| {
        let (n, m) = x.shape();
        let column = generate(n, |i| x.at((i, 0)) * 0.5);
        generate((n, m), |(i, j)| (x.at((i, j)) - column.at(i)).exp())
    });
    both!(1, |x: M| {
        let (n, m) = x.shape();
        let outer = |(i, j): I2| x.at((i, 0)) * x.at((0, j)) + j.cast::<f64>() * i.cast::<f64>();
        generate((n, m), outer)
    });
}

#[test]
fn stencils_with_clamped_edges() {
    both!(1, |x: M| {
        let (n, m) = x.shape();
        generate((n, m), |(i, j)| {
            let (up, down) = (x.at(((i - 1).max(0), j)), x.at(((i + 1).min(n - 1), j)));
            let (left, right) = (x.at((i, (j - 1).max(0))), x.at((i, (j + 1).min(m - 1))));
            up + down + left + right - x.at((i, j)) * 4.0
        })
    });
    // Two columns at each end.
    both!(1, |x: M| {
        let (n, m) = x.shape();
        generate((n, m), |(i, j)| {
            let at = |d: i64| x.at((i, (j + d).max(0).min(m - 1)));
            at(-2) + at(-1) * 2.0 + at(0) * 3.0 + at(1) * 4.0 + at(2) * 5.0
        })
    });
    // More columns than have a version of their own.
    both!(1, |x: M| {
        let (n, m) = x.shape();
        generate((n, m), |(i, j)| x.at((i, (j - 3).max(0))) * x.at((i, (j + 3).min(m - 1))))
    });
}

#[test]
fn stencils_with_other_edges() {
    // Zeros outside, in one dimension and in two.
    both!(1, |x: M| {
        let (n, m) = x.shape();
        generate((n, m), |(i, j)| {
            let left = cond(j.gt(0), x.at((i, j - 1)), 0.0);
            let right = cond((j + 1).lt(m), x.at((i, j + 1)), 0.0);
            left * 2.0 - right + x.at((i, j))
        })
    });
    both!(1, |x: M| {
        let (n, m) = x.shape();
        generate((n, m), |(i, j)| {
            let corner = cond(i.gt(0) & j.gt(0), x.at((i - 1, j - 1)), 0.25);
            corner * x.at((i, j))
        })
    });
    // Around the end of a row, backwards, and what only one column has.
    both!(1, |x: M| {
        let (n, m) = x.shape();
        generate((n, m), |(i, j)| {
            let next = cond((j + 1).eq(m), 0i64, j + 1);
            x.at((i, next)) * x.at((i, m - 1 - j))
        })
    });
    both!(1, |x: M| {
        let (n, m) = x.shape();
        generate((n, m), |(i, j)| cond(j.eq(0), x.at((i, j)).exp(), x.at((i, j)) * x.at((0, 0))))
    });
    // Conditions on numbers.
    both!(1, |x: M| {
        let (n, m) = x.shape();
        generate((n, m), |(i, j)| {
            cond(x.at((i, j)).gt(0.0), x.at((n - 1 - i, j)) * 2.0, cond(j.gt(1), x.at((i, j - 1)), 1.0))
        })
    });
}

/// The few elements of an edge that stand elsewhere, too: their adjoints are gathers from some length on.
#[test]
fn stencils_on_rings_and_with_mirrored_edges() {
    fn around<B: Boundary<Dim2, f64> + Copy + 'static>(boundary: B) -> impl Fn(M) -> M {
        move |x| {
            let places = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)];
            let weight = |(i, j): (i64, i64)| 0.7 + 0.3 * i as f64 - 0.2 * j as f64;
            let sum = |x: Neighbours<'_, Dim2, f64, B>| {
                places.into_iter().fold(x.at((0, 0)).powi(2), |sum, at| sum + x.at(at) * weight(at))
            };
            stencil(boundary, sum, x)
        }
    }
    both!(1, around(Wrap));
    both!(1, around(Mirror));
    // Two columns at each end, and more than have places of their own.
    both!(1, |x: M| stencil(Wrap, |x: Neighbours<_, _, _>| x.at((0, -2)) * 2.0 + x.at((0, 2)) * x.at((0, 1)), x));
    both!(1, |x: M| stencil(Mirror, |x: Neighbours<_, _, _>| x.at((0, -5)) * 2.0 + x.at((0, 2)) * x.at((0, 1)), x));
}

#[test]
fn results_of_other_extents() {
    both!(2, |x: M| {
        let (n, m) = x.shape();
        generate((n, m - 1), |(i, j)| x.at((i, j + 1)) - x.at((i, j)))
    });
    both!(3, |x: M| {
        let (n, m) = x.shape();
        generate((n - 2, m - 2), |(i, j)| {
            let row = |k: i64| x.at((i + k, j)) + x.at((i + k, j + 1)) * 2.0 - x.at((i + k, j + 2));
            row(0) + row(1) * 3.0 - row(2)
        })
    });
    both!(1, |x: M| {
        let (n, m) = x.shape();
        generate((n, m + 2), |(i, j)| x.at((i, (j - 1).max(0).min(m - 1))))
    });
}

#[test]
fn weights_of_convolutions() {
    let program = afun(|x: M, w: M| {
        let (n, m) = x.shape();
        generate((n - 2, m - 2), |(i, j)| {
            let term = |k: i64, l: i64| x.at((i + k, j + l)) * w.at((k, l));
            let row = |k| term(k, 0) + term(k, 1) + term(k, 2);
            row(0) + row(1) + row(2)
        })
    });
    check(&program, 3, |n, m| (matrix(1, n, m), matrix(2, 3, 3)));
    let adjoint = vjp(&program);
    check(&adjoint, 3, |n, m| ((matrix(1, n, m), matrix(2, 3, 3)), matrix(3, n - 2, m - 2)));
}

#[test]
fn three_dimensions() {
    let cube = |n: usize, m: usize| -> Array<Dim3, f64> {
        Array::from_extents(&[n, m.min(5), m], numbers(1, n * m.min(5) * m))
            .expect("as many numbers as the extents say")
    };
    let minus = afun(|x: Acc<Array<Dim3, f64>>| {
        let (n, k, m) = x.shape();
        let first = generate((k, m), |(h, j)| x.at((0, h, j)));
        generate((n, k, m), |(i, h, j)| x.at((i, h, j)) - first.at((h, j)) * first.at((0, j)))
    });
    check(&minus, 1, cube);
    check(&vjp(&minus), 1, |n, m| (cube(n, m), cube(n, m)));
    let stencil = afun(|x: Acc<Array<Dim3, f64>>| {
        let (n, k, m) = x.shape();
        generate((n, k, m), |(i, h, j)| {
            let (up, down) = (x.at((i, (h - 1).max(0), j)), x.at((i, (h + 1).min(k - 1), j)));
            up - down + x.at((i, h, (j - 1).max(0))) + x.at(((i + 1).min(n - 1), h, j))
        })
    });
    check(&stencil, 1, cube);
    check(&vjp(&stencil), 1, |n, m| (cube(n, m), cube(n, m)));
}

#[test]
fn elements_of_other_types() {
    let integers = |n: usize, m: usize| -> Vec<i64> { numbers(4, n * m).iter().map(|x| (x * 100.0) as i64).collect() };
    let i64s = afun(|x: Acc<Matrix<i64>>| {
        let (n, m) = x.shape();
        generate((n, m), |(i, j)| (x.at((i, (j - 1).max(0))) + x.at((0, j)) * j, x.at((i, j)).gt(x.at((0, j)))))
    });
    check(&i64s, 1, |n, m| Array::from_extents(&[n, m], integers(n, m)).expect("as many numbers"));
    let i32s = afun(|x: Acc<Matrix<i32>>| {
        let (n, m) = x.shape();
        generate((n, m), |(i, j)| x.at((i, (j - 1).max(0))).max(x.at((i, (j + 1).min(m - 1)))) + x.at((0, j)))
    });
    let few = |n: usize, m: usize| integers(n, m).iter().map(|x| *x as i32).collect::<Vec<_>>();
    check(&i32s, 1, |n, m| Array::from_extents(&[n, m], few(n, m)).expect("as many numbers"));
    let bools = afun(|x: Acc<Matrix<bool>>| {
        let (n, m) = x.shape();
        generate((n, m), |(i, j)| x.at((i, (j + 1).min(m - 1))).ne(x.at((0, j))))
    });
    let truths = |n: usize, m: usize| integers(n, m).iter().map(|x| x % 3 == 0).collect::<Vec<_>>();
    check(&bools, 1, |n, m| Array::from_extents(&[n, m], truths(n, m)).expect("as many truth values"));
    let f32s = afun(|x: Acc<Matrix<f32>>| {
        let (n, m) = x.shape();
        generate((n, m), |(i, j)| x.at((i, (j - 1).max(0))) * x.at((0, j)) + x.at((i, j)).tanh())
    });
    let singles = |n: usize, m: usize| numbers(5, n * m).iter().map(|x| *x as f32).collect::<Vec<_>>();
    check(&f32s, 1, |n, m| Array::from_extents(&[n, m], singles(n, m)).expect("as many numbers"));
}

#[test]
fn scans() {
    both!(1, |x: M| scanl1(|a, b| a + b, x));
    both!(1, |x: M| scanr1(|a, b| a + b, x));
    both!(1, |x: M| scanl(|a, b| a + b, 0.5, x));
    both!(1, |x: M| scanr(|a, b| a + b, 0.5, x));
    both!(1, |x: M| scanl1(|a: Exp<f64>, b: Exp<f64>| a.max(b), x));
    let pairs = afun(|x: M| {
        scanl1(|(a, b): (Exp<f64>, Exp<f64>), (c, d): (Exp<f64>, Exp<f64>)| (a * c, b * c + d), map(|x| (x, x), x))
    });
    check(&pairs, 1, |n, m| matrix(1, n, m));
}

/// Arrays of a few numbers are on the stack, one after the other, and rows of 12 numbers are written in vectors of two widths: NOTE
/// [Arrays on the stack] of `accel-codegen`.
#[test]
fn rows_beside_bytes_on_the_stack() {
    for (n, m) in [3, 6, 7].into_iter().flat_map(|n| [1, 3, 6, 7, 10, 14].map(|m| (n, m))) {
        // Another number, another program: so each is compiled for these extents.
        let number = (n * 100 + m) as i64;
        let program = afun(move |bytes: Acc<Vector<u8>>, x: Acc<Matrix<i64>>| {
            (scanl1(|a, b| a & b, bytes), x.concat::<1>(x), unit(number))
        });
        let x = Array::from_extents(&[n, m], (0..(n * m) as i64).collect::<Vec<_>>()).expect("as many numbers");
        let bytes: Vec<u8> = (0..m as u8).collect();
        let native = accel::backend_named("native").unwrap();
        let expected = program.run_on(&Interpreter, (&bytes[..], &x)).expect("a result");
        // Where a stack begins differs from thread to thread.
        for _ in 0..4 {
            let found = std::thread::scope(|s| s.spawn(|| program.run_on(native, (&bytes[..], &x))).join());
            assert_eq!(found.expect("no panic").expect("a result"), expected, "{n} × {m}");
        }
    }
}
