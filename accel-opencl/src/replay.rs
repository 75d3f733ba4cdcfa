//! Replay: small runs are recorded, and repeated with other elements.
//!
//! NOTE [Recorded runs]: for a program of thirty statements, the host needs 15 µs to walk the statements, to find
//! memory for each array and to set the parameters of kernels, even if the shapes are known. This is as long as the
//! execution of some statements. If nothing depends on elements of arrays, the outcome is the same each time. So when a
//! small program was run several times with the same extents, one run is recorded. It has its own memory for its
//! inputs, all arrays and its results, and its own kernel objects, whose parameters stay set. A replay copies the
//! inputs there, enqueues the kernels, waits, and copies the results. This needs memory that host and device share
//! (NOTE [Shared virtual memory]). Nobody else gets this memory while the recording exists, and after the host has
//! waited for a run, no command uses it. So the host can write to it without a command.
//!
//! Some runs are not recorded: those of programs that read elements on the host, copy arrays, or bring arrays other
//! than their inputs to the device; large runs; and runs in several threads at once, of which one uses the recording
//! and the others walk the statements.

use crate::built_program::BuiltProgram;
use crate::cl::Mem;
use crate::commands::Commands;
use crate::device::OpenDevice;
use crate::location::{Array, Buffers, Location, copy_column};
use crate::memory::Buffer;
use crate::read_back::fetch;
use crate::run::Enqueued;
use crate::shapes::Shapes;
use accel_core::error::Result;
use accel_core::repr::{Column, RawArray};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Which runs are recorded.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// The number of small runs with the same extents after which a run is recorded.
    pub after: usize,
    /// The limit for the size of a recorded run's inputs, in bytes.
    pub max_input_bytes: usize,
}

impl Policy {
    /// Records runs for which it pays: copying such inputs takes a few microseconds.
    pub const PAYS: Policy = Policy { after: 4, max_input_bytes: 1 << 16 };
    /// Records all runs that can be recorded, at once.
    pub const ALL: Policy = Policy { after: 0, max_input_bytes: usize::MAX };
}

/// The largest number of recordings, with different extents.
const MAX_RECORDINGS: usize = 4;
/// The limit for the size of all its memory, in bytes.
const MAX_MEMORY: usize = 1 << 22;

/// The recorded runs of a program.
pub struct Recorded {
    policy: Policy,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The recordings, ordered by their last use, the latest last.
    recordings: Vec<Recording>,
    /// The number of consecutive small runs with the same extents.
    same: usize,
    /// Whether the program cannot be recorded.
    refused: bool,
}

