//! The verifier rejects every kind of broken program, and names the place.

use super::{EVERYTHING, program};
use accel_core::repr::op::{Num2, Op2};
use accel_core::repr::{Column, RawArray, ScalarType};
use accel_fusion::kernel::{
    ArrayId, ArrayInfo, Block, Instr, Monoid, Op, Program, Reg, ScalarFn, SiteId, Stmt, index_vec, verify,
};

const GOOD: &str = r#"program (a0: Array2<f64>, a1: Array1<f64, i64>)
site 0 = "map"
site 1 = "fold"
literal 0 = [2] f64 { 1.0 2.0 } i64 { 3 4 }
{
  a2: Array1<f64, i64> = literal 0 @0
  a3: Array2<f64>, a4: Array2<bool> = loop @0
    extents () { x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1 }
    body (x0: i64, x1: i64) {
      x2: f64 = a0[x0, x1] @0 inside
      x3: f64, x4: i64 = a1[x0] @0
      x5: bool = x2 < x3
      x6: f64 = if x5 {
        x7: f64 = x2 + x3
        -> x7
      } else {
        x8: f64 = sin x2
        -> x8
      }
      x9: i64, x10: f64 = while x4, x6 cond {
        x11: bool = x9 < x0
        -> x11
      } body {
        x12: i64 = x9 + x1
        -> x12, x2
      }
      -> x10, x5
    }
  a5: Array1<f64> = reduce @1 sum
    extents () { x0: i64 = extent a3 0 -> x0 }
    len () { x0: i64 = extent a3 1 -> x0 }
    element (x0: i64, x1: i64) { x2: f64 = a3[x0, x1] @1 inside -> x2 }
    init () { x0: f64 = 0.0 -> x0 }
    op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
  a6: Array1<i64> = scan @1 reverse
    extents () { -> }
    len () { x0: i64 = 3 -> x0 }
    element (x0: i64) { -> x0 }
    op (x0: i64, x1: i64) { x2: i64 = x0 - x1 -> x2 }
  a7: Array1<f64> = permute a5 @1 min
    extents () { x0: i64 = extent a5 0; x1: i64 = 2 -> x0, x1 }
    target (x0: i64, x1: i64) { x2: bool = true -> x2, x0 }
    element (x0: i64, x1: i64) { x2: f64 = 1.0 -> x2 }
    comb (x0: f64, x1: f64) { x2: f64 = min x0 x1 -> x2 }
  a8: Array2<f64> = reshape a7 @0
    extents () { x0: i64 = 1; x1: i64 = extent a7 0 -> x0, x1 }
  a9: Array2<f64> = if @0
    cond () { x0: bool = true -> x0 }
    then { -> a8 }
    else {
      a10: Array2<f64> = reshape a5 @0
        extents () { x0: i64 = 1 -> x0, x0 }
      -> a10
    }
  a15: Array1<i64>, a16: Array1<f64, i64>, a17: Array1<f64> = accumulate a1, a5 @0
    extents () { x0: i64 = 3 -> x0 }
    body (x0: i64) {
      x1: f64, x2: i64 = a1[x0] @1
      () = emit a16[x2] x1, x0 @1
      () = emit a17[x0] x1 @0 inside
      -> x2
    }
  a11: Array2<f64>, a12: Array1<f64> = while a9, a7 @0
    cond {
      a13: Array0<bool> = loop @0
        extents () { -> }
        body () { x0: i64 = extent a11 0; x1: bool = as bool x0 -> x1 }
      -> a13
    }
    body {
      a14: Array1<f64> = loop @0
        extents () { x0: i64 = 3 -> x0 }
        body (x0: i64) { x1: f64 = a12[x0] @0 -> x1 }
      -> a11, a14
    }
  a18: Array0<i64> = loop @0
    extents () { -> }
    body () { x0: i64 = 2 -> x0 }
  a19: Array2<f64>, a20: Array1<i64> = times a18 right a9 @0 row a21: Array0<i64>
    body {
      -> a19, a21
    }
  -> a11, a12, a6
}"#;

