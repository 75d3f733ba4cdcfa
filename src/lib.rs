//! A typed, staged, differentiable array language embedded in Rust.
//!
//! A program is an ordinary Rust function over arrays ([`Acc`]) and scalars ([`Exp`]). Calling
//! it builds a typed syntax tree. The library differentiates this tree by source transformation, and a backend runs it:
//!
//! ```
//! use accel::prelude::*;
//!
//! fn dotp(xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>) -> Acc<Scalar<f32>> {
//!     sum(zip_with(|x, y| x * y, xs, ys))
//! }
//!
//! # fn main() -> Result<(), accel::Error> {
//! let prog = afun(dotp);
//! let (xs, ys) = (Array::vector(vec![1.0, 2.0, 3.0]), Array::vector(vec![4.0, 5.0, 6.0]));
//! let y = run(&prog, (&xs, &ys))?;
//! let (dxs, dys) = run(grad(&prog), (&xs, &ys))?;
//! assert_eq!(y.as_slice(), [32.0]);
//! assert_eq!(dxs.as_slice(), ys.as_slice());
//! assert_eq!(dys.as_slice(), xs.as_slice());
//! # Ok(())
//! # }
//! ```
//!
//! The [`prelude`] contains everything that programs need, in groups. The other modules are for backends, transformations
//! and tools: [`ast`] is the typed tree, [`print`](mod@print) prints it, [`backend`] is the interface of backends, and
//! [`interp`] is the reference interpreter, which defines the meaning of programs. With the feature `trace`, the module
//! `trace` records single runs.
#![forbid(unsafe_code)]

// For derive macros inside of this crate.
extern crate self as accel;

mod check_grad;
mod choice;
pub mod complex;
pub mod distributions;
#[cfg(feature = "dual")]
pub mod dual;
#[cfg(feature = "fft")]
pub mod fft;
pub mod geometry;
pub mod half;
pub mod linalg;
pub mod random;
pub mod solvers;
mod sparse;
#[cfg(feature = "trace")]
pub mod trace;
pub mod trees;

pub use accel_ad::{
    Coordinates, CustomFunction, Differentiable, OneNumber, custom_jvp, custom_vjp, derivative, grad, gradient,
    hessian, hvp, jacobian, jacobian_forward, jacobian_reverse, jvp, value_and_derivative, value_and_grad,
    value_and_grad_with_aux, value_and_gradient, vjp,
};
pub use accel_core::error::{Error, Result};
/// Support for the code that the derive macros generate.
#[doc(hidden)]
pub use accel_core::surface::derive_support as __private;
pub use accel_core::{afun, array, ast, backend, by, interp, nan, print, repr, surface, types};
// NOTE [Names in rustc's messages]: rustc writes only `Snoc` if no other public item or variant of this crate and of std has this name,
// and the program does not have it from `use accel::prelude::*`. Otherwise it writes the shortest path, such as `accel::Exp<f64>`.
#[doc(no_inline)]
pub use accel_core::prelude::*;
pub use accel_derive::{Arrays, Elt};
/// Compiled programs in files, for processes and machines without a compiler: see the book, "Shipping a program".
#[doc(inline)]
pub use accel_native::bundle;
/// The cache of compiled programs on disk: its folder, its size, and how to clear it.
///
/// ```
/// if let Some(cache) = accel::cache::usage()? {
///     println!("{} programs, {} bytes in {}", cache.entries, cache.bytes, cache.folder.display());
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(inline)]
pub use accel_native::cache;
/// The OpenCL backend: lists devices, keeps arrays in device memory, and runs programs asynchronously.
///
/// ```no_run
/// use accel::opencl::{OpenCl, devices};
/// use accel::prelude::*;
///
/// # fn main() -> Result<(), accel::Error> {
/// for device in devices()? {
///     println!("{device}");
/// }
/// let opencl = OpenCl::shared()?;
/// let halve = opencl.compile(&afun(|xs: Acc<Vector<f32>>| map(|x| x * 0.5, xs)))?;
/// let xs = opencl.to_device(&Array::vector(vec![8.0; 1 << 20]))?;
/// let ys = halve.run_async(&xs)?;
/// let zs = halve.run_async(ys.results())?.wait()?.to_host()?;
/// assert_eq!(zs.as_slice()[0], 2.0);
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "opencl")]
#[doc(inline)]
pub use accel_opencl as opencl;
/// The native backend with explicit options instead of those of the environment.
///
/// ```
/// use accel::native::{Native, Options};
/// use accel::prelude::*;
///
/// # fn main() -> Result<(), accel::Error> {
/// let checked = Native::with(Options { check: true, ..Options::default() });
/// let total = run_on(&checked, &afun(|xs: Acc<Vector<f64>>| sum(xs)), &Array::vector(vec![1.0, 2.0]))?;
/// assert_eq!(total.item(), 3.0);
/// # Ok(())
/// # }
/// ```
pub mod native {
    pub use accel_native::{Native, Options, VectorizedInterpreter};
}
pub use check_grad::{Deviation, GradientCheck, check_grad};
pub use choice::{BACKENDS, backend_named, compile, compile_for, compile_on, default_backend, run, run_on};
pub use sparse::{
    Batched, SparseJacobian, SparseMatrix, SparsePattern, sparse_hessian, sparse_jacobian, sparse_jacobian_on,
};

