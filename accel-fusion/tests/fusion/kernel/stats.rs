//! The estimated costs of programs.

use super::program;
use accel_core::prelude::*;
use accel_fusion::pipeline::lower;
use accel_fusion::simplify;

#[test]
fn every_kind_of_statement() {
    let p = program(
        "program (a0: Array2<f64>, a1: Array1<i64>)
        site 0 = \"map\"
        literal 0 = [3] f32 { 1.0 2.0 3.0 }
        {
            a2: Array1<f32> = literal 0 @0
            a3: Array2<f64, bool>, a4: Array2<f32> = loop @0
                extents () { x0: i64 = extent a0 1; x1: i64 = extent a2 0 -> x0, x1 }
                body (x0: i64, x1: i64) {
                    x2: f32 = a2[x1] @0
                    x3: f32 = a2[x0] @0
                    x4: f64 = 1.0
                    x5: bool = true
                    x6: f64 = if x5 { x7: f64 = a0[x0, x1] @0 -> x7 } else { -> x4 }
                    -> x6, x5, x2
                }
            a5: Array0<i64> = loop @0 extents () { -> } body () { x0: i64 = extent a0 0 -> x0 }
            a6: Array1<f64> = reduce @0
                extents () { x0: i64 = extent a3 0; x1: i64 = extent a3 1; x2: i64 = min x0 x1 -> x2 }
                len () { x0: i64 = extent a0 0 -> x0 }
                element (x0: i64, x1: i64) { x2: f64 = 1.0 -> x2 }
                op (x0: f64, x1: f64) { -> x0 }
            a7: Array2<i64> = scan @0
                extents () { x0: i64 = extent a1 0; x1: i64 = x0 - x0 -> x1 }
                len () { x0: i64 = extent a1 0 -> x0 }
                element (x0: i64, x1: i64) { x2: i64 = a1[x1] @0 -> x2 }
                init () { x0: i64 = 1 -> x0 }
                op (x0: i64, x1: i64) { -> x0 }
            a8: Array1<i64> = permute a1 @0
                extents () { -> }
                target () { x0: bool = true; x1: i64 = 0 -> x0, x1 }
                element () { x0: i64 = 0; x1: i64 = a1[x0] @0 -> x1 }
                comb (x0: i64, x1: i64) { -> x0 }
            a9: Array2<i64> = reshape a8 @0
                extents () { x0: i64 = extent a8 0; x1: i64 = 1 -> x0, x1 }
            -> a9, a7
        }",
    );
    let stats = p.stats();
    // The loop, the single element, the reduction, the scan, and the permutation, which copies first.
    assert_eq!((stats.kernels, stats.loops, stats.arrays), (5, 5, 6));
    // The loop reads a0 and the literal; the scan and the permutation each read a1.
    assert_eq!(stats.bytes_read.to_string(), "8·a0.0·a0.1 + 16·a1.0 + 12");
    // (9 + 4) * 3 per column of a0, one number, the reduction over an unknown number of rows. The scan adds no term.
    assert_eq!(stats.bytes_written.to_string(), "39·a0.1 + 8·a1.0 + 8·a6.0 + 8");
    let extents = |a| Some(if a == 0 { vec![2, 10] } else { vec![100] });
    assert_eq!(stats.bytes_read.value(extents), Some(160 + 1600 + 12));
    assert_eq!(stats.bytes_written.value(|a| extents(a).filter(|_| a != 6)), None);
    assert_eq!(stats.to_string().split(", ").next(), Some("kernels 5"));
    assert_eq!(
        program("program () { -> }").stats().to_string(),
        "kernels 0, loops 0, arrays 0, bytes read 0, bytes written 0"
    );
}

#[test]
fn fused_programs() {
    let f = afun(|xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>| dot(map(|x| x + 1.0, xs), ys));
    let (simple, _) = simplify(f.program().unwrap()).unwrap();
    let stats = lower(&simple).unwrap().stats();
    assert_eq!(stats.to_string(), "kernels 1, loops 1, arrays 1, bytes read 4·a0.0 + 4·a1.0, bytes written 4");
}
