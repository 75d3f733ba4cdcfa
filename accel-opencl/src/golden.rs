//! The programs whose kernels are golden texts, and some of the same kinds: the device compiles all of their kernels, and computes what the
//! evaluator of kernel programs does.

#[path = "../../accel-codegen/tests/text/programs.rs"]
mod programs;

use crate::built_program::{Code, upload};
use crate::device::OpenDevice;
use crate::replay::Recording;
use crate::run::{Array, Place, Run, Stop, Walked};
use crate::{OpenCl, Shape, read_back};
use accel_codegen::opencl::Target;
use accel_core::error::{Error, Result};
use accel_core::repr::{ArrayTuple, Column, RawArray, Scalar, ScalarType};
use accel_fusion::kernel::{Program, Verified, evaluate, parse};
use std::io::Write;
use std::sync::Arc;

/// The text of a program, which `assert_snapshot` takes: here it is not the code that is compared.
pub fn code(text: &str) -> String {
    text.into()
}

macro_rules! assert_snapshot {
    ($text:expr) => {
        crate::golden::check(&$text)
    };
}
pub(crate) use assert_snapshot;

/// The device, if there is one.
fn device() -> Option<Arc<OpenDevice>> {
    match OpenCl::shared() {
        Ok(backend) => Some(backend.device.clone()),
        Err(e) => {
            let _ = writeln!(std::io::stderr(), "LEFT OUT: {e}");
            None
        }
    }
}

