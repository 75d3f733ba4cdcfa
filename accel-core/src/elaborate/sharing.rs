//! Decides where each node of a scope is computed.
//!
//! NOTE [Sharing and branches]: A *scope* is the body of the program or a closed scalar function. Conditionals and
//! loops divide it into *regions*: each branch is a region, and so are the condition and the body of each loop. A node
//! with several uses becomes a local definition at the head of the region that is the lowest common ancestor of its
//! uses. A node with one use stays where it is used. But sharing never executes anything that the program would not
//! have executed:
//!
//! - Code that is total and cheap (it reads or computes no array, and contains no loop and no integer division) may be
//!   executed although its value is not used, so for such code the lowest common ancestor is always right.
//! - All other code is defined only where it is certainly needed. A region needs a node if it uses it directly, or in
//!   both branches of one conditional. The node is defined in each of the outermost such regions. So `a[i]` below a
//!   test of `i` is never read where the test fails, even if two conditionals share it; then each of them contains its
//!   own definition.
//! - A loop executes its parts many times. What the user wrote before the loop is defined before the loop, even if only
//!   the loop uses it, since nobody expects it to be computed in each iteration. What the user wrote in the loop's
//!   closure stays there. The order of the node numbers tells the two cases apart: the nodes of a closure come after
//!   its parameters. The functions of [`ScalarOp::Transform`](crate::surface::graph::ScalarOp::Transform) are treated in the same
//!   way.
//! - If a loop is copied, so is everything that was written in its closures. The common ancestor of uses in two copies
//!   is outside of both, where the closure's parameter does not exist.
//!
//! Constants and variables never get a definition. Arrays that scalar code reads always do, because scalar code can
//! read only variables. The whole plan takes one pass over the nodes, each node after all its users, and time n log n.
//! There can be more copies than nodes of the graph only if conditionals need the same partial code again and again;
//! too many copies are an error.

use super::message::internal;
use super::parts::{Graph, Parts, Sub};
use super::region::{Kind, RegionId, Regions, WHOLE};
use crate::error::{Error, Result};
use crate::surface::graph::NodeId;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

/// The definitions in each region of a scope.
pub struct Plan {
    /// For every region the nodes that are defined at its head, in order.
    bindings: Vec<Vec<NodeId>>,
    /// For a node that is computed in a region: the first of the node's own regions.
    subs: HashMap<(NodeId, RegionId), RegionId>,
}

impl Plan {
    /// The nodes defined at the head of a region.
    pub fn bindings(&self, r: RegionId) -> &[NodeId] {
        &self.bindings[r as usize]
    }
    /// Region `k` of the node `n`, which is computed in region `r`.
    ///
    /// # Errors
    /// The node has no regions or is not computed there: a bug in the library.
    pub fn sub(&self, graph: &Graph, n: NodeId, r: RegionId, k: u32) -> Result<RegionId> {
        let first = self.subs.get(&(n, r)).ok_or_else(|| internal(graph.node(n), "planned regions"))?;
        Ok(first + k)
    }
}

/// A number for each node of the graph; all scopes reuse this table, one after the other.
pub struct Slots(Vec<u32>);

const UNSEEN: u32 = u32::MAX;

impl Slots {
    pub fn new(graph: &Graph) -> Self {
        Slots(vec![UNSEEN; graph.nodes.len()])
    }
}

/// Plans the scope whose result is `root`. `parts` returns the operands of a node.
///
/// # Errors
/// Too many branches share partial code.
pub fn plan(
    graph: &Graph,
    root: NodeId,
    slots: &mut Slots,
    parts: &mut dyn FnMut(NodeId, &mut Parts) -> Result<()>,
) -> Result<Plan> {
    let order = reachable(root, slots, parts)?;
    let result = Planner::new(graph, &order, slots).run(parts);
    order.iter().for_each(|n| slots.0[n.index()] = UNSEEN);
    result
}

/// The nodes of a scope, each after all its users. The slot of each node is its position in this list.
fn reachable(
    root: NodeId,
    slots: &mut Slots,
    parts: &mut dyn FnMut(NodeId, &mut Parts) -> Result<()>,
) -> Result<Vec<NodeId>> {
    let mut p = Parts::default();
    let (mut order, mut next) = (vec![root], 0);
    slots.0[root.index()] = 0;
    while next < order.len() {
        p.clear();
        parts(order[next], &mut p)?;
        next += 1;
        for u in &p.uses {
            if slots.0[u.node.index()] == UNSEEN {
                slots.0[u.node.index()] = 0;
                order.push(u.node);
            }
        }
    }
    order.sort_unstable_by(|a, b| b.cmp(a));
    order.iter().zip(0..).for_each(|(n, k)| slots.0[n.index()] = k);
    Ok(order)
}

/// A region in which a node is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Placement {
    region: RegionId,
    /// Whether the node gets a definition; otherwise it is computed where it is used.
    bound: bool,
}

struct Planner<'a> {
    graph: &'a Graph<'a>,
    order: &'a [NodeId],
    slots: &'a Slots,
    regions: Regions,
    plan: Plan,
    /// For each node of `order`: the regions of its uses, and whether it must be a variable.
    uses: Vec<(Vec<RegionId>, bool)>,
}

impl<'a> Planner<'a> {
    fn new(graph: &'a Graph<'a>, order: &'a [NodeId], slots: &'a Slots) -> Self {
        let plan = Plan { bindings: vec![vec![]], subs: HashMap::new() };
        Planner { graph, order, slots, regions: Regions::new(), plan, uses: vec![(vec![], false); order.len()] }
    }

