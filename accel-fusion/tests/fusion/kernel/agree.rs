//! Programs of the surface language: the evaluator of kernel programs agrees with the interpreter.

use accel_ad::{grad, jvp, value_and_grad, vjp};
use accel_core::backend::Backend;
use accel_core::interp::Interpreter;
use accel_core::prelude::*;
use accel_core::repr::ArrayTuple;
use accel_fusion::KernelEvaluator;
use accel_fusion::kernel::{evaluate, parse};
use accel_fusion::pipeline::lower;

/// Runs a program with both and returns the result, after checking that they agree, including bits and error messages.
fn agree<A: Arrays, R: Arrays>(f: &Afun<A, R>, inputs: impl Inputs<A>) -> Result<R, Error> {
    let program = f.program().unwrap();
    let argument = inputs.to_tuple();
    let expected = Interpreter.compile(program).unwrap().run(&argument);
    let lowered = lower(program).unwrap();
    let found = KernelEvaluator.compile(program).unwrap().run(&argument);
    match (&expected, &found) {
        (Ok(x), Ok(y)) => assert_eq!(format!("{x:?}"), format!("{y:?}"), "\n{lowered}"),
        (Err(x), Err(y)) => assert_eq!(x.to_string(), y.to_string(), "\n{lowered}"),
        _ => panic!("interpreter: {expected:?}\nkernel program: {found:?}\n{lowered}"),
    }
    // The program parsed from its own text agrees as well, except for source lines.
    let again = parse(&lowered.to_string()).unwrap_or_else(|e| panic!("{e}\n{lowered}"));
    assert_eq!(again.to_string(), without_comments(&lowered.to_string()));
    if let Ok(x) = &expected {
        let arrays = evaluate(&again, &argument).unwrap();
        assert_eq!(
            format!("{:?}", leaves(x)),
            format!("{:?}", arrays.into_iter().map(ArrayTuple::Array).collect::<Vec<_>>())
        );
    }
    R::from_tuple(expected?)
}

fn without_comments(text: &str) -> String {
    text.lines().map(|l| l.split(" // ").next().unwrap_or(l)).collect::<Vec<_>>().join("\n")
}

fn leaves(a: &ArrayTuple) -> Vec<ArrayTuple> {
    match a {
        ArrayTuple::Unit => vec![],
        ArrayTuple::Pair(p) => [leaves(&p.0), leaves(&p.1)].concat(),
        a => vec![a.clone()],
    }
}

fn run<M, F: ArrayFn<M>>(f: F, inputs: impl Inputs<F::Args>) -> F::Result {
    agree(&afun(f), inputs).unwrap_or_else(|e| panic!("{e}"))
}

fn vector<T: Elt>(xs: &[T]) -> Vector<T> {
    Array::vector(xs.to_vec())
}

/// 0.5, 1.5, … in rows.
fn matrix(rows: usize, columns: usize) -> Matrix<f64> {
    Array::matrix(rows, columns, (0..rows * columns).map(|i| i as f64 + 0.5).collect()).unwrap()
}

fn integers(rows: usize, columns: usize) -> Matrix<i64> {
    Array::matrix(rows, columns, (0..(rows * columns) as i64).collect()).unwrap()
}

#[test]
fn loops_over_elements() {
    let f = |a: Acc<Matrix<f64>>, v: Acc<Vector<f64>>| {
        let doubled = map(|x| x * 2.0 + 1.0, a);
        let sums = zip_with_min(|x, y| (x + y, x.lt(y)), doubled, transpose(a));
        let (rows, columns) = a.shape();
        let table = generate((columns, rows), |(i, j)| a.at((j, i)) * i.cast::<f64>());
        (sums, table, zip_with(|x, y| x / y, replicate((rows, All), v), a))
    };
    run(f, (&matrix(3, 2), &vector(&[1.0, -0.0])));
    run(f, (&matrix(0, 2), &vector(&[1.0, 2.0])));
    run(f, (&matrix(1, 1), &vector(&[f64::NAN])));
    let f = |xs: Acc<Vector<f64>>, n: Acc<Scalar<i64>>| {
        let n = the(n);
        (fill((), 7u8), enum_from_n((2, n), 1.5f32), iota(n), unit((n, n.gt(2))), imap(|i, x| x + i.cast::<f64>(), xs))
    };
    run(f, (&matrix_row(4), &Array::scalar(3)));
    run(|_: Acc<()>| use_(&integers(2, 2)), &());
}