/// The verifier's message for `GOOD` with one piece of text replaced. The type of an array is written only at its
/// definition.
fn broken(from: &str, to: &str) -> String {
    assert_eq!(GOOD.matches(from).count(), 1, "{from:?} is not one place");
    let text = GOOD.replace(from, to);
    match verify(&program(&text)) {
        Ok(()) => panic!("accepted: {to}"),
        Err(e) => e.to_string(),
    }
}

#[track_caller]
fn rejects(changes: &[(&str, &str, &str)]) {
    for (from, to, message) in changes {
        let e = broken(from, to);
        assert!(e.starts_with("internal error: kernel program: ") && e.contains(message), "{to}\n{e}");
    }
}

#[test]
fn well_formed_programs_are_accepted() {
    verify(&program(GOOD)).unwrap();
    verify(&Program::default()).unwrap();
    // This program has a loop that defines nothing.
    let e = verify(&program(EVERYTHING)).unwrap_err().to_string();
    assert_eq!(e, "internal error: kernel program:  = loop of `generate`: no array is defined");
}

#[test]
fn the_place_is_told() {
    let e = broken("x7: f64 = x2 + x3", "x7: f64 = x2 + x4");
    let place = "a3, a4 = loop of `map`: body: x6: f64 = if x5: then: x7: f64 = x2 + x4: ";
    assert_eq!(e, format!("internal error: kernel program: {place}x4 is i64, and should be f64"));
}

#[test]
fn arrays() {
    rejects(&[
        // Arrays are defined once, before their uses and in their scope.
        ("(a0: Array2<f64>, a1", "(a0: Array2<f64>, a0: Array2<f64>, a1", "inputs: a0 is defined twice"),
        ("a0[x0, x1] @0 inside", "a9[x0, x1] @0 inside", "a9 is used before it is defined"),
        ("x0: i64 = extent a3 0", "x0: i64 = extent a5 0", "a5 is used before it is defined"),
        ("then { -> a8 }", "then { -> a11 }", "then: a11 is used before it is defined"),
        ("then { -> a8 }", "then { -> a99 }", "then: a99 does not exist"),
        (
            "else {\n      a10",
            "else { a8: Array2<f64> = reshape a5 @0 extents () { x0: i64 = 1 -> x0, x0 } a10",
            "else: a8 = reshape of `map`: a8 is defined twice",
        ),
        ("body {\n      a14", "body {\n      a13: Array0<bool> = literal 0 @0 a14", "literal 0 is an Array1<f64, i64>"),
        ("-> a11, a12, a6", "-> a11, a12, a10", "results: a10 is used outside of the block that defines it"),
        ("-> a11, a14", "-> a10, a14", "body: a10 is used outside"),
        ("while a9, a7", "while a11, a7", "a11 is used before it is defined"),
        ("permute a5", "permute a7", "a7 is used before it is defined"),
        ("reshape a7", "reshape a8", "a8 is used before it is defined"),
        // Ranks and columns.
        (
            "a2: Array1<f64, i64> = lit",
            "a2: Array2<f64, i64> = lit",
            "literal 0 is an Array1<f64, i64>, not an Array2<f64, i64>",
        ),
        ("literal 0 @0", "literal 1 @0", "literal 1 does not exist"),
        ("{ 3 4 }", "{ 3 4 5 }", "literal 0: 3 elements for extents [2]"),
        ("a3: Array2<f64>, a4: Array2<bool>", "a3: Array2<f64>, a4: Array1<bool>", "arrays of several ranks"),
        (
            "a3: Array2<f64>, a4: Array2<bool>",
            "a3: Array2<f64, f64>, a4: Array2<bool>",
            "body: results: 2 registers for 3",
        ),
        ("a3: Array2<f64>, a4: Array2<bool>", "a3: Array2<f32>, a4: Array2<bool>", "x10 is f64, and should be f32"),
        ("a6: Array1<i64> = scan", "a6: Array0<i64> = scan", "the result of a scan has no dimension"),
        ("a6: Array1<i64> = scan", "a6: Array2<i64> = scan", "extents: results: 0 registers for 1"),
        ("= scan @1 reverse", "= scan @1 reverse keeping 1", "columns [1] of"),
        ("a7: Array1<f64> = permute", "a7: Array1<i64> = permute", "a7 is an Array1<i64>, but a5 an Array1<f64>"),
        ("a8: Array2<f64> = reshape", "a8: Array2<f32> = reshape", "columns (f32) from an array with (f64)"),
        ("a9: Array2<f64> = if", "a9: Array3<f64> = if", "then: a9 is an Array3<f64>, but a8 an Array2<f64>"),
        ("then { -> a8 }", "then { -> a8, a8 }", "then: 2 arrays for 1"),
        ("while a9, a7", "while a9, a7, a7", "3 arrays for 2"),
        // Without an initial value, it is a list.
        ("while a9, a7", "while a9", "a12 is used before it is defined"),
        ("while a9, a7", "while a9, a9", "a12 is an Array1<f64>, but a9 an Array2<f64>"),
        ("-> a11, a14", "-> a14, a11", "body: a11 is an Array2<f64>, but a14 an Array1<f64>"),
        ("-> a13", "-> a11", "cond: a11 is an Array2<f64>"),
        ("times a18", "times a9", "times: a9 is an Array2<f64>"),
        ("times a18", "times a21", "times: a21 is used before it is defined"),
        ("row a21: Array0<i64>", "row a21: Array1<i64>", "row: a21 is an Array1<i64>"),
        ("-> a11, a12, a6", "-> a11, a12, a21", "results: a21 is used outside of the block that defines it"),
        // Sites.
        ("= reduce @1", "= reduce @2", "site 2 does not exist"),
        ("x2: f64 = a0[x0, x1] @0", "x2: f64 = a0[x0, x1] @7", "site 7 does not exist"),
    ]);
    let mut p = program(GOOD);
    p.literals[0].columns[0] = Column::from(vec![1.0]);
    assert!(verify(&p).unwrap_err().to_string().contains("literal 0: 1 elements for extents [2]"));
    p.literals[0] = RawArray { extents: vec![usize::MAX, 2].into(), columns: vec![Column::from(vec![1u8])].into() };
    assert!(verify(&p).unwrap_err().to_string().contains("literal 0: 1 elements"));
}

