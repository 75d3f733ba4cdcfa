//! Tidying: sums take the place of the registers that hold them, values are computed once, what nobody uses goes, and
//! registers and buffers are numbered without gaps.

use super::copy::{Copy, Merge};
use crate::nest::edit::{Why, is_pure, walk};
use crate::nest::ir::*;
use accel_fusion::kernel::{Reg, renamed, walk as instrs};
use std::collections::{BTreeMap, BTreeSet};

/// Tidies a nest. The loops get other variables.
///
/// # Errors
/// A number is too large.
pub fn tidy(nest: &Nest) -> Result<Nest, Why> {
    let mut nest = nest.clone();
    let body = std::mem::take(&mut nest.body);
    let mut body = Merge::replacements(&mut nest, vec![], &body, &mut [Copy::default()])?;
    loop {
        let used = used(&body);
        if !drop_unused(&mut body, &used) {
            break;
        }
    }
    nest.body = body;
    Ok(compact(nest))
}

/// The registers that nodes use.
pub fn used(nodes: &[Node]) -> BTreeSet<Reg> {
    let mut found: Vec<Reg> = vec![];
    walk(nodes, &mut |n| {
        found.extend(sums(n).into_iter().flat_map(|s| s.terms.iter().map(|t| t.0)));
        match n {
            Node::Let(i) => i.uses(&mut found),
            Node::Store { value, .. } => found.push(*value),
            Node::Acc { value, times, .. } => found.extend(std::iter::once(*value).chain(*times)),
            _ => {}
        }
    });
    found.into_iter().collect()
}

fn drop_unused(nodes: &mut Vec<Node>, used: &BTreeSet<Reg>) -> bool {
    let before = nodes.len();
    nodes.retain(|n| !is_pure(n) || n.sets().iter().any(|r| used.contains(r)));
    let mut changed = nodes.len() < before;
    for n in nodes {
        if let Node::For(For { body, .. }) | Node::If { body, .. } = n {
            changed |= drop_unused(body, used);
        }
    }
    changed
}

/// The sums in a node: indices, bounds and guards.
fn sums(n: &Node) -> Vec<&Affine> {
    fn of_guards(guards: &[Guard]) -> impl Iterator<Item = &Affine> {
        guards.iter().flat_map(Guard::sides)
    }
    match n {
        Node::For(f) => vec![&f.from, &f.to],
        Node::Index { value, limit, .. } => std::iter::once(value).chain(limit).collect(),
        Node::Load { from: p, .. } | Node::Store { to: p, .. } | Node::Acc { to: p, .. } | Node::Prefetch(p) => {
            p.index.iter().collect()
        }
        Node::AccLanes { all, .. } => all.iter().flat_map(|(g, p, _)| of_guards(g).chain(&p.index)).collect(),
        Node::Transpose { to, from, .. } => to.index.iter().chain(&from.index).collect(),
        Node::If { guards, .. } => of_guards(guards).collect(),
        Node::Fail(f) => f.numbers.iter().collect(),
        Node::Let(_) | Node::Alloc(_) | Node::Barrier => vec![],
    }
}

/// New numbers for registers and buffers, in the order of their definitions.
fn compact(nest: Nest) -> Nest {
    let mut all = Numbers { registers: BTreeMap::new(), buffers: BTreeMap::new() };
    nest.params.iter().for_each(|p| all.register(p.register));
    let fixed = nest.buffers.iter_enumerated().filter(|(_, b)| !b.space.begins_inside());
    fixed.for_each(|(id, _)| all.buffer(id));
    walk(&nest.body, &mut |n| {
        n.sets().into_iter().for_each(|r| all.register(r));
        if let Node::Let(i) = n {
            i.inner().into_iter().flat_map(instrs).flat_map(|i| i.sets().to_vec()).for_each(|r| all.register(r));
        }
        if let Node::Alloc(b) = n {
            all.buffer(*b);
        }
    });
    let mut to = Nest::default();
    let mut types: Vec<_> = all.registers.iter().collect();
    types.sort_by_key(|(_, new)| **new);
    to.types = types.into_iter().map(|(old, _)| nest.types[*old]).collect();
    let mut buffers: Vec<_> = all.buffers.iter().collect();
    buffers.sort_by_key(|(_, new)| **new);
    to.buffers = buffers
        .into_iter()
        .map(|(old, _)| {
            let b = &nest.buffers[*old];
            Buffer { extents: b.extents.iter().map(|e| all.sum(e)).collect(), ..b.clone() }
        })
        .collect();
    to.params = nest.params.iter().map(|p| Param { register: all.at(p.register), ..p.clone() }).collect();
    to.body = all.nodes(&nest.body);
    to
}

