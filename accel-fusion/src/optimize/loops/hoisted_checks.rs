//! Hoisted checks: indices that are sums are checked once for all elements, before a statement.
//!
//! NOTE [Hoisted checks]: in a loop over time steps, a statement reads row `t - 1` of an array, where `t` is a number in
//! memory. Nothing is known about it before the program runs, so every element is checked: C compilers do not vectorise such a
//! loop, and statements that can fail have no tiles and no lanes. But the index is a sum of multiples of the statement's own
//! indices and of numbers that are the same for all elements. So if two corners of the index space are within bounds, then all
//! elements are, and the statement needs no checks:
//!
//! ```text
//! if a corner is outside { find the first element whose check fails }
//! the statement, without checks
//! ```
//!
//! So are the targets of a permutation that keeps all elements. Then it writes to places that C compilers understand: the blocks
//! that factorisations of matrices update are vectors.
//!
//! What is read in the branch of a decision about an index (`cond(j.eq(0), .., xs.at(j - 1 + t))`) is read by a part of the elements:
//! its corners are those of the part. A part that is taken for larger than it is costs a search that finds nothing; none is taken
//! for smaller.
//!
//! If all extents are known, so is whether a corner is outside, and then nothing is left to be checked in the run.
//!
//! Lists of a loop's states and copies of them keep the checks of their reads: they may become tapes, whose rows are arrays without
//! checks (NOTE [Lists that become tapes]). What reads these arrays in other ways is checked before, too, when lists are tapes.
//!
//! Where a check fails in a statement whose result has too many elements for the memory, the check is reported.
//!
//! Integers wrap. If the value at the low corner is within bounds, it is less than 2^48, and so are extents: the statement
//! refuses others. Factors are small, so the values at all other elements are exact sums.
//!
//! The statement must not be executed if the search fails, so this pass is only for targets on which a failure ends the run at once.

use crate::kernel::builder::{Builder, index_types};
use crate::kernel::dead_code::{defined, restricted_to};
use crate::kernel::{
    ArrayId, ArrayInfo, Block, IndexVec, Instr, Op, Program, Reg, ScalarFn, Stmt, arrays_read, index_vec, walk,
    walk_mut,
};
use crate::optimize::facts::known_extents::{KnownExtents, known_extents, results};
use crate::optimize::facts::shape_analysis::InputExtents;
use accel_core::ast::deep;
use accel_core::repr::op::{Cmp, Logic, Num1, Num2, Op1, Op2};
use accel_core::repr::{MAX_EXTENT, MAX_SIZE, Scalar, ScalarType};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// The largest sum of the factors of an index, without signs.
const FACTORS: i64 = 1 << 12;
/// The largest number of checks of a statement that are made before it. Chosen: each of them is about ten lines of C.
const MOST: usize = 32;

/// Checks indices that are sums once for all elements, but not those of lists.
pub(crate) fn hoist_checks(program: &Program, given: &InputExtents) -> Program {
    hoist(program, given, lists(&program.body))
}

/// The same after lists have become tapes, for the states that are left.
pub(crate) fn hoist_checks_of_states(program: &Program, given: &InputExtents) -> Program {
    hoist(program, given, BTreeSet::new())
}

fn hoist(program: &Program, given: &InputExtents, lists: BTreeSet<ArrayId>) -> Program {
    let around = Around { lists, known: known_extents(program, given) };
    let mut program = program.clone();
    let body = std::mem::take(&mut program.body);
    program.body = block(&mut program, &around, body);
    program
}

/// What is known about the arrays of a program.
struct Around {
    lists: BTreeSet<ArrayId>,
    known: KnownExtents,
}

/// The lists of loops, their copies, and sums that begin with them.
fn lists(body: &Block) -> BTreeSet<ArrayId> {
    let mut lists = BTreeSet::new();
    for s in body.walk() {
        match &s.op {
            Op::While { to, init, .. } => lists.extend(&to[init.len()..]),
            Op::Accumulate { sums, .. } => {
                let sums: Vec<_> = sums.iter().filter(|s| lists.contains(&s.1)).map(|s| s.0).collect();
                lists.extend(sums);
            }
            Op::Loop { to, body, .. } => {
                let mut read = BTreeSet::new();
                arrays_read(&body.instrs, &mut read);
                if !read.is_disjoint(&lists) {
                    lists.extend(to);
                }
            }
            _ => {}
        }
    }
    lists
}