#[test]
fn codes_fit_their_place() {
    rejects(&[
        ("extent a0 1 -> x0, x1 }", "extent a0 1 -> x0 }", "extents: results: 1 registers for 2"),
        ("body (x0: i64, x1: i64) {", "body (x0: i64, x1: i64, x2: f64) {", "body: 3 parameters instead of 2"),
        ("body (x0: i64, x1: i64) {", "body (x0: i32, x1: i64) {", "body: parameters: x0 is i32, and should be i64"),
        ("-> x10, x5", "-> x5, x10", "body: results: x5 is bool, and should be f64"),
        ("len () { x0: i64 = 3 -> x0 }", "len () { x0: i64 = 3 -> x0, x0 }", "len: results: 2 registers for 1"),
        (
            "len () { x0: i64 = 3 -> x0 }",
            "len () { x0: f64 = 3.0 -> x0 }",
            "len: results: x0 is f64, and should be i64",
        ),
        ("element (x0: i64) { -> x0 }", "element (x0: i64, x1: i64) { -> x0 }", "element: 2 parameters instead of 1"),
        ("init () { x0: f64 = 0.0", "init () { x0: f32 = 0.0f32", "init: results: x0 is f32"),
        ("init () {", "init (x0: f64) {", "init: 1 parameters instead of 0"),
        ("op (x0: i64, x1: i64) {", "op (x0: i64) { x1: i64 = 1", "op: 1 parameters instead of 2"),
        ("x2: i64 = x0 - x1 -> x2 }", "x2: i64 = x0 - x1 -> x2, x2 }", "element: results: 1 registers for 2"),
        (
            "target (x0: i64, x1: i64) { x2: bool = true -> x2, x0 }",
            "target (x0: i64, x1: i64) { -> x0, x0 }",
            "target: results: x0 is i64",
        ),
        ("-> x2, x0 }", "-> x2, x0, x1 }", "target: results: 3 registers for 2"),
        (
            "element (x0: i64, x1: i64) { x2: f64 = 1.0",
            "element (x0: i64, x1: i64) { x2: i64 = 1",
            "element: results: x2 is i64",
        ),
        ("comb (x0: f64, x1: f64) {", "comb (x0: i64, x1: i64) {", "comb: parameters: x0 is i64"),
        ("cond () { x0: bool = true", "cond () { x0: i64 = 1", "cond: results: x0 is i64, and should be bool"),
        // Monoids.
        ("reduce @1 sum", "reduce @1 product", "op: this is not the operator `product`"),
        ("x0 + x1 -> x2 }", "x0 + x0 -> x2 }", "op: this is not the operator `sum`"),
        ("x0 + x1 -> x2 }", "x0 + x1 -> x1 }", "op: this is not the operator `sum`"),
        ("permute a5 @1 min", "permute a5 @1 max", "comb: this is not the operator `max`"),
        ("min x0 x1 -> x2", "min x1 x0 -> x2", "comb: this is not the operator `min`"),
    ]);
}