struct Numbers {
    registers: BTreeMap<Reg, Reg>,
    buffers: BTreeMap<BufferId, BufferId>,
}

impl Numbers {
    fn register(&mut self, r: Reg) {
        let next = Reg::new(self.registers.len());
        self.registers.entry(r).or_insert(next);
    }

    fn buffer(&mut self, b: BufferId) {
        let next = BufferId::new(self.buffers.len());
        self.buffers.entry(b).or_insert(next);
    }

    fn at(&self, r: Reg) -> Reg {
        self.registers.get(&r).copied().unwrap_or(Reg::NONE)
    }

    fn in_buffer(&self, b: BufferId) -> BufferId {
        self.buffers.get(&b).copied().unwrap_or(b)
    }

    fn sum(&self, s: &Affine) -> Affine {
        let mut terms: Vec<_> = s.terms.iter().map(|(r, k)| (self.at(*r), *k)).collect();
        terms.sort();
        Affine { terms, constant: s.constant }
    }

    fn place(&self, p: &Place) -> Place {
        Place { buffer: self.in_buffer(p.buffer), index: p.index.iter().map(|s| self.sum(s)).collect(), ..*p }
    }

    fn guards(&self, guards: &[Guard]) -> Vec<Guard> {
        let guard = |g: &Guard| Guard { smaller: self.sum(&g.smaller), larger: self.sum(&g.larger) };
        guards.iter().map(guard).collect()
    }

    fn nodes(&self, nodes: &[Node]) -> Vec<Node> {
        nodes.iter().map(|n| self.node(n)).collect()
    }

    fn node(&self, n: &Node) -> Node {
        match n {
            Node::For(f) => Node::For(For {
                var: self.at(f.var),
                from: self.sum(&f.from),
                to: self.sum(&f.to),
                body: self.nodes(&f.body),
                ..*f
            }),
            Node::Let(i) => Node::Let(renamed(i, &|r| self.at(*r))),
            Node::Index { to, value, limit } => {
                Node::Index { to: self.at(*to), value: self.sum(value), limit: limit.as_ref().map(|l| self.sum(l)) }
            }
            Node::Load { to, from } => Node::Load { to: self.at(*to), from: self.place(from) },
            Node::Store { to, value, around } => {
                Node::Store { to: self.place(to), value: self.at(*value), around: *around }
            }
            Node::Prefetch(p) => Node::Prefetch(self.place(p)),
            Node::Acc { to, monoid, value, times } => Node::Acc {
                to: self.place(to),
                monoid: *monoid,
                value: self.at(*value),
                times: times.map(|r| self.at(r)),
            },
            Node::AccLanes { monoid, all } => {
                let one =
                    |(g, p, b): &(Vec<Guard>, Place, BufferId)| (self.guards(g), self.place(p), self.in_buffer(*b));
                Node::AccLanes { monoid: *monoid, all: all.iter().map(one).collect() }
            }
            Node::Transpose { to, from, dim, n } => {
                Node::Transpose { to: self.place(to), from: self.place(from), dim: *dim, n: *n }
            }
            Node::Alloc(b) => Node::Alloc(self.in_buffer(*b)),
            Node::Fail(f) => {
                let numbers = f.numbers.iter().map(|s| self.sum(s)).collect();
                Node::Fail(Failure { numbers, ..*f })
            }
            Node::Barrier => Node::Barrier,
            Node::If { guards, body } => Node::If { guards: self.guards(guards), body: self.nodes(body) },
        }
    }
}