fn block(program: &mut Program, around: &Around, mut b: Block) -> Block {
    let mut stmts = vec![];
    for mut s in std::mem::take(&mut b.stmts) {
        // A strip has no place for a check between its statements.
        let blocks = if let Op::Strip { .. } = s.op { vec![] } else { s.op.blocks_mut() };
        for inner in blocks {
            *inner = deep(|| block(program, around, std::mem::take(inner)));
        }
        if let Some(guard) = guard(program, around, &s) {
            stmts.extend(guard.map(|op| Stmt { op, site: s.site }));
            without_checks(&mut s.op, &around.lists);
        }
        stmts.push(s);
    }
    Block { stmts }
}

/// Marks all that a statement reads and writes as checked.
fn without_checks(op: &mut Op, lists: &BTreeSet<ArrayId>) {
    let codes = match op {
        Op::Loop { body, .. } | Op::Accumulate { body, .. } => vec![body],
        Op::Reduce { rows, .. } | Op::Scan { rows, .. } => vec![&mut rows.element],
        Op::Permute { defaults, target, element, inside, .. } => {
            *inside |= !lists.contains(defaults);
            vec![target, element]
        }
        _ => vec![],
    };
    for code in codes {
        walk_mut(&mut code.instrs, |i| {
            if let Instr::Read { array, inside, .. } | Instr::Emit { to: array, inside, .. } = i {
                *inside |= !lists.contains(array);
            }
        });
    }
}

/// The statement that makes all checks of an operation, if it can be made, and if it is not known that none fails.
fn guard(program: &mut Program, Around { lists, known }: &Around, s: &Stmt) -> Option<Option<Op>> {
    let op = &s.op;
    let (extents, code) = match op {
        Op::Loop { extents, body, .. } | Op::Accumulate { extents, body, .. } => (vec![extents], body.clone()),
        // The order of elements is that of a loop.
        Op::Reduce { extents, rows, .. } | Op::Scan { extents, rows, reverse: false, .. } => {
            (vec![extents, &rows.len], rows.element.clone())
        }
        Op::Permute { extents, .. } => (vec![extents], with_target(s)?),
        _ => return None,
    };
    if code.params == 0 || extents.iter().any(|c| !c.is_total()) {
        return None;
    }
    let code = with_reads_for_emissions(op, code)?;
    let flat = ScalarFn { instrs: flattened(&code.instrs), ..code.clone() };
    let constants = constants(&flat);
    let (others, checks): (Vec<_>, Vec<_>) =
        checks(&code, &flat, &constants)?.into_iter().partition(|c| lists.contains(&c.array));
    if checks.is_empty() {
        return None;
    }
    let space = Space { extents, flat, constants, checks, others, is_stored: matches!(op, Op::Loop { .. }) };
    let cond = space.is_a_corner_outside();
    if results(&cond, known) == [Some(Scalar::Bool(false))] {
        return Some(None);
    }
    let body = space.first_failure(program, &code);
    let found = program.arrays.push(ArrayInfo { rank: 0, columns: vec![ScalarType::I64] });
    let search = Op::Loop { to: vec![found], extents: ScalarFn::default(), body };
    let then = Block { stmts: vec![Stmt { op: search, site: s.site }] };
    Some(Some(Op::If { to: vec![], cond, then: (then, vec![]), otherwise: (Block::default(), vec![]) }))
}

/// The scalar function of a permutation that keeps all elements. It reads the defaults at the target: the target is checked as
/// an index of a read is, with the same error.
fn with_target(s: &Stmt) -> Option<ScalarFn> {
    let Op::Permute { defaults, target, inside, element, .. } = &s.op else { return None };
    if !keeps_all(target) {
        return None;
    }
    let mut b = Builder::new(&index_types(target.params));
    let params = b.params();
    let index = b.inline(target, &params).split_off(1);
    b.emit(Instr::Read { to: vec![], array: *defaults, index, site: s.site, inside: *inside });
    b.inline(element, &params);
    Some(b.finish(vec![]))
}

