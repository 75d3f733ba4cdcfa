//! Hoisted checks: which indices are checked once for all elements.

use super::*;

/// `a3[i]`, for as many elements as `a1` has, of a body that computes `element` from `i`, x0, the number x1, a0[], and x2, 3.
fn elements(code: &str, element: &str) -> Case {
    optimized_for(
        Target::Processor,
        "a0: Array0<i64>, a1: Array1<i64>, a2: Array1<f64>",
        &format!(
            "a3: Array1<f64> = loop @0
               extents () {{ x0: i64 = extent a1 0 -> x0 }}
               body (x0: i64) {{ x1: i64 = a0[] @0 inside; x2: i64 = 3; {code} -> {element} }}
             -> a3"
        ),
    )
}

/// `a3[i] = a2[index]`, where `index` computes x3.
fn reads(index: &str) -> Case {
    elements(&format!("{index}; x4: f64 = a2[x3] @0"), "x4")
}

/// Runs a case with numbers that are the index of an element, and others.
fn runs(case: &Case) {
    for (n, m) in [(0, 0), (1, 1), (3, 10), (10, 10), (10, 40)] {
        for number in (-12..45).chain([i64::MIN, i64::MAX - 2]) {
            let positions: Vec<i64> = (0..n).map(|i| i * 3 % 7).collect();
            case.agrees(&[array(&[], vec![number]), ints(&positions), floats(&[m])]);
        }
    }
}

#[test]
fn sums_of_multiples_are_checked_at_two_corners() {
    for index in [
        "x3: i64 = x0 + x1",
        "x3: i64 = x1 - x0",
        "x5: i64 = x0 * x2; x3: i64 = x5 - x1",
        "x5: i64 = x1 * x1; x6: i64 = x5 + x0; x3: i64 = x6 + x0",
        "x5: i64 = x1 / x2; x3: i64 = x0 + x5",
    ] {
        let case = reads(index);
        for text in [case.text(), case.general()] {
            assert!(text.contains("if @0") && text.contains("while"), "{text}");
            let (checks, statement) = text.split_once("a4: ").unwrap();
            assert!(!checks.replace("a0[] @0 inside", "").contains("inside"), "{text}");
            assert!(statement.contains("a2[") && !statement.replace("] @0 inside", "").contains("] @0"), "{text}");
        }
        runs(&case);
    }
}

#[test]
fn other_indices_are_checked_for_each_element() {
    for index in [
        "x5: i64 = a1[x0] @0 inside; x3: i64 = x5 + x1",
        "x5: i64 = x0 % x2; x3: i64 = x5 + x1",
        "x5: i64 = x0 * x0; x3: i64 = x5 + x1",
        // The factor is a number in memory.
        "x3: i64 = x0 * x1",
        // The check depends on another one.
        "x5: f64 = a2[x1] @0; x6: i64 = as i64 x5; x3: i64 = x6 + x0",
    ] {
        let case = reads(index);
        assert!(!case.text().contains("if @0"), "{}", case.text());
        runs(&case);
    }
}

