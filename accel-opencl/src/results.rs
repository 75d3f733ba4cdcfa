//! Arrays of the device come back to the host.

use crate::cl::{Event, Queue};
use crate::code::{Code, mem};
use crate::device::OpenDevice;
use crate::fault;
use crate::memory::Buffer;
use crate::run::{Array, Enqueued};
use crate::shapes::Shapes;
use accel_codegen::fault::record_length;
use accel_core::error::{Error, Result};
use accel_core::repr::{Column, Columns, RawArray, RawExtents, ScalarType};
use std::sync::Arc;

/// Columns on their way to the host. When this is dropped, it waits: the device writes to their memory.
#[derive(Default)]
struct Transfer {
    events: Vec<Event>,
    columns: Vec<Arriving>,
    record: Vec<i64>,
}

/// A column on its way.
enum Arriving {
    /// Elements are copied to it, or it is there.
    Column(Column),
    /// The elements are in the memory of the host.
    Buffer(Arc<Buffer>),
}

impl Drop for Transfer {
    fn drop(&mut self) {
        self.events.iter().for_each(|e| drop(e.wait()));
    }
}

impl Transfer {
    /// Enqueues that a column comes. Its memory is taken over if nobody else has it.
    fn column(
        &mut self,
        queue: &Queue,
        t: ScalarType,
        n: usize,
        host: Option<Column>,
        buffer: Option<Arc<Buffer>>,
    ) -> Result<()> {
        let arriving = match (host, buffer) {
            (Some(column), _) => Arriving::Column(column),
            (None, Some(buffer)) if buffer.is_column() && Arc::strong_count(&buffer) == 1 => {
                let bytes = accel_codegen::opencl::size_of(t, n);
                self.events.push(queue.publish(mem(&buffer)?, bytes)?);
                Arriving::Buffer(buffer)
            }
            (None, buffer) => {
                let full = || Error::Memory { op: "results".into(), shape: vec![n] };
                let mut column = Column::zeros(t, n).ok_or_else(full)?;
                if let Some(buffer) = buffer {
                    let (bytes, data) = (column.bytes(), column.as_mut_ptr().ok_or_else(full)?);
                    // SAFETY: the column has so many bytes, which do not move with it, and it is not dropped before the event: see `drop`.
                    let event = unsafe { queue.read(mem(&buffer)?, 0, data.cast(), bytes)? };
                    self.events.push(event);
                }
                Arriving::Column(column)
            }
        };
        self.columns.push(arriving);
        Ok(())
    }

    /// Enqueues that the record of faults comes.
    fn record(&mut self, code: &Code, record: &Buffer) -> Result<()> {
        self.record = vec![0; record_length(&code.program)];
        let (data, bytes) = (self.record.as_mut_ptr(), 8 * self.record.len());
        // SAFETY: the numbers are not moved or dropped before the event: see `drop`.
        self.events.push(unsafe { code.device.queue.read(mem(record)?, 0, data.cast(), bytes)? });
        Ok(())
    }

    /// Waits for all of it, awake at first if the run had `little` to do.
    fn finish(&mut self, device: &OpenDevice, little: bool) -> Result<()> {
        // The queue is in order: the last one is the end of all.
        if let Some(last) = self.events.last() {
            device.wait(last, little)?;
        }
        self.events.clear();
        Ok(())
    }

    /// The columns, in the order in which they were asked for.
    fn columns(mut self) -> Result<Vec<Column>> {
        let taken = |c| match c {
            Arriving::Column(c) => Ok(c),
            Arriving::Buffer(b) => {
                let column = Arc::into_inner(b).and_then(Buffer::into_column);
                column.ok_or_else(|| Error::Internal("a result that somebody else has".into()))
            }
        };
        std::mem::take(&mut self.columns).into_iter().map(taken).collect()
    }
}

/// The results of a run on the host.
///
/// # Errors
/// What has failed on the device, and what the driver says.
pub fn to_host(code: &Code, run: Enqueued) -> Result<Vec<RawArray>> {
    let Enqueued { results, record, shapes, little } = run;
    let types = |k: usize| &code.program.arrays[code.program.results[k]].columns[..];
    let mut transfer = Transfer::default();
    let arriving =
        arrive(&mut transfer, &code.device.queue, results.into_iter().enumerate().map(|(k, a)| (a, types(k))))?;
    if let Some(record) = &record {
        transfer.record(code, record)?;
    }
    transfer.finish(&code.device, little)?;
    clean(code, record, &shapes, &transfer.record)?;
    assemble(arriving, transfer.columns()?)
}

/// A run whose end nobody has waited for.
pub struct Pending {
    code: Arc<Code>,
    transfer: Transfer,
    record: Option<Arc<Buffer>>,
    shapes: Arc<Shapes>,
}

impl Pending {
    /// Enqueues what is needed to know how a run ends.
    ///
    /// # Errors
    /// What the driver says.
    pub fn new(code: Arc<Code>, record: Option<Arc<Buffer>>, shapes: Arc<Shapes>) -> Result<Pending> {
        let mut transfer = Transfer::default();
        if let Some(record) = &record {
            transfer.record(&code, record)?;
        }
        Ok(Pending { code, transfer, record, shapes })
    }

    /// Waits for the end of the run.
    ///
    /// # Errors
    /// As [`to_host`].
    pub fn wait(mut self) -> Result<()> {
        if self.record.is_none() {
            self.transfer.events.push(self.code.device.queue.marker()?);
        }
        self.transfer.finish(&self.code.device, false)?;
        clean(&self.code, self.record.take(), &self.shapes, &self.transfer.record)
    }
}

impl Drop for Pending {
    /// The device may still write to the record: it is put aside, so that nobody has to wait.
    fn drop(&mut self) {
        let Transfer { events, record, .. } = &mut self.transfer;
        events.drain(..).for_each(|e| self.code.device.put_aside(e, std::mem::take(record)));
    }
}

/// What has failed; a record that says nothing can be used again.
fn clean(code: &Code, record: Option<Arc<Buffer>>, shapes: &Shapes, numbers: &[i64]) -> Result<()> {
    let Some(record) = record else { return Ok(()) };
    match fault::failure(&code.program, &shapes.extents, numbers) {
        Some(e) => Err(e),
        None => {
            code.give_back_record(record);
            Ok(())
        }
    }
}

/// Copies of arrays on the host.
///
/// # Errors
/// What the driver says.
pub fn copies(device: &OpenDevice, arrays: &[(Array, Vec<ScalarType>)]) -> Result<Vec<RawArray>> {
    let mut transfer = Transfer::default();
    let shapes = arrive(&mut transfer, &device.queue, arrays.iter().map(|(a, types)| (a.clone(), &types[..])))?;
    transfer.finish(device, false)?;
    assemble(shapes, transfer.columns()?)
}

/// Enqueues that arrays with columns of these types come. Their extents and numbers of columns.
fn arrive<'t>(
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
