//! The evaluator: what nests mean. It checks every index, and is used by tests only.
//!
//! The items of a group execute each node together, one node after the other. That other orders have the same result is
//! checked as well: [`races`](super::races). Tasks and groups are executed one after the other, tasks in reverse.

use super::edit::walk;
use super::ir::*;
use super::races::{Agent, Races};
use accel_core::ast::deep;
use accel_core::repr::Scalar;
use accel_fusion::kernel::{IndexVec, Instr, Monoid, Reg, index_vec};
use std::collections::HashMap;

/// The memory of a nest, and the values of its parameters.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Memory {
    /// The values of registers.
    pub registers: HashMap<Reg, Scalar>,
    /// The numbers of each buffer that does not begin inside.
    pub buffers: HashMap<BufferId, Vec<Scalar>>,
}

/// The number of tasks: more than two, so that one of them has neighbours on both sides.
const TASKS: i64 = 3;

/// Executes a nest.
///
/// # Errors
/// An index out of bounds, a failure of the nest itself, a local number that is read before it is written, a race, or a nest that is not well formed.
pub fn evaluate(nest: &Nest, memory: &mut Memory) -> Result<(), String> {
    let mut first = Item { registers: index_vec![None; nest.types.len()], ..Item::default() };
    memory.registers.iter().for_each(|(r, x)| first.set(*r, *x));
    let mut e = Evaluator {
        nest,
        memory,
        task: (0, 0),
        items: vec![first.clone()],
        count: 1,
        group: HashMap::new(),
        barriers: HashMap::new(),
        races: is_divided(nest).then(Races::default),
    };
    for (k, task) in e.tasks(&first)?.into_iter().enumerate().rev() {
        let mut item = first.clone();
        item.agent.group[0] = k;
        (e.task, e.items) = (task, vec![item]);
        e.nodes(&nest.body, &[0])?;
    }
    Ok(())
}

/// An item of a group, or all that there is outside groups.
#[derive(Clone, Default)]
struct Item {
    agent: Agent,
    registers: IndexVec<Reg, Option<Scalar>>,
    /// Private lists.
    lists: HashMap<Reg, Vec<Scalar>>,
    local: HashMap<BufferId, Vec<Option<Scalar>>>,
}

impl Item {
    fn get(&self, r: Reg) -> Result<Scalar, String> {
        self.registers[r].ok_or_else(|| format!("x{r} is not set"))
    }

    fn set(&mut self, r: Reg, x: Scalar) {
        self.registers[r] = Some(x);
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

    fn instr(&mut self, i: &Instr) -> Result<(), String> {
        let (to, x) = match i {
            Instr::Const(to, x) => (*to, *x),
            Instr::Op1(to, op, a) => (*to, op.eval(self.get(*a)?).map_err(|e| e.to_string())?),
            Instr::Op2(to, op, a, b) => (*to, op.eval(self.get(*a)?, self.get(*b)?).map_err(|e| e.to_string())?),
            Instr::If { cond, then, otherwise, merge } => {
                let holds = self.get(*cond)? == Scalar::Bool(true);
                self.instrs(if holds { then } else { otherwise })?;
                for (to, a, b) in merge {
                    self.set(*to, self.get(if holds { *a } else { *b })?);
                }
                return Ok(());
            }
            Instr::Get { to, list, at } => {
                let Scalar::I64(at) = self.get(*at)? else { return Err(format!("x{at} is no position")) };
                let x = usize::try_from(at).ok().and_then(|at| self.lists.get(list)?.get(at).copied());
                (*to, x.ok_or_else(|| format!("the list x{list} has no element {at}"))?)
            }
            Instr::While { state, cond, continues, body, next, lists } => {
                lists.iter().for_each(|(to, _)| _ = self.lists.insert(*to, vec![]));
                for (to, init) in state {
                    self.set(*to, self.get(*init)?);
                }
                loop {
                    self.instrs(cond)?;
                    if self.get(*continues)? != Scalar::Bool(true) {
                        return Ok(());
                    }
                    self.instrs(body)?;
                    for (to, value) in lists {
                        let x = self.get(*value)?;
                        self.lists.entry(*to).or_default().push(x);
                    }
                    // All at once, because the next value of one register can be the old value of another.
                    let values: Vec<Scalar> = next.iter().map(|r| self.get(*r)).collect::<Result<_, _>>()?;
                    state.iter().zip(values).for_each(|((to, _), x)| self.set(*to, x));
                }
            }
            _ => return Err("an instruction that reads arrays".into()),
        };
        self.set(to, x);
        Ok(())
    }

    fn instrs(&mut self, code: &[Instr]) -> Result<(), String> {
        deep(|| code.iter().try_for_each(|i| self.instr(i)))
    }
}

struct Evaluator<'a> {
    nest: &'a Nest,
    memory: &'a mut Memory,
    /// The first iteration of parallel loops that belongs to the present task, and the one after its last one.
    task: (i64, i64),
    /// The items that exist.
    items: Vec<Item>,
    /// The number of items of the group, whether they execute the present node or not.
    count: usize,
    /// The memory of the present group.
    group: HashMap<BufferId, Vec<Option<Scalar>>>,
    /// How often each group has waited.
    barriers: HashMap<[usize; 4], usize>,
    /// What happens at the same time, if anything does.
    races: Option<Races>,
}

