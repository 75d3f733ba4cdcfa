//! Regions of a scope: parts that are executed a different number of times than the code around them.

use crate::surface::graph::NodeId;

/// A region, as an index into [`Regions`].
pub type RegionId = u32;

/// The outermost region of a scope.
pub const WHOLE: RegionId = 0;

/// Why a region is separate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It is the whole scope.
    Whole,
    /// It is executed or not: it is a branch of a conditional. The other branch is the given region.
    Branch(RegionId),
    /// It is executed any number of times: it is the body of a closure with this (first) parameter, such as the body of
    /// a loop.
    Closure(NodeId),
}

struct Region {
    parent: RegionId,
    /// A more distant ancestor, so that climbing takes logarithmic time (Myers, "An applicative random-access stack",
    /// 1983).
    jump: RegionId,
    depth: u32,
    kind: Kind,
    /// The innermost closure body that is or contains the region, or the whole scope.
    body: RegionId,
}

/// The tree of regions of a scope.
pub struct Regions(Vec<Region>);

impl Regions {
    /// A tree with only the whole scope.
    pub fn new() -> Self {
        Regions(vec![Region { parent: WHOLE, jump: WHOLE, depth: 0, kind: Kind::Whole, body: WHOLE }])
    }

    fn get(&self, r: RegionId) -> &Region {
        &self.0[r as usize]
    }

    /// The number of the next region.
    pub fn next(&self) -> RegionId {
        self.0.len() as RegionId
    }

    /// Adds a region inside `parent`.
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

    /// The innermost closure body that is or contains `r`; the whole scope if there is none.
    pub fn body(&self, r: RegionId) -> RegionId {
        self.get(r).body
    }

    /// The region at the given depth that contains `r` (`r` itself if it is not deeper).
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
            // Regions at the same depth have jumps to the same depth.
            (a, b) = if x.jump == y.jump { (x.parent, y.parent) } else { (x.jump, y.jump) };
        }
        a
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "large")]
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