/// Everything that a program needs.
///
/// | for | there are |
/// | --- | --- |
/// | programs | [`afun`](prelude::afun()), [`run`], [`compile`], [`compile_for`], [`run_on`], [`Afun`], [`Compiled`] with `run` and `call` |
/// | derivatives of programs | [`grad`], [`value_and_grad`], [`value_and_grad_with_aux`], [`vjp`], [`jvp`], [`jacobian`], [`sparse_jacobian`], [`hessian`], [`sparse_hessian`], [`hvp`]; [`Afun::by`](prelude::Afun::by) chooses arguments, [`call`] uses derivatives in other programs |
/// | derivatives in scalar code | [`gradient`], [`value_and_gradient`], [`derivative`], [`value_and_derivative`] |
/// | rules of your own | [`custom_vjp`], [`custom_jvp`], for programs and in scalar code; [`foreign`](prelude::foreign()) calls other libraries |
/// | host arrays | [`Array`], [`Vector`], [`Matrix`], [`Scalar`] |
/// | making arrays | [`generate`], [`fill`], [`iota`], [`enum_from_n`], [`linspace`], [`logspace`], [`unit`](prelude::unit()), [`use_`] |
/// | elementwise operations | Rust's operators and the methods of [`Exp`] on arrays, [`row`](prelude::row()), [`column`](prelude::column()), [`where_`], [`map`], [`zip_with`], [`imap`], [`zip`], with variants `_min` for arrays of different shapes, [`unzip`], [`indexed`] |
/// | folds of rows | [`fold`], [`fold1`], [`sum`], [`product`], [`maximum`], [`minimum`], [`all`], [`any`], and with `_all` folds of whole arrays |
/// | functions of rows without overflow | [`log_sum_exp`], [`log_cumsum_exp`], [`softmax`], [`log_softmax`], [`norm`], [`layer_norm`] |
/// | statistics | [`mean`], [`var`], [`std`](prelude::std()), [`cov`], [`quantile`], [`median`], [`argmax`], [`argmin`], [`top_k`], [`one_hot`] |
/// | tables | [`searchsorted`], [`searchsorted_right`], [`interp`] |
/// | axes | [`Acc::axis`](prelude::Acc::axis), [`Acc::back_to_axis`](prelude::Acc::back_to_axis), [`Acc::in_order`](prelude::Acc::in_order) |
/// | scans | [`cumsum`], [`cumprod`], [`cummax`], [`cummin`], [`scanl`], [`scanr`], their variants `scanl1`, `scanl_ex` and so on |
/// | segments of rows | [`fold_seg`], [`fold1_seg`], [`scanl_seg`], [`scanr_seg`], their variants `scanl1_seg`, `scanl_ex_seg` and so on |
/// | random numbers, densities | the modules [`random`](crate::random) and [`distributions`](crate::distributions) |
/// | parameters of several arrays | [`tree`](crate::trees::tree) gives tuples and records the operators of arrays |
/// | linear algebra | [`dot`], [`matvec`], [`matmul`], [`transpose`], [`outer`], [`outer_with`], [`bmm`], [`einsum`]; factorisations and systems are in [`linalg`](crate::linalg), equations and minima in [`solvers`](crate::solvers) |
/// | sparse matrices | [`csr_matvec`], [`csr_matmul`], [`csr_transpose`], [`coo_to_csr`] |
/// | convolutions | [`conv1d`], [`conv2d`] and their transposes with [`Conv`] and [`Layout`], [`max_pool`] and [`mean_pool`] with [`Pool`] |
/// | moving elements and rows | [`gather`], [`take_along`], [`backpermute`], [`permute`], [`scatter`] |
/// | rows with equal numbers | [`sums_at`], [`max_at`], [`min_at`], [`softmax_at`] |
/// | selection and counting | [`filter`], [`partition`], [`unique`], [`bincount`], [`histogram`], [`expand`] |
/// | sorting | [`sort`], [`sort_by_key`], [`argsort`](prelude::argsort()), and the same with `_descending` |
/// | parts and shapes | [`take`], [`skip`], [`reverse`], [`roll`], [`diff`], [`concat()`], [`stack`], [`Acc::split`](prelude::Acc::split), [`tile`], [`replicate`], [`slice()`], [`every`], [`reshape`] |
/// | neighbours | [`stencil`](prelude::stencil()), [`pad`], with [`Clamp`], [`Mirror`], [`Wrap`], [`Constant`], [`Outside`] |
/// | scalar code | the methods of [`Exp`], [`cond`], [`while_`], [`iterate`], [`iterate_indexed`], [`sfoldl`], [`constant`], [`lit`]; [`the`] and [`Acc::at`](prelude::Acc::at) read arrays |
/// | conditionals and loops over arrays | [`acond`], [`awhile`], [`aiterate`], [`aiterate_indexed`], [`map_accum_l`], [`map_accum_r`], [`afoldl`] |
/// | array functions of each row | [`vmap`](prelude::vmap()), [`Afun::vmap`](prelude::Afun::vmap) |
/// | errors | [`Error`]; [`find_nan`](prelude::find_nan()) finds where NaN appears first, [`find_kink`](prelude::find_kink()) where a derivative is a convention, [`check_grad`] compares a gradient with differences |
/// | small vectors | `[T; N]` with [`pick`], and the module [`geometry`](crate::geometry) |
/// | numbers of 16 bits | the module [`half`](crate::half) |
/// | records | `#[derive(Elt)]` for elements, `#[derive(Arrays)]` for arguments and results |
pub mod prelude {
    #[doc(inline)]
    pub use crate::{
        Arrays, Elt, Error, check_grad, compile, compile_for, compile_on, custom_jvp, custom_vjp, derivative, grad,
        gradient, hessian, hvp, jacobian, jvp, run, run_on, sparse_hessian, sparse_jacobian, value_and_derivative,
        value_and_grad, value_and_grad_with_aux, value_and_gradient, vjp,
    };
    #[doc(inline)]
    pub use accel_core::nan::{find_kink, find_nan};
    pub use accel_core::prelude::*;
}

