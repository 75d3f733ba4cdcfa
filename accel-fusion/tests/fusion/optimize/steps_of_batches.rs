//! Loops of few steps over batches.

use super::*;

/// As many steps as `steps` says, on a matrix of 3 columns with the rows of a0. Each adds the next column to all columns, and the number of the step.
fn steps(steps: &str, columns: &str, dir: &str) -> Case {
    optimized_for(
        Target::Processor,
        "a0: Array2<f64>",
        &format!(
            "a1: Array2<f64> = loop @0
               extents () {{ x0: i64 = extent a0 0; {columns} -> x0, x1 }}
               body (x0: i64, x1: i64) {{ x2: f64 = a0[x0, x1] @0; x3: f64 = exp x2 -> x3 }}
             a2: Array0<i64> = loop @0 extents () {{ -> }} body () {{ {steps} -> x0 }}
             a3: Array2<f64> = times a2 {dir}a1 @0 row a4: Array0<i64> body {{
               a5: Array2<f64> = loop @0
                 extents () {{ x0: i64 = extent a3 0; x1: i64 = extent a3 1 -> x0, x1 }}
                 body (x0: i64, x1: i64) {{
                   x2: i64 = a4[] @0 inside; x3: f64 = a3[x0, x1] @0; x4: f64 = a3[x0, x2] @0;
                   x5: f64 = x3 + x4; x6: f64 = as f64 x2; x7: f64 = x5 * x6 -> x7
                 }}
               -> a5
             }}
             -> a3"
        ),
    )
}

const THREE: &str = "x1: i64 = 3";

#[test]
fn few_steps_over_a_batch_of_rows_become_statements() {
    for dir in ["", "right "] {
        for n in 0..4 {
            let c = steps(&format!("x0: i64 = {n}"), THREE, dir);
            assert!(!c.text().contains("times"), "{}", c.text());
            assert!([0, 1, 5].iter().all(|rows| c.agrees(&[floats(&[*rows, 3])])));
        }
    }
    // The steps before the fourth one, which has no column, are executed.
    let fails = steps("x0: i64 = 4", THREE, "");
    fails.agrees(&[floats(&[2, 3])]);
    fails.agrees(&[floats(&[0, 3])]);
}

#[test]
fn other_loops_stay_loops() {
    let is_loop = |c: Case| c.text().contains("times");
    // As many steps as there are rows; many steps; rows of any length.
    assert!(is_loop(steps("x0: i64 = extent a0 0", THREE, "")));
    assert!(is_loop(steps("x0: i64 = 41", THREE, "")));
    assert!(is_loop(steps("x0: i64 = 3", "x1: i64 = extent a0 1", "")));
}
