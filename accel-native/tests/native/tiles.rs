//! Sums in tiles, compared with the same sums one by one.

use crate::support::program;
use accel_codegen::Vectors;
use accel_core::repr::{Column, RawArray};
use accel_native::Kernels;

/// `sum (x[b, i, k] - y[b, k, j])²` plus a first value, for a batch if `batched`.
fn distances(t: &str, batched: bool) -> String {
    let (rank, first) = if batched { (3, "x0, ") } else { (2, "") };
    // The registers of the index, and those behind it.
    let [i, j, k] = if batched { [1, 2, 3] } else { [0, 1, 2] };
    let [batch, n, m] = [0, rank - 2, rank - 1];
    let extents = match batched {
        true => format!("x0: i64 = extent a0 {batch}; x1: i64 = extent a0 {n}; x2: i64 = extent a1 {m} -> x0, x1, x2"),
        false => format!("x0: i64 = extent a0 {n}; x1: i64 = extent a1 {m} -> x0, x1"),
    };
    let params = (0..=rank).map(|k| format!("x{k}: i64")).collect::<Vec<_>>().join(", ");
    let [x, y, d, square] = [1, 2, 3, 4].map(|r| rank + r);
    format!(
        r#"program (a0: Array{rank}<{t}>, a1: Array{rank}<{t}>)
site 0 = "distances"
{{
  a2: Array{rank}<{t}> = reduce @0 sum
    extents () {{ {extents} }}
    len () {{ x0: i64 = extent a0 {m} -> x0 }}
    element ({params}) {{
      x{x}: {t} = a0[{first}x{i}, x{k}] @0 inside
      x{y}: {t} = a1[{first}x{k}, x{j}] @0 inside
      x{d}: {t} = x{x} - x{y}
      x{square}: {t} = x{d} * x{d}
      -> x{square}
    }}
    init () {{ x0: {t} = 0.5{suffix} -> x0 }}
    op (x0: {t}, x1: {t}) {{ x2: {t} = x0 + x1 -> x2 }}
  -> a2
}}"#,
        suffix = if t == "f32" { "_f32" } else { "" }
    )
}

#[test]
fn distances_of_any_size() {
    let all = [(64, 32), (32, 16), (16, 16), (16, 32)].map(|(bytes, registers)| Vectors { bytes, registers });
    let some = |k: usize| (k * 7919 % 13) as f64 - 6.0;
    for (t, batched) in [("f32", false), ("f64", false), ("f64", true)] {
        let text = distances(t, batched);
        let slow = Kernels::new(program(&text)).unwrap().expect("the tests need a C compiler");
        let column = |n: usize, from: usize| -> Column {
            let all = (from..from + n).map(some);
            if t == "f32" { all.map(|x| x as f32).collect::<Vec<_>>().into() } else { all.collect::<Vec<_>>().into() }
        };
        let array = |extents: &[usize], from| RawArray {
            extents: extents.into(),
            columns: vec![column(extents.iter().product(), from)].into(),
        };
        for vectors in all {
            // SAFETY: the extents below fit, so that all reads are within bounds.
            let fast = unsafe { Kernels::trusting_with(program(&text), vectors) };
            let fast = fast.unwrap().expect("the tests need a C compiler");
            let sizes =
                [(1, 16, 3), (3, 8, 1), (5, 31, 2), (4, 33, 0), (0, 40, 3), (7, 15, 2), (9, 64, 100), (300, 101, 17)];
            for (n, m, d) in sizes {
                let batch = if batched { &[2][..] } else { &[] };
                let inputs = vec![array(&[batch, &[n, d]].concat(), 0), array(&[batch, &[d, m]].concat(), 5)];
                let (found, expected) = (fast.run(inputs.clone()).unwrap(), slow.run(inputs).unwrap());
                assert_eq!(found, expected, "{n} × {m}, {d}: {t}, {vectors:?}, batched: {batched}");
            }
        }
    }
}
