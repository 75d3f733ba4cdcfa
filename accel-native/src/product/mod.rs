//! Matrix products for generated code, through the kernels of the crates `gemm-f32` and `gemm-f64`, or by
//! [loops of constant extents](small).
//!
//! The crate `gemm`, which builds on them, also contains kernels for complex numbers. These take longer to compile than
//! the rest of the library together.
//!
//! NOTE [Summation order of matrix products]: `gemm` cuts the reduced dimension into blocks and processes them one
//! after the other. The size of a block depends on the extents and on the processor's caches; threads share the rows
//! and columns. Therefore results do not depend on the number of threads. They can differ in the last places from the
//! generated loops, which compute a few small products: the order is different, and a product and the addition that follows
//! it are rounded once.

mod packed;
mod shape;
mod small;

use gemm_common::Parallelism;
use gemm_common::gemm::L2_SLAB;
use packed::Packed;
use rayon::prelude::*;
use shape::{Described, Dim, Matrices, Products, Shape, count_of, start};
use small::are_small;

/// Below this number of multiplications, the generated loops are faster. Measured: a call takes 0.1 µs, as long as the loops for
/// 8 × 8 × 8 numbers; 13 × 13 × 13 take half of the time of the loops.
const MIN_WORK: usize = 9 * 9 * 9;
/// From this number of multiplications on, threads share one product.
const MIN_SHARED_WORK: usize = 96 * 96 * 96;
/// Many products are divided into this number of tasks, if they are large enough.
const TASKS: usize = 16;
/// The smallest number of rows or columns of a task.
const MIN_SIDE: usize = 16;

impl Shape {
    /// Whether the library is faster than the loops that it replaces. It is not for products with vectors, and for small
    /// products, unless these loops are slow.
    fn pays(&self, slow: bool) -> bool {
        if slow {
            return self.all_work() >= MIN_WORK;
        }
        let least = self.rows.extent.min(self.columns.extent).min(self.reduced.extent);
        least >= 4 && self.work() >= MIN_WORK
    }

    /// Divides the rows or the columns, if there are few results of many products. The parts depend only on sizes.
    fn divided(mut self) -> Shape {
        let count = count_of(&self.batch);
        let side = if self.rows.extent >= self.columns.extent { &mut self.rows } else { &mut self.columns };
        let wanted = TASKS.div_ceil(count).min(side.extent / MIN_SIDE);
        if count < TASKS
            && count > 0
            && let Some(parts) = (2..=wanted).rev().find(|n| side.extent % n == 0)
        {
            let part = side.extent / parts;
            self.batch.push(Dim { extent: parts, strides: side.strides.map(|s| s * part as isize) });
            side.extent = part;
        }
        self
    }
}

/// Brings dimensions into the form that the kernels need: the strides of the result, and then of the reduced dimension,
/// are positive, and the rows of the result are closer together than its columns. Also returns whether the operands are
/// exchanged, and by how much the addresses move.
fn oriented(rows: Dim, columns: Dim, reduced: Dim) -> (bool, [Dim; 3], [isize; 3]) {
    let mut by = [0; 3];
    let mut forwards = |d: Dim, array: usize| {
        if d.strides[array] >= 0 {
            return d;
        }
        let (d, first) = d.reversed();
        by.iter_mut().zip(first).for_each(|(by, first)| *by += first);
        d
    };
    let (rows, columns, reduced) = (forwards(rows, 0), forwards(columns, 0), forwards(reduced, 1));
    if columns.strides[0] < rows.strides[0] {
        return (true, [columns, rows, reduced].map(Dim::exchanged), by);
    }
    (false, [rows, columns, reduced], by)
}

