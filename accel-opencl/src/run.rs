//! A run: the host walks the statements, computes their extents, and enqueues what the device does. It waits only where it needs a number
//! from the device: for the condition of a choice or a loop, or an extent.

use crate::batch::Kernels;
use crate::built_program::{Code, failure, mem, upload_column};
use crate::cl::{Event, Value};
use crate::fault;
use crate::launch_cache::{Launched, Shapes, Space};
use crate::memory::{Buffer, LARGE};
use crate::plan::{Plan, Step};
use crate::replay::Commands;
use accel_codegen::opencl::{Arg, Launch, Shape};
use accel_core::error::{Error, Result};
use accel_core::repr::{Column, Columns, RawArray, Scalar, ScalarType};
use accel_fusion::kernel::machine::{self, Store};
use accel_fusion::kernel::{self, ArrayId, Op, SiteId};
use smallvec::{SmallVec, smallvec};
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::sync::Arc;

/// Why a run ends early.
pub enum Stop {
    /// Something is wrong.
    Error(Error),
    /// Positions need more than 32 bits.
    Wide,
    /// A strip would take too much memory: the statements have to be executed one by one.
    Plain,
}

impl From<Error> for Stop {
    fn from(e: Error) -> Stop {
        Stop::Error(e)
    }
}

/// Results of this module's functions.
pub type Walked<T> = std::result::Result<T, Stop>;

/// An argument or a result.
#[derive(Clone)]
pub struct Array {
    pub extents: Vec<i64>,
    pub place: Place,
}

/// Where the columns of an array are: on the host, on the device, or on both.
#[derive(Clone, Default)]
pub struct Place {
    pub host: Option<Columns>,
    pub device: Buffers,
}

/// The columns of an array on the device; none where a column is empty, or has not been copied yet.
pub type Buffers = SmallVec<[Option<Arc<Buffer>>; 1]>;

/// What a run leaves when everything has been enqueued.
pub struct Enqueued {
    /// What the program computes.
    pub results: Vec<Array>,
    /// The record of faults, if a kernel has it.
    pub record: Option<Arc<Buffer>>,
    /// The extents of all arrays.
    pub shapes: Arc<Shapes>,
    /// The end of the last command, if it is known.
    pub end: Option<Event>,
    /// Whether the device has little to do.
    pub little: bool,
    /// Whether it has, the run had the extents of the one before, and nothing depends on elements but elements.
    pub again: bool,
}

/// The state of a run.
pub struct Run<'a> {
    pub code: &'a Code,
    /// What is known so far, or all of it.
    pub shapes: Arc<Shapes>,
    /// Whether all of it is known, from an earlier run.
    is_known: bool,
    /// Whether what is launched depends on elements of arrays.
    has_read: Cell<bool>,
    /// By array.
    arrays: Vec<Place>,
    kernels: RefCell<Kernels>,
    /// The record of faults, if a kernel has it.
    record: Option<Arc<Buffer>>,
    /// About how many simple operations have been enqueued since the last wait.
    operations: Cell<usize>,
}

/// So many simple operations are little to do on a processor: they take a thread half a millisecond.
const LITTLE: usize = 1 << 25;

impl Store for Run<'_> {
    fn extent(&self, a: ArrayId, dim: usize) -> Result<usize> {
        Ok(self.shapes.extents[a][dim] as usize)
    }

    /// Waits for the device, if the element is only there.
    fn scalar(&self, a: ArrayId, column: usize, at: usize) -> Result<Scalar> {
        self.has_read.set(true);
        let missing = || Error::Internal(format!("a{a} has no element {at}"));
        let place = &self.arrays[a];
        if let Some(columns) = &place.host {
            return columns[column].get(at).ok_or_else(missing);
        }
        let buffer = place.device.get(column).and_then(Option::as_ref).ok_or_else(missing)?;
        let t = self.code.program.arrays[a].columns[column];
        self.flush()?;
        let mut found = Column::zeros(t, 1).ok_or_else(missing)?;
        let (bytes, data) = (found.bytes(), found.as_mut_ptr().ok_or_else(missing)?);
        // SAFETY: the column has one element of so many bytes, and is there until the event below has been waited for.
        let done = unsafe { self.code.device.queue.read(mem(buffer)?, at * bytes, data.cast::<c_void>(), bytes)? };
        let little = self.is_little();
        if self.record.is_some() {
            // That comes later, so what it waits for is the end of both.
            let checked = self.check(little);
            done.wait()?;
            checked?;
        } else {
            self.code.device.wait(&done, little)?;
        }
        found.get(0).ok_or_else(missing)
    }
}

