//! Foreign functions, which the host calls.

use crate::location::Location;
use crate::read_back;
use crate::run::Run;
use crate::stop::WalkResult;
use accel_core::error::Result;
use accel_core::repr::{Call, RawArray};
use accel_fusion::kernel::{ArrayId, SiteId};
use smallvec::smallvec;

impl Run<'_> {
    /// Calls a foreign function on the host. What fails on the device before is reported first.
    pub fn foreign(&mut self, to: &[ArrayId], call: &Call, from: &[ArrayId], site: SiteId) -> WalkResult<()> {
        tracing::debug!(function = call.function.name(), "arrays are copied to the host and back");
        let arrays = |run: &Self, a: ArrayId| -> Result<RawArray> {
            let columns =
                read_back::columns(run.code, &run.arrays[a], &run.code.program.arrays[a].columns, run.count(a))?;
            Ok(RawArray { extents: run.shapes.sizes(a).into(), columns })
        };
        let from = from.iter().map(|a| arrays(self, *a)).collect::<Result<Vec<_>>>()?;
        self.check()?;
        let infos = &self.code.program.arrays;
        let results = to.iter().map(|a| (self.shapes.sizes(*a).into(), &infos[*a].columns[..])).collect();
        let results = call.run(|| self.site(site), &from.iter().collect::<Vec<_>>(), results)?;
        for (to, a) in to.iter().zip(results) {
            self.put(*to, Location { device: smallvec![None; a.columns.len()], host: Some(a.columns) });
        }
        Ok(())
    }
}
