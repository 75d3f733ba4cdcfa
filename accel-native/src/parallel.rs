//! What generated code calls back: memory, and work for several threads.
//!
//! Work is cut into tasks for the threads of rayon's pool. Into which tasks depends on sizes only, never on the number
//! of threads, so that results do not depend on it either: a long row is reduced part by part (its partial results are
//! combined from left to right), many rows one row after another.

mod strip;

use crate::abi::{Array, Block, Calls, Function, Run, Task};
use crate::memory::element_size;
use crate::runtime::Context;
use crate::threads;
use accel_codegen::fault::{MEMORY, record_length};
use accel_codegen::nontemporal::LARGE;
use accel_codegen::partition::{part_size, task_size};
use accel_core::error::Error;
use std::cell::Cell;
use std::ffi::c_void;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An operation is cut into at most about this many tasks.
const TASKS: usize = 64;

/// The callbacks.
pub static CALLS: Calls = Calls { allocate, release, ranges, reduce, scan, strip: strip::strip };

/// Something has failed: the record, or `failure`, tells what.
struct Failed;

type Outcome = Result<(), Failed>;

/// Calls `f` with the context of a run. A panic does not go through generated code: it is a failure.
///
/// # Safety
/// `run` is what generated code was called with, and nothing else uses the context meanwhile.
unsafe fn enter<T>(run: *mut Run, failed: T, f: impl FnOnce(&mut Context) -> Result<T, Failed>) -> T {
    // SAFETY: a run is the first field of its context, and generated code was called with the address of the context.
    let context = unsafe { &mut *run.cast::<Context>() };
    match catch_unwind(AssertUnwindSafe(|| f(context))) {
        Ok(Ok(x)) => x,
        Ok(Err(Failed)) => failed,
        Err(_) => {
            context.failure = Some(Error::Internal("a panic while a compiled program ran".into()));
            failed
        }
    }
}

unsafe extern "C" fn allocate(run: *mut Run, n: i64, size: i64) -> *mut Block {
    // SAFETY: called by generated code.
    unsafe { enter(run, std::ptr::null_mut(), |c| Ok(c.memory.allocate(n as usize, size as usize))) }
}

unsafe extern "C" fn release(run: *mut Run, block: *mut Block) {
    // SAFETY: called by generated code for a block that no array has any more.
    unsafe {
        enter(run, (), |c| {
            c.memory.release(block);
            Ok(())
        })
    }
}

unsafe extern "C" fn ranges(run: *mut Run, f: Function, to: i64, n: i64, cost: i64, extents: *const i64) -> i32 {
    // SAFETY: called by generated code for a statement that it executes.
    unsafe { enter(run, 1, |c| c.positions(f, to.try_into().ok(), n as usize, cost as usize, extents).map(|()| 0)) }
}

unsafe extern "C" fn reduce(
    run: *mut Run,
    to: i64,
    functions: *const Function,
    rows: i64,
    len: i64,
    cost: i64,
    extents: *const i64,
) -> i32 {
    // SAFETY: called by generated code for a statement that it executes; it gives three functions.
    unsafe {
        let [whole, part, join] = *functions.cast::<[Function; 3]>();
        let rows = Rows { to: to as usize, rows: rows as usize, len: len as usize, cost: cost as usize, extents };
        enter(run, 1, |c| c.rows(rows, whole, part, |c, _, all| c.one(join, all)).map(|()| 0))
    }
}

unsafe extern "C" fn scan(
    run: *mut Run,
    to: i64,
    functions: *const Function,
    rows: i64,
    len: i64,
    cost: i64,
    extents: *const i64,
) -> i32 {
    // SAFETY: called by generated code for a statement that it executes; it gives four functions.
    unsafe {
        let [whole, part, carry, write] = *functions.cast::<[Function; 4]>();
        let rows = Rows { to: to as usize, rows: rows as usize, len: len as usize, cost: cost as usize, extents };
        let finish = |c: &mut Context, tasks: &[Task], all: &Task| {
            c.one(carry, all)?;
            c.all(write, tasks.to_vec())
        };
        enter(run, 1, |c| c.rows(rows, whole, part, finish).map(|()| 0))
    }
}

