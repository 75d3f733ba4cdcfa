//! The verifier: what holds for every nest that is written as text.
//!
//! - Each register is set once, before it is used, in the same block or in one around it, and all types fit.
//! - A place has an index for every extent of its buffer; a local buffer has constant extents, and is used after its
//!   [`Alloc`](Node::Alloc).
//! - A vector loop runs from 0 to a constant, by steps of 1, and contains no other one. The loop variable occurs only in
//!   indices of places, with the factor 1 in the last one.
//!
//! It does not prove that places are within their buffers.

use super::ir::*;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{Instr, Reg};
use std::collections::BTreeSet;

/// Checks a nest.
///
/// # Errors
/// The first rule that is broken, and where.
pub fn verify(nest: &Nest) -> Result<(), String> {
    let mut v = Verifier { nest, set: BTreeSet::new(), ever: BTreeSet::new(), local: BTreeSet::new(), vector: None };
    for p in &nest.params {
        let t = nest.types.get(p.register).copied().unwrap_or(ScalarType::I64);
        v.set(p.register, t).map_err(|e| format!("param x{}: {e}", p.register))?;
    }
    for (id, b) in nest.buffers.iter_enumerated() {
        let constant = b.extents.iter().all(|e| e.as_constant().is_some_and(|n| n > 0));
        if b.space == Space::Local && !constant {
            return Err(format!("b{id}: the extents of a local buffer are not positive constants"));
        }
        b.extents.iter().try_for_each(|e| v.sum(e)).map_err(|e| format!("b{id}: {e}"))?;
    }
    v.nodes(&nest.body)
}

struct Verifier<'a> {
    nest: &'a Nest,
    /// The registers that are set at the present place.
    set: BTreeSet<Reg>,
    /// All registers that were set before.
    ever: BTreeSet<Reg>,
    /// The local buffers that exist at the present place.
    local: BTreeSet<BufferId>,
    /// The variable of the vector loop around it.
    vector: Option<Reg>,
}

