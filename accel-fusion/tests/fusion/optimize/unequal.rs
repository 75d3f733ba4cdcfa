//! What a comparison for equality says about an index at the end of its range.

use super::*;

/// `a1[i] = if condition { then } else { otherwise }`, where the condition x4 compares the index x0 with 0, x1, or with the last index,
/// x3. The number x5 is 1.
fn decided(condition: &str, then: &str, otherwise: &str) -> Case {
    optimized(
        "a0: Array1<f64>",
        &format!(
            "a1: Array1<f64> = loop @0
               extents () {{ x0: i64 = extent a0 0 -> x0 }}
               body (x0: i64) {{
                 x1: i64 = 0
                 x2: i64 = extent a0 0
                 x5: i64 = 1
                 x3: i64 = x2 - x5
                 {condition}
                 x9: f64 = if x4 {{ {then} -> x8 }} else {{ {otherwise} -> x6 }}
                 -> x9
               }}
             -> a1"
        ),
    )
}

const BEFORE: &str = "x7: i64 = x0 - x5; x8: f64 = a0[x7] @0";
const AFTER: &str = "x7: i64 = x0 + x5; x8: f64 = a0[x7] @0";
const NOTHING: &str = "x6: f64 = 0.5";

#[test]
fn an_index_that_is_not_at_an_end_has_a_neighbour() {
    let exchanged = |read: &str| read.replace("x8", "x6");
    let other = NOTHING.replace("x6", "x8");
    for case in [
        decided("x4: bool = x0 != x1", BEFORE, NOTHING),
        decided("x4: bool = x0 != x3", AFTER, NOTHING),
        decided("x4: bool = x1 != x0", BEFORE, NOTHING),
        decided("x4: bool = x0 == x1", &other, &exchanged(BEFORE)),
        decided("x4: bool = x0 == x3", &other, &exchanged(AFTER)),
    ] {
        let text = case.text();
        assert!(text.contains("a0[") && !text.replace("] @0 inside", "").contains("] @0"), "{text}");
        for n in [0, 1, 2, 9] {
            case.agrees(&[floats(&[n])]);
        }
    }
}

#[test]
fn another_index_may_have_none() {
    for case in [
        decided("x4: bool = x0 != x5", BEFORE, NOTHING),
        decided("x4: bool = x0 != x1", AFTER, NOTHING),
        decided("x4: bool = x0 == x1", &NOTHING.replace("x6", "x8"), &AFTER.replace("x8", "x6")),
    ] {
        let text = case.text();
        assert!(text.replace("] @0 inside", "").contains("] @0"), "{text}");
        for n in [0, 1, 2, 9] {
            case.agrees(&[floats(&[n])]);
        }
    }
}
