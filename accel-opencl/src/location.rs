//! The locations of arrays' columns, and copies of columns to the device.

use crate::cl;
use crate::device::OpenDevice;
use crate::memory::{Buffer, Failure};
use accel_core::error::{Error, Result};
use accel_core::repr::{Column, Columns, RawArray};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// An argument or a result.
#[derive(Clone)]
pub struct Array {
    pub extents: Vec<i64>,
    pub place: Location,
}

/// Where the columns of an array are: on the host, on the device, or on both.
#[derive(Clone, Default)]
pub struct Location {
    pub host: Option<Columns>,
    pub device: Buffers,
}

/// The columns of an array on the device; `None` where a column is empty, or was not copied yet.
pub type Buffers = SmallVec<[Option<Arc<Buffer>>; 1]>;

impl Array {
    /// An argument on the host.
    pub fn host(a: &RawArray) -> Array {
        let extents = a.extents.iter().map(|e| *e as i64).collect();
        Array { extents, place: Location { host: Some(a.columns.clone()), device: smallvec![None; a.columns.len()] } }
    }
}

/// Copies the columns of an array to the device.
pub fn upload(device: &OpenDevice, a: &RawArray) -> Result<Buffers> {
    a.columns.iter().map(|c| upload_column(device, c, || a.extents.to_vec())).collect()
}

/// Copies a column to the device; `None` if it is empty. `extents` are for error messages.
pub fn upload_column(device: &OpenDevice, c: &Column, extents: impl Fn() -> Vec<usize>) -> Result<Option<Arc<Buffer>>> {
    if c.is_empty() {
        return Ok(None);
    }
    let failed = |f| failure(device, f, || "`argument`".into(), &extents(), c.bytes());
    let buffer = device.memory.plain(c.bytes()).map_err(failed)?;
    if c.len() > 1 {
        // SAFETY: the column has this number of bytes.
        unsafe { device.queue.write(mem(&buffer)?, c.as_ptr().cast(), c.bytes())? };
        return Ok(Some(buffer));
    }
    // SAFETY: a column of one element has this number of bytes.
    let value = unsafe { std::slice::from_raw_parts(c.as_ptr(), c.bytes()) };
    device.queue.fill(mem(&buffer)?, value, c.bytes())?;
    Ok(Some(buffer))
}

/// The memory of a buffer, for commands.
pub fn mem(b: &Buffer) -> Result<&cl::Buffer> {
    b.mem().ok_or_else(|| Error::Internal("a buffer after its end".into()))
}

/// The error of an array for which there is no memory. `bytes` is the size of the column.
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