impl Recorded {
    /// No recordings yet.
    pub fn new(policy: Policy) -> Recorded {
        Recorded { policy, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replays a run, or records one by `record` if it is time to do so; `None` if the program has to be run normally.
    pub fn run(
        &self,
        device: &OpenDevice,
        arguments: &[&RawArray],
        record: impl FnOnce(&[Array]) -> Result<(Arc<BuiltProgram>, (Enqueued, Option<Commands>))>,
    ) -> Option<Result<Vec<RawArray>>> {
        let mut state = self.state();
        let found = state.recordings.iter().position(|r| r.fits(arguments)).map(|k| state.recordings.remove(k));
        let is_due = state.same >= self.policy.after && !state.refused;
        drop(state);
        let mut recording = match found {
            Some(recording) => recording,
            None if is_due && bytes(arguments) <= self.policy.max_input_bytes => {
                let made = Recording::new(device, arguments, record).transpose();
                let mut state = self.state();
                (state.same, state.refused) = (0, made.is_none());
                drop(state);
                match made? {
                    Ok(made) => made,
                    Err(e) => return Some(Err(e)),
                }
            }
            None => return None,
        };
        let results = recording.run(arguments);
        if results.is_ok() {
            let mut state = self.state();
            if state.recordings.len() >= MAX_RECORDINGS {
                state.recordings.remove(0);
            }
            state.recordings.push(recording);
        }
        Some(results)
    }

    /// Takes a run without recording into account.
    pub fn note(&self, run: &Enqueued) {
        let mut state = self.state();
        state.same = if run.is_replayable { state.same + 1 } else { 0 };
    }
}

fn bytes(arguments: &[&RawArray]) -> usize {
    arguments.iter().flat_map(|a| &a.columns).map(Column::bytes).sum()
}

/// A run that can be replayed.
pub struct Recording {
    code: Arc<BuiltProgram>,
    inputs: Vec<Array>,
    commands: Commands,
    results: Vec<Array>,
    /// The fault record, if a kernel has one; all zero.
    record: Option<Arc<Buffer>>,
    shapes: Arc<Shapes>,
}

impl Recording {
    /// Records a run with arrays of the extents of `arguments`; `start` starts the run. `None` if the program or the
    /// device does not allow it.
    ///
    /// # Errors
    /// As for any run.
    pub fn new(
        device: &OpenDevice,
        arguments: &[&RawArray],
        record: impl FnOnce(&[Array]) -> Result<(Arc<BuiltProgram>, (Enqueued, Option<Commands>))>,
    ) -> Result<Option<Recording>> {
        if !device.memory.is_seen() {
            return Ok(None);
        }
        // The writes below wait for all earlier commands.
        device.begin()?;
        let inputs: Vec<Array> = arguments.iter().map(|a| input(device, a)).collect::<Result<_>>()?;
        let (code, (run, commands)) = record(&inputs)?;
        let Enqueued { results, record, end, shapes, .. } = run;
        let (Some(commands), Some(end)) = (commands, end) else { return Ok(None) };
        fetch(&code, results.clone(), &record, &shapes, Some(end), true)?;
        let is_seen = |b: &Option<Arc<Buffer>>| b.as_ref().is_none_or(|b| matches!(b.mem(), Some(Mem::Seen(_))));
        let fits = commands.held.iter().map(|b| b.bytes()).sum::<usize>() <= MAX_MEMORY
            && results.iter().all(|a| a.place.host.is_some() || a.place.device.iter().all(is_seen));
        Ok(fits.then_some(Recording { code, inputs, commands, results, record, shapes }))
    }

    fn fits(&self, arguments: &[&RawArray]) -> bool {
        let same = |(own, given): (&Array, &&RawArray)| {
            own.extents.len() == given.extents.len()
                && own.extents.iter().zip(&given.extents).all(|(own, given)| *own == *given as i64)
        };
        self.inputs.iter().zip(arguments).all(same)
    }

    /// Replays the run with other elements. After an error, the recording cannot be used any more.
    ///
    /// # Errors
    /// As for any run.
    pub fn run(&mut self, arguments: &[&RawArray]) -> Result<Vec<RawArray>> {
        for (own, given) in self.inputs.iter().zip(arguments) {
            for (buffer, column) in own.place.device.iter().zip(&given.columns) {
                if let Some(Mem::Seen(memory)) = buffer.as_ref().and_then(|b| b.mem()) {
                    // SAFETY: the column has this many bytes. The host has waited for the last run, and only the
                    // commands of this recording use this memory.
                    unsafe { memory.copy_from(column.as_ptr(), column.bytes())? };
                }
            }
        }
        let device = &self.code.module.device;
        let mut end = None;
        for c in &self.commands.commands {
            // SAFETY: as for the recorded run: only elements of arrays have changed.
            end = unsafe { device.queue.launch(&c.kernel, &c.global, &c.group, true)? };
        }
        device.begin()?;
        fetch(&self.code, self.results.clone(), &self.record, &self.shapes, end, true)
    }
}

/// An input of a recorded run, with memory of its own.
fn input(device: &OpenDevice, a: &RawArray) -> Result<Array> {
    let columns =
        a.columns.iter().map(|c| copy_column(device, c, || a.extents.to_vec())).collect::<Result<Buffers>>()?;
    Ok(Array {
        extents: a.extents.iter().map(|e| *e as i64).collect(),
        place: Location { host: None, device: columns },
    })
}

#[cfg(test)]
mod tests {
    use super::{MAX_RECORDINGS, Policy};
    use crate::OpenCl;
    use crate::compiled::{Prepared, TypedProgram};
    use accel_core::backend::Executable;
    use accel_core::prelude::*;

    /// A program for the default device, if the device shares memory with the host.
    fn prepared<A: Arrays, R: Arrays>(f: &Afun<A, R>, after: usize) -> Option<Prepared<TypedProgram>> {
        let backend = OpenCl::shared().inspect_err(|e| println!("LEFT OUT: {e}")).ok()?;
        if !backend.device.memory.is_seen() {
            println!("LEFT OUT: the host does not see the memory of {}", backend.device());
            return None;
        }
        let backend = OpenCl { recording: Policy { after, ..Policy::PAYS }, ..backend.clone() };
        Some(backend.prepare(f.program().unwrap()).unwrap())
    }

    /// Runs a program on integers.
    fn run(p: &Prepared<TypedProgram>, xs: Vec<i64>) -> accel_core::error::Result<Vec<i64>> {
        Ok(Vector::<i64>::from_tuple(p.run(&Array::vector(xs).to_tuple())?)?.to_vec())
    }

    fn recordings(p: &Prepared<TypedProgram>) -> usize {
        p.recorded().state().recordings.len()
    }

    #[test]
    fn small_runs_are_recorded_when_their_extents_stay() {
        let doubled = afun(|xs: Acc<Vector<i64>>| map(|x| x * 2, xs));
        let Some(p) = prepared(&doubled, 3) else { return };
        // The first run does not know the extents, the next three do.
        for k in 0..4 {
            assert_eq!(run(&p, vec![k, 1, 5]).unwrap(), [2 * k, 2, 10]);
            assert_eq!(recordings(&p), 0);
        }
        for k in 4..8 {
            assert_eq!(run(&p, vec![k, 1, 5]).unwrap(), [2 * k, 2, 10]);
            assert_eq!(recordings(&p), 1);
        }
        for n in 4..10 {
            for k in 0..6 {
                assert_eq!(run(&p, vec![k; n]).unwrap(), vec![2 * k; n]);
            }
            assert_eq!(recordings(&p), (n - 2).min(MAX_RECORDINGS));
        }
        assert_eq!(run(&p, vec![]).unwrap(), []);
    }

    #[test]
    fn what_needs_the_host_or_is_large_is_not_recorded() {
        let by_element = afun(|xs: Acc<Vector<i64>>| generate(xs.at(0), |i| i));
        let Some(p) = prepared(&by_element, 0) else { return };
        for n in [3, 2, 5] {
            assert_eq!(run(&p, vec![n]).unwrap().len(), n as usize);
        }
        assert!(recordings(&p) == 0 && p.recorded().state().refused);
        let doubled = afun(|xs: Acc<Vector<i64>>| map(|x| x * 2, xs));
        let p = prepared(&doubled, 0).unwrap();
        let n = Policy::PAYS.max_input_bytes;
        assert_eq!(run(&p, vec![1; n]).unwrap(), vec![2; n]);
        assert_eq!(recordings(&p), 0);
    }

    #[test]
    fn a_run_that_fails_is_recorded_anew() {
        let quotients = afun(|xs: Acc<Vector<i64>>| map(|x| constant(10i64) / x, xs));
        let Some(p) = prepared(&quotients, 0) else { return };
        for _ in 0..3 {
            assert_eq!(run(&p, vec![1, 5]).unwrap(), [10, 2]);
            assert_eq!(recordings(&p), 1);
            assert!(run(&p, vec![1, 0]).is_err_and(|e| e.to_string().contains("zero")));
            assert_eq!(recordings(&p), 0);
            assert!(run(&p, vec![0, 2]).is_err());
        }
    }
}
