//! The launches of a statement: its buffers, and the arguments of its kernels.

use crate::cl::Value;
use crate::location::failure;
use crate::memory::Buffer;
use crate::plan::Step;
use crate::run::Run;
use crate::shapes::{Launched, Space};
use crate::stop::WalkResult;
use crate::tape;
use accel_codegen::opencl::{Arg, Launch, reciprocal};
use accel_core::error::Result;
use std::sync::Arc;

impl Run<'_> {
    /// The number of lists of a statement's work-items.
    pub fn lists(&self, s: &Step) -> usize {
        self.code.module.emitted.statements.get(&s.number).map_or(0, |found| found.lists)
    }

    pub fn launch(&mut self, s: &Step, space: Option<Space>) -> WalkResult<()> {
        self.launch_after(s, space, |_| Ok(()))
    }

    /// Enqueues the launches of a statement after `prepare`. If it has lists, waits until none was full: NOTE [Full
    /// lists].
    pub fn launch_after(
        &mut self,
        s: &Step,
        space: Option<Space>,
        prepare: impl Fn(&mut Self) -> WalkResult<()>,
    ) -> WalkResult<()> {
        let (launched, lists, code) = (self.launched(s, space)?, self.lists(s), self.code);
        if !launched.work.launches.iter().any(tape::has_lists) {
            prepare(self)?;
            return self.enqueue_all(s, &launched, &launched.work.launches, None);
        }
        loop {
            prepare(self)?;
            let room = code.room(s.number);
            let (most, module) = (tape::most_items(&code.module, lists, room), &code.module);
            let bounded = |l: &Launch| module.emitted.statements[&s.number].with_at_most(most, l, &module.target);
            let launches: Vec<Launch> = launched.work.launches.iter().map(bounded).collect();
            let bytes = tape::size(&launches, lists, room);
            let full = |f| failure(&module.device, f, || self.site(s.site), &[bytes], bytes);
            let tape = tape::new(module, bytes, room).map_err(full)?;
            self.enqueue_all(s, &launched, &launches, Some(&tape))?;
            if !tape::was_full(module, &tape)? {
                return Ok(());
            }
            tracing::debug!(room, "lists were full: the statement is executed again");
            code.enlarge(s.number, room);
        }
    }

    fn enqueue_all(
        &mut self,
        s: &Step,
        launched: &Launched,
        launches: &[Launch],
        tape: Option<&Arc<Buffer>>,
    ) -> WalkResult<()> {
        let code = self.code;
        let scratch = launched.work.scratch.iter().map(|bytes| {
            let full = |f| failure(&code.module.device, f, || self.site(s.site), &[*bytes], *bytes);
            code.module.device.memory.plain(*bytes).map_err(full)
        });
        let scratch: Vec<Arc<Buffer>> = scratch.collect::<Result<_>>()?;
        for launch in launches {
            for arg in launch.kernel.args.iter() {
                match arg {
                    Arg::Column(a, k) => self.on_device(*a, *k)?,
                    Arg::Fault if self.record.is_none() => self.record = Some(code.record()?),
                    _ => {}
                }
            }
            self.enqueue(launch, launched, &scratch, tape)?;
        }
        Ok(())
    }

    fn enqueue(
        &mut self,
        launch: &Launch,
        launched: &Launched,
        scratch: &[Arc<Buffer>],
        tape: Option<&Arc<Buffer>>,
    ) -> Result<()> {
        let value = |arg: &Arg| match arg {
            Arg::Extent(a, dim) => Value::Number(self.shapes.extents[*a][*dim]),
            Arg::Space(dim) => Value::Number(launched.space[*dim]),
            Arg::Reciprocal(dim) => Value::Number(reciprocal(launched.space[*dim])),
            Arg::Number(k) => Value::Number(launch.numbers[*k]),
            Arg::Local(k) => Value::Local(launch.local[*k]),
            Arg::Column(a, k) => Value::Buffer(self.arrays[*a].device[*k].as_deref().and_then(Buffer::mem)),
            Arg::Scratch(k) => Value::Buffer(scratch[*k].mem()),
            Arg::Tape => Value::Buffer(tape.and_then(|b| b.mem())),
            Arg::Fault => Value::Buffer(self.record.as_deref().and_then(Buffer::mem)),
        };
        let values = launch.kernel.args.iter().map(value);
        self.kernels.launch(&self.code.module, launch, values)
    }
}
