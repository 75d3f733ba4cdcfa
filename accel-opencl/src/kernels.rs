//! Kernel programs that are compiled for a device without a typed program.

use crate::OpenCl;
use crate::compiled::Prepared;
use accel_core::error::{Error, Result};
use accel_core::repr::{RawArray, View};
use accel_fusion::kernel::{Program, Verified};

/// A compiled kernel program.
pub struct Kernels {
    prepared: Prepared<Verified<Program>>,
    program: Verified<Program>,
}

impl Kernels {
    /// Compiles a kernel program without further passes, for the target of a backend.
    ///
    /// # Safety
    /// The reads that the program marks as `inside` are within bounds for all inputs with which it is run. Nothing
    /// checks them: [`with_checked_proofs`](accel_fusion::pipeline::with_checked_proofs) makes a program that does.
    ///
    /// # Errors
    /// `Error::Device` if the device lacks a feature, or its compiler fails.
    pub unsafe fn trusting(backend: &OpenCl, program: Verified<Program>) -> Result<Kernels> {
        Ok(Kernels { prepared: backend.prepared(program.clone())?, program })
    }

    /// Computes the result arrays from the input arrays. The inputs must have the ranks and element types of the
    /// program.
    ///
    /// # Errors
    /// The inputs do not fit, or a check at run time fails.
    pub fn run(&self, inputs: &[&RawArray]) -> Result<Vec<RawArray>> {
        if !self.program.takes(inputs.iter().map(|a| View::Array(a))) {
            return Err(Error::Internal("inputs that do not fit the kernel program".into()));
        }
        self.prepared.run_on(inputs)
    }
}