/// The program of a text.
fn parsed(text: &str) -> Verified<Program> {
    parse(text).and_then(Verified::new).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// An array of small numbers that are not zero.
fn argument(types: &[ScalarType], extents: Vec<usize>) -> RawArray {
    let n = extents.iter().product();
    let columns = types.iter().map(|t| {
        let mut column = Column::zeros(*t, n).unwrap();
        (0..n).for_each(|i| assert!(column.set(i, t.from_f64(1.0 + (i * 7 % 5) as f64))));
        column
    });
    RawArray { columns: columns.collect(), extents: extents.into() }
}

/// The arguments of a program: vectors of one length, other arrays of another one.
fn arguments(p: &Program, [vector, other]: [usize; 2]) -> Vec<RawArray> {
    let of = |a: &usize| {
        let info = &p.arrays[*a];
        argument(&info.columns, vec![if info.rank == 1 { vector } else { other }; info.rank])
    };
    p.inputs.iter().map(of).collect()
}

/// What the device computes.
fn run(code: &Code, arguments: &[RawArray]) -> Result<Vec<RawArray>> {
    read_back::to_host(code, walked(Run::start(code, arguments.iter().map(Array::host).collect()))?)
}

/// What a function of runs gives for arguments that are not too large.
fn walked<T>(done: Walked<T>) -> Result<T> {
    done.map_err(|stop| match stop {
        Stop::Error(e) => e,
        _ => panic!("the arguments are too large"),
    })
}

/// Compares with the evaluator for all kinds of targets.
pub fn check(text: &str) {
    let program = parsed(text);
    compare(&program, &[[7, 7], [40, 40], [3000, 60]], |t| t);
}

fn compare(program: &Verified<Program>, sizes: &[[usize; 2]], target: impl Fn(Target) -> Target) {
    for shape in [Shape::Cpu, Shape::Gpu] {
        compare_for(program, sizes, |own| target(Target { shape, look_back: false, ..own }));
    }
    // Only scans have kernels that look back.
    if program.to_string().contains("= scan @") {
        compare_for(program, sizes, |own| target(looking_back(own)));
    }
}

/// Groups wait for each other, if the device has what they need for that.
fn looking_back(target: Target) -> Target {
    Target { shape: Shape::Gpu, look_back: target.atomics_64, ..target }
}

/// Compares with the evaluator for one target.
fn compare_for(program: &Verified<Program>, sizes: &[[usize; 2]], target: impl Fn(Target) -> Target) {
    let Some(device) = device() else { return };
    let target = target(device.target());
    let what = format!("{target:?}");
    let code = Arc::new(Code::new(program.clone(), device.clone(), target).unwrap());
    for (k, size) in sizes.iter().enumerate() {
        let arguments = arguments(program, *size);
        let tuple = arguments.iter().rev().fold(ArrayTuple::Unit, |rest, a| match rest {
            ArrayTuple::Unit => ArrayTuple::Array(a.clone()),
            rest => ArrayTuple::Pair(Arc::new((ArrayTuple::Array(a.clone()), rest))),
        });
        let expected = evaluate(program, &tuple);
        // A second run knows what the first one launched, whatever the size is. Then it is recorded, and done twice again.
        let mut runs: Vec<_> = (0..if k == 0 { 2 } else { 1 }).map(|_| run(&code, &arguments)).collect();
        runs.extend(again(&code, &arguments));
        for found in runs {
            match (&expected, found) {
                (Ok(expected), Ok(found)) => {
                    let pairs = expected.iter().zip(&found);
                    pairs.for_each(|(e, f)| same(e, f, &format!("{what} {size:?}\n{program}")));
                }
                (Err(expected), Err(found)) => assert_eq!(what_failed(&found), what_failed(expected)),
                (_, found) => panic!("{what} {size:?} {:?} {:?}\n{program}", found.err(), expected.err()),
            }
        }
    }
}

/// What a recorded run computes when it is done twice again; nothing if it cannot be recorded.
fn again(code: &Arc<Code>, arguments: &[RawArray]) -> Vec<Result<Vec<RawArray>>> {
    let arguments: Vec<&RawArray> = arguments.iter().collect();
    let record = |inputs: &[Array]| Ok((code.clone(), walked(Run::record(code, inputs.to_vec()))?));
    match Recording::new(&code.device, &arguments, record) {
        Ok(None) => vec![],
        Ok(Some(mut recording)) => [(); 2].map(|()| recording.run(&arguments)).into(),
        Err(e) => vec![Err(e)],
    }
}

/// The message of an error without the index: if several elements fail, the device tells of any of them.
fn what_failed(e: &Error) -> String {
    match e {
        Error::OutOfBounds { op, shape, .. } => format!("{op} outside of {shape:?}"),
        e => e.to_string(),
    }
}

/// The same integers, and floating-point numbers up to what the order of additions and functions make different.
fn same(expected: &RawArray, found: &RawArray, what: &str) {
    assert_eq!(found.extents, expected.extents, "{what}");
    for (e, f) in expected.columns.iter().zip(&found.columns) {
        for i in 0..e.len() {
            let (e, f) = (e.get(i).unwrap(), f.get(i).unwrap());
            match (e, f) {
                (Scalar::F32(e), Scalar::F32(f)) => {
                    assert!((e - f).abs() <= 1e-5 * e.abs() || e == f, "{e} {f} {what}")
                }
                (Scalar::F64(e), Scalar::F64(f)) => {
                    assert!((e - f).abs() <= 1e-12 * e.abs() || e == f, "{e} {f} {what}")
                }
                _ => assert_eq!(f, e, "{what}"),
            }
        }
    }
}

/// Few targets and many elements, for all kinds of types and operators: with and without atomic operations on 64 bits.
#[test]
fn histograms() {
    for t in ["i32", "u32", "f32", "i64", "u64", "f64", "u8", "i16"] {
        for (known, op) in [("sum", "x0 + x1"), ("product", "x0 * x1"), ("min", "min x0 x1"), ("max", "max x0 x1")] {
            if known != "sum" && !["i32", "f32", "i64"].contains(&t) {
                continue;
            }
            // Every element is near one: products of many are still numbers that can be compared.
            let element = if t.starts_with('f') && known == "product" {
                format!("x1: {t} = 1.001{} -> x1", if t == "f32" { "f32" } else { "" })
            } else {
                format!("x1: {t} = as {t} x0 -> x1")
            };
            let program = parsed(&format!(
                "program (a0: Array1<i64>, a1: Array2<{t}>)
                 site 0 = \"here\"
                 {{
                   a2: Array2<{t}> = permute a1 @0 {known}
                     extents () {{ x0: i64 = extent a0 0 -> x0 }}
                     target (x0: i64) {{ x1: i64 = a0[x0] @0 inside; x2: i64 = 4; x3: bool = x1 != x2; x4: i64 = x0 & x1 -> x3, x1, x4 }}
                     element (x0: i64) {{ {element} }}
                     comb (x0: {t}, x1: {t}) {{ x2: {t} = {op} -> x2 }}
                   -> a2
                 }}"
            ));
            let sizes = [[10_000, 7], [20_000, 40]];
            compare(&program, &sizes, |target| target);
            if t == "u64" {
                compare(&program, &sizes, |target| Target { atomics_64: false, ..target });
            }
        }
    }
}

/// Targets outside of the array are found, and nobody waits at a barrier for those who have found them.
#[test]
fn histograms_that_fail() {
    let program = parsed(
        "program (a0: Array1<i64>, a1: Array2<i32>)
         site 0 = \"here\"
         {
           a2: Array2<i32> = permute a1 @0 sum
             extents () { x0: i64 = extent a0 0 -> x0 }
             target (x0: i64) { x1: bool = true; x2: i64 = 9; x3: i64 = 0 -> x1, x2, x3 }
             element (x0: i64) { x1: i32 = 1i32 -> x1 }
             comb (x0: i32, x1: i32) { x2: i32 = x0 + x1 -> x2 }
           -> a2
         }",
    );
    compare(&program, &[[10_000, 7], [10_000, 40]], |t| t);
}

/// A read that was proved to be inside and is not is told of as such.
#[test]
fn wrong_proofs() {
    let program = parsed(
        "program (a0: Array1<i64>)
         site 0 = \"map\"
         site 1 = \"index\" proved
         {
           a1: Array1<i64> = loop @0 extents () { x0: i64 = extent a0 0 -> x0 }
             body (x0: i64) { x1: i64 = extent a0 0; x2: i64 = a0[x1] @1 -> x2 }
           a2: Array0<i64> = reduce @0 sum extents () { -> } len () { x0: i64 = extent a0 0 -> x0 }
             element (x0: i64) { x1: i64 = a1[x0] @0 inside -> x1 }
             init () { x0: i64 = 0 -> x0 } op (x0: i64, x1: i64) { x2: i64 = x0 + x1 -> x2 }
           -> a2
         }",
    );
    let error = program.evaluate(&ArrayTuple::Array(arguments(&program, [7, 7]).remove(0))).unwrap_err().to_string();
    assert!(error.contains("the compiler took an index for inside that is not"), "{error}");
    compare(&program, &[[7, 7], [10_000, 7]], |t| t);
}

/// All go to the only element there is, which nothing can be outside of.
#[test]
fn one_target() {
    check(
        "program (a0: Array1<i32>)
         site 0 = \"here\"
         {
           a1: Array0<i32> = loop @0 extents () { -> } body () { x0: i32 = 7i32 -> x0 }
           a2: Array0<i32> = permute a1 @0 sum
             extents () { x0: i64 = extent a0 0 -> x0 }
             target (x0: i64) { x1: i32 = a0[x0] @0 inside; x2: i32 = 3i32; x3: bool = x1 < x2 -> x3 }
             element (x0: i64) { x1: i32 = a0[x0] @0 inside -> x1 }
             comb (x0: i32, x1: i32) { x2: i32 = x0 + x1 -> x2 }
           -> a2
         }",
    );
}

/// A loop whose end depends on what nobody has computed, because that failed, does not begin.
#[test]
fn loops_after_a_failure() {
    check(
        "program (a0: Array1<i64>)
         site 0 = \"here\"
         {
           a1: Array1<i64> = loop @0
             extents () { x0: i64 = extent a0 0 -> x0 }
             body (x0: i64) { x1: i64 = a0[x0] @0 inside; x2: i64 = 3; x3: i64 = x1 - x2; x4: i64 = x1 / x3 -> x4 }
           a2: Array1<i64> = loop @0
             extents () { x0: i64 = extent a0 0 -> x0 }
             body (x0: i64) {
               x1: i64 = a1[x0] @0 inside
               x2: i64 = while x1 cond { x3: i64 = 1; x4: bool = x2 != x3 -> x4 }
                 body { x5: i64 = 1; x6: i64 = x2 - x5 -> x6 }
               -> x2 }
           -> a2
         }",
    );
}

/// The program of a scan of rows.
struct Scan<'a> {
    array: &'a str,
    types: &'a str,
    direction: &'a str,
    element: &'a str,
    init: &'a str,
    op: &'a str,
}

