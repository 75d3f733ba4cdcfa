//! Atomic scatters: on GPUs, one work-item combines each element of a permutation into its target.
//!
//! NOTE [Concurrent combination]: several work-items can have the same target. An atomic operation changes a single
//! number of 32 or 64 bits: the device's own operation if there is one, otherwise a compare-and-swap, repeated until no
//! other item has changed the number in between. For wider elements, each target has a lock. An item takes and releases
//! it within one iteration of a loop: otherwise items of a GPU that execute in lockstep would wait for each other for
//! ever. The order in which elements are combined is undefined; the operators of permutations do not depend on it.
//!
//! NOTE [The last element]: the result of an operator that returns its first argument depends on the order. As on
//! all backends, the last element of each target must remain. First, every element claims its target: an atomic
//! maximum of positions. Then the element that has the claim is written.
//!
//! NOTE [Histograms]: with few targets and many elements, most work-items would wait for each other. So each group has
//! its own targets in local memory. They start with the neutral element, and are combined with the real targets at the
//! end. If there are so few targets that the items of a group would still wait, the group has several copies.
//! Neighbouring items use different copies, in different banks.

use super::emitter::{Emitter, NO_RECORD};
use super::launch::{self, GROUPS_PER_UNIT};
use super::rows::one;
use super::target::Target;
use super::work::{Kernel, Launch, Work, size_of};
use crate::analysis::fault;
use crate::analysis::liveness::Step;
use crate::shared::permute::Permute;
use crate::text::names::{elements, index, names, outside};
use crate::text::parameters::{self, Arg, Parameter};
use crate::text::primitives;
use crate::text::types::bytes;
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Monoid, Op, ScalarFn};

/// The kernels of a permutation with atomic operations.
#[derive(Clone, Debug)]
pub struct Atomic {
    /// Combines an element into its target.
    combine: Kernel,
    /// Initialises the locks or claims of the targets, if there are any.
    open: Option<Kernel>,
    /// Claims the target of an element: NOTE [The last element].
    claim: Option<Kernel>,
    /// Combines elements in local memory first: NOTE [Histograms].
    histogram: Option<(Kernel, ScalarType)>,
}

/// The minimal number of elements that a group combines, for each of its targets. It also sets each of them first, and adds it to the
/// real one last. Chosen.
const PER_TARGET: usize = 4;
/// The minimal number of elements that a group combines: as many for each of 256 items.
const PER_GROUP: usize = 1024;
/// The targets of a group take at most this part of the local memory, so that several groups can run at once.
const SHARE: usize = 2;
/// Additional copies of the targets take at most this many bytes. [`GROUPS_PER_UNIT`] groups then take 32 KB, the least local memory
/// that OpenCL demands.
const COPIED: usize = 4096;
/// The largest number of copies of the targets: local memory of NVIDIA's cards has as many banks, and as many items go in lockstep.
const COPIES: usize = 32;

/// Orders what an item does under a lock, and the lock itself, for the items of all groups. From OpenCL 2.0 on, `mem_fence` only
/// does that for the own group. On a card with NVIDIA's driver 580 (OpenCL 3.0), a permutation with locks was wrong in one of two
/// runs, and this may be why.
const FENCE: &str = "\
#ifdef __NV_CL_C_VERSION
#define FENCE() asm volatile(\"membar.gl;\" ::: \"memory\")
#else
#define FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif";

impl Atomic {
    /// Generates the kernels, if the statement is such a permutation.
    pub fn new(e: &mut Emitter, s: &Step) -> Option<Atomic> {
        let Op::Permute { to, extents, target, element, comb, .. } = &s.stmt.op else { return None };
        if comb.can_fail() {
            return None;
        }
        let p = Permute::new(e.program, &s.stmt.op)?;
        let (rank, name) = (extents.results.len(), format!("permute_{}_atomic", s.number));
        let types = e.program.arrays[*to].columns.clone();
        let wide = match types.as_slice() {
            [t] => bytes(*t) < 4 || (bytes(*t) == 8 && !e.target.atomics_64),
            _ => true,
        };
        let codes = [target, element, comb];
        let replaces = comb.is_first_argument();
        let claim = replaces.then(|| {
            let claim = format!("permute_{}_claim", s.number);
            e.function(s, &claim, |w| {
                w.hoist_extents(*to);
                w.scratch(0, "int");
                w.combine_element(*to, rank, codes, |w| w.line("atomic_max(&s0[q], (int)p);"));
                format!("static int {claim}({}, const P p)", w.parameters())
            });
            e.grid_kernel(&claim)
        });
        e.function(s, &name, |w| {
            w.hoist_output(*to, true);
            w.combine_element(*to, rank, codes, |w| match types.as_slice() {
                _ if replaces => w.write_claimed(*to, &types),
                [t] if !wide => w.combine_atomically("global", &format!("a{to}_0[q]"), *t, comb, p.monoid),
                _ => w.combine_locked(*to, &types, comb),
            });
            format!("static int {name}({}, const P p)", w.parameters())
        });
        let open = (wide || replaces).then(|| {
            let open = format!("permute_{}_open", s.number);
            e.function(s, &open, |w| {
                w.scratch(0, "int");
                w.line(format!("s0[p] = {};", if replaces { -1 } else { 0 }));
                format!("static int {open}({}, const P p)", w.parameters())
            });
            e.grid_kernel(&open)
        });
        let histogram = match (types.as_slice(), p.monoid) {
            ([t], Some(monoid)) if !wide => Some((e.histogram(s, *to, rank, codes, monoid), *t)),
            _ => None,
        };
        Some(Atomic { combine: e.grid_kernel(&name), open, claim, histogram })
    }

