//! Loops of few steps, and the linear functions that they compose.

use super::*;

/// `a1[i] = f(a0[i])`, where `f` computes `result` from x2.
fn map(f: &str, result: &str) -> Case {
    optimized(
        "a0: Array1<i64>",
        &format!(
            "a1: Array1<i64> = loop @0
               extents () {{ x0: i64 = extent a0 0 -> x0 }}
               body (x0: i64) {{ x1: i64 = 1; x2: i64 = a0[x0] @0 inside; {f} -> {result} }}
             -> a1"
        ),
    )
}

/// A loop that counts to `steps`, and computes x9 from the last value x6 and the number x5 of steps before.
fn steps(steps: &str, next: &str) -> Case {
    map(
        &format!(
            "x3: i64 = 0; x4: i64 = {steps}; x5: i64, x6: i64 = while x3, x2
               cond {{ x7: bool = x5 < x4 -> x7 }}
               body {{ x8: i64 = x5 + x1; {next} -> x8, x9 }}"
        ),
        "x6",
    )
}

fn runs(case: &Case) {
    case.agrees(&[ints(&[0, 1, -1, 7, 1 << 40, i64::MAX, i64::MIN, 12345678901])]);
}

#[test]
fn steps_of_a_known_number_are_executed_one_after_the_other() {
    for (n, is_loop) in [("0", false), ("5", false), ("1000", true), ("x2 / x1", true)] {
        let case = steps(n, "x9: i64 = x6 * x5");
        assert_eq!(case.text().contains("while"), is_loop, "{n}\n{}", case.text());
        if n != "x2 / x1" {
            runs(&case);
        }
    }
    // A part of the state is the next value of another one.
    let case = map(
        "x3: i64 = 0; x4: i64 = 3; x5: i64, x6: i64, x7: i64 = while x3, x2, x1
           cond { x8: bool = x5 < x4 -> x8 }
           body { x9: i64 = x5 + x1; x10: i64 = x6 + x7 -> x9, x7, x10 }",
        "x7",
    );
    assert!(!case.text().contains("while"), "{}", case.text());
    runs(&case);
}

/// The steps of the inner loops are counted as well.
#[test]
fn steps_in_steps() {
    for (n, is_loop) in [(3, false), (40, true)] {
        let case = steps(
            "6",
            &format!(
                "x10: i64 = {n}; x11: i64, x9: i64 = while x3, x6
                   cond {{ x12: bool = x11 < x10 -> x12 }}
                   body {{ x13: i64 = x9 * x2; x14: i64 = x11 + x1 -> x14, x13 }}"
            ),
        );
        assert_eq!(case.text().contains("while"), is_loop, "{}", case.text());
        runs(&case);
    }
}

#[test]
fn linear_functions_of_integers_are_composed() {
    let lcg =
        "x10: i64 = 6364136223846793005; x11: i64 = x6 * x10; x12: i64 = 1442695040888963407; x9: i64 = x11 + x12";
    let case = steps("8", lcg);
    let text = case.text();
    let count = |op: &str| text.matches(op).count();
    assert_eq!((count(" * "), count(" + ") + count(" - ")), (1, 1), "{text}");
    runs(&case);
    // Differences, and values between that are used as well.
    let case = map(
        "x3: i64 = 5; x4: i64 = x2 * x3; x5: i64 = x3 - x4; x6: i64 = x5 * x3; x7: i64 = x6 - x3; x8: i64 = x7 * x5; x9: i64 = x8 + x6",
        "x9",
    );
    runs(&case);
}