impl Scan<'_> {
    /// The rows of `a0`, an array of rank 1 or 2.
    fn program(&self) -> Verified<Program> {
        let Scan { array, types, direction, element, init, op } = self;
        let [extents, len, index, rank] = match array.starts_with("Array2") {
            true => ["x0: i64 = extent a0 0 -> x0", "x0: i64 = extent a0 1 -> x0", "x0: i64, x1: i64", "2"],
            false => ["->", "x0: i64 = extent a0 0 -> x0", "x0: i64", "1"],
        };
        let text = format!(
            "program (a0: {array})
             site 0 = \"here\"
             {{
               a1: Array{rank}<{types}> = scan @0 {direction}
                 extents () {{ {extents} }}
                 len () {{ {len} }}
                 element ({index}) {{ {element} }}
                 {init}
                 op {op}
               -> a1
             }}"
        );
        parsed(&text)
    }
}

/// Items compute several elements at a time, of which the last ones have fewer: of two arrays, one written over what the other was read
/// from, and sums of them.
#[test]
fn elements_at_a_time() {
    let text = "program (a0: Array1<i32>)
        site 0 = \"here\"
        {
          a1: Array1<i32>, a2: Array1<u8> = loop @0
            extents () { x0: i64 = extent a0 0 -> x0 }
            body (x0: i64) {
              x1: i32 = a0[x0] @0 inside; x2: i32 = as i32 x0; x3: i32 = x1 * x2; x4: u8 = as u8 x3 -> x3, x4 }
          a3: Array1<i32> = loop @0
            extents () { x0: i64 = extent a0 0 -> x0 }
            body (x0: i64) { x1: i32 = a1[x0] @0 inside; x2: i32 = 7i32; x3: i32 = x1 - x2 -> x3 }
          a4: Array0<i32, u8> = reduce @0
            extents () { -> }
            len () { x0: i64 = extent a0 0 -> x0 }
            element (x0: i64) { x1: i32 = a3[x0] @0 inside; x2: u8 = a2[x0] @0 inside -> x1, x2 }
            init () { x0: i32 = 0i32; x1: u8 = 0u8 -> x0, x1 }
            op (x0: i32, x1: u8, x2: i32, x3: u8) { x4: i32 = x0 + x2; x5: u8 = x1 + x3 -> x4, x5 }
          a5: Array0<i32> = reduce @0 sum
            extents () { -> }
            len () { x0: i64 = extent a0 0 -> x0 }
            element (x0: i64) { x1: i32 = a3[x0] @0 inside -> x1 }
            init () { x0: i32 = 5i32 -> x0 }
            op (x0: i32, x1: i32) { x2: i32 = x0 + x1 -> x2 }
          -> a2, a3, a4, a5
        }";
    let program = parsed(text);
    // Of one unit, so that this is enough for items to take turns.
    let sizes = [32_768, 33_001].map(|n| [n, 1]);
    for wide in [false, true] {
        compare(&program, &sizes, |t| Target { units: 1, wide, ..t });
    }
}

