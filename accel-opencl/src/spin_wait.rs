//! Spin-waiting on both sides: the host spins until the device has finished, and a processor's driver thread spins
//! until the next run.
//!
//! NOTE [Spin-waiting host]: a thread that sleeps until a command has ended is woken some 50 µs later, which is as long
//! as a small program takes. So if there is little to do, the host spins for a while: this reduced the time of
//! gradients of small mixtures on pocl to 0.75. If there is much to do, spinning would only disturb the threads that
//! work: both of pocl's threads came to share the other processor (programs of 0.7 ms took 16 per cent longer, of 5 ms
//! 3 per cent). A GPU needs no processor of the host. The host pauses between the queries for the end of the command,
//! because drivers take locks to answer.
//!
//! NOTE [Spin-waiting device threads]: the threads of a processor's driver also sleep when their queue is empty, and
//! the first command of the next run wakes them. Drivers have no option to change this. But a thread that executes a
//! kernel is awake. So the last command of a small run is a kernel that spins until the host reports that the next run
//! is enqueued. The host waits for the command before it. It reports by a number in memory that both share while
//! kernels run: fine-grained shared virtual memory with atomic operations (OpenCL 2.0, section 3.3.3). Without such
//! memory, there is no such kernel. The kernel also ends after [`DEVICE_SPIN`], so nothing ever depends on the host's
//! report. It is enqueued only if the last runs followed one another within that time: a program that runs only now and
//! then does not take a processor from others.

use crate::cl::{self, Context, Event, Kernel, Queue, SharedMemory, Value};
use crate::devices::{Device, DeviceType};
use accel_core::error::Result;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time that the host spins.
const HOST_SPIN: Duration = Duration::from_micros(300);
/// The number of pauses between two queries. A pause takes some tens of cycles.
const LOOK_EVERY: usize = 50;
/// The time that a thread of the device spins: two to three times the time to wake it.
const DEVICE_SPIN: Duration = Duration::from_micros(100);
/// After this many runs that followed one another within that time, a thread of the device spins.
const MIN_CLOSE_RUNS: usize = 8;
/// The number of rounds with which the time of a round is measured: about a millisecond.
const CALIBRATION_TURNS: u64 = 1 << 20;

const SOURCE: &str = "
kernel void stay_awake(global const volatile ulong *ended, const ulong number, const ulong rounds) {
  for (ulong k = 0; k < rounds && *ended < number; k++);
}
";

/// Waits until a command has ended, spinning at first. Returns whether spinning was enough.
///
/// # Errors
/// The command failed.
pub fn wait_awake(event: &Event) -> Result<bool> {
    let start = Instant::now();
    while !event.is_complete() {
        if start.elapsed() > HOST_SPIN {
            event.wait()?;
            return Ok(false);
        }
        (0..LOOK_EVERY).for_each(|_| std::hint::spin_loop());
    }
    event.wait().map(|()| true)
}

/// Keeps a thread of a device awake between small runs.
#[derive(Default)]
pub struct KeepAwake(Mutex<State>);

#[derive(Default)]
struct State {
    /// The time at which the host saw the end of the last small run.
    last: Option<Instant>,
    /// The number of runs that followed one another closely, at most twice [`MIN_CLOSE_RUNS`]. A run that does not
    /// follow closely halves it.
    close: usize,
    /// Built on first use; `Some(None)` if the device does not support it.
    waiting: Option<Option<SpinKernel>>,
}

/// The kernel that spins.
struct SpinKernel {
    /// The kernel, whose parameter for the number of rounds is set.
    kernel: Kernel,
    /// The number of launches so far.
    begun: u64,
    /// The number of launches that are to end.
    ended: SharedMemory,
}

impl KeepAwake {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called when the last command of a small run was enqueued. If the next run is likely to follow soon, makes a
    /// thread of the device spin until then. Returns whether it does.
    ///
    /// # Errors
    /// An error of the driver.
    pub fn begin_spin(&self, device: &Device, context: &Context, queue: &Arc<Queue>) -> Result<bool> {
        let mut state = self.state();
        let follows = state.last.is_some_and(|last| last.elapsed() < DEVICE_SPIN);
        state.close = if follows { (state.close + 1).min(2 * MIN_CLOSE_RUNS) } else { state.close / 2 };
        if state.close < MIN_CLOSE_RUNS {
            return Ok(false);
        }
        let make = || {
            let made = SpinKernel::new(device, context, queue);
            made.unwrap_or_else(|e| {
                tracing::debug!(%e, "threads of the device do not stay awake");
                None
            })
        };
        match state.waiting.get_or_insert_with(make) {
            Some(waiting) => waiting.enqueue(queue).map(|()| true),
            None => Ok(false),
        }
    }

