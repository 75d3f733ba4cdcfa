//! Matrices that are not in memory as one: operands are copied, and results added, number by number.
//!
//! The rows of a convolution are the places of its result, in two dimensions, and the reduced dimension consists of the places of the
//! weights and the channels. The weights are in memory as a product needs them, and the results are, too. Where the image has no
//! stride along these sides, its numbers are copied, those of one row behind those of the other. In the derivative by the image, it is
//! the result that has no stride, and products that are complete are added to it.

use super::shape::Side;
use super::small::Number;

/// From this number of neighbours on, they are copied together. Chosen.
const LONG_RUN: usize = 16;

/// The places of a matrix in an array.
pub struct Places {
    /// The places along the side whose numbers are adjacent in the copy.
    inner: Vec<isize>,
    outer: Vec<isize>,
    /// How many of the inner places follow each other.
    run: usize,
    /// The strides of the copy along both sides.
    pub strides: [isize; 2],
}

impl Places {
    /// The places in array `array`. The numbers along the side on which more of them are neighbours are adjacent in the copy.
    pub fn new(sides: [&Side; 2], array: usize) -> Places {
        Places::along(sides[0].run(array) >= sides[1].run(array), sides, array)
    }

    /// The places in array `array`. The numbers along the `first` side are adjacent in the copy, or those along the other one.
    pub fn along(first: bool, sides: [&Side; 2], array: usize) -> Places {
        let [inner, outer] = if first { sides } else { [sides[1], sides[0]] };
        let line = inner.extent as isize;
        Places {
            inner: inner.offsets(array),
            outer: outer.offsets(array),
            run: inner.run(array),
            strides: if first { [1, line] } else { [line, 1] },
        }
    }

    /// The size of a copy.
    pub fn count(&self) -> usize {
        self.inner.len() * self.outer.len()
    }

    /// Calls a function for each run of neighbours: with its place in the copy, and in the array.
    #[inline(always)]
    fn each_run(&self, mut f: impl FnMut(usize, isize)) {
        for (i, outer) in self.outer.iter().enumerate() {
            for (j, inner) in self.inner.iter().step_by(self.run).enumerate() {
                f(i * self.inner.len() + j * self.run, outer.wrapping_add(*inner));
            }
        }
    }

    /// Copies the matrix.
    ///
    /// # Safety
    /// The array that starts here has these places.
    pub unsafe fn copy<T: Number>(&self, from: *const T, to: &mut Vec<T>) {
        to.clear();
        to.reserve(self.count());
        if self.run >= LONG_RUN {
            // SAFETY: the caller's guarantee: these are neighbours in the array.
            self.each_run(|_, place| unsafe {
                to.extend_from_slice(std::slice::from_raw_parts(from.wrapping_offset(place), self.run));
            });
            return;
        }
        for outer in &self.outer {
            let line = from.wrapping_offset(*outer);
            // SAFETY: the caller's guarantee.
            to.extend(self.inner.iter().map(|place| unsafe { *line.wrapping_offset(*place) }));
        }
    }

    /// Adds the numbers of a copy to the array, one after the other, because some may have one place.
    ///
    /// # Safety
    /// As for `copy`, and nobody else uses these places.
    pub unsafe fn add<T: Number>(&self, from: &[T], to: *mut T) {
        self.each_run(|at, place| {
            // SAFETY: the caller's guarantee. The numbers of a run have different places.
            let line = unsafe { std::slice::from_raw_parts_mut(to.wrapping_offset(place), self.run) };
            line.iter_mut().zip(&from[at..at + self.run]).for_each(|(to, x)| *to = *to + *x);
        });
    }

    /// Sets all numbers.
    ///
    /// # Safety
    /// As for `add`.
    pub unsafe fn fill<T: Number>(&self, x: T, to: *mut T) {
        // SAFETY: the caller's guarantee.
        self.each_run(|_, place| (0..self.run).for_each(|k| unsafe { to.wrapping_offset(place).add(k).write(x) }));
    }
}
