//! Kernels that several statements share.
//!
//! NOTE [Shared kernels]
//! Unrolled programs have many statements that differ only in their arrays, and compilers take some milliseconds for each kernel. So
//! statements that are equal up to the arrays, of which there are at least `WORTH`, have one set of kernels, which is that of a program with
//! nothing else in it. Each statement has kernels of its own that call these with a table of its arrays, in the order in which
//! the other program numbers them. Only statements that cannot fail are shared: a record of a failure names places and arrays of
//! the whole program.

use super::host::inline::is_inline;
use crate::analysis::effects::cannot_fail;
use crate::analysis::liveness::{Block, Step};
use accel_core::ast::deep;
use accel_fusion::kernel::{ArrayId, Op, Program};
use accel_fusion::optimize::alone;
use std::collections::{BTreeMap, BTreeSet};

/// So many equal statements share their kernels.
const WORTH: usize = 4;

/// A statement without the others.
pub struct Alone {
    pub program: Program,
    /// Where outputs may be written over inputs, as in [`Step::over`].
    over: Vec<Option<(ArrayId, usize)>>,
}

/// Which statements of a program share kernels.
pub struct Shared {
    /// What they have in common.
    pub classes: Vec<Alone>,
    /// For each statement its class, and its arrays in the order in which the class numbers them.
    members: BTreeMap<usize, (usize, Vec<ArrayId>)>,
}

/// Equal statements: the first one, and where all of them are.
struct Equal {
    first: Alone,
    members: Vec<(usize, Vec<ArrayId>)>,
}

impl Shared {
    /// The statements of a program; one of `numbers` has other statements in the host program.
    pub fn new(program: &Program, body: &Block, numbers: bool) -> Shared {
        let mut alike: BTreeMap<Vec<usize>, Vec<&Step>> = BTreeMap::new();
        collect(body, numbers, &mut alike);
        let mut found = BTreeMap::new();
        let many = alike.into_values().filter(|steps| steps.len() >= WORTH);
        many.flatten().for_each(|s| add(program, s, &mut found));
        let mut shared = Shared { classes: vec![], members: BTreeMap::new() };
        for equal in found.into_values().filter(|e| e.members.len() >= WORTH) {
            let class = shared.classes.len();
            shared.members.extend(equal.members.into_iter().map(|(number, arrays)| (number, (class, arrays))));
            shared.classes.push(equal.first);
        }
        shared
    }

    /// The class of a statement, and its arrays.
    pub fn get(&self, number: usize) -> Option<(usize, &[ArrayId])> {
        self.members.get(&number).map(|(class, arrays)| (*class, &arrays[..]))
    }
}

impl Alone {
    /// The statement, with a number that no statement of the whole program has.
    pub fn step(&self, number: usize) -> Option<Step<'_>> {
        let stmt = self.program.body.stmts.first()?;
        let (dies, handed) = (BTreeSet::new(), BTreeSet::new());
        Some(Step { number, stmt, dies, handed, over: self.over.clone(), blocks: vec![] })
    }
}

/// The statements that may share kernels, by the lengths of their codes: most differ in these, and need not be written down to be compared.
fn collect<'b, 's>(b: &'b Block<'s>, numbers: bool, alike: &mut BTreeMap<Vec<usize>, Vec<&'b Step<'s>>>) {
    for s in &b.steps {
        if is_shareable(&s.stmt.op, numbers) {
            let lengths = s.stmt.op.codes().iter().map(|(_, code)| code.instrs.len()).collect();
            alike.entry(lengths).or_default().push(s);
        }
        deep(|| s.blocks.iter().for_each(|b| collect(b, numbers, alike)));
    }
}

/// Adds a statement to those that are equal.
fn add(program: &Program, s: &Step, found: &mut BTreeMap<String, Equal>) {
    let (one, arrays) = alone(program, s.stmt);
    let place = |(a, c): (ArrayId, usize)| Some((arrays.iter().position(|other| *other == a)?, c));
    let over: Option<Vec<_>> = s.over.iter().map(|o| o.map_or(Some(None), |o| place(o).map(Some))).collect();
    let Some(over) = over else { return };
    let key = format!("{over:?} {one}");
    let equal = found.entry(key).or_insert_with(|| Equal { first: Alone { program: one, over }, members: vec![] });
    equal.members.push((s.number, arrays));
}

/// Whether a statement has kernels that cannot fail.
fn is_shareable(op: &Op, numbers: bool) -> bool {
    let has_kernels = matches!(op, Op::Loop { .. } | Op::Reduce { .. } | Op::Scan { .. }) && !is_inline(op, numbers);
    has_kernels && op.codes().iter().all(|(_, code)| cannot_fail(code))
}
