//! Many small products, such as those of 3 × 3 matrices. A call of the library for each of them would take longer than the
//! product, and generated loops do not know how few iterations they have. Here the number of columns is a constant, so that a row
//! of the result stays in registers, and so are the other two extents if all three are equal.

use crate::product::{Dim, Products, Shape, count_of, start};
use pulp::Arch;
use rayon::prelude::*;
use std::ops::{Add, Mul};

/// The largest extent of a small product.
const LARGEST: usize = 7;
/// Below this number of multiplications of all products, the generated loops are faster.
const MIN_WORK: usize = 1 << 12;
/// The number of multiplications of a task.
const TASK: usize = 1 << 17;

/// The numbers of products.
pub trait Number: Copy + Default + PartialEq + Add<Output = Self> + Mul<Output = Self> + Send + Sync {}
impl Number for f32 {}
impl Number for f64 {}

/// Whether these are many small products.
pub fn are_small(shape: &Shape) -> bool {
    let is_small = |d: &Dim| (2..=LARGEST).contains(&d.extent);
    let products = count_of(&shape.added).saturating_mul(count_of(&shape.batch));
    [shape.rows, shape.columns, shape.reduced].iter().all(is_small) && products.saturating_mul(shape.work()) >= MIN_WORK
}

impl<T: Number> Products<'_, T> {
    /// Computes all sums, if they are [small](are_small).
    ///
    /// # Safety
    /// The strides lead only to elements of the arrays. Nobody else uses the result.
    pub unsafe fn compute_small(&self) {
        let shape = self.shape;
        let each = shape.work().saturating_mul(count_of(&shape.added)).max(1);
        let (n, part) = (count_of(&shape.batch), (TASK / each).max(1));
        let task = |t: usize| {
            let range = t * part..n.min((t + 1) * part);
            // With the vectors of this processor.
            // SAFETY: the caller's guarantee; different sums have different results.
            Arch::new().dispatch(|| unsafe { self.range(range) });
        };
        match n.div_ceil(part) {
            1 => task(0),
            tasks => (0..tasks).into_par_iter().for_each(task),
        }
    }

    #[inline(always)]
    unsafe fn range(&self, range: std::ops::Range<usize>) {
        // Rows whose numbers are adjacent are written as vectors.
        let Shape { mut rows, mut columns, reduced, .. } = *self.shape;
        let swap = rows.strides[0].abs() < columns.strides[0].abs();
        if swap {
            (rows, columns) = (columns, rows);
        }
        let sides = [rows, columns, reduced];
        let is_square = rows.extent == columns.extent && columns.extent == reduced.extent;
        macro_rules! with {
            ($($n:literal)*) => {
                // SAFETY: the caller's guarantee.
                match (columns.extent, is_square) {
                    $(
                        ($n, true) => unsafe { self.sums::<$n, true>(range, sides, swap) },
                        ($n, false) => unsafe { self.sums::<$n, false>(range, sides, swap) },
                    )*
                    _ => unreachable!("a product that is not small"),
                }
            };
        }
        with!(2 3 4 5 6 7)
    }

    /// The sums of a range, with `N` columns. If the products are of square matrices, all extents are `N`.
    #[inline(always)]
    unsafe fn sums<const N: usize, const SQUARE: bool>(
        &self,
        range: std::ops::Range<usize>,
        [rows, columns, reduced]: [Dim; 3],
        swap: bool,
    ) {
        let (height, depth) = if SQUARE { (N, N) } else { (rows.extent, reduced.extent) };
        let (a, b) = if swap { (2, 1) } else { (1, 2) };
        let added = count_of(&self.shape.added);
        for i in range {
            let all = self.all.at(start(&self.shape.batch, i));
            let mut sums = [[T::default(); N]; LARGEST];
            for k in 0..added {
                let m = if added == 1 { all } else { all.at(start(&self.shape.added, k)) };
                let (left, right) = if swap { (m.right, m.left) } else { (m.left, m.right) };
                let mut copy = [[T::default(); N]; LARGEST];
                for (d, line) in copy.iter_mut().enumerate().take(depth) {
                    for (c, x) in line.iter_mut().enumerate() {
                        // SAFETY: an element of an operand.
                        *x =
                            unsafe { *right.offset(d as isize * reduced.strides[b] + c as isize * columns.strides[b]) };
                    }
                }
                for (r, all) in sums.iter_mut().enumerate().take(height) {
                    let mut sums = *all;
                    for (d, line) in copy.iter().enumerate().take(depth) {
                        // SAFETY: an element of the other operand.
                        let x = unsafe { *left.offset(r as isize * rows.strides[a] + d as isize * reduced.strides[a]) };
                        sums.iter_mut().zip(line).for_each(|(sum, y)| *sum = *sum + x * *y);
                    }
                    *all = sums;
                }
            }
            for (r, sums) in sums.iter().enumerate().take(height) {
                for (c, sum) in sums.iter().enumerate() {
                    // SAFETY: an element of the result. Without an initial value, it has one.
                    unsafe {
                        let to = all.to.offset(r as isize * rows.strides[0] + c as isize * columns.strides[0]);
                        let first = self.init.unwrap_or_else(|| *to);
                        to.write(first + self.factor * *sum);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::product::product_f64;

    /// The strides of three dimensions that lie in memory in this order, the last one adjacent, and backwards where asked.
    fn layout(extents: [i64; 3], order: [usize; 3], back: bool) -> ([i64; 3], i64) {
        let (mut strides, mut size) = ([0; 3], 1);
        for d in order.into_iter().rev() {
            strides[d] = size;
            size *= extents[d];
        }
        let first = if back { strides[1] * (extents[1] - 1) } else { 0 };
        strides[1] = if back { -strides[1] } else { strides[1] };
        (strides, first)
    }

    /// Sums of `added` products each, in any layout, with an initial value and without.
    #[test]
    fn small_products_of_all_extents_in_any_layout() {
        const ORDERS: [[usize; 3]; 3] = [[0, 1, 2], [0, 2, 1], [1, 2, 0]];
        let batch = 700;
        let shapes = (2..=7).map(|n| [n, n, n]).chain([[2, 7, 3], [7, 2, 3], [3, 4, 6], [5, 6, 2]]);
        for (way, [m, n, k]) in shapes.flat_map(|s| (0..216).step_by(7).map(move |way| (way, s))) {
            let bit = |b: usize| way >> b & 1 == 1;
            let (added, init) = (if bit(0) { 2 } else { 1 }, bit(1).then_some(0.5));
            let order = |digit: usize| ORDERS[way / digit % 3];
            let ([tb, tr, tc], at) = layout([batch, m, n], order(1), bit(2));
            let ([lb, lr, lk], left_at) = layout([batch, m, k * added], order(3), bit(3));
            let ([rb, rk, rc], right_at) = layout([batch, k * added, n], order(9), bit(4));
            let numbers = |count: i64, most: i64| (0..count).map(|i| (i % most - 5) as f64).collect::<Vec<_>>();
            let (left, right) = (numbers(batch * m * k * added, 13), numbers(batch * k * added * n, 11));
            let old = numbers(batch * m * n, 17);
            let mut to = if init.is_some() { vec![f64::NAN; old.len()] } else { old.clone() };
            let dims = [
                [0, 0, batch, tb, lb, rb],
                [1, 0, m, tr, lr, 0],
                [2, 0, n, tc, 0, rc],
                // Not one after the other, so that they are no single dimension.
                [3, 0, added, 0, lk, rk],
                [3, 0, k, 0, lk * added, rk * added],
            ];
            let first = init.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            // SAFETY: the strides stay within the three arrays.
            let done = unsafe {
                let (l, r) = (left.as_ptr().offset(left_at as isize), right.as_ptr().offset(right_at as isize));
                product_f64(dims.as_ptr(), 5, to.as_mut_ptr().offset(at as isize), l, r, 2.0, first, false)
            };
            assert_eq!(done, 0, "{m} {n} {k} way {way}");
            for i in 0..batch * m * n {
                let (b, r, c) = (i / (m * n), i / n % m, i % n);
                let term = |d: i64| {
                    left[(left_at + b * lb + r * lr + d * lk) as usize]
                        * right[(right_at + b * rb + d * rk + c * rc) as usize]
                };
                let place = (at + b * tb + r * tr + c * tc) as usize;
                let expected = init.unwrap_or(old[place]) + 2.0 * (0..k * added).map(term).sum::<f64>();
                assert_eq!(to[place], expected, "{m} {n} {k} way {way}, sum {b}, row {r}, column {c}");
            }
        }
    }
}
