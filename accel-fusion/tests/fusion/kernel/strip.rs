//! Strip-mining: the textual form of strips, the verifier's checks, and the groups that are formed.

use super::program;
use accel_core::repr::{ArrayTuple, Column, RawArray};
use accel_fusion::kernel::{ArrayId, Op, Program, evaluate, verify};
use accel_fusion::pipeline::{dissolve, finer, strips};
use accel_fusion::strip::defined_by_strips;
use accel_fusion::strip::value;

/// Squares, their sums along both dimensions, and a statement that needs a total.
const PLAIN: &str = r#"program (a0: Array2<f64>)
site 0 = "map"
{
  a1: Array2<f64> = loop @0
    extents () { x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1 }
    body (x0: i64, x1: i64) { x2: f64 = a0[x0, x1] @0 inside; x3: f64 = x2 * x2 -> x3 }
  a2: Array1<f64> = reduce @0 sum
    extents () { x0: i64 = extent a0 0 -> x0 }
    len () { x0: i64 = extent a0 1 -> x0 }
    element (x0: i64, x1: i64) { x2: f64 = a1[x0, x1] @0 inside -> x2 }
    init () { x0: f64 = 0.0 -> x0 }
    op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
  a3: Array0<f64> = reduce @0 sum
    extents () { -> }
    len () { x0: i64 = extent a0 0 -> x0 }
    element (x0: i64) { x1: f64 = a2[x0] @0 inside -> x1 }
    op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
  a4: Array1<f64> = loop @0
    extents () { x0: i64 = extent a0 1 -> x0 }
    body (x0: i64) { x1: f64 = as f64 x0 -> x1 }
  a5: Array1<f64> = loop @0
    extents () { x0: i64 = extent a0 0 -> x0 }
    body (x0: i64) { x1: f64 = a2[x0] @0 inside; x2: f64 = a3[] @0 inside; x3: f64 = x1 / x2 -> x3 }
  a6: Array1<f64> = loop @0
    extents () { x0: i64 = extent a0 0 -> x0 }
    body (x0: i64) { x1: f64 = a5[x0] @0 inside; x2: f64 = - x1 -> x2 }
  -> a4, a6
}"#;

const STRIPPED: &str = r#"program (a0: Array2<f64>)
site 0 = "map"
{
  a4: Array1<f64> = loop @0
    extents () { x0: i64 = extent a0 1 -> x0 }
    body (x0: i64) { x1: f64 = as f64 x0 -> x1 }
  a2: Array1<f64>, a3: Array0<f64> = strip @0
    len () { x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0 }
    body {
      a1: Array2<f64> = loop @0
        extents () { x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1 }
        body (x0: i64, x1: i64) { x2: f64 = a0[x0, x1] @0 inside; x3: f64 = x2 * x2 -> x3 }
      a2: Array1<f64> = reduce @0 sum
        extents () { x0: i64 = extent a0 0 -> x0 }
        len () { x0: i64 = extent a0 1 -> x0 }
        element (x0: i64, x1: i64) { x2: f64 = a1[x0, x1] @0 inside -> x2 }
        init () { x0: f64 = 0.0 -> x0 }
        op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
      a3: Array0<f64> = reduce @0 sum
        extents () { -> }
        len () { x0: i64 = extent a0 0 -> x0 }
        element (x0: i64) { x1: f64 = a2[x0] @0 inside -> x1 }
        op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
      -> a2, a3
    }
  a6: Array1<f64> = strip @0
    len () { x0: i64 = extent a0 0 -> x0 }
    body {
      a5: Array1<f64> = loop @0
        extents () { x0: i64 = extent a0 0 -> x0 }
        body (x0: i64) { x1: f64 = a2[x0] @0 inside; x2: f64 = a3[] @0 inside; x3: f64 = x1 / x2 -> x3 }
      a6: Array1<f64> = loop @0
        extents () { x0: i64 = extent a0 0 -> x0 }
        body (x0: i64) { x1: f64 = a5[x0] @0 inside; x2: f64 = neg x1 -> x2 }
      -> a6
    }
  -> a4, a6
}"#;