/// Sums of the rows of `a1`, whose numbers have this type, of an element x3, and a statement that reads them and `a2[j + a0[]]`.
fn sums_and_reads(numbers: &str, element: &str) -> Case {
    optimized_for(
        Target::Processor,
        &format!("a0: Array0<i64>, a1: Array2<{numbers}>, a2: Array1<f64>"),
        &format!(
            "a3: Array1<f64> = reduce @0 sum
               extents () {{ x0: i64 = extent a1 0 -> x0 }}
               len () {{ x0: i64 = extent a1 1 -> x0 }}
               element (x0: i64, x1: i64) {{ x2: {numbers} = a1[x0, x1] @0 inside; {element} -> x3 }}
               init () {{ x0: f64 = 0.0 -> x0 }}
               op (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
             a4: Array2<f64> = loop @0
               extents () {{ x0: i64 = extent a1 0; x1: i64 = extent a1 1 -> x0, x1 }}
               body (x0: i64, x1: i64) {{
                 x2: f64 = a3[x0] @0 inside; x3: i64 = a0[] @0 inside; x4: i64 = x1 + x3; x5: f64 = a2[x4] @0; x6: f64 = x2 * x5 -> x6 }}
             -> a4"
        ),
    )
}

/// The checks of a statement in a strip come before the strip.
#[test]
fn checks_come_before_strips() {
    let case = sums_and_reads("f64", "x3: f64 = exp x2");
    let text = case.text();
    assert!(text.contains("strip") && text.find("while") < text.find("strip"), "{text}");
    for number in -2..6i64 {
        case.agrees(&[array(&[], vec![number]), floats(&[70, 5]), floats(&[8])]);
    }
}

/// Checks do not come before a statement of a strip that fails first.
#[test]
fn checks_stay_behind_what_can_fail() {
    let case = sums_and_reads("i64", "x4: f64 = a2[x2] @0; x3: f64 = exp x4");
    for (place, number) in [(3, 0), (9, 0), (3, 20), (9, 20), (9i64, -1i64)] {
        case.agrees(&[array(&[], vec![number]), array(&[70, 5], vec![place; 350]), floats(&[8])]);
    }
}

/// Checks that need what a strip computes come after it, and before the statement for which they are made.
#[test]
fn checks_that_need_a_strip_end_it() {
    let case = optimized_for(
        Target::Processor,
        "a0: Array2<i64>, a1: Array1<f64>",
        "a2: Array1<i64> = reduce @0 sum
           extents () { x0: i64 = extent a0 0 -> x0 }
           len () { x0: i64 = extent a0 1 -> x0 }
           element (x0: i64, x1: i64) { x2: i64 = a0[x0, x1] @0 inside; x3: i64 = x2 * x2 -> x3 }
           init () { x0: i64 = 0 -> x0 }
           op (x0: i64, x1: i64) { x2: i64 = x0 + x1 -> x2 }
         a3: Array0<i64> = reduce @0 sum
           extents () { -> }
           len () { x0: i64 = extent a0 0 -> x0 }
           element (x0: i64) { x1: i64 = a2[x0] @0 inside; x2: i64 = x1 * x1 -> x2 }
           init () { x0: i64 = 0 -> x0 }
           op (x0: i64, x1: i64) { x2: i64 = x0 + x1 -> x2 }
         a4: Array1<f64> = loop @0
           extents () { x0: i64 = extent a0 0 -> x0 }
           body (x0: i64) { x1: i64 = a3[] @0 inside; x2: i64 = x0 + x1; x3: f64 = a1[x2] @0; x4: i64 = a2[x0] @0 inside; x5: f64 = as f64 x4; x6: f64 = x3 + x5 -> x6 }
         -> a4",
    );
    let text = case.text();
    assert!(text.contains("strip") && text.find("strip") < text.find("while"), "{text}");
    for number in [0, 1, 2] {
        for more in 0..5 {
            let rows: Vec<i64> = (0..6).map(|i| i64::from(i % 3 == 0) * number).collect();
            case.agrees(&[array(&[3, 2], rows), floats(&[3 + more])]);
        }
    }
}

/// What a statement adds to is checked as well, and is no part of the checks.
#[test]
fn additions_to_sums_are_checked_at_two_corners() {
    let case = optimized_for(
        Target::Processor,
        "a0: Array0<i64>, a1: Array1<f64>, a2: Array1<f64>",
        "a3: Array1<f64>, a4: Array1<f64> = accumulate a2 @0
           extents () { x0: i64 = extent a1 0 -> x0 }
           body (x0: i64) {
             x1: f64 = a1[x0] @0 inside
             x2: i64 = a0[] @0 inside
             x3: i64 = x0 + x2
             () = emit a4[x3] x1 @0
             x4: f64 = a2[x3] @0
             x5: f64 = x1 * x4
             -> x5
           }
         -> a3, a4",
    );
    let text = case.text();
    assert!(text.contains("if @0") && text.contains("while"), "{text}");
    let emits: Vec<&str> = text.lines().filter(|l| l.contains("emit")).collect();
    assert!(emits.len() == 1 && emits[0].contains("inside"), "{text}");
    for number in (-3..8).chain([i64::MAX]) {
        for m in [0, 4, 7] {
            case.agrees(&[array(&[], vec![number]), floats(&[4]), floats(&[m])]);
        }
    }
}

/// What is read in a branch is checked for the elements that take it, if a comparison of an index decides.
#[test]
fn branches_that_an_index_decides() {
    // Whether the condition x6 and its negation say where an index is.
    for (condition, known) in [
        ("x5: i64 = 0; x6: bool = x0 == x5", [true, true]),
        ("x5: i64 = 2; x6: bool = x0 == x5", [true, false]),
        ("x5: i64 = 0; x6: bool = x0 > x5", [true, true]),
        ("x5: i64 = 2; x6: bool = x0 <= x5", [true, true]),
        ("x5: i64 = 2; x6: bool = x0 < x1", [true, true]),
        ("x5: i64 = 2; x6: bool = x1 == x0", [true, false]),
        ("x5: i64 = 2; x6: bool = x1 != x2", [true, true]),
        ("x5: bool = x0 >= x2; x12: bool = x0 < x1; x6: bool = x5 && x12", [true, false]),
        ("x5: bool = x0 >= x2; x12: bool = x0 < x1; x6: bool = x5 || x12", [false, true]),
        ("x5: i64 = a1[x0] @0 inside; x6: bool = x5 > x2", [false, false]),
        ("x5: i64 = x0 % x2; x6: bool = x5 == x1", [false, false]),
    ] {
        for reads in [[true, false], [false, true], [true, true]] {
            let value = |reads: bool, to: &str, at: &str| match reads {
                true => format!("{to}: f64 = a2[{at}] @0"),
                false => format!("{to}: f64 = 7.0"),
            };
            let [then, otherwise] = [value(reads[0], "x9", "x3"), value(reads[1], "x10", "x4")];
            let code = format!(
                "{condition}; x7: bool = not x6; x8: bool = not x7
                 x11: f64 = if x8 {{ x3: i64 = x0 + x1; {then} -> x9 }} else {{ x4: i64 = x0 - x1; {otherwise} -> x10 }}"
            );
            let case = elements(&code, "x11");
            let is_known = reads.iter().zip(known).all(|(reads, known)| !reads || known);
            assert_eq!(case.text().contains("if @0"), is_known, "{}", case.text());
            runs(&case);
        }
    }
}

/// Targets of permutations that keep all elements, and what these read.
#[test]
fn targets_are_checked_at_two_corners() {
    for (target, element, is_hoisted) in [
        ("x2: bool = true; x3: i64 = x0 + x1 -> x2, x3", "x2: f64 = as f64 x0 -> x2", true),
        ("x2: bool = true; x3: i64 = x1 - x0 -> x2, x3", "x2: i64 = x0 - x1; x3: f64 = a2[x2] @0 -> x3", true),
        ("x2: bool = true; x3: i64 = a1[x0] @0 inside; x4: i64 = x3 + x1 -> x2, x4", "x2: f64 = 1.0 -> x2", false),
        ("x2: bool = x0 != x1; x3: i64 = x0 + x1 -> x2, x3", "x2: f64 = 1.0 -> x2", false),
    ] {
        let case = optimized_for(
            Target::Processor,
            "a0: Array0<i64>, a1: Array1<i64>, a2: Array1<f64>",
            &format!(
                "a3: Array1<f64> = permute a2 @0
                   extents () {{ x0: i64 = extent a1 0 -> x0 }}
                   target (x0: i64) {{ x1: i64 = a0[] @0 inside; {target} }}
                   element (x0: i64) {{ x1: i64 = a0[] @0 inside; {element} }}
                   comb (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
                 -> a3"
            ),
        );
        let text = case.text();
        assert_eq!((text.contains("if @0"), text.contains("permute a2 @0 inside")), (is_hoisted, is_hoisted), "{text}");
        runs(&case);
    }
}

/// The derivative of a maximum over windows: its targets are within bounds, which is known.
#[test]
fn known_corners_are_not_checked_in_the_run() {
    let case = optimized_for(
        Target::Processor,
        "a0: Array0<f64>",
        "a1: Array2<f64> = loop @0
           extents () { x0: i64 = 6; x1: i64 = 8 -> x0, x1 }
           body (x0: i64, x1: i64) { x2: f64 = 1.0f64 -> x2 }
         a2: Array2<f64> = permute a1 @0 sum
           extents () { x0: i64 = 3; x1: i64 = 4; x2: i64 = 2 -> x0, x1, x2, x2 }
           target (x0: i64, x1: i64, x2: i64, x3: i64) {
             x4: bool = true; x5: i64 = 2; x6: i64 = x0 * x5; x7: i64 = x6 + x2; x8: i64 = x1 * x5; x9: i64 = x8 + x3
             -> x4, x7, x9
           }
           element (x0: i64, x1: i64, x2: i64, x3: i64) {
             x4: i64 = x1 * x2; x5: i64 = x4 + x3; x6: f64 = as f64 x5; x7: f64 = a0[] @0 inside; x8: f64 = x6 * x7 -> x8
           }
           comb (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
         -> a2",
    );
    let text = case.text();
    assert!(text.contains("sum inside") && !text.contains("if @0"), "{text}");
    case.agrees(&[array(&[], vec![0.5])]);
}
