//! Linear algebra: what defines each function, on both backends and for batches; derivatives of first and second order; and arguments without the
//! required property.

use accel::interp::Interpreter;
use accel::linalg::*;
use accel::prelude::*;

type M = Acc<Matrix<f64>>;
type S = Acc<Scalar<f64>>;

/// Numbers between -1/2 and 1/2, always the same.
fn numbers(n: usize) -> Vec<f64> {
    let mut state = 7u64;
    let next = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1u64 << 24) as f64 - 0.5
    };
    (0..n).map(next).collect()
}

fn matrix(n: usize, m: usize) -> Matrix<f64> {
    Array::matrix(n, m, numbers(n * m)).expect("as many numbers")
}

/// A positive definite matrix.
fn definite(a: M) -> M {
    matmul(a, transpose(a)) + eye::<f64>(a.shape().0) * 0.5
}

/// The largest number, in absolute value.
fn size(a: M) -> S {
    fold_all(|x: Exp<f64>, y| x.max(y), 0.0, a.abs())
}

/// A sum of all elements with factors that differ.
fn weighted(a: M) -> S {
    let m = a.shape().1;
    sum_all(generate(a.shape(), |(i, k): (Exp<i64>, Exp<i64>)| {
        a.at((i, k)) * ((i * m + k).cast::<f64>() * 0.7 + 0.3).sin()
    }))
}

/// Checks that a number that a program computes of an n × m matrix is zero on both backends.
#[track_caller]
fn zero(shapes: &[(usize, usize)], f: impl Fn(M) -> S + Copy) {
    let program = afun(f);
    let (native, meaning) = (compile(&program).unwrap(), compile_on(&Interpreter, &program).unwrap());
    for (n, m) in shapes {
        let a = matrix(*n, *m);
        for (name, found) in [("native", native.run(&a)), ("interpreter", meaning.run(&a))] {
            let found = found.unwrap_or_else(|e| panic!("{name}, {n} × {m}: {e}")).item();
            assert!(found <= 1e-13, "{name}, {n} × {m}: {found}");
        }
    }
}

const SQUARES: [(usize, usize); 5] = [(0, 0), (1, 1), (2, 2), (5, 5), (12, 12)];
const SHAPES: [(usize, usize); 7] = [(0, 0), (1, 1), (3, 0), (4, 4), (7, 3), (3, 7), (12, 9)];

/// How far the columns of a matrix are from orthonormal ones.
fn skew(q: M) -> S {
    size(matmul(transpose(q), q) - eye::<f64>(q.shape().1))
}

#[test]
fn factors_multiply_to_the_matrix() {
    zero(&SQUARES, |a| {
        let (a, l) = (definite(a), cholesky(definite(a)));
        size(matmul(l, transpose(l)) - a) + size(l - tril(l))
    });
    zero(&SHAPES, |a| {
        let (q, r) = qr(a);
        size(matmul(q, r) - a) + skew(q) + size(r - triu(r))
    });
    zero(&SQUARES, |a| {
        let a = definite(a);
        let (w, v) = eigh(a);
        let falls = fold_all(|x: Exp<f64>, y| x.max(y), 0.0, -diff(w));
        size(matmul(v, matmul(diag(w), transpose(v))) - a) + skew(v) + falls
    });
    zero(&SHAPES, |a| {
        let (u, s, vt) = svd(a);
        let rises = fold_all(|x: Exp<f64>, y| x.max(y), 0.0, diff(s));
        size(matmul(u, matmul(diag(s), vt)) - a) + skew(u) + skew(transpose(vt)) + rises
    });
}