/// Extents and choices that depend on elements are found in every run, also through what the host computes itself.
#[test]
fn what_depends_on_elements_is_not_kept() {
    let text = "program (a0: Array0<i64>)
        site 0 = \"here\"
        {
          a1: Array0<i64> = loop @0
            extents () { -> }
            body () { x0: i64 = a0[] @0 inside; x1: i64 = x0 + x0 -> x1 }
          a2: Array1<i64> = loop @0
            extents () { x0: i64 = a1[] @0 inside -> x0 }
            body (x0: i64) { x1: i64 = a0[] @0 inside; x2: i64 = x0 * x1 -> x2 }
          -> a2
        }";
    let program = parsed(text);
    let Some(device) = device() else { return };
    for shape in [Shape::Cpu, Shape::Gpu] {
        let target = Target { shape, ..device.target() };
        let code = Code::new(program.clone(), device.clone(), target).unwrap();
        for n in [3i64, 3, 5, 2, 0, 2] {
            let argument = RawArray { extents: vec![].into(), columns: vec![vec![n].into()].into() };
            let found = run(&code, &[argument]).unwrap();
            let expected: Vec<i64> = (0..2 * n).map(|i| i * n).collect();
            assert_eq!(
                found,
                [RawArray { extents: vec![2 * n as usize].into(), columns: vec![expected.into()].into() }]
            );
        }
    }
}

/// What the host computes in one run, because it has the argument, is launched in the next one, where only the device has it.
#[test]
fn arguments_may_be_elsewhere_in_the_next_run() {
    let text = "program (a0: Array0<i64>, a1: Array1<i64>)
        site 0 = \"here\"
        {
          a2: Array0<i64> = loop @0
            extents () { -> }
            body () { x0: i64 = a0[] @0 inside; x1: i64 = x0 * x0 -> x1 }
          a3: Array1<i64> = loop @0
            extents () { x0: i64 = extent a1 0 -> x0 }
            body (x0: i64) { x1: i64 = a1[x0] @0 inside; x2: i64 = a2[] @0 inside; x3: i64 = x1 + x2 -> x3 }
          -> a3
        }";
    let program = parsed(text);
    let Some(device) = device() else { return };
    let array =
        |extents: &[usize], x: &[i64]| RawArray { extents: extents.into(), columns: vec![x.to_vec().into()].into() };
    let arguments = [array(&[], &[3]), array(&[4], &[1, 2, 3, 4])];
    let there = arguments.each_ref().map(|a| {
        let place = Place { host: None, device: upload(&device, a).unwrap() };
        Array { extents: a.extents.iter().map(|e| *e as i64).collect(), place }
    });
    let code = Code::new(program, device.clone(), device.target()).unwrap();
    for given in [arguments.each_ref().map(Array::host), there.clone(), arguments.each_ref().map(Array::host), there] {
        let Ok(run) = Run::start(&code, given.into()) else { panic!("the run failed") };
        assert_eq!(read_back::to_host(&code, run).unwrap(), [array(&[4], &[10, 11, 12, 13])]);
    }
}

