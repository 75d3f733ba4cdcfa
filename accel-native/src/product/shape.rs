//! The extents and strides of products, as generated code describes them.

/// A digit of a loop's index, as generated code describes it: its role, the number of its group of digits that collide or 0, its
/// extent, and its strides in the result and in the operands. NOTE [Strided products] in `accel_fusion`.
pub type Described = [i64; 6];

/// A dimension of a product: its extent, its strides in the result, the left and the right operand, and whether its products meet
/// those of another dimension in the result (NOTE [Products that meet]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dim {
    pub extent: usize,
    pub strides: [isize; 3],
    pub meets: bool,
}

impl Dim {
    fn new(d: &Described) -> Dim {
        Dim { extent: d[2] as usize, strides: [d[3], d[4], d[5]].map(|s| s as isize), meets: d[1] != 0 }
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

    /// Divides it into `extent` neighbours and the others.
    fn split(self, extent: usize) -> [Dim; 2] {
        let strides = self.strides.map(|s| s.wrapping_mul(extent as isize));
        [Dim { extent: self.extent / extent, strides, ..self }, Dim { extent, ..self }]
    }
}

/// From this extent on, one dimension is enough for a side. Measured: 3 × 3 convolutions of 16 channels take half of the time if
/// several dimensions are reduced as one.
const LONG: usize = 32;
/// The largest extent of a side of several dimensions. Chosen: what is copied for it stays in the cache.
pub const MOST: usize = 256;
/// From this number of multiplications on, threads share a product, or several.
pub const MIN_SHARED_WORK: usize = 96 * 96 * 96;
/// With fewer results than these, not every thread has some to compute.
pub const TASKS: usize = 16;

/// Which sides may consist of several dimensions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Several {
    None,
    Reduced,
    All,
}

/// A side of a product: dimensions that are used as one, the outermost first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Side {
    dims: Vec<Dim>,
    pub extent: usize,
}

impl Side {
    /// The innermost of these dimensions, or the largest one if that is longer; and those that remain. If it has to be `even`, the
    /// result has a stride along it.
    fn of(dims: Vec<Dim>, several: bool, even: bool) -> (Side, Vec<Dim>) {
        let largest = (0..dims.len()).max_by_key(|i| dims[*i].extent);
        let most = largest.map_or(1, |i| dims[i].extent);
        if several && dims.len() > 1 {
            let found = Side::innermost(&dims, even);
            if found.0.extent >= most.min(LONG) {
                return found;
            }
        }
        let mut rest = dims;
        (Side { dims: largest.map(|i| rest.remove(i)).into_iter().collect(), extent: most }, rest)
    }

    /// The innermost dimension, and, if it is short, others or parts of them; and those that remain.
    fn innermost(dims: &[Dim], even: bool) -> (Side, Vec<Dim>) {
        let (mut side, mut rest) = (Side { dims: vec![], extent: 1 }, vec![]);
        let is_long = dims.last().is_some_and(|d| d.extent >= LONG);
        for d in dims.iter().rev() {
            let with = |d: Dim| Side { dims: [&[d], &side.dims[..]].concat(), extent: side.extent * d.extent };
            let most = match side.extent {
                1 => d.extent,
                _ if is_long || even && with(*d).stride(0).is_none() => 1,
                extent => MOST / extent,
            };
            let part = (2..=most.min(d.extent)).rev().find(|n| d.extent % n == 0).unwrap_or(1);
            let [outer, inner] = d.split(part);
            if part > 1 {
                side = with(inner);
            }
            if outer.extent != 1 {
                rest.insert(0, outer);
            }
        }
        (side, rest)
    }

    /// Its dimension, if there is one.
    pub fn only(&self) -> Option<Dim> {
        <[Dim; 1]>::try_from(&self.dims[..]).ok().map(|[d]| d)
    }

    /// The stride of an array along this side, if it has one.
    pub fn stride(&self, array: usize) -> Option<isize> {
        let is_one = |d: &[Dim]| d[1].strides[array].checked_mul(d[1].extent as isize) == Some(d[0].strides[array]);
        self.dims.windows(2).all(is_one).then(|| self.dims.last().map_or(0, |d| d.strides[array]))
    }

    /// Where the elements of an array are along this side.
    pub fn offsets(&self, array: usize) -> Vec<isize> {
        (0..self.extent).map(|i| start(&self.dims, i)[array]).collect()
    }

