//! Scans of long rows in one launch, for GPUs: groups wait for the totals of earlier groups.
//!
//! NOTE [Scans in one launch]: each group reads a part of a row once and keeps it in local memory. It publishes its
//! total, waits for the total of everything before its part, and writes.
//!
//! A counter assigns the parts: the group that starts first takes the first part. So a group waits only for groups that
//! have started, whatever the order in which the device starts them. This ends on every device on which started groups
//! make progress.
//!
//! A group publishes words of 64 bits, which are written and read by atomic operations. A word contains 32 bits of a
//! value, and above them whether it was published. So nothing depends on the order in which other groups see several
//! writes. This needs no fences between groups, which OpenCL 1.2 does not have. Wider values and tuples take several
//! words. Every word is written once, so a reader waits for each word separately.
//!
//! The order of combination must not depend on the speed of groups, because floating-point results would differ from
//! run to run. So a group does not take the values that happen to be there, but always the same ones. A block is
//! [`WINDOW`] consecutive parts of a row. There are three kinds of values:
//!
//! - the total of a part,
//! - the total of a block, published by the group of its last part,
//! - the head of a block: the total of everything before it in the row. The group of the last part of block `b`
//!   publishes the head of block `b + 1`. With `c`, the multiple of [`WINDOW`] at or below `b`, it is the head of block
//!   `c` combined with the totals of the blocks from `c` to `b`.
//!
//! The total of everything before a part is the head of its block, combined with the totals of the earlier parts in the
//! block. The totals of up to [`WINDOW`] neighbours are read at the same time, one by each item, and combined in a
//! tree. No word has more than twice as many readers. The heads form a chain, whose links are [`WINDOW`]² parts long:
//! 2²⁸ numbers of 4 bytes are 65536 parts of 4096, and the chain has 64 links. A link is a write that another group
//! sees, an operation and the next write. If a link takes 1 to 2 µs, which is an estimate, all of them take 0.1 ms,
//! while memory is busy for 0.5 ms with 2 GiB at 4 TB/s. A chain of the parts themselves would have 65536 links, and a
//! chain of blocks would have 2048.

use super::emitter::Emitter;
use super::launch::{self, group};
use super::rows::{group_launch, row_bytes};
use super::scan_tile::{TiledScan, places};
use super::target::Target;
use super::work::{Kernel, Work};
use crate::analysis::liveness::Step;
use crate::shared::scan::Scan;
use crate::text::names::{in_order, names, names_at};
use crate::text::parameters::{Arg, Parameter};
use crate::text::types::bytes;
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;

/// The number of parts of a block, and the number of blocks of a link of the chain.
const WINDOW: usize = 32;

/// The largest number of elements of an item: so a part of 256 items has 4096, and the chain few links.
const MOST: usize = 16;
/// The smallest number of elements of an item, if there is more than one item. With fewer, most of the work is to combine the totals of
/// items; a smaller group is better then. Chosen.
const LEAST: usize = 4;

/// Declares `tell` and `wait_for`, which publish and read a word.
const WORDS: &str = "\
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
static void tell(volatile global u64 *word, u32 x) {
    atom_xchg(word, (u64)1 << 32 | x);
}
static u32 wait_for(volatile global u64 *word) {
    u64 seen;
    do seen = atom_add(word, (u64)0); while (seen >> 32 == 0);
    return (u32)seen;
}";

/// The kernels of a scan in one launch.
#[derive(Clone, Debug)]
pub struct LookBack {
    types: Vec<ScalarType>,
    /// Clears the published words and the counter of parts.
    clear: Kernel,
    scan: Kernel,
}

impl LookBack {
    /// Generates the kernels.
    pub fn new(e: &mut Emitter, s: &Step, scan: &TiledScan) -> LookBack {
        let clear = format!("scan_{}_clear", s.number);
        e.function(s, &clear, |w| {
            w.scratch(0, "u64");
            w.line("s0[p] = 0;");
            format!("static int {clear}({}, const P p)", w.parameters())
        });
        LookBack {
            types: scan.types.to_vec(),
            clear: e.grid_kernel(&clear),
            scan: e.look_back_group(s, &TiledScan { each: shape(scan.types, e.target).1, ..*scan }),
        }
    }

    /// The number of elements of a part.
    pub fn part(&self, target: &Target) -> usize {
        let (items, each) = shape(&self.types, target);
        items * each
    }

