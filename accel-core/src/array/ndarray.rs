//! Conversions from and to the arrays of crate `ndarray`, for up to six dimensions.

use super::Array;
use crate::error::{Error, Result};
use crate::types::{Dim0, Dim1, Dim2, Dim3, Dim4, Dim5, Dim6, Elt, Shape};
use ndarray::{ArrayView, Dimension, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn};

fn from_owned<Sh: Shape, T: Elt, D: Dimension>(a: ndarray::Array<T, D>) -> Result<Array<Sh, T>> {
    let extents = a.shape().to_vec();
    // Copies only if the array is not stored row by row, or is a view of a part of a larger array.
    let values = if a.is_standard_layout() {
        match a.into_raw_vec_and_offset() {
            (values, None | Some(0)) if values.len() == extents.iter().product() => values,
            (values, offset) => {
                let n = extents.iter().product();
                values.into_iter().skip(offset.unwrap_or(0)).take(n).collect()
            }
        }
    } else {
        a.iter().cloned().collect()
    };
    Array::from_extents(&extents, values)
}

fn to_dynamic<Sh: Shape, T: Elt>(a: &Array<Sh, T>) -> Result<ndarray::Array<T, IxDyn>> {
    ndarray::Array::from_shape_vec(IxDyn(&a.raw().extents), a.to_vec()).map_err(|e| host(a, &e))
}

fn host<Sh: Shape, T: Elt>(a: &Array<Sh, T>, e: &ndarray::ShapeError) -> Error {
    Error::Host(format!("conversion to ndarray of an array of shape {:?}: {e}", a.raw().extents))
}

macro_rules! conversions {
    ($($dim:ident $ix:ident),*) => { $(
        impl<T: Elt> From<ndarray::Array<T, $ix>> for Array<$dim, T> {
            /// Scalars that are stored row by row are not copied.
            fn from(a: ndarray::Array<T, $ix>) -> Self {
                super::made(from_owned(a))
            }
        }
        impl<T: Elt> From<ArrayView<'_, T, $ix>> for Array<$dim, T> {
            fn from(a: ArrayView<'_, T, $ix>) -> Self {
                super::made(from_owned(a.to_owned()))
            }
        }
        impl<T: Elt> TryFrom<&Array<$dim, T>> for ndarray::Array<T, $ix> {
            type Error = Error;
            /// Errors: extents that `ndarray` does not support (an empty array with a huge extent).
            fn try_from(a: &Array<$dim, T>) -> Result<Self> {
                to_dynamic(a)?.into_dimensionality().map_err(|e| host(a, &e))
            }
        }
    )* };
}
conversions!(Dim0 Ix0, Dim1 Ix1, Dim2 Ix2, Dim3 Ix3, Dim4 Ix4, Dim5 Ix5, Dim6 Ix6);

impl<Sh: Shape, T: Elt> TryFrom<ndarray::Array<T, IxDyn>> for Array<Sh, T> {
    type Error = Error;
    /// Errors: a different number of dimensions.
    fn try_from(a: ndarray::Array<T, IxDyn>) -> Result<Self> {
        from_owned(a)
    }
}

impl<Sh: Shape, T: Elt> TryFrom<&Array<Sh, T>> for ndarray::Array<T, IxDyn> {
    type Error = Error;
    /// Errors: extents that `ndarray` does not support (an empty array with a huge extent).
    fn try_from(a: &Array<Sh, T>) -> Result<Self> {
        to_dynamic(a)
    }
}
