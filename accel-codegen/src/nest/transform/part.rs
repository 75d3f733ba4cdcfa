//! The part of a buffer that nodes read: an interval of indices in each dimension.

use crate::nest::edit::walk;
use crate::nest::ir::*;
use accel_fusion::kernel::Reg;
use std::collections::BTreeMap;

/// One dimension of the part.
#[derive(Clone, PartialEq)]
pub struct Dimension {
    /// Where the part begins.
    pub base: Affine,
    /// The number below which indices are kept.
    pub limit: Option<Affine>,
    /// The number of indices.
    pub extent: i64,
}

impl Dimension {
    /// The dimension that contains all of these, if they begin at a constant distance from each other.
    pub fn union<'d>(mut all: impl Iterator<Item = &'d Dimension>) -> Option<Dimension> {
        let first = all.next()?.clone();
        all.try_fold(first, |whole, d| {
            let distance = d.base.plus(&whole.base, -1)?.as_constant().filter(|_| d.limit == whole.limit)?;
            let (least, end) = (distance.min(0), whole.extent.max(distance.checked_add(d.extent)?));
            let base = whole.base.plus(&Affine::constant(least), 1)?;
            Some(Dimension { base, extent: end.checked_sub(least)?, limit: whole.limit })
        })
    }
}

/// The number of iterations of a loop from 0 to a constant.
pub fn count(f: &For) -> Option<i64> {
    let to = f.to.as_constant().filter(|_| f.from.as_constant() == Some(0) && !f.whole)?;
    Some((to + f.step - 1) / f.step)
}

/// What is known about the registers that nodes set.
pub struct Registers {
    /// Those that change between the reads: the largest value, if the smallest one is 0.
    inside: BTreeMap<Reg, Option<i64>>,
    /// Those that are computed as indices.
    indices: BTreeMap<Reg, (Affine, Option<Affine>)>,
}

impl Registers {
    /// The registers that are set in nodes, except the variables of the `fixed` loops, which do not change between the reads.
    pub fn of(nodes: &[Node], fixed: &[Reg]) -> Registers {
        let mut all = Registers { inside: BTreeMap::new(), indices: BTreeMap::new() };
        walk(nodes, &mut |n| match n {
            Node::Index { to, value, limit } => _ = all.indices.insert(*to, (value.clone(), limit.clone())),
            Node::For(f) if fixed.contains(&f.var) => {}
            Node::For(f) => all.add(f),
            n => all.inside.extend(n.sets().into_iter().map(|r| (r, None))),
        });
        all
    }

    /// Those that are set in a loop, and its variable.
    pub fn of_loop(f: &For, fixed: &[Reg]) -> Registers {
        let mut all = Registers::of(&f.body, fixed);
        all.add(f);
        all
    }

    fn add(&mut self, f: &For) {
        self.inside.insert(f.var, count(f).map(|n| (n - 1) * f.step));
    }

    /// A dimension of the part, and the offset in it, for an index.
    pub fn dimension(&self, index: &Affine) -> Option<(Dimension, Affine)> {
        // `min(value, limit - 1) + more = min(value + more, limit + more - 1)`
        let more = Affine::constant(index.constant);
        let clamped = index.plus(&more, -1)?.as_register().and_then(|r| self.indices.get(&r));
        let (value, limit) = match clamped {
            Some((value, Some(limit))) => {
                (self.resolved(value)?.plus(&more, 1)?, Some(self.resolved(limit)?.plus(&more, 1)?))
            }
            _ => (self.resolved(index)?, None),
        };
        if limit.iter().flat_map(|l| &l.terms).any(|(r, _)| self.inside.contains_key(r)) {
            return None;
        }
        let (mut base, mut offset, mut extent) = (value.clone(), Affine::constant(0), 1_i64);
        for (r, k) in &value.terms {
            if let Some(largest) = self.inside.get(r) {
                let own = Affine::default().plus(&(*r).into(), *k)?;
                (base, offset) = (base.plus(&own, -1)?, offset.plus(&own, 1)?);
                extent = extent.checked_add((*largest)?.checked_mul(*k)?)?;
            }
        }
        let is_inside = offset.terms.iter().all(|(_, k)| *k > 0);
        is_inside.then_some((Dimension { base, limit, extent }, offset))
    }

    /// The sum in terms of registers that are not computed as indices, as if no index was kept below a limit.
    pub fn unlimited(&self, a: &Affine) -> Option<Affine> {
        a.expanded(&|r| self.indices.get(&r).map(|(own, _)| own))
    }

    /// The sum in terms of registers that are not computed as indices. `None` if one of these is kept below a limit.
    pub fn resolved(&self, a: &Affine) -> Option<Affine> {
        let sum = a.expanded(&|r| self.indices.get(&r).filter(|(_, limit)| limit.is_none()).map(|(own, _)| own))?;
        sum.terms.iter().all(|(r, _)| !self.indices.contains_key(r)).then_some(sum)
    }
}
