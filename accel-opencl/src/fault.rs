//! What the record of a run says.

use crate::built_program::{Code, mem};
use crate::memory::Buffer;
use accel_codegen::fault::{READ, error, record_length};
use accel_core::error::Result;
use accel_fusion::kernel::{ArrayId, Block, Instr, Program, SiteId, walk};

/// Waits until everything that has been enqueued is done, and looks whether something has failed. `extents` are those of all arrays.
///
/// # Errors
/// The first failure.
pub fn check(code: &Code, record: Option<&Buffer>, extents: &[Vec<i64>], little: bool) -> Result<()> {
    let Some(record) = record else { return Ok(()) };
    let mut numbers = vec![0i64; record_length(&code.program)];
    // SAFETY: the numbers are there until the event has been waited for, and nobody uses them.
    let done = unsafe { code.device.queue.read(mem(record)?, 0, numbers.as_mut_ptr().cast(), 8 * numbers.len())? };
    code.device.wait(&done, little)?;
    told(&code.program, extents, &numbers)
}

/// What a record tells of.
///
/// # Errors
/// The failure, if there is one.
pub fn told(program: &Program, extents: &[Vec<i64>], record: &[i64]) -> Result<()> {
    let (kind, site) = (record[0], record[1] as usize);
    if kind == 0 {
        return Ok(());
    }
    // The device does not say which statement it was in; messages need it only for reads whose place is unknown.
    let statement = if kind == READ { reader(&program.body, site, record[2] as usize).unwrap_or(site) } else { site };
    Err(error(program, record, statement, |a| extents[a].iter().map(|e| *e as usize).collect()))
}

/// The site of the first statement that reads an array at this site.
fn reader(block: &Block, site: SiteId, array: ArrayId) -> Option<SiteId> {
    let reads = |i: &Instr| matches!(i, Instr::Read { array: a, site: s, .. } if *a == array && *s == site);
    block.walk().find(|s| s.op.codes().iter().any(|(_, c)| walk(&c.instrs).any(reads))).map(|s| s.site)
}
