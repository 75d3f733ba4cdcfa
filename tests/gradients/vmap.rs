//! `vmap`: the same as the loop over the rows, and its derivatives.

use crate::array_loops::matrix;
use crate::harness::{V, jacobian, smooth};
use crate::refined::{Any, Few, NonEmpty};
use accel::prelude::*;

type M = Acc<Matrix<f64>>;
type Number = Acc<Scalar<f64>>;

#[test]
fn functions_of_rows() {
    jacobian(Few(Any), |a: V| vmap(|x| map(|x| x * x.sin(), x), a));
    jacobian(Few(Any), |a: V| vmap(|row: V| sum(map(|x| x * x, row)), matrix(a)));
    jacobian(Few(Any), |a: V| vmap(|row: V| scanl(|x, y| x + y * y, 0.5, row), matrix(a)));
    jacobian(Few(Any), |a: V| vmap(reverse, matrix(a)));
    jacobian(Few(Any), |a: V| vmap(|row: V| zip_with(|x, y| x * y, row, reverse(row)), matrix(a)));
}

/// What the closure captures is shared: its adjoint is the sum over all rows.
#[test]
fn captured_arrays() {
    jacobian(Few(NonEmpty), |a: V| vmap(|x: Number| map(|y| y * the(x), a), a));
    jacobian(Few(NonEmpty), |a: V| {
        let total = sum(a);
        vmap(|row: V| map(|x| x * the(total) + a.at(0), row), matrix(a))
    });
    jacobian(Few(NonEmpty), |a: V| vmap(|row: V| matvec(matrix(a), row), matrix(a)));
}

#[test]
fn several_arguments_and_results() {
    jacobian(Few(Any), |a: V| {
        let (m, x) = (matrix(a), map(|x| x.cos(), a));
        let (sums, products) = vmap(|(row, x): (V, Number)| (sum(row), map(|y| y * the(x), row)), (m, x));
        zip_with(|x, y| x * y, sums, sum(products))
    });
}

/// Steps and conditions that differ from row to row.
#[test]
fn control_flow() {
    smooth(Few(Any), |a: V| {
        let halved = vmap(|x: Number| awhile(|x: Number| the(x).abs().gt(0.5), |x: Number| map(|x| x * 0.5, x), x), a);
        sum(map(|x| x * x, halved))
    });
    jacobian(Few(Any), |a: V| vmap(|row: V| acond(row.at(0).gt(0.0), map(|x| x * x, row), row), matrix(a)));
    jacobian(Few(Any), |a: V| {
        vmap(
            |row: V| map_accum_l(|s: Number, x: Number| (zip_with(|s, x| s * 0.5 + x * x, s, x), s), unit(1.0), row).1,
            matrix(a),
        )
    });
}

#[test]
fn nested() {
    jacobian(Few(Any), |a: V| vmap(|row: V| vmap(|x: Number| map(|x| x.exp(), x), row), matrix(a)));
    jacobian(Few(Any), |a: V| vmap(|x: Number| vmap(|y: Number| zip_with(|x, y| x * y + y, x, y), a), a));
}

/// Derivatives inside of `vmap`, and of it.
#[test]
fn with_derivatives() {
    let cubes = afun(|row: V| sum(map(|x| x * x * x, row)));
    jacobian(Few(Any), move |a: V| vmap(|row: V| call(grad(&cubes), row), matrix(a)));
    // The adjoint of an array that scalar loops read is an accumulator.
    let reads = afun(|row: V| sum(map(|x| iterate(2, |y| y * row.at(0) + x, x), row)));
    let of_row = grad(&reads);
    let adjoints = afun(move |m: M| vmap(|row: V| call(grad(&reads), row), m));
    let text = adjoints.to_string();
    // No function of arrays is left, such as the body of a loop.
    assert!(text.contains("accumulate") && !text.contains("\\a"), "{text}");
    let rows = [[1.0, 2.0], [3.0, -1.0], [-2.0, 5.0]];
    let expected = rows.map(|row| run(&of_row, &Array::vector(row.to_vec())).unwrap().to_vec()).concat();
    assert_eq!(run(&adjoints, &Array::matrix(3, 2, rows.concat()).unwrap()).unwrap().to_vec(), expected);
    jacobian(Few(Any), move |a: V| call(&adjoints, matrix(a)));
    let rows = afun(|row: V| map(|x| x * x, row)).vmap();
    jacobian(Few(Any), move |a: V| call(&rows, matrix(a)));
}

/// A record of results is listed as a tuple.
#[test]
fn records() {
    #[derive(Clone, Arrays)]
    struct Moments {
        mean: Scalar<f64>,
        all: Vector<f64>,
    }
    jacobian(Few(NonEmpty), |a: V| {
        let (means, all) = vmap(|row: V| MomentsAcc { mean: sum(row), all: row }, matrix(a));
        zip_with(|x, y| x * y, means, sum(all))
    });
    let programs = afun(|m: Acc<Moments>| {
        let m = m.unlift();
        map(|x| x * the(m.mean), m.all)
    })
    .vmap();
    let (means, all) = (Array::vector(vec![2.0, 3.0]), Array::matrix(2, 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap());
    assert_eq!(run(&programs, &(means, all)).unwrap().to_vec(), [2.0, 4.0, 9.0, 12.0]);
}

/// No row, one row, different numbers of rows.
#[test]
fn numbers_of_rows() {
    let squares = afun(|m: M| vmap(|row: V| map(|x| x * x, row), m));
    let of = |rows: usize| Array::matrix(rows, 3, vec![2.0; rows * 3]).unwrap();
    assert_eq!(run(&squares, &of(0)).unwrap().shape()[..], [0, 3]);
    assert_eq!(run(&squares, &of(1)).unwrap().to_vec(), [4.0; 3]);
    let both = afun(|a: M, b: V| vmap(|(row, x): (V, Number)| map(|y| y * the(x), row), (a, b)));
    let text = run(&both, (&of(2), &Array::vector(vec![1.0]))).unwrap_err().to_string();
    assert!(text.contains("`vmap`") && text.contains("vmap.rs"), "{text}");
    // Results of different shapes.
    let ragged = afun(|a: Acc<Vector<i64>>| vmap(|n: Acc<Scalar<i64>>| iota(the(n)), a));
    let text = run(&ragged, &Array::vector(vec![1i64, 2])).unwrap_err().to_string();
    assert!(text.contains("`vmap`") && text.contains("vmap.rs"), "{text}");
}

/// Operations of which each is the only reader of the one before. Code that was made twice for each of them would never end.
#[test]
fn long_chains() {
    let step = |x: Number| {
        move |y: Number, k: usize| match k % 2 {
            0 => zip_with(|x, y| x * 0.5 + y * 0.25, x, map(|y| y.sin(), y)),
            _ => map(|y| y * 0.5 + the(x), y),
        }
    };
    jacobian(Few(Any), move |a: V| vmap(|x: Number| (0..60).fold(x, step(x)), a));
    jacobian(Few(Any), |a: V| {
        vmap(|row: V| (0..60).fold(row, |y, _| zip_with(|x, y| x * 0.5 + y, row, reverse(y))), matrix(a))
    });
}
