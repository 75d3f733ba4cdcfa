//! A run: the host walks the statements, computes their extents, and enqueues commands for the device. It waits only
//! where it needs a number from the device: for the condition of a branch or a loop, for an extent, or to know whether
//! lists were full.

use crate::built_program::BuiltProgram;
use crate::fault;
use crate::kernel_objects::KernelObjects;
use crate::location::{Array, Buffers, Location, failure, mem, upload_column};
use crate::memory::Buffer;
use crate::plan::{Plan, Step};
use crate::shapes::{Shapes, Space};
use crate::states::Tapes;
use crate::stop::{Stop, WalkResult, strip};
use accel_core::ast::Dir;
use accel_core::error::{Error, Result};
use accel_core::repr::{Column, Columns, Scalar, ScalarType};
use accel_fusion::kernel::scalar_evaluation::{self, Store};
use accel_fusion::kernel::{self, ArrayId, IndexVec, Op, SiteId, Trips, index_vec};
use smallvec::smallvec;
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Arc;

/// The state of a run when all commands were enqueued.
pub struct Enqueued {
    /// The results of the program.
    pub results: Vec<Array>,
    /// The fault record, if a kernel has one.
    pub record: Option<Arc<Buffer>>,
    /// The extents of all arrays.
    pub shapes: Arc<Shapes>,
}

/// The state of a run.
pub struct Run<'a> {
    pub code: &'a BuiltProgram,
    /// The extents and launches known so far, or all of them.
    pub shapes: Arc<Shapes>,
    /// Whether all of them are known from an earlier run.
    pub is_known: bool,
    /// Whether launches depend on elements of arrays.
    has_read: Cell<bool>,
    /// The places of all arrays.
    pub arrays: IndexVec<ArrayId, Location>,
    pub tapes: Tapes,
    pub kernels: KernelObjects,
    /// The fault record, if a kernel has one.
    pub record: Option<Arc<Buffer>>,
}

impl Store for Run<'_> {
    fn extent(&self, a: ArrayId, dim: usize) -> Result<usize> {
        Ok(self.shapes.extents[a][dim] as usize)
    }

    /// Waits for the device, if only the device has the element.
    fn scalar(&self, a: ArrayId, column: usize, at: usize) -> Result<Scalar> {
        self.has_read.set(true);
        let missing = || Error::Internal(format!("a{a} has no element {at}"));
        let place = &self.arrays[a];
        if let Some(columns) = &place.host {
            return columns[column].get(at).ok_or_else(missing);
        }
        let buffer = place.device.get(column).and_then(Option::as_ref).ok_or_else(missing)?;
        let t = self.code.program.arrays[a].columns[column];
        let mut found = Column::zeros(t, 1).ok_or_else(missing)?;
        let (bytes, data) = (found.bytes(), found.as_mut_ptr().ok_or_else(missing)?);
        // SAFETY: the column has one element of this many bytes, and exists until the host has waited for the event
        // below.
        let done =
            unsafe { self.code.module.device.queue.read(mem(buffer)?, at * bytes, data.cast::<c_void>(), bytes)? };
        if self.record.is_some() {
            // This is enqueued later, so its wait includes the read.
            let checked = self.check();
            done.wait()?;
            checked?;
        } else {
            self.code.module.device.wait(&done)?;
        }
        found.get(0).ok_or_else(missing)
    }
}

impl<'a> Run<'a> {
    /// Starts a program with arguments of its types. The remaining work of the device is in its queue.
    ///
    /// # Errors
    /// Errors that the host finds at run time. Those that the device finds are in the record, unless the host sees them
    /// first.
    pub fn start(code: &'a BuiltProgram, arguments: Vec<Array>) -> WalkResult<Enqueued> {
        let n = code.program.arrays.len();
        let known = code.shapes_of(&arguments);
        let mut run = Run {
            code,
            is_known: known.is_some(),
            shapes: known.unwrap_or_else(|| Arc::new(Shapes::new(n))),
            has_read: Cell::new(false),
            arrays: index_vec![Location::default(); n],
            tapes: Tapes::new(),
            kernels: code.kernels(),
            record: None,
        };
        match run.walk(arguments) {
            // A failure on the device happened earlier, so it is reported instead.
            Err(Stop::Error(e)) => return Err(run.check().err().unwrap_or(e).into()),
            walked => walked?,
        }
        if !run.is_known && !run.has_read.get() {
            code.remember(&run.shapes);
        }
        let result = |a: &ArrayId| Array { extents: run.shapes.extents[*a].clone(), place: run.arrays[*a].clone() };
        let results = code.program.results.iter().map(result).collect();
        code.give_back(run.kernels);
        Ok(Enqueued { results, record: run.record, shapes: run.shapes })
    }

