//! Scalar functions for loops over rows: the counter of steps, the row of a step, and a list in the opposite order.

use super::delayed::Delayed;
use crate::kernel::builder::{Builder, index_types};
use crate::kernel::{ArrayId, ArrayInfo, Instr, Reg, ScalarFn, SiteId};
use accel_core::repr::op::{Cmp, Num2, Op2};
use accel_core::repr::{Scalar, ScalarType};

/// The description of a single number, in an array of rank 0.
pub fn number(t: ScalarType) -> ArrayInfo {
    ArrayInfo { rank: 0, columns: vec![t] }
}

/// The number 0, at the start of a counter.
pub fn zero() -> ScalarFn {
    let mut b = Builder::new(&[]);
    let zero = b.constant(Scalar::I64(0));
    b.finish(vec![zero])
}

/// `k + 1`
pub fn next(k: ArrayId, site: SiteId) -> ScalarFn {
    let mut b = Builder::new(&[]);
    let (k, one) = (read(&mut b, k, site), b.constant(Scalar::I64(1)));
    let next = b.index_op(Num2::Add, k, one);
    b.finish(vec![next])
}

/// `k < n`
pub fn less(k: ArrayId, n: ArrayId, site: SiteId) -> ScalarFn {
    let mut b = Builder::new(&[]);
    let (k, n) = (read(&mut b, k, site), read(&mut b, n, site));
    let less = b.reg(ScalarType::Bool);
    b.emit(Instr::Op2(less, Op2::Cmp(Cmp::Lt), k, n));
    b.finish(vec![less])
}

/// The row of step `k` of an array: row `k`, or row `n - 1 - k` if `n` is given.
pub fn row(array: ArrayId, info: &ArrayInfo, k: ArrayId, n: Option<ArrayId>, site: SiteId) -> Delayed {
    let mut b = Builder::new(&[]);
    let extents = (1..info.rank).map(|dim| b.extent(array, dim)).collect();
    let extents = b.finish(extents);
    let mut b = Builder::new(&index_types(info.rank - 1));
    let mut position = read(&mut b, k, site);
    if let Some(n) = n {
        let n = read(&mut b, n, site);
        position = from_the_end(&mut b, position, n);
    }
    element(b, position, array, info, (site, false), extents)
}

/// An array whose rows come in the opposite order.
pub fn reversed(array: ArrayId, info: &ArrayInfo, site: SiteId) -> Delayed {
    let mut b = Builder::new(&[]);
    let extents = (0..info.rank).map(|dim| b.extent(array, dim)).collect();
    let extents = b.finish(extents);
    let mut b = Builder::new(&index_types(info.rank));
    let (k, n) = (b.params()[0], b.extent(array, 0));
    let position = from_the_end(&mut b, k, n);
    element(b, position, array, info, (site, true), extents)
}

/// The array with these extents whose elements are those of row `position`. The last parameters are an index in the row.
fn element(
    mut b: Builder,
    position: Reg,
    array: ArrayId,
    info: &ArrayInfo,
    (site, inside): (SiteId, bool),
    extents: ScalarFn,
) -> Delayed {
    let params = b.params();
    let within = &params[params.len() + 1 - info.rank..];
    let index = [&[position], within].concat();
    let to: Vec<_> = info.columns.iter().map(|t| b.reg(*t)).collect();
    b.emit(Instr::Read { to: to.clone(), array, index, site, inside });
    Delayed { extents, element: b.finish(to) }
}

/// `n - 1 - k`
fn from_the_end(b: &mut Builder, k: Reg, n: Reg) -> Reg {
    let one = b.constant(Scalar::I64(1));
    let last = b.index_op(Num2::Sub, n, one);
    b.index_op(Num2::Sub, last, k)
}

/// The number in an array of rank 0.
fn read(b: &mut Builder, array: ArrayId, site: SiteId) -> Reg {
    let to = b.reg(ScalarType::I64);
    b.emit(Instr::Read { to: vec![to], array, index: vec![], site, inside: true });
    to
}
