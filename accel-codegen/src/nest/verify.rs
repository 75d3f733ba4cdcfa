//! The verifier: what holds for every nest that is written as text.
//!
//! - Each register is set once, before it is used, in the same block or in one around it, and all types fit.
//! - Buffers are different memory. A place has an index for every extent of its buffer; a buffer in local memory or in that of a group has constant
//!   extents, and is used after its [`Alloc`](Node::Alloc).
//! - A vector loop runs from 0 to a constant, by steps of 1, and contains no other one. The loop variable occurs only in
//!   indices of places, with the factor 1 in the last one. There are no branches of scalar code in it.
//! - Vectors are operands of floating-point arithmetic only, and are stored and combined as vectors. A local number is used in the
//!   vector loop in which it begins.
//! - Scalar code has branches and loops, but these read no arrays. Lists that loops make are only read, by position.
//! - The work is divided completely: [`divided`](super::divided).
//! - Local memory is used only inside the loops over items in which it begins, and memory of a group begins outside them.
//! - All items reach a barrier: it is in no vector, and the bounds of the loops and the guards around it do not depend on items.
//! - An index that may be out of bounds is in no vector loop, and that of a request or of many numbers is known. What is checked
//!   is an array from outside, and no items could wait for the one that fails.
//!
//! It does not prove that places are within their buffers.

use super::divided::check;
use super::ir::*;
use accel_core::ast::deep;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{Instr, Reg};
use std::collections::BTreeSet;

/// Checks a nest.
///
/// # Errors
/// The first rule that is broken, and where.
pub fn verify(nest: &Nest) -> Result<(), String> {
    let mut v = Verifier {
        nest,
        set: BTreeSet::new(),
        ever: BTreeSet::new(),
        lists: BTreeSet::new(),
        local: BTreeSet::new(),
        vector: None,
        vectors: BTreeSet::new(),
        numbers: BTreeSet::new(),
        differ: BTreeSet::new(),
        diverges: false,
        in_items: false,
    };
    for p in &nest.params {
        let t = nest.types.get(p.register).copied().unwrap_or(ScalarType::I64);
        v.set(p.register, t).map_err(|e| format!("param x{}: {e}", p.register))?;
    }
    for (id, b) in nest.buffers.iter_enumerated() {
        let constant = b.extents.iter().all(|e| e.as_constant().is_some_and(|n| n > 0));
        if b.space.begins_inside() && !constant {
            return Err(format!("b{id}: the extents of a buffer that begins inside are not positive constants"));
        }
        let other = nest.buffers.iter_enumerated().find(|(other, o)| *other < id && o.space == b.space);
        if let Some((other, _)) = other.filter(|_| !b.space.begins_inside()) {
            return Err(format!("b{other} and b{id} are the same memory"));
        }
        b.extents.iter().try_for_each(|e| v.sum(e)).map_err(|e| format!("b{id}: {e}"))?;
    }
    v.nodes(&nest.body)?;
    check(nest)
}

