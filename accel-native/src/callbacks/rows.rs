//! Index spaces and rows in parallel tasks.

use super::entry::{Failed, Outcome, enter};
use crate::abi::{Block, Function, Run, Task};
use crate::context::Context;
use crate::memory::element_size;
use crate::parallel_tasks::{range, run_tasks};
use accel_codegen::cost_model::{LARGE, TASKS};
use accel_codegen::partition::{part_size, task_size};
use accel_core::repr::ScalarType;
use std::ffi::c_void;
use std::ops::Range;

pub unsafe extern "C" fn ranges(run: *mut Run, f: Function, width: i64, n: i64, cost: i64, extents: *const i64) -> i32 {
    // SAFETY: called by generated code for a statement that it executes.
    unsafe { enter(run, 1, |c| c.positions(f, width as usize, n as usize, cost as usize, extents).map(|()| 0)) }
}

pub unsafe extern "C" fn reduce(
    run: *mut Run,
    to: i64,
    functions: *const Function,
    rows: i64,
    len: i64,
    cost: i64,
    extents: *const i64,
) -> i32 {
    // SAFETY: called by generated code for a statement that it executes, with three functions.
    unsafe {
        let [whole, part, join] = *functions.cast::<[Function; 3]>();
        let rows = Rows { to: to as usize, rows: rows as usize, len: len as usize, cost: cost as usize, extents };
        let finish = |c: &mut Context, rows: &[Parts]| rows.iter().try_for_each(|row| c.one(join, &row.all));
        enter(run, 1, |c| c.rows(rows, whole, part, finish).map(|()| 0))
    }
}