/// With the feature `linalg`, a library factorises these. Divided by 10 for the larger sums, the errors are those of small matrices.
#[test]
fn large_matrices_are_factorised() {
    zero(&[(40, 40)], |a| {
        let (a, l) = (definite(a), cholesky(definite(a)));
        (size(matmul(l, transpose(l)) - a) + size(l - tril(l))) * 0.1
    });
    zero(&[(40, 40), (45, 40), (40, 45)], |a| {
        let ((q, r), (u, s, vt)) = (qr(a), svd(a));
        let by_qr = size(matmul(q, r) - a) + skew(q) + size(r - triu(r));
        let rises = fold_all(|x: Exp<f64>, y| x.max(y), 0.0, diff(s));
        (by_qr + size(matmul(u, matmul(diag(s), vt)) - a) + skew(u) + skew(transpose(vt)) + rises) * 0.1
    });
    zero(&[(40, 40)], |a| {
        let (b, a) = (a.sin(), definite(a) + triu(a));
        let (w, v) = eigh(a);
        let lower = tril(a) + transpose(tril(a)) - diag(diagonal(a));
        let falls = fold_all(|x: Exp<f64>, y| x.max(y), 0.0, -diff(w));
        let by_values = size(matmul(v, matmul(diag(w), transpose(v))) - lower) + skew(v) + falls;
        let (sign, logarithm) = slogdet(a);
        let determinant = map(|s: Exp<f64>| (s - 1.0).abs(), sign) + (logarithm - sum(log_of_pivots(a))).abs();
        (size(matmul(a, solve(a, b)) - b) + by_values + determinant) * 0.1
    });
}

/// The logarithms of the pivots of elimination without exchanges, which a matrix with a large diagonal allows.
fn log_of_pivots(a: M) -> Acc<Vector<f64>> {
    let step = |j: Exp<i64>, a: M| {
        generate(a.shape(), |(i, k): (Exp<i64>, Exp<i64>)| {
            a.at((i, k)) - cond(i.gt(j), a.at((i, j)) / a.at((j, j)) * a.at((j, k)), 0.0)
        })
    };
    let n = a.shape().0;
    diagonal(aiterate_indexed(n, step, a)).abs().ln()
}

#[test]
fn matrices_of_low_rank_have_orthonormal_factors() {
    // The last columns are sums of others.
    let low = |a: M| {
        generate(a.shape(), move |(i, k): (Exp<i64>, Exp<i64>)| {
            cond(k.ge(2), a.at((i, 0)) * 2.0 - a.at((i, 1)), a.at((i, k)))
        })
    };
    zero(&[(5, 4), (4, 4), (3, 5)], move |a| {
        let a = low(a);
        let (u, s, vt) = svd(a);
        let p = pinv(a);
        let penrose = size(matmul(a, matmul(p, a)) - a) + size(matmul(p, matmul(a, p)) - p);
        size(matmul(u, matmul(diag(s), vt)) - a) + skew(u) + skew(transpose(vt)) + penrose
    });
    zero(&[(4, 4)], |a| {
        let (q, r) = qr(a * 0.0);
        size(matmul(q, r)) + skew(q)
    });
}

#[test]
fn solutions_satisfy_their_equations() {
    zero(&SQUARES, |a| {
        let b = a.sin();
        let (a, l) = (a + eye::<f64>(a.shape().0), definite(a));
        let lower = matmul(tril(l), solve_triangular(Triangle::Lower, l, b)) - b;
        let upper = matmul(triu(l), solve_triangular(Triangle::Upper, l, b)) - b;
        let by_factor = matmul(l, cho_solve(cholesky(l), b)) - b;
        size(matmul(a, solve(a, b)) - b) + size(lower) + size(upper) + size(by_factor)
    });
    zero(&SQUARES, |a| {
        let a = a + eye::<f64>(a.shape().0);
        let (sign, logarithm) = slogdet(a);
        let one = matmul(a, inv(a)) - eye::<f64>(a.shape().0);
        size(one) + (sign * logarithm.exp() - det(a)).abs()
    });
    // The residual of a fit is orthogonal to the columns.
    zero(&[(7, 3), (4, 4), (5, 1)], |a| {
        let b = sum(a.exp());
        size(outer(matvec(transpose(a), matvec(a, lstsq(a, b)) - b), fill(1, 1.0)))
    });
    zero(&[(4, 1), (4, 2), (4, 9)], |a| {
        let row = |k: i64| slice((k, All), a);
        let (lower, diagonal, upper, b) = (row(0), row(1) * 0.2 + 3.0, row(2), row(3));
        let n = b.len();
        let full = generate((n, n), |(i, k): (Exp<i64>, Exp<i64>)| {
            let next = cond(k.eq(i + 1), upper.at(i), 0.0);
            cond(k.eq(i), diagonal.at(i), cond((k + 1).eq(i), lower.at(i), next))
        });
        size(outer(matvec(full, solve_tridiagonal(lower, diagonal, upper, b)) - b, fill(1, 1.0)))
    });
}

