//! Liveness: the last use of every array, and the outputs that may take over the memory of an input.
//!
//! Every array belongs to one block: that which defines it, or the inner block that is the last one to need it. Names of the
//! same memory (reshaped arrays, the state of a loop, results of blocks) are counted when the program runs.

use accel_core::ast::deep;
use accel_fusion::kernel::{self, ArrayId, Code, Instr, Op, Program, Reg, Stmt, walk};
use std::collections::{BTreeMap, BTreeSet};

/// Statements and what belongs to them.
pub struct Block<'a> {
    /// Arrays from outside that this block gets and does not need: they go at its start.
    pub unused: Vec<ArrayId>,
    /// The statements, in order.
    pub steps: Vec<Step<'a>>,
    /// Results that belong to the block, so that it can hand them over.
    pub owned_results: BTreeSet<ArrayId>,
    /// How many statements there are, inner blocks included.
    pub size: usize,
    /// How many there are if those of inner blocks that are longer than [`LONG`] are elsewhere.
    pub length: usize,
}

/// NOTE [Deep nests] in `accel_fusion`.
impl Drop for Block<'_> {
    fn drop(&mut self) {
        deep(|| self.steps.clear());
    }
}

/// Functions of the host program have about this many statements: compilers take more than twice as long for a function of twice the size.
pub const LONG: usize = 40;

/// A statement.
pub struct Step<'a> {
    /// Its position in the text: statements come before those of their blocks.
    pub number: usize,
    /// What is done.
    pub stmt: &'a Stmt,
    /// What goes after it, but for what its blocks get.
    pub dies: BTreeSet<ArrayId>,
    /// Initial states that nobody else needs: the loop takes them over.
    pub handed: BTreeSet<ArrayId>,
    /// For each column of a loop's outputs an array that dies here and its column: the output may be written over it.
    pub over: Vec<Option<(ArrayId, usize)>>,
    /// The inner blocks: `then` and `otherwise`, or the condition and the body. Those of a strip are executed all at once.
    pub blocks: Vec<Block<'a>>,
}

impl Step<'_> {
    /// The arrays that may be in the same memory as others of the statement: outputs that may be written over what dies, and that.
    pub fn aliased(&self) -> BTreeSet<ArrayId> {
        if self.over.iter().all(Option::is_none) {
            return BTreeSet::new();
        }
        self.stmt.op.defines().iter().copied().chain(self.over.iter().flatten().map(|(a, _)| *a)).collect()
    }
}

/// The statements of a program.
pub fn analyse(program: &Program) -> Block<'_> {
    let inputs = program.inputs.iter().copied().collect();
    let needs = program.body.stmts.iter().map(needs).collect();
    Analysis { program }.block(&program.body, needs, 0, &program.results, inputs)
}

struct Analysis<'a> {
    program: &'a Program,
}

impl<'a> Analysis<'a> {
    /// A block whose first statement has the number `first`, and that gets the arrays `owned` besides those it defines.
    fn block(
        &self,
        b: &'a kernel::Block,
        needs: Vec<Needs>,
        first: usize,
        results: &[ArrayId],
        mut owned: BTreeSet<ArrayId>,
    ) -> Block<'a> {
        let given = owned.clone();
        owned.extend(b.stmts.iter().flat_map(|s| s.op.defines().iter().copied()));
        let mut number = first;
        let numbers: Vec<usize> = needs
            .iter()
            .map(|n| {
                let here = number;
                number += n.size;
                here
            })
            .collect();
        // Backwards: what is needed after each statement.
        let mut live: BTreeSet<ArrayId> = results.iter().copied().collect();
        let owned_results = owned.intersection(&live).copied().collect();
        let mut steps = vec![];
        for ((s, mut needs), number) in b.stmts.iter().zip(needs).zip(numbers).rev() {
            let reads = std::mem::take(&mut needs.arrays);
            let here = reads.iter().chain(s.op.defines());
            let dies = here.copied().filter(|a| !live.contains(a) && owned.contains(a)).collect();
            steps.push(deep(|| self.step(s, needs, number, dies)));
            live.extend(reads);
        }
        steps.reverse();
        let called = |b: &Block| if b.length <= LONG { b.length } else { b.steps.len().div_ceil(LONG) };
        let length = steps.iter().map(|s| 1 + s.blocks.iter().map(called).sum::<usize>()).sum();
        let unused = given.into_iter().filter(|a| !live.contains(a)).collect();
        Block { unused, steps, owned_results, size: number - first, length }
    }

    fn step(&self, stmt: &'a Stmt, needs: Needs, number: usize, mut dies: BTreeSet<ArrayId>) -> Step<'a> {
        let (mut over, mut handed) = (vec![], BTreeSet::new());
        let mut of_blocks = needs.blocks.into_iter();
        let mut next = || of_blocks.next().unwrap_or_default();
        let blocks = match &stmt.op {
            Op::Loop { to, body, .. } => {
                over = self.over(to, body, &dies);
                vec![]
            }
            Op::If { then, otherwise, .. } => {
                // What dies belongs to the blocks, but for results that nobody needs.
                let given: BTreeSet<_> = dies.iter().copied().filter(|a| !stmt.op.defines().contains(a)).collect();
                dies.retain(|a| !given.contains(a));
                let a = self.block(&then.0, next(), number + 1, &then.1, given.clone());
                let second = number + 1 + a.size;
                vec![a, self.block(&otherwise.0, next(), second, &otherwise.1, given)]
            }
            Op::While { to, init, cond, body } => {
                let inner = needs.of_blocks;
                handed = dies.iter().copied().filter(|a| init.contains(a) && !inner.contains(a)).collect();
                dies.retain(|a| !handed.contains(a));
                let a = self.block(&cond.0, next(), number + 1, &[cond.1], BTreeSet::new());
                let second = number + 1 + a.size;
                // The old state belongs to the body, which makes the next one.
                vec![a, self.block(&body.0, next(), second, &body.1, to.iter().copied().collect())]
            }
            Op::Literal { .. }
            | Op::Reduce { .. }
            | Op::Scan { .. }
            | Op::Permute { .. }
            | Op::Reshape { .. }
            | Op::Agree { .. }
            | Op::Strip { .. } => vec![],
        };
        Step { number, stmt, dies, handed, over, blocks }
    }

    /// An output may be written over an array that dies, has the same type and rank, and is only read where the output is written (or only
    /// asked for its extents, which any rank allows). That the extents are the same and that nobody else has the memory is found when
    /// the program runs.
    fn over(&self, to: &[ArrayId], body: &Code, dies: &BTreeSet<ArrayId>) -> Vec<Option<(ArrayId, usize)>> {
        let params: Vec<Reg> = (0..body.params).collect();
        let mut read = BTreeMap::new();
        reads_at(&body.instrs, &params, &mut read);
        let fits = |a: ArrayId| self.program.arrays[a].rank == params.len() && read.get(&a) == Some(&true);
        let candidates = dies.iter().filter(|a| !params.is_empty() && fits(**a));
        let types = |a: ArrayId| self.program.arrays[a].columns.iter().copied().enumerate();
        let mut free: Vec<_> = candidates.flat_map(|a| types(*a).map(|(c, t)| (*a, c, t))).collect();
        let outputs = to.iter().flat_map(|a| types(*a).map(|(_, t)| t));
        let choose = |t| {
            let found = free.iter().position(|(.., other)| *other == t)?;
            let (a, c, _) = free.remove(found);
            Some((a, c))
        };
        outputs.map(choose).collect()
    }
}

