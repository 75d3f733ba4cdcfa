//! The names of this crate that `use accel::prelude::*` imports.

pub use crate::afun::{Afun, AsAfun, Compiled, afun, call, run_with, try_afun};
pub use crate::array::{Array, Matrix, Scalar, Vector};
pub use crate::error::Error;
pub use crate::surface::{
    Acc, All, ArrayFn, Boundary, Clamp, Constant, Conv, Exp, HasAxis, IntoAcc, IntoExp, IntoShape, Layout, Mirror,
    Neighbours, Operand, Outside, Pool, Replication, Slicing, ToExp, Wrap, acond, afoldl, aiterate, aiterate_indexed,
    all, any, argmax, argmin, argsort, argsort_descending, awhile, backpermute, between, bincount, bmm, column, concat,
    cond, constant, conv1d, conv1d_transpose, conv2d, conv2d_transpose, coo_to_csr, cov, csr_matmul, csr_matvec,
    csr_transpose, cummax, cummin, cumprod, cumsum, diff, dot, einsum, enum_from_n, every, expand, fill, filter,
    flatten, fold, fold_all, fold_seg, fold1, fold1_all, fold1_seg, foreign, foreign_batched, gather, generate,
    histogram, imap, indexed, init, interp, intersect, iota, iterate, iterate_indexed, layer_norm, linspace, lit,
    log_cumsum_exp, log_softmax, log_sum_exp, logspace, map, map_accum_l, map_accum_r, matmul, matvec, max_at,
    max_pool, maximum, maximum_all, mean, mean_all, mean_pool, median, meshgrid, min_at, minimum, minimum_all, norm,
    one_hot, outer, outer_with, pad, pair, partition, permute, pick, product, product_all, quantile, replicate,
    replicate_inner, reshape, reverse, roll, row, scanl, scanl_ex, scanl_ex_seg, scanl_seg, scanl1, scanl1_seg, scanr,
    scanr_ex, scanr_ex_seg, scanr_seg, scanr1, scanr1_seg, scatter, searchsorted, searchsorted_right, set, set_block,
    set_row, set_slice, sfoldl, shape, size, skip, slice, slice_inner, softmax, softmax_at, sort, sort_by_key,
    sort_by_key_descending, sort_descending, stack, stack_inner, std, stencil, sum, sum_all, sums_at, tail, take,
    take_along, the, tile, top_k, transpose, unique, unit, unzip, unzip3, update, use_, var, vmap, where_, while_, zip,
    zip_min, zip_with, zip_with_min, zip_with3, zip_with3_min, zip3, zip3_min,
};
pub use crate::types::{
    Arrays, Bits, Dim0, Dim1, Dim2, Dim3, Dim4, Dim5, Dim6, Elt, Floating, Inputs, Integral, Listed, Num, Numbers,
    Outputs, Primitive, Rows, Shape, Snoc, ToExtents, Z,
};