#[test]
fn functions_of_matrices() {
    zero(&SQUARES, |a| size(matmul(expm(a * 9.0), expm(a * -9.0)) - eye::<f64>(a.shape().0)) * 1e-6);
    zero(&SQUARES, |a| {
        let a = a + eye::<f64>(a.shape().0);
        let five = matmul(matmul(matmul(a, a), matmul(a, a)), a);
        let none = matmul(matrix_power(a, 3), matrix_power(a, -3)) - matrix_power(a, 0);
        size(matrix_power(a, 5) - five) + size(none)
    });
    // By SciPy 1.17.
    let a = Array::matrix(2, 2, vec![1.0, 2.0, -3.0, 7.0]).unwrap();
    let found = run(afun(|a: M| expm(a)), &a).unwrap();
    let expected = [-99.76077065, 172.59420468, -258.89130701, 418.02184338];
    assert!(found.as_slice().iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-7), "{found:?}");
}

/// All functions of square matrices, each with its results side by side in one row for each matrix.
macro_rules! all_functions {
    ($a:expr, $rows:expr) => {{
        let (a, rows) = ($a, $rows);
        let s = a * 0.1 + expm(a - a) * 2.0;
        let (w, v) = eigh(s);
        let (q, r) = qr(a);
        let (u, sigma, vt) = svd(a);
        let (sign, logarithm) = slogdet(a);
        let x = diagonal(a);
        let matrices = [
            cholesky(s),
            q,
            r,
            v,
            u,
            vt,
            inv(s),
            pinv(a),
            expm(a),
            matrix_power(a, 3),
            solve(s, a),
            diag(x),
            tril(a),
            triu(a),
            cho_solve(cholesky(s), a),
            solve_triangular(Triangle::Upper, s, a),
            lstsq(s, a),
        ];
        let vectors =
            [w, eigvalsh(s), sigma, solve(s, x), lstsq(s, x), cho_solve(s, x), solve_tridiagonal(x, x + 3.0, x, x)];
        let numbers = [sign, logarithm, det(a), trace(a)];
        let parts = matrices.map(|m| reshape((rows, size_of(m) / rows), m)).into_iter();
        let parts = parts.chain(vectors.map(|m| reshape((rows, size_of(m) / rows), m)));
        let parts: Vec<M> = parts.chain(numbers.map(|m| reshape((rows, 1), m))).collect();
        parts.into_iter().reduce(concat).expect("some parts")
    }};
}

fn size_of<Sh: Shape>(a: Acc<Array<Sh, f64>>) -> Exp<i64> {
    accel::prelude::size(a)
}

