//! Copies of nodes, with registers and local buffers of their own. Copies of the same nodes can be merged, one node after
//! the other, so that common values are computed once.

use crate::nest::edit::{Why, written};
use crate::nest::ir::*;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{Instr, Reg, renamed, walk as instrs};
use std::collections::{BTreeMap, BTreeSet};

/// A copy: what stands for the registers and buffers of the original.
#[derive(Clone, Default)]
pub struct Copy {
    sums: BTreeMap<Reg, Affine>,
    registers: BTreeMap<Reg, Reg>,
    buffers: BTreeMap<BufferId, BufferId>,
}

impl Copy {
    /// The register that stands for one of the original.
    pub fn register(&self, r: Reg) -> Option<Reg> {
        self.registers.get(&r).copied()
    }

    /// A copy in which a register has another value.
    pub fn with(r: Reg, value: Affine) -> Copy {
        Copy { sums: BTreeMap::from([(r, value)]), ..Copy::default() }
    }

    fn affine(&self, a: &Affine) -> Option<Affine> {
        let mut sum = Affine::constant(a.constant);
        for (r, k) in &a.terms {
            let own = match (self.sums.get(r), self.registers.get(r)) {
                (Some(sum), _) => sum.clone(),
                (None, Some(r)) => Affine::from(*r),
                (None, None) => Affine::from(*r),
            };
            sum = sum.plus(&own, *k)?;
        }
        Some(sum)
    }

    fn buffer(&self, b: BufferId) -> BufferId {
        self.buffers.get(&b).copied().unwrap_or(b)
    }
}

/// Merges copies of nodes.
pub struct Merge<'a> {
    nest: &'a mut Nest,
    /// The loops around the present place: a variable, and the number that it stays below.
    bounds: Vec<(Reg, Affine)>,
    /// The values that the present block and those around it have computed: a node without its registers, and these.
    known: Vec<(Node, Vec<Reg>)>,
    /// The buffers that are written. Their numbers are not common values.
    written: BTreeSet<BufferId>,
    /// Whether the original stays, so that loops need other variables.
    keeps: bool,
}

impl<'a> Merge<'a> {
    /// Merges copies of `nodes`, which replace them. They are inside loops with these bounds.
    ///
    /// # Errors
    /// The bounds of a loop differ between copies.
    pub fn replacements(
        nest: &'a mut Nest,
        bounds: Vec<(Reg, Affine)>,
        nodes: &[Node],
        copies: &mut [Copy],
    ) -> Result<Vec<Node>, Why> {
        Merge { nest, bounds, known: vec![], written: written(nodes), keeps: false }.block(nodes, copies)
    }

    /// Makes copies of `nodes`, which replace them, one after the other. They are inside loops with these bounds.
    ///
    /// # Errors
    /// A number is too large.
    pub fn one_after_the_other(
        nest: &'a mut Nest,
        bounds: Vec<(Reg, Affine)>,
        nodes: &[Node],
        copies: &mut [Copy],
    ) -> Result<Vec<Node>, Why> {
        let mut merge = Merge { nest, bounds, known: vec![], written: written(nodes), keeps: false };
        let mut out = vec![];
        for copy in copies {
            nodes.iter().try_for_each(|n| merge.node(n, std::slice::from_mut(copy), &mut out))?;
            // The loops of further copies need other variables.
            merge.keeps = true;
        }
        Ok(out)
    }

    /// Makes one more copy of `nodes`.
    ///
    /// # Errors
    /// A number is too large.
    pub fn another(
        nest: &'a mut Nest,
        bounds: Vec<(Reg, Affine)>,
        nodes: &[Node],
        copy: &mut Copy,
    ) -> Result<Vec<Node>, Why> {
        let written = written(nodes);
        Merge { nest, bounds, known: vec![], written, keeps: true }.block(nodes, std::slice::from_mut(copy))
    }

    fn block(&mut self, nodes: &[Node], copies: &mut [Copy]) -> Result<Vec<Node>, Why> {
        let (known, mut out) = (self.known.len(), vec![]);
        nodes.iter().try_for_each(|n| self.node(n, copies, &mut out))?;
        self.known.truncate(known);
        Ok(out)
    }

