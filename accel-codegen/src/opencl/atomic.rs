//! Permutations on GPUs: every element is combined into its target by an item of its own.
//!
//! NOTE [Combining at the same time]
//! Several items may have the same target. A single number of 32 or 64 bits is changed by an atomic operation: the device's own
//! where there is one, otherwise by comparing and swapping until nobody came between. For anything wider each target has a lock, which is
//! taken, used and given back within one iteration of a loop: items of a GPU that execute in step would wait forever for one of
//! themselves otherwise. The order in which elements are combined is not defined; operators of permutations do not depend on it.

use super::Kernel;
use super::emit::Emitter;
use super::group::succeeds;
use crate::code::{Writer, outside};
use crate::fault;
use crate::kernels::{index, names};
use crate::liveness::Step;
use crate::ops::bytes;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Code, Known, Op};

/// The kernels of a permutation by atomic operations.
#[derive(Clone, Debug)]
pub struct Atomic {
    /// Does an element.
    pub combine: Kernel,
    /// Opens the locks of the targets, if there are any.
    pub open: Option<Kernel>,
}

impl Atomic {
    /// Prints them, if that is a way to do it.
    pub fn new(e: &mut Emitter, s: &Step) -> Option<Atomic> {
        let Op::Permute { to, extents, target, element, comb, known, .. } = &s.stmt.op else { return None };
        if !succeeds(comb) {
            return None;
        }
        let (rank, name) = (extents.results.len(), format!("permute_{}_atomic", s.number));
        let types = e.program.arrays[*to].columns.clone();
        let wide = match types.as_slice() {
            [t] => bytes(*t) < 4 || (bytes(*t) == 8 && !e.target.atomics_64),
            _ => true,
        };
        e.function(s, &name, |w| {
            w.hoist(&[target, element, comb]);
            w.hoist_output(*to, true);
            w.narrow_index(rank, "p");
            w.target_of(*to, rank, target);
            w.braces("if (keep)", |w| {
                let x = names("x", &types);
                w.check_target(*to);
                w.declare(&x, &types);
                w.code(element, &index(rank), &x);
                match types.as_slice() {
                    [t] if !wide => w.combine_atomically(*to, *t, comb, *known),
                    _ => w.combine_locked(*to, &types, comb),
                }
            });
            format!("static int {name}({}, const P p)", w.parameters())
        });
        let open = wide.then(|| {
            let open = format!("permute_{}_open", s.number);
            e.function(s, &open, |w| {
                w.scratch(0, "int");
                w.line("s0[p] = 0;");
                format!("static int {open}({}, const P p)", w.parameters())
            });
            e.grid_kernel(&open, 0)
        });
        Some(Atomic { combine: e.grid_kernel(&name, rank), open })
    }
}

impl Writer<'_> {
    /// Declares `keep` and the target `t0`, `t1`, ..
    fn target_of(&mut self, to: ArrayId, rank: usize, target: &Code) {
        let t: Vec<_> = (0..self.program.arrays[to].rank).map(|k| format!("t{k}")).collect();
        self.line("bool keep;");
        t.iter().for_each(|t| self.line(format!("i64 {t};")));
        let results = [&["keep".to_string()][..], &t].concat();
        self.code(target, &index(rank), &results);
    }

    /// Declares `q`, the position of the target.
    fn check_target(&mut self, to: ArrayId) {
        let t: Vec<_> = (0..self.program.arrays[to].rank).map(|k| format!("t{k}")).collect();
        if !t.is_empty() {
            let site = self.site;
            self.fault(&outside(to, &t), fault::TARGET, site, to, &t);
        }
        let place = self.place(to, &t);
        self.line(format!("const P q = {place};"));
    }

    /// One number.
    fn combine_atomically(&mut self, to: ArrayId, t: ScalarType, comb: &Code, known: Option<Known>) {
        let (word, prefix) = if bytes(t) == 4 { ("u32", "atomic") } else { ("u64", "atom") };
        if bytes(t) == 8 {
            self.declarations.need("Atomics", || {
                "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n\
                 #pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable"
                    .into()
            });
        }
        let operation = match known {
            Some(Known::Sum) => Some("add"),
            Some(Known::Min) => Some("min"),
            Some(Known::Max) => Some("max"),
            _ => None,
        };
        if let Some(operation) = operation.filter(|_| t.is_integral()) {
            return self.line(format!("{prefix}_{operation}((volatile global {t} *)&a{to}_0[q], x0);"));
        }
        self.line(format!("volatile global {word} *const cell = (volatile global {word} *)&a{to}_0[q];"));
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

    /// Several numbers, or one that there are no atomic operations for.
    fn combine_locked(&mut self, to: ArrayId, types: &[ScalarType], comb: &Code) {
        self.scratch(0, "int");
        let cells: Vec<_> =
            types.iter().enumerate().map(|(c, t)| format!("((volatile global {t} *)a{to}_{c})[q]")).collect();
        self.line("volatile global int *const lock = &s0[q];");
        self.braces("for (bool done = 0; !done;)", |w| {
            w.braces("if (atomic_cmpxchg(lock, 0, 1) == 0)", |w| {
                w.line("mem_fence(CLK_GLOBAL_MEM_FENCE);");
                w.code(comb, &[names("x", types), cells.clone()].concat(), &cells);
                w.line("mem_fence(CLK_GLOBAL_MEM_FENCE);");
                w.line("atomic_xchg(lock, 0);");
                w.line("done = 1;");
            });
        });
    }
}

/// What OpenCL calls a type of 32 or 64 bits.
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
