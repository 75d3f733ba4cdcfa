//! Sparse Jacobians: the pattern is exact, the entries are those of the dense Jacobian, and a wrong pattern is an error.

use crate::harness::{Differentiated, V};
use accel::prelude::*;
use accel::{Coordinates, SparsePattern};

type Number = Acc<Scalar<f64>>;

/// Numbers of both signs, no two of which are equal.
fn numbers(n: usize, seed: usize) -> Vector<f64> {
    (0..n).map(|k| ((k * 37 + seed * 11) % 19) as f64 * 0.21 - 1.7 + k as f64 * 1e-3).collect()
}

/// Rows of two.
fn matrix(a: V) -> Acc<Matrix<f64>> {
    reshape((a.len() / 2, 2), a)
}

/// The pattern of `f` at one point, as rows. The sparse Jacobian with this pattern is the dense one, and is found by differences, at other points.
#[track_caller]
fn pattern<R: Coordinates + accel::Batched>(n: usize, f: impl FnOnce(V) -> Acc<R>) -> Vec<Vec<usize>> {
    let program = afun(f);
    let pattern = SparsePattern::of(&program, &numbers(n, 0)).unwrap();
    let rows = (0..pattern.rows()).map(|row| pattern.row(row).to_vec()).collect();
    let sparse = sparse_jacobian(&program, pattern).unwrap();
    let (dense, single) = (jacobian(&program), Differentiated::of(&program));
    for seed in 0..5 {
        let x = numbers(n, seed);
        let tuple = Arrays::to_tuple(&x);
        single.check(&tuple, &Default::default()).unwrap();
        let expected = Arrays::to_tuple(&run(&dense, &x).unwrap()).floats();
        close(&sparse.run(&x).unwrap().to_dense().unwrap().to_vec(), &expected);
    }
    rows
}

/// The products add in another order.
#[track_caller]
fn close(found: &[f64], expected: &[f64]) {
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs().max(1.0);
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().zip(expected).all(close), "{found:?}, expected {expected:?}");
}

/// All columns up to each row's own.
fn triangle(n: usize) -> Vec<Vec<usize>> {
    (0..n).map(|row| (0..=row).collect()).collect()
}

#[test]
fn elementwise_and_neighbours() {
    assert_eq!(pattern(3, |a| map(|x| x.sin() * x, a)), [[0], [1], [2]]);
    assert_eq!(pattern(4, |a| generate(a.len() - 1, |i| a.at(i) * a.at(i + 1))), [[0, 1], [1, 2], [2, 3]]);
    assert_eq!(pattern(3, reverse), [[2], [1], [0]]);
    assert_eq!(pattern(2, |a| concat(a, map(|x| x.exp(), a))), [[0], [1], [0], [1]]);
    assert_eq!(pattern(3, |a| generate(a.len(), |i| cond(i.lt(2), a.at(i), 1.0))), [vec![0], vec![1], vec![]]);
}

#[test]
fn folds_and_scans() {
    assert_eq!(pattern(3, |a| sum(map(|x| x * x, a))), [[0, 1, 2]]);
    assert_eq!(pattern(6, |a| sum(matrix(a))), [[0, 1], [2, 3], [4, 5]]);
    assert_eq!(pattern(4, |a| scanl1(|x, y| x + y * y, a)), triangle(4));
    assert_eq!(pattern(3, |a| scanr1(|x, y| x + y * y, a)), [vec![0, 1, 2], vec![1, 2], vec![2]]);
    assert_eq!(pattern(2, |a| scanl(|x, y| x * 0.5 + y, 1.0, a)), [vec![], vec![0], vec![0, 1]]);
    assert_eq!(pattern(2, |a| scanr(|x, y| x + y * 0.5, 1.0, a)), [vec![0, 1], vec![1], vec![]]);
}