/// Tests the listings of the README and of the book.
#[cfg(doctest)]
mod listings {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../book/src/first-program.md")]
    struct FirstProgram;
    #[doc = include_str!("../book/src/arrays.md")]
    struct ArraysExpressionsAndShapes;
    #[doc = include_str!("../book/src/numpy.md")]
    struct NumPy;
    #[doc = include_str!("../book/src/recipes.md")]
    struct Recipes;
    #[doc = include_str!("../book/src/twelve.md")]
    struct TwelveProgramsBesideJax;
    #[doc = include_str!("../book/src/messages.md")]
    struct Messages;
    #[doc = include_str!("../book/src/nested-parallelism.md")]
    struct NestedParallelism;
    #[doc = include_str!("../book/src/gradients.md")]
    struct Gradients;
    #[doc = include_str!("../book/src/matrices.md")]
    struct BeyondTheGradient;
    #[doc = include_str!("../book/src/linear-algebra.md")]
    struct LinearAlgebra;
    #[doc = include_str!("../book/src/random.md")]
    struct RandomNumbers;
    #[doc = include_str!("../book/src/special-points.md")]
    struct SpecialPoints;
    #[doc = include_str!("../book/src/own-rules.md")]
    struct OwnRules;
    #[cfg(all(feature = "dual", feature = "trace"))]
    #[doc = include_str!("../book/src/three-ways.md")]
    struct ThreeWays;
    #[cfg(feature = "dual")]
    #[doc = include_str!("../book/src/ordinary-rust.md")]
    struct OrdinaryRustCode;
    #[doc = include_str!("../book/src/compilation.md")]
    struct Compilation;
    #[doc = include_str!("../book/src/shipping.md")]
    struct ShippingAProgram;
    #[cfg(feature = "opencl")]
    #[doc = include_str!("../book/src/devices.md")]
    struct Devices;
    #[doc = include_str!("../book/src/gradbench.md")]
    struct GradBench;
    #[doc = include_str!("../book/src/how-it-is-built.md")]
    struct HowItIsBuilt;
    #[cfg(feature = "trace")]
    #[doc = include_str!("../book/src/tracing.md")]
    struct Tracing;
}