    fn walk(&mut self, arguments: Vec<Array>) -> WalkResult<()> {
        for (to, a) in self.code.program.inputs.iter().zip(arguments) {
            if !self.is_known {
                self.set_extents(*to, a.extents)?;
            }
            self.put(*to, a.place);
        }
        self.plan(&self.code.plan)
    }

    pub fn plan(&mut self, plan: &Plan) -> WalkResult<()> {
        plan.unused.iter().for_each(|a| self.drop_array(*a));
        plan.steps.iter().try_for_each(|s| self.step(s))
    }

    fn step(&mut self, s: &Step) -> WalkResult<()> {
        let space = if self.is_known { None } else { self.find_extents(s)? };
        match &s.op {
            Op::Literal { to, literal } => self.literal(*to, *literal),
            Op::Loop { to, body, .. } => self.loop_(s, to, body, space)?,
            Op::Argsort { to, .. } => {
                to.iter().try_for_each(|a| self.output(*a, &[], s.site))?;
                self.launch(s, space)?;
            }
            Op::Reduce { to, .. } | Op::Scan { to, .. } => {
                self.output(*to, &[], s.site)?;
                self.launch(s, space)?;
            }
            Op::Accumulate { to, sums, .. } => self.accumulate(s, to, sums, space)?,
            Op::Permute { to, defaults, .. } => self.permute(s, *to, *defaults, space)?,
            // The elements are shared, not copied. `find_extents` has compared the shapes.
            Op::Agree { .. } => {}
            Op::Foreign { to, call, from, .. } => self.foreign(to, call, from, s.site)?,
            Op::Reshape { to, from, .. } => self.put(*to, self.arrays[*from].clone()),
            Op::If { to, cond, then, otherwise } => {
                let chosen = scalar_evaluation::truth(self.values(cond, s.site)?[0])?;
                let (plan, results) = if chosen { (&s.blocks[0], &then.1) } else { (&s.blocks[1], &otherwise.1) };
                self.plan(plan)?;
                self.take(to, results, |a| plan.owned_results.contains(&a));
            }
            Op::While { to, init, trips, row, body } => {
                self.while_(s, to.split_at(init.len()), init, trips, *row, &body.1)?
            }
            Op::Keep { tape, arrays } => self.keep(*tape, arrays, s.site)?,
            Op::Recall { to, tape, at, step } => self.recall(s, to, *tape, at, &step.1)?,
            Op::Strip { .. } => return Err(strip().into()),
        }
        s.last_uses.iter().for_each(|a| self.drop_array(*a));
        Ok(())
    }

    /// Executes a loop with this state and these lists.
    fn while_(
        &mut self,
        s: &Step,
        (state, lists): (&[ArrayId], &[ArrayId]),
        init: &[ArrayId],
        trips: &Trips,
        row: Option<ArrayId>,
        next: &[ArrayId],
    ) -> WalkResult<()> {
        let n = match trips {
            Trips::While(..) => i64::MAX,
            Trips::Times(n, _) => scalar_evaluation::int(self.scalar(*n, 0, 0)?)?,
        };
        self.take(state, init, |a| s.moved.contains(&a));
        let mut listed = self.empty_lists(lists, n, trips.dir())?;
        let body = s.blocks.last().expect("a loop has a body");
        for k in 0..n {
            if let Trips::While(_, continues) = trips {
                self.plan(&s.blocks[0])?;
                if !scalar_evaluation::truth(self.scalar(*continues, 0, 0)?)? {
                    break;
                }
            }
            if let Some(row) = row {
                let k = if trips.dir() == Dir::Left { k } else { n - 1 - k };
                self.put(row, Location { host: Some(smallvec![vec![k].into()]), device: smallvec![None] });
            }
            self.plan(body)?;
            let (next, rows) = next.split_at(state.len());
            if !lists.is_empty() {
                listed = self.append(lists, rows, listed, s.site)?;
            }
            let owned = &body.owned_results;
            rows.iter().filter(|a| owned.contains(a) && !next.contains(a)).for_each(|a| self.drop_array(*a));
            self.take(state, next, |a| owned.contains(&a));
        }
        self.finish_lists(lists, listed, s.site)
    }

