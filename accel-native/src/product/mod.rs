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

mod copies;
mod shape;
mod small;

use copies::Places;
use gemm_common::Parallelism;
use gemm_common::gemm::L2_SLAB;
use rayon::prelude::*;
use shape::{Described, Dim, MIN_SHARED_WORK, MOST, Matrices, Products, Several, Shape, Side, TASKS, count_of, start};
use small::{Number, are_small};
use std::ops::Range;

/// Below this number of multiplications, the generated loops are faster. Measured: a call takes 0.1 µs, as long as the loops for
/// 8 × 8 × 8 numbers; 13 × 13 × 13 take half of the time of the loops.
const MIN_WORK: usize = 9 * 9 * 9;
/// Below this number of multiplications, no side consists of several dimensions.
const MIN_COPIED_WORK: usize = 16 * 16 * 16;
/// Neither rows nor columns do if there are fewer of the others: what is copied would be used too few times.
const MIN_SIDE: usize = 4;
/// How many products a part of a sum reduces at least, if it is computed apart from the others.
const MIN_PART: usize = 256;

impl Shape {
    /// Whether the library is faster than the loops that it replaces. It is not for products with vectors, and for small
    /// products, unless these loops are slow.
    fn pays(&self, slow: bool) -> bool {
        if slow {
            return self.all_work() >= MIN_WORK;
        }
        let least = self.rows.extent.min(self.columns.extent).min(self.reduced.extent);
        least >= MIN_SIDE && self.work() >= MIN_WORK
    }

    /// In how many parts a sum of products is computed, by different threads. If there are few results, there are several.
    fn parts(&self) -> usize {
        let (n, added) = (count_of(&self.batch), count_of(&self.added));
        let meet = self.added.iter().any(|d| d.meets);
        let results = self.rows.extent.saturating_mul(self.columns.extent);
        if n >= TASKS || meet || self.all_work() < MIN_SHARED_WORK || results > MOST * MOST {
            return 1;
        }
        TASKS.div_ceil(n).min(added).min(added * self.reduced.extent / MIN_PART).max(1)
    }

    /// The places of the results, which are in the order of a side along which an operand has neighbours, or else of the shorter side: the
    /// kernels transpose that operand.
    fn places_of_part(&self) -> Places {
        let Shape { rows, columns, reduced, .. } = self;
        let [left, right] = [(rows, 1), (columns, 2)].map(|(side, array)| side.run(array) >= reduced.run(array));
        let is_first = if left == right { rows.extent <= columns.extent } else { left };
        Places::along(is_first, [rows, columns], 0)
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

/// What the kernels have for numbers of this type.
trait Kernels: Number {
    /// `to = factor * left * right`, or, if it `is_added`, this is added to the matrix `to`. The strides are positive.
    ///
    /// # Safety
    /// The dimensions lead only to elements of the arrays. Nobody else uses the result.
    unsafe fn gemm(
        dims: [Dim; 3],
        to: *mut Self,
        is_added: bool,
        operands: [*const Self; 2],
        factor: Self,
        by: Parallelism,
    );
}

macro_rules! product {
    ($name:ident $t:ident $kernels:ident) => {
        impl Kernels for $t {
            unsafe fn gemm(
                [rows, columns, reduced]: [Dim; 3],
                to: *mut $t,
                is_added: bool,
                [left, right]: [*const $t; 2],
                factor: $t,
                parallelism: Parallelism,
            ) {
                // SAFETY: the caller's guarantee.
                unsafe {
                    $kernels::gemm::$t::get_gemm_fn()(
                        rows.extent,
                        columns.extent,
                        reduced.extent,
                        to,
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
                        factor,
                        false,
                        false,
                        false,
                        parallelism,
                    )
                }
            }
        }

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
            unsafe {
                let dims = std::slice::from_raw_parts(dims, count as usize);
                compute(dims, Matrices { to, left, right }, factor, init.as_ref().copied(), slow)
            }
        }
    };
}
product!(product_f32 f32 gemm_f32);
product!(product_f64 f64 gemm_f64);

/// Computes products, and returns what the functions for generated code return.
///
/// # Safety
/// As for these functions.
unsafe fn compute<T: Kernels>(dims: &[Described], all: Matrices<T>, factor: T, init: Option<T>, slow: bool) -> i32 {
    let mut shape = Shape::new(dims, Several::All);
    if shape.work() < MIN_COPIED_WORK {
        shape = Shape::new(dims, Several::None);
    } else if shape.rows.extent.min(shape.columns.extent) < MIN_SIDE {
        shape = Shape::new(dims, Several::Reduced);
    }
    let small = are_small(&shape);
    // Only what is added to a result meets other products.
    let meets = init.is_some() && dims.iter().any(|d| d[1] != 0 && d[2] != 1);
    if !small && !shape.pays(slow) || meets {
        return -1;
    }
    // At the end of a thread, `gemm` may have lost its memory, and would panic.
    if !small && L2_SLAB.try_with(|_| ()).is_err() {
        return -1;
    }
    // A panic must not pass through the generated code.
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        // One after the other: NOTE [Products that meet].
        for shift in 0..count_of(&shape.shifts) {
            let products = Products { shape: &shape, all: all.at(start(&shape.shifts, shift)), factor, init };
            match small {
                // SAFETY: the caller's guarantee.
                true => unsafe { products.compute_small() },
                false => products.compute_all(),
            }
        }
    }));
    i32::from(done.is_err())
}

