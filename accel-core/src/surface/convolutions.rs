//! Convolutions of signals and images with several channels, as sums of products; the compiler makes products of matrices of them.

use super::graph::attribute_to;
use super::index::{components, from_components};
use super::nodes::At;
use super::primitives::{agree_shapes, bounded, failed};
use super::{Acc, Exp, IntoShape, ToExp, constant, fill, generate, permute, reshape, shape, sum};
use crate::array::Array;
use crate::repr::{Agreement, MAX_EXTENT};
use crate::types::{Dim3, Dim4, Dim5, Num, Shape, Snoc};
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;
type N = Exp<i64>;

/// The order of the dimensions of a convolution.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Layout {
    /// Images of the form [image, channel, row, column], weights [channel of the result, channel, row, column], as in PyTorch.
    #[default]
    ChannelsFirst,
    /// Images of the form [image, row, column, channel], weights [row, column, channel, channel of the result], as in TensorFlow.
    ChannelsLast,
}

type Four = (N, N, N, N);
impl Layout {
    fn images(self, [n, c, i, j]: [N; 4]) -> Four {
        match self {
            Layout::ChannelsFirst => (n, c, i, j),
            Layout::ChannelsLast => (n, i, j, c),
        }
    }
    fn weights(self, [o, c, k, l]: [N; 4]) -> Four {
        match self {
            Layout::ChannelsFirst => (o, c, k, l),
            Layout::ChannelsLast => (k, l, c, o),
        }
    }
    /// The extents of images in the order of the arguments of `images`.
    fn channels_second(self, (a, b, c, d): Four) -> [N; 4] {
        match self {
            Layout::ChannelsFirst => [a, b, c, d],
            Layout::ChannelsLast => [a, d, b, c],
        }
    }
    /// The extents of weights in the order of the arguments of `weights`.
    fn outputs_first(self, (a, b, c, d): Four) -> [N; 4] {
        match self {
            Layout::ChannelsFirst => [a, b, c, d],
            Layout::ChannelsLast => [d, c, a, b],
        }
    }
}

/// How a convolution over `D` dimensions moves: `Conv { padding: [1, 1], ..Conv::default() }`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conv<const D: usize> {
    /// The distance between the places of the weights, at least 1, in each dimension. 1 by default.
    pub stride: [i64; D],
    /// The number of zeros before and after each dimension. 0 by default.
    pub padding: [i64; D],
    /// The number of groups of channels: the channels of a group in the result depend on those of this group only. 1 by default.
    pub groups: i64,
    /// The order of the dimensions. [`Layout::ChannelsFirst`] by default.
    pub layout: Layout,
}

impl<const D: usize> Default for Conv<D> {
    fn default() -> Self {
        Conv { stride: [1; D], padding: [0; D], groups: 1, layout: Layout::default() }
    }
}

/// The convolution of images by weights (as everywhere in machine learning, the weights are not turned round): in PyTorch,
/// `conv2d(images, weights, ..)`, in JAX `lax.conv_general_dilated`. An extent n of the images gives (n + 2 padding - extent of the
/// weights) / stride + 1 places, rounded down. [`Layout`] says the shapes.
///
/// Images that do not have the channels of the weights are an error when the program runs, and so are channels that the groups do not
/// divide, and weights that are larger than the padded images; a stride, padding or number of groups that is too small or too large is an
/// error when the program is built.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// type Four = Acc<Array<Dim4, f64>>;
/// let edges = afun(|weights: Four, images: Four| {
///     conv2d(Conv { padding: [0, 1], ..Conv::default() }, weights, images)
/// });
/// let weights = Array::from_vec([1, 1, 1, 3], vec![-1.0, 0.0, 1.0])?;
/// let images = Array::from_vec([1, 1, 1, 4], vec![1.0, 2.0, 4.0, 8.0])?;
/// assert_eq!(run_with(&Interpreter, &edges, (&weights, &images))?.as_slice(), [2.0, 3.0, 6.0, -4.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn conv2d<T: Num>(conv: Conv<2>, weights: Arr<Dim4, T>, images: Arr<Dim4, T>) -> Arr<Dim4, T> {
    let site = ("conv2d", Location::caller());
    let _site = attribute_to(site.0, site.1);
    match checked(site, conv, weights, images) {
        Ok((weights, images)) => convolution(conv, weights, images),
        Err(failed) => failed,
    }
}

