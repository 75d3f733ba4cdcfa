//! Liveness: finds the last uses of every array, and the outputs that can take over the memory of an input.
//!
//! Every array belongs to one block: the block that defines it, or the inner block that uses it last. If arrays share
//! memory (reshaped arrays, the state of a loop, results of blocks), their number is counted at run time.

use crate::cost_model::HOST_FUNCTION;
use accel_core::ast::deep;
use accel_fusion::kernel::{self, ArrayId, Instr, Op, Program, Reg, ScalarFn, Stmt, Trips, walk};
use std::collections::{BTreeMap, BTreeSet};

/// A sequence of statements, with its liveness facts.
pub struct Block<'a> {
    /// Arrays from outside that this block owns and does not use: they are released at its start.
    pub unused: Vec<ArrayId>,
    /// The statements, in order.
    pub steps: Vec<Step<'a>>,
    /// Results that the block owns, so that it can move them.
    pub owned_results: BTreeSet<ArrayId>,
    /// The number of statements, including inner blocks.
    pub size: usize,
    /// The number of statements if those of inner blocks longer than [`HOST_FUNCTION`] are elsewhere.
    pub length: usize,
}

/// As NOTE [Deep nests] in `accel_fusion` explains.
impl Drop for Block<'_> {
    fn drop(&mut self) {
        deep(|| self.steps.clear());
    }
}

/// A statement, with its liveness facts.
pub struct Step<'a> {
    /// Its position in the text. A statement comes before those of its blocks.
    pub number: usize,
    /// The statement.
    pub stmt: &'a Stmt,
    /// The arrays whose last use is this statement, except those that its blocks own.
    pub last_uses: BTreeSet<ArrayId>,
    /// Initial states that nothing else uses: the loop takes over their memory.
    pub moved: BTreeSet<ArrayId>,
    /// For each column of a loop's outputs, an array whose last use is here, and its column: the output can be computed
    /// in place of it.
    pub in_place: Vec<Option<(ArrayId, usize)>>,
    /// Arrays that the code must allow to share memory even if they never do: NOTE [Code for tapes].
    pub may_share: BTreeSet<ArrayId>,
    /// The inner blocks: `then` and `otherwise`, or the condition, if there is one, and the body. The block of a strip is executed as a
    /// whole.
    pub blocks: Vec<Block<'a>>,
    /// The number of the frame in which it is executed: NOTE [Frames].
    pub frame: Option<usize>,
}

impl Step<'_> {
    /// The arrays of which the statement makes copies that can take over their memory: this is their last use, and
    /// nothing else in the statement uses them.
    pub fn overwritten(&self) -> BTreeSet<ArrayId> {
        let copied = copied(&self.stmt.op);
        let reads = code_reads(self.stmt);
        let once = |a: &&ArrayId| copied.iter().filter(|b| b == a).count() == 1;
        copied.iter().filter(once).copied().filter(|a| self.last_uses.contains(a) && !reads.contains(a)).collect()
    }

    /// The arrays of this statement that can share memory: outputs that can be computed in place, and the arrays that
    /// they replace.
    pub fn aliased(&self) -> BTreeSet<ArrayId> {
        if self.in_place.iter().all(Option::is_none) || !self.may_share.is_empty() {
            return self.may_share.clone();
        }
        self.stmt.op.defines().iter().copied().chain(self.in_place.iter().flatten().map(|(a, _)| *a)).collect()
    }
}

/// Analyses the statements of a program.
pub fn analyse(program: &Program) -> Block<'_> {
    let inputs = program.inputs.iter().copied().collect();
    let needs = program.body.stmts.iter().map(needs).collect();
    Analysis { program, repeated: false }.block(&program.body, needs, 0, &program.results, inputs)
}

struct Analysis<'a> {
    program: &'a Program,
    /// Whether a tape may compute the statements again, with the same bits as results.
    ///
    /// NOTE [Code for tapes]: C compilers may compile a loop differently if its arrays can share memory, and vectors of
    /// elements may differ in the last bits from single ones. Whether an output can take over memory depends on the
    /// statements that follow, and the step of a tape does not contain all statements of the body. So there, the code
    /// of all loops allows each output to share memory with every input of its kind.
    repeated: bool,
}

