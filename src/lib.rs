//! A typed, staged, differentiable array language embedded in Rust.
//!
//! A program is an ordinary Rust function over arrays ([`Acc`](prelude::Acc)) and scalars ([`Exp`](prelude::Exp)). Running
//! it builds a typed syntax tree, which is differentiated by source transformation and run by a backend:
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
#![forbid(unsafe_code)]

mod choice;
mod derivatives;

pub use accel_ad::{gradient, value_and_gradient};
pub use accel_core::error::{Error, Result};
/// What the derive macros generate is made of.
#[doc(hidden)]
pub use accel_core::surface::derive_support as __private;
pub use accel_core::{afun, array, ast, backend, interp, print, repr, surface, types};
pub use accel_derive::{Arrays, Elt};
pub use choice::{BACKENDS, backend_named, compile, compile_on, default_backend, run, run_on};
pub use derivatives::{grad, jvp, value_and_grad, vjp};

/// Everything a program needs.
pub mod prelude {
    pub use crate::{
        Arrays, Elt, Error, compile, compile_on, grad, gradient, jvp, run, run_on, value_and_grad, value_and_gradient,
        vjp,
    };
    pub use accel_core::prelude::*;
}

/// The listings of the README and of the book, as tests.
#[cfg(doctest)]
mod listings {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../book/src/first-program.md")]
    struct FirstProgram;
    #[doc = include_str!("../book/src/arrays.md")]
    struct ArraysExpressionsAndShapes;
    #[doc = include_str!("../book/src/gradients.md")]
    struct Gradients;
}