fn matrix_row(n: usize) -> Vector<f64> {
    Array::vector((0..n).map(|i| i as f64 - 1.25).collect())
}

#[test]
fn reductions_and_scans() {
    let f = |m: Acc<Matrix<i64>>| {
        let rows = (sum(m), product(m), maximum(map(|x| x * x, m)), minimum(m));
        let whole = (sum_all(m), product_all(m), fold_all(|a, b| a * 3 + b, 10, m), fold1_all(|a, b| a * 3 + b, m));
        (rows, whole, fold(|a, b| a * 2 - b, 5, m), fold1(|a, b| a * 2 - b, m))
    };
    run(f, &integers(3, 4));
    run(f, &integers(1, 1));
    run(|m: Acc<Matrix<i64>>| (sum(m), product(m)), &integers(3, 0));
    run(|m: Acc<Matrix<i64>>| maximum(m), &integers(0, 0));

    let step = |a: Exp<i64>, b: Exp<i64>| a * 10 + b;
    let f = |m: Acc<Matrix<i64>>| {
        let m = map(|x| x + 1, m);
        let l = (scanl(step, 7, m), scanl1(step, m), scanl_ex(step, 7, m));
        (l, (scanr(step, 7, m), scanr1(step, m), scanr_ex(step, 7, m)))
    };
    for (rows, columns) in [(2, 3), (2, 0), (0, 2), (1, 1)] {
        run(f, &integers(rows, columns));
    }
    // Several columns: a maximum with its position.
    let best = |xs: Acc<Vector<f64>>| {
        let at = indexed(xs);
        let positions = map(|(ix, x)| (ix.index(), x), at);
        fold1(|(i, x), (j, y)| cond(x.lt(y), pair(j, y), pair(i, x)), positions)
    };
    assert_eq!(run(best, &vector(&[1.0, 9.0, 3.0, 9.0])).to_vec(), [(1, 9.0)]);
}

#[test]
fn moving_and_rearranging() {
    let f = |to: Acc<Vector<i64>>, defaults: Acc<Vector<f64>>, xs: Acc<Vector<f64>>| {
        let counts = permute(|new, old| new * 10.0 + old, defaults, |i| (to.at(i).ge(0), to.at(i)), xs);
        (scatter(to, defaults, xs), gather(to, defaults), counts)
    };
    run(f, (&vector(&[2, 0, 2]), &vector(&[0.0, 1.0, 2.0]), &vector(&[7.0, 8.0, 9.0])));
    let f = |m: Acc<Matrix<i64>>| {
        let (rows, columns) = m.shape();
        let some = (slice((1, All), m), slice((All, 2), m), slice((1, 2), m), replicate((All, 2, All), m));
        let moved = (take(2, m), skip(1, m), reverse(m), init(m), tail(m), concat(m, m));
        (some, moved, flatten(transpose(m)), reshape((columns, rows), map(|x| x * x, m)))
    };
    run(f, &integers(2, 3));
    let f = |a: Acc<Matrix<f64>>, b: Acc<Matrix<f64>>| (matmul(a, b), matvec(a, slice((All, 0), b)));
    run(f, (&matrix(2, 3), &matrix(3, 4)));
}

#[test]
fn choices_and_loops() {
    let collatz = |starts: Acc<Vector<i64>>| {
        let next = |n: Exp<i64>| cond((n % 2).eq(0), n / 2, n * 3 + 1);
        map(|start| while_(|(n, _)| n.gt(1), |(n, steps)| (next(n), steps + 1), (start, 0i64)).1, starts)
    };
    assert_eq!(run(collatz, &vector(&[1, 2, 3, 27])).to_vec(), [0, 1, 7, 111]);

    let doubled = |xs: Acc<Vector<f64>>, limit: Acc<Scalar<f64>>| {
        let (_, xs) = awhile(
            |(n, xs)| the(sum(xs)).lt(the(limit)).and(the(n).lt(100)),
            |(n, xs)| (map(|n| n + 1, n), map(|x| x * 2.0, xs)),
            (unit(0i64), xs),
        );
        acond(the(limit).gt(50.0), xs, reverse(xs))
    };
    let xs = vector(&[1.0, 2.0]);
    for limit in [-1.0, 10.0, 60.0] {
        run(doubled, (&xs, &Array::scalar(limit)));
    }
    // The components of the state can be exchanged. A branch that is not taken is not executed.
    let turned = |xs: Acc<Vector<f64>>, ys: Acc<Vector<f64>>| {
        let (n, x, y) =
            awhile(|(n, _, _)| the(n).lt(3), |(n, x, y)| (map(|n| n + 1, n), y, map(|x| -x, x)), (unit(0i64), xs, ys));
        let risky = map(|i| 10 / i, n);
        (x, y, acond(the(n).eq(0), risky, n))
    };
    run(turned, (&xs, &vector(&[5.0])));
    let safe = |xs: Acc<Vector<i64>>| map(|x| cond(x.ne(0), 10 / x, 0), xs);
    run(safe, &vector(&[0, 3]));
}

