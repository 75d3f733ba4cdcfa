//! Strips on CPU devices: each task has its own working memory and partial totals.

use super::emitter::{Emitter, Tasks};
use super::launch::{self, count};
use super::target::Target;
use super::work::{Kernel, Sizes, Work};
use crate::analysis::liveness::Step;
use crate::analysis::partition::strip_size;
use crate::analysis::strip_usage::{self, Usage};
use crate::cost_model::LANES;
use crate::shared::strip::Strip;
use crate::shared::strip_rows;
use accel_fusion::kernel::{ArrayId, Block, ScalarFn};

/// The kernels of a strip.
#[derive(Clone, Debug)]
pub struct Strips {
    usage: Usage,
    body: Kernel,
    join: Kernel,
}

impl Strips {
    /// Generates the kernels.
    pub fn new(e: &mut Emitter, s: &Step, to: &[ArrayId], len: &ScalarFn, body: &Block) -> Strips {
        let strip = Strip::new(e.program, to, len, body);
        let name = format!("strip_{}", s.number);
        let join = format!("{name}_join");
        e.task_function(s, &name, |w| strip_rows::body(&strip, w));
        e.task_function(s, &join, |w| strip.join(w, 1));
        Strips { usage: strip.usage(), body: e.kernel(&name, 1, Tasks::Strips), join: e.kernel(&join, 1, Tasks::Rows) }
    }

    pub fn is_too_large(&self, sizes: &Sizes) -> bool {
        let [scratch, ..] = self.usage.sizes(sizes.extents);
        scratch > strip_usage::largest(count(sizes.space))
    }

    /// The approximate number of simple operations of a position.
    pub fn cost(&self, sizes: &Sizes) -> usize {
        let [.., cost] = self.usage.sizes(sizes.extents);
        cost
    }

    pub fn work(&self, sizes: &Sizes, target: &Target) -> Work {
        let n = count(sizes.space);
        let [scratch, partial, cost] = self.usage.sizes(sizes.extents);
        let each = strip_size(n, partial, cost, LANES);
        let tasks = n.div_ceil(each);
        let mut launches = vec![];
        if n > 0 {
            let numbers = vec![each as i64, n as i64, scratch as i64, partial as i64];
            launches.push(launch::items(&self.body, tasks, numbers, target));
        }
        if partial > 0 {
            let numbers = vec![tasks as i64, partial as i64, 1];
            launches.push(launch::items(&self.join, 1, numbers, target));
        }
        Work { scratch: vec![scratch * tasks, partial * tasks], launches }
    }
}