impl<'a> Run<'a> {
    /// Executes a program with arguments of its types. What the device still has to do is in its queue.
    ///
    /// # Errors
    /// What the host finds at run time; what the device finds is in the record, if it is not found first.
    pub fn start(code: &'a Code, arguments: Vec<Array>) -> Walked<Enqueued> {
        let (enqueued, kernels) = Run::execute(code, arguments, code.kernels())?;
        code.give_back(kernels);
        Ok(enqueued)
    }

    /// Does the same, with arguments on the device, and records it; `None` if that is not possible.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn record(code: &'a Code, arguments: Vec<Array>) -> Walked<(Enqueued, Option<Commands>)> {
        let (enqueued, mut kernels) = Run::execute(code, arguments, Kernels::recording())?;
        Ok((enqueued, kernels.recorded.take()))
    }

    fn execute(code: &'a Code, arguments: Vec<Array>, kernels: Kernels) -> Walked<(Enqueued, Kernels)> {
        let n = code.program.arrays.len();
        let known = code.shapes_of(&arguments);
        let mut run = Run {
            code,
            is_known: known.is_some(),
            shapes: known.unwrap_or_else(|| Arc::new(Shapes::new(n))),
            has_read: Cell::new(false),
            arrays: vec![Place::default(); n],
            kernels: RefCell::new(kernels),
            record: None,
            operations: Cell::new(0),
        };
        let walked = run.walk(arguments);
        let walked = run.flush().map_err(Stop::from).and(walked);
        if let Err(Stop::Error(e)) = walked {
            // What failed on the device came before.
            return Err(run.check(false).err().unwrap_or(e).into());
        }
        walked?;
        if code.device.memory.is_seen() {
            // A thread of the device may wait awake for this, and what comes now takes the host time.
            code.device.begin()?;
        }
        let reads = run.has_read.get();
        if !run.is_known && !reads {
            code.remember(&run.shapes);
        }
        let result = |a: &ArrayId| Array { extents: run.shapes.extents[*a].clone(), place: run.arrays[*a].clone() };
        let results = code.program.results.iter().map(result).collect();
        let little = run.is_little();
        let mut kernels = run.kernels.take();
        if reads {
            kernels.not_only();
        }
        let left = std::mem::take(&mut run.arrays);
        left.into_iter().flat_map(|place| place.device).flatten().for_each(|b| kernels.hold(b));
        let (end, again) = (kernels.end.take(), run.is_known && !reads && little);
        Ok((Enqueued { results, record: run.record, shapes: run.shapes, end, little, again }, kernels))
    }

    fn walk(&mut self, arguments: Vec<Array>) -> Walked<()> {
        for (to, a) in self.code.program.inputs.iter().zip(arguments) {
            if !self.is_known {
                self.set_extents(*to, a.extents)?;
            }
            self.put(*to, a.place);
        }
        self.plan(&self.code.plan)
    }

    fn plan(&mut self, plan: &Plan) -> Walked<()> {
        plan.unused.iter().for_each(|a| self.drop_array(*a));
        plan.steps.iter().try_for_each(|s| self.step(s))
    }

    fn step(&mut self, s: &Step) -> Walked<()> {
        let space = if self.is_known { None } else { self.find_extents(s)? };
        match &s.op {
            Op::Literal { to, literal } => self.literal(*to, *literal),
            Op::Loop { to, body, .. } => self.loop_(s, to, body, space)?,
            Op::Reduce { to, .. } | Op::Scan { to, .. } => {
                self.output(*to, &[], s.site)?;
                self.launch(s, space)?;
            }
            Op::Permute { to, defaults, .. } => self.permute(s, *to, *defaults, space)?,
            // The elements are shared, not copied.
            // `find_extents` has compared the shapes.
            Op::Agree { .. } => {}
            Op::Reshape { to, from, .. } => self.put(*to, self.arrays[*from].clone()),
            Op::If { to, cond, then, otherwise } => {
                let chosen = machine::truth(self.values(cond, s.site)?[0])?;
                let (plan, results) = if chosen { (&s.blocks[0], &then.1) } else { (&s.blocks[1], &otherwise.1) };
                self.plan(plan)?;
                self.take(to, results, |a| plan.owned_results.contains(&a));
            }
            Op::While { to, init, cond, body } => {
                self.take(to, init, |a| s.handed.contains(&a));
                loop {
                    self.plan(&s.blocks[0])?;
                    if !machine::truth(self.scalar(cond.1, 0, 0)?)? {
                        break;
                    }
                    self.plan(&s.blocks[1])?;
                    self.take(to, &body.1, |a| s.blocks[1].owned_results.contains(&a));
                }
            }
            // All statements of the body at once; only these arrays are in memory.
            Op::Strip { to, .. } => {
                to.iter().try_for_each(|a| self.output(*a, &[], s.site))?;
                self.launch(s, space)?;
            }
        }
        s.dies.iter().for_each(|a| self.drop_array(*a));
        Ok(())
    }

    fn literal(&mut self, to: ArrayId, literal: usize) {
        let columns = self.code.program.literals[literal].columns.clone();
        self.put(to, Place { host: Some(columns), device: self.code.literals[literal].clone() });
    }

    fn loop_(&mut self, s: &Step, to: &[ArrayId], body: &kernel::Code, space: Option<Space>) -> Walked<()> {
        if let Some(needs) = &s.on_host
            && needs.iter().all(|a| self.arrays[*a].host.is_some())
        {
            // The next run may have them on the device.
            self.launched(s, space)?;
            return self.scalars(to, body, s.site);
        }
        let mut over = &s.over[..];
        for a in to {
            let (own, others) = over.split_at(self.code.program.arrays[*a].columns.len().min(over.len()));
            self.output(*a, own, s.site)?;
            over = others;
        }
        self.launch(s, space)
    }

    /// A loop of rank 0 whose arrays the host has.
    fn scalars(&mut self, to: &[ArrayId], body: &kernel::Code, site: SiteId) -> Walked<()> {
        // These elements decide nothing.
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
            self.put(*a, Place { device: smallvec![None; columns.len()], host: Some(columns) });
        }
        Ok(())
    }

    /// The output takes over the memory of the defaults if nobody else has it, or gets a copy.
    fn permute(&mut self, s: &Step, to: ArrayId, defaults: ArrayId, space: Option<Space>) -> Walked<()> {
        let columns = 0..self.code.program.arrays[to].columns.len();
        columns.clone().try_for_each(|k| self.on_device(defaults, k))?;
        let old = self.arrays[defaults].device.clone();
        if s.takes_defaults {
            self.arrays[defaults] = Place::default();
        }
        let mut new = Buffers::new();
        for (k, old) in columns.zip(old) {
            let Some(mut old) = old else {
                new.push(None);
                continue;
            };
            if s.takes_defaults && old.is_own() && Arc::get_mut(&mut old).is_some() {
                new.push(Some(old));
                continue;
            }
            let t = self.code.program.arrays[to].columns[k];
            let made = self.allocate(to, t, s.site)?;
            if let Some(made) = &made {
                let bytes = accel_codegen::opencl::size_of(t, self.count(to));
                self.flush()?;
                self.code.device.queue.copy(mem(&old)?, mem(made)?, bytes)?;
                self.kernels.get_mut().not_only();
            }
            new.push(made);
        }
        self.put(to, Place { host: None, device: new });
        self.launch(s, space)
    }

    // ---- arrays

    pub fn site(&self, site: SiteId) -> String {
        self.code.program.sites[site].to_string()
    }

    /// How many elements an array has.
    fn count(&self, a: ArrayId) -> usize {
        self.shapes.extents[a].iter().map(|e| *e as usize).product()
    }

    fn drop_array(&mut self, a: ArrayId) {
        self.put(a, Place::default());
    }

    /// Sets where an array is. Launches that wait may use the memory of what it was before.
    fn put(&mut self, a: ArrayId, place: Place) {
        let old = std::mem::replace(&mut self.arrays[a], place);
        old.device.into_iter().flatten().for_each(|b| self.kernels.get_mut().hold(b));
    }

    /// Makes an array, over others where that is possible.
    fn output(&mut self, to: ArrayId, over: &[Option<(ArrayId, usize)>], site: SiteId) -> Walked<()> {
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
        self.put(to, Place { host: None, device });
        Ok(())
    }

    /// The memory of a column that nobody else has. The column still reads it, too.
    fn own(&mut self, a: ArrayId, k: usize) -> Option<Arc<Buffer>> {
        let place = &mut self.arrays[a];
        let buffer = place.device.get_mut(k)?.as_mut()?;
        let free = place.host.is_none() && buffer.is_own() && Arc::get_mut(buffer).is_some();
        free.then(|| buffer.clone())
    }

    /// Memory for a column of an array.
    fn allocate(&self, a: ArrayId, t: ScalarType, site: SiteId) -> Result<Option<Arc<Buffer>>> {
        let n = self.count(a);
        if n == 0 {
            return Ok(None);
        }
        let bytes = || accel_codegen::opencl::size_of(t, 1).saturating_mul(n);
        let device = &self.code.device;
        if bytes() >= LARGE {
            // What is held could be the memory for it.
            self.flush()?;
        }
        let full = |f| failure(device, f, || self.site(site), &self.shapes.sizes(a), bytes());
        device.memory.column(t, n).map(Some).map_err(full)
    }

    /// Makes sure that the device has a column.
    fn on_device(&mut self, a: ArrayId, k: usize) -> Result<()> {
        let place = &mut self.arrays[a];
        let columns = self.code.program.arrays[a].columns.len();
        place.device.resize(columns, None);
        if place.device[k].is_none()
            && let Some(host) = &place.host
        {
            place.device[k] = upload_column(&self.code.device, &host[k], || self.shapes.sizes(a))?;
            self.kernels.get_mut().not_only();
        }
        Ok(())
    }

    /// Makes `to` names of the arrays `from`, all at once. What is free goes to its new name only.
    fn take(&mut self, to: &[ArrayId], from: &[ArrayId], free: impl Fn(ArrayId) -> bool) {
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

    /// Waits until the device has done everything, and looks whether something has failed there.
    ///
    /// # Errors
    /// The first failure.
    fn check(&self, little: bool) -> Result<()> {
        self.flush()?;
        fault::check(self.code, self.record.as_deref(), &self.shapes.extents, little)
    }

    // ---- kernels

    fn launch(&mut self, s: &Step, space: Option<Space>) -> Walked<()> {
        let launched = self.launched(s, space)?;
        self.operations.set(self.operations.get().saturating_add(launched.operations));
        let code = self.code;
        let scratch = launched.work.scratch.iter().map(|bytes| {
            let full = |f| failure(&code.device, f, || self.site(s.site), &[*bytes], *bytes);
            code.device.memory.plain(*bytes).map_err(full)
        });
        let scratch: Vec<Arc<Buffer>> = scratch.collect::<Result<_>>()?;
        for launch in &launched.work.launches {
            for arg in launch.kernel.args.iter() {
                match arg {
                    Arg::Column(a, k) => self.on_device(*a, *k)?,
                    Arg::Fault if self.record.is_none() => self.record = Some(code.record()?),
                    _ => {}
                }
            }
            self.enqueue(launch, &launched, &scratch)?;
        }
        scratch.into_iter().for_each(|b| self.kernels.get_mut().hold(b));
        Ok(())
    }

    fn enqueue(&mut self, launch: &Launch, launched: &Launched, scratch: &[Arc<Buffer>]) -> Result<()> {
        let value = |arg: &Arg| match arg {
            Arg::Extent(a, dim) => Value::Number(self.shapes.extents[*a][*dim]),
            Arg::Space(dim) => Value::Number(launched.space[*dim]),
            Arg::Number(k) => Value::Number(launch.numbers[*k]),
            Arg::Local(k) => Value::Local(launch.local[*k]),
            Arg::Column(a, k) => Value::Buffer(self.arrays[*a].device[*k].as_deref().and_then(Buffer::mem)),
            Arg::Scratch(k) => Value::Buffer(scratch[*k].mem()),
            Arg::Fault => Value::Buffer(self.record.as_deref().and_then(Buffer::mem)),
        };
        let values = launch.kernel.args.iter().map(value);
        self.kernels.borrow_mut().launch(self.code, launch, launched.operations, values)
    }

    /// Whether what has been enqueued since the last wait is little, or nothing that needs the host's processor. Now there is another wait.
    fn is_little(&self) -> bool {
        self.operations.take() <= LITTLE || self.code.target.shape == Shape::Gpu
    }

    /// Enqueues the launches that wait.
    fn flush(&self) -> Result<()> {
        self.kernels.borrow_mut().flush(self.code)
    }
}

impl Array {
    /// An argument on the host.
    pub fn host(a: &RawArray) -> Array {
        let extents = a.extents.iter().map(|e| *e as i64).collect();
        Array { extents, place: Place { host: Some(a.columns.clone()), device: smallvec![None; a.columns.len()] } }
    }
}
