//! Derivatives of random programs in the whole language: both modes are transposed to each other, and derivatives of
//! derivatives mean the same on the interpreter and as kernel programs, bit by bit.

use super::build::build;
use super::generate::{inputs_of, program};
use crate::directions::{both_products, numbers};
use accel::ast::Program;
use accel::backend::{Backend, Executable};
use accel::interp::Interpreted;
use accel::repr::{ArrayTuple, Column};
use accel_ad::{Reverse, forward_mode, reverse_mode};
use accel_core::pass::count;
use accel_fusion::KernelEvaluator;
use std::ops::Range;

/// A direction of derivatives; another one for each number.
fn direction(like: &ArrayTuple, number: usize) -> ArrayTuple {
    let mut numbers = numbers().skip(number);
    like.map_floats(&mut |x| numbers.next().unwrap_or(x))
}

/// All floats, and whether any of them has single precision.
fn all_floats(a: &ArrayTuple) -> (Vec<f64>, bool) {
    let leaves = a.leaves();
    let mut columns = leaves.iter().flat_map(|a| &a.columns);
    (a.floats(), columns.any(|c| matches!(c, Column::F32(_))))
}

fn run(p: &Program, x: &ArrayTuple) -> Option<ArrayTuple> {
    Interpreted::new(p).run(x).ok()
}

/// The same arrays with floats of moderate size: derivatives of products are quotients, which lose digits where products
/// are subnormal numbers.
fn moderate(a: &ArrayTuple) -> ArrayTuple {
    a.map_floats(&mut |x| if x.abs() > 1e-3 && x.abs() < 1e3 { x } else { 0.75 })
}

/// Checks `<dy, J dx> = <J^T dy, dx>` for the programs of some seeds. Returns for how many it did. Programs that fail, or
/// whose derivatives are not finite, are left out; so are those with single precision, in which the two sides differ.
pub fn transposed(seeds: Range<u64>) -> usize {
    seeds.filter(|seed| is_transposed(*seed) == Some(true)).count()
}

fn is_transposed(seed: u64) -> Option<bool> {
    let p = program(seed);
    let (x, p) = (moderate(&inputs_of(&p)), build(&p.body, None).ok()?);
    let dx = direction(&x, 1);
    let forward = forward_mode(&p, None, None).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let pullback =
        reverse_mode(&p, None, Reverse::Pullback { at: None }).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let ArrayTuple::Pair(both) = run(&forward, &ArrayTuple::pair(x.clone(), dx.clone()))? else { return None };
    let dy = direction(&both.0, 2);
    let jdx = all_floats(&both.1);
    // The state of a loop may change its extents.
    let jtdy = all_floats(&run(&pullback, &ArrayTuple::pair(x, dy.clone()))?);
    let ((dx, single), (dy, also_single)) = (all_floats(&dx), all_floats(&dy));
    let [left, right, size] = both_products(&dy, &jdx.0, &jtdy.0, &dx);
    if !size.is_finite() || single || also_single || dx.is_empty() || dy.is_empty() {
        return None;
    }
    assert!(
        (left - right).abs() <= 1e-8 * size.max(1.0),
        "seed {seed}: <dy, J dx> = {left}, <J^T dy, dx> = {right}\n{p}"
    );
    Some(true)
}

/// The largest program that is differentiated again.
const LARGEST: usize = 30_000;

/// Differentiates the programs of some seeds up to three times, in modes that depend on the seed, and compares the kernel
/// program of each derivative with the interpreter. Returns the number of comparisons.
pub fn derivatives_mean_the_same(seeds: Range<u64>) -> usize {
    let mut compared = 0;
    for seed in seeds {
        let p = program(seed);
        let Ok(mut derivative) = build(&p.body, None) else { continue };
        let mut x = inputs_of(&p);
        for order in 0..3 {
            let Some(y) = run(&derivative, &x) else { break };
            let (next, tangent) = match seed >> order & 1 {
                0 => (forward_mode(&derivative, None, None), direction(&x, order)),
                _ => (reverse_mode(&derivative, None, Reverse::Pullback { at: None }), direction(&y, order)),
            };
            derivative = next.unwrap_or_else(|e| panic!("seed {seed}, order {}: {e}", order + 1));
            let size = count(&derivative);
            if size.arrays + size.scalars > LARGEST {
                break;
            }
            x = ArrayTuple::pair(x, tangent);
            let expected = Interpreted::new(&derivative).run(&x).map_err(|e| e.to_string());
            let kernel = KernelEvaluator.compile(&derivative).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            let found = kernel.run(&x).map_err(|e| e.to_string());
            match (&expected, &found) {
                // The text of two errors can differ, as for the program itself.
                (Err(_), Err(_)) => break,
                _ => assert_eq!(format!("{found:?}"), format!("{expected:?}"), "seed {seed}, order {}", order + 1),
            }
            compared += 1;
        }
    }
    compared
}