struct Verifier<'a> {
    nest: &'a Nest,
    /// The registers that are set at the present place.
    set: BTreeSet<Reg>,
    /// All registers that were set before.
    ever: BTreeSet<Reg>,
    /// The registers that are private lists.
    lists: BTreeSet<Reg>,
    /// The buffers that begin inside and exist at the present place.
    local: BTreeSet<BufferId>,
    /// The variable of the vector loop around it.
    vector: Option<Reg>,
    /// The registers that differ between the elements of vectors.
    vectors: BTreeSet<Reg>,
    /// Local numbers that begin outside the vector loop around the present place.
    numbers: BTreeSet<BufferId>,
    /// The registers that may differ between items.
    differ: BTreeSet<Reg>,
    /// Whether some items may not reach the present place, or reach it more often than others.
    diverges: bool,
    /// Whether it is in a loop over items.
    in_items: bool,
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
                let (vector, local) = (self.vector, self.local.clone());
                let (diverges, in_items) = (self.diverges, self.in_items);
                let differs = self.differs(&f.from) || self.differs(&f.to);
                match f.bind {
                    Bind::Vector => {
                        self.vector = Some(f.var);
                        self.numbers = self.local.clone();
                        self.numbers.retain(|b| self.nest.buffers[*b].extents.is_empty());
                    }
                    Bind::Item(_) => {
                        self.local.retain(|b| self.nest.buffers[*b].space != Space::Local);
                        self.in_items = true;
                    }
                    Bind::Seq | Bind::Parallel | Bind::Unroll | Bind::Group(_) => {}
                }
                self.diverges |= differs;
                if differs || matches!(f.bind, Bind::Item(_)) {
                    self.differ.insert(f.var);
                }
                self.nodes(&f.body)?;
                self.set.remove(&f.var);
                (self.vector, self.local) = (vector, local);
                if f.bind == Bind::Vector {
                    self.numbers.clear();
                }
                (self.diverges, self.in_items) = (diverges, in_items);
                Ok(())
            }
            Node::If { guards, body } => {
                self.guards(guards).map_err(|e| format!("if: {e}"))?;
                let diverges = self.diverges;
                self.diverges |= guards.iter().flat_map(Guard::sides).any(|s| self.differs(s));
                self.nodes(body)?;
                self.diverges = diverges;
                Ok(())
            }
            Node::Let(i) => {
                let text = || accel_fusion::kernel::printed(&self.nest.types, i);
                self.instr(i).and_then(|()| self.elements(i)).map_err(|e| format!("{}: {e}", text()))?;
                let mut used = vec![];
                i.uses(&mut used);
                self.depends(node, used.iter().any(|r| self.differ.contains(r)));
                Ok(())
            }
            node => {
                let mut text = String::new();
                for r in node.sets() {
                    text = format!("x{r}: ");
                }
                self.access(node).map_err(|e| format!("{text}{}: {e}", kind(node)))?;
                let differs = match node {
                    Node::Index { value, limit, .. } => std::iter::once(value).chain(limit).any(|s| self.differs(s)),
                    // Local memory may hold what differs between items.
                    Node::Load { from, .. } => {
                        self.nest.buffers[from.buffer].space == Space::Local
                            || from.index.iter().any(|s| self.differs(s))
                    }
                    _ => false,
                };
                self.depends(node, differs);
                Ok(())
            }
        }
    }

    /// Notes that what a node sets may differ between items.
    fn depends(&mut self, node: &Node, differs: bool) {
        if differs {
            self.differ.extend(node.sets());
        }
    }

    fn differs(&self, s: &Affine) -> bool {
        s.terms.iter().any(|(r, _)| self.differ.contains(r))
    }

    fn head(&mut self, f: &For) -> Result<(), String> {
        self.sum(&f.from)?;
        self.sum(&f.to)?;
        if f.step < 1 {
            return Err("the step is not positive".into());
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
            Instr::If { .. } | Instr::While { .. } | Instr::Get { .. } if self.vector.is_some() => {
                Err("a branch in a vector loop".into())
            }
            Instr::If { cond, then, otherwise, merge } => {
                self.typed(*cond, ScalarType::Bool)?;
                let of_branch = |m: &(Reg, Reg, Reg), first: bool| (m.0, if first { m.1 } else { m.2 });
                for (instrs, first) in [(then, true), (otherwise, false)] {
                    self.scalar_code(instrs, |v| {
                        let mut all = merge.iter().map(|m| of_branch(m, first));
                        all.try_for_each(|(to, own)| v.typed(own, v.own_type(to)?))
                    })?;
                }
                merge.iter().try_for_each(|m| self.set(m.0, types[m.0]))
            }
            Instr::While { state, cond, continues, body, next, lists } => {
                if state.len() != next.len() {
                    return Err("a loop without the next value of a register".into());
                }
                for (to, init) in state {
                    self.typed(*init, self.own_type(*to)?)?;
                }
                state.iter().try_for_each(|(to, _)| self.set(*to, types[*to]))?;
                self.scalar_code(cond, |v| {
                    v.typed(*continues, ScalarType::Bool)?;
                    v.scalar_code(body, |v| {
                        let of_state = state.iter().zip(next).map(|((to, _), next)| (*to, *next));
                        let mut all = of_state.chain(lists.iter().copied());
                        all.try_for_each(|(to, value)| v.typed(value, v.own_type(to)?))
                    })
                })?;
                self.lists.extend(lists.iter().map(|(to, _)| *to));
                lists.iter().try_for_each(|(to, _)| self.set(*to, types[*to]))
            }
            Instr::Get { to, list, at } => {
                self.typed(*at, ScalarType::I64)?;
                if !self.lists.contains(list) || !self.set.contains(list) {
                    return Err(format!("there is no list x{list}"));
                }
                self.set(*to, types[*list])
            }
            Instr::Emit { .. } => Err("an instruction that nests do not have".into()),
        }
    }

    /// Checks the code of a branch, and what follows it there.
    fn scalar_code(
        &mut self,
        code: &[Instr],
        then: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let set = self.set.clone();
        for i in code {
            match i {
                Instr::Read { .. } => return Err("a branch that reads an array".into()),
                i => deep(|| self.instr(i))?,
            }
        }
        then(self)?;
        self.set = set;
        Ok(())
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
                if self.is_vector(from) {
                    self.vectors.insert(*to);
                }
                self.set(*to, t)
            }
            Node::Store { to, value, around } => {
                let t = self.place(to)?;
                if *around {
                    self.in_memory(to)?;
                }
                self.fits(to, &[*value])?;
                self.typed(*value, t)
            }
            Node::Fail(f) => {
                self.ends()?;
                f.numbers.iter().try_for_each(|s| self.sum(s))
            }
            Node::Prefetch(p) => {
                self.proved(p)?;
                self.place(p)?;
                self.in_memory(p)
            }
            Node::Acc { to, value, times, .. } => {
                let t = self.place(to)?;
                self.fits(to, &[*value])?;
                self.fits(to, times.as_slice())?;
                self.typed(*value, t)?;
                times.iter().try_for_each(|r| self.typed(*r, t))
            }
            Node::AccLanes { all, .. } => {
                for (guards, to, from) in all {
                    self.guards(guards)?;
                    self.proved(to)?;
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
                self.proved(to)?;
                self.proved(from)?;
                let (a, b) = (self.place(to)?, self.place(from)?);
                if a != b || to.index.len() < 2 || dim + 1 >= from.index.len() || *n < 1 {
                    return Err("matrices of different types, or no matrices".into());
                }
                Ok(())
            }
            Node::Alloc(b) => {
                match self.nest.buffers.get(*b).map(|b| b.space) {
                    Some(Space::Group) if self.in_items => {
                        return Err("memory of a group begins in a loop over items".into());
                    }
                    Some(space) if space.begins_inside() => {}
                    _ => return Err(format!("b{b} does not begin inside")),
                }
                match self.local.insert(*b) {
                    true => Ok(()),
                    false => Err(format!("b{b} exists already")),
                }
            }
            Node::Barrier if self.vector.is_some() || self.diverges => Err("some items may not reach it".into()),
            Node::Barrier if !self.in_items => Err("there are no items here".into()),
            Node::Barrier => Ok(()),
            Node::For(_) | Node::If { .. } | Node::Let(_) => Ok(()),
        }
    }

    /// Notes that an instruction computes the elements of a vector, and checks that there is such an instruction.
    fn elements(&mut self, i: &Instr) -> Result<(), String> {
        let mut used = vec![];
        i.uses(&mut used);
        if !used.iter().any(|r| self.vectors.contains(r)) {
            return Ok(());
        }
        self.vectors.extend(i.sets());
        match i.is_float_arithmetic(&self.nest.types) {
            true => Ok(()),
            false => Err("no arithmetic of floating-point numbers in a vector loop".into()),
        }
    }

    /// Whether the numbers at a place are elements of a vector.
    fn is_vector(&self, p: &Place) -> bool {
        self.vector.is_some_and(|v| match p.index.last() {
            Some(last) => last.contains(v),
            None => self.nest.buffers[p.buffer].space == Space::Local,
        })
    }

    /// Checks that one number is no vector.
    fn fits(&self, to: &Place, values: &[Reg]) -> Result<(), String> {
        match !self.is_vector(to) && values.iter().any(|r| self.vectors.contains(r)) {
            true => Err("a vector becomes one number in a vector loop".into()),
            false => Ok(()),
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
            _ if self.lists.contains(&r) => Err(format!("the list x{r} is used as a number")),
            _ => Ok(()),
        }
    }

    fn own_type(&self, r: Reg) -> Result<ScalarType, String> {
        self.nest.types.get(r).copied().ok_or_else(|| format!("x{r} has no type"))
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
            Some(found) if found.space.begins_inside() && !self.local.contains(&b) => {
                Err(format!("b{b} does not exist here"))
            }
            Some(found) => Ok(found),
        }
    }

    /// Checks that execution can end at the present place.
    fn ends(&self) -> Result<(), String> {
        match self.vector.is_some() || self.in_items {
            true => Err("a failure in a vector loop, or while other items wait".into()),
            false => Ok(()),
        }
    }

    fn proved(&self, p: &Place) -> Result<(), String> {
        match p.is_proved() {
            true => Ok(()),
            false => Err("an index that may be out of bounds in a vector loop, or of many numbers".into()),
        }
    }

    /// Checks that a hint about memory makes sense.
    fn in_memory(&self, p: &Place) -> Result<(), String> {
        match self.nest.buffers[p.buffer].space.begins_inside() {
            true => Err(format!("b{} is not in memory from outside", p.buffer)),
            false => Ok(()),
        }
    }

    /// The type of the number at a place.
    fn place(&self, p: &Place) -> Result<ScalarType, String> {
        let b = self.buffer(p.buffer)?;
        match p.bounds {
            Bounds::Proved => {}
            Bounds::Masked(_) | Bounds::Checked(_) if self.vector.is_some() => self.proved(p)?,
            Bounds::Masked(x) if x.ty() != b.ty => return Err(format!("a mask of type {}, not {}", x.ty(), b.ty)),
            Bounds::Masked(_) => {}
            Bounds::Checked(_) if !matches!(b.space, Space::Array(..)) => {
                return Err(format!("b{} is no array whose indices can be checked", p.buffer));
            }
            Bounds::Checked(_) => self.ends()?,
        }
        if self.numbers.contains(&p.buffer) {
            return Err(format!("b{} is one number, which begins outside a vector loop", p.buffer));
        }
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
        Node::Prefetch(_) => "prefetch",
        Node::Acc { .. } => "acc",
        Node::AccLanes { .. } => "lanes",
        Node::Transpose { .. } => "transpose",
        Node::Alloc(_) => "alloc",
        Node::Fail(_) => "fail",
        Node::Barrier => "barrier",
        Node::If { .. } => "if",
    }
}