#[test]
fn registers() {
    rejects(&[
        // Registers are set once, before their uses and in their scope.
        ("x2: f64 = a0[x0, x1] @0", "x0: i64 = 3 x2: f64 = a0[x0, x1] @0", "x0: i64 = 3: x0 is defined twice"),
        ("a1[x0] @0", "a1[x4] @0", "x4 is used before it is defined"),
        ("x7: f64 = x2 + x3", "x7: f64 = x2 + x7", "x7 is used before it is defined"),
        ("-> x7\n", "-> x8\n", "then: x8 is used before it is defined"),
        ("-> x8\n", "-> x7\n", "else: x7 is used outside of the block that defines it"),
        ("-> x12, x2\n", "-> x12, x8\n", "body: x8 is used outside of the block that defines it"),
        ("x12: i64 = x9 + x1", "x12: i64 = as i64 x11", "x11 is used outside of the block that defines it"),
        ("-> x10, x5", "-> x7, x5", "results: x7 is used outside of the block that defines it"),
        ("-> x10, x5", "-> x77, x5", "results: x77 does not exist"),
        ("x9: i64, x10: f64 = while x4, x6", "x9: i64, x10: f64 = while x9, x6", "x9 is used before it is defined"),
        ("x3: f64, x4: i64 = a1", "x3: f64, x3: f64, x4: i64 = a1", "3 registers for 2"),
        // Types.
        ("x2: f64 = a0[x0, x1] @0", "x2: f32 = a0[x0, x1] @0", "x2 is f32, and should be f64"),
        ("a1[x0] @0", "a1[x2] @0", "index: x2 is f64, and should be i64"),
        ("a1[x0] @0", "a1[x0, x1] @0", "index: 2 registers for 1"),
        ("x8: f64 = sin x2", "x8: f64 = sin x0", "`sin` is not defined for i64"),
        ("x8: f64 = sin x2", "x8: f32 = sin x2", "x8 is f32, and should be f64"),
        ("x7: f64 = x2 + x3", "x7: f64 = x2 + x0", "x0 is i64, and should be f64"),
        ("x7: f64 = x2 + x3", "x7: f64 = x2 & x3", "`&` is not defined for f64"),
        ("x5: bool = x2 < x3", "x5: f64 = x2 < x3", "x5 is f64, and should be bool"),
        ("x0: f64 = 0.0", "x0: f64 = 0", "x0 is f64, and should be i64"),
        ("x0: i64 = extent a0 0", "x0: i64 = extent a0 2", "an Array2<f64> has no dimension 2"),
        ("x6: f64 = if x5", "x6: f64 = if x2", "x2 is f64, and should be bool"),
        ("-> x7\n", "-> x0\n", "then: x0 is i64, and should be f64"),
        ("-> x8\n", "-> x0\n", "else: x0 is i64, and should be f64"),
        ("while x4, x6", "while x6, x6", "x6 is f64, and should be i64"),
        ("-> x11\n", "-> x9\n", "cond: x9 is i64, and should be bool"),
        ("-> x12, x2\n", "-> x2, x12\n", "body: x2 is f64, and should be i64"),
        ("-> x12, x2\n", "-> x12\n", "body: 1 registers for 2"),
    ]);
}

