//! Waiting without sleep, on both sides: the host for the device, and a processor's thread for the next run.
//!
//! NOTE [Waiting awake]
//! A thread that sleeps until a command has ended is woken some 50 µs later, which is as long as a small program takes. So where there is
//! little to do, it stays awake for a while: gradients of small mixtures on pocl took 0.75 of the time. Where there is much to do it would
//! only be in the way of the threads that do it: both of pocl's came to be on the other processor (programs of 0.7 ms took 16 per cent
//! longer, of 5 ms 3 per cent). A GPU needs no processor of the host. Whether the command has ended is not asked all the time, as the
//! driver has locks for the answer.
//!
//! NOTE [Threads that stay awake]
//! The threads of a processor's driver sleep, too, when their queue is empty, and are woken by the first command of the next run. Drivers do not let
//! programs choose. But a thread that executes a kernel is awake: so the last command of a small run is a kernel that waits until the
//! host says that the next run is enqueued. The host waits for the command before it, and says so by a number in memory that both see
//! while kernels run: fine-grained shared virtual memory with atomic operations (OpenCL 2.0, section 3.3.3), without which there is no
//! such kernel. It ends by itself after [`STAYS`], so nothing ever depends on what the host does. It is enqueued only where the last runs
//! have followed one another within that time: a program that runs now and then does not take a processor from others.

use crate::cl::{self, Context, Event, Kernel, Queue, Seen, Value};
use crate::devices::{Device, DeviceType};
use accel_core::error::Result;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a thread of the host waits awake.
const AWAKE: Duration = Duration::from_micros(300);
/// How many pauses there are between two questions, each of some tens of cycles.
const LOOK_EVERY: usize = 50;
/// How long a thread of the device waits awake: two to three times as long as it takes to wake it.
const STAYS: Duration = Duration::from_micros(100);
/// After so many runs that have followed one another within that time, a thread of the device stays awake.
const CLOSE: usize = 8;
/// How long a round takes is measured with so many: about a millisecond.
const TRIED: u64 = 1 << 20;

const SOURCE: &str = "
kernel void stay_awake(global const volatile ulong *ended, const ulong number, const ulong rounds) {
  for (ulong k = 0; k < rounds && *ended < number; k++);
}
";

/// Waits until a command has ended, awake at first. Whether that was enough.
///
/// # Errors
/// The command has failed.
pub fn wait_awake(event: &Event) -> Result<bool> {
    let start = Instant::now();
    while !event.is_complete() {
        if start.elapsed() > AWAKE {
            event.wait()?;
            return Ok(false);
        }
        (0..LOOK_EVERY).for_each(|_| std::hint::spin_loop());
    }
    event.wait().map(|()| true)
}

/// What keeps a thread of a device awake between small runs.
#[derive(Default)]
pub struct Awake(Mutex<State>);

#[derive(Default)]
struct State {
    /// When the host has seen the end of the last small run.
    last: Option<Instant>,
    /// How many have followed one another closely: at most twice [`CLOSE`], and half as many after one that has not.
    close: usize,
    /// Made when it is needed; `Some(None)` if the device cannot do it.
    waiting: Option<Option<Waiting>>,
}

/// The kernel that waits.
struct Waiting {
    /// Its number of rounds is set.
    kernel: Kernel,
    /// How often it has been enqueued.
    begun: u64,
    /// How many of these are to end.
    ended: Seen,
}