/// The blocks of a statement with their results.
fn blocks(s: &Stmt) -> Vec<(&kernel::Block, &[ArrayId])> {
    match &s.op {
        Op::If { then, otherwise, .. } => vec![(&then.0, &then.1), (&otherwise.0, &otherwise.1)],
        Op::While { cond, body, .. } => vec![(&cond.0, std::slice::from_ref(&cond.1)), (&body.0, &body.1)],
        Op::Strip { to, body, .. } => vec![(body, to)],
        Op::Literal { .. }
        | Op::Loop { .. }
        | Op::Reduce { .. }
        | Op::Scan { .. }
        | Op::Agree { .. }
        | Op::Permute { .. }
        | Op::Reshape { .. } => vec![],
    }
}

/// What a statement needs, found once for each: a nest is not gone through again at every level.
struct Needs {
    /// How many statements it is, with those of its blocks.
    size: usize,
    /// The arrays from outside that it and its blocks need.
    arrays: BTreeSet<ArrayId>,
    /// Those that its blocks need.
    of_blocks: BTreeSet<ArrayId>,
    /// The statements of its blocks.
    blocks: Vec<Vec<Needs>>,
}

fn needs(s: &Stmt) -> Needs {
    let inner = blocks(s);
    let of = |(b, _): &(&kernel::Block, &[ArrayId])| b.stmts.iter().map(needs).collect();
    let blocks: Vec<Vec<Needs>> = deep(|| inner.iter().map(of).collect());
    let mut found = BTreeSet::new();
    let mut defined: BTreeSet<_> = s.op.defines().iter().copied().collect();
    for ((b, results), needs) in inner.iter().zip(&blocks) {
        needs.iter().for_each(|n| found.extend(&n.arrays));
        b.stmts.iter().for_each(|s| defined.extend(s.op.defines()));
        found.extend(*results);
    }
    let of_blocks = &found - &defined;
    let mut arrays = code_reads(s);
    match &s.op {
        Op::Permute { defaults, .. } => arrays.extend([*defaults]),
        Op::Reshape { from, .. } => arrays.extend([*from]),
        Op::While { init, .. } => arrays.extend(init),
        Op::Literal { .. }
        | Op::Loop { .. }
        | Op::Reduce { .. }
        | Op::Scan { .. }
        | Op::Agree { .. }
        | Op::If { .. }
        | Op::Strip { .. } => {}
    }
    arrays.extend(&of_blocks);
    Needs { size: 1 + blocks.iter().flatten().map(|n| n.size).sum::<usize>(), arrays, of_blocks, blocks }
}

/// The arrays that the codes of a statement read or ask for extents.
pub fn code_reads(s: &Stmt) -> BTreeSet<ArrayId> {
    let mut found = BTreeMap::new();
    s.op.codes().iter().for_each(|(_, c)| reads_at(&c.instrs, &[], &mut found));
    found.into_keys().collect()
}

/// The arrays that instructions use, and whether every read is at this very index and known to be inside.
fn reads_at(instrs: &[Instr], at: &[Reg], found: &mut BTreeMap<ArrayId, bool>) {
    for i in walk(instrs) {
        match i {
            Instr::Extent(_, a, _) => {
                found.entry(*a).or_insert(true);
            }
            Instr::Read { array, index, inside, .. } => {
                *found.entry(*array).or_insert(true) &= *inside && index == at;
            }
            _ => {}
        }
    }
}
