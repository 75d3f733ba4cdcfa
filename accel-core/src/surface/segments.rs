//! Folds and scans of segments: each innermost row consists of segments of given lengths.
//!
//! They are scans of the whole row. Its elements are pairs of a flag and a value, and at a flag the operator starts anew
//! (Blelloch, "Prefix sums and their applications", 1990, section 1.5). So they are balanced whatever the lengths are,
//! and their derivatives are those of scans.

use super::element_counts::{cut_off, plus};
use super::graph::{attribute_to, users};
use super::index::{index_head, index_tail, snoc};
use super::node::Dir;
use super::nodes::At;
use super::primitives::agree_shapes;
use super::{
    Acc, Exp, IntoShape, ToExp, backpermute, cond, fill, fold, generate, imap, map, permute, scanl, scanl1, scanr1,
    shape, the, zip_min,
};
use crate::array::{Array, Vector};
use crate::repr::Agreement;
use crate::types::{Elt, Shape, Snoc};
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;

/// The segments of a row.
#[derive(Clone, Copy)]
struct Segments {
    /// The position where each segment starts, and the length of the row.
    starts: Acc<Vector<i64>>,
    /// For each position the segment that contains it.
    numbers: Acc<Vector<i64>>,
}

impl Segments {
    /// The segments of these lengths, which must fill the innermost rows of `xs`.
    fn new<Sh: Shape, T: Elt>(site: (&'static str, At), lengths: Acc<Vector<i64>>, xs: Arr<Snoc<Sh>, T>) -> Segments {
        let least = the(fold(|x, y| x.min(y), 0i64, lengths));
        let sum = fold(plus, 0i64, map(cut_off, lengths));
        let total = cond::<i64>(least.lt(0), least, the(sum));
        let lengths = agree_shapes(site, Agreement::Segments, total.into_shape(), shape(xs), lengths);
        Segments::starting(scanl(|x, y| x + y, 0i64, lengths), index_head(shape(xs)))
    }

    /// The segments that start at these positions, in a row of length `n`.
    fn starting(starts: Acc<Vector<i64>>, n: Exp<i64>) -> Segments {
        // Where empty segments start, another one starts that is not empty, or the row ends.
        let one = fill(starts.shape() - 1, 1i64);
        let started = permute(|x, y| x + y, fill(n, 0i64), |k| (starts.at(k).lt(n), starts.at(k)), one);
        Segments { starts, numbers: map(|count| count - 1, scanl1(|x, y| x + y, started)) }
    }

    /// The segments with one more element each.
    fn longer(self) -> Segments {
        let n = self.numbers.shape() + self.count();
        Segments::starting(imap(|k, start| start + k, self.starts), n)
    }

    fn count(self) -> Exp<i64> {
        self.starts.shape() - 1
    }

    fn number(self, position: Exp<i64>) -> Exp<i64> {
        self.numbers.at(position)
    }

    fn is_first(self, position: Exp<i64>) -> Exp<bool> {
        position.eq(self.starts.at(self.number(position)))
    }

    fn is_last(self, position: Exp<i64>) -> Exp<bool> {
        (position + 1).eq(self.starts.at(self.number(position) + 1))
    }

    /// The last element of each segment. An empty segment has none, which is an index out of bounds.
    fn lasts<Sh: Shape, T: Elt>(self, xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
        let last = |k: Exp<i64>| {
            let (start, end) = (self.starts.at(k), self.starts.at(k + 1));
            cond::<i64>(start.lt(end), end - 1, -1i64)
        };
        elements(self.count(), last, xs)
    }

    /// The partial results of folding each segment.
    fn scan<Sh: Shape, T: Elt, R: ToExp<T>>(
        self,
        dir: Dir,
        f: impl FnOnce(T::Exp, T::Exp) -> R,
        xs: Arr<Snoc<Sh>, T>,
    ) -> Arr<Snoc<Sh>, T> {
        let flags = generate(shape(xs), |ix| {
            let position = index_head(ix.into_shape());
            match dir {
                Dir::Left => self.is_first(position),
                Dir::Right => self.is_last(position),
            }
        });
        let flagged = zip_min(flags, xs);
        let scanned = match dir {
            Dir::Left => scanl1(|(p, x), (q, y)| (p | q, cond::<T>(q, y, users(|| f(x, y)))), flagged),
            Dir::Right => scanr1(|(p, x), (q, y)| (p | q, cond::<T>(p, x, users(|| f(x, y)))), flagged),
        };
        map(|(_, x)| x, scanned)
    }
}

/// In each innermost row, the elements at the positions that `from` computes of the positions in the result, whose
/// innermost extent is `n`.
#[track_caller]
fn elements<Sh: Shape, T: Elt>(
    n: Exp<i64>,
    from: impl FnOnce(Exp<i64>) -> Exp<i64>,
    xs: Arr<Snoc<Sh>, T>,
) -> Arr<Snoc<Sh>, T> {
    let source = |ix: <Snoc<Sh> as Shape>::Index| {
        let ix = ix.into_shape();
        snoc(index_tail(ix), from(index_head(ix)))
    };
    backpermute(snoc(index_tail(shape(xs)), n), source, xs)
}

/// All partial results of folding each segment, starting with `z`, and the segments of these results.
#[track_caller]
fn partial_results<Sh: Shape, T: Elt, R: ToExp<T>>(
    segments: Segments,
    dir: Dir,
    f: impl FnOnce(T::Exp, T::Exp) -> R,
    z: Exp<T>,
    xs: Arr<Snoc<Sh>, T>,
) -> (Segments, Arr<Snoc<Sh>, T>) {
    let longer = segments.longer();
    (longer, longer.scan(dir, f, extended(longer, dir, z, xs)))
}

/// The elements of `xs`, and in each of the segments `longer` one more element `z`: the first one (`Left`) or the last one
/// (`Right`).
#[track_caller]
fn extended<Sh: Shape, T: Elt>(longer: Segments, dir: Dir, z: Exp<T>, xs: Arr<Snoc<Sh>, T>) -> Arr<Snoc<Sh>, T> {
    generate(snoc(index_tail(shape(xs)), longer.numbers.shape()), |ix| {
        let ix = ix.into_shape();
        let position = index_head(ix);
        let added = longer.number(position);
        let element = |before: Exp<i64>| xs.at(snoc(index_tail(ix), position - before));
        match dir {
            Dir::Left => cond::<T>(longer.is_first(position), z, element(added + 1)),
            Dir::Right => cond::<T>(longer.is_last(position), z, element(added)),
        }
    })
}

/// Folds each segment of each innermost row with the associative function `f` and the initial value `z`. `lengths` are
/// the lengths of the segments, which are the same in all rows; the result has an element for each segment. An empty
/// segment gives `z`. A negative length, and lengths whose sum is not the innermost extent of `xs`, are an error when the
/// program runs.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let program = afun(|lengths: Acc<Vector<i64>>, xs: Acc<Vector<f64>>| fold_seg(|x, y| x + y, 0.5, lengths, xs));
/// let (lengths, xs) = (Array::vector(vec![3, 0, 1]), Array::vector(vec![1.0, 2.0, 3.0, 4.0]));
/// assert_eq!(run_with(&Interpreter, &program, (&lengths, &xs))?.as_slice(), [6.5, 0.5, 4.5]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn fold_seg<Sh: Shape, T: Elt, R: ToExp<T>>(
    f: impl Fn(T::Exp, T::Exp) -> R,
    z: impl ToExp<T>,
    lengths: Acc<Vector<i64>>,
    xs: Arr<Snoc<Sh>, T>,
) -> Arr<Snoc<Sh>, T> {
    let site = ("fold_seg", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let (z, segments) = (z.to_exp(), Segments::new(site, lengths, xs));
    let partial = segments.scan(Dir::Left, &f, xs);
    generate(snoc(index_tail(shape(xs)), segments.count()), |ix| {
        let ix = ix.into_shape();
        let k = index_head(ix);
        let (start, end) = (segments.starts.at(k), segments.starts.at(k + 1));
        let all = || users(|| f(T::unlift(z), partial.at(snoc(index_tail(ix), end - 1))));
        cond::<T>(start.lt(end), all(), z)
    })
}

/// As [`fold_seg`], without an initial value. An empty segment is an error when the program runs.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let program = afun(|lengths: Acc<Vector<i64>>, xs: Acc<Vector<f64>>| fold1_seg(|x, y| x.max(y), lengths, xs));
/// let (lengths, xs) = (Array::vector(vec![3, 1]), Array::vector(vec![1.0, 2.0, 3.0, 4.0]));
/// assert_eq!(run_with(&Interpreter, &program, (&lengths, &xs))?.as_slice(), [3.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn fold1_seg<Sh: Shape, T: Elt, R: ToExp<T>>(
    f: impl FnOnce(T::Exp, T::Exp) -> R,
    lengths: Acc<Vector<i64>>,
    xs: Arr<Snoc<Sh>, T>,
) -> Arr<Snoc<Sh>, T> {
    let site = ("fold1_seg", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let segments = Segments::new(site, lengths, xs);
    segments.lasts(segments.scan(Dir::Left, f, xs))
}

/// All partial results of folding each segment of each innermost row from the left, starting with `z`: n + 1 elements for
/// a segment of length n, so the innermost extent of the result is that of `xs` and the number of segments together. `f`
/// must be associative. Lengths and errors are those of [`fold_seg`].
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let program = afun(|lengths: Acc<Vector<i64>>, xs: Acc<Vector<f64>>| scanl_seg(|x, y| x + y, 0.0, lengths, xs));
/// let (lengths, xs) = (Array::vector(vec![3, 0, 1]), Array::vector(vec![1.0, 2.0, 3.0, 4.0]));
/// assert_eq!(run_with(&Interpreter, &program, (&lengths, &xs))?.as_slice(), [0.0, 1.0, 3.0, 6.0, 0.0, 0.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn scanl_seg<Sh: Shape, T: Elt, R: ToExp<T>>(
    f: impl FnOnce(T::Exp, T::Exp) -> R,
    z: impl ToExp<T>,
    lengths: Acc<Vector<i64>>,
    xs: Arr<Snoc<Sh>, T>,
) -> Arr<Snoc<Sh>, T> {
    let site = ("scanl_seg", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let segments = Segments::new(site, lengths, xs);
    partial_results(segments, Dir::Left, f, z.to_exp(), xs).1
}

/// Like [`scanl_seg`], but from the right: `z` is the last of n + 1 elements.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let program = afun(|lengths: Acc<Vector<i64>>, xs: Acc<Vector<f64>>| scanr_seg(|x, y| x + y, 0.0, lengths, xs));
/// let (lengths, xs) = (Array::vector(vec![3, 0, 1]), Array::vector(vec![1.0, 2.0, 3.0, 4.0]));
/// assert_eq!(run_with(&Interpreter, &program, (&lengths, &xs))?.as_slice(), [6.0, 5.0, 3.0, 0.0, 0.0, 4.0, 0.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn scanr_seg<Sh: Shape, T: Elt, R: ToExp<T>>(
    f: impl FnOnce(T::Exp, T::Exp) -> R,
    z: impl ToExp<T>,
    lengths: Acc<Vector<i64>>,
    xs: Arr<Snoc<Sh>, T>,
) -> Arr<Snoc<Sh>, T> {
    let site = ("scanr_seg", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let segments = Segments::new(site, lengths, xs);
    partial_results(segments, Dir::Right, f, z.to_exp(), xs).1
}

/// All partial results of folding each segment of each innermost row from the left, without an initial value; the shape
/// does not change. `f` must be associative. Lengths and errors are those of [`fold_seg`].
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let program = afun(|lengths: Acc<Vector<i64>>, xs: Acc<Vector<f64>>| scanl1_seg(|x, y| x + y, lengths, xs));
/// let (lengths, xs) = (Array::vector(vec![3, 0, 1]), Array::vector(vec![1.0, 2.0, 3.0, 4.0]));
/// assert_eq!(run_with(&Interpreter, &program, (&lengths, &xs))?.as_slice(), [1.0, 3.0, 6.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn scanl1_seg<Sh: Shape, T: Elt, R: ToExp<T>>(
    f: impl FnOnce(T::Exp, T::Exp) -> R,
    lengths: Acc<Vector<i64>>,
    xs: Arr<Snoc<Sh>, T>,
) -> Arr<Snoc<Sh>, T> {
    let site = ("scanl1_seg", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let segments = Segments::new(site, lengths, xs);
    segments.scan(Dir::Left, f, xs)
}

/// Like [`scanl1_seg`], but from the right.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let program = afun(|lengths: Acc<Vector<i64>>, xs: Acc<Vector<f64>>| scanr1_seg(|x, y| x + y, lengths, xs));
/// let (lengths, xs) = (Array::vector(vec![3, 0, 1]), Array::vector(vec![1.0, 2.0, 3.0, 4.0]));
/// assert_eq!(run_with(&Interpreter, &program, (&lengths, &xs))?.as_slice(), [6.0, 5.0, 3.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn scanr1_seg<Sh: Shape, T: Elt, R: ToExp<T>>(
    f: impl FnOnce(T::Exp, T::Exp) -> R,
    lengths: Acc<Vector<i64>>,
    xs: Arr<Snoc<Sh>, T>,
) -> Arr<Snoc<Sh>, T> {
    let site = ("scanr1_seg", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let segments = Segments::new(site, lengths, xs);
    segments.scan(Dir::Right, f, xs)
}

/// For each element, the partial result of [`scanl_seg`] before it, and for each segment the total, as in [`fold_seg`]. The
/// first array has the shape of `xs`. Accelerate calls it `scanl'Seg`.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let program = afun(|lengths: Acc<Vector<i64>>, xs: Acc<Vector<f64>>| scanl_ex_seg(|x, y| x + y, 0.0, lengths, xs));
/// let (lengths, xs) = (Array::vector(vec![3, 0, 1]), Array::vector(vec![1.0, 2.0, 3.0, 4.0]));
/// let (before, totals) = run_with(&Interpreter, &program, (&lengths, &xs))?;
/// assert_eq!(before.as_slice(), [0.0, 1.0, 3.0, 0.0]);
/// assert_eq!(totals.as_slice(), [6.0, 0.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn scanl_ex_seg<Sh: Shape, T: Elt, R: ToExp<T>>(
    f: impl FnOnce(T::Exp, T::Exp) -> R,
    z: impl ToExp<T>,
    lengths: Acc<Vector<i64>>,
    xs: Arr<Snoc<Sh>, T>,
) -> (Arr<Snoc<Sh>, T>, Arr<Snoc<Sh>, T>) {
    let site = ("scanl_ex_seg", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let segments = Segments::new(site, lengths, xs);
    let (longer, partial) = partial_results(segments, Dir::Left, f, z.to_exp(), xs);
    let before = elements(index_head(shape(xs)), |i| i + segments.number(i), partial);
    (before, longer.lasts(partial))
}

/// For each element, the partial result of [`scanr_seg`] after it, and for each segment the total. The first array has the
/// shape of `xs`. Accelerate calls it `scanr'Seg`.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let program = afun(|lengths: Acc<Vector<i64>>, xs: Acc<Vector<f64>>| scanr_ex_seg(|x, y| x + y, 0.0, lengths, xs));
/// let (lengths, xs) = (Array::vector(vec![3, 0, 1]), Array::vector(vec![1.0, 2.0, 3.0, 4.0]));
/// let (after, totals) = run_with(&Interpreter, &program, (&lengths, &xs))?;
/// assert_eq!(after.as_slice(), [5.0, 3.0, 0.0, 0.0]);
/// assert_eq!(totals.as_slice(), [6.0, 0.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn scanr_ex_seg<Sh: Shape, T: Elt, R: ToExp<T>>(
    f: impl FnOnce(T::Exp, T::Exp) -> R,
    z: impl ToExp<T>,
    lengths: Acc<Vector<i64>>,
    xs: Arr<Snoc<Sh>, T>,
) -> (Arr<Snoc<Sh>, T>, Arr<Snoc<Sh>, T>) {
    let site = ("scanr_ex_seg", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let segments = Segments::new(site, lengths, xs);
    let (longer, partial) = partial_results(segments, Dir::Right, f, z.to_exp(), xs);
    let after = elements(index_head(shape(xs)), |i| i + segments.number(i) + 1, partial);
    let totals = elements(segments.count(), |k| longer.starts.at(k), partial);
    (after, totals)
}
