//! Statements that change copies of arrays: permutations, and statements with sums.

use crate::location::{Buffers, Location, mem};
use crate::plan::Step;
use crate::run::Run;
use crate::shapes::Space;
use crate::stop::WalkResult;
use accel_fusion::kernel::{ArrayId, SiteId};
use std::sync::Arc;

impl Run<'_> {
    /// Executes a permute.
    pub fn permute(&mut self, s: &Step, to: ArrayId, defaults: ArrayId, space: Option<Space>) -> WalkResult<()> {
        let overwrite = s.overwritten.contains(&defaults) && self.lists(s) == 0;
        self.launch_after(s, space, |run| run.copy_of(to, defaults, overwrite, s.site))
    }

    /// Executes a statement with sums.
    pub fn accumulate(
        &mut self,
        s: &Step,
        to: &[ArrayId],
        sums: &[(ArrayId, ArrayId)],
        space: Option<Space>,
    ) -> WalkResult<()> {
        self.outputs(s, to)?;
        let has_lists = self.lists(s) > 0;
        self.launch_after(s, space, |run| {
            let mut pairs = sums.iter();
            pairs.try_for_each(|(sum, initial)| {
                run.copy_of(*sum, *initial, s.overwritten.contains(initial) && !has_lists, s.site)
            })
        })
    }

    /// Makes an array with the elements of another one. With `overwrite`, it takes over the memory of the other one if
    /// nobody else has it; otherwise it gets a copy.
    fn copy_of(&mut self, to: ArrayId, from: ArrayId, overwrite: bool, site: SiteId) -> WalkResult<()> {
        let columns = 0..self.code.program.arrays[to].columns.len();
        columns.clone().try_for_each(|k| self.on_device(from, k))?;
        let old = self.arrays[from].device.clone();
        if overwrite {
            self.arrays[from] = Location::default();
        }
        let mut new = Buffers::new();
        for (k, old) in columns.zip(old) {
            let Some(mut old) = old else {
                new.push(None);
                continue;
            };
            if overwrite && Arc::get_mut(&mut old).is_some() {
                new.push(Some(old));
                continue;
            }
            let t = self.code.program.arrays[to].columns[k];
            let made = self.allocate(to, t, site)?;
            if let Some(made) = &made {
                let bytes = accel_codegen::opencl::size_of(t, self.count(to));
                self.code.module.device.queue.copy(mem(&old)?, mem(made)?, bytes)?;
            }
            new.push(made);
        }
        self.put(to, Location { host: None, device: new });
        Ok(())
    }
}
