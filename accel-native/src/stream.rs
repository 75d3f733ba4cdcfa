//! Stores around the caches, for large results.

use crate::abi::{Array, Function, Task};
use crate::memory::element_size;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Block, Instr, Op, Program};
use std::collections::BTreeMap;
use std::ffi::c_void;

// NOTE [Stores around the caches]
// A store to a line that is not in the caches reads the line first, so writing costs twice the traffic, and what was there before is
// evicted for lines that are not used again before they are evicted themselves. Where an output is larger than the caches, kernels
// write pieces of it to a small buffer, at the positions that they would have there: the address of a column that they are given
// is that of the buffer less the offset of the piece. The buffer, which stays in the first cache, is copied with stores that do not read
// first. This is for outputs that do not share their memory with an input, since that is in the caches already.

/// Outputs from this size on (in bytes, of all columns) are larger than the caches.
pub const LARGE: usize = if cfg!(target_arch = "x86_64") { 32 << 20 } else { usize::MAX };
/// The bytes of the buffers of all columns, about: few, so that reading, computing and writing go on side by side.
const BUFFER: usize = 2 << 10;
/// The bytes that are written to memory at once.
const LINE: usize = 64;
/// How far ahead of the kernel memory is asked for, in bytes.
const AHEAD: usize = 8 << 10;

/// The output of a statement: an array and the sizes of the elements of its columns.
pub struct Output<'a> {
    pub array: usize,
    pub sizes: Vec<usize>,
    /// What the kernel reads where it writes.
    pub along: &'a [Along],
}

/// A column of an array that a kernel reads at the index at which it writes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Along {
    pub array: usize,
    pub column: usize,
    /// The bytes of an element.
    pub size: usize,
    /// The rank of the array.
    pub rank: usize,
}

/// For each array that is the only output of a loop, what the loop reads at the index at which it writes.
pub fn along(program: &Program) -> BTreeMap<ArrayId, Vec<Along>> {
    let mut all = BTreeMap::new();
    loops(program, &program.body, &mut all);
    all
}

fn loops(program: &Program, b: &Block, all: &mut BTreeMap<ArrayId, Vec<Along>>) {
    for s in &b.stmts {
        if let Op::Loop { to, body, .. } = &s.op
            && let [to] = to[..]
        {
            let reads = body.instrs.iter().flat_map(|i| match i {
                Instr::Read { array, index, .. } if index.iter().copied().eq(0..body.params) => {
                    let columns = &program.arrays[*array].columns;
                    let one = |(column, t): (usize, &ScalarType)| Along {
                        array: *array,
                        column,
                        size: element_size(*t),
                        rank: body.params,
                    };
                    columns.iter().enumerate().map(one).collect()
                }
                _ => vec![],
            });
            all.insert(to, reads.collect());
        }
        s.op.blocks().into_iter().for_each(|b| loops(program, b, all));
    }
}

/// A buffer begins where a line does.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code)] [u8; LINE]);

/// Calls a kernel for a task, piece by piece, and copies the pieces to the output.
///
/// # Safety
/// The kernel can be called for the task and any part of it with this table and record, it writes to the output the elements at the positions
/// of its task, all of them, and reads none. What is read along with the output is in the table.
pub unsafe fn call(f: Function, arrays: &[Array], output: &Output, task: &Task, fault: *mut i64) -> i32 {
    let sizes = &output.sizes;
    // SAFETY: as the caller promises, there are a column for each size, and columns that are read.
    let column = |array: usize, c: usize| unsafe { *arrays[array].columns.add(c) }.cast::<u8>();
    let to: Vec<*mut u8> = (0..sizes.len()).map(|c| column(output.array, c)).collect();
    // Where the same index is the same position.
    // SAFETY: as the caller promises, arrays of this rank.
    let inner =
        |array: usize, rank: usize| unsafe { std::slice::from_raw_parts(arrays[array].extents.add(1), rank - 1) };
    let is_along = |a: &&Along| a.rank <= 1 || inner(a.array, a.rank) == inner(output.array, a.rank);
    let reads: Vec<(*mut u8, usize)> =
        output.along.iter().filter(is_along).map(|a| (column(a.array, a.column), a.size)).collect();
    let most = (BUFFER / sizes.iter().sum::<usize>()).next_multiple_of(LINE);
    let mut buffers: Vec<Vec<Line>> = sizes.iter().map(|s| vec![Line([0; LINE]); most * s / LINE]).collect();
    let pieces: Vec<*mut u8> = buffers.iter_mut().map(|b| b.as_mut_ptr().cast()).collect();
    let mut columns = vec![std::ptr::null_mut::<c_void>(); sizes.len()];
    let mut table = arrays.to_vec();
    let mut from = task.from as usize;
    while from < task.to as usize {
        // Pieces end where a line of the first column does.
        let within = (to[0].addr() + from * sizes[0]) % LINE / sizes[0];
        let end = (from + most - within).min(task.to as usize);
        for ((column, piece), size) in columns.iter_mut().zip(&pieces).zip(sizes) {
            *column = piece.wrapping_sub(from * size).cast();
        }
        table[output.array].columns = columns.as_ptr();
        // SAFETY: as the caller promises; the elements from `from` to `end` are in the buffers, which have room for `most`.
        let failed = unsafe { f(table.as_ptr(), &Task { from: from as i64, to: end as i64, ..*task }, fault) };
        if failed != 0 {
            return failed;
        }
        for (read, size) in &reads {
            fetch(read.wrapping_add(from * size + AHEAD), (end - from) * size);
        }
        for ((to, piece), size) in to.iter().zip(&pieces).zip(sizes) {
            // SAFETY: these elements of the output belong to the task.
            unsafe { copy(*piece, to.add(from * size), (end - from) * size) };
        }
        from = end;
    }
    fence();
    0
}