    fn literal(&mut self, to: ArrayId, literal: usize) {
        let columns = self.code.program.literals[literal].columns.clone();
        self.put(to, Location { host: Some(columns), device: self.code.literals[literal].clone() });
    }

    fn loop_(&mut self, s: &Step, to: &[ArrayId], body: &kernel::ScalarFn, space: Option<Space>) -> WalkResult<()> {
        if let Some(needs) = &s.on_host
            && needs.iter().all(|a| self.arrays[*a].host.is_some())
        {
            // In the next run, the arrays may be on the device.
            self.launched(s, space)?;
            return self.scalars(to, body, s.site);
        }
        self.outputs(s, to)?;
        self.launch(s, space)
    }

    /// Makes the arrays of a loop, in place of others where possible: not if it may be executed again.
    pub fn outputs(&mut self, s: &Step, to: &[ArrayId]) -> WalkResult<()> {
        let mut over = if self.lists(s) > 0 { &[] } else { &s.in_place[..] };
        for a in to {
            let (own, others) = over.split_at(self.code.program.arrays[*a].columns.len().min(over.len()));
            self.output(*a, own, s.site)?;
            over = others;
        }
        Ok(())
    }

    /// Evaluates a loop of rank 0 on the host, which has the arrays.
    fn scalars(&mut self, to: &[ArrayId], body: &kernel::ScalarFn, site: SiteId) -> WalkResult<()> {
        // These elements influence no launch.
        let has_read = self.has_read.get();
        let mut values = self.values(body, site)?.into_iter();
        self.has_read.set(has_read);
        for a in to {
            let info = &self.code.program.arrays[*a];
            let columns = info.columns.iter().map(|t| {
                let mut column = Column::with_capacity(*t, 1);
                values.next().is_some_and(|x| column.push(x)).then_some(column)
            });
            let columns: Columns =
                columns.collect::<Option<_>>().ok_or_else(|| Error::Internal("a value of another type".into()))?;
            self.put(*a, Location { device: smallvec![None; columns.len()], host: Some(columns) });
        }
        Ok(())
    }

    // ---- arrays

    pub fn site(&self, site: SiteId) -> String {
        self.code.program.sites[site].to_string()
    }

    /// The number of elements of an array.
    pub fn count(&self, a: ArrayId) -> usize {
        self.shapes.extents[a].iter().map(|e| *e as usize).product()
    }

    fn drop_array(&mut self, a: ArrayId) {
        self.put(a, Location::default());
    }

    /// Sets the place of an array.
    pub fn put(&mut self, a: ArrayId, place: Location) {
        self.arrays[a] = place;
    }

    /// Makes an array. It takes over the memory of an array in `over` where possible.
    fn output(&mut self, to: ArrayId, over: &[Option<(ArrayId, usize)>], site: SiteId) -> WalkResult<()> {
        let mut device = Buffers::new();
        for (k, t) in self.code.program.arrays[to].columns.iter().enumerate() {
            let old = over.get(k).copied().flatten();
            let of_same_size = |(a, _): &(ArrayId, usize)| self.shapes.extents[*a] == self.shapes.extents[to];
            let old = old.filter(of_same_size).and_then(|(a, k)| self.own(a, k));
            device.push(match old {
                Some(old) => Some(old),
                None => self.allocate(to, *t, site)?,
            });
        }
        self.put(to, Location { host: None, device });
        Ok(())
    }

    /// The memory of a column, if nobody else has it. The column itself keeps it as well.
    fn own(&mut self, a: ArrayId, k: usize) -> Option<Arc<Buffer>> {
        let place = &mut self.arrays[a];
        let buffer = place.device.get_mut(k)?.as_mut()?;
        let free = place.host.is_none() && Arc::get_mut(buffer).is_some();
        free.then(|| buffer.clone())
    }

