//! Element types, test data, and shapes.

use accel::prelude::*;
use std::fmt::Debug;

/// A pseudo-random number for `i` (the finaliser of splitmix64).
fn mixed(i: usize) -> u64 {
    let z = (i as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ (z >> 31)
}

/// Element types with test data and an associative operator. Floats are small multiples of 1/2, so that their sums are exact
/// in every order.
pub trait Sample: Elt + Debug + PartialEq {
    /// Element `i` of the test data.
    fn sample(i: usize) -> Self;
    /// An associative operator; for tuples and records, one that is not commutative.
    fn combine(a: &Self, b: &Self) -> Self;
    /// The same in scalar code.
    fn combine_exp(a: Self::Exp, b: Self::Exp) -> Exp<Self>;
}

macro_rules! sums {
    ($($t:ty: $i:ident $sample:expr, $a:ident $b:ident $sum:expr;)*) => { $(
        impl Sample for $t {
            fn sample($i: usize) -> Self {
                $sample
            }
            fn combine($a: &Self, $b: &Self) -> Self {
                $sum
            }
            fn combine_exp(a: Exp<$t>, b: Exp<$t>) -> Exp<$t> {
                a + b
            }
        }
    )* };
}
sums! {
    f64: i (mixed(i) % 41) as f64 / 2.0 - 10.0, a b a + b;
    f32: i (mixed(i) % 41) as f32 / 2.0 - 10.0, a b a + b;
    i64: i mixed(i) as i64, a b a.wrapping_add(*b);
    i32: i mixed(i) as i32, a b a.wrapping_add(*b);
    u8: i mixed(i) as u8, a b a.wrapping_add(*b);
}

impl Sample for bool {
    fn sample(i: usize) -> Self {
        mixed(i).is_multiple_of(2)
    }
    fn combine(a: &bool, b: &bool) -> bool {
        a != b
    }
    fn combine_exp(a: Exp<bool>, b: Exp<bool>) -> Exp<bool> {
        a.ne(b)
    }
}

impl Sample for () {
    fn sample(_: usize) -> Self {}
    fn combine(_: &(), _: &()) {}
    fn combine_exp(_: (), _: ()) -> Exp<()> {
        ().into_exp()
    }
}

/// The function that maps x to `factor * x + offset`. To combine is to compose.
pub type Affine = (i64, i64);

impl Sample for Affine {
    fn sample(i: usize) -> Self {
        (i64::sample(2 * i), i64::sample(2 * i + 1))
    }
    fn combine((a, b): &Self, (c, d): &Self) -> Self {
        (a.wrapping_mul(*c), b.wrapping_mul(*c).wrapping_add(*d))
    }
    fn combine_exp((a, b): (Exp<i64>, Exp<i64>), (c, d): (Exp<i64>, Exp<i64>)) -> Exp<Self> {
        (a * c, b * c + d).into_exp()
    }
}

/// A 2×2 matrix, row by row. To combine is to multiply.
pub type Matrix2 = (u32, u32, u32, u32);
type Matrix2Exp = (Exp<u32>, Exp<u32>, Exp<u32>, Exp<u32>);

impl Sample for Matrix2 {
    fn sample(i: usize) -> Self {
        let m = mixed(i);
        (m as u32 & 0xff, (m >> 8) as u32 & 0xff, (m >> 16) as u32 & 0xff, (m >> 24) as u32)
    }
    fn combine((a, b, c, d): &Self, (e, f, g, h): &Self) -> Self {
        let dot = |x: &u32, y: &u32, z: &u32, w: &u32| x.wrapping_mul(*y).wrapping_add(z.wrapping_mul(*w));
        (dot(a, e, b, g), dot(a, f, b, h), dot(c, e, d, g), dot(c, f, d, h))
    }
    fn combine_exp((a, b, c, d): Matrix2Exp, (e, f, g, h): Matrix2Exp) -> Exp<Self> {
        (a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h).into_exp()
    }
}

/// A sequence of values: its first and last value, and the number of neighbours that differ.
#[derive(Clone, Copy, PartialEq, Debug, Elt)]
pub struct Run {
    pub ends: (f64, f64),
    pub changes: i32,
    pub wide: bool,
}

impl Sample for Run {
    fn sample(i: usize) -> Self {
        Run {
            ends: (f64::sample(2 * i), f64::sample(2 * i + 1)),
            changes: (mixed(i) % 5) as i32,
            wide: i.is_multiple_of(3),
        }
    }
    fn combine(a: &Run, b: &Run) -> Run {
        let join = (a.ends.1 != b.ends.0) as i32;
        Run { ends: (a.ends.0, b.ends.1), changes: a.changes + join + b.changes, wide: a.wide || b.wide }
    }
    fn combine_exp(a: RunExp, b: RunExp) -> Exp<Run> {
        let join = a.ends.1.ne(b.ends.0).cast::<i32>();
        RunExp { ends: (a.ends.0, b.ends.1), changes: a.changes + join + b.changes, wide: a.wide.or(b.wide) }.into_exp()
    }
}

/// Shapes of a rank: empty in one dimension or another, with one element, with odd extents, and with some hundred
/// elements.
pub fn shapes(rank: usize) -> &'static [&'static [usize]] {
    match rank {
        0 => &[&[]],
        1 => &[&[0], &[1], &[2], &[7], &[300], &[1025]],
        2 => &[&[0, 0], &[0, 5], &[5, 0], &[1, 1], &[3, 7], &[1, 301], &[257, 1], &[16, 33]],
        3 => &[&[2, 3, 5], &[3, 0, 4], &[0, 2, 2], &[2, 4, 0], &[1, 1, 1], &[5, 7, 11]],
        4 => &[&[2, 1, 3, 4], &[0, 2, 2, 2], &[2, 3, 2, 0], &[1, 1, 1, 1], &[3, 2, 5, 7]],
        _ => &[],
    }
}

