//! Random programs applied to each row of batches: `vmap` is the loop over the rows, also nested, without rows, and in all orders with
//! derivatives.

use super::build::build;
use super::derivatives::{direction, is_single, moderate};
use super::generate::{inputs_of, program};
use super::graph::Graph;
use super::oracle::same_array;
use super::types::Elem;
use accel::ast::Program;
use accel::backend::Executable;
use accel::interp::Interpreted;
use accel::prelude::Error;
use accel::repr::{ArrayTuple, Column, RawArray, RawTy};
use accel::surface::graph::{ArrayOp, Dir, Lam, NodeId, Staged};
use accel_ad::{Reverse, forward_mode, reverse_mode};
use accel_core::elaborate::elaborate;
use accel_core::pass::count;
use std::ops::Range;

/// How the rows are visited.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// As `vmap` does it.
    Vmap,
    /// In a loop with a state, which stays a loop.
    Loop,
}

/// Which arrays of the argument are batches; all rows share the others.
type Batched = Vec<bool>;

/// The type of lists of arrays of a type.
fn list(t: &RawTy) -> RawTy {
    match t {
        RawTy::Array(p) => RawTy::array(RawTy::shape(p.0.width() + 1), p.1.clone()),
        RawTy::Pair(p) => RawTy::pair(list(&p.0), list(&p.1)),
        other => other.clone(),
    }
}

/// The type in which `f` has changed the arrays.
fn each(t: &RawTy, f: &mut impl FnMut(&RawTy) -> RawTy) -> RawTy {
    match t {
        RawTy::Pair(p) => {
            let first = each(&p.0, f);
            RawTy::pair(first, each(&p.1, f))
        }
        RawTy::Array(_) => f(t),
        other => other.clone(),
    }
}

/// A tuple of the type `t` of the next arrays.
fn tuple(g: &mut Graph, t: &RawTy, next: &mut impl Iterator<Item = NodeId>) -> NodeId {
    match t {
        RawTy::Pair(p) => {
            let first = tuple(g, &p.0, next);
            let second = tuple(g, &p.1, next);
            g.push("tuple", ArrayOp::Pair(first, second), RawTy::pair(g.ty(first), g.ty(second)))
        }
        RawTy::Array(_) => next.next().expect("an array"),
        _ => g.push("tuple", ArrayOp::Unit, RawTy::Unit),
    }
}

/// The program that applies `p` to each row.
fn of_rows(p: &Program, batched: &Batched, way: Way) -> Result<Program, Error> {
    let mut g = Graph::default();
    let mut is_batched = batched.iter();
    let param_ty = each(p.arg(), &mut |t| if *is_batched.next().expect("a flag") { list(t) } else { t.clone() });
    let param = g.param(param_ty);
    let arrays = g.leaves(param);
    let batches: Vec<NodeId> = arrays.iter().zip(batched).filter(|(_, b)| **b).map(|(a, _)| *a).collect();
    let n = g.extents(batches[0])[0];
    let xs = g.arrays(&batches);
    let init = match way {
        Way::Vmap => g.push("tuple", ArrayOp::Unit, RawTy::Unit),
        Way::Loop => {
            let zero = g.int(0);
            g.splice(&super::surface::unit_(), &[&Elem::I64], &[], &mut [&mut |_, _| zero])
        }
    };
    let rows = each(&g.ty(xs), &mut |t| match t {
        RawTy::Array(p) => RawTy::array(RawTy::shape(p.0.width() - 1), p.1.clone()),
        other => other.clone(),
    });
    let state = g.ty(init);
    let both = g.param(RawTy::pair(state.clone(), rows));
    let (last, row) = (g.part(both, 0, 2), g.part(both, 1, 2));
    let mut own = g.leaves(row).into_iter();
    let all: Vec<NodeId> =
        arrays.iter().zip(batched).map(|(a, b)| if *b { own.next().expect("a row") } else { *a }).collect();
    let args = tuple(&mut g, p.arg(), &mut all.into_iter());
    let result = g.push("call", ArrayOp::Call(p.clone(), args), p.result().clone());
    let next = match way {
        Way::Vmap => last,
        Way::Loop => g.succ(last),
    };
    let body = g.push("tuple", ArrayOp::Pair(next, result), RawTy::pair(state.clone(), p.result().clone()));
    let step = Lam { params: vec![both], body };
    let lists = RawTy::pair(state, list(p.result()));
    let done = g.push("vmap", ArrayOp::MapAccum { dir: Dir::Left, n, step, init, xs }, lists);
    let root = g.part(done, 1, 2);
    elaborate(&Staged { nodes: g.nodes, param, root, captured: vec![] })
}