/// Each matrix of a batch is treated as if it were alone, whatever the dimensions of the batch.
#[test]
fn batches() {
    let alone = compile(afun(|a: M| all_functions!(a, 1i64.to_exp()))).unwrap();
    let list = compile(afun(|a: Acc<Array<Dim3, f64>>| all_functions!(a, a.shape().0))).unwrap();
    for n in [1, 3] {
        let elements = numbers(6 * n * n);
        let each =
            elements.chunks(n * n).map(|a| alone.run(&Array::matrix(n, n, a.to_vec()).unwrap()).unwrap().to_vec());
        let expected: Vec<f64> = each.flatten().collect();
        let found = list.run(&Array::from_vec([6, n, n], elements.clone()).unwrap()).unwrap();
        let worst = expected.iter().zip(found.as_slice()).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!(found.to_vec().len() == expected.len() && worst < 1e-10, "n = {n}: {worst}");
    }
    // Of any rank.
    let a = Array::from_vec([1, 2, 1, 1], vec![4.0, 9.0]).unwrap();
    let grid = afun(|a: Acc<Array<Dim4, f64>>| (cholesky(a), det(a), solve(a, diagonal(a) * 2.0)));
    let (l, d, x) = run(&grid, &a).unwrap();
    assert_eq!((l.to_vec(), d.to_vec(), x.to_vec()), (vec![2.0, 3.0], vec![4.0, 9.0], vec![2.0, 2.0]));
    let (l, d, x) = run(&grid, &Array::from_vec([0, 2, 3, 3], vec![]).unwrap()).unwrap();
    assert_eq!((&l.shape()[..], &d.shape()[..], &x.shape()[..]), (&[0, 2, 3, 3][..], &[0, 2][..], &[0, 2, 3][..]));
}

/// A long system is solved in parts, and sums of powers of its diagonal overflow.
#[test]
fn a_long_tridiagonal_system() {
    fn check<T: Floating>(backend: &str, n: usize, sizes: [T; 2], largest: impl Fn(T) -> f64) {
        let program = afun(|d: Acc<Scalar<T>>, n: Acc<Scalar<i64>>| {
            let number = |i: Exp<i64>, k: i64| (i * 7 + k).cast::<T>().sin();
            let of = |k: i64| generate(the(n), move |i: Exp<i64>| number(i, k));
            let (lower, upper, x) = (of(1), of(2), of(3));
            let diagonal = generate(the(n), |i: Exp<i64>| (number(i, 4) + lit::<T>(3.0)) * the(d));
            let before = generate(the(n), |i: Exp<i64>| cond(i.gt(0), x.at((i - 1).max(0)), lit::<T>(0.0)));
            let after =
                generate(the(n), |i: Exp<i64>| cond(i.lt(the(n) - 1), x.at((i + 1).min(the(n) - 1)), lit::<T>(0.0)));
            let b = lower * before + diagonal * x + upper * after;
            maximum(map(|e: Exp<T>| e.abs(), solve_tridiagonal(lower, diagonal, upper, b) - x))
        });
        for d in sizes {
            let arguments = (&Array::scalar(d), &Array::scalar(n as i64));
            let worst = match backend {
                "native" => run(&program, arguments),
                _ => run_with(&Interpreter, &program, arguments),
            };
            let worst = largest(worst.unwrap().item());
            assert!(worst < 1.0, "{backend}, {n} rows: {worst}");
        }
    }
    for (backend, n) in [("native", 100_000), ("native", 1), ("interpreter", 3_000)] {
        check(backend, n, [1.0, 1e100], |x: f64| x / 1e-13);
        check(backend, n, [1.0, 1e10], |x: f32| f64::from(x) / 1e-5);
    }
}

/// First and second derivatives agree with differences, and the first ones in both modes.
#[track_caller]
fn derivatives(n: usize, m: usize, f: impl Fn(M) -> S + Copy) {
    let a = matrix(n, m);
    let program = afun(f);
    let first = check_grad(&program, &a).unwrap();
    assert!(first.agrees(), "{first}");
    let second = check_grad(afun(move |a: M| weighted(call(grad(afun(f)), a))), &a).unwrap();
    assert!(second.agrees(), "{second}");
    let both = afun(move |a: M| {
        let direction = a.cos();
        let (_, forward) = call(jvp(afun(f)), (a, direction));
        let reverse = call(grad(afun(f)), a);
        zip_with(|x: Exp<f64>, y: Exp<f64>| (x - y).abs() / (x.abs() + 1.0), forward, sum_all(reverse * direction))
    });
    let difference = run(&both, &a).unwrap().item();
    assert!(difference < 1e-10, "forward and reverse differ by {difference}");
}