/// Whether a permutation keeps all elements.
pub(crate) fn keeps_all(target: &ScalarFn) -> bool {
    let is_true = |i: &Instr| matches!(i, Instr::Const(r, Scalar::Bool(true)) if *r == target.results[0]);
    target.instrs.iter().any(is_true)
}

/// The same function, but where it adds to a sum, it reads the initial array.
fn with_reads_for_emissions(op: &Op, mut code: ScalarFn) -> Option<ScalarFn> {
    let Op::Accumulate { sums, .. } = op else { return Some(code) };
    let mut all = true;
    walk_mut(&mut code.instrs, |i| {
        let Instr::Emit { to, index, site, inside, .. } = i else { return };
        let initial = sums.iter().find(|s| s.0 == *to);
        all &= initial.is_some();
        if let Some((_, array)) = initial {
            *i = Instr::Read { to: vec![], array: *array, index: std::mem::take(index), site: *site, inside: *inside };
        }
    });
    all.then_some(code)
}

/// The instructions that are not in loops, without conditionals around them.
fn flattened(instrs: &[Instr]) -> Vec<Instr> {
    let flat = |i: &Instr| match i {
        Instr::If { then, otherwise, .. } => deep(|| [flattened(then), flattened(otherwise)].concat()),
        Instr::While { .. } => vec![],
        i => vec![i.clone()],
    };
    instrs.iter().flat_map(flat).collect()
}

/// A read whose index is checked.
struct Checked {
    array: ArrayId,
    index: Vec<Reg>,
    /// For each component of the index, the factors of the statement's indices.
    factors: Vec<Vec<i64>>,
    /// What holds for the elements that read.
    path: Vec<Bound>,
}

/// A comparison that holds in a branch.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Bound {
    /// The index is at least this number plus a constant.
    Least(Reg, Reg, i64),
    /// It is at most that.
    Most(Reg, Reg, i64),
    /// The number, which is the same for all elements, has this value.
    Is(Reg, bool),
}

/// Finds the checks of a scalar function.
struct Checks<'a> {
    code: &'a ScalarFn,
    flat: &'a ScalarFn,
    constants: &'a Constants,
    factors: IndexVec<Reg, Option<Vec<i64>>>,
    found: Vec<Checked>,
}

/// The checks of a scalar function, if there are any, and if it cannot fail otherwise.
fn checks(code: &ScalarFn, flat: &ScalarFn, constants: &Constants) -> Option<Vec<Checked>> {
    let factors = factors(flat, constants);
    let mut checks = Checks { code, flat, constants, factors, found: vec![] };
    checks.add(&code.instrs, &[])?;
    (1..=MOST).contains(&checks.found.len()).then_some(checks.found)
}