macro_rules! product {
    ($name:ident $t:ident $kernels:ident) => {
        /// `to[..] = init + factor * sum of left[..] * right[..]`, or, without an initial value, adds to `to[..]`: returns 0 if it
        /// was computed, -1 if the generated loops have to do it, 1 after a panic: then a part may have been added.
        ///
        /// # Safety
        /// `dims` points to `count` descriptions, and the addresses to arrays (the result's may be uninitialised if there is an
        /// initial value) that have all elements that the extents and strides lead to. Nobody else uses the result.
        pub unsafe extern "C" fn $name(
            dims: *const Described,
            count: i64,
            to: *mut $t,
            left: *const $t,
            right: *const $t,
            factor: $t,
            init: *const $t,
            slow: bool,
        ) -> i32 {
            // SAFETY: the caller's guarantee.
            let (shape, init) =
                unsafe { (Shape::new(std::slice::from_raw_parts(dims, count as usize)), init.as_ref()) };
            let small = are_small(&shape);
            // Only what is added to a result has shifts.
            let shifts = count_of(&shape.shifts);
            if !small && !shape.pays(slow) || init.is_some() && shifts != 1 {
                return -1;
            }
            // At the end of a thread, `gemm` may have lost its memory, and would panic.
            if !small && L2_SLAB.try_with(|_| ()).is_err() {
                return -1;
            }
            // A panic must not pass through the generated code.
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                // The parts depend only on sizes, and with them the blocks that are summed.
                let shape = if !small && shifts * count_of(&shape.added) > 1 { shape.divided() } else { shape };
                // One after the other: NOTE [Products that meet].
                for shift in 0..shifts {
                    let all = Matrices { to, left, right }.at(start(&shape.shifts, shift));
                    let products = Products { shape: &shape, all, factor, init: init.copied() };
                    match small {
                        // SAFETY: the caller's guarantee.
                        true => unsafe { products.compute_small() },
                        false => products.compute_all(),
                    }
                }
            }));
            i32::from(done.is_err())
        }

        impl Products<'_, $t> {
            /// Computes all sums.
            fn compute_all(&self) {
                let (n, work) = (count_of(&self.shape.batch), self.shape.work());
                let each = work.saturating_mul(count_of(&self.shape.added));
                if work >= MIN_SHARED_WORK && n < 4 * crate::threads::count() {
                    (0..n).for_each(|i| self.compute(i, Parallelism::Rayon(0)));
                } else if n.saturating_mul(each) >= MIN_SHARED_WORK {
                    crate::threads::prepare();
                    let chunk = (MIN_SHARED_WORK / 4 / each).max(1);
                    (0..n).into_par_iter().with_min_len(chunk).for_each(|i| self.compute(i, Parallelism::None));
                } else {
                    (0..n).for_each(|i| self.compute(i, Parallelism::None));
                }
            }

            /// Computes the sum number `i`.
            fn compute(&self, i: usize, parallelism: Parallelism) {
                let Shape { rows, columns, reduced, ref batch, ref added, .. } = *self.shape;
                // A method call, so that closures capture the whole value.
                let all = self.all.at(start(batch, i));
                if let Some(init) = self.init.filter(|x| *x != 0.0) {
                    for r in 0..rows.extent as isize {
                        for c in 0..columns.extent as isize {
                            // SAFETY: an element of the result.
                            unsafe { all.to.offset(r * rows.strides[0] + c * columns.strides[0]).write(init) };
                        }
                    }
                }
                let (swap, dims, by) = oriented(rows, columns, reduced);
                let part = |k: usize| all.at(start(added, k)).at(by);
                let (n, together) = (count_of(added), packed::parts(&dims[2]));
                let mut is_added = self.init != Some(0.0);
                for first in (0..n).step_by(together) {
                    let operands = |k| part(k).operands(swap);
                    // SAFETY: the strides lead only to elements of the arrays, as the caller guarantees.
                    let packed = unsafe { Packed::new(dims, first..n.min(first + together), operands) };
                    let ([rows, columns, reduced], [left, right]) = (packed.dims, packed.operands);
                    // SAFETY: elements of the arrays or of their copies. If the result is read, it was written before.
                    unsafe {
                        $kernels::gemm::$t::get_gemm_fn()(
                            rows.extent,
                            columns.extent,
                            reduced.extent,
                            part(first).to,
                            columns.strides[0],
                            rows.strides[0],
                            is_added,
                            left,
                            reduced.strides[1],
                            rows.strides[1],
                            right,
                            columns.strides[2],
                            reduced.strides[2],
                            1.0,
                            self.factor,
                            false,
                            false,
                            false,
                            parallelism,
                        )
                    };
                    is_added = true;
                }
            }
        }
    };
}
product!(product_f32 f32 gemm_f32);
product!(product_f64 f64 gemm_f64);

#[cfg(test)]
mod tests {
    use super::*;