    /// Allocates memory for a column of an array.
    pub fn allocate(&self, a: ArrayId, t: ScalarType, site: SiteId) -> Result<Option<Arc<Buffer>>> {
        let n = self.count(a);
        if n == 0 {
            return Ok(None);
        }
        let bytes = || accel_codegen::opencl::size_of(t, 1).saturating_mul(n);
        let device = &self.code.module.device;
        let full = |f| failure(device, f, || self.site(site), &self.shapes.sizes(a), bytes());
        device.memory.column(t, n).map(Some).map_err(full)
    }

    /// Makes sure that the device has a column.
    pub fn on_device(&mut self, a: ArrayId, k: usize) -> Result<()> {
        let place = &mut self.arrays[a];
        let columns = self.code.program.arrays[a].columns.len();
        place.device.resize(columns, None);
        if place.device[k].is_none()
            && let Some(host) = &place.host
        {
            place.device[k] = upload_column(&self.code.module.device, &host[k], || self.shapes.sizes(a))?;
        }
        Ok(())
    }

    /// Makes `to` names of the arrays `from`, all at once. An array that is `free` loses its old name.
    pub fn take(&mut self, to: &[ArrayId], from: &[ArrayId], free: impl Fn(ArrayId) -> bool) {
        let extents = |a: ArrayId| self.shapes.extents[a].clone();
        let found: Vec<_> = from.iter().map(|f| (extents(*f), self.arrays[*f].clone())).collect();
        from.iter().filter(|f| free(**f)).for_each(|f| self.drop_array(*f));
        for (to, (extents, place)) in to.iter().zip(found) {
            if !self.is_known {
                Arc::make_mut(&mut self.shapes).extents[*to] = extents;
            }
            self.put(*to, place);
        }
    }

    /// Waits until all commands have ended, and checks for failures.
    ///
    /// # Errors
    /// The first failure.
    pub fn check(&self) -> Result<()> {
        fault::check(self.code, self.record.as_deref(), &self.shapes.extents)
    }
}

#[cfg(test)]
mod tests {
    use super::{Array, Location, Run};
    use crate::built_program::BuiltProgram;
    use crate::location::upload;
    use crate::{OpenCl, read_back};
    use accel_core::repr::RawArray;
    use accel_fusion::kernel::{Verified, parse};

    /// In the first run, the host has the argument and computes the statement itself. In the next one, only the device
    /// has it, so the statement is launched.
    #[test]
    fn arguments_may_be_elsewhere_in_the_next_run() {
        let text = "program (a0: Array0<i64>, a1: Array1<i64>)
            site 0 = \"here\"
            {
              a2: Array0<i64> = loop @0
                extents () { -> }
                body () { x0: i64 = a0[] @0 inside; x1: i64 = x0 * x0 -> x1 }
              a3: Array1<i64> = loop @0
                extents () { x0: i64 = extent a1 0 -> x0 }
                body (x0: i64) { x1: i64 = a1[x0] @0 inside; x2: i64 = a2[] @0 inside; x3: i64 = x1 + x2 -> x3 }
              -> a3
            }";
        let program = parse(text).and_then(Verified::new).unwrap();
        let Ok(backend) = OpenCl::shared().inspect_err(|e| println!("LEFT OUT: {e}")) else { return };
        let device = &backend.device;
        let array = |extents: &[usize], x: &[i64]| RawArray {
            extents: extents.into(),
            columns: vec![x.to_vec().into()].into(),
        };
        let arguments = [array(&[], &[3]), array(&[4], &[1, 2, 3, 4])];
        let there = arguments.each_ref().map(|a| {
            let place = Location { host: None, device: upload(device, a).unwrap() };
            Array { extents: a.extents.iter().map(|e| *e as i64).collect(), place }
        });
        let code = BuiltProgram::new(program, device.clone(), device.target(), None).unwrap();
        for given in
            [arguments.each_ref().map(Array::host), there.clone(), arguments.each_ref().map(Array::host), there]
        {
            let Ok(run) = Run::start(&code, given.into()) else { panic!("the run failed") };
            assert_eq!(read_back::to_host(&code, run).unwrap(), [array(&[4], &[10, 11, 12, 13])]);
        }
    }
}