impl Checks<'_> {
    /// Adds the checks of instructions that are executed where `path` holds. `None` if one of them cannot be made before.
    fn add(&mut self, instrs: &[Instr], path: &[Bound]) -> Option<()> {
        for i in instrs {
            let is_checked = i.check(self.code).is_some();
            match i {
                Instr::Read { array, index, .. } if is_checked => {
                    let factors = index.iter().map(|r| self.factors[*r].clone()).collect::<Option<_>>()?;
                    self.found.push(Checked { array: *array, index: index.clone(), factors, path: path.to_vec() });
                }
                Instr::If { cond, then, otherwise, .. } => {
                    for (branch, value) in [(then, true), (otherwise, false)] {
                        if self.can_fail(branch) {
                            let mut path = path.to_vec();
                            self.bounds(*cond, value, &mut path)?;
                            deep(|| self.add(branch, &path))?;
                        }
                    }
                }
                Instr::While { cond, body, .. } if is_checked || self.can_fail(cond) || self.can_fail(body) => {
                    return None;
                }
                _ if is_checked => return None,
                _ => {}
            }
        }
        Some(())
    }

    fn can_fail(&self, instrs: &[Instr]) -> bool {
        walk(instrs).any(|i| i.check(self.code).is_some())
    }

    /// Adds what follows from the value of a condition. `None` if it is no comparison of an index with a number that is the same
    /// for all elements. The bounds may wrap, but then they allow more than the condition.
    fn bounds(&self, cond: Reg, value: bool, path: &mut Vec<Bound>) -> Option<()> {
        if self.is_same(cond) {
            path.push(Bound::Is(cond, value));
            return Some(());
        }
        let (cmp, mut x, mut y) = match (defined(self.flat, cond)?, value) {
            (Instr::Op1(_, Op1::Not, a), _) => return self.bounds(*a, !value, path),
            (Instr::Op2(_, Op2::Logic(Logic::And), a, b), true)
            | (Instr::Op2(_, Op2::Logic(Logic::Or), a, b), false) => {
                self.bounds(*a, value, path)?;
                return self.bounds(*b, value, path);
            }
            (Instr::Op2(_, Op2::Cmp(cmp), a, b), _) => (*cmp, *a, *b),
            _ => return None,
        };
        // For a smaller first operand, for equal ones, for a larger one.
        let mut holds = [Ordering::Less, Ordering::Equal, Ordering::Greater].map(|o| holds(cmp, o) == value);
        if y < self.code.params {
            holds.reverse();
            (x, y) = (y, x);
        }
        if x >= self.code.params || !self.is_same(y) {
            return None;
        }
        match holds {
            [true, false, false] => path.push(Bound::Most(x, y, -1)),
            [true, true, false] => path.push(Bound::Most(x, y, 0)),
            [false, false, true] => path.push(Bound::Least(x, y, 1)),
            [false, true, true] => path.push(Bound::Least(x, y, 0)),
            [false, true, false] => path.extend([Bound::Least(x, y, 0), Bound::Most(x, y, 0)]),
            // An index other than the first one comes after it.
            [true, false, true] if self.constants.get(&y) == Some(&0) => path.push(Bound::Least(x, y, 1)),
            _ => return None,
        }
        Some(())
    }

    fn is_same(&self, r: Reg) -> bool {
        self.factors[r].as_ref().is_some_and(|f| f.iter().all(|x| *x == 0))
    }
}

type Constants = BTreeMap<Reg, i64>;

fn constants(code: &ScalarFn) -> Constants {
    let constant = |i: &Instr| match i {
        Instr::Const(to, Scalar::I64(x)) => Some((*to, *x)),
        _ => None,
    };
    code.instrs.iter().filter_map(constant).collect()
}

/// For each register of a scalar function that is a sum of multiples of its indices and of a number that is the same for all of them:
/// the factors.
pub(crate) fn index_factors(code: &ScalarFn) -> IndexVec<Reg, Option<Vec<i64>>> {
    let flat = ScalarFn { instrs: flattened(&code.instrs), ..code.clone() };
    factors(&flat, &constants(&flat))
}

/// For each register that is a sum of multiples of the parameters and of a number that is the same for all of them: the factors.
/// Such numbers do not depend on checks.
fn factors(code: &ScalarFn, constants: &Constants) -> IndexVec<Reg, Option<Vec<i64>>> {
    let none = vec![0; code.params];
    let mut all: IndexVec<Reg, Option<Vec<i64>>> = index_vec![None; code.types.len()];
    for r in code.param_regs() {
        let mut own = none.clone();
        own[r.index()] = 1;
        all[r] = Some(own);
    }
    for i in &code.instrs {
        let of = |r: Reg| all[r].as_deref();
        let is_same = |r: Reg| of(r) == Some(&none);
        let combined = |a: Reg, b: Reg, sign: i64| -> Option<Vec<i64>> {
            Some(of(a)?.iter().zip(of(b)?).map(|(a, b)| a + sign * b).collect())
        };
        let scaled = |a: Reg, by: i64| Some(of(a)?.iter().map(|a| a * by).collect());
        let found = match i {
            Instr::Const(..) | Instr::Extent(..) => Some(none.clone()),
            Instr::Read { index, .. } if index.is_empty() => Some(none.clone()),
            Instr::Op1(_, _, a) if is_same(*a) => Some(none.clone()),
            Instr::Op2(_, _, a, b) if is_same(*a) && is_same(*b) => i.check(code).is_none().then(|| none.clone()),
            Instr::Op1(_, Op1::Num(Num1::Neg), a) => scaled(*a, -1),
            Instr::Op2(_, Op2::Num(Num2::Add), a, b) => combined(*a, *b, 1),
            Instr::Op2(_, Op2::Num(Num2::Sub), a, b) => combined(*a, *b, -1),
            Instr::Op2(_, Op2::Num(Num2::Mul), a, b) => {
                let small = |r: Reg| constants.get(&r).copied().filter(|x| x.unsigned_abs() <= FACTORS as u64);
                small(*b).and_then(|x| scaled(*a, x)).or_else(|| scaled(*b, small(*a)?))
            }
            _ => None,
        };
        // Other types of numbers wrap earlier.
        let fits = |f: &Vec<i64>| {
            let size: i64 = f.iter().map(|x| x.abs()).sum();
            size == 0 || size <= FACTORS && i.sets().iter().all(|r| code.types[*r] == ScalarType::I64)
        };
        let found = found.filter(fits);
        i.sets().iter().for_each(|r| all[*r] = found.clone());
    }
    all
}

