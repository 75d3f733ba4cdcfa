//! Deferred launches: several small launches become one command, see NOTE [Batches of small statements] of the
//! generator.
//!
//! NOTE [Deferred launches]: a launch is deferred if it does little work and its kernel is part of a larger one.
//! Deferred launches go to the queue as one command in three cases: when a launch comes that cannot join them, when
//! something else is enqueued that may need their results, and at the end of the run. NOTE [Buffer reuse on an in-order
//! queue] is about commands of the queue, so buffers that the run releases meanwhile are held until then.

use crate::cl::{Event, Kernel, Mem, Value};
use crate::commands::{Command, Commands};
use crate::device_module::DeviceModule;
use crate::memory::Buffer;
use accel_codegen::opencl::{Batch, Launch, PartId, Place};
use accel_core::error::{Error, Result};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// The kernel objects, which one run uses at a time, and the deferred launches.
#[derive(Default)]
pub struct Kernels {
    by_name: HashMap<String, Kernel>,
    together: HashMap<usize, Object>,
    waiting: Deferred,
    /// The event of the last launch, if host and device share memory: NOTE [Shared virtual memory].
    pub end: Option<Event>,
    /// The commands recorded so far, if the run is recorded: NOTE [Recorded runs].
    pub recorded: Option<Commands>,
}

/// A kernel for a batch. Its parameters keep the values of the last launch, since most of them are the same again.
struct Object {
    kernel: Kernel,
    numbers: Vec<i64>,
    buffer: Option<Mem>,
}

/// The deferred launches.
#[derive(Default)]
struct Deferred {
    /// The kernel, and the part of it that can come next.
    next: Option<PartId>,
    numbers: Vec<i64>,
    /// For each parameter, whether it was set.
    is_set: Vec<bool>,
    held: Vec<Arc<Buffer>>,
}

impl Kernels {
    /// The kernel objects for a run that is recorded.
    pub fn recording() -> Kernels {
        Kernels { recorded: Some(Commands::default()), ..Kernels::default() }
    }