    /// Whether it can combine `n` elements: claims are 32-bit integers.
    pub fn is_possible(&self, n: usize) -> bool {
        self.claim.is_none() || i32::try_from(n).is_ok()
    }

    /// The launches for `n` elements.
    pub fn work(&self, n: usize, targets: usize, target: &Target) -> Work {
        let grid = |kernel, n: usize| launch::items(kernel, n, vec![n as i64], target);
        if let Some((kernel, t)) = &self.histogram
            && let Some(launch) = histogram_launch(kernel, *t, n, targets, target)
        {
            return one(launch);
        }
        let mut launches: Vec<_> = self.open.iter().filter(|_| targets > 0).map(|open| grid(open, targets)).collect();
        let scratch = self.open.iter().map(|_| 4 * targets.max(1)).collect();
        launches.extend(self.claim.iter().map(|claim| grid(claim, n)));
        launches.push(grid(&self.combine, n));
        Work { scratch, launches }
    }
}

/// The launch of the histogram kernel, if it pays.
fn histogram_launch(kernel: &Kernel, t: ScalarType, n: usize, targets: usize, target: &Target) -> Option<Launch> {
    let groups = (n / PER_GROUP.max(targets.saturating_mul(PER_TARGET))).min(target.units * GROUPS_PER_UNIT);
    // An odd number, so that the copies of a target are in different banks.
    let stride = targets | 1;
    let room = target.local_memory / SHARE / size_of(t, 1);
    if targets == 0 || groups < 2 || stride > room {
        return None;
    }
    let copies = (room.min(COPIED / size_of(t, 1)) / stride).clamp(1, COPIES);
    let group = launch::group(target);
    Some(Launch {
        kernel: kernel.clone(),
        global: [groups * group, 1],
        group: [group, 1],
        numbers: [n, targets, copies, stride].map(|x| x as i64).to_vec(),
        local: vec![size_of(t, copies * stride)],
    })
}

impl Emitter<'_> {
    /// The histogram kernel. Its groups combine the `arg0` elements into `arg2` copies of the `arg1` targets, at a
    /// distance of `arg3`, and then the copies into the real targets. After a failure there are no elements, but all
    /// items still go to the barriers.
    fn histogram(&mut self, s: &Step, to: ArrayId, rank: usize, codes: [&ScalarFn; 3], monoid: Monoid) -> Kernel {
        let t = self.program.arrays[to].columns[0];
        let name = format!("permute_{}_histogram", s.number);
        let start = primitives::constant(self.declarations, monoid.neutral(t));
        self.function(s, &name, |w| {
            w.hoist_extents(to);
            w.params.add(Arg::Local(0), Parameter::buffer(&format!("local {t}"), "l0".into()));
            w.combine_element(to, rank, codes, |w| w.combine_atomically("local", "l0[q]", t, codes[2], Some(monoid)));
            format!("static int {name}({}, const P p)", w.parameters())
        });
        let (record, n) = if self.is_recorded { ("", "fault[0] != 0 ? 0 : arg0") } else { (NO_RECORD, "arg0") };
        let mut w = Writer::new(self.program, self.declarations, s.stmt.site);
        w.line("const uint item = get_local_id(0), size = get_local_size(0);");
        w.line(format!("const P n = {n};"));
        w.hoist(&[codes[2]]);
        w.hoist_output(to, false);
        w.line(format!("for (uint q = item; q < (uint)(arg2 * arg3); q += size) l0[q] = {start};"));
        w.line("barrier(CLK_LOCAL_MEM_FENCE);");
        w.line(format!("local {t} *const own = l0 + item % (uint)arg2 * (uint)arg3;"));
        let own = |arg| if arg == Arg::Local(0) { "own".into() } else { parameters::name(arg) };
        let arguments = w.arguments_as(&name, own);
        w.line(format!("for (P p = get_global_id(0); p < n; p += get_global_size(0)) {name}({arguments}, p);"));
        w.line("barrier(CLK_LOCAL_MEM_FENCE);");
        w.braces("for (uint q = item; q < (uint)arg1; q += size)", |w| {
            w.line(format!("{t} x0 = l0[q];"));
            w.braces("for (uint copy = 1; copy < (uint)arg2; copy++)", |w| {
                let x = ["x0".to_string()];
                w.code(codes[2], &["l0[copy * (uint)arg3 + q]".into(), x[0].clone()], &x);
            });
            w.combine_atomically("global", &format!("a{to}_0[q]"), t, codes[2], Some(monoid));
        });
        let params = std::mem::take(&mut w.params);
        let body = format!("{record}{}", w.finish());
        self.plain_entry(&name, params, rank, 4, &body)
    }
}

