//! The fault record of a run.

use crate::built_program::BuiltProgram;
use crate::location::mem;
use crate::memory::Buffer;
use accel_codegen::fault::{READ, entry, error};
use accel_core::error::Result;
use accel_fusion::kernel::{ArrayId, Block, IndexVec, Instr, Program, SiteId, walk};

/// Waits until all enqueued commands have ended, and checks the record. `extents` are the extents of all arrays.
///
/// # Errors
/// The first failure.
pub fn check(code: &BuiltProgram, record: Option<&Buffer>, extents: &IndexVec<ArrayId, Vec<i64>>) -> Result<()> {
    let Some(record) = record else { return Ok(()) };
    let mut numbers = vec![0i64; code.record_length];
    // SAFETY: the numbers exist until the host has waited for the event, and nobody uses them.
    let done =
        unsafe { code.module.device.queue.read(mem(record)?, 0, numbers.as_mut_ptr().cast(), 8 * numbers.len())? };
    code.module.device.wait(&done)?;
    error_of_record(&code.program, extents, &numbers)
}

/// Translates a record to an error.
///
/// # Errors
/// The failure, if the record contains one.
pub fn error_of_record(program: &Program, extents: &IndexVec<ArrayId, Vec<i64>>, record: &[i64]) -> Result<()> {
    let kind = record[0];
    if kind == 0 {
        return Ok(());
    }
    // The device does not record the statement that failed. Messages need it only for reads whose place is unknown.
    let site = entry(&program.sites, record[1]);
    let read = site.zip(entry(&program.arrays, record[2])).filter(|_| kind == READ);
    let statement = read.and_then(|(site, array)| reader(&program.body, site, array)).or(site);
    Err(error(program, record, statement, |a| extents[a].iter().map(|e| *e as usize).collect()))
}

/// The site of the first statement that reads an array, or adds to it, at this site.
fn reader(block: &Block, site: SiteId, array: ArrayId) -> Option<SiteId> {
    let reads = |i: &Instr| match i {
        Instr::Read { array: a, site: s, .. } | Instr::Emit { to: a, site: s, .. } => *a == array && *s == site,
        _ => false,
    };
    block.walk().find(|s| s.op.scalar_fns().iter().any(|(_, c)| walk(&c.instrs).any(reads))).map(|s| s.site)
}