/// How the result and the operands are in memory: as a matrix with strides along its two sides, or [otherwise](copies).
struct Layout([Result<[isize; 2], Places>; 3]);

impl Layout {
    fn new(shape: &Shape) -> Layout {
        let sides = [&shape.rows, &shape.columns];
        // Two numbers of one product may have the same place in the result, whatever its strides are.
        let to = match sides.iter().all(|side| side.meets()) {
            true => Err(Places::new(sides, 0)),
            false => Self::of(sides, 0, Places::new),
        };
        Layout::with(shape, to)
    }

    /// The layout of the operands if the result has this one.
    fn with(shape: &Shape, to: Result<[isize; 2], Places>) -> Layout {
        let Shape { rows, columns, reduced, .. } = shape;
        let strides = strides(&to);
        // The kernels read vectors along that side along which the results are closer together.
        let swap = strides[1].abs() < strides[0].abs();
        let along = |is_first: bool| {
            move |sides: [&Side; 2], array| match is_first {
                true => Places::along(true, sides, array),
                false => Places::new(sides, array),
            }
        };
        let left = Self::of([rows, reduced], 1, along(!swap));
        let right = Self::of([columns, reduced], 2, along(swap));
        Layout([to, left, right])
    }

    fn of(sides: [&Side; 2], array: usize, places: impl Fn([&Side; 2], usize) -> Places) -> Result<[isize; 2], Places> {
        match sides.map(|side| side.stride(array)) {
            [Some(a), Some(b)] => Ok([a, b]),
            _ => Err(places(sides, array)),
        }
    }
}

/// The strides of a matrix, or of its copy.
fn strides(of: &Result<[isize; 2], Places>) -> [isize; 2] {
    match of {
        Ok(strides) => *strides,
        Err(places) => places.strides,
    }
}

