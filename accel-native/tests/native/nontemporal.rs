//! Results larger than the caches are written with non-temporal stores.

use crate::support::{array, compile};
use accel_core::error::Error;
use accel_core::repr::{Column, RawArray};

/// A loop over a matrix whose extents are not multiples of vector sizes, with results of two element sizes; every row
/// reads `a1[i]`.
const PROGRAM: &str = r#"program (a0: Array2<f64>, a1: Array1<i64>)
site 0 = "generate"
{
  a2: Array2<i16, f64> = loop @0
    extents () { x0: i64 = extent a0 0; x1: i64 = extent a0 1 -> x0, x1 }
    body (x0: i64, x1: i64) { x2: f64 = a0[x0, x1] @0 inside; x3: i64 = a1[x0] @0; x4: f64 = x2 + x2; x5: i16 = as i16 x3 -> x5, x4 }
  -> a2
}"#;

const ROWS: usize = 1_999;
const COLUMNS: usize = 1_801;

/// The same with two results instead of one.
fn two_results() -> String {
    PROGRAM.replace("a2: Array2<i16, f64>", "a2: Array2<i16>, a3: Array2<f64>").replace("-> a2", "-> a2, a3")
}

fn input() -> RawArray {
    array(&[ROWS, COLUMNS], (0..ROWS * COLUMNS).map(|p| p as f64).collect::<Vec<_>>())
}

#[test]
fn every_element_is_written() {
    let numbers: Vec<i64> = (0..ROWS as i64).collect();
    for program in [PROGRAM, &two_results()] {
        let k = compile(program);
        // The second run reuses the memory of the first one's results.
        for _ in 0..2 {
            let out = k.run(vec![input(), array(&[ROWS], numbers.clone())]).unwrap();
            assert!(out.iter().all(|a| *a.extents == [ROWS, COLUMNS]));
            let columns: Vec<&Column> = out.iter().flat_map(|a| &a.columns).collect();
            let [Column::I16(a), Column::F64(b)] = columns[..] else { panic!("other columns") };
            assert!(a.len() * 2 + b.len() * 8 > 32 << 20, "this is not large");
            assert!(a.iter().enumerate().all(|(p, x)| *x == (p / COLUMNS) as i16));
            assert!(b.iter().enumerate().all(|(p, x)| *x == 2.0 * p as f64));
        }
    }
}

#[test]
fn what_fails_in_a_large_loop_is_told() {
    for program in [PROGRAM, &two_results()] {
        match compile(program).run(vec![input(), array(&[ROWS - 1], vec![0i64; ROWS - 1])]) {
            Err(Error::OutOfBounds { index, shape, .. }) => {
                assert_eq!((index, shape), (vec![ROWS as i64 - 1], vec![ROWS - 1]));
            }
            other => panic!("{other:?}"),
        }
    }
}