/// What values decide goes all ways.
#[test]
fn branches_and_reads_by_value() {
    assert_eq!(pattern(2, |a| map(|x| cond(x.gt(0.0), x * x, x.sin()), a)), [[0], [1]]);
    assert_eq!(pattern(2, |a| unit(cond(a.at(0).gt(0.0), a.at(1), 1.0))), [[1]]);
    assert_eq!(pattern(3, |a| acond(a.at(0).gt(0.0), a, map(|x| x * a.at(2), a))), [vec![0, 2], vec![1, 2], vec![2]]);
    assert_eq!(pattern(3, |a| unit(a.at(0).max(a.at(1)))), [[0, 1]]);
    assert_eq!(pattern(3, sort), [[0, 1, 2], [0, 1, 2], [0, 1, 2]]);
    // One component of the index is known.
    let place = |a: V| cond(a.at(0).gt(0.0), 1i64, 0i64);
    assert_eq!(pattern(4, move |a| unit(matrix(a).at((1, place(a))))), [[2, 3]]);
    assert_eq!(pattern(4, move |a| slice((All, place(a)), matrix(a))), [[0, 1], [2, 3]]);
    // A target that is not known: an element may stay what it was.
    let moved = move |a: V| permute(|new, _| new, a, move |_| (true, place(a)), take(1, map(|x| x * x, a)));
    assert_eq!(pattern(3, moved), [vec![0], vec![0, 1], vec![0, 2]]);
}

/// A branch that fails where it is not taken.
#[test]
fn branches_that_would_fail() {
    assert_eq!(pattern(2, |a| unit(cond(a.at(0).gt(1e9), a.at(7), a.at(1)))), [[1]]);
    let fails = |a: V| map(|x| x * a.at(7), a);
    assert_eq!(pattern(2, move |a| acond(a.at(0).gt(1e9), fails(a), a)), [[0], [1]]);
}

#[test]
fn loops() {
    let halve = |x: Exp<f64>| while_(|x| x.abs().gt(0.5), |x| x * 0.5, x);
    assert_eq!(pattern(2, move |a| map(halve, a)), [[0], [1]]);
    // Each step moves the numbers one place on: after an unknown number of steps, they may be anywhere.
    let rotate = |a: V| generate(a.len(), |i| a.at((i + 1) % a.len()) * 0.5);
    let rotated = move |a: V| awhile(|x: V| x.at(0).abs().gt(0.5), rotate, a);
    assert_eq!(pattern(3, rotated), [[0, 1, 2], [0, 1, 2], [0, 1, 2]]);
    assert_eq!(pattern(3, move |a| aiterate(2, rotate, a)), [[2], [0], [1]]);
    let steps = |a: V| map_accum_l(|s: Number, x: Number| (zip_with(|s, x| s * x, s, x), s), unit(a.at(0)), a).1;
    assert_eq!(pattern(3, steps), [vec![0], vec![0], vec![0, 1]]);
    assert_eq!(pattern(4, |a| vmap(|row: V| sum(map(|x| x * x, row)), matrix(a))), [[0, 1], [2, 3]]);
    // The steps of a loop in scalar code, and of its derivative, which lists its states.
    let power = |x: Exp<f64>| iterate(3, move |y| y * x, x);
    assert_eq!(pattern(2, move |a| map(power, a)), [[0], [1]]);
    assert_eq!(pattern(2, move |a| map(|x| gradient(power, x), a)), [[0], [1]]);
    assert_eq!(pattern(2, move |a| map(|x| gradient(halve, x) * x, a)), [[0], [1]]);
}

#[test]
fn discrete_and_detached() {
    assert_eq!(pattern(2, |a| map(|x| x.floor() + x, a)), [[0], [1]]);
    let none = Vec::<usize>::new();
    // Differences do not know of `detach`.
    let detached = afun(|a: V| map(|x| x.detach() * x, a));
    let x = numbers(2, 0);
    let found = SparsePattern::of(&detached, &x).unwrap();
    assert_eq!(found.indices(), [0, 1]);
    assert_eq!(sparse_jacobian(&detached, found).unwrap().run(&x).unwrap().values(), x.to_vec());
    assert!(SparsePattern::of(afun(|a: V| map(|x| x.detach(), a)), &x).unwrap().indices().is_empty());
    assert_eq!(pattern(1, |a| map(|x| cond(x.gt(0.0), 1.0, 2.0), a)), [none]);
}

