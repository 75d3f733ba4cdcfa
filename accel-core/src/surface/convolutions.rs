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

pub(super) type Four = (N, N, N, N);
impl Layout {
    pub(super) fn images(self, [n, c, i, j]: [N; 4]) -> Four {
        match self {
            Layout::ChannelsFirst => (n, c, i, j),
            Layout::ChannelsLast => (n, i, j, c),
        }
    }
    pub(super) fn weights(self, [o, c, k, l]: [N; 4]) -> Four {
        match self {
            Layout::ChannelsFirst => (o, c, k, l),
            Layout::ChannelsLast => (k, l, c, o),
        }
    }
    /// The extents of images in the order of the arguments of `images`.
    pub(super) fn channels_second(self, (a, b, c, d): Four) -> [N; 4] {
        match self {
            Layout::ChannelsFirst => [a, b, c, d],
            Layout::ChannelsLast => [a, d, b, c],
        }
    }
    /// The extents of weights in the order of the arguments of `weights`.
    pub(super) fn outputs_first(self, (a, b, c, d): Four) -> [N; 4] {
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
    /// The number of zeros after each dimension, if it is another one than before. `None` by default.
    pub padding_after: Option<[i64; D]>,
    /// The distance between the elements of the images that neighbours among the weights meet, at least 1, in each dimension. 1 by default.
    pub dilation: [i64; D],
    /// The number of groups of channels: the channels of a group in the result depend on those of this group only. 1 by default.
    pub groups: i64,
    /// The order of the dimensions. [`Layout::ChannelsFirst`] by default.
    pub layout: Layout,
}

impl<const D: usize> Default for Conv<D> {
    fn default() -> Self {
        Conv {
            stride: [1; D],
            padding: [0; D],
            padding_after: None,
            dilation: [1; D],
            groups: 1,
            layout: Layout::default(),
        }
    }
}

impl<const D: usize> Conv<D> {
    fn after(&self, d: usize) -> i64 {
        self.padding_after.map_or(self.padding[d], |after| after[d])
    }
    /// The number of zeros before and after a dimension.
    pub(super) fn zeros(&self, d: usize) -> i64 {
        self.padding[d] + self.after(d)
    }
    /// The extent of the part of an image that weights of this extent meet.
    pub(super) fn reach(&self, d: usize, extent: N) -> N {
        if self.dilation[d] == 1 { extent } else { (extent - 1) * self.dilation[d] + 1 }
    }
    /// The largest extent of weights that meet only this many places.
    fn most(&self, d: usize, places: N) -> N {
        if self.dilation[d] == 1 { places } else { (places + (self.dilation[d] - 1)) / self.dilation[d] }
    }
    /// The dimensions of the channels of images, and the first one of places.
    fn of_images(&self) -> (usize, usize) {
        match self.layout {
            Layout::ChannelsFirst => (1, 2),
            Layout::ChannelsLast => (D + 1, 1),
        }
    }
    /// The dimensions of weights: the channels of the result, those of a group, and the first one of places.
    fn of_weights(&self) -> (usize, usize, usize) {
        match self.layout {
            Layout::ChannelsFirst => (0, 1, 2),
            Layout::ChannelsLast => (D + 1, D, 0),
        }
    }
    /// What is wrong with the numbers, if anything is.
    fn mistake(&self) -> Option<String> {
        let are_at_least = |least: i64, all: &[i64]| all.iter().all(|n| (least..=MAX_EXTENT as i64).contains(n));
        let after = self.padding_after.unwrap_or(self.padding);
        let is_right = are_at_least(1, &self.stride)
            && are_at_least(1, &self.dilation)
            && are_at_least(1, &[self.groups])
            && are_at_least(0, &self.padding)
            && are_at_least(0, &after);
        let expected = "strides, dilations and groups of at least 1, and paddings of at least 0, up to";
        (!is_right).then(|| format!("{expected} {MAX_EXTENT}"))
    }
}

/// The convolution of images by weights (as everywhere in machine learning, the weights are not turned round): in PyTorch,
/// `conv2d(images, weights, ..)`, in JAX `lax.conv_general_dilated`. An extent n of the images gives (n + zeros - r) / stride + 1 places,
/// rounded down, where r = dilation (extent of the weights - 1) + 1, and the zeros are those before and after. [`Layout`] says the shapes.
///
/// Images that do not have the channels of the weights are an error when the program runs, and so are channels that the groups do not
/// divide, and weights that are larger than the padded images; a stride, dilation, padding or number of groups that is too small or too
/// large is an error when the program is built.
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
    if let Some(expected) = conv.mistake() {
        return Err(failed(site, expected, format!("{conv:?}")));
    }
    let ((channels, place), (_, per_group, first)) = (conv.of_images(), conv.of_weights());
    let (extents, of_weights) = (components(shape(images)), components(shape(weights)));
    let mut expected = extents.clone();
    expected[channels] = of_weights[per_group] * conv.groups;
    let images = agree_shapes(site, Agreement::All, from_components::<Sh>(&expected), shape(images), images);
    let weights = groups_divide(site, conv, weights);
    let most = |k: usize| match k.checked_sub(first).filter(|d| *d < D) {
        Some(d) => conv.most(d, extents[place + d] + conv.zeros(d)),
        None => of_weights[k],
    };
    Ok((bounded::<Sh, _, _>(site, &of_weights, |k| (of_weights[k], most(k)), weights), images))
}