/// Weights and images after a check of their shapes, which are those that the user wrote; or an array with an error.
fn checked<Sh: Shape, T: Num, const D: usize>(
    site: (&'static str, At),
    conv: Conv<D>,
    weights: Arr<Sh, T>,
    images: Arr<Sh, T>,
) -> Result<(Arr<Sh, T>, Arr<Sh, T>), Arr<Sh, T>> {
    let are_at_least = |least: i64, all: &[i64]| all.iter().all(|n| (least..=MAX_EXTENT as i64).contains(n));
    if !are_at_least(1, &conv.stride) || !are_at_least(0, &conv.padding) || !are_at_least(1, &[conv.groups]) {
        let expected = format!("strides and groups of at least 1, and paddings of at least 0, up to {MAX_EXTENT}");
        return Err(failed(site, expected, format!("{conv:?}")));
    }
    // The channels of images, and their first place; of weights, the channels of the result, those of a group, and the first place.
    let ([channels, place], [outputs, per_group, first]) = match conv.layout {
        Layout::ChannelsFirst => ([1, 2], [0, 1, 2]),
        Layout::ChannelsLast => ([D + 1, 1], [D + 1, D, 0]),
    };
    let (extents, of_weights) = (components(shape(images)), components(shape(weights)));
    let mut expected = extents.clone();
    expected[channels] = of_weights[per_group] * conv.groups;
    let images = agree_shapes(site, Agreement::All, from_components::<Sh>(&expected), shape(images), images);
    let mut expected = of_weights.clone();
    expected[outputs] = of_weights[outputs] / conv.groups * conv.groups;
    let weights = agree_shapes(site, Agreement::All, from_components::<Sh>(&expected), shape(weights), weights);
    let most = |k: usize| match k.checked_sub(first).filter(|d| *d < D) {
        Some(d) => extents[place + d] + 2 * conv.padding[d],
        None => of_weights[k],
    };
    Ok((bounded::<Sh, _, _>(site, &of_weights, |k| (of_weights[k], most(k)), weights), images))
}

/// The convolution of images by weights whose shapes fit together.
#[track_caller]
fn convolution<T: Num>(conv: Conv<2>, weights: Arr<Dim4, T>, images: Arr<Dim4, T>) -> Arr<Dim4, T> {
    let [images_n, _, rows, columns] = conv.layout.channels_second(images.shape());
    let [outputs, per_group, height, width] = conv.layout.outputs_first(weights.shape());
    let in_group = outputs / conv.groups;
    let [p, q] = conv.padding;
    let images = match conv.layout {
        _ if conv.padding == [0, 0] => images,
        Layout::ChannelsFirst => with_zeros((0, 0, p, q), images),
        Layout::ChannelsLast => with_zeros((0, p, q, 0), images),
    };
    let places = |n: N, d: usize, extent: N| (n + (2 * conv.padding[d] + conv.stride[d]) - extent) / conv.stride[d];
    let (rows, columns) = (places(rows, 0, height), places(columns, 1, width));
    let term = |n: N, g: Option<N>, [o, i, j, c, k, l]: [N; 6]| {
        let place = |i: N, d: usize, k: N| i * conv.stride[d] + k;
        let behind = |i: N, extent: N| g.map_or(i, |g| g * extent + i);
        let image = conv.layout.images([n, behind(c, per_group), place(i, 0, k), place(j, 1, l)]);
        images.at(image) * weights.at(conv.layout.weights([behind(o, in_group), c, k, l]))
    };
    match (conv.layout, conv.groups) {
        (Layout::ChannelsFirst, 1) => {
            let extents = [images_n, outputs, rows, columns, per_group, height, width];
            sums(&extents, |[n, o, i, j, c, k, l]: [N; 7]| term(n, None, [o, i, j, c, k, l]))
        }
        (Layout::ChannelsLast, 1) => {
            let extents = [images_n, rows, columns, outputs, height, width, per_group];
            sums(&extents, |[n, i, j, o, k, l, c]: [N; 7]| term(n, None, [o, i, j, c, k, l]))
        }
        (Layout::ChannelsFirst, groups) => {
            let extents = [images_n, groups.to_exp(), in_group, rows, columns, per_group, height, width];
            let sums: Arr<Dim5, T> =
                sums(&extents, |[n, g, o, i, j, c, k, l]: [N; 8]| term(n, Some(g), [o, i, j, c, k, l]));
            reshape((images_n, outputs, rows, columns), sums)
        }
        (Layout::ChannelsLast, groups) => {
            let extents = [images_n, rows, columns, groups.to_exp(), in_group, height, width, per_group];
            let sums: Arr<Dim5, T> =
                sums(&extents, |[n, i, j, g, o, k, l, c]: [N; 8]| term(n, Some(g), [o, i, j, c, k, l]));
            reshape((images_n, rows, columns, outputs), sums)
        }
    }
}

/// The convolution of signals by weights: as [`conv2d`] with one dimension. Signals have the form [signal, channel, place] and weights
/// [channel of the result, channel, place], or [signal, place, channel] and [place, channel, channel of the result].
#[track_caller]
pub fn conv1d<T: Num>(conv: Conv<1>, weights: Arr<Dim3, T>, signals: Arr<Dim3, T>) -> Arr<Dim3, T> {
    let site = ("conv1d", Location::caller());
    let _site = attribute_to(site.0, site.1);
    let (weights, signals) = match checked(site, conv, weights, signals) {
        Ok(checked) => checked,
        Err(failed) => return failed,
    };
    let Conv { stride: [s], padding: [p], groups, layout } = conv;
    let conv = Conv { stride: [1, s], padding: [0, p], groups, layout };
    match layout {
        Layout::ChannelsFirst => {
            convolution(conv, weights.expand_dims::<2>(), signals.expand_dims::<2>()).squeeze::<2>()
        }
        Layout::ChannelsLast => {
            convolution(conv, weights.expand_dims::<0>(), signals.expand_dims::<1>()).squeeze::<1>()
        }
    }
}

/// The sums along the three innermost dimensions of the terms that `f` gives for indices below these extents.
#[track_caller]
fn sums<Sh: Shape, T: Num, const R: usize>(extents: &[N; R], f: impl FnOnce([N; R]) -> Exp<T>) -> Arr<Sh, T> {
    let sh = from_components::<Snoc<Snoc<Snoc<Sh>>>>(extents);
    sum(sum(sum(generate(sh, |ix| {
        let ix = components(ix.into_shape());
        f(std::array::from_fn(|k| ix[k]))
    }))))
}

/// The array with this number of zeros on both sides of each dimension.
///
/// NOTE [Zeros around images]: the images are added to an array of zeros. A [`pad`](super::pad) would be read through a decision by each
/// term of the sums, which would be no product of matrices any more: 80 times slower.
#[track_caller]
fn with_zeros<T: Num>(at: (i64, i64, i64, i64), xs: Arr<Dim4, T>) -> Arr<Dim4, T> {
    let ((a, b, c, d), (n, m, p, q)) = (at, xs.shape());
    let zeros = fill((n + 2 * a, m + 2 * b, p + 2 * c, q + 2 * d), constant(T::zero()));
    permute(|x, y| x + y, zeros, |(i, j, k, l)| (true, (i + a, j + b, k + c, l + d)), xs)
}