#[test]
fn sums() {
    rejects(&[
        // Arrays, and their initial values.
        ("accumulate a1, a5", "accumulate a5, a1", "sums: a16 is an Array1<f64, i64>, but a5 an Array1<f64>"),
        ("accumulate a1, a5", "accumulate a1, a11", "sums: a11 is used before it is defined"),
        ("accumulate a1, a5", "accumulate a1, a16", "sums: a16 is used before it is defined"),
        ("accumulate a1, a5", "accumulate a1, a1", "sums: a17 is an Array1<f64>, but a1 an Array1<f64, i64>"),
        ("a15: Array1<i64>, a16", "a15: Array2<i64>, a16", "arrays of a rank other than 1"),
        ("a15: Array1<i64>, a16", "a15: Array1<f64>, a16", "results: x2 is i64, and should be f64"),
        (
            "x0: i64 = 3 -> x0 }\n    body (x0: i64) {\n      x1: f64, x2",
            "x0: i64 = 3 -> x0, x0 }\n    body (x0: i64) {\n      x1: f64, x2",
            "arrays of a rank other than 2",
        ),
        // Only the sums of the statement, and each with its columns.
        ("emit a16[x2] x1, x0", "emit a15[x2] x0", "a15 is no sum of this statement"),
        ("emit a16[x2] x1, x0", "emit a1[x2] x1, x0", "a1 is no sum of this statement"),
        ("emit a16[x2] x1, x0", "emit a99[x2] x1, x0", "a99 is no sum of this statement"),
        ("emit a16[x2] x1, x0", "emit a16[x1] x1, x0", "index: x1 is f64, and should be i64"),
        ("emit a16[x2] x1, x0", "emit a16[x2, x0] x1, x0", "index: 2 registers for 1"),
        ("emit a16[x2] x1, x0", "emit a16[x2] x1", "values: 1 registers for 2"),
        ("emit a16[x2] x1, x0", "emit a16[x2] x0, x1", "values: x0 is i64, and should be f64"),
        ("emit a16[x2] x1, x0", "emit a16[x2] x7, x0", "values: x7 does not exist"),
        ("x1, x0 @1", "x1, x0 @7", "site 7 does not exist"),
        // The sum is not read.
        ("x1: f64, x2: i64 = a1[x0]", "x1: f64, x2: i64 = a16[x0]", "a16 is used before it is defined"),
        (
            "x1: f64, x2: i64 = a1[x0]",
            "x3: i64 = extent a17 0 x1: f64, x2: i64 = a1[x0]",
            "a17 is used before it is defined",
        ),
        // Other statements do not add.
        (
            "x8: f64 = sin x2",
            "x8: f64 = sin x2 () = emit a0[x0, x1] x8 @0",
            "else: () = emit a0[x0, x1] x8 @0: a0 is no sum of this statement",
        ),
        (
            "element (x0: i64) { -> x0 }",
            "element (x0: i64) { () = emit a5[x0] x0 @0 -> x0 }",
            "a5 is no sum of this statement",
        ),
    ]);
    let text = "program (a0: Array1<bool>) site 0 = \"map\" { a1: Array1<bool> = accumulate a0 @0 \
                extents () { -> } body () { -> } -> a1 }";
    let e = verify(&program(text)).unwrap_err().to_string();
    assert!(e.contains("sums: a1 is an Array1<bool>, with a column of no numbers"), "{e}");
}

