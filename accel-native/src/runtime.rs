//! Executes a plan: computes extents, allocates columns, calls generated functions, frees arrays after their last use.
//!
//! Large loops are cut into tasks for the threads of rayon's pool. Into which tasks depends on sizes only, never on the number
//! of threads, so that results do not depend on it either: a long row is reduced part by part (its partial results are
//! combined from left to right), many rows one row after another.

use crate::abi::{Array, Task};
use crate::buffer::{Buffer, address};
use crate::library::Library;
use crate::plan::{Block, Op, Step};
use accel_codegen::Kernel;
use accel_codegen::fault::{DIVISION, DIVISIONS, READ, TARGET, record_length};
use accel_core::error::{Error, Result};
use accel_core::repr::{RawArray, Scalar};
use accel_fusion::kernel::{ArrayId, Program, SiteId};
use rayon::prelude::*;
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Arc;

/// A task takes at least about this many simple operations: ten microseconds or more.
const TASK: usize = 1 << 15;
/// An operation is cut into at most about this many tasks.
const TASKS: usize = 64;
/// Rows are split if there are fewer than this: more keep all threads busy by themselves.
const FEW_ROWS: usize = 16;

/// What all runs of a program share.
pub struct Code {
    pub program: Program,
    pub plan: Block,
    pub library: Arc<Library>,
}

/// The arrays of one run.
struct Run<'a> {
    code: &'a Code,
    held: Vec<Option<RawArray>>,
    /// What generated code sees of the arrays: the table points into the other two, which are never moved.
    table: Vec<Array>,
    extents: Vec<Cell<i64>>,
    columns: Vec<Cell<*mut c_void>>,
    /// Where the extents and the columns of each array are.
    first: Vec<(usize, usize)>,
    /// For a function's record of what went wrong.
    fault: Vec<i64>,
}

/// A value that threads share: addresses, which Rust does not share by itself.
struct Shared<T>(T);
// SAFETY: only used for tasks and the table of arrays while a parallel operation runs. Nothing behind their addresses is written but
// the parts of arrays (or of partial results) that belong to one task alone.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// A method, so that closures capture the whole.
    fn get(&self) -> &T {
        &self.0
    }
}

/// The results for arguments of the program's types.
///
/// # Errors
/// Everything that is checked at run time.
pub fn run(code: &Code, arguments: Vec<RawArray>) -> Result<Vec<RawArray>> {
    let mut run = Run::new(code);
    for (to, a) in code.program.inputs.iter().zip(arguments) {
        check_size(|| "`argument`".into(), &a.extents)?;
        run.put(*to, a);
    }
    run.block(&code.plan)?;
    run.copies(&code.program.results)
}

impl<'a> Run<'a> {
    fn new(code: &'a Code) -> Self {
        let arrays = &code.program.arrays;
        let mut first = Vec::with_capacity(arrays.len());
        let (mut e, mut c) = (0, 0);
        for a in arrays {
            first.push((e, c));
            e += a.rank;
            c += a.columns.len();
        }
        let extents = vec![Cell::new(0i64); e];
        let columns = vec![Cell::new(std::ptr::null_mut::<c_void>()); c];
        // A `Cell` has the layout of its content.
        let entry = |&(e, c): &(usize, usize)| Array {
            extents: extents[e..].as_ptr().cast(),
            columns: columns[c..].as_ptr().cast(),
        };
        let table = first.iter().map(entry).collect();
        let fault = vec![0; record_length(&code.program)];
        Run { code, held: vec![None; arrays.len()], table, extents, columns, first, fault }
    }

    fn get(&self, a: ArrayId) -> Result<&RawArray> {
        self.held[a].as_ref().ok_or_else(|| Error::Internal("an array was freed too early".into()))
    }

    fn copies(&self, from: &[ArrayId]) -> Result<Vec<RawArray>> {
        from.iter().map(|a| self.get(*a).cloned()).collect()
    }

    /// Makes an array known.
    fn put(&mut self, to: ArrayId, a: RawArray) {
        let (e, c) = self.first[to];
        for (cell, extent) in self.extents[e..].iter().zip(&*a.extents) {
            cell.set(*extent as i64);
        }
        for (cell, column) in self.columns[c..].iter().zip(&a.columns) {
            cell.set(address(column));
        }
        self.held[to] = Some(a);
    }