/// As [`checked`], for images of the form of results.
pub(super) fn checked_as_results<Sh: Shape, T: Num, const D: usize>(
    site: (&'static str, At),
    conv: Conv<D>,
    weights: Arr<Sh, T>,
    images: Arr<Sh, T>,
) -> Result<(Arr<Sh, T>, Arr<Sh, T>), Arr<Sh, T>> {
    if let Some(expected) = conv.mistake() {
        return Err(failed(site, expected, format!("{conv:?}")));
    }
    let ((channels, _), (outputs, ..)) = (conv.of_images(), conv.of_weights());
    let of_weights = components(shape(weights));
    let mut expected = components(shape(images));
    expected[channels] = of_weights[outputs];
    let images = agree_shapes(site, Agreement::All, from_components::<Sh>(&expected), shape(images), images);
    Ok((groups_divide(site, conv, weights), images))
}

/// Weights with a check that the groups divide the channels of the result.
fn groups_divide<Sh: Shape, T: Num, const D: usize>(
    site: (&'static str, At),
    conv: Conv<D>,
    weights: Arr<Sh, T>,
) -> Arr<Sh, T> {
    let (outputs, ..) = conv.of_weights();
    let mut expected = components(shape(weights));
    expected[outputs] = expected[outputs] / conv.groups * conv.groups;
    agree_shapes(site, Agreement::All, from_components::<Sh>(&expected), shape(weights), weights)
}

/// The convolution of images by weights whose shapes fit together.
#[track_caller]
pub(super) fn convolution<T: Num>(conv: Conv<2>, weights: Arr<Dim4, T>, images: Arr<Dim4, T>) -> Arr<Dim4, T> {
    let [images_n, _, rows, columns] = conv.layout.channels_second(images.shape());
    let [outputs, per_group, height, width] = conv.layout.outputs_first(weights.shape());
    let in_group = outputs / conv.groups;
    let images = with_zeros(conv, images);
    let places =
        |n: N, d: usize, extent: N| (n + (conv.zeros(d) + conv.stride[d]) - conv.reach(d, extent)) / conv.stride[d];
    let (rows, columns) = (places(rows, 0, height), places(columns, 1, width));
    let term = |n: N, g: Option<N>, [o, i, j, c, k, l]: [N; 6]| {
        let place =
            |i: N, d: usize, k: N| i * conv.stride[d] + if conv.dilation[d] == 1 { k } else { k * conv.dilation[d] };
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
    let layout = conv.layout;
    let (weights, signals) = in_two_dimensions(layout, weights, signals);
    in_one_dimension(layout, convolution(conv.in_two_dimensions(), weights, signals))
}

impl Conv<1> {
    /// The same for images of one row.
    pub(super) fn in_two_dimensions(self) -> Conv<2> {
        let Conv { stride: [s], padding: [p], padding_after, dilation: [d], groups, layout } = self;
        let padding_after = padding_after.map(|[after]| [0, after]);
        Conv { stride: [1, s], padding: [0, p], padding_after, dilation: [1, d], groups, layout }
    }
}

/// Weights and signals as those of images of one row.
#[track_caller]
pub(super) fn in_two_dimensions<T: Num>(
    layout: Layout,
    weights: Arr<Dim3, T>,
    signals: Arr<Dim3, T>,
) -> (Arr<Dim4, T>, Arr<Dim4, T>) {
    match layout {
        Layout::ChannelsFirst => (weights.expand_dims::<2>(), signals.expand_dims::<2>()),
        Layout::ChannelsLast => (weights.expand_dims::<0>(), signals.expand_dims::<1>()),
    }
}

/// Images of one row as signals.
#[track_caller]
pub(super) fn in_one_dimension<T: Num>(layout: Layout, images: Arr<Dim4, T>) -> Arr<Dim3, T> {
    match layout {
        Layout::ChannelsFirst => images.squeeze::<2>(),
        Layout::ChannelsLast => images.squeeze::<1>(),
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

/// The images with zeros around them.
///
/// NOTE [Zeros around images]: the images are added to an array of zeros. A [`pad`](super::pad) would be read through a decision by each
/// term of the sums, which would be no product of matrices any more: 80 times slower.
#[track_caller]
fn with_zeros<T: Num>(conv: Conv<2>, images: Arr<Dim4, T>) -> Arr<Dim4, T> {
    let ([p, q], [r, s]) = (conv.padding, [conv.zeros(0), conv.zeros(1)]);
    if [r, s] == [0, 0] {
        return images;
    }
    let ((a, b, c, d), (before, zeros)) = match conv.layout {
        Layout::ChannelsFirst => (images.shape(), ((0, 0, p, q), (0, 0, r, s))),
        Layout::ChannelsLast => (images.shape(), ((0, p, q, 0), (0, r, s, 0))),
    };
    let around = fill((a + zeros.0, b + zeros.1, c + zeros.2, d + zeros.3), constant(T::zero()));
    let place = |(a, b, c, d): Four| (true, (a + before.0, b + before.1, c + before.2, d + before.3));
    permute(|x, y| x + y, around, place, images)
}
