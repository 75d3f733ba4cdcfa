//! Sorting of rows: NOTE [Sorted order] in `accel_core::repr::order`.

use super::lanes::gather;
use super::machine::Context;
use accel_core::repr::order::{f32_key, f64_key};
use accel_core::repr::{Column, RawArray};
use accel_fusion::kernel::ArrayId;

/// The arrays whose elements move as the sorted keys do. Where there is no such array, the positions of the keys.
pub fn argsort(context: Context, keys: ArrayId, moved: &[Option<ArrayId>]) -> Option<Vec<RawArray>> {
    let keys = context.array(keys)?;
    let len = keys.extents.last().copied()?;
    let order = match keys.columns.first()? {
        Column::Bool(c) => sorted(c, len, |x| u64::from(*x)),
        Column::I8(c) => sorted(c, len, |x| *x),
        Column::I16(c) => sorted(c, len, |x| *x),
        Column::I32(c) => sorted(c, len, |x| *x),
        Column::I64(c) => sorted(c, len, |x| *x),
        Column::U8(c) => sorted(c, len, |x| *x),
        Column::U16(c) => sorted(c, len, |x| *x),
        Column::U32(c) => sorted(c, len, |x| *x),
        Column::U64(c) => sorted(c, len, |x| *x),
        Column::F32(c) => sorted(c, len, |x| f32_key(*x)),
        Column::F64(c) => sorted(c, len, |x| f64_key(*x)),
    };
    let one = |from: &Option<ArrayId>| {
        let columns = match from {
            None => vec![Column::from(order.iter().map(|at| (at % len) as i64).collect::<Vec<_>>())],
            Some(a) => {
                let from = context.array(*a)?;
                (from.extents == keys.extents).then_some(())?;
                let column = |from: &Column| {
                    let mut to = Column::zeros(from.ty(), order.len())?;
                    gather(from, &order, &mut to)?;
                    Some(to)
                };
                from.columns.iter().map(column).collect::<Option<_>>()?
            }
        };
        Some(RawArray { extents: keys.extents.clone(), columns: columns.into() })
    };
    moved.iter().map(one).collect()
}

/// The positions of all elements, where each row of `len` is sorted.
fn sorted<T, K: Ord>(keys: &[T], len: usize, key: impl Fn(&T) -> K) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.chunks_mut(len.max(1)).for_each(|row| row.sort_by_key(|at| key(&keys[*at])));
    order
}
