//! The extents and strides of products, as generated code describes them.

/// A digit of a loop's index, as generated code describes it: its role, the number of its group of digits that collide or 0, its
/// extent, and its strides in the result and in the operands. NOTE [Strided products] in `accel_fusion`.
pub type Described = [i64; 6];

/// A dimension of a product: its extent, and its strides in the result, the left and the right operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dim {
    pub extent: usize,
    pub strides: [isize; 3],
}

/// A dimension of one element.
const NONE: Dim = Dim { extent: 1, strides: [0; 3] };

impl Dim {
    fn new(d: &Described) -> Dim {
        Dim { extent: d[2] as usize, strides: [d[3], d[4], d[5]].map(|s| s as isize) }
    }

    /// The reversed dimension, and the distance of its first element from the old one.
    pub fn reversed(self) -> (Dim, [isize; 3]) {
        let last = self.extent.saturating_sub(1) as isize;
        (Dim { strides: self.strides.map(|s| -s), ..self }, self.strides.map(|s| s * last))
    }

    /// The dimension if the operands are exchanged.
    pub fn exchanged(self) -> Dim {
        let [to, left, right] = self.strides;
        Dim { strides: [to, right, left], ..self }
    }
}

/// Matrix products that are added up, and many such sums.
///
/// NOTE [Products that meet]: the adjoint of a convolution adds a product for each row `i` of the image and each row `k` of the
/// weights to row `i + k` of its result. So different products of a batch have different results only as long as `k` is the same.
/// All products with one `k` are computed before those with the next one, whatever the number of threads. Otherwise, two threads
/// could add to the same number at the same time, and the order of additions would not be known.
#[derive(PartialEq, Eq, Debug)]
pub struct Shape {
    pub rows: Dim,
    pub columns: Dim,
    pub reduced: Dim,
    /// The dimensions of the products with different results.
    pub batch: Vec<Dim>,
    /// The dimensions of the products that are added to the same results, one after the other.
    pub added: Vec<Dim>,
    /// The dimensions along which results meet those of other products of the batch: NOTE [Products that meet].
    pub shifts: Vec<Dim>,
}

impl Shape {
    /// The roles are the numbers of `accel_fusion::kernel::Role`.
    pub fn new(dims: &[Described]) -> Shape {
        let (free, shifts) = without_collisions(dims);
        let of = |role: i64| merged(free.iter().filter(|d| d[0] == role && d[2] != 1).map(Dim::new).collect());
        let (mut batch, mut added) = (of(0), vec![]);
        let largest = |mut dims: Vec<Dim>, others: &mut Vec<Dim>| {
            let found = (0..dims.len()).max_by_key(|i| dims[*i].extent).map(|i| dims.remove(i));
            others.extend(dims);
            found.unwrap_or(NONE)
        };
        let (rows, columns) = (largest(of(1), &mut batch), largest(of(2), &mut batch));
        let reduced = largest(of(3), &mut added);
        Shape { rows, columns, reduced, batch: merged(batch), added: merged(added), shifts: merged(shifts) }
    }

    /// The number of multiplications of one product.
    pub fn work(&self) -> usize {
        self.rows.extent.saturating_mul(self.columns.extent).saturating_mul(self.reduced.extent)
    }

    /// The number of multiplications of all products.
    pub fn all_work(&self) -> usize {
        [&self.added, &self.batch, &self.shifts].iter().fold(self.work(), |n, dims| n.saturating_mul(count_of(dims)))
    }
}

/// The digits of which any two values have different results, and the dimensions of the others: of the digits that collide,
/// only the largest one can be part of a product. The others are shifts.
fn without_collisions(dims: &[Described]) -> (Vec<Described>, Vec<Dim>) {
    let largest = |group: i64| (0..dims.len()).filter(|k| dims[*k][1] == group).max_by_key(|k| dims[*k][2]);
    let is_free = |k: &usize| dims[*k][1] == 0 || largest(dims[*k][1]) == Some(*k);
    let (free, others): (Vec<usize>, Vec<usize>) = (0..dims.len()).partition(is_free);
    let others = others.into_iter().filter(|k| dims[*k][2] != 1).map(|k| Dim::new(&dims[k])).collect();
    (free.into_iter().map(|k| dims[k]).collect(), others)
}