/// The index space of a statement, and what it checks.
struct Space<'a> {
    extents: Vec<&'a ScalarFn>,
    /// The scalar function without conditionals and loops.
    flat: ScalarFn,
    constants: Constants,
    checks: Vec<Checked>,
    /// The checks that stay where they are. One of them may fail first.
    others: Vec<Checked>,
    /// Whether the statement stores all elements.
    is_stored: bool,
}

/// See [`Space::simple`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Simple {
    Constant(i64),
    Index(Reg),
}

/// For each index, whether it has its last value instead of its first one.
type Corner = Vec<bool>;

impl Checked {
    /// The corners at which component `k` of the index is least and largest.
    fn corners(&self, k: usize) -> [Corner; 2] {
        let all = &self.factors[k];
        [all.iter().map(|f| *f < 0).collect(), all.iter().map(|f| *f > 0).collect()]
    }
}

impl Space<'_> {
    /// The scalar function without parameters that says whether there is an element, and an index is out of bounds at a corner.
    fn is_a_corner_outside(&self) -> ScalarFn {
        let mut b = Builder::new(&[]);
        let n = self.sizes(&mut b);
        let zero = b.constant(Scalar::I64(0));
        let largest = b.constant(Scalar::I64(MAX_EXTENT as i64));
        // Larger extents are errors of the statement, and so are more elements, if it stores them.
        let bounds = |n: &Reg| [(Cmp::Gt, zero), (Cmp::Le, largest)].map(|(cmp, y)| b.compare(cmp, *n, y));
        let mut has_elements: Vec<Reg> = n.iter().flat_map(bounds).collect();
        if self.is_stored {
            let sizes = n.iter().map(|n| cast(&mut b, *n)).collect::<Vec<_>>();
            let size = b.product(ScalarType::F64, sizes);
            let most = b.constant(Scalar::F64(MAX_SIZE as f64));
            has_elements.extend(size.map(|size| b.compare(Cmp::Le, size, most)));
        }
        let has_elements = b.all(has_elements);
        let (then, outside) = b.block(|b| {
            let all = ends(b, &n);
            let paths: BTreeSet<&[Bound]> = self.checks.iter().map(|c| &c.path[..]).collect();
            let inside = paths.into_iter().map(|path| {
                let (ends, is_taken) = self.narrowed(b, &all, path);
                let inside = self.are_corners_inside(b, path, &ends, zero);
                is_taken.into_iter().fold(inside, |inside, taken| {
                    let not = not(b, taken);
                    b.test(Op2::Logic(Logic::Or), not, inside)
                })
            });
            let inside: Vec<Reg> = inside.collect();
            let inside = b.all(inside);
            not(b, inside)
        });
        let (otherwise, no) = b.block(|b| b.constant(Scalar::Bool(false)));
        let result = b.reg(ScalarType::Bool);
        b.emit(Instr::If { cond: has_elements, then, otherwise, merge: vec![(result, outside, no)] });
        b.finish(vec![result])
    }

    /// The first and the last value of each index where a path leads, and what holds if it leads anywhere. They may include more
    /// elements.
    fn narrowed(&self, b: &mut Builder, ends: &[[Reg; 2]], path: &[Bound]) -> (Vec<[Reg; 2]>, Vec<Reg>) {
        let (mut ends, mut taken) = (ends.to_vec(), vec![]);
        for bound in path {
            let (x, y, plus, k, pick) = match *bound {
                Bound::Least(x, y, plus) => (x, y, plus, 0, Num2::Max),
                Bound::Most(x, y, plus) => (x, y, plus, 1, Num2::Min),
                Bound::Is(cond, value) => {
                    let cond = self.same(b, cond);
                    taken.push(if value { cond } else { not(b, cond) });
                    continue;
                }
            };
            let (y, plus) = (self.same(b, y), b.constant(Scalar::I64(plus)));
            let bound = b.index_op(Num2::Add, y, plus);
            let end = &mut ends[x.index()][k];
            *end = b.index_op(pick, *end, bound);
        }
        let indices: BTreeSet<usize> = path.iter().filter_map(Bound::index).collect();
        taken.extend(indices.into_iter().map(|x| b.compare(Cmp::Le, ends[x][0], ends[x][1])));
        (ends, taken)
    }

    /// Whether the indices of the checks on a path are within bounds at the corners.
    fn are_corners_inside(&self, b: &mut Builder, path: &[Bound], ends: &[[Reg; 2]], zero: Reg) -> Reg {
        let (mut inside, mut known) = (vec![], BTreeSet::new());
        for c in self.checks.iter().filter(|c| c.path == path) {
            let mut corners = BTreeMap::new();
            for (k, r) in c.index.iter().enumerate() {
                let largest = match self.simple(*r) {
                    None => {
                        c.corners(k).into_iter().for_each(|corner| {
                            corners.entry(corner).or_insert_with(BTreeSet::new).insert(k);
                        });
                        continue;
                    }
                    Some(simple) if !known.insert((c.array, k, simple)) => continue,
                    Some(Simple::Constant(x)) => b.constant(Scalar::I64(x)),
                    Some(Simple::Index(r)) => ends[r.index()][1],
                };
                let extent = b.extent(c.array, k);
                inside.push(b.compare(Cmp::Lt, largest, extent));
            }
            for (corner, components) in corners {
                let index = self.index_at(b, c, &at(ends, &corner));
                for k in components {
                    let extent = b.extent(c.array, k);
                    inside.push(b.compare(Cmp::Ge, index[k], zero));
                    inside.push(b.compare(Cmp::Lt, index[k], extent));
                }
            }
        }
        b.all(inside)
    }

    /// A component of an index that is at least 0 everywhere.
    fn simple(&self, r: Reg) -> Option<Simple> {
        if r < self.flat.params {
            return Some(Simple::Index(r));
        }
        self.constants.get(&r).filter(|x| **x >= 0).map(|x| Simple::Constant(*x))
    }

    /// The scalar function without parameters that makes the checks of one element after the other, as `code` does. If one fails,
    /// so does the function.
    fn first_failure(&self, program: &Program, code: &ScalarFn) -> ScalarFn {
        let mut b = Builder::new(&[]);
        let [zero, one] = [0, 1].map(|x| b.constant(Scalar::I64(x)));
        let mut n = self.sizes(&mut b);
        for (d, n) in n.iter_mut().enumerate() {
            let is_used = |c: &Checked| {
                c.factors.iter().any(|f| f[d] != 0) || c.path.iter().any(|bound| bound.index() == Some(d))
            };
            // Whether a check fails does not depend on this index.
            if !self.checks.iter().chain(&self.others).any(is_used) {
                *n = one;
            }
        }
        let index: Vec<Reg> = n.iter().map(|_| b.reg(ScalarType::I64)).collect();
        let (cond, continues) = b.block(|b| b.compare(Cmp::Lt, index[0], n[0]));
        let (body, next) = b.block(|b| {
            b.inline(&checks_only(program, code), &index);
            let (mut next, mut carry) = (vec![], one);
            for d in (0..n.len()).rev() {
                let mut own = b.index_op(Num2::Add, index[d], carry);
                if d > 0 {
                    let wraps = b.compare(Cmp::Eq, own, n[d]);
                    let [digit, more] = [0; 2].map(|_| b.reg(ScalarType::I64));
                    let merge = vec![(digit, zero, own), (more, one, zero)];
                    let (then, otherwise) = Default::default();
                    b.emit(Instr::If { cond: wraps, then, otherwise, merge });
                    (own, carry) = (digit, more);
                }
                next.insert(0, own);
            }
            next
        });
        let state = index.iter().map(|i| (*i, zero)).collect();
        b.emit(Instr::While { state, cond, continues, body, next, lists: vec![] });
        b.finish(vec![index[0]])
    }

    fn sizes(&self, b: &mut Builder) -> Vec<Reg> {
        self.extents.iter().flat_map(|c| b.inline(c, &[])).collect()
    }

    /// The checked index at an index of the statement.
    fn index_at(&self, b: &mut Builder, c: &Checked, at: &[Reg]) -> Vec<Reg> {
        b.inline(&restricted_to(&self.flat, c.index.clone()), at)
    }

    /// A number that is the same for all elements.
    fn same(&self, b: &mut Builder, r: Reg) -> Reg {
        let anywhere: Vec<Reg> = (0..self.flat.params).map(|_| b.constant(Scalar::I64(0))).collect();
        b.inline(&restricted_to(&self.flat, vec![r]), &anywhere)[0]
    }
}