/// The first, the last and the sum of the elements of each row (or column), so that any exchange would show, and a maximum.
fn reductions(of_columns: bool) -> Verified<Program> {
    let (element, row, other) = if of_columns { ("x1, x0", 1, 0) } else { ("x0, x1", 0, 1) };
    let text = format!(
        "program (a0: Array2<i32>)
        site 0 = \"here\"
        {{
          a1: Array1<i32, i32, i64> = reduce @0
            extents () {{ x0: i64 = extent a0 {row} -> x0 }}
            len () {{ x0: i64 = extent a0 {other} -> x0 }}
            element (x0: i64, x1: i64) {{
              x2: i32 = a0[{element}] @0 inside; x3: i32 = as i32 x1; x4: i32 = x2 + x3; x5: i64 = as i64 x4
              -> x4, x4, x5 }}
            op (x0: i32, x1: i32, x2: i64, x3: i32, x4: i32, x5: i64) {{ x6: i64 = x2 + x5 -> x0, x4, x6 }}
          a2: Array1<i32> = reduce @0 max
            extents () {{ x0: i64 = extent a0 {row} -> x0 }}
            len () {{ x0: i64 = extent a0 {other} -> x0 }}
            element (x0: i64, x1: i64) {{ x2: i32 = a0[{element}] @0 inside; x3: i32 = as i32 x1; x4: i32 = x2 * x3 -> x4 }}
            init () {{ x0: i32 = 2i32 -> x0 }}
            op (x0: i32, x1: i32) {{ x2: i32 = max x0 x1 -> x2 }}
          -> a1, a2
        }}"
    );
    parsed(&text)
}

/// Rows that one item does, several in a group, and a group each.
#[test]
fn rows_of_all_lengths() {
    let program = reductions(false);
    let sizes = [1, 7, 8, 9, 31, 63, 65, 100, 257].map(|n| [1, n]);
    compare(&program, &sizes, |t| t);
    compare(&program, &sizes, |t| Target { wide: true, ..small_groups(t) });
}

/// Rows that are columns in memory: few of them, whole ones by items, in parts, and in many parts.
#[test]
fn columns_of_all_lengths() {
    let program = reductions(true);
    compare(&program, &[1, 7, 8, 9, 40, 300].map(|n| [1, n]), |t| t);
    let Some(device) = device() else { return };
    let arguments = [argument(&program.arrays[0].columns, vec![2000, 9])];
    let expected = evaluate(&program, &ArrayTuple::Array(arguments[0].clone())).unwrap();
    for (units, wide) in [(1, false), (1000, true)] {
        let target = Target { shape: Shape::Gpu, units, wide, ..device.target() };
        let code = Code::new(program.clone(), device.clone(), target).unwrap();
        assert_eq!(run(&code, &arguments).unwrap(), expected, "{units}");
    }
}

/// Many products at once, of tiles that are not full, of few results of long sums, and of operands and results with other dimensions next to
/// each other.
#[test]
fn products_of_all_shapes() {
    products_of("x6: T = x4 * x5", &[(Shape::Cpu, 2), (Shape::Gpu, 1), (Shape::Gpu, 40)]);
}

/// The same with operands that are computed: from two arrays, of which one has fewer dimensions, and by more than a read.
#[test]
fn products_of_computed_operands() {
    let element = "x9: T = a2[FIRST] @0 inside; x10: T = x4 - x9; x11: T = x5 + x5; x6: T = x10 * x11";
    products_of(element, &[(Shape::Gpu, 1), (Shape::Gpu, 40)]);
}