#[test]
fn derivatives_of_factors() {
    derivatives(4, 4, |a| weighted(cholesky(definite(a))));
    derivatives(5, 3, |a| {
        let (q, r) = qr(a);
        weighted(q) + weighted(r)
    });
    derivatives(4, 4, |a| {
        let (w, v) = eigh(definite(a));
        weighted(v * v) + sum(w.exp())
    });
    for (n, m) in [(5, 3), (3, 4)] {
        derivatives(n, m, |a| {
            let (u, s, vt) = svd(a);
            weighted(u * u) + weighted(vt * vt) + sum(s.exp())
        });
    }
}

#[test]
fn derivatives_of_solutions() {
    derivatives(3, 3, |a| weighted(solve_triangular(Triangle::Lower, definite(a), a)));
    derivatives(3, 3, |a| weighted(solve_triangular(Triangle::Upper, definite(a), a)));
    derivatives(3, 3, |a| weighted(cho_solve(cholesky(definite(a)), a)));
    derivatives(4, 4, |a| weighted(solve(a, transpose(a) * a)));
    derivatives(3, 3, |a| weighted(inv(a)));
    derivatives(4, 4, |a| slogdet(a).1);
    derivatives(4, 4, |a| det(a));
    derivatives(5, 3, |a| sum(lstsq(a, sum(a.exp())).powi(2)));
    derivatives(4, 3, |a| weighted(pinv(a)));
    derivatives(4, 5, |a| {
        let row = |k: i64| slice((k, All), a);
        sum(solve_tridiagonal(row(0), row(1) * 0.2 + 3.0, row(2), row(3)).exp())
    });
}

#[test]
fn derivatives_of_functions_of_matrices() {
    derivatives(3, 3, |a| weighted(expm(a * 8.0)));
    derivatives(3, 3, |a| weighted(matrix_power(a, -3)));
    derivatives(3, 2, |a| weighted(kron(a, triu(a))) + trace(a) + weighted(diag(diagonal(a))));
}

/// In loops, in branches and in batches, before and after differentiation.
#[test]
fn derivatives_inside() {
    derivatives(3, 3, |a| weighted(aiterate(3, |x: M| solve(definite(a), x) + a, a)));
    derivatives(3, 3, |a| weighted(acond(a.at((0, 0)).gt(100.0), a, inv(a))));
    derivatives(3, 3, |a| {
        let list =
            generate((4, 3, 3), |(k, i, j): (Exp<i64>, Exp<i64>, Exp<i64>)| a.at((i, j)) * (k + 1).cast::<f64>());
        let list = list + expm(list) * 2.0;
        let gradients = vmap(|a: M| call(grad(afun(|a: M| slogdet(definite(a)).1)), a), list);
        sum_all(inv(list)) + sum_all(gradients) + sum(det(list))
    });
}

/// Equal eigenvalues: the derivative of what does not depend on the choice of eigenvectors is right.
#[test]
fn equal_eigenvalues() {
    let program = afun(|a: M| sum(eigvalsh(a).exp()));
    let a = Array::matrix(3, 3, vec![2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]).unwrap();
    let found = run(grad(&program), &a).unwrap();
    let expected = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0].map(|x: f64| x * 2.0f64.exp());
    assert!(found.as_slice().iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-12), "{found:?}");
}