    /// The strides of a matrix: forwards or backwards along each dimension, with adjacent rows or columns.
    fn strides(n: [i64; 2], transposed: bool, back: [bool; 2]) -> ([i64; 2], isize) {
        let strides = if transposed { [1, n[0]] } else { [n[1], 1] };
        let signed = |k: usize| if back[k] { -strides[k] } else { strides[k] };
        let first = (0..2).filter(|k| back[*k]).map(|k| strides[k] * (n[k] - 1)).sum::<i64>();
        ([signed(0), signed(1)], first as isize)
    }

    /// If nothing is summed, strides can have any value.
    #[test]
    fn dimensions_of_arrays_without_elements() {
        let dims = [
            [0, 0, 1 << 48, 1, 1 << 60, 0],
            [0, 0, 1 << 11, 0, 1 << 12, 1 << 59],
            [1, 0, 4, 1, 1 << 62, 0],
            [3, 0, 0, 0, 1, 1],
        ];
        assert_eq!(count_of(&Shape::new(&dims).batch), 1 << 59);
        let mut to = [0.0; 4];
        // SAFETY: nothing is multiplied, so no element is read or written.
        let done =
            unsafe { product_f64(dims.as_ptr(), 4, to.as_mut_ptr(), to.as_ptr(), to.as_ptr(), 1.0, &0.0, false) };
        assert_eq!(done, -1);
    }

