//! Selections: which conditionals compute both branches.

use super::*;

/// The text of a body with its registers numbered in the order of their definitions.
fn numbered(body: &str) -> String {
    let (mut found, mut text) = (vec![], String::new());
    let mut parts = body.split('x');
    text += parts.next().unwrap_or_default();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        let known = found.iter().position(|n| *n == name);
        let number = known.unwrap_or_else(|| {
            found.extend((!name.is_empty()).then_some(name));
            found.len().saturating_sub(1)
        });
        // The letter also occurs in words.
        text += &if name.is_empty() { format!("x{rest}") } else { format!("x{number}{rest}") };
    }
    text
}

/// `a2[i, j] = if x4 { then } else { otherwise }`. The number x2 is a0[i, j], x3 is the integer 1, and both are computed
/// before `condition`, which computes x4. The branches compute x6 and x8.
fn decided(condition: &str, then: &str, otherwise: &str) -> Case {
    optimized(
        "a0: Array2<f64>, a1: Array2<f64>",
        &format!(
            "a2: Array2<f64> = loop @0
               extents () {{ x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1 }}
               body {}
             -> a2",
            numbered(&format!(
                "(x0: i64, x1: i64) {{
                   x2: f64 = a0[x0, x1] @0 inside; x3: i64 = 1
                   {condition}
                   x9: f64 = if x4 {{ {then} -> x6 }} else {{ {otherwise} -> x8 }} -> x9 }}"
            ))
        ),
    )
}

/// The number of selections and of branches.
fn kinds(c: &Case) -> (usize, usize) {
    let (mut selections, mut branches) = (0, 0);
    for s in c.with_assumptions.program.body.walk() {
        for (_, code) in s.op.scalar_fns() {
            for i in accel_fusion::kernel::walk(&code.instrs) {
                selections += usize::from(i.is_selection());
                branches += usize::from(i.inner().len() == 2 && !i.is_selection());
            }
        }
    }
    (selections, branches)
}

#[track_caller]
fn agrees(c: &Case) {
    for extents in [[0, 0], [1, 1], [3, 3], [3, 5], [5, 3]] {
        assert!(c.agrees(&[floats(&extents), floats(&extents)]));
    }
}

const SINGULAR: &str = "x5: f64 = 1.25; x10: f64 = x2 + x5; x11: f64 = sqrt x10; x12: f64 = 1.0; x6: f64 = x12 / x11";
const ZERO: &str = "x8: f64 = 0.0";

#[test]
fn a_cheap_branch_is_selected_whatever_it_computes() {
    // The first element is 1 / sqrt(0), which is infinite, and is not chosen.
    for condition in ["x4: bool = x0 < x1", "x4: bool = x0 != x1", "x13: f64 = -1.25; x4: bool = x2 > x13"] {
        let c = decided(condition, SINGULAR, ZERO);
        assert_eq!(kinds(&c), (1, 0), "{}", c.text());
        agrees(&c);
        assert!(c.agrees(&[array(&[2, 2], vec![f64::NAN, -3.0, f64::INFINITY, -1.25]), floats(&[2, 2])]));
    }
}

#[test]
fn what_can_fail_stays_in_its_branch() {
    let divided = "x5: i64 = x3 / x1; x6: f64 = as f64 x5";
    let outside = "x5: i64 = x1 - x3; x6: f64 = a0[x0, x5] @0";
    for then in [divided, outside] {
        let c = decided("x13: i64 = 0; x4: bool = x13 < x1", then, ZERO);
        assert_eq!(kinds(&c), (0, 1), "{}", c.text());
        agrees(&c);
    }
}

#[test]
fn a_read_that_the_condition_alone_keeps_inside_stays_in_its_branch() {
    let c = decided("x10: i64 = extent a1 1; x4: bool = x1 < x10", "x6: f64 = a1[x0, x1] @0", ZERO);
    assert_eq!(kinds(&c), (0, 1), "{}", c.text());
    // The rows of a1 are shorter. There are as many.
    assert!(c.agrees(&[floats(&[3, 5]), floats(&[3, 2])]));
    assert!(c.agrees(&[floats(&[3, 5]), floats(&[3, 0])]));
}

#[test]
fn a_read_that_is_inside_anyway_is_selected() {
    let c = decided("x4: bool = x1 < x0", "x10: f64 = a1[x0, x1] @0; x6: f64 = x10 * x2", "x8: f64 = a0[x0, x1] @0");
    assert_eq!(kinds(&c), (1, 0), "{}", c.text());
    // The element is read once.
    assert_eq!(c.text().matches("a0[x0, x1]").count(), 1, "{}", c.text());
    agrees(&c);
    assert!(!c.agrees(&[floats(&[3, 5]), floats(&[3, 2])]));
}

#[test]
fn a_row_that_takes_one_branch_keeps_it() {
    let c = decided("x4: bool = x3 < x0", SINGULAR, ZERO);
    assert_eq!(kinds(&c), (0, 1), "{}", c.text());
    agrees(&c);
}

#[test]
fn long_branches_and_functions_of_single_numbers_stay() {
    let sines: String = (20..28).map(|r| format!("x{}: f64 = sin x{r};", r + 1)).collect();
    for then in [format!("x20: f64 = sin x2; {sines} x6: f64 = sin x28"), "x6: f64 = lgamma x2".into()] {
        let c = decided("x4: bool = x0 < x1", &then, ZERO);
        assert_eq!(kinds(&c), (0, 1), "{}", c.text());
        agrees(&c);
    }
}

#[test]
fn conditionals_in_branches_are_selected_first() {
    let inner = "x10: bool = x1 == x3; x11: f64 = 2.0; x6: f64 = if x10 { x12: f64 = x2 * x11 -> x12 } else { -> x2 }";
    let c = decided("x4: bool = x0 < x1", inner, ZERO);
    assert_eq!(kinds(&c), (2, 0), "{}", c.text());
    agrees(&c);
}

#[test]
fn a_conditional_of_truth_values_is_its_condition() {
    let of = |then: bool, otherwise: bool| {
        let (then, otherwise) = (format!("x6: bool = {then}"), format!("x8: bool = {otherwise}"));
        optimized(
            "a0: Array1<f64>",
            &format!(
                "a1: Array1<bool> = loop @0
                   extents () {{ x0: i64 = extent a0 0 -> x0 }}
                   body {}
                 -> a1",
                numbered(&format!(
                    "(x0: i64) {{
                       x2: f64 = a0[x0] @0 inside; x3: f64 = 0.0; x4: bool = x2 < x3
                       x9: bool = if x4 {{ {then} -> x6 }} else {{ {otherwise} -> x8 }} -> x9 }}"
                ))
            ),
        )
    };
    for (then, otherwise) in [(true, false), (false, true), (true, true), (false, false)] {
        let c = of(then, otherwise);
        assert_eq!(kinds(&c), (0, 0), "{}", c.text());
        assert_eq!(c.text().contains("not x"), otherwise && !then, "{}", c.text());
        assert!(c.agrees(&[array(&[4], vec![-1.0, 0.0, f64::NAN, 1.0])]));
    }
}
