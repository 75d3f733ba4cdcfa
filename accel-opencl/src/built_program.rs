//! A kernel program compiled for a device.

use crate::device::OpenDevice;
use crate::device_module::DeviceModule;
use crate::kernel_objects::KernelObjects;
use crate::location::{Array, Buffers, mem, upload};
use crate::memory::Buffer;
use crate::plan::Plan;
use crate::shapes::Shapes;
use crate::states::budget;
use crate::tape;
use accel_codegen::fault::record_length;
use accel_codegen::liveness::analyse;
use accel_codegen::opencl::Target;
use accel_core::error::{Error, Result};
use accel_core::print;
use accel_fusion::kernel::tape::Budget;
use accel_fusion::kernel::{Program, Stmt, Verified};
use accel_fusion::pipeline::separate_lists;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The data that all runs of a program share.
pub struct BuiltProgram {
    pub module: DeviceModule,
    pub program: Verified<Program>,
    pub plan: Plan,
    /// The memory for states of loops.
    pub budget: Budget,
    /// The columns of the literals on the device.
    pub literals: Vec<Buffers>,
    /// The numbers in a fault record.
    pub record_length: usize,
    spare: Mutex<Spare>,
}

/// What a run leaves for the next one.
#[derive(Default)]
struct Spare {
    kernels: Vec<KernelObjects>,
    /// The shapes and launches of the last run: NOTE [Launch cache].
    shapes: Option<Arc<Shapes>>,
    /// Fault records that are all zero.
    records: Vec<Arc<Buffer>>,
    /// The room for lists, by the numbers of the statements: NOTE [Full lists].
    rooms: BTreeMap<usize, usize>,
}

impl BuiltProgram {
    /// Compiles a program.
    ///
    /// # Errors
    /// `Error::Device` if the device's compiler fails.
    pub fn new(
        program: Verified<Program>,
        device: Arc<OpenDevice>,
        target: Target,
        tape_bytes: Option<usize>,
    ) -> Result<BuiltProgram> {
        let budget = budget(tape_bytes, device.about.memory);
        let has_lists = |s: &Stmt| s.op.scalar_fns().into_iter().any(|(_, code)| !code.lists().is_empty());
        let program = if program.body.walk().any(has_lists) { separate_lists(&program)? } else { program };
        print::dump_with("kernels", || program.to_string());
        let module = DeviceModule::new(&program, device, target)?;
        let literals = program.literals.iter().map(|a| upload(&module.device, a)).collect::<Result<_>>()?;
        let plan = Plan::new(analyse(&program));
        let record_length = record_length(&program);
        Ok(BuiltProgram { module, plan, budget, program, literals, record_length, spare: Mutex::default() })
    }

    fn spare(&self) -> MutexGuard<'_, Spare> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kernel objects that nobody else uses. Every run has its own, because parameters are set on the object.
    pub fn kernels(&self) -> KernelObjects {
        self.spare().kernels.pop().unwrap_or_default()
    }

    /// Takes back kernel objects, after their launches were enqueued.
    pub fn give_back(&self, kernels: KernelObjects) {
        self.spare().kernels.push(kernels);
    }

    /// The shapes of the last run, if its arguments had the same extents.
    pub fn shapes_of(&self, arguments: &[Array]) -> Option<Arc<Shapes>> {
        let last = self.spare().shapes.clone()?;
        let mut inputs = self.program.inputs.iter().zip(arguments);
        inputs.all(|(a, given)| last.extents[*a] == given.extents).then_some(last)
    }

    /// Stores the shapes of a run for the next one.
    pub fn remember(&self, shapes: &Arc<Shapes>) {
        self.spare().shapes = Some(shapes.clone());
    }

    /// The room for lists of a statement.
    pub fn room(&self, statement: usize) -> usize {
        self.spare().rooms.get(&statement).copied().unwrap_or(tape::ROOM)
    }

    /// Notes that this room was too small.
    pub fn enlarge(&self, statement: usize, room: usize) {
        let rooms = &mut self.spare().rooms;
        let larger = rooms.entry(statement).or_default();
        *larger = room.saturating_mul(tape::GROWTH).max(*larger);
    }

    /// A fault record, all zero.
    pub fn record(&self) -> Result<Arc<Buffer>> {
        if let Some(clean) = self.spare().records.pop() {
            return Ok(clean);
        }
        let bytes = 8 * self.record_length;
        let record = self.module.device.memory.plain(bytes).map_err(|_| no_memory("a record of faults"))?;
        self.module.device.queue.fill(mem(&record)?, &[0; 8], bytes)?;
        Ok(record)
    }

    /// Takes back a record that was read and is zero.
    pub fn give_back_record(&self, record: Arc<Buffer>) {
        self.spare().records.push(record);
    }
}

fn no_memory(what: &str) -> Error {
    Error::Device(format!("there is no memory for {what}"))
}