/// The number of elements of an index space.
pub fn count_of(dims: &[Dim]) -> usize {
    dims.iter().map(|d| d.extent).product()
}

/// Where element `i` of an index space is in the result and the operands.
#[inline]
pub fn start(dims: &[Dim], i: usize) -> [isize; 3] {
    let Some((outermost, inner)) = dims.split_first() else { return [0; 3] };
    let (mut rest, mut at) = (i, [0; 3]);
    let mut advance = |k: usize, d: &Dim| at.iter_mut().zip(d.strides).for_each(|(at, s)| *at += k as isize * s);
    for d in inner.iter().rev() {
        advance(rest % d.extent, d);
        rest /= d.extent;
    }
    advance(rest, outermost);
    at
}

/// Merges neighbouring dimensions where the strides of all arrays allow it.
fn merged(dims: Vec<Dim>) -> Vec<Dim> {
    let mut all: Vec<Dim> = vec![];
    for d in dims {
        match all.last_mut() {
            Some(o) if (0..3).all(|a| d.strides[a].checked_mul(d.extent as isize) == Some(o.strides[a])) => {
                *o = Dim { extent: o.extent * d.extent, strides: d.strides };
            }
            _ => all.push(d),
        }
    }
    all
}

/// Addresses that threads share.
#[derive(Clone, Copy)]
pub struct Matrices<T> {
    pub to: *mut T,
    pub left: *const T,
    pub right: *const T,
}
// SAFETY: products that are computed at the same time have different results (NOTE [Products that meet]), and nobody writes the
// operands.
unsafe impl<T: Send + Sync> Sync for Matrices<T> {}

/// Sums of products of numbers of type `T`. Without an initial value, they are added to the result.
pub struct Products<'a, T> {
    pub shape: &'a Shape,
    pub all: Matrices<T>,
    pub factor: T,
    pub init: Option<T>,
}

impl<T> Matrices<T> {
    /// The matrices that start `by` elements later.
    #[inline]
    pub fn at(&self, by: [isize; 3]) -> Matrices<T> {
        Matrices {
            to: self.to.wrapping_offset(by[0]),
            left: self.left.wrapping_offset(by[1]),
            right: self.right.wrapping_offset(by[2]),
        }
    }
    /// The operands, exchanged if `swap`.
    #[inline]
    pub fn operands(&self, swap: bool) -> [*const T; 2] {
        if swap { [self.right, self.left] } else { [self.left, self.right] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The adjoint of a convolution: `to[n, i + k, j + l, c] += left[n, i, j, o] * right[k, l, c, o]`.
    #[test]
    fn products_with_the_same_shift_have_different_results() {
        for [i, j, k, l] in [[7, 5, 3, 3], [2, 9, 3, 3], [4, 1, 2, 5], [3, 3, 3, 3], [6, 2, 1, 4]] {
            let (n, c, o) = (2, 4, 3);
            let width = j + l - 1;
            let size = (i + k - 1) * width * c;
            let dims = [
                [1, 0, n, size, i * j * o, 0],
                [1, 2, i, width * c, j * o, 0],
                [1, 3, j, c, o, 0],
                [3, 0, o, 0, 1, 1],
                [2, 2, k, width * c, 0, l * c * o],
                [2, 3, l, c, 0, c * o],
                [2, 0, c, 1, 0, o],
            ];
            let shape = Shape::new(&dims);
            assert_eq!(shape.all_work() as i64, n * i * j * k * l * c * o);
            let mut all = BTreeSet::new();
            for shift in 0..count_of(&shape.shifts) {
                let free = [&shape.batch[..], &[shape.rows, shape.columns]].concat();
                let first = start(&shape.shifts, shift)[0];
                let results: BTreeSet<isize> = (0..count_of(&free)).map(|at| first + start(&free, at)[0]).collect();
                assert_eq!(results.len(), count_of(&free));
                all.extend(results);
            }
            assert_eq!(all.len() as i64, n * size);
        }
    }
}