#[test]
fn updates_and_derivatives() {
    let counts = |a: V| permute(|x, y| x + y, fill(3, lit::<f64>(0.0)), |i| (true, i % 3), a);
    assert_eq!(pattern(5, counts), [vec![0, 3], vec![1, 4], vec![2]]);
    let energy = afun(|a: V| sum(generate(a.len() - 1, |i| (a.at(i + 1) - a.at(i)).cosh())));
    // The Hessian of a chain.
    assert_eq!(pattern(4, move |a| call(grad(&energy), a)), [vec![0, 1], vec![0, 1, 2], vec![1, 2, 3], vec![2, 3]]);
    let reads = afun(|a: V| sum(map(|x| iterate(2, |y| y * a.at(0) + x, x), a)));
    assert_eq!(pattern(2, move |a| call(grad(&reads), a)), [vec![0, 1], vec![0]]);
}

/// The pattern holds for the values of the parts, and for the shapes and the integers of the other arguments.
#[test]
fn chosen_parts_and_indices() {
    let edges = afun(|x: V, from: Acc<Vector<i64>>, w: V| zip_with(|k, w| x.at(k) * w * w, from, w));
    let (x, w) = (numbers(4, 0), numbers(3, 1));
    let from = |k: [i64; 3]| Array::vector(k.to_vec());
    let by_x = edges.by(|(x, _, _)| x);
    let pattern = SparsePattern::of(&by_x, (&x, &from([2, 0, 2]), &w)).unwrap();
    assert_eq!((pattern.columns(), pattern.indices()), (4, &[2, 0, 2][..]));
    let both = edges.by(|(x, _, w)| (w, x));
    let pattern_of_both = SparsePattern::of(&both, (&x, &from([2, 0, 2]), &w)).unwrap();
    assert_eq!((pattern_of_both.columns(), pattern_of_both.indices()), (7, &[0, 5, 1, 3, 2, 5][..]));
    let sparse = sparse_jacobian(&by_x, pattern).unwrap();
    assert_eq!(sparse.directions(), 1);
    let found = sparse.run((&x, &from([2, 0, 2]), &w)).unwrap();
    assert_eq!(found.values(), w.to_vec().iter().map(|w| w * w).collect::<Vec<_>>());
    // Other indices need another pattern.
    let text = sparse.run((&x, &from([2, 1, 2]), &w)).unwrap_err().to_string();
    assert!(text.contains("`sparse_jacobian`") && text.contains("sparse.rs") && text.contains("row 1"), "{text}");
}

/// Rows and columns count array by array, element by element and component by component; integers have none.
#[test]
fn tuples() {
    let program = afun(|xs: Acc<Vector<(f64, i64, (f32, f64))>>, y: Acc<Scalar<f64>>| {
        let first = map(|(x, n, (a, b))| (n, x * b, a), xs);
        (first, map(|y| y * y, y))
    });
    let xs = Array::vector(vec![(2.0, 7, (3.0, 5.0)), (11.0, 8, (13.0, 17.0))]);
    let pattern = SparsePattern::of(&program, (&xs, &Array::scalar(3.0))).unwrap();
    assert_eq!((pattern.starts(), pattern.indices()), (&[0, 2, 3, 5, 6, 7][..], &[0, 2, 1, 3, 5, 4, 6][..]));
    let found = sparse_jacobian(&program, pattern).unwrap().run((&xs, &Array::scalar(3.0))).unwrap();
    assert_eq!(found.values(), [5.0, 2.0, 1.0, 17.0, 11.0, 1.0, 6.0]);
}

