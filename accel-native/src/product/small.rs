//! Many small products, such as those of 3 × 3 matrices. A call of the library for each of them would take longer than the
//! product, and generated loops do not know how few iterations they have. Here the number of columns is a constant, so that a row
//! of the result stays in registers, and so are the other two extents if all three are equal. Rows whose numbers are adjacent are
//! read and written as vectors.

use super::shape::{Dim, Products, Shape, Side, count_of, start};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use std::ops::{Add, Mul, Range};

/// The largest extent of a small product.
const LARGEST: usize = 8;
/// Below this number of multiplications of all products, the generated loops are faster.
const MIN_WORK: usize = 1 << 12;
/// The number of multiplications of a task: five to ten microseconds, so that threads finish together.
const TASK: usize = 1 << 15;

/// The numbers of products.
pub trait Number: Copy + Default + PartialEq + Add<Output = Self> + Mul<Output = Self> + Send + Sync {
    /// `self * x + sum`, rounded once.
    fn multiply_add(self, x: Self, sum: Self) -> Self;
}
impl Number for f32 {
    #[inline(always)]
    fn multiply_add(self, x: f32, sum: f32) -> f32 {
        self.mul_add(x, sum)
    }
}
impl Number for f64 {
    #[inline(always)]
    fn multiply_add(self, x: f64, sum: f64) -> f64 {
        self.mul_add(x, sum)
    }
}

/// Whether these are many small products.
pub fn are_small(shape: &Shape) -> bool {
    let is_small = |side: &&Side| (2..=LARGEST).contains(&side.extent) && side.only().is_some();
    [&shape.rows, &shape.columns, &shape.reduced].iter().all(is_small) && shape.all_work() >= MIN_WORK
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
        // Different sums have different results.
        let task = |t: usize| Task { products: self, range: t * part..n.min((t + 1) * part) }.dispatch();
        match n.div_ceil(part) {
            1 => task(0),
            tasks => {
                crate::threads::prepare();
                (0..tasks).into_par_iter().for_each(task);
            }
        }
    }
}

/// A range of the sums of products that are [small](are_small), in arrays that have all elements to which the strides lead, and with a
/// result that nobody else uses.
struct Task<'t, T> {
    products: &'t Products<'t, T>,
    range: Range<usize>,
}

impl<T: Number> WithSimd for Task<'_, T> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        // Processors with vectors multiply and add in one instruction. NOTE [Fused multiply-add] in `accel_codegen`.
        match S::F64_LANES > 1 {
            true => self.compute::<true>(),
            false => self.compute::<false>(),
        }
    }
}

impl<T: Number> Task<'_, T> {
    /// Computes them with the vectors of this processor. The code for all extents and processors is long, and there is one copy of it.
    #[inline(never)]
    fn dispatch(self) {
        Arch::new().dispatch(self);
    }

    #[inline(always)]
    fn compute<const FUSED: bool>(self) {
        let Shape { rows, columns, reduced, .. } = self.products.shape;
        let [Some(rows), Some(columns), Some(reduced)] = [rows, columns, reduced].map(Side::only) else {
            unreachable!("a product that is not small")
        };
        let swap = rows.strides[0].abs() < columns.strides[0].abs();
        let sides = match swap {
            true => [columns, rows, reduced].map(Dim::exchanged),
            false => [rows, columns, reduced],
        };
        let [rows, columns, reduced] = sides;
        let is_square = rows.extent == columns.extent && columns.extent == reduced.extent;
        let are_adjacent = columns.strides[0] == 1 && columns.strides[2] == 1;
        // Extents and strides that are constants here are constants in the loops, which are inlined.
        macro_rules! with {
            ($($n:literal)*) => {
                match columns.extent {
                    $(
                        $n if sides == dense($n) => self.sums::<$n, true, FUSED>(dense($n), swap),
                        $n if is_square && are_adjacent => self.sums::<$n, true, FUSED>(square($n, sides), swap),
                        $n if is_square => self.sums::<$n, false, FUSED>(square($n, sides), swap),
                        $n if are_adjacent => self.sums::<$n, true, FUSED>(sides, swap),
                        $n => self.sums::<$n, false, FUSED>(sides, swap),
                    )*
                    _ => unreachable!("a product that is not small"),
                }
            };
        }
        with!(2 3 4 5 6 7 8)
    }

    /// The sums with `N` columns. If `ADJACENT`, the numbers of a row are: those of the result and of the right operand.
    #[inline(always)]
    fn sums<const N: usize, const ADJACENT: bool, const FUSED: bool>(
        self,
        [rows, columns, reduced]: [Dim; 3],
        swap: bool,
    ) {
        let Products { shape, all, factor, init } = *self.products;
        let (height, depth) = (rows.extent, reduced.extent);
        for i in self.range {
            for k in 0..count_of(&shape.added) {
                let m = all.at(start(&shape.batch, i)).at(start(&shape.added, k));
                let [left, right] = m.operands(swap);
                let mut lines = [[T::default(); N]; LARGEST];
                for (d, line) in lines.iter_mut().enumerate().take(depth) {
                    // SAFETY: elements of an operand.
                    *line = unsafe {
                        row::<T, N, ADJACENT>(right.offset(d as isize * reduced.strides[2]), columns.strides[2])
                    };
                }
                for r in 0..height {
                    let mut sums = [T::default(); N];
                    for (d, line) in lines.iter().enumerate().take(depth) {
                        // SAFETY: an element of the other operand.
                        let x = unsafe { *left.offset(r as isize * rows.strides[1] + d as isize * reduced.strides[1]) };
                        for (sum, y) in sums.iter_mut().zip(line) {
                            *sum = if FUSED { x.multiply_add(*y, *sum) } else { *sum + x * *y };
                        }
                    }
                    // SAFETY: elements of the result. Without an initial value, and after the first of the products that are added, they
                    // have values.
                    unsafe {
                        let to = m.to.offset(r as isize * rows.strides[0]);
                        let first = match init {
                            Some(init) if k == 0 => [init; N],
                            _ => row::<T, N, ADJACENT>(to, columns.strides[0]),
                        };
                        let mut found = first;
                        found.iter_mut().zip(sums).for_each(|(x, sum)| *x = *x + factor * sum);
                        match ADJACENT {
                            true => to.cast::<[T; N]>().write(found),
                            false => (0..N).for_each(|c| to.offset(c as isize * columns.strides[0]).write(found[c])),
                        }
                    }
                }
            }
        }
    }
}

/// The rows, columns and the reduced dimension of square matrices.
#[inline(always)]
fn square(n: usize, sides: [Dim; 3]) -> [Dim; 3] {
    sides.map(|side| Dim { extent: n, ..side })
}

/// Those of square matrices whose rows follow each other.
#[inline(always)]
fn dense(n: usize) -> [Dim; 3] {
    let line = n as isize;
    [[line, line, 0], [1, 0, 1], [0, 1, line]].map(|strides| Dim { extent: n, strides, meets: false })
}

/// `N` numbers with this distance, or adjacent ones.
///
/// # Safety
/// They are elements of one array.
#[inline(always)]
unsafe fn row<T: Copy + Default, const N: usize, const ADJACENT: bool>(from: *const T, stride: isize) -> [T; N] {
    // SAFETY: the caller's guarantee.
    unsafe {
        match ADJACENT {
            true => *from.cast(),
            false => std::array::from_fn(|c| *from.offset(c as isize * stride)),
        }
    }
}