fn plain() -> Program {
    program(&PLAIN.replace("= - x1", "= neg x1"))
}

#[test]
fn groups_are_formed_around_what_is_read_within() {
    let p = strips(&plain()).unwrap();
    assert_eq!(p.to_string(), STRIPPED);
    assert_eq!(program(STRIPPED).to_string(), STRIPPED);
    // Only the order of the statements differs.
    let lines = |p: &Program| p.to_string().lines().map(String::from).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(lines(&dissolve(&p, &defined_by_strips(&p)).unwrap()), lines(&plain()));
    // A second pass changes nothing.
    assert_eq!(strips(&p).unwrap().to_string(), STRIPPED);
}

#[test]
fn strips_mean_what_their_body_means() {
    for (n, m) in [(1, 0), (3, 2), (40, 3)] {
        let xs: Vec<f64> = (0..n * m).map(|i| 1.0 + i as f64).collect();
        let a = RawArray { extents: vec![n, m].into(), columns: vec![Column::from(xs)].into() };
        let run = |p: &Program| evaluate(p, &ArrayTuple::Array(a.clone())).map_err(|e| e.to_string());
        assert_eq!(format!("{:?}", run(&plain())), format!("{:?}", run(&strips(&plain()).unwrap())));
    }
}

#[test]
fn a_strip_is_one_loop_and_its_own_arrays_cost_nothing() {
    let stats = strips(&plain()).unwrap().stats();
    assert_eq!((stats.kernels, stats.loops, stats.arrays), (3, 3, 4));
    assert_eq!(stats.bytes_read.to_string(), "8·a0.0·a0.1 + 8·a0.0 + 8");
    assert_eq!(stats.bytes_written.to_string(), "16·a0.0 + 8·a0.1 + 8");
}

#[test]
fn statements_without_a_connection_stay_alone() {
    // The statements have a dimension in common, but none reads what the other computes.
    let text = r#"program (a0: Array2<f64>)
site 0 = "map"
{
  a1: Array1<f64> = loop @0
    extents () { x0: i64 = extent a0 0 -> x0 }
    body (x0: i64) { x1: f64 = as f64 x0 -> x1 }
  a2: Array1<f64> = loop @0
    extents () { x0: i64 = extent a0 0 -> x0 }
    body (x0: i64) { x1: f64 = as f64 x0; x2: f64 = x1 * x1 -> x2 }
  -> a1, a2
}"#;
    assert!(strips(&program(text)).unwrap().body.stmts.iter().all(|s| matches!(s.op, Op::Loop { .. })));
}

#[test]
fn a_reduction_is_where_the_largest_array_is_that_it_reads() {
    // The maxima read a vector, along the dimension that they reduce, and a matrix. As row statements in strips of the
    // matrix's rows, they do not need the matrix in memory.
    let text = r#"program (a0: Array1<f64>, a1: Array1<f64>)
site 0 = "map"
{
  a2: Array1<f64> = loop @0
    extents () { x0: i64 = extent a0 0 -> x0 }
    body (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = exp x1 -> x2 }
  a3: Array1<f64> = loop @0
    extents () { x0: i64 = extent a0 0 -> x0 }
    body (x0: i64) { x1: f64 = a2[x0] @0 inside; x2: f64 = x1 * x1 -> x2 }
  a4: Array2<f64> = loop @0
    extents () { x0: i64 = extent a1 0; x1: i64 = extent a0 0 -> x0, x1 }
    body (x0: i64, x1: i64) { x2: f64 = a1[x0] @0 inside; x3: f64 = as f64 x1; x4: f64 = x2 * x3 -> x4 }
  a5: Array1<f64> = reduce @0 max
    extents () { x0: i64 = extent a1 0 -> x0 }
    len () { x0: i64 = extent a0 0 -> x0 }
    element (x0: i64, x1: i64) { x2: f64 = a3[x1] @0 inside; x3: f64 = a4[x0, x1] @0 inside; x4: f64 = x2 + x3 -> x4 }
    op (x0: f64, x1: f64) { x2: f64 = max x0 x1 -> x2 }
  -> a5
}"#;
    let p = strips(&program(text)).unwrap();
    let results: Vec<_> = p.body.stmts.iter().map(|s| s.op.defines().to_vec()).collect();
    let vector_then_maxima = [program(text).body.stmts[1].op.defines().to_vec(), program(text).results];
    assert_eq!(results, vector_then_maxima);
}

