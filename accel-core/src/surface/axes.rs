//! The order of dimensions: every function of innermost rows along any axis.

use super::graph::attribute_to;
use super::index::{components, from_components};
use super::primitives::failed;
use super::{Acc, IntoShape, backpermute, shape};
use crate::array::Array;
use crate::types::{Dim1, Dim2, Dim3, Dim4, Dim5, Dim6, Elt, Shape};
use std::panic::Location;

/// Shapes with a dimension of number `K`; the outermost one is 0, as in NumPy.
// It does not say `Shape`: where `Snoc<Sh>: Shape` is an assumption instead of an implementation, optimising builds with rustc 1.95 fail
// with an internal error, since the types of closures over indices then have two forms.
#[diagnostic::on_unimplemented(
    message = "an array of shape `{Self}` has no axis {K}",
    note = "axes are numbered from 0, the outermost one; a matrix has the axes 0 (down the columns) and 1 (along the rows)"
)]
pub trait HasAxis<const K: usize> {}
macro_rules! axes {
    ($($dim:ty: $($k:literal)*;)*) => { $($(impl HasAxis<$k> for $dim {})*)* };
}
axes! {
    Dim1: 0;
    Dim2: 0 1;
    Dim3: 0 1 2;
    Dim4: 0 1 2 3;
    Dim5: 0 1 2 3 4;
    Dim6: 0 1 2 3 4 5;
}

impl<Sh: Shape, T: Elt> Acc<Array<Sh, T>> {
    /// The array with axis `K` as its innermost dimension, so that each function of innermost rows works along this axis:
    /// `sum(m.axis::<0>())` is `m.sum(axis=0)` in NumPy. The other axes keep their order. No array is made for it.
    ///
    /// ```
    /// use accel_core::interp::Interpreter;
    /// use accel_core::prelude::*;
    ///
    /// let columns = afun(|m: Acc<Matrix<f64>>| (sum(m.axis::<0>()), argmax(m.axis::<0>())));
    /// let (sums, largest) = run_with(&Interpreter, &columns, &Array::matrix(2, 2, vec![1.0, 5.0, 2.0, 3.0])?)?;
    /// assert_eq!(sums.as_slice(), [3.0, 8.0]);
    /// assert_eq!(largest.as_slice(), [1, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn axis<const K: usize>(self) -> Acc<Array<Sh, T>>
    where
        Sh: HasAxis<K>,
    {
        let _site = attribute_to("axis", Location::caller());
        ordered(self, &(0..Sh::RANK).filter(|k| *k != K).chain([K]).collect::<Vec<_>>())
    }

    /// The array with its innermost dimension as axis `K`: the inverse of [`axis`](Acc::axis), for functions that keep the rows, as in
    /// `softmax(m.axis::<0>()).back_to_axis::<0>()`.
    #[track_caller]
    pub fn back_to_axis<const K: usize>(self) -> Acc<Array<Sh, T>>
    where
        Sh: HasAxis<K>,
    {
        let _site = attribute_to("back_to_axis", Location::caller());
        let mut order: Vec<usize> = (0..Sh::RANK - 1).collect();
        order.insert(K, Sh::RANK - 1);
        ordered(self, &order)
    }

    /// The array with its dimensions in another order: dimension `k` of the result is dimension `order[k]`, as `transpose(xs, order)` in
    /// NumPy. An `order` that is none of the dimensions is an error when the program is built.
    ///
    /// ```
    /// use accel_core::interp::Interpreter;
    /// use accel_core::prelude::*;
    ///
    /// let moved = afun(|xs: Acc<Array<Dim3, f32>>| xs.in_order([2, 0, 1]));
    /// let xs = Array::from_vec([1, 2, 3], vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0])?;
    /// let ys = run_with(&Interpreter, &moved, &xs)?;
    /// assert_eq!(<[usize; 3]>::from(ys.shape()), [3, 1, 2]);
    /// assert_eq!(ys.as_slice(), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn in_order<const N: usize>(self, order: [usize; N]) -> Acc<Array<Sh, T>> {
        let site = ("in_order", Location::caller());
        let _site = attribute_to(site.0, site.1);
        if !(0..Sh::RANK).all(|k| order.contains(&k)) || N != Sh::RANK {
            return failed(site, format!("each of the {} dimensions once, from 0", Sh::RANK), format!("{order:?}"));
        }
        ordered(self, &order)
    }
}

/// Dimension `k` of the result is dimension `order[k]`.
#[track_caller]
fn ordered<Sh: Shape, T: Elt>(xs: Acc<Array<Sh, T>>, order: &[usize]) -> Acc<Array<Sh, T>> {
    if order.iter().copied().eq(0..Sh::RANK) {
        return xs;
    }
    let extents = components(shape(xs));
    let sh = from_components::<Sh>(&order.iter().map(|k| extents[*k]).collect::<Vec<_>>());
    let source = |ix: Sh::Index| {
        let to = components(ix.into_shape());
        let mut from = to.clone();
        order.iter().zip(&to).for_each(|(k, i)| from[*k] = *i);
        from_components::<Sh>(&from)
    };
    backpermute(sh, source, xs)
}
