//! Comparisons of extents and indices: conclusions, assumptions, and what does not follow because integers wrap.

use super::*;

/// Reads a1 at `index` where an element of a0 is negative.
fn read_in_a_branch(index: &str) -> Case {
    optimized(
        "a0: Array1<f64>, a1: Array1<f64>",
        &format!(
            "a2: Array1<f64> = loop @0
               extents () {{ x0: i64 = extent a0 0 -> x0 }}
               body (x0: i64) {{
                 x1: f64 = a0[x0] @0 inside; x2: f64 = 0.0; x3: bool = x1 < x2; x4: i64 = 1
                 {index}
                 x6: f64 = if x3 {{ x7: f64 = a1[x5] @0 -> x7 }} else {{ -> x1 }} -> x6 }}
             -> a2"
        ),
    )
}

#[test]
fn nothing_is_assumed_of_what_a_branch_reads_elsewhere() {
    let c = read_in_a_branch("x5: i64 = x0 + x4");
    assert!(c.with_assumptions.conditions.is_empty() && c.text().contains("] @0\n"), "{}", c.text());
    // The last element is not negative.
    assert!(c.agrees(&[array(&[3], vec![-1.0, -2.0, 1.0]), floats(&[3])]));
    assert!(c.agrees(&[array(&[3], vec![-1.0, -2.0, -1.0]), floats(&[3])]));
}

#[test]
fn what_a_branch_reads_at_the_same_index_is_assumed_to_be_inside() {
    let c = read_in_a_branch("x8: i64 = 0; x5: i64 = x0 + x8");
    assert!(c.text().contains("a1[x0] @0 inside"), "{}", c.text());
    assert!(c.general().contains("a1[x0] @0\n"), "{}", c.general());
    for n in [3, 4] {
        assert!(c.agrees(&[array(&[3], vec![-1.0, -2.0, 1.0]), floats(&[n])]));
    }
    for last in [1.0, -1.0] {
        assert!(!c.agrees(&[array(&[3], vec![-1.0, -2.0, last]), floats(&[2])]));
    }
}

/// A loop over a2 and a3, which begin with a0 and a1. A step adds, to each element, the one `farther` in the other array.
fn steps(farther: i64) -> Case {
    let step = |to: usize, own: usize, other: usize| {
        format!(
            "a{to}: Array1<f64> = loop @0 extents () {{ x0: i64 = extent a{own} 0 -> x0 }}
               body (x0: i64) {{
                 x1: i64 = {farther}; x2: i64 = x0 + x1; x3: f64 = a{own}[x0] @0; x4: f64 = a{other}[x2] @0; x5: f64 = x3 + x4 -> x5 }}\n"
        )
    };
    optimized(
        "a0: Array1<f64>, a1: Array1<f64>",
        &format!(
            "a2: Array1<f64>, a3: Array1<f64> = while a0, a1 @0
               cond {{
                 a4: Array0<bool> = loop @0 extents () {{ -> }}
                   body () {{ x0: i64 = 0; x1: f64 = a2[x0] @0; x2: f64 = 9.0; x3: bool = x1 < x2 -> x3 }}
                 -> a4
               }}
               body {{ {} {} -> a5, a6 }}
             -> a2, a3",
            step(5, 2, 3),
            step(6, 3, 2)
        ),
    )
}

fn counted(n: usize) -> RawArray {
    array(&[n], (1..=n).map(|k| k as f64).collect::<Vec<_>>())
}

#[test]
fn what_a_step_reads_at_the_same_index_is_assumed_to_be_inside() {
    let c = steps(0);
    // Each is not shorter than the other, so both are equally long, and one loop computes them.
    assert!(c.text().contains("a5: Array1<f64>, a6: Array1<f64> = loop"), "{}", c.text());
    assert!(!c.general().contains("a5: Array1<f64>, a6"), "{}", c.general());
    assert!(c.agrees(&[counted(3), counted(3)]));
    for n in [1, 2, 4] {
        assert!(!c.agrees(&[counted(3), counted(n)]));
    }
}