    fn free(&mut self, arrays: &[ArrayId]) {
        arrays.iter().for_each(|a| self.held[*a] = None);
    }

    fn block(&mut self, b: &'a Block) -> Result<()> {
        for s in &b.steps {
            self.step(s)?;
            self.free(&s.frees);
        }
        Ok(())
    }

    /// Executes a block, takes its results, and frees its arrays.
    fn results(&mut self, (b, results): &'a (Block, Vec<ArrayId>)) -> Result<Vec<RawArray>> {
        self.block(b)?;
        let arrays = self.copies(results)?;
        self.free(&b.kept);
        Ok(arrays)
    }

    fn put_all(&mut self, to: &[ArrayId], arrays: Vec<RawArray>) {
        to.iter().zip(arrays).for_each(|(to, a)| self.put(*to, a));
    }

    fn step(&mut self, s: &'a Step) -> Result<()> {
        match (&s.op, s.kernel) {
            (Op::Literal { to, literal }, _) => {
                let a = &self.code.program.literals[*literal];
                check_size(|| self.place(s.site), &a.extents)?;
                self.put(*to, a.clone());
            }
            (Op::Loop { to, rank, cost }, Kernel::Loop { extents, body }) => {
                let extents = self.extents(extents, *rank, s.site)?;
                let n = check_size(|| self.place(s.site), &to_usize(&extents))?;
                let mut outputs = self.outputs(to, &extents, n, s.site)?;
                self.ranges(body, s.site, n, *cost, &extents, 0)?;
                // SAFETY: the loop has written all `n` elements.
                unsafe { self.finish(&mut outputs, n) };
            }
            (Op::Reduce { to, outer, has_init, cost }, Kernel::Reduce { .. }) => {
                self.reduce(s, *to, *outer, *has_init, *cost)?
            }
            (Op::Scan { to, outer, has_init, cost }, Kernel::Scan { .. }) => {
                self.scan(s, *to, *outer, *has_init, *cost)?
            }
            (Op::Permute { to, defaults, rank, in_place }, Kernel::Permute { extents, scatter, all }) => {
                let extents = self.extents(extents, *rank, s.site)?;
                let n = check_size(|| self.place(s.site), &to_usize(&extents))?;
                self.permute(s.site, (scatter, all), *to, *defaults, *in_place, &extents, n)?;
            }
            (Op::Reshape { to, from, rank }, Kernel::Reshape { extents }) => {
                let extents = to_usize(&self.extents(extents, *rank, s.site)?);
                let a = self.reshape(s.site, *from, extents)?;
                self.put(*to, a);
            }
            (Op::If { to, then, otherwise }, Kernel::If { cond }) => {
                let chosen = if self.numbers(cond, 1, s.site)?[0] != 0 { then } else { otherwise };
                let arrays = self.results(chosen)?;
                self.put_all(to, arrays);
            }
            (Op::While { to, init, cond, body }, _) => {
                let first = self.copies(init)?;
                self.put_all(to, first);
                while self.go_on(cond)? {
                    let next = self.results(body)?;
                    self.put_all(to, next);
                }
            }
            _ => return Err(Error::Internal("a statement with the functions of another one".into())),
        }
        Ok(())
    }

    fn go_on(&mut self, (b, result): &'a (Block, ArrayId)) -> Result<bool> {
        self.block(b)?;
        let element = self.get(*result)?.columns.first().and_then(|c| c.get(0));
        self.free(&b.kept);
        match element {
            Some(Scalar::Bool(go_on)) => Ok(go_on),
            _ => Err(Error::Internal("a loop condition that is not a boolean".into())),
        }
    }

    /// Calls a function of the host.
    fn numbers(&mut self, function: usize, count: usize, site: SiteId) -> Result<Vec<i64>> {
        let mut out = vec![0i64; count];
        let state = [out.as_mut_ptr().cast::<c_void>()];
        let task = Task { state: state.as_ptr(), ..Task::range(0, 0, &[]) };
        self.call(function, &task, site)?;
        Ok(out)
    }

    /// The extents that a function computes: none is negative.
    fn extents(&mut self, function: usize, rank: usize, site: SiteId) -> Result<Vec<i64>> {
        let extents = self.numbers(function, rank, site)?;
        if extents.iter().all(|e| *e >= 0) {
            return Ok(extents);
        }
        Err(Error::Shape {
            op: self.place(site),
            expected: "extents that are not negative".into(),
            found: format!("{extents:?}"),
        })
    }