/// Errors that the textual form cannot express.
#[test]
fn numbers_out_of_range_do_not_panic() {
    let info = ArrayInfo { rank: 0, columns: vec![ScalarType::F64] };
    let (a, x) = (ArrayId::new, Reg::new);
    let with = |op: Op| {
        let body = Block { stmts: vec![Stmt { op, site: SiteId::new(0) }] };
        let sites = program("program () site 0 = \"map\" { -> }").sites;
        let p = Program { arrays: index_vec![info.clone()], body, sites, ..Program::default() };
        // Neither printing nor verifying panics.
        let text = p.to_string();
        (text, verify(&p).unwrap_err().to_string())
    };
    let (text, e) = with(Op::Literal { to: a(3), literal: 0 });
    assert!(text.contains("a3: ? = literal 0 @0") && e.contains("a3 does not exist"), "{text}\n{e}");
    let instrs = vec![Instr::Op2(x(5), Op2::Num(Num2::Add), x(6), x(7))];
    let code = ScalarFn { params: 0, types: index_vec![], instrs, results: vec![x(5)] };
    let (text, e) = with(Op::Loop { to: vec![a(0)], extents: ScalarFn::default(), body: code });
    assert!(text.contains("x5: ? = x6 + x7") && e.contains("x6 does not exist"), "{text}\n{e}");
    let code = ScalarFn { params: 2, ..ScalarFn::default() };
    let (text, e) = with(Op::Loop { to: vec![a(0)], extents: ScalarFn::default(), body: code });
    assert!(text.contains("body (x0: ?, x1: ?)") && e.contains("2 parameters instead of 0"), "{text}\n{e}");
    let merge = vec![(x(9), x(9), x(9))];
    let instrs = vec![Instr::If { cond: x(0), then: vec![].into(), otherwise: vec![].into(), merge }];
    let code = ScalarFn { params: 0, types: index_vec![ScalarType::Bool], instrs, results: vec![] };
    let (_, e) = with(Op::Loop { to: vec![a(0)], extents: code, body: ScalarFn::default() });
    assert!(e.contains("x0 is used before"), "{e}");
    let p = Program { results: vec![a(4)], inputs: vec![a(9)], ..Program::default() };
    assert!(verify(&p).unwrap_err().to_string().contains("inputs: a9 does not exist"), "{p}");
    assert_eq!(Monoid::Max.to_string(), "max");
}

/// A loop that offers its state, and one that recalls it.
const TAPE: &str = r#"program (a0: Array1<f64>)
site 0 = "loop"
{
  a1: Array1<f64> = while a0 @0
    cond {
      a2: Array0<bool> = loop @0
        extents () { -> }
        body () { x0: bool = false -> x0 }
      -> a2
    }
    body {
      () = keep 0 a1 @0
      -> a1
    }
  a3: Array1<f64> = recall 0 @0
    at () { x0: i64 = 0 -> x0 }
    step {
      -> a3
    }
  -> a3
}"#;

#[test]
fn tapes() {
    verify(&program(TAPE)).unwrap();
    assert_eq!(program(TAPE).to_string(), TAPE);
    for (from, to, message) in [
        ("() = keep 0 a1 @0", "() = keep 0 a3 @0", "a3 is used before it is defined"),
        ("() = keep 0 a1 @0", "() = keep 0 a1 @0 () = keep 0 a1 @0", "tape 0 is filled twice"),
        ("() = keep 0 a1 @0", "() = keep 1 a1 @0", "tape 0 is not filled before"),
        ("() = keep 0 a1 @0", "() = keep 0 a1, a0 @0", "tape 0 has other arrays"),
        ("() = keep 0 a1 @0", "", "tape 0 is not filled before"),
        ("x0: i64 = 0 -> x0", "x0: f64 = 0.0 -> x0", "at: results: x0 is f64"),
        ("step {\n      -> a3", "step {\n      -> a2", "step: a2 is used outside"),
        ("step {\n      -> a3", "step {\n      -> a3, a3", "step: 2 arrays for 1"),
        (
            "  -> a3\n}",
            "  a4: Array1<f64> = recall 0 @0 at () { x0: i64 = 0 -> x0 } step { -> a4 } -> a3\n}",
            "tape 0 is used twice",
        ),
    ] {
        assert!(TAPE.contains(from));
        let e = verify(&program(&TAPE.replacen(from, to, 1))).unwrap_err().to_string();
        assert!(e.contains(message), "{to}\n{e}");
    }
}
