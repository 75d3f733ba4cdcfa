//! Scatters with known targets become gathers and reductions.

use super::*;
use insta::assert_snapshot;

/// Scatters the elements of a0, to targets that `target` computes, into zeros with the extents of a1.
fn scatter(rank: usize, source: usize, target: &str) -> Case {
    let index = |n: usize| (0..n).map(|k| format!("x{k}: i64")).collect::<Vec<_>>().join(", ");
    let regs = |n: usize| (0..n).map(|k| format!("x{k}")).collect::<Vec<_>>().join(", ");
    let extents =
        |a: usize, n: usize| (0..n).map(|k| format!("x{k}: i64 = extent a{a} {k}")).collect::<Vec<_>>().join("; ");
    optimized(
        &format!("a0: Array{source}<f64>, a1: Array{rank}<f64>, a2: Array1<i64>"),
        &format!(
            "a3: Array{rank}<f64> = loop @0 extents () {{ {e1} -> {r1} }} body ({i1}) {{ x{rank}: f64 = 0.0 -> x{rank} }}
             a4: Array{rank}<f64> = permute a3 @0 sum
               extents () {{ {e0} -> {r0} }}
               target ({i0}) {{ {target} }}
               element ({i0}) {{ x{source}: f64 = a0[{r0}] @0 inside -> x{source} }}
               comb (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
             -> a4",
            e1 = extents(1, rank),
            r1 = regs(rank),
            i1 = index(rank),
            e0 = extents(0, source),
            r0 = regs(source),
            i0 = index(source),
        ),
    )
}

fn on(c: &Case, source: &[usize], target: &[usize]) -> bool {
    c.agrees(&[floats(source), floats(target), ints(&[1, 0, 1])])
}

#[test]
fn a_reversing_scatter_is_a_gather() {
    let c = scatter(
        1,
        1,
        "x1: bool = true; x2: i64 = extent a1 0; x3: i64 = 1; x4: i64 = x2 - x3; x5: i64 = x4 - x0 -> x1, x5",
    );
    assert!(!c.text().contains("= permute"), "{}", c.text());
    for (n, m) in [(3, 3), (2, 3), (3, 2), (0, 0), (1, 1)] {
        on(&c, &[n], &[m]);
    }
}

#[test]
fn what_is_read_from_memory_stays_a_scatter() {
    let c = scatter(1, 1, "x1: bool = true; x2: i64 = a2[x0] @0 -> x1, x2");
    assert!(c.text().contains("= permute"), "{}", c.text());
    assert!(on(&c, &[3], &[2]) && on(&c, &[2], &[2]) && on(&c, &[3], &[1]));
}

#[test]
fn what_collides_in_one_dimension_stays_a_scatter() {
    // The target i + j.
    let c = scatter(1, 2, "x2: bool = true; x3: i64 = x0 + x1 -> x2, x3");
    assert!(c.text().contains("= permute"), "{}", c.text());
    assert!(on(&c, &[3, 2], &[4]) && on(&c, &[3, 2], &[3]));
    // The diagonal: one index twice.
    let c = scatter(2, 1, "x1: bool = true -> x1, x0, x0");
    assert!(c.text().contains("= permute"), "{}", c.text());
    assert!(on(&c, &[3], &[3, 3]) && on(&c, &[3], &[3, 2]));
    // Every second element.
    let c = scatter(1, 1, "x1: bool = true; x2: i64 = x0 + x0 -> x1, x2");
    assert!(c.text().contains("= permute"), "{}", c.text());
    assert!(on(&c, &[2], &[3]) && on(&c, &[2], &[2]));
}

/// The adjoints of neighbours that exist where the index is not the first or the last one.
#[test]
fn scatters_to_neighbours_are_gathers() {
    for target in [
        "x1: i64 = 0; x2: bool = x0 != x1; x3: i64 = 1; x4: i64 = x0 - x3 -> x2, x4",
        "x1: i64 = 0; x5: bool = x0 == x1; x2: bool = not x5; x3: i64 = 1; x4: i64 = x0 - x3 -> x2, x4",
        "x3: i64 = 1; x5: i64 = extent a0 0; x1: i64 = x5 - x3; x2: bool = x0 != x1; x4: i64 = x0 + x3 -> x2, x4",
    ] {
        let c = scatter(1, 1, target);
        assert!(!c.text().contains("= permute"), "{}", c.text());
        for (n, m) in [(4, 4), (2, 2), (1, 1), (0, 0), (0, 3), (3, 1)] {
            on(&c, &[n], &[m]);
        }
    }
}

#[test]
fn a_condition_on_the_source_is_one_of_the_gather() {
    let c = scatter(1, 1, "x1: i64 = 2; x2: bool = x0 < x1 -> x2, x0");
    assert!(!c.text().contains("= permute"), "{}", c.text());
    assert!(on(&c, &[4], &[4]) && on(&c, &[1], &[3]) && on(&c, &[3], &[5]));
    // Whether the elements beyond the target are kept depends on the condition: the general program finds out.
    assert!(!on(&c, &[4], &[2]) && !on(&c, &[4], &[1]));
}

#[test]
fn a_scatter_from_a_diagonal_visits_nothing_else() {
    // The diagonals of square matrices: selected by a branch, and by a condition that also says more.
    let from = |target: &str| {
        optimized(
            "a0: Array2<f64>, a1: Array2<f64>",
            &format!(
                "a2: Array2<f64> = permute a1 @0 sum
                   extents () {{ x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1, x1 }}
                   target (x0: i64, x1: i64, x2: i64) {{ x3: bool = x2 == x1; {target} }}
                   element (x0: i64, x1: i64, x2: i64) {{
                     x3: f64 = a0[x0, x2] @0 inside; x4: f64 = as f64 x1; x5: f64 = x3 * x4 -> x5 }}
                   comb (x0: f64, x1: f64) {{ x2: f64 = x0 + x1 -> x2 }}
                 -> a2"
            ),
        )
    };
    let branch = "x4: bool, x5: i64 = if x3 { x6: bool = true -> x6, x1 } else { x7: bool = false; x8: i64 = 0 -> x7, x8 } -> x4, x0, x5";
    let c = from(branch);
    assert_snapshot!(c.text(), @r"
    a2: Array2<f64> = loop @0
      extents () { x0: i64 = extent a1 0; x1: i64 = extent a1 1 -> x0, x1 }
      body (x0: i64, x1: i64) {
        x2: f64 = a1[x0, x1] @0 inside
        x3: i64 = extent a0 0
        x4: bool = x0 < x3
        x5: i64 = extent a0 1
        x6: bool = x1 < x5
        x7: bool = x4 && x6
        x12: f64 = if x7 {
          x8: f64 = a0[x0, x1] @0 inside
          x9: f64 = as f64 x1
          x10: f64 = x8 * x9
          x11: f64 = x2 + x10
          -> x11
        } else {
          -> x2
        }
        -> x12
      }
    -> a2
    ");
    assert!(c.agrees(&[floats(&[2, 3]), floats(&[2, 3])]) && c.agrees(&[floats(&[0, 3]), floats(&[1, 3])]));
    assert!(!c.agrees(&[floats(&[2, 3]), floats(&[2, 2])]));
    let c = from("x4: i64 = 1; x5: bool = x1 >= x4; x6: bool = x5 && x3 -> x6, x1, x0");
    assert!(!c.text().contains("= permute"), "{}", c.text());
    assert!(c.agrees(&[floats(&[2, 3]), floats(&[3, 2])]) && c.agrees(&[floats(&[2, 3]), floats(&[4, 4])]));
    assert!(!c.agrees(&[floats(&[2, 3]), floats(&[1, 1])]));
    // The rule applies only if the extents are equal, and only if the elements outside the diagonal have no target.
    let c = optimized(
        "a0: Array2<f64>, a1: Array1<f64>",
        "a2: Array1<f64> = permute a1 @0 sum
           extents () { x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1 }
           target (x0: i64, x1: i64) { x2: bool = x0 == x1 -> x2, x0 }
           element (x0: i64, x1: i64) { x2: f64 = a0[x0, x1] @0 inside -> x2 }
           comb (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
         -> a2",
    );
    assert!(c.agrees(&[floats(&[2, 3]), floats(&[2])]) && c.agrees(&[floats(&[3, 2]), floats(&[3])]));
    assert!(!c.agrees(&[floats(&[3, 2]), floats(&[2])]));
    let c = from("x4: bool = not x3 -> x4, x0, x1");
    assert!(c.agrees(&[floats(&[2, 3]), floats(&[2, 3])]));
}

#[test]
fn an_extent_that_is_unknown_does_not_hide_in_a_product_with_zero() {
    // The source has 0 rows, whose length does not consist of extents of arguments.
    let c = optimized(
        "a0: Array0<i64>, a1: Array1<f64>",
        "a2: Array1<f64> = loop @0
           extents () { x0: i64 = extent a1 0 -> x0 } body (x0: i64) { x1: f64 = 0.0 -> x1 }
         a3: Array1<f64> = permute a2 @0 sum
           extents () { x0: i64 = 0; x1: i64 = a0[] @0 inside -> x0, x1 }
           target (x0: i64, x1: i64) { x2: bool = true; x3: i64 = 0 -> x2, x3 }
           element (x0: i64, x1: i64) { x2: f64 = as f64 x1 -> x2 }
           comb (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
         -> a3",
    );
    assert!(c.agrees(&[array(&[], vec![3i64]), floats(&[2])]));
}