impl Evaluator<'_> {
    /// The parts of parallel loops, of whole steps: one for each task. One task if there is no such loop.
    fn tasks(&self, item: &Item) -> Result<Vec<(i64, i64)>, String> {
        let mut parallel = None;
        walk(&self.nest.body, &mut |n| match n {
            Node::For(f) if f.bind == Bind::Parallel => parallel = Some(f),
            _ => {}
        });
        let Some(f) = parallel else { return Ok(vec![(0, 0)]) };
        let to = item.sum(&f.to)?;
        let size = (to / f.step / TASKS + 1) * f.step;
        Ok((0..TASKS).map(|k| ((k * size).min(to), ((k + 1) * size).min(to))).collect())
    }

    /// Executes nodes for some items.
    fn nodes(&mut self, nodes: &[Node], items: &[usize]) -> Result<(), String> {
        nodes.iter().try_for_each(|n| self.node(n, items))
    }

    fn node(&mut self, node: &Node, items: &[usize]) -> Result<(), String> {
        match node {
            Node::For(f) => match f.bind {
                Bind::Item(_) => self.each_item(f, items),
                _ => self.each_iteration(f, items),
            },
            Node::If { guards, body } => {
                let mut inside = vec![];
                for k in items {
                    if self.items[*k].hold(guards)? {
                        inside.push(*k);
                    }
                }
                self.nodes(body, &inside)
            }
            Node::Barrier if items.len() < self.count => Err("a barrier that some items do not reach".into()),
            Node::Barrier => {
                let group = self.items[0].agent.group;
                *self.barriers.entry(group).or_default() += 1;
                Ok(())
            }
            Node::Alloc(b) if self.nest.buffers[*b].space == Space::Group => {
                let size = self.size(*b, 0)?;
                let agent = self.agent(0);
                self.races.iter_mut().for_each(|r| r.begin(*b, agent));
                self.group.insert(*b, vec![None; size]);
                Ok(())
            }
            _ => items.iter().try_for_each(|k| self.step(node, *k)),
        }
    }

    fn each_iteration(&mut self, f: &For, items: &[usize]) -> Result<(), String> {
        let mut left = vec![];
        for k in items {
            let (mut from, mut to) = (self.items[*k].sum(&f.from)?, self.items[*k].sum(&f.to)?);
            if f.bind == Bind::Parallel {
                (from, to) = (from.max(self.task.0), to.min(self.task.1));
            }
            left.push((*k, from, to));
        }
        let agents: Vec<Agent> = items.iter().map(|k| self.items[*k].agent).collect();
        for number in 0.. {
            left.retain(|(_, i, to)| if f.whole { i + f.step <= *to } else { i < to });
            if left.is_empty() {
                break;
            }
            for (k, i, _) in &mut left {
                let item = &mut self.items[*k];
                item.set(f.var, Scalar::I64(*i));
                item.agent = item.agent.of_iteration(f.bind, number);
                *i += f.step;
            }
            self.nodes(&f.body, &left.iter().map(|l| l.0).collect::<Vec<_>>())?;
        }
        items.iter().zip(agents).for_each(|(k, agent)| self.items[*k].agent = agent);
        Ok(())
    }

    /// Executes the body for all items together. Each item of the loops around it has its own ones.
    fn each_item(&mut self, f: &For, items: &[usize]) -> Result<(), String> {
        let extent = f.to.as_constant().ok_or("items without a constant number")?;
        let mut inner = vec![];
        let values: Vec<i64> = (0..extent).step_by(f.step as usize).collect();
        for (k, number) in items.iter().flat_map(|k| (0..values.len()).map(move |number| (k, number))) {
            let mut item = self.items[*k].clone();
            item.set(f.var, Scalar::I64(values[number]));
            item.agent = item.agent.of_iteration(f.bind, number);
            inner.push(item);
        }
        let all: Vec<usize> = (0..inner.len()).collect();
        let (outer, count) = (std::mem::replace(&mut self.items, inner), self.count);
        self.count *= values.len();
        self.nodes(&f.body, &all)?;
        (self.items, self.count) = (outer, count);
        Ok(())
    }

    /// Executes a node of one item.
    fn step(&mut self, node: &Node, k: usize) -> Result<(), String> {
        let item = &self.items[k];
        match node {
            Node::For(_) | Node::If { .. } | Node::Barrier => Ok(()),
            Node::Let(i) => self.items[k].instr(i),
            Node::Index { to, value, limit } => {
                let mut i = item.sum(value)?;
                if let Some(limit) = limit {
                    i = i.min(item.sum(limit)? - 1);
                }
                self.items[k].set(*to, Scalar::I64(i));
                Ok(())
            }
            Node::Load { to, from } => {
                let x = self.load(from, k)?;
                self.items[k].set(*to, x);
                Ok(())
            }
            Node::Store { to, value, .. } => self.store(to, item.get(*value)?, k),
            Node::Fail(f) => Err(format!("a fault of kind {} at @{}", f.kind, f.site)),
            Node::Prefetch(p) => p.index.iter().try_for_each(|i| item.sum(i).map(|_| ())),
            Node::Acc { to, monoid, value, times } => {
                let mut x = item.get(*value)?;
                if let Some(times) = times {
                    x = Monoid::Product.operator().eval(x, item.get(*times)?).map_err(|e| e.to_string())?;
                }
                self.combine(to, *monoid, x, k)
            }
            Node::AccLanes { monoid, all } => {
                for (guards, to, from) in all {
                    if self.items[k].hold(guards)? {
                        let lanes = self.items[k].local.get(from).cloned();
                        for x in lanes.ok_or_else(|| format!("b{from} does not exist"))? {
                            let x = x.ok_or_else(|| format!("b{from} is read before it is written"))?;
                            self.combine(to, *monoid, x, k)?;
                        }
                    }
                }
                Ok(())
            }
            Node::Transpose { to, from, dim, n } => {
                for (p, q) in (0..*n).flat_map(|p| (0..*n).map(move |q| (p, q))) {
                    let x = self.load(&offset(from, *dim, q, p)?, k)?;
                    self.store(&offset(to, to.index.len() - 2, p, q)?, x, k)?;
                }
                Ok(())
            }
            Node::Alloc(b) => {
                let size = self.size(*b, k)?;
                self.items[k].local.insert(*b, vec![None; size]);
                Ok(())
            }
        }
    }

    /// Who executes a node for an item, and when.
    fn agent(&self, k: usize) -> Agent {
        let agent = self.items[k].agent;
        Agent { barriers: self.barriers.get(&agent.group).copied().unwrap_or(0), ..agent }
    }

    fn extents(&self, b: BufferId, k: usize) -> Result<Vec<i64>, String> {
        self.nest.buffers[b].extents.iter().map(|e| self.items[k].sum(e)).collect()
    }

    fn size(&self, b: BufferId, k: usize) -> Result<usize, String> {
        Ok(self.extents(b, k)?.iter().product::<i64>() as usize)
    }

    /// The position of a place; `None` if it is out of bounds and masked.
    fn position(&self, p: &Place, k: usize) -> Result<Option<usize>, String> {
        let mut at = 0;
        for (index, extent) in p.index.iter().zip(self.extents(p.buffer, k)?) {
            let i = self.items[k].sum(index)?;
            if !(0..extent).contains(&i) {
                return match p.bounds {
                    Bounds::Masked(_) => Ok(None),
                    Bounds::Checked(site) => Err(format!("{p}: index {i} is not below {extent}: a fault at @{site}")),
                    Bounds::Proved => Err(format!("{p}: index {i} is not below {extent}")),
                };
            }
            at = at * extent as usize + i as usize;
        }
        Ok(Some(at))
    }

    fn load(&mut self, p: &Place, k: usize) -> Result<Scalar, String> {
        let (at, space) = match (self.position(p, k)?, p.bounds) {
            (Some(at), _) => (at, self.nest.buffers[p.buffer].space),
            (None, Bounds::Masked(x)) => return Ok(x),
            (None, _) => return Err(format!("{p} is out of bounds")),
        };
        let missing = || format!("{p} is read before it is written");
        if space == Space::Local {
            return self.items[k].local.get(&p.buffer).and_then(|b| b[at]).ok_or_else(missing);
        }
        let agent = self.agent(k);
        let mut races = self.races.iter_mut();
        races.try_for_each(|r| r.read((p.buffer, at), agent)).map_err(|e| format!("{p}: {e}"))?;
        if space == Space::Group {
            return self.group.get(&p.buffer).and_then(|b| b[at]).ok_or_else(missing);
        }
        let buffer = self.memory.buffers.get(&p.buffer).ok_or_else(|| format!("{p}: no memory"))?;
        buffer.get(at).copied().ok_or_else(|| format!("{p}: too little memory"))
    }

    fn store(&mut self, p: &Place, x: Scalar, k: usize) -> Result<(), String> {
        let Some(at) = self.position(p, k)? else { return Ok(()) };
        let space = self.nest.buffers[p.buffer].space;
        let missing = || format!("{p} does not exist");
        if space == Space::Local {
            self.items[k].local.get_mut(&p.buffer).ok_or_else(missing)?[at] = Some(x);
            return Ok(());
        }
        let agent = self.agent(k);
        let mut races = self.races.iter_mut();
        races.try_for_each(|r| r.write((p.buffer, at), agent, x)).map_err(|e| format!("{p}: {e}"))?;
        if space == Space::Group {
            self.group.get_mut(&p.buffer).ok_or_else(missing)?[at] = Some(x);
            return Ok(());
        }
        let buffer = self.memory.buffers.get_mut(&p.buffer).ok_or_else(|| format!("{p}: no memory"))?;
        *buffer.get_mut(at).ok_or_else(|| format!("{p}: too little memory"))? = x;
        Ok(())
    }

    fn combine(&mut self, p: &Place, monoid: Monoid, x: Scalar, k: usize) -> Result<(), String> {
        let old = self.load(p, k)?;
        self.store(p, monoid.operator().eval(old, x).map_err(|e| e.to_string())?, k)
    }
}

fn is_divided(nest: &Nest) -> bool {
    let mut found = false;
    walk(&nest.body, &mut |n| found |= matches!(n, Node::For(f) if f.bind.divides()));
    found
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