/// The shapes of the type `Sh`.
pub fn shapes_of<Sh: Shape>() -> &'static [&'static [usize]] {
    shapes(Sh::RANK)
}

/// An array of test data.
pub fn array<Sh: Shape, T: Sample>(extents: &[usize]) -> Array<Sh, T> {
    other_array(extents, 0)
}

/// Other test data for another `seed`.
pub fn other_array<Sh: Shape, T: Sample>(extents: &[usize], seed: usize) -> Array<Sh, T> {
    let n = extents.iter().product::<usize>();
    host(extents, (0..n).map(|i| T::sample(i + 10_000 * seed)).collect())
}

/// A vector of test data.
pub fn vector<T: Sample>(n: usize) -> Vector<T> {
    array(&[n])
}

/// The array with these elements, in row-major order.
#[track_caller]
pub fn host<Sh: Shape, T: Elt>(extents: &[usize], elements: Vec<T>) -> Array<Sh, T> {
    Array::from_extents(extents, elements).unwrap()
}

/// The index of element `i` in row-major order.
pub fn unravel(mut i: usize, extents: &[usize]) -> Vec<usize> {
    let mut index = vec![0; extents.len()];
    for (place, n) in index.iter_mut().zip(extents).rev() {
        *place = i % n;
        i /= n;
    }
    index
}

/// The row-major position of an index.
pub fn ravel(index: &[usize], extents: &[usize]) -> usize {
    index.iter().zip(extents).fold(0, |p, (i, n)| p * n + i)
}

/// The array of the elements that `f` computes from the indices.
pub fn tabulate<Sh: Shape, T: Elt>(extents: &[usize], mut f: impl FnMut(&[usize]) -> T) -> Array<Sh, T> {
    let n = extents.iter().product::<usize>();
    host(extents, (0..n).map(|i| f(&unravel(i, extents))).collect())
}

/// The element at an index.
pub fn at<Sh: Shape, T: Elt>(xs: &Array<Sh, T>, index: &[usize]) -> T {
    T::from_column_row(&xs.raw().columns, ravel(index, &xs.shape())).unwrap()
}

/// The innermost rows.
pub fn rows<Sh: Shape, T: Elt>(xs: &Array<Snoc<Sh>, T>) -> Vec<Vec<T>> {
    let (extents, all) = (xs.shape(), xs.to_vec());
    let (n, outer) = extents.split_last().unwrap();
    (0..outer.iter().product()).map(|r: usize| all[r * n..(r + 1) * n].to_vec()).collect()
}

/// Applies `f` to every innermost row of `xs`. All results have the same length, which for rows of length `n` is that
/// of `f` for `n` elements.
pub fn map_rows<Sh: Shape, T: Elt, U: Elt>(
    xs: &Array<Snoc<Sh>, T>,
    length: impl Fn(usize) -> usize,
    f: impl Fn(Vec<T>) -> Vec<U>,
) -> Array<Snoc<Sh>, U> {
    let mut extents = xs.shape().to_vec();
    let innermost = extents.len() - 1;
    extents[innermost] = length(extents[innermost]);
    host(&extents, rows(xs).into_iter().flat_map(f).collect())
}

/// Applies `f` to every innermost row; the result has one element for each.
pub fn reduce_rows<Sh: Shape, T: Elt, U: Elt>(xs: &Array<Snoc<Sh>, T>, f: impl Fn(Vec<T>) -> U) -> Array<Sh, U> {
    let extents = xs.shape();
    host(&extents[..Sh::RANK], rows(xs).into_iter().map(f).collect())
}

/// Calls a generic function, whose parameters are a shape and an element type, for every element type and every rank;
/// for the interesting types, at several ranks. With `inner`, the rank is that of the outer dimensions.
macro_rules! every {
    ($f:ident($t:expr)) => {
        $f::<Dim0, i32>($t);
        $f::<Dim1, f64>($t);
        $f::<Dim1, u8>($t);
        $f::<Dim1, bool>($t);
        $f::<Dim1, ()>($t);
        $f::<Dim1, super::samples::Affine>($t);
        $f::<Dim1, super::samples::Run>($t);
        $f::<Dim2, i64>($t);
        $f::<Dim3, f32>($t);
        $f::<Dim4, super::samples::Run>($t);
    };
    ($f:ident($t:expr) inner) => {
        $f::<Dim0, f64>($t);
        $f::<Dim0, u8>($t);
        $f::<Dim0, bool>($t);
        $f::<Dim0, ()>($t);
        $f::<Dim0, super::samples::Affine>($t);
        $f::<Dim0, super::samples::Run>($t);
        $f::<Dim1, i32>($t);
        $f::<Dim1, super::samples::Matrix2>($t);
        $f::<Dim2, f32>($t);
        $f::<Dim3, i64>($t);
    };
}
pub(crate) use every;
