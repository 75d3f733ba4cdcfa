//! Reads arrays of the device back to the host.

use crate::built_program::BuiltProgram;
use crate::cl::{Event, Queue};
use crate::device::OpenDevice;
use crate::fault;
use crate::location::{Array, Location, mem};
use crate::memory::Buffer;
use crate::run::Enqueued;
use crate::shapes::Shapes;
use accel_core::error::{Error, Result};
use accel_core::repr::{Column, Columns, RawArray, RawExtents, ScalarType};
use std::sync::Arc;

/// Columns on their way to the host. A drop waits for them, because the device writes to their memory.
#[derive(Default)]
struct Transfer {
    events: Vec<Event>,
    /// Those that receive a copy of the elements, or have them already.
    columns: Vec<Column>,
}

impl Drop for Transfer {
    fn drop(&mut self) {
        self.events.iter().for_each(|e| drop(e.wait()));
    }
}

impl Transfer {
    /// Enqueues the transfer of a column.
    fn column(
        &mut self,
        queue: &Queue,
        t: ScalarType,
        n: usize,
        host: Option<Column>,
        buffer: Option<Arc<Buffer>>,
    ) -> Result<()> {
        if let Some(column) = host {
            self.columns.push(column);
            return Ok(());
        }
        let full = || Error::Memory { op: "results".into(), shape: vec![n] };
        let mut column = Column::zeros(t, n).ok_or_else(full)?;
        if let Some(buffer) = buffer {
            let (bytes, data) = (column.bytes(), column.as_mut_ptr().ok_or_else(full)?);
            // SAFETY: the column has this many bytes, which do not move with it, and it is not dropped before the event:
            // see `drop`.
            let event = unsafe { queue.read(mem(&buffer)?, 0, data.cast(), bytes)? };
            self.events.push(event);
        }
        self.columns.push(column);
        Ok(())
    }

    /// Enqueues the transfer of the fault record, as the last column.
    fn record(&mut self, code: &BuiltProgram, record: &Option<Arc<Buffer>>) -> Result<()> {
        let Some(record) = record else { return Ok(()) };
        self.column(&code.module.device.queue, ScalarType::I64, code.record_length, None, Some(record.clone()))
    }

    /// Waits for all transfers, and returns the columns in the order of the requests.
    fn finish(mut self, device: &OpenDevice) -> Result<Vec<Column>> {
        // The queue is in order, so the last event is the end of all commands.
        if let Some(last) = self.events.last() {
            device.wait(last)?;
        }
        self.events.clear();
        Ok(std::mem::take(&mut self.columns))
    }
}

/// The columns of an array of `n` elements on the host.
///
/// # Errors
/// A failure of the device, or a lack of memory.
pub fn columns(code: &BuiltProgram, place: &Location, types: &[ScalarType], n: usize) -> Result<Columns> {
    let device = &code.module.device;
    let mut transfer = Transfer::default();
    for (k, t) in types.iter().enumerate() {
        let host = place.host.as_ref().map(|columns| columns[k].clone());
        transfer.column(&device.queue, *t, n, host, place.device.get(k).cloned().flatten())?;
    }
    Ok(transfer.finish(device)?.into())
}

/// The results of a run on the host.
///
/// # Errors
/// A failure on the device, or an error of the driver.
pub fn to_host(code: &BuiltProgram, run: Enqueued) -> Result<Vec<RawArray>> {
    let Enqueued { results, record, shapes } = run;
    let types = |k: usize| &code.program.arrays[code.program.results[k]].columns[..];
    let mut transfer = Transfer::default();
    let arriving = enqueue_transfer(
        &mut transfer,
        &code.module.device.queue,
        results.into_iter().enumerate().map(|(k, a)| (a, types(k))),
    )?;
    transfer.record(code, &record)?;
    let mut columns = transfer.finish(&code.module.device)?;
    check(code, &record, &shapes, &mut columns)?;
    record.into_iter().for_each(|r| code.give_back_record(r));
    assemble(arriving, columns)
}

/// A run whose end nobody has waited for yet.
pub struct Pending {
    code: Arc<BuiltProgram>,
    transfer: Transfer,
    record: Option<Arc<Buffer>>,
    shapes: Arc<Shapes>,
}

impl Pending {
    /// Enqueues what is needed to find out how a run ends.
    ///
    /// # Errors
    /// An error of the driver.
    pub fn new(code: Arc<BuiltProgram>, record: Option<Arc<Buffer>>, shapes: Arc<Shapes>) -> Result<Pending> {
        let mut transfer = Transfer::default();
        transfer.record(&code, &record)?;
        Ok(Pending { code, transfer, record, shapes })
    }

    /// Waits for the end of the run.
    ///
    /// # Errors
    /// As [`to_host`].
    pub fn wait(mut self) -> Result<()> {
        if self.transfer.events.is_empty() {
            self.transfer.events.push(self.code.module.device.queue.marker()?);
        }
        let mut columns = std::mem::take(&mut self.transfer).finish(&self.code.module.device)?;
        check(&self.code, &self.record, &self.shapes, &mut columns)?;
        self.record.take().into_iter().for_each(|r| self.code.give_back_record(r));
        Ok(())
    }
}

impl Drop for Pending {
    /// The device may still write to the record: it is put aside, so that nobody has to wait.
    fn drop(&mut self) {
        let Transfer { events, columns } = &mut self.transfer;
        for (event, column) in events.drain(..).zip(columns.drain(..)) {
            self.code.module.device.keep_until(event, column);
        }
    }
}

/// Removes the last column if it is the fault record, and checks it.
fn check(code: &BuiltProgram, record: &Option<Arc<Buffer>>, shapes: &Shapes, columns: &mut Vec<Column>) -> Result<()> {
    if record.is_none() {
        return Ok(());
    }
    let Some(Column::I64(numbers)) = columns.pop() else {
        return Err(Error::Internal("a run without its record of faults".into()));
    };
    fault::error_of_record(&code.program, &shapes.extents, &numbers)
}

/// Copies arrays to the host.
///
/// # Errors
/// An error of the driver.
pub fn copies(device: &OpenDevice, arrays: &[(Array, Vec<ScalarType>)]) -> Result<Vec<RawArray>> {
    let mut transfer = Transfer::default();
    let shapes =
        enqueue_transfer(&mut transfer, &device.queue, arrays.iter().map(|(a, types)| (a.clone(), &types[..])))?;
    assemble(shapes, transfer.finish(device)?)
}

/// Enqueues the transfer of arrays with columns of these types. Returns their extents and numbers of columns.
fn enqueue_transfer<'t>(
    transfer: &mut Transfer,
    queue: &Queue,
    arrays: impl Iterator<Item = (Array, &'t [ScalarType])>,
) -> Result<Vec<(RawExtents, usize)>> {
    let one = |(a, types): (Array, &[ScalarType])| {
        let shape: RawExtents = a.extents.iter().map(|e| *e as usize).collect();
        let n = shape.iter().product();
        let mut host = a.place.host.map(Columns::into_iter);
        let mut device = a.place.device.into_iter();
        for t in types {
            let host = host.as_mut().and_then(Iterator::next);
            transfer.column(queue, *t, n, host, device.next().flatten())?;
        }
        Ok((shape, types.len()))
    };
    arrays.map(one).collect()
}

fn assemble(shapes: Vec<(RawExtents, usize)>, columns: Vec<Column>) -> Result<Vec<RawArray>> {
    let mut columns = columns.into_iter();
    let one = |(extents, n): (RawExtents, usize)| RawArray { extents, columns: columns.by_ref().take(n).collect() };
    Ok(shapes.into_iter().map(one).collect())
}
