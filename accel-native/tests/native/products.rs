//! Matrix products and interchanged reductions, compared with plain loops.

use crate::support::{array, compile, f64s, numbers};
use accel_core::repr::Column;
use accel_core::repr::RawArray;

fn close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (x, y)) in found.iter().zip(expected).enumerate() {
        assert!((x - y).abs() <= 1e-12 * (1.0 + y.abs()), "{what}: element {i} is {x}, not {y}");
    }
}

/// A sum of products. `left` and `right` are the parameters that index the operands. The argument `a2` provides the
/// extents, and `a3` a factor of all products.
fn product(rank: usize, left: &[usize], right: &[usize], init: &str) -> String {
    let list = |n: usize, one: &dyn Fn(usize) -> String| (0..n).map(one).collect::<Vec<_>>().join(", ");
    let names = |ix: &[usize]| list(ix.len(), &|k| format!("x{}", ix[k]));
    let sizes: String =
        (0..rank).map(|p| format!("x{}: i64 = {p}; x{}: i64 = a2[x{}] @0; ", 2 * p, 2 * p + 1, 2 * p)).collect();
    let [a, b, factor, x, y] = [1, 2, 3, 4, 5].map(|k| format!("x{}", rank + k));
    format!(
        r#"program (a0: Array{}<f64>, a1: Array{}<f64>, a2: Array1<i64>, a3: Array0<f64>)
site 0 = "fold"
{{
  a4: Array{rank}<f64> = reduce @0 sum
    extents () {{ {sizes} -> {} }}
    len () {{ x0: i64 = {rank}; x1: i64 = a2[x0] @0 -> x1 }}
    element ({}) {{
      {a}: f64 = a0[{}] @0 inside
      {b}: f64 = a1[{}] @0 inside
      {factor}: f64 = a3[] @0 inside
      {x}: f64 = {a} * {factor}
      {y}: f64 = {x} * {b}
      -> {y}
    }}
    {init}
    op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
  -> a4
}}"#,
        left.len(),
        right.len(),
        list(rank, &|p| format!("x{}", 2 * p + 1)),
        list(rank + 1, &|p| format!("x{p}: i64")),
        names(left),
        names(right)
    )
}

fn strides(index: &[usize], extents: &[usize]) -> Vec<usize> {
    let mut all = vec![0; extents.len()];
    let mut stride = 1;
    for p in index.iter().rev() {
        all[*p] += stride;
        stride *= extents[*p];
    }
    all
}

/// The product by its definition. `extents` are those of the parameters, the reduced one last.
fn expected(
    extents: &[usize],
    left: (&[usize], &[f64]),
    right: (&[usize], &[f64]),
    factor: f64,
    init: f64,
) -> Vec<f64> {
    let (sl, sr) = (strides(left.0, extents), strides(right.0, extents));
    let (len, outer) = extents.split_last().unwrap();
    let mut all = vec![];
    for i in 0..outer.iter().product() {
        let (mut rest, mut l, mut r) = (i, 0, 0);
        for p in (0..outer.len()).rev() {
            l += rest % outer[p] * sl[p];
            r += rest % outer[p] * sr[p];
            rest /= outer[p];
        }
        let k = outer.len();
        let one = |j: usize| left.1[l + j * sl[k]] * factor * right.1[r + j * sr[k]];
        all.push(init + (0..*len).map(one).sum::<f64>());
    }
    all
}