    /// Whether products along this side meet others.
    pub fn meets(&self) -> bool {
        self.dims.iter().any(|d| d.meets)
    }

    /// How many neighbours of an array follow each other along this side.
    pub fn run(&self, array: usize) -> usize {
        self.dims.last().filter(|d| d.strides[array] == 1).map_or(1, |d| d.extent)
    }
}

/// Matrix products that are added up, and many such sums.
///
/// NOTE [Products that meet]: the adjoint of a convolution adds a product for each row `i` of the image and each row `k` of the
/// weights to row `i + k` of its result. So different products of a batch have different results only as long as `k` is the same.
///
/// There are two ways to add them. If there are many results that have no number in common, such as those of the images of a batch, one
/// thread computes each of these: it computes the products of several `i` and `k` as one, apart from the result, and then adds them
/// number by number. Otherwise, all products with one `k` are computed before those with the next one, by all threads. In both ways,
/// two threads never add to the same number, and the order of additions depends only on sizes.
#[derive(PartialEq, Eq, Debug)]
pub struct Shape {
    pub rows: Side,
    pub columns: Side,
    pub reduced: Side,
    /// The dimensions of the products with different results.
    pub batch: Vec<Dim>,
    /// The dimensions of the products that are added one after the other, to the same results or to results that meet.
    pub added: Vec<Dim>,
    /// The dimensions along which results meet those of other products of the batch: NOTE [Products that meet].
    pub shifts: Vec<Dim>,
}

impl Shape {
    /// The shape of products. The roles are the numbers of `accel_fusion::kernel::Role`.
    pub fn new(dims: &[Described], several: Several) -> Shape {
        if several == Several::All && dims.iter().any(|d| d[1] != 0) {
            let shape = Shape::of(dims, vec![], several);
            if count_of(&shape.batch) >= TASKS || shape.all_work() < MIN_SHARED_WORK {
                return shape;
            }
        }
        let (free, shifts) = without_collisions(dims);
        Shape::of(&free, merged(shifts), several)
    }

    fn of(dims: &[Described], shifts: Vec<Dim>, several: Several) -> Shape {
        let of = |role: i64| dims.iter().filter(|d| d[0] == role && d[2] != 1).map(Dim::new).collect::<Vec<_>>();
        let (mut batch, mut added) = (of(0), vec![]);
        let mut side = |role: i64| {
            let mut dims = of(role);
            dims.sort_by_key(|d| std::cmp::Reverse(d.strides[0].unsigned_abs()));
            let dims = merged(dims);
            let even = dims.iter().all(|d| !d.meets);
            let (side, rest) = Side::of(dims, several == Several::All, even);
            let (meeting, apart): (Vec<_>, Vec<_>) = rest.into_iter().partition(|d| d.meets);
            added.extend(meeting);
            batch.extend(apart);
            side
        };
        let (rows, columns) = (side(1), side(2));
        let (reduced, rest) = Side::of(merged(of(3)), several != Several::None, false);
        added.extend(rest);
        Shape { rows, columns, reduced, batch: merged(batch), added: merged(added), shifts }
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
    let apart = |k: usize| {
        let [role, _, extent, strides @ ..] = dims[k];
        [role, 0, extent, strides[0], strides[1], strides[2]]
    };
    (free.into_iter().map(apart).collect(), others)
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
            Some(o)
                if d.meets == o.meets
                    && (0..3).all(|a| d.strides[a].checked_mul(d.extent as isize) == Some(o.strides[a])) =>
            {
                *o = Dim { extent: o.extent * d.extent, ..d };
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
            for several in [Several::None, Several::Reduced, Several::All] {
                let shape = Shape::new(&dims, several);
                assert_eq!(shape.all_work() as i64, n * i * j * k * l * c * o);
                let mut all = BTreeSet::new();
                for shift in 0..count_of(&shape.shifts) {
                    let first = start(&shape.shifts, shift)[0];
                    let mut found = BTreeSet::new();
                    for at in 0..count_of(&shape.batch) {
                        let inner = [&shape.added, &shape.rows.dims, &shape.columns.dims].map(|d| &d[..]).concat();
                        let first = first + start(&shape.batch, at)[0];
                        let own: BTreeSet<isize> =
                            (0..count_of(&inner)).map(|at| first + start(&inner, at)[0]).collect();
                        assert!(found.is_disjoint(&own));
                        found.extend(own);
                    }
                    all.extend(found);
                }
                assert_eq!(all.len() as i64, n * size);
            }
        }
    }
}