/// The arrays for one of several rows: the elements in another order, and other numbers.
fn varied(a: &RawArray, row: usize) -> RawArray {
    let n = a.size();
    let column = |c: &Column| {
        let mut to = Column::with_capacity(c.ty(), n);
        (0..n).filter_map(|i| c.get((i + row) % n)).for_each(|x| assert!(to.push(x)));
        to
    };
    let moved = RawArray { extents: a.extents.clone(), columns: a.columns.iter().map(column).collect() };
    let changed = ArrayTuple::Array(moved).map_floats(&mut |x| x * (1.0 - 0.75 * row as f64));
    changed.leaves()[0].clone()
}

/// Batches of some rows, for a program with this argument.
fn batches(x: &ArrayTuple, batched: &Batched, rows: usize) -> ArrayTuple {
    let list = |a: &RawArray| {
        let mut columns: Vec<Column> = a.columns.iter().map(|c| Column::with_capacity(c.ty(), 0)).collect();
        for row in 0..rows {
            let row = varied(a, row);
            columns.iter_mut().zip(&row.columns).for_each(|(to, from)| assert!(to.append(from)));
        }
        RawArray { extents: [rows].into_iter().chain(a.extents.iter().copied()).collect(), columns: columns.into() }
    };
    with_leaves(x, &mut x.leaves().into_iter().zip(batched).map(|(a, b)| if *b { list(a) } else { a.clone() }))
}

fn with_leaves(like: &ArrayTuple, next: &mut impl Iterator<Item = RawArray>) -> ArrayTuple {
    match like {
        ArrayTuple::Unit => ArrayTuple::Unit,
        ArrayTuple::Array(_) => ArrayTuple::Array(next.next().expect("an array")),
        ArrayTuple::Pair(p) => {
            let first = with_leaves(&p.0, next);
            ArrayTuple::pair(first, with_leaves(&p.1, next))
        }
    }
}

/// How many comparisons there were, by what is compared.
#[derive(Default, Debug)]
pub struct Counts {
    pub rows: usize,
    pub nested: usize,
    pub without_rows: usize,
    pub derivatives_of_rows: usize,
    pub rows_of_derivatives: usize,
}

/// The largest number of elements of an argument, and the largest program.
const LARGEST: (usize, usize) = (200, 4000);

/// Compares `vmap` of the programs of some seeds with the loop.
pub fn batches_mean_the_same(seeds: Range<u64>) -> Counts {
    let mut counts = Counts::default();
    for seed in seeds {
        let p = program(seed);
        let (x, Ok(p)) = (moderate(&inputs_of(&p)), build(&p.body, None)) else { continue };
        let size = count(&p);
        let elements: usize = x.leaves().iter().map(|a| a.size()).sum();
        if elements > LARGEST.0 || size.arrays + size.scalars > LARGEST.1 || Interpreted::new(&p).run(&x).is_err() {
            continue;
        }
        // At least one array is a batch.
        let mask = |salt: u64| -> Batched {
            let bits = (seed + salt).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            (0..x.leaves().len()).map(|k| k == bits as usize % x.leaves().len() || bits >> (k + 8) & 1 == 1).collect()
        };
        let batched = mask(1);
        let both = |p: &Program, batched: &Batched| {
            [Way::Vmap, Way::Loop].map(|way| of_rows(p, batched, way).unwrap_or_else(|e| panic!("seed {seed}: {e}")))
        };
        let [vmap, looped] = both(&p, &batched);
        for rows in [1, 3] {
            counts.rows += usize::from(same(seed, "rows", &vmap, &looped, &batches(&x, &batched, rows)));
        }
        // Without rows, the loop knows no extents.
        if let Ok(y) = Interpreted::new(&vmap).run(&batches(&x, &batched, 0)) {
            assert!(y.leaves().iter().all(|a| a.extents[0] == 0), "seed {seed}: {y:?}");
            counts.without_rows += 1;
        }
        let outer = mask(2);
        let ([vmap_2, _], [_, looped_2]) = (both(&vmap, &outer), both(&looped, &outer));
        let xs = batches(&batches(&x, &batched, 2), &outer, 3);
        counts.nested += usize::from(same(seed, "nested", &vmap_2, &looped_2, &xs));
        counts.derivatives(seed, &p, &x, &batched, [&vmap, &looped]);
    }
    counts
}

