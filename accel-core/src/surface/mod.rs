//! The surface language, in which users write programs.
//!
//! [`Exp`] and [`Acc`] are handles of nodes in the graph of the program that is being recorded ([`graph`]). Functions
//! take closures first and arrays last, in the tradition of Haskell.

mod acc;
mod axes;
mod boundaries;
mod control;
mod convolutions;
pub mod derive_support;
mod directions;
mod einsum;
mod element_counts;
mod elementwise;
mod exp;
mod extents;
mod foreign;
mod function;
mod functions;
pub mod graph;
mod groups;
pub(crate) mod handles;
mod index;
mod joining;
mod library;
mod node;
pub(crate) mod nodes;
mod operators;
mod order_statistics;
mod pooling;
mod primitives;
mod products;
mod rearranging;
mod reductions;
mod rows;
mod scalar_loops;
mod segments;
mod selection;
mod slicing;
mod sorting;
mod sparse_matrices;
mod special;
mod tables;
mod transposed_convolutions;
mod updates;
mod vmap;

pub use acc::{shape, the, use_};
pub use axes::HasAxis;
pub use boundaries::{Boundary, Clamp, Constant, Mirror, Neighbours, Outside, Wrap, pad, stencil};
pub use control::{acond, afoldl, aiterate, aiterate_indexed, awhile, map_accum_l, map_accum_r};
pub use convolutions::{Conv, Layout, conv1d, conv2d};
#[doc(hidden)]
pub use directions::along_constants;
pub use einsum::{Factors, einsum};
pub use elementwise::{Column, Operand, Row, column, row, where_};
#[doc(hidden)]
pub use exp::custom_exp;
pub use exp::{cond, constant, fst, lit, pair, pick, snd, transform_exp, while_};
#[doc(hidden)]
pub use foreign::foreign_call;
pub use foreign::{Shapes, foreign, foreign_batched};
pub use function::{ArrayFn, stage};
pub use graph::Staged;
#[doc(hidden)]
pub use graph::attributed;
pub use groups::{max_at, min_at, softmax_at, sums_at};
pub use handles::{Acc, Exp};
pub use index::{index_head, index_tail, snoc};
pub use joining::{meshgrid, stack, stack_inner, tile};
pub use library::{
    argmax, argmin, cov, cummax, cummin, cumprod, cumsum, diff, layer_norm, linspace, logspace, mean, mean_all,
    one_hot, outer, outer_with, roll, std, var,
};
pub use order_statistics::{median, quantile, top_k};
pub use pooling::{Pool, Windowed, max_pool, mean_pool};
#[doc(hidden)]
pub use primitives::{agree, size_of};
pub use primitives::{
    argsort, backpermute, fold, fold1, generate, intersect, map, named, permute, replicate, replicate_inner, reshape,
    scanl, scanl1, scanr, scanr1, size, slice, slice_inner, unit, zip_with, zip_with_min,
};
pub use products::bmm;
pub use rearranging::{
    concat, enum_from_n, fill, gather, imap, indexed, init, iota, reverse, scatter, skip, tail, take, take_along,
    transpose, unzip, unzip3, zip, zip_min, zip_with3, zip_with3_min, zip3, zip3_min,
};
pub use reductions::{
    all, any, dot, flatten, fold_all, fold1_all, matmul, matvec, maximum, maximum_all, minimum, minimum_all, product,
    product_all, scanl_ex, scanr_ex, sum, sum_all,
};
pub use rows::{log_cumsum_exp, log_softmax, log_sum_exp, norm, softmax};
pub use scalar_loops::{iterate, iterate_indexed, sfoldl};
pub use segments::{fold_seg, fold1_seg, scanl_ex_seg, scanl_seg, scanl1_seg, scanr_ex_seg, scanr_seg, scanr1_seg};
pub use selection::{bincount, expand, filter, histogram, partition, unique};
pub use slicing::{
    All, Between, Every, Indices, NewDim, Part, Position, Replication, SliceDim, Slicing, between, every,
};
pub use sorting::{argsort_descending, sort, sort_by_key, sort_by_key_descending, sort_descending};
pub use sparse_matrices::{coo_to_csr, csr_matmul, csr_matvec, csr_transpose};
pub use tables::{interp, searchsorted, searchsorted_right};
pub use transposed_convolutions::{conv1d_transpose, conv2d_transpose};
pub use updates::{set, set_block, set_row, set_slice, update};
pub use vmap::vmap;

pub use crate::types::arrays::IntoAcc;
pub use crate::types::elt::{IntoExp, ToExp};
pub use crate::types::shape::{IntoShape, PushIndex, ShapeLike};