/// Sums of `x6`, computed for elements `x4` and `x5` of two arrays and those of a vector along the first dimension of the first one.
fn products_of(element: &str, targets: &[(Shape, usize)]) {
    // The extents of the result's dimensions and the reduced one, and which of them index the operands.
    let cases: [(&[usize], &[usize], &[usize]); 9] = [
        (&[1, 64, 64, 48], &[0, 1, 3], &[0, 3, 2]),
        (&[2, 33, 68, 70], &[0, 1, 3], &[0, 3, 2]),
        (&[2, 130, 100, 17], &[3, 0, 1], &[2, 0, 3]),
        (&[2, 32, 32, 260], &[3, 0, 1], &[3, 0, 2]),
        (&[1, 40, 31, 260], &[1, 3, 0], &[3, 2, 0]),
        (&[1, 70, 66, 270], &[0, 1, 3], &[0, 3, 2]),
        (&[1, 5, 300, 200], &[0, 1, 3], &[0, 3, 2]),
        // The last dimension of the result belongs to the rows.
        (&[12, 34, 6, 100], &[0, 3, 2], &[3, 1]),
        // Two dimensions of columns.
        (&[18, 10, 12, 150], &[3, 0], &[1, 2, 3]),
    ];
    for (k, (extents, left, right)) in cases.into_iter().enumerate() {
        let t = ["f32", "f64"][k % 2];
        let Some(device) = device() else { return };
        let name = |over: &[usize]| over.iter().map(|k| format!("x{k}")).collect::<Vec<_>>().join(", ");
        let extent = |k: usize| match left.iter().position(|l| *l == k) {
            Some(dim) => format!("extent a0 {dim}"),
            None => format!("extent a1 {}", right.iter().position(|r| *r == k).unwrap()),
        };
        let outer: String = (0..3).map(|k| format!("x{k}: i64 = {}; ", extent(k))).collect();
        let element = element.replace("FIRST", &format!("x{}", left[0])).replace('T', t);
        let text = format!(
            "program (a0: Array{}<{t}>, a1: Array{}<{t}>, a2: Array1<{t}>)
                site 0 = \"here\"
                {{
                  a3: Array3<{t}> = reduce @0 sum
                    extents () {{ {outer} -> x0, x1, x2 }}
                    len () {{ x0: i64 = {} -> x0 }}
                    element (x0: i64, x1: i64, x2: i64, x3: i64) {{
                      x4: {t} = a0[{}] @0 inside; x5: {t} = a1[{}] @0 inside; {element};
                      x7: {t} = 2.0{suffix}; x8: {t} = x6 * x7 -> x8 }}
                    init () {{ x0: {t} = 3.0{suffix} -> x0 }}
                    op (x0: {t}, x1: {t}) {{ x2: {t} = x0 + x1 -> x2 }}
                  -> a3
                }}",
            left.len(),
            right.len(),
            extent(3),
            name(left),
            name(right),
            suffix = if t == "f32" { t } else { "" },
        );
        let program = parsed(&text);
        let argument = |over: &[usize]| {
            let of = over.iter().map(|k| extents[*k]).collect();
            argument(&program.arrays[0].columns, of)
        };
        let arguments = [argument(left), argument(right), argument(&left[..1])];
        let [a, b, c] = arguments.clone().map(ArrayTuple::Array);
        let expected = evaluate(&program, &ArrayTuple::pair(ArrayTuple::pair(a, b), c)).unwrap();
        // One unit does as little as possible in parts, many do as much.
        for &(shape, units) in targets {
            let target = Target { shape, units, wide: units > 2 && k % 3 == 0, ..device.target() };
            let what = format!("{target:?} {extents:?} {left:?} {right:?}");
            let code = Code::new(program.clone(), device.clone(), target).unwrap();
            // All numbers are integers.
            assert_eq!(run(&code, &arguments).unwrap(), expected, "{what}");
        }
    }
}

/// Groups of few items, so that rows that are not very long have many parts: in one launch a part has 64 elements, 2048 elements are a block, and
/// 65536 a link of the chain.
fn small_groups(target: Target) -> Target {
    Target { largest_group: 4, ..target }
}

const DIRECTIONS: [&str; 2] = ["", "reverse"];
const SIZES: [[usize; 2]; 3] = [[2048, 1], [70_001, 1], [140_000, 1]];

/// The first and the last of the elements so far, from both sides, with a value before them and without: any exchange would show.
#[test]
fn scans_of_many_parts() {
    let element = "x1: i32 = a0[x0] @0 inside; x2: i32 = as i32 x0; x3: i32 = x1 + x2 -> x3";
    for (direction, op) in DIRECTIONS.iter().flat_map(|d| [(d, "-> x0"), (d, "-> x1")]) {
        for init in ["", "init () { x0: i32 = 9i32 -> x0 }"] {
            let op = &format!("(x0: i32, x1: i32) {{ {op} }}");
            let scan = Scan { array: "Array1<i32>", types: "i32", direction, element, init, op };
            compare_for(&scan.program(), &SIZES, |t| small_groups(looking_back(t)));
        }
    }
}

/// Numbers of all sizes are told to other groups.
#[test]
fn scans_of_all_types() {
    for t in ["f32", "f64", "i64", "u64", "u32", "u8", "i16", "i8"] {
        let element = &format!("x1: {t} = a0[x0] @0 inside; x2: {t} = as {t} x0; x3: {t} = x1 + x2 -> x3");
        // Sums of `f32` are rounded.
        let op = if t == "f32" { "max x0 x1" } else { "x0 + x1" };
        let op = &format!("(x0: {t}, x1: {t}) {{ x2: {t} = {op} -> x2 }}");
        let array = &format!("Array1<{t}>");
        let scan = Scan { array, types: t, direction: "", element, init: "", op };
        compare_for(&scan.program(), &SIZES, |t| small_groups(looking_back(t)));
    }
    let element = "x1: f32 = a0[x0] @0 inside; x2: f32 = 3.0f32; x3: bool = x1 < x2 -> x3";
    let op = "(x0: bool, x1: bool) { x2: bool = x0 != x1 -> x2 }";
    let scan = Scan { array: "Array1<f32>", types: "bool", direction: "", element, init: "", op };
    // Where positions have 64 bits, too.
    for wide in [false, true] {
        compare_for(&scan.program(), &SIZES, |t| Target { wide, ..small_groups(looking_back(t)) });
    }
}