/// The exponentials of the elements of a product, and a sum of the exponentials.
fn product(batch: bool) -> String {
    let left = if batch { "a0[x0, x1, x3]" } else { "a0[x0, x0, x3]" };
    format!(
        r#"program (a0: Array3<f64>, a1: Array3<f64>)
site 0 = "fold"
{{
  a2: Array3<f64> = reduce @0 sum
    extents () {{ x0: i64 = extent a0 0; x1: i64 = extent a1 1; x2: i64 = extent a1 2 -> x0, x1, x2 }}
    len () {{ x0: i64 = extent a0 2 -> x0 }}
    element (x0: i64, x1: i64, x2: i64, x3: i64) {{ x4: f64 = {left} @0 inside; x5: f64 = a1[x3, x1, x2] @0 inside; x6: f64 = x4 * x5 -> x6 }}
    init () {{ x0: f64 = 0.0 -> x0 }}
    op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
  a3: Array3<f64> = loop @0
    extents () {{ x0: i64 = extent a0 0; x1: i64 = extent a1 1; x2: i64 = extent a1 2 -> x0, x1, x2 }}
    body (x0: i64, x1: i64, x2: i64) {{ x3: f64 = a2[x0, x1, x2] @0 inside; x4: f64 = exp x3 -> x4 }}
  -> a3
}}"#
    )
}

#[test]
fn products_of_matrices_stay_alone_unless_there_are_many_at_once() {
    let strips = |batch| strips(&program(&product(batch))).unwrap().to_string().matches("= strip").count();
    assert_eq!((strips(true), strips(false)), (1, 0));
}

#[test]
fn blocks_have_strips_of_their_own() {
    let text = r#"program (a0: Array1<f64>)
site 0 = "map"
{
  a1: Array1<f64> = while a0 @0
    cond {
      a2: Array0<bool> = loop @0
        extents () { -> }
        body () { x0: bool = false -> x0 }
      -> a2
    }
    body {
      a3: Array1<f64> = loop @0
        extents () { x0: i64 = extent a0 0 -> x0 }
        body (x0: i64) { x1: f64 = a1[x0] @0; x2: f64 = x1 * x1 -> x2 }
      a4: Array1<f64> = loop @0
        extents () { x0: i64 = extent a0 0 -> x0 }
        body (x0: i64) { x1: f64 = a3[x0] @0; x2: f64 = x1 * x1 -> x2 }
      -> a4
    }
  -> a1
}"#;
    let p = strips(&program(text)).unwrap();
    assert_eq!(p.to_string().matches("= strip @0").count(), 1);
}

/// The products of the rows of two arrays and the quotients of these rows and their sums, and the sums of these products.
const ROWS: &str = r#"program (a0: Array3<f64>, a1: Array3<f64>)
site 0 = "map"
{
  a2: Array3<f64> = loop @0
    extents () { x0: i64 = extent a0 0; x1: i64 = extent a0 1; x2: i64 = extent a0 2 -> x0, x1, x2 }
    body (x0: i64, x1: i64, x2: i64) { x3: f64 = a0[x0, x1, x2] @0 inside; x4: f64 = exp x3 -> x4 }
  a3: Array2<f64> = reduce @0 sum
    extents () { x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1 }
    len () { x0: i64 = extent a0 2 -> x0 }
    element (x0: i64, x1: i64, x2: i64) { x3: f64 = a2[x0, x1, x2] @0 inside -> x3 }
    init () { x0: f64 = 0.0 -> x0 }
    op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
  a4: Array2<f64> = reduce @0 sum
    extents () { x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1 }
    len () { x0: i64 = extent a0 2 -> x0 }
    element (x0: i64, x1: i64, x2: i64) {
      x3: f64 = a2[x0, x1, x2] @0 inside; x4: f64 = a3[x0, x1] @0 inside; x5: f64 = x3 / x4
      x6: f64 = a1[x0, x1, x2] @0 inside; x7: f64 = x5 * x6 -> x7 }
    init () { x0: f64 = 0.0 -> x0 }
    op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
  a5: Array1<f64> = reduce @0 sum
    extents () { x0: i64 = extent a0 0 -> x0 }
    len () { x0: i64 = extent a0 1 -> x0 }
    element (x0: i64, x1: i64) { x2: f64 = a4[x0, x1] @0 inside -> x2 }
    init () { x0: f64 = 0.0 -> x0 }
    op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
  -> a2, a5
}"#;

