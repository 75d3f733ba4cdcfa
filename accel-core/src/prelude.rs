//! The names of this crate that `use accel::prelude::*` imports.

pub use crate::afun::{Afun, Compiled, afun, call, run_with, try_afun};
pub use crate::array::Array;
pub use crate::error::Error;
pub use crate::surface::{
    Acc, All, ArrayFn, Exp, HasAxis, IntoAcc, IntoExp, IntoShape, Operand, Slicing, ToExp, acond, aiterate,
    aiterate_indexed, all, any, argmax, argmin, argsort, argsort_descending, awhile, backpermute, column, concat, cond,
    constant, cummax, cummin, cumprod, cumsum, diff, dot, drop, enum_from_n, expand, fill, filter, flatten, fold,
    fold_all, fold_seg, fold1, fold1_all, fold1_seg, fst, gather, generate, histogram, imap, index_head, index_tail,
    indexed, init, intersect, iota, iterate, linspace, lit, log_softmax, log_sum_exp, map, map_accum_l, map_accum_r,
    matmul, matvec, maximum, maximum_all, mean, mean_all, minimum, minimum_all, norm, one_hot, outer, pair, partition,
    permute, product, product_all, replicate, replicate_inner, reshape, reverse, roll, row, scanl, scanl_ex,
    scanl_ex_seg, scanl_seg, scanl1, scanl1_seg, scanr, scanr_ex, scanr_ex_seg, scanr_seg, scanr1, scanr1_seg, scatter,
    set, set_block, set_row, set_slice, sfoldl, shape, size, slice, slice_inner, snd, snoc, softmax, sort, sort_by_key,
    sort_by_key_descending, sort_descending, std, sum, sum_all, sums_at, tail, take, the, transpose, unique, unit,
    unzip, unzip3, update, use_, var, vmap, where_, while_, zip, zip_min, zip_with, zip_with_min, zip_with3,
    zip_with3_min, zip3, zip3_min,
};
pub use crate::types::{
    Arrays, Bits, Dim0, Dim1, Dim2, Dim3, Dim4, Dim5, Dim6, Elt, Floating, Inputs, Integral, Listed, Num, Numbers,
    Primitive, Rows, Shape, Snoc, ToExtents, Z,
};

/// An array with no dimensions: a single element.
pub type Scalar<T> = Array<Dim0, T>;
/// An array with one dimension.
pub type Vector<T> = Array<Dim1, T>;
/// An array with two dimensions: rows and columns.
pub type Matrix<T> = Array<Dim2, T>;
