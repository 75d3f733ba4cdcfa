//! Where each node of a scope is computed.
//!
//! NOTE [Sharing and branches]: A *scope* is the body of the program or a closed scalar function. Conditionals and loops
//! divide it into *regions*: each branch, and the condition and body of each loop. A node with several uses becomes a local
//! definition at the head of the region that is the lowest common ancestor of its uses; a node with one use stays where it
//! is used. But sharing never executes what the program would not have executed:
//!
//! - Code that is total and cheap (no array is read or computed, no loop, no integer division) may be executed in vain, so
//!   for it the lowest common ancestor is always right.
//! - Anything else is defined only where it is certainly needed: a region needs a node if it uses it directly or in both
//!   branches of one conditional. The node is defined in each of the outermost such regions. So `a[i]` below a test of `i` is
//!   never read where the test fails, even if two conditionals share it; it is then written down once in each.
//! - A loop executes its parts many times. What the user wrote before the loop is defined before the loop, even if only the
//!   loop uses it, since nobody expects it to be computed again and again; what was written in the loop's closure stays
//!   there. The order of numbers tells which is which: what is written in a closure comes after its parameters.
//!   The functions of [`Op::Transform`](crate::surface::graph::Op::Transform) are treated alike.
//! - Where a loop itself is written down several times, so is all that was written in its closures: the common ancestor of
//!   uses in two copies is outside of both, where the closure's parameter does not exist.
//!
//! Constants and variables are never defined. Arrays that scalar code reads always are, since it can read only variables.
//! All of this takes one pass over the nodes, users before what they use, in time n log n. Only conditionals that need the
//! same partial code again and again make more copies than the graph has nodes; too many of them are an error.

use super::message::internal;
use super::parts::{Graph, Parts, Sub};
use super::region::{Kind, RegionId, Regions, WHOLE};
use crate::error::{Error, Result};
use crate::surface::graph::NodeId;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

/// What is defined in each region of a scope.
pub struct Plan {
    /// For every region the nodes that are defined at its head, first things first.
    bindings: Vec<Vec<NodeId>>,
    /// The first of the regions of a node that is computed in some region.
    subs: HashMap<(NodeId, RegionId), RegionId>,
}

impl Plan {
    /// The nodes defined at the head of a region.
    pub fn bindings(&self, r: RegionId) -> &[NodeId] {
        &self.bindings[r as usize]
    }
    /// Region `k` of the node `n` that is computed in region `r`.
    ///
    /// # Errors
    /// The node has no regions or is not computed there: a mistake of the library.
    pub fn sub(&self, graph: &Graph, n: NodeId, r: RegionId, k: u32) -> Result<RegionId> {
        let first = self.subs.get(&(n, r)).ok_or_else(|| internal(graph.node(n), "planned regions"))?;
        Ok(first + k)
    }
}

/// A number per node of the graph, reused by one scope after the other.
pub struct Slots(Vec<u32>);

const UNSEEN: u32 = u32::MAX;

impl Slots {
    pub fn new(graph: &Graph) -> Self {
        Slots(vec![UNSEEN; graph.nodes.len()])
    }
}

/// Plans the scope whose result is `root`. `parts` says what a node needs.
///
/// # Errors
/// Partial code that very many branches share.
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

/// The nodes of a scope, users before what they use; each gets its position as slot.
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

/// A place where a node is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Placement {
    region: RegionId,
    /// Whether by a definition, or where it is used.
    bound: bool,
}

struct Planner<'a> {
    graph: &'a Graph<'a>,
    order: &'a [NodeId],
    slots: &'a Slots,
    regions: Regions,
    plan: Plan,
    /// Per node of `order`: the regions of its uses, and whether it has to be a variable.
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

    /// Opens the regions of a node that is computed in region `r`, and notes what it uses.
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

    /// Out of all closures that `n` was written before.
    fn leave_closures(&self, n: NodeId, mut r: RegionId) -> RegionId {
        while let Kind::Closure(param) = self.regions.kind(r)
            && n < param
        {
            r = self.regions.parent(r);
        }
        r
    }

    /// The body of the innermost closure around `r` that `n` was written in; the whole scope if there is none.
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
            // Per copy of the closure that it was written in: the common region of the uses, and how many there are.
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
        // From the inside out: both branches need it, hence what is around the conditional does.
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

/// Regions none of which is inside of another one, and their depths.
struct Outermost {
    regions: BTreeSet<RegionId>,
    depths: Vec<u32>,
}

impl Outermost {
    /// The one of them that is `r` or around it.
    fn around(&self, regions: &Regions, r: RegionId) -> Option<RegionId> {
        let candidates = self.depths.iter().map(|d| regions.around(r, *d));
        candidates.into_iter().find(|c| self.regions.contains(c))
    }
}
