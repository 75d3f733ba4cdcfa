//! Sums of products whose indices are sums of digits, compared with the evaluator of kernel programs: NOTE [Strided products].

use crate::support::{array, compile, f64s, numbers, program};
use accel_codegen::{Options, emit};
use accel_core::repr::RawArray;
use accel_fusion::kernel::evaluate;

/// Checks that a program uses the library for products, and that it [`agrees`].
fn check(text: &str, inputs: &[RawArray]) {
    let source = emit(&program(text), Options::default()).source;
    assert!(source.contains("accel_product_f64(dims"), "{text}");
    agrees(text, inputs);
}

/// Runs a program as machine code, and with the evaluator. The results agree up to rounding, or both fail.
fn agrees(text: &str, inputs: &[RawArray]) {
    let argument = inputs.iter().cloned().collect();
    let expected = evaluate(&program(text), &argument);
    let found = compile(text).run(inputs.to_vec());
    let sizes: Vec<_> = inputs.iter().map(|a| a.extents.clone()).collect();
    match (expected, found) {
        (Ok(expected), Ok(found)) => {
            for (x, y) in f64s(&found[0]).iter().zip(f64s(&expected[0])) {
                assert!((x - y).abs() <= 1e-12 * (1.0 + y.abs()), "{sizes:?}: {x} is not {y}");
            }
            assert_eq!(found[0].extents, expected[0].extents);
        }
        (Err(expected), Err(found)) => assert_eq!(found.to_string(), expected.to_string(), "{sizes:?}"),
        (expected, found) => panic!("{sizes:?}: expected {:?}, found {:?}", expected.err(), found.err()),
    }
}

fn matrix(extents: &[usize], from: usize) -> RawArray {
    let n: usize = extents.iter().product();
    array(extents, numbers(n + from)[from..].to_vec())
}

/// `a2[i] = sum over k of a0[..] * a1[..]`, with these indices. `a2` has the extents of the third argument.
fn sum(rank: [usize; 3], left: &str, right: &str) -> String {
    let [a, b, to] = rank;
    let index = |n: usize| (0..n).map(|d| format!("x{d}: i64")).collect::<Vec<_>>().join(", ");
    let extents: String = (0..=to).map(|d| format!("x{d}: i64 = extent a2 {d}; ")).collect();
    let outer = (0..to).map(|d| format!("x{d}")).collect::<Vec<_>>().join(", ");
    let free = to + 1;
    format!(
        "program (a0: Array{a}<f64>, a1: Array{b}<f64>, a2: Array{free}<f64>)\nsite 0 = \"fold\"\n{{\n\
         a3: Array{to}<f64> = reduce @0 sum extents () {{ {extents} -> {outer} }} len () {{ {extents} -> x{to} }}\n\
         element ({}) {{\n{left}\n{right}\n x48: f64 = x46 * x47 -> x48 }}\n\
         init () {{ x0: f64 = 0.5 -> x0 }} op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}\n-> a3\n}}",
        index(free),
    )
}

#[test]
fn convolutions() {
    // The last index is `k = (t, c)`, with 9 values of `t`. An image has the form (row, column, channel).
    let left = "x40: i64 = extent a0 2; x41: i64 = x3 / x40; x42: i64 = x3 % x40; x43: i64 = 3; x44: i64 = x41 / x43; \
                x45: i64 = x41 % x43; x49: i64 = x0 + x44; x50: i64 = x1 + x45; x46: f64 = a0[x49, x50, x42] @0";
    let right = "x47: f64 = a1[x44, x45, x42, x2] @0";
    let text = sum([3, 4, 3], left, right);
    // Registers have numbers in the order of their definitions.
    let text = renumbered(&text);
    for (rows, columns, channels, outputs) in [(5, 6, 4, 7), (9, 11, 5, 6), (4, 17, 16, 32), (1, 8, 8, 8), (6, 6, 1, 9)]
    {
        let result = [rows, columns, outputs, 9 * channels];
        let image = matrix(&[rows + 2, columns + 2, channels], 0);
        check(&text, &[image, matrix(&[3, 3, channels, outputs], 5), matrix(&result, 0)]);
        // The image is too small, and so are the weights.
        let image = matrix(&[rows + 1, columns + 2, channels], 0);
        check(&text, &[image, matrix(&[3, 3, channels, outputs], 5), matrix(&result, 0)]);
        let image = matrix(&[rows + 2, columns + 2, channels], 0);
        check(&text, &[image, matrix(&[3, 2, channels, outputs], 5), matrix(&result, 0)]);
    }
}