fn check(left: &[usize], right: &[usize], sizes: &[&[usize]], init: Option<f64>) {
    let rank = sizes[0].len() - 1;
    let start = init.map_or(String::new(), |z| format!("init () {{ x0: f64 = {z:?} -> x0 }}"));
    let k = compile(&product(rank, left, right, &start));
    for extents in sizes {
        let of = |ix: &[usize]| ix.iter().map(|p| extents[*p]).collect::<Vec<_>>();
        let (el, er) = (of(left), of(right));
        let (a, b) = (numbers(el.iter().product()), numbers(er.iter().product::<usize>() + 7)[7..].to_vec());
        let all = extents.iter().map(|e| *e as i64).collect::<Vec<_>>();
        let inputs =
            vec![array(&el, a.clone()), array(&er, b.clone()), array(&[rank + 1], all), array(&[], vec![0.75])];
        let found = k.run(inputs);
        if extents[rank] == 0 && init.is_none() && extents[..rank].iter().all(|e| *e > 0) {
            assert!(found.is_err());
            continue;
        }
        let expected = expected(extents, (left, &a), (right, &b), 0.75, init.unwrap_or(0.0));
        close(f64s(&found.unwrap()[0]), &expected, &format!("{left:?} {right:?} {extents:?}"));
    }
}

const MATRICES: [&[usize]; 10] = [
    &[0, 3, 4],
    &[3, 4, 0],
    &[1, 1, 1],
    &[2, 3, 5],
    &[16, 16, 16],
    &[1, 100, 300],
    &[100, 1, 300],
    &[37, 53, 41],
    &[130, 90, 257],
    &[5, 7, 20_000],
];

#[test]
fn products_in_every_orientation() {
    for left in [[0, 2], [2, 0]] {
        for right in [[2, 1], [1, 2]] {
            check(&left, &right, &MATRICES, Some(0.0));
            // The operands are exchanged.
            check(&right, &left, &MATRICES, Some(2.5));
            check(&left, &right, &MATRICES, None);
        }
    }
}

#[test]
fn many_products_at_once() {
    let sizes: [&[usize]; 5] =
        [&[0, 3, 4, 5], &[1, 20, 30, 40], &[3, 20, 17, 16], &[40, 16, 33, 24], &[2, 110, 100, 120]];
    check(&[0, 1, 3], &[0, 3, 2], &sizes, Some(0.0));
    check(&[1, 3, 0], &[2, 3, 0], &sizes, Some(1.0));
    check(&[3, 0, 1], &[2, 0, 3], &sizes, None);
}

#[test]
fn several_rows_and_columns() {
    let sizes: [&[usize]; 3] = [&[3, 4, 5, 6, 7], &[7, 8, 9, 3, 20], &[8, 1, 6, 5, 30]];
    // Two dimensions of rows and two of columns, adjacent in memory or not.
    check(&[0, 1, 4], &[4, 2, 3], &sizes, Some(0.0));
    check(&[0, 4, 1], &[3, 4, 2], &sizes, Some(0.0));
    check(&[0, 2, 4], &[4, 1, 3], &sizes, Some(0.0));
    // A diagonal.
    check(&[0, 0, 4, 1], &[3, 2, 4], &sizes, None);
}

#[test]
fn products_do_not_depend_on_the_number_of_threads() {
    let k = compile(&product(2, &[0, 2], &[2, 1], "init () { x0: f64 = 0.0 -> x0 }"));
    let inputs = vec![
        array(&[301, 999], numbers(301 * 999)),
        array(&[999, 257], numbers(999 * 257)),
        array(&[3], vec![301i64, 257, 999]),
        array(&[], vec![1.0]),
    ];
    let results: Vec<Vec<RawArray>> = (1..=5)
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| k.run(inputs.clone()).unwrap())
        })
        .collect();
    assert!(results.windows(2).all(|w| w[0] == w[1]));
}

/// Reduces the first dimension of a matrix.
fn columns(known: &str, init: &str, op: &str) -> String {
    format!(
        r#"program (a0: Array2<f64>)
site 0 = "fold"
{{
  a1: Array1<f64> = reduce @0 {known}
    extents () {{ x0: i64 = extent a0 1 -> x0 }}
    len () {{ x0: i64 = extent a0 0 -> x0 }}
    element (x0: i64, x1: i64) {{ x2: f64 = a0[x1, x0] @0 inside -> x2 }}
    {init}
    op (x0: f64, x1: f64) {{ {op} }}
  -> a1
}}"#
    )
}