/// Linear functions one after the other, which is an operator that is not commutative, beside columns of other types: of vectors, and of
/// several rows.
#[test]
fn scans_of_tuples() {
    let op = "(x0: i32, x1: i32, x2: u8, x3: f64, x4: i32, x5: i32, x6: u8, x7: f64) {
        x8: i32 = x0 * x4; x9: i32 = x1 * x4; x10: i32 = x9 + x5; x11: u8 = x2 + x6; x12: f64 = max x3 x7
        -> x8, x10, x11, x12 }";
    let element = "x3: i32 = as i32 x2; x4: i32 = 2i32; x5: i32 = x3 * x4; x6: i32 = 1i32; x7: i32 = x5 + x6;
        x8: u8 = as u8 x3; x9: f64 = as f64 x3 -> x7, x3, x8, x9";
    let some = "init () { x0: i32 = 3i32; x1: i32 = 7i32; x2: u8 = 1u8; x3: f64 = 0.5 -> x0, x1, x2, x3 }";
    for (direction, init) in [("", ""), ("", some), ("reverse", ""), ("reverse", some)] {
        let of = |array, read: &str| {
            let element = &format!("{read} {element}");
            Scan { array, types: "i32, i32, u8, f64", direction, element, init, op }.program()
        };
        let vector = of("Array1<i64>", "x1: i64 = a0[x0] @0 inside; x2: i64 = x1 + x0;");
        compare_for(&vector, &[[300, 1], [70_001, 1]], |t| small_groups(looking_back(t)));
        // There are so many units that groups share rows even if there are many of these.
        let matrix = of("Array2<i64>", "x2: i64 = a0[x0, x1] @0 inside;");
        let target = |t| Target { units: 1000, ..small_groups(looking_back(t)) };
        compare_for(&matrix, &[[1, 65], [1, 301]], target);
    }
}

/// Sums of numbers that are rounded are the same in every run, whichever group is faster.
#[test]
fn scans_give_the_same_in_every_run() {
    let Some(device) = device() else { return };
    for t in ["f32", "f64"] {
        let suffix = if t == "f32" { t } else { "" };
        let element = format!("x1: {t} = a0[x0] @0 inside; x2: {t} = 0.1{suffix}; x3: {t} = x1 * x2 -> x3");
        let op = format!("(x0: {t}, x1: {t}) {{ x2: {t} = x0 + x1 -> x2 }}");
        for direction in DIRECTIONS {
            let array = format!("Array1<{t}>");
            let scan = Scan { array: &array, types: t, direction, element: &element, init: "", op: &op };
            let program = scan.program();
            let arguments = arguments(&program, [300_000, 1]);
            let target = looking_back(device.target());
            for target in [target.clone(), small_groups(target)] {
                let code = Code::new(program.clone(), device.clone(), target).unwrap();
                let first = run(&code, &arguments).unwrap();
                for _ in 0..20 {
                    assert_eq!(run(&code, &arguments).unwrap(), first);
                }
            }
        }
    }
}

/// Long rows: scans and reductions by several groups, in both directions, with operators that must keep the order.
#[test]
fn long_rows() {
    let lines = [
        ("a1: Array1<f64> = scan", "", ""),
        ("a1: Array1<f64> = scan", "reverse", "init () { x0: f64 = 0.5 -> x0 }"),
        ("a1: Array0<f64> = reduce", "", "init () { x0: f64 = 0.5 -> x0 }"),
    ];
    let sum = "x2: f64 = x0 + x1 -> x2";
    let max = "x2: f64 = max x0 x1 -> x2";
    let orders = [("", "-> x0"), ("", "-> x1"), ("sum", sum), ("max", max)];
    for (known, op) in orders {
        for (head, direction, init) in lines {
            let program = parsed(&format!(
                "program (a0: Array1<f64>)
                 site 0 = \"here\"
                 {{
                   {head} @0 {direction} {known}
                     extents () {{ -> }}
                     len () {{ x0: i64 = extent a0 0 -> x0 }}
                     element (x0: i64) {{ x1: f64 = a0[x0] @0 inside; x2: f64 = as f64 x0; x3: f64 = x1 + x2 -> x3 }}
                     {init}
                     op (x0: f64, x1: f64) {{ {op} }}
                   -> a1
                 }}"
            ));
            compare(&program, &[[300, 1], [5000, 1], [40_961, 1]], |t| t);
        }
    }
}