    /// Whether a statement's function `all` has done everything.
    fn all(&mut self, function: Option<usize>, task: &Task, site: SiteId) -> Result<bool> {
        let Some(function) = function else { return Ok(false) };
        // SAFETY: as in `call`.
        match unsafe { self.code.library.all(function, self.table.as_ptr(), task, &mut self.fault) } {
            0 => Ok(true),
            1 => Err(self.error(&self.fault, site)),
            _ => Ok(false),
        }
    }

    fn call(&mut self, function: usize, task: &Task, site: SiteId) -> Result<()> {
        // SAFETY: `step` calls the functions that belong to the statement, after its inputs (checked when the program started, or
        // computed) have been put into the table and its outputs allocated; nothing else runs meanwhile.
        let ok = unsafe { self.code.library.call(function, self.table.as_ptr(), task, &mut self.fault) };
        if ok { Ok(()) } else { Err(self.error(&self.fault, site)) }
    }

    /// Calls a function for several tasks, in parallel if there are more than one. The first task that fails is told.
    fn call_all(&mut self, function: usize, tasks: Vec<Task>, site: SiteId) -> Result<()> {
        match tasks.as_slice() {
            [] => return Ok(()),
            [task] => return self.call(function, task, site),
            _ => {}
        }
        let (tasks, table) = (Shared(tasks), Shared(self.table.as_ptr()));
        let (library, length) = (&self.code.library, self.fault.len());
        let one = |i: usize| {
            let mut fault = vec![0; length];
            // SAFETY: as in `call`; the tasks write different parts of the outputs.
            let ok = unsafe { library.call(function, *table.get(), &tasks.get()[i], &mut fault) };
            if ok { None } else { Some(fault) }
        };
        let faults: Vec<Option<Vec<i64>>> = (0..tasks.get().len()).into_par_iter().map(one).collect();
        match faults.into_iter().flatten().next() {
            None => Ok(()),
            Some(fault) => Err(self.error(&fault, site)),
        }
    }

    /// Calls a function for the positions `0..n`, each of which takes about `cost` operations.
    fn ranges(
        &mut self,
        function: usize,
        site: SiteId,
        n: usize,
        cost: usize,
        extents: &[i64],
        len: i64,
    ) -> Result<()> {
        let size = if n.saturating_mul(cost) < 4 * TASK {
            n
        } else {
            // Whole cache lines where elements are cheap, so that tasks do not write to the same one.
            let lines = if cost * 64 <= TASK { 64 } else { 1 };
            (TASK / cost).max(n.div_ceil(TASKS)).max(1).next_multiple_of(lines)
        };
        let task = |from: usize| Task { len, ..Task::range(from, n.min(from + size), extents) };
        self.call_all(function, (0..n).step_by(size.max(1)).map(task).collect(), site)
    }

    fn reduce(&mut self, s: &Step, to: ArrayId, outer: usize, has_init: bool, cost: usize) -> Result<()> {
        let Kernel::Reduce { extents, len, rows, part, join, all } = s.kernel else { return Ok(()) };
        let (extents, count, len) = self.rows(extents, outer, len, s.site)?;
        if !has_init && len == 0 && count > 0 {
            return Err(Error::Shape {
                op: self.place(s.site),
                expected: "a non-empty innermost dimension".into(),
                found: format!("shape {:?}", [&extents[..], &[0]].concat()),
            });
        }
        let mut outputs = self.outputs(&[to], &extents, count, s.site)?;
        match parts(count, len, cost) {
            _ if self.all(all, &Task { len: len as i64, ..Task::range(0, count, &extents) }, s.site)? => {}
            None => self.ranges(rows, s.site, count, cost.saturating_mul(len.max(1)), &extents, len as i64)?,
            Some(size) => {
                let mut state = self.state(to, len.div_ceil(size), s.site)?;
                let columns: Vec<_> = state.iter_mut().map(Buffer::address).collect();
                for row in 0..count {
                    let tasks = part_tasks(row, len, size, &extents, &columns);
                    let join_task = Task { to: tasks.len() as i64, ..tasks[0] };
                    self.call_all(part, tasks, s.site)?;
                    self.call(join, &join_task, s.site)?;
                }
            }
        }
        // SAFETY: every row has been written.
        unsafe { self.finish(&mut outputs, count) };
        Ok(())
    }

