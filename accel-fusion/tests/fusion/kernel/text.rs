//! The textual form and its parser.

use super::{EVERYTHING, program};
use accel_core::repr::op::{Family, Float1, Op1, Op2};
use accel_core::repr::{Scalar, ScalarType};
use accel_fusion::kernel::{
    ArrayId, ArrayInfo, Instr, Op, Program, Reg, ScalarFn, Site, SiteId, Stmt, index_vec, parse,
};

#[test]
fn what_is_printed_is_read_back() {
    let p = program(EVERYTHING);
    assert_eq!(p.to_string(), EVERYTHING);
    // Not only the text is the same, but all data.
    assert_eq!(format!("{:?}", program(&p.to_string())), format!("{p:?}"));
    assert_eq!((p.arrays.len(), p.sites.len(), p.literals.len()), (24, 3, 3));
    assert_eq!(p.arrays[12], ArrayInfo { rank: 3, columns: vec![ScalarType::I8] });
    assert_eq!(program("program () { -> }").to_string(), "program ()\n{\n  ->\n}");
}

#[test]
fn names_of_sites_have_any_characters() {
    for name in ["a \"b\" 'c' \\", "\u{2}fold", "two\nlines\r\0\t", "\u{200b}é\u{1f600}"] {
        let p = program(&format!("program ()\nsite 0 = {name:?}\n{{ -> }}"));
        assert_eq!(p.sites[0].name, name);
        assert_eq!(program(&p.to_string()).sites[0].name, name);
    }
    // Lines inside names are counted, too.
    let error = parse("program ()\nsite 0 = \"two\nlines\"\n?").unwrap_err().to_string();
    assert!(error.starts_with("line 4:"), "{error}");
    assert!(parse("program () site 0 = \"\\u{110000}\" { -> }").is_err());
}

/// A loop of rank 0 with this body.
fn with_code(body: ScalarFn) -> Program {
    let to = ArrayId::new(0);
    Program {
        arrays: index_vec![ArrayInfo { rank: 0, columns: body.results.iter().map(|r| body.types[*r]).collect() }],
        body: accel_fusion::kernel::Block {
            stmts: vec![Stmt {
                op: Op::Loop { to: vec![to], extents: ScalarFn::default(), body },
                site: SiteId::new(0),
            }],
        },
        results: vec![to],
        sites: index_vec![Site { name: "generate", at: None, proved: false, fixed: 0 }],
        ..Program::default()
    }
}

/// The first instructions of the first statement.
fn instrs(p: &Program) -> &[Instr] {
    match &p.body.stmts[0].op {
        Op::Loop { body, .. } => &body.instrs,
        op => panic!("a loop, not {op:?}"),
    }
}

#[test]
fn constants_keep_their_type_and_their_bits() {
    let constants = [
        Scalar::Bool(true),
        Scalar::I8(-128),
        Scalar::I16(-1),
        Scalar::I32(i32::MIN),
        Scalar::I64(i64::MIN),
        Scalar::I64(i64::MAX),
        Scalar::U8(255),
        Scalar::U16(1),
        Scalar::U32(32),
        Scalar::U64(u64::MAX),
        Scalar::F32(0.1),
        Scalar::F32(1e-40),
        Scalar::F32(f32::NEG_INFINITY),
        Scalar::F32(f32::NAN),
        Scalar::F32(f32::from_bits(0xffc0_1234)),
        Scalar::F64(0.1),
        Scalar::F64(-0.0),
        Scalar::F64(1e300),
        Scalar::F64(5e-324),
        Scalar::F64(f64::INFINITY),
        Scalar::F64(f64::NAN),
        Scalar::F64(f64::from_bits(0xfff8_0000_0000_0f32)),
        Scalar::F64(f64::from_bits(0x7ff8_0000_0000_0f64)),
    ];
    let types = constants.iter().map(|x| x.ty()).collect();
    let instrs_of = constants.iter().enumerate().map(|(k, x)| Instr::Const(Reg::new(k), *x)).collect();
    let p = with_code(ScalarFn { params: 0, results: vec![], types, instrs: instrs_of });
    let text = p.to_string();
    let again = program(&text);
    for (i, x) in instrs(&again).iter().zip(constants) {
        assert!(matches!(i, Instr::Const(_, y) if *y == x), "{x:?} became {i:?}");
    }
    assert_eq!(again.to_string(), text);
    for expected in ["x1: i8 = -128i8", "x10: f32 = 0.1f32", "x12: f32 = -inf_f32", "x20: f64 = nan\n"] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    // The elements of a literal get their type from the column.
    let literal = "program ()\nliteral 0 = [2] f32 { nan_0xFFC01234 1e-40 } i8 { -1 2 }\n{\n  ->\n}";
    assert_eq!(program(literal).to_string(), literal);
}