/// A matrix without the required property gives no number, and no panic; one without elements is none of these.
#[test]
fn arguments_without_the_property() {
    let nan = |f: fn(M) -> S, a: &[f64]| {
        let a = Array::matrix(2, 2, a.to_vec()).unwrap();
        for found in [run(afun(f), &a), run_on(&Interpreter, afun(f), &a)] {
            let found = found.unwrap().item();
            assert!(!found.is_finite(), "{a:?}: {found}");
        }
    };
    for a in [[1.0, 2.0, 2.0, 1.0], [-1.0, 0.0, 0.0, 1.0], [f64::NAN, 0.0, 0.0, 1.0], [f64::INFINITY, 0.0, 0.0, 1.0]] {
        nan(|a| sum_all(cholesky(a)), &a);
    }
    for a in [[1.0, 2.0, 2.0, 4.0], [0.0; 4], [f64::NAN, 1.0, 1.0, 1.0]] {
        nan(|a| sum_all(inv(a)), &a);
        nan(|a| sum_all(solve(a, a + eye::<f64>(2))), &a);
    }
    nan(|a| slogdet(a).1, &[1.0, 2.0, 2.0, 4.0]);
    nan(|a| sum(eigvalsh(a)), &[f64::NAN, 1.0, 1.0, 1.0]);
    nan(|a| sum(svd(a).1), &[1.0, f64::NAN, 1.0, 1.0]);
    let none = Array::matrix(0, 0, vec![]).unwrap();
    let (sign, logarithm) = run(afun(|a: M| slogdet(a)), &none).unwrap();
    assert_eq!((sign.item(), logarithm.item(), run(afun(|a: M| det(a)), &none).unwrap().item()), (1.0, 0.0, 1.0));
    let da = run(grad(afun(|a: M| det(a) + sum_all(cholesky(a)) + sum(eigvalsh(a)))), &none).unwrap();
    assert!(da.to_vec().is_empty());
}

#[test]
fn other_shapes_are_errors_with_the_line_of_the_call() {
    let check = |f: fn(M) -> S, n: usize, m: usize, expected: &str| {
        for found in [run(afun(f), &matrix(n, m)), run_on(&Interpreter, afun(f), &matrix(n, m))] {
            let found = found.expect_err("another shape").to_string();
            assert!(found.contains("linear_algebra.rs") && found.contains(expected), "{found}");
        }
    };
    let square = "expected square matrices, found shape [2, 3]";
    check(|a| sum_all(cholesky(a)), 2, 3, square);
    check(|a| sum_all(inv(a)), 2, 3, square);
    check(|a| det(a), 2, 3, square);
    check(|a| sum(eigvalsh(a)), 2, 3, square);
    check(|a| sum_all(expm(a)), 2, 3, square);
    check(|a| sum_all(matrix_power(a, 2)), 2, 3, square);
    check(|a| sum_all(solve(a, a)), 2, 3, square);
    check(|a| sum_all(solve(a, reshape((1, 4), a))), 2, 2, "[2, 2] and [1, 4]");
    check(|a| sum(lstsq(a, fill(2, 1.0))), 3, 2, "[3, 2] and [2, 1]");
    check(
        |a| sum(solve_tridiagonal(slice((0, All), a), fill(2, 1.0), fill(2, 1.0), fill(2, 1.0))),
        1,
        3,
        "[2] and [3]",
    );
}

/// Single precision is a precision of its own.
#[test]
fn single_precision() {
    let program = afun(|a: Acc<Matrix<f32>>| {
        let s = matmul(a, transpose(a)) + eye::<f32>(a.shape().0);
        let ((w, v), l) = (eigh(s), cholesky(s));
        let (u, sigma, vt) = svd(a);
        let errors = [
            matmul(v, matmul(diag(w), transpose(v))) - s,
            matmul(l, transpose(l)) - s,
            matmul(u, matmul(diag(sigma), vt)) - a,
            matmul(s, solve(s, a)) - a,
        ];
        fold_all(|x: Exp<f32>, y| x.max(y), 0.0, stack(errors).abs())
    });
    let a = Array::matrix(6, 6, numbers(36).into_iter().map(|x| x as f32).collect()).unwrap();
    let error = run(&program, &a).unwrap().item();
    assert!(error < 3e-6, "{error}");
}