    fn scan(&mut self, s: &Step, to: ArrayId, outer: usize, has_init: bool, cost: usize) -> Result<()> {
        let Kernel::Scan { extents, len, rows, part, carry, write } = s.kernel else { return Ok(()) };
        let (extents, count, len) = self.rows(extents, outer, len, s.site)?;
        let all = [&extents[..], &[(len + has_init as usize) as i64]].concat();
        let n = check_size(|| self.place(s.site), &to_usize(&all))?;
        let mut outputs = self.outputs(&[to], &all, n, s.site)?;
        match parts(count, len, cost) {
            None => self.ranges(rows, s.site, count, cost.saturating_mul(len.max(1)), &extents, len as i64)?,
            Some(size) => {
                let mut state = self.state(to, len.div_ceil(size), s.site)?;
                let columns: Vec<_> = state.iter_mut().map(Buffer::address).collect();
                for row in 0..count {
                    let tasks = part_tasks(row, len, size, &extents, &columns);
                    let carry_task = Task { to: tasks.len() as i64, ..tasks[0] };
                    self.call_all(part, tasks.clone(), s.site)?;
                    self.call(carry, &carry_task, s.site)?;
                    self.call_all(write, tasks, s.site)?;
                }
            }
        }
        // SAFETY: every row has been written, with the initial value if there is one.
        unsafe { self.finish(&mut outputs, n) };
        Ok(())
    }

    /// The outer extents, the number of rows and their length.
    fn rows(&mut self, extents: usize, outer: usize, len: usize, site: SiteId) -> Result<(Vec<i64>, usize, usize)> {
        let extents = self.extents(extents, outer, site)?;
        let len = self.extents(len, 1, site)?;
        let count = check_size(|| self.place(site), &to_usize(&extents))?;
        check_size(|| self.place(site), &to_usize(&[&extents[..], &len[..]].concat()))?;
        Ok((extents, count, len[0] as usize))
    }

    #[allow(clippy::too_many_arguments)]
    fn permute(
        &mut self,
        site: SiteId,
        (scatter, all): (usize, Option<usize>),
        to: ArrayId,
        defaults: ArrayId,
        in_place: bool,
        extents: &[i64],
        n: usize,
    ) -> Result<()> {
        let a = if in_place { self.held[defaults].take() } else { self.held[defaults].clone() };
        let a = a.ok_or_else(|| Error::Internal("an array was freed too early".into()))?;
        let size = a.size();
        let outputs: Option<Vec<Buffer>> = a.columns.into_iter().map(Buffer::from_column).collect();
        let no_memory = || Error::Memory { op: self.place(site), shape: a.extents.to_vec() };
        let outputs = outputs.ok_or_else(no_memory)?;
        let mut outputs = vec![Output { to, extents: a.extents, columns: outputs }];
        self.show(&mut outputs);
        let task = Task::range(0, n, extents);
        if !self.all(all, &task, site)? {
            self.call(scatter, &task, site)?;
        }
        // SAFETY: the buffers have been filled with the defaults.
        unsafe { self.finish(&mut outputs, size) };
        Ok(())
    }

    /// The elements are shared, not copied.
    fn reshape(&self, site: SiteId, from: ArrayId, extents: Vec<usize>) -> Result<RawArray> {
        let a = self.get(from)?;
        let n = check_size(|| self.place(site), &extents)?;
        if n != a.size() {
            return Err(Error::Shape {
                op: self.place(site),
                expected: format!("a shape of {} elements, as {:?} has", a.size(), a.extents),
                found: format!("{extents:?}, which has {n}"),
            });
        }
        Ok(RawArray { extents: extents.into(), columns: a.columns.clone() })
    }

    /// Room for the elements of arrays, in the table.
    fn outputs(&mut self, to: &[ArrayId], extents: &[i64], n: usize, site: SiteId) -> Result<Vec<Output>> {
        let extents: Arc<[usize]> = to_usize(extents).into();
        let mut outputs = vec![];
        for to in to {
            outputs.push(Output { to: *to, extents: extents.clone(), columns: self.allocate(*to, n, &extents, site)? });
        }
        self.show(&mut outputs);
        Ok(outputs)
    }