#[test]
fn every_function_has_a_name_that_is_read_back() {
    let further = Family::ALL.into_iter().flat_map(|f| (2..5).map(move |n| Op1::Float(Float1::Family(f, n))));
    let op1 = Op1::all().chain(further);
    let x = Reg::new(0);
    let all: Vec<Instr> =
        op1.map(|op| Instr::Op1(x, op, x)).chain(Op2::all().map(|op| Instr::Op2(x, op, x, x))).collect();
    // The text does not check types, nor that a register is set once.
    let p = with_code(ScalarFn { params: 0, results: vec![], types: index_vec![ScalarType::F64], instrs: all });
    assert_eq!(format!("{:?}", program(&p.to_string())), format!("{p:?}"));
}

#[test]
fn mistakes_are_told_with_line_and_expectation() {
    let errors = [
        ("", "line 1: expected `program`, found the end of the text"),
        ("program (a0: f64)", "line 1: expected the type of an array such as `Array1<f64>`, found `f64`"),
        ("program (x0: Array1<f64>)", "line 1: expected an array such as `a0`, found `x0`"),
        ("program (a0: Array1<f63>)", "line 1: expected a scalar type, found `f63`"),
        ("program ()\nsite 1 = \"map\"", "line 2: expected `0`, found `1`"),
        ("program ()\nsite 0 = map", "line 2: expected a quoted name, found `map`"),
        ("program ()\nsite 0 = \"map", "line 2: expected the end of a quoted name, found \"map"),
        ("program ()\nliteral 0 = [2] u8 { 1 256 }", "line 2: expected a constant of type u8 or `}`, found `256`"),
        ("program ()\n{\n  a0: Array0<> = fold @0\n", "line 3: expected an operation"),
        ("program () { -> } x", "line 1: expected the end of the text, found `x`"),
        ("program () { -> a0 a1 }", "line 1: expected `,` or `}`, found `a1`"),
        (
            "program () {\n a1: Array0<> = literal 0 @0\n ->\n }",
            "line 4: expected a definition or `unset` of a0 before this",
        ),
        ("program ()\n{\n  a0: Array0<>, a1: Array0<> = reshape", "line 3: expected one array for `reshape`"),
        ("program ()\n{ #", "line 2: expected a kernel program, found `#`"),
        (
            "program (a0: Array1<f64>)\nunset a0: Array2<f64> {",
            "line 2: expected `a0: Array1<f64>` as before, found `a0 : Array2",
        ),
    ];
    for (text, message) in errors {
        let e = parse(text).unwrap_err().to_string();
        assert!(e.starts_with(message), "{text}\n{e}");
    }
    let code = |instr: &str| format!("program () {{ a0: Array0<> = loop @0 extents () {{ -> }} body () {{\n{instr}");
    let errors = [
        ("x0 = 1", "expected `:`"),
        ("x0: i64 = 1e", "expected a constant, a function, a read"),
        ("x0: i64, x1: i64 = 1", "expected one register"),
        ("x0: i64 = x1 sin x2", "expected an operator such as `+`, found `sin`"),
        ("x0: i64 = x1 + 1", "expected a register such as `x0`, found `1`"),
        ("x0: i64 = as int x1", "expected a scalar type"),
        ("x0: i64 = polygamma(256) x1", "expected the order of a function"),
        ("x0: i64 = a0[x1]", "expected `@`"),
        ("x0: i64 = extent a0", "expected a dimension"),
        ("x0: i64 = if x1 { -> } else { -> x2 }", "expected as many registers as both branches have results (0, 1)"),
        (
            "x0: i64 = while () cond { -> x1 } body { -> }",
            "expected as many registers as first values and lists (0, 0)",
        ),
        ("x0: i64 = while x1 cond { -> x2, x3 }", "expected `}`, found `,`"),
        ("x3: i64 = 1 -> x3 }", "expected a definition or `unset` of x0"),
        ("x99999999999: i64 = 1", "expected a register"),
    ];
    for (instr, message) in errors {
        let e = parse(&code(instr)).unwrap_err().to_string();
        assert!(e.starts_with(&format!("line 2: {message}")), "{instr}\n{e}");
    }
    let e = parse("program () { a0: Array0<> = loop @0 extents (x1: i64) {").unwrap_err().to_string();
    assert_eq!(e, "line 1: expected parameter 0 to be x0, found `x1`");
}

/// Without any one of its characters, a text gives an error or another program, but never a panic.
#[test]
fn broken_texts_do_not_panic() {
    for (start, c) in EVERYTHING.char_indices() {
        let without = format!("{}{}", &EVERYTHING[..start], &EVERYTHING[start + c.len_utf8()..]);
        if let Ok(p) = parse(&without) {
            assert_eq!(program(&p.to_string()).to_string(), p.to_string());
        }
        let _ = parse(&EVERYTHING[..start]);
    }
}