pub unsafe extern "C" fn scan(
    run: *mut Run,
    to: i64,
    functions: *const Function,
    rows: i64,
    len: i64,
    cost: i64,
    extents: *const i64,
) -> i32 {
    // SAFETY: called by generated code for a statement that it executes, with four functions.
    unsafe {
        let [whole, part, carry, write] = *functions.cast::<[Function; 4]>();
        let rows = Rows { to: to as usize, rows: rows as usize, len: len as usize, cost: cost as usize, extents };
        let finish = |c: &mut Context, rows: &[Parts]| {
            rows.iter().try_for_each(|row| c.one(carry, &row.all))?;
            c.all(write, tasks_of(rows))
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
    /// The cost of an element.
    cost: usize,
    extents: *const i64,
}

/// Partial results.
struct State {
    blocks: Vec<*mut Block>,
    columns: Vec<*mut c_void>,
}

/// The parts of a row.
struct Parts {
    tasks: Vec<Task>,
    /// The task that has the partial results of all of them.
    all: Task,
}

fn tasks_of(rows: &[Parts]) -> Vec<Task> {
    rows.iter().flat_map(|row| &row.tasks).cloned().collect()
}

impl Context<'_> {
    /// Calls a kernel for several tasks, in parallel if there is more than one. Reports the first task that fails.
    ///
    /// # Safety
    /// As for `one`; the tasks write different parts of the outputs.
    unsafe fn all(&mut self, f: Function, tasks: Vec<Task>) -> Outcome {
        if let [task] = tasks.as_slice() {
            // SAFETY: the caller's guarantee.
            return unsafe { self.one(f, task) };
        }
        let length = self.code.record_length;
        // SAFETY: the caller's guarantee. The record of the run has this length.
        unsafe { run_tasks(f, self.run.arrays, &tasks, (self.run.fault, length)).map_err(|()| Failed) }
    }

    /// Calls a kernel for all positions of a task, in parallel tasks that are otherwise equal. Each position takes
    /// about `cost` operations.
    ///
    /// # Safety
    /// As for `one`; different positions write different elements.
    unsafe fn ranges(&mut self, f: Function, cost: usize, all: Task) -> Outcome {
        let task = |r: Range<usize>| Task { from: r.start as i64, to: r.end as i64, ..all };
        // SAFETY: the caller's guarantee.
        unsafe { self.all(f, cut(all.to as usize, cost).map(task).collect()) }
    }

    /// As [`ranges`](Self::ranges), for a function that writes `width` bytes at a position, which share their memory with no other
    /// array; else `width` is 0. If it writes much, it uses non-temporal stores.
    ///
    /// # Safety
    /// As for `ranges`.
    unsafe fn positions(&mut self, f: Function, width: usize, n: usize, cost: usize, extents: *const i64) -> Outcome {
        let is_large = n.saturating_mul(width) >= LARGE;
        // SAFETY: the caller's guarantee.
        unsafe { self.ranges(f, cost, Task { slot: i64::from(is_large), ..range(0, n, extents) }) }
    }

    /// Processes all rows. Usually `whole` processes them one by one. If there are few long rows, `part` computes
    /// partial results of each, and `finish` combines those of all rows.
    ///
    /// # Safety
    /// As for `one`.
    unsafe fn rows(
        &mut self,
        Rows { to, rows, len, cost, extents }: Rows,
        whole: Function,
        part: Function,
        finish: impl Fn(&mut Context, &[Parts]) -> Outcome,
    ) -> Outcome {
        let Some(size) = part_size(rows, len, cost, TASKS) else {
            // SAFETY: the caller's guarantee.
            return unsafe {
                let all = Task { len: len as i64, ..range(0, rows, extents) };
                self.ranges(whole, cost.saturating_mul(len.max(1)), all)
            };
        };
        let code = self.code;
        let (types, chains) = match code.scans.get(&to) {
            Some((types, chains)) => (types, *chains),
            None => (&code.program.arrays[to].columns, 1),
        };
        let parts = len.div_ceil(size);
        let results = parts * chains;
        let state = self.state(types, rows * results)?;
        // The partial results of each row are behind those of the row before.
        let of_row = |row: usize| -> Vec<*mut c_void> {
            let column = |(data, t): (&*mut c_void, &ScalarType)| {
                data.cast::<u8>().wrapping_add(row * results * element_size(*t)).cast()
            };
            state.columns.iter().zip(types).map(column).collect()
        };
        let columns: Vec<_> = (0..rows).map(of_row).collect();
        let all: Vec<Parts> = (columns.iter().enumerate())
            .map(|(row, state)| {
                let tasks = part_tasks(row, len, (parts, chains), extents, state);
                let all = Task { to: results as i64, ..tasks[0] };
                Parts { tasks, all }
            })
            .collect();
        // SAFETY: the caller's guarantee.
        let process = |c: &mut Self, rows: &[Parts]| unsafe {
            c.all(part, tasks_of(rows))?;
            finish(c, rows)
        };
        // If an element fails, combining an earlier row may fail as well: then the first row that fails decides.
        process(self, &all).or_else(|_| all.chunks(1).try_for_each(|row| process(self, row)))?;
        self.release_state(state);
        Ok(())
    }

    /// Memory for this number of partial results.
    fn state(&mut self, types: &[ScalarType], parts: usize) -> Result<State, Failed> {
        let mut state = State { blocks: vec![], columns: vec![] };
        for t in types {
            let block = self.memory.allocate(parts, element_size(*t));
            if block.is_null() {
                return Err(self.no_memory(parts));
            }
            state.blocks.push(block);
            // SAFETY: the block was just made.
            state.columns.push(unsafe { (*block).data });
        }
        Ok(state)
    }

    fn release_state(&mut self, state: State) {
        // SAFETY: the blocks were made by `state`, and no task uses them any more.
        state.blocks.into_iter().for_each(|b| unsafe { self.memory.release(b) });
    }
}

/// Cuts the positions up to `n`, each of which takes about `cost` operations, into a range for each task.
fn cut(n: usize, cost: usize) -> impl Iterator<Item = Range<usize>> {
    let size = task_size(n, cost, TASKS);
    (0..n).step_by(size.max(1)).map(move |from| from..n.min(from + size))
}

/// The tasks for the parts of a row, about equally long. Each has `chains` partial results.
fn part_tasks(
    row: usize,
    len: usize,
    (parts, chains): (usize, usize),
    extents: *const i64,
    state: &[*mut c_void],
) -> Vec<Task> {
    let bound = |k: usize| (len / parts) * k + (len % parts).min(k);
    let task = |k: usize| Task {
        row: row as i64,
        slot: (k * chains) as i64,
        len: len as i64,
        state: state.as_ptr(),
        ..range(bound(k), bound(k + 1), extents)
    };
    (0..parts).map(task).collect()
}
