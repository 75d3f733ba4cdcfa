//! A device in use: its context, its queue, its memory, and the programs that were built for it.

use crate::cl::{Context, Event, Program, Queue};
use crate::devices::{Device, DeviceType};
use crate::memory::Memory;
use crate::spin_wait::{KeepAwake, wait_awake};
use accel_codegen::opencl::{Shape, Target};
use accel_core::error::Result;
use accel_core::repr::Column;
use std::collections::{HashMap, VecDeque};
use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A device in use. A process has one such value for each device that it uses.
pub struct OpenDevice {
    pub about: Device,
    pub queue: Arc<Queue>,
    pub memory: Arc<Memory>,
    awake: KeepAwake,
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
        let is_host = device.kind == DeviceType::Cpu;
        // A GPU would have to access the memory of the host.
        let sees = (is_host && device.shares).then(|| queue.clone());
        let memory = Memory::new(context, is_host, sees, bytes(device.largest_buffer), bytes(device.memory));
        let made = Arc::new(OpenDevice {
            about: device.clone(),
            queue,
            memory,
            awake: KeepAwake::default(),
            programs: Mutex::default(),
            aside: Mutex::default(),
        });
        open.push(made.clone());
        Ok(made)
    }

    /// The target of the kernel generator.
    pub fn target(&self) -> Target {
        Target {
            shape: if self.about.kind == DeviceType::Cpu { Shape::Cpu } else { Shape::Gpu },
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
        self.queue.flush()?;
        self.awake.end_spin(false)
    }

    /// Waits for the end of the last enqueued command. If there is `little` to do, the host spins, and then a thread of
    /// the device spins until the next run: see NOTE [Spin-waiting host] and NOTE [Spin-waiting device threads].
    ///
    /// # Errors
    /// The command failed.
    pub fn wait(&self, last: &Event, little: bool) -> Result<()> {
        // Even after an error here, the host waits for the end: until then, the device may write to host memory.
        if !little {
            let begun = self.begin();
            return last.wait().and(begun);
        }
        let begun = self.begin_and_stay();
        let awake = wait_awake(last)?;
        self.awake.seen(awake);
        begun
    }

    /// Makes the device start with the enqueued commands. If another run is likely to follow, a thread of the device
    /// spins after them.
    fn begin_and_stay(&self) -> Result<()> {
        let stays = self.awake.begin_spin(&self.about, self.memory.context(), &self.queue)?;
        self.queue.flush()?;
        self.awake.end_spin(stays)
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
