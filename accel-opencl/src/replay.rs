//! Small runs that are recorded, and done again with other numbers.
//!
//! NOTE [Recorded runs]
//! Once the shapes are known, walking the statements, finding memory for each array and setting the parameters of kernels takes the host 15 µs for a program
//! of thirty statements, as long as some of them take to be executed. All of it comes out the same again if nothing depends on elements of
//! arrays. So when a small program has been run several times with the same extents, one run is recorded: it has memory of its own
//! for its inputs, all arrays and its results, and its own kernel objects, whose parameters stay as they are. Doing it again is to copy
//! the inputs there, to enqueue the kernels, to wait, and to copy the results. That needs memory that the host sees (NOTE [Memory that the
//! host sees]); nobody else gets it while the recording exists, and there is no command left that uses it when a run has been waited for. So the
//! host may write to it without a command.
//!
//! Not recorded are programs that read elements on the host, copy arrays, or bring others than their inputs to the device; what is large; and
//! runs of several threads at once: one has the recording, the others walk.

use crate::built_program::{Code, copy_column};
use crate::cl::{Kernel, Mem};
use crate::compiled::Prepared;
use crate::device::OpenDevice;
use crate::launch_cache::Shapes;
use crate::memory::Buffer;
use crate::read_back::fetch;
use crate::run::{Array, Buffers, Enqueued, Place, Run};
use accel_core::error::Result;
use accel_core::repr::{Column, RawArray};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// After so many small runs with the same extents, one is recorded.
pub const AFTER: usize = 4;
/// So many recordings are kept, with different extents.
const KEPT: usize = 4;
/// Inputs of a recorded run take at most so many bytes: copying them takes a few microseconds.
const INPUTS: usize = 1 << 16;
/// All its memory takes at most so many bytes.
const MEMORY: usize = 1 << 22;

/// The recorded runs of a program.
pub struct Recorded {
    after: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The one that was used last is the last one.
    recordings: Vec<Recording>,
    /// How many small runs in a row have had the extents of the one before.
    same: usize,
    /// The program cannot be recorded.
    refused: bool,
}

