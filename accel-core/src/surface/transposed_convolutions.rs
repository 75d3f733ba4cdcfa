//! Transposed convolutions: the linear maps that are transposed to convolutions by the same weights.

use super::convolutions::{Conv, Four, checked_as_results, convolution, in_one_dimension, in_two_dimensions};
use super::graph::attribute_to;
use super::nodes::At;
use super::{Acc, Exp, backpermute, constant, fill, permute};
use crate::array::Array;
use crate::types::{Dim3, Dim4, Num};
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;
type N = Exp<i64>;

/// The transposed convolution of images by weights: the map that is transposed to [`conv2d`](super::conv2d) with the same weights, as in the
/// derivative of `conv2d` by its images. In PyTorch, `conv_transpose2d(images, weights, ..)`. It turns images of the form of a result of
/// `conv2d` into images of the form of its argument: an extent n gives stride (n - 1) + r - zeros places, where r = dilation (extent of the
/// weights - 1) + 1, the smallest extent of which `conv2d` makes n.
///
/// The images have as many channels as results of `conv2d` by these weights, otherwise the run is an error. The other errors are those of
/// `conv2d`; paddings of which nothing is left are an error when the program runs.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// type Four = Acc<Array<Dim4, f64>>;
/// let wider = afun(|weights: Four, images: Four| {
///     conv2d_transpose(Conv { stride: [1, 2], ..Conv::default() }, weights, images)
/// });
/// let weights = Array::from_vec([1, 1, 1, 3], vec![1.0, 2.0, 1.0])?;
/// let images = Array::from_vec([1, 1, 1, 2], vec![1.0, 10.0])?;
/// assert_eq!(run_with(&Interpreter, &wider, (&weights, &images))?.as_slice(), [1.0, 2.0, 11.0, 20.0, 10.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn conv2d_transpose<T: Num>(conv: Conv<2>, weights: Arr<Dim4, T>, images: Arr<Dim4, T>) -> Arr<Dim4, T> {
    let site = ("conv2d_transpose", Location::caller());
    let _site = attribute_to(site.0, site.1);
    match checked_as_results(site, conv, weights, images) {
        Ok((weights, images)) => transposed(conv, weights, images),
        Err(failed) => failed,
    }
}

/// The transposed convolution of signals by weights: as [`conv2d_transpose`] with one dimension. The forms are those of
/// [`conv1d`](super::conv1d).
#[track_caller]
pub fn conv1d_transpose<T: Num>(conv: Conv<1>, weights: Arr<Dim3, T>, signals: Arr<Dim3, T>) -> Arr<Dim3, T> {
    let site: (&'static str, At) = ("conv1d_transpose", Location::caller());
    let _site = attribute_to(site.0, site.1);
    match checked_as_results(site, conv, weights, signals) {
        Ok((weights, signals)) => {
            let (weights, signals) = in_two_dimensions(conv.layout, weights, signals);
            in_one_dimension(conv.layout, transposed(conv.in_two_dimensions(), weights, signals))
        }
        Err(failed) => failed,
    }
}

/// A convolution by the weights turned round, of images with zeros between their elements and around them.
#[track_caller]
fn transposed<T: Num>(conv: Conv<2>, weights: Arr<Dim4, T>, images: Arr<Dim4, T>) -> Arr<Dim4, T> {
    let [_, _, height, width] = conv.layout.outputs_first(weights.shape());
    let reaches = [conv.reach(0, height), conv.reach(1, width)];
    let spread = spread(conv, reaches, images);
    let plain = Conv { dilation: conv.dilation, groups: conv.groups, layout: conv.layout, ..Conv::default() };
    convolution(plain, turned_round(conv, weights), spread)
}

/// The images with zeros between their elements, and with as many around them as let the weights meet them at each place of the result.
#[track_caller]
fn spread<T: Num>(conv: Conv<2>, reaches: [N; 2], images: Arr<Dim4, T>) -> Arr<Dim4, T> {
    let [n, c, rows, columns] = conv.layout.channels_second(images.shape());
    let extent = |d: usize, n: N| (n - 1) * conv.stride[d] + (reaches[d] * 2 - 1) - conv.zeros(d);
    let place = |d: usize, i: N| i * conv.stride[d] + (reaches[d] - 1) - conv.padding[d];
    let extents = [extent(0, rows), extent(1, columns)];
    let zeros = fill(conv.layout.images([n, c, extents[0], extents[1]]), constant(T::zero()));
    let target = |ix: Four| {
        let [n, c, i, j] = conv.layout.channels_second(ix);
        let to = [place(0, i), place(1, j)];
        // Where more is cut off than the weights reach, the outermost elements meet nothing.
        let is_inside = |d: usize| to[d].ge(0).and(to[d].lt(extents[d]));
        (is_inside(0).and(is_inside(1)), conv.layout.images([n, c, to[0], to[1]]))
    };
    permute(|x, y| x + y, zeros, target, images)
}

/// The weights with opposite order of their places, and with the channels of the result and of a group exchanged.
#[track_caller]
fn turned_round<T: Num>(conv: Conv<2>, weights: Arr<Dim4, T>) -> Arr<Dim4, T> {
    let [outputs, per_group, height, width] = conv.layout.outputs_first(weights.shape());
    let in_group = outputs / conv.groups;
    backpermute(
        conv.layout.weights([per_group * conv.groups, in_group, height, width]),
        |ix| {
            let [o, c, k, l] = conv.layout.outputs_first(ix);
            let (o, c) = if conv.groups == 1 { (c, o) } else { (o / per_group * in_group + c, o % per_group) };
            conv.layout.weights([o, c, height - 1 - k, width - 1 - l])
        },
        weights,
    )
}