/// Asks for memory that will be read soon, if there is any at the address.
#[cfg(target_arch = "x86_64")]
fn fetch(from: *const u8, bytes: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    for at in (0..bytes).step_by(LINE) {
        // SAFETY: an address that nothing can be read from is ignored.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(at).cast()) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn fetch(_: *const u8, _: usize) {}

/// Copies bytes to memory that is not read before.
///
/// # Safety
/// Both places have so many bytes, and they are different.
#[cfg(target_arch = "x86_64")]
unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    let head = to.align_offset(LINE).min(bytes);
    let lines = (bytes - head) / LINE;
    let done = head + lines * LINE;
    // SAFETY: the head, whole lines at aligned addresses, and the rest are within the bytes; the processor has what is called.
    unsafe {
        to.copy_from_nonoverlapping(from, head);
        if std::is_x86_feature_detected!("avx512f") {
            copy_lines(from.add(head), to.add(head), lines);
        } else {
            for at in (head..done).step_by(size_of::<__m128i>()) {
                _mm_stream_si128(to.add(at).cast(), _mm_loadu_si128(from.add(at).cast()));
            }
        }
        to.add(done).copy_from_nonoverlapping(from.add(done), bytes - done);
    }
}

/// Copies lines with one store for each.
///
/// # Safety
/// As for [`copy`]; the target is aligned.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn copy_lines(from: *const u8, to: *mut u8, lines: usize) {
    use std::arch::x86_64::{_mm512_loadu_si512, _mm512_stream_si512};
    for k in 0..lines {
        // SAFETY: as the caller promises.
        unsafe { _mm512_stream_si512(to.add(k * LINE).cast(), _mm512_loadu_si512(from.add(k * LINE).cast())) };
    }
}

/// Other threads see what was copied.
#[cfg(target_arch = "x86_64")]
fn fence() {
    // SAFETY: every processor of this architecture has the instruction.
    unsafe { std::arch::x86_64::_mm_sfence() };
}

#[cfg(not(target_arch = "x86_64"))]
unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: as the caller promises.
    unsafe { to.copy_from_nonoverlapping(from, bytes) }
}

#[cfg(not(target_arch = "x86_64"))]
fn fence() {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel with two outputs: at position `p` it writes `p` and half of it; it fails at position 9000.
    unsafe extern "C" fn kernel(arrays: *const Array, task: *const Task, fault: *mut i64) -> i32 {
        // SAFETY: the test gives one array of two columns of so many elements.
        unsafe {
            let columns = (*arrays).columns;
            let (a, b) = ((*columns).cast::<i16>(), (*columns.add(1)).cast::<f64>());
            for p in (*task).from..(*task).to {
                if p == 9000 {
                    *fault = p;
                    return 1;
                }
                a.wrapping_offset(p as isize).write(p as i16);
                b.wrapping_offset(p as isize).write(p as f64 / 2.0);
            }
        }
        0
    }

    fn run(from: usize, to: usize) -> (i32, i64, Vec<i16>, Vec<f64>) {
        let (mut a, mut b, mut fault) = (vec![-1i16; 10_000], vec![-1.0; 10_000], 0);
        let columns: [*mut c_void; 2] = [a.as_mut_ptr().cast(), b.as_mut_ptr().cast()];
        let arrays = [Array { extents: std::ptr::null(), columns: columns.as_ptr() }];
        let extents = std::ptr::null();
        let task = Task { from: from as i64, to: to as i64, row: 0, slot: 0, len: 0, extents, state: std::ptr::null() };
        let output = Output { array: 0, sizes: vec![2, 8], along: &[] };
        // SAFETY: the positions are within the columns.
        let failed = unsafe { call(kernel, &arrays, &output, &task, &mut fault) };
        (failed, fault, a, b)
    }

    #[test]
    fn every_element_of_the_task_is_written_and_no_other() {
        for (from, to) in [(0, 0), (0, 1), (3, 3), (5, 70), (0, 8999), (1, 8999), (63, 4097), (8191, 8193)] {
            let (failed, _, a, b) = run(from, to);
            assert_eq!(failed, 0);
            for p in 0..a.len() {
                let expected = if (from..to).contains(&p) { (p as i16, p as f64 / 2.0) } else { (-1, -1.0) };
                assert_eq!((a[p], b[p]), expected, "position {p} of {from}..{to}");
            }
        }
    }

    #[test]
    fn a_failure_is_told() {
        let (failed, fault, ..) = run(10, 9500);
        assert_eq!((failed, fault), (1, 9000));
    }
}
