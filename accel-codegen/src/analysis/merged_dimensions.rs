//! Merged dimensions: loops over neighbouring dimensions that are one loop in memory.
//!
//! NOTE [Merged dimensions]: a sum of two matrices with three columns has an inner loop of three iterations, too few for a vector.
//! But if all arrays have three columns, the rows follow each other in memory, and the position in a row is needed for
//! nothing else. Then the loop can take the matrix for a single row of all elements: with the extents `1` and `3 * n` instead of
//! `n` and `3`, and the arrays' own extents as they are, the position of element `[0, p]` is `p`. The kernel is the same one, so
//! the host program decides, as soon as it knows the extents. A million rows of three numbers take 0.2 ms instead of 2.5.
//!
//! Only the innermost dimensions are merged, because only the length of inner loops matters.

use accel_fusion::kernel::{ArrayId, Reg, ScalarFn, follows};

/// The innermost dimensions of a function of an index of `rank` numbers, and maybe of more, that can be merged with the next one;
/// the outermost one first. For each, the dimensions of arrays that must have the extent of this next one.
pub fn merged_dimensions(code: &ScalarFn, rank: usize) -> Vec<(usize, Vec<(ArrayId, usize)>)> {
    let pairs = |d: usize| Some((d, follows(code, Reg::new(d), Reg::new(d + 1))?));
    let mut merged: Vec<_> = (0..rank.saturating_sub(1)).rev().map_while(pairs).collect();
    merged.reverse();
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use accel_fusion::kernel::{Op, parse};

    fn merged(reads: &str) -> Vec<(usize, Vec<(usize, usize)>)> {
        let text = format!(
            "program (a0: Array3<f64>, a1: Array3<f64>, a2: Array1<f64>)\nsite 0 = \"here\"\n{{\n a3: Array3<f64> = loop @0\n\
             extents () {{ x0: i64 = extent a0 0; x1: i64 = extent a0 1; x2: i64 = extent a0 2 -> x0, x1, x2 }}\n\
             body (x0: i64, x1: i64, x2: i64) {{ {reads} }}\n -> a3\n}}"
        );
        let program = parse(&text).unwrap();
        let Op::Loop { body, .. } = &program.body.stmts[0].op else { unreachable!("a loop") };
        let plain =
            |(d, same): (usize, Vec<(ArrayId, usize)>)| (d, same.iter().map(|(a, k)| (a.index(), *k)).collect());
        merged_dimensions(body, 3).into_iter().map(plain).collect()
    }

    #[test]
    fn dimensions_are_merged_if_all_reads_follow_them() {
        assert_eq!(merged("x3: f64 = 1.0 -> x3"), [(0, vec![]), (1, vec![])]);
        assert_eq!(merged("x3: f64 = a0[x0, x1, x2] @0 inside -> x3"), [(0, vec![(0, 1)]), (1, vec![(0, 2)])]);
        let both = "x3: f64 = a0[x0, x1, x2] @0 inside; x4: f64 = a1[x0, x1, x2] @0 inside; x5: f64 = x3 + x4 -> x5";
        assert_eq!(merged(both), [(0, vec![(0, 1), (1, 1)]), (1, vec![(0, 2), (1, 2)])]);
        let of_row = "x3: i64 = 0; x4: f64 = a0[x0, x1, x2] @0 inside; x5: f64 = a1[x3, x1, x2] @0 inside; x6: f64 = x4 + x5 -> x6";
        assert_eq!(merged(of_row), [(1, vec![(0, 2), (1, 2)])]);
    }

    #[test]
    fn other_dimensions_are_not_merged() {
        for reads in [
            // Another order, one of both, twice the same, a check, and arithmetic.
            "x3: f64 = a0[x0, x2, x1] @0 inside -> x3",
            "x3: f64 = a0[x0, x0, x2] @0 inside -> x3",
            "x3: f64 = a2[x2] @0 inside -> x3",
            "x3: f64 = a0[x1, x1, x2] @0 inside -> x3",
            "x3: f64 = a0[x1, x2, x2] @0 inside -> x3",
            "x3: f64 = a0[x0, x1, x2] @0 -> x3",
            "x3: f64 = a0[x0, x1, x2] @0 inside; x4: f64 = as f64 x2; x5: f64 = x3 + x4 -> x5",
        ] {
            assert_eq!(merged(reads), [], "{reads}");
        }
    }
}
