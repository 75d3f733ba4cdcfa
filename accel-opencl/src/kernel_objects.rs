//! The kernel objects of a run.

use crate::cl::{Kernel, Value};
use crate::device_module::DeviceModule;
use accel_codegen::opencl::Launch;
use accel_core::error::{Error, Result};
use std::collections::HashMap;

/// The kernel objects by name, which one run uses at a time.
#[derive(Default)]
pub struct KernelObjects(HashMap<String, Kernel>);

impl KernelObjects {
    /// Enqueues a launch. The arguments are in the order of the kernel's parameters.
    ///
    /// # Errors
    /// An error of the driver.
    pub fn launch<'v>(
        &mut self,
        module: &DeviceModule,
        launch: &Launch,
        values: impl Iterator<Item = Value<'v>>,
    ) -> Result<()> {
        let kernel = self.by_name(module, &launch.kernel.name)?;
        values.enumerate().try_for_each(|(index, value)| kernel.set(index, value))?;
        // SAFETY: the program was verified and the kernel was generated from it. The parameters are those that the
        // emitter demands. The kernel checks every index that was not proved to be within bounds.
        unsafe { module.device.queue.launch(kernel, &launch.global, &launch.group) }
    }

    fn by_name(&mut self, module: &DeviceModule, name: &str) -> Result<&mut Kernel> {
        if !self.0.contains_key(name) {
            self.0.insert(name.into(), module.kernel(name)?);
        }
        self.0.get_mut(name).ok_or_else(|| Error::Internal("a kernel that was just made".into()))
    }
}