/// Where all elements of an array have the colours of their components, directions are constants. The sizes that the colours suggest are
/// wrong if an array without elements follows.
#[test]
fn components() {
    type Arguments = (Vector<f64>, Vector<(f64, f64)>, Vector<f64>);
    let program = afun(|all: Acc<Arguments>| {
        let (xs, ys, zs) = all.unlift();
        (map(|x| x.sin(), xs), map(|(a, b)| a * b, ys), map(|z| z * z, zs))
    });
    for (x, y, z) in [(2, 2, 0), (3, 1, 2), (0, 2, 1), (1, 0, 1), (0, 0, 0)] {
        let pairs: Vec<(f64, f64)> = (0..y).map(|k| (k as f64 + 0.5, k as f64 - 2.0)).collect();
        let arguments: Arguments = (numbers(x, 0), Array::vector(pairs.clone()), numbers(z, 1));
        let pattern = SparsePattern::of(&program, &arguments).unwrap();
        let found = sparse_jacobian(&program, pattern).unwrap().run(&arguments).unwrap();
        let of_x = arguments.0.to_vec().into_iter().map(f64::cos);
        let of_y = pairs.into_iter().flat_map(|(a, b)| [b, a]);
        let of_z = arguments.2.to_vec().into_iter().map(|z| 2.0 * z);
        close(found.values(), &of_x.chain(of_y).chain(of_z).collect::<Vec<_>>());
    }
}

/// Constant directions of arrays whose elements have different numbers of components.
#[test]
fn components_of_several_arrays() {
    let program = afun(|xs: Acc<Vector<(f64, f64)>>, ys: Acc<Vector<f64>>| {
        let of = |f: fn(Exp<f64>, Exp<f64>, Exp<f64>) -> Exp<f64>| {
            zip_with(|(a, b): (Exp<f64>, Exp<f64>), y: Exp<f64>| f(a, b, y), xs, ys)
        };
        (of(|a, _, y| a * y), of(|_, b, y| b * y), of(|a, b, _| a * b), of(|a, _, y| a * y * y))
    });
    let (xs, ys) = (Array::vector(vec![(2.0, 3.0), (5.0, 7.0)]), Array::vector(vec![11.0, 13.0]));
    let pattern = SparsePattern::of(&program, (&xs, &ys)).unwrap();
    let sparse = sparse_jacobian(&program, pattern).unwrap();
    assert_eq!(sparse.directions(), 3);
    let expected = [11.0, 2.0, 13.0, 5.0, 11.0, 3.0, 13.0, 7.0, 3.0, 2.0, 7.0, 5.0, 121.0, 44.0, 169.0, 130.0];
    assert_eq!(sparse.run((&xs, &ys)).unwrap().values(), expected);
}

/// A matrix with full rows is computed by rows, one with full columns by columns.
#[test]
fn directions() {
    let arrow = afun(|a: V| concat(sum(map(|x| x * x, reshape((1, a.len()), a))), map(|x| x.sin(), a)));
    let x = numbers(6, 2);
    let sparse = sparse_jacobian(&arrow, SparsePattern::of(&arrow, &x).unwrap()).unwrap();
    assert_eq!(sparse.directions(), 2);
    close(&sparse.run(&x).unwrap().to_dense().unwrap().to_vec(), &run(jacobian(&arrow), &x).unwrap().to_vec());
    // Rows of a matrix whose columns are wrong.
    let few = SparsePattern::new(6, vec![0, 6, 6, 6, 6, 6, 6, 6], (0..6).collect()).unwrap();
    let text = sparse_jacobian(&arrow, few).unwrap().run(&x).unwrap_err().to_string();
    assert!(text.contains("`sparse_jacobian`") && text.contains("column 0"), "{text}");
    let first = afun(|a: V| map(|x| x * a.at(0), a));
    let sparse = sparse_jacobian(&first, SparsePattern::of(&first, &x).unwrap()).unwrap();
    assert_eq!(sparse.directions(), 2);
    close(&sparse.run(&x).unwrap().to_dense().unwrap().to_vec(), &run(jacobian(&first), &x).unwrap().to_vec());
}

