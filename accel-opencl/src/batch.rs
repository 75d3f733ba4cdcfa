//! Launches that wait for others, to be one command with them: see NOTE [Small statements together] of the generator.
//!
//! NOTE [Launches that wait]
//! A launch with little work, whose kernel is a part of a larger one, waits for the next ones; they go to the queue as one command when one
//! comes that cannot join them, when something else is enqueued that may need what they do, and at the end of the run. NOTE [Order makes
//! reuse safe] speaks of the commands of the queue, so buffers that the run lets go meanwhile are held until then.

use crate::built_program::Code;
use crate::cl::{Event, Kernel, Mem, Value};
use crate::memory::Buffer;
use crate::replay::{Command, Commands};
use accel_codegen::opencl::{Batch, Launch, PartId, Place};
use accel_core::error::{Error, Result};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// Kernel objects of one run at a time, and the launches that wait.
#[derive(Default)]
pub struct Kernels {
    by_name: HashMap<String, Kernel>,
    together: HashMap<usize, Object>,
    waiting: Waiting,
    /// The end of the last launch, if the host sees memory: NOTE [Memory that the host sees].
    pub end: Option<Event>,
    /// What is recorded, if it is: NOTE [Recorded runs].
    pub recorded: Option<Commands>,
}

/// A kernel that does what others do, with its numbers on the device as they were the last time: mostly they are the same again.
struct Object {
    kernel: Kernel,
    numbers: Vec<i64>,
    buffer: Option<Mem>,
}

/// The launches that wait.
#[derive(Default)]
struct Waiting {
    /// The kernel, and which of its parts may come next.
    next: Option<PartId>,
    numbers: Vec<i64>,
    /// Which parameters have been set.
    is_set: Vec<bool>,
    held: Vec<Arc<Buffer>>,
}

impl Kernels {
    /// For a run that is recorded.
    pub fn recording() -> Kernels {
        Kernels { recorded: Some(Commands::default()), ..Kernels::default() }
    }

    /// Enqueues a launch, or lets it wait. Its arguments are in the order of the kernel's parameters; its statement takes about so many simple
    /// operations.
    ///
    /// # Errors
    /// What the driver says.
    pub fn launch<'v>(
        &mut self,
        code: &Code,
        launch: &Launch,
        operations: usize,
        values: impl Iterator<Item = Value<'v>>,
    ) -> Result<()> {
        if let Some(part) = launch.kernel.part
            && let Some(found) = code.module.batches[part.0].parts.get(part.1)
            && found.suits(launch.global[0], operations, code.target.units)
        {
            return self.wait(code, part, launch.global[0], values);
        }
        self.flush(code)?;
        let kernel = self.by_name(code, &launch.kernel.name)?;
        values.enumerate().try_for_each(|(index, value)| kernel.set(index, value))?;
        // SAFETY: the program was verified and the kernel was made from it, and its parameters are what the emitter asks for: it checks
        // every index that is not known to be inside.
        let end =
            unsafe { code.device.queue.launch(kernel, &launch.global, &launch.group, code.device.memory.is_seen())? };
        self.end = end;
        if let Some(recorded) = &mut self.recorded {
            let kernel = self.by_name.remove(&*launch.kernel.name).ok_or_else(missing)?;
            let (global, group) = (launch.global, launch.group);
            recorded.commands.push(Command { kernel, _numbers: None, global, group });
        }
        Ok(())
    }

    /// Lets a launch wait.
    fn wait<'v>(
        &mut self,
        code: &Code,
        part: PartId,
        items: usize,
        values: impl Iterator<Item = Value<'v>>,
    ) -> Result<()> {
        if self.waiting.next.is_some_and(|next| next.0 != part.0 || next > part) {
            self.flush(code)?;
        }
        let together = &code.module.batches[part.0];
        if self.waiting.next.is_none() {
            self.waiting.begin(together);
        }
        self.waiting.next = Some((part.0, part.1 + 1));
        let object = together_object(&mut self.together, code, part.0)?;
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

    /// Enqueues the launches that wait.
    ///
    /// # Errors
    /// What the driver says.
    pub fn flush(&mut self, code: &Code) -> Result<()> {
        let Some((number, _)) = self.waiting.next.take() else { return Ok(()) };
        // They may be used again when this function has enqueued the launch.
        let _held = std::mem::take(&mut self.waiting.held);
        let object = together_object(&mut self.together, code, number)?;
        if object.buffer.is_none() || object.numbers != self.waiting.numbers {
            object.numbers.clone_from(&self.waiting.numbers);
            object.buffer = Some(code.device.memory.context().numbers(&object.numbers)?);
        }
        object.kernel.set(0, Value::Buffer(object.buffer.as_ref()))?;
        // What is not used could be a buffer that does not exist any more.
        for (k, _) in self.waiting.is_set.iter().enumerate().skip(1).filter(|(_, is_set)| !**is_set) {
            object.kernel.set(k, Value::Buffer(None))?;
        }
        let ones = [1, 1];
        // SAFETY: as for the launches of the parts.
        self.end = unsafe { code.device.queue.launch(&object.kernel, &ones, &ones, code.device.memory.is_seen())? };
        if let Some(recorded) = &mut self.recorded {
            let Object { kernel, buffer: _numbers, .. } = self.together.remove(&number).ok_or_else(missing)?;
            recorded.commands.push(Command { kernel, _numbers, global: ones, group: ones });
        }
        Ok(())
    }

    /// Holds a buffer that the run does not need any more, as long as launches wait that may use it, or are recorded.
    pub fn hold(&mut self, buffer: Arc<Buffer>) {
        if let Some(recorded) = &mut self.recorded {
            recorded.held.push(buffer);
        } else if self.waiting.next.is_some() {
            self.waiting.held.push(buffer);
        }
    }

    /// Something has been enqueued beside launches: they are not all that has to be done, and their last one is not the end.
    pub fn not_only(&mut self) {
        self.end = None;
        let held = self.recorded.take().map(|r| r.held);
        held.into_iter().flatten().for_each(|b| self.hold(b));
    }

    /// The kernel of a name.
    fn by_name(&mut self, code: &Code, name: &str) -> Result<&mut Kernel> {
        if !self.by_name.contains_key(name) {
            self.by_name.insert(name.into(), code.kernel(name)?);
        }
        self.by_name.get_mut(name).ok_or_else(missing)
    }
}

/// The object of a kernel that does what others do.
fn together_object<'o>(objects: &'o mut HashMap<usize, Object>, code: &Code, number: usize) -> Result<&'o mut Object> {
    if let Entry::Vacant(free) = objects.entry(number) {
        let kernel = code.kernel(&code.module.batches[number].name)?;
        free.insert(Object { kernel, numbers: vec![], buffer: None });
    }
    objects.get_mut(&number).ok_or_else(missing)
}

fn missing() -> Error {
    Error::Internal("a kernel that was just made".into())
}

impl Waiting {
    fn begin(&mut self, together: &Batch) {
        self.numbers.clear();
        self.numbers.resize(together.numbers, 0);
        self.is_set.clear();
        self.is_set.resize(1 + together.buffers, false);
    }
}