    fn run(mut self, parts: &mut dyn FnMut(NodeId, &mut Parts) -> Result<()>) -> Result<Plan> {
        let (mut p, mut placements) = (Parts::default(), vec![]);
        let mut copies = 0;
        self.uses[0].0.push(WHOLE);
        for (k, n) in self.order.iter().enumerate() {
            if self.graph.is_atom(*n) {
                continue;
            }
            let (uses, must_bind) = std::mem::take(&mut self.uses[k]);
            placements.clear();
            self.place(*n, &uses, must_bind, &mut placements);
            copies += placements.len();
            if copies > 1000 + 8 * self.order.len() {
                let node = self.graph.node(*n);
                return Err(Error::TooManyCopies { op: node.name, at: node.at });
            }
            p.clear();
            parts(*n, &mut p)?;
            for at in &placements {
                if at.bound {
                    self.plan.bindings[at.region as usize].push(*n);
                }
                self.enter(*n, at.region, &p);
            }
        }
        self.plan.bindings.iter_mut().for_each(|b| b.reverse());
        Ok(self.plan)
    }

    /// Adds the regions of a node that is computed in region `r`, and records the uses of its operands.
    fn enter(&mut self, n: NodeId, r: RegionId, p: &Parts) {
        let first = self.regions.next();
        for sub in &p.subs {
            let next = self.regions.next();
            let kind = match sub {
                Sub::Then => Kind::Branch(next + 1),
                Sub::Else => Kind::Branch(next - 1),
                Sub::Closure(param) => Kind::Closure(*param),
            };
            self.regions.push(r, kind);
            self.plan.bindings.push(vec![]);
        }
        if !p.subs.is_empty() {
            self.plan.subs.insert((n, r), first);
        }
        for u in &p.uses {
            let slot = self.slots.0[u.node.index()] as usize;
            self.uses[slot].0.push(u.sub.map_or(r, |k| first + k as RegionId));
            self.uses[slot].1 |= u.bound;
        }
    }

    /// Leaves all closures that started after `n` was written.
    fn leave_closures(&self, n: NodeId, mut r: RegionId) -> RegionId {
        while let Kind::Closure(param) = self.regions.kind(r)
            && n < param
        {
            r = self.regions.parent(r);
        }
        r
    }

    /// The body of the innermost closure around `r` in which `n` was written; the whole scope if there is none.
    fn home(&self, n: NodeId, r: RegionId) -> RegionId {
        let mut body = self.regions.body(r);
        while let Kind::Closure(param) = self.regions.kind(body)
            && n < param
        {
            body = self.regions.body(self.regions.parent(body));
        }
        body
    }

    fn place(&self, n: NodeId, uses: &[RegionId], must_bind: bool, out: &mut Vec<Placement>) {
        let Some((first, rest)) = uses.split_first() else { return };
        if self.graph.is_cheap(n) || rest.iter().all(|r| r == first) {
            // For each copy of the closure in which the node was written: the common region of the uses, and their
            // number.
            let mut copies: BTreeMap<RegionId, (RegionId, u32)> = BTreeMap::new();
            for u in uses {
                let (common, count) = copies.entry(self.home(n, *u)).or_insert((*u, 0));
                *common = self.regions.common(*common, *u);
                *count += 1;
            }
            out.extend(copies.into_values().map(|(common, count)| {
                let region = self.leave_closures(n, common);
                Placement { region, bound: must_bind || count > 1 || region != common }
            }));
            return;
        }
        let needed = self.needed(n, uses);
        let mut tally: BTreeMap<RegionId, (u32, bool)> = BTreeMap::new();
        for u in uses {
            if let Some(region) = needed.around(&self.regions, *u) {
                let (count, all_direct) = tally.entry(region).or_insert((0, true));
                *count += 1;
                *all_direct &= region == *u;
            }
        }
        out.extend(
            tally
                .into_iter()
                .map(|(region, (count, direct))| Placement { region, bound: must_bind || count > 1 || !direct }),
        );
    }

    /// The outermost regions that certainly need `n`.
    fn needed(&self, n: NodeId, uses: &[RegionId]) -> Outermost {
        let regions = &self.regions;
        let with_depth = |r| {
            let r = self.leave_closures(n, r);
            (regions.depth(r), r)
        };
        let mut certain: BTreeSet<(u32, RegionId)> = uses.iter().map(|r| with_depth(*r)).collect();
        // From the innermost region outwards: if both branches need the node, so does the region around the
        // conditional.
        let mut todo: BinaryHeap<(u32, RegionId)> = certain.iter().copied().collect();
        while let Some((depth, r)) = todo.pop() {
            if let Kind::Branch(other) = regions.kind(r)
                && certain.contains(&(depth, other))
            {
                let outer = with_depth(regions.parent(r));
                if certain.insert(outer) {
                    todo.push(outer);
                }
            }
        }
        let mut outermost = Outermost { regions: BTreeSet::new(), depths: vec![] };
        for (depth, r) in certain {
            if outermost.around(regions, r).is_none() {
                outermost.regions.insert(r);
                if outermost.depths.last() != Some(&depth) {
                    outermost.depths.push(depth);
                }
            }
        }
        outermost
    }
}

/// A set of regions that do not contain each other, with their depths.
struct Outermost {
    regions: BTreeSet<RegionId>,
    depths: Vec<u32>,
}

impl Outermost {
    /// The region in the set that is or contains `r`.
    fn around(&self, regions: &Regions, r: RegionId) -> Option<RegionId> {
        let candidates = self.depths.iter().map(|d| regions.around(r, *d));
        candidates.into_iter().find(|c| self.regions.contains(c))
    }
}
