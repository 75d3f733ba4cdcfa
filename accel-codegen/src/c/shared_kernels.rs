//! Kernels that several statements share.
//!
//! NOTE [Shared kernels]: unrolled programs have many statements that differ only in their arrays, and C compilers take
//! some milliseconds for each kernel. So if at least `WORTH` statements are equal up to their arrays, they share one
//! set of kernels: the kernels of a program with a single such statement. Each statement has kernels of its own, which
//! call the shared ones with a table of its arrays, in the order in which that program numbers them. Only statements
//! that cannot fail are shared, because a fault record names sites and arrays of the whole program.

use super::host::inline::is_inline;
use crate::analysis::liveness::{Block, Step};
use accel_core::ast::deep;
use accel_fusion::kernel::{ArrayId, Op, Program};
use accel_fusion::optimize::isolated;
use std::collections::{BTreeMap, BTreeSet};

/// The smallest number of equal statements that share kernels.
const WORTH: usize = 4;

/// A statement as a program of its own.
pub struct Alone {
    pub program: Program,
    /// The arrays in place of which outputs can be computed, as in [`Step::in_place`].
    in_place: Vec<Option<(ArrayId, usize)>>,
    may_share: BTreeSet<ArrayId>,
}

/// The statements of a program that share kernels.
pub struct Shared {
    /// The statements whose kernels are shared, each as a program of its own.
    pub classes: Vec<Alone>,
    /// For each statement, its class, and its arrays in the order in which the class numbers them.
    members: BTreeMap<usize, (usize, Vec<ArrayId>)>,
}

/// Equal statements: the first one, and the positions of all.
struct Equal {
    first: Alone,
    members: Vec<(usize, Vec<ArrayId>)>,
}

impl Shared {
    /// Finds the statements of a program that share kernels. In a scalar program (`numbers`), the host program executes
    /// other statements inline.
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
    /// The statement of the class, with a number that no statement of the whole program has.
    pub fn step(&self, number: usize) -> Option<Step<'_>> {
        let stmt = self.program.body.stmts.first()?;
        let (last_uses, moved) = (BTreeSet::new(), BTreeSet::new());
        let (in_place, may_share) = (self.in_place.clone(), self.may_share.clone());
        Some(Step { number, stmt, last_uses, moved, in_place, may_share, blocks: vec![] })
    }
}

/// Groups the statements that can share kernels by the lengths of their scalar functions. Most statements differ in
/// these, so their texts need not be compared.
fn collect<'b, 's>(b: &'b Block<'s>, numbers: bool, alike: &mut BTreeMap<Vec<usize>, Vec<&'b Step<'s>>>) {
    for s in &b.steps {
        if is_shareable(&s.stmt.op, numbers) {
            let lengths = s.stmt.op.scalar_fns().iter().map(|(_, code)| code.instrs.len()).collect();
            alike.entry(lengths).or_default().push(s);
        }
        deep(|| s.blocks.iter().for_each(|b| collect(b, numbers, alike)));
    }
}

/// Adds a statement to the group of its equals.
fn add(program: &Program, s: &Step, found: &mut BTreeMap<String, Equal>) {
    let (one, arrays) = isolated(program, s.stmt);
    let place = |(a, c): (ArrayId, usize)| Some((ArrayId::new(arrays.iter().position(|other| *other == a)?), c));
    let in_place: Option<Vec<_>> = s.in_place.iter().map(|o| o.map_or(Some(None), |o| place(o).map(Some))).collect();
    let Some(in_place) = in_place else { return };
    let position = |a: &ArrayId| arrays.iter().position(|other| other == a).map(ArrayId::new);
    let may_share: BTreeSet<ArrayId> = s.may_share.iter().filter_map(position).collect();
    let key = format!("{in_place:?} {may_share:?} {one}");
    let first = Alone { program: one, in_place, may_share };
    let equal = found.entry(key).or_insert_with(|| Equal { first, members: vec![] });
    equal.members.push((s.number, arrays));
}

/// Whether the kernels of a statement can be shared: it has kernels, and they cannot fail.
fn is_shareable(op: &Op, numbers: bool) -> bool {
    let has_kernels = matches!(op, Op::Loop { .. } | Op::Reduce { .. } | Op::Scan { .. }) && !is_inline(op, numbers);
    has_kernels && !op.scalar_fns().iter().any(|(_, code)| code.can_fail())
}