impl Awake {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last command of a small run is enqueued: if the next run is to be expected soon, a thread of the device stays awake until then.
    /// Whether it does.
    ///
    /// # Errors
    /// What the driver says.
    pub fn stay(&self, device: &Device, context: &Context, queue: &Arc<Queue>) -> Result<bool> {
        let mut state = self.state();
        let follows = state.last.is_some_and(|last| last.elapsed() < STAYS);
        state.close = if follows { (state.close + 1).min(2 * CLOSE) } else { state.close / 2 };
        if state.close < CLOSE {
            return Ok(false);
        }
        let make = || {
            let made = Waiting::new(device, context, queue);
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

    /// The commands of a run are enqueued, so that no thread of the device waits for them any more; `stays` is what [`stay`](Self::stay) said
    /// of this run.
    ///
    /// # Errors
    /// A mistake of this crate.
    pub fn go(&self, stays: bool) -> Result<()> {
        if let Some(Some(waiting)) = &self.state().waiting {
            waiting.ended.number()?.fetch_max(waiting.begun - u64::from(stays), Ordering::Relaxed);
        }
        Ok(())
    }

    /// The host has seen the end of a small run, awake or not.
    pub fn seen(&self, awake: bool) {
        let mut state = self.state();
        state.last = Some(Instant::now());
        if !awake {
            state.close /= 2;
        }
    }
}

impl Waiting {
    /// The kernel for a device; none if nothing would come of it.
    fn new(device: &Device, context: &Context, queue: &Arc<Queue>) -> Result<Option<Waiting>> {
        if device.kind != DeviceType::Cpu || device.units < 2 || !device.shares {
            return Ok(None);
        }
        let ended = context.seen(queue, size_of::<u64>()).map_err(|code| cl::error("clSVMAlloc", code))?;
        let mut kernel = context.build(device.id.0, SOURCE, c"-w")?.kernel("stay_awake")?;
        kernel.set(0, Value::Seen(&ended))?;
        let mut made = Waiting { kernel, begun: 0, ended };
        let mut time = |rounds: u64| {
            made.kernel.set(2, Value::Number(rounds as i64))?;
            let start = Instant::now();
            made.enqueue(queue)?;
            queue.marker()?.wait()?;
            Ok(start.elapsed())
        };
        // The first launch builds it.
        time(0)?;
        let rounds = TRIED as f64 * STAYS.as_secs_f64() / time(TRIED)?.as_secs_f64();
        made.kernel.set(2, Value::Number(rounds as i64))?;
        Ok(Some(made))
    }

    fn enqueue(&mut self, queue: &Queue) -> Result<()> {
        self.begun += 1;
        self.kernel.set(1, Value::Number(self.begun as i64))?;
        // SAFETY: the kernel reads one number, which is there until it has ended.
        unsafe { queue.launch(&self.kernel, &[1, 1], &[1, 1], false) }.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::default_device;

    /// The kernel of the default device, if it can wait.
    fn waiting() -> Option<(Device, Context, Arc<Queue>, Waiting)> {
        let device = default_device().inspect_err(|e| println!("LEFT OUT: {e}")).ok()?;
        let context = Context::new(device.id.0).unwrap();
        let queue = Arc::new(context.queue(device.id.0).unwrap());
        let Some(waiting) = Waiting::new(&device, &context, &queue).unwrap() else {
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
        // On a machine with much else to do it can take longer, but not as long as with more rounds than were measured.
        assert!(start.elapsed() > STAYS / 10, "{:?}", start.elapsed());
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
        let awake = Awake(Mutex::new(State { waiting: Some(Some(waiting)), ..State::default() }));
        awake.go(true).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        assert!(!end.is_complete(), "it was told to stay");
        awake.go(false).unwrap();
        end.wait().unwrap();
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    }

    #[test]
    fn threads_stay_awake_only_for_runs_that_follow_closely() {
        let Some((device, context, queue, waiting)) = waiting() else { return };
        let awake = Awake(Mutex::new(State { waiting: Some(Some(waiting)), ..State::default() }));
        let run = |pause: Duration| {
            awake.seen(true);
            std::thread::sleep(pause);
            let stays = awake.stay(&device, &context, &queue).unwrap();
            awake.go(stays).unwrap();
            stays
        };
        assert!((1..CLOSE).all(|_| !run(Duration::ZERO)));
        let start = Instant::now();
        while !run(Duration::ZERO) {
            assert!(start.elapsed() < Duration::from_secs(30), "no two runs within {STAYS:?}");
        }
        assert!((0..3).any(|_| !run(2 * STAYS)));
        assert!(!run(2 * STAYS));
    }
}