    /// The launches for `n` rows of several parts.
    pub fn work(&self, n: usize, len: usize, target: &Target) -> Work {
        let ((items, each), part) = (shape(&self.types, target), self.part(target));
        let parts = len.div_ceil(part);
        let words = 1 + n * (parts + 2 * parts.div_ceil(WINDOW)) * words(&self.types);
        let local = [items, places(items * each), WINDOW];
        let launches = vec![
            launch::items(&self.clear, words, vec![words as i64], target),
            group_launch(&self.scan, &self.types, n * parts, items, &local, [part, len, parts]),
        ];
        Work { scratch: vec![8 * words], launches }
    }
}

/// The number of items of a group, and of elements of each item: as many as the local memory allows.
fn shape(types: &[ScalarType], target: &Target) -> (usize, usize) {
    let room = target.local_memory / row_bytes(types);
    let (mut items, mut each) = (group(target), MOST);
    let fits = |items: usize, each: usize| items + places(items * each) + WINDOW <= room;
    while each > LEAST && !fits(items, each) {
        each /= 2;
    }
    while items > 1 && !fits(items, each) {
        items /= 2;
    }
    (items, each)
}

/// The number of words of a value.
fn words(types: &[ScalarType]) -> usize {
    types.iter().map(|t| word_count(*t)).sum()
}

fn word_count(t: ScalarType) -> usize {
    bytes(t).div_ceil(4) as usize
}

impl Emitter<'_> {
    /// Generates the kernel that scans the next part. The parts have `arg0` elements; the rows have `arg1` elements and
    /// `arg2` parts.
    fn look_back_group(&mut self, s: &Step, scan: &TiledScan) -> Kernel {
        let number = |w: &mut Writer| {
            w.params.add(Arg::Scratch(0), Parameter::buffer("volatile global u64", "s0".into()));
            w.line("local uint ticket;");
            w.line("if (item == 0) ticket = (uint)atom_inc(s0);");
            w.line("barrier(CLK_LOCAL_MEM_FENCE);");
            w.line("const P part = ticket;");
        };
        self.numbered_kernel(s, &format!("scan_{}_look_back", s.number), scan.scan.outer, number, |w| {
            w.declarations.declare_once("Words", || WORDS.into());
            w.part_bounds();
            w.line("const P tile = from;");
            w.begin_scan(scan);
            w.scan_tile(scan);
            w.look_back(scan);
            w.combine_tile(scan);
            w.line("barrier(CLK_LOCAL_MEM_FENCE);");
            w.store_tile(scan);
        })
    }
}