/// A program of small statements one after the other, two of which fail if `divisor` is an element and if `modulus` is 0.
fn small_statements(divisor: i64, modulus: i64) -> Verified<Program> {
    let text = format!(
        "program (a0: Array1<i64>, a1: Array2<i64>)
         site 0 = \"here\"
         site 1 = \"quotients\"
         site 2 = \"rests\"
         {{
           a2: Array1<i64> = loop @0
             extents () {{ x0: i64 = extent a0 0 -> x0 }}
             body (x0: i64) {{ x1: i64 = a0[x0] @0 inside; x2: i64 = x1 * x0 -> x2 }}
           a3: Array0<i64> = reduce @0 sum
             extents () {{ -> }}
             len () {{ x0: i64 = extent a0 0 -> x0 }}
             element (x0: i64) {{ x1: i64 = a2[x0] @0 inside -> x1 }}
             init () {{ x0: i64 = 5 -> x0 }}
             op (x0: i64, x1: i64) {{ x2: i64 = x0 + x1 -> x2 }}
           a4: Array1<i64> = loop @1
             extents () {{ x0: i64 = extent a0 0 -> x0 }}
             body (x0: i64) {{ x1: i64 = a0[x0] @0 inside; x2: i64 = {divisor}; x3: i64 = x1 - x2; x4: i64 = a3[] @0 inside; x5: i64 = x4 / x3 -> x5 }}
           a5: Array1<i64> = loop @2
             extents () {{ x0: i64 = extent a0 0 -> x0 }}
             body (x0: i64) {{ x1: i64 = {modulus}; x2: i64 = a4[x0] @2 inside; x3: i64 = x2 % x1 -> x3 }}
           a6: Array1<i64> = scan @0
             extents () {{ -> }}
             len () {{ x0: i64 = extent a0 0 -> x0 }}
             element (x0: i64) {{ x1: i64 = a5[x0] @0 inside -> x1 }}
             op (x0: i64, x1: i64) {{ x2: i64 = x0 + x1 -> x2 }}
           a7: Array1<i64> = permute a2 @0 sum
             extents () {{ x0: i64 = extent a0 0 -> x0 }}
             target (x0: i64) {{ x1: i64 = 2; x2: i64 = x0 / x1; x3: bool = true -> x3, x2 }}
             element (x0: i64) {{ x1: i64 = a6[x0] @0 inside -> x1 }}
             comb (x0: i64, x1: i64) {{ x2: i64 = x0 + x1 -> x2 }}
           a8: Array2<i64> = loop @0
             extents () {{ x0: i64 = extent a1 0; x1: i64 = extent a1 1 -> x0, x1 }}
             body (x0: i64, x1: i64) {{ x2: i64 = a1[x0, x1] @0 inside; x3: i64 = a3[] @0 inside; x4: i64 = x2 + x3 -> x4 }}
         -> a7, a8, a6
         }}"
    );
    parsed(&text)
}

/// On processors all of them are done by one kernel; some, if there is much to do for others.
#[test]
fn small_statements_together() {
    let Some(device) = device() else { return };
    let target = Target { shape: Shape::Cpu, ..device.target() };
    let code = Code::new(small_statements(9, 7), device.clone(), target).unwrap();
    let together: Vec<_> = code.module.batches.iter().map(|t| t.parts.len()).collect();
    assert!(together.len() == 1 && together[0] >= 7, "{together:?}");
    // The same object is given other sizes, and then the first ones again.
    compare(&small_statements(9, 7), &[[1, 1], [40, 7], [300_000, 7], [300, 600], [1, 1], [0, 0]], |t| t);
}

/// The first failure is told, whether what comes before and after it is in the same kernel or not, and the next run is as good as any.
#[test]
fn small_statements_that_fail() {
    // A single element is not 3.
    compare(&small_statements(3, 7), &[[40, 7], [1, 7], [300_000, 7], [1, 600], [300, 600], [1, 1]], |t| t);
    for (divisor, modulus, site) in [(9, 0, "rests"), (3, 0, "quotients")] {
        let program = small_statements(divisor, modulus);
        compare(&program, &[[40, 7], [300_000, 7], [300, 600]], |t| t);
        let Some(device) = device() else { return };
        let code = Code::new(program.clone(), device.clone(), device.target()).unwrap();
        let message = run(&code, &arguments(&program, [40, 7])).err().map(|e| e.to_string());
        assert!(message.as_ref().is_some_and(|m| m.contains(site)), "{message:?}");
    }
}
