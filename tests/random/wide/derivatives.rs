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
use accel_core::dependence::dependences;
use accel_core::pass::count;
use accel_fusion::KernelEvaluator;
use std::ops::Range;

/// A direction of derivatives; another one for each number.
pub fn direction(like: &ArrayTuple, number: usize) -> ArrayTuple {
    let mut numbers = numbers().skip(number);
    like.map_floats(&mut |x| numbers.next().unwrap_or(x))
}

/// Whether some numbers have single precision.
pub fn is_single(a: &ArrayTuple) -> bool {
    a.leaves().iter().flat_map(|a| &a.columns).any(|c| matches!(c, Column::F32(_)))
}

/// All floats, and whether any of them has single precision.
fn all_floats(a: &ArrayTuple) -> (Vec<f64>, bool) {
    (a.floats(), is_single(a))
}

fn run(p: &Program, x: &ArrayTuple) -> Option<ArrayTuple> {
    Interpreted::new(p).run(x).ok()
}

/// The same arrays with floats of moderate size: derivatives of products are quotients, which lose digits where products
/// are subnormal numbers.
pub fn moderate(a: &ArrayTuple) -> ArrayTuple {
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

/// The positions of the floating-point numbers in [`ArrayTuple::floats`], in the order of the rows and columns of a Jacobian's pattern.
fn positions(a: &ArrayTuple) -> Vec<usize> {
    let (mut all, mut first) = (vec![], 0);
    for a in a.leaves() {
        let width = a.columns.iter().filter(|c| c.ty().is_float()).count();
        all.extend((0..a.size()).flat_map(|i| (0..width).map(move |c| first + c * a.size() + i)));
        first += width * a.size();
    }
    all
}

/// The most columns of a Jacobian that are computed.
const COLUMNS: usize = 12;

/// Checks for the programs of some seeds that a Jacobian has no entry outside of the pattern, at two points. Returns the number of zeros that the
/// patterns promise, and for how many programs there is one.
pub fn patterns_hold(seeds: Range<u64>) -> (usize, usize) {
    let (mut zeros, mut programs) = (0, 0);
    for seed in seeds {
        let p = program(seed);
        let (x, Ok(p)) = (moderate(&inputs_of(&p)), build(&p.body, None)) else { continue };
        // Shapes that depend on the numbers have no pattern.
        let Ok(pattern) = dependences(&p, None, &x) else { continue };
        programs += 1;
        let forward = forward_mode(&p, None, None).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let columns = positions(&x);
        assert_eq!(columns.len(), pattern.columns, "seed {seed}");
        for x in [x.clone(), direction(&x, 3)] {
            for column in (0..columns.len()).step_by(columns.len().div_ceil(COLUMNS).max(1)) {
                let mut place = 0..;
                let dx = x.map_floats(&mut |_| if place.next() == Some(columns[column]) { 1.0 } else { 0.0 });
                let Some(ArrayTuple::Pair(both)) = run(&forward, &ArrayTuple::pair(x.clone(), dx)) else { continue };
                let (rows, dy) = (positions(&both.1), both.1.floats());
                assert_eq!(rows.len(), pattern.rows.len(), "seed {seed}");
                for (row, (position, entries)) in rows.iter().zip(&pattern.rows).enumerate() {
                    if !entries.contains(&(column as u32)) {
                        zeros += 1;
                        assert_eq!(dy[*position], 0.0, "seed {seed}: row {row}, column {column}\n{p}");
                    }
                }
            }
        }
    }
    (zeros, programs)
}

/// The largest program that is differentiated again.
const LARGEST: usize = 30_000;

/// Differentiates the programs of some seeds up to three times, in modes that depend on the seed, and compares the kernel
/// program of each derivative with the interpreter. Returns the number of comparisons.
pub fn derivatives_mean_the_same(seeds: Range<u64>, of_seed: impl Fn(u64) -> super::program::Program) -> usize {
    let mut compared = 0;
    for seed in seeds {
        let p = of_seed(seed);
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