/// Steps of more than 1, steps backwards, and constant indices.
#[test]
fn steps() {
    let left = "x40: i64 = 3; x41: i64 = x0 * x40; x42: i64 = x41 + x2; x46: f64 = a0[x42, x2] @0";
    let right = "x43: i64 = extent a1 0; x44: i64 = x43 - x1; x45: i64 = 1; x49: i64 = x44 - x45; x47: f64 = a1[x49, x2, x45] @0";
    let text = renumbered(&sum([2, 3, 2], left, right));
    for [m, n, k] in [[17, 19, 23], [4, 40, 30], [16, 16, 16], [2, 3, 4], [0, 5, 6], [5, 6, 0]] {
        check(&text, &[matrix(&[3 * m + k, k], 1), matrix(&[n, k, 2], 2), matrix(&[m, n, k], 0)]);
    }
    check(&text, &[matrix(&[3, 23], 1), matrix(&[19, 23, 2], 2), matrix(&[17, 19, 23], 0)]);
    check(&text, &[matrix(&[80, 23], 1), matrix(&[19, 23, 1], 2), matrix(&[17, 19, 23], 0)]);
}

/// The higher digit need not be whole: then 7 does not divide the number of rows.
/// The number of places at a distance of 2 is no polynomial of extents. It divides the index: adjoints of convolutions with strides.
#[test]
fn digits_by_quotients_of_extents() {
    let left = "x40: i64 = extent a0 1; x41: i64 = 1; x42: i64 = x40 - x41; x43: i64 = 2; x44: i64 = x42 / x43; x45: i64 = min x44 x40; \
                x49: i64 = x2 / x45; x50: i64 = x2 % x45; x51: i64 = x50 * x43; x52: i64 = x51 + x0; x46: f64 = a0[x49, x52] @0";
    let text = renumbered(&sum([2, 3, 2], left, "x47: f64 = a1[x49, x50, x1] @0"));
    for (rows, places, columns) in [(4, 5, 9), (13, 11, 17), (1, 30, 4), (40, 1, 8)] {
        let operand = matrix(&[rows, places, columns], 3);
        let result = matrix(&[2, columns, rows * places], 0);
        // An even extent has the same number of places, a larger one more, and without places the program divides by zero.
        for width in [2 * places + 1, 2 * places + 2, 2 * places + 3, 2] {
            check(&text, &[matrix(&[rows, width], 0), operand.clone(), result.clone()]);
        }
    }
}

#[test]
fn digits_that_are_not_whole() {
    let left = "x40: i64 = 7; x41: i64 = x0 / x40; x42: i64 = x0 % x40; x46: f64 = a0[x41, x42, x2] @0";
    let right = "x47: f64 = a1[x2, x1] @0";
    let text = renumbered(&sum([3, 2, 2], left, right));
    for m in [1, 6, 7, 8, 20, 21, 22, 28] {
        check(&text, &[matrix(&[4, 7, 15], 1), matrix(&[15, 18], 2), matrix(&[m, 18, 15], 0)]);
    }
    // The lower one can exceed the extent, too.
    check(&text, &[matrix(&[4, 6, 15], 1), matrix(&[15, 18], 2), matrix(&[21, 18, 15], 0)]);
}

/// A sum of 12 rows whose element computes `before` and reads `a0[left]` and `a1[x2, x1]`. `a2` and `a3` only have extents.
fn twelve(rank: usize, before: &str, left: &str) -> String {
    let text = format!(
        "program (a0: Array{rank}<f64>, a1: Array2<f64>, a2: Array2<f64>, a3: Array2<f64>)\nsite 0 = \"fold\"\n{{\n\
         a4: Array2<f64> = reduce @0 sum extents () {{ x0: i64 = 12; x1: i64 = extent a1 1 -> x0, x1 }} \
         len () {{ x0: i64 = extent a1 0 -> x0 }}\n\
         element (x0: i64, x1: i64, x2: i64) {{\n{before}\nx46: f64 = a0[{left}] @0 inside; x47: f64 = a1[x2, x1] @0 inside; \
         x48: f64 = x46 * x47 -> x48 }}\n\
         init () {{ x0: f64 = 0.5 -> x0 }} op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}\n-> a4\n}}"
    );
    renumbered(&text)
}

/// The product of two extents wraps to 3, so dividing by it gives another number than dividing by each of them.
#[test]
fn digits_whose_product_wraps() {
    let (a, b) = (258_121_781_331_139_usize, 95_574_658_393_025_usize);
    assert_eq!((a as i64).wrapping_mul(b as i64), 3);
    let before = "x30: i64 = extent a2 0; x31: i64 = extent a3 0; x32: i64 = x0 % x30; x33: i64 = x0 / x30; \
                  x34: i64 = x33 % x31; x35: i64 = x30 * x31; x36: i64 = x0 / x35";
    let left = matrix(&[4, 1, 12, 200], 1);
    let text = twelve(4, before, "x36, x34, x32, x2");
    check(&text, &[left, matrix(&[200, 64], 2), matrix(&[a, 0], 0), matrix(&[b, 0], 0)]);
}