impl<T: Kernels> Products<'_, T> {
    /// Computes all sums.
    fn compute_all(&self) {
        let shape = self.shape;
        let (n, work, added) = (count_of(&shape.batch), shape.work(), count_of(&shape.added));
        let each = work.saturating_mul(added);
        let layout = Layout::new(shape);
        let one = |i: usize, by: Parallelism| {
            self.sum(&layout, self.all.at(start(&shape.batch, i)), 0..added, self.init, by);
        };
        // Copies are made by one thread for each product.
        let few = if layout.0.iter().all(Result::is_ok) { 4 } else { 1 } * crate::threads::count();
        match shape.parts() {
            1 if work >= MIN_SHARED_WORK && n < few => {
                (0..n).for_each(|i| one(i, Parallelism::Rayon(0)));
            }
            1 if n.saturating_mul(each) >= MIN_SHARED_WORK => {
                crate::threads::prepare();
                let chunk = (MIN_SHARED_WORK / 4 / each).max(1);
                (0..n).into_par_iter().with_min_len(chunk).for_each(|i| one(i, Parallelism::None));
            }
            1 => (0..n).for_each(|i| one(i, Parallelism::None)),
            parts => self.in_parts(parts),
        }
    }

    /// Computes all sums, each in parts, which are then added in their order.
    fn in_parts(&self, parts: usize) {
        let shape = self.shape;
        let (n, added) = (count_of(&shape.batch), count_of(&shape.added));
        let places = shape.places_of_part();
        let layout = Layout::with(shape, Ok(places.strides));
        let part = |task: usize| {
            let (i, k) = (task / parts, task % parts);
            let mut sum = vec![T::default(); places.count()];
            let all = Matrices { to: sum.as_mut_ptr(), ..self.all.at(start(&shape.batch, i)) };
            let range = k * added / parts..(k + 1) * added / parts;
            self.sum(&layout, all, range, Some(T::default()), Parallelism::None);
            sum
        };
        crate::threads::prepare();
        let sums: Vec<Vec<T>> = (0..n * parts).into_par_iter().map(part).collect();
        for (i, sums) in sums.chunks(parts).enumerate() {
            let to = self.all.at(start(&shape.batch, i)).to;
            // SAFETY: elements of the result. They are read only if they have values.
            unsafe {
                if let Some(init) = self.init {
                    places.fill(init, to);
                }
                sums.iter().for_each(|sum| places.add(sum, to));
            }
        }
    }

    /// Computes a sum of products: a range of those that are added. All matrices start where the first one does.
    fn sum(&self, layout: &Layout, all: Matrices<T>, added: Range<usize>, init: Option<T>, parallelism: Parallelism) {
        let shape = self.shape;
        let [to, left, right] = &layout.0;
        let mut is_added = init != Some(T::default());
        if let Some(init) = init.filter(|_| is_added) {
            // SAFETY: elements of the result.
            unsafe { Places::new([&shape.rows, &shape.columns], 0).fill(init, all.to) };
        }
        let dim = |side: &Side, strides: [isize; 3]| Dim { extent: side.extent, strides, meets: false };
        let [s, l, r] = [to, left, right].map(strides);
        let rows = dim(&shape.rows, [s[0], l[0], 0]);
        let columns = dim(&shape.columns, [s[1], 0, r[0]]);
        let (swap, dims, by) = oriented(rows, columns, dim(&shape.reduced, [0, l[1], r[1]]));
        let mut copies: [Vec<T>; 3] = [vec![], vec![], vec![]];
        if let Err(places) = to {
            copies[0].resize(places.count(), T::default());
        }
        for k in added {
            let place = all.at(start(&shape.added, k));
            let mut part = place;
            if to.is_err() {
                part.to = copies[0].as_mut_ptr();
            }
            for (of, operand, copy) in [(left, &mut part.left, 1), (right, &mut part.right, 2)] {
                if let Err(places) = of {
                    // SAFETY: the strides lead only to elements of the operand.
                    unsafe { places.copy(*operand, &mut copies[copy]) };
                    *operand = copies[copy].as_ptr();
                }
            }
            let matrices = part.at(by);
            // SAFETY: elements of the arrays or of their copies. If the result is read, it was written before.
            unsafe {
                let adds = is_added && to.is_ok();
                T::gemm(dims, matrices.to, adds, matrices.operands(swap), self.factor, parallelism);
                if let Err(places) = to {
                    places.add(&copies[0], place.to);
                }
            }
            is_added = true;
        }
    }
}

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
        assert_eq!(count_of(&Shape::new(&dims, Several::All).batch), 1 << 59);
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

    /// Compares what is added to a result with the sum over all digits. Strides are not negative.
    fn adds_all(dims: &[Described]) {
        let size = |a: usize| 1 + dims.iter().map(|d| (d[2] - 1) * d[3 + a]).sum::<i64>();
        let numbers = |a: usize, most: i64| (0..size(a)).map(|i| (i % most - 5) as f64).collect::<Vec<_>>();
        let (left, right, mut to) = (numbers(1, 13), numbers(2, 11), numbers(0, 17));
        let mut expected = to.clone();
        for i in 0..dims.iter().map(|d| d[2]).product() {
            let (mut rest, mut at) = (i, [0; 3]);
            for d in dims.iter().rev() {
                (0..3).for_each(|a| at[a] += rest % d[2] * d[3 + a]);
                rest /= d[2];
            }
            let [to, l, r] = at.map(|at| at as usize);
            expected[to] += 2.0 * left[l] * right[r];
        }
        let (count, null) = (dims.len() as i64, std::ptr::null());
        // SAFETY: the strides stay within the three arrays.
        let done = unsafe {
            product_f64(dims.as_ptr(), count, to.as_mut_ptr(), left.as_ptr(), right.as_ptr(), 2.0, null, true)
        };
        assert_eq!(done, 0, "{dims:?}");
        assert!(to == expected, "{dims:?}");
    }

    /// A convolution with channels first, and its derivatives by the weights and by the image: the product, the roles of its digits, and
    /// the numbers of the groups that collide.
    #[test]
    fn convolutions_in_all_forms() {
        // Images, channels of the result, its rows and columns, channels of the image, rows and columns of the weights.
        let sizes = [
            [40, 16, 8, 8, 8, 5, 5],
            [64, 8, 24, 24, 1, 5, 5],
            [3, 20, 7, 31, 5, 3, 2],
            [1, 6, 40, 9, 33, 3, 3],
            [17, 2, 13, 11, 3, 2, 4],
            [2, 64, 6, 6, 64, 3, 3],
            // Rows and columns of weights meet rows and columns of the image in a product that has strides along both sides.
            [20, 16, 1, 64, 1, 1, 9],
            [3, 16, 50, 1, 1, 9, 1],
            [17, 32, 1, 9, 2, 1, 40],
        ];
        for [n, o, h, w, c, k, l] in sizes {
            for channels_last in [false, true] {
                let (height, width) = (h + k - 1, w + l - 1);
                // The strides of images, rows, columns and channels.
                let places = |h: i64, w: i64, c: i64| match channels_last {
                    true => [h * w * c, w * c, c, 1],
                    false => [h * w * c, w, 1, h * w],
                };
                let (image, result) = (places(height, width, c), places(h, w, o));
                let weight = if channels_last { [1, c * o * l, c * o, o] } else { [c * k * l, l, 1, k * l] };
                // The strides in the result, the weights and the image.
                let digits = [
                    (n, [result[0], 0, image[0]]),
                    (o, [result[3], weight[0], 0]),
                    (h, [result[1], 0, image[1]]),
                    (w, [result[2], 0, image[2]]),
                    (c, [0, weight[3], image[3]]),
                    (k, [0, weight[1], image[1]]),
                    (l, [0, weight[2], image[2]]),
                ];
                // The value, the derivative by the weights, which the image and the adjoint of the result determine, and the
                // derivative by the image.
                for (order, roles, groups) in [
                    ([0, 1, 2], [2, 1, 2, 2, 3, 3, 3], [0; 7]),
                    ([1, 0, 2], [3, 1, 3, 3, 2, 2, 2], [0; 7]),
                    ([2, 0, 1], [1, 3, 1, 1, 2, 2, 2], [0, 0, 1, 2, 0, 1, 2]),
                ] {
                    let described = |d: usize| {
                        let (extent, strides) = digits[d];
                        let [to, left, right] = order.map(|a| strides[a]);
                        [roles[d], groups[d], extent, to, left, right]
                    };
                    adds_all(&[0, 1, 2, 3, 4, 5, 6].map(described));
                }
            }
        }
    }

    /// `to[i + j] += left[i, k] * right[j, k]` has a stride along `i` and along `j`, but is no matrix.
    #[test]
    fn numbers_of_a_product_that_meet_are_added_apart() {
        let dims = [[0, 0, 20, 72, 64 * 16, 9 * 16], [1, 1, 64, 1, 16, 0], [2, 1, 9, 1, 0, 16], [3, 0, 16, 0, 1, 1]];
        let Layout([to, left, right]) = Layout::new(&Shape::new(&dims, Several::All));
        assert!(to.is_err() && left.is_ok() && right.is_ok());
        adds_all(&dims);
    }
}