#[test]
fn nothing_is_assumed_of_what_a_step_reads_elsewhere() {
    let c = steps(1);
    assert!(c.with_assumptions.conditions.is_empty(), "{}", c.text());
    for n in [2, 3, 4] {
        assert!(c.agrees(&[counted(3), counted(n)]));
    }
}

#[test]
fn an_assumption_and_a_condition_prove_a_read() {
    // The first read assumes that a1 is not shorter than a0. So the element 2 of a1 exists where that of a0 does.
    let c = optimized(
        "a0: Array1<f64>, a1: Array1<f64>",
        "a2: Array1<f64> = loop @0
           extents () { x0: i64 = extent a0 0 -> x0 }
           body (x0: i64) {
             x1: f64 = a1[x0] @0; x2: i64 = extent a0 0; x3: i64 = 2; x4: bool = x3 < x2
             x5: f64 = if x4 { x6: f64 = a1[x3] @0 -> x6 } else { -> x1 } -> x5 }
         -> a2",
    );
    assert_eq!(c.text().matches("@0 inside").count(), 2, "{}", c.text());
    for n in 0..4 {
        assert!(c.agrees(&[floats(&[n]), floats(&[n])]));
    }
}

#[test]
fn a_guard_can_be_the_opposite_of_an_alternative() {
    let c = guarded(
        "x9: i64 = x1 - x4",
        "x6: bool = x9 < x3; x7: bool = x9 >= x2; x12: bool = x6 || x7; x8: bool = not x12",
    );
    assert_eq!(c.text().matches("@0 inside").count(), 2, "{}", c.text());
    for n in 0..4 {
        assert!(c.agrees(&[floats(&[n]), ints(&EXTREME)]));
    }
}

/// Reads a0 at `index` (x9) where `condition` (x8) holds. Both are computed from x1, which is read from a1, and from
/// the index x0.
fn guarded(index: &str, condition: &str) -> Case {
    optimized(
        "a0: Array1<f64>, a1: Array1<i64>",
        &format!(
            "a2: Array1<f64> = loop @0
               extents () {{ x0: i64 = extent a1 0 -> x0 }}
               body (x0: i64) {{
                 x1: i64 = a1[x0] @0 inside; x2: i64 = extent a0 0; x3: i64 = 0; x4: i64 = 1; x5: f64 = -1.0
                 {index}
                 {condition}
                 x10: f64 = if x8 {{ x11: f64 = a0[x9] @0 -> x11 }} else {{ -> x5 }} -> x10 }}
             -> a2"
        ),
    )
}

const EXTREME: [i64; 9] = [0, 1, 2, 3, -1, i64::MAX, i64::MIN, i64::MAX - 1, i64::MIN + 1];

#[test]
fn a_guard_makes_a_read_safe() {
    let c = guarded("x9: i64 = x1 - x4", "x6: bool = x9 >= x3; x7: bool = x9 < x2; x8: bool = x6 && x7");
    assert!(c.text().contains("inside\n"), "{}", c.text());
    assert_eq!(c.text().matches("@0 inside").count(), 2, "{}", c.text());
    for n in 0..4 {
        assert!(c.agrees(&[floats(&[n]), ints(&EXTREME)]));
    }
}

#[test]
fn a_guard_of_a_number_that_may_have_wrapped_is_none() {
    // x + 1 < n and x >= 0 hold, but x < n need not: x may be the largest integer.
    let c = guarded(
        "x9: i64 = x1 + x3",
        "x12: i64 = x1 + x4; x6: bool = x12 < x2; x7: bool = x1 >= x3; x8: bool = x6 && x7",
    );
    assert_eq!(c.text().matches("@0 inside").count(), 1, "{}", c.text());
    for x in EXTREME {
        assert!(c.agrees(&[floats(&[3]), ints(&[x])]));
    }
    // x - 1 >= 0 and x < n hold, but x >= 0 need not.
    let c = guarded(
        "x9: i64 = x1 + x3",
        "x12: i64 = x1 - x4; x6: bool = x12 >= x3; x7: bool = x1 < x2; x8: bool = x6 && x7",
    );
    assert_eq!(c.text().matches("@0 inside").count(), 1, "{}", c.text());
    for x in EXTREME {
        assert!(c.agrees(&[floats(&[3]), ints(&[x])]));
    }
}