/// A division by 0 is a mistake, also if nothing depends on the quotient.
#[test]
fn divisors_that_nothing_depends_on() {
    let text = twelve(2, "x30: i64 = extent a2 0; x31: i64 = x0 / x30", "x0, x2");
    for n in [0, 1, 5] {
        check(&text, &[matrix(&[12, 200], 1), matrix(&[200, 64], 2), matrix(&[n, 2], 0), matrix(&[0, 0], 0)]);
    }
}

/// A remainder of 1 is 0, and the digits of a divisor below 1 have no end.
#[test]
fn divisors_that_are_not_more_than_1() {
    for n in [-3, -1, 0, 1] {
        let text = twelve(2, &format!("x30: i64 = {n}; x31: i64 = x0 / x30; x32: i64 = x0 % x30"), "x0, x2");
        agrees(&text, &[matrix(&[12, 200], 1), matrix(&[200, 64], 2), matrix(&[0, 0], 0), matrix(&[0, 0], 0)]);
        let text = twelve(3, &format!("x30: i64 = {n}; x31: i64 = x0 / x30; x32: i64 = x0 % x30"), "x31, x32, x2");
        let inputs = [matrix(&[12, 1, 200], 1), matrix(&[200, 64], 2), matrix(&[0, 0], 0), matrix(&[0, 0], 0)];
        match n {
            1 => check(&text, &inputs),
            0 => agrees(&text, &inputs),
            // Such quotients are outside, so the program cannot run.
            _ => assert!(!emit(&program(&text), Options::default()).source.contains("accel_product_f64(dims")),
        }
    }
}

/// `a4 = a2`, and `a0[n, i, o] * a1[k, c, o]` added to `[n, step * i + k, c]`, for all `n`, `i`, `k`, `c`, `o`.
fn added(step: &str) -> String {
    renumbered(&format!(
        "program (a0: Array3<f64>, a1: Array3<f64>, a2: Array3<f64>, a3: Array1<f64>)\nsite 0 = \"permute\"\n{{\n\
         a4: Array3<f64> = permute a2 @0 sum extents () {{ x0: i64 = extent a0 0; x1: i64 = extent a0 1; x2: i64 = extent a1 0; \
         x3: i64 = extent a1 1; x4: i64 = extent a0 2 -> x0, x1, x2, x3, x4 }}\n\
         target (x0: i64, x1: i64, x2: i64, x3: i64, x4: i64) {{ x5: bool = true; x6: i64 = {step}; x7: i64 = x1 * x6; \
         x8: i64 = x7 + x2 -> x5, x0, x8, x3 }}\n\
         element (x0: i64, x1: i64, x2: i64, x3: i64, x4: i64) {{ x5: f64 = a0[x0, x1, x4] @0 inside; \
         x6: f64 = a1[x2, x3, x4] @0; x7: f64 = x5 * x6 -> x7 }}\n\
         comb (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}\n-> a4\n}}"
    ))
}

/// Products that are added to elements that overlap, or to one element.
#[test]
fn products_that_collide() {
    for step in ["1", "2", "extent a3 0"] {
        let text = added(step);
        for ([n, i, k, c, o], columns, extent) in [
            ([3, 20, 3, 5, 16], 45, 1),
            ([1, 9, 12, 8, 32], 40, 0),
            ([5, 30, 2, 16, 9], 100, 3),
            ([2, 1, 1, 3, 2], 4, 1),
            ([0, 8, 8, 8, 8], 30, 1),
            ([10, 64, 1, 16, 33], 130, 2),
            // Too few columns.
            ([3, 20, 3, 5, 16], 20, 1),
        ] {
            let inputs =
                [matrix(&[n, i, o], 1), matrix(&[k, c, o], 2), matrix(&[n, columns, c], 3), matrix(&[extent], 0)];
            check(&text, &inputs);
        }
    }
}

/// A target that reads out of bounds is a mistake, also if it does not depend on what it reads.
#[test]
fn targets_that_read() {
    let text = added("1").replace("x8: i64 = x7 + x2", "x8: i64 = x7 + x2; x9: f64 = a3[x1] @0");
    for extent in [19, 20] {
        let inputs = [matrix(&[3, 20, 16], 1), matrix(&[3, 5, 16], 2), matrix(&[3, 45, 5], 3), matrix(&[extent], 0)];
        agrees(&text, &inputs);
    }
}

/// The text with registers numbered in the order of their definitions, within each function.
fn renumbered(text: &str) -> String {
    const FUNCTIONS: [&str; 7] = ["extents", "len", "element", "init", "op", "target", "comb"];
    let (mut out, mut names) = (String::new(), vec![]);
    for word in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let name = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        if FUNCTIONS.contains(&name) {
            names.clear();
        }
        match name.strip_prefix('x').filter(|n| n.parse::<usize>().is_ok()) {
            None => out += word,
            Some(_) => {
                let known = names.iter().position(|n| *n == name);
                let number = known.unwrap_or_else(|| {
                    names.push(name);
                    names.len() - 1
                });
                out += &format!("x{number}{}", &word[name.len()..]);
            }
        }
    }
    out
}
