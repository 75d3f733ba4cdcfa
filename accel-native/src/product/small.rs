//! Many small products, such as those of 3 × 3 matrices. A call of the library for each of them would take longer than the
//! product, and generated loops do not know how few iterations they have. Here the number of columns is a constant, so that a row
//! of the result stays in registers, and so are the other two extents if all three are equal.

use super::shape::{Dim, Products, Shape, count_of, start};
use pulp::Arch;
use rayon::prelude::*;
use std::ops::{Add, Mul};

/// The largest extent of a small product.
const LARGEST: usize = 8;
/// Below this number of multiplications of all products, the generated loops are faster.
const MIN_WORK: usize = 1 << 12;
/// The number of multiplications of a task.
const TASK: usize = 1 << 17;

/// The numbers of products.
pub trait Number: Copy + Default + Add<Output = Self> + Mul<Output = Self> + Send + Sync {}
impl Number for f32 {}
impl Number for f64 {}

/// Whether these are many small products.
pub fn are_small(shape: &Shape) -> bool {
    let is_small = |d: &Dim| (2..=LARGEST).contains(&d.extent);
    [shape.rows, shape.columns, shape.reduced].iter().all(is_small) && shape.all_work() >= MIN_WORK
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
        let Shape { rows, columns, reduced, .. } = *self.shape;
        let swap = rows.strides[0].abs() < columns.strides[0].abs();
        let sides = match swap {
            true => [columns, rows, reduced].map(Dim::exchanged),
            false => [rows, columns, reduced],
        };
        let [rows, columns, reduced] = sides;
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
        with!(2 3 4 5 6 7 8)
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
        let added = count_of(&self.shape.added);
        for i in range {
            let all = self.all.at(start(&self.shape.batch, i));
            let mut sums = [[T::default(); N]; LARGEST];
            for k in 0..added {
                let m = if added == 1 { all } else { all.at(start(&self.shape.added, k)) };
                let [left, right] = m.operands(swap);
                let mut copy = [[T::default(); N]; LARGEST];
                for (d, line) in copy.iter_mut().enumerate().take(depth) {
                    for (c, x) in line.iter_mut().enumerate() {
                        // SAFETY: an element of an operand.
                        *x =
                            unsafe { *right.offset(d as isize * reduced.strides[2] + c as isize * columns.strides[2]) };
                    }
                }
                for (r, all) in sums.iter_mut().enumerate().take(height) {
                    let mut sums = *all;
                    for (d, line) in copy.iter().enumerate().take(depth) {
                        // SAFETY: an element of the other operand.
                        let x = unsafe { *left.offset(r as isize * rows.strides[1] + d as isize * reduced.strides[1]) };
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