/// The bands of a positive definite matrix with w diagonals below its main one, which depend on x.
fn bands(w: i64, x: Acc<Vector<f64>>) -> M {
    generate((w + 1, x.len()), |(k, i): (Exp<i64>, Exp<i64>)| {
        cond(k.eq(0), x.at(i).abs() * 0.3 + (w + 2) as f64, (x.at(i) + k.cast::<f64>()).sin() * 0.7)
    })
}

/// The matrix with these bands.
fn banded(bands: M) -> M {
    let (rows, n) = bands.shape();
    generate((n, n), |(i, j): (Exp<i64>, Exp<i64>)| {
        let (k, column) = ((i - j).abs(), i.min(j));
        cond(k.lt(rows), bands.at((k.min(rows - 1), column)), 0.0)
    })
}

#[test]
fn banded_factors_are_those_of_the_matrix() {
    for w in [0, 1, 2, 4] {
        let factor = afun(|x: Acc<Vector<f64>>| {
            let bands = bands(w, x);
            let (n, dense) = (x.len(), cholesky(banded(bands)));
            let of_dense = generate((w + 1, n), |(k, i): (Exp<i64>, Exp<i64>)| {
                cond((i + k).lt(n), dense.at(((i + k).min(n - 1), i)), 0.0)
            });
            let b = x.cos();
            let solved = cho_solve_banded(cholesky_banded(bands), b) - solve(banded(bands), b);
            (size(cholesky_banded(bands) - of_dense), fold_all(|x: Exp<f64>, y| x.max(y), 0.0, solved.abs()))
        });
        for n in [0, 1, 2, 3, 5, 11] {
            let x = Array::vector(numbers(n));
            for found in [run(&factor, &x), run_on(&Interpreter, &factor, &x)] {
                let (factor, solution) = found.unwrap();
                assert!(factor.item() <= 1e-14 && solution.item() <= 1e-13, "{w}, {n}: {factor:?}, {solution:?}");
            }
        }
    }
}

#[test]
fn banded_systems_have_derivatives() {
    for w in [1, 2] {
        let f = move |x: Acc<Vector<f64>>| sum(cho_solve_banded(cholesky_banded(bands(w, x)), x.cos()).sin());
        let x = Array::vector(numbers(6));
        let check = check_grad(afun(f), &x).unwrap();
        assert!(check.agrees(), "{check}");
        let twice = afun(move |x: Acc<Vector<f64>>| sum(call(grad(afun(f)), x).sin()));
        let check = check_grad(&twice, &x).unwrap();
        assert!(check.agrees(), "{check}");
    }
}

#[test]
fn forms_that_try_fail() {
    let a = |x: f64| Array::matrix(2, 2, vec![x, 1.0, 1.0, x]).unwrap();
    let (factor, inverse) = (afun(|a: M| try_cholesky(a)), afun(|a: M| try_inv(a)));
    let solution = afun(|a: M| try_solve(a, generate(2, |i: Exp<i64>| i.cast::<f64>())));
    assert_eq!(run(&factor, &a(2.0)).unwrap(), run(afun(|a: M| cholesky(a)), &a(2.0)).unwrap());
    let fails = |found: Result<(), Error>, why: &str| {
        let text = found.unwrap_err().to_string();
        assert!(text.contains(file!()) && text.ends_with(why), "{text}");
    };
    fails(run(&factor, &a(0.5)).map(|_| ()), "a matrix is not positive definite");
    fails(run(&inverse, &a(1.0)).map(|_| ()), "a matrix is singular, or not finite");
    fails(run(&solution, &a(f64::NAN)).map(|_| ()), "a matrix is singular, or not finite");
    let f = |a: M| sum_all(try_inv(definite(a)).sin());
    let check = check_grad(afun(f), &matrix(3, 3)).unwrap();
    assert!(check.agrees(), "{check}");
}
