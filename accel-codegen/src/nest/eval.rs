//! The evaluator: what nests mean. It checks every index, and is used by tests only.

use super::ir::*;
use accel_core::repr::Scalar;
use accel_fusion::kernel::{Instr, Monoid, Reg};
use std::collections::HashMap;

/// The memory of a nest, and the values of its parameters.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Memory {
    /// The values of registers.
    pub registers: HashMap<Reg, Scalar>,
    /// The numbers of each buffer that is not local.
    pub buffers: HashMap<BufferId, Vec<Scalar>>,
}

/// Executes a nest.
///
/// # Errors
/// An index out of bounds, a local number that is read before it is written, or a nest that is not well formed.
pub fn evaluate(nest: &Nest, memory: &mut Memory) -> Result<(), String> {
    let registers = memory.registers.clone();
    let mut e = Evaluator { nest, memory, registers, local: HashMap::new() };
    e.nodes(&nest.body)
}

struct Evaluator<'a> {
    nest: &'a Nest,
    memory: &'a mut Memory,
    registers: HashMap<Reg, Scalar>,
    local: HashMap<BufferId, Vec<Option<Scalar>>>,
}

impl Evaluator<'_> {
    fn nodes(&mut self, nodes: &[Node]) -> Result<(), String> {
        nodes.iter().try_for_each(|n| self.node(n))
    }

    fn node(&mut self, node: &Node) -> Result<(), String> {
        match node {
            Node::For(f) => {
                let (mut i, to) = (self.sum(&f.from)?, self.sum(&f.to)?);
                let goes_on = |i: i64| if f.whole { i + f.step <= to } else { i < to };
                while goes_on(i) {
                    self.registers.insert(f.var, Scalar::I64(i));
                    self.nodes(&f.body)?;
                    i += f.step;
                }
            }
            Node::If { guards, body } => {
                if self.hold(guards)? {
                    self.nodes(body)?;
                }
            }
            Node::Let(i) => self.instr(i)?,
            Node::Index { to, value, limit } => {
                let mut i = self.sum(value)?;
                if let Some(limit) = limit {
                    i = i.min(self.sum(limit)? - 1);
                }
                self.registers.insert(*to, Scalar::I64(i));
            }
            Node::Load { to, from } => {
                let x = self.load(from)?;
                self.registers.insert(*to, x);
            }
            Node::Store { to, value } => {
                let x = self.get(*value)?;
                self.store(to, x)?;
            }
            Node::Acc { to, monoid, value, times } => {
                let mut x = self.get(*value)?;
                if let Some(times) = times {
                    x = Monoid::Product.operator().eval(x, self.get(*times)?).map_err(|e| e.to_string())?;
                }
                self.combine(to, *monoid, x)?;
            }
            Node::AccLanes { monoid, all } => {
                for (guards, to, from) in all {
                    if self.hold(guards)? {
                        let lanes = self.local.get(from).cloned().ok_or_else(|| format!("b{from} does not exist"))?;
                        for x in lanes {
                            self.combine(
                                to,
                                *monoid,
                                x.ok_or_else(|| format!("b{from} is read before it is written"))?,
                            )?;
                        }
                    }
                }
            }
            Node::Transpose { to, from, dim, n } => {
                for (p, q) in (0..*n).flat_map(|p| (0..*n).map(move |q| (p, q))) {
                    let x = self.load(&offset(from, *dim, q, p)?)?;
                    self.store(&offset(to, to.index.len() - 2, p, q)?, x)?;
                }
            }
            Node::Alloc(b) => {
                let extents = self.extents(*b)?;
                self.local.insert(*b, vec![None; extents.iter().product::<i64>() as usize]);
            }
        }
        Ok(())
    }

    fn instr(&mut self, i: &Instr) -> Result<(), String> {
        let (to, x) = match i {
            Instr::Const(to, x) => (*to, *x),
            Instr::Op1(to, op, a) => (*to, op.eval(self.get(*a)?).map_err(|e| e.to_string())?),
            Instr::Op2(to, op, a, b) => (*to, op.eval(self.get(*a)?, self.get(*b)?).map_err(|e| e.to_string())?),
            _ => return Err("an instruction that reads arrays".into()),
        };
        self.registers.insert(to, x);
        Ok(())
    }

    fn get(&self, r: Reg) -> Result<Scalar, String> {
        self.registers.get(&r).copied().ok_or_else(|| format!("x{r} is not set"))
    }

    fn sum(&self, s: &Affine) -> Result<i64, String> {
        s.terms.iter().try_fold(s.constant, |sum, (r, k)| match self.get(*r)? {
            Scalar::I64(x) => Ok(sum + k * x),
            x => Err(format!("x{r} is of type {}", x.ty())),
        })
    }

    fn hold(&self, guards: &[Guard]) -> Result<bool, String> {
        guards.iter().try_fold(true, |all, g| Ok(all && self.sum(&g.smaller)? < self.sum(&g.larger)?))
    }

    fn extents(&self, b: BufferId) -> Result<Vec<i64>, String> {
        self.nest.buffers[b].extents.iter().map(|e| self.sum(e)).collect()
    }

    fn position(&self, p: &Place) -> Result<usize, String> {
        let extents = self.extents(p.buffer)?;
        let mut at = 0;
        for (index, extent) in p.index.iter().zip(extents) {
            let i = self.sum(index)?;
            if !(0..extent).contains(&i) {
                return Err(format!("{p}: index {i} is not below {extent}"));
            }
            at = at * extent as usize + i as usize;
        }
        Ok(at)
    }

    fn load(&self, p: &Place) -> Result<Scalar, String> {
        let at = self.position(p)?;
        if self.nest.buffers[p.buffer].space == Space::Local {
            let found = self.local.get(&p.buffer).and_then(|b| b[at]);
            return found.ok_or_else(|| format!("{p} is read before it is written"));
        }
        let buffer = self.memory.buffers.get(&p.buffer).ok_or_else(|| format!("{p}: no memory"))?;
        buffer.get(at).copied().ok_or_else(|| format!("{p}: too little memory"))
    }

    fn store(&mut self, p: &Place, x: Scalar) -> Result<(), String> {
        let at = self.position(p)?;
        if self.nest.buffers[p.buffer].space == Space::Local {
            let buffer = self.local.get_mut(&p.buffer).ok_or_else(|| format!("{p} does not exist"))?;
            buffer[at] = Some(x);
            return Ok(());
        }
        let buffer = self.memory.buffers.get_mut(&p.buffer).ok_or_else(|| format!("{p}: no memory"))?;
        *buffer.get_mut(at).ok_or_else(|| format!("{p}: too little memory"))? = x;
        Ok(())
    }

    fn combine(&mut self, p: &Place, monoid: Monoid, x: Scalar) -> Result<(), String> {
        let old = self.load(p)?;
        self.store(p, monoid.operator().eval(old, x).map_err(|e| e.to_string())?)
    }
}

/// The place that is `rows` further in dimension `dim`, and `columns` in the last one.
fn offset(p: &Place, dim: usize, rows: i64, columns: i64) -> Result<Place, String> {
    let mut p = p.clone();
    let last = p.index.len() - 1;
    for (at, by) in [(dim, rows), (last, columns)] {
        p.index[at] = p.index[at].plus(&Affine::constant(by), 1).ok_or("an index that is too large")?;
    }
    Ok(p)
}