impl Writer<'_> {
    /// Sets `b0`, .. to the total of everything before the part, and publishes what other groups wait for. Only the
    /// first item combines values that it keeps: `e0`, .., the totals of the earlier parts in the block, and then `t0`,
    /// .., the total of the block.
    fn look_back(&mut self, scan: &TiledScan) {
        let TiledScan { scan: Scan { rows, reverse, .. }, types, .. } = *scan;
        let some = rows.init.is_some();
        let words = words(types);
        for (c, t) in types.iter().enumerate() {
            let word = Parameter::buffer(&format!("local {t}"), format!("w{c}"));
            self.params.add(Arg::Local(2 * types.len() + c), word);
        }
        let [before, earlier, total, head, z] = ["b", "e", "t", "h", "z"].map(|name| names(name, types));
        let (own, first) = (names_at("l", types, "count - 1"), names_at("w", types, "0"));
        let join = |w: &mut Self, a: &[String], b: &[String], to: &[String]| {
            w.code(&rows.op, &in_order(reverse, a, b), to);
        };
        self.line(format!(
            "const P block = slot / {WINDOW}, nth = slot % {WINDOW}, blocks = ((P)arg2 + {WINDOW} - 1) / {WINDOW};"
        ));
        self.line(format!("volatile global u64 *const totals = s0 + 1 + row * ((P)arg2 + 2 * blocks) * {words};"));
        self.line(format!(
            "volatile global u64 *const sums = totals + (P)arg2 * {words}, *const heads = sums + blocks * {words};"
        ));
        self.braces("if (item == 0)", |w| w.tell("totals", "slot", types, &own));
        self.declare(&earlier, types);
        self.window(scan, "totals", "slot - nth", "nth");
        self.braces("if (item == 0 && nth > 0)", |w| w.assign(&earlier, &first));
        // A group that publishes no head goes to the barriers of the window as well: with barriers in a branch, pocl
        // 3.1 lost the totals.
        self.line(format!("const bool teller = nth == {} && slot + 1 < (P)arg2;", WINDOW - 1));
        self.line(format!("const P passed = teller ? block % {WINDOW} : 0, c = block - passed;"));
        self.braces("if (item == 0 && teller)", |w| {
            join(w, &earlier, &own, &total);
            w.tell("sums", "block", types, &total);
        });
        self.window(scan, "sums", "c", "passed");
        self.braces("if (item == 0 && teller)", |w| {
            w.braces("if (passed > 0)", |w| join(w, &first, &total, &total));
            w.braces("if (c > 0)", |w| {
                w.declare(&head, types);
                w.wait_for("heads", "c", types, &head);
                join(w, &head, &total, &total);
            });
            if some {
                w.braces("else", |w| join(w, &z, &total, &total));
            }
            w.tell("heads", "block + 1", types, &total);
        });
        self.braces("if (item == 0)", |w| {
            w.braces("if (block > 0)", |w| w.wait_for("heads", "block", types, &before));
            let any = if some { "nth > 0" } else { "nth > 0 && block > 0" };
            w.braces(&format!("if ({any})"), |w| join(w, &before, &earlier, &before));
            if !some {
                w.braces("else if (nth > 0)", |w| w.assign(&before, &earlier));
            }
            w.braces("if (started)", |w| w.assign(&first, &before));
        });
        self.line("barrier(CLK_LOCAL_MEM_FENCE);");
        self.braces("if (started)", |w| w.assign(&before, &first));
    }

    /// Waits for `count` values, fewer than [`WINDOW`], and combines them to `w0[0]`, .. if there are any.
    fn window(&mut self, scan: &TiledScan, kind: &str, from: &str, count: &str) {
        let TiledScan { scan: Scan { rows, reverse, .. }, types, .. } = *scan;
        self.braces(&format!("for (uint k = item; k < {count}; k += size)"), |w| {
            w.wait_for(kind, &format!("({from} + k)"), types, &names_at("w", types, "k"));
        });
        self.line("barrier(CLK_LOCAL_MEM_FENCE);");
        self.braces(&format!("for (uint apart = 1; apart < {count}; apart *= 2)"), |w| {
            w.braces(&format!("for (uint k = 2 * apart * item; k + apart < {count}; k += 2 * apart * size)"), |w| {
                let [left, right] = ["k", "k + apart"].map(|k| names_at("w", types, k));
                w.code(&rows.op, &in_order(reverse, &left, &right), &left);
            });
            w.line("barrier(CLK_LOCAL_MEM_FENCE);");
        });
    }

    /// Publishes a value, which is number `at` of its kind.
    fn tell(&mut self, kind: &str, at: &str, types: &[ScalarType], value: &[String]) {
        let all = words(types);
        let mut word = 0;
        for (t, x) in types.iter().zip(value) {
            for part in word_parts(*t, x) {
                self.line(format!("tell({kind} + ({at}) * {all} + {word}, {part});"));
                word += 1;
            }
        }
    }

    /// Waits for a value, and assigns it.
    fn wait_for(&mut self, kind: &str, at: &str, types: &[ScalarType], to: &[String]) {
        let all = words(types);
        let mut word = 0;
        for (t, x) in types.iter().zip(to) {
            let mut next = || {
                word += 1;
                format!("wait_for({kind} + ({at}) * {all} + {})", word - 1)
            };
            let (low, high) = (next(), if word_count(*t) == 2 { next() } else { String::new() });
            let value = match t {
                ScalarType::F32 => format!("as_float({low})"),
                ScalarType::F64 => format!("as_double({low} | (u64){high} << 32)"),
                ScalarType::I64 | ScalarType::U64 => format!("({t})({low} | (u64){high} << 32)"),
                t => format!("({t}){low}"),
            };
            self.line(format!("{x} = {value};"));
        }
    }
}

/// The bits of a number as words, the lower half first if it is wide.
fn word_parts(t: ScalarType, x: &str) -> Vec<String> {
    let bits = match t {
        ScalarType::F32 => format!("as_uint({x})"),
        ScalarType::F64 => format!("as_ulong({x})"),
        ScalarType::I64 | ScalarType::U64 => format!("(u64){x}"),
        _ => format!("(u32){x}"),
    };
    if word_count(t) == 1 { vec![bits] } else { vec![format!("(u32)({bits})"), format!("(u32)({bits} >> 32)")] }
}