#[test]
fn errors() {
    let squares = afun(|a: V| map(|x| x * x, a));
    let x = numbers(3, 0);
    let diagonal = |n: usize| SparsePattern::new(n, (0..=n).collect(), (0..n).collect()).unwrap();
    let message = |pattern| sparse_jacobian(&squares, pattern).unwrap().run(&x).unwrap_err().to_string();
    let text = message(diagonal(4));
    assert!(text.contains("a pattern with 3 columns") && text.contains("found one with 4"), "{text}");
    let text = message(SparsePattern::new(3, vec![0, 1, 2], vec![0, 1]).unwrap());
    assert!(text.contains("a pattern with 3 rows") && text.contains("found one with 2"), "{text}");
    let text = message(SparsePattern::new(3, vec![0, 1, 1, 2], vec![0, 2]).unwrap());
    assert!(text.contains("row 1") && text.contains("sparse.rs"), "{text}");
    // A larger pattern has zeros.
    let larger = SparsePattern::new(3, vec![0, 2, 3, 4], vec![0, 1, 1, 2]).unwrap();
    let found = sparse_jacobian(&squares, larger).unwrap().run(&x).unwrap();
    assert_eq!(found.values()[1], 0.0);
    // Extents that depend on values.
    let positive = afun(|a: V| filter(|x| x.gt(0.0), a));
    let text = SparsePattern::of(&positive, &x).unwrap_err().to_string();
    assert!(text.contains("does not depend on the numbers") && text.contains("`filter`"), "{text}");
    let outside = afun(|a: V| unit(a.at(7)));
    let text = SparsePattern::of(&outside, &x).unwrap_err().to_string();
    assert!(text.contains("[7]") && text.contains("`at`"), "{text}");
    let outside = SparsePattern::of(afun(|a: V| a), &Array::vector(vec![])).unwrap();
    assert_eq!((outside.rows(), outside.columns()), (0, 0));
}

/// Several points, several shapes, and no number at all.
#[test]
fn reuse() {
    let squares = afun(|a: V| map(|x| x * x, a));
    let sparse = |n: usize| {
        let pattern = SparsePattern::of(&squares, &numbers(n, 0)).unwrap();
        sparse_jacobian(&squares, pattern).unwrap()
    };
    for n in [0, 1, 5] {
        let sparse = sparse(n);
        for seed in 0..3 {
            let x = numbers(n, seed);
            assert_eq!(sparse.run(&x).unwrap().values(), x.to_vec().iter().map(|x| 2.0 * x).collect::<Vec<_>>());
        }
    }
    assert!(sparse(5).run(&numbers(4, 0)).is_err());
}

/// More numbers than fit into memory are errors, and nothing ends the process.
#[test]
fn sizes_beyond_the_memory() {
    let squares = afun(|a: V| map(|x| x * x, a));
    let x = numbers(100_000, 0);
    let wide = sparse_jacobian(&squares, SparsePattern::of(&squares, &x).unwrap()).unwrap().run(&x).unwrap();
    let text = wide.to_dense().unwrap_err().to_string();
    assert!(text.contains("`to_dense`: no memory for an array of shape [100000, 100000]"), "{text}");
    let of = |columns: usize| SparsePattern::new(columns, vec![0, 1, 2], vec![0, 1]);
    let text = sparse_jacobian(&squares, of(1 << 42).unwrap()).unwrap_err().to_string();
    assert!(text.contains("columns of a sparse pattern") && text.contains("no memory"), "{text}");
    assert!(of(usize::MAX).unwrap_err().to_string().contains("found 18446744073709551615"));
}

