//! Loops over index spaces, which define arrays and add to sums.

use super::machine::{Context, Machine};
use super::space::{batches, tabulate, zeros};
use accel_core::repr::{Column, RawArray, ScalarType};
use accel_fusion::kernel::{ArrayId, ScalarFn};

/// The arrays `to` with these extents, whose columns are the results of `body`.
pub fn tabulated(context: Context, to: &[ArrayId], extents: &[usize], body: &ScalarFn) -> Option<Vec<RawArray>> {
    Some(arrays(context, to, extents, tabulate(context, body, extents)?))
}

/// As [`tabulated`], with sums: copies of arrays, to whose elements `body` adds.
pub fn accumulated(
    context: Context,
    to: &[ArrayId],
    sums: &[(ArrayId, ArrayId)],
    extents: &[usize],
    body: &ScalarFn,
) -> Option<Vec<RawArray>> {
    let n = extents.iter().product();
    let types: Vec<ScalarType> = body.results.iter().map(|r| body.types[*r]).collect();
    let mut columns = zeros(&types, n)?;
    let mut machine = Machine::new(context, body, 0);
    for (sum, initial) in sums {
        machine.sums.push((*sum, context.array(*initial)?.clone()));
    }
    let mut parts: Vec<_> = columns.iter_mut().filter_map(|c| c.parts_mut(n).pop()).collect();
    for (first, n) in batches(extents, 0..n, machine.width()) {
        machine.set_index(extents, first, n)?;
        machine.batch()?;
        machine.each_result(|k, value| value.store(n, parts.get_mut(k)?, first))?;
    }
    let mut arrays = arrays(context, to, extents, columns);
    arrays.extend(machine.sums.into_iter().map(|(_, array)| array));
    Some(arrays)
}

/// The columns of several arrays as these arrays.
fn arrays(context: Context, to: &[ArrayId], extents: &[usize], columns: Vec<Column>) -> Vec<RawArray> {
    let mut columns = columns.into_iter();
    let array = |a: &ArrayId| {
        let count = context.program.arrays[*a].columns.len();
        RawArray { extents: extents.into(), columns: columns.by_ref().take(count).collect() }
    };
    to.iter().map(array).collect()
}