impl Counts {
    fn derivatives(&mut self, seed: u64, p: &Program, x: &ArrayTuple, batched: &Batched, of_rows_: [&Program; 2]) {
        let broken = |e: Error| -> Program { panic!("seed {seed}: {e}") };
        let forward = |p: &Program| forward_mode(p, None, None).unwrap_or_else(broken);
        let pullback = |p: &Program| reverse_mode(p, None, Reverse::Pullback { at: None }).unwrap_or_else(broken);
        let Ok(y) = Interpreted::new(p).run(x) else { return };
        // Rows of derivatives: the same bits. All rows share nothing of the directions.
        for (d, direction) in [(forward(p), direction(x, 1)), (pullback(p), direction(&y, 2))] {
            let x = ArrayTuple::pair(x.clone(), direction);
            let all = [batched.clone(), vec![true; x.leaves().len() - batched.len()]].concat();
            let [vmap, looped] =
                [Way::Vmap, Way::Loop].map(|way| of_rows(&d, &all, way).unwrap_or_else(|e| panic!("seed {seed}: {e}")));
            let xs = batches(&x, &all, 3);
            self.rows_of_derivatives += usize::from(same(seed, "rows of derivatives", &vmap, &looped, &xs));
        }
        // Derivatives of rows: adjoints are added in another order.
        let xs = batches(x, batched, 3);
        let Ok(ys) = Interpreted::new(of_rows_[1]).run(&xs) else { return };
        let modes: [(&dyn Fn(&Program) -> Program, ArrayTuple); 2] =
            [(&forward, direction(&xs, 1)), (&pullback, direction(&ys, 2))];
        for (derive, direction) in modes {
            let argument = ArrayTuple::pair(xs.clone(), direction);
            let [vmap, looped] = of_rows_.map(|p| Interpreted::new(&derive(p)).run(&argument));
            match (vmap, looped) {
                (Ok(vmap), Ok(looped)) if !is_single(&argument) && !is_single(&looped) => {
                    let (found, expected) = (vmap.floats(), looped.floats());
                    if !expected.iter().all(|x| x.is_finite()) {
                        continue;
                    }
                    let scale = expected.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
                    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * scale;
                    assert_eq!(found.len(), expected.len(), "seed {seed}");
                    assert!(
                        found.iter().zip(&expected).all(close),
                        "seed {seed}: {found:?}, expected {expected:?}\n{p}"
                    );
                    self.derivatives_of_rows += 1;
                }
                (Ok(_), Ok(_)) | (Err(_), Err(_)) => {}
                (vmap, looped) => panic!("seed {seed}: {vmap:?}, expected {looped:?}\n{p}"),
            }
        }
    }
}

/// Checks that two programs have the same results, bit by bit. Returns whether they have results.
fn same(seed: u64, what: &str, vmap: &Program, looped: &Program, x: &ArrayTuple) -> bool {
    match (Interpreted::new(vmap).run(x), Interpreted::new(looped).run(x)) {
        (Ok(found), Ok(expected)) => {
            let same = found.leaves().into_iter().zip(expected.leaves()).all(|(a, b)| same_array(a, b));
            assert!(same, "seed {seed}, {what}: {found:?}, expected {expected:?}\n{vmap}");
            true
        }
        (Err(_), Err(_)) => false,
        (found, expected) => panic!("seed {seed}, {what}: {found:?}, expected {expected:?}\n{vmap}"),
    }
}
