//! A typed, staged, differentiable array language embedded in Rust.
#![forbid(unsafe_code)]

pub use accel_core::{array, error, surface, types};
pub use accel_derive::{Arrays, Elt};

/// What the derive macros generate is made of.
#[doc(hidden)]
pub use accel_core::surface::derive_support as __private;

/// What a program needs: `use accel::prelude::*`.
pub mod prelude {
    pub use accel_core::prelude::*;
    pub use accel_derive::{Arrays, Elt};
}
