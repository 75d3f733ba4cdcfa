//! Products that are added to the same results, as one product.
//!
//! A convolution with channels first adds, for each row of its result, a product for each place of the weights. Each of them sums over
//! a few channels only, and reads and writes the whole row. As one product, they write the row once. The weights are in memory as this
//! product needs them, and the parts of the image are copied, one behind the other.

use super::shape::Dim;
use std::ops::Range;

/// From this extent of the reduced dimension on, products are computed one after the other. Measured: 3 × 3 convolutions of 16
/// channels take half of the time as one product.
const LONG: usize = 32;
/// The largest extent of the reduced dimension of a product that replaces several. Chosen: the copies stay in the cache.
const MOST: usize = 256;

/// How many products with this reduced dimension become one.
pub fn parts(reduced: &Dim) -> usize {
    if reduced.extent < LONG { MOST / reduced.extent.max(1) } else { 1 }
}

/// The order of the numbers that one product reduces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// The reduced dimension is in the parts.
    Parts,
    /// The parts are in the reduced dimension.
    Reduced,
}

/// The operands of a product that adds several ones, and its dimensions.
pub struct Packed<T> {
    pub dims: [Dim; 3],
    pub operands: [*const T; 2],
    /// What is not in the arrays in this form.
    _copies: [Vec<T>; 2],
}

impl<T: Copy> Packed<T> {
    /// The products `parts`, which have these rows, columns and reduced dimension, and `operands`, as one.
    ///
    /// # Safety
    /// The strides of the left and of the right operand lead only to elements of theirs.
    pub unsafe fn new(dims: [Dim; 3], parts: Range<usize>, operands: impl Fn(usize) -> [*const T; 2]) -> Packed<T> {
        let [rows, columns, reduced] = dims;
        let mut packed = Packed { dims, operands: operands(parts.start), _copies: [vec![], vec![]] };
        if parts.len() == 1 {
            return packed;
        }
        let parts: &[_] = &parts.map(operands).collect::<Vec<_>>();
        packed.dims[2].extent *= parts.len();
        let stride = |order: Order, k: usize| stride(order, &reduced, k, parts);
        let is_found = |order: &Order| (0..2).any(|k| stride(*order, k).is_some());
        let order = [Order::Reduced, Order::Parts].into_iter().find(is_found).unwrap_or(Order::Parts);
        for (k, side) in [rows, columns].into_iter().enumerate() {
            let of = k + 1;
            packed.dims[2].strides[of] = stride(order, k).unwrap_or_else(|| {
                // SAFETY: the caller's guarantee.
                packed._copies[k] = unsafe { copy(order, &side, &reduced, k, parts) };
                packed.operands[k] = packed._copies[k].as_ptr();
                packed.dims[k].strides[of] = 1;
                side.extent as isize
            });
        }
        packed
    }
}

/// The stride of operand `k` along the dimension that consists of the reduced one and the parts, if the array has it.
fn stride<T>(order: Order, reduced: &Dim, k: usize, parts: &[[*const T; 2]]) -> Option<isize> {
    let distance = |a: *const T, b: *const T| (b as isize).wrapping_sub(a as isize) / size_of::<T>() as isize;
    let step = distance(parts[0][k], parts[1][k]);
    let is_even = parts.windows(2).all(|p| distance(p[0][k], p[1][k]) == step);
    let own = reduced.strides[k + 1];
    match order {
        _ if !is_even => None,
        Order::Parts => (step == own * reduced.extent as isize).then_some(own),
        Order::Reduced => (own == step * parts.len() as isize).then_some(step),
    }
}

/// Copies operand `k` of all parts, so that the numbers along `side` are adjacent.
///
/// # Safety
/// The strides lead only to elements of the operand.
unsafe fn copy<T: Copy>(order: Order, side: &Dim, reduced: &Dim, k: usize, parts: &[[*const T; 2]]) -> Vec<T> {
    let (n, depth) = (parts.len(), reduced.extent);
    let mut all = Vec::with_capacity(n * depth * side.extent);
    for i in 0..n * depth {
        let (part, d) = match order {
            Order::Parts => (i / depth, i % depth),
            Order::Reduced => (i % n, i / n),
        };
        let line = parts[part][k].wrapping_offset(d as isize * reduced.strides[k + 1]);
        match side.strides[k + 1] {
            // SAFETY: adjacent elements of the operand.
            1 => all.extend_from_slice(unsafe { std::slice::from_raw_parts(line, side.extent) }),
            // SAFETY: elements of the operand.
            stride => all.extend((0..side.extent as isize).map(|i| unsafe { *line.offset(i * stride) })),
        }
    }
    all
}