/// The rows of a reduction or scan.
struct Rows {
    /// The array computed.
    to: usize,
    rows: usize,
    len: usize,
    /// That of an element.
    cost: usize,
    extents: *const i64,
}

/// Partial results.
struct State {
    blocks: Vec<*mut Block>,
    columns: Vec<*mut c_void>,
}

impl Context<'_> {
    /// Calls a kernel for one task.
    ///
    /// # Safety
    /// The kernel belongs to the statement that is executed, and the task is what it expects.
    unsafe fn one(&mut self, f: Function, task: &Task) -> Outcome {
        // SAFETY: as the caller promises; the record has room.
        if unsafe { f(self.run.arrays, task, self.run.fault) } == 0 { Ok(()) } else { Err(Failed) }
    }

    /// Calls a kernel for several tasks, in parallel if there are more than one. The first task that fails is told.
    ///
    /// # Safety
    /// As for `one`; the tasks write different parts of the outputs.
    unsafe fn all(&mut self, f: Function, tasks: Vec<Task>) -> Outcome {
        if let [task] = tasks.as_slice() {
            // SAFETY: as the caller promises.
            return unsafe { self.one(f, task) };
        }
        let length = record_length(&self.code.program);
        // SAFETY: as the caller promises; the run's record has this length.
        unsafe { all(f, self.run.arrays, &tasks, (self.run.fault, length)).map_err(|()| Failed) }
    }

    /// Calls a kernel for all positions of a task, each of which takes about `cost` operations, in parallel tasks that are the same otherwise.
    ///
    /// # Safety
    /// As for `one`; different positions write different elements.
    unsafe fn ranges(&mut self, f: Function, cost: usize, all: Task) -> Outcome {
        let task = |r: Range<usize>| Task { from: r.start as i64, to: r.end as i64, ..all };
        // SAFETY: as the caller promises.
        unsafe { self.all(f, cut(all.to as usize, cost).map(task).collect()) }
    }

    /// The same, for a function that writes the array `to`, if it is one that shares its memory with no other: around the caches if it is
    /// large.
    ///
    /// # Safety
    /// As for `ranges`.
    unsafe fn positions(
        &mut self,
        f: Function,
        to: Option<usize>,
        n: usize,
        cost: usize,
        extents: *const i64,
    ) -> Outcome {
        let size = |a: usize| self.code.program.arrays[a].columns.iter().map(|t| element_size(*t)).sum();
        let is_large = to.is_some_and(|a| n.saturating_mul(size(a)) >= LARGE);
        // SAFETY: as the caller promises.
        unsafe { self.ranges(f, cost, Task { slot: i64::from(is_large), ..range(0, n, extents) }) }
    }

    /// All rows: `whole` does them one by one, or, where there are few long ones, `part` makes partial results of each, and `finish` gets its
    /// tasks and one task for all of them.
    ///
    /// # Safety
    /// As for `one`.
    unsafe fn rows(
        &mut self,
        Rows { to, rows, len, cost, extents }: Rows,
        whole: Function,
        part: Function,
        finish: impl Fn(&mut Context, &[Task], &Task) -> Outcome,
    ) -> Outcome {
        let Some(size) = part_size(rows, len, cost, TASKS) else {
            // SAFETY: as the caller promises.
            return unsafe {
                let all = Task { len: len as i64, ..range(0, rows, extents) };
                self.ranges(whole, cost.saturating_mul(len.max(1)), all)
            };
        };
        let state = self.state(to, len.div_ceil(size))?;
        for row in 0..rows {
            let tasks = part_tasks(row, len, size, extents, &state.columns);
            let all = Task { to: tasks.len() as i64, ..tasks[0] };
            // SAFETY: as the caller promises.
            unsafe { self.all(part, tasks.clone())? };
            finish(self, &tasks, &all)?;
        }
        self.release_state(state);
        Ok(())
    }

    /// Room for so many partial results of the type of array `to`.
    fn state(&mut self, to: usize, parts: usize) -> Result<State, Failed> {
        let mut state = State { blocks: vec![], columns: vec![] };
        for t in &self.code.program.arrays[to].columns {
            let block = self.memory.allocate(parts, element_size(*t));
            if block.is_null() {
                return Err(self.no_memory(parts));
            }
            state.blocks.push(block);
            // SAFETY: the block has just been made.
            state.columns.push(unsafe { (*block).data });
        }
        Ok(state)
    }

    /// Notes that there is no memory for so many numbers.
    fn no_memory(&mut self, n: usize) -> Failed {
        let fault = [MEMORY, self.run.site, 1, n as i64];
        // SAFETY: the record has room for one number and more.
        unsafe { self.run.fault.copy_from_nonoverlapping(fault.as_ptr(), fault.len()) };
        Failed
    }

    fn release_state(&mut self, state: State) {
        // SAFETY: the blocks were made by `state`, and no task uses them any more.
        state.blocks.into_iter().for_each(|b| unsafe { self.memory.release(b) });
    }
}

