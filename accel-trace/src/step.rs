//! The steps of a trace.

use crate::kernel::Kernel;
use accel_core::repr::tree::Tree;
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
    /// The array.
    pub value: RawArray,
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

/// The straight-line program of one run, array operations whole. The arrays of the argument come first.
pub struct Steps {
    /// All steps; each uses only earlier ones.
    pub steps: Vec<Step>,
    /// The steps of the result.
    pub result: Tree<Id>,
    /// The type of the argument.
    pub argument: RawTy,
    /// The type of the result.
    pub ty: RawTy,
}

impl Steps {
    /// Removes the steps on which neither the result nor an array with a name depends: they only decided which way the
    /// run took.
    pub fn prune(self) -> Steps {
        let mut needed = vec![false; self.steps.len()];
        self.result.leaves().into_iter().for_each(|id| needed[id] = true);
        for (id, step) in self.steps.iter().enumerate().rev() {
            needed[id] |= matches!(step.origin, Origin::Argument(_)) || step.label().is_some();
            if needed[id] {
                step.inputs.iter().for_each(|i| needed[*i] = true);
            }
        }
        let mut new = vec![0; needed.len()];
        for (next, (new, _)) in new.iter_mut().zip(&needed).filter(|(_, n)| **n).enumerate() {
            *new = next;
        }
        let kept = self.steps.into_iter().zip(&needed).filter(|(_, needed)| **needed);
        let renumbered = kept.map(|(step, _)| Step { inputs: step.inputs.iter().map(|i| new[*i]).collect(), ..step });
        let mut leaves = self.result.leaves().into_iter();
        let result = Tree::of(&self.ty, &mut || new[leaves.next().unwrap_or_default()]);
        Steps { steps: renumbered.collect(), result, argument: self.argument, ty: self.ty }
    }
}
