//! The OpenCL backend: programs run on graphics cards, and on processors that have a driver such as pocl.
//!
//! ```text
//! typed tree --lower--> kernel program --accel-codegen--> OpenCL C --driver--> kernels
//!                            \--> the host walks the statements and enqueues kernels
//! ```
//!
//! | file | what it does |
//! | --- | --- |
//! | `loader`, `cl` | OpenCL, loaded when it is needed, with errors instead of codes |
//! | `devices`, `device`, `spin_wait` | which devices there are, and one that is in use |
//! | `memory` | buffers, which are used again |
//! | `plan`, `built_program`, `run`, `batch`, `replay` | a compiled program and its runs |
//! | `fault`, `read_back` | what comes back to the host |
//! | `compiled`, `arrays` | programs and arrays as users have them |
//!
//! The environment variable `ACCEL_OPENCL_DEVICE` chooses a device (see [`choose`]), and `ACCEL_OPENCL_LIBRARY` names the OpenCL loader
//! if it is not `libOpenCL.so.1`. `ACCEL_DUMP=opencl` prints the kernels. Nothing here panics or waits where there is no
//! loader, no driver or no device: that is an `Error::Device`.
//!
//! All that is done on a device goes through one in-order queue, that of the process. A run enqueues its kernels one after the other and waits only at its
//! end, or where the host needs a number that the device has computed: the condition of a choice or a loop, an extent. Numbers
//! that do not depend on large arrays, such as counters of loops, are computed by the host itself. A device that works in the
//! memory of the host uses arguments where they are and makes results where they stay. There, a small program that is run again and again is
//! recorded, and a thread of the driver stays awake between its runs: see the notes in `replay` and `spin_wait`.
//!
//! If several elements of an array fail, the error names any of them; the interpreter and the native backend name the first.
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux")))]
compile_error!("the OpenCL backend is for Linux on x86-64 and aarch64: build without the feature `opencl`");

mod arrays;
mod batch;
mod built_program;
mod cl;
mod compiled;
mod device;
mod devices;
mod fault;
#[cfg(test)]
mod golden;
mod launch_cache;
mod loader;
mod memory;
mod plan;
mod read_back;
mod replay;
mod run;
mod spin_wait;

use accel_core::afun::Afun;
use accel_core::ast::Program;
use accel_core::backend::{Backend, Executable};
use accel_core::error::Result;
use accel_core::types::{Arrays, Inputs};
use compiled::Prepared;
use device::OpenDevice;
use std::sync::{Arc, OnceLock};

#[cfg(test)]
use golden::{assert_snapshot, code};

pub use accel_codegen::opencl::Shape;
use accel_codegen::opencl::Target;
pub use accel_fusion::pipeline::Options;
pub use arrays::{Compiled, DeviceArray, DeviceInputs, Running};
pub use devices::{Device, DeviceType, choose, default_device, devices};

/// The backend on one device.
#[derive(Clone)]
pub struct OpenCl {
    device: Arc<OpenDevice>,
    target: Target,
    /// After so many small runs of a program, one is recorded.
    record_after: usize,
    /// Where they are not those of the environment.
    options: Option<Options>,
}

impl OpenCl {
    /// The backend on a device.
    ///
    /// # Errors
    /// `Error::Device` if the driver does not open it.
    pub fn on(device: &Device) -> Result<OpenCl> {
        let device = OpenDevice::open(device)?;
        Ok(OpenCl { target: device.target(), device, record_after: replay::AFTER, options: None })
    }

    /// The backend on the [`default_device`], found once.
    ///
    /// # Errors
    /// `Error::Device` if there is no such device.
    pub fn shared() -> Result<&'static OpenCl> {
        static SHARED: OnceLock<Result<OpenCl>> = OnceLock::new();
        SHARED.get_or_init(|| OpenCl::on(&default_device()?)).as_ref().map_err(Clone::clone)
    }

    /// With kernels of another shape than the device's type asks for, which are slower; for tests.
    pub fn with_shape(mut self, shape: Shape) -> OpenCl {
        self.target.shape = shape;
        self
    }

    /// Whether groups of kernels for graphics cards wait for each other, to scan long rows in one launch; for tests. Kernels may never end on
    /// devices that do not ask for it by themselves. It needs atomic operations on 64-bit integers; without them nothing changes.
    pub fn with_look_back(mut self, look_back: bool) -> OpenCl {
        self.target.look_back = look_back && self.target.atomics_64;
        self
    }

    /// Small runs are recorded at once instead of after some with the same extents; for tests.
    pub fn with_recording(mut self) -> OpenCl {
        self.record_after = 0;
        self
    }

    /// With options of its own, whatever the environment says.
    pub fn with_options(mut self, options: Options) -> OpenCl {
        self.options = Some(options);
        self
    }

    fn prepare(&self, program: &Program) -> Result<Prepared> {
        let options = self.options.clone().unwrap_or_else(Options::from_env);
        Prepared::new(program, self.device.clone(), self.target.clone(), self.record_after, options)
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device.about
    }

    /// Arrays on the device, where they stay until they are dropped.
    ///
    /// # Errors
    /// No memory, and what the driver says.
    pub fn to_device<A: Arrays>(&self, arrays: impl Inputs<A>) -> Result<DeviceArray<A>> {
        DeviceArray::new(&self.device, &arrays.to_tuple())
    }

    /// Compiles a program, to be run with arrays of the host or of the device.
    ///
    /// # Errors
    /// What is wrong with the program, what the device lacks, and what its compiler says.
    pub fn compile<A: Arrays, R: Arrays>(&self, program: &Afun<A, R>) -> Result<Compiled<A, R>> {
        Ok(Compiled::new(self.prepare(program.program()?)?, self.device.clone()))
    }

    /// The bytes of buffers that are in use, and of those that are kept to be used again.
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
}
