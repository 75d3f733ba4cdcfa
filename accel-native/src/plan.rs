//! A kernel program with the functions of each statement and the arrays that are needed no more after it.

use accel_codegen::{Kernel, cost};
use accel_fusion::kernel::{self, ArrayId, Instr, Program, SiteId, Stmt};
use std::collections::BTreeSet;

/// Statements that are executed one after the other.
pub struct Block {
    pub steps: Vec<Step>,
    /// Arrays of this block that are still there at its end; they go when the results have been taken.
    pub kept: Vec<ArrayId>,
}

/// A statement.
pub struct Step {
    pub op: Op,
    pub kernel: Kernel,
    pub site: SiteId,
    /// What is needed no more afterwards.
    pub frees: Vec<ArrayId>,
}

/// What a statement does besides calling its functions. `cost` is about how many instructions an element takes.
pub enum Op {
    Literal {
        to: ArrayId,
        literal: usize,
    },
    Loop {
        to: Vec<ArrayId>,
        rank: usize,
        cost: usize,
    },
    Reduce {
        to: ArrayId,
        outer: usize,
        has_init: bool,
        cost: usize,
    },
    Scan {
        to: ArrayId,
        outer: usize,
        has_init: bool,
        cost: usize,
    },
    /// `in_place`: `defaults` is needed no more, not even by the statement's own code.
    Permute {
        to: ArrayId,
        defaults: ArrayId,
        rank: usize,
        in_place: bool,
    },
    Reshape {
        to: ArrayId,
        from: ArrayId,
        rank: usize,
    },
    /// `plain`: the statements one by one. Without strips, that is what is executed.
    Strip {
        to: Vec<ArrayId>,
        plain: Block,
    },
    If {
        to: Vec<ArrayId>,
        then: (Block, Vec<ArrayId>),
        otherwise: (Block, Vec<ArrayId>),
    },
    While {
        to: Vec<ArrayId>,
        init: Vec<ArrayId>,
        cond: (Block, ArrayId),
        body: (Block, Vec<ArrayId>),
    },
}

/// The plan of a program whose statements have the functions `kernels`.
pub fn plan(program: &Program, kernels: &[Kernel]) -> Block {
    let mut next = kernels.iter().copied();
    block(&program.body, &program.results, &program.inputs, &mut next).0
}

/// The plan of a block, and the arrays from outside that it uses. `own` are arrays to be freed besides those it defines.
fn block(
    b: &kernel::Block,
    results: &[ArrayId],
    own: &[ArrayId],
    kernels: &mut impl Iterator<Item = Kernel>,
) -> (Block, BTreeSet<ArrayId>) {
    let mut defined: BTreeSet<ArrayId> = own.iter().copied().collect();
    let mut steps = vec![];
    for s in &b.stmts {
        let kernel = kernels.next().unwrap_or(Kernel::Nothing);
        let mut uses = BTreeSet::new();
        let (op, to) = step(s, &mut uses, kernels);
        defined.extend(to.iter().copied());
        steps.push((Step { op, kernel, site: s.site, frees: vec![] }, to, uses));
    }
    // Backwards: what is needed after each statement.
    let mut live: BTreeSet<ArrayId> = results.iter().copied().collect();
    let kept = defined.intersection(&live).copied().collect();
    for (step, to, uses) in steps.iter_mut().rev() {
        let here: BTreeSet<_> = uses.iter().chain(to.iter()).copied().collect();
        step.frees = here.iter().filter(|a| !live.contains(a) && defined.contains(a)).copied().collect();
        live.extend(uses.iter().copied());
        if let Op::Permute { defaults, in_place, .. } = &mut step.op {
            *in_place &= step.frees.contains(defaults);
        }
    }
    live.retain(|a| !defined.contains(a));
    (Block { steps: steps.into_iter().map(|(s, ..)| s).collect(), kept }, live)
}

/// One statement: the arrays it defines, and into `uses` those that it and its blocks read.
fn step(s: &Stmt, uses: &mut BTreeSet<ArrayId>, kernels: &mut impl Iterator<Item = Kernel>) -> (Op, Vec<ArrayId>) {
    s.op.codes().iter().for_each(|(_, c)| arrays(&c.instrs, uses));
    let mut inner = |b: &kernel::Block, results: &[ArrayId]| {
        let (b, outside) = block(b, results, &[], kernels);
        uses.extend(outside);
        b
    };
    let op = match &s.op {
        kernel::Op::Literal { to, literal } => Op::Literal { to: *to, literal: *literal },
        kernel::Op::Loop { to, extents, body } => {
            Op::Loop { to: to.clone(), rank: extents.results.len(), cost: cost(&body.instrs) }
        }
        kernel::Op::Reduce { to, extents, rows } => Op::Reduce {
            to: *to,
            outer: extents.results.len(),
            has_init: rows.init.is_some(),
            cost: cost(&rows.element.instrs) + cost(&rows.op.instrs),
        },
        kernel::Op::Scan { to, extents, rows, .. } => Op::Scan {
            to: *to,
            outer: extents.results.len(),
            has_init: rows.init.is_some(),
            cost: cost(&rows.element.instrs) + cost(&rows.op.instrs),
        },
        kernel::Op::Permute { to, defaults, extents, .. } => {
            let in_place = !uses.contains(defaults);
            uses.insert(*defaults);
            Op::Permute { to: *to, defaults: *defaults, rank: extents.results.len(), in_place }
        }
        kernel::Op::Reshape { to, from, extents } => {
            uses.insert(*from);
            Op::Reshape { to: *to, from: *from, rank: extents.results.len() }
        }
        kernel::Op::If { to, then, otherwise, .. } => Op::If {
            to: to.clone(),
            then: (inner(&then.0, &then.1), then.1.clone()),
            otherwise: (inner(&otherwise.0, &otherwise.1), otherwise.1.clone()),
        },
        kernel::Op::Strip { to, body, .. } => Op::Strip { to: to.clone(), plain: inner(body, to) },
        kernel::Op::While { to, init, cond, body } => {
            let cond = (inner(&cond.0, &[cond.1]), cond.1);
            let body = (inner(&body.0, &body.1), body.1.clone());
            uses.extend(init.iter().copied());
            Op::While { to: to.clone(), init: init.clone(), cond, body }
        }
    };
    (op, s.op.defines().to_vec())
}

/// The arrays that instructions read or ask for extents.
fn arrays(instrs: &[Instr], found: &mut BTreeSet<ArrayId>) {
    for i in instrs {
        if let Instr::Extent(_, a, _) | Instr::Read { array: a, .. } = i {
            found.insert(*a);
        }
        i.inner().into_iter().for_each(|inner| arrays(inner, found));
    }
}