/// Hessians: bands, numbers that all others meet, a grid; tuples; patterns that are too small or not symmetric.
#[test]
fn hessians() {
    #[track_caller]
    fn check(n: usize, most: usize, loss: impl Fn(V) -> Number) {
        let loss = afun(loss);
        let sparse = sparse_hessian(&loss, SparsePattern::of_hessian(&loss, &numbers(n, 0)).unwrap()).unwrap();
        assert!(sparse.directions() <= most, "{} directions", sparse.directions());
        for seed in 0..3 {
            let x = numbers(n, seed);
            let expected = run(hessian(&loss), &x).unwrap().to_vec();
            close(&sparse.run(&x).unwrap().to_dense().unwrap().to_vec(), &expected);
        }
    }
    check(12, 3, |x| sum(generate(x.len() - 1, |i| (x.at(i + 1) - x.at(i) * x.at(i)).sin())));
    check(30, 2, |x| sum(map(|y| (y * x.at(0)).sin(), x)));
    check(30, 3, |x| sum(map(|y| (y * x.at(1)).cos() + y * x.at(0), x)));
    check(36, 9, |x| {
        let of = |(i, j)| {
            let at = |i: Exp<i64>, j: Exp<i64>| x.at(i * 6 + j);
            (at(i, j) * at(i + 1, j)).sin() + at(i, j) * at(i, j + 1) * at(i, j + 1)
        };
        sum_all(generate((5, 5), of))
    });
    check(0, 0, |x| sum(x));

    let pair = afun(|x: V, y: Acc<Scalar<f64>>| map(|y| y * y, y) * sum(map(|x| x.exp(), x)));
    let x = (numbers(4, 1), Array::scalar(0.7));
    let sparse = sparse_hessian(&pair, SparsePattern::of_hessian(&pair, &x).unwrap()).unwrap();
    assert_eq!(sparse.directions(), 2);
    let found = sparse.run(&x).unwrap().to_dense().unwrap().to_vec();
    let total: f64 = x.0.to_vec().iter().map(|x| x.exp()).sum();
    let expected = |i: usize, j: usize| match (i, j) {
        (4, 4) => 2.0 * total,
        (i, 4) | (4, i) => 1.4 * x.0.to_vec()[i].exp(),
        (i, j) => {
            if i == j {
                0.49 * x.0.to_vec()[i].exp()
            } else {
                0.0
            }
        }
    };
    close(&found, &(0..25).map(|k| expected(k / 5, k % 5)).collect::<Vec<_>>());

    // By one of several arguments.
    let weighted = afun(|w: V, x: V| sum(generate(x.len() - 1, |i| w.at(i) * (x.at(i) * x.at(i + 1)).powi(2))));
    let (w, x) = (numbers(2, 4), Array::vector(vec![2.0, 3.0, 5.0]));
    let by_x = weighted.by(|(_, x)| x);
    let sparse = sparse_hessian(&by_x, SparsePattern::of_hessian(&by_x, (&w, &x)).unwrap()).unwrap();
    let [v, w] = [0, 1].map(|i| w.to_vec()[i]);
    let expected = [18.0 * v, 24.0 * v, 24.0 * v, 8.0 * v + 50.0 * w, 60.0 * w, 60.0 * w, 18.0 * w];
    close(sparse.run((&numbers(2, 4), &x)).unwrap().values(), &expected);

    let squares = afun(|x: V| sum(map(|x| x * x * x, x)));
    let one_sided = SparsePattern::new(2, vec![0, 2, 3], vec![0, 1, 1]).unwrap();
    let text = sparse_hessian(&squares, one_sided).unwrap_err().to_string();
    assert!(text.contains("`sparse_hessian`") && text.contains("a symmetric pattern"), "{text}");
    let empty = SparsePattern::new(3, vec![0; 4], vec![]).unwrap();
    let text = sparse_hessian(&squares, empty).unwrap().run(&numbers(3, 1)).unwrap_err().to_string();
    assert!(text.contains("`sparse_hessian`") && text.contains("row 0"), "{text}");
}
