//! The steps of a trace.

use crate::kernel::Kernel;
use accel_core::repr::{RawArray, RawTy};
use std::sync::Arc;

/// The number of a step.
pub type Id = usize;

/// One array of a trace, and how it was computed.
pub struct Step {
    /// How the array was computed.
    pub origin: Origin,
    /// The steps that it was computed from, each once.
    pub inputs: Vec<Id>,
    /// The type of the array.
    pub ty: RawTy,
    /// The array. Its elements are not stored if it is only used inside of its cluster.
    pub value: RawArray,
    /// Whether an iteration of an unrolled loop ends with this array.
    pub boundary: bool,
}

/// Where an array comes from.
pub enum Origin {
    /// The array with this number of the program's argument.
    Argument(usize),
    /// Part of the program.
    Constant,
    /// An operation.
    Kernel(Arc<Kernel>),
}

impl Step {
    /// The kernel of an operation.
    pub fn kernel(&self) -> Option<&Arc<Kernel>> {
        match &self.origin {
            Origin::Kernel(k) => Some(k),
            Origin::Argument(_) | Origin::Constant => None,
        }
    }
    /// The name that the user gave to the array.
    pub fn label(&self) -> Option<&'static str> {
        self.kernel()?.label
    }
    /// Whether the array has floating-point components.
    pub fn has_floats(&self) -> bool {
        self.ty.leaves().iter().any(|s| s.is_float())
    }
}