#[test]
fn finer_strips_have_the_leading_dimensions_as_one() {
    let coarse = strips(&program(ROWS)).unwrap();
    let fine = finer(&coarse, &defined_by_strips(&coarse)).unwrap();
    let text = fine.to_string();
    // Both arrays are read as rows one after the other, if their rows are as many.
    let same = "x0: i64 = extent a0 1; x1: i64 = extent a1 1; x2: bool = x0 == x1 -> x2";
    assert_eq!(text.matches(&format!("cond () {{ {same} }}")).count(), 1, "{text}");
    assert_eq!((coarse.to_string().matches("= strip").count(), text.matches("= strip").count()), (1, 1), "{text}");
    assert_eq!(text.matches("= reshape").count(), 4, "{text}");
    for ([n, m, k], [n1, m1, k1]) in
        [([2, 3, 5], [2, 3, 5]), ([2, 3, 5], [3, 4, 6]), ([1, 7, 2], [1, 7, 2]), ([0, 2, 2], [0, 2, 2])]
    {
        let array = |extents: [usize; 3]| {
            let xs: Vec<f64> = (0..extents.iter().product()).map(|i| (i as f64).sin()).collect();
            ArrayTuple::Array(RawArray { extents: extents[..].into(), columns: vec![Column::from(xs)].into() })
        };
        let inputs = ArrayTuple::Pair(std::sync::Arc::new((array([n, m, k]), array([n1, m1, k1]))));
        let run = |p: &Program| format!("{:?}", evaluate(p, &inputs).map_err(|e| e.to_string()));
        assert_eq!(run(&program(ROWS)), run(&fine), "{fine}");
    }
}

/// If the whole index is used for more than reading, and if one index is read before another one.
#[test]
fn strips_whose_dimensions_do_not_follow_each_other_have_no_finer_ones() {
    for (from, to) in [
        ("x4: f64 = exp x3", "x4: f64 = as f64 x1"),
        ("a0[x0, x1, x2] @0 inside; x4", "a1[x1, x0, x2] @0 inside; x4"),
        ("a0[x0, x1, x2] @0 inside; x4", "a0[x0, x1, x2] @0; x4"),
    ] {
        let text = ROWS.replacen(from, to, 1);
        assert_ne!(text, ROWS);
        let coarse = strips(&program(&text)).unwrap();
        let all = defined_by_strips(&coarse);
        assert!(!all.is_empty());
        assert_eq!(finer(&coarse, &all).unwrap().to_string(), dissolve(&coarse, &all).unwrap().to_string());
    }
}

/// Each position of a strip would read a column of the matrix.
#[test]
fn products_of_a_matrix_and_a_computed_vector_are_no_totals_of_strips() {
    let strips_of = |matrix: &str| {
        let text = format!(
            r#"program (a0: Array2<f64>, a1: Array1<f64>)
site 0 = "map"
{{
  a2: Array1<f64> = loop @0
    extents () {{ x0: i64 = extent a1 0 -> x0 }}
    body (x0: i64) {{ x1: f64 = a1[x0] @0 inside; x2: f64 = exp x1 -> x2 }}
  a3: Array1<f64> = reduce @0 sum
    extents () {{ x0: i64 = extent a0 0 -> x0 }}
    len () {{ x0: i64 = extent a1 0 -> x0 }}
    element (x0: i64, x1: i64) {{ x2: f64 = {matrix} @0; x3: f64 = a2[x1] @0 inside; x4: f64 = x2 * x3 -> x4 }}
    init () {{ x0: f64 = 0.0 -> x0 }}
    op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
  -> a3
}}"#
        );
        defined_by_strips(&strips(&program(&text)).unwrap()).len()
    };
    assert_eq!((strips_of("a0[x0, x1]"), strips_of("a0[x1, x0]")), (0, 1));
}