    /// Room for `n` elements of the type of array `like`.
    fn allocate(&self, like: ArrayId, n: usize, shape: &[usize], site: SiteId) -> Result<Vec<Buffer>> {
        let types = &self.code.program.arrays[like].columns;
        let columns: Option<Vec<_>> = types.iter().map(|t| Buffer::allocate(*t, n)).collect();
        columns.ok_or_else(|| Error::Memory { op: self.place(site), shape: shape.to_vec() })
    }

    /// Room for partial results of the type of array `like`.
    fn state(&self, like: ArrayId, parts: usize, site: SiteId) -> Result<Vec<Buffer>> {
        self.allocate(like, parts, &[parts], site)
    }

    /// Shows outputs to generated code.
    fn show(&self, outputs: &mut [Output]) {
        for o in outputs {
            let (e, c) = self.first[o.to];
            for (cell, extent) in self.extents[e..].iter().zip(&*o.extents) {
                cell.set(*extent as i64);
            }
            for (cell, buffer) in self.columns[c..].iter().zip(&mut o.columns) {
                cell.set(buffer.address());
            }
        }
    }

    /// Makes outputs arrays.
    ///
    /// # Safety
    /// All `n` elements of each have been written.
    unsafe fn finish(&mut self, outputs: &mut Vec<Output>, n: usize) {
        for o in outputs.drain(..) {
            // SAFETY: the caller promises what `finish` needs.
            let columns = o.columns.into_iter().map(|b| unsafe { b.finish(n) }).collect();
            self.put(o.to, RawArray { extents: o.extents, columns });
        }
    }

    /// `` `map` at FILE:LINE:COLUMN ``
    fn place(&self, site: SiteId) -> String {
        self.code.program.sites[site].to_string()
    }

    /// What a record says.
    fn error(&self, fault: &[i64], statement: SiteId) -> Error {
        let (kind, site, what) = (fault[0], fault[1] as usize, fault[2] as usize);
        match kind {
            DIVISION => Error::DivisionByZero { op: DIVISIONS[what], within: format!(" in {}", self.place(site)) },
            READ | TARGET => {
                let unknown = kind == READ && self.code.program.sites[site].at.is_none();
                let op = if unknown { format!("`index` in {}", self.place(statement)) } else { self.place(site) };
                let rank = self.code.program.arrays[what].rank;
                let first = self.first[what].0;
                let shape = self.extents[first..first + rank].iter().map(|e| e.get() as usize).collect();
                Error::OutOfBounds { op, index: fault[3..3 + rank].to_vec(), shape }
            }
            _ => Error::Internal("generated code failed in an unknown way".into()),
        }
    }
}

/// An array that is being computed.
struct Output {
    to: ArrayId,
    extents: Arc<[usize]>,
    columns: Vec<Buffer>,
}

fn to_usize(extents: &[i64]) -> Vec<usize> {
    // They have been checked not to be negative.
    extents.iter().map(|e| *e as usize).collect()
}

/// The size of the parts that rows are split into, if they are.
fn parts(rows: usize, len: usize, cost: usize) -> Option<usize> {
    let few = rows > 0 && rows < FEW_ROWS;
    (few && len >= 256 && len.saturating_mul(cost) >= 4 * TASK).then(|| (TASK / cost).max(128).max(len.div_ceil(TASKS)))
}

/// The parts of a row.
fn part_tasks(row: usize, len: usize, size: usize, extents: &[i64], state: &[*mut c_void]) -> Vec<Task> {
    let task = |(slot, from): (usize, usize)| Task {
        row: row as i64,
        slot: slot as i64,
        len: len as i64,
        state: state.as_ptr(),
        ..Task::range(from, len.min(from + size), extents)
    };
    (0..len).step_by(size).enumerate().map(task).collect()
}

/// The number of elements. It is an error if it, or that of an array with the same extents but without those that are 0, is
/// too large: later positions cannot overflow.
fn check_size(place: impl Fn() -> String, extents: &[usize]) -> Result<usize> {
    let product = extents.iter().filter(|e| **e != 0).try_fold(1usize, |n, e| n.checked_mul(*e));
    match product.filter(|n| isize::try_from(*n).is_ok()) {
        Some(_) if extents.contains(&0) => Ok(0),
        Some(n) => Ok(n),
        None => Err(Error::Memory { op: place(), shape: extents.to_vec() }),
    }
}
