//! Runs a group of statements in strips.

use super::{Output, Run, Shared, check_size, to_usize};
use crate::abi::Task;
use crate::plan::{Block, Op, Step};
use crate::pool::address;
use accel_codegen::Kernel;
use accel_core::error::{Error, Result};
use accel_fusion::kernel::{ArrayId, SiteId};
use rayon::prelude::*;
use std::collections::HashMap;

/// A task takes at least about this many simple operations, of which several are done at once: fifty microseconds or more.
const TASK: usize = 1 << 18;
/// At most this many tasks: each has partial totals of its own.
const TASKS: usize = 16;
/// Positions in a strip.
const LANES: usize = accel_codegen::LANES;
/// With fewer positions than this, most lanes are idle.
const SHORT: usize = 8;
/// A strip of a short dimension that takes more bytes than this is not worth it ..
const LARGE_FOR_SHORT: usize = 1 << 18;
/// .. and no strip that takes more than this, which is far more than the caches.
const LARGE: usize = 32 << 20;
/// The partial totals of all tasks take at most this many bytes, if there is more than one task.
const TOTALS: usize = 64 << 20;

impl<'a> Run<'a> {
    /// The statements of `plain`, in strips if that pays with the extents that they have.
    pub(super) fn strip(&mut self, s: &'a Step, to: &[ArrayId], plain: &'a Block) -> Result<()> {
        let Kernel::Strip { len, sizes, .. } = s.kernel else { return Ok(()) };
        let n = self.extents(len, 1, s.site)?[0] as usize;
        let extents = self.prepare(plain)?;
        let sizes: Vec<_> = self.numbers(sizes, 3, s.site)?.into_iter().map(|x| x as usize).collect();
        if sizes[0] > if n < SHORT { LARGE_FOR_SHORT } else { LARGE } {
            return self.block(plain);
        }
        let mut outputs = vec![];
        for a in to {
            let count = extents[a].iter().product::<i64>();
            outputs.append(&mut self.outputs(&[*a], &extents[a], count as usize, s.site)?);
        }
        self.tasks(s, n, [sizes[0], sizes[1], sizes[2]])?;
        // SAFETY: the tasks have written all elements of rows, and the join those of totals.
        unsafe { self.finish_all(outputs) };
        Ok(())
    }

    /// Puts the extents of all arrays of the group into the table, and checks what the statements check before they start.
    fn prepare(&mut self, plain: &Block) -> Result<HashMap<ArrayId, Vec<i64>>> {
        let mut all = HashMap::new();
        for s in &plain.steps {
            let (to, extents) = match (&s.op, s.kernel) {
                (Op::Loop { to, rank, .. }, Kernel::Loop { extents, .. }) => {
                    let extents = self.extents(extents, *rank, s.site)?;
                    check_size(|| self.place(s.site), &to_usize(&extents))?;
                    (&to[..], extents)
                }
                (Op::Reduce { to, outer, has_init, .. }, Kernel::Reduce { extents, len, .. }) => {
                    let (extents, count, len) = self.rows(extents, *outer, len, s.site)?;
                    self.check_rows(s.site, *has_init, &extents, count, len)?;
                    (std::slice::from_ref(to), extents)
                }
                _ => return Err(Error::Internal("a statement that cannot be in a strip".into())),
            };
            for a in to {
                let first = self.first[*a].0;
                self.extents[first..].iter().zip(&extents).for_each(|(cell, e)| cell.set(*e));
                all.insert(*a, extents.clone());
            }
        }
        Ok(all)
    }

    /// Executes the strips of `n` positions; `sizes` is what the function of that name says. The tasks depend on sizes only.
    fn tasks(&mut self, s: &Step, n: usize, [scratch, partial, cost]: [usize; 3]) -> Result<()> {
        let Kernel::Strip { body, join, .. } = s.kernel else { return Ok(()) };
        let most = TOTALS.checked_div(partial).unwrap_or(TASKS).clamp(1, TASKS);
        let each = n.div_ceil(most).max(TASK / cost.max(1)).next_multiple_of(LANES);
        let count = n.div_ceil(each);
        let no_memory = |site: SiteId, bytes| Error::Memory { op: self.place(site), shape: vec![bytes] };
        let totals = partial.checked_mul(count).filter(|bytes| isize::try_from(*bytes).is_ok());
        let totals = totals.ok_or_else(|| no_memory(s.site, partial))?;
        let pool = &self.code.pool;
        let mut memory = pool.take(totals).ok_or_else(|| no_memory(s.site, totals))?;
        let (first, table) = (Shared(address(&mut memory).cast::<u8>()), Shared(self.table.as_ptr()));
        let (library, length) = (&self.code.library, self.fault.len());
        let one = |k: usize| -> std::result::Result<(), Option<Vec<i64>>> {
            let mut working = pool.take(scratch).ok_or(None)?;
            // SAFETY: there is room for `count` times `partial` bytes.
            let state = [address(&mut working), unsafe { first.get().add(k * partial) }.cast()];
            let task = Task { state: state.as_ptr(), ..Task::range(k * each, n.min((k + 1) * each), &[]) };
            let mut fault = vec![0; length];
            // SAFETY: `strip` and `prepare` have put everything into the table; the tasks write different positions of the outputs,
            // and have different working memory and partial totals.
            let ok = unsafe { library.call(body, *table.get(), &task, &mut fault) };
            pool.give(working);
            if ok { Ok(()) } else { Err(Some(fault)) }
        };
        let results: Vec<_> = if count == 1 { vec![one(0)] } else { (0..count).into_par_iter().map(one).collect() };
        for result in results {
            result.map_err(|fault| fault.map_or_else(|| no_memory(s.site, scratch), |f| self.error(&f, s.site)))?;
        }
        let state = [first.get().cast()];
        let task = Task { state: state.as_ptr(), len: partial as i64, ..Task::range(0, count, &[]) };
        if partial > 0 {
            self.call(join, &task, s.site)?;
        }
        self.code.pool.give(memory);
        Ok(())
    }

    /// Makes outputs arrays.
    ///
    /// # Safety
    /// All elements of each have been written.
    unsafe fn finish_all(&mut self, outputs: Vec<Output>) {
        for o in outputs {
            let count = o.extents.iter().product();
            // SAFETY: the caller promises it.
            unsafe { self.finish(&mut vec![o], count) };
        }
    }
}
