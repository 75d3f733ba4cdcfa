//! Strips: tasks with working memory and partial totals of their own.

use super::emit::{Emitter, Tasks};
use super::launch::{self, count};
use super::{Arg, Kernel, Sizes, Target, Work};
use crate::code::LANES;
use crate::dialect::{Params, name};
use crate::liveness::Step;
use crate::strip::Strip;
use crate::usage::Usage;
use accel_fusion::kernel::{ArrayId, Block, Code};

/// A task takes at least about this many simple operations.
const TASK: usize = 1 << 18;
/// At most this many tasks: each has partial totals of its own.
const TASKS: usize = 16;
/// The partial totals of all tasks take at most this many bytes, if there is more than one task.
const TOTALS: usize = 64 << 20;

/// The kernels of a strip.
#[derive(Clone, Debug)]
pub struct Strips {
    usage: Usage,
    body: Kernel,
    join: Kernel,
}

impl Strips {
    /// Prints them.
    pub fn new(e: &mut Emitter, s: &Step, to: &[ArrayId], len: &Code, body: &Block) -> Strips {
        let strip = Strip::new(e.program, to, len, body);
        let name = format!("strip_{}", s.number);
        let join = format!("{name}_join");
        e.task_function(s, &name, |w| strip.body(w));
        e.task_function(s, &join, |w| strip.join(w));
        let usage = strip.usage();
        let body = e.strip_kernel(&name, (!usage.totals.is_empty()).then_some(&join));
        Strips { usage, body, join: e.kernel(&join, 1, Tasks::Rows) }
    }

    pub fn is_too_large(&self, sizes: &Sizes) -> bool {
        let [scratch, ..] = self.usage.sizes(sizes.extents);
        scratch > crate::host::largest_strip(count(sizes.space))
    }

    pub fn work(&self, sizes: &Sizes, target: &Target) -> Work<'_> {
        let n = count(sizes.space);
        let [scratch, partial, cost] = self.usage.sizes(sizes.extents);
        let most = TOTALS.checked_div(partial).unwrap_or(TASKS).clamp(1, TASKS);
        let each = n.div_ceil(most).max(TASK / cost.max(1)).next_multiple_of(LANES);
        let tasks = n.div_ceil(each);
        let mut launches = vec![];
        if n > 0 {
            let numbers = vec![each as i64, n as i64, scratch as i64, partial as i64];
            launches.push(launch::items(&self.body, tasks, numbers, target));
        }
        // A task that is the only one does that itself.
        if partial > 0 && tasks != 1 {
            let numbers = vec![tasks as i64, partial as i64, 1];
            launches.push(launch::items(&self.join, 1, numbers, target));
        }
        Work { scratch: vec![scratch * tasks, partial * tasks], launches }
    }
}

impl Emitter<'_> {
    /// Item `g` has the positions from `g * arg0` on, `arg0` of them, but not beyond `arg1`, and the `g`th pieces of `arg2` bytes of the first
    /// scratch buffer and `arg3` bytes of the second. If there is one item, its totals are the results.
    fn strip_kernel(&mut self, body: &str, join: Option<&str>) -> Kernel {
        let params_of = |f: &str| self.declarations.functions.get(f).cloned().unwrap_or_default();
        let arguments = |params: &Params| -> String {
            let one = |arg: &Arg| match arg {
                Arg::Scratch(k) => format!(", s{k} + slot * arg{}", k + 2),
                _ => format!(", {}", name(*arg)),
            };
            params.keys().map(one).collect()
        };
        let mut params = params_of(body);
        let mut text = format!(
            "    const i64 extents[] = {{ n0 }};
    const i64 slot = get_global_id(0), from = slot * arg0, to = min(from + arg0, arg1);
    if (from >= to) return;
    const task t = {{ from, to, 0, slot, 0, extents }};
    {}{body}(&t, fault{});
",
            if join.is_some() { "const int failed = " } else { "" },
            arguments(&params)
        );
        if let Some(join) = join {
            let others = params_of(join);
            text += &format!(
                "    if (failed || arg0 < arg1) return;
    const task all = {{ 0, 1, 0, 0, arg3, extents }};
    {join}(&all, fault{});
",
                arguments(&others)
            );
            for (arg, declaration) in others {
                let old = params.entry(arg).or_insert_with(|| declaration.clone());
                if old.starts_with("const") {
                    *old = declaration;
                }
            }
        }
        self.entry(body, params, 1, 4, &text)
    }
}