    fn node(&mut self, node: &Node, copies: &mut [Copy], out: &mut Vec<Node>) -> Result<(), Why> {
        match node {
            Node::For(f) => return self.common_loop(f, copies, out),
            Node::If { guards, body } => return self.conditional(guards, body, copies, out),
            Node::AccLanes { monoid, all } => {
                let mut merged = vec![];
                for (copy, entry) in copies.iter().flat_map(|copy| all.iter().map(move |entry| (copy, entry))) {
                    if let Some(guards) = self.remaining(guards(copy, &entry.0)?) {
                        merged.push((guards, place(copy, &entry.1)?, copy.buffer(entry.2)));
                    }
                }
                out.push(Node::AccLanes { monoid: *monoid, all: merged });
                return Ok(());
            }
            Node::Barrier => {
                out.push(Node::Barrier);
                return Ok(());
            }
            _ => {}
        }
        for copy in copies {
            match node {
                Node::For(_) | Node::AccLanes { .. } | Node::If { .. } | Node::Barrier => {}
                Node::Index { to, value, limit } => {
                    let value = affine(copy, value)?;
                    let limit = limit.as_ref().map(|l| affine(copy, l)).transpose()?;
                    match limit.filter(|l| !self.is_below(&value, l)) {
                        None => _ = copy.sums.insert(*to, value),
                        Some(limit) => {
                            let r = self.value(ScalarType::I64, out, |to| Node::Index {
                                to,
                                value: value.clone(),
                                limit: Some(limit.clone()),
                            });
                            copy.registers.insert(*to, r);
                        }
                    }
                }
                Node::Load { to, from } => {
                    let (ty, changes) = (self.nest.types[*to], self.written.contains(&from.buffer));
                    let from = place(copy, from)?;
                    let r = match changes {
                        true => self.new_value(ty, out, |to| Node::Load { to, from: from.clone() }),
                        false => self.value(ty, out, |to| Node::Load { to, from: from.clone() }),
                    };
                    copy.registers.insert(*to, r);
                }
                Node::Let(i) => self.instr(i, copy, out),
                Node::Store { to, value, around } => {
                    let (to, value) = (place(copy, to)?, self.register(copy, *value, out));
                    out.push(Node::Store { to, value, around: *around });
                }
                Node::Acc { to, monoid, value, times } => {
                    let (to, value) = (place(copy, to)?, self.register(copy, *value, out));
                    let times = times.map(|r| self.register(copy, r, out));
                    out.push(Node::Acc { to, monoid: *monoid, value, times });
                }
                Node::Transpose { to, from, dim, n } => {
                    let (to, from) = (place(copy, to)?, place(copy, from)?);
                    out.push(Node::Transpose { to, from, dim: *dim, n: *n });
                }
                Node::Fail(f) => {
                    let numbers = f.numbers.iter().map(|a| affine(copy, a)).collect::<Result<_, _>>()?;
                    out.push(Node::Fail(Failure { numbers, ..*f }));
                }
                Node::Prefetch(p) => out.push(Node::Prefetch(place(copy, p)?)),
                Node::Alloc(b) => {
                    let own = self.nest.buffers.push(self.nest.buffers[*b].clone());
                    copy.buffers.insert(*b, own);
                    out.push(Node::Alloc(own));
                }
            }
        }
        Ok(())
    }

    /// A loop that all copies have in common.
    fn common_loop(&mut self, f: &For, copies: &mut [Copy], out: &mut Vec<Node>) -> Result<(), Why> {
        let bounds = |copy: &Copy| Ok((affine(copy, &f.from)?, affine(copy, &f.to)?));
        let all = copies.iter().map(bounds).collect::<Result<Vec<_>, Why>>()?;
        let Some((from, to)) = all.first().cloned() else { return Ok(()) };
        if all.iter().any(|b| *b != all[0]) {
            return Err(Why(format!("the bounds of the loop over x{} differ between copies", f.var)));
        }
        let var = if self.keeps { self.nest.register(ScalarType::I64) } else { f.var };
        for copy in &mut *copies {
            copy.registers.insert(f.var, var);
        }
        self.bounds.push((var, to.clone()));
        let body = self.block(&f.body, copies)?;
        self.bounds.pop();
        out.push(Node::For(For { var, from, to, body, ..f.clone() }));
        Ok(())
    }

    /// A conditional that all copies have in common, or one for each copy.
    fn conditional(
        &mut self,
        of: &[Guard],
        body: &[Node],
        copies: &mut [Copy],
        out: &mut Vec<Node>,
    ) -> Result<(), Why> {
        let all = copies.iter().map(|copy| guards(copy, of)).collect::<Result<Vec<_>, _>>()?;
        let are_equal = all.windows(2).all(|pair| pair[0] == pair[1]);
        let parts = if are_equal { copies.len().max(1) } else { 1 };
        let keeps = self.keeps;
        for (own, guards) in copies.chunks_mut(parts).zip(all.into_iter().step_by(parts)) {
            if let Some(guards) = self.remaining(guards) {
                let body = self.block(body, own)?;
                match guards[..] {
                    [] => out.extend(body),
                    _ => out.push(Node::If { guards, body }),
                }
            }
            // The loops of further copies need other variables.
            self.keeps = true;
        }
        self.keeps = keeps;
        Ok(())
    }