/// Numbers of rows and columns: small and large, around the sizes of blocks and parts.
const SHAPES: [(usize, usize); 13] = [
    (0, 5),
    (5, 0),
    (1, 1),
    (1, 3000),
    (2, 70_001),
    (3, 1025),
    (100_003, 1),
    (70_001, 3),
    (30_001, 4),
    (20_011, 17),
    (300, 1000),
    (131, 5000),
    (40, 66_000),
];

#[test]
fn sums_of_columns() {
    for init in ["init () { x0: f64 = 0.25 -> x0 }", ""] {
        let k = compile(&columns("sum", init, "x2: f64 = x0 + x1 -> x2"));
        for (rows, n) in SHAPES {
            let xs = numbers(rows * n);
            let found = k.run(vec![array(&[rows, n], xs.clone())]);
            if init.is_empty() && rows == 0 {
                assert!(found.is_err());
                continue;
            }
            let start = if init.is_empty() { 0.0 } else { 0.25 };
            let sum = |c: usize| start + (0..rows).map(|r| xs[r * n + c]).sum::<f64>();
            close(f64s(&found.unwrap()[0]), &(0..n).map(sum).collect::<Vec<_>>(), &format!("{rows} x {n}"));
        }
    }
}

#[test]
fn least_elements_of_columns_ignore_nan() {
    let k = compile(&columns("min", "", "x2: f64 = min x0 x1 -> x2"));
    for (rows, n) in SHAPES.into_iter().filter(|s| s.0 > 0) {
        let mut xs = numbers(rows * n);
        xs.iter_mut().step_by(3).for_each(|x| *x = f64::NAN);
        let found = k.run(vec![array(&[rows, n], xs.clone())]).unwrap();
        let least = |c: usize| (0..rows).map(|r| xs[r * n + c]).fold(f64::NAN, f64::min);
        let expected: Vec<f64> = (0..n).map(least).collect();
        let bits = |xs: &[f64]| xs.iter().map(|x| if x.is_nan() { 0 } else { x.to_bits() }).collect::<Vec<_>>();
        assert_eq!(bits(f64s(&found[0])), bits(&expected), "{rows} x {n}");
    }
}

/// Affine functions modulo 2^64 do not commute.
#[test]
fn columns_keep_the_order() {
    let text = |init: &str| {
        format!(
            r#"program (a0: Array2<i64>)
site 0 = "fold"
{{
  a1: Array1<i64, i64> = reduce @0
    extents () {{ x0: i64 = extent a0 1 -> x0 }}
    len () {{ x0: i64 = extent a0 0 -> x0 }}
    element (x0: i64, x1: i64) {{ x2: i64 = a0[x1, x0] @0 inside; x3: i64 = 3; x4: i64 = x2 + x3 -> x4, x2 }}
    {init}
    op (x0: i64, x1: i64, x2: i64, x3: i64) {{ x4: i64 = x0 * x2; x5: i64 = x1 * x2; x6: i64 = x5 + x3 -> x4, x6 }}
  -> a1
}}"#
        )
    };
    for init in ["init () { x0: i64 = 5; x1: i64 = 7 -> x0, x1 }", ""] {
        let k = compile(&text(init));
        for (rows, n) in SHAPES.into_iter().filter(|s| s.0 > 0) {
            let xs: Vec<i64> = (0..rows * n).map(|i| (i as i64).wrapping_mul(2_654_435_761) % 1000).collect();
            let found = k.run(vec![array(&[rows, n], xs.clone())]).unwrap();
            let (Column::I64(a), Column::I64(b)) = (&found[0].columns[0], &found[0].columns[1]) else { panic!() };
            for c in 0..n {
                let mut all = (0..rows).map(|r| (xs[r * n + c] + 3, xs[r * n + c]));
                let start = if init.is_empty() { all.next().unwrap() } else { (5, 7) };
                let end = all
                    .fold(start, |(a, b): (i64, i64), (x, y)| (a.wrapping_mul(x), b.wrapping_mul(x).wrapping_add(y)));
                assert_eq!((a[c], b[c]), end, "{init} {rows} x {n}, column {c}");
            }
        }
    }
}
