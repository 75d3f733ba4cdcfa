//! Kernels that several statements share.
//!
//! NOTE [Shared kernels]: unrolled programs have many statements that differ only in their arrays, and C compilers take
//! some milliseconds for each kernel. So if at least `WORTH_SHARING` statements are equal up to their arrays, they share one
//! set of kernels: the kernels of a program with a single such statement. Each statement has kernels of its own, which
//! call the shared ones with a table of its arrays, in the order in which that program numbers them. If a shared kernel
//! fails, its record names sites and arrays of that program, and the statement's kernel replaces them by its own.
//!
//! The statements may also differ in constant indices: step 7 of an unrolled loop reads row 7. The shared kernels take
//! such constants from the extents of a further array, as extents are what kernels know of their arguments already.

use super::host::inline::is_inline;
use super::translation_units::operation;
use crate::analysis::fault;
use crate::analysis::liveness::{Block, Step};
use crate::cost_model::WORTH_SHARING;
use crate::shared::ways::{KnownWays, Ways, known_ways};
use accel_core::ast::deep;
use accel_core::repr::Scalar;
use accel_fusion::kernel::{self, ArrayId, ArrayInfo, Instr, Op, Program, Reg, ScalarFn, SiteId, walk, walk_mut};
use accel_fusion::optimize::{Isolated, isolated};
use std::collections::{BTreeMap, BTreeSet};

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
    /// The statements, by their numbers.
    members: BTreeMap<usize, Member>,
}

/// A statement that shares kernels.
pub struct Member {
    /// Its class.
    pub class: usize,
    /// Its arrays, in the order in which the class numbers them.
    pub arrays: Vec<ArrayId>,
    /// Its sites, in the same way.
    pub sites: Vec<SiteId>,
    /// The constant indices in which it differs from others of its class: the extents of a further array.
    pub constants: Vec<i64>,
    /// Whether its kernels can fail.
    pub can_fail: bool,
}

/// The function that puts a statement's own sites and arrays into the record of a fault.
pub fn renamed() -> String {
    format!(
        "static __attribute__((cold, noinline)) void renamed(i64 *fault, const i64 *sites, const i64 *arrays) {{\n    \
         fault[1] = sites[fault[1]];\n    \
         if (fault[0] == {} || fault[0] == {}) fault[2] = arrays[fault[2]];\n}}",
        fault::READ,
        fault::TARGET
    )
}

/// Equal statements: the first one, and all with their numbers.
struct Equal {
    first: Alone,
    members: Vec<(usize, Member)>,
}

impl Shared {
    /// Finds the statements of a program that share kernels. In a scalar program (`numbers`), the host program executes
    /// other statements inline.
    pub fn new(program: &Program, body: &Block, numbers: bool) -> Shared {
        let mut alike: BTreeMap<Vec<usize>, Vec<&Step>> = BTreeMap::new();
        collect(body, numbers, &mut alike);
        let mut found = BTreeMap::new();
        let many = alike.into_values().filter(|steps| steps.len() >= WORTH_SHARING);
        many.flatten().for_each(|s| add(program, s, &mut found));
        let mut shared = Shared { classes: vec![], members: BTreeMap::new() };
        for mut equal in found.into_values().filter(|e| e.members.len() >= WORTH_SHARING) {
            let class = shared.classes.len();
            equal.keep_what_differs();
            shared.members.extend(equal.members.into_iter().map(|(number, m)| (number, Member { class, ..m })));
            shared.classes.push(equal.first);
        }
        shared
    }

    /// The ways in which the statements of a class compute their reductions: NOTE [Ways on demand] in [`crate::shared::ways`].
    pub fn ways(&self, class: usize, known: &KnownWays) -> KnownWays {
        let stmt = self.classes[class].program.body.stmts.first();
        let Some(Op::Reduce { to, .. } | Op::Scan { to, .. }) = stmt.map(|s| &s.op) else { return KnownWays::new() };
        let members = self.members.values().filter(|m| m.class == class);
        let ways = members.map(|m| known_ways(known, m.arrays[to.index()])).fold(Ways::NONE, Ways::or);
        KnownWays::from([(*to, ways)])
    }

    /// A statement, if it shares kernels.
    pub fn get(&self, number: usize) -> Option<&Member> {
        self.members.get(&number)
    }
}

impl Alone {
    /// The statement of the class, with a number that no statement of the whole program has.
    pub fn step(&self, number: usize) -> Option<Step<'_>> {
        let stmt = self.program.body.stmts.first()?;
        let (last_uses, moved) = (BTreeSet::new(), BTreeSet::new());
        let (in_place, may_share) = (self.in_place.clone(), self.may_share.clone());
        Some(Step { number, stmt, last_uses, moved, in_place, may_share, blocks: vec![], frame: None })
    }
}