impl Recorded {
    /// None, for a program of which a run is recorded after so many.
    pub fn new(after: usize) -> Recorded {
        Recorded { after, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the program as it was recorded, or records it if it is time to; `None` if it is to be run without.
    pub fn run(&self, prepared: &Prepared, arguments: &[&RawArray]) -> Option<Result<Vec<RawArray>>> {
        let mut state = self.state();
        let found = state.recordings.iter().position(|r| r.fits(arguments)).map(|k| state.recordings.remove(k));
        let is_due = state.same >= self.after && !state.refused;
        drop(state);
        let mut recording = match found {
            Some(recording) => recording,
            None if is_due && bytes(arguments) <= INPUTS => {
                let record = |inputs: &[Array]| prepared.with_code(inputs, |code| Run::record(code, inputs.to_vec()));
                let made = Recording::new(prepared.device(), arguments, record).transpose();
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
            if state.recordings.len() >= KEPT {
                state.recordings.remove(0);
            }
            state.recordings.push(recording);
        }
        Some(results)
    }

    /// Takes note of a run without recording.
    pub fn note(&self, run: &Enqueued) {
        let mut state = self.state();
        state.same = if run.again { state.same + 1 } else { 0 };
    }
}

fn bytes(arguments: &[&RawArray]) -> usize {
    arguments.iter().flat_map(|a| &a.columns).map(Column::bytes).sum()
}

/// A kernel that a recorded run launches, with its parameters.
pub struct Command {
    pub kernel: Kernel,
    /// What the kernel has its numbers in, if it has: kept as long as the kernel.
    pub _numbers: Option<Mem>,
    pub global: [usize; 2],
    pub group: [usize; 2],
}

/// What is recorded of a run.
#[derive(Default)]
pub struct Commands {
    /// In their order.
    pub commands: Vec<Command>,
    /// The memory that the run does not need any more: the commands do.
    pub held: Vec<Arc<Buffer>>,
}

/// A run that can be done again.
pub struct Recording {
    code: Arc<Code>,
    inputs: Vec<Array>,
    commands: Commands,
    results: Vec<Array>,
    /// The record of faults, if a kernel has it; all zero.
    record: Option<Arc<Buffer>>,
    shapes: Arc<Shapes>,
}

impl Recording {
    /// Records a run with arrays of the extents of these by a function that starts it; `None` if the program or the device does not allow it.
    ///
    /// # Errors
    /// As for any run.
    pub fn new(
        device: &OpenDevice,
        arguments: &[&RawArray],
        record: impl FnOnce(&[Array]) -> Result<(Arc<Code>, (Enqueued, Option<Commands>))>,
    ) -> Result<Option<Recording>> {
        if !device.memory.is_seen() {
            return Ok(None);
        }
        // The writes below wait for all commands before.
        device.begin()?;
        let inputs: Vec<Array> = arguments.iter().map(|a| input(device, a)).collect::<Result<_>>()?;
        let (code, (run, commands)) = record(&inputs)?;
        let Enqueued { results, record, end, shapes, .. } = run;
        let (Some(commands), Some(end)) = (commands, end) else { return Ok(None) };
        fetch(&code, results.clone(), &record, &shapes, Some(end), true)?;
        let is_seen = |b: &Option<Arc<Buffer>>| b.as_ref().is_none_or(|b| matches!(b.mem(), Some(Mem::Seen(_))));
        let fits = commands.held.iter().map(|b| b.bytes()).sum::<usize>() <= MEMORY
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

    /// Does it again with other elements. If that fails, the recording is of no use any more.
    ///
    /// # Errors
    /// As for any run.
    pub fn run(&mut self, arguments: &[&RawArray]) -> Result<Vec<RawArray>> {
        for (own, given) in self.inputs.iter().zip(arguments) {
            for (buffer, column) in own.place.device.iter().zip(&given.columns) {
                if let Some(Mem::Seen(memory)) = buffer.as_ref().and_then(|b| b.mem()) {
                    // SAFETY: the column has so many bytes. The last run was waited for, and only its commands use this memory.
                    unsafe { memory.copy_from(column.as_ptr(), column.bytes())? };
                }
            }
        }
        let device = &self.code.device;
        let mut end = None;
        for c in &self.commands.commands {
            // SAFETY: as when it was recorded: nothing but elements of arrays has changed.
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
    Ok(Array { extents: a.extents.iter().map(|e| *e as i64).collect(), place: Place { host: None, device: columns } })
}

#[cfg(test)]
mod tests {
    use super::{INPUTS, KEPT, Prepared};
    use crate::OpenCl;
    use accel_core::backend::Executable;
    use accel_core::prelude::*;

    /// A program for the default device, if the host sees its memory.
    fn prepared<A: Arrays, R: Arrays>(f: &Afun<A, R>, after: usize) -> Option<Prepared> {
        let backend = OpenCl::shared().inspect_err(|e| println!("LEFT OUT: {e}")).ok()?;
        if !backend.device.memory.is_seen() {
            println!("LEFT OUT: the host does not see the memory of {}", backend.device());
            return None;
        }
        let backend = OpenCl { record_after: after, ..backend.clone() };
        Some(backend.prepare(f.program().unwrap()).unwrap())
    }

    /// What a program makes of integers.
    fn run(p: &Prepared, xs: Vec<i64>) -> accel_core::error::Result<Vec<i64>> {
        Ok(Vector::<i64>::from_tuple(p.run(&Array::vector(xs).to_tuple())?)?.to_vec())
    }

    fn recordings(p: &Prepared) -> usize {
        p.recorded().state().recordings.len()
    }

    #[test]
    fn small_runs_are_recorded_when_their_extents_stay() {
        let doubled = afun(|xs: Acc<Vector<i64>>| map(|x| x * 2, xs));
        let Some(p) = prepared(&doubled, 3) else { return };
        // The first run does not know the extents, three do.
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
            assert_eq!(recordings(&p), (n - 2).min(KEPT));
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
        assert_eq!(run(&p, vec![1; INPUTS]).unwrap(), vec![2; INPUTS]);
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
