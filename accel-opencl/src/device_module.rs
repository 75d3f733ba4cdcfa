//! The generated code of a program, compiled for a device.

use crate::cl::{self, Kernel};
use crate::device::OpenDevice;
use accel_codegen::opencl::{Module, Target, emit};
use accel_core::error::{Error, Result};
use accel_core::print;
use accel_fusion::kernel::{Program, Verified};
use std::sync::Arc;

/// The compiled kernels of a program, with their plans.
pub struct DeviceModule {
    pub device: Arc<OpenDevice>,
    pub target: Target,
    /// The generated code, and how its kernels are launched.
    pub emitted: Module,
    built: Arc<cl::Program>,
}

impl DeviceModule {
    /// Generates code and compiles it.
    ///
    /// # Errors
    /// `Error::Device` if the device's compiler fails, or the device has no 64-bit floating-point numbers and the program
    /// needs them.
    pub fn new(program: &Verified<Program>, device: Arc<OpenDevice>, target: Target) -> Result<DeviceModule> {
        let emitted = emit(program, &target);
        print::dump_with("opencl", || emitted.source.clone());
        if emitted.needs_fp64 && !device.about.fp64 {
            let name = &device.about.name;
            return Err(Error::Device(format!("the program has numbers of type f64, and {name} has none: use f32")));
        }
        let built = device.build(&emitted.source)?;
        Ok(DeviceModule { device, target, emitted, built })
    }

    /// A new kernel object.
    ///
    /// # Errors
    /// An error of the driver.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        self.built.kernel(name)
    }
}