    fn instr(&mut self, i: &Instr, copy: &mut Copy, out: &mut Vec<Node>) {
        // What a branch sets is used inside only.
        let inside: Vec<Reg> = i.inner().into_iter().flat_map(instrs).flat_map(|i| i.sets().to_vec()).collect();
        for r in &inside {
            let own = self.nest.register(self.nest.types[*r]);
            copy.registers.insert(*r, own);
        }
        let sets = i.sets();
        let mut used = vec![];
        i.uses(&mut used);
        for r in used.into_iter().filter(|r| !inside.contains(r) && !sets.contains(r)) {
            let own = self.register(copy, r, out);
            copy.registers.insert(r, own);
        }
        let own = |to: &[Reg]| {
            let of = |r: &Reg| match sets.iter().position(|s| s == r) {
                Some(k) => to[k],
                None => copy.registers.get(r).copied().unwrap_or(*r),
            };
            Node::Let(renamed(i, &of))
        };
        let key = own(&vec![Reg::NONE; sets.len()]);
        let to = match self.known.iter().find(|(k, _)| *k == key) {
            Some((_, to)) => to.clone(),
            None => {
                let to: Vec<Reg> = sets.iter().map(|r| self.nest.register(self.nest.types[*r])).collect();
                out.push(own(&to));
                self.known.push((key, to.clone()));
                to
            }
        };
        copy.registers.extend(sets.iter().copied().zip(to));
    }

    /// The register of a copy that stands for one of the original. If a sum stands for it, it is computed.
    fn register(&mut self, copy: &mut Copy, r: Reg, out: &mut Vec<Node>) -> Reg {
        let Some(value) = copy.sums.get(&r).cloned() else { return copy.registers.get(&r).copied().unwrap_or(r) };
        match value.as_register() {
            Some(r) => r,
            None => self.value(ScalarType::I64, out, |to| Node::Index { to, value: value.clone(), limit: None }),
        }
    }

    /// The register with the value of a node: an earlier one, or a new one.
    fn value(&mut self, ty: ScalarType, out: &mut Vec<Node>, node: impl Fn(Reg) -> Node) -> Reg {
        let key = node(Reg::NONE);
        if let Some((_, r)) = self.known.iter().find(|(k, _)| *k == key) {
            return r[0];
        }
        let r = self.new_value(ty, out, node);
        self.known.push((key, vec![r]));
        r
    }

    fn new_value(&mut self, ty: ScalarType, out: &mut Vec<Node>, node: impl Fn(Reg) -> Node) -> Reg {
        let r = self.nest.register(ty);
        out.push(node(r));
        r
    }

    /// The guards that are not visibly true; `None` if one is visibly false.
    fn remaining(&self, guards: Vec<Guard>) -> Option<Vec<Guard>> {
        let difference = |g: &Guard| g.larger.plus(&g.smaller, -1).and_then(|d| d.as_constant());
        if guards.iter().any(|g| difference(g).is_some_and(|d| d <= 0)) {
            return None;
        }
        Some(guards.into_iter().filter(|g| !self.is_below(&g.smaller, &g.larger)).collect())
    }

    /// Whether a sum is visibly below a limit: it is the variable of a loop with this limit.
    fn is_below(&self, value: &Affine, limit: &Affine) -> bool {
        let number = value.plus(limit, -1).and_then(|d| d.as_constant()).is_some_and(|d| d < 0);
        number || value.as_register().is_some_and(|r| self.bounds.iter().any(|(v, to)| *v == r && to == limit))
    }
}

fn affine(copy: &Copy, a: &Affine) -> Result<Affine, Why> {
    copy.affine(a).ok_or_else(Why::too_large)
}

fn place(copy: &Copy, p: &Place) -> Result<Place, Why> {
    let index = p.index.iter().map(|a| affine(copy, a)).collect::<Result<_, _>>()?;
    Ok(Place { buffer: copy.buffer(p.buffer), index, ..*p })
}

fn guards(copy: &Copy, guards: &[Guard]) -> Result<Vec<Guard>, Why> {
    let one = |g: &Guard| Ok(Guard { smaller: affine(copy, &g.smaller)?, larger: affine(copy, &g.larger)? });
    guards.iter().map(one).collect()
}
