//! Pooling: the largest elements and the means of windows of images.

use super::convolutions::Layout;
use super::graph::attribute_to;
use super::index::{components, from_components};
use super::nodes::At;
use super::primitives::{bounded, failed};
use super::{Acc, Exp, IntoShape, ToExp, cond, generate, lit, maximum, shape, sum};
use crate::array::Array;
use crate::repr::MAX_EXTENT;
use crate::types::{Dim1, Dim2, Dim3, Dim4, Floating, Num, Shape, Snoc};
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;
type N = Exp<i64>;

/// The windows of pooling over `D` dimensions. The extents of a window are enough, `max_pool([2, 2], images)`: windows lie side by side.
/// Otherwise `Pool { stride: [2, 2], padding: [1, 1], ..Pool::from([3, 3]) }`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pool<const D: usize> {
    /// The extents of a window, at least 1.
    pub window: [i64; D],
    /// The distance between windows, at least 1, in each dimension.
    pub stride: [i64; D],
    /// The number of places before and after each dimension that windows reach, from 0 to below the extent of the window.
    pub padding: [i64; D],
    /// The order of the dimensions. [`Layout::ChannelsFirst`] by default.
    pub layout: Layout,
}

impl<const D: usize> From<[i64; D]> for Pool<D> {
    fn from(window: [i64; D]) -> Self {
        Pool { window, stride: window, padding: [0; D], layout: Layout::default() }
    }
}

/// Shapes of images with `D` dimensions beside those of images and channels: signals, [`Dim3`], have one, and images, [`Dim4`], two.
#[diagnostic::on_unimplemented(
    message = "arrays of shape `{Self}` have no windows of {D} dimensions",
    note = "signals [signal, channel, place] have windows of one dimension, images [image, channel, row, column] of two"
)]
pub trait Windowed<const D: usize> {}
impl Windowed<1> for Dim3 {}
impl Windowed<2> for Dim4 {}

/// The largest element of each window of images or signals. In PyTorch, `max_pool2d(images, ..)`. An extent n gives
/// (n + 2 padding - window) / stride + 1 windows, rounded down. Around the images there is nothing, and NaN do not count, as in
/// [`maximum`](super::maximum). The derivative is that of the element that is chosen, of equal ones the first.
///
/// A window that is larger than the padded images is an error when the program runs; extents, strides and paddings that are too small or
/// too large are one when it is built.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let program = afun(|images: Acc<Array<Dim4, f64>>| (max_pool([1, 2], images), mean_pool([1, 2], images)));
/// let images = Array::from_vec([1, 1, 1, 4], vec![1.0, 3.0, 5.0, 4.0])?;
/// let (largest, means) = run_with(&Interpreter, &program, &images)?;
/// assert_eq!((largest.as_slice(), means.as_slice()), (&[3.0, 5.0][..], &[2.0, 4.5][..]));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn max_pool<Sh: Shape + Windowed<D>, T: Num, const D: usize>(
    pool: impl Into<Pool<D>>,
    images: Arr<Sh, T>,
) -> Arr<Sh, T> {
    pooled(("max_pool", Location::caller()), (maximum, maximum), lit(f64::NEG_INFINITY), pool.into(), images)
}

/// The mean of each window of images or signals: as [`max_pool`] with means. Around the images there are zeros, which count. In PyTorch,
/// `avg_pool2d(images, ..)`.
#[track_caller]
pub fn mean_pool<Sh: Shape + Windowed<D>, T: Floating, const D: usize>(
    pool: impl Into<Pool<D>>,
    images: Arr<Sh, T>,
) -> Arr<Sh, T> {
    let (site, pool) = (("mean_pool", Location::caller()), pool.into());
    let sums = pooled(site, (sum, sum), lit(0.0), pool, images);
    let _site = attribute_to(site.0, site.1);
    sums / lit::<T>(pool.window.iter().product::<i64>() as f64)
}

/// A function of innermost rows.
type OfRows<Sh, T> = fn(Arr<Snoc<Sh>, T>) -> Arr<Sh, T>;

/// The windows of images, each reduced by the functions of rows for the first and for the second dimension of windows.
fn pooled<Sh: Shape, T: Num, const D: usize>(
    site: (&'static str, At),
    (first, second): (OfRows<Sh, T>, OfRows<Snoc<Sh>, T>),
    around: Exp<T>,
    pool: Pool<D>,
    images: Arr<Sh, T>,
) -> Arr<Sh, T> {
    let _site = attribute_to(site.0, site.1);
    if let Some(expected) = pool.mistake() {
        return failed(site, expected, format!("{pool:?}"));
    }
    let extents = components(shape(images));
    let first_place = if pool.layout == Layout::ChannelsFirst { 2 } else { 1 };
    let windows: Vec<N> = pool.window.iter().map(|k| k.to_exp()).collect();
    let bounds = |d: usize| (1i64.to_exp(), extents[first_place + d] + 2 * pool.padding[d]);
    let images = if D == 1 {
        bounded::<Dim1, _, _>(site, &windows, bounds, images)
    } else {
        bounded::<Dim2, _, _>(site, &windows, bounds, images)
    };
    let mut sh = extents.clone();
    for d in 0..D {
        let n = extents[first_place + d] + (2 * pool.padding[d] + pool.stride[d] - pool.window[d]);
        sh[first_place + d] = n / pool.stride[d];
    }
    let element = |ix: Vec<N>| {
        let mut place = ix[..Sh::RANK].to_vec();
        let mut is_inside = true.to_exp();
        for d in 0..D {
            let i = place[first_place + d] * pool.stride[d] + ix[Sh::RANK + d] - pool.padding[d];
            is_inside = is_inside.and(i.ge(0)).and(i.lt(extents[first_place + d]));
            place[first_place + d] = i;
        }
        let element = images.at(from_components::<Sh>(&place)).to_exp();
        if pool.padding == [0; D] { element } else { cond::<T>(is_inside, element, around) }
    };
    sh.extend(&windows);
    match D {
        1 => first(generate(from_components::<Snoc<Sh>>(&sh), |ix| element(components(ix.into_shape())))),
        _ => first(second(generate(from_components::<Snoc<Snoc<Sh>>>(&sh), |ix| element(components(ix.into_shape()))))),
    }
}

impl<const D: usize> Pool<D> {
    /// What is wrong with the numbers, if anything is.
    fn mistake(&self) -> Option<String> {
        let are_at_least = |least: i64, all: &[i64]| all.iter().all(|n| (least..=MAX_EXTENT as i64).contains(n));
        let is_right = are_at_least(1, &self.window)
            && are_at_least(1, &self.stride)
            && are_at_least(0, &self.padding)
            && self.padding.iter().zip(&self.window).all(|(padding, window)| padding < window);
        let expected = "windows and strides of at least 1, and paddings from 0 to below the window, up to";
        (!is_right).then(|| format!("{expected} {MAX_EXTENT}"))
    }
}