    /// Enqueues or defers a launch. The arguments are in the order of the kernel's parameters. `operations` is the
    /// approximate number of simple operations of the statement.
    ///
    /// # Errors
    /// An error of the driver.
    pub fn launch<'v>(
        &mut self,
        module: &DeviceModule,
        launch: &Launch,
        operations: usize,
        values: impl Iterator<Item = Value<'v>>,
    ) -> Result<()> {
        if let Some(part) = launch.kernel.part
            && let Some(found) = module.emitted.batches[part.0].parts.get(part.1)
            && found.suits(launch.global[0], operations, module.target.units)
        {
            return self.wait(module, part, launch.global[0], values);
        }
        self.flush(module)?;
        let kernel = self.by_name(module, &launch.kernel.name)?;
        values.enumerate().try_for_each(|(index, value)| kernel.set(index, value))?;
        // SAFETY: the program was verified and the kernel was generated from it. The parameters are those that the
        // emitter demands. The kernel checks every index that was not proved to be within bounds.
        let end = unsafe {
            module.device.queue.launch(kernel, &launch.global, &launch.group, module.device.memory.is_seen())?
        };
        self.end = end;
        if let Some(recorded) = &mut self.recorded {
            let kernel = self.by_name.remove(&*launch.kernel.name).ok_or_else(missing)?;
            let (global, group) = (launch.global, launch.group);
            recorded.commands.push(Command { kernel, _numbers: None, global, group });
        }
        Ok(())
    }

    /// Defers a launch.
    fn wait<'v>(
        &mut self,
        module: &DeviceModule,
        part: PartId,
        items: usize,
        values: impl Iterator<Item = Value<'v>>,
    ) -> Result<()> {
        if self.waiting.next.is_some_and(|next| next.0 != part.0 || next > part) {
            self.flush(module)?;
        }
        let together = &module.emitted.batches[part.0];
        if self.waiting.next.is_none() {
            self.waiting.begin(together);
        }
        self.waiting.next = Some((part.0, part.1 + 1));
        let object = batch_object(&mut self.together, module, part.0)?;
        let part = &together.parts[part.1];
        for (place, value) in part.args.iter().zip(values) {
            match (*place, value) {
                (Place::Number(k), Value::Number(n)) => self.waiting.numbers[k] = n,
                (Place::Parameter(k), value @ Value::Buffer(_)) => {
                    object.kernel.set(k, value)?;
                    self.waiting.is_set[k] = true;
                }
                _ => return Err(Error::Internal("an argument of another kind".into())),
            }
        }
        self.waiting.numbers[part.items] = items as i64;
        Ok(())
    }

    /// Enqueues the deferred launches.
    ///
    /// # Errors
    /// An error of the driver.
    pub fn flush(&mut self, module: &DeviceModule) -> Result<()> {
        let Some((number, _)) = self.waiting.next.take() else { return Ok(()) };
        // The held buffers can be reused when this function has enqueued the launches.
        let _held = std::mem::take(&mut self.waiting.held);
        let object = batch_object(&mut self.together, module, number)?;
        if object.buffer.is_none() || object.numbers != self.waiting.numbers {
            object.numbers.clone_from(&self.waiting.numbers);
            object.buffer = Some(module.device.memory.context().numbers(&object.numbers)?);
        }
        object.kernel.set(0, Value::Buffer(object.buffer.as_ref()))?;
        // An unused parameter could still refer to a buffer that no longer exists.
        for (k, _) in self.waiting.is_set.iter().enumerate().skip(1).filter(|(_, is_set)| !**is_set) {
            object.kernel.set(k, Value::Buffer(None))?;
        }
        let ones = [1, 1];
        // SAFETY: as for the launches of the parts.
        self.end = unsafe { module.device.queue.launch(&object.kernel, &ones, &ones, module.device.memory.is_seen())? };
        if let Some(recorded) = &mut self.recorded {
            let Object { kernel, buffer: _numbers, .. } = self.together.remove(&number).ok_or_else(missing)?;
            recorded.commands.push(Command { kernel, _numbers, global: ones, group: ones });
        }
        Ok(())
    }

    /// Keeps a buffer that the run does not need any more, as long as deferred or recorded launches may use it.
    pub fn hold(&mut self, buffer: Arc<Buffer>) {
        if let Some(recorded) = &mut self.recorded {
            recorded.held.push(buffer);
        } else if self.waiting.next.is_some() {
            self.waiting.held.push(buffer);
        }
    }

    /// Notes that other commands were enqueued besides launches. So the recorded launches are not complete, and the
    /// event of the last launch is not the end of the run.
    pub fn also_enqueued(&mut self) {
        self.end = None;
        let held = self.recorded.take().map(|r| r.held);
        held.into_iter().flatten().for_each(|b| self.hold(b));
    }

    /// The kernel with this name.
    fn by_name(&mut self, module: &DeviceModule, name: &str) -> Result<&mut Kernel> {
        if !self.by_name.contains_key(name) {
            self.by_name.insert(name.into(), module.kernel(name)?);
        }
        self.by_name.get_mut(name).ok_or_else(missing)
    }
}

/// The object of the kernel for a batch.
fn batch_object<'o>(
    objects: &'o mut HashMap<usize, Object>,
    module: &DeviceModule,
    number: usize,
) -> Result<&'o mut Object> {
    if let Entry::Vacant(free) = objects.entry(number) {
        let kernel = module.kernel(&module.emitted.batches[number].name)?;
        free.insert(Object { kernel, numbers: vec![], buffer: None });
    }
    objects.get_mut(&number).ok_or_else(missing)
}

fn missing() -> Error {
    Error::Internal("a kernel that was just made".into())
}

impl Deferred {
    fn begin(&mut self, together: &Batch) {
        self.numbers.clear();
        self.numbers.resize(together.numbers, 0);
        self.is_set.clear();
        self.is_set.resize(1 + together.buffers, false);
    }
}