impl Bound {
    /// The index that is compared.
    fn index(&self) -> Option<usize> {
        match self {
            Bound::Least(x, ..) | Bound::Most(x, ..) => Some(x.index()),
            Bound::Is(..) => None,
        }
    }
}

/// The part of a scalar function that makes checks of indices. What is added to sums is never dead, so each check is an addition
/// while the rest is dropped.
fn checks_only(program: &Program, code: &ScalarFn) -> ScalarFn {
    let marked = replaced(&code.instrs, &mut |i| match i {
        Instr::Read { array, index, site, inside: false, .. } if !index.is_empty() => {
            let mark = Instr::Emit { to: *array, index: index.clone(), values: vec![], site: *site, inside: false };
            vec![i.clone(), mark]
        }
        i => vec![i.clone()],
    });
    let mut code = restricted_to(&ScalarFn { instrs: marked, ..code.clone() }, vec![]);
    let mut types = std::mem::take(&mut code.types);
    code.instrs = replaced(&code.instrs, &mut |i| match i {
        Instr::Emit { to: array, index, site, .. } => {
            let to = program.arrays[*array].columns.iter().map(|t| types.push(*t)).collect();
            vec![Instr::Read { to, array: *array, index: index.clone(), site: *site, inside: false }]
        }
        i => vec![i.clone()],
    });
    ScalarFn { types, ..code }
}