#[test]
fn errors_are_the_same() {
    fn fails<M, F: ArrayFn<M>>(f: F, inputs: impl Inputs<F::Args>, part: &str)
    where
        F::Result: std::fmt::Debug,
    {
        let e = agree(&afun(f), inputs).unwrap_err().to_string();
        assert!(e.contains(part) && e.contains("agree.rs"), "{e}");
    }
    let xs = vector(&[3, 0, 5]);
    fails(|xs: Acc<Vector<i64>>| map(|x| 6 / x, xs), &xs, "division by zero");
    fails(|xs: Acc<Vector<i64>>| map(|x| xs.at(x), xs), &xs, "index [3] is outside");
    fails(|xs: Acc<Vector<i64>>| generate((2, xs.at(1) - 1), |(i, j)| i + j), &xs, "extents that are not negative");
    fails(|xs: Acc<Vector<i64>>| generate((xs.at(0) + (1i64 << 40), 1i64 << 40), |(i, j)| i + j), &xs, "no memory");
    fails(|xs: Acc<Vector<i64>>| reshape((2, 2), xs), &xs, "a shape of 3 elements");
    fails(|xs: Acc<Vector<i64>>| maximum(take(0, xs)), &xs, "a non-empty innermost dimension");
    fails(|xs: Acc<Vector<i64>>| backpermute(2, |i| i + 2, xs), &xs, "index [3] is outside");
    let f = |xs: Acc<Vector<i64>>| permute(|a, b| a + b, xs, |i| (true, xs.at(i)), xs);
    fails(f, &xs, "index [3] is outside");
}

#[test]
fn gradients() {
    let xs = matrix_row(5);
    let f = afun(|xs: Acc<Vector<f64>>| sum(map(|x| x.sin() * x + cond(x.gt(0.0), x.exp(), x * 2.0), xs)));
    agree(&grad(&f), &xs).unwrap();
    agree(&value_and_grad(&f), &xs).unwrap();
    agree(&grad(&f), &vector(&[])).unwrap();
    for f in [
        afun(|xs: Acc<Vector<f64>>| product(xs)),
        afun(|xs: Acc<Vector<f64>>| maximum(map(|x| x * x, xs))),
        afun(|xs: Acc<Vector<f64>>| minimum(reverse(xs))),
        afun(|xs: Acc<Vector<f64>>| fold(|a, b| a * 0.5 + b * b, 1.0, xs)),
        afun(|xs: Acc<Vector<f64>>| dot(concat(xs, xs), gather(map(|i| i % 3, iota(10)), xs))),
        afun(|xs: Acc<Vector<f64>>| sum_all(generate((3, xs.len()), |(i, j)| xs.at(j) * xs.at(i)))),
        afun(|xs: Acc<Vector<f64>>| acond(xs.at(0).lt(0.0), sum(map(|x| x.cos(), xs)), product(xs))),
    ] {
        agree(&grad(&f), &xs).unwrap();
        agree(&jvp(&f), (&xs, &matrix_row(5))).unwrap();
    }
    let f = afun(|a: Acc<Matrix<f64>>, b: Acc<Matrix<f64>>| matmul(a, transpose(b)));
    let (a, b) = (matrix(2, 3), matrix(4, 3));
    agree(&vjp(&f), ((&a, &b), &matrix(2, 4))).unwrap();
    let f = afun(|a: Acc<Matrix<f64>>, b: Acc<Matrix<f64>>| sum_all(map(|x| x.tanh(), matmul(a, transpose(b)))));
    agree(&grad(&f), (&a, &b)).unwrap();
    agree(&jvp(&grad(&f)), ((&a, &b), (&a, &b))).unwrap();
}