    #[test]
    fn matrices_may_lie_in_any_direction() {
        let (m, n, k) = (17, 19, 23);
        for way in 0..512 {
            let bit = |i: u32| way >> i & 1 == 1;
            let ([tr, tc], at) = strides([m, n], bit(0), [bit(1), bit(2)]);
            let ([lr, lk], left_at) = strides([m, k], bit(3), [bit(4), bit(5)]);
            let ([rk, rc], right_at) = strides([k, n], bit(6), [bit(7), bit(8)]);
            let left: Vec<f64> = (0..m * k).map(|i| (i % 13) as f64 - 6.0).collect();
            let right: Vec<f64> = (0..k * n).map(|i| (i % 11) as f64 - 5.0).collect();
            let mut to = vec![f64::NAN; (m * n) as usize];
            let dims = [[1, 0, m, tr, lr, 0], [2, 0, n, tc, 0, rc], [3, 0, k, 0, lk, rk]];
            // SAFETY: the strides stay within the three matrices.
            let done = unsafe {
                let (l, r) = (left.as_ptr().offset(left_at), right.as_ptr().offset(right_at));
                product_f64(dims.as_ptr(), 3, to.as_mut_ptr().offset(at), l, r, 2.0, &0.5, false)
            };
            assert_eq!(done, 0);
            let element = |all: &[f64], at: isize, by: i64| all[(at as i64 + by) as usize];
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let term = |l| element(&left, left_at, i * lr + l * lk) * element(&right, right_at, l * rk + j * rc);
                let expected = 0.5 + 2.0 * (0..k).map(term).sum::<f64>();
                assert_eq!(element(&to, at, i * tr + j * tc), expected, "way {way:b}, row {i}, column {j}");
            }
        }
    }

    /// Otherwise, the generated loops would add everything to what was added before the panic.
    #[test]
    fn a_panic_is_a_failure() {
        let n = 40;
        let dims = [[1, 0, n, n, n, 0], [2, 0, n, 1, 0, 1], [3, 0, n, 0, 1, n]];
        let (xs, mut to) = (vec![1.0; (n * n) as usize], vec![0.0; (n * n) as usize]);
        let mut product = || {
            let (x, to) = (xs.as_ptr(), to.as_mut_ptr());
            // SAFETY: square matrices of these extents.
            unsafe { product_f64(dims.as_ptr(), 3, to, x, x, 1.0, std::ptr::null(), false) }
        };
        assert_eq!(product(), 0);
        // `gemm` panics if its memory is in use.
        assert_eq!(L2_SLAB.with_borrow_mut(|_| product()), 1);
    }

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

    /// The strides of two dimensions of parts and of the reduced one, in one of four forms, and the number of places.
    fn parts(form: usize, extents: [i64; 3]) -> ([i64; 3], i64) {
        let [a, b, k] = extents;
        let strides = match form {
            // In the reduced dimension, around it, over each other, and with gaps.
            0 => [b, 1, a * b],
            1 => [b * k, k, 1],
            2 => [1, 1, 1],
            _ => [b * k + 3, k, 1],
        };
        (strides, 1 + extents.iter().zip(strides).map(|(n, s)| (n - 1) * s).sum::<i64>())
    }

    /// Computes sums of products each, in a layout, with an initial value or without. `forms` are those of the parts of the operands.
    fn sums_of_products(batch: i64, [m, n, k]: [i64; 3], added: [i64; 2], forms: [usize; 2], way: usize) {
        const ORDERS: [[usize; 3]; 3] = [[0, 1, 2], [0, 2, 1], [1, 2, 0]];
        let bit = |b: usize| way >> b & 1 == 1;
        let init = bit(1).then_some(0.5);
        let order = |digit: usize| ORDERS[way / digit % 3];
        let depth = [added[0], added[1], k];
        let [(left_parts, left_depth), (right_parts, right_depth)] = forms.map(|form| parts(form, depth));
        let ([tb, tr, tc], at) = layout([batch, m, n], order(1), bit(2));
        let ([lb, lr, lk], left_at) = layout([batch, m, left_depth], order(3), bit(3));
        let ([rb, rk, rc], right_at) = layout([batch, right_depth, n], order(9), bit(4));
        let numbers = |count: i64, most: i64| (0..count).map(|i| (i % most - 5) as f64).collect::<Vec<_>>();
        let (left, right) = (numbers(batch * m * left_depth, 13), numbers(batch * right_depth * n, 11));
        let old = numbers(batch * m * n, 17);
        let mut to = if init.is_some() { vec![f64::NAN; old.len()] } else { old.clone() };
        let mut dims = vec![[0, 0, batch, tb, lb, rb], [1, 0, m, tr, lr, 0], [2, 0, n, tc, 0, rc]];
        dims.extend((0..3).map(|d| [3, 0, depth[d], 0, lk * left_parts[d], rk * right_parts[d]]));
        let first = init.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the strides stay within the three arrays.
        let done = unsafe {
            let (l, r) = (left.as_ptr().offset(left_at as isize), right.as_ptr().offset(right_at as isize));
            product_f64(dims.as_ptr(), 6, to.as_mut_ptr().offset(at as isize), l, r, 2.0, first, true)
        };
        assert_eq!(done, 0, "{m} {n} {k} way {way}");
        for i in 0..batch * m * n {
            let (b, r, c) = (i / (m * n), i / n % m, i % n);
            let term = |i: i64| {
                let at = [i / (k * added[1]), i / k % added[1], i % k];
                let sum = |parts: [i64; 3]| at.iter().zip(parts).map(|(i, s)| i * s).sum::<i64>();
                left[(left_at + b * lb + r * lr + sum(left_parts) * lk) as usize]
                    * right[(right_at + b * rb + sum(right_parts) * rk + c * rc) as usize]
            };
            let place = (at + b * tb + r * tr + c * tc) as usize;
            let all = depth.iter().product();
            let expected = init.unwrap_or(old[place]) + 2.0 * (0..all).map(term).sum::<f64>();
            assert_eq!(to[place], expected, "{m} {n} {k} way {way}, {forms:?}, sum {b}, row {r}, column {c}");
        }
    }

    #[test]
    fn small_products_of_all_extents_in_any_layout() {
        let shapes = (2..=8).map(|n| [n, n, n]).chain([[2, 7, 3], [8, 2, 3], [3, 4, 6], [5, 6, 2]]);
        for (way, shape) in shapes.flat_map(|s| (0..216).step_by(7).map(move |way| (way, s))) {
            let added = if way & 1 == 1 { [1, 2] } else { [1, 1] };
            sums_of_products(700, shape, added, [0, 0], way);
        }
    }

    /// Products with a short reduced dimension are computed as one.
    #[test]
    fn parts_of_products_in_any_layout() {
        let shapes = [[9, 17, 5], [20, 9, 31], [33, 12, 1], [10, 11, 40]];
        for (way, shape) in shapes.into_iter().flat_map(|s| (0..216).step_by(11).map(move |way| (way, s))) {
            for (added, forms) in [([3, 3], way), ([2, 40], way + 5), ([1, 2], way + 9)] {
                sums_of_products(2, shape, added, [forms % 4, forms / 4 % 4], way);
            }
        }
    }
}