impl<'a> Analysis<'a> {
    /// Analyses a block. Its first statement has the number `first`, and it owns the arrays `owned` besides those that
    /// it defines.
    fn block(
        &self,
        b: &'a kernel::Block,
        needs: Vec<Needs>,
        first: usize,
        results: &[ArrayId],
        mut owned: BTreeSet<ArrayId>,
    ) -> Block<'a> {
        let given = owned.clone();
        owned.extend(b.stmts.iter().flat_map(|s| s.op.defines()));
        let mut number = first;
        let numbers: Vec<usize> = needs
            .iter()
            .map(|n| {
                let here = number;
                number += n.size;
                here
            })
            .collect();
        // Goes backwards: the arrays that are live after each statement.
        let mut live: BTreeSet<ArrayId> = results.iter().copied().collect();
        let owned_results = owned.intersection(&live).copied().collect();
        let mut steps = vec![];
        for ((s, mut needs), number) in b.stmts.iter().zip(needs).zip(numbers).rev() {
            let reads = std::mem::take(&mut needs.arrays);
            let here = reads.iter().copied().chain(s.op.defines());
            let last_uses = here.filter(|a| !live.contains(a) && owned.contains(a)).collect();
            steps.push(deep(|| self.step(s, needs, number, last_uses)));
            live.extend(reads);
        }
        steps.reverse();
        let called =
            |b: &Block| if b.length <= HOST_FUNCTION { b.length } else { b.steps.len().div_ceil(HOST_FUNCTION) };
        let length = steps.iter().map(|s| 1 + s.blocks.iter().map(called).sum::<usize>()).sum();
        let unused = given.into_iter().filter(|a| !live.contains(a)).collect();
        Block { unused, steps, owned_results, size: number - first, length }
    }

    fn step(&self, stmt: &'a Stmt, needs: Needs, number: usize, mut last_uses: BTreeSet<ArrayId>) -> Step<'a> {
        let (mut in_place, mut moved, mut may_share) = (vec![], BTreeSet::new(), BTreeSet::new());
        let mut of_blocks = needs.blocks.into_iter();
        let mut next = || of_blocks.next().unwrap_or_default();
        let blocks = match &stmt.op {
            Op::Loop { to, body, .. } | Op::Accumulate { to, body, .. } => {
                // The initial values of sums are copied.
                let copied = copied(&stmt.op);
                let free = last_uses.iter().copied().filter(|a| !copied.contains(a)).collect();
                in_place = self.in_place(to, body, &free);
                if self.repeated {
                    may_share = self.read_in_place(body, &code_reads(stmt)).collect();
                    if !may_share.is_empty() {
                        may_share.extend(to);
                    }
                }
                vec![]
            }
            Op::If { then, otherwise, .. } => {
                // The blocks own the arrays whose last use is here, except results that nothing uses.
                let given: BTreeSet<_> = last_uses.iter().copied().filter(|a| !stmt.op.defines().contains(a)).collect();
                last_uses.retain(|a| !given.contains(a));
                let a = self.block(&then.0, next(), number + 1, &then.1, given.clone());
                let second = number + 1 + a.size;
                vec![a, self.block(&otherwise.0, next(), second, &otherwise.1, given)]
            }
            Op::While { to, init, trips, body, .. } => {
                let inner = needs.of_blocks;
                moved = last_uses.iter().copied().filter(|a| init.contains(a) && !inner.contains(a)).collect();
                last_uses.retain(|a| !moved.contains(a));
                let cond = match trips {
                    Trips::While(cond, continues) => {
                        Some(self.block(cond, next(), number + 1, &[*continues], BTreeSet::new()))
                    }
                    Trips::Times(..) => None,
                };
                let second = number + 1 + cond.as_ref().map_or(0, |cond| cond.size);
                let fills_tape = keeps(&body.0);
                let of_body = Analysis { program: self.program, repeated: self.repeated || fills_tape };
                // The body owns the old state, from which it computes the next one.
                let state = to[..init.len()].iter().copied().collect();
                let body = of_body.block(&body.0, next(), second, &body.1, state);
                cond.into_iter().chain([body]).collect()
            }
            // The step owns the old state, as the body of a loop does.
            Op::Recall { to, step, .. } => {
                let inner = next();
                let again = Analysis { program: self.program, repeated: true };
                vec![again.block(&step.0, inner, number + 1, &step.1, to.iter().copied().collect())]
            }
            Op::Literal { .. }
            | Op::Reduce { .. }
            | Op::Scan { .. }
            | Op::Permute { .. }
            | Op::Argsort { .. }
            | Op::Foreign { .. }
            | Op::Reshape { .. }
            | Op::Agree { .. }
            | Op::Keep { .. }
            | Op::Strip { .. } => vec![],
        };
        Step { number, stmt, last_uses, moved, in_place, may_share, blocks, frame: None }
    }

    /// Those of `arrays` that a loop reads only at the index that it writes.
    fn read_in_place<'s>(
        &'s self,
        body: &ScalarFn,
        arrays: &'s BTreeSet<ArrayId>,
    ) -> impl Iterator<Item = ArrayId> + 's {
        let params: Vec<Reg> = body.param_regs().collect();
        let mut read = BTreeMap::new();
        reads_at(&body.instrs, &params, &mut read);
        let fits = move |a: &ArrayId| {
            !params.is_empty() && self.program.arrays[*a].rank == params.len() && read.get(a) == Some(&true)
        };
        arrays.iter().copied().filter(fits)
    }

    /// An output can be computed in place of an array if this is the array's last use, both have the same type and
    /// rank, and the array is only read at the index that is written. (Queries of its extents are allowed as well; then
    /// any rank will do.) Whether the extents are equal, and whether nobody else has the memory, is known only at run
    /// time.
    fn in_place(
        &self,
        to: &[ArrayId],
        body: &ScalarFn,
        last_uses: &BTreeSet<ArrayId>,
    ) -> Vec<Option<(ArrayId, usize)>> {
        let types = |a: ArrayId| self.program.arrays[a].columns.iter().copied().enumerate();
        let candidates = self.read_in_place(body, last_uses);
        let mut free: Vec<_> = candidates.flat_map(|a| types(a).map(move |(c, t)| (a, c, t))).collect();
        let outputs = to.iter().flat_map(|a| types(*a).map(|(_, t)| t));
        let choose = |t| {
            let found = free.iter().position(|(.., other)| *other == t)?;
            let (a, c, _) = free.remove(found);
            Some((a, c))
        };
        outputs.map(choose).collect()
    }
}

