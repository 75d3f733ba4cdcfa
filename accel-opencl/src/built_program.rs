//! A kernel program, compiled for a device.

use crate::batch::Kernels;
use crate::cl::{self, Kernel, Mem};
use crate::device::OpenDevice;
use crate::launch_cache::Shapes;
use crate::memory::{Buffer, Failure};
use crate::plan::Plan;
use crate::run::{Array, Buffers};
use accel_codegen::fault::record_length;
use accel_codegen::liveness::analyse;
use accel_codegen::opencl::{Module, Target, emit};
use accel_core::error::{Error, Result};
use accel_core::print;
use accel_core::repr::{Column, RawArray};
use accel_fusion::kernel::{Program, Verified};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What all runs of a program share.
pub struct Code {
    pub device: Arc<OpenDevice>,
    pub target: Target,
    pub program: Verified<Program>,
    pub plan: Plan,
    pub module: Module,
    built: Arc<cl::Program>,
    /// The columns of the literals on the device.
    pub literals: Vec<Buffers>,
    spare: Mutex<Spare>,
}

/// What a run leaves for the next one.
#[derive(Default)]
struct Spare {
    kernels: Vec<Kernels>,
    /// NOTE [The shapes of the last run]
    shapes: Option<Arc<Shapes>>,
    /// Records of faults that are all zero.
    records: Vec<Arc<Buffer>>,
}

impl Code {
    /// Compiles a program.
    ///
    /// # Errors
    /// `Error::Device`.
    pub fn new(program: Verified<Program>, device: Arc<OpenDevice>, target: Target) -> Result<Code> {
        print::dump_with("kernels", || program.to_string());
        let module = emit(&program, &target);
        print::dump_with("opencl", || module.source.clone());
        if module.needs_fp64 && !device.about.fp64 {
            let name = &device.about.name;
            return Err(Error::Device(format!("the program has numbers of type f64, and {name} has none: use f32")));
        }
        let built = device.build(&module.source)?;
        let literals = program.literals.iter().map(|a| upload(&device, a)).collect::<Result<_>>()?;
        let plan = Plan::new(analyse(&program));
        Ok(Code { device, target, plan, program, module, built, literals, spare: Mutex::default() })
    }

    fn spare(&self) -> MutexGuard<'_, Spare> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kernel objects that nobody else uses: a run has its own, because parameters are set on the object.
    pub fn kernels(&self) -> Kernels {
        self.spare().kernels.pop().unwrap_or_default()
    }

    /// Takes kernel objects back, when their calls have been enqueued.
    pub fn give_back(&self, kernels: Kernels) {
        self.spare().kernels.push(kernels);
    }

    /// The shapes of the last run, if it had arguments of the same extents.
    pub fn shapes_of(&self, arguments: &[Array]) -> Option<Arc<Shapes>> {
        let last = self.spare().shapes.clone()?;
        let mut inputs = self.program.inputs.iter().zip(arguments);
        inputs.all(|(a, given)| last.extents[*a] == given.extents).then_some(last)
    }

    /// Keeps the shapes of a run for the next one.
    pub fn remember(&self, shapes: &Arc<Shapes>) {
        self.spare().shapes = Some(shapes.clone());
    }

    /// A new kernel object.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        self.built.kernel(name)
    }

    /// A record of faults, all zero.
    pub fn record(&self) -> Result<Arc<Buffer>> {
        if let Some(clean) = self.spare().records.pop() {
            return Ok(clean);
        }
        let bytes = 8 * record_length(&self.program);
        let record = self.device.memory.plain(bytes).map_err(|_| no_memory("a record of faults"))?;
        self.device.queue.fill(mem(&record)?, &[0; 8], bytes)?;
        Ok(record)
    }

    /// Takes a record back that has been read and found to be zero.
    pub fn give_back_record(&self, record: Arc<Buffer>) {
        self.spare().records.push(record);
    }
}

/// The columns of an array on the device.
pub fn upload(device: &OpenDevice, a: &RawArray) -> Result<Buffers> {
    a.columns.iter().map(|c| upload_column(device, c, || a.extents.to_vec())).collect()
}

/// A column on the device; none if it is empty. `extents` are for messages.
pub fn upload_column(device: &OpenDevice, c: &Column, extents: impl Fn() -> Vec<usize>) -> Result<Option<Arc<Buffer>>> {
    if c.is_empty() {
        return Ok(None);
    }
    let failed = |f| failure(device, f, || "`argument`".into(), &extents(), c.bytes());
    if c.len() > 1
        && let Some(shared) = device.memory.share(c).map_err(failed)?
    {
        return Ok(Some(shared));
    }
    if c.len() > 1 {
        return copy_column(device, c, extents);
    }
    let buffer = device.memory.plain(c.bytes()).map_err(failed)?;
    // SAFETY: a column of one element has that many bytes.
    let value = unsafe { std::slice::from_raw_parts(c.as_ptr(), c.bytes()) };
    device.queue.fill(mem(&buffer)?, value, c.bytes())?;
    Ok(Some(buffer))
}

/// A column in memory of its own on the device, when all commands before have ended; none if it is empty. `extents` are for messages.
pub fn copy_column(device: &OpenDevice, c: &Column, extents: impl Fn() -> Vec<usize>) -> Result<Option<Arc<Buffer>>> {
    if c.is_empty() {
        return Ok(None);
    }
    let failed = |f| failure(device, f, || "`argument`".into(), &extents(), c.bytes());
    let buffer = device.memory.plain(c.bytes()).map_err(failed)?;
    // SAFETY: the column has that many bytes.
    unsafe { device.queue.write(mem(&buffer)?, c.as_ptr().cast(), c.bytes())? };
    Ok(Some(buffer))
}

/// What a command uses of a buffer.
pub fn mem(b: &Buffer) -> Result<&Mem> {
    b.mem().ok_or_else(|| Error::Internal("a buffer after its end".into()))
}

fn no_memory(what: &str) -> Error {
    Error::Device(format!("there is no memory for {what}"))
}

/// The error of memory for an array that cannot be had. `bytes` are those of the column.
pub fn failure(device: &OpenDevice, f: Failure, op: impl FnOnce() -> String, extents: &[usize], bytes: usize) -> Error {
    match f {
        Failure::Driver(e) => e,
        Failure::Full => Error::Memory { op: op(), shape: extents.to_vec() },
        Failure::TooLarge => Error::Device(format!(
            "{}: an array of shape {extents:?} takes {bytes} bytes in one piece, and {} has pieces of at most {} bytes",
            op(),
            device.about.name,
            device.about.largest_buffer,
        )),
    }
}