    /// Called when the commands of a run were enqueued, so that no thread of the device spins for them any more.
    /// `stays` is the result of [`begin_spin`](Self::begin_spin) in this run.
    ///
    /// # Errors
    /// An internal error of this crate.
    pub fn end_spin(&self, stays: bool) -> Result<()> {
        if let Some(Some(waiting)) = &self.state().waiting {
            waiting.ended.number()?.fetch_max(waiting.begun - u64::from(stays), Ordering::Relaxed);
        }
        Ok(())
    }

    /// Called when the host has seen the end of a small run, by spinning or not.
    pub fn seen(&self, awake: bool) {
        let mut state = self.state();
        state.last = Some(Instant::now());
        if !awake {
            state.close /= 2;
        }
    }
}

impl SpinKernel {
    /// Builds the kernel for a device; `None` if it would have no effect there.
    fn new(device: &Device, context: &Context, queue: &Arc<Queue>) -> Result<Option<SpinKernel>> {
        if device.kind != DeviceType::Cpu || device.units < 2 || !device.shares {
            return Ok(None);
        }
        let ended = context.shared_memory(queue, size_of::<u64>()).map_err(|code| cl::error("clSVMAlloc", code))?;
        let mut kernel = context.build(device.id.0, SOURCE, c"-w")?.kernel("stay_awake")?;
        kernel.set(0, Value::Shared(&ended))?;
        let mut made = SpinKernel { kernel, begun: 0, ended };
        let mut time = |rounds: u64| {
            made.kernel.set(2, Value::Number(rounds as i64))?;
            let start = Instant::now();
            made.enqueue(queue)?;
            queue.marker()?.wait()?;
            Ok(start.elapsed())
        };
        // The first launch builds the kernel.
        time(0)?;
        let rounds = CALIBRATION_TURNS as f64 * DEVICE_SPIN.as_secs_f64() / time(CALIBRATION_TURNS)?.as_secs_f64();
        made.kernel.set(2, Value::Number(rounds as i64))?;
        Ok(Some(made))
    }

    fn enqueue(&mut self, queue: &Queue) -> Result<()> {
        self.begun += 1;
        self.kernel.set(1, Value::Number(self.begun as i64))?;
        // SAFETY: the kernel reads one number, which exists until the kernel has ended.
        unsafe { queue.launch(&self.kernel, &[1, 1], &[1, 1], false) }.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::default_device;

    /// The kernel of the default device, if the device supports it.
    fn waiting() -> Option<(Device, Context, Arc<Queue>, SpinKernel)> {
        let device = default_device().inspect_err(|e| println!("LEFT OUT: {e}")).ok()?;
        let context = Context::new(device.id.0).unwrap();
        let queue = Arc::new(context.queue(device.id.0).unwrap());
        let Some(waiting) = SpinKernel::new(&device, &context, &queue).unwrap() else {
            println!("LEFT OUT: {device} cannot wait");
            return None;
        };
        Some((device, context, queue, waiting))
    }

    #[test]
    fn the_kernel_ends_by_itself() {
        let Some((_, _context, queue, mut waiting)) = waiting() else { return };
        let start = Instant::now();
        waiting.enqueue(&queue).unwrap();
        queue.marker().unwrap().wait().unwrap();
        // On a busy machine it can take longer, but not as long as with more rounds than were measured.
        assert!(start.elapsed() > DEVICE_SPIN / 10, "{:?}", start.elapsed());
        assert_eq!(waiting.ended.number().unwrap().load(Ordering::Relaxed), 0);
    }

    #[test]
    fn the_kernel_ends_when_it_is_told_to() {
        let Some((_, _context, queue, mut waiting)) = waiting() else { return };
        // Minutes.
        waiting.kernel.set(2, Value::Number(1 << 38)).unwrap();
        let start = Instant::now();
        waiting.enqueue(&queue).unwrap();
        let end = queue.marker().unwrap();
        queue.flush().unwrap();
        let awake = KeepAwake(Mutex::new(State { waiting: Some(Some(waiting)), ..State::default() }));
        awake.end_spin(true).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        assert!(!end.is_complete(), "it was told to stay");
        awake.end_spin(false).unwrap();
        end.wait().unwrap();
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    }

    #[test]
    fn threads_stay_awake_only_for_runs_that_follow_closely() {
        let Some((device, context, queue, waiting)) = waiting() else { return };
        let awake = KeepAwake(Mutex::new(State { waiting: Some(Some(waiting)), ..State::default() }));
        let run = |pause: Duration| {
            awake.seen(true);
            std::thread::sleep(pause);
            let stays = awake.begin_spin(&device, &context, &queue).unwrap();
            awake.end_spin(stays).unwrap();
            stays
        };
        assert!((1..MIN_CLOSE_RUNS).all(|_| !run(Duration::ZERO)));
        let start = Instant::now();
        while !run(Duration::ZERO) {
            assert!(start.elapsed() < Duration::from_secs(30), "no two runs within {DEVICE_SPIN:?}");
        }
        assert!((0..3).any(|_| !run(2 * DEVICE_SPIN)));
        assert!(!run(2 * DEVICE_SPIN));
    }
}