impl Writer<'_> {
    /// Declares `keep` and the target `t0`, `t1`, ..
    fn target_of(&mut self, to: ArrayId, rank: usize, target: &ScalarFn) {
        let t: Vec<_> = (0..self.program.arrays[to].rank).map(|k| format!("t{k}")).collect();
        self.line("bool keep;");
        t.iter().for_each(|t| self.line(format!("i64 {t};")));
        let results = [&["keep".to_string()][..], &t].concat();
        self.code(target, &index(rank), &results);
    }

    /// Declares `q`, the position of the target of element `p`, and `x0`, .., the values to combine with it; `combine`
    /// writes the combination.
    fn combine_element(
        &mut self,
        to: ArrayId,
        rank: usize,
        [target, element, comb]: [&ScalarFn; 3],
        combine: impl FnOnce(&mut Self),
    ) {
        let types = self.columns(to);
        self.hoist(&[target, element, comb]);
        self.narrow_index(rank, "p");
        self.target_of(to, rank, target);
        self.braces("if (keep)", |w| {
            let x = names("x", &types);
            w.check_target(to);
            w.declare(&x, &types);
            w.code(element, &index(rank), &x);
            combine(w);
        });
    }

    /// Declares `q`, the position of the target.
    fn check_target(&mut self, to: ArrayId) {
        let t: Vec<_> = (0..self.program.arrays[to].rank).map(|k| format!("t{k}")).collect();
        if !t.is_empty() {
            let site = self.site;
            self.fault(&outside(to, &t), fault::TARGET, site, to.index(), &t);
        }
        let place = self.place(to, &t);
        self.line(format!("const P q = {place};"));
    }

    /// Combines one number, `x0`, with the number that `place` names in an address space.
    fn combine_atomically(&mut self, space: &str, place: &str, t: ScalarType, comb: &ScalarFn, monoid: Option<Monoid>) {
        let (word, prefix) = if bytes(t) == 4 { ("u32", "atomic") } else { ("u64", "atom") };
        self.atomics(t);
        let operation = match monoid {
            Some(Monoid::Sum) => Some("add"),
            Some(Monoid::Min) => Some("min"),
            Some(Monoid::Max) => Some("max"),
            _ => None,
        };
        if let Some(operation) = operation.filter(|_| t.is_integral()) {
            return self.line(format!("{prefix}_{operation}((volatile {space} {t} *)&{place}, x0);"));
        }
        self.line(format!("volatile {space} {word} *const cell = (volatile {space} {word} *)&{place};"));
        self.line(format!("{word} seen = *cell;"));
        self.braces("for (;;)", |w| {
            w.line(format!("const {t} old = as_{}(seen);", opencl_name(t)));
            w.line(format!("{t} combined;"));
            w.code(comb, &["x0".into(), "old".into()], &["combined".into()]);
            let word = if bytes(t) == 4 { "uint" } else { "ulong" };
            w.line(format!("const {word} found = {prefix}_cmpxchg(cell, seen, as_{word}(combined));"));
            w.line("if (found == seen) break;");
            w.line("seen = found;");
        });
    }

    /// Writes an element if it has the claim to its target.
    fn write_claimed(&mut self, to: ArrayId, types: &[ScalarType]) {
        self.scratch(0, "int");
        let cells = elements(to, types.len(), "q");
        self.braces("if (s0[q] == (int)p)", |w| w.assign(&cells, &names("x", types)));
    }

    /// Combines several numbers, or one without atomic operations.
    fn combine_locked(&mut self, to: ArrayId, types: &[ScalarType], comb: &ScalarFn) {
        self.scratch(0, "int");
        self.declarations.declare_once("FENCE", || FENCE.into());
        let cells: Vec<_> =
            types.iter().enumerate().map(|(c, t)| format!("((volatile global {t} *)a{to}_{c})[q]")).collect();
        self.line("volatile global int *const lock = &s0[q];");
        self.braces("for (bool done = 0; !done;)", |w| {
            w.braces("if (atomic_cmpxchg(lock, 0, 1) == 0)", |w| {
                w.line("FENCE();");
                w.code(comb, &[names("x", types), cells.clone()].concat(), &cells);
                w.line("FENCE();");
                w.line("atomic_xchg(lock, 0);");
                w.line("done = 1;");
            });
        });
    }
}

/// OpenCL's name of a type of 32 or 64 bits.
fn opencl_name(t: ScalarType) -> &'static str {
    match t {
        ScalarType::I32 => "int",
        ScalarType::U32 => "uint",
        ScalarType::F32 => "float",
        ScalarType::I64 => "long",
        ScalarType::U64 => "ulong",
        _ => "double",
    }
}
