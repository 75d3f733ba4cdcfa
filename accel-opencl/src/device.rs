//! A device in use: its context, its queue, its memory, and the programs that were built for it.
//!
//! NOTE [Spin-waiting host]: a thread that sleeps until a command has ended is woken some 50 µs later, which is as long
//! as a small program takes. So the host spins for a while. It pauses between the queries for the end of the command,
//! because drivers take locks to answer.

use crate::cl::{Context, Event, Program, Queue};
use crate::devices::Device;
use crate::memory::Memory;
use accel_codegen::opencl::Target;
use accel_core::error::Result;
use accel_core::repr::Column;
use std::collections::{HashMap, VecDeque};
use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// The time that the host spins.
const HOST_SPIN: Duration = Duration::from_micros(300);
/// The number of pauses between two queries. A pause takes some tens of cycles.
const LOOK_EVERY: usize = 50;

/// A device in use. A process has one such value for each device that it uses.
pub struct OpenDevice {
    pub about: Device,
    pub queue: Arc<Queue>,
    pub memory: Arc<Memory>,
    /// The programs in use, by source.
    programs: Mutex<HashMap<String, Weak<Program>>>,
    /// Memory that the device may still write to, until the event.
    aside: Mutex<VecDeque<(Event, Column)>>,
}

impl OpenDevice {
    /// Opens the device, or returns it if it is in use already.
    ///
    /// # Errors
    /// `Error::Device` if the driver does not open it.
    pub fn open(device: &Device) -> Result<Arc<OpenDevice>> {
        static OPEN: Mutex<Vec<Arc<OpenDevice>>> = Mutex::new(vec![]);
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = open.iter().find(|d| d.about.id == device.id) {
            return Ok(found.clone());
        }
        let context = Context::new(device.id.0)?;
        let queue = Arc::new(context.queue(device.id.0)?);
        let bytes = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let memory = Memory::new(context, bytes(device.largest_buffer), bytes(device.memory));
        let made = Arc::new(OpenDevice {
            about: device.clone(),
            queue,
            memory,
            programs: Mutex::default(),
            aside: Mutex::default(),
        });
        open.push(made.clone());
        Ok(made)
    }

    /// The target of the kernel generator.
    pub fn target(&self) -> Target {
        Target {
            units: self.about.units,
            largest_group: self.about.largest_group,
            local_memory: usize::try_from(self.about.local_memory).unwrap_or(usize::MAX),
            wide: false,
            atomics_64: self.about.atomics_64,
            look_back: self.about.may_look_back(),
        }
    }

    /// The program with this source: one that is in use, or a new one.
    ///
    /// # Errors
    /// `Error::Device` with the build log.
    pub fn build(&self, source: &str) -> Result<Arc<Program>> {
        let programs = || self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = programs().get(source).and_then(Weak::upgrade) {
            return Ok(found);
        }
        let _span = tracing::debug_span!("OpenCL compiler", bytes = source.len()).entered();
        // Turns off warnings, which drivers would print.
        let exact = if self.about.exact_division { " -cl-fp32-correctly-rounded-divide-sqrt" } else { "" };
        let options = CString::new(format!("-w{exact}")).unwrap_or_default();
        let built = Arc::new(self.memory.context().build(self.about.id.0, source, &options)?);
        let mut programs = programs();
        programs.retain(|_, p| p.strong_count() > 0);
        programs.insert(source.into(), Arc::downgrade(&built));
        Ok(built)
    }

    /// Makes the device start with the enqueued commands.
    ///
    /// # Errors
    /// An error of the driver.
    pub fn begin(&self) -> Result<()> {
        self.queue.flush()
    }

    /// Waits for the end of the last enqueued command: NOTE [Spin-waiting host].
    ///
    /// # Errors
    /// The command failed.
    pub fn wait(&self, last: &Event) -> Result<()> {
        // Even after an error here, the host waits for the end: until then, the device may write to host memory.
        let begun = self.begin();
        let start = Instant::now();
        while !last.is_complete() && start.elapsed() < HOST_SPIN {
            (0..LOOK_EVERY).for_each(|_| std::hint::spin_loop());
        }
        last.wait().and(begun)
    }

    /// Keeps memory until the device does not write to it any more. The events must be in the order of the queue.
    pub fn keep_until(&self, event: Event, memory: Column) {
        let mut aside = self.aside.lock().unwrap_or_else(PoisonError::into_inner);
        while aside.front().is_some_and(|(e, _)| e.is_complete()) {
            aside.pop_front();
        }
        aside.push_back((event, memory));
    }
}