#[test]
fn what_cannot_run_in_strips_is_rejected() {
    let cases = [
        ("a2[x0] @0 inside -> x1 }\n        op", "a2[x1] @0 inside -> x1 }\n        op", "used before"),
        (
            "element (x0: i64, x1: i64) { x2: f64 = a1[x0, x1]",
            "element (x0: i64, x1: i64) { x2: f64 = a1[x1, x0]",
            "a2: cannot",
        ),
        ("len () { x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0 }", "len () { x0: i64 = 3 -> x0 }", "a1: cannot"),
        ("-> a2, a3\n", "-> a3, a3\n", "named twice"),
        (
            "x2: f64 = a3[] @0 inside; x3: f64 = x1 / x2 -> x3",
            "x2: f64 = a1[x0, x0] @0; x3: f64 = x1 / x2 -> x3",
            "outside of the block",
        ),
    ];
    for (from, to, says) in cases {
        assert!(STRIPPED.contains(from), "{from}");
        let text = STRIPPED.replacen(from, to, 1);
        let text = if to.contains("a3, a3") {
            text.replace("a2: Array1<f64>, a3: Array0<f64> = strip", "a3: Array0<f64>, a3: Array0<f64> = strip")
        } else {
            text
        };
        let e = verify(&program(&text)).unwrap_err().to_string();
        assert!(e.contains(says), "{says}: {e}");
    }
    // Another statement of the strip reads a total.
    let second = STRIPPED.replace("a2[x0] @0 inside; x2: f64 = a3[]", "a5[x0] @0 inside; x2: f64 = a3[]");
    assert!(verify(&program(&second)).is_err());
    let mut p = program(STRIPPED);
    let Op::Strip { body: last, .. } = p.body.stmts.remove(2).op else { panic!("a strip") };
    let Op::Strip { body, to, .. } = &mut p.body.stmts[1].op else { panic!("a strip") };
    body.stmts.extend(last.stmts.iter().cloned());
    to.push(ArrayId::new(6));
    assert!(verify(&p).unwrap_err().to_string().contains("a5: reads a total"));
}

#[test]
fn texts_of_strips_say_their_results_twice() {
    let e = accel_fusion::kernel::parse(&STRIPPED.replacen("-> a2, a3\n", "-> a2\n", 1)).unwrap_err();
    assert!(e.to_string().contains("whose results are the arrays that are defined"), "{e}");
}

#[test]
fn values_of_extents() {
    let p = program(
        r#"program (a0: Array2<f64>, a1: Array0<i64>)
site 0 = "map"
{
  a2: Array3<f64> = loop @0
    extents () {
      x0: i64 = extent a0 0
      x1: i64 = a1[] @0 inside
      x2: bool = x0 < x1
      x3: i64 = if x2 { -> x0 } else { -> x1 }
      x4: i64 = x0 * x1
      x5: i64 = x4 + x3
      -> x0, x4, x5
    }
    body (x0: i64, x1: i64, x2: i64) { x3: f64 = 0.0 -> x3 }
  -> a2
}"#,
    );
    let Op::Loop { extents, .. } = &p.body.stmts[0].op else { panic!("a loop") };
    assert_eq!(value(extents, 0).as_deref(), Some("a0.0"));
    assert!(value(extents, 1).is_some_and(|v| v.contains("a0.0 a1.0[]")));
    assert_eq!(value(extents, 2), None, "it depends on a branch");
    assert_eq!(value(extents, 3), None, "there is none");
}
