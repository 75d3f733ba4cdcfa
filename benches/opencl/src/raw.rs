//! The speed of the device itself, by OpenCL calls without accel.

use accel::opencl::Device;
use bench_common::case::Result;
use ocl::{Buffer, Context, Kernel, MemFlags, Platform, Program, Queue};

/// A queue on a device.
fn queue(device: &Device) -> Result<Queue> {
    for platform in Platform::list() {
        for candidate in ocl::Device::list_all(platform)? {
            if candidate.name()? == device.name {
                let context = Context::builder().platform(platform).devices(candidate).build()?;
                return Ok(Queue::new(&context, candidate, None)?);
            }
        }
    }
    Err(format!("{} is gone", device.name).into())
}

/// Copies on the device that together read and write this number of bytes. The host waits for each of them.
pub fn copies(device: &Device, bytes: usize) -> Result<impl FnMut() -> Result<()> + 'static> {
    let queue = queue(device)?;
    let words = bytes / 2 / size_of::<f32>();
    let buffer = || {
        let flags = MemFlags::new().read_write();
        Buffer::<f32>::builder().queue(queue.clone()).flags(flags).len(words).fill_val(1.0).build()
    };
    let (from, to) = (buffer()?, buffer()?);
    Ok(move || {
        from.copy(&to, None, None).enq()?;
        Ok(queue.finish()?)
    })
}

/// This number of launches of an empty kernel, and one wait for all of them.
pub fn empty_launches(device: &Device, count: usize) -> Result<impl FnMut() -> Result<()> + 'static> {
    let queue = queue(device)?;
    let source = "kernel void nothing(void) {}";
    let program = Program::builder().src(source).devices(queue.device()).build(&queue.context())?;
    let kernel =
        Kernel::builder().program(&program).name("nothing").queue(queue.clone()).global_work_size(1).build()?;
    Ok(move || {
        for _ in 0..count {
            // SAFETY: the kernel has no arguments and touches no memory.
            unsafe { kernel.enq()? };
        }
        Ok(queue.finish()?)
    })
}