impl Equal {
    /// Of the constants, only those that differ between the statements become extents.
    fn keep_what_differs(&mut self) {
        let all: Vec<Vec<i64>> = self.members.iter().map(|(_, m)| m.constants.clone()).collect();
        let differs = |k: usize| all.iter().any(|m| m[k] != all[0][k]);
        with_constants_as_extents(&mut self.first.program, &differs);
        for (_, m) in &mut self.members {
            m.constants = (0..m.constants.len()).filter(|k| differs(*k)).map(|k| m.constants[k]).collect();
        }
    }
}

/// Lets a statement take the constants that are only indices from the extents of a further array: those for whose
/// numbers `which` holds. Returns the values of all such constants.
fn with_constants_as_extents(program: &mut Program, which: &dyn Fn(usize) -> bool) -> Vec<i64> {
    let (array, mut values, mut rank) = (program.arrays.next_idx(), vec![], 0);
    program.body.walk_mut(|s| {
        for code in s.op.scalar_fns_mut() {
            let other_uses = other_uses(code);
            walk_mut(&mut code.instrs, |i| match i {
                Instr::Const(to, Scalar::I64(n)) if *n >= 0 && !other_uses.contains(to) => {
                    let (to, n) = (*to, *n);
                    if which(values.len()) {
                        *i = Instr::Extent(to, array, rank);
                        rank += 1;
                    }
                    values.push(n);
                }
                _ => {}
            });
        }
    });
    if rank > 0 {
        program.arrays.push(ArrayInfo { rank, columns: vec![] });
    }
    values
}

/// The registers that are more than indices of reads.
fn other_uses(code: &ScalarFn) -> BTreeSet<Reg> {
    let mut found: BTreeSet<Reg> = code.results.iter().copied().collect();
    walk(&code.instrs).filter(|i| !matches!(i, Instr::Read { .. })).for_each(|i| i.direct_uses(&mut found));
    found
}

/// Groups the statements that can share kernels by the lengths of their scalar functions. Most statements differ in
/// these, so their texts need not be compared.
fn collect<'b, 's>(b: &'b Block<'s>, numbers: bool, alike: &mut BTreeMap<Vec<usize>, Vec<&'b Step<'s>>>) {
    for s in b.steps.iter().filter(|s| s.frame.is_none()) {
        if is_shareable(&s.stmt.op, numbers) {
            let lengths = scalar_fns(&s.stmt.op).map(|code| code.instrs.len()).collect();
            alike.entry(lengths).or_default().push(s);
        }
        deep(|| s.blocks.iter().for_each(|b| collect(b, numbers, alike)));
    }
}

/// Adds a statement to the group of its equals.
fn add(program: &Program, s: &Step, found: &mut BTreeMap<String, Equal>) {
    let Isolated { program: one, arrays, sites } = isolated(program, s.stmt);
    let place = |(a, c): (ArrayId, usize)| Some((ArrayId::new(arrays.iter().position(|other| *other == a)?), c));
    let in_place: Option<Vec<_>> = s.in_place.iter().map(|o| o.map_or(Some(None), |o| place(o).map(Some))).collect();
    let Some(in_place) = in_place else { return };
    let position = |a: &ArrayId| arrays.iter().position(|other| other == a).map(ArrayId::new);
    let may_share: BTreeSet<ArrayId> = s.may_share.iter().filter_map(position).collect();
    let mut key = one.clone();
    let constants = with_constants_as_extents(&mut key, &|_| true);
    let key = format!("{in_place:?} {may_share:?} {key}");
    let first = Alone { program: one, in_place, may_share };
    let equal = found.entry(key).or_insert_with(|| Equal { first, members: vec![] });
    equal.members.push((s.number, Member { class: 0, arrays, sites, constants, can_fail: can_fail(&s.stmt.op) }));
}

/// Whether a statement has kernels.
fn is_shareable(op: &Op, numbers: bool) -> bool {
    operation(op).is_some() && !is_inline(op, numbers)
}

/// Whether kernels of a statement can fail. Those that combine in memory check the positions, and lists need memory.
fn can_fail(op: &Op) -> bool {
    matches!(op, Op::Permute { .. } | Op::Accumulate { .. })
        || scalar_fns(op).any(|code| code.can_fail() || !code.lists().is_empty())
}

/// The scalar functions of an operation and of the operations in its blocks.
fn scalar_fns(op: &Op) -> impl Iterator<Item = &ScalarFn> {
    let inner = op.blocks().into_iter().flat_map(kernel::Block::walk).map(|s| &s.op);
    std::iter::once(op).chain(inner).flat_map(|op| op.scalar_fns()).map(|(_, code)| code)
}