/// Calls a kernel for tasks, in parallel. If one fails, the record of the first that does, which has so many numbers, is that of the caller.
///
/// # Safety
/// The tasks are such that they can run at the same time with this table of arrays, and the caller's record has room.
pub unsafe fn all(
    f: Function,
    arrays: *const Array,
    tasks: &[Task],
    (fault, length): (*mut i64, usize),
) -> Result<(), ()> {
    let shared = Shared((arrays, tasks.as_ptr()));
    let one = move |k: usize| {
        let (arrays, tasks) = shared.get();
        // SAFETY: as the caller promises; there is a task `k`, and the record is its own.
        with_record(length, |record| unsafe { f(*arrays, tasks.add(k), record) })
    };
    threads::each(tasks.len(), one).map_err(|record| {
        // SAFETY: as the caller promises.
        unsafe { fault.copy_from_nonoverlapping(record.as_ptr(), length) }
    })
}

/// Calls generated code with a record of failures of so many numbers, which is what went wrong if the code says so.
fn with_record(length: usize, f: impl FnOnce(*mut i64) -> i32) -> Result<(), Vec<i64>> {
    // All zero, as code writes to it only if it fails: there are many tasks, and some are as short as an allocation.
    thread_local! { static RECORD: Cell<Vec<i64>> = const { Cell::new(vec![]) } }
    let mut record = RECORD.take();
    record.resize(length, 0);
    if f(record.as_mut_ptr()) != 0 {
        return Err(record);
    }
    RECORD.set(record);
    Ok(())
}

/// A value that threads share: addresses, which Rust does not share by itself.
struct Shared<T>(T);
// SAFETY: only used for tasks and the table of arrays while a parallel operation runs. Nothing behind their addresses is written but
// the parts of arrays (or of partial results) that belong to one task alone.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above; who has one when the operation is over only drops it.
unsafe impl<T> Send for Shared<T> {}

impl<T> Shared<T> {
    /// A method, so that closures capture the whole.
    fn get(&self) -> &T {
        &self.0
    }
}

/// The positions up to `n`, each of which takes about `cost` operations, in ranges for a task each.
fn cut(n: usize, cost: usize) -> impl Iterator<Item = Range<usize>> {
    let size = task_size(n, cost, TASKS);
    (0..n).step_by(size.max(1)).map(move |from| from..n.min(from + size))
}

/// The positions `from..to` of an index space.
fn range(from: usize, to: usize, extents: *const i64) -> Task {
    Task { from: from as i64, to: to as i64, row: 0, slot: 0, len: 0, extents, state: std::ptr::null() }
}

/// The parts of a row.
fn part_tasks(row: usize, len: usize, size: usize, extents: *const i64, state: &[*mut c_void]) -> Vec<Task> {
    let task = |(slot, from): (usize, usize)| Task {
        row: row as i64,
        slot: slot as i64,
        len: len as i64,
        state: state.as_ptr(),
        ..range(from, len.min(from + size), extents)
    };
    (0..len).step_by(size).enumerate().map(task).collect()
}