/// Whether a block offers values to a tape, in some steps at least.
fn keeps(b: &kernel::Block) -> bool {
    b.stmts.iter().any(|s| match &s.op {
        Op::Keep { .. } => true,
        Op::If { then, .. } => keeps(&then.0),
        _ => false,
    })
}

/// The arrays of which an operation makes copies, to change these.
fn copied(op: &Op) -> Vec<ArrayId> {
    match op {
        Op::Permute { defaults, .. } => vec![*defaults],
        Op::Accumulate { sums, .. } => sums.iter().map(|s| s.1).collect(),
        _ => vec![],
    }
}

/// The arrays that a statement uses. They are computed once for each statement, so that a nest is not visited again at
/// every level.
struct Needs {
    /// The number of statements, including those of its blocks.
    size: usize,
    /// The arrays from outside that it and its blocks use.
    arrays: BTreeSet<ArrayId>,
    /// The arrays from outside that its blocks use.
    of_blocks: BTreeSet<ArrayId>,
    /// The statements of its blocks.
    blocks: Vec<Vec<Needs>>,
}

fn needs(s: &Stmt) -> Needs {
    let inner = s.op.blocks_with_results();
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
        Op::Accumulate { sums, .. } => arrays.extend(sums.iter().map(|s| s.1)),
        Op::Permute { defaults, .. } => arrays.extend([*defaults]),
        Op::Reshape { from, .. } => arrays.extend([*from]),
        Op::Argsort { keys, moved, .. } => arrays.extend(moved.iter().flatten().chain([keys])),
        Op::Foreign { from, .. } => arrays.extend(from),
        Op::While { init, trips, .. } => arrays.extend(init.iter().copied().chain(trips.number())),
        Op::Keep { arrays: kept, .. } => arrays.extend(kept),
        Op::Literal { .. }
        | Op::Loop { .. }
        | Op::Reduce { .. }
        | Op::Scan { .. }
        | Op::Agree { .. }
        | Op::If { .. }
        | Op::Recall { .. }
        | Op::Strip { .. } => {}
    }
    arrays.extend(&of_blocks);
    Needs { size: 1 + blocks.iter().flatten().map(|n| n.size).sum::<usize>(), arrays, of_blocks, blocks }
}

/// The arrays whose elements or extents the scalar functions of a statement read.
pub fn code_reads(s: &Stmt) -> BTreeSet<ArrayId> {
    let mut found = BTreeMap::new();
    s.op.scalar_fns().iter().for_each(|(_, c)| reads_at(&c.instrs, &[], &mut found));
    found.into_keys().collect()
}

/// Adds the arrays that instructions use, and whether every read has exactly this index and was proved to be within
/// bounds.
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