impl Verifier<'_> {
    fn nodes(&mut self, nodes: &[Node]) -> Result<(), String> {
        let (set, local) = (self.set.clone(), self.local.clone());
        nodes.iter().try_for_each(|n| self.node(n))?;
        (self.set, self.local) = (set, local);
        Ok(())
    }

    fn node(&mut self, node: &Node) -> Result<(), String> {
        match node {
            Node::For(f) => {
                self.head(f).map_err(|e| format!("for x{}: {e}", f.var))?;
                let vector = self.vector;
                if f.bind == Bind::Vector {
                    self.vector = Some(f.var);
                }
                self.nodes(&f.body)?;
                self.set.remove(&f.var);
                self.vector = vector;
                Ok(())
            }
            Node::If { guards, body } => {
                self.guards(guards).map_err(|e| format!("if: {e}"))?;
                self.nodes(body)
            }
            Node::Let(i) => {
                let text = || accel_fusion::kernel::printed(&self.nest.types, i);
                self.instr(i).map_err(|e| format!("{}: {e}", text()))
            }
            node => {
                let mut text = String::new();
                for r in node.sets() {
                    text = format!("x{r}: ");
                }
                self.access(node).map_err(|e| format!("{text}{}: {e}", kind(node)))
            }
        }
    }

    fn head(&mut self, f: &For) -> Result<(), String> {
        self.sum(&f.from)?;
        self.sum(&f.to)?;
        if f.step < 1 {
            return Err("the step is not positive".into());
        }
        if f.bind == Bind::Vector {
            let bounds = (f.from.as_constant(), f.to.as_constant());
            if bounds.0 != Some(0) || bounds.1.is_none_or(|n| n < 1) || f.step != 1 {
                return Err("a vector loop that is not from 0 to a positive constant by 1".into());
            }
            if self.vector.is_some() {
                return Err("a vector loop in another one".into());
            }
        }
        self.set(f.var, ScalarType::I64)
    }

    fn instr(&mut self, i: &Instr) -> Result<(), String> {
        let types = &self.nest.types;
        match i {
            Instr::Const(to, x) => self.set(*to, x.ty()),
            Instr::Op1(to, op, a) => {
                self.used(*a)?;
                let t = op.result(types[*a]).ok_or_else(|| format!("no `{op}` of {}", types[*a]))?;
                self.set(*to, t)
            }
            Instr::Op2(to, op, a, b) => {
                self.used(*a)?;
                self.used(*b)?;
                let same = types[*a] == types[*b];
                let t = op.result(types[*a]).filter(|_| same);
                self.set(*to, t.ok_or_else(|| format!("no `{op}` of {} and {}", types[*a], types[*b]))?)
            }
            Instr::Extent(to, ..) => self.set(*to, ScalarType::I64),
            Instr::Read { to, index, .. } => {
                index.iter().try_for_each(|r| self.used(*r))?;
                to.iter().try_for_each(|r| self.set(*r, types[*r]))
            }
            Instr::If { .. } | Instr::While { .. } | Instr::Emit { .. } | Instr::Get { .. } => {
                Err("an instruction that nests do not have".into())
            }
        }
    }

    fn access(&mut self, node: &Node) -> Result<(), String> {
        match node {
            Node::Index { to, value, limit } => {
                self.sum(value)?;
                limit.iter().try_for_each(|l| self.sum(l))?;
                self.set(*to, ScalarType::I64)
            }
            Node::Load { to, from } => {
                let t = self.place(from)?;
                self.set(*to, t)
            }
            Node::Store { to, value } => {
                let t = self.place(to)?;
                self.typed(*value, t)
            }
            Node::Acc { to, value, times, .. } => {
                let t = self.place(to)?;
                self.typed(*value, t)?;
                times.iter().try_for_each(|r| self.typed(*r, t))
            }
            Node::AccLanes { all, .. } => {
                for (guards, to, from) in all {
                    self.guards(guards)?;
                    let (t, vector) = (self.place(to)?, self.buffer(*from)?);
                    if vector.ty != t || vector.space != Space::Local || vector.extents.len() != 1 {
                        return Err(format!("b{from} is no local vector of {t}"));
                    }
                }
                match self.vector {
                    Some(_) => Err("lanes in a vector loop".into()),
                    None => Ok(()),
                }
            }
            Node::Transpose { to, from, dim, n } => {
                let (a, b) = (self.place(to)?, self.place(from)?);
                if a != b || to.index.len() < 2 || dim + 1 >= from.index.len() || *n < 1 {
                    return Err("matrices of different types, or no matrices".into());
                }
                Ok(())
            }
            Node::Alloc(b) => {
                if self.nest.buffers.get(*b).is_none_or(|b| b.space != Space::Local) {
                    return Err(format!("b{b} is not local"));
                }
                match self.local.insert(*b) {
                    true => Ok(()),
                    false => Err(format!("b{b} exists already")),
                }
            }
            Node::For(_) | Node::If { .. } | Node::Let(_) => Ok(()),
        }
    }

    fn set(&mut self, r: Reg, t: ScalarType) -> Result<(), String> {
        match self.nest.types.get(r) {
            None => Err(format!("x{r} has no type")),
            Some(own) if *own != t => Err(format!("x{r} is of type {own}, not {t}")),
            Some(_) if !self.ever.insert(r) => Err(format!("x{r} is set twice")),
            Some(_) => {
                self.set.insert(r);
                Ok(())
            }
        }
    }

    fn used(&self, r: Reg) -> Result<(), String> {
        match self.vector {
            _ if !self.set.contains(&r) => Err(format!("x{r} is not set")),
            Some(v) if v == r => Err(format!("the variable x{r} of a vector loop is used as a number")),
            _ => Ok(()),
        }
    }

    fn typed(&self, r: Reg, t: ScalarType) -> Result<(), String> {
        self.used(r)?;
        match self.nest.types[r] {
            own if own == t => Ok(()),
            own => Err(format!("x{r} is of type {own}, not {t}")),
        }
    }

    fn sum(&self, s: &Affine) -> Result<(), String> {
        s.terms.iter().try_for_each(|(r, _)| self.typed(*r, ScalarType::I64))
    }

    fn guards(&self, guards: &[Guard]) -> Result<(), String> {
        guards.iter().flat_map(Guard::sides).try_for_each(|s| self.sum(s))
    }

    fn buffer(&self, b: BufferId) -> Result<&Buffer, String> {
        match self.nest.buffers.get(b) {
            None => Err(format!("there is no b{b}")),
            Some(found) if found.space == Space::Local && !self.local.contains(&b) => {
                Err(format!("b{b} does not exist here"))
            }
            Some(found) => Ok(found),
        }
    }

    /// The type of the number at a place.
    fn place(&self, p: &Place) -> Result<ScalarType, String> {
        let b = self.buffer(p.buffer)?;
        if b.extents.len() != p.index.len() {
            return Err(format!("an index of {} numbers for {} extents", p.index.len(), b.extents.len()));
        }
        let Some((last, outer)) = p.index.split_last() else { return Ok(b.ty) };
        outer.iter().try_for_each(|s| self.sum(s))?;
        let mut last = last.clone();
        if let Some(v) = self.vector.filter(|v| last.factor(*v) == 1) {
            last.terms.retain(|t| t.0 != v);
        }
        self.sum(&last)?;
        Ok(b.ty)
    }
}

fn kind(node: &Node) -> &'static str {
    match node {
        Node::For(_) => "for",
        Node::Let(_) => "scalar code",
        Node::Index { .. } => "index",
        Node::Load { .. } => "load",
        Node::Store { .. } => "store",
        Node::Acc { .. } => "acc",
        Node::AccLanes { .. } => "lanes",
        Node::Transpose { .. } => "transpose",
        Node::Alloc(_) => "alloc",
        Node::If { .. } => "if",
    }
}