/// Replaces the instructions that are not in loops, also those in branches.
fn replaced(instrs: &[Instr], with: &mut dyn FnMut(&Instr) -> Vec<Instr>) -> Vec<Instr> {
    let mut found = vec![];
    for i in instrs {
        match i {
            Instr::If { cond, then, otherwise, merge } => {
                let [then, otherwise] = [then, otherwise].map(|b| deep(|| replaced(b, with)).into());
                found.push(Instr::If { cond: *cond, then, otherwise, merge: merge.clone() });
            }
            i => found.extend(with(i)),
        }
    }
    found
}

/// Whether a comparison holds for operands in this order.
fn holds(cmp: Cmp, order: Ordering) -> bool {
    match cmp {
        Cmp::Lt => order.is_lt(),
        Cmp::Le => order.is_le(),
        Cmp::Gt => order.is_gt(),
        Cmp::Ge => order.is_ge(),
        Cmp::Eq => order.is_eq(),
        Cmp::Ne => order.is_ne(),
    }
}

fn not(b: &mut Builder, x: Reg) -> Reg {
    let to = b.reg(ScalarType::Bool);
    b.emit(Instr::Op1(to, Op1::Not, x));
    to
}

/// The first and the last value of each index.
fn ends(b: &mut Builder, n: &[Reg]) -> Vec<[Reg; 2]> {
    let [zero, one] = [0, 1].map(|x| b.constant(Scalar::I64(x)));
    n.iter().map(|n| [zero, b.index_op(Num2::Sub, *n, one)]).collect()
}

fn at(ends: &[[Reg; 2]], corner: &Corner) -> Vec<Reg> {
    ends.iter().zip(corner).map(|(ends, last)| ends[usize::from(*last)]).collect()
}

fn cast(b: &mut Builder, n: Reg) -> Reg {
    let to = b.reg(ScalarType::F64);
    b.emit(Instr::Op1(to, Op1::Cast(ScalarType::F64), n));
    to
}
