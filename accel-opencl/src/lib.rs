//! The OpenCL backend: runs programs on graphics cards. A processor with a driver such as pocl executes the same kernels,
//! which is for tests: there, the native backend is faster.
//!
//! ```text
//! typed tree --lower--> kernel program --accel-codegen--> OpenCL C --driver--> kernels
//!                            \--> the host walks the statements and enqueues kernels
//! ```
//!
//! | file | what it does |
//! | --- | --- |
//! | `loader`, `cl` | loads OpenCL at run time, and calls it with errors instead of codes |
//! | `devices`, `device` | the list of devices, and a device in use |
//! | `memory` | buffers, which are reused |
//! | `plan`, `built_program`, `run`, `launches`, `copies`, `kernel_objects` | a compiled program and its runs |
//! | `tape` | the memory for lists of scalar code |
//! | `lists`, `tapes` | lists of arrays, and states of loops |
//! | `fault`, `read_back` | faults and results, read back to the host |
//! | `compiled`, `kernels`, `arrays` | the public types of programs and arrays |
//!
//! The environment variable `ACCEL_OPENCL_DEVICE` chooses a device (see [`choose`]), and `ACCEL_OPENCL_LIBRARY` names
//! the OpenCL loader if it is not `libOpenCL.so.1`. `ACCEL_DUMP=opencl` prints the kernels. If there is no loader, no
//! driver or no device, this is an `Error::Device`; nothing panics or waits.
//!
//! All commands for a device go through one in-order queue per process. A run enqueues its kernels one after the other
//! and waits only at its end, or where the host needs a number that the device has computed: the condition of a branch
//! or a loop, an extent, or whether lists of scalar code need more memory. The host itself computes numbers that do not
//! depend on large arrays, such as loop counters.
//!
//! If several elements of an array fail, the error names any of them; the interpreter and the native backend name the
//! first.
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux")))]
compile_error!("the OpenCL backend is for Linux on x86-64 and aarch64: build without the feature `opencl`");

mod arrays;
mod built_program;
mod cl;
mod compiled;
mod copies;

mod device;
mod device_module;
mod devices;
mod fault;
mod foreign;
mod kernel_objects;
mod kernels;
mod launch_cache;
mod launches;
mod lists;
mod loader;
mod location;
mod memory;
mod plan;
mod read_back;
mod run;
mod shapes;
mod states;
mod stop;
mod tape;
mod tapes;

use accel_core::afun::Afun;
use accel_core::ast::Program;
use accel_core::backend::{Backend, Executable};
use accel_core::error::Result;
use accel_core::types::{Arrays, Inputs};
use compiled::{Prepared, Source, TypedProgram};
use device::OpenDevice;
use std::sync::{Arc, OnceLock};

pub use accel_codegen::opencl::Target;
pub use accel_fusion::pipeline::Options;
pub use arrays::{Compiled, DeviceArray, DeviceInputs, Running};
pub use devices::{Device, DeviceType, choose, default_device, devices};
pub use kernels::Kernels;

/// The backend on one device.
#[derive(Clone)]
pub struct OpenCl {
    device: Arc<OpenDevice>,
    target: Target,
    /// The options, if they are not those of the environment.
    options: Option<Options>,
    /// All of this as text.
    configuration: String,
}

impl OpenCl {
    /// Makes the backend for a device.
    ///
    /// # Errors
    /// `Error::Device` if the driver does not open it.
    pub fn on(device: &Device) -> Result<OpenCl> {
        let device = OpenDevice::open(device)?;
        let (target, configuration) = (device.target(), String::new());
        Ok(OpenCl { target, device, options: None, configuration }.configured())
    }

    fn configured(mut self) -> OpenCl {
        let OpenCl { device, target, options, .. } = &self;
        self.configuration = format!("opencl {} {target:?} {options:?}", device.about.index);
        self
    }

    /// The backend for the [`default_device`], which is determined once.
    ///
    /// # Errors
    /// `Error::Device` if there is no such device.
    pub fn shared() -> Result<&'static OpenCl> {
        static SHARED: OnceLock<Result<OpenCl>> = OnceLock::new();
        SHARED.get_or_init(|| OpenCl::on(&default_device()?)).as_ref().map_err(Clone::clone)
    }

    /// Uses kernels for another target than the device's own. They are slower; this is for tests. With `look_back`, groups
    /// wait for each other, so that a scan of long rows is one launch: on devices that do not use this by default, such
    /// kernels may never end. It needs atomic operations on 64-bit integers; without them, it is ignored.
    pub fn with_target(mut self, change: impl FnOnce(Target) -> Target) -> OpenCl {
        self.target = change(self.target);
        self.target.look_back &= self.target.atomics_64;
        self.configured()
    }

    /// Sets options, which then replace those of the environment.
    pub fn with_options(mut self, options: Options) -> OpenCl {
        self.options = Some(options);
        self.configured()
    }

    fn prepare(&self, program: &Program) -> Result<Prepared<TypedProgram>> {
        let options = self.options.clone().map_or_else(Options::from_env, Ok)?;
        self.prepared(TypedProgram::new(program, options)?)
    }

    fn prepared<S: Source>(&self, source: S) -> Result<Prepared<S>> {
        Prepared::new(source, self.device.clone(), self.target.clone())
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device.about
    }

    /// Copies arrays to the device, where they stay until they are dropped.
    ///
    /// # Errors
    /// There is not enough memory, or an error of the driver.
    pub fn to_device<A: Arrays>(&self, arrays: impl Inputs<A>) -> Result<DeviceArray<A>> {
        DeviceArray::new(&self.device, &arrays.to_tuple())
    }

    /// Compiles a program, to be run with arrays of the host or of the device.
    ///
    /// # Errors
    /// An error in the program, a missing feature of the device, or an error of its compiler.
    pub fn compile<A: Arrays, R: Arrays>(&self, program: &Afun<A, R>) -> Result<Compiled<A, R>> {
        Ok(Compiled::new(self.prepare(program.program()?)?, self.device.clone()))
    }

    /// The size of the buffers in use, and of those that are kept for reuse, in bytes.
    pub fn memory(&self) -> (usize, usize) {
        self.device.memory.bytes()
    }
}

impl Backend for OpenCl {
    fn name(&self) -> &'static str {
        "opencl"
    }

    fn compile(&self, program: &Program) -> Result<Box<dyn Executable>> {
        Ok(Box::new(self.prepare(program)?))
    }

    fn configuration(&self) -> Option<&str> {
        let tested = self.options.as_ref().is_some_and(|o| o.fault.is_some());
        (!tested).then_some(&self.configuration)
    }
}