/// The boolean that `code` computes from x0 (an index below the extent of a0) and x1 (an element).
fn decided(code: &str) -> Case {
    optimized(
        "a0: Array1<i64>",
        &format!(
            "a1: Array1<bool> = loop @0
               extents () {{ x0: i64 = extent a0 0 -> x0 }}
               body (x0: i64) {{ x1: i64 = a0[x0] @0 inside; x2: i64 = extent a0 0; x3: i64 = 1; {code} }}
             -> a1"
        ),
    )
}

#[test]
fn integers_that_are_data_wrap() {
    for (code, known) in [
        ("x4: i64 = x1 + x3; x5: bool = x1 < x4 -> x5", false),
        ("x4: i64 = x1 + x3; x5: bool = x4 > x1 -> x5", false),
        ("x4: i64 = x1 * x1; x5: i64 = 0; x6: bool = x4 >= x5 -> x6", false),
        ("x4: i64 = x1 + x3; x5: bool = x4 != x1 -> x5", false),
        ("x4: i64 = 9223372036854775807; x5: i64 = x0 + x4; x6: i64 = 0; x7: bool = x5 >= x6 -> x7", false),
        // The same for indices and extents, which are small numbers.
        ("x4: i64 = x0 + x3; x5: bool = x0 < x4 -> x5", true),
        ("x4: bool = x0 < x2 -> x4", true),
        ("x4: i64 = x2 - x3; x5: bool = x0 <= x4 -> x5", true),
        ("x4: i64 = x0 % x2; x5: bool = x4 == x0 -> x5", true),
        ("x4: i64 = x0 - x2; x5: i64 = 0; x6: bool = x4 < x5 -> x6", true),
        // Equations also hold for numbers that wrap.
        ("x4: i64 = x1 + x3; x5: i64 = x4 - x3; x6: bool = x5 == x1 -> x6", true),
        ("x4: i64 = x1 + x1; x5: i64 = 2; x6: i64 = x1 * x5; x7: bool = x4 == x6 -> x7", true),
        ("x4: i64 = x0 % x3; x5: i64 = 0; x6: bool = x4 == x5 -> x6", true),
    ] {
        let c = decided(code);
        assert_eq!(
            !c.text().contains("x1: i64 = a0[x0]") && c.text().contains("= true"),
            known,
            "{code}\n{}",
            c.text()
        );
        assert!(c.agrees(&[ints(&EXTREME)]) && c.agrees(&[ints(&[])]), "{code}");
    }
}

#[test]
fn a_division_by_zero_is_an_error_still() {
    let c = decided("x4: i64 = 0; x5: i64 = x1 / x4; x6: bool = x5 == x3 -> x6");
    assert!(c.agrees(&[ints(&[1])]));
    assert!(evaluate(&c.general, &argument(&[ints(&[1])])).is_err());
    let c = decided("x4: i64 = x2 - x3; x5: i64 = x0 % x4; x6: bool = x5 == x0 -> x6");
    for n in 0..4 {
        c.agrees(&[ints(&EXTREME[..n])]);
    }
    assert!(evaluate(&c.general, &argument(&[ints(&[1])])).is_err());
}

#[test]
fn a_negative_extent_is_an_error() {
    let c = optimized(
        "a0: Array1<f64>",
        "a1: Array1<i64> = loop @0
           extents () { x0: i64 = extent a0 0; x1: i64 = 2; x2: i64 = x0 - x1 -> x2 }
           body (x0: i64) { -> x0 }
         -> a1",
    );
    assert!(evaluate(&c.general, &argument(&[floats(&[1])])).is_err());
    for n in 0..5 {
        c.agrees(&[floats(&[n])]);
    }
}
