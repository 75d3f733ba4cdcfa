//! Regions of a scope: parts that are executed a different number of times than what is around them.

use crate::surface::graph::NodeId;

/// A region, as an index into [`Regions`].
pub type RegionId = u32;

/// The region of a scope that all others are inside of.
pub const WHOLE: RegionId = 0;

/// Why a region is one of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It is the whole scope.
    Whole,
    /// It is executed or not: a branch of a conditional, whose other branch is the region given here.
    Branch(RegionId),
    /// It is the body of a closure with this (first) parameter, executed any number of times, such as the body of a loop.
    Closure(NodeId),
}

struct Region {
    parent: RegionId,
    /// Some ancestor further away, so that climbing takes logarithmic time (Myers, "An applicative random-access stack", 1983).
    jump: RegionId,
    depth: u32,
    kind: Kind,
    /// The innermost closure's body that it is or is inside of, or the whole scope.
    body: RegionId,
}

/// The tree of regions of a scope.
pub struct Regions(Vec<Region>);

impl Regions {
    /// Only the whole scope.
    pub fn new() -> Self {
        Regions(vec![Region { parent: WHOLE, jump: WHOLE, depth: 0, kind: Kind::Whole, body: WHOLE }])
    }

    fn get(&self, r: RegionId) -> &Region {
        &self.0[r as usize]
    }

    /// The number the next region gets.
    pub fn next(&self) -> RegionId {
        self.0.len() as RegionId
    }

    /// A new region inside `parent`.
    pub fn push(&mut self, parent: RegionId, kind: Kind) -> RegionId {
        let (p, j) = (self.get(parent), self.get(self.get(parent).jump));
        let far = p.depth - j.depth == j.depth - self.get(j.jump).depth;
        let jump = if far { j.jump } else { parent };
        let (depth, id) = (p.depth + 1, self.next());
        let body = if matches!(kind, Kind::Closure(_)) { id } else { p.body };
        self.0.push(Region { parent, jump, depth, kind, body });
        id
    }

    pub fn parent(&self, r: RegionId) -> RegionId {
        self.get(r).parent
    }

    pub fn depth(&self, r: RegionId) -> u32 {
        self.get(r).depth
    }

    pub fn kind(&self, r: RegionId) -> Kind {
        self.get(r).kind
    }

    /// The innermost closure's body that `r` is or is inside of; the whole scope if there is none.
    pub fn body(&self, r: RegionId) -> RegionId {
        self.get(r).body
    }

    /// The region of the given depth around `r` (`r` itself if it is not deeper).
    pub fn around(&self, mut r: RegionId, depth: u32) -> RegionId {
        while self.depth(r) > depth {
            let jump = self.get(r).jump;
            r = if self.depth(jump) >= depth { jump } else { self.parent(r) };
        }
        r
    }

    /// The lowest common ancestor.
    pub fn common(&self, a: RegionId, b: RegionId) -> RegionId {
        let depth = self.depth(a).min(self.depth(b));
        let (mut a, mut b) = (self.around(a, depth), self.around(b, depth));
        while a != b {
            let (x, y) = (self.get(a), self.get(b));
            // Regions of one depth have jumps of one depth.
            (a, b) = if x.jump == y.jump { (x.parent, y.parent) } else { (x.jump, y.jump) };
        }
        a
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ancestors_by_jumps_agree_with_ancestors_by_steps() {
        let mut regions = Regions::new();
        for k in 1..400u32 {
            // a mixture of deep and wide
            let parent = if k % 7 == 0 { k / 3 } else { k - 1 };
            regions.push(parent, Kind::Whole);
        }
        let path = |mut r| {
            let mut path = vec![r];
            while r != WHOLE {
                r = regions.parent(r);
                path.push(r);
            }
            path
        };
        for a in (0..400).step_by(7) {
            let up = path(a);
            for (k, r) in up.iter().enumerate() {
                assert_eq!(regions.around(a, (up.len() - 1 - k) as u32), *r);
            }
            for b in (0..400).step_by(11) {
                let shared = path(b).into_iter().find(|r| up.contains(r));
                assert_eq!(Some(regions.common(a, b)), shared);
            }
        }
    }
}
